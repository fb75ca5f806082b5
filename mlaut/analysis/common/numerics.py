"""Exact tails and other numbers that the tests share: arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

__all__ = [
    "bounded_ends",
    "equalised",
    "range_ppf",
    "range_sf",
    "signed_rank_cdf",
    "signed_rank_ppf",
    "snap",
    "tie_free_cdf",
    "trinomial_sf",
    "wilson",
]

RELATIVE_NOISE = 1e-10
"""Means that differ by less, relative to the numbers they came from, are equal but for rounding.

The sum of a million numbers can be wrong by 1e-10 of itself, and is in practice by far less; scores
that differ in the tenth digit still count as different.
"""
EXACT_UP_TO = 300


def snap(values: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Make differences equal, down each column, whose sizes differ by rounding noise alone.

    Losses are means of many numbers, so two that are equal in truth can differ in the last bits;
    that would break ties and zeros. Differences near 0 become 0, and sizes that agree become the
    same, where "near" is `RELATIVE_NOISE` of the numbers that each difference was taken of. No
    value moves by more than its own noise, however large the others are.

    Parameters
    ----------
    values : ndarray, shape (n, P)
    scale : ndarray, shape (n, P)
        Size of the numbers that each value is a difference of.

    Examples
    --------
    >>> d = np.array([[0.3 - 0.2], [0.2 - 0.1], [1e-17]])
    >>> snap(d, np.full((3, 1), 0.3)).ravel().tolist()
    [0.09999999999999998, 0.09999999999999998, 0.0]
    """
    size, noise = np.abs(values), RELATIVE_NOISE * np.abs(scale)
    return np.copysign(equalised(np.where(size <= noise, 0.0, size), noise), values) + 0.0


