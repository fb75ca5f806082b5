"""The study file: an HDF5 database with the splits, the strategies and every outcome.

Layout of the file below its root::

    splits/<dataset>                 folds (repeat, row), truth (row,), classes, weights (row,)
    experiments/strategies           name, fingerprint and identity of each
    experiments/runs                 machine, versions and arguments of each run, as JSON
    experiments/predictions/<dataset>
        strategies (S,)              names
        status (S, R, F)             the values of `mlaut.records.Status`; written last
        checksum (S, R, F)           checksum of the values that the cell stored
        seed (S, R, F)               seed that the cell was run with
        seconds (S, R, F, 3)         tuning, fitting, predicting
        usage (S, R, F, fields)      start time, wall seconds of the whole cell, peak memory
        predictions (S, R, row)      class positions or numbers
        probabilities (S, R, row, C) classification only
        details                      records of varying length, as JSON
        traces                       traces of searches (`mlaut.files_io.outcomes.traces`)

The axes are S strategies, R repeats, F folds and C classes; the rows of a repeat are sorted by
fold. The places of all cells are known from the start, and take room on the disk as cells come:
while a run writes, only values change. Each outcome is first written to a journal beside the file
(`mlaut.files_io.outcomes.journal`), so that a crash loses none.
"""

from __future__ import annotations

import contextlib
import os
import uuid
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import h5py

from mlaut.errors import StoreError, StoreWarning, StudyError, nearest, some_of
from mlaut.files_io.outcomes.journal import Journal, index_journal, put_aside
from mlaut.files_io.outcomes.study_records import (
    SplitEntry,
    StrategyEntry,
    extends,
    merged_entry,
    merged_strategies,
)
from mlaut.files_io.safe_files.hdf5 import change_h5, read_h5, rewrite_h5, write_in_place
from mlaut.files_io.safe_files.lock import locked
from mlaut.files_io.safe_files.names import to_h5
from mlaut.files_io.safe_files.system_errors import explained
from mlaut.files_io.safe_files.texts import new_group
from mlaut.files_io.studies import study_layout as layout
from mlaut.files_io.studies.study_arrays import StudyArrays, names_of
from mlaut.files_io.studies.study_reader import StudyReader
from mlaut.files_io.studies.study_writer import StudyWriter, fold_in, forget_torn, put_again
from mlaut.helpers.markup import counted
from mlaut.records import Status


