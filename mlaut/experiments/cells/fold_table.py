"""Table of a dataset as its cells take it: each part is prepared once for all of them.

The process of a run makes it, and its workers map it; this imports no scikit-learn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mlaut.arrays import is_array, take_rows
from mlaut.data.splits.targets import positions
from mlaut.estimators.preparing.columns import are_plain_numbers, have_names_of_one_type
from mlaut.files_io.tables.roles import role_values
from mlaut.records import Dataset

_LOOKED_AT = 2**16  # numbers looked at together: half a megabyte of float64


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
