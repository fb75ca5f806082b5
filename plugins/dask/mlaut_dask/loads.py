"""Loads: as many batches as last some seconds, for one of many workers."""

import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mlaut.plugins import Batch, BatchQueue, OpenGroup

_FAR = 10**5  # cells that are looked ahead at the most: some seconds of a thousand workers
_LOADS_LEFT = 2  # of each worker, from which on loads become shorter; it has one and awaits one
_SHORTEST = 4  # how many times shorter they become at the most


@dataclass
class _Begun(OpenGroup):
    """Group of which some cells may have been taken, and the time at which the first was."""

    begun: float = 0.0


class LoadQueue(BatchQueue):
    """Queue of batches for many workers, which takes cells from several groups.

    One cell of an unknown strategy goes ahead, and the others follow when it has ended, or after
    ``seconds``: else thousands of workers would take one cell each.

    Parameters
    ----------
    groups, seconds
        As for `BatchQueue`; the duration is that of a load.
    n_open : int
        Number of groups from which cells are taken at the same time.
    """

    def __init__(self, groups: Iterable[Batch | None], seconds: float, n_open: int) -> None:
        super().__init__(groups, seconds)
        self._n_open = n_open
        self._several: list[_Begun] = []
        self._ahead: deque[Batch] = deque()
        self._n_ahead = 0  # cells of the groups ahead

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
            of_cell = self._seconds_of_cell(ready.group)
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
        n_left = self._n_ahead + sum(len(opened.left) for opened in self._several)
        share = n_left * total / count / (_LOADS_LEFT * n_workers)
        return min(self._seconds, max(self._seconds / _SHORTEST, share))

    def _ready(self) -> _Begun | None:
        """Return the open group of the next cells; None if there is none now."""
        self._several = [opened for opened in self._several if opened.left]
        ready = next(filter(self._is_ready, self._several), None)
        if ready is None and len(self._several) < self._n_open:
            group = self._next_group()
            if group is not None:
                ready = _Begun(group, deque(group.cells))
                self._several.append(ready)
        return ready

    def _next_group(self) -> Batch | None:
        if not self._ahead:
            return next(self._groups, None)
        self._n_ahead -= len(self._ahead[0].cells)
        return self._ahead.popleft()

    def _is_ready(self, opened: _Begun) -> bool:
        has_waited = time.monotonic() - opened.begun >= self._seconds
        return self._pace(opened.group)[0] > 0 or has_waited

    def _cut(self, opened: Any, seconds: float) -> Batch:
        opened.begun = opened.begun or time.monotonic()
        return super()._cut(opened, seconds)
