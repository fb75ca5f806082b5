"""Scales on which losses of different datasets can be added, by fold."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import one_of
from mlaut.analysis.common.numerics import RELATIVE_NOISE, places
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

SCALES = {
    "loss": "in its own unit",
    "logit": "as log odds",
    "rank": "as the rank within each fold",
    "normalised": "in standard deviations of the strategies' mean losses on each dataset",
}


def on_scale(results: Results, scale: str) -> np.ndarray:
    """Return the losses of all cells on a scale.

    Parameters
    ----------
    results : Results
    scale : str
        A key of `SCALES`.

    Returns
    -------
    ndarray, shape (N, K, R * F)
        Lower is better; NaN where a cell is missing.

    Raises
    ------
    AnalysisError
        The scale is not known, or these losses have no such scale.
    """
    one_of("scale", scale, SCALES)
    losses = results.cell_losses.reshape(len(results.datasets), len(results.strategies), -1)
    if scale == "rank":
        size = np.maximum(np.abs(results.cells), np.abs(results.cell_losses)).reshape(losses.shape)
        return _ranks(losses, size)
    if scale == "logit":
        return _log_odds(losses, results)
    if scale == "normalised":
        return _normalised(losses)
    if results.incomparable:
        raise AnalysisError(
            f"losses of different datasets cannot be added ({results.incomparable}): choose "
            "scale='rank' or 'normalised'"
        )
    return losses.copy()


def ranks_of(results: Results) -> pd.DataFrame:
    """Return the ranks of the strategies that have a loss on each dataset, by dataset."""
    losses = results.losses
    ranks = places(losses.to_numpy(), results.noise_scale)
    return pd.DataFrame(ranks, losses.index, losses.columns)


def _ranks(losses: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return ranks; of fewer than K strategies they are stretched to 1 to K, as the full ones."""
    by_fold, size = (np.moveaxis(x, 1, -1).reshape(-1, losses.shape[1]) for x in (losses, size))
    ranks = places(by_fold, size)
    others = np.maximum((~np.isnan(by_fold)).sum(axis=1, keepdims=True) - 1, 1)
    stretched = 1 + (ranks - 1) * (losses.shape[1] - 1) / others
    return np.moveaxis(stretched.reshape(len(losses), -1, losses.shape[1]), -1, 1)


def _log_odds(losses: np.ndarray, results: Results) -> np.ndarray:
    """Return log odds of shares of losses, with half an error added on either side."""
    low, high = results.metric.loss_bounds
    if not np.isfinite(high - low):
        raise AnalysisError(
            f"log odds need a loss with two bounds, and {results.metric.loss_name} has none: "
            "choose scale='rank' or 'normalised'"
        )
    share = (losses - low) / (high - low)
    at_end = (share == 0) | (share == 1)
    if results.n_test is None:
        if at_end.any():
            raise AnalysisError(
                "the log odds of a loss at the end of its range are infinite: give n_test, so that "
                "half an error is added, or choose scale='rank'"
            )
        half = np.zeros(())
    else:
        half = 0.5 / np.maximum(results.n_test, 1).reshape(len(losses), 1, -1)
    return np.log((share + half) / (1 - share + half))


def _normalised(losses: np.ndarray) -> np.ndarray:
    """Return losses divided by the standard deviation of the mean losses on their dataset."""
    known = ~np.isnan(losses)
    largest = np.abs(losses).max(axis=(1, 2), initial=0.0, where=known)[:, None, None]
    losses = losses / np.where(largest > 0, largest, 1.0)  # no square overflows or vanishes
    means = np.where(known, losses, 0).sum(axis=2) / np.maximum(known.sum(axis=2), 1)
    there = known.any(axis=2)
    n = np.maximum(there.sum(axis=1, keepdims=True), 1)
    away = np.where(there, means - np.where(there, means, 0).sum(axis=1, keepdims=True) / n, 0)
    sd = np.sqrt((away**2).sum(axis=1) / np.maximum(n[:, 0] - 1, 1))[:, None, None]
    return losses / np.where(sd > RELATIVE_NOISE, sd, 1.0)
