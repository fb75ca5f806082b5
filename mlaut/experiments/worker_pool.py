"""Worker processes from the side of the run: start them, receive outcomes, end them.

Every cell gets an outcome, whatever happens to its worker. A worker reports when each cell begins,
so that its death, or its silence, is attributed to the cell that was running. Each worker has its
own pipes and serves one strategy, so that a failure in one never affects another. Its messages are
checked before they are used (`mlaut.experiments.messages`).
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
_LOADING_SECONDS = 300.0  # limit for loading strategy and dataset before the first cell
_LOOK_SECONDS = 1.0  # longest wait between checks of the processes
_MESSAGE_SECONDS = 60.0  # longest pause inside a message; a worker writes it without pausing
_TRACEBACK_SECONDS = 0.2  # longest wait for the traceback of a process that is over time
_TRACEBACK_LINES = 40
_OUTPUT_KEPT = 2**14  # bytes: the end of what a process prints
_PIECE = 2**16  # bytes of one read
_FALSE_STARTS = 5  # in a row; one or two may happen by chance, for example for lack of memory
_IDLE_KEPT = 8  # idle processes kept for the next dataset of their strategy
_START_PAUSES = (0.05, 0.2, 1.0, 0.0)  # seconds; a fork server that was killed needs a restart
_SERVER_GONE = 255  # exit code that multiprocessing reports when the fork server is gone


def run_batches(
    queue: BatchQueue,
    team: Team,
    n_workers: int,
    timeout: float | None,
    wanted: Callable[[], bool] = lambda: True,
) -> Iterator[list[Outcome]]:
    """Run all batches of a queue, and yield outcomes as cells end.

    Parameters
    ----------
    queue : BatchQueue
    team : Team
    n_workers : int
        Number of processes that run at the same time.
    timeout : float or None
        Time limit of a cell in seconds.
    wanted : callable, optional
        Function called at least every second; when it returns False, the running cells are ended.
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
    """Wait until a process has sent something, has ended or is over time; at most a second."""
    processes = list(processes)
    until = min(process.deadline for process in processes) - time.monotonic()
    sources = [source for process in processes for source in process.sources]
    wait(sources, min(_LOOK_SECONDS, max(0.0, until)))


