"""Forecast of what more datasets would decide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.planning.power import datasets_needed
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError
from mlaut.records import Analysis

__all__ = ["datasets_to_decide"]

_MOST = 10  # strategies whose number of datasets is computed; a sentence names three
_POWER = 0.8  # the usual probability with which a difference is to be found


def datasets_to_decide(
    results: Results, leader: str, others: Sequence[str], analysis: Analysis
) -> dict[str, float]:
    """Return the number of datasets that would show each observed difference from the leader.

    It takes the observed differences for the true ones, and the level of one pair after the
    correction for as many pairs as are open, so it is rough.

    Parameters
    ----------
    results : Results
        Complete results.
    leader : str
    others : sequence of str
        Strategies that are not shown to differ from the leader; the first ten are computed.
    analysis : Analysis

    Returns
    -------
    dict of str to float
        Infinite if more than a million datasets are needed.
    """
    losses, names = paired_losses(results).losses, list(results.strategies)
    alpha, found = analysis.alpha / max(len(others), 1), {}
    for name in others[:_MOST]:
        d = losses[:, names.index(name)] - losses[:, names.index(leader)]
        test, effect = _effect(d, analysis.test)
        try:
            needed = 2.0 if np.isinf(effect) else datasets_needed(effect, 1.0, test, _POWER, alpha)
        except AnalysisError:
            needed = np.inf
        found[name] = float(needed)
    return found


def _effect(d: np.ndarray, test: str) -> tuple[str, float]:
    """Return the power function that suits a test, and the size of the difference for it.

    The power of the signed rank test is near that of the t-test, which takes no simulation.
    """
    from scipy.special import ndtri

    if test in ("sign", "trinomial", "Bayesian sign"):
        wins, losses = (d > 0).sum(), (d < 0).sum()
        return "sign", float(ndtri((wins + 0.5) / (wins + losses + 1)))
    mean, sd = d.mean(), d.std(ddof=1)
    if sd > 0:
        return "t", float(mean / sd)
    return "t", float(np.copysign(np.inf, mean)) if mean else 0.0
