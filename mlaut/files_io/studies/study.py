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

import base64
import contextlib
import os
import struct
import uuid
import warnings
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import h5py
import numpy as np

from mlaut.errors import StoreError, StoreWarning, StudyError, nearest, some_of
from mlaut.files_io.outcomes.journal import Journal, JournalIndex, index_journal, put_aside
from mlaut.files_io.outcomes.study_records import (
    TRACES,
    SplitEntry,
    StrategyEntry,
    cell_details,
    extends,
    latest_of,
    merged_entry,
    merged_strategies,
    outcome_record,
)
from mlaut.files_io.outcomes.traces import unpack_traces
from mlaut.files_io.safe_files.hdf5 import change_h5, read_h5, rewrite_h5, write_in_place
from mlaut.files_io.safe_files.lock import holder_of, locked
from mlaut.files_io.safe_files.names import beside, from_h5, to_h5
from mlaut.files_io.safe_files.system_errors import explained
from mlaut.files_io.studies import study_layout as layout
from mlaut.files_io.studies.study_arrays import PART, ArrayWriter, StudyArrays, names_of
from mlaut.files_io.studies.study_writer import StudyWriter, fold_in, forget_torn, put_again
from mlaut.markup import counted, table_html
from mlaut.records import Block, Status, Trace

T = TypeVar("T")
Names = Iterable[str] | None

LEARNERS = ("scikit-learn", "xgboost", "lightgbm", "catboost", "keras", "torch")
"""Libraries whose version can change what a learner predicts."""


