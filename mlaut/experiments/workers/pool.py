"""The worker processes of a run: give them batches, keep idle ones, and end them with the run."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import selectors
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from multiprocessing.util import Finalize
from typing import Self

from mlaut.errors import StudyError
from mlaut.experiments.workers.batches import Batch, BatchQueue
from mlaut.experiments.workers.isolation import hide
from mlaut.experiments.workers.process import GuardedProcess
from mlaut.experiments.workers.sessions import end_sessions, lead_session
from mlaut.experiments.workers.signals import interrupts_held
from mlaut.experiments.workers.start import await_server, start_process
from mlaut.experiments.workers.tables import LoadTable, SharedTables
from mlaut.records import Outcome

_LOOK_SECONDS = 0.5  # longest wait between checks of all processes
_FALSE_STARTS = 5  # in a row; one or two may happen by chance, for example for lack of memory
_IDLE_KEPT = 8  # idle processes kept for further batches


def run_batches(
    queue: BatchQueue,
    team: Team,
    n_workers: int,
    timeout: float | None,
    wanted: Callable[[], bool] = lambda: True,
) -> Iterator[list[Outcome]]:
    """Run all batches of a queue; yield outcomes as cells end, and at least every second.

    An empty list is yielded while no cell ends: the run is alive.

    Parameters
    ----------
    queue : BatchQueue
    team : Team
    n_workers : int
        Number of processes that run at the same time.
    timeout : float or None
        Time limit of a cell in seconds of wall time, or `CpuSeconds`.
    wanted : callable, optional
        Function called at least every second; when it returns False, the running cells are ended.
    """
    busy = _Busy()
    finished: list[Outcome] = []
    try:
        while True:
            while len(busy) < n_workers and (batch := queue.next()) is not None:
                busy.add(team.begin(queue.with_more(batch), timeout))
            for process in busy.ready():
                if (batch := queue.next_ahead()) is None:
                    break
                team.send_ahead(process, queue.with_more(batch))
            yield finished
            if finished:
                finished = []
                continue  # the outcomes may have opened further batches
            if not len(busy) or not wanted():
                return
            finished = busy.receive()
            queue.saw(finished)
            for process in busy.leave():
                for rest in process.rest:
                    queue.again(rest)
                team.take_back(process)
    finally:
        busy.end()


class _Busy:
    """Processes that run a batch. Each is registered once, so that a wait costs the same for all.

    Only those that have sent something, have ended or may be over time are read; now and then all.
    """

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._sources: dict[GuardedProcess, set[int]] = {}
        self._due: dict[GuardedProcess, float] = {}
        self._look = 0.0

    def __len__(self) -> int:
        return len(self._due)

    def add(self, process: GuardedProcess) -> None:
        """Add a process that has begun a batch."""
        self._sources[process] = set()
        self._look_after(process)

    def _look_after(self, process: GuardedProcess) -> None:
        """Register the open pipes of a process, and note when it may be over time."""
        sources, registered = process.sources, self._sources[process]
        for closed in registered - sources:
            self._selector.unregister(closed)
        for new in sources - registered:
            self._selector.register(new, selectors.EVENT_READ, process)
        self._sources[process] = sources
        self._due[process] = process.deadline

    def receive(self) -> list[Outcome]:
        """Wait, at most `_LOOK_SECONDS`, until cells may have ended; return their outcomes."""
        until = min(self._look, *self._due.values()) - time.monotonic()
        ready = {key.data for key, _ in self._selector.select(max(0.0, until))}
        now = time.monotonic()
        if now >= self._look:  # also for times of cells that began since the last look
            ready, self._look = set(self._due), now + _LOOK_SECONDS
        active = [process for process, due in self._due.items() if process in ready or due <= now]
        outcomes = [outcome for process in active for outcome in process.receive()]
        for process in active:
            self._look_after(process)
        return outcomes

    def ready(self) -> list[GuardedProcess]:
        """Return the processes to which another batch can be sent while they run one."""
        return [process for process in self._due if process.takes_another]

    def leave(self) -> list[GuardedProcess]:
        """Return the processes whose batch has ended, and no longer wait for them."""
        idle = [process for process in self._due if not process.busy]
        for process in idle:
            for source in self._sources.pop(process):
                self._selector.unregister(source)
            del self._due[process]
        return idle

    def end(self) -> None:
        """End all processes that run a batch."""
        self._selector.close()
        for process in self._due:
            process.end()


class Team:
    """Guarded processes of a run; idle ones are kept for further batches.

    All of them end with the process that runs the study, even if that is killed.

    Parameters
    ----------
    threads : int
        Number of threads that a cell may use.
    load : callable, optional
        Function that returns the table of a dataset; default from its database.
    """

    def __init__(self, threads: int, load: LoadTable | None = None) -> None:
        hide()
        self._threads = threads
        self._lock = threading.Lock()
        self._idle: list[GuardedProcess] = []
        self._stumbles = 0
        self._tables = SharedTables(load)
        self._members: set[GuardedProcess] = set()
        await_server()
        with interrupts_held():
            self._janitor = _Janitor(self._members)
            arguments = (self._members, self._janitor)
            self._end = Finalize(self, _end_all, arguments, exitpriority=10)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all processes, and free the tables."""
        self._end()
        self._tables.close()

    def begin(self, batches: Sequence[Batch], timeout: float | None) -> GuardedProcess:
        """Run batches in an idle process that serves them, or in a new one; return the process.

        They are of one dataset, and several share a process (`BatchQueue.with_more`).

        Raises
        ------
        MlautError
            The dataset cannot be read, or is not the one that was split.
        """
        with self._tables.lent(batches) as lent:
            process = self._serving(batches[0])
            process.begin(batches, lent, timeout)
        return process

    def _serving(self, batch: Batch) -> GuardedProcess:
        with self._lock:
            self._janitor.see_that_it_lives()
            fit = (process for process in reversed(self._idle) if process.serves(batch))
            process = next(fit, None)
            if process is not None:
                self._idle.remove(process)
            else:
                for ended in [process for process in self._idle if not process.stands]:
                    self._dismiss(ended)
                if len(self._idle) >= _IDLE_KEPT:
                    self._dismiss(self._idle[0])
                process = self._new(batch.served_by)
        return process

    def send_ahead(self, process: GuardedProcess, batches: Sequence[Batch]) -> None:
        """Send batches, as `begin`, to a busy process, which runs them after its present ones.

        Raises
        ------
        MlautError
            As `begin`.
        """
        with self._tables.lent(batches) as lent:
            process.send_ahead(batches, lent)

    def take_back(self, process: GuardedProcess) -> None:
        """Take back a process that is no longer busy.

        Raises
        ------
        StudyError
            Several processes in a row ended before their first cell.
        """
        with self._lock:
            self._stumbles = self._stumbles + 1 if process.stumbled else 0
            if self._stumbles >= _FALSE_STARTS:
                raise StudyError(
                    f"worker processes end before their first cell: {process.stumbled}; "
                    "try engine='inline' to see why"
                )
            self._idle.append(process)

    def _new(self, serves: bytes) -> GuardedProcess:
        await_server()
        with interrupts_held():
            new = GuardedProcess(serves, self._threads)
            self._janitor.note(new.pid)
            self._members.add(new)
        return new

    def _dismiss(self, process: GuardedProcess) -> None:
        self._idle.remove(process)
        self._members.discard(process)
        GuardedProcess.close(process)
        self._janitor.note(-process.pid)


