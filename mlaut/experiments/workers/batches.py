"""Batches of cells of one strategy on one dataset, which are sent to workers."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import cloudpickle
import numpy as np

from mlaut import estimators  # its names need scikit-learn, which a worker of Dask does without
from mlaut.errors import StrategyError
from mlaut.estimators.libraries.library import with_libraries
from mlaut.estimators.looking import looked_at
from mlaut.experiments.cells.cell_input import CellOptions, cell_seed
from mlaut.experiments.workers.copies import shared_process
from mlaut.files_io import SplitEntry
from mlaut.records import UNUSED, Cell, Outcome

_QUICKEST = 1e-4  # seconds: no cell takes less, whatever is measured of it
_CAUTION = 4  # how many times longer a strategy may take on a dataset where it is unknown
_FAR = 10**5  # cells that are looked ahead at the most: some seconds of a thousand workers
_LOADS_LEFT = 2  # of each worker, from which on loads become shorter; it has one and awaits one
_SHORTEST = 4  # how many times shorter they become at the most
_SMALL = 2**16  # bytes of a batch that is sent ahead: less than the socket of a busy worker holds


@dataclass(frozen=True)
class DatasetRef:
    """Path of a dataset, and the fingerprint that its content must have."""

    database: str
    path: str
    name: str
    fingerprint: str
    classes: tuple[Any, ...]
    n_targets: int = 0  # of several targets


@dataclass(frozen=True, eq=False)
class Batch:
    """Some cells of one strategy on one dataset, in the form that is sent to a worker.

    Attributes
    ----------
    dataset : DatasetRef
    name : str
        Name of the strategy.
    strategy : bytes
        Strategy, pickled by value, so that classes from a script or a notebook arrive too.
    cells : tuple of (int, int)
        Repeat and fold of each cell.
    folds : mapping of int to ndarray
        Fold of each row, for every repeat that occurs in ``cells``.
    seed : int
        Seed of the study.
    options : CellOptions
    shared : bytes, optional
        Key of the processes that its cells may share with those of other strategies
        (`mlaut.experiments.workers.copies.shared_process`).
    first_names : tuple of (str, str) or None
        Names of dataset and strategy from which seeds are derived; default the present ones.
    """

    dataset: DatasetRef
    name: str
    strategy: bytes
    cells: tuple[tuple[int, int], ...]
    folds: dict[int, np.ndarray]
    seed: int
    options: CellOptions
    shared: bytes | None = None
    first_names: tuple[str, str] | None = None

    @property
    def served_by(self) -> bytes:
        """Key of the processes that may run the batch: its strategy, unless it shares them."""
        return self.strategy if self.shared is None else self.shared

    @property
    def keys(self) -> tuple[Cell, ...]:
        """Cells with the names of dataset and strategy."""
        return tuple(map(self.key, range(len(self.cells))))

    def key(self, place: int) -> Cell:
        """Return the cell at a place, with the names of dataset and strategy."""
        return Cell(self.dataset.name, self.name, *self.cells[place])

    def seed_of(self, cell: Cell) -> int:
        """Return the seed of a cell of the batch."""
        dataset, strategy = self.first_names or (self.dataset.name, self.name)
        return cell_seed(self.seed, replace(cell, dataset=dataset, strategy=strategy))

    @property
    def loading_seed(self) -> int:
        """Seed with which the strategy is unpickled, the same for all datasets."""
        return cell_seed(
            self.seed, Cell("", self.first_names[1] if self.first_names else self.name)
        )

    @property
    def test_sizes(self) -> list[int]:
        """Number of test rows of each cell."""
        return [int(np.count_nonzero(self.folds[repeat] == fold)) for repeat, fold in self.cells]

    def trains(self, repeat: int, fold: int) -> np.ndarray:
        """Return for each row whether a cell is trained on it: faster than positions of rows."""
        fold_of = self.folds[repeat]
        trained: np.ndarray = (fold_of != fold) & (fold_of != UNUSED)
        return trained

    def part(self, cells: Iterable[tuple[int, int]]) -> Batch:
        """Return a batch of some of the cells."""
        cells = tuple(cells)
        repeats = sorted({repeat for repeat, _ in cells})
        return replace(self, cells=cells, folds={r: self.folds[r] for r in repeats})


@dataclass
class _OpenGroup:
    """Group of which some cells have been taken, and the time at which the first was."""

    group: Batch
    left: deque[tuple[int, int]]
    begun: float = 0.0


class BatchQueue:
    """Queue that cuts groups of cells into batches of about the same duration.

    The duration of a cell is estimated from the cells that have ended.

    Parameters
    ----------
    groups : iterable of Batch or None
        Groups, each with all cells of one strategy on one dataset; None where the next group
        depends on cells that still run. If they have a method ``begin``, it is called with each
        batch that is taken.
    seconds : float, default 0.1
        Duration of a batch of short cells; a longer cell is a batch of its own.
    n_open : int, default 1
        Number of groups from which cells are taken at the same time. With several, one cell of a
        strategy of which nothing is known goes ahead, and the others follow when it has ended, or
        after ``seconds``: else thousands of workers would take one cell each.
    """

    def __init__(
        self, groups: Iterable[Batch | None], seconds: float = 0.1, n_open: int = 1
    ) -> None:
        self._groups = iter(groups)
        self._begin = getattr(groups, "begin", lambda _: None)
        self._seconds, self._n_open = seconds, n_open
        self._again: deque[Batch] = deque()
        self._ahead: deque[Batch] = deque()
        self._n_ahead = 0  # cells of the groups ahead
        self._open: list[_OpenGroup] = []
        self._seen: dict[tuple[str, ...], tuple[int, float]] = {}

    def next(self) -> Batch | None:
        """Return the next batch; None if there is none now."""
        if self._again:
            return self._again.popleft()
        ready = self._ready()
        return None if ready is None else self._cut(ready, self._seconds)

    def next_load(self, n_workers: int) -> list[Batch]:
        """Return batches for one of many workers, which together last as long as one should.

        The batches last less when little is left, so that all workers end at about the same time.

        Parameters
        ----------
        n_workers : int

        Returns
        -------
        list of Batch
            Empty if there is none now. Cells of unknown duration are a load of their own.
        """
        if self._again:
            return [self._again.popleft()]
        load: list[Batch] = []
        seconds = self._seconds_of_load(n_workers)
        while (ready := self._ready()) is not None:
            count, total = self._pace(ready.group)
            caution = 1 if self._is_known_here(ready.group) else _CAUTION
            of_cell = caution * max(total / count, _QUICKEST) if count else math.inf
            if load and of_cell > seconds:
                break
            load.append(self._cut(ready, seconds))
            seconds -= of_cell * len(load[-1].cells)
        return load

    def _seconds_of_load(self, n_workers: int) -> float:
        count, total = self._seen.get((), (0, 0.0))
        while self._n_ahead < _FAR and (group := next(self._groups, None)) is not None:
            self._ahead.append(group)
            self._n_ahead += len(group.cells)
        if self._n_ahead >= _FAR or not count:
            return self._seconds
        n_left = self._n_ahead + sum(len(opened.left) for opened in self._open)
        share = n_left * total / count / (_LOADS_LEFT * n_workers)
        return min(self._seconds, max(self._seconds / _SHORTEST, share))

    def _next_group(self) -> Batch | None:
        if not self._ahead:
            return next(self._groups, None)
        self._n_ahead -= len(self._ahead[0].cells)
        return self._ahead.popleft()

    def next_ahead(self) -> Batch | None:
        """Return the next batch if a process may have it before its present one has ended.

        The batch must be of scikit-learn's code alone, be small, and have short cells, which no
        other process would begin much earlier.
        """
        ready = None if self._again else self._ready()
        if ready is None or ready.group.shared != b"" or not self._is_short(ready.group):
            return None
        batch = self._cut(ready, self._seconds)
        if len(batch.strategy) + sum(rows.nbytes for rows in batch.folds.values()) <= _SMALL:
            return batch
        self.again(batch)
        return None

    def _ready(self) -> _OpenGroup | None:
        """Return the open group of the next cells; None if there is none now."""
        self._open = [opened for opened in self._open if opened.left]
        ready = next(filter(self._is_ready, self._open), None)
        if ready is None and len(self._open) < self._n_open:
            group = self._next_group()
            if group is not None:
                ready = _OpenGroup(group, deque(group.cells))
                self._open.append(ready)
        return ready

    def _is_ready(self, opened: _OpenGroup) -> bool:
        has_pace = self._n_open == 1 or self._pace(opened.group)[0] > 0
        return has_pace or time.monotonic() - opened.begun >= self._seconds

    def _cut(self, opened: _OpenGroup, seconds: float) -> Batch:
        size = min(self._size(opened.group, seconds), len(opened.left))
        opened.begun = opened.begun or time.monotonic()
        batch = opened.group.part(opened.left.popleft() for _ in range(size))
        self._begin(batch)
        return batch

    def again(self, batch: Batch) -> None:
        """Queue again, before all new batches, a batch whose cells have no outcome."""
        self._again.append(batch)

    def saw(self, outcomes: Iterable[Outcome]) -> None:
        """Record the durations of cells that have ended."""
        for outcome in outcomes:
            cell = outcome.cell
            elapsed = outcome.details.get("elapsed", self._seconds)
            for key in ((cell.dataset, cell.strategy), (cell.strategy,), ()):
                count, total = self._seen.get(key, (0, 0.0))
                self._seen[key] = count + 1, total + elapsed

    def _size(self, group: Batch, seconds: float) -> int:
        """Return the number of cells that fit the duration of a batch.

        The durations of the strategy on this dataset count; before there are any, those on other
        datasets, with a quarter of the cells (`_CAUTION`) because they may differ.
        """
        count, total = self._pace(group)
        if not count:
            return 1
        fit = int(seconds / max(total / count, _QUICKEST))
        return max(1, fit if self._is_known_here(group) else fit // _CAUTION)

    def _is_known_here(self, group: Batch) -> bool:
        """Return whether a cell of the group's strategy on its dataset has ended."""
        return (group.dataset.name, group.name) in self._seen

    def _is_short(self, group: Batch) -> bool:
        """Return whether cells like those of a group have taken no longer than a batch should."""
        count, total = self._pace(group)
        return bool(count) and total <= count * self._seconds

    def _pace(self, group: Batch) -> tuple[int, float]:
        """Return the number and the seconds of the cells from which durations are estimated."""
        here = self._seen.get((group.dataset.name, group.name))
        return here or self._seen.get((group.name,), (0, 0.0))


