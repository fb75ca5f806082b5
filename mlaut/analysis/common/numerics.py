"""Exact tail probabilities, rounding noise and intervals that several tests share."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from mlaut.helpers.lazy import pd

RELATIVE_NOISE = 1e-10
"""Largest relative difference of two means that is taken for rounding noise.

The rounding error of a sum of a million numbers is at most 1e-10 of the sum, and far less in
practice. Scores that differ in the tenth digit still count as different.
"""
SINGLE_NOISE = 1e-6
"""The same for scores of single precision, which have seven digits."""
EXACT_UP_TO = 300  # ranks: beyond, quantiles of the signed rank test use the normal approximation


def snap(values: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return differences without rounding noise: nearly equal sizes in a column become equal.

    Losses are means of many numbers, so two equal losses can differ in the last bits, which would
    break ties and zeros. Differences within the noise of 0 become 0, and absolute values that
    differ by less than the noise become equal. The noise of a difference is `RELATIVE_NOISE` times
    ``scale``. No value changes by more than its own noise, however large the others are.

    Parameters
    ----------
    values : ndarray, shape (n, P)
        The differences.
    scale : ndarray, shape (n, P)
        Size of the two numbers whose difference each value is.

    Examples
    --------
    >>> d = np.array([[0.3 - 0.2], [0.2 - 0.1], [1e-17]])
    >>> snap(d, np.full((3, 1), 0.3)).ravel().tolist()
    [0.09999999999999998, 0.09999999999999998, 0.0]
    """
    size, noise = np.abs(values), RELATIVE_NOISE * np.abs(scale)
    return np.copysign(equalised(np.where(size <= noise, 0.0, size), noise), values) + 0.0


