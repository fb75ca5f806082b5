"""Duels: on each dataset every two strategies meet, and one wins or they tie."""

import numpy as np

from mlaut.analysis.common.numerics import RELATIVE_NOISE, equalised
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

NOT_FOUGHT = 2  # the mark of a duel in which a loss is missing


def needed_cells(results: Results, missing: str) -> None:
    """Raise an error for too few datasets or strategies, or for missing cells that may not be."""
    if missing not in ("raise", "left out"):
        raise AnalysisError(f"missing = {missing!r} is not known; one of 'raise', 'left out'")
    if missing == "raise":
        results.complete(datasets=2, strategies=2)
    elif min(len(results.datasets), len(results.strategies)) < 2:
        raise AnalysisError("duels need at least two datasets and two strategies")


def duels(results: Results) -> np.ndarray:
    """Return the outcome of every duel.

    Parameters
    ----------
    results : Results

    Returns
    -------
    ndarray of int8, shape (N, K, K)
        1 where the row strategy wins, -1 where it loses, 0 for a tie, `NOT_FOUGHT` where a loss is
        missing.
    """
    losses = equalised(results.losses.to_numpy().T, RELATIVE_NOISE * results.noise_scale.T).T
    outcomes = np.empty((*losses.shape, losses.shape[1]), dtype=np.int8)
    for place, row in enumerate(losses):
        ahead = row - row[:, None]
        outcomes[place] = np.where(np.isnan(ahead), NOT_FOUGHT, np.sign(np.nan_to_num(ahead)))
    return outcomes
