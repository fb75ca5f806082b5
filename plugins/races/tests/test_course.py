"""The course of a race: decisions by hand, exact levels in small games, and no look ahead."""

import itertools

import numpy as np
import pandas as pd
import pytest
from mlaut_races.course import Following, follow
from mlaut_races.evidence import BETS, KINDS, Kind
from mlaut_races.race import race
from mlaut_races.terms import RaceTerms

from mlaut.analysis import Results
from mlaut.errors import AnalysisError

QUESTIONS = [{}, {"question": "control: 1"}, {"question": "all pairs"}]


def course(losses, *, drop=True, **terms):
    losses = np.asarray(losses, dtype=float)
    scale = np.abs(np.nan_to_num(losses, posinf=0))
    return follow(losses, scale, RaceTerms(**terms), span=1.0, drop=drop)


def random_losses(n=40, k=4, seed=0):
    """Losses among 8 test points, so that many tie; the first strategies are better."""
    rng = np.random.default_rng(seed)
    return rng.binomial(8, np.linspace(0.2, 0.6, k), (n, k)) / 8


def test_one_dataset_by_hand():
    """A win multiplies by 1 + b; the leader bet is spread evenly over the rivals at the start."""
    won, lost = (np.mean([1 + sign * bet for bet in BETS]) for sign in (1, -1))
    found = np.exp(course([[0.1, 0.2, 0.3]]).against[0])
    assert found == pytest.approx([lost, 0.5 * (won + lost) / 2 + 0.5, won])


def test_a_test_that_is_no_bet_is_refused(monkeypatch):
    z = Kind("z", lambda *_: lambda d: 10 * d, "no difference", "t", source="Wald 1945")
    monkeypatch.setitem(KINDS, "z", z)
    with pytest.raises(AnalysisError, match=r"^kind 'z' is no bet: it took a step of 2 > 1$"):
        course([[0.1, 0.3]], kind="z")
    small = pd.DataFrame([[0.1, 0.15]] * 3, columns=["A", "B"])
    found = race(Results.from_table(small, greater_is_better=False), kind="z")
    assert found.pairs.source == "Wald 1945"


def test_two_strategies_need_seven_straight_wins():
    found = course(np.tile([0.1, 0.2], (12, 1)))
    assert found.runs.tolist() == [7, 7]
    assert [(d.after, d.first, d.second) for d in found.decisions] == [(7, 1, 0)]
    assert np.exp(found.decisions[0].log_evidence) == pytest.approx(
        np.mean([(1 + bet) ** 7 for bet in BETS])
    )
    assert found.answered


def test_the_best_of_two_equal_strategies_is_dropped_with_at_most_the_level():
    """All 512 sequences of wins and losses of two strategies without a difference."""
    dropped = []
    for wins in itertools.product([0.0, 1.0], repeat=9):
        found = course(np.column_stack([wins, 1 - np.array(wins)]), alpha=0.25)
        dropped.append(not found.left[0])
    assert 0.05 < np.mean(dropped) <= 0.25


