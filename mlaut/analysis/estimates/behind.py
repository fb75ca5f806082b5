"""What lies behind the score of a strategy on one dataset: probabilities, classes, and parts."""

from typing import Any

import numpy as np
import pandas as pd

from mlaut.records import Block

_BINS = 10  # of probabilities, with as many test rows each
_FIFTHS = 5  # parts of the truth of a regression
_FEWEST = 10  # test rows of a group, below which its errors say little


def calibration_table(block: Block, strategy: str) -> pd.DataFrame | None:
    """Return predicted probability, share of the positive class and rows by tenth, or None."""
    if block.probabilities is None or len(block.classes) != 2:
        return None
    given = block.probabilities[block.strategies.index(strategy), ..., 1]
    tested = ~np.isnan(given)
    if not tested.any():
        return None
    p = given[tested].astype(float)
    true = np.broadcast_to(block.truth, given.shape)[tested] == 1
    order = np.argsort(p, kind="stable")
    parts = [part for part in np.array_split(order, _BINS) if len(part)]
    rows = [(p[part].mean(), true[part].mean(), len(part)) for part in parts]
    return pd.DataFrame(rows, columns=["predicted", "share", "rows"])


def confusion_table(block: Block, strategy: str) -> pd.DataFrame:
    """Return the shares of each true class (rows) that were predicted as each class (columns)."""
    given = block.predictions[block.strategies.index(strategy)]
    tested = given >= 0
    true = np.broadcast_to(block.truth, given.shape)[tested]
    k = len(block.classes)
    counts = np.bincount(true * k + given[tested], minlength=k * k).reshape(k, k)
    repeats = max(int(tested.any(axis=1).sum()), 1)
    labels = [str(label) for label in block.classes]
    table = pd.DataFrame(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1), labels, labels)
    table.insert(0, "test rows", (counts.sum(axis=1) / repeats).round().astype(int))
    return table.rename_axis("truth")


def errors_by_part(block: Block, strategy: str, groups: Any = None) -> pd.DataFrame | None:
    """Return where the errors of a strategy are: by class, by fifth of the truth, or by group.

    Parameters
    ----------
    block : Block
    strategy : str
    groups : sequence, optional
        Group of each row of the dataset.

    Returns
    -------
    DataFrame or None
        For each part the test rows and the share of wrong ones, or the mean absolute error and the
        mean of prediction minus truth; the worst first. Groups with fewer than ten test rows are
        left out. None if there is one part only.
    """
    given = block.predictions[block.strategies.index(strategy)]
    tested = given >= 0 if block.classes else ~np.isnan(given)
    rows = np.broadcast_to(np.arange(given.shape[1]), given.shape)[tested]
    if groups is not None:
        part = np.asarray(groups, dtype=object)[rows].astype(str)
    elif block.classes:
        part = np.array([str(label) for label in block.classes])[block.truth[rows]]
    else:
        part = pd.qcut(block.truth[rows], _FIFTHS, duplicates="drop").astype(str)
    away = given[tested] - block.truth[rows]
    frame = pd.DataFrame({"part": part, "row": rows})
    columns = {"test rows": ("row", "nunique")}
    if block.classes:
        frame["wrong"] = (away != 0).astype(float)
        columns["share wrong"] = ("wrong", "mean")
    else:
        frame["off"], frame["size"] = away, np.abs(away)
        columns |= {"mean absolute error": ("size", "mean"), "mean error": ("off", "mean")}
    table = frame.groupby("part", observed=True).agg(**columns)
    worst, table = table.columns[1], table[table["test rows"] >= _FEWEST]
    return table.sort_values(worst, ascending=False, kind="stable") if len(table) > 1 else None