def pickled(strategy: estimators.MlautEstimator) -> bytes:
    """Return the pickle of a strategy; of one that cannot be pickled, what fails in its cells."""
    try:
        with looked_at(strategy.name):
            return cloudpickle.dumps(with_libraries(strategy))
    except StrategyError as error:
        return cloudpickle.dumps(_Unsent(str(error)))


class _Unsent:
    """Stand-in of a strategy that cannot be pickled: unpickling it raises the reason."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def __reduce__(self) -> Any:
        return _refuse, (self._reason,)


def _refuse(reason: str) -> None:
    raise StrategyError(reason)


def make_batches(
    groups: Iterable[tuple[SplitEntry, str, tuple[tuple[int, int], ...]] | None],
    strategies: Sequence[estimators.MlautEstimator] | Mapping[str, bytes],
    database: Path,
    seed: int,
    options: CellOptions,
    first_names: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Batch | None]:
    """Yield groups of cells (`Plan.groups`, `Rounds.groups`) as batches, which engines take.

    ``first_names`` has those of the strategies that were renamed. Strategies that are given as
    pickles by name are not loaded here, and share no process.
    """
    shared: dict[str, bytes | None] = {}
    if isinstance(strategies, Mapping):
        packed = strategies
    else:
        packed = {one.name: pickled(one) for one in strategies}
        shared = {one.name: shared_process(one, packed[one.name]) for one in strategies}
    path = str(database.absolute())
    for group in groups:
        if group is None:
            yield None
            continue
        entry, name, cells = group
        yield Batch(
            dataset=DatasetRef(
                path, entry.path, entry.name, entry.fingerprint, entry.classes, len(entry.targets)
            ),
            name=name,
            strategy=packed[name],
            cells=cells,
            folds={repeat: entry.split.folds[repeat] for repeat, _ in cells},
            seed=seed,
            options=options,
            shared=shared.get(name),
            first_names=(entry.first_name, first_names.get(name, name)),
        )
