"""Wilcoxon's signed ranks: statistics, exact tails with ties and zeros, effect sizes.

Differences have shape (N, P), one column for each pair; results are arrays of shape (P,).
"""

from functools import partial
from typing import NamedTuple, Self

import numpy as np

from mlaut.analysis.common.arguments import one_of
from mlaut.analysis.common.blocks import MANY, in_blocks
from mlaut.analysis.common.numerics import (
    EXACT_UP_TO,
    ranked,
    signed_rank_ppf,
    tie_free_cdf,
    wilson,
)
from mlaut.analysis.pairwise.effects import WILSON, Effect, effective_n
from mlaut.analysis.pairwise.rank_tails import signed_rank_tails

ZERO_RULES = {
    "wilcox": "zeros dropped before ranking",
    "pratt": "zeros ranked, then dropped",
    "zsplit": "zeros ranked and shared by both sides, one dropped if their number is odd",
}


class SignedRanks(NamedTuple):
    """Ranks of the absolute differences, and their sums by sign.

    Attributes
    ----------
    ranks : ndarray, shape (N, P)
        Ranks whose sign is random under the null hypothesis; 0 for differences left out.
    plus, minus : ndarray, shape (P,)
        Sums of the ranks of positive and of negative differences.
    sizes : ndarray, shape (N, P)
        Ranks of all absolute differences, before a zero rule.
    """

    ranks: np.ndarray
    plus: np.ndarray
    minus: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of(cls, d: np.ndarray, zeros: str = "wilcox") -> Self:
        """Rank differences; ``zeros`` is a key of `ZERO_RULES`.

        Examples
        --------
        >>> SignedRanks.of(np.array([[0.0], [1.0], [-2.0], [2.0]]), "pratt").plus
        array([5.5])
        """
        one_of("the zero rule", zeros, ZERO_RULES)
        zero = d == 0
        n_zero = zero.sum(axis=0)
        ranks = sizes = ranked(np.abs(d))
        if zeros == "wilcox":
            ranks = ranks - n_zero
        if zeros == "zsplit":
            odd = n_zero % 2
            ranks = np.where(zero, (n_zero - odd + 1) / 2, ranks - odd)
            ranks[np.argmax(zero, axis=0)[odd == 1], np.flatnonzero(odd)] = 0.0
        else:
            ranks = np.where(zero, 0.0, ranks)
        shared = np.where(zero, ranks, 0).sum(axis=0) / 2
        plus = np.where(d > 0, ranks, 0).sum(axis=0) + shared
        minus = np.where(d < 0, ranks, 0).sum(axis=0) + shared
        return cls(ranks, plus, minus, sizes)


def signed_rank_p(signed: SignedRanks, side: str, method: str = "auto") -> np.ndarray:
    """Return the p-values of the signed rank test, shape (P,).

    Parameters
    ----------
    signed : SignedRanks
    side : {"two-sided", "less", "greater"}
        Alternative hypothesis; ``"less"``: the differences tend to be below 0.
    method : {"auto", "exact", "normal"}, default "auto"
        ``"exact"``: the distribution over all signs, given the ranks with their ties and zeros.
        ``"normal"``: the normal approximation with the variance of these ranks. ``"auto"``: exact
        up to 300 differences, normal beyond.
    """
    one_of("method", method, ("auto", "exact", "normal"))
    if side == "two-sided":
        lower, factor = np.minimum(signed.plus, signed.minus), 2.0
    else:
        lower, factor = (signed.plus if side == "less" else signed.minus), 1.0
    if method == "normal" or (method == "auto" and len(signed.ranks) > EXACT_UP_TO):
        p = _normal_tail(signed.ranks, lower)
    else:
        p = _exact_tail(signed.ranks, lower)
    return np.minimum(factor * p, 1.0)


