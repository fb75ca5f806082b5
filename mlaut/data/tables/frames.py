"""Datasets from tables in memory, and the choice of tables that are then read."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from mlaut.data.splits.targets import encode_target
from mlaut.errors import DataError, TextWarning, nearest_of, some_of
from mlaut.files_io.tables.datasets import MOST_CLASSES, checked_dataset, task_named
from mlaut.helpers.lazy import pd
from mlaut.records import Dataset, as_list


def from_frame(
    frame: pd.DataFrame,
    target: Any,
    *,
    name: str,
    task: str = "",
    roles: Mapping[str, Any] | None = None,
    array: Any = None,
    **metadata: Any,
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
        (`mlaut.data.infer_task`).
    roles : mapping, optional
        Columns that are no features, by role: ``{"weight": "w", "group": "patient", "time":
        "day", "id": "number", "ignore": ["a", "b"]}``.
    array : ndarray or sparse matrix, optional
        Features that are no columns: shape (n_rows, ...).
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
    return _usable(Dataset(name, frame, target, task, metadata, roles=roles or {}, array=array))


def _usable(dataset: Dataset) -> Dataset:
    dataset = checked_dataset(dataset)
    try:
        encode_target(dataset.labels, dataset.task)
    except DataError as error:
        raise DataError(f"dataset {dataset.name!r}: {error}") from None
    return warn_of_texts(dataset)


def warn_of_texts(dataset: Dataset) -> Dataset:
    """Warn of texts that a reader would take for something else, and return the dataset."""
    if odd := [*_odd_texts(dataset)]:
        line = f"dataset {dataset.name!r}: {some_of(odd, 5)}{_WAYS_OUT}"
        warnings.warn(line, TextWarning, stacklevel=1)
    return dataset


def _odd_texts(dataset: Dataset) -> Iterator[str]:
    frame, in_roles = dataset.frame, [*chain.from_iterable(dataset.roles.values())]
    if 2 * sum(bool(re.fullmatch(_DECIMAL, str(name))) for name in frame) > frame.shape[1]:
        yield f"names of columns are numbers, such as {frame.columns[0]!r}, as without a header"
    for name, kind in zip(frame.columns, frame.dtypes, strict=True):
        if kind.kind in "biufcmM" or kind == "category" or name in in_roles:
            continue
        texts = pd.Series(frame[name].unique())
        if texts.hasnans:
            texts = texts.dropna(ignore_index=True)
        if texts.empty or not pd.api.types.is_string_dtype(texts):
            continue
        classes = name in as_list(dataset.target) and len(texts) <= MOST_CLASSES  # such as digits
        for kind, pattern in {} if classes else _LOOKS.items():
            if (like := texts.str.fullmatch(pattern)).sum() >= max(2, len(texts) / 2):
                text = f"column {name!r} has {kind} as texts (categories): {texts[like].iloc[0]!r}"
                but = f" (not so: {some_of(map(repr, texts[~like]), 3)})"
                yield text + but * (not like.all())
                break
        plain = [text.strip().lower() for text in texts] if name in as_list(dataset.target) else []
        if len(set(plain)) < len(plain):
            alike = texts[pd.Series(plain).duplicated(keep=False)]
            yield f"classes differ in blanks or capitals only: {some_of(map(repr, alike))}"


_LOOKS = {
    "dates": r"\d{1,4}([-./])\d{1,2}\1\d{1,4}([T ].*)?",
    "numbers": r"\s*[<>~$€£]?\s*[+-]?[\d'., ]*\d([eE][+-]?\d+)?\s*[%$€£]?\s*",
}
_DECIMAL = r"[+-]?\d*\.\d+([eE][+-]?\d+)?(\.\d+)?"
_WAYS_OUT = (
    "; correct it, or say what it is: by the type category or roles={'ignore': ['COLUMN']}, in a "
    "study file by FILE?categorical=COLUMN, FILE?missing=n/a or ignore = ['COLUMN'] of its roles"
)


def with_roles(dataset: Dataset, roles: Mapping[str, Any] | None) -> Dataset:
    """Return a dataset with other roles of its columns.

    Parameters
    ----------
    dataset : Dataset
    roles : mapping, optional
        Column or columns by role, including ``target``; they replace those that the dataset has for
        the same role. A mapping from names of datasets to such mappings has different roles for
        each dataset. Default: the dataset is returned unchanged.

    Raises
    ------
    DataError
        A role is unknown or does not suit the table.

    Examples
    --------
    >>> table = pd.DataFrame({"x": [1.0, 2.0], "who": [7, 8], "y": ["a", "b"]})
    >>> tiny = from_frame(table, "y", name="tiny")
    >>> list(with_roles(tiny, {"group": "who"}).features)
    ['x']
    >>> list(with_roles(tiny, {"another": {"group": "who"}}).features)
    ['x', 'who']
    """
    given = roles_of(roles, dataset.name)
    if not given:
        return dataset
    target = given.pop("target", dataset.target)
    task = dataset.task if target == dataset.target else ""
    merged = {**dataset.roles, **given}
    return _usable(replace(dataset, target=target, task=task, roles=merged, path=""))


def roles_of(roles: Mapping[str, Any] | None, name: str) -> dict[str, Any]:
    """Return the roles that are given for all datasets, and those for the dataset of this name."""
    given = roles or {}
    for_all = {key: value for key, value in given.items() if not isinstance(value, Mapping)}
    own = given.get(name)
    return for_all | (dict(own) if isinstance(own, Mapping) else {})


@dataclass(frozen=True)
class Unread:
    """Dataset that was not read yet.

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
    tables: Mapping[str, Unread],
    names: str | Iterable[str] | None = None,
    task: str | None = None,
    unusable: list[DataError] | None = None,
) -> tuple[Dataset, ...]:
    """Return the datasets of these names (default all) and of this task (default both).

    Errors of tables that cannot be used are appended to ``unusable``, unless no table is left.

    Raises
    ------
    DataError
        A name is missing in ``tables``; the message begins with ``where``.
    """
    chosen = list(tables) if names is None else [names] if isinstance(names, str) else list(names)
    for name in chosen:
        if name not in tables:
            hint = nearest_of(name, tables)
            raise DataError(f"{where}: no dataset {name!r}{hint}")
    wanted = task_named(task) if task else None
    datasets, errors = list[Dataset](), list[DataError]()
    for name in chosen:
        if not (wanted and tables[name].task) or task_named(tables[name].task) == wanted:
            try:
                datasets.append(checked_dataset(tables[name].read()))
            except DataError as error:
                errors.append(error)
    if errors and (unusable is None or not datasets):
        raise errors[0]
    if unusable is not None:
        unusable += errors
    return tuple(dataset for dataset in datasets if wanted in (None, dataset.task))
