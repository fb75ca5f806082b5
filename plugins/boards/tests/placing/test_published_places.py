"""Strategies of one's own beside published results."""

import numpy as np
import pandas as pd
import pytest
from mlaut_boards.placing.published_places import beside_published, place, reproduction

from mlaut.analysis import PUBLISHED, Results, average_ranks, published
from mlaut.errors import AnalysisError

GARCIA = published("garcia2008")


def made(scores, **how):
    return Results.from_table(scores, metric="accuracy", **how)


def test_a_copy_of_a_published_strategy_gets_its_place():
    mine = made(GARCIA.scores[["C4.5"]].rename(columns={"C4.5": "copy"}))
    placed = place(mine, "garcia2008")
    row = placed.frame.loc["copy"]
    ranks = average_ranks(beside_published(mine, "garcia2008")).frame["average_rank"]
    assert row["average rank"] == ranks["copy"] == ranks["C4.5"]
    assert (row["rank"], row["of"]) == (1, 6)
    # as the paper: C4.5 is better than k-NN, Kernel and CN2, and not than naive Bayes
    assert (row["better than"], row["undecided"], row["worse than"]) == (3, 2, 0)
    assert placed.notes[0] == "30 of the 30 datasets of garcia2008 are compared"
    assert PUBLISHED["garcia2008"].tuning in placed.notes[2]


def test_the_worst_is_worse_than_all():
    placed = place(made(GARCIA.scores[["Kernel"]] * 0.5), "garcia2008")
    row = placed.frame.loc["Kernel (here)"]
    assert (row["rank"], row["worse than"], row["P(best)"]) == (6, 5, 0.0)


def test_percentages_do_not_stand_above_published_shares():
    percent = made(GARCIA.scores[["Kernel"]] * 100, greater_is_better=True)
    with pytest.raises(AnalysisError, match=r"accuracy is within 0 and 1, and 'Kernel \(here\)'"):
        place(percent, "garcia2008")


def test_only_common_datasets_and_chosen_strategies_count():
    scores = GARCIA.scores.iloc[:10, :2].add_suffix(" of mine")
    extra = pd.DataFrame([[0.5, 0.5]], index=["unknown"], columns=scores.columns)
    joined = beside_published(made(pd.concat([scores, extra])), "garcia2008", ["C4.5 of mine"])
    assert joined.datasets == GARCIA.datasets[:10]
    assert joined.strategies == (*GARCIA.strategies, "C4.5 of mine")
    assert joined.notes[0] == "10 of the 30 datasets of garcia2008 are compared"


def test_datasets_too_few_to_decide_anything_are_pointed_out():
    mine = made(GARCIA.scores[["C4.5"]].rename(columns={"C4.5": "copy"}))
    # by hand: of 5 strategies on n datasets the smallest adjusted p is 5 * 2 / 2**n
    told = [
        any("no p of 5 can be below" in note for note in place(few, "garcia2008").notes)
        for few in (mine.select(datasets=mine.datasets[:n]) for n in (7, 8))
    ]
    assert told == [True, False]


def test_a_treatment_that_drops_all_of_ones_own_is_refused():
    mine = GARCIA.scores[["C4.5"]].add_suffix(" of mine")
    mine.iloc[3] = np.nan
    with pytest.raises(
        AnalysisError, match="missing='drop strategies' leaves no strategy to place"
    ):
        place(made(mine), "garcia2008", missing="drop strategies")


def test_cells_that_were_not_published_are_treated():
    wainer = published("wainer2023")
    few = [*wainer.datasets[:3], "lymphography"]  # qda has no result on two of its folds
    mine = made(wainer.select(datasets=few, strategies=["qda"]).scores.fillna(0.5) + 0.01)
    placed = place(mine, "wainer2023", missing="worst")
    assert placed.frame.loc["qda (here)", "of"] == 17
    # qda itself is left out then, and the strategy of one's own is still the one that is placed
    dropped = place(mine, "wainer2023", missing="drop strategies")
    assert list(dropped.frame.index) == ["qda (here)"]
    assert dropped.frame.loc["qda (here)", "of"] == 16
    with pytest.raises(AnalysisError, match="qda"):
        place(mine, "wainer2023", missing="raise")


