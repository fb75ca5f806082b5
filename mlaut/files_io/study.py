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
        traces                       traces of searches (`mlaut.files_io.traces`)

The axes are S strategies, R repeats, F folds and C classes; the rows of a repeat are sorted by
fold. The places of all cells are known from the start, and take room on the disk as cells come:
while a run writes, only values change. Each outcome is first written to a journal beside the file
(`mlaut.files_io.journal`), so that a crash loses none.
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

from mlaut.errors import StoreError, StoreWarning
from mlaut.files_io.hdf5 import change_h5, read_h5, rewrite_h5, write_in_place
from mlaut.files_io.journal import Journal, index_journal, put_aside
from mlaut.files_io.lock import locked
from mlaut.files_io.names import beside, from_h5, to_h5
from mlaut.files_io.study_arrays import PART, StudyArrays, names_of
from mlaut.files_io.study_layout import (
    ANALYSIS,
    FORMAT_VERSION,
    PREDICTIONS,
    SPLITS,
    arrays_of,
    check_format,
    copy_plain,
    copy_study,
    damage_explained,
    entry_of,
    format_of,
    mark,
    put_entry,
    put_runs,
    put_strategies,
    runs_of,
    strategies_of,
)
from mlaut.files_io.study_records import (
    TRACES,
    SplitEntry,
    StrategyEntry,
    cell_details,
    extends,
    latest_of,
    merged_entry,
    merged_strategies,
)
from mlaut.files_io.study_writer import StudyWriter, fold_in, forget_torn, put_again
from mlaut.files_io.traces import unpack_trace
from mlaut.markup import counted, table_html
from mlaut.records import Block, Status, Trace

__all__ = ["Study", "StudyWriter"]

T = TypeVar("T")


