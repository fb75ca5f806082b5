"""Figures of synthetic contexts: what they draw, and that every name can be read."""

import numpy as np
import pytest
from context_plots import auc_plot, roc_plot
from contexts import BIMODAL, MULTIPLE, auc_table, judge_on_context

from mlaut.analysis import ResultTable
from mlaut.errors import AnalysisError


@pytest.fixture(scope="module")
def rocs():
    return judge_on_context(BIMODAL, 14, n_repetitions=2000)


def test_a_roc_curve_is_that_of_its_test(rocs, assert_readable):
    figure = roc_plot(rocs)
    _, *lines = figure.axes[0].lines
    for line, (name, roc) in zip(lines, rocs.items(), strict=True):
        assert line.get_label() == f"{name} (AUC {roc.auc:.3f})"
        assert np.trapezoid(line.get_ydata(), line.get_xdata()) == pytest.approx(roc.auc)
    assert_readable(figure)
    with pytest.raises(AnalysisError, match="no ROC curves"):
        roc_plot({})


@pytest.mark.parametrize(
    ("datasets", "points", "label"),
    [
        ([3, 5, 7, 9, 11, 15, 21, 31, 41], 1001, "datasets (test points: 1001)"),
        (21, [11, 101, 1001, 10_001, 100_001], "test points (datasets: 21) (logarithmic axis)"),
    ],
)
def test_areas_are_drawn_over_what_varies(datasets, points, label, assert_readable):
    table = auc_table(MULTIPLE, datasets, points, n_repetitions=300)
    figure = auc_plot(table)
    axes = figure.axes[0]
    assert axes.get_xlabel() == label
    drawn = {line.get_label(): line for line in axes.containers}
    assert set(drawn) == {"poisson binomial", "sign", "signed rank", "paired t"}
    heights = np.asarray(drawn["sign"].lines[0].get_ydata(), dtype=float)
    np.testing.assert_allclose(heights, table.frame["sign"])
    assert_readable(figure)


def test_areas_need_one_axis():
    table = auc_table(MULTIPLE, [5, 7], [11, 101], ["sign"], n_repetitions=300)
    with pytest.raises(AnalysisError, match="datasets and test points varies"):
        auc_plot(table)
    alone = ResultTable(name="x", frame=table.frame.iloc[:1], source="none")
    with pytest.raises(AnalysisError, match="nothing varies"):
        auc_plot(alone)
