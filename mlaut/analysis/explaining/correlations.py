"""Spearman's rank correlations of many columns, with p-values that hold for unequal spread."""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations
from math import factorial

import numpy as np

__all__ = ["centred_ranks", "rank_correlations"]

_EXACT = 8  # rows: up to here all 8! = 40320 orders are counted
_BLOCK = 1 << 22  # numbers held in memory at a time: 34 MB


def rank_correlations(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return Spearman's rho of each column of x with each column of y, and two-sided p-values.

    Parameters
    ----------
    x, y : ndarray, shapes (n, M) and (n, P)

    Returns
    -------
    rho, p : ndarray, shape (M, P)
        Where a column is constant, rho is NaN and p is 1.
    """
    ranks = centred_ranks(x), centred_ranks(y)
    rho = np.clip(ranks[0].T @ ranks[1], -1, 1)
    p = (_exact_p if len(x) <= _EXACT else _student_p)(*ranks, rho)
    varies = np.ptp(x, axis=0)[:, None] * np.ptp(y, axis=0) > 0
    return np.where(varies, rho, np.nan), np.where(varies, p, 1.0)


def centred_ranks(values: np.ndarray) -> np.ndarray:
    """Return the ranks of each column, with mean 0 and length 1; a constant column is 0."""
    from scipy.stats import rankdata

    ranks = rankdata(values, axis=0)
    ranks = ranks - ranks.mean(axis=0)
    length = np.sqrt((ranks**2).sum(axis=0))
    return np.divide(ranks, length, out=np.zeros_like(ranks), where=length > 0)


def _student_p(x: np.ndarray, y: np.ndarray, rho: np.ndarray) -> np.ndarray:
    """Return two-sided p-values by Student's t; none is below that of the rarest order, 2 / n!.

    The standard error is the larger one of the usual and the jackknife's, which allows that
    advantages on small datasets vary more.
    """
    from scipy.special import stdtr

    n = len(x)
    every = (np.delete(np.arange(n), out) for out in range(n))
    left = np.array([centred_ranks(x[kept]).T @ centred_ranks(y[kept]) for kept in every])
    variance = np.maximum((1 - rho**2) / (n - 2), (n - 1) * left.var(axis=0))
    t = np.abs(rho) / np.sqrt(np.maximum(variance, 1e-300))
    return np.clip(2 * stdtr(n - 2, -t), 2 / factorial(min(n, 170)), 1.0)


def _exact_p(x: np.ndarray, y: np.ndarray, rho: np.ndarray) -> np.ndarray:
    """Return the share of all orders of the datasets with a rho at least as far from 0."""
    orders = _orders(len(x))
    p = np.empty_like(rho)
    step = max(1, _BLOCK // len(orders))
    for row, column in enumerate(x.T):
        for at in range(0, y.shape[1], step):
            here = np.s_[at : at + step]
            far = np.abs(column[orders] @ y[:, here]) >= np.abs(rho[row, here]) - 1e-12
            p[row, here] = far.mean(axis=0)
    return p


@lru_cache(maxsize=1)
def _orders(n: int) -> np.ndarray:
    return np.array(list(permutations(range(n))))
