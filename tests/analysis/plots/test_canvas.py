"""What all plots share: axes of the caller, sizes, and names of any number and length."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from mlaut.analysis import (
    Results,
    box_plot,
    critical_difference_diagram,
    forest_plot,
    mean_estimates,
    pairwise_matrix,
    t_test,
)
from mlaut.analysis.plots import time_plot
from mlaut.analysis.plots.canvas import row_size
from mlaut.errors import AnalysisError


def results(n, length=0):
    names = [f"s{i}".ljust(length, "x") for i in range(n)]
    losses = np.random.default_rng(0).uniform(0.1, 0.3, (8, n)) + np.linspace(0, 0.4, n)
    return Results.from_table(pd.DataFrame(losses, columns=names), metric="error")


PLOTS = {
    "boxes": box_plot,
    "ranks": critical_difference_diagram,
    "matrix": lambda r, **how: pairwise_matrix(t_test(r), **how),
    "intervals": lambda r, **how: forest_plot(mean_estimates(r), **how),
    "times": lambda r, **how: time_plot(
        r.scores.mean(),
        pd.Series(np.arange(1.0, len(r.strategies) + 1), list(r.strategies)),
        greater_is_better=False,
        **how,
    ),
}


@pytest.mark.parametrize("plot", PLOTS.values(), ids=PLOTS)
def test_a_plot_takes_axes_or_a_size(plot):
    figure = Figure(figsize=(12, 5))
    left, right = figure.subplots(1, 2)
    assert plot(results(4), ax=right) is figure
    assert right.has_data()
    assert not left.has_data()
    assert plot(results(4), figsize=(9, 4)).get_size_inches().tolist() == [9, 4]
    with pytest.raises(AnalysisError, match="figsize is for a new figure"):
        plot(results(4), ax=left, figsize=(9, 4))


@pytest.mark.parametrize(("n", "length"), [(3, 60), (60, 30)])
@pytest.mark.parametrize("plot", PLOTS.values(), ids=PLOTS)
def test_no_name_is_cut_off(plot, n, length):
    figure = plot(results(n, length))
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    box = figure.get_tightbbox(renderer)  # in inches
    width, height = figure.get_size_inches()
    assert box.x0 >= -0.02
    assert box.y0 >= -0.02
    assert box.x1 <= width + 0.02
    assert box.y1 <= height + 0.02


def test_many_rows_are_smaller_and_still_readable():
    assert row_size(10) == row_size(40) == pytest.approx((0.24, 9))
    height, font = row_size(200)
    assert font == 6.5
    assert height == pytest.approx(0.24 * 6.5 / 9)


def test_names_too_long_for_a_size_are_refused_with_the_size_they_need():
    with pytest.raises(AnalysisError, match=r"the names need .* inches beside the ranks: make the"):
        critical_difference_diagram(results(4, 60), figsize=(4, 3))


@pytest.mark.parametrize("figsize", ["large", (0, 3), (3,), (np.inf, 3)])
def test_a_size_is_two_lengths(figsize):
    with pytest.raises(AnalysisError, match="is not a width and a height"):
        box_plot(results(3), figsize=figsize)


def test_a_dollar_in_a_name_begins_no_formula():
    table = pd.DataFrame({r"C=$10^2$, \gamma": [0.1, 0.2, 0.3], "$": [0.2, 0.3, 0.5]})
    figure = box_plot(Results.from_table(table, greater_is_better=False))
    figure.draw_without_rendering()
    assert not any(text.get_parse_math() for text in figure.findobj(Text))