def _exact_tail(ranks: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """Return exact tails over all signs; columns with the ranks 1 to N share one computation."""
    n = len(ranks)
    plain = (np.sort(ranks, axis=0) == np.arange(1.0, n + 1)[:, None]).all(axis=0)
    p = np.empty(len(lower))
    p[plain] = tie_free_cdf(n)[lower[plain].astype(int)]
    p[~plain] = signed_rank_tails(ranks[:, ~plain], lower[~plain])
    return p


def _normal_tail(ranks: np.ndarray, lower: np.ndarray) -> np.ndarray:
    from scipy.special import ndtr

    mean, sd = ranks.sum(axis=0) / 2, np.sqrt(np.square(ranks).sum(axis=0)) / 2
    return np.where(sd > 0, ndtr((lower - mean) / np.where(sd > 0, sd, 1)), 1.0)


def rank_biserial(d: np.ndarray, signed: SignedRanks, confidence: float = 0.95) -> Effect:
    """Return the rank-biserial correlation (W+ - W-) / (W+ + W-) (MLaut 2019, Table 6).

    The zero rule is that of ``signed``. If all differences are 0, r is 0. The interval is Wilson's
    for the share ``(1 + r) / 2``, with the sample size that fits the variance of this U-statistic.
    """
    total = signed.plus + signed.minus
    r = (signed.plus - signed.minus) / np.where(total > 0, total, 1)
    n = (signed.ranks > 0).sum(axis=0)
    variance = _placement_variance(d, signed)
    variance *= (n * (n + 1) / np.where(total > 0, 2 * total, 1)) ** 2
    share = (1 + r) / 2
    trials = np.minimum(effective_n(share, variance / 4, n), n)
    low, high = wilson(share, np.maximum(trials, 1), confidence)
    low, high = np.where(total > 0, low, 0.0), np.where(total > 0, high, 1.0)
    return Effect(r, 2 * low - 1, 2 * high - 1, WILSON)


def _placement_variance(d: np.ndarray, signed: SignedRanks) -> np.ndarray:
    """Return the variance, from placements, of the mean sign of sums of two differences."""
    kept = signed.ranks > 0
    n, size = kept.sum(axis=0), len(d)
    # how many differences are below -x: the rank of x has those below x, the rank of |x| the rest
    own = np.where(d > 0, signed.sizes, np.where(d < 0, 1 - signed.sizes, 0.5))
    below = ranked(d) - own
    # differences left out are 0; a sum with one would have the sign of the other difference
    net = size - 2 * below - (size - n) * np.sign(d)
    placement = np.where(kept, (net - np.sign(d)) / np.maximum(n - 1, 1), 0.0)
    mean = placement.sum(axis=0) / np.maximum(n, 1)
    squares = np.where(kept, np.square(placement - mean), 0.0).sum(axis=0)
    return np.where(n > 1, 4 * squares / np.maximum(n - 1, 1) / np.maximum(n, 1), 0.0)


@partial(in_blocks, times=MANY)
def hodges_lehmann(d: np.ndarray, confidence: float = 0.95) -> Effect:
    """Return the median of all means of two differences, zeros included, with its interval.

    The interval inverts the signed rank test without ties. With too few datasets it is infinite.

    Examples
    --------
    >>> hodges_lehmann(np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]))[:3]
    (array([3.5]), array([1.]), array([6.]))
    """
    n = len(d)
    n_means = n * (n + 1) // 2
    cut = signed_rank_ppf(n, (1 - confidence) / 2)
    places = [(n_means - 1) // 2, n_means // 2]
    places += [cut, n_means - 1 - cut] if cut >= 0 else []
    ordered = np.sort(d, axis=0)
    means = (_all_sums if n <= _FEW else _counted_sums)(ordered, places) / 2
    low, high = means[2:] if cut >= 0 else (np.full(d.shape[1], x) for x in (-np.inf, np.inf))
    return Effect(means[:2].mean(axis=0), low, high, INVERTED)


INVERTED = "inverted signed rank test"
_FEW = 500  # differences; the sums of more need too much memory
_HALVINGS = 64  # of the range of sums, down to the rounding of its ends


def _all_sums(ordered: np.ndarray, places: list[int]) -> np.ndarray:
    """Return the sums of two differences that have these places in their order.

    Parameters
    ----------
    ordered : ndarray, shape (N, P)
        Differences in order.
    places : list of int
        Places among the N (N + 1) / 2 sums, from 0.

    Returns
    -------
    ndarray, shape (places, P)
    """
    n = len(ordered)
    first, second = np.triu_indices(n)
    # of differences in order, so many means are surely not above, and not below, that of two
    under = (first + 1) * (2 * second + 2 - first) // 2
    over = (n - second) * (n + 1 - 2 * first + second) // 2
    most = max(places) + 1
    first, second = (x[(under <= most) & (over <= most)] for x in (first, second))
    at = np.array(places) - np.count_nonzero(over > most)
    found = np.empty((len(places), ordered.shape[1]))
    for column, x in enumerate(ordered.T):
        sums = x.take(first)
        sums += x.take(second)
        sums.partition(at)
        found[:, column] = sums.take(at)
    return found


def _counted_sums(ordered: np.ndarray, places: list[int]) -> np.ndarray:
    """Return the same as `_all_sums`, in memory of N numbers and a time of N log N.

    The sums up to a bound are counted without making them (Johnson & Mizoguchi 1978); the bound is
    halved until no difference is left, and the sum next to it is taken.
    """
    found = np.empty((len(places), ordered.shape[1]))
    for column, x in enumerate(np.ascontiguousarray(ordered.T)):
        for row, place in enumerate(places):
            low, high = 2 * x[0], 2 * x[-1]
            for _ in range(_HALVINGS):
                middle = low / 2 + high / 2
                pairs = np.searchsorted(x, middle - x, "right").sum()
                enough = (pairs + np.count_nonzero(2 * x <= middle)) // 2 > place
                low, high = (low, middle) if enough else (middle, high)
            at = np.searchsorted(x, high - x) + np.array([[-1], [0]])
            near = (x + x[np.clip(at, 0, len(x) - 1)]).ravel()
            found[row, column] = near[np.abs(near - high).argmin()]
    return found