@pytest.mark.parametrize(
    ("scores", "metric", "message"),
    [
        (
            GARCIA.scores,
            "roc_auc",
            "published scores are accuracy, and these roc_auc; score them by",
        ),
        (GARCIA.scores.iloc[:1], "accuracy", "1 datasets have the same name in garcia2008"),
    ],
)
def test_results_that_cannot_stand_beside_are_refused(scores, metric, message):
    with pytest.raises(AnalysisError, match=message):
        place(Results.from_table(scores, metric=metric), "garcia2008")


def folds_of(scores, spread, seed=0, single=()):
    rng = np.random.default_rng(seed)
    noise = rng.normal(0, spread, (len(scores), 4))
    table = {
        (name, fold): scores[name] + noise[i, fold]
        for i, name in enumerate(scores.index)
        for fold in range(1 if name in single else 4)
    }
    index = pd.MultiIndex.from_tuples(table, names=["dataset", "fold"])
    return made(pd.DataFrame({"again": list(table.values())}, index=index).clip(0, 1))


def test_a_strategy_run_again_agrees_within_its_folds():
    published = GARCIA.scores["C4.5"].clip(upper=0.97)
    found = reproduction(folds_of(published[:20], 0.01), "garcia2008", {"again": "C4.5"})
    assert found.notes[0] == "20 of the 30 datasets of garcia2008 are compared"
    row = found.frame.iloc[0]
    assert row["agrees"]
    assert abs(row["mean difference"]) <= 2 * row["standard error"]
    assert row["beyond folds"] <= 0.1


def test_a_strategy_that_is_another_one_does_not_agree():
    worse = folds_of(GARCIA.scores["C4.5"] - 0.05, 0.01)
    found = reproduction(worse, "garcia2008", {"again": "C4.5"})
    row = found.frame.iloc[0]
    assert not row["agrees"]
    assert row["mean difference"] == pytest.approx(-0.05, abs=0.01)
    assert found.notes[-1].startswith("again is beyond its folds on ")
    assert found.notes[-1].count(",") == round(30 * row["beyond folds"]) - 1
    assert row["beyond folds"] > 0.9


def test_a_dataset_with_one_fold_has_no_part_in_what_folds_explain():
    scores = GARCIA.scores["C4.5"].clip(upper=0.9)
    half = scores.index[:15]
    results = folds_of(scores.where(~scores.index.isin(half), scores - 0.2), 0.01, single=half)
    found = reproduction(results, "garcia2008", {"again": "C4.5"})
    row = found.frame.iloc[0]
    assert (row["datasets"], row["on"] in half) == (30, True)
    assert row["beyond folds"] <= 0.2  # the 15 with one fold are far off, and not counted
    assert not row["agrees"]  # by the mean


def test_results_without_folds_are_compared_by_their_mean_alone():
    row = reproduction(GARCIA, "garcia2008", {"C4.5": "C4.5"}).frame.iloc[0]
    assert row["agrees"]
    assert np.isnan(row["beyond folds"])
    assert (row["mean difference"], row["equal"]) == (0, 1)
    # the table has three digits
    digits = GARCIA.scores[["C4.5"]]
    near = np.where(np.arange(30) < 15, 0.00049, -0.00051)[:, None]
    rounded = made((digits + near).rename(columns={"C4.5": "near"}).clip(0, 1))
    assert reproduction(rounded, "garcia2008", {"near": "C4.5"}).frame["equal"].iloc[0] == 0.5
    other = GARCIA.scores[["C4.5"]].rename(columns={"C4.5": "mine"})
    other.iloc[1:] = np.nan
    with pytest.raises(AnalysisError, match=r"mine and C4\.5 of garcia2008 have 1 datasets"):
        reproduction(made(other), "garcia2008", {"mine": "C4.5"})
    with pytest.raises(AnalysisError, match="did you mean 'Kernel'"):
        reproduction(GARCIA, "garcia2008", {"C4.5": "kernel"})
