"""The cells that have begun, noted in a file beside a study, which outlives the death of the run.

If a run is killed as a whole (for the memory of its job, by a watchdog, with its machine), the next
run reads which cells ran. A cell during which the run died twice runs alone, after all others; one
during which it died three times ends as ``crashed``, so that the study goes on.

Each line of the file is a JSON list: dataset, strategy, pairs of repeat and fold, and number of
deaths. 0 deaths stand for cells that have begun.
"""

import contextlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Self

from mlaut.errors import StoreError
from mlaut.experiments.cells.cell_input import failed_outcome
from mlaut.experiments.workers.batches import Batch
from mlaut.files_io import StudyStore
from mlaut.files_io.safe_files.lock import holder_of, locked
from mlaut.files_io.safe_files.names import beside
from mlaut.files_io.safe_files.plain_files import open_plain, read_plain
from mlaut.records import Cell, Outcome, Status

_DEATHS_BORNE = 3  # of the run during a cell
_ALONE = 2  # deaths from which on a cell runs alone: then no other one can be to blame
_LARGEST = 2**16  # bytes after which the file is written anew, without the cells that have ended
_IN_VAIN = "jobs in a row without an ended cell"


class BegunCells:
    """Cells of a study that have begun and have no outcome, and how often a run died during them.

    Attributes
    ----------
    deaths : Counter of Cell
    in_vain : int
        Number of runs in a row whose time was over before a cell ended.
    """

    def __init__(self, path: Path, deaths: Counter[Cell], in_vain: int) -> None:
        self.deaths, self.in_vain = deaths, in_vain
        self._path, self._handle, self._size = path, -1, 0
        self._running: set[Cell] = set()

    @classmethod
    def of(cls, study: StudyStore) -> Self:
        """Read what runs of a study left behind; the next one writes it again."""
        path = beside(study.path, ".begun")
        deaths, begun, in_vain = Counter[Cell](), set[Cell](), 0
        with contextlib.suppress(OSError):
            for line in read_plain(path).splitlines():
                with contextlib.suppress(ValueError, TypeError):  # a torn line
                    dataset, strategy, cells, count = json.loads(line)
                    keys = [Cell(dataset, strategy, *cell) for cell in cells]
                    in_vain = count if dataset == _IN_VAIN else in_vain
                    deaths.update(dict.fromkeys(keys, count))
                    begun.update(keys if not count else ())
        deaths.update(begun)
        open_cells = {*study.cells(Status.MISSING)} if deaths or in_vain else set()
        deaths = Counter({cell: n for cell, n in deaths.items() if cell in open_cells})
        return cls(path, deaths, in_vain if open_cells else 0)

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Keep the file during a run; afterwards it holds only what the next run must know."""
        with contextlib.suppress(OSError):  # a full disk stops the run elsewhere
            self._handle = open_plain(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        self._write_anew()
        try:
            yield
        finally:
            self._running.clear()
            self._write_anew()
            if self._handle >= 0:
                os.close(self._handle)
                self._handle = -1
            if not self.deaths and not self.in_vain:
                self._path.unlink(missing_ok=True)

    def note_vain(self) -> int:
        """Note that the time of a run was over before a cell ended; return how often in a row."""
        self.in_vain += 1
        with self.kept():
            return self.in_vain

    def begin(self, batch: Batch) -> None:
        """Note that the cells of a batch begin."""
        cells = batch.keys
        self._running.update(cells)
        line = _line(batch.dataset.name, batch.name, batch.cells, 0)
        if self._size + len(line) > _LARGEST:
            self._write_anew()
        else:
            self._append(line)

    def ended(self, outcomes: Iterable[Outcome]) -> None:
        """Forget cells that have ended."""
        for outcome in outcomes:
            self.in_vain = 0
            self._running.discard(outcome.cell)
            self.deaths.pop(outcome.cell, None)

    def _write_anew(self) -> None:
        lines = [_line(c.dataset, c.strategy, [(c.repeat, c.fold)], 0) for c in self._running]
        for c, n in self.deaths.items():
            lines.append(_line(c.dataset, c.strategy, [(c.repeat, c.fold)], n))
        if self.in_vain:
            lines.append(_line(_IN_VAIN, "", [], self.in_vain))
        with contextlib.suppress(OSError):
            os.ftruncate(self._handle, 0)
        self._size = 0
        self._append(b"".join(lines))

    def _append(self, content: bytes) -> None:
        with contextlib.suppress(OSError):
            os.pwrite(self._handle, content, self._size)
            self._size += len(content)


def sweep_notes(study: StudyStore) -> None:
    """Remove what a run that was killed near its end has left, if no cell is open any more."""
    if not beside(study.path, ".begun").exists() or holder_of(study.path) is not None:
        return
    with contextlib.suppress(OSError, StoreError), locked(study.path), BegunCells.of(study).kept():
        pass  # the next run tries again where this one may not write


class WatchedBatches:
    """Batches of a run for an engine, which also notes the cells that begin (`BatchQueue`).

    Attributes
    ----------
    alone : list of Batch
        Cells left out of these batches, each to be run alone after them.
    """

    def __init__(self, batches: Iterable[Batch | None], notes: BegunCells, *, isolate: bool):
        self._batches, self._notes, self._isolate = batches, notes, isolate
        self.alone: list[Batch] = []
        self._given_up: list[Outcome] = []

    def begin(self, batch: Batch) -> None:
        """Note that the cells of a batch begin."""
        self._notes.begin(batch)

    def __iter__(self) -> Iterator[Batch | None]:
        for batch in self._batches:
            if batch is None or not self._notes.deaths:
                yield batch
                continue
            deaths = [self._notes.deaths[cell] for cell in batch.keys]
            rest = []
            for cell, key, n in zip(batch.cells, batch.keys, deaths, strict=True):
                if n >= _DEATHS_BORNE:
                    reason = (
                        f"the run was killed {n} times while this cell ran: it may need more "
                        "memory than the job has, or hang its machine"
                    )
                    seed = batch.seed_of(key)
                    self._given_up.append(failed_outcome(key, Status.CRASHED, reason, seed))
                elif n >= _ALONE and self._isolate:
                    self.alone.append(batch.part([cell]))
                else:
                    rest.append(cell)
            if rest:
                yield batch.part(rest)

    def given_up(self) -> list[Outcome]:
        """Return the outcomes of cells that are not run any more, once."""
        outcomes, self._given_up = self._given_up, []
        return outcomes


def _line(dataset: str, strategy: str, cells: Iterable[tuple[int, int]], deaths: int) -> bytes:
    return json.dumps([dataset, strategy, list(cells), deaths]).encode() + b"\n"
