"""Numerical methods of the Bayesian sign and signed rank tests, on arrays.

The tests use a Dirichlet distribution over datasets, or over three regions: the first of two
strategies is better by more than a margin, the two are equivalent, the second is better.
"""

from collections.abc import Iterator
from functools import reduce

import numpy as np

from mlaut.analysis.common.numerics import RELATIVE_NOISE, equalised, ranked

DRAWS = 5000  # default of every sampled test: Monte Carlo error at most 0.007, and 0.003 near 0.95
_BLOCK = 1280  # draws at a time, of
TOGETHER = 32  # pairs of strategies: their sums stay in a cache
_WEIGHTS = 20_000_000  # in a block at most: 160 MB
_PART = 256  # draws that are made together: another number gives other draws for the same seed

_SURE = 0.504  # share of the pairs: above 1/2 by more than single precision loses
_LIKELY = 0.7  # share if all weights are equal: with less, hardly ever is it sure in all draws
_COLUMNS = 128  # at a time


def largest_component(alphas: np.ndarray) -> np.ndarray:
    """Compute the probability that each component of a Dirichlet distribution is the largest.

    Parameters
    ----------
    alphas : ndarray of float, shape (P, 3)
        Parameters of P distributions. None is negative, and at least one in each row is 1 or more.
        A component with parameter 0 is always 0.

    Returns
    -------
    ndarray of float, shape (P, 3)

    Notes
    -----
    The components are gamma variables divided by their sum. The probability is the integral of the
    density of one gamma variable times the distribution functions of the others. Over log x the
    logarithm of the integrand is concave, so the trapezoidal rule on a window around the peak is
    exact to 10 digits, even in far tails. Four times as many nodes, or a window down to e^-60 of
    the peak instead of e^-45, change the result by 3e-14.

    Examples
    --------
    >>> largest_component(np.array([[1.0, 1.0, 1.0], [4.0, 0.0, 2.0]])).round(4)
    array([[0.3333, 0.3333, 0.3333],
           [0.8125, 0.    , 0.1875]])
    """
    rows, place = np.unique(alphas, axis=0, return_inverse=True)
    ones = np.stack([_is_largest(np.roll(rows, -i, axis=1)) for i in range(3)], axis=1)
    return (ones / ones.sum(axis=1, keepdims=True))[place.reshape(-1)]


def _is_largest(alphas: np.ndarray) -> np.ndarray:
    """Return the probability, not normalised, that the first component is largest: shape (P,)."""
    top = alphas.max(axis=1)
    low, high = np.full(len(alphas), -45.0), np.log(top + 40 + 10 * np.sqrt(top))
    for _ in range(3):
        v, log_density = _log_integrand(alphas, low, high, 64)
        inside = log_density > log_density.max(axis=1, keepdims=True) - 45
        step = (high - low) / 63
        low = v[np.arange(len(v)), inside.argmax(axis=1)] - step
        high = v[np.arange(len(v)), 63 - inside[:, ::-1].argmax(axis=1)] + step
    v, log_density = _log_integrand(alphas, low, high, 256)
    return np.exp(log_density).sum(axis=1) * (high - low) / 255


