"""Outlook: the probability that more datasets separate leader and rival, and the use of folds.

Datasets of one source count as one.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mlaut.analysis.methods.cross_validation.repeated_cv import noise_of_folds
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.results.results import Results

_PRIOR, _WEIGHT = 0.06, 2.0  # variance of true differences, in variances over datasets


def chance_to_tell(rows: np.ndarray, more: int, alpha: float = 0.05) -> float:
    """Return the probability that ``more`` rows like these tell two strategies apart.

    Parameters
    ----------
    rows : ndarray, shape (n, K)
        Losses or ranks, a row for each source or dataset. The first two columns are the two
        strategies; the others show how different strategies are, K > 2.
    more : int
        Number of rows to come.
    alpha : float, default 0.05
        Level of the two-sided t-test of all n + more rows.

    Notes
    -----
    This is a posterior predictive probability. The true difference, in standard deviations of the
    differences, has a normal prior about 0. Its variance is estimated from the means of all
    strategies, and drawn towards 0.06. The standard deviation is taken as the observed one. A
    chance below 0.1 comes true within five points on every published table; a larger one only on
    average over tables (docs/measured-levels.md).

    Examples
    --------
    >>> rows = np.random.default_rng(1).normal([0, 0.3, 0.6], 1, size=(20, 3))
    >>> [round(chance_to_tell(rows, n), 2) for n in (0, 20, 1000)]
    [0.0, 0.08, 0.77]
    """
    from scipy.special import ndtr, stdtrit

    n, differences = len(rows), rows[:, 1] - rows[:, 0]
    if (sd := differences.std(ddof=1)) == 0:
        return float(differences[0] != 0)
    seen = differences.mean() / sd
    variance = 1 / (n + 1 / _prior(rows))
    share = more / (n + more)
    centre = (1 - share) * seen + share * n * variance * seen
    spread = share * np.sqrt(1 / max(more, 1) + variance) + 1e-12
    bar = stdtrit(n + more - 1, 1 - alpha / 2) / np.sqrt(n + more)
    return float(ndtr((centre - bar) / spread) + ndtr((-centre - bar) / spread))


def _prior(rows: np.ndarray) -> float:
    """Return the variance of true differences, in variances of the differences over rows."""
    n, k = rows.shape
    means = rows.mean(axis=0)
    noise = np.square(rows - rows.mean(axis=1, keepdims=True) - means + rows.mean()).sum()
    between = max(0.0, means.var(ddof=1) * (n - 1) * (k - 1) / noise - 1 / n)
    return float((_WEIGHT * _PRIOR + (k - 1) * between) / (_WEIGHT + k - 1))


class Outlook(NamedTuple):
    """Outlook on twice as many datasets.

    Attributes
    ----------
    rival : str
        The strategy with the best average rank of those that are not separated from the leader.
    chance : float
        Posterior predictive probability that as many further datasets (sources) tell the two apart.
    folds : float
        Share of the variance of their difference over datasets that comes from the folds; NaN
        where it is not known.
    """

    rival: str
    chance: float
    folds: float


def outlook(
    results: Results, leader: str, rivals: Sequence[str], alpha: float, others: Sequence[str]
) -> Outlook | None:
    """Return the outlook on as many further datasets, or None if nothing can be told of them.

    Losses are free of rounding noise, so equal strategies are never separated. If losses are not
    comparable between datasets, ranks replace them. Two strategies alone do not show how different
    strategies are, so nothing is forecast of them: ``others`` are the candidates besides.
    """
    if not rivals or not others:
        return None
    near = [results.strategies.index(name) for name in (leader, rivals[0], *others)]
    losses = paired_losses(results)
    rows = results.by_source(losses.ranks if results.incomparable else losses.snapped)[:, near]
    chance = chance_to_tell(rows, len(rows), alpha)
    noise = noise_of_folds(results, np.array(near[:1]), np.array(near[1:2]))[1][0]
    variance = np.diff(losses.losses[:, near[:2]])[:, 0].var(ddof=1)
    compare = noise > 0 and variance > 0 and not results.incomparable
    share = min(1.0, float(noise / variance)) if compare else np.nan
    return Outlook(rivals[0], chance, share)
