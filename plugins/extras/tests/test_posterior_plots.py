"""Figures of posteriors: what they draw, and that every name can be read."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from mlaut_extras import simplex_plot

from mlaut.analysis.methods.bayes import sign_posterior, sign_probabilities, signed_rank_posterior
from mlaut.errors import AnalysisError

D = np.random.default_rng(0).normal(-0.01, 0.03, 30)


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


def test_a_simplex_takes_axes_or_a_size():
    figure = Figure(figsize=(12, 5))
    left, right = figure.subplots(1, 2)
    draws = sign_posterior([0.1, -0.2, 0.3], rope=0.05, n_samples=200)
    assert simplex_plot(draws, ax=right) is figure
    assert right.has_data()
    assert not left.has_data()
    assert simplex_plot(draws, figsize=(9, 4)).get_size_inches().tolist() == [9, 4]
    with pytest.raises(AnalysisError, match="figsize is for a new figure"):
        simplex_plot(draws, ax=left, figsize=(9, 4))
