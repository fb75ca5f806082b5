"""Code of a worker process: map the table, run the cells of a batch, send their outcomes.

A process serves all strategies that consist of scikit-learn's code (`copies.shares_process`), or
one other strategy. If that has foreign code (`copies.foreign_code`), the process only loads the
strategy and maps the table, and each cell runs in a copy (fork) of it.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import random
import resource
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle
from typing import Any

import cloudpickle
import numpy as np

from mlaut.experiments.cells.cell import cell_seed, limited_threads, run_cell
from mlaut.experiments.cells.fold_models import Table
from mlaut.experiments.cells.memory import (
    cpu_seconds,
    limited_memory,
    offer_to_be_killed,
    own_memory,
)
from mlaut.experiments.cells.messages import encode_outcome, frame, largest_outcome
from mlaut.experiments.workers.batches import Batch
from mlaut.experiments.workers.copies import can_be_copied, foreign_code, load_known, run_in_copy
from mlaut.experiments.workers.sessions import end_children, forget_server, lead_session
from mlaut.experiments.workers.tables import map_table
from mlaut.records import Cell, Outcome, Split

__all__ = [
    "CLOCK",
    "DIED",
    "ENDED",
    "LEAVES",
    "LOADING",
    "STATUS",
    "preload",
    "prepare",
    "serve",
]

CLOCK = struct.Struct("<dd")  # of the begin of a cell: time, and CPU seconds used before
LOADING = 0.0  # sent in place of a time: loading the strategy, which counts for the first cell
# Kinds of messages: the outcome of a cell, the exit status of a copy that died, the notice that the
# process takes no further cell.
ENDED, DIED, LEAVES = b"o", b"d", b"l"
STATUS = struct.Struct("<i")

_SEND_SECONDS = 0.05  # outcomes of shorter cells are sent together
_MEMORY_LEFT_BEHIND = 2**30  # bytes that a process may have grown by before it is replaced

RunCell = Callable[[Cell], Outcome]


def preload() -> None:
    """Import what cells need, and find the thread pools of these libraries."""
    import joblib  # noqa: F401
    import sklearn.dummy
    import sklearn.ensemble
    import sklearn.linear_model
    import sklearn.model_selection
    import sklearn.naive_bayes
    import sklearn.neighbors
    import sklearn.pipeline
    import sklearn.svm
    import sklearn.tree  # noqa: F401

    from mlaut.estimators import catalogue, generic_estimator  # noqa: F401

    with limited_threads(1):
        pass


def prepare(batch: Batch, table: Table, strategy: Callable[[], Any]) -> RunCell:
    """Return a function that runs one cell of a batch.

    Parameters
    ----------
    batch : Batch
    table : Table
        Table of the dataset of the batch.
    strategy : callable
        Function that returns the strategy.
    """

    def run(cell: Cell) -> Outcome:
        return run_cell(
            cell,
            strategy,
            table,
            Split(batch.folds[cell.repeat][None]).rows(0, cell.fold),
            cell_seed(batch.seed, cell),
            batch.options,
        )

    return run


# ------------------------------------------------------------------- the process


def serve(
    link: Connection,
    results: Connection,
    clock: Connection,
    output: Connection,
    environment: Mapping[str, str],
) -> None:
    """Run batches until the link closes or the process should be replaced.

    Parameters
    ----------
    link : Connection
        Socket from which batches are received, and the shared memory of their tables.
    results : Connection
        Pipe to which messages are sent (`mlaut.experiments.cells.messages`).
    clock : Connection
        Pipe to which the start time of each cell is sent.
    output : Connection
        Pipe for everything that cells print, and the tracebacks of crashed or ended cells.
    environment : mapping
        Environment variables of the process that runs the study, with limits for the number of
        threads of libraries.
    """
    _settle_in(output, environment)
    post = _Post(link.fileno(), results.fileno(), clock.fileno())
    serves: _Server | None = None
    table: Any = None
    while True:
        try:
            batch, has_table = link.recv()
            if has_table:
                table = _received_table(link)
        except (EOFError, OSError):
            return
        if serves is None:
            serves = (_Mould if foreign_code(batch.strategy) else _Shared)(post)
        try:
            serves.run(batch, table)
        except OSError:
            return  # the process that runs the study has closed the pipe
        if serves.leaves:
            return


def _received_table(link: Connection) -> Table:
    memory = recv_handle(link)
    try:
        return map_table(memory)
    finally:
        os.close(memory)


class _Post:
    """Pipes to the process that runs the study."""

    def __init__(self, link: int, results: int, clock: int) -> None:
        self.descriptors = [link, results, clock]
        self._results, self._clock = results, clock
        self._waiting = bytearray()
        self._sent = time.monotonic()

    def begin(self, when: float | None = None) -> None:
        """Send the time at which a cell begins, or `LOADING` when its strategy is loaded."""
        begun = time.monotonic() if when is None else when
        os.write(self._clock, CLOCK.pack(begun, cpu_seconds()))

    def send(self, message: bytes = b"", wait: bool = False) -> None:
        """Send waiting messages and this one; with ``wait``, at most once per `_SEND_SECONDS`."""
        self._waiting += message
        if wait and time.monotonic() - self._sent <= _SEND_SECONDS:
            return
        rest = memoryview(bytes(self._waiting))
        while rest:
            rest = rest[os.write(self._results, rest) :]
        self._waiting.clear()
        self._sent = time.monotonic()


class _Server:
    """Runner of cells.

    Attributes
    ----------
    leaves : bool
        Whether this process takes no further batch.
    """

    leaves = False

    def __init__(self, post: _Post) -> None:
        self._post = post

    def run(self, batch: Batch, table: Table) -> None:
        """Run the cells of a batch, and send their outcomes."""
        raise NotImplementedError


class _Shared(_Server):
    """Runner for strategies of known code: cells run one after the other in this process."""

    def __init__(self, post: _Post) -> None:
        super().__init__(post)
        self._strategies: dict[bytes, Any] = {}
        self._usual = own_memory()

    def run(self, batch: Batch, table: Table) -> None:
        if batch.strategy not in self._strategies:
            self._strategies[batch.strategy] = load_known(batch.strategy)
        run = prepare(batch, table, lambda: self._strategies[batch.strategy])
        me = os.getpid()
        for cell in batch.keys:
            self._post.begin()
            message = frame(ENDED, encode_outcome(run(cell)))
            if os.getpid() != me:
                os._exit(0)  # the cell has forked, and this is the fork
            end_children()
            self._post.send(message, wait=True)
        sys.stdout.flush()
        self.leaves = threading.active_count() > 1 or _has_grown(self._usual)
        self._post.send(frame(LEAVES, b"") if self.leaves else b"")


class _Mould(_Server):
    """Runner for a strategy of foreign code: each cell runs in a copy (fork) of this process."""

    _strategy: Callable[[], Any] | None = None

    def run(self, batch: Batch, table: Table) -> None:
        if self._strategy is None:
            self._post.begin(LOADING)
            self._strategy = _loaded(batch)
        run = prepare(batch, table, self._strategy)
        gc.freeze()  # else a collection in a copy would touch, and so duplicate, shared memory
        for cell in batch.keys:
            self._post.begin()
            if not can_be_copied():  # loading the strategy has started threads
                self._post.send(frame(ENDED, encode_outcome(run(cell))) + frame(LEAVES, b""))
                self.leaves = True
                return
            self._run_copy(batch, cell, run)
            end_children()
        self._post.send()

    def _run_copy(self, batch: Batch, cell: Cell, run: RunCell) -> None:
        n_test = int(np.count_nonzero(batch.folds[cell.repeat] == cell.fold))
        largest = largest_outcome(n_test, len(batch.dataset.classes))
        status, content = run_in_copy(
            lambda: encode_outcome(run(cell)), largest, self._post.descriptors
        )
        if status or not content:
            self._post.send(frame(DIED, STATUS.pack(status)))
        else:  # the receiver checks whether it is an outcome at all
            # Sent at once: what the next copy may write into the pipe then comes after it.
            self._post.send(frame(ENDED, content[: largest + 1]))


def _loaded(batch: Batch) -> Callable[[], Any]:
    """Return a function that returns the strategy, unpickled with its own seed in any process."""
    seed = cell_seed(batch.seed, Cell("", batch.name))
    np.random.seed(seed)  # noqa: NPY002
    random.seed(seed)
    try:
        with limited_memory(batch.options.memory):
            strategy = cloudpickle.loads(batch.strategy)
    except (Exception, SystemExit):
        return lambda: cloudpickle.loads(batch.strategy)  # so that each cell reports the error
    return lambda: strategy


def _settle_in(output: Connection, environment: Mapping[str, str]) -> None:
    lead_session()
    forget_server()
    offer_to_be_killed()
    for stream in (1, 2):
        os.dup2(output.fileno(), stream)
    faulthandler.enable(file=2)
    faulthandler.register(signal.SIGUSR1, file=2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    os.environ.clear()
    os.environ.update(environment)
    preload()


def _has_grown(usual: int) -> bool:
    """Return whether cells have left much memory behind that garbage collection cannot free."""
    if own_memory() - usual < _MEMORY_LEFT_BEHIND:
        return False
    gc.collect()
    return own_memory() - usual > _MEMORY_LEFT_BEHIND
