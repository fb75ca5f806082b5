"""Distribution of the number of datasets on which one strategy is better.

It is a Poisson binomial distribution: the distribution of the number of successes in independent
trials with different probabilities. The functions work on many rows at once. They only add and
multiply positive numbers, so that a probability of 1e-200 is as exact as one of 0.5.
"""

import numpy as np
from numpy.typing import ArrayLike

from mlaut.analysis.common.arguments import PositivePrior, Share, checked
from mlaut.analysis.common.display import SMALLEST_P
from mlaut.errors import AnalysisError

_DIRECT = 128  # up to this number of trials, recursion is faster than halving and convolving


@checked
def poisson_binomial_pmf(p: ArrayLike) -> np.ndarray:
    """Compute the distribution of the number of successes in trials of unequal probability.

    The trials are independent.

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
    Up to 128 trials: the recursion of Lacoste, Laviolette & Marchand (2012), equation (5). More
    trials are split into halves, and the distributions of the halves are convolved directly. A fast
    Fourier transform would be faster, but its error is small only in the absolute sense.

    Examples
    --------
    >>> poisson_binomial_pmf([0.9, 0.8, 0.3]).round(3)
    array([0.014, 0.188, 0.582, 0.216])
    """
    p = checked_probabilities(p)
    rows = _pmf(p.reshape(-1, p.shape[-1]))
    return rows.reshape(*p.shape[:-1], p.shape[-1] + 1)


def checked_probabilities(p: ArrayLike) -> np.ndarray:
    """Return ``p`` as floats with at least one column, or raise an AnalysisError."""
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
    """Return the distribution of each row: shape (rows, N + 1)."""
    n = p.shape[1]
    if n <= _DIRECT:
        return _recursion(p)
    halves = zip(_pmf(p[:, : n // 2]), _pmf(p[:, n // 2 :]), strict=True)
    return np.stack([np.convolve(left, right) for left, right in halves])


def _recursion(p: np.ndarray) -> np.ndarray:
    """Return the distributions by adding one trial at a time.

    The rows lie along the last axis, where numpy is fastest.
    """
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
def poisson_binomial_probability(
    p: ArrayLike, prior: PositivePrior = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the probabilities that A and that B is better on most datasets of a context.

    Parameters
    ----------
    p : array_like of float, shape (..., N)
        Probability that A's classifier is the better one on each dataset.
    prior : float, default 1
        Both parameters of the Beta prior of the share of datasets on which A is better; 1 is the
        uniform prior.

    Returns
    -------
    first, second : ndarray of float, shape (...)
        Probabilities that A, and that B, yields the better classifier on most datasets. They add up
        to 1. Each is summed separately, so that the smaller one keeps its digits. A probability
        below the smallest positive float is set to that float.

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

    q = poisson_binomial_pmf(p)
    wins = np.arange(q.shape[-1], dtype=float)
    losses = wins[::-1]
    first = q @ betainc(losses + prior, wins + prior, 0.5)
    second = q @ betainc(wins + prior, losses + prior, 0.5)
    return np.clip(first, SMALLEST_P, 1.0), np.clip(second, SMALLEST_P, 1.0)


@checked
def poisson_binomial_share(
    p: ArrayLike, prior: PositivePrior = 1.0, confidence: Share = 0.95
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the posterior of the share of datasets of the context on which A is better.

    Parameters
    ----------
    p : array_like of float, shape (..., N)
        Probability that A's classifier is the better one on each dataset.
    prior : float, default 1
        Both parameters of the Beta prior of the share.
    confidence : float, default 0.95
        Probability of the credible interval.

    Returns
    -------
    mean, low, high : ndarray of float, shape (...)
        Mean and central credible interval of the share. Its posterior is the mixture of
        ``Beta(k + prior, N - k + prior)`` over the Poisson binomial distribution of ``k``.

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
    p = checked_probabilities(p)
    mean = (p.sum(axis=-1) + prior) / (p.shape[-1] + 2 * prior)
    q = poisson_binomial_pmf(p)
    tails = (0.5 - confidence / 2, 0.5 + confidence / 2)
    low, high = (_mixture_quantile(q, prior, tail) for tail in tails)
    return mean, low, high


def _mixture_quantile(q: np.ndarray, prior: float, level: float) -> np.ndarray:
    """Return the quantile at ``level`` of the mixture of Beta distributions with weights ``q``."""
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
