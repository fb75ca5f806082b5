import itertools
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mlaut_extras import hierarchical
from mlaut_extras.hierarchical import hierarchical_probabilities, hierarchical_test
from scipy import integrate, special, stats

from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

# Benavoli et al. (2017), 10 x 10 folds of nbc and hnb on 54 datasets: mean difference of the
# errors, nbc minus hnb, and its corrected standard error.
NBC_HNB = pd.read_csv(Path(__file__).with_name("benavoli2017_nbc_hnb.csv"))


def test_nbc_against_hnb_as_published():
    # Notebook of Benavoli et al. (2017), sampled by Stan: 0 / .002 / .998.
    p, shares = hierarchical_probabilities(
        NBC_HNB["mean"], NBC_HNB["error"], np.full(54, 99), rope=0.01
    )
    assert p == pytest.approx((0.0003, 0.0025, 0.9972), abs=1e-4)
    assert p == pytest.approx((0.0, 0.002, 0.998), abs=1.5e-3)
    # by a Gibbs sampler of the whole model, 58,000 draws
    assert shares == pytest.approx((0.1745, 0.2355, 0.5900), abs=2e-3)


NUS = [1.02, 1.5, 2, 3, 5.9, 6, 9, 20, 39, 40, 60, 99, 500, 2001]


@pytest.mark.parametrize("nu", NUS)
@pytest.mark.parametrize("error", [1e-2, 1e-4, 1e-6])
def test_the_mixture_is_as_exact_as_it_says(nu, error):
    precisions, weights = hierarchical._gamma_mixture(float(nu), 100.0, error)
    t = np.r_[0, np.geomspace(0.01, 100, 60)]
    normal = np.sqrt(precisions / (2 * np.pi)) * np.exp(-0.5 * precisions * t[:, None] ** 2)
    density = stats.t.pdf(t, nu)
    seen = density > 1e-280
    assert np.abs((normal @ weights)[seen] / density[seen] - 1).max() < error
    assert len(weights) < 60


def test_the_mixture_follows_a_tail_as_far_as_the_data_reach():
    precisions, weights = hierarchical._gamma_mixture(1.02, 1e12, 1e-4)
    t = np.geomspace(1, 1e12, 40)[:, None]
    normal = np.sqrt(precisions / (2 * np.pi)) * np.exp(-0.5 * precisions * t**2)
    assert normal @ weights == pytest.approx(stats.t.pdf(t[:, 0], 1.02), rel=1e-4)


def _student(t, nu):
    size = math.lgamma((nu + 1) / 2) - math.lgamma(nu / 2) - 0.5 * math.log(nu * math.pi)
    return math.exp(size - (nu + 1) / 2 * math.log1p(t * t / nu))


@pytest.mark.parametrize("nu", [1.02, 6, 40, 300])
@pytest.mark.parametrize("df", [2, 99])
@pytest.mark.parametrize("scale", [0.01, 30.0])
def test_the_convolution_is_that_of_adaptive_quadrature(nu, df, scale):
    """The Student distribution of a dataset has scale 1, that over datasets ``scale``."""
    away = np.array([0.0, 4.0, 20.0])
    data = hierarchical._Deltas(np.zeros(1), np.ones(1), np.array([float(df)]))
    got = hierarchical._log_density(data, away, np.array([scale]), np.array([float(nu)]))
    got -= np.log(scale) + hierarchical._log_prior(np.array([float(nu)]))
    for place, x in enumerate(away):
        bounds = [-np.inf, *np.unique([0, x, x - 5 * scale, x + 5 * scale, -5, 5]), np.inf]
        known = sum(
            integrate.quad(
                lambda d, x=x: _student(d, df) * _student((d - x) / scale, nu) / scale,
                low,
                high,
                epsabs=0,
                epsrel=1e-7,
            )[0]
            for low, high in itertools.pairwise(bounds)
        )
        # the errors of two mixtures
        assert np.exp(got[place, 0, 0]) == pytest.approx(known, rel=2 * hierarchical._ERROR)


def test_the_prior_of_nu_is_that_of_adaptive_quadrature():
    x = hierarchical._NU - 1
    known = [
        integrate.dblquad(
            lambda shape, rate, x=x: np.exp(stats.gamma.logpdf(x, shape, scale=1 / rate)) * x,
            0.01, 0.1, 1, 2, epsabs=1e-30, epsrel=1e-9,
        )[0] / 0.09
        for x in x
    ]  # fmt: skip
    assert np.exp(hierarchical._log_prior(hierarchical._NU)) == pytest.approx(known, rel=1e-6)


@pytest.mark.slow
def test_finer_constants_change_little(monkeypatch):
    data = [-0.03, -0.01, -0.05, 0.01, -0.02, -0.04, 0.03, -0.02], [0.02] * 8, [19] * 8, 0.01
    usual = hierarchical_probabilities(*data)
    finer = {"_POINTS": 80, "_FINER": 8, "_NEGLIGIBLE": 30.0, "_ROUGH": 1e-4}
    finer["_NU"] = 1 + np.geomspace(0.004, 10_000, 36)
    for name, value in finer.items():
        monkeypatch.setattr(hierarchical, name, value)
    monkeypatch.setattr(hierarchical._log_density, "__defaults__", (1e-6,))
    np.testing.assert_allclose(hierarchical_probabilities(*data), usual, atol=1e-3)


