"""Margins: how far each strategy is from the leader, counted where both have a result."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from decided_tables import decided, table
from scipy import stats

from mlaut.analysis import Results, compare
from mlaut.analysis.deciding.margins import gaps, margins


def test_errors_in_several_units_have_no_mean():
    frame = 1 - table(A=0.0, B=0.2, C=0.3)
    found = decided(frame.mul(10.0 ** np.arange(len(frame)), axis=0), metric="rmse")
    assert found.chosen.analysis.test == "trinomial"
    assert not [name for name in found.frame if name.startswith("mean")]
    assert "mean" not in found.sentence()
    assert {check.how.words for check in found.checks} == {"the sign test", "Nemenyi's test"}


def test_margins_are_counted_where_both_have_a_result():
    frame = table(A=0.0, B=0.01, C=0.2)
    frame.iloc[:3, 1] = np.nan
    frame.iloc[3, 2] = frame.iloc[3, 0]
    results = Results.from_table(frame, metric="accuracy")
    found = margins(results, "A")
    gaps = frame.sub(frame["A"], axis=0)
    for name in "BC":
        assert found.loc[name, "won"] == (gaps[name] > 0).sum()
        assert found.loc[name, "lost"] == (gaps[name] < 0).sum()
        assert found.loc[name, "tied"] == (gaps[name] == 0).sum()
        assert found.loc[name, "difference"] == pytest.approx(gaps[name].mean())
    assert found.loc["A"].isna().all()


def test_margins_of_errors_are_ratios_that_no_unit_changes():
    errors = 1 - table(A=0.0, B=0.2)
    other = errors.mul(10.0 ** np.arange(len(errors)), axis=0)
    one, two = (margins(Results.from_table(e, metric="rmse"), "A") for e in (errors, other))
    pd.testing.assert_frame_equal(one, two)
    assert one.loc["B", "ratio"] == pytest.approx(stats.gmean(errors["B"] / errors["A"]))
    assert one.loc["B", "lost"] == (errors["B"] > errors["A"]).sum()
    own = gaps(Results.from_table(errors, metric="rmse"), "A")
    np.testing.assert_allclose(own, errors.div(errors["A"], axis=0))
    errors.iloc[0, 1] = 0.0  # has no ratio
    errors["C"] = errors["A"]
    ratios = margins(Results.from_table(errors, metric="rmse"), "A")["ratio"]
    assert (np.isnan(ratios["B"]), ratios["C"]) == (True, 1)
    none = margins(Results.from_table(errors[["A", "B"]], metric="rmse"), "A")
    assert list(none) == ["won", "tied", "lost"]


def test_a_strategy_that_often_failed_is_compared_where_it_ran():
    frame = table(A=0.0, B=0.002, C=0.1)
    frame.iloc[:7, 1] = np.nan
    found = compare(frame, metric="accuracy", missing="failures last").decision()
    assert found.frame.loc["B", "reason"] == "B has no result on 7 of 20 datasets."
    assert found.frame.loc["B", ["won", "tied", "lost"]].sum() == 13
    assert "7 results are missing: each counts as last place." in found.headline()


def test_a_gap_keeps_the_names_of_strategies():
    gaps = ("svm left out: tried on none", "no accuracy of tree on 2 datasets: left out")
    assert replace(decided(table(A=0.0, B=0.2)), gaps=gaps).caveats() == (
        "svm left out: tried on none.",
        "No accuracy of tree on 2 datasets: left out.",
    )


def test_a_size_is_of_the_datasets_on_which_both_have_a_result():
    frame = table(A=0.0, C=0.2, D=0.3, E=0.4)
    frame.iloc[:2, 1] = frame.iloc[2:5, 3] = np.nan
    found = compare(frame, metric="accuracy", missing="failures last").decision()
    assert found.answer().endswith("Avoid C, D and E (accuracy 0.2 to 0.4 below A).")
    assert found.frame["reason"]["C"] == "C has no result on 2 of 20 datasets."
    assert found.frame.loc["C", ["won", "tied", "lost"]].sum() == 18


@pytest.mark.parametrize(("n", "words"), [(1, "ties on 1 dataset,"), (2, "ties on 2 datasets,")])
def test_ties_are_counted_in_words(n, words):
    frame = table(A=0.0, B=0.1, C=0.2)
    frame.iloc[:n, 1] = frame.iloc[:n, 0]
    notes = compare(frame, metric="accuracy").portmanteau["Friedman F"].notes
    assert any(note.startswith(words) for note in notes)


@pytest.mark.parametrize("metric", ["accuracy", "rmse"])
def test_a_size_is_told_where_a_test_of_means_shows_it(metric):
    """B is nearly always a little worse, and once much better."""
    level = np.linspace(0.5, 0.7, 20)
    gap = np.r_[np.linspace(0.01, 0.02, 19), -0.25]
    worse = {"accuracy": -1, "rmse": 1}[metric]
    frame = pd.DataFrame({"A": level, "B": level + worse * gap, "C": level + worse * 0.2})
    found = decided(frame, metric=metric)
    assert found.by_mean == ("C",)
    assert found.answer().endswith("Avoid B and C.")  # a range of both would mix kinds
