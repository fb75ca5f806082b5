"""Effect sizes of paired differences, with their intervals, for many pairs at once.

Each function takes differences ``d`` of shape (N, P), one row for each dataset and one column for
each pair, and returns an `Effect` of arrays of shape (P,). A difference is the loss of the first
strategy minus the loss of the second: below 0 the first is better.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple, Self

import numpy as np

from mlaut.analysis.common.blocks import MANY, in_blocks
from mlaut.analysis.common.numerics import student_quantile, wilson

NONCENTRAL = "noncentral t"
WILSON = "Wilson, effective sample size"
_MANY = 1000  # degrees of freedom


class Effect(NamedTuple):
    """Effect sizes and the ends of their intervals, shape (P,) each, and the interval's method."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    method: str
    neutral: float = 0.0

    @classmethod
    def point(cls, value: np.ndarray, neutral: float = 0.0) -> Self:
        """Return effects without intervals: their ends are NaN."""
        none = np.full_like(value, np.nan, dtype=float)
        return cls(value, none, none, "", neutral)

    @classmethod
    def around(cls, value: np.ndarray, half: np.ndarray | float, method: str) -> Self:
        """Return effects with the half width of their intervals."""
        return cls(value, value - half, value + half, method)

    @property
    def towards_worse(self) -> np.ndarray:
        """Direction of the effects: below 0 where the first strategy is better, else above 0."""
        return self.neutral - self.value if self.neutral else self.value

    def turned(self) -> Self:
        """Return the effects of the second strategies against the first."""
        value, low, high = (2 * self.neutral - x for x in (self.value, self.high, self.low))
        return self._replace(value=value, low=low, high=high)

    def within(self, span: float) -> Self:
        """Return the effects with intervals cut at the largest possible differences.

        The true difference is never beyond these limits, so the cut intervals cover it as often.

        Parameters
        ----------
        span : float
            Largest possible absolute difference.
        """
        return self._replace(low=np.maximum(self.low, -span), high=np.minimum(self.high, span))


@dataclass(frozen=True)
class LateEffect:
    """Effect that takes long, and is computed when one of its numbers is asked for."""

    compute: Callable[[], Effect]
    method: str
    value: Callable[[], np.ndarray] | None = None  # where the interval alone takes long

    @cached_property
    def made(self) -> Effect:
        """The effect."""
        return self.compute()


@in_blocks
def mean_difference(d: np.ndarray, confidence: float = 0.95) -> Effect:
    """Return the mean difference with Student's t interval (MLaut 2019, Table 6: raw effect).

    Examples
    --------
    >>> mean_difference(np.array([[1.0], [2.0], [3.0]])).low.round(4)
    array([-0.4841])
    """
    n = len(d)
    mean = d.mean(axis=0)
    half = student_quantile(n - 1, confidence) * d.std(axis=0, ddof=1) / np.sqrt(n)
    return Effect.around(mean, half, "Student's t")


@partial(in_blocks, times=MANY)
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
    n, (value, varies) = len(d), cohens_value(d)
    low, high = np.full_like(value, np.nan), np.full_like(value, np.nan)
    t, tail = value[varies] * np.sqrt(n), (1 - confidence) / 2
    low[varies] = -_noncentrality(-t, n - 1, tail) / np.sqrt(n)
    high[varies] = _noncentrality(t, n - 1, tail) / np.sqrt(n)
    return Effect(value, low, high, NONCENTRAL)


@in_blocks
def cohens_value(d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return Cohen's d of each pair, and whether its differences vary."""
    mean, sd = d.mean(axis=0), d.std(axis=0, ddof=1)
    varies = sd > 1e-14 * np.abs(mean)
    value = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
    np.divide(mean, sd, out=value, where=varies)
    return value, varies


def _noncentrality(t: np.ndarray, df: int, tail: float) -> np.ndarray:
    """Solve ``P(T <= t) = tail`` for the noncentrality of a t distribution."""
    from scipy.optimize.elementwise import find_root
    from scipy.special import chdtri, ndtri

    # T = (Z + nc) / S. Neither Z nor S leaves these ranges but with probability tail / 4, so the
    # root is between the ends.
    far = tail / 4
    ends = np.sort(np.sqrt(chdtri(df, np.array([[1 - far], [far]])) / df) * t, axis=0)
    bracket = (ends[0] + ndtri(far), ends[1] - ndtri(far))
    return np.asarray(
        find_root(lambda nc, t: _noncentral_t(t, df, nc) - tail, bracket, args=(t,)).x
    )


def _noncentral_t(t: np.ndarray, df: int, nc: np.ndarray) -> np.ndarray:
    """Return P(T <= t) of the noncentral t distribution by Owen's finite sum (1968).

    scipy's function is wrong in the fifth digit for one degree of freedom. With many, both agree in
    eight digits, and the first terms of the sum may be too small for a number.
    """
    from scipy.special import nctdtr, ndtr, owens_t

    if df > _MANY:
        return np.asarray(nctdtr(df, nc, t))
    a, b = t / np.sqrt(df), df / (df + t**2)
    root = nc * np.sqrt(b)
    before = a * np.sqrt(b) * _density(root) * ndtr(a * root)
    now = b * (nc * a * before + a / np.sqrt(2 * np.pi) * _density(nc))
    sums = [before * (df > 1), now * (df > 2)]  # of the even and of the odd terms
    weight, slope = 1.0, nc * a
    for k in range(2, df - 1):
        before, now = now, (k - 1) / k * b * (weight * slope * now + before)
        weight = 1 / ((k - 1) * weight)
        sums[k % 2] += now
    if df % 2:
        return ndtr(-root) + 2 * owens_t(root, a) + 2 * sums[1]
    return ndtr(-nc) + np.sqrt(2 * np.pi) * sums[0]


def _density(x: np.ndarray) -> np.ndarray:
    return np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)


@in_blocks
def share_better(d: np.ndarray, confidence: float = 0.95) -> Effect:
    """Return the share of datasets where the first is better; ties count one half.

    The share estimates P(better) + P(tie) / 2. The interval is Wilson's. Its sample size is chosen
    so that the binomial variance equals the observed variance, which is smaller with ties; without
    ties the sample size is N.

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
    """Return the number of trials whose binomial share has this variance, or ``n`` if none has."""
    informative = (variance > 1e-15) & (share > 0) & (share < 1)
    return np.where(informative, share * (1 - share) / np.where(informative, variance, 1), n)
