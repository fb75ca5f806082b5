"""Wealth of bets: exact over all sequences of outcomes, so that no simulation is needed."""

import itertools

import numpy as np
import pytest
from mlaut_races.evidence import BETS, KINDS, grow, log_mean, p_of


def wealth(steps):
    """Return the log wealth after each dataset; steps of shape (T, ...)."""
    logs = np.zeros((len(BETS), *steps.shape[1:]))
    course = []
    for step in steps:
        grow(logs, step)
        course.append(log_mean(logs))
    return np.array(course)


def all_sequences(values, n):
    return np.array(list(itertools.product(values, repeat=n)), dtype=float).T


@pytest.mark.parametrize("n", [1, 5, 12])
def test_the_expected_wealth_of_a_fair_game_is_one(n):
    assert np.exp(wealth(all_sequences([-1, 1], n))[-1]).mean() == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize(("values", "n"), [([-1, 1], 14), ([-1, 0, 1], 9)])
@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.25])
def test_the_wealth_of_a_fair_game_is_ever_large_with_at_most_that_probability(values, n, alpha):
    reached = (wealth(all_sequences(values, n)).max(axis=0) >= -np.log(alpha)).mean()
    assert 0 < reached <= alpha


def test_the_wealth_is_the_mean_over_the_bets_in_any_order():
    bets = np.array(BETS)
    by_hand = ((1 + bets) ** 5 * (1 - bets) ** 2).mean()
    for order in ([1, 1, 1, 1, 1, -1, -1, 0], [-1, 0, 1, 1, -1, 1, 1, 1]):
        found = wealth(np.array(order, dtype=float)[:, None])[-1, 0]
        assert np.exp(found) == pytest.approx(by_hand)


@pytest.mark.parametrize("sizes", [range(1, 11), [3, 1, 2, 2, 5, 1, 9, 4, 2, 2]])
def test_signed_ranks_are_a_fair_game_whatever_the_sizes(sizes):
    """Each sign has probability one half given its size, as Wilcoxon's null hypothesis says."""
    d = all_sequences([-1, 1], 10) * np.array(list(sizes))[:, None]
    steps = KINDS["signed rank"].steps(1.0, d.shape)
    course = wealth(np.array([steps(row) for row in d]))
    assert np.exp(course[-1]).mean() == pytest.approx(1, rel=1e-12)
    assert (course.max(axis=0) >= np.log(4)).mean() <= 0.25


def test_signed_ranks_by_hand():
    """Twice the share of the sizes so far that are no larger, ties half, cut at 1."""
    steps = KINDS["signed rank"].steps(1.0, (6, 1))
    found = [float(steps(np.array([d]))[0]) for d in (0.2, -0.4, 0.1, 0.0, 0.2, np.inf)]
    assert found == pytest.approx([1, -1, 2 / 3, 0, 1, 1])


def test_mean_bets_scale_by_the_range_and_cut_a_failure_at_its_end():
    steps = KINDS["mean"].steps(2.0, (3, 1))
    assert [float(steps(np.array([d]))[0]) for d in (0.5, -2.0, np.inf)] == [0.25, -1.0, 1.0]


def test_log_wealth_neither_overflows_nor_vanishes():
    course = wealth(np.array([[1.0, -1.0]] * 5000))
    assert np.isfinite(course).all()
    assert course[-1, 0] == pytest.approx(5000 * np.log(1.9) - np.log(6))
    assert p_of(np.array([800.0]))[0] == 0.0 < p_of(np.array([600.0]))[0]


def test_the_mixture_loses_at_most_log_6_against_the_best_of_its_bets():
    rng = np.random.default_rng(0)
    wins = np.sign(rng.normal(0.3, 1, 200))
    best = max(np.log1p(bet * wins).sum() for bet in BETS)
    assert best - np.log(6) <= wealth(wins[:, None])[-1, 0] <= best