def equalised(values: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return values; those of a column that differ by less than their noise are made equal.

    Values are visited from the smallest to the largest. A value becomes equal to the first of the
    current group if their distance is within the noise of both; otherwise it starts a new group.
    NaN equals nothing and stays NaN.

    Parameters
    ----------
    values, noise : ndarray, shape (n, P)
        Values, and the noise of each.

    Examples
    --------
    >>> noise = np.array([[0.1], [0.1], [3.0], [0.1]])
    >>> equalised(np.array([[2.0], [2.05], [5.0], [5.2]]), noise).ravel().tolist()
    [2.0, 2.0, 5.0, 5.2]
    """
    columns, noise = (np.ascontiguousarray(x.T) for x in (values, noise))
    order = np.argsort(columns, axis=-1, kind="stable")
    ordered, noise = (np.take_along_axis(x, order, axis=-1) for x in (columns, noise))
    near = np.diff(ordered, axis=-1) <= noise[..., 1:]  # a value that is not begins a group
    if not (near & (ordered[..., 1:] > ordered[..., :-1])).any():
        return values
    grouped = np.empty_like(ordered)
    np.put_along_axis(grouped, order, _grouped(ordered, noise, near), axis=-1)
    return np.ascontiguousarray(grouped.T)


def _grouped(ordered: np.ndarray, noise: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Return sorted rows with the first value of each group in place of all its values.

    ``near`` says for each value after the first whether it can belong to the group of the value
    before it. The chains of such values are followed in all rows at the same time.
    """
    begins = np.ones(ordered.shape, dtype=bool)
    begins[..., 1:] = ~near
    starts = np.flatnonzero(begins)
    values, noise = ordered.flatten(), noise.ravel()
    lengths = np.diff(starts, append=len(values))
    differ = np.flatnonzero(values[starts] < values[starts + lengths - 1])
    differ = differ[np.argsort(-lengths[differ], kind="stable")]
    at, lengths = starts[differ], lengths[differ]
    first, allowed = values[at], noise[at]
    for step in range(1, lengths[0]):
        left = np.searchsorted(-lengths, -step)  # chains that are longer
        at, first, allowed = at[:left] + 1, first[:left], allowed[:left]
        apart = np.invert(values[at] - first <= np.minimum(noise[at], allowed))
        first = np.where(apart, values[at], first)
        allowed = np.where(apart, noise[at], allowed)
        values[at] = first
    return values.reshape(ordered.shape)


def ranked(values: np.ndarray) -> np.ndarray:
    """Return the ranks within each column from 1 upwards; ties share the mean of their ranks.

    Parameters
    ----------
    values : ndarray, shape (n, P)
        NaN gets no rank and takes none.

    Examples
    --------
    >>> ranked(np.array([[3.0], [1.0], [3.0], [np.nan]])).ravel().tolist()
    [2.5, 1.0, 2.5, nan]
    """
    return pd.DataFrame(values).rank().to_numpy()


def rank_losses(losses: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return the ranks within each row from 1 (the smallest loss); ties share their mean rank.

    Every rank of strategies comes from here. Losses are tied if they differ by rounding noise
    (`equalised`); NaN gets no rank and takes none.

    Parameters
    ----------
    losses, size : ndarray, shape (N, K)
        Losses, and the size of the numbers that each was computed from.

    Examples
    --------
    >>> losses = np.array([[0.1 + 0.2, 0.3, np.nan, 0.1]])
    >>> rank_losses(losses, np.abs(losses)).tolist()
    [[2.5, 2.5, nan, 1.0]]
    """
    return ranked(equalised(losses.T, RELATIVE_NOISE * size.T)).T


def signed_rank_cdf(ranks: np.ndarray, statistic: float) -> float:
    """Return P(W <= statistic), where W sums the ``ranks`` with a positive sign, each with P = 1/2.

    The result is exact for whole and half ranks (ties): doubled ranks are whole numbers. Only the
    requested tail is counted, and its terms are all positive, so it keeps its relative precision.

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
    """Return P(W <= w) for w = 0, 1, ... and the ranks 1 to ``n`` without ties."""
    return np.cumsum(_signed_sum(np.arange(1, n + 1), n * (n + 1) // 2))


def signed_rank_ppf(n: int, tail: float) -> int:
    """Return the largest w with P(W <= w) <= ``tail``, or -1 if there is none.

    W sums the ranks 1 to ``n`` that have a positive sign. For more than 300 ranks the normal
    approximation is used.

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
    """Return P(sum = s) for s = 0 to ``limit``; each rank is in the sum with probability 1/2."""
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
        before *= 0.5 ** len(part)  # every 512 ranks, since the number of ways would overflow
    return before


def trinomial_sf(net: np.ndarray, n: int, tied: np.ndarray) -> np.ndarray:
    """Return P(wins - losses >= net) when wins and losses are equally likely.

    Parameters
    ----------
    net : ndarray of int, shape (P,)
        Wins minus losses.
    n : int
        Number of comparisons, including ties.
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
    tied, group = np.unique(tied, return_inverse=True)
    weight = np.exp(log_ways + xlogy(ties, tied[:, None]) + xlog1py(n - ties, -tied[:, None]))
    # given the number of ties, the wins among the other comparisons are binomial
    others = n - ties
    net, place = np.unique(net, return_inverse=True)  # few, beside the pairs
    wins = np.ceil((others + net[:, None]) / 2)
    tail = np.where(wins <= 0, 1.0, bdtrc(np.maximum(wins - 1, 0), others, 0.5))
    tail = np.where(wins > others, 0.0, tail)
    sums = np.stack([(tail * of_group).sum(axis=1) for of_group in weight])
    return np.minimum(sums[group, place], 1.0)


@lru_cache(maxsize=256)
def range_ppf(alpha: float, groups: int) -> float:
    """Return the q that the range of ``groups`` standard normals exceeds with probability alpha.

    Examples
    --------
    >>> round(range_ppf(0.05, 4) / 2**0.5, 6)
    2.569032
    """
    low, high = 0.0, 64.0  # no double is as small as the probability of 64
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if range_sf([middle], groups)[0] > alpha else (low, middle)
    return high


def range_sf(values: Sequence[float] | np.ndarray, groups: int) -> np.ndarray:
    """Return P(range of ``groups`` standard normals > value), to 14 decimals.

    The probability is an integral over the largest normal. The trapezoidal rule is so exact here
    because the integrand vanishes smoothly at both ends. scipy.stats takes long to import.

    Examples
    --------
    >>> range_sf([3.314493, 0], 3).round(6)
    array([0.05, 1.  ])
    """
    from scipy.special import ndtr

    largest, step = np.linspace(-9, 12, 421, retstep=True)
    below = ndtr(largest)
    weight = groups * step * np.exp(-(largest**2) / 2) / np.sqrt(2 * np.pi)
    whole = below ** (groups - 1)
    values, place = np.unique(values, return_inverse=True)  # few, beside the pairs
    parts = np.split(values[:, None], range(1024, len(values), 1024))  # 3 MB of nodes at a time
    above = [(whole - (below - ndtr(largest - x)) ** (groups - 1)) @ weight for x in parts]
    return np.clip(np.concatenate(above), 0.0, 1.0)[place]


def student_quantile(df: float, confidence: float) -> float:
    """Return the quantile of Student's t for a two-sided interval.

    Examples
    --------
    >>> round(student_quantile(9, 0.95), 4)
    2.2622
    """
    from scipy.special import stdtrit

    return float(stdtrit(df, 0.5 + confidence / 2))


def wilson(share: np.ndarray, n: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Return Wilson's interval of a probability from its share in ``n`` independent trials.

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
    """Return the ends of the interval ``value`` plus and minus ``half``, adapted to a range.

    A mean near an end of its range has a small variance because it is near that end. So the
    interval holds each truth x whose distance from the value is at most ``half * sqrt(V(x) /
    V(value))``. V(x) is the product of the distances of x from both ends of the range, or its
    distance from the only finite end. For a share this is Wilson's interval.

    Parameters
    ----------
    value, half : ndarray of the same shape
        Means and half widths. An infinite or NaN half width stays so.
    bounds : (float, float)
        Range of the mean. Without a finite end the interval is ``value`` plus and minus ``half``.
    at_an_end : ndarray or float, default 0
        Replacement of ``half**2 / V(value)`` for a value at an end of a range with two ends. All
        numbers of that mean are at the same end and show no variance. With the variance of zeros
        and ones, the largest possible, it is the squared quantile divided by their number.

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
        return np.minimum(low, value), np.maximum(high, value)  # corrects rounding only
    distance = value - lower if np.isfinite(lower) else upper - value
    squared = np.where(distance > 0, half**2 / np.where(distance > 0, distance, 1.0), 0.0)
    root = np.sqrt(squared * (distance + squared / 4))
    far = distance + squared / 2 + root
    near = distance**2 / np.where(far > 0, far, 1.0)
    low, high = (lower + near, lower + far) if np.isfinite(lower) else (upper - far, upper - near)
    return np.minimum(low, value), np.maximum(high, value)
