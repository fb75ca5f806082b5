"""Effect sizes of paired differences, with their intervals, for many pairs at once.

Each function takes differences ``d`` of shape (N, P), one row for each dataset and one column for
each pair, and returns an `Effect` of arrays of shape (P,). A difference is the loss of the first
strategy minus the loss of the second: below 0 the first is better.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from mlaut.analysis.common.numerics import wilson

WILSON = "Wilson, effective sample size"

__all__ = ["Effect", "cohens_d", "mean_difference", "share_better"]


class Effect(NamedTuple):
    """Effect sizes and the ends of their intervals, shape (P,) each, and the interval's method."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    method: str
    neutral: float = 0.0

    @classmethod
    def point(cls, value: np.ndarray, neutral: float = 0.0) -> Effect:
        """Return effects without intervals: their ends are NaN."""
        none = np.full_like(value, np.nan, dtype=float)
        return cls(value, none, none, "", neutral)

    @property
    def towards_worse(self) -> np.ndarray:
        """Direction of the effects: below 0 where the first strategy is better, else above 0."""
        return self.neutral - self.value if self.neutral else self.value

    def turned(self) -> Effect:
        """Return the effects of the second strategies against the first."""
        value, low, high = (2 * self.neutral - x for x in (self.value, self.high, self.low))
        return self._replace(value=value, low=low, high=high)

    def within(self, span: float) -> Effect:
        """Return the effects with intervals cut at the largest possible differences.

        The truth is never beyond, so the cut intervals have the same coverage.

        Parameters
        ----------
        span : float
            Largest possible absolute difference.
        """
        return self._replace(low=np.maximum(self.low, -span), high=np.minimum(self.high, span))


def mean_difference(d: np.ndarray, confidence: float = 0.95) -> Effect:
    """Return the mean difference with Student's t interval (MLaut 2019, Table 6: raw effect).

    Examples
    --------
    >>> mean_difference(np.array([[1.0], [2.0], [3.0]])).low.round(4)
    array([-0.4841])
    """
    from scipy.special import stdtrit

    n = len(d)
    mean = d.mean(axis=0)
    half = stdtrit(n - 1, 0.5 + confidence / 2) * d.std(axis=0, ddof=1) / np.sqrt(n)
    return Effect(mean, mean - half, mean + half, "Student's t")


def cohens_d(d: np.ndarray, confidence: float = 0.95) -> Effect:
    """Return Cohen's d for paired samples, ``mean / sd`` (MLaut 2019, Table 6: normalised effect).

    The interval inverts the noncentral t distribution, which is exact for normal differences. If
    all differences are equal, d is infinite; if all are 0, d is 0. Both have no interval.

    Examples
    --------
    >>> d = cohens_d(np.array([[1.0], [2.0], [3.0], [4.0]]))
    >>> d.value.round(4), d.low.round(4), d.high.round(4)
    (array([1.9365]), array([0.1458]), array([3.6717]))
    """
    n = len(d)
    mean, sd = d.mean(axis=0), d.std(axis=0, ddof=1)
    varies = sd > 1e-14 * np.abs(mean)
    value = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
    np.divide(mean, sd, out=value, where=varies)
    low, high = np.full_like(value, np.nan), np.full_like(value, np.nan)
    t = value[varies] * np.sqrt(n)
    for ends, target in ((low, 0.5 + confidence / 2), (high, 0.5 - confidence / 2)):
        ends[varies] = _noncentrality(t, n - 1, target) / np.sqrt(n)
    return Effect(value, low, high, "noncentral t")


def _noncentrality(t: np.ndarray, df: int, target: float) -> np.ndarray:
    """Solve ``P(T <= t) = target`` for the noncentrality of a t distribution.

    On the normal scale the probability is nearly linear in the noncentrality, so that a few secant
    steps are exact.
    """
    from scipy.special import ndtri

    # the smaller tail keeps the precision of both
    side = 1.0 if target < 0.5 else -1.0

    def miss(nc: np.ndarray) -> np.ndarray:
        tail = np.maximum(_noncentral_tail(t, df, nc, lower=target < 0.5), np.finfo(float).tiny)
        return side * ndtri(tail) - ndtri(target)

    before = t - ndtri(target) * np.sqrt(1 + t**2 / (2 * df))
    now = before + 0.1
    miss_before = miss(before)
    for _ in range(30):
        miss_now = miss(now)
        step = now - before
        slope = (miss_now - miss_before) / np.where(step == 0, 1.0, step)
        before, miss_before = now, miss_now
        now = now - miss_now / np.where(slope < 0, slope, -1.0)
        # the secant method converges superlinearly: one more step would change 3e-16
        if np.all(np.abs(now - before) <= 1e-11 * (1 + np.abs(now))):
            break
    return now


