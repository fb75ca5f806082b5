"""Bound of the cost of choosing a strategy: how much worse than the best it may be on average."""

import numpy as np

from mlaut.analysis.common.draws import exponentials

_STREAM = 17  # of random numbers
_DRAWS = 4000
_WEIGHTS = 20_000_000  # that are drawn at a time: 160 MB


def cost_bounds(
    rows: np.ndarray, confidence: float = 0.95, seed: int = 0, rivals: np.ndarray | None = None
) -> np.ndarray:
    """Return a bound of how much higher the mean loss of each strategy is than that of the best.

    Parameters
    ----------
    rows : ndarray, shape (G, K)
        Mean losses of each source, or of each dataset if all are independent.
    confidence : float, default 0.95
    seed : int, default 0
    rivals : ndarray of bool, shape (K,), optional
        Which strategies may be the best; default all. A strategy that cannot be the best, but
        varies widely, would widen all bounds.

    Returns
    -------
    ndarray, shape (K,)
        Quantiles over a Bayesian bootstrap of the rows. Their spread is widened to that of
        Student's t, since the bootstrap's own spread is too small for few rows. The bound holds
        slightly more often than ``confidence``, since the best of many resampled means is too good
        on average.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cost_bounds(rng.normal([0.0, 0.1, 5.0], 0.3, size=(20, 3))).round(1)
    array([0. , 0.2, 5.2])
    """
    n = len(rows)
    means = rows.mean(axis=0)
    parts = []
    for draws in np.array_split(np.arange(_DRAWS), -(-_DRAWS * n // _WEIGHTS)):
        weights = exponentials(seed, _STREAM, draws, n)
        parts.append(weights @ (rows - means) / weights.sum(axis=1, keepdims=True))
    drawn = np.concatenate(parts)
    drawn = means + drawn * np.sqrt((n + 1) / (n - 1)) * wider(n - 1)
    best = drawn[:, slice(None) if rivals is None else rivals].min(axis=1, keepdims=True)
    return np.quantile(np.maximum(drawn - best, 0), confidence, axis=0)


def wider(df: int, normal: float = 1.645) -> float:
    """Return Student's quantile divided by the normal one, by Wallace's approximation (1959).

    Examples
    --------
    >>> round(wider(7), 2), round(wider(1000), 2)
    (1.15, 1.0)
    """
    moved = normal * (8 * df + 3) / (8 * df + 1)
    return float(np.sqrt(df * np.expm1(moved**2 / df)) / normal)
