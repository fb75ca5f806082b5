"""A study: an output database with the splits, the strategies and every outcome.

The file, below its root::

    splits/<dataset>                 folds (repeat, row), truth (row,), classes
    experiments/strategies           name, fingerprint and identity of each, as JSON
    experiments/runs                 machine, versions and arguments of each run, as JSON
    experiments/predictions/<dataset>
        status (S, R, F)             the values of `mlaut.records.Status`; written last
        checksum, seed (S, R, F)     crc32 of what the cell stored; the seed it was run with
        seconds (S, R, F, 3)         tuning, fitting, predicting
        predictions (S, R, row)      class positions or numbers
        probabilities (S, R, row, C) classification only
        details                      what is ragged, as JSON lines

The arrays are allocated when they are made. While a run writes, only their values change; a
journal beside the file (`mlaut.files_io.journal`) holds each outcome first.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from mlaut.errors import MlautError, StoreError, StudyError
from mlaut.files_io.hdf5 import read_h5, rewrite_h5, write_h5_in_place
from mlaut.files_io.journal import Journal, read_journal
from mlaut.files_io.lock import locked
from mlaut.files_io.names import from_h5, to_h5
from mlaut.files_io.study_arrays import StudyArrays, get_json, put_json
from mlaut.files_io.study_records import (
    SplitEntry,
    StrategyEntry,
    check_outcome,
    extends,
    merged_entry,
    merged_strategies,
    outcome_record,
)
from mlaut.records import Block, Cell, Outcome, Split, Status

__all__ = ["Study", "StudyWriter"]

FORMAT_VERSION = 1
SPLITS = "splits"
EXPERIMENTS = "experiments"
PREDICTIONS = "experiments/predictions"
STRATEGIES = "experiments/strategies"
RUNS = "experiments/runs"


class Study:
    """One study on disk. The object holds a path only; each verb opens the file for itself.

    Parameters
    ----------
    path : path-like
        An HDF5 file; `save_splits` creates it.

    Examples
    --------
    >>> import tempfile
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

    @property
    def journal_path(self) -> Path:
        """Where outcomes go first while a run writes."""
        return self.path.with_name(self.path.name + ".journal")

    # ---------------------------------------------------------------- reading

    @contextlib.contextmanager
    def _reading(self) -> Iterator[h5py.File]:
        with read_h5(self.path) as file:
            _check_format(file, self.path)
            with _damage_explained(self.path):
                yield file

    @property
    def exists(self) -> bool:
        """Whether the file is there and holds a study."""
        if not self.path.exists():
            return False
        with read_h5(self.path) as file:
            return "study_id" in file.attrs

    @property
    def datasets(self) -> tuple[str, ...]:
        """Names of the datasets that have a split, in the order of the file."""
        with self._reading() as file:
            return tuple(from_h5(name) for name in file[SPLITS])

    @property
    def strategies(self) -> tuple[StrategyEntry, ...]:
        """The strategies in order of arrival."""
        with self._reading() as file:
            return _strategies(file)

    @property
    def runs(self) -> tuple[dict[str, Any], ...]:
        """What is told of each run that ended: machine, versions, arguments."""
        with self._reading() as file:
            return tuple(get_json(file, RUNS, []))

    def load_split(self, dataset: str) -> SplitEntry:
        """Give a dataset's identity, truth and split.

        Raises
        ------
        StudyError
            The study has no split of that dataset.
        """
        with self._reading() as file:
            return _entry(file, dataset)

    def load_splits(self) -> dict[str, SplitEntry]:
        """Give identity, truth and split of every dataset."""
        with self._reading() as file:
            return {name: _entry(file, name) for name in map(from_h5, file[SPLITS])}

    def block(self, dataset: str) -> Block:
        """Everything numeric of one dataset."""
        return next(self.blocks([dataset]))

    def blocks(self, datasets: Iterable[str] | None = None) -> Iterator[Block]:
        """Everything numeric, dataset by dataset (default: of all), in one opening of the file."""
        with self._reading() as file:
            names = map(from_h5, file[SPLITS]) if datasets is None else datasets
            for name in names:
                yield _arrays(file, name).block()

    def status(self, dataset: str) -> np.ndarray:
        """Status of each cell of a dataset: uint8, shape (S, R, F)."""
        return self.statuses([dataset])[dataset][1]

    def statuses(
        self, datasets: Iterable[str] | None = None
    ) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
        """Give strategies (S) and status (S, R, F) of each dataset, without its predictions."""
        with self._reading() as file:
            names = map(from_h5, file[SPLITS]) if datasets is None else datasets
            return {name: _status(file, name) for name in names}

    def details(self, dataset: str) -> list[dict[str, Any]]:
        """Give what is told of each cell that was tried, while a run writes too.

        Returns
        -------
        list of dict
            With ``strategy``, ``repeat``, ``fold``, ``status``, ``reason``, ``seconds``, ``seed``,
            and where they apply ``best_params``, ``tuning_score``, ``warnings``, ``traceback``.
        """
        with self._reading() as file:
            names, status = _status(file, dataset)
            stored = get_json(file, f"{PREDICTIONS}/{to_h5(dataset)}/details", [])
            study_id = str(file.attrs["study_id"])
        live = (
            record
            for record, _ in read_journal(self.journal_path, study_id)
            if record.get("dataset") == dataset
        )
        return _current([*stored, *live], names, status)

    # -------------------------------------------------------------- structure

    def save_splits(self, entries: Iterable[SplitEntry], replace: bool = False) -> None:
        """Store datasets and their splits; a known one is kept, or extended by repeats.

        Parameters
        ----------
        entries : iterable of SplitEntry
        replace : bool, default False
            Accept other rows or another split under a known name; all outcomes of that dataset
            are given up.

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
                self._rebuild(entries=changed)

    def allocate(
        self,
        strategies: Sequence[StrategyEntry],
        datasets: Mapping[str, Sequence[str]] | None = None,
        replace: bool = False,
    ) -> None:
        """Make room for strategies on datasets.

        Parameters
        ----------
        strategies : sequence of StrategyEntry
        datasets : mapping of str to sequence of str, optional
            Which strategies run on which dataset; default each on all.
        replace : bool, default False
            Accept a strategy that is stored under this name with other parameters; all that it
            gave is given up.

        Raises
        ------
        StudyError
            A strategy of that name has other parameters, and ``replace`` is False.
        """
        with locked(self.path):
            self._settle()
            names = [entry.name for entry in strategies]
            wanted = datasets or dict.fromkeys(self.datasets, names)
            stored = self.strategies
            merged = merged_strategies(stored, strategies, replace)
            stale = {
                old.name
                for old, new in zip(stored, merged, strict=False)
                if old.fingerprint != new.fingerprint
            }
            columns = {
                dataset: list(dict.fromkeys([*present, *wanted.get(dataset, ())]))
                for dataset, (present, _) in self.statuses().items()
                if not set(wanted.get(dataset, ())) <= set(present) or stale & set(present)
            }
            if columns or merged != list(stored):
                self._rebuild(strategies=merged, columns=columns, stale=stale)

    def _rebuild(
        self,
        *,
        entries: Mapping[str, SplitEntry] | None = None,
        strategies: Sequence[StrategyEntry] | None = None,
        columns: Mapping[str, Sequence[str]] | None = None,
        stale: Collection[str] = (),
    ) -> None:
        """Change splits, strategies and the strategies of each dataset, in one step.

        Every change of structure goes through here: the study is built anew beside the old one,
        with what it held, and replaces it.
        """
        entries, columns = entries or {}, dict(columns or {})
        with contextlib.ExitStack() as stack:
            old = stack.enter_context(read_h5(self.path)) if self.path.exists() else None
            new = stack.enter_context(rewrite_h5(self.path, fresh=True))
            before = set(old.get(PREDICTIONS, {})) if old is not None else set()
            for dataset in entries:
                known = to_h5(dataset) in before
                columns.setdefault(dataset, _status(old, dataset)[0] if known else ())
            if old is not None:
                _copy_all_but(old, new, PREDICTIONS, {to_h5(name) for name in columns})
            _mark(new)
            new.require_group(SPLITS)
            new.require_group(PREDICTIONS)
            for entry in entries.values():
                _put_entry(new[SPLITS], entry)
            if strategies is not None:
                put_json(new, STRATEGIES, [vars(entry) for entry in strategies])
            for dataset, names in columns.items():
                group = new[PREDICTIONS].create_group(to_h5(dataset))
                arrays = StudyArrays.create(group, _entry(new, dataset), names)
                if to_h5(dataset) in before and extends(_entry(old, dataset), arrays.entry):
                    arrays.copy_from(_arrays(old, dataset), stale)

    # ---------------------------------------------------------------- writing

    @contextlib.contextmanager
    def writing(self, run: Mapping[str, Any] | None = None) -> Iterator[StudyWriter]:
        """Begin a run, as the only writer; what a crashed run left is put in order first.

        Parameters
        ----------
        run : mapping, optional
            What is to be told of this run: machine, versions, arguments. Plain JSON values.

        Yields
        ------
        StudyWriter

        Raises
        ------
        StudyLockedError
            Another process is writing; the message names it.
        """
        with locked(self.path):
            self._settle()
            with self._reading() as file:
                study_id = str(file.attrs["study_id"])
            try:
                with (
                    contextlib.closing(Journal(self.journal_path, study_id)) as journal,
                    write_h5_in_place(self.path) as file,
                ):
                    journal.append({"run": dict(run or {})}, {})
                    yield StudyWriter(file, journal)
            except StoreError:
                raise  # the disk is full or gone: the journal waits for the next writer
            except BaseException:
                self._settle()
                raise
            self._settle()

    def settle(self) -> None:
        """Put a journal that an interrupted run left into the study file.

        Every writer does this by itself; call it to read the details of an interrupted study
        from the study file alone.
        """
        with locked(self.path):
            self._settle()

    def _settle(self) -> None:
        if not self.journal_path.exists() or not self.exists:
            return
        with self._reading() as file:
            study_id = str(file.attrs["study_id"])
        records = list(read_journal(self.journal_path, study_id))
        outcomes = [_outcome(*record) for record in records if "dataset" in record[0]]
        if outcomes:
            with write_h5_in_place(self.path) as file:
                _put_again(file, outcomes)
            self._fold_in([record for record, _ in records])
        self.journal_path.unlink()

    def _fold_in(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Move what the journal tells into the study file."""
        of_dataset: dict[str, list[Mapping[str, Any]]] = {}
        for record in records:
            if "dataset" in record:
                of_dataset.setdefault(record["dataset"], []).append(record)
        with rewrite_h5(self.path) as file:
            runs = get_json(file, RUNS, [])
            put_json(file, RUNS, runs + [record["run"] for record in records if "run" in record])
            for dataset, live in of_dataset.items():
                group = file[PREDICTIONS][to_h5(dataset)]
                told = [*get_json(group, "details", []), *live]
                put_json(group, "details", _current(told, *_status(file, dataset)))


