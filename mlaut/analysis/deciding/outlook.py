"""Outlook: how probably more datasets tell the leader from a rival, and whether folds help more."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mlaut.analysis.methods.planning.design import noise_of_folds
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.results.results import Results
from mlaut.analysis.sources.chances import chances
from mlaut.analysis.sources.cost import wider
from mlaut.analysis.sources.forecast import decided_with


class Outlook(NamedTuple):
    """Record of what as many datasets again would tell.

    Attributes
    ----------
    rival : str
        The strategy with the best average rank of those that are not told from the leader.
    chance : float
        Posterior predictive probability that as many datasets (sources) again tell the two apart.
    folds : float
        Share of the variance of their difference over datasets that comes from the folds; NaN
        where it is not known.
    """

    rival: str
    chance: float
    folds: float


def outlook(results: Results, leader: str, rivals: Sequence[str], alpha: float) -> Outlook | None:
    """Return what as many datasets again would tell; None without rivals.

    Losses are free of rounding noise, so equal strategies are never told apart. Where they do not
    compare over datasets, ranks take their place.
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
