"""Frozen records that cross the borders between modules.

The words are those of the documentation: a *dataset* is split, a *strategy* is fitted on the
training rows of one fold of one repeat of a dataset (a *cell*), and what that gave is an *outcome*.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CLASSIFICATION",
    "NOT_PLANNED",
    "REGRESSION",
    "TASKS",
    "TRAIN_ONLY",
    "UNUSED",
    "Block",
    "Cell",
    "Dataset",
    "Outcome",
    "Split",
    "Status",
    "not_distributions",
]

CLASSIFICATION = "Classification"
REGRESSION = "Regression"
TASKS = (CLASSIFICATION, REGRESSION)

NOT_PLANNED = "not planned"  # why a strategy has no cells on a dataset

TRAIN_ONLY = -1
UNUSED = -2

OUTSIDE = 1e-6
"""What a probability may lie below 0 or above 1: some roundings of single precision (6e-8)."""
SUM_MISSES_ONE = 1e-3
"""What a row of probabilities may miss 1 by: the rounding of a network in half precision."""


class Status(enum.IntEnum):
    """What became of a cell. The numbers are those of the study file."""

    MISSING = 0
    DONE = 1
    ERROR = 2
    TIMEOUT = 3
    MEMORY = 4
    CRASHED = 5
    SKIPPED = 6

    @property
    def word(self) -> str:
        """The status as it is written in tables, study files and on the command line."""
        return self.name.lower()

    @property
    def failed(self) -> bool:
        """Return whether the cell was tried and gave no predictions."""
        return self in (Status.ERROR, Status.TIMEOUT, Status.MEMORY, Status.CRASHED)


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table with a target and metadata.

    Attributes
    ----------
    name : str
    frame : DataFrame
        All columns, the target among them.
    target : str
        Name of the target column (``class_name`` in MLaut's metadata).
    task : str
        ``"Classification"`` or ``"Regression"``.
    metadata : mapping
        Plain JSON values: ``source``, ``licence``, ``dataset_id`` and whatever else is known.
    fingerprint : str
        Of the content: table, target and task. Filled in when the dataset is stored or loaded.
    path : str
        Where it is in its database; empty for one in memory only.
    split : Split or None
        The split that it came with, for example that of an OpenML task.
    """

    name: str
    frame: pd.DataFrame
    target: str
    task: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    fingerprint: str = ""
    path: str = ""
    split: Split | None = None

    @property
    def features(self) -> pd.DataFrame:
        """The table without its target."""
        return self.frame.drop(columns=[self.target])

    @property
    def labels(self) -> pd.Series:
        """The target column."""
        return self.frame[self.target]


@dataclass(frozen=True, order=True)
class Cell:
    """One strategy on one fold of one dataset: the unit of work, of resuming and of failure."""

    dataset: str
    strategy: str
    repeat: int = 0
    fold: int = 0

    def __str__(self) -> str:
        return f"{self.strategy} on {self.dataset} (repeat {self.repeat}, fold {self.fold})"


