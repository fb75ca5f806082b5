"""Treatments of missing cells, and conclusions that depend on them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import (
    Results,
    friedman_test,
    nemenyi_test,
    rank_table,
    sign_test,
    t_test,
    treat_missing,
    under_treatments,
)
from mlaut.errors import AnalysisError, MissingCellsError

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
    with pytest.raises(AnalysisError, match="'drop dataset' is neither one of 'raise'"):
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


# ------------------------------------------------------- conclusions that hold


@pytest.fixture
def fragile():
    """B wins 8 of 8 datasets that it finished, and failed on 6 more; C is always worst."""
    a = np.full(14, 0.3)
    b = np.r_[np.full(8, 0.2), np.full(6, np.nan)]
    return Results.from_table(
        pd.DataFrame({"A": a, "B": b, "C": np.full(14, 0.9)}), metric="misclassification"
    )


def test_conclusions_that_flip_are_named(fragile):
    found = under_treatments(fragile, sign_test, treatments=("drop datasets", "worst", "A"))
    row = found.frame.loc[("A", "B")]
    assert row.to_dict() == {
        "drop datasets": "B better",
        "worst": "no difference shown",
        "A": "B better",
        "best for the first": "no difference shown",
        "best for the second": "B better",
    }
    # against C, B's failures cost it the lead only where they count as 1, worse than C's 0.9
    assert list(found.flips.index) == [("A", "B"), ("B", "C")]
    assert found.frame.loc[("A", "C")].nunique() == 1
    assert found.n_missing == 6
    assert found.sentence() == (
        "Sign test under 5 treatments of 6 missing cells: "
        "2 of 3 conclusions flip at level 0.05: A - B; B - C."
    )
    assert found.to_frame()["flips"].tolist() == [True, False, True]


def test_bounds_reach_from_the_best_to_the_worst_there_can_be(fragile):
    """The range of the metric is used: B's failures as 0 and as 1."""
    seen = []

    def keep(results):
        seen.append(results.losses["B"].iloc[8:].unique().tolist())
        return sign_test(results)

    under_treatments(fragile, keep, treatments=())
    assert seen == [[1.0], [0.0]]


def test_bounds_without_a_range_use_what_was_seen():
    table = pd.DataFrame({"A": [3.0, 4.0], "B": [np.nan, 2.0], "C": [5.0, 5.0]})
    seen = []

    def keep(results):
        seen.append(results.losses.loc["0", "B"])
        return sign_test(results)

    under_treatments(Results.from_table(table, metric="squared"), keep, treatments=())
    assert seen == [pytest.approx(5.0, abs=1e-5), 0.0]
    assert seen[0] > 5.0
    signed = Results.from_table(table, metric="mine", greater_is_better=False)
    seen.clear()
    under_treatments(signed, keep, treatments=())
    assert seen == pytest.approx([5.0, 3.0], abs=1e-5)
    assert seen[0] > 5.0
    assert seen[1] < 3.0


@pytest.mark.parametrize("test", [t_test, nemenyi_test])
def test_other_tests_can_be_repeated(fragile, test):
    found = under_treatments(fragile, test)
    assert ("A", "C") in found.frame.index
    assert found.name == test(treat_missing(fragile, "worst")).name


def test_a_test_of_all_and_a_text_of_ones_own(fragile):
    found = under_treatments(fragile, friedman_test)
    assert found.frame.loc["Friedman test"].unique().tolist() == ["rejected"]
    assert found.flips.empty
    assert "all 1 conclusions hold" in found.sentence()
    best = under_treatments(fragile, lambda results: results.losses.mean().idxmin())
    assert best.frame.loc["conclusion"].to_dict()["drop datasets"] == "B"
    assert best.frame.loc["conclusion"].to_dict()["best for none"] == "A"


def test_the_title_tells_filled_cells_from_none():
    table = pd.DataFrame({"A": [0.1, 0.2, 0.3], "B": [0.3, np.nan, np.nan]})
    results = Results.from_table(table, greater_is_better=False)
    assert results.title().endswith("1 x 1 folds, 2 missing cells")
    for how in ("worst", "worst rank", "A"):
        filled = treat_missing(results, how)
        assert filled.title().endswith("1 x 1 folds, 2 missing cells filled in")
    left = treat_missing(results, "drop datasets")
    assert left.title().endswith("on 1 datasets, 1 x 1 folds, no missing cells")


