"""Figures of posteriors: what they draw, and that every name can be read."""

import numpy as np
import pytest

from mlaut.analysis.methods.bayes import sign_posterior, sign_probabilities, signed_rank_posterior
from mlaut.analysis.methods.lacoste import poisson_binomial_pmf, probabilities_by_dataset
from mlaut.analysis.plots import dataset_plot, simplex_plot
from mlaut.errors import AnalysisError

D = np.random.default_rng(0).normal(-0.01, 0.03, 30)


def probabilities(n, strategies=("A", "B")):
    rng = np.random.default_rng(n)
    wrong = {f"dataset_{i}": (rng.random((2, 60)) < [[0.2], [0.3]]).astype(float) for i in range(n)}
    return probabilities_by_dataset(wrong, strategies)


@pytest.mark.parametrize(
    "names", [("A", "B"), ("Forest_of_500_trees_$n$", "Nearest_neighbours_$k$")]
)
@pytest.mark.parametrize("posterior", [sign_posterior, signed_rank_posterior])
def test_a_simplex_says_which_share_is_the_largest(posterior, names, assert_readable):
    draws = posterior(D, rope=0.01, n_samples=4000)
    figure = simplex_plot(draws, names)
    shown = [text.get_text() for text in figure.axes[0].texts]
    largest = np.bincount(draws.argmax(axis=1), minlength=3) / len(draws)
    labels = (f"{names[0]} better", "equivalent", f"{names[1]} better")
    shown = [
        " ".join(text.rsplit("\n", 1)[0].split()) + "\n" + text.rsplit("\n", 1)[1] for text in shown
    ]
    assert shown == [f"{label}\nP = {p:.2f}" for label, p in zip(labels, largest, strict=True)]
    assert_readable(figure)


def test_draws_of_the_sign_test_agree_with_its_exact_probabilities():
    exact = sign_probabilities(D, rope=0.01)[0][0]
    draws = sign_posterior(D, rope=0.01, n_samples=40_000, seed=1)
    counted = np.bincount(draws.argmax(axis=1), minlength=3) / len(draws)
    np.testing.assert_allclose(counted, exact, atol=4 * np.sqrt(0.25 / 40_000))


def test_without_a_region_there_is_a_histogram(assert_readable):
    figure = simplex_plot(sign_posterior(D, n_samples=4000), ["A", "B"])
    axes = figure.axes[0]
    right = float(axes.get_title("right").rpartition(" ")[2])
    assert right == pytest.approx(sign_probabilities(D)[0][0, 0], abs=0.03)
    assert axes.get_xlabel() == "share of datasets on which A is better"
    assert_readable(figure)


@pytest.mark.parametrize("draws", [[[0.5, 0.5]], [[0.5, 0.2, 0.2]], np.zeros((0, 3))])
def test_what_is_no_posterior_is_refused(draws):
    with pytest.raises(AnalysisError, match="not shares of three"):
        simplex_plot(draws)


@pytest.mark.parametrize("n", [1, 3, 40, 121])
def test_each_dataset_is_drawn_the_surest_on_top(n, assert_readable):
    given = probabilities(n, ["Forest_of_500_trees_$n$", "Nearest_neighbours_$k$"])
    figure = dataset_plot(given, *given.strategies)
    left, right = figure.axes
    p = np.sort(given.better[0, 1])
    points = np.concatenate([line.get_xdata() for line in left.lines[:2]])
    np.testing.assert_allclose(np.sort(points), p)
    named = [label.get_text() for label in left.get_yticklabels()]
    order = np.argsort(given.better[0, 1], kind="stable")
    assert named == ([given.datasets[i] for i in order] if n <= 60 else [])
    heights = [bar.get_height() for bar in right.patches]
    assert sum(heights) == pytest.approx(1, abs=0.01)
    assert max(heights) == pytest.approx(poisson_binomial_pmf(p).max())
    assert_readable(figure)


def test_a_probability_near_1_is_not_called_1():
    title = dataset_plot(probabilities(121), "A", "B").axes[1].get_title()
    assert "P(the first is better) = 1 " in title
    assert float(title.rpartition(" ")[2]) < 0.005


def test_strategies_have_to_be_two_that_are_known():
    with pytest.raises(AnalysisError, match="itself: 'A'"):
        dataset_plot(probabilities(3), "A", "A")
    with pytest.raises(AnalysisError, match="'C'"):
        dataset_plot(probabilities(3), "A", "C")
