"""Forecast of the rest of a race by simulation: future datasets are drawn from those seen."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mlaut.plugins import parse_seconds
from mlaut_races.study_race import StudyRace
from mlaut_races.terms import RaceTerms

_SIMULATED = 200  # races; the standard error of a probability is at most 3.5 points


@dataclass(frozen=True)
class RaceForecast:
    """Forecast of the rest of a race, whose datasets are taken to be like those seen so far.

    Attributes
    ----------
    seen : int
        Number of datasets that the race uses so far.
    n_datasets : int
    decided : float
        Share of simulated races that answer the question.
    datasets : float
        Mean number of further datasets.
    cells, seconds : float
        Mean shares of the cells that are not run yet, and of their time, that will be run.
    cost : float
        Mean time of the cells that will be run, in seconds.
    """

    seen: int
    n_datasets: int
    decided: float
    datasets: float
    cells: float
    seconds: float
    cost: float

    def __str__(self) -> str:
        seen = f"race: {self.seen} of {self.n_datasets} datasets are complete"
        if not self.cost:
            return f"{seen}, and the question is {'answered' if self.decided else 'open'}"
        return (
            f"{seen}; if the others are like "
            f"them, the question is answered with probability {self.decided:.2f}, after "
            f"{self.datasets:.0f} more datasets on average, with {100 * self.cells:.0f} % of the "
            f"cells that are left and {100 * self.seconds:.0f} % of their time ({self.cost:.3g} s)"
        )


@dataclass(frozen=True)
class _Future:
    """End of a simulated race: numbers of further datasets, in all and by strategy."""

    answered: bool
    datasets: int
    more: np.ndarray


class _Futures:
    """Simulated futures of a race after n rounds.

    Each future dataset is one of those on which all strategies that are left were run.
    """

    def __init__(self, race: StudyRace, n: int, most: float) -> None:
        self._start = race.following(n)
        self.race = race.after(n)
        self._most = most
        self._losses, self._scale = race.losses(n)
        self.runs, self.left = self.race.course.runs, self.race.course.left
        seconds = race.seconds(n)
        used = np.arange(len(seconds))[:, None] < self.runs
        self.spent = float(seconds.sum())
        self.cost = np.where(used, seconds, 0.0).sum(axis=0) / np.maximum(self.runs, 1)
        self.seen = int(self.runs[self.left].min(initial=len(seconds)))

    def __iter__(self) -> Iterator[_Future]:
        rng = np.random.default_rng(self._start.n_taken)
        n = len(self._losses)
        while True:
            yield self._one(rng.integers(0, self.seen, n)[self._start.n_taken :])

    def _one(self, drawn: np.ndarray) -> _Future:
        race, spent = self._start.copy(), self.spent
        for row in drawn:
            turn = race.racing
            spent += self.cost[turn].sum()
            if race.answered() or spent > self._most:
                break
            race.take(self._losses[row], self._scale[row])
        more = race.runs - self.runs
        return _Future(race.answered(), int(race.runs.max() - self.runs.max()), more)


def forecast_race(race: StudyRace, *, max_cost: float = np.inf) -> RaceForecast | None:
    """Forecast a race by simulation.

    Parameters
    ----------
    race : StudyRace
    max_cost : float
        Seconds of all cells after which no round begins.

    Returns
    -------
    RaceForecast or None
        None while no dataset is complete.
    """
    race.now()
    futures = _Futures(race, race.n_taken, max_cost)
    if not futures.seen:
        return None
    ends = [end for end, _ in zip(futures, range(_SIMULATED), strict=False)]
    now, more = futures.race, np.mean([end.more for end in ends], axis=0)
    rest = now.n_datasets - futures.runs
    cost, full = float(more @ futures.cost), float(rest @ futures.cost)
    return RaceForecast(
        seen=len(now.datasets),
        n_datasets=now.n_datasets,
        decided=float(np.mean([end.answered for end in ends])),
        datasets=float(np.mean([end.datasets for end in ends])),
        cells=float(more.sum() / rest.sum()) if rest.any() else 0.0,
        seconds=cost / full if full else 0.0,
        cost=cost,
    )


def max_cost_of(terms: RaceTerms) -> float:
    """Return the seconds after which no round begins; infinite without ``max_cost``."""
    return parse_seconds(terms.max_cost or None, "max_cost") or np.inf
