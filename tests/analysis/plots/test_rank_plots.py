"""Figures: what they show, and that no label lies over another."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from mlaut.analysis import (
    Results,
    adjust_pairs,
    average_ranks,
    bayesian_sign_test,
    box_plot,
    critical_difference_diagram,
    nemenyi_test,
    wilcoxon_test,
)
from mlaut.analysis.methods.frequentist import pair_groups, post_hoc_test
from mlaut.analysis.plots import draw_ranks
from mlaut.analysis.plots.rank_plots import _among, _stacked
from mlaut.errors import AnalysisError


def many(k, n=60, name="A_strategy_with_a_long_name_{}"):
    rng = np.random.default_rng(0)
    values = rng.beta(2, 8, (n, 1)) + rng.normal(0, 0.05, (n, k)) + np.linspace(0, 0.08, k)
    table = pd.DataFrame(values, columns=[name.format(i) for i in range(k)])
    return Results.from_table(table, greater_is_better=False)


def texts(figure):
    """Every drawn text with its extent in pixels."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    drawn = [t for t in figure.axes[0].texts + figure.texts if t.get_text()]
    return [(t.get_text(), t.get_window_extent(renderer)) for t in drawn]


@pytest.mark.parametrize("k", [2, 3, 9, 40])
def test_no_label_of_a_diagram_lies_over_another_or_outside(k):
    figure = critical_difference_diagram(many(k))
    drawn = texts(figure)
    assert sum(text.startswith("A_strategy") for text, _ in drawn) == k
    for i, (_, box) in enumerate(drawn):
        assert not any(box.overlaps(other) for _, other in drawn[i + 1 :])
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.width
        assert box.y0 >= 0
        assert box.y1 <= figure.bbox.height


def test_close_ranks_and_very_long_names_still_do_not_overlap():
    ranks = pd.Series({"x" * 80 + str(i): 3.5 for i in range(6)})
    drawn = texts(draw_ranks(ranks, 1.0, [list(ranks.index)]))
    assert not any(a.overlaps(b) for i, (_, a) in enumerate(drawn) for _, b in drawn[i + 1 :])


def test_a_diagram_shows_ranks_and_groups(mlaut2018):
    figure = critical_difference_diagram(mlaut2018)
    shown = [text for text, _ in texts(figure)]
    assert "RandomForestClassifier  2.49" in shown
    assert "CD = 1.09 at 0.05" in shown
    bars = [line for line in figure.axes[0].lines if line.get_linewidth() > 3]
    assert len(bars) == 4
    left = min(bars[0].get_xdata())
    assert left == pytest.approx(2.49, abs=0.1)


def test_groups_are_those_of_the_signed_rank_test_with_holms_correction(mlaut2018):
    """The groups of a pair do not depend on a bad strategy, as those of Nemenyi's test do."""
    pairs = adjust_pairs(wilcoxon_test(mlaut2018), "holm")
    figure = critical_difference_diagram(mlaut2018, pairs=pairs)
    assert "Wilcoxon signed rank test, holm correction, level 0.05" in [
        text for text, _ in texts(figure)
    ]
    p = pairs.p_values
    groups = pair_groups(pairs)
    for first, second in pairs.pairs:
        together = any({first, second} <= set(group) for group in groups)
        assert together == (p.loc[first, second] > 0.05)
    bars = [line for line in figure.axes[0].lines if line.get_linewidth() > 3]
    assert len(bars) == len(groups)


@pytest.mark.parametrize("k", [4, 9, 27])
def test_groups_are_those_of_the_diagram_of_scikit_posthocs(mlaut2018, k):
    """It lists all largest groups, which is quick for tests of ranks alone; ours cover them."""
    import scikit_posthocs

    results = mlaut2018 if k == 9 else many(k)
    for pairs in (nemenyi_test(results), adjust_pairs(post_hoc_test(results), "holm")):
        ranks = average_ranks(results).frame["average_rank"]
        p = pairs.p_values.fillna(1.0)
        drawn = scikit_posthocs.critical_difference_diagram(ranks, p, ax=Figure().subplots())
        theirs = [sorted(bar[0].get_xdata()) for bar in drawn["crossbars"]]
        ours = [sorted(ranks[list(group)]) for group in pair_groups(pairs, list(ranks.index))]
        assert ours == sorted(theirs)


def test_a_bar_over_others_has_dots_at_its_own():
    ranks = pd.Series({"A": 1.0, "B": 2.0, "C": 3.0})
    axes = draw_ranks(ranks, 0.0, [["A", "C"]], label="a test").axes[0]
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    assert [list(line.get_xdata()) for line in dots] == [[1.0, 3.0]]
    assert not [
        x for x in draw_ranks(ranks, 0.0, [[*"ABC"]]).axes[0].lines if x.get_marker() == "o"
    ]


