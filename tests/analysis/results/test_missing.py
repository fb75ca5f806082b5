"""Treatments of missing cells."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import (
    Results,
    rank_table,
    sign_test,
    treat_missing,
)
from mlaut.analysis.comparing.shared import is_patchy
from mlaut.errors import AnalysisError, MissingCellsError
from mlaut.records import NO_RESULT

GAPS = pd.DataFrame(
    {"A": [0.1, 0.2, 0.3], "B": [0.3, np.nan, 0.4], "C": [0.2, 0.5, np.nan]},
    index=["iris", "wine", "zoo"],
)


@pytest.fixture
def gaps():
    return Results.from_table(GAPS, greater_is_better=False)


def test_nothing_is_done_unasked(gaps):
    with pytest.raises(MissingCellsError, match="2 of 9 cells have no loss"):
        treat_missing(gaps)
    complete = Results.from_table(GAPS.fillna(0.1), greater_is_better=False)
    assert treat_missing(complete) is complete


@pytest.mark.parametrize(
    ("how", "shape", "note"),
    [
        ("drop datasets", (1, 3), "2 of 3 datasets left out for missing cells: wine, zoo"),
        ("drop strategies", (3, 1), "2 of 3 strategies left out for missing cells: B, C"),
        ("worst", (3, 3), "2 missing cells of B, C got the largest loss seen there"),
        (
            "worst rank",
            (3, 3),
            "2 missing cells of B, C got a loss just above the largest seen there",
        ),
        ("A", (3, 3), "2 missing cells of B, C got the loss of A"),
    ],
)
def test_each_treatment_says_what_it_did(gaps, how, shape, note):
    treated = treat_missing(gaps, how)
    assert treated.losses.shape == shape
    assert not treated.losses.isna().any(axis=None)
    assert treated.notes == (note,)
    assert treated.missing.empty


def test_what_is_filled_in(gaps):
    worst, fallback = treat_missing(gaps, "worst").losses, treat_missing(gaps, "A").losses
    assert (worst.loc["wine", "B"], worst.loc["zoo", "C"]) == (0.5, 0.4)
    assert (fallback.loc["wine", "B"], fallback.loc["zoo", "C"]) == (0.2, 0.3)


def test_the_worst_rank_is_the_last(gaps):
    ranks = rank_table(treat_missing(gaps, "worst rank"))
    assert (ranks.loc["wine", "B"], ranks.loc["zoo", "C"]) == (3.0, 3.0)
    assert rank_table(treat_missing(gaps, "worst")).loc["wine", "B"] == 2.5
    zeros = pd.DataFrame({"A": [0.0, 0.0], "B": [0.0, np.nan]})
    treated = treat_missing(Results.from_table(zeros, metric="error"), "worst rank")
    assert rank_table(treated).iloc[1].tolist() == [1.0, 2.0]


def test_scores_are_filled_as_scores():
    table = pd.DataFrame({"A": [0.9, 0.8], "B": [np.nan, 0.7]})
    treated = treat_missing(Results.from_table(table, metric="accuracy"), "worst")
    assert treated.scores.loc["0", "B"] == 0.9
    assert treated.losses.loc["0", "B"] == pytest.approx(0.1)


def test_single_folds_are_filled():
    index = pd.MultiIndex.from_product([["a"], [1, 2]], names=["dataset", "fold"])
    table = pd.DataFrame({"A": [0.1, 0.2], "B": [0.4, np.nan]}, index=index)
    treated = treat_missing(Results.from_table(table, greater_is_better=False), "worst")
    assert treated.losses.loc["a", "B"] == pytest.approx(0.3)


def test_a_note_stays_with_every_test(gaps):
    result = sign_test(treat_missing(gaps, "worst")).pair("A", "B")
    assert "2 missing cells of B, C got the largest loss seen there" in result.notes


def test_treatments_that_cannot_be(gaps):
    with pytest.raises(
        AnalysisError, match=r"neither a treatment .*; did you mean 'drop datasets'"
    ):
        treat_missing(gaps, "drop dataset")
    every = Results.from_table(
        pd.DataFrame({"A": [0.1, np.nan], "B": [np.nan, 0.1]}), greater_is_better=False
    )
    with pytest.raises(AnalysisError, match="every one of the 2 datasets has a missing cell"):
        treat_missing(every, "drop datasets")
    with pytest.raises(AnalysisError, match="cannot get the loss of A, which is missing too"):
        treat_missing(every, "A")
    empty = Results.from_table(
        pd.DataFrame({"A": [0.1, np.nan], "B": [0.2, np.nan]}, index=["a", "b"]),
        greater_is_better=False,
    )
    with pytest.raises(AnalysisError, match="on b cannot get the largest loss"):
        treat_missing(empty, "worst")


def test_the_title_tells_filled_cells_from_none():
    table = pd.DataFrame({"A": [0.1, 0.2, 0.3], "B": [0.3, np.nan, np.nan]})
    results = Results.from_table(table, greater_is_better=False)
    assert results.title().endswith("1 x 1 folds, 2 missing cells")
    for how in ("worst", "worst rank", "A"):
        filled = treat_missing(results, how)
        assert filled.title().endswith("1 x 1 folds, 2 missing cells filled in")
    left = treat_missing(results, "drop datasets")
    assert left.title().endswith("on 1 dataset, 1 x 1 folds, no missing cells")


def test_an_error_for_too_few_datasets_says_why_they_are_so_few():
    table = pd.DataFrame({"A": [0.1, 0.2, 0.3], "B": [0.3, np.nan, np.nan]})
    results = Results.from_table(table, greater_is_better=False)
    left = treat_missing(results, "drop datasets")
    with pytest.raises(
        AnalysisError, match=r"there is 1 \(0\); 2 of 3 datasets left out: no loss of B"
    ):
        left.complete(datasets=2)


def test_what_stands_in_is_flagged_cell_by_cell():
    table = pd.DataFrame({"A": [0.1, 0.2, 0.3], "B": [0.3, np.nan, 0.1], "C": [np.nan, 0.4, 0.4]})
    results = Results.from_table(table, greater_is_better=False)
    assert treat_missing(results, "drop datasets").imputed is None
    filled = treat_missing(results, "A")
    assert filled.imputed[..., 0, 0].tolist() == [
        [False, False, True],
        [False, True, False],
        [False, False, False],
    ]
    assert filled.select(datasets=["2"], strategies=["B", "A"]).imputed.shape == (1, 2, 1, 1)


@pytest.mark.parametrize(
    ("reason", "datasets"), [("skipped", 2), ("timeout", 3), ("missing", 2), ("not planned", 2)]
)
def test_failures_rank_last_and_what_was_not_run_is_left_out(reason, datasets):
    table = pd.DataFrame({"A": [0.1, np.nan, 0.1], "B": [0.3, 0.4, 0.2], "C": [0.2, 0.5, 0.3]})
    results = Results.from_table(table, metric="misclassification")
    results = replace(results, reasons={(1, 0, 0, 0): reason})
    treated = treat_missing(results, "failures last")
    assert len(treated.datasets) == datasets
    if datasets == 3:
        assert rank_table(treated)["A"].tolist() == [1.0, 3.0, 1.0]
        assert treated.gaps == ("no misclassification of A on 1 dataset: there they count as last",)
    else:
        why = "1 of 3 datasets left out: not run by all"
        if reason == "skipped":
            why = "A was not run on 1 dataset above its size limit: strategies are compared on the "
            why += "other 2"
        assert treated.gaps == (why,)
        assert treated.incomparable == ""


def test_a_gap_of_a_table_counts_as_a_failure_and_one_that_all_have_does_not():
    table = pd.DataFrame({"A": [0.1, np.nan, np.nan, 0.2], "B": [0.3, 0.4, np.nan, 0.1]})
    treated = treat_missing(Results.from_table(table, metric="misclassification"), "failures last")
    assert treated.datasets == ("0", "1", "3")
    assert rank_table(treated)["A"].tolist() == [1.0, 2.0, 2.0]
    assert treated.gaps[0] == (
        "1 of 4 datasets left out: no strategy has misclassification on all folds"
    )


@pytest.mark.parametrize("how", ["worst", "row mean", "worst rank", "drop datasets"])
def test_a_strategy_without_any_result_is_no_copy_of_what_would_fill_it(gaps, how):
    """Filled with the losses of A it was named beside A: "use A (= D)"."""
    never = Results.from_table(GAPS.assign(D=np.nan), greater_is_better=False)
    treated, without = treat_missing(never, how), treat_missing(gaps, how)
    assert treated.strategies == without.strategies
    assert treated.losses.equals(without.losses)
    assert "D anywhere" in treated.gaps[0]


def test_few_strategies_are_left_out_where_most_datasets_would_be():
    names = [f"s{k}" for k in range(8)]
    table = pd.DataFrame(np.random.default_rng(0).random((5, 8)), list("abcde"), names)
    table.iloc[:3, 2] = np.nan
    results = from_table(table)
    left = treat_missing(results, "failures last")
    assert len(left.datasets) == 5
    assert "s2" not in left.strategies
    assert "no accuracy of s2 on 3 datasets; run them there to judge them" in left.gaps[0]
    assert not is_patchy(results)
    empty = table.assign(empty=np.nan)  # left out as before, and not one of the few
    assert len(treat_missing(from_table(empty), "failures last").strategies) == 7
    assert not is_patchy(from_table(empty))
    table.iloc[:3, 4] = np.nan  # two of eight are too many
    assert is_patchy(from_table(table))
    table.iloc[1:3, [2, 4]] = 0.5
    assert len(treat_missing(from_table(table), "failures last").strategies) == 8


def from_table(table):
    missing = {(i, k, 0, 0): NO_RESULT for i, k in np.argwhere(table.isna().to_numpy()).tolist()}
    return replace(Results.from_table(table, metric="accuracy"), reasons=missing)
