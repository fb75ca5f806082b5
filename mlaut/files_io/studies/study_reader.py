"""Read what a study holds, without changing it; `mlaut.files_io.StudyStore` also writes."""

from __future__ import annotations

import base64
import contextlib
import os
import struct
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import h5py
import numpy as np

from mlaut.errors import StoreError, StudyError, some_of
from mlaut.files_io.outcomes.journal import JournalIndex, index_journal
from mlaut.files_io.outcomes.study_records import (
    TRACES,
    SplitEntry,
    StrategyEntry,
    cell_details,
    latest_of,
    outcome_record,
)
from mlaut.files_io.outcomes.traces import unpack_traces
from mlaut.files_io.safe_files.hdf5 import kept_of, read_h5
from mlaut.files_io.safe_files.lock import holder_of
from mlaut.files_io.safe_files.names import beside, from_h5
from mlaut.files_io.studies import study_layout as layout
from mlaut.files_io.studies.study_arrays import PART, ArrayWriter, StudyArrays
from mlaut.helpers.markup import counted, table_html
from mlaut.records import Block, Cell, Status, Trace

T = TypeVar("T")
Names = Iterable[str] | None

LEARNERS = ("scikit-learn", "xgboost", "lightgbm", "catboost", "keras", "torch")
"""Libraries whose version can change what a learner predicts."""


class StudyReader:
    """One study on disk, for reading. The object holds only a path; each method opens the file."""

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
        if (entries := kept_of(self.path, (layout.SPLITS,))) is None:
            with self.reading() as file:
                entries = layout.entries_of(file)
        entries = {**entries}
        if not group or not group.strip("/"):
            return entries
        at = f"{group.strip('/')}/"
        inside = {n: e for n, e in entries.items() if f"{e.path.strip('/')}/".startswith(at)}
        if not inside:
            groups = {f"{e.path.strip('/').rpartition('/')[0]}/" for e in entries.values()}
            raise StudyError(
                f"{self.path}: no dataset came from the group {group!r}, only from "
                f"{some_of(map(repr, sorted(groups)))}"
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

    def cells(self, *statuses: Status) -> Iterator[Cell]:
        """Yield the cells that have one of these statuses."""
        for dataset, (names, held) in self.statuses().items():
            for s, repeat, fold in np.argwhere(np.isin(held, statuses)).tolist():
                yield Cell(dataset, names[s], repeat, fold)

    def numbers(
        self, datasets: Names = None
    ) -> Iterator[tuple[str, tuple[str, ...], dict[str, np.ndarray]]]:
        """Yield dataset, strategies (S), and arrays: status, seed (S, R, F), seconds, usage.

        ``usage`` (S, R, F, fields) holds the start time of a cell (POSIX seconds), the wall seconds
        of the whole cell, and the peak memory of its process in bytes; unknown values are NaN.
        """

        def read(arrays: StudyArrays) -> tuple[dict[str, np.ndarray], np.ndarray]:
            status, torn = arrays.status()
            return {"status": status, **arrays.numbers(status)}, torn

        with self.reading() as file:
            for name, arrays, _ in self._with_journal(file, datasets, StoreError):
                yield name, arrays.names, self.whole_cells(arrays, read)

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
                yield name, _details(name, arrays, live, only)

    def blocks_and_details(self) -> Iterator[tuple[Block, list[dict[str, Any]]]]:
        """Yield `block` and `details` of each dataset; what both need is read once."""
        with self.reading() as file:
            for name, arrays, live in self._with_journal(file):
                block = self.whole_cells(arrays.keeping(), StudyArrays.block)
                yield block, _details(name, arrays, live)

    def _with_journal(
        self, file: h5py.File, datasets: Iterable[str] | None = None, *ignored: type[StoreError]
    ) -> Iterator[tuple[str, StudyArrays, JournalIndex]]:
        """Yield name and arrays of each dataset, and the journal.

        After an interrupted run the arrays are as `settle` will leave them: they have what is in
        the journal, which a power cut may have taken from the file, and no torn cell. A run that
        goes on has its outcomes in both. With ``ignored``, a journal that cannot be read counts as
        none; `mlaut verify` names it.
        """
        live = JournalIndex(journal := self.journal_path)
        with contextlib.suppress(*ignored):
            live = index_journal(journal, str(file.attrs["study_id"]))
        for name in _names(file, datasets):
            arrays = layout.arrays_of(file, name)
            if journal.exists() and holder_of(self.path) is None:
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


def _details(
    name: str, arrays: StudyArrays, live: JournalIndex, only: Collection[Status] = tuple(Status)
) -> list[dict[str, Any]]:
    status = arrays.status()[0]
    status[~np.isin(status, list(only))] = Status.MISSING
    if not status.any():
        return []
    records = [*arrays.records(), *map(outcome_record, live.outcomes(name))]
    return list(cell_details(name, arrays.names, status, arrays.numbers(status), records))


def _names(file: h5py.File, datasets: Iterable[str] | None) -> list[str]:
    return [from_h5(name) for name in file[layout.SPLITS]] if datasets is None else list(datasets)
