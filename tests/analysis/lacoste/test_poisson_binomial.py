import numpy as np
import pytest
from scipy import stats

from mlaut.analysis.methods.lacoste.poisson_binomial import (
    poisson_binomial_pmf,
    poisson_binomial_probability,
    poisson_binomial_share,
)
from mlaut.errors import AnalysisError

# Closed cases of Lacoste, Laviolette & Marchand (2012), equation (5) and section 5, by hand.
CLOSED = [
    ([0.9, 0.8, 0.3], 0.66225),
    ([0.5] * 7, 0.5),
    ([1.0] * 10, 1 - 2.0**-11),
    ([1.0] * 17 + [0.0] * 3, 0.9992551804),
    ([1.0] * 17 + [0.0] * 3 + [0.5] * 2, 0.9979613423),
    ([0.9] * 5, 0.9241075),
    ([0.52, 0.61, 1, 0.5, 0.84], 0.736091625),
]


@pytest.mark.parametrize(("p", "expected"), CLOSED)
def test_closed_cases(p, expected):
    first, second = poisson_binomial_probability(p)
    assert first == pytest.approx(expected, abs=5e-11)
    assert first + second == pytest.approx(1, abs=1e-14)


def test_the_distribution_of_three_trials():
    assert poisson_binomial_pmf([0.9, 0.8, 0.3]) == pytest.approx([0.014, 0.188, 0.582, 0.216])


@pytest.mark.parametrize("n", [1, 2, 127, 128, 129, 300, 1000])
def test_equal_probabilities_give_the_binomial_to_full_relative_precision(n):
    pmf = poisson_binomial_pmf(np.full((2, n), 0.3))
    known = stats.binom.pmf(np.arange(n + 1), n, 0.3)
    seen = known > 1e-290
    assert pmf[1, seen] == pytest.approx(known[seen], rel=1e-10)


def test_halves_and_recursion_agree_for_thousands_of_datasets():
    p = np.random.default_rng(0).random(3000)
    pmf = poisson_binomial_pmf(p)
    k = np.arange(3001)
    assert pmf.sum() == pytest.approx(1, abs=1e-12)
    assert k @ pmf == pytest.approx(p.sum(), rel=1e-12)
    assert k**2 @ pmf - p.sum() ** 2 == pytest.approx((p * (1 - p)).sum(), rel=1e-8)


def test_swapping_the_strategies_swaps_the_probabilities():
    p = np.random.default_rng(1).random((5, 40))
    first, second = poisson_binomial_probability(p)
    swapped = poisson_binomial_probability(1 - p)
    np.testing.assert_allclose(swapped[0], second, rtol=1e-12)
    np.testing.assert_allclose(swapped[1], first, rtol=1e-12)


def test_the_smaller_probability_keeps_its_digits_and_is_never_0():
    assert poisson_binomial_probability([1.0] * 200)[1] == pytest.approx(2.0**-201, rel=1e-12)
    assert poisson_binomial_probability([1.0] * 3000)[1] > 0


def test_prior_is_the_beta_prior_of_the_share():
    first, _ = poisson_binomial_probability([1.0] * 4, prior=0.5)
    assert first == pytest.approx(stats.beta.sf(0.5, 4.5, 0.5))


def test_share_of_certain_datasets_is_a_beta_distribution():
    mean, low, high = poisson_binomial_share([1.0] * 7 + [0.0] * 3, confidence=0.9)
    known = stats.beta(8, 4)
    assert mean == pytest.approx(known.mean())
    assert [low, high] == pytest.approx(known.ppf([0.05, 0.95]), abs=1e-9)


def test_share_of_uncertain_datasets_against_sampling():
    rng = np.random.default_rng(2)
    p = rng.random((3, 12))
    mean, low, high = poisson_binomial_share(p)
    wins = (rng.random((200_000, 1, 12)) < p).sum(axis=-1)
    share = rng.beta(wins + 1, 12 - wins + 1)
    np.testing.assert_allclose(mean, share.mean(axis=0), atol=0.002)
    np.testing.assert_allclose([low, high], np.quantile(share, [0.025, 0.975], axis=0), atol=0.005)


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([0.2, np.nan], r"p\[1\] = nan is not a probability"),
        ([[0.2, 0.4], [1.2, 0.1]], r"p\[1, 0\] = 1.2 is not a probability"),
        ([], "no dataset is given"),
    ],
)
def test_bad_probabilities_are_named(p, message):
    with pytest.raises(AnalysisError, match=message):
        poisson_binomial_probability(p)


def test_bad_prior_and_confidence_are_named():
    with pytest.raises(AnalysisError, match="prior = 0 is not a positive number"):
        poisson_binomial_probability([0.5], prior=0)
    with pytest.raises(AnalysisError, match="confidence = 95 is not between 0 and 1"):
        poisson_binomial_share([0.5], confidence=95)
