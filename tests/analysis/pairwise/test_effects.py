"""Effect sizes: closed forms, other packages, and coverage where the truth is known."""

import math

import numpy as np
import pytest
from scipy import integrate, special, stats
from scipy.optimize import brentq

from mlaut.analysis.common.numerics import signed_rank_cdf, signed_rank_ppf, wilson
from mlaut.analysis.pairwise import effects
from mlaut.analysis.pairwise.effects import (
    _noncentral_t,
    _noncentrality,
    cohens_d,
    mean_difference,
    share_better,
)
from mlaut.analysis.pairwise.signed_rank import (
    SignedRanks,
    _all_sums,
    _counted_sums,
    hodges_lehmann,
    rank_biserial,
)


@pytest.mark.parametrize("n", [4, 8, 25, 121])
@pytest.mark.parametrize("shift", [-0.7, 0.0, 0.3])
def test_interval_of_d_inverts_the_noncentral_t(n, shift):
    d = np.random.default_rng(n).normal(shift, 1, (n, 1))
    t = float(stats.ttest_1samp(d[:, 0], 0).statistic)
    found = cohens_d(d, 0.9)
    assert found.value[0] == pytest.approx(t / np.sqrt(n))
    for end, target in ((found.low[0], 0.95), (found.high[0], 0.05)):
        nc = brentq(lambda nc, p=target: stats.nct.cdf(t, n - 1, nc) - p, t - 9, t + 9)
        assert end == pytest.approx(nc / np.sqrt(n), abs=1e-7)


def test_interval_of_a_huge_d():
    """Its relative width is that of the standard deviation."""
    d = 1e6 + np.random.default_rng(0).normal(size=(50, 1))
    found = cohens_d(d)
    expected = np.sqrt(stats.chi2.ppf([0.025, 0.975], 49) / 49) * found.value[0]
    assert (found.low[0], found.high[0]) == pytest.approx(tuple(expected), rel=1e-4)


def test_d_of_differences_that_do_not_vary():
    found = cohens_d(np.array([[0.0, 0.5, -0.5]] * 3))
    assert found.value.tolist() == [0.0, np.inf, -np.inf]
    assert np.isnan([found.low, found.high]).all()


def test_mean_difference_is_students_interval():
    d = np.random.default_rng(0).normal(size=(10, 1))
    found = mean_difference(d, 0.99)
    interval = stats.ttest_1samp(d[:, 0], 0).confidence_interval(0.99)
    assert (found.low[0], found.high[0]) == pytest.approx(tuple(interval))


def test_hodges_lehmann_by_all_pairs():
    x = np.random.default_rng(0).normal(size=15)
    means = np.sort([(a + b) / 2 for i, a in enumerate(x) for b in x[: i + 1]])
    found = hodges_lehmann(x[:, None])
    assert found.value[0] == pytest.approx(np.median(means))
    # 25 is the tabled critical value of 15: the 26th mean from either end
    assert (found.low[0], found.high[0]) == (
        pytest.approx(means[25]),
        pytest.approx(means[-26]),
    )