class StudyStore:
    """One study on disk. The object holds only a path; each method opens and closes the file.

    Parameters
    ----------
    path : path-like
        Path of an HDF5 file; `save_splits` creates the file.

    Examples
    --------
    >>> import tempfile
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

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(os.path.expanduser(path))

    def __repr__(self) -> str:
        return f"StudyStore({str(self.path)!r})"

    def _repr_html_(self) -> str:
        rows = [
            {
                "dataset": entry.name,
                "task": entry.task,
                "rows": len(entry.truth),
                "classes": len(entry.classes) or "",
                "repeats": entry.split.n_repeats,
                "folds": entry.split.n_folds,
            }
            for entry in self.load_splits().values()
        ]
        names = ", ".join(entry.name for entry in self.strategies) or "none yet"
        text = f"{self.path}: study of {counted(len(rows), 'dataset')}\nStrategies: {names}"
        return table_html(text, rows)

    @property
    def journal_path(self) -> Path:
        """Path of the journal, where a run writes each outcome first."""
        return beside(self.path, ".journal")

    # ---------------------------------------------------------------- reading

    @contextlib.contextmanager
    def reading(self) -> Iterator[h5py.File]:
        """Open the file for reading; damage raises a `StoreError` that explains it."""
        with read_h5(self.path) as file, layout.damage_explained(self.path):
            layout.check_format(file, self.path)
            yield file

    @property
    def exists(self) -> bool:
        """Return whether the file exists and holds a study."""
        if not self.path.exists():
            return False
        with read_h5(self.path) as file:
            return "study_id" in file.attrs

    @property
    def id(self) -> str:
        """Unique identifier of the study, as text."""
        with self.reading() as file:
            return str(file.attrs["study_id"])

    @property
    def datasets(self) -> tuple[str, ...]:
        """Names of the datasets that have a split, in the order of the file."""
        with self.reading() as file:
            return tuple(from_h5(name) for name in file[layout.SPLITS])

    @property
    def strategies(self) -> tuple[StrategyEntry, ...]:
        """Strategies in the order in which they were added."""
        with self.reading() as file:
            return layout.strategies_of(file)

    @property
    def runs(self) -> tuple[dict[str, Any], ...]:
        """Records of the runs that ended: machine, versions and arguments of each."""
        return tuple(run for run in self._records() if layout.ANALYSIS not in run)

    def mixed_versions(self, now: Mapping[str, str | None] | None = None) -> str:
        """Return in words which versions of learners' libraries the results mix; empty for none.

        Parameters
        ----------
        now : mapping of str to str, optional
            Versions of a run that is about to add results.
        """
        records = [run.get("versions") for run in self.runs]
        records += [now] if now and any(records) else []
        mixed = {}
        for name in LEARNERS:
            of_runs = (str(run[name]) for run in records if isinstance(run, dict) and run.get(name))
            if len(versions := list(dict.fromkeys(of_runs))) > 1:
                mixed[name] = f"{name} {', '.join(versions[:-1])} and {versions[-1]}"
        return f"results of {'; '.join(mixed.values())} are in one study" if mixed else ""

    @property
    def analyses(self) -> tuple[dict[str, Any], ...]:
        """Records of the analysis, as it was chosen and changed (`store_analysis`)."""
        return tuple(record for record in self._records() if layout.ANALYSIS in record)

    def _records(self) -> tuple[dict[str, Any], ...]:
        with self.reading() as file:
            return layout.runs_of(file)

    @property
    def all_runs(self) -> tuple[dict[str, Any], ...]:
        """Records of all runs, including the one that goes on."""
        with self.reading() as file:
            live = index_journal(self.journal_path, str(file.attrs["study_id"])).runs
            ended = layout.runs_of(file)
            ids = {run["id"] for run in ended}
            new = (run for run in live if run["id"] not in ids)
            return tuple(run for run in (*ended, *new) if layout.ANALYSIS not in run)

    @property
    def race(self) -> dict[str, Any] | None:
        """Terms of the study's race as they were stored last; None for a study that is no race."""
        sealed = [run["race"] for run in self.all_runs if isinstance(run.get("race"), dict)]
        return sealed[-1] if sealed else None

    @property
    def shard(self) -> str:
        """Share of the cells that every run did, such as ``"2/10"``; empty for a whole study."""
        shards = {str(run.get("shard") or "") for run in self.all_runs if "engine" in run}
        return shards.pop() if len(shards) == 1 else ""

    def load_split(self, dataset: str) -> SplitEntry:
        """Return a dataset's identity, truth and split.

        Raises
        ------
        StudyError
            The study has no split of that dataset.
        """
        return next(self.splits_of([dataset]))

    def splits_of(self, datasets: Iterable[str]) -> Iterator[SplitEntry]:
        """Yield what `load_split` returns of each dataset; the file is opened once."""
        with self.reading() as file:
            for dataset in datasets:
                yield layout.entry_of(file, dataset)

    def load_splits(self, group: str | None = None) -> dict[str, SplitEntry]:
        """Return the identity, truth and split of every dataset, by name.

        Parameters
        ----------
        group : str, optional
            Return only the datasets that came from this group of the input database.

        Raises
        ------
        StudyError
            No dataset came from the group.
        """
        with self.reading() as file:
            entries = layout.entries_of(file)
        if not group or not group.strip("/"):
            return entries
        at = f"{group.strip('/')}/"
        inside = {n: e for n, e in entries.items() if f"{e.path.strip('/')}/".startswith(at)}
        if not inside:
            groups = {f"{e.path.strip('/').rpartition('/')[0]}/" for e in entries.values()}
            raise StudyError(
                f"{self.path}: no dataset came from the group {group!r}, only from "
                f"{', '.join(map(repr, sorted(groups)))}"
            )
        return inside

    def block(self, dataset: str) -> Block:
        """Return all numeric results of one dataset, each cell checked against its checksum.

        Raises
        ------
        StoreError
            The file is damaged. A cell that a run is writing at this moment, or that a crash left
            half written, is no damage: it reads as missing, and the next run repeats it.
        """
        return next(self.blocks([dataset]))

    def blocks(self, datasets: Iterable[str] | None = None) -> Iterator[Block]:
        """Yield the `block` of each dataset (default: of all); the file is opened once."""
        with self.reading() as file:
            for _, arrays, _ in self._with_journal(file, datasets, StoreError):
                yield self.whole_cells(arrays, StudyArrays.block)

    def parts(self, datasets: Iterable[str] | None = None) -> Iterator[Block]:
        """Yield the blocks of datasets (default: of all), those of many rows in several parts.

        Each part has some of the strategies, in their order, and takes a few times 16 MiB of
        memory; one strategy may take more.
        """
        with self.reading() as file:
            for _, arrays, _ in self._with_journal(file, datasets, StoreError):
                for part in arrays.parts(PART) if arrays.names else [slice(None)]:
                    yield self.whole_cells(arrays, partial(StudyArrays.block, part=part))

    def status(self, dataset: str) -> np.ndarray:
        """Return the status of each cell of a dataset: uint8, shape (S, R, F)."""
        return self.statuses([dataset])[dataset][1]

    def statuses(self, datasets: Names = None) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
        """Return strategies (S) and status (S, R, F) of each dataset; predictions are not read."""
        with self.reading() as file:
            stored = self._with_journal(file, datasets, StoreError)
            return {n: (a.names, self.whole_cells(a, StudyArrays.status)) for n, a, _ in stored}

    def numbers(self, datasets: Names = None) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
        """Yield dataset name and arrays: status, seed (S, R, F), seconds, usage (S, R, F, fields).

        ``usage`` holds the start time of a cell (POSIX seconds), the wall seconds of the whole
        cell, and the peak memory of its process in bytes; unknown values are NaN.
        """

        def read(arrays: StudyArrays) -> tuple[dict[str, np.ndarray], np.ndarray]:
            status, torn = arrays.status()
            return {"status": status, **arrays.numbers(status)}, torn

        with self.reading() as file:
            for name, arrays, _ in self._with_journal(file, datasets, StoreError):
                yield name, self.whole_cells(arrays, read)

    def details(self, dataset: str) -> list[dict[str, Any]]:
        """Return the details of each cell that was tried, also while a run writes.

        Returns
        -------
        list of dict
            One dict per cell, with ``strategy``, ``repeat``, ``fold``, ``status``, ``reason``,
            ``seconds``, ``seed``, and where they apply ``started``, ``elapsed``, ``peak_memory``,
            ``best_params``, ``tuning_score``, ``honest_score``, ``warnings``, ``traceback``,
            ``model``.
        """
        return next(self.all_details([dataset]))[1]

    def all_details(
        self, datasets: Iterable[str] | None = None, only: Collection[Status] = tuple(Status)
    ) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """Yield name and `details` of each dataset; the file and the journal are opened once.

        Parameters
        ----------
        datasets : iterable of str, optional
            Names of the datasets; default all.
        only : collection of Status
            Statuses of the cells to return; default every status.
        """
        with self.reading() as file:
            for name, arrays, live in self._with_journal(file, datasets):
                status = arrays.status()[0]
                status[~np.isin(status, list(only))] = Status.MISSING
                if not status.any():
                    yield name, []
                    continue
                records = [*arrays.records(), *map(outcome_record, live.outcomes(name))]
                details = cell_details(name, arrays.names, status, arrays.numbers(status), records)
                yield name, list(details)

    def _with_journal(
        self, file: h5py.File, datasets: Iterable[str] | None = None, *ignored: type[StoreError]
    ) -> Iterator[tuple[str, StudyArrays, JournalIndex]]:
        """Yield name and arrays of each dataset, and the journal.

        After an interrupted run the arrays are as `settle` will leave them: they have what is in
        the journal, which a power cut may have taken from the file, and no torn cell. A run that
        goes on has its outcomes in both. With ``ignored``, a journal that cannot be read counts as
        none; `mlaut verify` names it.
        """
        live = JournalIndex(self.journal_path)
        with contextlib.suppress(*ignored):
            live = index_journal(self.journal_path, str(file.attrs["study_id"]))
        for name in _names(file, datasets):
            arrays = layout.arrays_of(file, name)
            if self.journal_path.exists() and holder_of(self.path) is None:
                writer = ArrayWriter(arrays, arrays)
                writer.put(*live.last_outcomes(name))
                writer.forget(arrays.names, arrays.torn())
            yield name, arrays, live

    def warnings(self) -> Iterator[tuple[str, str, list[str]]]:
        """Yield dataset, strategy and warning texts of each cell that ended with warnings."""
        with self.reading() as file:
            for name, arrays, live in self._with_journal(file):
                records = [*arrays.records(), *map(outcome_record, live.outcomes(name))]
                for record in latest_of(records).values():
                    if record.get("warnings"):
                        yield name, record["strategy"], record["warnings"]

    def traces(
        self, datasets: Iterable[str] | None = None
    ) -> Iterator[tuple[str, dict[tuple[str, int, int], Trace]]]:
        """Yield dataset name and the trace of each search, by strategy, repeat and fold.

        Cells without a search, and those of studies that were made before traces were stored, are
        left out.
        """
        with self.reading() as file:
            for name, arrays, live in self._with_journal(file, datasets):
                traces = {
                    cell: base64.b64decode(record["trace"])
                    for cell, record in latest_of(arrays.records(TRACES)).items()
                }
                for outcome in live.outcomes(name):
                    cell = outcome.cell
                    traces[cell.strategy, cell.repeat, cell.fold] = outcome.trace
                try:
                    yield name, unpack_traces(traces)
                except (zlib.error, struct.error, RecursionError) as error:
                    raise ValueError(f"the trace of a search: {error}") from error

    def whole_cells(
        self, arrays: StudyArrays, read: Callable[[StudyArrays], tuple[T, np.ndarray]]
    ) -> T:
        """Read the whole cells of the arrays of a dataset.

        Torn cells are accepted only while a journal exists, from which a run repairs them;
        otherwise the file is damaged.
        """
        cells, torn = read(arrays)
        if torn.any() and not self.journal_path.exists():
            with self.reading() as settled:  # a run may have ended since the file was opened
                arrays = layout.arrays_of(settled, arrays.entry.name)
                cells, torn = read(arrays)
            if torn.any() and not self.journal_path.exists():
                s, repeat, fold = np.argwhere(torn)[0].tolist()
                raise StoreError(
                    f"{self.path}: {int(torn.sum())} cells of dataset {arrays.entry.name!r} are "
                    f"damaged (first {arrays.names[s]}, repeat {repeat}, fold {fold}: its checksum "
                    f"does not hold); 'mlaut verify --mend {self.path}' clears them, and the next "
                    "run does them again"
                )
        return cells

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
        change = change_h5(self.path, keeps=layout.SPLITS)
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

    def copy_to(self, path: str | os.PathLike[str], plain: Callable[[Any], Any]) -> StudyStore:
        """Write a copy that holds the study and nothing else that the file may have.

        Parameters
        ----------
        path : path-like
            Path of the copy, which must not exist.
        plain : callable
            Returns the record of a run or of a cell as the copy stores it.

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
            layout.copy_study(old, new, plain=plain)
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
                with change_h5(self.path) as changed:
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


def _names(file: h5py.File, datasets: Iterable[str] | None) -> list[str]:
    return [from_h5(name) for name in file[layout.SPLITS]] if datasets is None else list(datasets)


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
    StudyArrays.create(file[layout.PREDICTIONS].create_group(name), entry, names)
