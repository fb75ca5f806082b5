"""Processes that run cells, seen from outside: whatever happens in one, each cell has an outcome.

A worker reports the time at which each cell begins, so that its death, or its silence, is put down
to the one cell that was running. Each worker has pipes of its own and serves one strategy: nothing
that happens to one, at any instant, reaches another. Whatever it sends is looked at before it is
believed (`mlaut.experiments.messages`).
"""

from __future__ import annotations

import contextlib
import json
import math
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.util import Finalize
from typing import Any, Self

from mlaut import errors
from mlaut.errors import MlautError, StudyError
from mlaut.experiments.batches import Batch, BatchQueue
from mlaut.experiments.cell import cell_seed
from mlaut.experiments.cell_memory import oom_kills
from mlaut.experiments.messages import SPOILT, GarbledError, Inbox, decode_outcome, largest_outcome
from mlaut.experiments.process_sessions import eldest_child, end_session, is_running, lead_session
from mlaut.experiments.signals import interrupts_held
from mlaut.experiments.worker import (
    CLOCK,
    DIED,
    ENDED,
    LEAVES,
    LOADING,
    REFUSED,
    STATUS,
    load,
    serve,
)
from mlaut.records import Cell, Outcome, Status

__all__ = ["GuardedProcess", "Team", "run_batches"]

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_LOADING_SECONDS = 300.0
_LOOK_SECONDS = 1.0
_MESSAGE_SECONDS = 60.0  # without a byte in the midst of a message, which is written in one go
_TRACEBACK_SECONDS = 0.2
_TRACEBACK_LINES = 40
_OUTPUT_KEPT = 2**14
_PIECE = 2**16
_FALSE_STARTS = 5  # in a row: by chance, as for lack of memory, one or two may be
_IDLE_KEPT = 8  # strategies whose processes wait for their next dataset
_START_PAUSES = (0.05, 0.2, 1.0, 0.0)  # seconds; a server that a strategy has killed takes a while
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
    strategy : bytes
        The pickled strategy whose cells it runs.
    threads : int
        That a cell may use.

    Attributes
    ----------
    pid : int
        Of the process, which leads its session.
    rest : Batch or None
        Cells of the last batch that came to nothing, through no fault of theirs.
    stumbled : str
        How it ended, where that was before it began any cell.
    """

    def __init__(self, strategy: bytes, threads: int) -> None:
        context = multiprocessing.get_context("forkserver")
        link, self._link = context.Pipe(duplex=False)
        self._results, results = context.Pipe(duplex=False)
        self._clock, clock = context.Pipe(duplex=False)
        self._output, output = context.Pipe(duplex=False)
        environment = {**os.environ, **dict.fromkeys(_THREAD_VARIABLES, str(threads))}
        with contextlib.ExitStack() as stack:
            ends = [stack.enter_context(end) for end in (link, results, clock, output)]
            self._process = _started(serve, *ends, environment)
        self.pid: int = self._process.pid
        for end in (self._results, self._clock, self._output):
            os.set_blocking(end.fileno(), False)
        self._strategy = strategy
        self._inbox, self._heard = Inbox(), 0.0
        self._said = b""
        self._begun: list[float] = []
        self._has_begun = self._loads = False  # any code of the strategy; to load it
        self._batch: Batch | None = None
        self._leaves = False
        self.rest: Batch | None = None
        self.stumbled = ""

    @property
    def busy(self) -> bool:
        """Return whether cells of its batch have no outcome yet."""
        return self._batch is not None

    def serves(self, strategy: bytes) -> bool:
        """Return whether it can run another batch, and one of that strategy."""
        return self.stands and self._strategy == strategy

    @property
    def stands(self) -> bool:
        """Return whether it can run another batch."""
        return not self._leaves and self._process.exitcode is None

    @property
    def sources(self) -> list[Any]:
        """What becomes readable when there is something to `receive`."""
        ends = [end for end in (self._results, self._output) if not end.closed]
        return ends if self._process.exitcode == _SERVER_GONE else [*ends, self._process.sentinel]

    def begin(self, batch: Batch, timeout: float | None) -> None:
        """Run a batch."""
        self._batch, self.rest, self.stumbled = batch, None, ""
        self._timeout = timeout
        self._read_clock()  # what the batch before has left in it
        self._begun = []
        self._n_ended, self._said = 0, b""
        self._sent, self._oom_kills = time.monotonic(), oom_kills()
        n_test = max(map(self._n_test, batch.keys))
        self._largest = largest_outcome(n_test, len(batch.dataset.classes)) + 1
        try:
            self._link.send(batch)
        except OSError:  # it has gone, or does not listen
            self.end()

    @property
    def deadline(self) -> float:
        """When the cell that it runs is over time, on the monotonic clock."""
        self._read_clock()
        if not self._begun:
            return min(self._silence, self._sent + _LOADING_SECONDS)
        return min(self._silence, self._begun[-1] + (self._timeout or float("inf")))

    @property
    def _silence(self) -> float:
        """When the rest of a message is overdue."""
        return self._heard + _MESSAGE_SECONDS if self._inbox.partial else float("inf")

    def receive(self) -> list[Outcome]:
        """Return what has ended; end the process where its cell is over time.

        Raises
        ------
        MlautError
            The dataset could not be loaded.
        """
        alive = self._lives()
        try:
            outcomes = self._arrived()
            if self.busy and not alive:
                end_session(self.pid)
                outcomes += self._arrived()
                if self.busy:
                    outcomes += self._after_death()
        except GarbledError as garbled:
            self.end()
            return [*self._taken, *self._blamed(Status.CRASHED, f"its strategy {garbled}", "")]
        if self.busy and alive and time.monotonic() > self.deadline:
            if time.monotonic() > self._silence:
                self.end()
                return [*outcomes, *self._blamed(Status.CRASHED, f"its strategy {SPOILT}", "")]
            where = self._ask_where()
            self.end()  # the signal may have woken the cell: what it gives now is too late
            outcomes += self._over_time(where)
        return outcomes

    def _lives(self) -> bool:
        """Return whether it runs; its number is looked up where the server was killed."""
        code = self._process.exitcode
        return code is None or (code == _SERVER_GONE and is_running(self.pid))

    def end(self) -> None:
        """End the process and all that it has started."""
        end_session(self.pid)
        self._process.join()

    def close(self) -> None:
        """End the process and give back what it needed."""
        self.end()
        for end in (self._link, self._results, self._clock, self._output):
            end.close()
        self._process.close()

    # ---------------------------------------------------------------- listening

    def _arrived(self) -> list[Outcome]:
        """Take the messages that have come.

        Raises
        ------
        GarbledError
            They are none; what came before is in ``_taken``.
        """
        self._read_output()
        self._taken: list[Outcome] = []
        with contextlib.suppress(BlockingIOError):
            while not self._results.closed and (piece := self._read(self._results)):
                self._heard = time.monotonic()
                for kind, content in self._inbox.messages(piece, self._largest):
                    self._take(kind, content)
        taken, self._taken = self._taken, []
        return taken

    def _take(self, kind: bytes, content: bytes) -> None:
        if kind == LEAVES:
            self._leaves = True
            if self._batch is not None:
                self.rest, self._batch = self._left(self._n_ended), None
            return
        if self._batch is None:
            raise GarbledError(SPOILT)
        if kind == ENDED:
            self._ended(self._outcome(content))
        elif kind == DIED and len(content) == STATUS.size:
            self._read_output()  # all that it had said
            status = os.waitstatus_to_exitcode(*STATUS.unpack(content))
            self._ended(self._of_death(status, self._n_ended))
        elif kind == REFUSED:
            self._refused(content)
        else:
            raise GarbledError(SPOILT)

    def _ended(self, outcome: Outcome) -> None:
        assert self._batch is not None
        self._taken.append(outcome)
        self._n_ended += 1
        if self._n_ended == len(self._batch.cells):
            self._batch = None

    def _outcome(self, content: bytes) -> Outcome:
        """Read the outcome of the cell whose turn it is; garbage is a crash of that cell."""
        assert self._batch is not None
        batch, cell = self._batch, self._batch.keys[self._n_ended]
        seed, n_classes = cell_seed(batch.seed, cell), len(batch.dataset.classes)
        try:
            return decode_outcome(content, cell, seed, self._n_test(cell), n_classes)
        except GarbledError as garbled:
            return self._failed(Status.CRASHED, f"its strategy {garbled}", "", self._n_ended)

    def _n_test(self, cell: Cell) -> int:
        assert self._batch is not None
        return int((self._batch.folds[cell.repeat] == cell.fold).sum())

    def _refused(self, content: bytes) -> None:
        """Raise why the dataset could not be loaded, where it cannot be loaded here either.

        In the worker the strategy may have changed what loads it.
        """
        assert self._batch is not None
        load(self._batch.dataset)
        self._read_clock()
        try:
            told = json.loads(content)
            kind, message = getattr(errors, told["error"]), str(told["message"])
            lost = kind(message) if issubclass(kind, MlautError) else None
        except Exception:  # whatever a parser makes of garbage
            lost = None
        if lost is None or not self._has_begun:
            raise lost or GarbledError(SPOILT)
        raise GarbledError(f"keeps its process from loading the dataset: {message}")

    @staticmethod
    def _read(end: Connection) -> bytes:
        return os.read(end.fileno(), _PIECE)

    def _read_output(self) -> None:
        """Keep the end of what it prints."""
        with contextlib.suppress(BlockingIOError):
            while not self._output.closed:
                text = os.read(self._output.fileno(), _OUTPUT_KEPT)
                if not text:
                    self._output.close()
                self._said = (self._said + text)[-_OUTPUT_KEPT:]

    def _read_clock(self) -> None:
        """Read when cells began; a strategy may have written anything there."""
        with contextlib.suppress(BlockingIOError):
            while told := os.read(self._clock.fileno(), CLOCK.size * 1024):
                now, most = time.monotonic(), len(self._batch.cells) if self._batch else 0
                for (begun,) in CLOCK.iter_unpack(told[: len(told) // CLOCK.size * CLOCK.size]):
                    self._has_begun = True
                    self._loads = begun == LOADING
                    if not self._loads and len(self._begun) < most:
                        sane = math.isfinite(begun) and self._sent <= begun <= now
                        self._begun.append(begun if sane else now)

    def _ask_where(self) -> str:
        """Let a process that is over time print where it is; its own code has no part in that."""
        self._read_output()
        self._said = b""
        with contextlib.suppress(ProcessLookupError):
            os.kill(eldest_child(self.pid), signal.SIGUSR1)
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
        return self._settled(*self._judged(self._process.exitcode or 0))

    def _judged(self, exitcode: int) -> tuple[Status, str, str]:
        """Say how a process ended: by what the system tells, not by what a strategy prints."""
        how = f"its worker process {_how_it_ended(exitcode)}"
        told = _lines(self._said[max(0, self._said.rfind(b"Fatal Python error")) :])
        if exitcode == -signal.SIGKILL and oom_kills() > self._oom_kills:
            return Status.MEMORY, f"{how}, by the system, for lack of memory", told
        return Status.CRASHED, how, told

    def _of_death(self, exitcode: int, place: int) -> Outcome:
        """Return the outcome of a cell whose copy of the process died."""
        self._read_clock()
        outcome = self._failed(*self._judged(exitcode), place)
        self._said, self._oom_kills = b"", oom_kills()
        return outcome

    def _settled(self, status: Status, reason: str, told: str) -> list[Outcome]:
        """Put the end of the process down to the cell that ran; the others are left to do."""
        running = len(self._begun) - 1
        if running >= self._n_ended or self._loads:
            return self._blamed(status, reason, told)
        self.rest, self._batch = self._left(self._n_ended), None
        if not self._has_begun:
            self.stumbled = f"{reason} ({told.splitlines()[-1] if told else 'without a word'})"
        return []

    def _blamed(self, status: Status, reason: str, told: str) -> list[Outcome]:
        """Put the end of the process down to the cell whose turn it was."""
        self._leaves = True
        if self._batch is None:
            return []
        self._read_clock()
        outcome = self._failed(status, reason, told, self._n_ended)
        self.rest, self._batch = self._left(self._n_ended + 1), None
        return [outcome]

    def _left(self, start: int) -> Batch | None:
        assert self._batch is not None
        left = self._batch.cells[start:]
        return self._batch.part(left) if left else None

    def _failed(self, status: Status, reason: str, told: str, place: int) -> Outcome:
        assert self._batch is not None
        cell, now = self._batch.keys[place], time.monotonic()
        elapsed = now - self._begun[place] if place < len(self._begun) else 0.0
        details = {"traceback": told, "started": time.time() - elapsed, "elapsed": elapsed}
        seed = cell_seed(self._batch.seed, cell)
        return Outcome(cell, status, seed=seed, reason=reason, details=details)


def _how_it_ended(exitcode: int) -> str:
    if exitcode == _SERVER_GONE:
        return "ended, or left with exit code 255"
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
    """Guarded processes, kept for their strategies, that end with the process that began them.

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
        """Let a process run a batch; a new one where none of its strategy is idle."""
        with self._lock:
            for process in [process for process in self._idle if not process.stands]:
                self._dismiss(process)
            fit = [process for process in self._idle if process.serves(batch.strategy)]
            if fit:
                process = fit[-1]
                self._idle.remove(process)
            else:
                if len(self._idle) >= _IDLE_KEPT:
                    self._dismiss(self._idle[0])
                process = self._new(batch.strategy)
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

    def _new(self, strategy: bytes) -> GuardedProcess:
        with interrupts_held():
            new = GuardedProcess(strategy, self._threads)
            self._note(new.pid)
            self._members.add(new)
        return new

    def _dismiss(self, process: GuardedProcess) -> None:
        self._idle.remove(process)
        self._members.discard(process)
        process.close()
        self._note(-process.pid)

    def _note(self, pid: int) -> None:
        """Let the janitor know; where a strategy has killed it, the run goes on without."""
        with contextlib.suppress(OSError):
            self._notes.send(pid)


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
        for pause in _START_PAUSES:
            try:
                process.start()
                return process
            except (OSError, EOFError) as error:
                failed = error
            time.sleep(pause)
    raise StudyError(
        f"no worker process could be started ({failed or type(failed).__name__}); "
        "see whether the machine has processes and memory to spare"
    ) from failed


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
    """Let the server load its libraries without threads; each worker sets its own number.

    All workers of all runs have one order of sets of text, so that a strategy that follows it gives
    in a resumed run what it gives in another.
    """
    before = {name: os.environ.get(name) for name in (*_THREAD_VARIABLES, "PYTHONHASHSEED")}
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"), PYTHONHASHSEED="0")
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
