"""A worker process from the side of the run: send batches, receive outcomes, judge how it ended.

Every cell gets an outcome, whatever happens to its worker. A worker reports when each cell begins,
so that its death, or its silence, is attributed to the cell that was running. Each worker has its
own pipes, so that a failure in one never affects another. Its messages are checked before they are
used (`mlaut.experiments.cells.messages`).
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from multiprocessing.connection import wait
from multiprocessing.reduction import send_handle
from typing import Any, NamedTuple

from mlaut.experiments.cells import messages
from mlaut.experiments.cells.cell_input import failed_outcome
from mlaut.experiments.cells.memory import CPU_WAITS, CpuSeconds
from mlaut.experiments.workers import sessions
from mlaut.experiments.workers.allotted import oom_kills
from mlaut.experiments.workers.batches import Batch, DatasetRef
from mlaut.experiments.workers.signals import STOPPING
from mlaut.experiments.workers.start import start_process
from mlaut.experiments.workers.tables import Lent
from mlaut.helpers.anew import THREAD_VARIABLES
from mlaut.records import Cell, Outcome, Status

_LOADING_SECONDS = 300.0  # limit for loading strategy and dataset before the first cell
_MESSAGE_SECONDS = 60.0  # longest pause inside a message; a worker writes it without pausing
_TRACEBACK_SECONDS = 0.2  # longest wait for the traceback of a process that is over time
_TRACEBACK_LINES = 40  # the innermost lines, which show where it hangs, or the last
_SIGNAL_SECONDS = 0.5  # longest time between the same signal to two processes of a job
_CPU_LOOK_SECONDS = 0.1  # shortest pause between looks at CPU time, each of which reads all /proc
_OUTPUT_KEPT = 2**14  # bytes: the end of what a process prints
_LAST_WORDS = 200  # characters of the last printed line that a reason contains
_PIECE = 2**16  # bytes of one read
_SERVER_GONE = 255  # exit code that multiprocessing reports when the fork server is gone


class _Due(NamedTuple):
    """Cell that was sent to a process: its batch, its place there, its number of test rows."""

    batch: Batch
    place: int
    n_test: int

    @property
    def cell(self) -> Cell:
        return self.batch.key(self.place)

    @property
    def seed(self) -> int:
        return self.batch.seed_of(self.cell)

    @property
    def n_classes(self) -> int:
        return len(self.batch.dataset.classes)

    @property
    def n_targets(self) -> int:
        return self.batch.dataset.n_targets

    @property
    def largest(self) -> int:
        return messages.largest_outcome(self.n_test, self.n_classes, self.n_targets)


class GuardedProcess:
    """One worker process and the cells that it runs, of one batch or of several in turn.

    Parameters
    ----------
    serves : bytes
        Key of the batches that the process runs (`Batch.served_by`).
    threads : int
        Number of threads that a cell may use.

    Attributes
    ----------
    pid : int
        Number of the process, which leads its own session.
    rest : list of Batch
        Cells that have no outcome and must run again: the process ended, but not because of them.
    stumbled : str
        How the process ended, if it ended before its first cell; empty otherwise.
    """

    def __init__(self, serves: bytes, threads: int) -> None:
        context = multiprocessing.get_context("forkserver")
        link, self._link = context.Pipe()  # a socket: tables are sent as descriptors
        self._results, results = context.Pipe(duplex=False)
        self._clock, clock = context.Pipe(duplex=False)
        self._output, output = context.Pipe(duplex=False)
        environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(threads))}
        with contextlib.ExitStack() as stack:
            ends = [stack.enter_context(end) for end in (link, results, clock, output)]
            self._process = start_process(_serve, *ends, environment)
        self.pid: int = self._process.pid
        for end in (self._results, self._clock, self._output):
            os.set_blocking(end.fileno(), False)
        self._serves = serves
        self._table: DatasetRef | None = None  # of the table that the process has mapped
        secret = os.urandom(messages.SECRET)
        with contextlib.suppress(OSError):  # it has ended, as the first batch will show
            os.write(self._link.fileno(), secret)
        self._inbox, self._heard = messages.Inbox(secret), 0.0
        self._printed = b""
        # The cells that were sent, the times at which they began, and how many of them have ended;
        # the last batch begins at a place of its own.
        self._due: list[_Due] = []
        self._begun: list[float] = []
        self._n_ended = self._last = 0
        self._used_before = self._look_again = 0.0  # CPU seconds before the running cell; a time
        # Whether any code of the strategy has run, and whether it is being loaded now.
        self._has_begun = self._loads = False
        self._leaves = False
        self.rest: list[Batch] = []
        self.stumbled = ""

    @property
    def busy(self) -> bool:
        """Return whether cells have no outcome yet."""
        return bool(self._due)

    @property
    def takes_another(self) -> bool:
        """Return whether the process, which shares strategies, has begun the last batch sent to it.

        Its socket is empty then, so that sending a small batch does not wait for it.
        """
        sends_at_once = sys.platform != "darwin"  # there, a descriptor must have been received
        waits = not self._serves and not self._leaves and len(self._begun) > self._last
        return sends_at_once and waits

    def serves(self, batch: Batch) -> bool:
        """Return whether the process can run a batch after its present one."""
        return self._serves == batch.served_by and self.stands

    @property
    def stands(self) -> bool:
        """Return whether the process can run another batch."""
        return not self._leaves and self._process.exitcode is None

    @property
    def sources(self) -> set[int]:
        """Descriptors that become readable when there is something to `receive`."""
        ends = {end.fileno() for end in (self._results, self._output) if not end.closed}
        return ends if self._process.exitcode == _SERVER_GONE else ends | {self._process.sentinel}

    def begin(self, batches: Sequence[Batch], lent: Lent, timeout: float | None) -> None:
        """Send batches to the idle process, and the memory of their table if it has another."""
        self.rest, self.stumbled = [], ""
        self._timeout = timeout
        self._read_clock()  # discard times of the batch before
        self._begun = []
        self._n_ended = self._largest = 0
        self._printed = b""
        self._sent = time.monotonic()
        self._send(batches, lent)

    def send_ahead(self, batches: Sequence[Batch], lent: Lent) -> None:
        """Send batches, as `begin`, that the process will run after its present ones."""
        del self._due[: self._n_ended], self._begun[: self._n_ended]
        self._n_ended = 0
        self._send(batches, lent)

    def _send(self, batches: Sequence[Batch], lent: Lent) -> None:
        dataset = batches[0].dataset
        is_new = dataset != self._table
        self._oom_kills = oom_kills()
        self._last = len(self._due)
        self._due += [_Due(b, place, n) for b in batches for place, n in enumerate(b.test_sizes)]
        largest = max(due.largest for due in self._due) + 1
        self._largest = max(self._largest, largest)
        try:
            # Without the path of the database, which has all labels.
            shown = replace(dataset, database="")
            sent = [replace(batch, dataset=shown) for batch in batches]
            self._link.send((sent, lent.places, lent.kind, is_new))
            send_handle(self._link, lent.labels, self.pid)
            if is_new:
                send_handle(self._link, lent.table, self.pid)
            self._table = dataset
        except OSError:  # the process has ended, or has closed its pipe
            self.end()

    @property
    def deadline(self) -> float:
        """Time on the monotonic clock at which the running cell is, or may be, over time."""
        self._read_clock()
        if len(self._begun) <= self._n_ended:  # no cell runs, as far as is known
            since = max([self._sent, *self._begun[-1:]])
            return min(self._silence, since + _LOADING_SECONDS)
        begun, limit = self._begun[-1], self._timeout or float("inf")
        if not isinstance(limit, CpuSeconds):
            return min(self._silence, begun + limit)
        may_be = max(self._look_again, begun + limit / _cores())
        return min(self._silence, may_be, begun + CPU_WAITS * limit)

    @property
    def _silence(self) -> float:
        """Time on the monotonic clock at which the rest of a message is overdue."""
        return self._heard + _MESSAGE_SECONDS if self._inbox.partial else float("inf")

    def receive(self) -> list[Outcome]:
        """Return the outcomes of ended cells; end the process if its cell is over time."""
        alive = self._lives()
        try:
            outcomes = self._arrived()
            if self.busy and not alive:
                sessions.end_sessions([self.pid])
                outcomes += self._arrived()
                if self.busy:
                    outcomes += self._after_death()
        except messages.GarbledError as garbled:
            self.end()
            return [*self._taken, *self._blamed(Status.CRASHED, f"its strategy {garbled}", "")]
        if self.busy and alive and time.monotonic() > self.deadline:
            if time.monotonic() > self._silence:
                self.end()
                return [
                    *outcomes,
                    *self._blamed(Status.CRASHED, f"its strategy {messages.SPOILT}", ""),
                ]
            if not self._has_cpu_time_left():
                where = self._ask_where()
                self.end()  # the signal may wake the cell, but an outcome now would be too late
                outcomes += self._over_time(where)
        return outcomes

    def _has_cpu_time_left(self) -> bool:
        """Return whether the running cell has a limit of CPU time, and has not reached it."""
        limit, now, n_begun = self._timeout, time.monotonic(), len(self._begun)
        if not isinstance(limit, CpuSeconds) or not n_begun:
            return False
        seconds_left = self._used_before + limit - sessions.cpu_seconds_of_session(self.pid)
        self._look_again = now + max(_CPU_LOOK_SECONDS, seconds_left / _cores())
        self._read_clock()
        if len(self._begun) > n_begun:  # meanwhile the next cell has begun
            return True
        return seconds_left > 0 and now < self._begun[-1] + CPU_WAITS * limit

    def _lives(self) -> bool:
        """Return whether the process runs; without the fork server, its number is looked up."""
        code = self._process.exitcode
        return code is None or (code == _SERVER_GONE and sessions.is_running(self.pid))

    def end(self) -> None:
        """End the process and all processes that it started."""
        sessions.end_sessions([self.pid])
        self._join()

    def _join(self) -> None:
        if self._process.exitcode is None:  # one that was just forked leads no session yet
            self._process.kill()
        self._process.join()

    @staticmethod
    def close(*processes: GuardedProcess) -> None:
        """End processes and close their pipes, with one search for all their descendants."""
        sessions.end_sessions([process.pid for process in processes])
        for process in processes:
            process._join()
            for end in (process._link, process._results, process._clock, process._output):
                end.close()
            process._process.close()

    # ---------------------------------------------------------------- listening

    def _arrived(self) -> list[Outcome]:
        """Read the messages that have arrived, and return the outcomes in them.

        Raises
        ------
        GarbledError
            The bytes are no valid message; earlier outcomes are in ``_taken``.
        """
        self._read_output()
        # An attribute, so that `receive` has what came before a message that is not valid.
        self._taken: list[Outcome] = []
        with contextlib.suppress(BlockingIOError):
            while not self._results.closed and (piece := os.read(self._results.fileno(), _PIECE)):
                self._heard = time.monotonic()
                for kind, content in self._inbox.messages(piece, self._largest):
                    self._take(kind, content)
        outcomes, self._taken = self._taken, []
        return outcomes

    def _take(self, kind: bytes, content: bytes) -> None:
        if kind == messages.LEAVES:
            self._leaves = True
            self._give_up()
            return
        if not self._due:
            raise messages.GarbledError(messages.SPOILT)
        if kind == messages.ENDED:
            # Only code that shares a process, and is known, sends several together.
            left = len(self._due) - self._n_ended
            for outcome in self._outcomes(content, left if self._is_shared else 1):
                self._ended(outcome)
        elif kind == messages.DIED and len(content) == messages.STATUS.size:
            self._read_output()  # all that the copy printed
            status = os.waitstatus_to_exitcode(*messages.STATUS.unpack(content))
            self._ended(self._outcome_of_death(status, self._n_ended))
        else:
            raise messages.GarbledError(messages.SPOILT)

    @property
    def _is_shared(self) -> bool:
        """Whether the process runs known code, as the sender says of the next batch too."""
        return self._due[self._n_ended].batch.shared is not None

    def _ended(self, outcome: Outcome) -> None:
        self._taken.append(outcome)
        self._n_ended += 1
        if self._n_ended == len(self._due):
            self._due = []

    def _outcomes(self, content: bytes, most: int) -> Iterator[Outcome]:
        """Yield the outcomes of the next cells; invalid content counts as a crash of that cell."""
        try:
            outcomes = messages.decode_outcomes(content, most)
        except messages.GarbledError as garbled:
            if self._is_shared:  # of how many cells is unknown
                raise
            yield self._failed(Status.CRASHED, f"its strategy {garbled}", "", self._n_ended)
            return
        yield from map(self._checked, outcomes)

    def _checked(self, outcome: Outcome) -> Outcome:
        """Return the outcome of the next cell; one that is not valid counts as its crash."""
        due, place = self._due[self._n_ended], self._n_ended
        if place >= len(self._begun):
            self._read_clock()
        begun = self._begun[place] if place < len(self._begun) else self._sent
        longest = time.monotonic() - begun
        try:
            return messages.check_outcome(
                outcome, due.cell, due.seed, due.n_test, due.n_classes, longest, due.n_targets
            )
        except messages.GarbledError as garbled:
            return self._failed(Status.CRASHED, f"its strategy {garbled}", "", place)

    def _read_output(self) -> None:
        """Read what the process has printed, and keep the end of it."""
        with contextlib.suppress(BlockingIOError):
            while not self._output.closed:
                text = os.read(self._output.fileno(), _OUTPUT_KEPT)
                if not text:
                    self._output.close()
                self._printed = (self._printed + text)[-_OUTPUT_KEPT:]

    def _read_clock(self) -> None:
        """Read the times at which cells began.

        The code of a strategy may have written anything to this pipe, so a time that cannot be
        right is replaced by the present one.
        """
        with contextlib.suppress(BlockingIOError):
            while piece := os.read(self._clock.fileno(), messages.CLOCK.size * 1024):
                now, most = time.monotonic(), len(self._due)
                whole = piece[: len(piece) // messages.CLOCK.size * messages.CLOCK.size]
                for begun, used in messages.CLOCK.iter_unpack(whole):
                    self._has_begun = True
                    self._loads = begun == messages.LOADING
                    if not self._loads and len(self._begun) < most:
                        sane = math.isfinite(begun) and self._sent <= begun <= now
                        self._begun.append(begun if sane else now)
                        self._used_before = used if math.isfinite(used) else 0.0

    def _ask_where(self) -> str:
        """Return the traceback of a process that is over time; `faulthandler` prints it there."""
        self._read_output()
        self._printed = b""
        with contextlib.suppress(ProcessLookupError):
            os.kill(sessions.eldest_child(self.pid), signal.SIGUSR1)
        if not self._output.closed and wait([self._output], _TRACEBACK_SECONDS):
            time.sleep(_TRACEBACK_SECONDS / 10)  # for the rest of it
            self._read_output()
        return _lines(self._printed)

    # ----------------------------------------------------------------- judging

    def _over_time(self, where: str) -> list[Outcome]:
        limit = self._timeout if self._begun else _LOADING_SECONDS
        reason = f"took longer than {limit:g} s"
        if isinstance(limit, CpuSeconds):
            reason = f"used more than {limit:g} s of CPU time"
            if time.monotonic() >= self._begun[-1] + CPU_WAITS * limit:
                reason = f"took longer than {CPU_WAITS} times its {limit:g} s of CPU time"
        return self._settled(Status.TIMEOUT, f"{reason} and was ended", where)

    def _after_death(self) -> list[Outcome]:
        self._read_clock()
        exitcode = self._process.exitcode or 0
        return self._settled(*self._judged(exitcode, lost=exitcode == _SERVER_GONE))

    def _judged(self, exitcode: int, *, lost: bool = False) -> tuple[Status, str, str]:
        """Return status, reason and traceback of a process that ended.

        The status follows from the exit code, never from what a strategy prints.
        """
        if lost or -exitcode in (*STOPPING, signal.SIGKILL):
            # Slurm sends a signal to each process of a job: that of the run may follow, and a cell
            # that ended by it must not be stored as one that failed.
            time.sleep(_SIGNAL_SECONDS)
        reason = f"its worker process {'was lost, or ' * lost}{_how_it_ended(exitcode)}"
        fatal = self._printed.rfind(b"Fatal Python error")
        if fatal >= 0:
            output = _lines(self._printed[fatal:])
        else:
            output = _lines(self._printed, last=True)
            if last_line := _last_words(output):
                reason += f", and printed last: {last_line}"
        if exitcode == -signal.SIGKILL and oom_kills() > self._oom_kills:
            return Status.MEMORY, f"{reason}, by the system, for lack of memory", output
        return Status.CRASHED, reason, output

    def _outcome_of_death(self, exitcode: int, place: int) -> Outcome:
        """Return the outcome of a cell whose copy of the process died."""
        self._read_clock()
        outcome = self._failed(*self._judged(exitcode), place)
        self._printed, self._oom_kills = b"", oom_kills()
        return outcome

    def _settled(self, status: Status, reason: str, output: str) -> list[Outcome]:
        """Attribute the end of the process to the running cell; the other cells run again."""
        running = len(self._begun) - 1
        if running >= self._n_ended or self._loads:
            # Outcomes of cells before the one that runs may wait in the process and end with it.
            return self._blamed(status, reason, output, max(running, self._n_ended))
        self._give_up()
        if not self._has_begun:
            self.stumbled = (
                f"{reason} ({output.splitlines()[-1] if output else 'without any output'})"
            )
        return []

    def _blamed(
        self, status: Status, reason: str, output: str, place: int | None = None
    ) -> list[Outcome]:
        """Attribute the end of the process to a cell; by default the next without an outcome."""
        self._leaves = True
        if not self._due:
            return []
        self._read_clock()
        place = self._n_ended if place is None else place
        outcome = self._failed(status, reason, output, place)
        self._give_up(without=place)
        return [outcome]

    def _give_up(self, without: int = -1) -> None:
        """Leave the cells without an outcome, except the one at a place, to other processes."""
        unfinished: dict[Batch, list[tuple[int, int]]] = {}
        for i in range(self._n_ended, len(self._due)):
            batch, place, _ = self._due[i]
            if i != without:
                unfinished.setdefault(batch, []).append(batch.cells[place])
        self.rest = [batch.part(cells) for batch, cells in unfinished.items()]
        self._due = []

    def _failed(self, status: Status, reason: str, output: str, place: int) -> Outcome:
        due, now = self._due[place], time.monotonic()
        elapsed = now - self._begun[place] if place < len(self._begun) else 0.0
        return failed_outcome(due.cell, status, reason, due.seed, elapsed, output)


def _serve(*arguments: Any) -> None:
    """Run cells in a new process: the one that starts it needs no scikit-learn."""
    from mlaut.experiments.workers.worker import serve

    serve(*arguments)


def _cores() -> int:
    """Return the number of cores: the most CPU seconds that a cell can use in a second."""
    return os.cpu_count() or 1


def _how_it_ended(exitcode: int) -> str:
    if exitcode >= 0:
        return f"ended with exit code {exitcode}"
    try:
        return f"was killed by {signal.Signals(-exitcode).name}"
    except ValueError:
        return f"was killed by signal {-exitcode}"


def _last_words(output: str) -> str:
    """Return the last line of an output that is not empty, without characters that do not print."""
    lines = ("".join(filter(str.isprintable, line)).strip() for line in output.splitlines())
    return next((line[-_LAST_WORDS:] for line in reversed(list(lines)) if line), "")


def _lines(printed: bytes, *, last: bool = False) -> str:
    part = slice(-_TRACEBACK_LINES, None) if last else slice(_TRACEBACK_LINES)
    return "\n".join(printed.decode(errors="replace").splitlines()[part])
