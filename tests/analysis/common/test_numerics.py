"""Exact tails against brute force, closed forms and other packages."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from mlaut.analysis.common.numerics import (
    equalised,
    range_ppf,
    range_sf,
    signed_rank_cdf,
    signed_rank_ppf,
    snap,
    trinomial_sf,
    wilson,
)


def test_noise_is_a_ten_thousand_millionth_of_the_numbers():
    d = np.array([[0.9e-10], [1.1e-10], [-0.9e-10], [5.0], [5.0 + 0.9e-10], [5.0 + 1.1e-10]])
    known = [0, 1.1e-10, 0, 5, 5, 5 + 1.1e-10]
    assert snap(d, np.ones_like(d)).ravel().tolist() == known
    assert (
        snap(1000 * d, np.full_like(d, 1000)).ravel().tolist() == (1000 * np.array(known)).tolist()
    )


def test_equal_values_stay_within_their_own_noise():
    rng = np.random.default_rng(0)
    values, noise = rng.normal(size=(50, 30)), 10.0 ** rng.uniform(-12, 0, size=(50, 30))
    got = equalised(values, noise)
    assert (np.abs(got - values) <= noise).all()
    assert (got != values).any()
    assert (np.argsort(values, axis=0) == np.lexsort((values, got), axis=0)).all()  # order is kept
    assert equalised(got, noise).tolist() == got.tolist()


def test_signed_rank_cdf_is_the_share_of_all_signs():
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 5, 8):
        for _ in range(10):
            ranks = stats.rankdata(rng.integers(0, 4, n))
            sums = np.array([np.dot(ranks, signs) for signs in product([0, 1], repeat=n)])
            for w in np.unique(np.r_[sums, sums + 0.25, -1.0]):
                assert signed_rank_cdf(ranks, w) == pytest.approx(np.mean(sums <= w), abs=1e-14)


def test_signed_rank_tail_does_not_underflow():
    """All 60 differences positive: scipy's exact two-sided p is 0.0, the truth 2 ** -59."""
    assert signed_rank_cdf(np.arange(1.0, 61.0), 0.0) == 2.0**-60
    assert stats.wilcoxon(np.arange(1.0, 61.0), method="exact").pvalue == 0.0


def test_signed_rank_of_many_ranks():
    ranks = np.arange(1.0, 1501.0)
    mean, sd = ranks.sum() / 2, np.sqrt(np.square(ranks).sum()) / 2
    exact = signed_rank_cdf(ranks, np.floor(mean - 2 * sd))
    assert exact == pytest.approx(stats.norm.cdf(-2), rel=2e-3)


def test_signed_rank_ppf_gives_tabled_critical_values():
    """Two-sided 5 % critical values of Wilcoxon's table."""
    tabled = {6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 15: 25, 20: 52, 25: 89, 30: 137}
    assert {n: signed_rank_ppf(n, 0.025) for n in tabled} == tabled
    assert signed_rank_ppf(5, 0.025) == -1
    mean, sd = 301 * 302 / 4, np.sqrt(301 * 302 * 603 / 24)
    assert signed_rank_ppf(301, 0.025) == int(mean - 0.5 - 1.959964 * sd)


def test_trinomial_tail_against_all_outcomes():
    n, tied = 6, 1 / 3
    counts = np.array(list(product([-1, 0, 1], repeat=n)))
    weight = np.where(counts == 0, tied, (1 - tied) / 2).prod(axis=1)
    for net in range(-n, n + 1):
        expected = weight[counts.sum(axis=1) >= net].sum()
        found = trinomial_sf(np.array([net]), n, np.array([tied]))[0]
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("level", "tabled"),
    [
        (0.05, [1.9600, 2.3437, 2.5690, 2.7278, 2.8497, 2.9483, 3.0309, 3.1017, 3.1637]),
        (0.10, [1.6449, 2.0523, 2.2913, 2.4595, 2.5885, 2.6927, 2.7799, 2.8546, 2.9199]),
    ],
)
def test_studentized_range_over_root_two(level, tabled):
    """Critical values for 2 to 10 groups; Demsar 2006, Table 5 prints three digits of them."""
    found = [range_ppf(level, k) / np.sqrt(2) for k in range(2, 11)]
    assert found == pytest.approx(tabled, abs=5e-5)


@pytest.mark.parametrize("k", [2, 3, 10, 300])
def test_the_range_of_normals_against_scipy(k):
    values = [0.0, 0.5, 2.0, 3.5, 5.0, 8.0, 12.0]
    expected = stats.studentized_range.sf(values, k, np.inf)
    assert range_sf(values, k) == pytest.approx(expected, abs=2e-13)
    assert range_sf([range_ppf(0.01, k), 64.0], k) == pytest.approx([0.01, 0.0], abs=1e-15)
    assert range_sf([], k).shape == (0,)


def test_wilson_interval_against_statsmodels():
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    for k, n in [(0, 10), (3, 10), (10, 10), (17, 200)]:
        low, high = wilson(np.array([k / n]), np.array([n]), 0.9)
        expected = proportion.proportion_confint(k, n, alpha=0.1, method="wilson")
        assert (low[0], high[0]) == pytest.approx(expected, abs=1e-12)


def test_a_missing_value_joins_no_group_of_equal_values():
    values = np.array([[2.0], [np.nan], [2.05], [np.nan], [3.0]])
    equal = equalised(values, np.full((5, 1), 0.1))
    np.testing.assert_array_equal(equal.ravel(), [2.0, np.nan, 2.0, np.nan, 3.0])


def test_snap_makes_ties_of_rounding_noise_and_leaves_the_rest():
    values = np.array([0.3 - 0.2, 0.2 - 0.1, -(0.4 - 0.3), 0.1 + 1e-9, 1e-17])[:, None]
    snapped = snap(values, np.full((5, 1), 0.4))[:, 0]
    assert snapped[0] == snapped[1] == -snapped[2] != snapped[3]
    assert snapped[3] == 0.1 + 1e-9
    assert snapped[4] == 0.0


def test_snap_goes_by_the_size_of_each_number():
    """A dataset with huge losses does not blur one with small losses."""
    values = np.array([[1e6], [1e-5], [2e-5]])
    assert np.array_equal(snap(values, np.array([[1e7], [1e-4], [1e-4]])), values)
