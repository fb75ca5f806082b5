"""The power of tests over datasets, and what follows from it."""

import numpy as np
import pytest
from mlaut_races.planning import (
    POWER_TESTS,
    _normal_power,
    dataset_sd,
    datasets_needed,
    power_of_test,
    smallest_difference,
)
from scipy import stats

from mlaut.analysis.common.numerics import signed_rank_ppf, tie_free_cdf
from mlaut.errors import AnalysisError


@pytest.mark.parametrize(("n", "effect"), [(10, 0.8), (30, 0.4), (6, 1.5), (120, 0.25), (30, 0.0)])
def test_power_is_the_share_of_rejections(n, effect):
    d = np.random.default_rng(0).normal(effect, 1, size=(n, 10_000))
    wins = (d > 0).sum(axis=0)
    by_wins = np.array([stats.binomtest(k, n).pvalue for k in range(n + 1)])
    counted = {
        "t": stats.ttest_1samp(d, 0, axis=0).pvalue,
        "signed rank": stats.wilcoxon(d, axis=0, method="exact").pvalue,
        "sign": by_wins[wins],
    }
    for test, p in counted.items():
        assert power_of_test(effect, 1.0, n, test) == pytest.approx((p <= 0.05).mean(), abs=0.018)


def test_power_of_the_t_test_against_a_published_table():
    # Cohen (1988), Table 2.3.5, paired: d_z = 0.5, two-sided 0.05, power .80 needs 34 pairs.
    assert datasets_needed(0.5, 1.0) == 34
    assert power_of_test(0.5, 1.0, 34) == pytest.approx(0.808, abs=5e-4)


def test_statsmodels_agrees():
    power = pytest.importorskip("statsmodels.stats.power").TTestPower()
    known = power.solve_power(effect_size=None, nobs=25, alpha=0.01, power=0.9)
    assert smallest_difference(25, 2.0, "t", 0.9, 0.01) == pytest.approx(2 * known, rel=1e-6)


@pytest.mark.parametrize("test", POWER_TESTS)
def test_smallest_difference_and_datasets_needed_invert_the_power(test):
    difference = smallest_difference(40, 0.05, test)
    assert power_of_test(difference, 0.05, 40, test) == pytest.approx(0.8, abs=2e-3)
    n = datasets_needed(0.02, 0.05, test)
    assert power_of_test(0.02, 0.05, n, test) >= 0.8 > power_of_test(0.02, 0.05, n - 1, test)
    assert datasets_needed(-0.02, 0.05, test) == n


def test_discrete_tests_cannot_reject_with_very_few_datasets():
    # 5 datasets: the smallest two-sided p is 2 / 32.
    assert smallest_difference(5, 1.0, "sign") == np.inf
    assert smallest_difference(5, 1.0, "signed rank") == np.inf
    assert smallest_difference(6, 1.0, "sign") < 3
    assert datasets_needed(100.0, 1.0, "sign") == 6
    assert datasets_needed(100.0, 1.0, "t") == 2


def test_the_normal_power_of_the_signed_rank_test_corrects_for_continuity():
    # without a difference, power is the size of the test, which is counted exactly; where the
    # critical value is sqrt(3) deviations away, the kurtosis adds nothing to the normal limit
    for n in (101, 150, 300):
        critical = signed_rank_ppf(n, stats.norm.sf(np.sqrt(3)))
        size = 2 * tie_free_cdf(n)[critical]
        steps = 2 * (tie_free_cdf(n)[critical + 1] - tie_free_cdf(n)[critical])
        assert _normal_power(0.0, n, critical) == pytest.approx(size, abs=0.1 * steps)


def test_folds_help_less_and_less():
    assert dataset_sd(0.0, 1.0, folds=10) == pytest.approx(np.sqrt(1 / 10 + 1 / 9))
    assert dataset_sd(3.0, 4.0, folds=2, repeats=2) == pytest.approx(np.sqrt(9 + 16 * 1.25))
    assert dataset_sd(0.03, 0.05, 10, 1000) > np.sqrt(0.03**2 + 0.05**2 / 9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: power_of_test(0.1, 0.0, 10), "sd = 0.0 must be positive"),
        (lambda: power_of_test(0.1, 1.0, 1), "n_datasets = 1: two or more"),
        (lambda: power_of_test(0.1, 1.0, 10, "z"), "test 'z' is not known"),
        (lambda: power_of_test(0.1, 1.0, 10, alpha=2), "alpha = 2 is not between 0 and 1"),
        (lambda: smallest_difference(10, 1.0, power=0.01), "expected 0 < alpha < power < 1"),
        (lambda: datasets_needed(0, 1.0), "must be a finite number other than 0"),
        (lambda: datasets_needed(1e-6, 1.0), "more than a million"),
        (lambda: dataset_sd(-1, 1.0), "not negative"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(AnalysisError, match=message):
        call()