def _end_all(members: set[GuardedProcess], janitor: _Janitor) -> None:
    GuardedProcess.close(*members)
    for member in members:
        janitor.note(-member.pid)  # so that it looks for none of them
    janitor.dismiss()


class _Janitor:
    """The process that ends the workers of a run that was killed.

    Parameters
    ----------
    members : set of GuardedProcess
        The workers; another janitor learns from it whom to end.
    """

    def __init__(self, members: set[GuardedProcess]) -> None:
        self._members = members
        self._start()

    def _start(self) -> None:
        reader, self._notes = multiprocessing.Pipe(duplex=False)
        with contextlib.closing(reader):
            self._process = start_process(_end_what_is_left, reader)
        for member in self._members:
            self.note(member.pid)

    def note(self, pid: int) -> None:
        """Send the number of a new worker, or the negative number of one that has ended."""
        with contextlib.suppress(OSError):  # a strategy has killed it
            self._notes.send(pid)

    def see_that_it_lives(self) -> None:
        """Start another one where a strategy has killed it."""
        if self._process.exitcode is not None:
            await_server()
            with interrupts_held():
                self._notes.close()
                self._start()

    def dismiss(self) -> None:
        """End the process, even if a strategy has stopped it."""
        self._notes.close()
        with contextlib.suppress(OSError):
            os.kill(self._process.pid, signal.SIGCONT)
        self._process.join()


def _end_what_is_left(notes: Connection) -> None:
    """Wait until the process that runs the study has ended, then end the workers that it left.

    This is the janitor process. It reads the numbers of workers, negative for those that were
    dismissed, until the pipe closes.
    """
    lead_session()
    leaders: set[int] = set()
    with contextlib.suppress(EOFError, OSError):
        while True:
            pid = notes.recv()
            leaders = leaders | {pid} if pid > 0 else leaders - {-pid}
    end_sessions(leaders)