@pytest.mark.parametrize("terms", QUESTIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_decisions_depend_on_nothing_that_comes_later(terms, kind):
    losses = random_losses()
    whole = course(losses, kind=kind, rope=0.13, alpha=0.2, **terms)
    assert whole.decisions
    for n in range(1, len(whole.against) + 1):
        part = course(losses[:n], kind=kind, rope=0.13, alpha=0.2, **terms)
        assert part.decisions == tuple(d for d in whole.decisions if d.after <= n)
        np.testing.assert_array_equal(part.against, whole.against[:n])


@pytest.mark.parametrize("terms", QUESTIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_losses_of_a_strategy_that_left_do_not_count(terms, kind):
    """A raced study that is completed later keeps its decisions."""
    losses = random_losses(n=60)
    whole = course(losses, kind=kind, alpha=0.2, **terms)
    raced = np.where(np.arange(60)[:, None] < whole.runs, losses, np.nan)
    again = course(raced, kind=kind, alpha=0.2, **terms)
    assert again.decisions == whole.decisions
    assert whole.runs.min() < 60
    np.testing.assert_array_equal(again.worse, whole.worse)


@pytest.mark.parametrize("terms", QUESTIONS)
def test_the_order_of_the_strategies_does_not_matter(terms):
    losses, turned = random_losses(k=5), [3, 0, 4, 1, 2]
    there = {"question": f"control: {turned.index(1)}"} if "control: 1" in terms.values() else terms
    one, other = course(losses, alpha=0.2, **terms), course(losses[:, turned], alpha=0.2, **there)
    np.testing.assert_allclose(one.against[:, turned], other.against, rtol=1e-9, atol=1e-12)
    assert one.runs[turned].tolist() == other.runs.tolist()


def test_the_race_stands_before_a_dataset_that_is_not_complete():
    losses = random_losses(n=10)
    losses[4, 0] = np.nan
    assert len(course(losses).against) == 4


def test_a_failure_loses_and_two_failures_tie():
    losses = np.tile([0.5, np.inf, np.inf], (8, 1))
    found = course(losses)
    assert found.left.tolist() == [True, False, False]
    assert found.worse[1, 2] == 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_practically_equal_ends_a_race(kind):
    """Differences of 0.1 within 0.2: seven datasets by sign; differences outside: never."""
    wins = np.tile([[0.5, 0.6], [0.6, 0.5]], (100, 1))
    found = course(wins, kind=kind, rope=0.2)
    assert found.answered
    assert [(d.first, d.second, d.equal) for d in found.decisions] == [(0, 1, True)]
    assert found.left.all()
    if kind != "mean":
        assert found.decisions[0].after == 7
    assert not course(wins, kind="sign", rope=0.05).answered


def test_a_difference_of_the_region_itself_is_inside_despite_rounding():
    losses = np.tile(
        [[0.3, 0.2], [0.2, 0.3]], (5, 1)
    )  # 0.3 - 0.2 is below 0.1, 0.1 + 0.2 above 0.3
    assert course(losses, rope=0.1).equal_sup[0, 1] > 0
    assert course(losses + 0.1, rope=0.1).equal_sup[0, 1] > 0


def test_the_mean_of_equal_strategies_outside_the_region_is_not_called_equal():
    losses = np.tile([0.3, 0.5], (300, 1))
    assert course(losses, kind="mean", rope=0.2, drop=False).equal_sup[0, 1] == 0.0


def test_holm_over_both_directions_of_all_pairs():
    """Three strategies: the first pair needs 6 / alpha, and then fewer."""
    found = course(np.tile([0.1, 0.2, 0.3], (30, 1)), question="all pairs")
    grown = np.cumprod(np.ones((30, 6)) + BETS, axis=0).mean(axis=1)
    assert {d.after for d in found.decisions} == {1 + int(np.argmax(grown >= 6 / 0.05))}
    assert len(found.decisions) == 3
    assert found.answered


def test_a_control_is_compared_with_all_and_stays_until_the_last_pair_is_decided():
    losses = np.column_stack([random_losses(80, 3, 1), np.full(80, 1.0)])
    found = course(losses, question="control: 0")
    assert all(0 in (d.first, d.second) for d in found.decisions)
    assert found.runs[0] == found.runs.max()
    assert found.runs[3] < found.runs[0]


def test_without_dropping_all_strategies_are_followed_to_the_end():
    losses = random_losses(n=60)
    found = course(losses, drop=False)
    assert found.runs.tolist() == [60] * 4
    assert not found.left.all()
    assert sorted({d.first for d in found.decisions}) == np.flatnonzero(~found.left).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_no_strategy_without_a_difference_is_dropped_too_often(kind):
    """80 races of four equal strategies: the standard error of 5 % is 2.4 points."""
    rng = np.random.default_rng(1)
    out = [not course(rng.random((30, 4)), kind=kind).left[0] for _ in range(80)]
    assert np.mean(out) <= 0.05 + 2 * 0.024


def test_200_strategies_on_many_datasets_stay_finite():
    rng = np.random.default_rng(0)
    found = course(rng.random((40, 200)) + np.linspace(0, 1, 200))
    assert np.isfinite(found.against).all()
    assert found.left[0]
    assert found.left.sum() < 100


@pytest.mark.parametrize("terms", QUESTIONS)
def test_a_race_that_is_followed_decides_as_it_goes(terms):
    losses = random_losses(n=60, k=5)
    whole = course(losses, rope=0.13, alpha=0.3, **terms)
    race = Following("01234", 60, RaceTerms(rope=0.13, alpha=0.3, **terms), span=1.0)
    for row in losses[: len(whole.against)]:
        before = race.copy().course().decisions
        assert before == whole.decisions[: len(before)]
        assert race.take(row, row)
    assert race.course().decisions == whole.decisions