def _noncentral_tail(t: np.ndarray, df: int, nc: np.ndarray, *, lower: bool) -> np.ndarray:
    """Return P(T <= t) or P(T > t) for T = (Z + nc) / S, by quadrature.

    The quadrature runs over S for small t and over Z for large t, where its variable is the wider.
    """
    tail = np.empty_like(t)
    small = np.abs(t) <= _largest_small_t(df)
    tail[small] = _tail_over_s(t[small], df, nc[small], lower=lower)
    # T < -t for nc is T > t for -nc
    for sign, where in ((1, ~small & (t > 0)), (-1, ~small & (t < 0))):
        below = lower if sign == 1 else not lower
        tail[where] = _tail_over_z(sign * t[where], df, sign * nc[where], lower=below)
    return tail


def _largest_small_t(df: int) -> float:
    # with very few datasets the density of S has a corner at 0, where quadrature over Z is inexact
    return max(np.sqrt(2 * df), 12.0 if df < 5 else 0.0)


def _tail_over_s(t: np.ndarray, df: int, nc: np.ndarray, *, lower: bool) -> np.ndarray:
    """Integrate over log S by the trapezoidal rule, between the 1e-15 quantiles of S.

    Four times as many steps change the ends of intervals by 1e-13; integrating between the 1e-30
    quantiles changes them by 5e-15.
    """
    from scipy.special import chdtri, gammaln, ndtr

    lowest, highest = 0.5 * np.log(chdtri(df, np.array([1 - 1e-15, 1e-15])) / df)
    step = min(0.3 / _largest_small_t(df), 0.1)
    log_s = np.arange(lowest, highest + step, step)[:, None]
    log_weight = df * log_s - 0.5 * df * np.exp(2 * log_s)
    log_weight += 0.5 * df * np.log(df / 2) - gammaln(df / 2) + np.log(2 * step)
    away = t * np.exp(log_s) - nc
    return (np.exp(log_weight) * ndtr(away if lower else -away)).sum(axis=0)


def _tail_over_z(t: np.ndarray, df: int, nc: np.ndarray, *, lower: bool) -> np.ndarray:
    """Integrate over Z by Gauss-Legendre quadrature, from the corner of the integrand at S = 0.

    It has 80 nodes up to Z = 9, beyond which is 1e-19 of the mass. Twice as many nodes change the
    result by 1e-14.
    """
    from scipy.special import chdtr, chdtrc, ndtr

    nodes, weights = _legendre(80)
    start = np.clip(-nc, -9.0, 9.0)
    half = (9 - start) / 2
    z = start + half * (nodes[:, None] + 1)
    s = np.maximum((z + nc) / t, 0.0)
    tail = (chdtrc if lower else chdtr)(df, df * s**2)
    above = half * (weights[:, None] * np.exp(-0.5 * z**2) * tail).sum(axis=0) / np.sqrt(2 * np.pi)
    return above + ndtr(-nc) if lower else above


@lru_cache(maxsize=4)
def _legendre(n: int) -> tuple[np.ndarray, np.ndarray]:
    return np.polynomial.legendre.leggauss(n)


def share_better(d: np.ndarray, confidence: float = 0.95) -> Effect:
    """Return the share of datasets where the first is better; ties count one half.

    It estimates P(better) + P(tie) / 2. The interval is Wilson's. Its sample size is the one at
    which the binomial variance equals the observed variance, which ties make smaller; without ties
    it is N.

    Examples
    --------
    >>> share_better(np.array([[-1.0], [-2.0], [0.0], [3.0]])).value
    array([0.625])
    """
    wins = np.where(d < 0, 1.0, np.where(d == 0, 0.5, 0.0))
    share = wins.mean(axis=0)
    n = effective_n(share, wins.var(axis=0) / len(d), len(d))
    return Effect(share, *wilson(share, n, confidence), WILSON, neutral=0.5)


def effective_n(share: np.ndarray, variance: np.ndarray, n: np.ndarray | float) -> np.ndarray:
    """Return the number of trials whose binomial share has this variance, or ``n``."""
    informative = (variance > 1e-15) & (share > 0) & (share < 1)
    return np.where(informative, share * (1 - share) / np.where(informative, variance, 1), n)
