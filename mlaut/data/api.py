"""What a user calls to set up a study: databases, datasets in them, and splits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mlaut.data.collections import collection, collection_entries
from mlaut.data.loaders import load_folder, load_sklearn
from mlaut.data.loading import load_into
from mlaut.data.references import expand
from mlaut.data.resampling import HoldOut, KFold
from mlaut.data.splitting import chosen_scheme, dataset_infos, is_split, split_entry
from mlaut.files_io import FilesIO, SplitEntry, Study

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Data", "list_datasets"]


class Data:
    """Sets up the data of a study: opens databases, fills them, and splits datasets.

    It holds nothing itself; its methods are the first steps of the workflow.

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

    def open_hdf5(
        self,
        hdf5_path: str | os.PathLike[str],
        mode: Literal["r", "a", "w"] = "r",
        *,
        overwrite: bool = False,
    ) -> FilesIO:
        """Open a database of datasets, or of a study.

        Parameters
        ----------
        hdf5_path : path-like
        mode : {"r", "a", "w"}, default "r"
            ``"r"`` reads, ``"a"`` also writes and creates what does not exist, ``"w"`` begins
            with an empty file.
        overwrite : bool, default False
            Let ``"w"`` empty a file that exists.

        Raises
        ------
        StoreError
            The file cannot be used so; the message says why and what to do.
        """
        return FilesIO(hdf5_path, mode, overwrite=overwrite)

    def list_datasets(self, hdf5_io: FilesIO, hdf5_group: str = "/") -> tuple[list[str], list[str]]:
        """Return names and paths of the datasets of a group (`FilesIO.list_datasets`)."""
        return hdf5_io.list_datasets(hdf5_group)

    # ---------------------------------------------------------------- filling

    def load_collection(
        self,
        name: str = "starter",
        *,
        hdf5_io: FilesIO,
        task: str | None = None,
        names: Iterable[str] | None = None,
        hdf5_group: str | None = None,
    ) -> list[str]:
        """Put a collection into a database; what is there already stays as it is.

        Parameters
        ----------
        name : str, default "starter"
            One of `mlaut.data.list_collections`.
        hdf5_io : FilesIO
            Open with mode ``"a"``.
        task : str, optional
            The datasets of this task only.
        names : iterable of str, optional
            These datasets only.
        hdf5_group : str, optional
            Default the name of the collection.

        Returns
        -------
        list of str
            Paths of the datasets.
        """
        hdf5_io.check_writable()
        found = collection(name, task=task, names=names)
        return list(hdf5_io.save_datasets(found, name if hdf5_group is None else hdf5_group))

    def load(
        self,
        references: str | Iterable[str],
        *,
        hdf5_io: FilesIO,
        task: str | None = None,
        hdf5_group: str | None = None,
        overwrite: bool = False,
    ) -> list[str]:
        """Put datasets from anywhere into a database; what is there already stays as it is.

        Parameters
        ----------
        references : str or iterable of str
            For example ``"openml/s/99"`` or ``["starter/iris", "openml/t/59", "uci/53"]``
            (`mlaut.data.parse_reference`). What is in the database or in a cache of this machine
            needs no network.
        hdf5_io : FilesIO
            Open with mode ``"a"``.
        task : str, optional
            The datasets of this task only.
        hdf5_group : str, optional
            Default the source of each, for example ``"openml"``.
        overwrite : bool, default False
            Load also what is in the database, and replace what has other content.

        Returns
        -------
        list of str
            Paths of the datasets, in the order of the references.

        Raises
        ------
        DataError
            As `mlaut.data.fetch`. What was loaded before is stored, and is not loaded again.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     io = Data().open_hdf5(folder + "/input.h5", mode="a")
        ...     Data().load(["starter/zoo", "sklearn/iris?name=iris-2"], hdf5_io=io)
        ['/starter/zoo', '/sklearn/iris-2']
        """
        hdf5_io.check_writable()
        return load_into(
            hdf5_io, expand(references), task=task, group=hdf5_group, overwrite=overwrite
        )

    def pandas_to_db(
        self,
        hdf5_io: FilesIO,
        datasets: Iterable[pd.DataFrame],
        dts_metadata: Iterable[Mapping[str, Any]],
        save_loc: str = "/",
    ) -> list[str]:
        """Store many tables, each with its metadata, in one change of the database.

        See `FilesIO.pandas_to_db` and, for the metadata, `FilesIO.save_pandas_dataset`.
        """
        return list(hdf5_io.pandas_to_db(datasets, dts_metadata, save_loc))

    def load_folder(
        self,
        folder: str | os.PathLike[str],
        *,
        hdf5_io: FilesIO,
        task: str | None = None,
        names: Iterable[str] | None = None,
        hdf5_group: str | None = None,
        overwrite: bool = False,
    ) -> list[str]:
        """Put the CSV, ARFF and parquet tables of a folder into a database.

        `mlaut.data.load_folder` says how a ``manifest.csv`` in the folder describes them.

        Parameters
        ----------
        folder : path-like
        hdf5_io : FilesIO
            Open with mode ``"a"``.
        task : str, optional
            The datasets of this task only.
        names : iterable of str, optional
            These datasets only.
        hdf5_group : str, optional
            Default the name of the folder.
        overwrite : bool, default False
            Replace datasets of the same names that have other content.

        Returns
        -------
        list of str
            Paths of the datasets.

        Raises
        ------
        DataError
            A table cannot be read or used; the message names file, dataset and column.
        """
        hdf5_io.check_writable()
        found = load_folder(folder, task=task, names=names)
        group = Path(folder).resolve().name if hdf5_group is None else hdf5_group
        return list(hdf5_io.save_datasets(found, group, overwrite=overwrite))

    def load_sklearn(
        self,
        *,
        hdf5_io: FilesIO,
        names: Iterable[str] | None = None,
        hdf5_group: str = "sklearn",
    ) -> list[str]:
        """Put the tables that come with scikit-learn into a database."""
        hdf5_io.check_writable()
        return list(hdf5_io.save_datasets(load_sklearn(names), hdf5_group))

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
    ) -> list[str]:
        """Assign the rows of datasets to folds, once, and store that in a study.

        All strategies are fitted and judged on the stored split. A dataset that has one keeps it:
        nothing is drawn again, also when the call is repeated to resume a study. The draw depends
        on the seed and on the content of the dataset alone, not on other datasets.

        Parameters
        ----------
        hdf5_in : FilesIO
            The database with the datasets.
        hdf5_out : FilesIO
            The study, open with mode ``"a"``.
        dataset_paths : iterable of str, optional
            As `list_datasets` gives them; default all datasets of ``hdf5_in``.
        scheme : str or splitter, optional
            ``"holdout"``, ``"repeated_holdout(n_repeats=10)"``, ``"kfold(10)"``,
            ``"repeated_kfold(10, 10)"`` (`mlaut.data.parse_scheme`), a scikit-learn splitter, or
            ``"own"``: the split that a dataset came with, such as that of an OpenML task. Default
            ``"own"`` for datasets that have one, and ``"holdout"`` for all others. Of a splitter
            the rows are kept, and not the order in which it gives them: they are ascending.
        test_size : float, optional
            Share of the rows that test in a hold-out; default a third.
        stratify : bool, default True
            Give each fold the same share of each class. ``False`` draws rows whatever their
            class, as the published MLaut did. Regression is never stratified, and a scikit-learn
            splitter does as it is made.
        seed : int, default 0
        groups : str, optional
            Name of the column that tells a splitter such as ``GroupKFold`` which rows belong
            together. It stays a feature.
        overwrite : bool, default False
            Split datasets anew whose content or split is another one than stored. All outcomes of
            those datasets are given up.

        Returns
        -------
        list of str
            Names of the datasets, in the order of ``dataset_paths``.

        Raises
        ------
        DataError
            A target cannot be used, or a scheme does not suit the rows; the message names the
            dataset. Nothing was stored then.
        StudyError
            A dataset is stored with other content or another split, and ``overwrite`` is False.
        """
        hdf5_out.check_writable()
        study = Study(hdf5_out.path)
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
    ) -> list[SplitEntry]:
        """Make splits as `split_datasets` does, and store nothing.

        Parameters
        ----------
        hdf5_in, dataset_paths, scheme, test_size, stratify, seed, groups
            As `split_datasets` takes them.
        known : mapping of str to SplitEntry, optional
            Splits by dataset, as `Study.load_splits` gives them; those that are just the ones
            asked for are given back as they are.

        Returns
        -------
        list of SplitEntry
        """
        known = known or {}
        drawn = chosen_scheme(scheme, test_size, stratify, groups)
        may_be_own = not scheme and test_size is None and groups is None
        entries = []
        for info in dataset_infos(hdf5_in, dataset_paths):
            chosen = None if may_be_own and info.split else drawn
            stored = known.get(info.name)
            if stored is not None and is_split(stored, info, chosen, seed, groups):
                entries.append(stored)
            else:
                entries.append(split_entry(hdf5_in, info, chosen, seed, groups))
        return entries


def list_datasets(
    database: str | os.PathLike[str] | None = None, group: str = "/"
) -> list[dict[str, Any]]:
    """List the datasets of a database, or those that come with MLaut, without their tables.

    Parameters
    ----------
    database : path-like, optional
        An input database; default the collection ``starter``.
    group : str, default "/"
        A group of the database.

    Returns
    -------
    list of dict
        With ``name``, ``task``, ``rows``, ``features``, ``classes``, ``source`` and ``path``
        (empty for the collection), plain JSON values.

    Examples
    --------
    >>> [row["name"] for row in list_datasets() if row["rows"] > 1400]
    ['car', 'contrac']
    """
    if database is None:
        return [_row(entry, "", entry.source) for entry in collection_entries("starter")]
    infos = FilesIO(database).dataset_infos(group)
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
