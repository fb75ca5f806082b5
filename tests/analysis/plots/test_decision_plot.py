"""The figure of a decision: rows, marks and values are those of the decision."""

from collections import defaultdict

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import Results, compare, decision_plot, treat_missing
from mlaut.analysis.deciding.strips import Strips
from mlaut.errors import AnalysisError


def compared(n=16, metric="accuracy", **worse):
    level = np.linspace(0.7, 0.9, n)
    noise = np.random.default_rng(0).normal(0, 0.005, (n, len(worse)))
    frame = pd.DataFrame({k: level - w for k, w in worse.items()}) + noise
    if metric == "rmse":
        frame = 1 - frame
    return compare(Results.from_table(frame, metric=metric))


def marks(figure):
    """Return the place, the height and the mark of each strategy."""
    lines = [line for line in figure.axes[0].lines if line.get_marker() in "Dovs^"]
    return [(line.get_xdata()[0], line.get_ydata()[0], line.get_marker()) for line in lines]


def test_marks_are_the_average_differences_of_the_table():
    found = compared(A=0.0, B=0.001, C=0.1)
    decision, scores = found.decision(), found.results.scores
    figure = decision_plot(decision, found.results)
    drawn = marks(figure)
    assert [mark for *_, mark in drawn] == ["D", "o", "v"]
    expected = [(scores[name] - scores[decision.leader]).mean() for name in decision.frame.index]
    np.testing.assert_allclose([x for x, *_ in drawn], expected, atol=1e-12)
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels == list(decision.frame.index)


def bands(figure):
    """Return the ends of the bands from quartile to quartile."""
    lines = [line for line in figure.axes[0].lines if line.get_linewidth() == 9]
    return [list(line.get_xdata()) for line in lines]


def texts(figure):
    return [text.get_text() for text in figure.axes[0].get_yticklabels()]


def test_errors_in_units_of_targets_are_divided_by_the_leaders():
    found = compared(metric="rmse", A=0.0, B=0.05, C=0.1)
    decision = found.decision()
    figure = decision_plot(decision, found.results)
    scores = found.results.scores
    ratios = np.log(scores.div(scores[decision.leader], axis=0))[decision.frame.index]
    np.testing.assert_allclose([x for x, *_ in marks(figure)], -ratios.mean(), atol=1e-12)
    quartiles = -ratios.iloc[:, 1:].quantile([0.75, 0.25]).T
    np.testing.assert_allclose(np.sort(bands(figure)), quartiles, atol=1e-12)
    ticks = zip(figure.axes[0].get_xticks(), figure.axes[0].get_xticklabels(), strict=True)
    for place, text in ticks:
        assert place == pytest.approx(-np.log(float(text.get_text().rstrip("\u00d7"))), abs=1e-12)
    label = f"\u2190 worse: higher rmse than {decision.leader}    better \u2192"
    assert figure.axes[0].get_xlabel() == label


def test_errors_without_a_ratio_are_drawn_by_ranks():
    errors = pd.DataFrame({"A": np.linspace(0.1, 0.2, 12)})
    errors["B"] = errors["A"] + 0.1
    errors.loc[0, "A"] = 0.0
    found = compare(Results.from_table(errors, metric="rmse"))
    figure = decision_plot(found.decision(), found.results)
    assert [x for x, *_ in marks(figure)] == [-1.0, -2.0]
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["2", "1"]
    assert figure.axes[0].get_xlabel() == "\u2190 worse rank    better rank \u2192"


def test_where_cells_are_missing_differences_are_those_of_both_results():
    scores = compared(A=0.0, B=0.001, C=0.1).results.scores
    frame = scores.copy()
    frame.iloc[:4, 1] = np.nan
    frame.iloc[5, 2] = np.nan
    found = compare(treat_missing(Results.from_table(frame, metric="accuracy"), "worst rank"))
    decision = found.decision()
    figure = decision_plot(decision, found.results)
    gaps = frame.sub(frame["A"], axis=0)
    np.testing.assert_allclose(
        [x for x, *_ in marks(figure)], gaps.mean()[decision.frame.index], atol=1e-12
    )
    names = {"A": "A", "B": "B (12 of 16 datasets)", "C": "C"}  # C lacks one, as the table says
    assert texts(figure) == [names[name] for name in decision.frame.index]


