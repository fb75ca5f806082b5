"""Duels: on each dataset every two strategies meet, and one wins or they tie."""

from __future__ import annotations

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


def duels(results: Results, local_rope: float = 0.0, *, paired: bool = True) -> np.ndarray:
    """Return the outcome of every duel.

    Parameters
    ----------
    results : Results
    local_rope : float, default 0
        A difference of mean losses of at most this many standard deviations over the folds is a
        tie (Wainer 2023, section 5.1).
    paired : bool, default True
        Whether the standard deviation is that of the differences of the folds, or the root mean
        square of the two strategies' own.

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
        if local_rope:
            noise = local_rope * _fold_deviations(results, place, paired)
            ahead = np.where(np.abs(ahead) <= noise, 0.0, ahead)
        outcomes[place] = np.where(np.isnan(ahead), NOT_FOUGHT, np.sign(np.nan_to_num(ahead)))
    return outcomes


def _fold_deviations(results: Results, place: int, paired: bool) -> np.ndarray:
    """Return the standard deviations over the folds of one dataset by pair, shape (K, K)."""
    folds = results.cell_losses[place][:, results.expected[place]]
    if folds.shape[1] < 2:
        raise AnalysisError(
            f"a local region needs two folds, and {results.datasets[place]!r} has one: "
            "choose local_rope=0"
        )
    covariance = np.cov(folds).reshape(len(folds), len(folds))
    own = np.diag(covariance)
    variance = own + own[:, None] - 2 * covariance if paired else (own + own[:, None]) / 2
    return np.sqrt(np.maximum(np.nan_to_num(variance), 0.0))
