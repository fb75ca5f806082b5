"""Rounds of a race: cells of one dataset after the other, for the strategies still in the race.

`Racing` decides which strategies race, and in which order. A round begins when the rounds before it
have ended, except the last few rounds or cells: so no worker waits. How many may overlap is fixed
before the race. Which cells are run is therefore a function of the results alone, and not of the
speed of the workers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from mlaut.experiments import Plan
from mlaut.plugins import Group, PlannedDataset
from mlaut.records import Cell, Outcome, Status
from mlaut_races.terms import RaceTerms


class Racing(Protocol):
    """Race of a study; ``n`` is a number of rounds that have ended."""

    terms: RaceTerms

    @property
    def order(self) -> Sequence[str]: ...  # noqa: D102 - by round, its dataset
    def sealed(self) -> dict[str, Any]: ...  # noqa: D102 - see the class
    def racing(self, n: int) -> frozenset[str]: ...  # noqa: D102
    def dropped(self, n: int) -> Mapping[str, str]: ...  # noqa: D102
    def sentence(self, n: int) -> str: ...  # noqa: D102


class Rounds:
    """Cells of a race, round by round.

    Parameters
    ----------
    plan : Plan
        Plan of all cells.
    race : Racing
    """

    def __init__(self, plan: Plan, race: Racing) -> None:
        planned = {item.entry.name: item for item in plan.datasets}
        self.race = race
        self._rounds = [planned[name] for name in race.order]
        self._place = {name: place for place, name in enumerate(race.order)}
        self._turns: list[frozenset[str]] = []  # by round, the strategies that are run in it
        self._over = False  # no further round begins
        self._before = [0]  # by round, the number of cells of all rounds before it, done or not
        self._waiting: list[int] = []  # by begun round, the number of cells without an outcome
        self._ended = 0
        self._left: set[str] = set()  # dropped strategies whose cells are marked

    @property
    def n_ended(self) -> int:
        """Number of rounds that have ended, before the first that has not."""
        while self._ended < len(self._waiting) and not self._waiting[self._ended]:
            self._ended += 1
        return self._ended

    def groups(self) -> Iterator[Group | None]:
        """Yield the groups of cells to do; None where the next depends on cells that still run."""
        for place, planned in enumerate(self._rounds):
            while len(self._turns) <= place:
                self._decide_turns()
                if len(self._turns) <= place:
                    if self._over:
                        return
                    yield None
            # also of cells that this run does not do: without them, the round has not ended
            open_cells = (planned.status == Status.MISSING) & ~planned.skipped
            running = [name in self._turns[place] for name in planned.strategies]
            self._waiting.append(int(open_cells[running].sum()))
            yield from planned.groups(self._turns[place])

    def sealed(self) -> dict[str, Any]:
        """Return the terms and the draw of the race, which the study stores."""
        return self.race.sealed()

    def sentence(self) -> str:
        """Return the result after the rounds that have ended in words."""
        return self.race.sentence(self.n_ended)

    def _decide_turns(self) -> None:
        """Decide which strategies run in each round that may begin now."""
        while not self._over and len(self._turns) < len(self._rounds):
            needed = self._needed(len(self._turns))
            if needed > self.n_ended:
                return
            planned = self._rounds[len(self._turns)]
            racing = self.race.racing(needed)
            self._over = not racing
            if racing:
                self._turns.append(racing)
                self._before.append(self._before[-1] + planned.status[0].size * len(racing))

    def _needed(self, place: int) -> int:
        """Return the number of rounds that must have ended before a round begins."""
        first_open = bisect_left(self._before, self._before[place] - self.race.terms.ahead_cells)
        return max(0, min(place - self.race.terms.ahead, first_open))

    def saw(self, outcomes: Iterable[Outcome]) -> list[Outcome]:
        """Count outcomes; return outcomes for the cells that will not be run because of them."""
        for outcome in outcomes:
            self._waiting[self._place[outcome.cell.dataset]] -= 1
        return self.left_out()

    def left_out(self) -> list[Outcome]:
        """Return an outcome for each cell of the strategies that left since the last call.

        A race that has ended early may still go on, in rounds that are not decided now.
        """
        self._decide_turns()
        dropped = self.race.dropped(self.n_ended)
        answered = all(set(planned.strategies) <= dropped.keys() for planned in self._rounds)
        decided = len(self._turns) if self._over and not answered else len(self._rounds)
        outcomes: list[Outcome] = []
        for name in dropped.keys() - self._left:
            self._left.add(name)
            for place, planned in enumerate(self._rounds[:decided]):
                if place >= len(self._turns) or name not in self._turns[place]:
                    outcomes += _raced_out(planned, name, dropped[name])
        return outcomes


def _raced_out(planned: PlannedDataset, name: str, reason: str) -> Iterator[Outcome]:
    """Yield outcomes of missing cells; each dataset of a race is planned for all strategies."""
    waiting = planned.status[planned.strategies.index(name)] == Status.MISSING
    for repeat, fold in np.argwhere(waiting).tolist():
        cell = Cell(planned.entry.name, name, repeat, fold)
        yield Outcome(cell, Status.RACED_OUT, reason=reason)