def test_a_strategy_that_shares_no_dataset_with_the_leader_has_a_row_without_marks():
    frame = compared(A=0.0, B=0.001, C=0.1).results.scores
    frame.iloc[1:, 2], frame.iloc[0, :2] = np.nan, np.nan
    found = compare(
        treat_missing(Results.from_table(frame.assign(D=0.5), metric="accuracy"), "worst rank")
    )
    figure = decision_plot(found.decision(), found.results)
    assert "C (0 of 16 datasets)" in texts(figure)
    assert len(marks(figure)) == 3


@pytest.mark.parametrize(("n", "rows"), [(7, 0), (8, 2)])
def test_few_dots_have_no_band_and_are_large(n, rows):
    found = compared(n=n, A=0.0, B=0.05, C=0.1)
    figure = decision_plot(found.decision(), found.results)
    assert len(bands(figure)) == rows
    dots = [line for line in figure.axes[0].lines if line.get_marker() == "."]
    assert {len(line.get_xdata()) for line in dots} == {n}
    many = decision_plot(
        compared(n=60, A=0.0, B=0.05).decision(), compared(n=60, A=0.0, B=0.05).results
    )
    (small,) = [line for line in many.axes[0].lines if line.get_marker() == "."]
    assert small.get_markersize() < dots[0].get_markersize()


def test_the_leader_is_drawn_among_the_best_few():
    found = compared(A=0.0, B=0.05, C=0.1, D=0.2)
    figure = decision_plot(found.decision(question="control: D"), found.results, top=2)
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["A", "D", "2 more"]
    told = next(text for text in figure.axes[0].texts if text.get_text().startswith("average"))
    ranks = found.decision().frame["average rank"]
    assert told.get_text() == f"average ranks {ranks['B']:.3g} to {ranks['C']:.3g}"
    assert told.xy == (0.0, 2)


def test_nothing_is_marked_where_nothing_is_decided():
    found = compared(n=4, A=0.0, B=0.05)
    figure = decision_plot(found.decision(), found.results)
    assert marks(figure) == []
    assert figure.axes[0].get_xlabel() == "\u2190 worse: lower accuracy than A    better \u2192"


def test_other_strategies_are_refused():
    with pytest.raises(AnalysisError, match="is about other strategies than the results"):
        decision_plot(compared(A=0.0, B=0.1).decision(), compared(A=0.0, C=0.1).results)


def edges(figure):
    """Return the texts at the edges, by row: on the left, and on the right."""
    texts = [text for text in figure.axes[0].texts if text.get_text()[:7] != "average"]
    rows = defaultdict(lambda: ["", ""])
    for text in texts:
        rows[text.xy[1]][int(text.xy[0])] = text.get_text()
    return rows


def test_a_far_dataset_and_a_far_strategy_stand_at_the_edge_and_do_not_set_the_axis():
    scores = compared(A=0.0, B=0.01, C=0.02, D=0.03, E=0.5).results.scores
    scores.loc["3", "B"] -= 0.2
    found = compare(Results.from_table(scores, metric="accuracy"))
    figure = decision_plot(found.decision(), found.results)
    gaps = scores.sub(scores["A"], axis=0)
    low, high = figure.axes[0].get_xlim()
    assert -0.15 < low < -0.03
    assert 0 < high < 0.05
    order = [name.split()[0] for name in texts(figure)]
    assert edges(figure)[order.index("B")] == ["◂ 1 dot", ""]
    far = f"◂ mean \u2212{-gaps['E'].mean():.2g}\n16 dots"
    assert edges(figure)[order.index("E")] == [far, ""]
    assert len(marks(figure)) == 4


