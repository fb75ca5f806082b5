"""The figure of a race."""

import numpy as np
import pytest
from matplotlib.text import Text

from mlaut.analysis import race, race_plot
from mlaut.errors import AnalysisError


def test_a_line_for_each_strategy_and_the_level(mlaut2018):
    found = race(mlaut2018)
    figure = race_plot(found)
    axes = figure.axes[0]
    assert {text.get_text() for text in axes.texts} == set(mlaut2018.strategies)
    bold = {text.get_text() for text in axes.texts if text.get_fontweight() == "bold"}
    assert bold == {"RandomForestClassifier", "SVC"}
    lengths = [len(line.get_xdata()) - 1 for line in axes.lines if len(line.get_xdata()) > 2]
    assert lengths == found.course.runs.tolist()
    assert axes.lines[-1].get_ydata()[0] == pytest.approx(1.301, abs=1e-3)  # log10 of 20
    figure.draw_without_rendering()
    heights = sorted(Text.get_window_extent(text).y0 for text in axes.texts)
    assert min(np.diff(heights)) >= 12  # pixels, as high as a name


def test_of_many_strategies_only_those_that_are_left_are_named(losses, assert_readable):
    table = {f"strategy {k}": [0.1 * k] * 12 for k in range(30)}
    axes = (figure := race_plot(race(losses(table)))).axes[0]
    assert [text.get_text() for text in axes.texts] == ["strategy 0"]
    assert axes.get_title("left") == "29 strategies stopped after 7 to 11 datasets"
    assert len(axes.lines) == 2 * 30 + 1
    assert_readable(figure)


def test_open_pairs_of_other_questions(mlaut2018, assert_readable):
    found = race(mlaut2018, question="control: SVC")
    figure = race_plot(found)
    still = figure.axes[0].lines[0].get_ydata()
    assert (still[0], still[-1]) == (8, len(found.decided_pairs(False)))
    assert_readable(figure)


def test_nothing_to_draw(losses):
    results = losses({"A": [0.1], "B": [float("nan")]})
    with pytest.raises(AnalysisError, match="losses are missing"):
        race_plot(race(results))
