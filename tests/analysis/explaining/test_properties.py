"""Properties of datasets from their tables, from a study, and from the sizes of a table."""

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import Results
from mlaut.analysis.methods.explaining import dataset_properties
from mlaut.errors import AnalysisError, MissingCellsError
from mlaut.records import Dataset


def dataset(name, **columns):
    task = "Classification" if isinstance(columns["y"][0], str) else "Regression"
    return Dataset(name, pd.DataFrame(columns), target="y", task=task)


TABLE = pd.DataFrame({"A": [0.1, 0.2], "B": [0.3, 0.4]}, index=["one", "two"])
ONE = dataset("one", x=[1.0, np.nan, 3, 4], c=["u", "v", None, "u"], y=["a", "b", "c", "c"])
TWO = dataset("two", x=[1, 2], b=[True, False], y=["a", "b"])


def test_of_tables():
    frame = dataset_properties(TABLE, metric="error", datasets=iter([TWO, ONE]), baseline="B").frame
    assert frame.index.to_list() == ["one", "two"]
    assert frame["rows"].to_list() == [4, 2]
    assert frame["columns"].to_list() == [2, 2]
    assert frame["classes"].to_list() == [3, 2]
    shares = np.array([0.25, 0.25, 0.5])
    entropy = -(shares * np.log(shares)).sum()
    assert frame["imbalance"].to_list() == pytest.approx([1 - entropy / np.log(3), 0])
    assert frame["gaps"].to_list() == [0.25, 0]
    assert frame["categories"].to_list() == [0.5, 0]
    assert frame["loss of B"].to_list() == [0.3, 0.4]


def test_regression_has_no_classes():
    both = [dataset("one", x=[1.0, 2.0], y=[0.5, 1.5]), dataset("two", x=[1.0], y=[0.5])]
    frame = dataset_properties(TABLE, metric="error", datasets=both).frame
    assert frame.columns.to_list() == ["rows", "columns", "gaps", "categories"]


def test_of_a_study(make_block):
    blocks = [
        make_block([0, 0, 0, 1], [[0, 1, 0, 1]], [0, 0, 1, 1], dataset="one"),
        make_block([0, 1, 0, 1, 1, 0], [[0] * 6], [0, 0, 0, 1, 1, 1], dataset="two"),
    ]
    frame = dataset_properties(Results.from_blocks(blocks, "error")).frame
    assert frame["rows"].to_list() == [4, 6]
    assert frame["classes"].to_list() == [2, 2]
    entropy = -(0.25 * np.log2(0.25) + 0.75 * np.log2(0.75))
    assert frame["imbalance"].to_list() == pytest.approx([1 - entropy, 0])


def test_of_sizes():
    results = Results.from_table(TABLE, metric="error", n_test=[10, 20], n_train=[30, 50])
    assert dataset_properties(results).frame["rows"].to_list() == [40, 70]


def test_bad_input():
    def told(message, table=TABLE, metric="error", error=AnalysisError, **how):
        with pytest.raises(error, match=message):
            dataset_properties(table, metric=metric, **how)

    told("nothing is known of these datasets: give their tables in datasets=")
    told("datasets has no table of two", datasets=[ONE])
    told("datasets has a str, which is no Dataset", datasets=["one"])
    told("strategy 'C' is not in these results", baseline="C")
    told("losses of B do not compare datasets", metric="rmse", baseline="B")
    told("1 of 2 cells have no", TABLE.mask(TABLE == 0.3), error=MissingCellsError, baseline="B")
