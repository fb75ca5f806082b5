"""Conclusions under several treatments of missing cells: what flips, and what cannot be done."""

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import (
    Results,
    friedman_test,
    nemenyi_test,
    sign_test,
    t_test,
    treat_missing,
    under_treatments,
)
from mlaut.errors import AnalysisError


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
        "2 of 3 conclusions flip at level 0.05 (1 of them only in the best or the worst case): "
        "A - B; B - C."
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
    assert "the one conclusion holds" in found.sentence()
    best = under_treatments(fragile, lambda results: results.losses.mean().idxmin())
    assert best.frame.loc["conclusion"].to_dict()["drop datasets"] == "B"
    assert best.frame.loc["conclusion"].to_dict()["best for none"] == "A"


def test_dropped_strategies_leave_their_questions_out(fragile):
    found = under_treatments(fragile, sign_test, treatments=("drop strategies",), bounds=False)
    assert list(found.frame.index) == [("A", "C")]


def test_treatments_that_cannot_be_applied_are_listed_with_the_reason():
    """No dataset is complete, and B can stand in for nothing where it failed itself."""
    table = pd.DataFrame({"A": [0.1] * 9, "B": [np.nan] * 8 + [0.2], "C": [0.3] * 8 + [np.nan]})
    results = Results.from_table(table, metric="misclassification")
    found = under_treatments(results, sign_test, treatments=("drop datasets", "B", "worst rank"))
    assert list(found.frame) == ["worst rank", "best for the first", "best for the second"]
    assert found.frame.loc[("A", "C")].unique().tolist() == ["A better"]
    assert "every one of the 9 datasets has a missing cell" in found.not_applied["drop datasets"]
    assert "cannot get the loss of B" in found.not_applied["B"]
    assert any(
        note.startswith("treatment 'drop datasets' cannot be applied") for note in found.notes
    )
    assert found.sentence().startswith("Sign test under 3 treatments of 9 missing cells: ")
    none = under_treatments(results, sign_test, treatments=("drop datasets",), bounds=False)
    assert none.sentence().startswith(
        "sign_test under 0 treatments of 9 missing cells: nothing can be concluded (drop datasets: "
    )
    with pytest.raises(AnalysisError, match="missing 'wurst' is neither a treatment"):
        under_treatments(results, sign_test, treatments=("wurst",))


def test_bounds_that_cannot_be_had_are_listed_too():
    table = pd.DataFrame({"A": [0.1, 0.2, np.nan], "B": [0.3, 0.1, np.nan]})
    results = Results.from_table(table, greater_is_better=False)
    found = under_treatments(results, sign_test, treatments=("drop datasets",))
    assert list(found.frame) == ["drop datasets"]
    assert "which is missing too" in found.not_applied["bounds"]
