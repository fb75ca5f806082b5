"""Intervals of mean differences: valid at every look."""

import numpy as np
import pytest
from mlaut_races.evidence import BETS
from mlaut_races.mean_interval import mean_interval


def test_the_lower_end_is_where_the_wealth_reaches_its_need():
    losses = np.column_stack([np.full(40, 0.4), np.full(40, 0.1)])
    _, low, _ = mean_interval(losses, np.array([40, 40]), 1.0, 0.9)
    m = low[0, 1]
    wealth = np.mean([(1 + bet * (0.3 - m) / (1 + m)) ** 40 for bet in BETS])
    assert wealth == pytest.approx(2 / 0.1, rel=1e-6)


def test_it_covers_the_truth_at_all_looks_at_once():
    """300 samples of two skewed losses that differ by 0.25; the standard error is 1.3 points."""
    rng = np.random.default_rng(0)
    losses = np.stack([rng.beta(1, 1, (60, 300)), rng.beta(1, 3, (60, 300))], axis=2)
    covered = np.ones(300, dtype=bool)
    for sample in range(300):
        _, low, high = mean_interval(losses[:, sample], np.array([60, 60]), 1.0, 0.95)
        covered[sample] = low[0, 1] <= 0.25 <= high[0, 1]  # its ends only ever move inwards
    assert covered.mean() >= 0.95 - 2 * 0.013


def test_it_turns_with_the_pair_and_uses_the_datasets_of_both():
    losses = np.random.default_rng(0).random((30, 3))
    value, low, high = mean_interval(losses, np.array([30, 12, 0]), 1.0, 0.95)
    assert value[0, 1] == pytest.approx((losses[:12, 0] - losses[:12, 1]).mean())
    assert (value[1, 0], low[1, 0], high[1, 0]) == (-value[0, 1], -high[0, 1], -low[0, 1])
    assert np.isnan(value[0, 2])
    assert (low[0, 2], high[0, 2]) == pytest.approx((-1, 1), abs=1e-6)


def test_a_failure_counts_as_the_largest_loss():
    losses = np.array([[np.inf, 0.5], [np.inf, np.inf]])
    value, _, _ = mean_interval(losses, np.array([2, 2]), 1.0, 0.95)
    assert value[0, 1] == 0.5
