"""Names, colours, groups and the number of strategies are the same options in every figure."""

import inspect

import numpy as np
import pandas as pd
import pytest
from everything import EXTRAS, analysis
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text

from mlaut.analysis import (
    Look,
    Results,
    adjust_pairs,
    average_ranks,
    box_plot,
    compare,
    critical_difference_diagram,
    decision_plot,
    elo_ratings,
    forest_plot,
    mean_estimates,
    multi_comparison,
    pairwise_matrix,
    probability_of_best,
    wilcoxon_test,
)
from mlaut.analysis.plots import rank_plot, time_plot
from mlaut.errors import AnalysisError

SIXTY = "{:02d}, a name of sixty signs that a careful author has chosen"


def results(n, named="s{}", n_datasets=12):
    """Strategies that are worse and worse, so that the order of every figure is theirs."""
    rng = np.random.default_rng(0)
    errors = rng.uniform(0.1, 0.2, (n_datasets, 1)) + np.linspace(0, 0.5, n)
    errors = errors + rng.uniform(0, 0.02, (n_datasets, n))
    names = [named.format(i)[:60] for i in range(n)]
    return Results.from_table(pd.DataFrame(1 - errors, columns=names), metric="accuracy")


PLOTS = {
    "boxes": box_plot,
    "ranks": critical_difference_diagram,
    "pairs": lambda r, **how: pairwise_matrix(adjust_pairs(wilcoxon_test(r), "holm"), **how),
    "means": lambda r, **how: forest_plot(mean_estimates(r, as_scores=True), **how),
    "elo": lambda r, **how: forest_plot(elo_ratings(r, n_samples=20), **how),
    "times": lambda r, **how: time_plot(
        r.scores.mean(),
        pd.Series(np.geomspace(1, 100, len(r.strategies)), list(r.strategies)),
        greater_is_better=True,
        **how,
    ),
    "decision": lambda r, **how: decision_plot(compare(r, n_samples=0).decision(), r, **how),
    "best": lambda r, **how: rank_plot(probability_of_best(r, n_samples=200), **how),
}
if EXTRAS:
    PLOTS |= {
        "duels": lambda r, **how: analysis.multi_comparison_matrix(multi_comparison(r), **how),
        "profile": lambda r, **how: analysis.profile_plot(analysis.performance_profile(r), **how),
        "heat": analysis.heat_map,
    }


def words(figure):
    """Return the visible texts of a figure, with their colours."""
    figure.draw_without_rendering()
    texts = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text()]
    return {text.get_text().split("  ")[0]: to_hex(text.get_color()) for text in texts}


@pytest.mark.parametrize("plot", PLOTS.values(), ids=PLOTS)
def test_every_figure_renames_colours_groups_and_limits_its_strategies(plot):
    made = results(5)
    look = Look(names={"s0": "the first"}, groups={"even": ["s0", "s2", "s4"]}, top=2)
    figure = plot(made, look=look)
    shown = words(figure)
    assert is_whole(figure)
    assert {"the first", "s1", "even"} <= shown.keys()
    assert not {"s0", "s2", "s3", "s4"} & shown.keys()
    assert shown["s1"] == "#000000"
    if plot is not PLOTS.get("profile"):  # there the line in the legend has the colour
        assert shown["the first"] == "#0072b2"
    ours = Figure()
    axes = ours.add_subplot()
    assert plot(made, look=look, ax=axes) is ours
    assert plot(made, figsize=(9, 4)).get_size_inches().tolist() == [9, 4]


def test_every_figure_of_strategies_has_a_look():
    of_tests = {"simplex_plot"}
    for name in analysis.__all__:
        function = getattr(analysis, name)
        if inspect.isfunction(function) and "figsize" in inspect.signature(function).parameters:
            parameters = inspect.signature(function).parameters
            assert "ax" in parameters, name
            assert ("look" in parameters) != (name in of_tests), name


def is_whole(figure):
    """Return whether the edges of a figure cut nothing, up to two hundredths of an inch."""
    figure.draw_without_rendering()
    box = figure.get_tightbbox(figure.canvas.get_renderer())
    width, height = figure.get_size_inches()
    return min(box.x0, box.y0, width - box.x1, height - box.y1) >= -0.02


@pytest.mark.parametrize("plot", PLOTS.values(), ids=PLOTS)
def test_names_of_sixty_characters_are_not_cut(plot):
    assert is_whole(plot(results(6, SIXTY)))


ALIKE = "GradientBoostingClassifier(max_depth=3,rate={},n_estimators=100,subsample=1.0,seed=0)"


