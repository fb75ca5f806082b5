"""What a worker process does: load the dataset once, run the cells of a batch, give outcomes."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np

from mlaut.experiments.cell import CellOptions, cell_seed, run_cell
from mlaut.experiments.processes import end_children, lead_session
from mlaut.files_io import FilesIO
from mlaut.records import Cell, Dataset, Outcome, Split

__all__ = ["Batch", "DatasetRef", "preload", "run_announced", "run_batch", "start_worker"]

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class DatasetRef:
    """Where a dataset is, and the content that it must have."""

    database: str
    path: str
    name: str
    fingerprint: str
    classes: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Batch:
    """Some cells of one strategy on one dataset, as they travel to a worker.

    Attributes
    ----------
    dataset : DatasetRef
    name : str
        Of the strategy.
    strategy : bytes
        The strategy, pickled by value, so that a class from a script or a notebook arrives too.
    cells : tuple of (int, int)
        Repeat and fold of each cell.
    folds : mapping of int to ndarray
        The rows' folds of each repeat that occurs.
    seed : int
        Of the study.
    options : CellOptions
    """

    dataset: DatasetRef
    name: str
    strategy: bytes
    cells: tuple[tuple[int, int], ...]
    folds: dict[int, np.ndarray]
    seed: int
    options: CellOptions

    @property
    def keys(self) -> tuple[Cell, ...]:
        """The cells with their names."""
        return tuple(Cell(self.dataset.name, self.name, *cell) for cell in self.cells)


def start_worker(threads: int) -> None:
    """Prepare a process: bound its threads before and after libraries are loaded."""
    from threadpoolctl import threadpool_limits

    lead_session()
    for variable in THREAD_VARIABLES:
        os.environ[variable] = str(threads)
    preload()
    threadpool_limits(threads)


def preload() -> None:
    """Import what every cell needs."""
    import joblib  # noqa: F401
    import sklearn.ensemble
    import sklearn.model_selection
    import sklearn.pipeline  # noqa: F401


def run_announced(batch: Batch, announcement: Path) -> list[Outcome]:
    """Run a batch, and let it be known meanwhile which process does."""
    announcement.write_text(str(os.getpid()))
    try:
        return run_batch(batch)
    finally:
        end_children()
        announcement.unlink()


def run_batch(batch: Batch) -> list[Outcome]:
    """Run the cells of a batch, one after the other."""
    strategy = _strategies.get(batch.strategy, lambda: cloudpickle.loads(batch.strategy))
    dataset = _datasets.get(batch.dataset, lambda: _load(batch.dataset))
    return [
        run_cell(
            cell,
            strategy,
            dataset,
            batch.dataset.classes,
            Split(batch.folds[cell.repeat][None]).rows(0, cell.fold),
            cell_seed(batch.seed, cell),
            batch.options,
        )
        for cell in batch.keys
    ]


def _load(ref: DatasetRef) -> Dataset:
    return FilesIO(ref.database).load_dataset(ref.path)


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


_datasets = _Recent(size=2)
_strategies = _Recent(size=64)
