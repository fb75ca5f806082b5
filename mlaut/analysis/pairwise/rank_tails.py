"""Exact tails of signed rank sums with ties and zeros, of many pairs by one product of matrices."""

import numpy as np

from mlaut.analysis.common.numerics import signed_rank_cdf

_CENTRAL = 3.0  # standard deviations: beyond, few sums are below, and counting them is quicker
_FEW = 64  # columns: fewer are counted sooner than the cosines are computed
_ANGLES = 256  # at a time: 10 MB for the pairs of 100 strategies
_DEVIATIONS = 9  # the tail beyond so many standard deviations is at most 3e-18 (Hoeffding)
_NOTHING = -45.0  # logarithm: thousands of such values are below the precision of 1e-15
_WHOLE = 40  # ranks: up to here the number of ways follows from the precision, and is exact


def signed_rank_tails(ranks: np.ndarray, statistic: np.ndarray) -> np.ndarray:
    """Return P(W <= statistic) of each column; W sums its ranks, each included with P = 1/2.

    Parameters
    ----------
    ranks : ndarray, shape (N, P)
        Whole and half ranks; 0 for differences left out.
    statistic : ndarray, shape (P,)

    Notes
    -----
    The results are those of `signed_rank_cdf`, in the same bits for up to 40 ranks. For more ranks
    a central tail is computed to an absolute precision of 1e-15 from the characteristic function of
    W at equally spaced angles (Abate and Whitt 1992, The Fourier-series method for inverting
    transforms of probability distributions). Its logarithm is linear in the counts of the ranks, so
    one product of matrices has the values of all columns.

    Examples
    --------
    >>> signed_rank_tails(np.array([[1.0, 1.5], [2.0, 1.5], [3.0, 3.0]]), np.array([1.0, 1.5]))
    array([0.25 , 0.375])
    """
    doubled = np.rint(2 * ranks).astype(int)
    n, columns = doubled.shape
    limit = np.floor(2 * statistic + 1e-9)
    away = doubled.sum(axis=0) - 2 * limit  # twice the distance from the mean
    central = np.flatnonzero(np.abs(away) <= _CENTRAL * np.sqrt(np.square(doubled).sum(axis=0)))
    tails = np.full(columns, np.nan)
    if len(central) >= _FEW:
        width = int(doubled.max()) + 1
        cells = doubled[:, central] + width * np.arange(len(central))
        counts = np.bincount(cells.ravel(), minlength=width * len(central))
        counts = counts.reshape(-1, width)[:, 1:].astype(float)
        tails[central] = _central_tails(counts, away[central])
        if n <= _WHOLE:
            tails = np.rint(tails * 2.0**n) / 2.0**n
    for column in np.flatnonzero(np.isnan(tails)):
        own = ranks[:, column]
        tails[column] = signed_rank_cdf(own[own > 0], statistic[column])
    return tails


def _central_tails(counts: np.ndarray, away: np.ndarray) -> np.ndarray:
    """Return P(sum <= half of the total - away / 2); ``counts`` (P, D) are those of 1 to D."""
    size = np.arange(1, counts.shape[1] + 1)
    total, variance = counts @ size, counts @ np.square(size) / 4
    # sums count modulo the period: of two sums that differ by it, at most one is likely
    reach = min(total.max() / 2, _DEVIATIONS * np.sqrt(variance.max()))
    period = int(reach + np.abs(away).max() / 2) + 1
    unit, tails = np.pi / 2 / period, np.full(len(counts), 0.5)
    rough, (distances, place) = counts.astype(np.float32), np.unique(away - 1, return_inverse=True)

    def angles(numbers: np.ndarray) -> np.ndarray:  # less whole circles, to be precise
        return unit * (np.multiply.outer(numbers, odd) % (4 * period))

    for start in range(1, period + 1, 2 * _ANGLES):  # the angle 0 is left out
        odd = np.arange(start, min(start + 2 * _ANGLES, period + 1), 2)
        cosines = np.cos(angles(size))
        logs = np.log(np.maximum(np.abs(cosines), 1e-300))
        values = rough @ logs.astype(np.float32)
        some = values.max(axis=0) > _NOTHING  # at the others, which are most, values are 0
        odd, cosines = odd[some], cosines[:, some]
        values = np.exp(counts @ logs[:, some])
        values *= (1 - 2 * (counts @ (cosines < 0) % 2)) * np.sin(angles(distances))[place]
        values /= np.sin(unit * odd) * period
        values[:, odd == period] /= 2  # the angle pi is there once, all others twice
        tails -= values.sum(axis=1)
    return tails