class StudyWriter:
    """Puts outcomes into an open study; made by `Study.writing`."""

    def __init__(self, file: h5py.File, journal: Journal) -> None:
        self._file = file
        self._journal = journal
        self._opened: dict[str, StudyArrays] = {}

    def write(self, *outcomes: Outcome) -> None:
        """Store outcomes; when this returns, the death of the process cannot take them back.

        Raises
        ------
        StudyError
            An outcome does not fit the arrays.
        StoreError
            The disk is full; what was stored before is intact.
        """
        arrays = [self._arrays(outcome.cell.dataset) for outcome in outcomes]
        for opened, outcome in zip(arrays, outcomes, strict=True):
            check_outcome(outcome, opened.entry, opened.names)
        for outcome in outcomes:
            values = {"predictions": outcome.predictions, "probabilities": outcome.probabilities}
            self._journal.append(
                outcome_record(outcome), {k: v for k, v in values.items() if v is not None}
            )
        for opened, outcome in zip(arrays, outcomes, strict=True):
            opened.put(outcome)
        self._file.flush()
        for opened, outcome in zip(arrays, outcomes, strict=True):
            opened.mark(outcome.cell, outcome.status)
        self._file.flush()

    def forget(self, dataset: str, strategies: Sequence[str], cells: np.ndarray) -> None:
        """Clear the cells where ``cells``, of shape (len(strategies), R, F), is True."""
        self._arrays(dataset).forget(strategies, cells)
        self._file.flush()

    def _arrays(self, dataset: str) -> StudyArrays:
        if dataset not in self._opened:
            self._opened[dataset] = _arrays(self._file, dataset)
        return self._opened[dataset]


