"""Predictions of a study as a table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from mlaut.errors import StudyError, refuse_unknown
from mlaut.files_io.studies.study import StudyStore
from mlaut.records import Block, Status


def predictions_of(
    study: StudyStore,
    dataset: str,
    strategies: str | Sequence[str] | None = None,
    index: pd.Index | None = None,
) -> pd.DataFrame:
    """Return what strategies predicted for each test row of a dataset (`mlaut.Study.predictions`).

    Parameters
    ----------
    study : StudyStore
    dataset : str
    strategies : str or sequence of str, optional
        Default all strategies of the study.
    index : Index, optional
        Labels of the rows of the dataset; default their positions.

    Raises
    ------
    StudyError
        The study has no such dataset or strategy, or none of these cells is done.
    """
    known = [entry.name for entry in study.strategies]
    chosen = [strategies] if isinstance(strategies, str) else list(strategies or known)
    refuse_unknown([dataset], study.datasets, StudyError, f"{study.path}: no dataset")
    refuse_unknown(chosen, known, StudyError, f"{study.path}: no strategy")
    parts = []
    for block in study.parts([dataset]):
        for s, strategy in enumerate(block.strategies):
            if strategy in chosen:
                part = _of_strategy(block, s)
                part.insert(
                    0, "strategy", pd.Series(strategy, part.index, pd.CategoricalDtype(known))
                )
                parts.append(part)
    if not any(map(len, parts)):
        raise StudyError(f"{study.path}: no cell of dataset {dataset!r} is done yet; run it first")
    table = pd.concat(parts, ignore_index=True)
    table.insert(0, "dataset", pd.Series(dataset, table.index, pd.CategoricalDtype([dataset])))
    rows = table["row"].to_numpy()
    table.index = pd.Index(rows) if index is None else index[rows]
    return table


def _of_strategy(block: Block, s: int) -> pd.DataFrame:
    """Return the predictions of the done cells, without the repeats that only intervals use."""
    n = block.split.n_main
    folds = block.split.folds[:n]
    done = block.status[s, :n] == Status.DONE
    tested = np.take_along_axis(done, np.maximum(folds, 0).astype(np.intp), axis=1) & (folds >= 0)
    repeats, rows = np.nonzero(tested)
    columns = {
        "repeat": repeats,
        "fold": folds[repeats, rows],
        "row": rows,
        **columns_of("truth", block.truth[rows], block),
        **columns_of("prediction", block.predictions[s, repeats, rows], block),
    }
    if block.probabilities is not None:
        confidence = block.probabilities[s, repeats, rows].T
        columns |= {f"confidence.{c}": p for c, p in zip(block.classes, confidence, strict=True)}
    return pd.DataFrame(columns)


def columns_of(name: str, stored: np.ndarray, block: Block) -> dict[str, Any]:
    """Return stored values as columns of a table: one, or one for each of several targets."""
    if not block.targets:
        return {name: labelled(stored, block)}
    return {f"{name}.{one}": stored[:, k] for k, one in enumerate(block.targets)}


def labelled(stored: np.ndarray, block: Block) -> pd.api.extensions.ExtensionArray | np.ndarray:
    """Return stored predictions as labels of classes, or as numbers."""
    if not block.classes:
        return stored
    return pd.Series(block.classes).reindex(np.where(stored < 0, -1, stored)).array
