"""Conversion of the predictions of a study to a table."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mlaut.records import Block

__all__ = ["predictions_frame"]


def predictions_frame(block: Block) -> pd.DataFrame:
    """Return the truth and the predictions of each strategy for every test row.

    Parameters
    ----------
    block : Block

    Returns
    -------
    DataFrame
        Labels or numbers, sorted by the index (repeat, fold, row); columns ``truth`` and one per
        strategy.
    """
    folds = block.split.folds
    repeats, rows = np.nonzero(folds >= 0)
    keys = [repeats, folds[repeats, rows], rows]
    index = pd.MultiIndex.from_arrays(keys, names=["repeat", "fold", "row"])
    columns = {"truth": _values(block.truth[rows], block)}
    for name, predicted in zip(block.strategies, block.predictions, strict=True):
        columns[name] = _values(predicted[repeats, rows], block)
    return pd.DataFrame(columns, index=index).sort_index()


def _values(stored: np.ndarray, block: Block) -> pd.Series | np.ndarray:
    if not block.classes:
        return stored
    labels = pd.Series(block.classes).reindex(np.where(stored < 0, -1, stored))
    return labels.array  # type: ignore[return-value]
