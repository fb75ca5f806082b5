"""Batches of cells of one strategy on one dataset, which are sent to workers."""

from __future__ import annotations

import math
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
        return cell_seed(self.seed, Cell(dataset, strategy, cell.repeat, cell.fold))

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
        return (fold_of != fold) & (fold_of != UNUSED)

    def part(self, cells: Iterable[tuple[int, int]]) -> Batch:
        """Return a batch of some of the cells."""
        cells = tuple(cells)
        repeats = sorted({repeat for repeat, _ in cells})
        return replace(self, cells=cells, folds={r: self.folds[r] for r in repeats})


@dataclass
class OpenGroup:
    """Group of which some cells may have been taken."""

    group: Batch
    left: deque[tuple[int, int]]


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
    """

    def __init__(self, groups: Iterable[Batch | None], seconds: float = 0.1) -> None:
        self._groups = iter(groups)
        self._begin = getattr(groups, "begin", lambda _: None)
        self._seconds = seconds
        self._again: deque[Batch] = deque()
        self._open: OpenGroup | None = None
        self._seen: dict[tuple[str, ...], tuple[int, float]] = {}

    def next(self) -> Batch | None:
        """Return the next batch; None if there is none now."""
        if self._again:
            return self._again.popleft()
        ready = self._ready()
        return None if ready is None else self._cut(ready, self._seconds)

    def next_ahead(self) -> Batch | None:
        """Return the next batch if a process may have it before its present one has ended.

        The batch must be of scikit-learn's code alone, be small, and have short cells, which no
        other process would begin much earlier.
        """
        ready = None if self._again else self._ready()
        if ready is None or ready.group.shared != b"" or not self._is_short(ready.group):
            return None
        batch = self._cut(ready, self._seconds)
        if _bytes_of(batch) <= _SMALL:
            return batch
        self.again(batch)
        return None

    def with_more(self, batch: Batch) -> list[Batch]:
        """Return a batch that was taken, and the next ones that may be sent in one message with it.

        They are of the same dataset and share its process; their cells are known to be short, and
        all together last no longer than a batch should.
        """
        together, room, seconds = [batch], _SMALL - _bytes_of(batch), self._seconds
        while batch.shared == b"" and not self._again and (ready := self._ready()) is not None:
            seconds -= self._seconds_of_cell(together[-1]) * len(together[-1].cells)
            room -= _bytes_of(ready.group)
            alike = (ready.group.dataset, ready.group.shared) == (batch.dataset, batch.shared)
            if not alike or room < 0 or self._seconds_of_cell(ready.group) > seconds:
                break
            together.append(self._cut(ready, seconds))
        return together

    def _ready(self) -> OpenGroup | None:
        """Return the group of the next cells; None if there is none now."""
        if self._open is None or not self._open.left:
            group = next(self._groups, None)
            self._open = None if group is None else OpenGroup(group, deque(group.cells))
        return self._open

    def _cut(self, opened: OpenGroup, seconds: float) -> Batch:
        """Return the next cells of a group, as many as last so long, and at least one."""
        size = max(1, int(seconds / self._seconds_of_cell(opened.group)))
        batch = opened.group.part(opened.left.popleft() for _ in range(min(size, len(opened.left))))
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

    def _seconds_of_cell(self, group: Batch) -> float:
        """Return the expected duration of a cell; infinite if nothing is known of it.

        The durations of the strategy on this dataset count; before there are any, those on other
        datasets, four times as long (`_CAUTION`) because they may differ.
        """
        count, total = self._pace(group)
        known = (group.dataset.name, group.name) in self._seen
        caution = 1 if known else _CAUTION
        return caution * max(total / count, _QUICKEST) if count else math.inf

    def _is_short(self, group: Batch) -> bool:
        """Return whether cells like those of a group have taken no longer than a batch should."""
        count, total = self._pace(group)
        return bool(count) and total <= count * self._seconds

    def _pace(self, group: Batch) -> tuple[int, float]:
        """Return the number and the seconds of the cells from which durations are estimated."""
        here = self._seen.get((group.dataset.name, group.name))
        return here or self._seen.get((group.name,), (0, 0.0))


def _bytes_of(batch: Batch) -> int:
    """Return about how many bytes a batch has in a message."""
    return len(batch.strategy) + sum(rows.nbytes for rows in batch.folds.values())


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
