"""Processes that run cells, seen from outside: whatever happens in one, each cell has an outcome.

A worker reports the time at which each cell begins, so that its death, or its silence, is put down
to the one cell that was running. Each worker has links of its own: nothing that happens to one, at
any instant, reaches another.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.util import Finalize
from typing import Any, Self

from mlaut.errors import MlautError, StudyError
from mlaut.experiments.batches import Batch, BatchQueue
from mlaut.experiments.cell import cell_seed
from mlaut.experiments.guard import lacked_memory, oom_kills
from mlaut.experiments.processes import end_session, is_running, lead_session
from mlaut.experiments.signals import interrupts_held
from mlaut.experiments.worker import CLOCK, serve
from mlaut.records import Outcome, Status

__all__ = ["GuardedProcess", "Team", "run_batches"]

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_LOADING_SECONDS = 300.0
_LINK_SECONDS = 60
_LOOK_SECONDS = 1.0
_TRACEBACK_SECONDS = 0.2
_TRACEBACK_LINES = 40
_OUTPUT_KEPT = 2**14
_FALSE_STARTS = 5
_SERVER_GONE = 255  # what multiprocessing tells of a process whose server it cannot ask


def run_batches(
    queue: BatchQueue,
    team: Team,
    n_workers: int,
    timeout: float | None,
    wanted: Callable[[], bool] = lambda: True,
) -> Iterator[list[Outcome]]:
    """Run all batches of a queue and give outcomes as they come.

    Parameters
    ----------
    queue : BatchQueue
    team : Team
    n_workers : int
        Processes at a time.
    timeout : float or None
        Seconds that a cell may take.
    wanted : callable, optional
        Asked every second; where it says no, the running cells are ended.
    """
    busy: list[GuardedProcess] = []
    finished: list[Outcome] = []
    try:
        while True:
            while len(busy) < n_workers and (batch := queue.next()) is not None:
                busy.append(team.begin(batch, timeout))
            if finished:
                yield finished
            if not busy or not wanted():
                return
            _wait_for(busy)
            finished = [outcome for process in busy for outcome in process.receive()]
            queue.saw(finished)
            for process in [process for process in busy if not process.busy]:
                busy.remove(process)
                if process.rest is not None:
                    queue.again(process.rest)
                team.take_back(process)
    finally:
        for process in busy:
            process.end()


def _wait_for(processes: Iterable[GuardedProcess]) -> None:
    """Wait until one of them has something to say, or is over time."""
    processes = list(processes)
    until = min(process.deadline for process in processes) - time.monotonic()
    sources = [source for process in processes for source in process.sources]
    wait(sources, min(_LOOK_SECONDS, max(0.0, until)))


class GuardedProcess:
    """One worker process and the batch that it runs.

    Parameters
    ----------
    threads : int
        That a cell may use.

    Attributes
    ----------
    pid : int
        Of the process, which leads its session.
    rest : Batch or None
        Cells of the last batch that came to nothing, through no fault of theirs.
    stumbled : str
        How it ended, where that was before it began a cell of its batch.
    """

    def __init__(self, threads: int) -> None:
        context = multiprocessing.get_context("forkserver")
        self._link, link = context.Pipe()
        self._clock, clock = context.Pipe(duplex=False)
        self._output, output = context.Pipe(duplex=False)
        environment = {**os.environ, **dict.fromkeys(_THREAD_VARIABLES, str(threads))}
        with contextlib.closing(link), contextlib.closing(clock), contextlib.closing(output):
            self._process = _started(serve, link, clock, output, environment)
        self.pid: int = self._process.pid
        _bound(self._link)
        for end in (self._clock, self._output):
            os.set_blocking(end.fileno(), False)
        self._said = b""
        self._begun: list[float] = []
        self._batch: Batch | None = None
        self._leaves = False
        self.rest: Batch | None = None
        self.stumbled = ""

    @property
    def busy(self) -> bool:
        """Whether cells of its batch have no outcome yet."""
        return self._batch is not None

    @property
    def serves(self) -> bool:
        """Whether it can run another batch."""
        return not self._leaves and self._process.exitcode is None

    @property
    def sources(self) -> list[Any]:
        """What becomes readable when there is something to `receive`."""
        links = [end for end in (self._link, self._output) if not end.closed]
        return [*links, self._process.sentinel]

    def begin(self, batch: Batch, timeout: float | None) -> None:
        """Run a batch."""
        self._batch, self.rest, self.stumbled = batch, None, ""
        self._timeout = timeout
        self._read_clock()  # what the batch before has left in it
        self._begun = []
        self._n_ended, self._said = 0, b""
        self._sent, self._oom_kills = time.monotonic(), oom_kills()
        try:
            self._link.send(batch)
        except OSError:  # it has gone, or does not listen
            self.end()

    @property
    def deadline(self) -> float:
        """When the cell that it runs is over time, on the monotonic clock."""
        self._read_clock()
        if not self._begun:
            return self._sent + _LOADING_SECONDS
        return self._begun[-1] + (self._timeout or float("inf"))

    def receive(self) -> list[Outcome]:
        """Give what has ended; end the process where its cell is over time.

        Raises
        ------
        MlautError
            The dataset could not be loaded.
        """
        alive = self._process.exitcode is None
        outcomes = self._arrived()
        if self.busy and not alive:
            abandoned = self._process.exitcode == _SERVER_GONE and is_running(self.pid)
            end_session(self.pid)
            outcomes += self._arrived()
            if self.busy:
                outcomes += self._after_death() if not abandoned else self._given_up()
        elif self.busy and time.monotonic() > self.deadline:
            where = self._ask_where()
            self.end()  # the signal may have woken the cell: what it gives now is too late
            outcomes += self._over_time(where)
        return outcomes

    def end(self) -> None:
        """End the process and all that it has started."""
        end_session(self.pid)
        self._process.join()

    def close(self) -> None:
        """End the process and give back what it needed."""
        self.end()
        for end in (self._link, self._clock, self._output):
            end.close()
        self._process.close()

    # ---------------------------------------------------------------- listening

    def _arrived(self) -> list[Outcome]:
        self._read_output()
        outcomes: list[Outcome] = []
        with contextlib.suppress(EOFError, OSError):
            while self._link.poll():
                message = self._link.recv()
                if isinstance(message, MlautError):
                    self._batch = None
                    raise message
                ended, self._leaves = message
                outcomes += ended
        self._n_ended += len(outcomes)
        if self._batch is not None and self._n_ended == len(self._batch.cells):
            self._batch = None
        return outcomes

    def _read_output(self) -> None:
        """Keep the end of what it prints."""
        with contextlib.suppress(BlockingIOError):
            while not self._output.closed:
                text = os.read(self._output.fileno(), _OUTPUT_KEPT)
                if not text:
                    self._output.close()
                self._said = (self._said + text)[-_OUTPUT_KEPT:]

    def _read_clock(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while told := os.read(self._clock.fileno(), CLOCK.size * 1024):
                self._begun += [begun for (begun,) in CLOCK.iter_unpack(told)]

    def _ask_where(self) -> str:
        """Let a process that is over time print where it is; its own code has no part in that."""
        self._read_output()
        self._said = b""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGUSR1)
        if not self._output.closed and wait([self._output], _TRACEBACK_SECONDS):
            time.sleep(_TRACEBACK_SECONDS / 10)  # for the rest of it
            self._read_output()
        return _lines(self._said)

    # ----------------------------------------------------------------- judging

    def _given_up(self) -> list[Outcome]:
        """Blame no cell: the server that had forked the process has died, not the process."""
        self._begun = []
        return self._settled(Status.CRASHED, "the server of worker processes was killed", "")

    def _over_time(self, where: str) -> list[Outcome]:
        limit = self._timeout if self._begun else _LOADING_SECONDS
        return self._settled(Status.TIMEOUT, f"took longer than {limit:g} s and was ended", where)

    def _after_death(self) -> list[Outcome]:
        self._read_clock()
        exitcode = self._process.exitcode or 0
        how = f"its worker process {_how_it_ended(exitcode)}"
        told = _lines(self._said[max(0, self._said.rfind(b"Fatal Python error")) :])
        if exitcode == -signal.SIGKILL and oom_kills() > self._oom_kills:
            return self._settled(Status.MEMORY, f"{how}, by the system, for lack of memory", told)
        if lacked_memory(self._said.decode(errors="replace")):
            return self._settled(Status.MEMORY, f"{how} after an allocation had failed", told)
        return self._settled(Status.CRASHED, how, told)

    def _settled(self, status: Status, reason: str, told: str) -> list[Outcome]:
        """Put the end of the process down to the cell that ran; the others are left to do."""
        batch, self._batch = self._batch, None
        assert batch is not None
        running = len(self._begun) - 1
        left = [c for i, c in enumerate(batch.cells) if i >= self._n_ended and i != running]
        self.rest = batch.part(left) if left else None
        if running < self._n_ended:
            self.stumbled = f"{reason} ({told.splitlines()[-1] if told else 'without a word'})"
            return []
        cell, elapsed = batch.keys[running], time.monotonic() - self._begun[running]
        details = {"traceback": told, "started": time.time() - elapsed, "elapsed": elapsed}
        return [
            Outcome(cell, status, seed=cell_seed(batch.seed, cell), reason=reason, details=details)
        ]


def _how_it_ended(exitcode: int) -> str:
    if exitcode >= 0:
        return f"left with exit code {exitcode}"
    try:
        return f"was killed by {signal.Signals(-exitcode).name}"
    except ValueError:
        return f"was killed by signal {-exitcode}"


def _lines(said: bytes) -> str:
    return "\n".join(said.decode(errors="replace").splitlines()[:_TRACEBACK_LINES])


# ------------------------------------------------------------------- together


class Team:
    """Guarded processes, kept for further batches, that end with the process that began them.

    Parameters
    ----------
    threads : int
        That a cell may use.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._lock = threading.Lock()
        self._idle: list[GuardedProcess] = []
        self._stumbles = 0
        self._members: set[GuardedProcess] = set()
        reader, self._notes = multiprocessing.Pipe(duplex=False)
        with interrupts_held(), contextlib.closing(reader):
            janitor = _started(_end_what_is_left, reader)
            arguments = (self._members, self._notes, janitor)
            self._end = Finalize(self, _dismiss, arguments, exitpriority=10)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all processes."""
        self._end()

    def begin(self, batch: Batch, timeout: float | None) -> GuardedProcess:
        """Let a process run a batch; a new one where none is idle."""
        with self._lock:
            process = self._idle.pop() if self._idle else None
            if process is None or not process.serves:
                process = self._replaced(process)
        process.begin(batch, timeout)
        return process

    def take_back(self, process: GuardedProcess) -> None:
        """Take a process that is not busy any more.

        Raises
        ------
        StudyError
            Processes end, one after the other, before they begin a cell.
        """
        with self._lock:
            self._stumbles = self._stumbles + 1 if process.stumbled else 0
            if self._stumbles >= _FALSE_STARTS:
                raise StudyError(
                    f"worker processes end before their first cell: {process.stumbled}; "
                    "try engine='inline' to see why"
                )
            self._idle.append(process)

    def _replaced(self, old: GuardedProcess | None) -> GuardedProcess:
        if old is not None:
            self._members.discard(old)
            old.close()
            self._notes.send(-old.pid)
        with interrupts_held():
            new = GuardedProcess(self._threads)
            self._notes.send(new.pid)
            self._members.add(new)
        return new


def _dismiss(members: set[GuardedProcess], notes: Connection, janitor: Any) -> None:
    for process in members:
        process.close()
    notes.close()
    janitor.join()


def _end_what_is_left(notes: Connection) -> None:
    """Wait until the process that runs the study is gone, however; end the workers it has left."""
    lead_session()
    leaders: set[int] = set()
    with contextlib.suppress(EOFError, OSError):
        while True:
            pid = notes.recv()
            leaders = leaders | {pid} if pid > 0 else leaders - {-pid}
    for leader in leaders:
        end_session(leader)


# ------------------------------------------------------------------ to be born

_birth = threading.Lock()


def _started(function: Callable[..., None], *arguments: Any) -> Any:
    """Start a process by the server that forks them, which has their libraries loaded."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["mlaut.experiments.preloaded"])
    process = context.Process(target=function, args=arguments)
    with _birth, _main_hidden(), _children_allowed(), _one_thread():
        try:
            process.start()
        except (OSError, EOFError) as error:
            raise StudyError(
                f"no worker process could be started ({error or type(error).__name__}); "
                "see whether the machine has processes and memory to spare"
            ) from error
    return process


