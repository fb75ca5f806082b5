"""An HDF5 database of datasets: store, list, read and delete."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import h5py
import numpy as np

from mlaut.errors import DataError, StoreError, nearest, some_of
from mlaut.files_io.safe_files.hdf5 import change_h5, kept_of, read_h5, rewrite_h5, write_in_place
from mlaut.files_io.safe_files.lock import lock_path, locked
from mlaut.files_io.safe_files.names import from_h5, note_names, noted_names, to_h5
from mlaut.files_io.safe_files.old_files import check_not_old
from mlaut.files_io.safe_files.seal import read_once
from mlaut.files_io.safe_files.system_errors import explained
from mlaut.files_io.studies.study_layout import damage_explained
from mlaut.files_io.tables.datasets import (
    DatasetInfo,
    checked_dataset,
    get_columns,
    get_dataset,
    get_info,
    is_dataset,
    put_dataset,
    what_changed,
)
from mlaut.helpers.lazy import pd
from mlaut.helpers.markup import counted, table_html
from mlaut.records import Dataset

MODES = ("r", "a", "w")
RESERVED = ("splits", "experiments")  # groups of a study, which may share the file


def opened(given: Any) -> FilesIO:
    """Return an open database as it is; raise `StoreError` for anything else, such as a path."""
    if isinstance(given, FilesIO):
        return given
    raise StoreError(
        f"{given!r} is no open database: open it with mlaut.FilesIO(path, mode='a'), and pass that"
    )


class FilesIO:
    """One HDF5 database. The object holds a path and a mode; each method opens the file briefly.

    Parameters
    ----------
    path : path-like
        Path of an HDF5 file.
    mode : {"r", "a", "w"} or None, default "r"
        ``"r"`` reads an existing file; ``"a"`` also writes, and creates the file and its folder if
        they do not exist; ``"w"`` begins with an empty file. None is ``"r"`` for a file that
        cannot be changed, and otherwise ``"a"``, but a missing file is created by the first write.
    overwrite : bool, default False
        Let ``"w"`` empty an existing file, with every dataset and every result in it.

    Raises
    ------
    StoreError
        The file is missing, is not HDF5, is damaged, or cannot be written; or ``"w"`` would empty
        an existing file.

    Notes
    -----
    A dataset is stored at ``<group>/<name>``. Characters of a name that HDF5 does not allow are
    replaced by a percent sign and their code: ``a/b`` is stored as ``a%2Fb``.

    A change is complete or absent, and writes as much as is new
    (`mlaut.files_io.safe_files.changes`). The space of deleted datasets is freed as soon as more
    than half of the file is unused.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> io = FilesIO(folder.name + "/input.h5", mode="a")
    >>> table = pd.DataFrame({"length": [1.4, 4.7, 6.0], "species": ["setosa", "b", "c"]})
    >>> io.save_pandas_dataset(
    ...     dataset=table,
    ...     save_loc="/flowers",
    ...     metadata={"class_name": "species", "dataset_name": "iris", "source": "UCI"},
    ... )
    '/flowers/iris'
    >>> io.list_datasets("flowers/")
    (['iris'], ['/flowers/iris'])
    >>> frame, metadata = io.load_dataset_pd("flowers/iris")
    >>> frame.equals(table), metadata["class_name"], metadata["task"]
    (True, 'species', 'Classification')
    >>> folder.cleanup()
    """

    names_differ = False
    """Whether a name that is stored in one group is refused in another, as in a `Study`."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        mode: Literal["r", "a", "w"] | None = "r",
        *,
        overwrite: bool = False,
    ) -> None:
        self.path = Path(os.path.expanduser(path))
        self.mode = mode or "a"
        if self.mode not in MODES:
            raise StoreError(
                f"{self.path}: no mode {mode!r}; 'r' reads, 'a' also writes, 'w' begins anew"
            )
        if mode == "w" and self.path.exists() and not overwrite:
            raise StoreError(
                f"{self.path}: exists, and mode 'w' would empty it; open it with mode='a' to add "
                "to it, or pass overwrite=True to lose what it holds"
            )
        if self.path.exists() and mode != "w":
            self._check(chosen=mode is not None)
        elif mode == "r":
            raise StoreError(
                f"{self.path}: no such file; check the path, or make a new one with mode='a' "
                "('mlaut load' puts datasets into it)"
            )
        elif mode is not None:
            self._make(empty=mode == "w")

    def _check(self, chosen: bool) -> None:
        """Check at once, not hours into a run, that the file can be used in this mode."""
        with read_h5(self.path) as file, damage_explained(self.path, "datasets were"):
            check_not_old(file, self.path)
        places = (self.path, self.path.absolute().parent)  # a change is made beside the file
        closed = [place for place in places if not os.access(place, os.W_OK)]
        if closed and not chosen:
            self.mode = "r"
        if self.mode == "a" and closed:
            what = "" if closed[0] == self.path else "its folder is "
            raise StoreError(
                f"{self.path}: {what}read-only; make it writable, or open it with mode='r'"
            )

    def _make(self, empty: bool = False) -> None:
        with explained(self.path, "making its folder"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        with locked(self.path):
            if empty or not self.path.exists():  # another process may have just made it
                with rewrite_h5(self.path, fresh=True):
                    pass

    def __repr__(self) -> str:
        return f"FilesIO({str(self.path)!r}, mode={self.mode!r})"

    def _repr_html_(self) -> str:
        infos = self.dataset_infos() if self.path.exists() else ()
        rows = [
            {"path": i.path, "task": i.task, "rows": i.n_rows, "features": i.n_features}
            for i in infos
        ]
        return table_html(f"{self.path}, mode {self.mode}: {counted(len(infos), 'dataset')}", rows)

    # ---------------------------------------------------------------- reading

    @contextlib.contextmanager
    def _reading(self) -> Iterator[h5py.File]:
        """Open the file for reading; damage raises a `StoreError` that explains it."""
        with read_h5(self.path) as file, damage_explained(self.path, "datasets were"):
            yield file

    def list_datasets(self, hdf5_group: str = "/") -> tuple[list[str], list[str]]:
        """Return names and paths of the datasets in a group and in all groups below it.

        Parameters
        ----------
        hdf5_group : str, default "/"
            Group of the database, for example ``"openml/"``.

        Returns
        -------
        names : list of str
            Names of the datasets, in the order of their paths.
        paths : list of str
            Paths in the database, in alphabetical order.

        Raises
        ------
        DataError
            The group does not exist.
        """
        with self._reading() as file:
            paths = self._paths(file, hdf5_group)
        return [from_h5(path.rpartition("/")[2]) for path in paths], paths

    def dataset_infos(self, hdf5_group: str = "/") -> tuple[DatasetInfo, ...]:
        """Return the description of each dataset of a group; tables are not read."""
        with self._reading() as file:
            return tuple(self._info(file, path) for path in self._paths(file, hdf5_group))

    def dataset_info(self, dataset_path: str) -> DatasetInfo:
        """Return the description of a dataset; its table is not read.

        Raises
        ------
        DataError
            The dataset does not exist.
        """
        return self.infos_of([dataset_path])[0]

    def infos_of(self, dataset_paths: Iterable[str]) -> tuple[DatasetInfo, ...]:
        """Return the description of each of these datasets; the file is opened once.

        Raises
        ------
        DataError
            A dataset does not exist.
        """
        with self._reading() as file:
            return tuple(self._info(file, path) for path in dataset_paths)

    def fingerprints(self, dataset_paths: Iterable[str]) -> tuple[str, ...]:
        """Return the fingerprint of the content of each dataset; the file is opened once.

        Raises
        ------
        DataError
            A dataset does not exist.
        """
        return tuple(info.fingerprint for info in self.infos_of(dataset_paths))

    def load_dataset(self, dataset_path: str, *, shared: bool = False) -> Dataset:
        """Read a dataset, and check its content against the stored fingerprint.

        Parameters
        ----------
        dataset_path : str
            Path as `list_datasets` returns it; the leading slash may be left out.
        shared : bool, default False
            Keep a small table for the next such call, which returns the same object: nobody may
            change it.

        Raises
        ------
        DataError
            The dataset does not exist.
        StoreError
            The dataset is damaged; the message names the column.
        """
        key = ("table", "/" + "/".join(_parts(dataset_path)))
        found: Dataset | None = kept_of(self.path, key) if shared else None
        if found is not None:
            return found
        with self.loading() as load:
            return load(dataset_path, shared)

    @contextlib.contextmanager
    def loading(self) -> Iterator[Callable[..., Dataset]]:
        """Yield a function that reads datasets as `load_dataset` does; the file is opened once."""

        def load(dataset_path: str, shared: bool = False) -> Dataset:
            # The caller may go on after an error, so each is explained here.
            with explained(self.path, "reading"), damage_explained(self.path, "datasets were"):
                return get_dataset(self._group(file, dataset_path), shared)

        with contextlib.closing(contextlib.ExitStack()) as stack:  # errors of the block stay
            file = stack.enter_context(self._reading())
            yield load

    def load_columns(self, dataset_path: str, columns: Iterable[Any] = ()) -> Dataset:
        """Read the target of a dataset, and some other columns; the rest is not read.

        The fingerprint is that of the whole dataset, and is not checked.

        Parameters
        ----------
        dataset_path : str
            Path as `list_datasets` returns it; the leading slash may be left out.
        columns : iterable
            Names of further columns; those that the dataset does not have are left out.

        Raises
        ------
        DataError
            The dataset does not exist.
        StoreError
            The dataset is damaged.
        """
        with self._reading() as file:
            return get_columns(self._group(file, dataset_path), list(columns))

    def load_dataset_pd(self, dataset_path: str) -> tuple[pd.DataFrame, dict[str, Any]]:
        """Read a dataset as a table and its metadata.

        Returns
        -------
        frame : DataFrame
            All columns, including the target.
        metadata : dict
            ``class_name``, ``dataset_name``, ``task``, ``roles`` if there are some, and all
            further metadata that were stored.

        Raises
        ------
        DataError
            The dataset does not exist, or is no table.
        """
        dataset = self.load_dataset(dataset_path)
        if dataset.array is not None:
            raise DataError(
                f"{self.path}: dataset {dataset.name!r} is no table; load_dataset({dataset_path!r})"
                ".features is its array"
            )
        fields = {"class_name": dataset.target, "dataset_name": dataset.name, "task": dataset.task}
        roles = {"roles": dict(dataset.roles)} if dataset.roles else {}
        return dataset.frame, {**dataset.metadata, **fields, **roles}

    def load_predictions_for_dataset(self, dataset: str) -> pd.DataFrame:
        """Return what each strategy of a study predicted for each test row of a dataset.

        Parameters
        ----------
        dataset : str
            Name of the dataset in the study.

        Returns
        -------
        DataFrame
            Index (repeat, fold, row); columns ``truth`` and one per strategy, with labels or
            numbers; missing where a strategy has no prediction. Of several targets, each has a
            column, such as ``truth.height``.

        Raises
        ------
        StudyError
            The database holds no study, or not this dataset.
        """
        from mlaut.files_io.studies.predictions import columns_of
        from mlaut.files_io.studies.study import StudyStore

        block = StudyStore(self.path).block(dataset)
        folds = block.split.folds
        repeats, rows = np.nonzero(folds >= 0)
        keys = [repeats, folds[repeats, rows], rows]
        index = pd.MultiIndex.from_arrays(keys, names=["repeat", "fold", "row"])
        columns = columns_of("truth", block.truth[rows], block)
        for name, predicted in zip(block.strategies, block.predictions, strict=True):
            columns |= columns_of(name, predicted[repeats, rows], block)
        return pd.DataFrame(columns, index=index).sort_index()

    # ---------------------------------------------------------------- writing

    def save_pandas_dataset(
        self,
        dataset: pd.DataFrame,
        save_loc: str = "/",
        metadata: Mapping[str, Any] | None = None,
        *,
        overwrite: bool = False,
    ) -> str:
        """Store one table as a dataset; `pandas_to_db` stores many at once.

        Parameters
        ----------
        dataset : DataFrame
            All columns, including the target.
        save_loc : str, default "/"
            Group of the database, for example ``"/openml"``; created if it does not exist.
        metadata : mapping
            ``class_name``, the name of the target column, and ``dataset_name`` are required;
            ``task``, ``source``, ``dataset_id`` and any other plain values are optional. A missing
            task is inferred: a target of texts, categories, truth values, or whole numbers with at
            most 20 different values is classification; any other target is regression. ``roles``,
            as in ``{"group": "patient", "ignore": ["a", "b"]}``, names columns that are no
            features: ``weight``, ``group``, ``time``, ``id`` and ``ignore``.
        overwrite : bool, default False
            Replace a dataset of the same name that has other content.

        Returns
        -------
        str
            Path of the dataset.

        Raises
        ------
        DataError
            The metadata or the table are incomplete, or a column cannot be stored.
        StoreError
            The database is open for reading only, or has another dataset of the same name.
        """
        return self.pandas_to_db([dataset], [metadata or {}], save_loc, overwrite=overwrite)[0]

    def pandas_to_db(
        self,
        datasets: Iterable[pd.DataFrame],
        dts_metadata: Iterable[Mapping[str, Any]],
        save_loc: str = "/",
        *,
        overwrite: bool = False,
    ) -> tuple[str, ...]:
        """Store many tables in one change of the file; see `save_pandas_dataset`.

        Parameters
        ----------
        datasets : iterable of DataFrame
            Tables, each with all columns, including the target.
        dts_metadata : iterable of mapping
            Metadata, one mapping per table.
        save_loc : str, default "/"
            Group of the database; created if it does not exist.
        overwrite : bool, default False
            Replace datasets of the same names that have other content.

        Returns
        -------
        tuple of str
            Path of each dataset.
        """
        pairs = zip(datasets, dts_metadata, strict=True)
        stored = [_dataset_of(frame, dict(metadata)) for frame, metadata in pairs]
        return self.save_datasets(stored, save_loc, overwrite=overwrite)

    def save_datasets(
        self, datasets: Iterable[Dataset], save_loc: str = "/", *, overwrite: bool = False
    ) -> tuple[str, ...]:
        """Store datasets in one change of the file: either all of them or none.

        A dataset that is already stored with the same content and metadata is not written again.

        Parameters
        ----------
        datasets : iterable of Dataset
        save_loc : str, default "/"
            Group of the database; created if it does not exist.
        overwrite : bool, default False
            Replace datasets of the same names that have other content.

        Returns
        -------
        tuple of str
            Path of each dataset.

        Raises
        ------
        DataError
            A dataset is incomplete, a column cannot be stored, or two datasets share a name.
        StoreError
            The database is open for reading only, or has another dataset of the same name.
        """
        return self.save_checked(map(checked_dataset, datasets), save_loc, overwrite=overwrite)

    def save_checked(
        self, datasets: Iterable[Dataset], save_loc: str = "/", *, overwrite: bool = False
    ) -> tuple[str, ...]:
        """Store datasets as `save_datasets`, which were checked in the same call."""
        self.check_writable()
        group = _parts(save_loc)
        known = dict(zip(*self.list_datasets(), strict=True)) if self.names_differ else {}
        new: dict[str, Dataset] = {}
        paths = []
        for dataset in datasets:
            path = "/" + "/".join([*group, to_h5(dataset.name)])
            if path not in known.values() and dataset.name in known:
                path = known[dataset.name]
                if self.fingerprints([path]) == (dataset.fingerprint,):
                    paths.append(path)
                    continue
            if path in new:
                raise DataError(f"dataset {dataset.name!r}: given twice for {path}; rename one")
            new[path] = dataset
            paths.append(path)
        # A killed writer left the lock file, or another process writes now.
        was_locked = lock_path(self.path).exists()
        if set(self._compare(new, overwrite)[1]) == set(new) and not was_locked:
            return tuple(paths)
        with locked(self.path):
            # Compare again: now no other process writes.
            replaced, unchanged = self._compare(new, overwrite)
            if set(unchanged) != set(new):
                with self._changing(without=replaced) as file:
                    for path, dataset in new.items():
                        if path not in unchanged:
                            above, _, key = path.rpartition("/")
                            put_dataset(file.require_group(above or "/"), key, dataset)
            else:
                with write_in_place(self.path):  # completes what a killed writer had decided
                    pass
        return tuple(paths)

    def copy_to(self, path: str | os.PathLike[str]) -> FilesIO:
        """Write a copy of the database, and return it open for changes."""
        with self._reading() as old, rewrite_h5(path, fresh=True) as new:
            _copy_without(old, new, set())
        return FilesIO(path, "a")

    def rename_dataset(self, dataset_path: str, name: str) -> str:
        """Rename a dataset, and return its new path.

        Raises
        ------
        DataError
            The dataset does not exist.
        StoreError
            The database is open for reading only, or has another dataset of the new name.
        """
        self.check_writable()
        with locked(self.path):
            dataset = self.load_dataset(dataset_path)
            before, dataset = dataset.name, replace(dataset, name=name)
            above = dataset.path.rpartition("/")[0]
            path = f"{above}/{to_h5(name)}"
            with self._reading() as file:
                if path in file:
                    raise StoreError(f"{self.path}: {path} exists; choose another name")
                self._check_room(file, path)
            with self._changing(without=[dataset.path]) as file:
                put_dataset(file.require_group(above or "/"), to_h5(name), dataset)
                note_names(file, "dataset", {before: name})
        return path

    def delete_dataset(self, dataset_path: str) -> None:
        """Remove a dataset and free its space on the disk.

        Raises
        ------
        DataError
            The dataset does not exist.
        StoreError
            The database is open for reading only.
        """
        self.check_writable()
        with locked(self.path):
            with self._reading() as file:
                path = self._group(file, dataset_path).name
            with self._changing(without=[path]) as file:
                note_names(file, "dataset", {from_h5(path.rpartition("/")[2]): None})

    def names_changed(self, what: str = "dataset") -> dict[str, str | None]:
        """Return the names that were changed, each with its new one, or None if it was removed.

        Parameters
        ----------
        what : {"dataset", "strategy"}
        """
        with self._reading() as file:
            return noted_names(file, what)

    def _compare(self, new: Mapping[str, Dataset], overwrite: bool) -> tuple[list[str], list[str]]:
        """Return the paths of the datasets to replace, and of those that are already stored."""
        replaced: list[str] = []
        unchanged: list[str] = []
        with self._reading() as file:
            for path, dataset in new.items():
                self._check_room(file, path)
                if path not in file:
                    continue
                changes = what_changed(file[path], dataset)
                if changes and not overwrite:
                    way = "save it under a new name, or pass overwrite=True"
                    if changes == "other metadata cluster":  # which a report needs, and no run
                        way = "leave it as it was, and name sources in 'mlaut report --clusters'"
                    raise StoreError(f"{self.path}: {path} exists and differs: {changes}; {way}")
                (replaced if changes else unchanged).append(path)
        return replaced, unchanged

    def _check_room(self, file: h5py.File, path: str) -> None:
        """Check that a path is free for a dataset: unused, and not inside a dataset or a study.

        Raises
        ------
        StoreError
            Something other than a dataset is stored there or above it.
        """
        parts = path.strip("/").split("/")
        for depth in range(1, len(parts) + 1):
            above = "/" + "/".join(parts[:depth])
            item = file.get(above)
            whole = depth == len(parts)
            occupied = item is not None and (
                is_dataset(item) != whole or isinstance(item, h5py.Dataset)
            )
            if occupied or parts[0] in RESERVED:
                raise StoreError(
                    f"{self.path}: {path} cannot be stored: {above} is no group of datasets; "
                    "choose another name or save_loc"
                )

    @contextlib.contextmanager
    def _changing(self, without: Sequence[str]) -> Iterator[h5py.File]:
        """Open the file for a change of structure, without the datasets at some paths.

        HDF5 does not free the space of what is deleted. The file is made anew as soon as more than
        half of it would be unused, so that all deletions together write less than they deleted.
        """
        left_out = set(without)
        if left_out:
            with self._reading() as file:
                unused = self.path.stat().st_size - _stored_bytes(file["/"], left_out)
        if not left_out or unused < self.path.stat().st_size // 2:
            with change_h5(self.path) as file:
                for path in left_out:
                    del file[path]
                yield file
            return
        with rewrite_h5(self.path, fresh=True) as new:
            with self._reading() as old:
                _copy_without(old, new, left_out)
            yield new

    def check_writable(self) -> None:
        """Check that the database is open for writing, and create a file that is not there yet.

        Raises
        ------
        StoreError
            The mode is ``"r"``; the message says how to open the database for writing.
        """
        if self.mode == "r":
            raise StoreError(
                f"{self.path}: opened with mode='r', which only reads; "
                "open it with mode='a' to change it"
            )
        if not self.path.exists():
            self._make()

    # ---------------------------------------------------------------- looking

    def _paths(self, file: h5py.File, hdf5_group: str) -> list[str]:
        path = "/" + "/".join(_parts(hdf5_group))
        if path != "/" and path not in file:
            groups = sorted({group.parent.name for group in _datasets(file["/"])})
            hint = nearest(path, groups) or f"; its groups are {some_of(groups)}"
            raise DataError(f"{self.path}: no group {hdf5_group!r}{hint}")
        key, names = ("paths", path), lambda: [group.name for group in _datasets(file[path])]
        return [*read_once(file, key, names, lambda paths: 100 * len(paths))]

    def _info(self, file: h5py.File, dataset_path: str) -> DatasetInfo:
        # The description itself is kept, and counted, by `get_info`: here its path alone is new.
        key, read = ("info", dataset_path), lambda: get_info(self._group(file, dataset_path))
        return read_once(file, key, read, lambda info: 4 * len(info.path))

    def _group(self, file: h5py.File, dataset_path: str) -> h5py.Group:
        path = "/" + "/".join(_parts(dataset_path))
        group = file.get(path)
        if not is_dataset(group):
            names = self._paths(file, "/")
            hint = nearest(path, names) or f"; it has {len(names)}, see list_datasets()"
            raise DataError(f"{self.path}: no dataset {dataset_path!r}{hint}")
        return group


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def _datasets(group: h5py.Group) -> Iterator[h5py.Group]:
    for item in group.values():
        if is_dataset(item):
            yield item
        elif isinstance(item, h5py.Group):
            yield from _datasets(item)


def _copy_without(old: h5py.Group, new: h5py.Group, left_out: set[str]) -> None:
    new.attrs.update(old.attrs)
    for name, item in old.items():
        if any(path.startswith(f"{item.name}/") for path in left_out):
            _copy_without(item, new.create_group(name), left_out)
        elif item.name not in left_out:
            old.copy(item, new, name)


def _stored_bytes(group: h5py.Group, left_out: set[str]) -> int:
    """Return the bytes of the arrays below a group, without the groups at some paths."""
    items = [item for item in group.values() if item.name not in left_out]
    return sum(
        _stored_bytes(item, left_out)
        if isinstance(item, h5py.Group)
        else int(item.id.get_storage_size())
        for item in items
    )


Files_IO = FilesIO  # the name in the MLaut paper


def _dataset_of(frame: pd.DataFrame, metadata: dict[str, Any]) -> Dataset:
    for key in ("class_name", "dataset_name"):
        if key not in metadata:
            raise DataError(f"the metadata of a dataset need {key!r}; these have {list(metadata)}")
    return Dataset(
        name=metadata.pop("dataset_name"),
        target=metadata.pop("class_name"),
        task=metadata.pop("task", ""),
        roles=metadata.pop("roles", {}),
        frame=frame,
        metadata=metadata,
    )
