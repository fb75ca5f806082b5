"""Figures of tests: what they draw, and that every name can be read."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from mlaut.analysis import box_plot
from mlaut.analysis.methods.cross_validation import calibrate
from mlaut.analysis.plots import calibration_plot
from mlaut.analysis.plots.level_plots import _style
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError


@pytest.fixture(scope="module")
def calibration():
    shared = np.random.default_rng(0).normal(size=(400, 1, 1)) / 5
    return calibrate(np.random.default_rng(1).normal(size=(400, 10, 10)) + shared)


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
