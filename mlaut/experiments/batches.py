"""Cells on their way to a worker: batches of one strategy on one dataset."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np

from mlaut.estimators import MlautEstimator
from mlaut.experiments.cell import CellOptions
from mlaut.files_io import SplitEntry
from mlaut.records import Cell, Outcome

__all__ = ["Batch", "BatchQueue", "DatasetRef", "make_batches"]

_LARGEST = 200


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

    def part(self, cells: Iterable[tuple[int, int]]) -> Batch:
        """Return some of its cells as a batch of their own."""
        cells = tuple(cells)
        repeats = sorted({repeat for repeat, _ in cells})
        return replace(self, cells=cells, folds={r: self.folds[r] for r in repeats})


class BatchQueue:
    """Groups of cells, cut into batches that take a certain time by the pace seen so far.

    Parameters
    ----------
    groups : iterable of Batch
        All cells of one strategy on one dataset each.
    seconds : float, default 0.1
        That a batch of short cells is to take; a longer cell travels alone.
    """

    def __init__(self, groups: Iterable[Batch], seconds: float = 0.1) -> None:
        self._groups = iter(groups)
        self._seconds = seconds
        self._again: deque[Batch] = deque()
        self._group: Batch | None = None
        self._left: deque[tuple[int, int]] = deque()
        self._seen: dict[tuple[str, ...], tuple[int, float]] = {}

    def next(self) -> Batch | None:
        """Return the next batch; None where every cell is on its way."""
        if self._again:
            return self._again.popleft()
        while not self._left:
            self._group = next(self._groups, None)
            if self._group is None:
                return None
            self._left.extend(self._group.cells)
        assert self._group is not None
        size = min(self._size(self._group), len(self._left))
        return self._group.part(self._left.popleft() for _ in range(size))

    def again(self, batch: Batch) -> None:
        """Put a batch that came to nothing before all others."""
        self._again.append(batch)

    def saw(self, outcomes: Iterable[Outcome]) -> None:
        """Learn the pace from cells that have ended."""
        for outcome in outcomes:
            cell = outcome.cell
            for key in ((cell.dataset, cell.strategy), (cell.strategy,)):
                count, total = self._seen.get(key, (0, 0.0))
                elapsed = outcome.details.get("elapsed", self._seconds)
                self._seen[key] = count + 1, total + elapsed

    def _size(self, group: Batch) -> int:
        """Cells that fit the time, by this strategy here, or with caution by it elsewhere."""
        here = self._seen.get((group.dataset.name, group.name))
        count, total = here or self._seen.get((group.name,), (0, 0.0))
        if not count:
            return 1
        fit = int(self._seconds * count / max(total, 1e-9))
        return max(1, min(_LARGEST, fit if here else fit // 4))


def make_batches(
    groups: Iterable[tuple[SplitEntry, str, tuple[tuple[int, int], ...]]],
    strategies: Sequence[MlautEstimator],
    database: Path,
    seed: int,
    options: CellOptions,
) -> Iterator[Batch]:
    """Return groups of cells (`Plan.groups`) as engines take them."""
    pickled = {strategy.name: cloudpickle.dumps(strategy) for strategy in strategies}
    path = str(database.absolute())
    for entry, name, cells in groups:
        yield Batch(
            dataset=DatasetRef(path, entry.path, entry.name, entry.fingerprint, entry.classes),
            name=name,
            strategy=pickled[name],
            cells=cells,
            folds={repeat: entry.split.folds[repeat] for repeat, _ in cells},
            seed=seed,
            options=options,
        )
