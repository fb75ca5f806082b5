"""Figures of tests: what they draw, and that every name can be read."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from mlaut.analysis import ResultTable, box_plot
from mlaut.analysis.methods.cross_validation import calibrate
from mlaut.analysis.methods.lacoste import BIMODAL, MULTIPLE, auc_table, judge_on_context
from mlaut.analysis.plots import auc_plot, calibration_plot, roc_plot
from mlaut.analysis.plots.level_plots import _style
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError


@pytest.fixture(scope="module")
def rocs():
    return judge_on_context(BIMODAL, 14, n_repetitions=2000)


@pytest.fixture(scope="module")
def calibration():
    shared = np.random.default_rng(0).normal(size=(400, 1, 1)) / 5
    return calibrate(np.random.default_rng(1).normal(size=(400, 10, 10)) + shared)


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


def test_a_calibration_is_drawn_with_what_is_best(calibration, assert_readable):
    figure = calibration_plot(calibration)
    names = list(calibration.rates.index.unique("test"))
    best = calibration.best().xs(0.05, level="level")
    marks = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 1]
    for line, name in zip(marks, names, strict=True):
        good = bool(best.loc[name, "calibratable"])
        assert line.get_xdata()[0] == best.loc[name, "df"]
        assert (line.get_markerfacecolor() != "white") == good
        told = f"df {best.loc[name, 'df']:g}" if good else "not calibratable"
        assert line.get_label() == f"{name}: {told}"
    assert_readable(figure)


def test_a_calibration_is_drawn_for_what_was_measured(calibration):
    figure = calibration_plot(calibration, level=0.1, tests=["k-fold"])
    assert figure.axes[0].get_ylabel() == "type I error at level 0.1"
    with pytest.raises(
        AnalysisError, match=r"level 0\.2 was not measured, only 0\.01, 0\.05, 0\.1"
    ):
        calibration_plot(calibration, level=0.2)
    with pytest.raises(AnalysisError, match="test 'folds of mine' was not measured"):
        calibration_plot(calibration, tests=["folds of mine"])


def test_no_two_tests_look_alike_even_without_colour():
    styles = [_style(place) for place in range(40)]
    assert len({(s["marker"], s["linestyle"]) for s in styles}) == 40


def test_a_dollar_in_a_name_begins_no_formula():
    table = pd.DataFrame({r"C=$10^2$, \gamma": [0.1, 0.2, 0.3], "$": [0.2, 0.3, 0.5]})
    figure = box_plot(Results.from_table(table, greater_is_better=False))
    figure.draw_without_rendering()
    assert not any(text.get_parse_math() for text in figure.findobj(Text))
