"""Writing of studies: outcomes of a run, and the records of its journal."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import h5py
import numpy as np

from mlaut.files_io.outcomes.journal import Journal, JournalIndex
from mlaut.files_io.outcomes.packs import pack, pack_outcomes
from mlaut.files_io.outcomes.study_records import check_outcome, logged
from mlaut.files_io.safe_files.hdf5 import InPlace, change_h5
from mlaut.files_io.safe_files.names import from_h5, to_h5
from mlaut.files_io.safe_files.system_errors import explained
from mlaut.files_io.safe_files.texts import append_log
from mlaut.files_io.studies.study_arrays import ArrayWriter
from mlaut.files_io.studies.study_layout import PREDICTIONS, SPLITS, arrays_of, put_runs
from mlaut.records import Outcome

Logs = dict[tuple[str, str], list[str]]
"""Texts to add, by dataset and log."""

# Bytes of a journal that are moved into the study while a run lasts: a crash takes in no more.
LARGEST_JOURNAL = 2**26


class StudyWriter:
    """Writer of outcomes into an open study; `mlaut.files_io.StudyStore.writing` makes it."""

    def __init__(
        self, file: InPlace, journal: Journal, run: Mapping[str, Any] | None = None
    ) -> None:
        self._file = file
        self._journal = journal
        self._opened: dict[str, ArrayWriter] = {}
        self._run = {"id": uuid.uuid4().hex, **(run or {})}
        self._logs: Logs = {}
        self._written = False
        journal.append(pack({"run": self._run}, {}))
        journal.sync()  # a power cut may keep later pages alone: outcomes without what ran them

    def write(self, *outcomes: Outcome) -> None:
        """Store outcomes, which from then on survive the death of the process.

        Raises
        ------
        StudyError
            An outcome does not fit the arrays.
        StoreError
            The disk is full, or the file was removed; earlier outcomes are intact.
        """
        self._written = self._written or bool(outcomes)
        arrays = [self._arrays(outcome.cell.dataset) for outcome in outcomes]
        for opened, outcome in zip(arrays, outcomes, strict=True):
            check_outcome(outcome, opened.entry, opened.position)
        if self._journal.append(*pack_outcomes(outcomes)):
            self._file.check_there()
        for dataset, group in groupby(outcomes, key=lambda outcome: outcome.cell.dataset):
            together = list(group)
            with explained(self._file.path, "writing"):  # room on the disk is taken here
                checksums = self._arrays(dataset).put(*together)
            for outcome, checksum in zip(together, checksums, strict=True):
                _log(self._logs, outcome, checksum)
        if self._journal.size > LARGEST_JOURNAL:
            self.fold_in()
            self._journal.restart()
            self._file.open()

    def fold_in(self) -> None:
        """Store what the arrays do not hold; afterwards the journal is no longer needed.

        Afterwards the file is closed.
        """
        self._file.sync()
        if not self._written:
            return
        self._file.close()
        with change_h5(self._file.path, keeps=SPLITS, same_open=True) as file:
            fold_in(file, [self._run], self._logs)
        self._logs = {}

    def forget(self, dataset: str, strategies: Sequence[str], cells: np.ndarray) -> None:
        """Clear the cells where ``cells``, of shape (len(strategies), R, F), is True."""
        self._arrays(dataset).forget(strategies, cells)

    def _arrays(self, dataset: str) -> ArrayWriter:
        if dataset not in self._opened:
            self._opened[dataset] = ArrayWriter(self._file, arrays_of(self._file.file, dataset))
        return self._opened[dataset]


def _log(logs: Logs, outcome: Outcome, checksum: int) -> None:
    """Add what the arrays cannot hold of an outcome to the logs of its dataset."""
    for name, text in logged(outcome, checksum):
        logs.setdefault((outcome.cell.dataset, name), []).append(text)


def put_again(file: InPlace, index: JournalIndex) -> Logs:
    """Write the outcomes of a journal that the arrays do not hold.

    Outcomes that the arrays already hold are not written again: a cell reads as missing while it is
    written, and would stay so if the process were killed at that moment.

    Returns
    -------
    dict of (str, str) to list of str
        What the arrays cannot hold of these outcomes, by dataset and log, each a JSON text.
    """
    logs: Logs = {}
    for dataset in index.packs:
        arrays = arrays_of(file.file, dataset)
        torn = arrays.torn()
        writer = ArrayWriter(file, arrays)
        for outcome in index.last_outcomes(dataset):
            if torn[writer.index(outcome.cell)] or not writer.has(outcome):
                writer.put(outcome)
            _log(logs, outcome, writer.checksum(outcome))
    return logs


def forget_torn(file: InPlace) -> dict[str, int]:
    """Clear the cells whose checksum does not match, and sync the file.

    Returns
    -------
    dict of str to int
        Number of cleared cells, by dataset; datasets without any are left out.
    """
    cleared = {}
    for name in map(from_h5, file.file[PREDICTIONS]):
        arrays = arrays_of(file.file, name)
        torn = arrays.torn()
        if torn.any():
            ArrayWriter(file, arrays).forget(arrays.names, torn)
            cleared[name] = int(torn.sum())
    file.sync()
    return cleared


def fold_in(file: h5py.File, runs: Iterable[Mapping[str, Any]], logs: Logs) -> None:
    """Store runs, and what arrays cannot hold of cells; only while the structure changes."""
    put_runs(file, runs)
    for (dataset, name), records in logs.items():
        append_log(file[PREDICTIONS][to_h5(dataset)], name, records)
