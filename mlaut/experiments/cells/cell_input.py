"""Records of what a cell is given (table, options, seed), and the outcome of a lost cell.

Processes that run no cell need this, and it imports no scikit-learn. Each part of a table is
prepared once for all its cells: the process of a run makes the table, and its workers map it.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from time import time
from typing import Any

import numpy as np

from mlaut.arrays import is_array, take_rows
from mlaut.data.splits.targets import positions
from mlaut.estimators.preparing.columns import are_plain_numbers, have_names_of_one_type
from mlaut.files_io.outcomes.study_records import SplitEntry, StrategyEntry
from mlaut.files_io.tables.roles import role_values
from mlaut.records import Cell, Dataset, Outcome, Status

_LOOKED_AT = 2**16  # numbers looked at together: half a megabyte of float64


@dataclass(frozen=True)
class CellOptions:
    """Options that all cells of a run share.

    Attributes
    ----------
    threads : int, default 1
        Number of threads that a cell may use.
    memory : int or None
        Bytes that a cell may allocate, in addition to those that its process already holds.
    models : Path or None
        Folder in which fitted models are saved; None saves none.
    tuning_timeout : float or None
        CPU seconds after which a search chooses among the candidates that it has scored.
    checkpoints : Path or None
        Folder in which the scores of a search are kept while it runs; None keeps none.
    trace_predictions : bool, default False
        Whether to fit also what smaller budgets would have chosen, and to predict with it.
    settings : mapping of str to object
        What the session of the run has changed in libraries (`session_settings`).
    path : tuple of str, default that of this process
        Folders in which the session of the run finds modules (``sys.path``).
    """

    threads: int = 1
    memory: int | None = None
    models: Path | None = None
    tuning_timeout: float | None = None
    checkpoints: Path | None = None
    trace_predictions: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    path: tuple[str, ...] = field(default_factory=lambda: tuple(map(os.path.abspath, sys.path)))


def cell_seed(seed: int, cell: Cell) -> int:
    """Return the seed of a cell, derived from its key and the seed of the study.

    Neither the order of the cells nor the number of workers changes a result.

    Examples
    --------
    >>> cell_seed(0, Cell("iris", "SVC")) == cell_seed(0, Cell("iris", "SVC", fold=1))
    False
    """
    # A digest and not a sequence of draws: a draw would depend on how many cells came before. What
    # follows the dataset's name cannot hold the zero byte, so no two cells have one key.
    key = "\0".join([str(seed), cell.dataset, cell.strategy, str(cell.repeat), str(cell.fold)])
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "little")


def origin_of_seed(
    stored: int, cell: Cell, seeds: Iterable[int], dataset: SplitEntry, strategy: StrategyEntry
) -> tuple[int, tuple[str, str]] | None:
    """Return the seed of a study, and the names of a cell then, that give its stored seed."""
    for seed in seeds:
        for names in product((*dataset.named, dataset.name), (*strategy.named, strategy.name)):
            key = replace(cell, dataset=names[0], strategy=names[1])
            if cell_seed(seed, key) == stored:
                return seed, names
    return None


def failed_outcome(
    cell: Cell, status: Status, reason: str, seed: int, elapsed: float = 0.0, traceback: str = ""
) -> Outcome:
    """Return the outcome of a cell that reported none, for example because its process ended.

    Parameters
    ----------
    cell : Cell
    status : Status
    reason : str
        One line that says how the cell ended.
    seed : int
        Seed of the cell (`cell_seed`).
    elapsed : float, default 0
        Seconds since the cell began; 0 if it did not begin.
    traceback : str, default ""

    Examples
    --------
    >>> lost = failed_outcome(Cell("iris", "SVC"), Status.CRASHED, "the machine is gone", seed=7)
    >>> lost.status.word, lost.details["elapsed"]
    ('crashed', 0.0)
    """
    details = {"traceback": traceback, "started": time() - elapsed, "elapsed": elapsed}
    return Outcome(cell, status, seed=seed, reason=reason, details=details)


@dataclass(frozen=True, eq=False)
class FoldTable:
    """Features and labels of a dataset, separated once for all its cells.

    Attributes
    ----------
    features : DataFrame, or array or sparse matrix, shape (n_rows, ...)
    labels : ndarray, shape (n_rows,) or (n_rows, k)
        Class labels, or numbers for regression; in a worker process none.
    classes : tuple
        Sorted class labels of the whole dataset; empty for regression.
    weights : ndarray of float64, shape (n_rows,), or None
        Weight of each row; None where the dataset has no column of that role.
    groups, times : ndarray, shape (n_rows,), or None
        Code of the group, and number of the time, of each row; None where there is no such column.
    """

    features: Any
    labels: np.ndarray
    classes: tuple[Any, ...]
    weights: np.ndarray | None = None
    groups: np.ndarray | None = None
    times: np.ndarray | None = None

    @classmethod
    def of(cls, dataset: Dataset, classes: tuple[Any, ...]) -> FoldTable:
        """Return the features and labels of a dataset."""
        labels = dataset.labels.to_numpy()
        if labels.ndim > 1:
            labels = labels.astype(np.int64 if classes else np.float64)
        elif classes:
            labels = np.asarray(classes)[positions(dataset.labels, classes)]
        values = role_values(dataset, ["weight", "group", "time"])
        groups = np.unique(values["group"], return_inverse=True)[1] if "group" in values else None
        return cls(
            dataset.features, labels, classes, values.get("weight"), groups, values.get("time")
        )

    @property
    def n_targets(self) -> int:
        """Number of targets, if there are several; else 0."""
        return self.labels.shape[1] if self.labels.ndim > 1 else 0

    @cached_property
    def numbers(self) -> np.ndarray | None:
        """Features as one array if all are finite numbers of plain types, else None.

        Its type and order in memory are those of rows of the DataFrame as an array.
        """
        if is_array(self.features) or not are_plain_numbers(self.features):
            return None
        numbers = self.features.to_numpy()
        if numbers.dtype.kind not in "iuf" or not _are_finite(numbers):
            return None
        # Taking rows may change the order of a DataFrame in memory; that of two rows shows it.
        order: Any = "F" if np.asarray(self.features.iloc[np.arange(2)]).flags.f_contiguous else "C"
        return np.asarray(numbers, order=order)

    @cached_property
    def names_of_one_type(self) -> bool:
        """Return whether scikit-learn accepts the names of the columns: all texts, or none."""
        return not is_array(self.features) and have_names_of_one_type(self.features)

    def rows(self, rows: np.ndarray) -> Any:
        """Return rows of the features."""
        return take_rows(self.features, rows)

    def rows_of_numbers(self, rows: np.ndarray) -> np.ndarray:
        """Return rows of the complete numbers as scikit-learn would make them of the DataFrame."""
        assert self.numbers is not None
        # All rows exist. "clip" does not look for others, and takes a fourth of the time.
        if self.numbers.flags.f_contiguous:
            return self.numbers.T.take(rows, axis=1, mode="clip").T
        return self.numbers.take(rows, axis=0, mode="clip")

    def rows_of_floats(self, rows: np.ndarray) -> np.ndarray:
        """Return rows of the complete numbers as a `Preprocessor` returns them, not yet scaled."""
        assert self.numbers is not None
        return np.asarray(self.numbers[rows], dtype=np.float64, order="C")


def _are_finite(numbers: np.ndarray) -> bool:
    """Return whether all numbers are finite; it looks at parts that fit into the cache."""
    flat = numbers.ravel(order="K")  # a view of the block of a DataFrame
    parts = (flat[at : at + _LOOKED_AT] for at in range(0, len(flat), _LOOKED_AT))
    return all(np.isfinite(part).all() for part in parts)
