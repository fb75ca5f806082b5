"""Datasets as a user gives them, in any form, stored in a database."""

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from mlaut.data.api import Data
from mlaut.data.sources.references import is_reference
from mlaut.data.tables.collections import list_collections
from mlaut.data.tables.folders import is_file_of_table, load_file
from mlaut.data.tables.frames import warn_of_texts, with_roles
from mlaut.errors import DataError, TextWarning
from mlaut.files_io import FilesIO
from mlaut.files_io.tables.datasets import checked_dataset
from mlaut.files_io.tables.tables_of_others import is_pair, is_table, of_pair
from mlaut.records import Dataset


def add_datasets(
    hdf5_io: FilesIO,
    given: Any,
    *,
    name: str = "",
    target: Any = "target",
    task: str | None = None,
    overwrite: bool = False,
    roles: Mapping[str, Any] | None = None,
) -> list[str]:
    """Store datasets given in any form, and return their paths; see `mlaut.Study.add_datasets`."""
    how: dict[str, Any] = {"overwrite": overwrite, "task": task, "roles": roles}
    dataset = partial(_dataset, target=target, task=task, roles=roles)
    paths: list[str] = []
    # Neighbours of one kind are stored in one change of the file, since each change reads the list
    # of all that the file holds: 300 tables one by one took 30 times as long.
    for kind, several in groupby(_leaves(given, name, dataset), key=_kind):
        paths += kind(hdf5_io, list(several), **how)
    return list(dict.fromkeys(paths))


def _leaves(given: Any, name: str, dataset: Callable[[Any, str], Dataset]) -> Iterator[Any]:
    """Yield datasets, and texts that name some, from what may be nested."""
    if isinstance(given, Dataset) or is_pair(given) or is_table(given):
        yield dataset(given, name)
    elif isinstance(given, str | os.PathLike):
        text = os.path.expanduser(given)
        path = Path(text.partition("?")[0])
        is_file = path.suffix and path.is_file()
        yield dataset(text, name) if is_file or is_file_of_table(text) else text
    elif isinstance(given, Iterable):
        named = given.items() if isinstance(given, Mapping) else ((name, one) for one in given)
        for called, one in named:
            yield from _leaves(one, called, dataset)
    else:
        raise DataError(
            f"a {type(given).__name__} holds no dataset; pass a table, (X, y), a reference, "
            "a collection or a folder"
        )


def _dataset(
    given: Any, name: str, target: Any, task: str | None, roles: Mapping[str, Any] | None
) -> Dataset:
    if isinstance(given, str):
        known = {} if target == "target" else {"target": target}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TextWarning)  # it is told when the table is stored
            read = load_file(given, {**known, **(roles or {})})
        return replace(read, name=name or read.name)
    if isinstance(given, Dataset):
        return with_roles(replace(given, name=name or given.name), roles)
    if not name:
        raise DataError("a table has no name; pass name='...' beside it")
    table, named = given, dict(roles or {})
    array: Any = None
    if is_pair(given):
        table, array, named = of_pair(given[0], given[1], target, named)
    column = named.pop("target", target)
    return Dataset(name, table, column, task or "", roles=named, array=array)


def _kind(leaf: Any) -> Callable[..., Iterable[str]]:
    """Return the function that stores leaves of the same kind."""
    if isinstance(leaf, Dataset):
        return _store
    if leaf in list_collections() and not Path(leaf).is_dir():
        return _load_collections
    if Path(leaf).is_dir():
        return _load_folders
    if is_reference(leaf):
        return _load
    raise DataError(
        f"{leaf!r} is no collection ({', '.join(list_collections())}), no reference such "
        "as 'openml/d/61', no file and no folder; check its spelling, or pass a DataFrame with "
        "a name"
    )


def _store(
    hdf5_io: FilesIO, datasets: list[Dataset], task: str | None, overwrite: bool, **_: Any
) -> Iterable[str]:
    chosen = [checked_dataset(dataset) for dataset in datasets if task in (None, dataset.task)]
    once = {(x.name, x.fingerprint): warn_of_texts(x) for x in chosen}
    return hdf5_io.save_checked(once.values(), overwrite=overwrite)


def _load(hdf5_io: FilesIO, references: list[str], **how: Any) -> Iterable[str]:
    return Data().load(references, hdf5_io=hdf5_io, **how)


def _load_folders(hdf5_io: FilesIO, folders: list[str], **how: Any) -> Iterator[str]:
    for folder in folders:
        yield from Data().load_folder(folder, hdf5_io=hdf5_io, **how)


def _load_collections(hdf5_io: FilesIO, names: list[str], **how: Any) -> Iterator[str]:
    del how["overwrite"]  # tables of a collection have no other content
    for name in names:
        yield from Data().load_collection(name, hdf5_io=hdf5_io, **how)