@dataclass(frozen=True, eq=False)
class Split:
    """The assignment of the rows of one dataset to (repeat, fold).

    Attributes
    ----------
    folds : ndarray of int16, shape (n_repeats, n_rows)
        The fold in which a row is tested, from 0; ``-1`` where it only trains, ``-2`` where the
        row has no part in that repeat. Within a repeat no row is tested twice.
    scheme : str
        In words, with its parameters, for example ``"holdout(test_size=1/3, stratify=True)"``.
    seed : int or None
        The seed that the split was drawn with.

    Examples
    --------
    >>> split = Split(np.array([[0, 1, -1, -2]], dtype=np.int16), scheme="by hand")
    >>> split.n_repeats, split.n_folds
    (1, 2)
    >>> train, test = split.rows(repeat=0, fold=1)
    >>> train.tolist(), test.tolist()
    ([0, 2], [1])
    """

    folds: np.ndarray
    scheme: str = ""
    seed: int | None = None

    @property
    def n_repeats(self) -> int:
        """Number of repeats."""
        return int(self.folds.shape[0])

    @property
    def n_rows(self) -> int:
        """Number of rows of the dataset."""
        return int(self.folds.shape[1])

    @cached_property
    def n_folds(self) -> int:
        """Number of folds of each repeat."""
        return int(self.folds.max(initial=-1)) + 1

    def rows(self, repeat: int, fold: int) -> tuple[np.ndarray, np.ndarray]:
        """Positions of the training rows and of the test rows of one fold, both ascending."""
        of_repeat = self.folds[repeat]
        test = of_repeat == fold
        return np.flatnonzero(~test & (of_repeat != UNUSED)), np.flatnonzero(test)

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Return (train, test) of every fold of every repeat, as a scikit-learn ``cv`` takes it."""
        for repeat in range(self.n_repeats):
            for fold in range(self.n_folds):
                yield self.rows(repeat, fold)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a cell gave.

    Attributes
    ----------
    cell : Cell
    status : Status
    predictions : ndarray, shape (n_test,), or None
        Class positions (int32, into the dataset's sorted classes) or numbers (float64).
    probabilities : ndarray of float32, shape (n_test, n_classes), or None
        NaN columns never occur: a class that the strategy did not see has probability 0.
    seconds : tuple of 3 float
        Wall seconds for tuning, for the final fit, and for predicting.
    seed : int
        The seed that the cell's randomness came from.
    reason : str
        One line: why it is not ``DONE``; empty where it is.
    details : mapping
        Everything ragged: ``best_params``, ``tuning_score``, ``warnings``, ``traceback``,
        ``peak_memory`` (bytes), ``model`` (file and digest). Plain JSON values only.
    """

    cell: Cell
    status: Status
    predictions: np.ndarray | None = None
    probabilities: np.ndarray | None = None
    seconds: tuple[float, float, float] = (np.nan, np.nan, np.nan)
    seed: int = 0
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Block:
    """Everything numeric that a study holds of one dataset; what the analysis reads.

    Attributes
    ----------
    dataset : str
    task : str
        ``"Classification"`` or ``"Regression"``.
    fingerprint : str
        Of the dataset's content: two names with one fingerprint are the same table.
    strategies : tuple of str, length S
    classes : tuple, length C
        The sorted class labels; empty for regression.
    truth : ndarray, shape (n_rows,)
        Class positions (int32) or numbers (float64).
    split : Split
        With R repeats and F folds.
    status : ndarray of uint8, shape (S, R, F)
        Values of `Status`.
    predictions : ndarray, shape (S, R, n_rows)
        int32 class positions (-1 where there is none) or float64 (NaN where there is none).
    probabilities : ndarray of float32, shape (S, R, n_rows, C), or None
        NaN where a strategy gives none; None for regression.
    seconds : ndarray of float64, shape (S, R, F, 3)
        Tuning, fitting, predicting; NaN where nothing was done.
    """

    dataset: str
    task: str
    fingerprint: str
    strategies: tuple[str, ...]
    classes: tuple[Any, ...]
    truth: np.ndarray
    split: Split
    status: np.ndarray
    predictions: np.ndarray
    probabilities: np.ndarray | None
    seconds: np.ndarray

    @property
    def done(self) -> np.ndarray:
        """Where a cell has predictions: bool, shape (S, R, F)."""
        return self.status == Status.DONE


def not_distributions(probabilities: np.ndarray) -> np.ndarray:
    """Find rows that are no distribution over the classes.

    Parameters
    ----------
    probabilities : ndarray of float, shape (n_rows, n_classes)

    Returns
    -------
    ndarray of bool, shape (n_rows,)
        Whether a value is NaN or outside of 0 to 1, or the row does not sum to 1, by more than
        rounding explains.

    Examples
    --------
    >>> not_distributions(np.array([[0.2, 0.8], [7.5, 7.5], [-1.0, 2.0]])).tolist()
    [False, True, True]
    """
    inside = (probabilities >= -OUTSIDE) & (probabilities <= 1 + OUTSIDE)
    sums = probabilities.sum(axis=1, dtype=np.float64)
    return ~(inside.all(axis=1) & (np.abs(sums - 1) <= SUM_MISSES_ONE))
