"""Blocks from predictions that other programs stored."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mlaut.data import infer_task
from mlaut.errors import AnalysisError
from mlaut.records import CLASSIFICATION, TRAIN_ONLY, Block, Split, Status

MOST = 10**9  # rows in all repeats; larger numbers are identifiers, not positions


@dataclass(frozen=True, eq=False)
class Predicted:
    """Predictions of one strategy for the test rows of one dataset.

    Attributes
    ----------
    dataset, strategy : str
    rows : DataFrame
        Columns ``repeat``, ``fold``, ``row`` (from 0), ``truth`` and ``prediction``.
    source : str
        Origin of the predictions, for error messages.
    probabilities : DataFrame, optional
        Probabilities, one column for each class.
    seconds : mapping of (repeat, fold) to (fitting, predicting)
        Times of the folds, in seconds.
    """

    dataset: str
    strategy: str
    rows: pd.DataFrame
    source: str
    probabilities: pd.DataFrame | None = None
    seconds: Mapping[tuple[int, int], tuple[float, float]] | None = None


def blocks_of(predicted: Iterable[Predicted]) -> list[Block]:
    """Return one block for each dataset, with the predictions of all strategies.

    Rows that no fold tests are assumed to be training rows.

    Raises
    ------
    AnalysisError
        Two sources have different truths for one row of a dataset, or rows, folds or repeats are
        not numbered from 0.
    """
    by_dataset: dict[str, list[Predicted]] = {}
    for pairs in predicted:
        by_dataset.setdefault(pairs.dataset, []).append(pairs)
    return [_block(name, several) for name, several in by_dataset.items()]


def _block(name: str, several: Sequence[Predicted]) -> Block:
    strategies = tuple(predicted.strategy for predicted in several)
    numbered = [own.rows.assign(source=own.source, by=s) for s, own in enumerate(several)]
    every = _own_repeats(pd.concat(numbered, ignore_index=True))
    parts = [every[every["by"] == s] for s in range(len(several))]
    split, test = _split(name, every)
    task = infer_task(pd.concat([every["truth"], every["prediction"]], ignore_index=True))
    classes = _classes(every) if task == CLASSIFICATION else ()
    shape = (len(several), split.n_repeats, split.n_rows)
    nothing = -1 if classes else np.nan
    predictions = np.full(shape, nothing, dtype=np.int32 if classes else np.float64)
    truth = np.full(split.n_rows, 0 if classes else np.nan, dtype=predictions.dtype)
    truth[test["row"]] = _encoded(test["truth"], classes)
    status = np.zeros((len(several), split.n_repeats, split.n_folds), dtype=np.uint8)
    seconds = np.full((*status.shape, 3), np.nan)
    for s, (own, rows) in enumerate(zip(several, parts, strict=True)):
        predictions[s, rows["repeat"], rows["row"]] = _encoded(rows["prediction"], classes)
        _fill_cells(own, rows, split, status[s], seconds[s])
    return Block(
        dataset=name,
        task=task,
        fingerprint="",
        strategies=strategies,
        classes=classes,
        truth=truth,
        split=split,
        status=status,
        predictions=predictions,
        probabilities=_probabilities(several, parts, classes, shape) if classes else None,
        seconds=seconds,
    )


def _own_repeats(every: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with each fold as its own repeat if folds of one repeat share test rows.

    Folds of a moving window can share test rows, but a repeat can test each row only once.
    """
    cells = every[["repeat", "fold", "row"]].drop_duplicates()
    if not cells.duplicated(["repeat", "row"]).any():
        return every
    return every.assign(repeat=every.groupby(["repeat", "fold"]).ngroup(), fold=0)


def _split(name: str, every: pd.DataFrame) -> tuple[Split, pd.DataFrame]:
    """Return the split, and the test rows with their truth."""
    unlike = every.groupby("row")["truth"].transform("nunique") > 1
    if unlike.any():
        row = every.loc[unlike].iloc[0]
        raise AnalysisError(
            f"{row['source']}: row {row['row']} of {name!r} has another truth than in other files; "
            "they are of other datasets, which need names of their own"
        )
    cells = every.drop_duplicates(["repeat", "row"])
    shape = int(every["repeat"].max()) + 1, int(every["row"].max()) + 1
    numbers = every[["repeat", "fold", "row"]].to_numpy()
    most_folds = np.iinfo(np.int16).max
    if shape[0] * shape[1] > MOST or numbers.min() < 0 or every["fold"].max() > most_folds:
        raise AnalysisError(
            f"{every['source'].iloc[0]}: {shape[0]} repeats of {shape[1]} rows of {name!r}, of "
            f"which {len(cells)} are tested: no numbers from 0; check the files"
        )
    folds = np.full(shape, TRAIN_ONLY)
    folds[cells["repeat"], cells["row"]] = cells["fold"]
    return Split(folds.astype(np.int16), "as stored"), every.drop_duplicates("row")


def _classes(every: pd.DataFrame) -> tuple[Any, ...]:
    labels = {*every["truth"].tolist(), *every["prediction"].tolist()}
    try:
        return tuple(sorted(labels))
    except TypeError:
        return tuple(sorted(map(str, labels)))


def _encoded(values: pd.Series, classes: Sequence[Any]) -> np.ndarray:
    if not classes:
        return values.to_numpy(dtype=float)
    where = {label: position for position, label in enumerate(classes)}
    return np.array([where.get(v, where.get(str(v), -1)) for v in values.tolist()], dtype=np.int32)


def _fill_cells(
    own: Predicted, rows: pd.DataFrame, split: Split, status: np.ndarray, seconds: np.ndarray
) -> None:
    """Set the status of cells whose test rows all have a prediction, and the times of cells."""
    given = own.rows[["repeat", "fold"]].to_numpy()  # as the times are keyed
    cells = rows[["repeat", "fold"]].to_numpy()
    for repeat, fold in np.unique(cells, axis=0).tolist():
        of_cell = (cells == (repeat, fold)).all(axis=1)
        if of_cell.sum() == np.count_nonzero(split.folds[repeat] == fold):
            status[repeat, fold] = Status.DONE
        key = tuple(given[of_cell][0].tolist())
        seconds[repeat, fold, 1:] = (own.seconds or {}).get(key, (np.nan, np.nan))


def _probabilities(
    several: Sequence[Predicted],
    parts: Sequence[pd.DataFrame],
    classes: Sequence[Any],
    shape: tuple[int, ...],
) -> np.ndarray | None:
    if all(own.probabilities is None for own in several):
        return None
    probabilities = np.full((*shape, len(classes)), np.nan, dtype=np.float32)
    for s, (own, rows) in enumerate(zip(several, parts, strict=True)):
        if own.probabilities is not None:
            given = own.probabilities.reindex(columns=[str(label) for label in classes])
            probabilities[s, rows["repeat"], rows["row"]] = given.fillna(0).to_numpy(dtype=float)
    return probabilities
