"""The figure of scores against the budget of tuning."""

import numpy as np
import pandas as pd
import pytest
from mlaut_races import budget_plot

from mlaut.analysis import Look
from mlaut.errors import AnalysisError


def table(**outer):
    rows = {
        (name, 2**k): [2.0**k, 0.1 * 2**k, 0.7 + 0.05 * k, score]
        for name, scores in outer.items()
        for k, score in enumerate(scores)
    }
    columns = ["evaluations", "seconds", "inner score", "outer score"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).set_index(
        pd.MultiIndex.from_tuples(rows, names=["strategy", "candidates"])
    )


def test_each_strategy_is_a_line_and_the_best_is_named_first():
    axes = budget_plot(table(a=[0.5, 0.6, 0.7], b=[0.8, 0.85, 0.9])).axes[0]
    assert [line.get_label() for line in axes.lines] == ["b", "a"]
    assert axes.lines[0].get_xdata().tolist() == [1, 2, 4]
    assert axes.lines[0].get_ydata().tolist() == [0.8, 0.85, 0.9]
    assert axes.get_ylabel() == "outer score"
    assert axes.get_xscale() == "log"


def test_the_inner_score_is_dashed_where_no_other_is_known():
    axes = budget_plot(table(a=[np.nan, np.nan, 0.7], b=[0.8, 0.85, 0.9])).axes[0]
    styles = {line.get_label(): line.get_linestyle() for line in axes.lines}
    assert styles == {"a": "--", "b": "-"}
    assert axes.get_ylabel() == "outer score or inner score"


def test_units_names_and_the_first_of_many():
    axes = budget_plot(
        table(a=[0.5], b=[0.6, 0.9]), x="seconds", look=Look(names={"b": "Forest"}, top=1)
    ).axes[0]
    assert [line.get_label() for line in axes.lines] == ["Forest"]
    assert axes.lines[0].get_xdata().tolist() == [0.1, 0.2]
    assert axes.get_xlabel() == "CPU seconds of tuning (logarithmic axis)"


def test_mistakes_are_one_line():
    with pytest.raises(AnalysisError, match="no unit of a budget"):
        budget_plot(table(a=[0.5]), x="hours")
    with pytest.raises(AnalysisError, match="score_against_budget"):
        budget_plot(pd.DataFrame())
