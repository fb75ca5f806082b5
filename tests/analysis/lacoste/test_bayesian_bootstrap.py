import numpy as np
import pytest
from scipy import stats

from mlaut.analysis.methods.lacoste.bayesian_bootstrap import bootstrap_prob_better
from mlaut.analysis.methods.lacoste.risk import prob_better_classifier
from mlaut.errors import AnalysisError

COUNTS = [(0, 0, 5), (0, 1, 3), (1, 0, 0), (0, 5, 5), (21, 7, 900), (230, 139, 3000), (0, 300, 0)]


@pytest.mark.parametrize("prior", [0.3, 1.0, 4.0])
@pytest.mark.parametrize(("h", "g", "alike"), COUNTS)
def test_zero_one_losses_give_theorem_4_1_to_10_digits(h, g, alike, prior):
    d = np.r_[np.ones(h), -np.ones(g), np.zeros(alike)]
    known = prob_better_classifier(h, g, prior)
    np.testing.assert_allclose(bootstrap_prob_better(d, prior), known, rtol=1e-10)


def _sampled(d: np.ndarray, prior: float, draws: int) -> float:
    """The definition: gamma weights on the differences and on two pseudo-observations."""
    rng = np.random.default_rng(0)
    size = np.sqrt((d[d != 0] ** 2).mean())
    weights = rng.standard_gamma(np.r_[np.ones(d.size), prior, prior], (draws, d.size + 2))
    return (weights @ np.r_[d, size, -size] < 0).mean()


RNG = np.random.default_rng(1)
DIFFERENCES = {
    "heavy tails": RNG.standard_t(2, 30) - 0.3,
    "skewed": RNG.exponential(size=8) - 1.4,
    "one outlier": np.r_[0.01 * RNG.normal(size=100), 5.0, -1.0],
    "one against fifty": np.r_[30.0, -np.ones(50)],
    "one point": np.array([-3.0]),
    "scales apart": np.array([1.0, -10.0, 100.0, -1e3, 1e4]),
}


@pytest.mark.parametrize("prior", [0.5, 1.0])
@pytest.mark.parametrize("d", DIFFERENCES.values(), ids=DIFFERENCES)
def test_the_integral_agrees_with_sampling_the_weights(d, prior):
    draws = 100_000
    first, second = bootstrap_prob_better(d, prior)
    assert first + second == pytest.approx(1)
    error = np.sqrt(first * second / draws)
    assert first == pytest.approx(_sampled(d, prior, draws), abs=4 * error)


def test_many_points_give_the_normal_limit():
    d = np.random.default_rng(2).normal(0.02, 1.0, size=20_000)
    first, second = bootstrap_prob_better(d)
    z = d.mean() / (d.std() / np.sqrt(d.size))
    assert first == pytest.approx(stats.norm.sf(z), rel=0.01)
    assert second == pytest.approx(stats.norm.cdf(z), rel=0.01)


def test_order_scale_and_exchange_do_not_matter():
    d = np.random.default_rng(3).normal(size=(4, 25))
    first, second = bootstrap_prob_better(d)
    np.testing.assert_allclose(bootstrap_prob_better(1e-150 * d[:, ::-1])[0], first, rtol=1e-10)
    np.testing.assert_allclose(bootstrap_prob_better(-d)[0], second, rtol=1e-10)


def test_rows_of_very_different_shape_do_not_disturb_each_other():
    rng = np.random.default_rng(4)
    d = np.stack([rng.normal(size=400), np.r_[1e9, rng.normal(size=399)], rng.standard_cauchy(400)])
    together = bootstrap_prob_better(d)[0]
    np.testing.assert_allclose(together, [bootstrap_prob_better(row)[0] for row in d], rtol=1e-12)


def test_far_tails_are_small_but_never_0():
    _, second = bootstrap_prob_better(-np.ones((2, 900)) * [[1.0], [0.3]])
    assert second == pytest.approx(2.0**-901, rel=1e-9)
    assert bootstrap_prob_better(-np.ones(5000))[1] > 0


def test_no_difference_is_even():
    assert bootstrap_prob_better(np.zeros((2, 5)))[0].tolist() == [0.5, 0.5]
    assert bootstrap_prob_better([3.0, -3.0, 0.0])[0] == pytest.approx(0.5)


def test_probabilities_are_calibrated_over_tasks():
    """Over tasks with normal effects, claims of probability about p are right about p times."""
    rng = np.random.default_rng(5)
    truth = rng.normal(size=4000)
    first, _ = bootstrap_prob_better(truth[:, None] + rng.standard_t(4, size=(4000, 15)))
    for low, high in ((0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 1.0)):
        here = (first >= low) & (first < high)
        assert (truth[here] < 0).mean() == pytest.approx(first[here].mean(), abs=0.06)


@pytest.mark.parametrize(
    ("d", "prior", "message"),
    [
        ([0.1, np.nan], 1.0, "NaN or infinite"),
        ([0.1, np.inf], 1.0, "NaN or infinite"),
        ([], 1.0, "no test point"),
        ([0.1], 0.0, "prior = 0.0 is not a positive number"),
    ],
)
def test_bad_input_is_named(d, prior, message):
    with pytest.raises(AnalysisError, match=message):
        bootstrap_prob_better(d, prior)
