"""Conversion of a table in memory into a dataset."""

from __future__ import annotations

from typing import Any

import pandas as pd

from mlaut.data.targets import encode_target
from mlaut.errors import DataError
from mlaut.files_io.datasets import checked
from mlaut.records import Dataset

__all__ = ["from_frame"]


def from_frame(
    frame: pd.DataFrame, target: Any, *, name: str, task: str = "", **metadata: Any
) -> Dataset:
    """Return a checked dataset of a table in memory.

    Parameters
    ----------
    frame : DataFrame
        All columns, including the target.
    target : str
        Name of the target column.
    name : str
        Name of the dataset.
    task : str, optional
        ``"Classification"`` or ``"Regression"``; by default inferred from the target
        (`mlaut.data.targets.infer_task`).
    **metadata
        ``source``, ``licence`` and further entries; plain values.

    Raises
    ------
    DataError
        There is no such column, the target has missing values or only one class, or a column has
        a type that cannot be stored.

    Examples
    --------
    >>> table = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": ["a", "b", "a"]})
    >>> from_frame(table, "y", name="tiny", source="by hand").task
    'Classification'
    """
    dataset = checked(Dataset(name, frame, target, task, metadata))
    try:
        encode_target(dataset.labels, dataset.task)
    except DataError as error:
        raise DataError(f"dataset {name!r}: {error}") from None
    return dataset
