"""Writing of studies: outcomes of a run, and the records of its journal."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import h5py
import numpy as np

from mlaut.files_io.hdf5 import InPlace
from mlaut.files_io.journal import Journal, JournalIndex
from mlaut.files_io.names import from_h5
from mlaut.files_io.study_arrays import ArrayWriter, StudyArrays, get_json, put_json
from mlaut.files_io.study_layout import PREDICTIONS, RUNS, arrays_of
from mlaut.files_io.study_records import (
    check_outcome,
    outcome_arrays,
    outcome_record,
    ragged,
    record_outcome,
)
from mlaut.records import Outcome, Status

__all__ = ["StudyWriter", "fold_in", "forget_torn", "put_again"]


class StudyWriter:
    """Writer of outcomes into an open study; `mlaut.files_io.Study.writing` makes it."""

    def __init__(
        self, file: InPlace, journal: Journal, run: Mapping[str, Any] | None = None
    ) -> None:
        self._file = file
        self._journal = journal
        self._opened: dict[str, ArrayWriter] = {}
        journal.append({"run": {"id": uuid.uuid4().hex, **(run or {})}}, {})

    def write(self, *outcomes: Outcome) -> None:
        """Store outcomes, which from then on survive the death of the process.

        Raises
        ------
        StudyError
            An outcome does not fit the arrays.
        StoreError
            The disk is full, or the file was removed; earlier outcomes are intact.
        """
        arrays = [self._arrays(outcome.cell.dataset) for outcome in outcomes]
        for opened, outcome in zip(arrays, outcomes, strict=True):
            check_outcome(outcome, opened.entry, opened.names)
        for outcome in outcomes:
            synced = self._journal.append(outcome_record(outcome), outcome_arrays(outcome))
            if synced:
                self._file.check_there()
        for opened, outcome in zip(arrays, outcomes, strict=True):
            opened.put(outcome)

    def forget(self, dataset: str, strategies: Sequence[str], cells: np.ndarray) -> None:
        """Clear the cells where ``cells``, of shape (len(strategies), R, F), is True."""
        self._arrays(dataset).forget(strategies, cells)

    def _arrays(self, dataset: str) -> ArrayWriter:
        if dataset not in self._opened:
            self._opened[dataset] = ArrayWriter(self._file, arrays_of(self._file.file, dataset))
        return self._opened[dataset]


def put_again(file: InPlace, index: JournalIndex) -> None:
    """Write the outcomes of a journal that the arrays do not hold.

    Outcomes that the arrays already hold are not written again: a cell reads as missing while it is
    written, and would stay so if the process were killed at that moment.
    """
    for dataset in index.places:
        arrays = arrays_of(file.file, dataset)
        torn = arrays.block()[1]
        writer = ArrayWriter(file, arrays)
        for record in index.last_records(dataset):
            outcome = record_outcome(*record)
            if torn[writer.index(outcome.cell)] or not writer.has(outcome):
                writer.put(outcome)


def forget_torn(file: InPlace) -> dict[str, int]:
    """Clear the cells whose checksum does not match.

    Returns
    -------
    dict of str to int
        Number of cleared cells, by dataset; datasets without any are left out.
    """
    cleared = {}
    for name in map(from_h5, file.file[PREDICTIONS]):
        arrays = arrays_of(file.file, name)
        torn = arrays.block()[1]
        if torn.any():
            ArrayWriter(file, arrays).forget(arrays.names, torn)
            cleared[name] = int(torn.sum())
    return cleared


def fold_in(file: h5py.File, index: JournalIndex) -> None:
    """Copy the runs and the details of a journal into a study file that is being rebuilt."""
    runs = get_json(file, RUNS, [])
    known = {run.get("id") for run in runs}
    put_json(file, RUNS, runs + [run for run in index.runs if run["id"] not in known])
    for dataset in index.places:
        arrays = arrays_of(file, dataset)
        put_json(arrays.group, "details", _ragged_records(arrays, index))


def _ragged_records(arrays: StudyArrays, index: JournalIndex) -> list[dict[str, Any]]:
    """Return the ragged part of the last record of each cell that has a status."""
    live = (record for record, _ in index.records(arrays.entry.name))
    latest = {(r["strategy"], r["repeat"], r["fold"]): ragged(r) for r in [*arrays.ragged(), *live]}
    position = {name: s for s, name in enumerate(arrays.names)}
    status = arrays.status()[0]
    return [
        record
        for (strategy, repeat, fold), record in latest.items()
        if record
        and strategy in position
        and status[position[strategy], repeat, fold] != Status.MISSING
    ]