@pytest.mark.parametrize("plot", PLOTS.values(), ids=PLOTS)
def test_names_that_shortening_would_make_the_same_stay_apart(plot):
    made = results(4)
    names = [*(ALIKE.format(rate) for rate in (0.1, 0.3, 0.9)), "svm"]
    figure = plot(Results.from_table(made.scores.set_axis(names, axis=1), metric="accuracy"))
    shown = " ".join(words(figure))
    assert all(f"rate={rate}" in shown for rate in (0.1, 0.3, 0.9))
    assert is_whole(figure)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "named"), [(30, "s{}"), (100, SIXTY)], ids=["short", "long"])
@pytest.mark.parametrize("plot", PLOTS.values(), ids=PLOTS)
def test_nothing_is_cut_whatever_the_number_and_the_length_of_the_names(plot, n, named):
    made = results(n, named)
    look = Look(top=20) if plot is PLOTS["duels"] else Look()
    figure = plot(made, look=look)
    assert is_whole(figure)
    assert max(figure.get_size_inches()) < 30


def test_a_group_has_one_colour_and_a_strategy_may_have_its_own():
    look = Look(groups={"a": ["x", "y"], "b": ["z"]}, colours={"y": "black", "b": "tomato"})
    assert [look.colour(name, "none") for name in "xyzw"] == ["#0072B2", "black", "tomato", "none"]


def test_the_middle_of_a_long_name_is_left_out():
    look = Look(longest=9)
    assert look.label("123456789") == "123456789"
    assert look.label("beginning and end") == "begi… end"
    assert len(look.label("x" * 80)) == 9


def test_alike_names_are_shortened_around_the_part_in_which_they_differ():
    names = [ALIKE.format(rate) for rate in (0.1, 0.35)]
    look = Look(longest=40).apart([*names, "svm", "x" * 80])
    assert look.labels([*names, "svm"]) == [
        "GradientBoostin…rate=0.1…ple=1.0,seed=0)",
        "GradientBoosti…rate=0.35…le=1.0,seed=0)",
        "svm",
    ]
    assert look.label("x" * 80) == Look(longest=40).label("x" * 80)
    far = ["a" * 40 + "b" * 40, "b" * 40 + "a" * 40]  # they differ everywhere
    assert Look(longest=40).apart(far).labels(far) == Look(longest=40).labels(far)
    mixed = ["a" * 30 + "b" * 40 + "c" * 30, "a" * 30 + "d" * 40 + "c" * 30]
    assert Look(longest=40).apart(mixed).labels(mixed) == mixed  # nothing can be left out
    named = Look(names={names[0]: "the first"}, longest=40).apart(names)
    assert named.labels(names)[0] == "the first"


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"colours": {"a": "bleu"}}, "no colour is called 'bleu'; use one of matplotlib's"),
        ({"groups": {"a": ["x"], "b": ["x"]}}, "strategy 'x' is in two groups of the look"),
        ({"top": 0}, "top is 1 or more, and longest is 3 or more"),
        ({"longest": 1}, "top is 1 or more, and longest is 3 or more"),
    ],
)
def test_an_impossible_look_is_one_line(given, line):
    with pytest.raises(AnalysisError, match=line):
        Look(**given)


def test_a_look_of_other_strategies_is_refused():
    with pytest.raises(AnalysisError, match=r"the look is of other strategies \(svm\) than the"):
        box_plot(results(3), look=Look(names={"svm": "SVM"}))
    with pytest.raises(AnalysisError, match=r"look must be mlaut.analysis.Look\(...\), not dict"):
        box_plot(results(3), look={"svm": "SVM"})


def test_groups_of_a_diagram_are_those_of_all_strategies():
    made = results(6)
    diagram = critical_difference_diagram(made, look=Look(top=3))
    ranks = average_ranks(made).frame["average_rank"]
    shown = [text.get_text() for text in diagram.axes[0].texts]
    assert [f"{name}  {rank:.2f}" in shown for name, rank in ranks.items()] == [True] * 3 + [
        False
    ] * 3


def test_a_table_of_elo_or_ranks_is_a_forest():
    made = results(4)
    elo = forest_plot(elo_ratings(made, n_samples=20)).axes[0]
    ranks = forest_plot(average_ranks(made)).axes[0]
    assert [t.get_text() for t in elo.get_yticklabels()] == ["s0", "s1", "s2", "s3"]
    assert [t.get_text() for t in ranks.get_yticklabels()] == ["s0", "s1", "s2", "s3"]
    assert (elo.get_xlabel(), ranks.get_xlabel()) == ("Elo", "average rank")


def test_many_dots_are_left_out_but_for_those_beyond_the_whiskers():
    few, many = results(5), results(50, n_datasets=100)
    dots = [sum(len(line.get_xdata()) for line in box_plot(r).axes[0].lines) for r in (few, many)]
    assert dots[0] == 5 * 12
    assert dots[1] < 50 * 30
