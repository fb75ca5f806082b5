"""Outlook: the probability that more datasets separate leader and rival, and the use of folds.

Datasets of one source count as one.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mlaut.analysis.methods.planning.power import noise_of_folds
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.results.results import Results
from mlaut.analysis.sources.chances import Chances, chances
from mlaut.analysis.sources.cost import wider


def decided_with(
    rows: np.ndarray, drawn: Chances, leader: int, rival: int, more: int, bar: float
) -> float:
    """Return the probability that ``more`` rows like these separate two strategies.

    Parameters
    ----------
    rows : ndarray, shape (G, K)
        Losses or ranks, one row for each source or dataset.
    drawn : Chances
        Result of `chances` for the rows; in some of its draws the two are equal.
    leader, rival : int
        Positions of the strategies.
    more : int
        Number of rows to come.
    bar : float
        Smallest statistic (mean / standard error) that separates the two.

    Notes
    -----
    This is a posterior predictive probability. For each draw of the true difference, the mean of
    all rows is normal; its centre follows from the rows so far and the draw. The standard deviation
    is the observed one.

    Examples
    --------
    >>> from mlaut.analysis.sources.chances import chances
    >>> rows = np.random.default_rng(1).normal([0, 0.4], 1, size=(20, 2))
    >>> [round(decided_with(rows, chances(rows), 0, 1, n, 2.0), 1) for n in (10, 1000)]
    [0.1, 0.3]
    """
    from scipy.special import ndtr

    n = len(rows)
    d = rows[:, rival] - rows[:, leader]
    sd = d.std(ddof=1)
    true = drawn.draws[:, rival] - drawn.draws[:, leader]
    if sd == 0:
        return float((true != 0).mean())
    mean = (n * d.mean() + more * true) / (n + more)
    spread, bar = sd * np.sqrt(more) / (n + more), bar * sd / np.sqrt(n + more)
    return float((ndtr((mean - bar) / spread) + ndtr((-mean - bar) / spread)).mean())


class Outlook(NamedTuple):
    """Outlook on twice as many datasets.

    Attributes
    ----------
    rival : str
        The strategy with the best average rank of those that are not separated from the leader.
    chance : float
        Posterior predictive probability that as many further datasets (sources) separate the two.
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
    from scipy.special import ndtri

    if not rivals:
        return None
    near = [results.strategies.index(name) for name in (leader, rivals[0])]
    losses = paired_losses(results)
    rows = results.by_source(losses.ranks if results.incomparable else losses.snapped)[:, near]
    bar = float(ndtri(1 - alpha / len(rivals)))
    bar *= wider(2 * len(rows) - 1, bar)
    chance = decided_with(rows, chances(rows), 0, 1, len(rows), bar)
    noise = noise_of_folds(results, np.array(near[:1]), np.array(near[1:]))[1][0]
    variance = np.diff(losses.losses[:, near])[:, 0].var(ddof=1)
    compare = noise > 0 and variance > 0 and not results.incomparable
    share = min(1.0, float(noise / variance)) if compare else np.nan
    return Outlook(rivals[0], chance, share)
