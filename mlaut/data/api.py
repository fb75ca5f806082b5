"""Public functions that set up a study: open databases, load datasets, and split them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from mlaut.data.sources.loading import load_into
from mlaut.data.sources.references import expand
from mlaut.data.splits.resampling import HoldOut, KFold
from mlaut.data.splits.splitting import (
    dataset_infos,
    is_split,
    schemes_of,
    split_entry,
    warn_of_leaks,
)
from mlaut.data.tables.collections import collection, collection_entries
from mlaut.data.tables.folders import load_folder
from mlaut.data.tables.frames import with_roles
from mlaut.errors import DataError, nearest, some_of, with_checked_options
from mlaut.files_io import FilesIO, SplitEntry, StudyStore
from mlaut.files_io.files_io import opened
from mlaut.files_io.outcomes.study_records import extends
from mlaut.helpers.former_names import former
from mlaut.helpers.lazy import pd


@with_checked_options(DataError)
class Data:
    """Methods that set up the data of a study: open databases, load datasets, and split them.

    An instance has no state.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> data = Data()
    >>> input_io = data.open_hdf5(folder.name + "/input.h5", mode="a")
    >>> out_io = data.open_hdf5(folder.name + "/study.h5", mode="a")
    >>> _ = data.load_collection("starter", hdf5_io=input_io, names=["iris", "zoo"])
    >>> names, paths = data.list_datasets(hdf5_io=input_io, hdf5_group="starter/")
    >>> data.split_datasets(hdf5_in=input_io, hdf5_out=out_io, dataset_paths=paths)
    ['iris', 'zoo']
    >>> folder.cleanup()
    """

    def __repr__(self) -> str:
        return "Data()"

    def __getattr__(self, name: str) -> Any:
        today = former().get(f"Data.{name}")
        hint = f"; today: {today}" if today else nearest(name, vars(Data))
        raise AttributeError(f"'Data' object has no attribute {name!r}{hint}")

    def open_hdf5(
        self,
        hdf5_path: str | os.PathLike[str],
        mode: Literal["r", "a", "w"] | None = None,
        *,
        overwrite: bool = False,
    ) -> FilesIO:
        """Open a database of datasets, or a study.

        Parameters
        ----------
        hdf5_path : path-like
        mode : {"r", "a", "w"}, optional
            ``"r"`` reads, ``"a"`` also writes and creates a missing file, ``"w"`` starts with an
            empty file. By default ``"a"`` where the file may be changed, else ``"r"``; a missing
            file is created when something is first written to it.
        overwrite : bool, default False
            Let ``"w"`` empty a file that exists.

        Raises
        ------
        StoreError
            The file cannot be opened in this mode; the message says why and what to do.
        """
        return FilesIO(hdf5_path, mode, overwrite=overwrite)

    def list_datasets(self, hdf5_io: FilesIO, hdf5_group: str = "/") -> tuple[list[str], list[str]]:
        """Return the names and paths of the datasets of a group (`FilesIO.list_datasets`)."""
        return opened(hdf5_io).list_datasets(hdf5_group)

    # ---------------------------------------------------------------- filling

    def load_collection(
        self,
        name: str = "starter",
        *,
        hdf5_io: FilesIO,
        task: str | None = None,
        names: Iterable[str] | None = None,
        hdf5_group: str | None = None,
        roles: Mapping[str, Any] | None = None,
    ) -> list[str]:
        """Store a collection in a database; datasets that are there already do not change.

        Parameters
        ----------
        name : str, default "starter"
            One of `mlaut.data.list_collections`.
        hdf5_io : FilesIO
            Database that is open with mode ``"a"``.
        task : str, optional
            Store only the datasets of this task.
        names : iterable of str, optional
            Store only these datasets.
        hdf5_group : str, optional
            Group of the database; by default the name of the collection.
        roles : mapping, optional
            Columns that are no features, by role (`mlaut.data.with_roles`).

        Returns
        -------
        list of str
            Paths of the datasets.
        """
        opened(hdf5_io).check_writable()
        tables = [with_roles(table, roles) for table in collection(name, task=task, names=names)]
        return list(hdf5_io.save_datasets(tables, name if hdf5_group is None else hdf5_group))

    def load(
        self,
        references: str | Iterable[str],
        *,
        hdf5_io: FilesIO,
        task: str | None = None,
        hdf5_group: str | None = None,
        overwrite: bool = False,
        roles: Mapping[str, Any] | None = None,
    ) -> list[str]:
        """Load datasets by reference and store them; stored datasets do not change.

        Parameters
        ----------
        references : str or iterable of str
            For example ``"openml/s/99"`` or ``["starter/iris", "openml/t/59", "uci/53"]``
            (`mlaut.data.parse_reference`). A dataset in the database or in a cache of this
            machine needs no network.
        hdf5_io : FilesIO
            Database that is open with mode ``"a"``.
        task : str, optional
            Return only the paths of the datasets of this task.
        hdf5_group : str, optional
            Group of the database; by default the source of each dataset, for example
            ``"openml"``.
        overwrite : bool, default False
            Load stored datasets again, and replace those whose content differs.
        roles : mapping, optional
            Columns that are no features, by role (`mlaut.data.with_roles`). References can name
            them too, as in ``"openml/d/61?group=patient"``.

        Returns
        -------
        list of str
            Paths of the datasets, in the order of the references.

        Raises
        ------
        DataError
            As in `mlaut.data.fetch`. Datasets that were loaded before the error are stored, and
            the next call does not load them again.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     io = Data().open_hdf5(folder + "/input.h5", mode="a")
        ...     Data().load(["starter/zoo", "sklearn/iris?name=iris-2"], hdf5_io=io)
        ['/starter/zoo', '/sklearn/iris-2']
        """
        opened(hdf5_io).check_writable()
        return load_into(
            hdf5_io,
            expand(references),
            task=task,
            group=hdf5_group,
            overwrite=overwrite,
            roles=roles,
        )

    def pandas_to_db(
        self,
        hdf5_io: FilesIO,
        datasets: Iterable[pd.DataFrame],
        dts_metadata: Iterable[Mapping[str, Any]],
        save_loc: str = "/",
    ) -> list[str]:
        """Store several tables, each with its metadata, in one change of the database.

        See `FilesIO.pandas_to_db` and, for the metadata, `FilesIO.save_pandas_dataset`.
        """
        return list(opened(hdf5_io).pandas_to_db(datasets, dts_metadata, save_loc))

    def load_folder(
        self,
        folder: str | os.PathLike[str],
        *,
        hdf5_io: FilesIO,
        task: str | None = None,
        names: Iterable[str] | None = None,
        hdf5_group: str | None = None,
        overwrite: bool = False,
        roles: Mapping[str, Any] | None = None,
        missing: Mapping[str, Sequence[str]] | None = None,
        unusable: list[DataError] | None = None,
    ) -> list[str]:
        """Store the CSV, ARFF and parquet tables of a folder in a database.

        See `mlaut.data.load_folder` for the ``manifest.csv`` that can describe the tables.

        Parameters
        ----------
        folder : path-like
        hdf5_io : FilesIO
            Database that is open with mode ``"a"``.
        task : str, optional
            Store only the datasets of this task.
        names : iterable of str, optional
            Store only these datasets.
        hdf5_group : str, optional
            Group of the database; by default the name of the folder.
        overwrite : bool, default False
            Replace stored datasets of the same name whose content differs.
        roles : mapping, optional
            Columns that are no features, by role (`mlaut.data.with_roles`).
        missing, unusable
            As in `mlaut.data.load_folder`.

        Returns
        -------
        list of str
            Paths of the datasets.

        Raises
        ------
        DataError
            A table cannot be read or used; the message names file, dataset and column.
        """
        opened(hdf5_io).check_writable()
        how: dict[str, Any] = {"roles": roles, "missing": missing, "unusable": unusable}
        tables = load_folder(folder, task=task, names=names, **how)
        group = Path(folder).resolve().name if hdf5_group is None else hdf5_group
        return list(hdf5_io.save_datasets(tables, group, overwrite=overwrite))

    # -------------------------------------------------------------- splitting

    def split_datasets(
        self,
        hdf5_in: FilesIO,
        hdf5_out: FilesIO,
        dataset_paths: Iterable[str] | None = None,
        scheme: str | HoldOut | KFold | Any = "",
        *,
        test_size: float | None = None,
        stratify: bool = True,
        seed: int = 0,
        groups: str | None = None,
        overwrite: bool = False,
        unusable: list[DataError] | None = None,
        kept: list[SplitEntry] | None = None,
    ) -> list[str]:
        """Assign the rows of datasets to folds and store these splits in a study.

        All strategies are fitted and scored on the stored split. A dataset with a stored split
        keeps it, also when the call is repeated to resume a study. The draw depends only on the
        seed and on the content of the dataset, not on other datasets.

        Parameters
        ----------
        hdf5_in : FilesIO
            Database of the datasets.
        hdf5_out : FilesIO
            Study that is open with mode ``"a"``.
        dataset_paths : iterable of str, optional
            Paths as `list_datasets` returns them; by default all datasets of ``hdf5_in``.
        scheme : str, splitter, or mapping of these by the names of datasets, optional
            ``"holdout"``, ``"repeated_holdout(n_repeats=10)"``, ``"kfold(10)"``,
            ``"repeated_kfold(10, 10)"``; for datasets with a group or a time,
            ``"group_kfold(5)"``, ``"stratified_group_kfold(5)"``, ``"leave_one_group_out"``,
            ``"time_series(5)"``, ``"group_time_series(5)"``; for datasets of which some have
            those, ``"kfold_by_role(5)"`` (`mlaut.data.parse_scheme`); a scikit-learn splitter, or
            one of your own; a list of (train, test) pairs of row positions; or ``"own"``, the split
            that the source of a dataset provides, such as an OpenML task. By default ``"own"`` for
            datasets that have such a split, and ``"holdout"`` for all others. The rows of a
            splitter are stored in ascending order, not in its own order. In a mapping, ``"*"`` is
            for all datasets that it does not name.
        test_size : float, optional
            Share of the rows that test in a hold-out; default a third.
        stratify : bool, default True
            Whether each fold has the same share of each class. ``False`` draws rows regardless
            of their class, as the published MLaut did. Regression is never stratified. The argument
            has no effect on a scikit-learn splitter.
        seed : int, default 0
            Seed of the draw.
        groups : str, optional
            Name of the column of groups for a splitter such as ``GroupKFold``, which keeps the
            rows of a group together. The column stays a feature, unless it has a role. Default:
            the column with the role ``group``.
        overwrite : bool, default False
            Draw new splits for datasets whose content or split differs from the stored one. All
            outcomes of these datasets are discarded.
        unusable : list, optional
            Errors of datasets that cannot be split are appended here, and the others are split. If
            there are no others, the error is raised.
        kept : list, optional
            Datasets with a stored split that the scheme neither gives nor extends keep it, and are
            appended here; default they are refused.

        Returns
        -------
        list of str
            Names of the datasets, in the order of ``dataset_paths``.

        Raises
        ------
        DataError
            A target cannot be used, or a scheme does not suit the rows; the message names the
            dataset, and nothing is stored.
        LeakWarning
            Rows of one group, id or time train and test in one fold.
        StudyError
            A dataset is stored with other content or another split, and ``overwrite`` is False.
        """
        opened(hdf5_out).check_writable()
        study = StudyStore(hdf5_out.path)
        known = study.load_splits() if study.exists else {}
        entries = self.make_splits(
            hdf5_in,
            dataset_paths,
            scheme,
            test_size=test_size,
            stratify=stratify,
            seed=seed,
            groups=groups,
            known=known,
            unusable=unusable,
            kept=kept,
        )
        new = [entry for entry in entries if known.get(entry.name) is not entry]
        if new:
            study.save_splits(new, replace=overwrite)
        return [entry.name for entry in entries]

    def make_splits(
        self,
        hdf5_in: FilesIO,
        dataset_paths: Iterable[str] | None = None,
        scheme: str | HoldOut | KFold | Any = "",
        *,
        test_size: float | None = None,
        stratify: bool = True,
        seed: int = 0,
        groups: str | None = None,
        known: Mapping[str, SplitEntry] | None = None,
        unusable: list[DataError] | None = None,
        kept: list[SplitEntry] | None = None,
    ) -> list[SplitEntry]:
        """Return the splits that `split_datasets` would store, without storing them.

        Parameters
        ----------
        hdf5_in, dataset_paths, scheme, test_size, stratify, seed, groups, unusable, kept
            As in `split_datasets`.
        known : mapping of str to SplitEntry, optional
            Stored splits by dataset, as `Study.load_splits` returns them. An entry that already
            is the requested split is returned unchanged.

        Returns
        -------
        list of SplitEntry
        """
        known, found = known or {}, dict[str, list[str]]()
        infos = dataset_infos(opened(hdf5_in), dataset_paths)
        schemes = schemes_of(hdf5_in, infos, scheme, test_size, stratify, groups)
        entries = []
        with hdf5_in.loading() as load:
            for info in infos:
                old = known.get(info.name)
                if old is not None and old.fingerprint != info.fingerprint:
                    old = None  # the study refuses the new entry, or replaces the old one
                if info.name not in schemes and old is None:
                    raise DataError(
                        f"split: no scheme for {info.name!r}; name one, or one for all others as "
                        "'*'"
                    )
                if old and (
                    info.name not in schemes
                    or is_split(old, info, schemes[info.name], seed, groups)
                ):
                    entries.append(old)
                    continue
                try:
                    entry, leaks = split_entry(
                        hdf5_in, info, schemes[info.name], seed, groups, load
                    )
                except DataError as error:
                    if kept is None or old is None:
                        if unusable is None:
                            raise
                        unusable.append(error)
                        continue
                    entry, leaks = old, []
                if kept is not None and old and (entry is old or not extends(old, entry)):
                    entry, leaks = old, []
                    kept.append(entry)
                entries.append(entry)
                found[info.name] = leaks
        warn_of_leaks(found)
        if unusable and not entries:
            raise unusable[0]
        return entries


def list_datasets(
    database: str | os.PathLike[str] | None = None, group: str = "/"
) -> list[dict[str, Any]]:
    """Return the facts about the datasets of a database or of MLaut; their tables are not read.

    Parameters
    ----------
    database : path-like, optional
        Input database; by default the collection ``starter``, which comes with MLaut.
    group : str, default "/"
        Group of the database.

    Returns
    -------
    list of dict
        One dict per dataset, with the keys ``name``, ``task``, ``rows``, ``features``,
        ``classes``, ``source`` and ``path`` (empty for the collection); plain JSON values.

    Raises
    ------
    DataError
        The file is a study, which holds splits and results of datasets and no tables.

    Examples
    --------
    >>> [row["name"] for row in list_datasets() if row["rows"] > 1400]
    ['car', 'contrac']
    """
    if database is None:
        return [_row(entry, "", entry.source) for entry in collection_entries("starter")]
    infos = FilesIO(database).dataset_infos(group)
    study = StudyStore(database)
    if not infos and study.exists:
        inputs = {str(run["input"]) for run in study.runs if run.get("input")}
        where = f"; their tables are in {', '.join(sorted(inputs))}" if inputs else ""
        raise DataError(
            f"{database}: a study, not a database of datasets; its datasets are "
            f"{some_of(study.datasets)}{where}"
        )
    return [_row(info, info.path, info.metadata.get("source", "")) for info in infos]


def _row(about: Any, path: str, source: Any) -> dict[str, Any]:
    return {
        "name": about.name,
        "task": about.task,
        "rows": about.n_rows,
        "features": about.n_features,
        "classes": about.n_classes,
        "source": source,
        "path": path,
    }
