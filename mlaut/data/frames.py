"""Tables as datasets: conversion of a table in memory, and choice of tables that are read then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mlaut.data.targets import encode_target
from mlaut.errors import DataError, nearest
from mlaut.files_io.datasets import checked, task_named
from mlaut.records import Dataset

__all__ = ["Table", "from_frame", "read_chosen"]


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


@dataclass(frozen=True)
class Table:
    """A dataset that was not read yet.

    Attributes
    ----------
    read : callable
        Function without arguments that returns the `Dataset`.
    task : str
        Task of the dataset, if it is known before reading.
    """

    read: Callable[[], Dataset]
    task: str = ""


def read_chosen(
    where: Any,
    tables: Mapping[str, Table],
    names: str | Iterable[str] | None = None,
    task: str | None = None,
) -> tuple[Dataset, ...]:
    """Return the datasets of these names (default all) and of this task (default both).

    Raises
    ------
    DataError
        A name is missing in ``tables``; the message begins with ``where``.
    """
    chosen = list(tables) if names is None else [names] if isinstance(names, str) else list(names)
    for name in chosen:
        if name not in tables:
            hint = nearest(name, tables) or f"; it has {len(tables)} others"
            raise DataError(f"{where}: no dataset {name!r}{hint}")
    wanted = task_named(task) if task else None
    datasets = (
        tables[name].read()
        for name in chosen
        if not (wanted and tables[name].task) or task_named(tables[name].task) == wanted
    )
    return tuple(dataset for dataset in datasets if wanted in (None, dataset.task))
