"""Encoding of a target column as the truth of a study: class positions, or numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mlaut.errors import DataError, some_of
from mlaut.files_io.tables.datasets import check_target, task_named
from mlaut.helpers.lazy import pd
from mlaut.records import CLASSIFICATION


def encode_target(
    labels: pd.Series | pd.DataFrame, task: str
) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Return the truth and the classes of a dataset.

    Parameters
    ----------
    labels : Series or DataFrame
        Target column: texts, numbers, booleans or categories for classification, numbers for
        regression. Several columns: numbers, or 0 and 1 for classification.
    task : str
        ``"Classification"`` or ``"Regression"``.

    Returns
    -------
    truth : ndarray, shape (n_rows,) or (n_rows, k)
        int32 positions in ``classes`` (of several columns 0 or 1), or float64 numbers.
    classes : tuple
        The names of several columns of a classification; else the labels that occur, sorted by
        value (also if the categories have another order), as plain Python values; empty for
        regression.

    Raises
    ------
    DataError
        A target value is missing, there is only one class, the classes cannot be sorted, or a
        regression target has values that are not finite numbers; the message names the column.

    Examples
    --------
    >>> truth, classes = encode_target(pd.Series(["no", "yes", "no"]), "Classification")
    >>> truth.tolist(), classes
    ([0, 1, 0], ('no', 'yes'))
    >>> encode_target(pd.Series([1.5, 2], name="price"), "Regression")
    (array([1.5, 2. ]), ())
    """
    task = task_named(task)
    check_target(labels, task)
    if isinstance(labels, pd.DataFrame):
        if task == CLASSIFICATION:
            return labels.to_numpy(dtype=np.int32), tuple(labels)
        return np.column_stack([_encode_numbers(labels[name]) for name in labels]), ()
    if task == CLASSIFICATION:
        return _encode_classes(labels)
    return _encode_numbers(labels), ()


def _encode_classes(labels: pd.Series) -> tuple[np.ndarray, tuple[Any, ...]]:
    if labels.dtype.kind in "mM":
        what = "dates" if labels.dtype.kind == "M" else "durations"
        raise DataError(
            f"target {labels.name!r}: {what} cannot be classes; convert them to texts or numbers"
        )
    values = labels.to_numpy(dtype=object).tolist()
    plain = {value.item() if isinstance(value, np.generic) else value for value in set(values)}
    try:
        classes = tuple(sorted(plain))
    except TypeError:
        kinds = ", ".join(sorted({type(value).__name__ for value in plain}))
        raise DataError(
            f"target {labels.name!r}: classes of kinds that have no order ({kinds}); "
            "convert them to texts"
        ) from None
    return positions(values, classes), classes


def _encode_numbers(labels: pd.Series) -> np.ndarray:
    if not pd.api.types.is_numeric_dtype(labels) or pd.api.types.is_bool_dtype(labels):
        other = "" if labels.dtype.kind in "mM" else ", or give the task Classification"
        raise DataError(
            f"target {labels.name!r}: {labels.dtype} values, and regression needs numbers; "
            f"convert it{other}"
        )
    numbers: np.ndarray = labels.to_numpy(dtype=np.float64)
    return numbers


def positions(labels: Any, classes: Sequence[Any]) -> np.ndarray:
    """Return the positions of labels in the classes of a dataset.

    Parameters
    ----------
    labels : array-like, shape (n,)
        Labels, for example the predictions of an estimator.
    classes : sequence
        Sorted class labels.

    Returns
    -------
    ndarray of int32, shape (n,)

    Raises
    ------
    DataError
        A label is not one of the classes.

    Examples
    --------
    >>> positions(["b", "a", "b"], ("a", "b")).tolist()
    [1, 0, 1]
    >>> positions([1.0, 3.0], (1, 2))
    Traceback (most recent call last):
    mlaut.errors.DataError: label 3.0 is not one of the 2 classes 1, 2
    """
    where = {label: position for position, label in enumerate(classes)}
    values = np.asarray(labels, dtype=object).ravel().tolist()
    try:
        return np.fromiter(map(where.__getitem__, values), np.int32, len(values))
    except (KeyError, TypeError):
        unknown = next(value for value in values if not _is_in(value, where))
    shown = some_of(map(repr, classes), 5)
    raise DataError(f"label {unknown!r} is not one of the {len(classes)} classes {shown}")


def _is_in(value: Any, where: dict[Any, int]) -> bool:
    try:
        return value in where
    except TypeError:  # a label that cannot be hashed, such as a list
        return False
