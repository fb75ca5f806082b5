"""What a worker process does: load the dataset once, run the cells of a batch, give outcomes."""

from __future__ import annotations

import faulthandler
import gc
import os
import resource
import signal
import struct
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from typing import Any

import cloudpickle

from mlaut.errors import DataError, MlautError
from mlaut.experiments.batches import Batch, DatasetRef
from mlaut.experiments.cell import Table, cell_seed, run_cell
from mlaut.experiments.guard import offer_to_be_killed, resident_memory
from mlaut.experiments.processes import end_children, lead_session
from mlaut.files_io import FilesIO
from mlaut.records import Cell, Dataset, Outcome, Split

__all__ = ["CLOCK", "load", "preload", "prepare", "serve"]

CLOCK = struct.Struct("<d")

_SEND_SECONDS = 0.05
_MEMORY_LEFT_BEHIND = 2**30

RunCell = Callable[[Cell], Outcome]


def preload() -> None:
    """Import what every cell needs."""
    import joblib  # noqa: F401
    import sklearn.ensemble
    import sklearn.model_selection
    import sklearn.pipeline  # noqa: F401


def prepare(batch: Batch) -> RunCell:
    """Load the dataset of a batch, and give what runs one of its cells.

    Raises
    ------
    MlautError
        The dataset cannot be read, or is not the one that was split.
    """
    ref = batch.dataset
    table = _tables.get(ref, lambda: Table.of(load(ref), ref.classes))

    def run(cell: Cell) -> Outcome:
        return run_cell(
            cell,
            lambda: _strategies.get(batch.strategy, lambda: cloudpickle.loads(batch.strategy)),
            table,
            Split(batch.folds[cell.repeat][None]).rows(0, cell.fold),
            cell_seed(batch.seed, cell),
            batch.options,
        )

    return run


def load(ref: DatasetRef) -> Dataset:
    """Load a dataset, and make sure that it is the one that was split.

    Raises
    ------
    MlautError
        It cannot be read, or is another one.
    """
    dataset = FilesIO(ref.database).load_dataset(ref.path)
    if dataset.fingerprint != ref.fingerprint:
        raise DataError(
            f"{ref.database}: dataset {ref.name!r} was changed while the study runs; "
            "put it back, or save the new one under another name"
        )
    return dataset


class _Recent:
    """The last few things that were loaded, so that neighbouring batches share them."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._items: OrderedDict[Any, Any] = OrderedDict()

    def get(self, key: Any, load: Callable[[], Any]) -> Any:
        if key not in self._items:
            self._items[key] = load()
            if len(self._items) > self._size:
                self._items.popitem(last=False)
        self._items.move_to_end(key)
        return self._items[key]


_tables = _Recent(size=2)
_strategies = _Recent(size=64)


# ------------------------------------------------------------------- the process


def serve(
    link: Connection,
    clock: Connection,
    output: Connection,
    environment: Mapping[str, str],
) -> None:
    """Run batches until the link closes, or until a fresh process would serve better.

    Parameters
    ----------
    link : Connection
        Batches come in; lists of outcomes go out, or the error that kept a batch from beginning.
    clock : Connection
        Gets the time at which each cell begins.
    output : Connection
        Gets what cells print, and the traceback where they crash or are ended.
    environment : mapping
        Of the process that runs the study, with bounds for the threads of libraries.
    """
    _settle_in(output, environment)
    usual = resident_memory()
    while True:
        try:
            batch = link.recv()
        except (EOFError, OSError):
            return
        before = resident_memory()
        try:
            run = prepare(batch)
        except MlautError as error:
            link.send(error)
            continue
        usual += max(0, resident_memory() - before)
        if not _run_all(batch, run, link, clock, usual):
            return


def _settle_in(output: Connection, environment: Mapping[str, str]) -> None:
    lead_session()
    offer_to_be_killed()
    for stream in (1, 2):
        os.dup2(output.fileno(), stream)
    faulthandler.enable(file=2)
    faulthandler.register(signal.SIGUSR1, file=2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    os.environ.clear()
    os.environ.update(environment)
    preload()


def _run_all(batch: Batch, run: RunCell, link: Connection, clock: Connection, usual: int) -> bool:
    """Run the cells; send what they gave at the end, and whenever a while has passed.

    Returns
    -------
    bool
        Whether this process can serve on.
    """
    me = os.getpid()
    ended: list[Outcome] = []
    sent = time.monotonic()
    for cell in batch.keys:
        os.write(clock.fileno(), CLOCK.pack(time.monotonic()))
        outcome = run(cell)
        if os.getpid() != me:
            os._exit(0)  # a copy of this process that the cell has made
        end_children()
        ended.append(outcome)
        if time.monotonic() - sent > _SEND_SECONDS and cell != batch.keys[-1]:
            link.send((ended, False))
            ended, sent = [], time.monotonic()
    sys.stdout.flush()
    leaves = threading.active_count() > 1 or _has_grown(usual)
    link.send((ended, leaves))
    return not leaves


def _has_grown(usual: int) -> bool:
    """Whether cells have left behind much memory that nobody can give back."""
    if resident_memory() - usual < _MEMORY_LEFT_BEHIND:
        return False
    gc.collect()
    return resident_memory() - usual > _MEMORY_LEFT_BEHIND
