"""The figure of a decision: rows, marks and values are those of the decision."""

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import Results, compare, decision_plot, treat_missing
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


def test_marks_are_mean_differences_from_the_leader():
    found = compared(A=0.0, B=0.001, C=0.1)
    decision, scores = found.decision(), found.results.scores
    figure = decision_plot(decision, found.results)
    drawn = marks(figure)
    assert [mark for *_, mark in drawn] == ["D", "o", "v"]
    expected = [(scores[name] - scores[decision.leader]).mean() for name in decision.frame.index]
    np.testing.assert_allclose([x for x, *_ in drawn], expected, atol=1e-12)
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels == list(decision.frame.index)


def bars(figure):
    """Return the heights of the bars from quartile to quartile."""
    lines = figure.axes[0].lines
    return [
        line.get_ydata()[0]
        for line in lines
        if line.get_linewidth() == 1.6
        and line.get_linestyle() == "-"
        and len(line.get_xdata()) == 2
    ]


def texts(figure):
    return [text.get_text() for text in figure.axes[0].get_yticklabels()]


def test_errors_in_units_of_targets_are_divided_by_the_leaders():
    found = compared(metric="rmse", A=0.0, B=0.05, C=0.1)
    decision = found.decision()
    figure = decision_plot(decision, found.results)
    expected = decision.frame["ratio"].fillna(1.0)
    np.testing.assert_allclose([x for x, *_ in marks(figure)], expected)
    assert figure.axes[0].get_xscale() == "log"
    assert figure.axes[0].get_xlabel() == (
        f"rmse divided by that of {decision.leader}, on each dataset\nleft of the line: better"
    )


def test_errors_without_a_ratio_are_drawn_by_ranks():
    errors = pd.DataFrame({"A": np.linspace(0.1, 0.2, 12)})
    errors["B"] = errors["A"] + 0.1
    errors.loc[0, "A"] = 0.0
    found = compare(Results.from_table(errors, metric="rmse"))
    figure = decision_plot(found.decision(), found.results)
    assert [x for x, *_ in marks(figure)] == [1.0, 2.0]
    assert figure.axes[0].get_xlabel() == "rank on each dataset (1 is best)"


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
    frame.iloc[:, 2] = np.nan
    found = compare(
        treat_missing(Results.from_table(frame.assign(D=0.5), metric="accuracy"), "worst rank")
    )
    figure = decision_plot(found.decision(), found.results)
    assert "C (0 of 16 datasets)" in texts(figure)
    assert len(marks(figure)) == 3


@pytest.mark.parametrize(("n", "rows"), [(7, 0), (8, 2)])
def test_few_dots_have_no_bar_and_are_large(n, rows):
    found = compared(n=n, A=0.0, B=0.05, C=0.1)
    figure = decision_plot(found.decision(), found.results)
    assert len(bars(figure)) == rows
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
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["A", "D"]


def test_nothing_is_marked_where_nothing_is_decided():
    found = compared(n=4, A=0.0, B=0.05)
    figure = decision_plot(found.decision(), found.results)
    assert marks(figure) == []
    assert figure.axes[0].get_xlabel() == "accuracy on each dataset"


def test_other_strategies_are_refused():
    with pytest.raises(AnalysisError, match="is about other strategies than the results"):
        decision_plot(compared(A=0.0, B=0.1).decision(), compared(A=0.0, C=0.1).results)
