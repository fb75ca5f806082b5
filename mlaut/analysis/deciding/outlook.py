"""Outlook: the probability that more datasets separate leader and rival, and the use of folds.

Datasets of one source count as one.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mlaut.analysis.methods.planning.power import noise_of_folds
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.results.results import Results

_PRIOR = 0.3  # standard deviation of true differences, in standard deviations over datasets


def chance_to_tell(differences: np.ndarray, more: int, alpha: float = 0.05) -> float:
    """Return the probability that ``more`` rows like these tell two strategies apart.

    Parameters
    ----------
    differences : ndarray, shape (n,)
        Differences of losses or ranks, one for each source or dataset.
    more : int
        Number of rows to come.
    alpha : float, default 0.05
        Level of the two-sided t-test of all n + more rows.

    Notes
    -----
    This is a posterior predictive probability. The true difference, in standard deviations of the
    differences, has a normal prior with mean 0 and standard deviation 0.3. With this prior the
    probability was right within five points on leaders and rivals of published tables, and in
    simulations (docs/measured-levels.md). The standard deviation is taken as the observed one.

    Examples
    --------
    >>> d = np.random.default_rng(1).normal(0.2, 1, size=20)
    >>> [round(chance_to_tell(d, n), 2) for n in (0, 20, 1000)]
    [0.0, 0.48, 0.88]
    """
    from scipy.special import ndtr, stdtrit

    n, sd = len(differences), differences.std(ddof=1)
    if sd == 0:
        return float(differences[0] != 0)
    seen = differences.mean() / sd
    variance = 1 / (n + 1 / _PRIOR**2)
    share = more / (n + more)
    centre = (1 - share) * seen + share * n * variance * seen
    spread = share * np.sqrt(1 / max(more, 1) + variance) + 1e-12
    bar = stdtrit(n + more - 1, 1 - alpha / 2) / np.sqrt(n + more)
    return float(ndtr((centre - bar) / spread) + ndtr((-centre - bar) / spread))


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


def outlook(results: Results, leader: str, rivals: Sequence[str], alpha: float) -> Outlook | None:
    """Return the outlook on as many further datasets, or None if there are no rivals.

    Losses are free of rounding noise, so equal strategies are never separated. If losses are not
    comparable between datasets, ranks replace them.
    """
    if not rivals:
        return None
    near = [results.strategies.index(name) for name in (leader, rivals[0])]
    losses = paired_losses(results)
    rows = results.by_source(losses.ranks if results.incomparable else losses.snapped)[:, near]
    chance = chance_to_tell(rows[:, 1] - rows[:, 0], len(rows), alpha)
    noise = noise_of_folds(results, np.array(near[:1]), np.array(near[1:]))[1][0]
    variance = np.diff(losses.losses[:, near])[:, 0].var(ddof=1)
    compare = noise > 0 and variance > 0 and not results.incomparable
    share = min(1.0, float(noise / variance)) if compare else np.nan
    return Outlook(rivals[0], chance, share)