class StudyStore(StudyReader):
    """One study on disk. The object holds only a path; each method opens and closes the file.

    Parameters
    ----------
    path : path-like
        Path of an HDF5 file; `save_splits` creates the file.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from mlaut.records import Cell, Outcome, Split, Status
    >>> folds = np.array([[0, 1, 0]], dtype=np.int16)
    >>> entry = SplitEntry("iris", "/uci/iris", "Classification", "f", ("n", "y"),
    ...                    np.array([0, 1, 1], dtype=np.int32), Split(folds, "kfold(2)"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study = StudyStore(folder + "/study.h5")
    ...     study.save_splits([entry])
    ...     study.allocate([StrategyEntry("tree", "g")])
    ...     with study.writing() as writer:
    ...         writer.write(Outcome(Cell("iris", "tree", 0, 1), Status.DONE,
    ...                              np.array([1], dtype=np.int32)))
    ...     study.status("iris").tolist(), study.block("iris").predictions.tolist()
    ([[[0, 1]]], [[[-1, 1, -1]]])
    """

    # -------------------------------------------------------------- structure

    def save_splits(self, entries: Iterable[SplitEntry], replace: bool = False) -> None:
        """Store datasets and their splits; a known split is kept, or extended by repeats.

        Parameters
        ----------
        entries : iterable of SplitEntry
            Identity, truth and split of each dataset.
        replace : bool, default False
            Accept other rows or another split under a known name. All outcomes of that dataset
            are then discarded.

        Raises
        ------
        StudyError
            A dataset of that name has other rows or another split, and ``replace`` is False.
        """
        with self._settled():
            stored = self.load_splits() if self.exists else {}
            changed: dict[str, SplitEntry] = {}
            for entry in entries:
                old = stored.get(entry.name)
                merged = merged_entry(old, entry, replace) if old else entry
                if merged is not old:
                    changed[entry.name] = stored[entry.name] = merged
            if changed or not self.exists:
                with layout.damage_explained(self.path), change_h5(self.path) as file:
                    layout.mark(file)
                    for entry in changed.values():
                        _put_dataset(file, entry)

    def allocate(
        self,
        strategies: Sequence[StrategyEntry],
        datasets: Mapping[str, Sequence[str]] | None = None,
        replace: bool = False,
    ) -> None:
        """Allocate the arrays for strategies on datasets.

        Parameters
        ----------
        strategies : sequence of StrategyEntry
            Name and identity of each strategy.
        datasets : mapping of str to sequence of str, optional
            Names of the strategies that run on each dataset; default all strategies on all
            datasets.
        replace : bool, default False
            Accept a strategy that is stored under the same name with other parameters. All its
            stored outcomes are then discarded.

        Raises
        ------
        StudyError
            A strategy of that name has other parameters, and ``replace`` is False.
        """
        with self._settled():
            names = [entry.name for entry in strategies]
            with self.reading() as file:
                stored = layout.strategies_of(file)
                entries = layout.entries_of(file)
                present = {name: names_of(layout.group_of(file, name)) for name in entries}
            requested = datasets or dict.fromkeys(present, names)
            merged = merged_strategies(stored, strategies, replace)
            stale = {
                old.name for old, new in zip(stored, merged, strict=False) if not old.is_same(new)
            }
            columns = {
                dataset: list(dict.fromkeys([*allocated, *requested.get(dataset, ())]))
                for dataset, allocated in present.items()
                if not set(requested.get(dataset, ())) <= set(allocated) or stale & set(allocated)
            }
            if columns or merged != list(stored):
                change = change_h5(self.path, keeps=layout.SPLITS)
                with layout.damage_explained(self.path), change as file:
                    layout.put_strategies(file, merged)
                    for dataset, names in columns.items():
                        group, entry = layout.group_of(file, dataset), entries[dataset]
                        arrays = StudyArrays(group, entry, present[dataset])
                        arrays.grow(entry, names).clear(stale)

    # ---------------------------------------------------------------- writing

    def store_analysis(self, record: Mapping[str, Any]) -> None:
        """Store an analysis that was chosen, with the time and the number of results known then.

        Parameters
        ----------
        record : mapping
            Plain JSON values, among them ``"analysis"``; `analyses` returns them.
        """
        change = change_h5(self.path, keeps=layout.SPLITS, same_open=True)
        with self._settled(), layout.damage_explained(self.path), change as file:
            layout.put_runs(file, [{"id": uuid.uuid4().hex, **record}])

    @contextlib.contextmanager
    def writing(self, run: Mapping[str, Any] | None = None) -> Iterator[StudyWriter]:
        """Begin a run as the only writer, after settling what a crashed run left behind.

        Parameters
        ----------
        run : mapping, optional
            Record of this run to store: machine, versions, arguments. Plain JSON values.

        Yields
        ------
        StudyWriter

        Raises
        ------
        StudyLockedError
            Another process is writing (the message names it), or another thread of this process.
        """
        with self._settled(for_run=True):
            study_id = self.id
            try:
                with (
                    contextlib.closing(Journal(self.journal_path, study_id)) as journal,
                    write_in_place(self.path) as file,
                ):
                    writer = StudyWriter(file, journal, run)
                    yield writer
                    writer.fold_in()
            except StoreError:
                raise  # the disk is full or gone: leave the journal to the next writer
            except BaseException:
                self._settle()
                raise
            self._remove_journal()

    def settle(self) -> None:
        """Merge the journal of an interrupted run into the study file.

        Every writer does this first. Call it when the study file alone, without its journal, must
        hold all details of an interrupted run.
        """
        with self._settled():
            pass

    def mend(self) -> dict[str, int]:
        """Clear the cells whose checksum does not match, so that the next run repeats them.

        Returns
        -------
        dict of str to int
            Number of cleared cells, by dataset; datasets without any are left out.
        """
        with self._settled(), layout.damage_explained(self.path), write_in_place(self.path) as file:
            return forget_torn(file)

    def restructure(
        self,
        datasets: Mapping[str, str | None] | None = None,
        strategies: Mapping[str, str | None] | None = None,
        paths: Mapping[str, str] | None = None,
    ) -> dict[str, int]:
        """Rename or remove datasets and strategies, with their outcomes, in one change.

        Parameters
        ----------
        datasets, strategies : mapping of str to (str or None), optional
            The new name of each, or None to remove it. All others stay.
        paths : mapping of str to str, optional
            New paths in the database of the datasets, by their present names.

        Returns
        -------
        dict of str to int
            Number of cells with an outcome that each of them has.

        Raises
        ------
        StudyError
            The study has no such dataset or strategy, has one of the new name, or is a race.
        """
        renamed = datasets or {}, strategies or {}
        with self._settled():
            stored = list(self.load_splits()), [entry.name for entry in self.strategies]
            for what, changes, names in zip(("dataset", "strategy"), renamed, stored, strict=True):
                for old, new in changes.items():
                    if old not in names:
                        hint = nearest(old, names) or f"; it has {some_of(names)}"
                        raise StudyError(f"{self.path}: no {what} {old!r}{hint}")
                    if new in names:
                        raise StudyError(f"{self.path}: {what} {new!r} exists; use another name")
            if self.race is not None:
                raise StudyError(
                    f"{self.path}: a race decides by all of its strategies and datasets; leave "
                    "some out in a new study"
                )
            counts = self._outcomes_of(*renamed)
            with (
                layout.damage_explained(self.path),
                read_h5(self.path) as old_file,
                rewrite_h5(self.path, fresh=True) as new_file,
            ):
                layout.copy_study(old_file, new_file, *renamed, paths)
        return counts

    def _outcomes_of(
        self, datasets: Collection[str], strategies: Collection[str]
    ) -> dict[str, int]:
        counts = dict.fromkeys([*datasets, *strategies], 0)
        for dataset, (names, status) in self.statuses().items():
            numbers = (status != Status.MISSING).sum(axis=(1, 2)).tolist()
            if dataset in datasets:
                counts[dataset] += sum(numbers)
            for name, n in zip(names, numbers, strict=True):
                if name in strategies:
                    counts[name] += n
        return counts

    def compact(self) -> tuple[int, int]:
        """Make the file anew, without space that deleted and replaced values left in it.

        The present file is kept where the new one would take as much of the disk. Room for a second
        file is needed meanwhile. A file of datasets without a study can be compacted, too.

        Returns
        -------
        before, after : int
            Bytes that the file took on the disk.
        """
        with self._settled():
            before = self.path.stat().st_blocks * 512
            with (
                layout.damage_explained(self.path),
                read_h5(self.path) as old,
                rewrite_h5(self.path, fresh=True, if_smaller=True) as new,
            ):
                layout.copy_study(old, new)
            return before, self.path.stat().st_blocks * 512

    def copy_to(
        self,
        path: str | os.PathLike[str],
        plain: Callable[[Any], Any],
        check: Callable[[StudyArrays], None] | None = None,
    ) -> StudyStore:
        """Write a copy that holds the study and nothing else that the file may have.

        Parameters
        ----------
        path : path-like
            Path of the copy, which must not exist.
        plain : callable
            Returns the record of a run or of a cell as the copy stores it.
        check : callable, optional
            Called with the arrays of each dataset, before they are copied; it may raise an error.

        Returns
        -------
        StudyStore
            The same study always has a copy of the same bytes.
        """
        with (
            layout.damage_explained(self.path),
            self.reading() as old,
            rewrite_h5(path, fresh=True) as new,
        ):
            layout.copy_study(old, new, plain=plain, check=check)
        return StudyStore(path)

    @contextlib.contextmanager
    def _settled(self, for_run: bool = False) -> Iterator[None]:
        """Hold the lock of the study, after storing what an interrupted run left."""
        with locked(self.path, for_run=for_run):
            self._settle()
            yield

    def _settle(self) -> None:
        """Store what an interrupted run left; the caller holds the lock."""
        if not self.path.exists():
            return
        with read_h5(self.path) as file, layout.damage_explained(self.path):
            if "study_id" not in file.attrs:
                return
            layout.check_format(file, self.path)
        if not self.journal_path.exists():
            return
        with layout.damage_explained(self.path):
            index = index_journal(self.journal_path, self.id)
            with write_in_place(self.path) as file:
                logs = put_again(file, index)
            with write_in_place(self.path) as file:
                cleared = forget_torn(file)
            if cleared:
                warnings.warn(
                    f"{self.path}: checksums of {counted(sum(cleared.values()), 'cell')} did not "
                    "match (damage, or a power cut in their writing); the next run repeats them",
                    StoreWarning,
                    stacklevel=3,
                )
            if index.packs:
                with change_h5(self.path, same_open=True) as changed:
                    fold_in(changed, index.runs, logs)
        if index.damaged:
            warnings.warn(
                f"{index.path}: {index.damaged} bytes of this journal were damaged; "
                "all whole records, also those behind them, are in the study; the journal is kept "
                f"as {put_aside(index.path).name}",
                StoreWarning,
                stacklevel=3,
            )
        else:
            self._remove_journal()

    def _remove_journal(self) -> None:
        with explained(self.journal_path, "removing this journal, whose outcomes are stored"):
            self.journal_path.unlink()


def _put_dataset(file: h5py.File, entry: SplitEntry) -> None:
    """Store a dataset and its split; outcomes of another split of it are deleted."""
    name = to_h5(entry.name)
    names: tuple[str, ...] = ()
    arrays = layout.arrays_of(file, entry.name) if name in file[layout.PREDICTIONS] else None
    layout.put_entry(file, entry)
    if arrays is not None:
        names = arrays.names
        if extends(arrays.entry, entry):
            arrays.grow(entry, names)
            return
        del file[layout.PREDICTIONS][name]
    StudyArrays.create(new_group(file[layout.PREDICTIONS], name), entry, names)
