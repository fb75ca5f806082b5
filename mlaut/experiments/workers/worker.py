"""Code of a worker process: map the table, run the cells of a batch, send their outcomes.

A process serves all strategies of known code that use the same libraries
(`copies.shared_process`), or one other strategy. If that has foreign code (`copies.foreign_code`),
the process only loads the strategy and maps the table, and each cell runs in a copy (fork) of it.
"""

import faulthandler
import gc
import os
import random
import resource
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle
from time import monotonic  # bound before a strategy could replace it
from typing import Any

import cloudpickle
import numpy as np

from mlaut.experiments.cells import memory as limits
from mlaut.experiments.cells import messages
from mlaut.experiments.cells.cell import limited_threads, run_cell
from mlaut.experiments.cells.cell_input import FoldTable
from mlaut.experiments.workers.batches import Batch
from mlaut.experiments.workers.copies import can_be_copied, foreign_code, load_known, run_in_copy
from mlaut.experiments.workers.isolation import hide
from mlaut.experiments.workers.sessions import end_children, forget_server, lead_session
from mlaut.experiments.workers.tables import TrainingLabels, map_table
from mlaut.records import Cell, Outcome, Split

_SEND_SECONDS = 0.05  # outcomes of shorter cells are sent together
_MEMORY_LEFT_BEHIND = 2**30  # bytes that a process may have grown by before it is replaced

RunCell = Callable[[Cell], Outcome]


def preload() -> None:
    """Import what cells need, and find the thread pools of these libraries."""
    import joblib  # noqa: F401
    import sklearn.calibration
    import sklearn.compose
    import sklearn.dummy
    import sklearn.ensemble
    import sklearn.impute
    import sklearn.linear_model
    import sklearn.model_selection
    import sklearn.naive_bayes
    import sklearn.neighbors
    import sklearn.pipeline
    import sklearn.svm
    import sklearn.tree  # noqa: F401

    from mlaut.estimators.catalogue import catalogue  # noqa: F401
    from mlaut.estimators.strategy import generic_estimator  # noqa: F401

    with limited_threads(1):
        pass


def prepare(
    batch: Batch,
    table: FoldTable,
    strategy: Callable[[], Any],
    labels: Callable[[Cell, int], np.ndarray] | None = None,
) -> RunCell:
    """Return a function that runs one cell of a batch.

    Parameters
    ----------
    batch : Batch
    table : FoldTable
        Table of the dataset of the batch.
    strategy : callable
        Function that returns the strategy.
    labels : callable, optional
        Function that returns the labels of the training rows of a cell, from the cell and the
        number of these rows; default those of the table.
    """
    _find_modules(batch)

    def run(cell: Cell) -> Outcome:
        rows = Split(batch.folds[cell.repeat][None]).rows(0, cell.fold)
        training_labels = labels(cell, len(rows[0])) if labels else None
        seed = batch.seed_of(cell)
        return run_cell(cell, strategy, table, rows, seed, batch.options, training_labels)

    return run


def _find_modules(batch: Batch) -> None:
    """Let this process find the modules that the session of the run finds, after its own."""
    sys.path += [folder for folder in batch.options.path if folder not in sys.path]


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
        Socket from which the secret of the process is received, then batches, the labels of their
        training rows, and the shared memory of their tables.
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
    secret = bytearray(messages.SECRET)
    if os.readv(link.fileno(), [secret]) < messages.SECRET:
        return
    post = _Post(link.fileno(), results.fileno(), clock.fileno(), secret)
    serves: _InProcess | _InCopies | None = None
    table: Any = None
    while True:
        try:
            batches, places, kind, has_table = link.recv()
            memory = recv_handle(link)
            if has_table:
                shared = recv_handle(link)
                try:
                    table = map_table(shared)
                finally:
                    os.close(shared)
        except (EOFError, OSError):
            return
        if serves is None:
            serves = (_InCopies if foreign_code(batches[0].strategy) else _InProcess)(post)
        labels = TrainingLabels(memory, places, kind, batches[0].dataset.classes)
        try:
            for batch in batches:
                serves.run(batch, table, labels)
                if serves.leaves:
                    return
            post.send()
        except OSError:
            return  # the process that runs the study has closed the pipe
        labels.close()