@pytest.mark.slow
def test_one_dataset_far_away_is_an_outlier():
    """A heavy tail over datasets explains it, however far it is; the others keep their say."""
    rng = np.random.default_rng(0)
    mean, error = rng.normal(-0.02, 0.01, 7), np.full(8, 0.01)
    (near, _), (far, shares) = (
        hierarchical_probabilities(np.r_[mean, other], error, np.full(8, 9), rope=0.01)
        for other in (1.0, 1e10)
    )
    assert far == pytest.approx(near, abs=0.02)
    assert shares[0] > 0.7


def _sampled(mean: np.ndarray, scale: np.ndarray, df: int, rope: float, n: int) -> np.ndarray:
    """Metropolis on centre, log scale, log (nu - 1) and all deltas; rows of region weights."""
    rng = np.random.default_rng(0)
    shape, rate = np.linspace(1, 2, 21)[:, None], np.linspace(0.01, 0.1, 31)

    def of_hyper(c: float, s: float, v: float, delta: np.ndarray) -> float:
        prior = shape * np.log(rate) + shape * v - rate * np.exp(v) - special.gammaln(shape)
        likelihood = stats.t.logpdf((delta - c) / np.exp(s), 1 + np.exp(v)).sum() - len(delta) * s
        return likelihood + s + np.log(np.exp(prior).mean())

    def of_delta(delta: np.ndarray) -> np.ndarray:
        return -df / 2 * np.log1p(((mean - delta) / scale) ** 2 / df)

    delta, hyper, kept = mean.copy(), [mean.mean(), np.log(mean.std()), 1.0], []
    for step in range(n):
        moved = delta + scale * rng.normal(size=len(mean))
        c, s, v = hyper
        gain = of_delta(moved) - of_delta(delta)
        for sign, d in ((1, moved), (-1, delta)):
            gain += sign * stats.t.logpdf((d - c) / np.exp(s), 1 + np.exp(v))
        delta = np.where(np.log(rng.random(len(mean))) < gain, moved, delta)
        for place, width in enumerate((np.exp(s), 0.8, 1.5)):
            other = list(hyper)
            other[place] += width * rng.normal()
            if np.log(rng.random()) < of_hyper(*other, delta) - of_hyper(*hyper, delta):
                hyper = other
        if step > n // 10:
            c, s, v = hyper[0], np.exp(hyper[1]), 1 + np.exp(hyper[2])
            kept.append((special.stdtr(v, (-rope - c) / s), special.stdtr(v, (c - rope) / s)))
    return np.array(kept)


@pytest.mark.slow
def test_the_quadrature_agrees_with_sampling_all_parameters():
    mean = np.array([-0.03, -0.01, -0.05, 0.01, -0.02, -0.04, 0.03, -0.02])
    p, shares = hierarchical_probabilities(mean, np.full(8, 0.02), np.full(8, 19), rope=0.01)
    first, second = _sampled(mean, np.full(8, 0.02), 19, 0.01, 25_000).T
    largest = np.argmax([first, 1 - first - second, second], axis=0)
    assert shares[[0, 2]] == pytest.approx((first.mean(), second.mean()), abs=0.015)
    assert p == pytest.approx(np.bincount(largest, minlength=3) / len(first), abs=0.03)


@pytest.mark.slow
def test_exchanging_the_strategies_exchanges_the_answer():
    rng = np.random.default_rng(1)
    mean, scale = rng.normal(0.01, 0.02, 10), rng.uniform(0.005, 0.02, 10)
    one = hierarchical_probabilities(mean, scale, np.full(10, 9), rope=0.01)
    other = hierarchical_probabilities(-mean, scale, np.full(10, 9), rope=0.01)
    np.testing.assert_allclose(one[0], other[0][::-1], atol=2e-3)
    np.testing.assert_allclose(one[1], other[1][::-1], atol=1e-4)


def test_units_do_not_matter():
    rng = np.random.default_rng(2)
    mean, scale = rng.normal(0.01, 0.02, 3), rng.uniform(0.005, 0.02, 3)
    one = hierarchical_probabilities(mean, scale, np.full(3, 9), rope=0.01)
    percent = hierarchical_probabilities(100 * mean, 100 * scale, np.full(3, 9), rope=1)
    np.testing.assert_allclose(one, percent, atol=1e-9)


def test_without_a_region_there_is_no_middle():
    p, shares = hierarchical_probabilities([-0.02, 0.01, -0.03], [0.01] * 3, [9] * 3)
    assert p[1] == shares[1] == 0
    assert p.sum() == pytest.approx(1)
    assert p[0] > 0.5


