"""On how many datasets one strategy is better, when each says so only with a probability.

The Poisson binomial distribution is that of a sum of independent trials with different
probabilities. Everything works on many rows at once, and only adds and multiplies positive numbers,
so that a probability of 1e-200 is as exact as one of 0.5.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mlaut.analysis.common.arguments import checked
from mlaut.analysis.common.result_types import SMALLEST_P
from mlaut.errors import AnalysisError

__all__ = [
    "poisson_binomial_pmf",
    "poisson_binomial_probability",
    "poisson_binomial_share",
]

_DIRECT = 128  # up to so many trials the recursion is quicker than halving and convolving


@checked
def poisson_binomial_pmf(p: ArrayLike) -> np.ndarray:
    """Distribution of the number of successes in independent trials of unequal probability.

    Parameters
    ----------
    p : array_like of float, shape (..., N)
        Probability of success of each trial.

    Returns
    -------
    ndarray of float, shape (..., N + 1)
        Probability of 0, 1, ..., N successes, each to full relative precision.

    Raises
    ------
    AnalysisError
        A value is not in [0, 1], or there are no trials.

    Notes
    -----
    Lacoste, Laviolette & Marchand (2012), equation (5): their recursion for up to 128 trials;
    beyond, the trials are halved and the halves convolved directly. A convolution by fast Fourier
    transform would be quicker still, but is exact only in the absolute sense.

    Examples
    --------
    >>> poisson_binomial_pmf([0.9, 0.8, 0.3]).round(3)
    array([0.014, 0.188, 0.582, 0.216])
    """
    p = checked_probabilities(p)
    rows = _pmf(p.reshape(-1, p.shape[-1]))
    return rows.reshape(*p.shape[:-1], p.shape[-1] + 1)


def checked_probabilities(p: ArrayLike) -> np.ndarray:
    """Return ``p`` as floats with at least one column, or say what is wrong with it."""
    p = np.asarray(p, dtype=float)
    if p.ndim == 0 or p.shape[-1] == 0:
        raise AnalysisError("no dataset is given: the Poisson binomial test needs at least one")
    wrong = ~((p >= 0) & (p <= 1))
    if wrong.any():
        where = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise AnalysisError(
            f"p[{', '.join(map(str, where))}] = {p[where]:g} is not a probability; "
            "give values in [0, 1] for every dataset, without gaps"
        )
    return p


def _pmf(p: np.ndarray) -> np.ndarray:
    n = p.shape[1]
    if n <= _DIRECT:
        return _recursion(p)
    halves = zip(_pmf(p[:, : n // 2]), _pmf(p[:, n // 2 :]), strict=True)
    return np.stack([np.convolve(left, right) for left, right in halves])


def _recursion(p: np.ndarray) -> np.ndarray:
    """Add one trial at a time; the rows lie along the last axis, where numpy is quickest."""
    trials = np.ascontiguousarray(p.T)
    n, rows = trials.shape
    q = np.zeros((n + 1, rows))
    q[0] = 1.0
    for i, success in enumerate(trials):
        one_more = q[: i + 1] * success
        q[: i + 1] *= 1.0 - success
        q[1 : i + 2] += one_more
    return q.T


@checked
def poisson_binomial_probability(p: ArrayLike, prior: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Probability that A gives the better classifier on most datasets of a context, and B's.

    Parameters
    ----------
    p : array_like of float, shape (..., N)
        For each dataset, the probability that A's classifier is the better one.
    prior : float, default 1
        Both parameters of the Beta prior of the share of datasets on which A is better; 1 is the
        uniform one.

    Returns
    -------
    first, second : ndarray of float, shape (...)
        They add up to 1. Both are summed on their own, so that the smaller one keeps its digits;
        one below the smallest number of the machine is given as that number.

    Raises
    ------
    AnalysisError
        A value is not a probability, or ``prior`` is not positive.

    Notes
    -----
    Lacoste, Laviolette & Marchand (2012), section 5: the sum over ``k`` of
    ``q(k) I_{1/2}(N - k + prior, k + prior)``, with ``q`` the Poisson binomial distribution of the
    number of datasets on which A is better.

    Examples
    --------
    >>> first, second = poisson_binomial_probability([0.9, 0.8, 0.3])
    >>> round(float(first), 5), round(float(second), 5)
    (0.66225, 0.33775)
    """
    from scipy.special import betainc

    prior = checked_prior(prior)
    q = poisson_binomial_pmf(p)
    wins = np.arange(q.shape[-1], dtype=float)
    losses = wins[::-1]
    first = q @ betainc(losses + prior, wins + prior, 0.5)
    second = q @ betainc(wins + prior, losses + prior, 0.5)
    return np.clip(first, SMALLEST_P, 1.0), np.clip(second, SMALLEST_P, 1.0)


def checked_prior(prior: float) -> float:
    """Return a prior count that is positive and finite, or say that it is not."""
    if not (np.isfinite(prior) and prior > 0):
        raise AnalysisError(f"prior = {prior} is not a positive number; 1 is the uniform prior")
    return float(prior)


@checked
def poisson_binomial_share(
    p: ArrayLike, prior: float = 1.0, confidence: float = 0.95
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Posterior of the share of datasets of the context on which A is better.

    Parameters
    ----------
    p : array_like of float, shape (..., N)
    prior : float, default 1
    confidence : float, default 0.95

    Returns
    -------
    mean, low, high : ndarray of float, shape (...)
        Mean and central credible interval of the mixture of ``Beta(k + prior, N - k + prior)`` over
        the Poisson binomial distribution of ``k``.

    Raises
    ------
    AnalysisError
        A value is not a probability, or ``prior`` or ``confidence`` is out of range.

    Examples
    --------
    >>> mean, low, high = poisson_binomial_share([1.0] * 10)
    >>> round(float(mean), 4), round(float(low), 4), round(float(high), 4)
    (0.9167, 0.7151, 0.9977)
    """
    if not 0 < confidence < 1:
        raise AnalysisError(f"confidence = {confidence} is not between 0 and 1, for example 0.95")
    p, prior = checked_probabilities(p), checked_prior(prior)
    n = p.shape[-1]
    mean = (p.sum(axis=-1) + prior) / (n + 2 * prior)
    q = poisson_binomial_pmf(p)
    tails = (0.5 - confidence / 2, 0.5 + confidence / 2)
    low, high = (_mixture_quantile(q, prior, tail) for tail in tails)
    return mean, low, high


def _mixture_quantile(q: np.ndarray, prior: float, level: float) -> np.ndarray:
    from scipy.optimize import elementwise
    from scipy.special import betainc

    rows = q.reshape(-1, q.shape[-1])
    wins = np.arange(q.shape[-1], dtype=float)

    def excess(x: np.ndarray, row: np.ndarray) -> np.ndarray:
        parts = betainc(wins + prior, wins[::-1] + prior, x[:, None])
        return np.einsum("ij,ij->i", rows[row], parts) - level

    which = np.arange(len(rows))
    ends = (np.zeros(len(rows)), np.ones(len(rows)))
    return elementwise.find_root(excess, ends, args=(which,)).x.reshape(q.shape[:-1])