def test_an_error_for_too_few_datasets_says_why_they_are_so_few():
    table = pd.DataFrame({"A": [0.1, 0.2, 0.3], "B": [0.3, np.nan, np.nan]})
    results = Results.from_table(table, greater_is_better=False)
    left = treat_missing(results, "drop datasets")
    with pytest.raises(
        AnalysisError, match=r"there is 1 \(0\); 2 of 3 datasets left out: no loss of B"
    ):
        left.complete(datasets=2)


def test_dropped_strategies_leave_their_questions_out(fragile):
    found = under_treatments(fragile, sign_test, treatments=("drop strategies",), bounds=False)
    assert list(found.frame.index) == [("A", "C")]


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


def test_treatments_that_cannot_be_applied_are_listed_with_the_reason():
    """B failed everywhere: no dataset is complete, and it can stand in for nothing."""
    table = pd.DataFrame({"A": [0.1] * 8, "B": [np.nan] * 8, "C": [0.3] * 8})
    results = Results.from_table(table, metric="misclassification")
    found = under_treatments(results, sign_test, treatments=("drop datasets", "B", "worst rank"))
    assert list(found.frame) == ["worst rank", "best for the first", "best for the second"]
    assert found.frame.loc[("A", "C")].unique().tolist() == ["A better"]
    assert "every one of the 8 datasets has a missing cell" in found.not_applied["drop datasets"]
    assert "cannot get the loss of B" in found.not_applied["B"]
    assert any(
        note.startswith("treatment 'drop datasets' cannot be applied") for note in found.notes
    )
    assert found.sentence().startswith("Sign test under 3 treatments of 8 missing cells: ")
    none = under_treatments(results, sign_test, treatments=("drop datasets",), bounds=False)
    assert none.sentence().startswith(
        "sign_test under 0 treatments of 8 missing cells: nothing can be concluded (drop datasets: "
    )
    with pytest.raises(AnalysisError, match="treatment 'wurst' is neither one of"):
        under_treatments(results, sign_test, treatments=("wurst",))


def test_bounds_that_cannot_be_had_are_listed_too():
    table = pd.DataFrame({"A": [0.1, 0.2, np.nan], "B": [0.3, 0.1, np.nan]})
    results = Results.from_table(table, greater_is_better=False)
    found = under_treatments(results, sign_test, treatments=("drop datasets",))
    assert list(found.frame) == ["drop datasets"]
    assert "which is missing too" in found.not_applied["bounds"]


@pytest.mark.parametrize(
    ("reason", "datasets"), [("skipped", 3), ("timeout", 3), ("missing", 2), ("not planned", 2)]
)
def test_failures_rank_last_and_what_was_not_run_is_left_out(reason, datasets):
    table = pd.DataFrame({"A": [0.1, np.nan, 0.1], "B": [0.3, 0.4, 0.2], "C": [0.2, 0.5, 0.3]})
    results = Results.from_table(table, metric="misclassification")
    results = replace(results, reasons={(1, 0, 0, 0): reason})
    treated = treat_missing(results, "failures last")
    assert len(treated.datasets) == datasets
    if datasets == 3:
        assert rank_table(treated)["A"].tolist() == [1.0, 3.0, 1.0]
        assert treated.gaps == ("no misclassification of A on 1: such cells count as last",)
    else:
        assert treated.gaps == ("1 of 3 datasets left out: not run by all",)
        assert treated.incomparable == ""


def test_a_gap_of_a_table_counts_as_a_failure_and_one_that_all_have_does_not():
    table = pd.DataFrame({"A": [0.1, np.nan, np.nan, 0.2], "B": [0.3, 0.4, np.nan, 0.1]})
    treated = treat_missing(Results.from_table(table, metric="misclassification"), "failures last")
    assert treated.datasets == ("0", "1", "3")
    assert rank_table(treated)["A"].tolist() == [1.0, 2.0, 2.0]
    assert treated.gaps[0] == (
        "1 of 4 datasets left out: no strategy has misclassification on all folds"
    )