class Study:
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
    ...     study = Study(folder + "/study.h5")
    ...     study.save_splits([entry])
    ...     study.allocate([StrategyEntry("tree", "g")])
    ...     with study.writing() as writer:
    ...         writer.write(Outcome(Cell("iris", "tree", 0, 1), Status.DONE,
    ...                              np.array([1], dtype=np.int32)))
    ...     study.status("iris").tolist(), study.block("iris").predictions.tolist()
    ([[[0, 1]]], [[[-1, 1, -1]]])
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def __repr__(self) -> str:
        return f"Study({str(self.path)!r})"

    def _repr_html_(self) -> str:
        entries = [*self.load_splits().values()]
        rows = [
            {
                "dataset": entry.name,
                "task": entry.task,
                "rows": len(entry.truth),
                "classes": len(entry.classes) or "",
                "repeats": entry.split.n_repeats,
                "folds": entry.split.n_folds,
            }
            for entry in entries
        ]
        names = ", ".join(entry.name for entry in self.strategies) or "none yet"
        told = f"{self.path}: study of {counted(len(rows), 'dataset')}\nStrategies: {names}"
        return table_html(told, rows)

    @property
    def journal_path(self) -> Path:
        """Path of the journal, where a run writes each outcome first."""
        return beside(self.path, ".journal")

    # ---------------------------------------------------------------- reading

    @contextlib.contextmanager
    def reading(self) -> Iterator[h5py.File]:
        """Open the file for reading; damage raises a `StoreError` that explains it."""
        with read_h5(self.path) as file, damage_explained(self.path):
            check_format(file, self.path)
            yield file

    @property
    def exists(self) -> bool:
        """Whether the file exists and holds a study."""
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
            return tuple(from_h5(name) for name in file[SPLITS])

    @property
    def strategies(self) -> tuple[StrategyEntry, ...]:
        """Strategies in the order in which they were added."""
        with self.reading() as file:
            return strategies_of(file)

    @property
    def runs(self) -> tuple[dict[str, Any], ...]:
        """Records of the runs that ended: machine, versions and arguments of each."""
        return tuple(run for run in self._records() if ANALYSIS not in run)

    @property
    def analyses(self) -> tuple[dict[str, Any], ...]:
        """Records of the analysis, as it was chosen and changed (`store_analysis`)."""
        return tuple(record for record in self._records() if ANALYSIS in record)

    def _records(self) -> tuple[dict[str, Any], ...]:
        with self.reading() as file:
            return runs_of(file)

    @property
    def all_runs(self) -> tuple[dict[str, Any], ...]:
        """Records of all runs, the one that goes on included."""
        with self.reading() as file:
            live = index_journal(self.journal_path, str(file.attrs["study_id"])).runs
            ended = runs_of(file)
            known = {run["id"] for run in ended}
            new = (run for run in live if run["id"] not in known)
            return tuple(run for run in (*ended, *new) if ANALYSIS not in run)

    @property
    def shard(self) -> str:
        """Share of the cells that every run did, such as ``"2/10"``; empty for a whole study."""
        found = {str(run.get("shard") or "") for run in self.all_runs if "engine" in run}
        return found.pop() if len(found) == 1 else ""

    def load_split(self, dataset: str) -> SplitEntry:
        """Return a dataset's identity, truth and split.

        Raises
        ------
        StudyError
            The study has no split of that dataset.
        """
        with self.reading() as file:
            return entry_of(file, dataset)

    def load_splits(self) -> dict[str, SplitEntry]:
        """Return the identity, truth and split of every dataset, by name."""
        with self.reading() as file:
            return {name: entry_of(file, name) for name in map(from_h5, file[SPLITS])}

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
            for name in _names(file, datasets):
                yield self.whole_cells(arrays_of(file, name), StudyArrays.block)

    def parts(self, datasets: Iterable[str] | None = None) -> Iterator[Block]:
        """Yield the blocks of datasets (default: of all), those of many rows in several parts.

        Each part has some of the strategies, in their order, and takes a few times 16 MiB of
        memory; one strategy may take more.
        """
        with self.reading() as file:
            for name in _names(file, datasets):
                arrays = arrays_of(file, name)
                for part in arrays.parts(PART) if arrays.names else [slice(None)]:
                    yield self.whole_cells(arrays, partial(StudyArrays.part, part=part))

    def status(self, dataset: str) -> np.ndarray:
        """Return the status of each cell of a dataset: uint8, shape (S, R, F)."""
        return self.statuses([dataset])[dataset][1]

    def statuses(
        self, datasets: Iterable[str] | None = None
    ) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
        """Return strategies (S) and status (S, R, F) of each dataset; predictions are not read."""

        def read(arrays: StudyArrays) -> tuple[tuple[tuple[str, ...], np.ndarray], np.ndarray]:
            status, torn = arrays.status()
            return (arrays.names, status), torn

        with self.reading() as file:
            return {n: self.whole_cells(arrays_of(file, n), read) for n in _names(file, datasets)}

    def numbers(
        self, datasets: Iterable[str] | None = None
    ) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
        """Yield dataset name and arrays: status, seed (S, R, F), seconds, usage (S, R, F, fields).

        ``usage`` holds the start time of a cell (POSIX seconds), the wall seconds of the whole
        cell, and the peak memory of its process in bytes; unknown values are NaN.
        """

        def read(arrays: StudyArrays) -> tuple[dict[str, np.ndarray], np.ndarray]:
            status, torn = arrays.status()
            return {"status": status, **arrays.numbers()}, torn

        with self.reading() as file:
            for name in _names(file, datasets):
                yield name, self.whole_cells(arrays_of(file, name), read)

    def details(self, dataset: str) -> list[dict[str, Any]]:
        """Return the details of each cell that was tried, also while a run writes.

        Returns
        -------
        list of dict
            One dict per cell, with ``strategy``, ``repeat``, ``fold``, ``status``, ``reason``,
            ``seconds``, ``seed``, and where they apply ``started``, ``elapsed``, ``peak_memory``,
            ``best_params``, ``tuning_score``, ``warnings``, ``traceback``, ``model``.
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
            live = index_journal(self.journal_path, str(file.attrs["study_id"]))
            for name in _names(file, datasets):
                arrays = arrays_of(file, name)
                status = arrays.status()[0]
                status[~np.isin(status, list(only))] = Status.MISSING
                if not status.any():
                    yield name, []
                    continue
                told = [*arrays.records(), *(record for record, _ in live.records(name))]
                numbers = arrays.numbers()
                yield name, list(cell_details(name, arrays.names, status, numbers, told))

    def warnings(self) -> Iterator[tuple[str, str, list[str]]]:
        """Yield dataset, strategy and warning texts of each cell that ended with warnings."""
        with self.reading() as file:
            live = index_journal(self.journal_path, str(file.attrs["study_id"]))
            for name in _names(file, None):
                told = [
                    *arrays_of(file, name).records(),
                    *(record for record, _ in live.records(name)),
                ]
                for record in latest_of(told).values():
                    if record.get("warnings"):
                        yield name, record["strategy"], record["warnings"]

    def traces(
        self, datasets: Iterable[str] | None = None
    ) -> Iterator[tuple[str, dict[tuple[str, int, int], Trace]]]:
        """Yield dataset name and the trace of each search, by strategy, repeat and fold.

        Cells without a search, and those of studies that were made before traces were stored, are
        left out.
        """
        with self.reading() as file, damage_explained(self.path):
            live = index_journal(self.journal_path, str(file.attrs["study_id"]))
            for name in _names(file, datasets):
                arrays = arrays_of(file, name)
                found = {
                    cell: base64.b64decode(record["trace"])
                    for cell, record in latest_of(arrays.records(TRACES)).items()
                }
                for record, values in live.records(name):
                    at = record["strategy"], record["repeat"], record["fold"]
                    found.pop(at, None)
                    if "trace" in values:
                        found[at] = values["trace"].tobytes()
                try:
                    yield name, {cell: unpack_trace(content) for cell, content in found.items()}
                except (zlib.error, struct.error, RecursionError) as error:
                    raise ValueError(f"the trace of a search: {error}") from error

    def whole_cells(
        self, arrays: StudyArrays, read: Callable[[StudyArrays], tuple[T, np.ndarray]]
    ) -> T:
        """Read the whole cells of the arrays of a dataset.

        Torn cells are accepted only while a journal exists, from which a run repairs them;
        otherwise the file is damaged.
        """
        found, torn = read(arrays)
        if torn.any() and not self.journal_path.exists():
            with self.reading() as settled:  # a run may have ended since the file was opened
                arrays = arrays_of(settled, arrays.entry.name)
                found, torn = read(arrays)
            if torn.any() and not self.journal_path.exists():
                raise _damaged(self.path, arrays, torn)
        return found

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
        with locked(self.path):
            self._settle()
            known = self.load_splits() if self.exists else {}
            changed: dict[str, SplitEntry] = {}
            for entry in entries:
                old = known.get(entry.name)
                kept = merged_entry(old, entry, replace) if old else entry
                if kept is not old:
                    changed[entry.name] = known[entry.name] = kept
            if changed or not self.exists:
                self._change(entries=changed)

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
        with locked(self.path):
            self._settle()
            names = [entry.name for entry in strategies]
            with self.reading() as file:
                stored = strategies_of(file)
                present = {
                    name: names_of(file[PREDICTIONS][to_h5(name)]) for name in _names(file, None)
                }
            wanted = datasets or dict.fromkeys(present, names)
            merged = merged_strategies(stored, strategies, replace)
            stale = {
                old.name for old, new in zip(stored, merged, strict=False) if not old.is_same(new)
            }
            columns = {
                dataset: list(dict.fromkeys([*known, *wanted.get(dataset, ())]))
                for dataset, known in present.items()
                if not set(wanted.get(dataset, ())) <= set(known) or stale & set(known)
            }
            if columns or merged != list(stored):
                self._change(strategies=merged, columns=columns, stale=stale)

    def _change(
        self,
        *,
        entries: Mapping[str, SplitEntry] | None = None,
        strategies: Sequence[StrategyEntry] | None = None,
        columns: Mapping[str, Sequence[str]] | None = None,
        stale: Collection[str] = (),
    ) -> None:
        """Change splits, strategies and the strategies of each dataset, in one step."""
        with damage_explained(self.path), change_h5(self.path) as file:
            mark(file)
            for entry in (entries or {}).values():
                _put_dataset(file, entry)
            if strategies is not None:
                put_strategies(file, strategies)
            for dataset, names in (columns or {}).items():
                arrays = arrays_of(file, dataset)
                arrays = arrays.grow(arrays.entry, names)
                arrays.clear(stale)

    # ---------------------------------------------------------------- writing

    def store_analysis(self, record: Mapping[str, Any]) -> None:
        """Store an analysis that was chosen, with the time and the number of results known then.

        Parameters
        ----------
        record : mapping
            Plain JSON values, among them ``"analysis"``; `analyses` returns them.
        """
        with locked(self.path):
            self._settle()
            with damage_explained(self.path), change_h5(self.path) as file:
                put_runs(file, [{"id": uuid.uuid4().hex, **record}])

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
        with locked(self.path, for_run=True):
            self._settle()
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
            self.journal_path.unlink()

    def settle(self) -> None:
        """Merge the journal of an interrupted run into the study file.

        Every writer does this first. Call it when the study file alone, without its journal, must
        hold all details of an interrupted run.
        """
        with locked(self.path):
            self._settle()

    def mend(self) -> dict[str, int]:
        """Clear the cells whose checksum does not match, so that the next run repeats them.

        Returns
        -------
        dict of str to int
            Number of cleared cells, by dataset; datasets without any are left out.
        """
        with locked(self.path):
            self._settle()
            with damage_explained(self.path), write_in_place(self.path) as file:
                cleared = forget_torn(file)
                file.sync()
            return cleared

    def compact(self) -> tuple[int, int]:
        """Make the file anew, without space that deleted and replaced values left in it.

        It needs room for a second file while it works. A file of datasets without a study can be
        compacted, too.

        Returns
        -------
        before, after : int
            Bytes that the file took on the disk.
        """
        with locked(self.path):
            self._settle()
            before = self.path.stat().st_blocks * 512
            self._make_anew()
            return before, self.path.stat().st_blocks * 512

    def _make_anew(self) -> None:
        with (
            damage_explained(self.path),
            read_h5(self.path) as old,
            rewrite_h5(self.path, fresh=True) as new,
        ):
            copy_study(old, new)

    def copy_to(self, path: str | os.PathLike[str], plain: Callable[[Any], Any]) -> Study:
        """Write a copy that holds the study and nothing else that the file may have.

        Parameters
        ----------
        path : path-like
            Path of the copy, which must not exist.
        plain : callable
            Returns the record of a run or of a cell as the copy stores it.

        Returns
        -------
        Study
            The same study always has a copy of the same bytes.
        """
        with (
            damage_explained(self.path),
            self.reading() as old,
            rewrite_h5(path, fresh=True) as new,
        ):
            copy_plain(old, new, plain)
        return Study(path)

    def _settle(self) -> None:
        """Bring the study into the present format, and take in what an interrupted run left."""
        if not self.path.exists():
            return
        with read_h5(self.path) as file, damage_explained(self.path):
            if "study_id" not in file.attrs:
                return
            check_format(file, self.path)
            version = format_of(file)
        if version < FORMAT_VERSION:
            self._make_anew()
        if not self.journal_path.exists():
            return
        with damage_explained(self.path):
            index = index_journal(self.journal_path, self.id)
            with write_in_place(self.path) as file:
                logs = put_again(file, index)
            with write_in_place(self.path) as file:
                forget_torn(file)
                file.sync()
            if index.places:
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
            self.journal_path.unlink()


def _names(file: h5py.File, datasets: Iterable[str] | None) -> list[str]:
    return [from_h5(name) for name in file[SPLITS]] if datasets is None else list(datasets)


def _put_dataset(file: h5py.File, entry: SplitEntry) -> None:
    """Store a dataset and its split; outcomes of another split of it are deleted."""
    name = to_h5(entry.name)
    names: tuple[str, ...] = ()
    arrays = arrays_of(file, entry.name) if name in file[PREDICTIONS] else None
    put_entry(file, entry)
    if arrays is not None:
        names = arrays.names
        if extends(arrays.entry, entry):
            arrays.grow(entry, names)
            return
        del file[PREDICTIONS][name]
    StudyArrays.create(file[PREDICTIONS].create_group(name), entry, names)


def _damaged(path: Path, arrays: StudyArrays, torn: np.ndarray) -> StoreError:
    s, repeat, fold = np.argwhere(torn)[0].tolist()
    return StoreError(
        f"{path}: {int(torn.sum())} cells of dataset {arrays.entry.name!r} are damaged (first "
        f"{arrays.names[s]}, repeat {repeat}, fold {fold}: its checksum does not hold); "
        f"'mlaut verify --mend {path}' clears them, and the next run does them again"
    )