def equalised(values: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Make values equal, down each column, that agree within the noise of both.

    From the smallest on, each value becomes the first of a group where both allow it, and starts a
    group of its own where one does not.

    Parameters
    ----------
    values, noise : ndarray, shape (n, P)

    Examples
    --------
    >>> noise = np.array([[0.1], [0.1], [3.0], [0.1]])
    >>> equalised(np.array([[2.0], [2.05], [5.0], [5.2]]), noise).ravel().tolist()
    [2.0, 2.0, 5.0, 5.2]
    """
    order = np.argsort(values, axis=0, kind="stable")
    ordered, noise = (np.take_along_axis(x, order, axis=0) for x in (values, noise))
    gap = np.diff(ordered, axis=0)
    if not ((gap > 0) & (gap <= np.minimum(noise[1:], noise[:-1]))).any():
        return values
    first, allowed = ordered[0], noise[0]
    for row in range(1, len(ordered)):
        apart = ordered[row] - first > np.minimum(noise[row], allowed)
        first = np.where(apart, ordered[row], first)
        allowed = np.where(apart, noise[row], allowed)
        ordered[row] = first
    grouped = np.empty_like(ordered)
    np.put_along_axis(grouped, order, ordered, axis=0)
    return grouped


def signed_rank_cdf(ranks: np.ndarray, statistic: float) -> float:
    """Return P(W <= statistic), W the sum of ``ranks`` that get a positive sign by fair coins.

    Exact for any ranks with halves (ties), by counting over doubled ranks; only the tail that is
    asked for is counted, and sums of positive terms keep its relative precision.

    Examples
    --------
    >>> signed_rank_cdf(np.arange(1.0, 4.0), 1.0)
    0.25
    """
    doubled = np.sort(np.rint(2 * np.asarray(ranks)).astype(int))
    limit = int(np.floor(2 * statistic + 1e-9))
    if limit < 0:
        return 0.0
    if limit >= doubled.sum():
        return 1.0
    if limit > doubled.sum() // 2:
        return 1.0 - signed_rank_cdf(ranks, (doubled.sum() - limit - 1) / 2)
    if np.array_equal(doubled, 2 * np.arange(1, len(doubled) + 1)):
        return float(tie_free_cdf(len(doubled))[limit // 2])
    return float(_signed_sum(doubled, limit).sum())


@lru_cache(maxsize=64)
def tie_free_cdf(n: int) -> np.ndarray:
    """P(W <= w) for w from 0, without ties."""
    return np.cumsum(_signed_sum(np.arange(1, n + 1), n * (n + 1) // 2))


def signed_rank_ppf(n: int, tail: float) -> int:
    """Return the largest w with P(W <= w) <= ``tail`` for ``n`` ranks without ties; -1 for none.

    Beyond 300 by the normal approximation.

    Examples
    --------
    >>> signed_rank_ppf(10, 0.025), signed_rank_ppf(4, 0.025)
    (8, -1)
    """
    if n <= EXACT_UP_TO:
        return int(np.searchsorted(tie_free_cdf(n), tail * (1 + 1e-12), side="right")) - 1
    from scipy.special import ndtri

    mean, variance = n * (n + 1) / 4, n * (n + 1) * (2 * n + 1) / 24
    return int(np.floor(mean - 0.5 + ndtri(tail) * np.sqrt(variance)))


def _signed_sum(ranks: np.ndarray, limit: int) -> np.ndarray:
    """P(sum = s) for s = 0 to ``limit``, of ranks that each count or not by a fair coin."""
    before, after = np.zeros((2, limit + 1))
    before[0], top = 1.0, 0
    for start in range(0, len(ranks), 512):
        part = ranks[start : start + 512].tolist()
        for rank in part:
            top = min(top + rank, limit)
            if rank <= top:
                after[:rank] = before[:rank]
                np.add(before[rank : top + 1], before[: top + 1 - rank], out=after[rank : top + 1])
                before, after = after, before
        before *= 0.5 ** len(part)  # in parts, since the number of ways would overflow
    return before


def trinomial_sf(net: np.ndarray, n: int, tied: np.ndarray) -> np.ndarray:
    """Return P(wins - losses >= net) when wins and losses are equally likely.

    Parameters
    ----------
    net : ndarray of int, shape (P,)
    n : int
        Number of comparisons, ties among them.
    tied : ndarray, shape (P,)
        Probability of a tie.

    Examples
    --------
    >>> trinomial_sf(np.array([4]), 14, np.array([10 / 14])).round(7)
    array([0.0386131])
    """
    from scipy.special import bdtrc, gammaln, xlog1py, xlogy

    ties = np.arange(n + 1) if np.any(tied > 0) else np.zeros(1, dtype=int)
    log_ways = gammaln(n + 1) - gammaln(ties + 1) - gammaln(n - ties + 1)
    log_weight = log_ways + xlogy(ties, tied[:, None]) + xlog1py(n - ties, -tied[:, None])
    # given the ties, wins are binomial among the others
    others = n - ties
    wins = np.ceil((others + net[:, None]) / 2)
    tail = np.where(wins <= 0, 1.0, bdtrc(np.maximum(wins - 1, 0), others, 0.5))
    tail = np.where(wins > others, 0.0, tail)
    return np.minimum((np.exp(log_weight) * tail).sum(axis=1), 1.0)


def range_sf(q: np.ndarray, groups: int) -> np.ndarray:
    """Return P(range of ``groups`` standard normals > q): the studentized range at infinite df.

    The integrand is a difference of two powers taken without cancellation, so that tails keep
    their relative precision down to the smallest numbers.

    Examples
    --------
    >>> range_sf(np.sqrt(2) * np.array([1.959963984540054]), 2).round(12)
    array([0.05])
    """
    from scipy.special import log_ndtr

    chunks = np.array_split(np.asarray(q, dtype=float), len(q) // 64 + 1)
    return np.concatenate([_range_tail(chunk, groups, log_ndtr) for chunk in chunks])


def _range_tail(q: np.ndarray, groups: int, log_ndtr: Callable) -> np.ndarray:
    # x is the largest of the normals; a quarter of the step changes 1e-14 (1e-12 of 1,000 groups),
    # as rounding does, and wider ends than 9, beyond which is 1e-19 of the mass, nothing
    step = 1 / 8
    x = np.arange(-9.0, float(np.max(q, initial=0.0)) + 9.0, step)[:, None]
    below = log_ndtr(x)
    with np.errstate(under="ignore"):
        far = np.exp(np.minimum(log_ndtr(x - q) - below, -1e-300))
        log_density = -0.5 * x**2 - 0.5 * np.log(2 * np.pi) + (groups - 1) * below
        lost = -np.expm1((groups - 1) * np.log1p(-np.minimum(far, 1 - 1e-16)))
        return np.minimum(groups * step * (np.exp(log_density) * lost).sum(axis=0), 1.0)


@lru_cache(maxsize=256)
def range_ppf(alpha: float, groups: int) -> float:
    """Return the q that the range of ``groups`` standard normals passes with probability alpha.

    Examples
    --------
    >>> round(range_ppf(0.05, 4) / 2**0.5, 6)
    2.569032
    """
    from scipy.optimize import brentq

    return float(brentq(lambda q: range_sf(np.array([q]), groups)[0] - alpha, 0, 60, xtol=1e-12))


def wilson(share: np.ndarray, n: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Return Wilson's interval of a probability that was estimated from ``n`` independent trials.

    Examples
    --------
    >>> low, high = wilson(np.array([0.0]), np.array([100]), 0.95)
    >>> low.tolist(), high.round(6).tolist()
    ([0.0], [0.036993])
    """
    from scipy.special import ndtri

    squared = ndtri(0.5 + confidence / 2) ** 2 / np.asarray(n, dtype=float)
    share = np.clip(share, 0.0, 1.0)
    return _lower_end(share, squared), 1 - _lower_end(1 - share, squared)


def _lower_end(share: np.ndarray, squared: np.ndarray) -> np.ndarray:
    """Solve ``(share - x)^2 = squared x (1 - x)`` for the smaller x, without cancellation."""
    root = np.sqrt(squared * (share * (1 - share) + squared / 4))
    return share**2 / np.where(share > 0, share + squared / 2 + root, 1.0)


def bounded_ends(
    value: np.ndarray,
    half: np.ndarray,
    bounds: tuple[float, float],
    at_an_end: np.ndarray | float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Turn the interval ``value`` plus and minus ``half`` into one that stays in a range.

    The variance of a mean near an end of its range is small because it is near. So the interval
    holds each truth x whose distance from the value is at most ``half`` times the root of V(x) /
    V(value), where V(x) is the distance of x from the lower end times that from the upper end, or
    from the one end that there is. For a share this is Wilson's interval.

    Parameters
    ----------
    value, half : ndarray of the same shape
        A half that is infinite or NaN stays so.
    bounds : (float, float)
        Without a finite end the interval is ``value`` plus and minus ``half``.
    at_an_end : ndarray or float, default 0
        What ``half**2 / V(value)`` is for a value at an end of a range with two ends, where all
        that it is a mean of is at that end too and shows no variance. With the variance of zeros
        and ones, the largest there is, it is the squared quantile over their number.

    Examples
    --------
    >>> low, high = bounded_ends(np.array([0.05, 0.5]), np.array([0.1, 0.1]), (0, 1))
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0083, 0.4019], [0.2482, 0.5981])
    >>> bounded_ends(np.array([2.0]), np.array([3.0]), (0, np.inf))[0].round(4)
    array([0.5])
    """
    lower, upper = bounds
    if np.isneginf(lower) and np.isposinf(upper):
        return value - half, value + half
    value = np.clip(value, lower, upper)
    if np.isfinite(lower) and np.isfinite(upper):
        width = upper - lower
        share = (value - lower) / width
        spread = share * (1 - share)
        inside = spread > 0
        squared = np.where(inside, (half / width) ** 2 / np.where(inside, spread, 1.0), at_an_end)
        below, above = _lower_end(share, squared), _lower_end(1 - share, squared)
        low, high = lower + width * below, upper - width * above
        return np.minimum(low, value), np.maximum(high, value)  # but for rounding they are so
    distance = value - lower if np.isfinite(lower) else upper - value
    squared = np.where(distance > 0, half**2 / np.where(distance > 0, distance, 1.0), 0.0)
    root = np.sqrt(squared * (distance + squared / 4))
    far = distance + squared / 2 + root
    near = distance**2 / np.where(far > 0, far, 1.0)
    low, high = (lower + near, lower + far) if np.isfinite(lower) else (upper - far, upper - near)
    return np.minimum(low, value), np.maximum(high, value)