@contextlib.contextmanager
def _main_hidden() -> Iterator[None]:
    """Keep workers from importing the user's script.

    ``multiprocessing`` runs the script that was started again in each worker, which starts the
    study again unless the script is guarded by ``if __name__ == "__main__"``. Workers do not need
    it: strategies travel by value.
    """
    main = sys.modules["__main__"]
    hidden = {name: getattr(main, name) for name in ("__spec__", "__file__") if hasattr(main, name)}
    main.__spec__ = None
    if "__file__" in hidden:
        del main.__file__
    try:
        yield
    finally:
        vars(main).update(hidden)


@contextlib.contextmanager
def _children_allowed() -> Iterator[None]:
    """Let a daemonic process (a Dask worker is one) have children: `Team` sees to their end."""
    settings = vars(multiprocessing.current_process())["_config"]
    before = settings.get("daemon")
    settings["daemon"] = False
    try:
        yield
    finally:
        if before is None:
            del settings["daemon"]
        else:
            settings["daemon"] = before


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Let the server load its libraries without threads; each worker sets its own number."""
    before = {name: os.environ.get(name) for name in _THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _bound(link: Connection) -> None:
    """Let no worker that has stopped in the middle of a message hold up the one that runs it."""
    with socket.socket(fileno=os.dup(link.fileno())) as end:
        end.setblocking(True)
        for option in (socket.SO_SNDTIMEO, socket.SO_RCVTIMEO):
            end.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", _LINK_SECONDS, 0))