@pytest.mark.slow
def test_many_precise_datasets_leave_no_doubt_and_shrink_none():
    mean = np.linspace(-0.06, 0.0, 30)
    p, shares = hierarchical_probabilities(mean, np.full(30, 1e-4), np.full(30, 99), rope=0.01)
    assert p[0] > 0.999
    assert shares == pytest.approx(((mean < -0.01).mean(), (mean >= -0.01).mean(), 0), abs=0.06)


def test_a_tiny_spread_is_found():
    # all means alike: the scale over datasets is far below the errors
    p, shares = hierarchical_probabilities(np.full(12, 1e-6), np.full(12, 1e-3), [99] * 12, 0.01)
    assert p[1] > 0.999
    assert shares[1] > 0.99


def _results(constant: bool = False) -> Results:
    rng = np.random.default_rng(3)
    index = pd.MultiIndex.from_product([["iris", "wine", "zoo", "glass"], range(2), range(5)])
    losses = rng.normal([0.2, 0.24, 0.2], 0.02, (40, 3))
    losses[:, 2] = losses[:, 0]
    if constant:
        losses[:10, 1] = losses[:10, 0] + 0.01
    table = pd.DataFrame(losses, index=index, columns=["A", "B", "C"])
    return Results.from_table(table, greater_is_better=False)


def test_two_strategies_of_a_study():
    result = hierarchical_test(_results(), pair=("A", "B"), rope=0.01)
    assert list(result.probabilities) == ["P(row better)", "P(equivalent)", "P(column better)"]
    assert sum(result.probabilities.values()) == pytest.approx(1)
    assert result.probabilities["P(row better)"] > 0.9
    assert (result.n, result.scenario) == (4, "(c)")
    other = hierarchical_test(_results(), pair=("B", "A"), rope=0.01)
    assert other.probabilities["P(column better)"] == pytest.approx(
        result.probabilities["P(row better)"], abs=5e-3
    )


@pytest.mark.slow
def test_all_pairs_have_the_numbers_of_each_pair():
    results = _results().select(datasets=["iris", "wine"])
    table = results.fold_losses.assign(C=lambda frame: frame["A"] ** 2)
    every = hierarchical_test(table, metric="mine", greater_is_better=False, rope=0.01)
    one = hierarchical_test(
        table, metric="mine", greater_is_better=False, pair=("B", "A"), rope=0.01
    )
    assert [*every.tables] == [
        "P(row better)", "P(equivalent)", "P(column better)", "ties", "share of datasets",
    ]  # fmt: skip
    assert every.value("P(row better)", "B", "A") == pytest.approx(
        one.probabilities["P(row better)"], abs=5e-3
    )
    assert every.value("share of datasets", "B", "A") == pytest.approx(one.effect.value, abs=1e-3)
    assert any("not corrected for 3 pairs" in note for note in every.notes)
    assert not any("not corrected" in note for note in one.notes)


def test_datasets_without_variance_are_said():
    result = hierarchical_test(_results(constant=True), pair=("A", "B"), rope=0.01)
    assert result.notes[-1].startswith("1 datasets do not vary")


def test_a_dataset_that_varies_little_by_luck_does_not_speak_for_those_that_do_not_vary():
    # with its error, the datasets without variance would fix the scale over datasets at nearly 0
    rng = np.random.default_rng(4)
    names = [f"d{i:02}" for i in range(30)]
    losses = rng.normal([[0.2, 0.2]] * 120, 0.02)
    losses[:, 1] += np.repeat(rng.normal(0, 0.01, 30), 4)
    losses[:20, 1] = losses[:20, 0]
    losses[20:24, 1] = losses[20:24, 0] + 0.01 + np.array([0, 1e-7, 0, 0])
    table = pd.DataFrame(losses, pd.MultiIndex.from_product([names, range(4)]), columns=["A", "B"])
    result = hierarchical_test(
        Results.from_table(table, greater_is_better=False), pair=("A", "B"), rope=0.01
    )
    assert result.notes[-1] == "5 datasets do not vary: they have the median error of the others"
    assert result.effect.value > 0.01


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: hierarchical_test(_results(), pair=("A", "C")),
            "have the same difference on all folds",
        ),
        (
            lambda: hierarchical_test(_results(), pair=("A", "D")),
            "strategy 'D' is not in these results",
        ),
        (lambda: hierarchical_probabilities([0.1], [0.1], [9]), "two datasets or more"),
        (lambda: hierarchical_probabilities([0.1, 0], [0.1, 0], [9, 9]), "the scales positive"),
        (lambda: hierarchical_probabilities([0.1, np.nan], [1, 1], [9, 9]), "must be finite"),
        (lambda: hierarchical_probabilities([0.1, 0], [1, 1], [9, 1]), "three folds or more"),
        (
            lambda: hierarchical_probabilities([0.1, 0], [1, 1], [9, 9], -1),
            "rope = -1 is not a number of 0",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(AnalysisError, match=message):
        call()
