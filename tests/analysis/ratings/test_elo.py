"""Elo ratings: TabArena's and evalica's numbers, awkward tables."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mlaut.analysis import Results, average_ranks, elo_ratings
from mlaut.analysis.methods.ratings.elo import _fitted, _strengths, duels
from mlaut.errors import AnalysisError, MissingCellsError


def test_ratings_of_tabarena(garcia):
    """bencheval (TabArena, 2025) has these from its table of battles, to .003: its search ends."""
    found = elo_ratings(garcia, n_samples=400).frame
    theirs = {"C4.5": 1152.2260, "NaiveBayes": 1134.6455, "CN2": 984.7187,
              "k-NN(k=1)": 963.1667, "Kernel": 765.2430}  # fmt: skip
    assert found["Elo"].to_dict() == pytest.approx(theirs, abs=0.004)
    # the 2.5 % and 97.5 % quantiles of its 400 samples of datasets, which have an error of about 5
    assert found.loc["C4.5", ["low", "high"]].to_list() == pytest.approx([1083.4, 1224.2], abs=20)


def test_ratings_of_evalica(garcia):
    """evalica 0.4.2, bradley_terry with tolerance 1e-12, on the scale of Elo."""
    theirs = {"C4.5": 1152.2227475446, "NaiveBayes": 1134.6487602938, "CN2": 984.7212863917,
              "k-NN(k=1)": 963.1666473279, "Kernel": 765.2405584421}  # fmt: skip
    assert elo_ratings(garcia).frame["Elo"].to_dict() == pytest.approx(theirs, abs=1e-5)


def test_two_strategies_by_hand(losses):
    """Odds of 10 to 1 are 400 points."""
    table = {"A": [0.0] * 10 + [1.0], "B": [1.0] * 10 + [0.0]}
    frame = elo_ratings(losses(table)).frame
    assert frame["Elo"].to_dict() == pytest.approx({"A": 1200, "B": 800}, abs=1e-3)
    assert frame.loc["A", "wins"] == 10 / 11


def test_the_order_is_that_of_average_ranks(mlaut2018):
    assert list(elo_ratings(mlaut2018).frame.index) == list(average_ranks(mlaut2018).frame.index)


def test_the_mean_rating_is_1000(demsar):
    assert elo_ratings(demsar).frame["Elo"].mean() == pytest.approx(1000)


def test_a_pair_does_not_depend_on_a_strategy_that_fits_the_model(losses):
    """C draws with A and with B in halves that keep the odds of A against B."""
    table = {"A": [0.0, 0, 0, 1], "B": [1.0, 1, 1, 0]}
    alone = elo_ratings(losses(table)).frame["Elo"]
    beside = elo_ratings(losses(table | {"C": [9.0, 9, 9, 9]})).frame["Elo"]
    assert beside["A"] - beside["B"] == pytest.approx(alone["A"] - alone["B"], abs=1e-2)


def test_separation_is_noted(losses):
    notes = elo_ratings(losses({"A": [0.0, 0.0], "B": [1.0, 1.0]})).notes
    assert any("fall into 2 groups" in note for note in notes)
    mixed = elo_ratings(losses({"A": [0.0, 0.0, 0.0, 1.0], "B": [1.0, 1.0, 1.0, 0.0]})).notes
    assert any("samples some strategies win every duel" in note for note in mixed)


def test_few_datasets_are_noted(losses, garcia):
    few = elo_ratings(losses({"A": [0.0, 1.0, 0.0], "B": [1.0, 0.0, 1.0]})).notes
    assert "on fewer than 10 datasets the intervals cover less than they say" in few
    assert not any("fewer than 10" in note for note in elo_ratings(garcia).notes)


def test_the_ends_are_expanded_percentiles(garcia):
    """Hesterberg 2015: of 95 % on 30 datasets 1.88 % of the samples are beyond either end."""
    tail = stats.norm.cdf(-np.sqrt(30 / 29) * stats.t.ppf(0.975, 29))
    assert tail == pytest.approx(0.0188, abs=1e-4)
    usual = elo_ratings(garcia, confidence=1 - 2 * 0.025).frame
    narrow = 2 * stats.t.cdf(-stats.norm.ppf(0.975) / np.sqrt(30 / 29), 29)
    plain = elo_ratings(garcia, confidence=1 - narrow).frame  # the 2.5 % quantiles of the samples
    assert (usual["low"] <= plain["low"]).all()
    assert (usual["high"] >= plain["high"]).all()
    wider = (usual["high"] - usual["low"]) / (plain["high"] - plain["low"])
    assert 1.0 < wider.mean() < 1.2


def test_missing_cells(losses):
    table = {"A": [0.0, 0.0, 1.0, 0.0], "B": [1.0, 1.0, 0.0, np.nan], "C": [2.0, 0.5, 0.5, 0.5]}
    with pytest.raises(MissingCellsError):
        elo_ratings(losses(table))
    found = elo_ratings(losses(table), missing="left out").frame
    assert found.loc["B", "wins"] == pytest.approx(3 / 6)  # of six duels; two more have no result


def test_awkward_tables():
    rng = np.random.default_rng(6)
    for case in range(40):
        n, k = rng.integers(2, 9), 60 if case == 0 else rng.integers(2, 9)
        values = rng.integers(0, 4, (n, k)) * 10.0 ** rng.integers(-12, 13, (n, 1))
        table = pd.DataFrame(values, columns=[f"s{i}" for i in range(k)])
        found = elo_ratings(Results.from_table(table, greater_is_better=False), n_samples=20).frame
        assert np.isfinite(found).all(axis=None)
        assert found["wins"].mean() == pytest.approx(0.5)


def test_no_samples_are_refused(losses):
    with pytest.raises(AnalysisError, match="n_samples = 0 must be at least 1"):
        elo_ratings(losses({"A": [0.0, 1.0], "B": [1.0, 0.0]}), n_samples=0)


def test_the_steps_of_all_samples_end_where_each_one_alone_does():
    """Samples share a curvature, and those that are far from all datasets get their own."""
    scores = np.random.default_rng(3).integers(0, 5, (7, 6)) - np.arange(6)
    table = pd.DataFrame(scores, columns=list("ABCDEF"))
    outcomes = duels(Results.from_table(table, greater_is_better=True).in_order)
    weights = np.vstack([np.ones(7), np.random.default_rng(0).multinomial(7, [1 / 7] * 7, 50)])
    fought = ~np.broadcast_to(np.eye(6, dtype=bool), outcomes.shape)
    won = weights @ (((outcomes == 1) + 0.5 * (outcomes == 0)) * fought).sum(axis=2)
    alone = [_fitted(x[None], fought.sum(axis=0)[None], np.zeros((1, 6)))[0] for x in won]
    assert _strengths(won, fought, weights) == pytest.approx(np.array(alone), abs=1e-6)