def _arrays(file: h5py.File, dataset: str) -> StudyArrays:
    return StudyArrays(file[PREDICTIONS][to_h5(dataset)], _entry(file, dataset))


def _status(file: h5py.File, dataset: str) -> tuple[tuple[str, ...], np.ndarray]:
    if to_h5(dataset) not in file[PREDICTIONS]:
        raise _no_split(file, dataset)
    group = file[PREDICTIONS][to_h5(dataset)]
    return tuple(get_json(group, "strategies", [])), group["status"][...]


def _no_split(file: h5py.File, dataset: str) -> StudyError:
    return StudyError(
        f"dataset {dataset!r}: no split of it in {file.filename}; call Data.split_datasets first"
    )


def _strategies(file: h5py.File) -> tuple[StrategyEntry, ...]:
    return tuple(StrategyEntry(**entry) for entry in get_json(file, STRATEGIES, []))


def _put_entry(splits: h5py.Group, entry: SplitEntry) -> None:
    name = to_h5(entry.name)
    if name in splits:
        del splits[name]
    group = splits.create_group(name)
    group.attrs.update({"encoding-type": "mlaut-split", "encoding-version": 1})
    group.create_dataset("folds", data=entry.split.folds.astype("<i2"))
    group.create_dataset("truth", data=entry.truth)
    put_json(group, "classes", list(entry.classes))
    about = {"path": entry.path, "task": entry.task, "fingerprint": entry.fingerprint}
    put_json(group, "about", {**about, "scheme": entry.split.scheme, "seed": entry.split.seed})