@pytest.mark.parametrize("df", [1, 2, 4, 9, 29])
@pytest.mark.parametrize("t", [0.5, 3.0, 11.0, 12.5, 30.0, 200.0])
def test_the_noncentral_t_is_that_of_adaptive_quadrature(df, t):
    def given_z(z, nc):
        return math.exp(-z * z / 2) * special.chdtrc(df, df * max((z + nc) / t, 0.0) ** 2)

    for nc in t * np.array([0.05, 0.3, 0.8, 1.0, 1.5]):
        known, _ = integrate.quad(given_z, max(-nc, -9.0), 9.0, (nc,), epsabs=1e-13, limit=200)
        known = known / math.sqrt(2 * math.pi) + special.ndtr(-nc)
        found = [_noncentral_t(np.array([x * t]), df, np.array([x * nc]))[0] for x in (1, -1)]
        assert found == pytest.approx([known, 1 - known], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("df", [1, 2, 60])
def test_the_noncentrality_has_the_tail_also_for_a_huge_t(df):
    t = np.array([-500.0, 0.0, 40.0, 1e5])
    for tail in (0.025, 0.005):
        nc = _noncentrality(t, df, tail)
        assert _noncentral_t(t, df, nc) == pytest.approx(np.full(4, tail), rel=1e-9)


@pytest.mark.parametrize("n", [2, 6, 7, 24])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_hodges_lehmann_sorts_all_means_also_with_ties(n, confidence):
    d = np.random.default_rng(n).normal(size=(n, 40))
    d[:, 20:] = d[:, 20:].round()
    means = np.sort([(d[i] + d[j]) / 2 for i in range(n) for j in range(i + 1)], axis=0)
    found, cut = hodges_lehmann(d, confidence), signed_rank_ppf(n, (1 - confidence) / 2)
    assert found.value.tolist() == np.median(means, axis=0).tolist()
    ends = (
        (means[cut], means[-1 - cut]) if cut >= 0 else (np.full(40, x) for x in (-np.inf, np.inf))
    )
    assert np.array_equal((found.low, found.high), tuple(ends))


def test_an_effect_of_two_datasets_takes_one_pass_over_all_pairs(monkeypatch):
    """Closed forms and a bracketed root: a few evaluations, however extreme t is."""
    calls = []
    plain = effects._noncentral_t
    monkeypatch.setattr(effects, "_noncentral_t", lambda *a: calls.append(1) or plain(*a))
    cohens_d(np.random.default_rng(0).normal(size=(2, 5000)))
    assert len(calls) < 100


def test_hodges_lehmann_of_few_datasets_is_infinite():
    found = hodges_lehmann(np.array([[1.0], [2.0], [3.0]]))
    assert (found.value[0], found.low[0], found.high[0]) == (2.0, -np.inf, np.inf)


def test_rank_biserial_is_a_share_of_sums():
    x = np.random.default_rng(0).normal(0.4, 1, 12)
    sums = [np.sign(a + b) for i, a in enumerate(x) for b in x[: i + 1]]
    found = rank_biserial(x[:, None], SignedRanks.of(x[:, None]))
    assert found.value[0] == pytest.approx(np.mean(sums))


@pytest.mark.parametrize("zeros", ["wilcox", "pratt"])
def test_rank_biserial_of_zeros(zeros):
    d = np.zeros((5, 1))
    found = rank_biserial(d, SignedRanks.of(d, zeros))
    assert (found.value[0], found.low[0], found.high[0]) == (0.0, -1.0, 1.0)


@pytest.mark.parametrize("zeros", ["wilcox", "pratt", "zsplit"])
def test_the_interval_of_the_rank_biserial_with_zeros(zeros):
    """By loops over the pairs of differences that are kept."""
    d = np.r_[np.arange(1.0, 61.0) * np.tile([1, -1, -1, 1, -1, 1], 10), 0, 0, 0]
    signed = SignedRanks.of(d[:, None], zeros)
    found = rank_biserial(d[:, None], signed, 0.9)
    kept = d[d != 0] if zeros != "zsplit" else np.r_[d[d != 0], 0.0, 0.0]  # one zero is dropped
    n, total = len(kept), (signed.plus + signed.minus)[0]
    placement = [
        np.mean([np.sign(a + b) for j, b in enumerate(kept) if j != i]) for i, a in enumerate(kept)
    ]
    variance = 4 * np.var(placement, ddof=1) / n * (n * (n + 1) / (2 * total)) ** 2
    share = (1 + found.value[0]) / 2
    trials = min(4 * share * (1 - share) / variance, n)
    low, high = wilson(np.array([share]), np.array([trials]), 0.9)
    assert (found.low[0], found.high[0]) == pytest.approx((2 * low[0] - 1, 2 * high[0] - 1))
    assert trials < n  # or the variance would not be seen


def test_share_better_without_ties_is_wilsons_interval():
    d = np.array([-1.0] * 7 + [1.0] * 3)[:, None]
    found = share_better(d)
    interval = stats.binomtest(7, 10).proportion_ci(method="wilson")
    assert (found.value[0], found.low[0], found.high[0]) == pytest.approx((0.7, *interval))


def test_the_other_side_of_a_pair():
    d = np.array([-1.0, -2.0, 3.0, 0.0])[:, None]
    for effect in (mean_difference, share_better):
        turned, other = effect(d).turned(), effect(-d)
        assert np.concatenate(turned[:3]) == pytest.approx(np.concatenate(other[:3]))


def _covered(effect, truth, draw, n, times, confidence):
    """Share of samples whose interval has the truth, over columns drawn at once."""
    d = draw(np.random.default_rng(5), (n, times))
    found = effect(d, confidence)
    return np.mean((found.low <= truth) & (truth <= found.high))


def _biserial(d, confidence):
    return rank_biserial(d, SignedRanks.of(d), confidence)


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("n", [10, 30])
@pytest.mark.parametrize("effect", [mean_difference, cohens_d, hodges_lehmann])
def test_coverage_is_what_theory_promises(effect, n, confidence):
    """4,000 normal samples of mean and d 0.5: the simulation's standard error is below .005."""
    promised = confidence
    if effect is hodges_lehmann:  # discrete: the next level that the signed rank test has
        ranks = np.arange(1.0, n + 1)
        promised = 1 - 2 * signed_rank_cdf(ranks, signed_rank_ppf(n, (1 - confidence) / 2))
        assert promised >= confidence
    covered = _covered(effect, 0.5, lambda rng, size: rng.normal(0.5, 1, size), n, 4000, confidence)
    assert covered == pytest.approx(promised, abs=0.015)


@pytest.mark.parametrize("n", [10, 30, 100])
@pytest.mark.parametrize("shift", [0.0, 0.5, 1.0])
def test_coverage_of_the_rank_biserial_is_about_the_level(n, shift):
    """P(d1 + d2 > 0) of normal differences is known; 93 to 98 % were measured for 95 %."""
    truth = 2 * stats.norm.cdf(np.sqrt(2) * shift) - 1
    covered = _covered(
        _biserial, truth, lambda rng, size: rng.normal(shift, 1, size), n, 2000, 0.95
    )
    assert 0.92 <= covered <= 0.99


@pytest.mark.parametrize("n", [20, 121])
@pytest.mark.parametrize("tied", [0.0, 0.3, 0.8])
def test_coverage_of_the_share_better_is_about_the_level(n, tied):
    def draw(rng, size):
        return rng.choice([-1.0, 0.0, 1.0], size, p=[0.6 * (1 - tied), tied, 0.4 * (1 - tied)])

    truth = 0.6 * (1 - tied) + tied / 2
    assert 0.91 <= _covered(share_better, truth, draw, n, 4000, 0.95) <= 0.985


def test_counted_sums_are_those_that_are_made():
    rng = np.random.default_rng(0)
    kinds = (
        lambda shape: rng.normal(size=shape),
        lambda shape: rng.integers(-3, 4, shape) * 1.0,  # many ties, and zeros
        lambda shape: rng.random(shape).round(2) - rng.random(shape).round(2),  # ties but rounding
        lambda shape: np.where(rng.random(shape) < 0.5, 0.0, -1e-9 * rng.random(shape)),
    )
    for n in (1, 2, 3, 10, 35, 60, 150):
        for kind in kinds:
            x = np.sort(kind((n, 2)), axis=0)
            last = n * (n + 1) // 2 - 1
            tail = int(rng.integers(last // 2 + 1))
            places = [last // 2, (last + 1) // 2, tail, last - tail]
            made = _all_sums(x, places)
            assert _counted_sums(x, places) == pytest.approx(made, rel=1e-14, abs=1e-16)


def test_the_median_of_many_differences_needs_no_table_of_all_pairs():
    d = np.random.default_rng(0).exponential(size=(501, 1)).round(3)
    found = hodges_lehmann(d)
    means = np.sort((d + d.T)[np.triu_indices(501)] / 2)
    assert found.value[0] == means[len(means) // 2]  # 125,751 means
    cut = signed_rank_ppf(501, 0.025)
    assert (found.low[0], found.high[0]) == pytest.approx((means[cut], means[-1 - cut]), rel=1e-15)
    many = hodges_lehmann(1 + stats.norm.ppf((np.arange(50_000) + 0.5) / 50_000)[:, None])
    assert many.value[0] == pytest.approx(1)
    assert many.high[0] - many.low[0] == pytest.approx(2 * 1.96 / np.sqrt(50_000 * 3 / np.pi), 0.02)


@pytest.mark.parametrize("n", [1001, 5000])
def test_cohens_interval_of_many_datasets_and_a_large_effect(n):
    z = stats.norm.ppf((np.arange(n) + 0.5) / n)
    d = effects.cohens_d((3 + z / z.std(ddof=1))[:, None])
    error = np.sqrt((1 + 3**2 / 2) / n)  # of d, for many datasets
    assert d.value[0] == pytest.approx(3)
    assert [d.low[0], d.high[0]] == pytest.approx([3 - 1.96 * error, 3 + 1.96 * error], abs=3e-3)