def _log_integrand(
    alphas: np.ndarray, low: np.ndarray, high: np.ndarray, nodes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes v = log x and the log integrand at them, both of shape (P, nodes)."""
    from scipy.special import gammainc, gammaln

    v = np.linspace(low, high, nodes, axis=1)
    first, second, third = (a[:, None] for a in alphas.T)
    with np.errstate(divide="ignore"):
        others = np.log(gammainc(second, np.exp(v))) + np.log(gammainc(third, np.exp(v)))
        own = np.where(first > 0, first * v - np.exp(v) - gammaln(first), -np.inf)
    never = first[:, 0] == 0
    log_density = own + others
    log_density[never] = -np.inf
    return v, np.where(never[:, None] & (np.arange(nodes) == 0), -1e3, log_density)


def weight_blocks(
    n: int, prior: float, n_samples: int, seed: int | np.random.SeedSequence
) -> Iterator[np.ndarray]:
    """Yield random weights of a pseudo-observation and n datasets, shape (n + 1, block).

    The weights are not normalised: they do not add up to 1.
    """
    rng = np.random.default_rng(seed)
    block = max(_PART, min(_BLOCK, _WEIGHTS // (n + 1) // _PART * _PART))
    for start in range(0, n_samples, block):
        stop = min(start + block, n_samples)
        yield np.concatenate(
            [_weights(rng, n, prior, min(_PART, stop - at)) for at in range(start, stop, _PART)],
            axis=1,
        )


def _weights(rng: np.random.Generator, n: int, prior: float, draws: int) -> np.ndarray:
    weights = rng.standard_exponential((n + 1, draws))
    weights[0] = rng.standard_gamma(prior, draws) if prior else 0.0
    return weights


class SignedRankSums:
    """Sums of weight products over the pairs of differences on each side of a region.

    Parameters
    ----------
    differences : ndarray of float, shape (N, P)
        One column for each pair of strategies.
    rope : float
        Half width of the region. Two differences with a mean below ``-rope`` count as left, above
        ``rope`` as right; two whose mean is at the margin count half.

    Notes
    -----
    The pseudo-observation 0 is added as the first of the N + 1 numbers z. The mean of two numbers
    is above ``rope`` exactly if ``u = z - rope`` has a positive sum of two, and two numbers have
    the sign of the larger one. So with the numbers in the order of ``|u|``, the sum over all pairs
    of ``w_i w_j sign(u_i + u_j)`` changes with each number by its sign times the change of the
    squared cumulated weight. A draw takes N steps; the matrix of all pairs would take N^2.
    """

    def __init__(self, differences: np.ndarray, rope: float) -> None:
        z = np.concatenate([np.zeros((1, differences.shape[1])), differences])
        self.rope = rope
        self.right = _SignForm(*_beyond(z, rope))
        self.left = _SignForm(*_beyond(-z, rope)) if rope else None

    def of_pairs(
        self, at: np.ndarray, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the left, equivalent and right sums of each draw for some pairs of strategies.

        ``at`` has the places of C pairs, ``weights`` shape (N + 1, draws), each sum (C, draws).
        """
        right, total = self.right.half_sums(at, weights)
        half = total**2 / 2
        if self.left is None:
            return half - right, np.zeros_like(half), half + right
        left, _ = self.left.half_sums(at, weights)
        return half + left, np.maximum(-left - right, 0.0), half + right

    def largest(self, at: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the number of draws in which each sum is the largest; the first wins ties."""
        left, equal, right = self.of_pairs(at, weights)
        n_right = ((right > left) & (right > equal)).sum(axis=1)
        n_between = ((equal > left) & (equal >= right)).sum(axis=1)
        return np.stack([left.shape[1] - n_right - n_between, n_between, n_right], axis=1)

    def sure(self, weights: np.ndarray) -> np.ndarray:
        """Return whether the left, and the right, sum is the largest in every draw: (2, P).

        It is if more than half of the pairs are of two numbers of that side, or of one that is far
        and any that is near. Other pairs may have the same in every draw, too.
        """
        left = (self.right, -1) if self.left is None else (self.left, 1)
        enough = _SURE * np.square(weights.sum(axis=0))
        sure = np.zeros((2, self.right.sign.shape[1]), dtype=bool)
        for side, (form, sign) in zip(sure, (left, (self.right, 1)), strict=True):
            own, far = form.sign == sign, form.size > np.median(form.size, axis=0)
            kinds = np.stack([own & ~far, own & far, ~far])
            likely = np.flatnonzero(_on_side(*kinds.mean(axis=1)) > _LIKELY)
            for start in range(0, len(likely), _COLUMNS):
                part = likely[start : start + _COLUMNS]
                sums = kinds[..., part].swapaxes(1, 2).astype(np.float32) @ weights
                side[part] = (_on_side(*sums) > enough).all(axis=1)
        return sure

    def means(self, prior: float) -> np.ndarray:
        """Return the expected left, equivalent and right weights of the pairs, shape (P, 3).

        They are moments of the Dirichlet distribution with weight ``prior`` on the first number and
        1 on each difference.
        """
        n, columns = self.right.sign.shape
        total = n - 1 + prior
        right = self.right.mean_sum(prior)
        left = -right if self.left is None else self.left.mean_sum(prior)
        both = np.stack([total * (total + 1) / 2 + x for x in (left, right)], axis=1)
        both /= total * (total + 1)
        between = np.maximum(1 - both.sum(axis=1), 0.0) if self.rope else np.zeros(columns)
        return np.insert(both, 1, between, axis=1)


def _on_side(own_near: np.ndarray, own_far: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Return the least weight of the pairs on a side: two of its numbers, or a far and a near."""
    return own_near**2 + own_far * (own_far + 2 * near)


def _beyond(z: np.ndarray, rope: float) -> tuple[np.ndarray, np.ndarray]:
    """Return ``u = z - rope`` and the rounding noise of ``|u|``.

    The noise is relative to the two numbers of a sum that is at the margin, and to the margin. It
    is at most ``rope``: otherwise a sum of 0 could be at both margins.
    """
    if not rope:
        return z, RELATIVE_NOISE * np.abs(z)
    u = np.where(np.abs(z - rope) <= RELATIVE_NOISE * rope, 0.0, z - rope)
    noise = RELATIVE_NOISE * np.maximum(np.abs(z), np.abs(z - 2 * rope))
    return u, np.minimum(noise, rope)


class _SignForm:
    """Numbers u, shape (n, P), in the order of their size, for sums of signs of pairs."""

    def __init__(self, u: np.ndarray, noise: np.ndarray) -> None:
        self.size, self.sign = equalised(np.abs(u), noise), np.sign(u)
        # of equal sizes the positive come first, and `both_signs` corrects for that
        self.order = np.lexsort((-self.sign, self.size), axis=0)
        size, sign = (np.take_along_axis(x, self.order, axis=0) for x in (self.size, self.sign))
        self.change = (sign - np.concatenate([sign[1:], np.zeros((1, u.shape[1]))])) / 2
        self.both_signs = _both_signs(size, sign, self.order)

    def half_sums(self, at: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return half the sum of ``w_i w_j sign(u_i + u_j)``, and the sum of weights, by draw."""
        shape = 4, len(at), weights.shape[1]
        total, cumulated, square, row = np.zeros(shape, dtype=weights.dtype)
        change = self.change[:, at, None].astype(weights.dtype)
        for rows, factor in zip(self.order[:, at], change, strict=True):
            cumulated += weights.take(rows, axis=0, out=row, mode="clip")  # "raise" would copy
            np.multiply(cumulated, cumulated, out=square)
            square *= factor
            total += square
        for place, column in enumerate(at.tolist()):
            for positive, negative in self.both_signs.get(column, ()):  # their sums of two are 0
                # faster than the sum of `weights[rows]`, which copies the rows first
                one, other = (reduce(np.add, (weights[k] for k in x)) for x in (positive, negative))
                total[place] += one * other
        return total, cumulated

    def mean_sum(self, prior: float) -> np.ndarray:
        """Return half the sum of ``E[w_i w_j] A (A + 1) sign(u_i + u_j)``, shape (P,)."""
        first, size, sign = self.size[0], self.size[1:], self.sign[1:]
        ranks = ranked(size)
        beside_first = 1 + np.sign(size - first)
        data = (sign * (2 * ranks - 1 + prior * beside_first)).sum(axis=0)
        own = self.sign[0] * prior * ((2 - beside_first).sum(axis=0) + prior)
        diagonal = sign.sum(axis=0) + prior * self.sign[0]
        return (data + own + diagonal) / 2


def _both_signs(
    size: np.ndarray, sign: np.ndarray, order: np.ndarray
) -> dict[int, list[tuple[list[int], list[int]]]]:
    """Return, by column, the positive and negative rows of each group of equal sizes with both.

    All arrays have shape (n, P); each column is sorted by size, the positive first.
    """
    n = len(size)
    new = np.ones(size.shape, dtype=bool)
    new[1:] = size[1:] > size[:-1]
    starts = np.flatnonzero(new.T.ravel())
    positive, negative = (
        np.add.reduceat((x * sign > 0).T.ravel(), starts, dtype=int) for x in (1, -1)
    )
    mixed = (positive > 0) & (negative > 0)
    ends = (x[mixed] for x in (starts, starts + positive, starts + positive + negative))
    rows, halves = order.T.ravel().tolist(), dict[int, list[tuple[list[int], list[int]]]]()
    for start, middle, end in zip(*(x.tolist() for x in ends), strict=True):
        halves.setdefault(start // n, []).append((rows[start:middle], rows[middle:end]))
    return halves