class GuardedProcess:
    """One worker process and the batch that it runs.

    Parameters
    ----------
    strategy : bytes
        Pickled strategy whose cells the process runs.
    threads : int
        Number of threads that a cell may use.

    Attributes
    ----------
    pid : int
        Number of the process, which leads its own session.
    rest : Batch or None
        Cells of the last batch that have no outcome and must run again: the process ended, but
        not because of them.
    stumbled : str
        How the process ended, if it ended before its first cell; empty otherwise.
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
        # Whether any code of the strategy has run, and whether it is being loaded now.
        self._has_begun = self._loads = False
        self._batch: Batch | None = None
        self._leaves = False
        self.rest: Batch | None = None
        self.stumbled = ""

    @property
    def busy(self) -> bool:
        """Whether cells of the batch have no outcome yet."""
        return self._batch is not None

    def serves(self, strategy: bytes) -> bool:
        """Return whether the process can run another batch of this strategy."""
        return self.stands and self._strategy == strategy

    @property
    def stands(self) -> bool:
        """Whether the process can run another batch."""
        return not self._leaves and self._process.exitcode is None

    @property
    def sources(self) -> list[Any]:
        """Connections that become readable when there is something to `receive`."""
        ends = [end for end in (self._results, self._output) if not end.closed]
        return ends if self._process.exitcode == _SERVER_GONE else [*ends, self._process.sentinel]

    def begin(self, batch: Batch, timeout: float | None) -> None:
        """Send a batch to the process."""
        self._batch, self.rest, self.stumbled = batch, None, ""
        self._timeout = timeout
        self._read_clock()  # discard times of the batch before
        self._begun = []
        self._n_ended, self._said = 0, b""
        self._sent, self._oom_kills = time.monotonic(), oom_kills()
        n_test = max(map(self._n_test, batch.keys))
        self._largest = largest_outcome(n_test, len(batch.dataset.classes)) + 1
        try:
            self._link.send(batch)
        except OSError:  # the process has ended, or has closed its pipe
            self.end()

    @property
    def deadline(self) -> float:
        """Time on the monotonic clock at which the running cell is over time."""
        self._read_clock()
        if not self._begun:
            return min(self._silence, self._sent + _LOADING_SECONDS)
        return min(self._silence, self._begun[-1] + (self._timeout or float("inf")))

    @property
    def _silence(self) -> float:
        """Time on the monotonic clock at which the rest of a message is overdue."""
        return self._heard + _MESSAGE_SECONDS if self._inbox.partial else float("inf")

    def receive(self) -> list[Outcome]:
        """Return the outcomes of ended cells; end the process if its cell is over time.

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
            self.end()  # the signal may have woken the cell, but an outcome now would be too late
            outcomes += self._over_time(where)
        return outcomes

    def _lives(self) -> bool:
        """Return whether the process runs; without the fork server, its number is looked up."""
        code = self._process.exitcode
        return code is None or (code == _SERVER_GONE and is_running(self.pid))

    def end(self) -> None:
        """End the process and all processes that it started."""
        end_session(self.pid)
        self._process.join()

    def close(self) -> None:
        """End the process and close its pipes."""
        self.end()
        for end in (self._link, self._results, self._clock, self._output):
            end.close()
        self._process.close()

    # ---------------------------------------------------------------- listening

    def _arrived(self) -> list[Outcome]:
        """Read the messages that have arrived, and return the outcomes in them.

        Raises
        ------
        GarbledError
            The bytes are no valid message; earlier outcomes are in ``_taken``.
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
                self.rest, self._batch = self._left(), None
            return
        if self._batch is None:
            raise GarbledError(SPOILT)
        if kind == ENDED:
            self._ended(self._outcome(content))
        elif kind == DIED and len(content) == STATUS.size:
            self._read_output()  # all that the copy printed
            status = os.waitstatus_to_exitcode(*STATUS.unpack(content))
            self._ended(self._outcome_of_death(status, self._n_ended))
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
        """Return the outcome of the next cell; invalid content counts as a crash of that cell."""
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
        """Raise the error with which the worker failed to load the dataset.

        The dataset is first loaded here, for the code of the strategy may have broken the loader
        in the worker. If loading works here, the strategy is to blame.

        Raises
        ------
        MlautError
            The dataset cannot be loaded here either, or no code of the strategy had run.
        GarbledError
            The strategy prevents its process from loading the dataset, or the message is invalid.
        """
        assert self._batch is not None
        load(self._batch.dataset)
        self._read_clock()
        try:
            told = json.loads(content)
            kind, message = getattr(errors, told["error"]), str(told["message"])
            lost = kind(message) if issubclass(kind, MlautError) else None
        except Exception:  # the content may be anything
            lost = None
        if lost is None or not self._has_begun:
            raise lost or GarbledError(SPOILT)
        raise GarbledError(f"keeps its process from loading the dataset: {message}")

    @staticmethod
    def _read(end: Connection) -> bytes:
        return os.read(end.fileno(), _PIECE)

    def _read_output(self) -> None:
        """Read what the process has printed, and keep the end of it."""
        with contextlib.suppress(BlockingIOError):
            while not self._output.closed:
                text = os.read(self._output.fileno(), _OUTPUT_KEPT)
                if not text:
                    self._output.close()
                self._said = (self._said + text)[-_OUTPUT_KEPT:]

    def _read_clock(self) -> None:
        """Read the times at which cells began.

        The code of a strategy may have written anything to this pipe, so a time that cannot be
        right is replaced by the present one.
        """
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
        """Return the traceback of a process that is over time; `faulthandler` prints it there."""
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
        """Return no outcome: not the process but the server that forked it has died."""
        self._begun = []
        return self._settled(Status.CRASHED, "the server of worker processes was killed", "")

    def _over_time(self, where: str) -> list[Outcome]:
        limit = self._timeout if self._begun else _LOADING_SECONDS
        return self._settled(Status.TIMEOUT, f"took longer than {limit:g} s and was ended", where)

    def _after_death(self) -> list[Outcome]:
        self._read_clock()
        return self._settled(*self._judged(self._process.exitcode or 0))

    def _judged(self, exitcode: int) -> tuple[Status, str, str]:
        """Return status, reason and traceback of a process that ended.

        The status follows from the exit code, never from what a strategy prints.
        """
        how = f"its worker process {_how_it_ended(exitcode)}"
        told = _lines(self._said[max(0, self._said.rfind(b"Fatal Python error")) :])
        if exitcode == -signal.SIGKILL and oom_kills() > self._oom_kills:
            return Status.MEMORY, f"{how}, by the system, for lack of memory", told
        return Status.CRASHED, how, told

    def _outcome_of_death(self, exitcode: int, place: int) -> Outcome:
        """Return the outcome of a cell whose copy of the process died."""
        self._read_clock()
        outcome = self._failed(*self._judged(exitcode), place)
        self._said, self._oom_kills = b"", oom_kills()
        return outcome

    def _settled(self, status: Status, reason: str, told: str) -> list[Outcome]:
        """Attribute the end of the process to the running cell; the other cells run again."""
        running = len(self._begun) - 1
        if running >= self._n_ended or self._loads:
            # Outcomes of cells before the one that runs may wait in the process and end with it.
            return self._blamed(status, reason, told, max(running, self._n_ended))
        self.rest, self._batch = self._left(), None
        if not self._has_begun:
            self.stumbled = f"{reason} ({told.splitlines()[-1] if told else 'without a word'})"
        return []

    def _blamed(
        self, status: Status, reason: str, told: str, place: int | None = None
    ) -> list[Outcome]:
        """Attribute the end of the process to a cell; by default the next without an outcome."""
        self._leaves = True
        if self._batch is None:
            return []
        self._read_clock()
        place = self._n_ended if place is None else place
        outcome = self._failed(status, reason, told, place)
        self.rest, self._batch = self._left(without=place), None
        return [outcome]

    def _left(self, without: int = -1) -> Batch | None:
        """Return the cells that have no outcome yet, without the one at a place."""
        assert self._batch is not None
        cells = self._batch.cells
        left = [cells[i] for i in range(self._n_ended, len(cells)) if i != without]
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
    """Guarded processes of a run; idle ones are kept for further batches of their strategy.

    All of them end with the process that runs the study, even if that is killed.

    Parameters
    ----------
    threads : int
        Number of threads that a cell may use.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._lock = threading.Lock()
        self._idle: list[GuardedProcess] = []
        self._stumbles = 0
        self._members: set[GuardedProcess] = set()
        with interrupts_held():
            self._janitor = _Janitor(self._members)
            arguments = (self._members, self._janitor)
            self._end = Finalize(self, _end_all, arguments, exitpriority=10)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all processes."""
        self._end()

    def begin(self, batch: Batch, timeout: float | None) -> GuardedProcess:
        """Run a batch in an idle process of its strategy, or in a new one; return the process."""
        with self._lock:
            self._janitor.see_that_it_lives()
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

    def _new(self, strategy: bytes) -> GuardedProcess:
        with interrupts_held():
            new = GuardedProcess(strategy, self._threads)
            self._janitor.note(new.pid)
            self._members.add(new)
        return new

    def _dismiss(self, process: GuardedProcess) -> None:
        self._idle.remove(process)
        self._members.discard(process)
        process.close()
        self._janitor.note(-process.pid)


def _end_all(members: set[GuardedProcess], janitor: _Janitor) -> None:
    for process in members:
        process.close()
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
            self._process = _started(_end_what_is_left, reader)
        for member in self._members:
            self.note(member.pid)

    def note(self, pid: int) -> None:
        """Tell it the number of a new worker, or the negative number of one that has ended."""
        with contextlib.suppress(OSError):  # a strategy has killed it
            self._notes.send(pid)

    def see_that_it_lives(self) -> None:
        """Start another one where a strategy has killed it."""
        if self._process.exitcode is not None:
            with interrupts_held():
                self._notes.close()
                self._start()

    def dismiss(self) -> None:
        """Let it end, also where a strategy has stopped it."""
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
    for leader in leaders:
        end_session(leader)


# -------------------------------------------------------------- starting processes

_birth = threading.Lock()


def _started(function: Callable[..., None], *arguments: Any) -> Any:
    """Start a process with the fork server, which has the libraries already loaded."""
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

    ``multiprocessing`` imports the main script in each worker, which would start the study again
    unless the script is guarded by ``if __name__ == "__main__"``. Workers do not need the script:
    strategies are pickled by value.
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
    """Let a daemonic process, such as a Dask worker, start children; `Team` ends them."""
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
    """Let the fork server load its libraries with one thread; each worker sets its own number.

    ``PYTHONHASHSEED`` is fixed: the order of sets of text is then the same in all runs, and so are
    the results of a strategy that depends on it.
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
