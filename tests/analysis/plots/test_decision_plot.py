"""The figure of a decision: rows, marks and values are those of the decision."""

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import Results, compare, decision_plot
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


def test_errors_in_units_of_targets_are_drawn_by_ranks():
    found = compared(metric="rmse", A=0.0, B=0.05, C=0.1)
    figure = decision_plot(found.decision(), found.results)
    ranks = found.ranks.frame["average_rank"]
    np.testing.assert_allclose([x for x, *_ in marks(figure)], ranks)
    assert figure.axes[0].get_xlabel() == "rank on each dataset (1 is best)"


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