class _Post:
    """Pipes to the process that runs the study, and the secret that proves its messages.

    Attributes
    ----------
    outcomes : list of Outcome
        Outcomes of known code that the next `send` sends together.
    """

    def __init__(self, link: int, results: int, clock: int, secret: bytearray) -> None:
        self.descriptors = [link, results, clock]
        self._results, self._clock, self._secret = results, clock, secret
        self._waiting = bytearray()
        self.outcomes: list[Outcome] = []
        self._sent = monotonic()

    def begin(self, when: float | None = None) -> None:
        """Send the time at which a cell begins, or `LOADING` when its strategy is loaded."""
        begun = monotonic() if when is None else when
        os.write(self._clock, messages.CLOCK.pack(begun, limits.cpu_seconds()))

    def forget(self) -> None:
        """Overwrite the secret, in a copy of the process."""
        self._secret[:] = bytes(messages.SECRET)

    def add(self, kind: bytes, content: bytes = b"") -> None:
        """Keep a message until the next `send`."""
        self._waiting += messages.frame(kind, content, self._secret)

    def send(self, wait: bool = False) -> None:
        """Send waiting messages; with ``wait``, at most once per `_SEND_SECONDS`."""
        if wait and monotonic() - self._sent <= _SEND_SECONDS:
            return
        for content in messages.encode_outcomes(self.outcomes):
            self.add(messages.ENDED, content)
        self.outcomes.clear()
        rest = memoryview(bytes(self._waiting))
        while rest:
            rest = rest[os.write(self._results, rest) :]
        self._waiting.clear()
        self._sent = monotonic()


class _InProcess:
    """Runner for strategies of known code: cells run one after the other in this process.

    Attributes
    ----------
    leaves : bool
        Whether this process takes no further batch.
    """

    leaves = False

    def __init__(self, post: _Post) -> None:
        self._post = post
        if not limits.keep_reset_of_peak():  # hidden processes may not, unless of the administrator
            hide(False)
            limits.keep_reset_of_peak()
            hide()
        self._strategies: dict[bytes, Any] = {}
        self._usual = limits.own_memory()

    def run(self, batch: Batch, table: FoldTable, labels: TrainingLabels) -> None:
        if batch.strategy not in self._strategies:
            self._strategies[batch.strategy] = load_known(batch.strategy)
        run = prepare(batch, table, lambda: self._strategies[batch.strategy], labels.of_cell)
        me = os.getpid()
        for cell in batch.keys:
            self._post.begin()
            outcome = run(cell)
            if os.getpid() != me:
                os._exit(0)  # the cell has forked, and this is the fork
            end_children()
            if batch.shared is None:  # the receiver takes one at a time, as of foreign code
                self._post.add(messages.ENDED, messages.encode_outcome(outcome))
            else:
                self._post.outcomes.append(outcome)
            self._post.send(wait=True)
        sys.stdout.flush()
        self.leaves = threading.active_count() > 1 or _has_grown(self._usual)
        if self.leaves:
            self._post.send()
            self._post.add(messages.LEAVES)
            self._post.send()


class _InCopies:
    """Runner for a strategy of foreign code: each cell runs in a copy (fork) of this process."""

    leaves = False

    def __init__(self, post: _Post) -> None:
        self._post = post
        self._strategy: Callable[[], Any] | None = None

    def run(self, batch: Batch, table: FoldTable, labels: TrainingLabels) -> None:
        if self._strategy is None:
            self._post.begin(messages.LOADING)
            self._strategy = _loaded(batch)
        run = prepare(batch, table, self._strategy, labels.only_of)
        gc.freeze()  # else a collection in a copy would touch, and so duplicate, shared memory
        for cell in batch.keys:
            self._post.begin()
            if not can_be_copied():  # loading the strategy has started threads
                self._post.add(messages.ENDED, messages.encode_outcome(run(cell)))
                self._post.add(messages.LEAVES)
                self.leaves = True
                break
            self._run_copy(batch, cell, run)
            end_children()
        self._post.send()

    def _run_copy(self, batch: Batch, cell: Cell, run: RunCell) -> None:
        n_test = int(np.count_nonzero(batch.folds[cell.repeat] == cell.fold))

        def work() -> bytes:
            self._post.forget()
            return messages.encode_outcome(run(cell))

        largest = messages.largest_outcome(
            n_test, len(batch.dataset.classes), batch.dataset.n_targets
        )
        status, content = run_in_copy(work, largest, self._post.descriptors)
        if status or not content:
            self._post.add(messages.DIED, messages.STATUS.pack(status))
        else:  # the receiver checks whether it is an outcome at all
            self._post.add(messages.ENDED, content[: largest + 1])
        self._post.send()


def _loaded(batch: Batch) -> Callable[[], Any]:
    """Return a function that returns the strategy, unpickled with its own seed in any process."""
    _find_modules(batch)
    seed = batch.loading_seed
    np.random.seed(seed)  # noqa: NPY002
    random.seed(seed)
    try:
        with limits.limited_memory(batch.options.memory):
            strategy = cloudpickle.loads(batch.strategy)
    except (Exception, SystemExit):
        return lambda: cloudpickle.loads(batch.strategy)  # so that each cell reports the error
    return lambda: strategy


def _settle_in(output: Connection, environment: Mapping[str, str]) -> None:
    lead_session()
    forget_server()
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
    if limits.own_memory() - usual < _MEMORY_LEFT_BEHIND:
        return False
    gc.collect()
    return limits.own_memory() - usual > _MEMORY_LEFT_BEHIND