def test_pairs_may_be_bayesian_and_must_be_of_these_strategies():
    values = np.abs(np.random.default_rng(0).normal(1, 0.3, (12, 3)))
    results = Results.from_table(pd.DataFrame(values, columns=[*"ABC"]), metric="rmse")
    bayesian = critical_difference_diagram(results, pairs=bayesian_sign_test(results))
    assert any(text.startswith("Bayesian sign test") for text, _ in texts(bayesian))
    with pytest.raises(AnalysisError, match="pairs are of other strategies"):
        critical_difference_diagram(results, pairs=nemenyi_test(many(3)))


def test_bars_that_overlap_get_rows_of_their_own():
    ranks = pd.Series({"A": 1.0, "B": 2.0, "C": 3.0, "D": 4.0, "E": 5.0})
    stacked = _stacked(ranks, [["A", "B"], ["B", "C"], ["D", "E"]])
    assert stacked == [(1.0, 2.0, 0), (2.0, 3.0, 1), (4.0, 5.0, 0)]


def test_boxes_are_in_the_order_of_medians_or_means():
    """Figure 5 of the paper has the best mean on top."""
    table = pd.DataFrame({"steady": [0.8, 0.8, 0.8], "fails once": [0.9, 0.9, 0.1]})
    results = Results.from_table(table, metric="accuracy")
    shown = {
        order: [t.get_text() for t in box_plot(results, order=order).axes[0].get_yticklabels()]
        for order in ("median", "mean")
    }
    assert shown == {"median": ["steady", "fails once"], "mean": ["fails once", "steady"]}
    with pytest.raises(AnalysisError, match=r"order .meen. is not known; did you mean .mean."):
        box_plot(results, order="meen")


def test_a_box_plot_has_a_box_and_all_points_of_each_strategy(mlaut2018):
    figure = box_plot(mlaut2018)
    axes = figure.axes[0]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels[-1] == "RandomForestClassifier"
    assert labels[0] == "BaselineClassifier"
    assert axes.get_xlabel() == "misclassification on 121 datasets"
    (dots,) = axes.lines
    places = np.rint(dots.get_ydata()).astype(int)
    assert np.bincount(places)[1:].tolist() == [121] * 9
    assert len(axes.patches) == 9
    for place, label in enumerate(labels, start=1):
        drawn = np.sort(dots.get_xdata()[places == place])
        np.testing.assert_array_equal(drawn, np.sort(mlaut2018.scores[label]))
        box = axes.patches[place - 1]
        quartiles = np.percentile(drawn, [25, 75])
        np.testing.assert_allclose([box.get_x(), box.get_x() + box.get_width()], quartiles)


def test_whiskers_end_at_the_last_value_within_one_and_a_half_boxes():
    values = np.array([1.0, 5.0, 6.0, 7.0, 8.0, 9.0, 13.0, 30.0])
    axes = box_plot(Results.from_table(pd.DataFrame({"A": values}), metric="mase")).axes[0]
    whiskers = [np.sort(lines.get_segments()[0][:, 0]) for lines in axes.collections[::2]]
    np.testing.assert_allclose(whiskers[:2], [[1.0, 5.75], [10.0, 13.0]])


def test_a_box_plot_of_scores_tells_what_is_missing():
    table = pd.DataFrame({"A": [0.9, 0.8, np.nan], "B": [0.5, 0.6, 0.7]})
    figure = box_plot(Results.from_table(table, metric="accuracy"), as_scores=True)
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["A (1 missing)", "B"]
    assert axes.get_xlabel() == "accuracy on 3 datasets"


def test_a_far_dataset_sets_no_axis_of_a_box_plot():
    values = np.linspace(1.0, 2.0, 11)
    far = np.where(values == 2, 500.0, values)
    results = Results.from_table(pd.DataFrame({"A": values, "B": far}), metric="mase")
    axes = box_plot(results).axes[0]
    assert axes.get_xlim()[1] < 3
    assert [text.get_text() for text in axes.texts if text.get_text()] == ["▸ 500"]


def test_figures_are_returned_and_shown_by_notebooks(mlaut2018):
    figure = box_plot(mlaut2018)
    assert isinstance(figure, Figure)
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_one_strategy_has_no_diagram():
    with pytest.raises(AnalysisError, match="two strategies"):
        draw_ranks(pd.Series({"A": 1.0}), 1.0, [])


def test_a_strategy_that_lacks_datasets_is_not_drawn_among_the_best():
    table = pd.DataFrame({"A": [0.7, 0.8, 0.6], "lucky": [0.99, np.nan, np.nan], "B": [0.5] * 3})
    axes = box_plot(Results.from_table(table, metric="accuracy")).axes[0]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["lucky (2 missing)", "B", "A"]  # from the bottom


def test_groups_that_begin_alike_keep_their_order():
    """Else their bars change places from one process to the next, as the order of a set does."""
    groups = [["a", other] for other in "ecbfd"]
    assert _among([*groups, ["e"], ["a", "e"]], list("abcdef")) == groups
