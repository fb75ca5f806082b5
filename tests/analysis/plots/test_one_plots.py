"""Figures of one dataset: differences from the leader, and what lies behind its score."""

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import Results, compare, decision_plot
from mlaut.analysis.estimates.behind import calibration_table, confusion_table, errors_by_part
from mlaut.analysis.plots.one_plots import calibration_plot, residual_plot
from mlaut.errors import AnalysisError
from mlaut.records import CLASSIFICATION, REGRESSION, Block, Split, Status

N = 60


def block(task):
    rng = np.random.default_rng(0)
    folds = (np.arange(N) % 2).astype(np.int16)[None]
    cells = (1, 1, 2)
    about = {"status": np.full(cells, Status.DONE, np.uint8), "seconds": np.zeros((*cells, 3))}
    names = ("sick", task, "", ("A",), ("no", "yes") if task == CLASSIFICATION else ())
    if task == REGRESSION:
        truth = rng.normal(size=N)
        parts = {"predictions": (truth + 0.5)[None, None], "probabilities": None}
        return Block(*names, truth, Split(folds, "kfold(2)"), **parts, **about)
    truth = (np.arange(N) % 4 == 0).astype(np.int32)
    p = np.where(truth == 1, 0.9, 0.2).astype(np.float32)
    p[:4] = 0.6  # three negatives that are called positive
    parts = {
        "predictions": (p > 0.5).astype(np.int32)[None, None],
        "probabilities": np.stack([1 - p, p], axis=-1)[None, None],
    }
    return Block(*names, truth, Split(folds, "kfold(2)"), **parts, **about)


def test_the_mark_is_the_difference_and_the_dots_are_test_sets():
    index = pd.MultiIndex.from_product([["sick"], range(10)], names=["dataset", "fold"])
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"A": 0.9, "B": 0.8, "C": 0.7}, index) + rng.normal(0, 0.01, (10, 3))
    found = compare(Results.from_table(table, metric="accuracy"))
    decision = found.decision()
    axes = decision_plot(decision, found.results).axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["A", "B", "C"]
    dots = [line for line in axes.lines if line.get_marker() == "."]
    assert [len(line.get_xdata()) for line in dots] == [10, 10]
    marks = [line.get_xdata()[0] for line in axes.lines if line.get_marker() in ("D", "v")]
    np.testing.assert_allclose(marks, [0.0, *decision.frame["difference"][["B", "C"]]])


def test_probabilities_are_compared_with_what_came():
    bins = calibration_table(block(CLASSIFICATION), "A")
    assert bins["rows"].sum() == N
    assert bins["share"].iloc[-1] == 1
    assert calibration_plot(block(CLASSIFICATION), "A").axes[0].get_ylabel() == "share that was yes"
    assert calibration_table(block(REGRESSION), "A") is None
    with pytest.raises(AnalysisError, match="no probabilities of two classes"):
        calibration_plot(block(REGRESSION), "A")


def test_a_confusion_table_has_shares_of_each_true_class():
    table = confusion_table(block(CLASSIFICATION), "A")
    assert table["test rows"].tolist() == [45, 15]
    np.testing.assert_allclose(table.loc["no", ["no", "yes"]].astype(float), [42 / 45, 3 / 45])
    assert table.loc["yes", "yes"] == 1


def test_errors_are_told_by_group_class_and_fifth():
    groups = np.where(np.arange(N) < 20, "ward 1", "ward 2")
    by_group = errors_by_part(block(CLASSIFICATION), "A", groups)
    assert by_group.index.tolist() == ["ward 1", "ward 2"]
    assert by_group["share wrong"].tolist() == [3 / 20, 0]
    assert errors_by_part(block(CLASSIFICATION), "A", np.arange(N)) is None  # groups of one row
    fifths = errors_by_part(block(REGRESSION), "A")
    assert len(fifths) == 5
    np.testing.assert_allclose(fifths["mean error"], 0.5)


def test_residuals_are_prediction_minus_truth():
    (dots,) = [
        x for x in residual_plot(block(REGRESSION), "A").axes[0].lines if x.get_marker() == "."
    ]
    np.testing.assert_allclose(dots.get_ydata(), 0.5)
    with pytest.raises(AnalysisError, match="has classes"):
        residual_plot(block(CLASSIFICATION), "A")
