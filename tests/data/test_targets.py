"""Targets of every kind become class positions or numbers; what cannot be is an error."""

import numpy as np
import pandas as pd
import pytest

from mlaut.data.splits.targets import encode_target, positions
from mlaut.errors import DataError
from mlaut.files_io.tables.datasets import infer_task

C, R = "Classification", "Regression"


@pytest.mark.parametrize(
    ("labels", "classes", "truth"),
    [
        (["b", "a", "b"], ("a", "b"), [1, 0, 1]),
        (pd.Series(["b", "a"], dtype=object), ("a", "b"), [1, 0]),
        (pd.Series(["b", "a"], dtype="string"), ("a", "b"), [1, 0]),
        ([3, 1, 2], (1, 2, 3), [2, 0, 1]),
        (np.array([3, 1], dtype="u1"), (1, 3), [1, 0]),
        ([2.5, 1.0], (1.0, 2.5), [1, 0]),
        ([True, False], (False, True), [1, 0]),
        (pd.array([2, 1], dtype="Int8"), (1, 2), [1, 0]),
        (pd.array([True, False], dtype="boolean"), (False, True), [1, 0]),
        (pd.Categorical(["lo", "hi"], ["lo", "hi", "none"], ordered=True), ("hi", "lo"), [1, 0]),
        (pd.Categorical([7, 5, 7]), (5, 7), [1, 0, 1]),
        (["ü", "a", "Z"], ("Z", "a", "ü"), [2, 1, 0]),
    ],
    ids=str,
)
def test_classes_are_sorted_plain_values(labels, classes, truth):
    found, names = encode_target(pd.Series(labels), C)
    assert names == classes
    assert [type(name) for name in names] == [type(name) for name in classes]
    assert found.tolist() == truth
    assert found.dtype == np.int32


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "Int64", "Float32"])
def test_numbers_are_float64(dtype):
    truth, classes = encode_target(pd.Series([1, 2, 4], dtype=dtype), R)
    assert truth.tolist() == [1.0, 2.0, 4.0]
    assert truth.dtype == np.float64
    assert classes == ()


@pytest.mark.parametrize(
    ("labels", "task", "message"),
    [
        (["a", None, "b", None], C, "target 'y': 2 values are missing, the first in row 1; drop"),
        ([1.5, 2.0, np.nan], R, "target 'y': 1 value is missing, the first in row 2"),
        (["a", "a"], C, "target 'y': one class only, 'a'; a classification needs"),
        (["a", "b"], R, "regression needs numbers; convert it, or give the task Classification"),
        ([True, False], R, "target 'y': bool values, and regression needs numbers"),
        ([1.0, np.inf], R, "target 'y': 1 value is infinite, the first in row 1"),
        (pd.to_datetime(["2020", "2021"]), C, "target 'y': dates cannot be classes"),
        (pd.to_timedelta([1, 2]), C, "target 'y': durations cannot be classes"),
        (pd.to_timedelta([1, 2]), R, "regression needs numbers; convert it$"),
        (pd.Categorical(["a", 1]), C, r"kinds that have no order \(int, str\)"),
        (["a", "b"], "clustering", "no task 'clustering'"),
    ],
    ids=str,
)
def test_a_target_that_cannot_be_used_is_named(labels, task, message):
    with pytest.raises(DataError, match=message) as caught:
        encode_target(pd.Series(labels, name="y"), task)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["a", "c"]),
        np.array(["a", "c"], dtype=object),
        pd.Series(["a", "c"]),
        pd.Categorical(["a", "c"]),
        np.array([["a"], ["c"]]),
    ],
    ids=lambda labels: type(labels).__name__,
)
def test_positions_of_predictions_of_all_kinds(labels):
    assert positions(labels, ("a", "b", "c")).tolist() == [0, 2]


def test_positions_match_equal_numbers_of_other_types():
    assert positions(np.array([2.0, 1.0]), (1, 2)).tolist() == [1, 0]
    assert positions(np.array([1, 0]), (False, True)).tolist() == [1, 0]
    assert positions([], (1, 2)).tolist() == []


@pytest.mark.parametrize("label", ["d", float("nan"), ["a"]])
def test_an_unknown_label_is_reported(label):
    labels = np.array(["a", None], dtype=object)
    labels[1] = label
    with pytest.raises(DataError, match=r"label .* is not one of the 3 classes 'a', 'b', 'c'"):
        positions(labels, ("a", "b", "c"))


def test_infer_task_is_found_here_too():
    assert infer_task(pd.Series(["a", "b"])) == C