def test_few_datasets_are_letters():
    table = pd.DataFrame({"A": [0.9, 0.8], "B": [0.7, 0.85], "C": [0.8, 0.6]}, index=["d$1", "e"])
    found = compare(Results.from_table(table, metric="accuracy"))
    figure = decision_plot(found.decision(), found.results)
    drawn = [
        (line.get_marker(), line.get_xdata()[0], line.get_ydata()[0]) for line in letters(figure)
    ]
    expected = [
        (f"${letter}$", table[name][dataset] - table["A"][dataset], row)
        for row, name in enumerate(texts(figure))
        if name != "A"
        for letter, dataset in zip("AB", table.index, strict=True)
    ]
    assert drawn == expected
    label = "\u2190 worse: lower accuracy than A    better \u2192\nA: d$1\nB: e"
    assert figure.axes[0].get_xlabel() == label


def letters(figure):
    return [line for line in figure.axes[0].lines if str(line.get_marker()).startswith("$")]


def random_table(seed):
    """Return results with all that a figure could hide: far cells, a baseline, ties and gaps."""
    random = np.random.default_rng(seed)
    n, k = random.integers(2, 25), random.integers(2, 8)
    table = random.normal(1, 0.02, (n, k)) * random.uniform(1, 1.1, k)
    table *= random.choice([1.0, 0.1, 40.0], (n, k), p=[0.92, 0.04, 0.04])
    table[:, random.integers(k)] *= random.choice([1.0, 0.3, 1e9])
    table = np.where(random.random((n, k)) < 0.1, table[:, :1], table)
    if seed % 3 == 0:
        table[1:][random.random((n - 1, k)) < 0.1] = np.nan
    frame = pd.DataFrame(table, columns=[f"s{place}" for place in random.permutation(k)])
    frame, metric = (frame, "rmse") if seed % 2 else (1 - frame / 10, "r2")
    results = Results.from_table(frame, metric=metric)
    return treat_missing(results, "failures last") if frame.isna().any(axis=None) else results


def told(text):
    """Return how many dots a text at an edge stands for."""
    words = text.strip("◂▸ ").rpartition("\n")[2]
    return 0 if not words or words.startswith("mean") else int(words.partition(" dot")[0])


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(10, 200, 10))]
)
def test_every_dot_is_drawn_or_told_at_its_edge_and_rows_have_the_order_of_the_table(first):
    told_in_all = 0
    for seed in range(first, first + 10):
        results = random_table(seed)
        decision = compare(results, n_samples=0).decision()
        figure = decision_plot(decision, results)
        axes, at_edges = figure.axes[0], edges(figure)
        order = [name.split()[0] for name in texts(figure)]
        assert order == list(decision.frame.index)
        strips = Strips.of(decision, results)
        low, high = axes.get_xlim()
        dots = [line for line in axes.lines if line.get_marker() == "."] + letters(figure)
        drawn = defaultdict(list)
        for x, heights in (line.get_data() for line in dots):
            drawn[round(float(np.mean(heights)))].extend(x) if len(x) else None
        for row, name in enumerate(order):
            if name == strips.reference:
                continue
            known = strips.place(strips.dots[name].dropna()).sort_values()
            within = known[known.between(low, high)]
            where = f"{name} of table {seed}"
            np.testing.assert_allclose(np.sort(drawn[row]), within, err_msg=where)
            sides = known.index[known < low][::-1], known.index[known > high]
            for text, far in zip(at_edges[row], sides, strict=True):
                assert told(text) == len(far), (where, text)
                told_in_all += told(text)
            if decision.leader and not low <= strips.place(strips.marks[name]) <= high:
                assert any(text.lstrip("◂▸ ").startswith("mean") for text in at_edges[row])
    assert told_in_all > 20  # the tables do have far dots
