"""Figures draw what was computed, and nothing in them is cut off or written over."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from matplotlib.text import Text

from mlaut.analysis import Results, compare, wilcoxon_test
from mlaut.analysis.plots.pair_plots import forest_plot, pairwise_matrix, pareto_front, time_plot
from mlaut.errors import AnalysisError


def results(n_strategies, n_datasets=25):
    generator = np.random.default_rng(n_strategies)
    level = np.linspace(0.1, 0.3, n_strategies)
    noise = generator.normal(0, 0.04, (n_datasets, n_strategies))
    names = [f"Strategy_with_a_name_{i}" for i in range(n_strategies)]
    losses = pd.DataFrame(np.clip(0.2 + level + noise, 0, 1), columns=names)
    return Results.from_table(losses, metric="error", n_test=50)


def boxes(figure, texts):
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    # of the words alone: an annotation's own extent takes in its line
    return [Text.get_window_extent(text, renderer) for text in texts if text.get_text()]


def assert_readable(figure, texts):
    extents = boxes(figure, texts)
    assert extents
    width, height = figure.get_size_inches() * figure.dpi
    for box in extents:
        assert box.x0 >= -1
        assert box.y0 >= -1
        assert box.x1 <= width + 1
        assert box.y1 <= height + 1
    assert not [1 for one, other in combinations(extents, 2) if one.overlaps(other)]


@pytest.mark.parametrize("n", [3, 16, pytest.param(40, marks=pytest.mark.slow)])
def test_every_name_and_number_can_be_read(n):
    found = compare(results(n))
    matrix = pairwise_matrix(found.pairs["signed rank"])
    axes = matrix.axes[0]
    assert_readable(matrix, [*axes.get_yticklabels(), *axes.texts])
    upright = boxes(matrix, axes.get_xticklabels())
    assert min(box.x0 for box in upright) >= 0
    assert max(box.y1 for box in upright) <= matrix.bbox.height + 1
    forest = forest_plot(found.estimates)
    assert_readable(
        forest, [*forest.axes[0].get_yticklabels(), *forest.axes[0].get_legend().get_texts()]
    )
    scores = found.results.scores.mean()
    times = time_plot(scores, pd.Series(1.0, scores.index), greater_is_better=False)
    assert_readable(times, times.axes[0].texts)


def test_matrix_has_the_direction_and_significance_of_the_test():
    found = wilcoxon_test(results(4))
    order = list(found.strategies)[::-1]
    axes = pairwise_matrix(found, alpha=0.01, order=order).axes[0]
    shown = {text.get_position(): text.get_text() for text in axes.texts}
    for row, first in enumerate(order):
        for column, second in enumerate(order):
            if first == second:
                assert (column, row) not in shown
                continue
            test = found.pair(first, second)
            sign = {-1: "▲", 1: "▼"}[np.sign(test.effect.value)] if test.rejects(0.01) else ""
            lines = shown[column, row].split("\n")
            assert (lines[0] in ("▲", "▼")) == test.rejects(0.01)
            assert lines[0] == sign or not sign


def test_a_large_matrix_has_triangles_and_fits_a_page():
    found = wilcoxon_test(results(60))
    figure = pairwise_matrix(found, alpha=0.01)
    assert max(figure.get_size_inches()) < 16
    up, down = figure.axes[0].collections
    better = (found.p_values <= 0.01) & (found.table("better") > 0)
    assert len(up.get_offsets()) == len(down.get_offsets()) == int(better.to_numpy().sum())
    assert not figure.axes[0].texts


def test_matrix_refuses_other_strategies():
    with pytest.raises(AnalysisError, match="order has to name these strategies: Strategy"):
        pairwise_matrix(wilcoxon_test(results(3)), order=["A"])


def test_forest_draws_the_intervals():
    found = compare(results(3))
    axes = forest_plot(found.estimates).axes[0]
    drawn = [one for one in axes.collections if isinstance(one, LineCollection)]
    for table, lines in zip(found.estimates.values(), drawn, strict=True):
        ends = np.array([segment[:, 0] for segment in lines.get_segments()])
        np.testing.assert_allclose(ends, table.frame[["low", "high"]])


def test_front_holds_what_no_other_beats():
    scores = pd.Series({"slow best": 0.9, "quick": 0.7, "worse": 0.6, "same": 0.7, "none": np.nan})
    seconds = pd.Series({"slow best": 10.0, "quick": 1.0, "worse": 2.0, "same": 3.0, "none": 0.1})
    assert pareto_front(scores, seconds, greater_is_better=True) == ["quick", "slow best"]
    assert pareto_front(-scores, seconds, greater_is_better=False) == ["quick", "slow best"]
    axes = time_plot(scores, seconds, greater_is_better=True).axes[0]
    bold = {text.get_text() for text in axes.texts if text.get_fontweight() == "bold"}
    assert bold == {"quick", "slow best"}


def test_no_times_no_figure():
    none = pd.Series({"A": np.nan})
    with pytest.raises(AnalysisError, match="no strategy has both a score and a time above 0"):
        time_plot(pd.Series({"A": 0.5}), none, greater_is_better=True)