def _entry(file: h5py.File, dataset: str) -> SplitEntry:
    name = to_h5(dataset)
    if name not in file.get(SPLITS, {}):
        raise _no_split(file, dataset)
    group = file[SPLITS][name]
    about = get_json(group, "about", {})
    return SplitEntry(
        name=dataset,
        path=about["path"],
        task=about["task"],
        fingerprint=about["fingerprint"],
        classes=tuple(get_json(group, "classes", [])),
        truth=group["truth"][...],
        split=Split(group["folds"][...], about["scheme"], about["seed"]),
    )


def _outcome(record: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Outcome:
    """Make an outcome of what the journal holds of it."""
    return Outcome(
        cell=Cell(record["dataset"], record["strategy"], record["repeat"], record["fold"]),
        status=Status[record["status"].upper()],
        predictions=arrays.get("predictions"),
        probabilities=arrays.get("probabilities"),
        seconds=tuple(record["seconds"]),
        seed=record["seed"],
    )


def _put_again(file: h5py.File, outcomes: Sequence[Outcome]) -> None:
    """Write again what a journal holds, and clear what counts as done and is not whole."""
    opened = {from_h5(name): _arrays(file, from_h5(name)) for name in file[PREDICTIONS]}
    for outcome in outcomes:
        opened[outcome.cell.dataset].put(outcome)
        opened[outcome.cell.dataset].mark(outcome.cell, outcome.status)
    for arrays in opened.values():
        torn = arrays.torn()
        if torn.any():
            arrays.forget(arrays.names, torn)
    file.flush()


def _current(
    records: Iterable[Mapping[str, Any]], names: Sequence[str], status: np.ndarray
) -> list[dict[str, Any]]:
    """Keep the last record of each cell that has a status."""
    latest = {(r["strategy"], r["repeat"], r["fold"]): dict(r) for r in records}
    position = {name: s for s, name in enumerate(names)}
    return [
        record
        for (strategy, repeat, fold), record in latest.items()
        if strategy in position and status[position[strategy], repeat, fold] != Status.MISSING
    ]


def _copy_all_but(old: h5py.File, new: h5py.File, parent: str, names: set[str]) -> None:
    """Copy a file without some children of one group, so that no hole stays where they were."""
    for key, value in old.attrs.items():
        new.attrs[key] = value
    above, _, last = parent.partition("/")
    skipped = {"": {above}, above: {last}, parent: names}
    for group, left_out in skipped.items():
        for name in old[group or "/"] if group in old or not group else ():
            if name not in left_out:
                old.copy(old[group or "/"][name], new.require_group(group or "/"), name)


def _mark(file: h5py.File) -> None:
    """Make a file a study, or leave it the one that it is."""
    if "study_id" not in file.attrs:
        file.attrs.update({"study_id": uuid.uuid4().hex, "study_format": FORMAT_VERSION})


def _check_format(file: h5py.File, path: Path) -> None:
    if "study_id" not in file.attrs:
        raise StudyError(f"{path}: no study in this file; make splits first, or check the path")
    version = int(file.attrs["study_format"])
    if version > FORMAT_VERSION:
        raise StudyError(
            f"{path}: study format {version}, and this MLaut reads up to {FORMAT_VERSION}; "
            "update MLaut"
        )


@contextlib.contextmanager
def _damage_explained(path: Path) -> Iterator[None]:
    """Say in one line what a damaged file makes h5py and numpy say in many ways."""
    try:
        yield
    except (KeyError, ValueError, TypeError, IndexError, RuntimeError, AttributeError) as error:
        if isinstance(error, MlautError):
            raise
        raise StoreError(
            f"{path}: damaged where a study was expected ({' '.join(str(error).split())}); "
            "restore it from a copy, or write to a new file"
        ) from error
