"""Simulate a race of 200 strategies over 1,000 datasets on 1,000 workers (Markdown).

Run it as ``OMP_NUM_THREADS=1 python benchmarks/race_scale.py 20``; the number is that of simulated
studies. It takes half a minute of CPU. The decisions are those of `mlaut.analysis.race`; only the
cells, their costs and the workers are simulated. A number after "±" is a standard error.

Strategies differ by a normal effect as large as the noise of a cell. The cost of a cell is
lognormal: it differs mostly by strategy (by a factor of 7 for one standard deviation), also by
dataset (2.7), and little otherwise (1.3).
"""

from __future__ import annotations

import heapq
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from mlaut_races.course import follow
from mlaut_races.terms import RaceTerms

STRATEGIES, DATASETS, WORKERS = 200, 1000, 1000
AHEAD = (0, 1, 5, 20, 100)
"""Rounds that may begin before a round has ended, as in ``[race]``."""
AHEAD_CELLS = (1000, 2000)
"""The same by cells, as ``[race] ahead_cells``."""
Needed = Callable[[Sequence[int]], int]
"""From the numbers of cells of all rounds so far: how many must have ended before the next."""


@dataclass(frozen=True)
class Ran:
    """Cost of a simulated study.

    Attributes
    ----------
    cells, cost : float
        Shares of all cells and of their cost.
    idle : float
        Share of the time of all workers in which they had no cell.
    time : float
        Time until the last cell, as a share of that of the full study.
    """

    cells: float
    cost: float
    idle: float
    time: float


def study(seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return losses and costs of all cells, of shape (datasets, strategies), and the best one."""
    rng = np.random.default_rng(seed)
    shape = DATASETS, STRATEGIES
    effects = rng.normal(size=STRATEGIES)
    losses = 0.05 * (effects + rng.normal(size=shape))
    spread = 2 * rng.normal(size=STRATEGIES) + rng.normal(size=(DATASETS, 1))
    costs = np.exp(spread + 0.25 * rng.normal(size=shape))
    return losses, costs, int(effects.argmin())


def by_rounds(ahead: int) -> Needed:
    """Return the rule of ``[race] ahead``."""
    return lambda sizes: max(0, len(sizes) - ahead)


def by_cells(most: int) -> Needed:
    """Return the rule of ``[race] ahead_cells``: at most ``most`` earlier cells may be open.

    The sizes of rounds follow from the results alone, so the cells of such a race do too.
    """

    def needed(sizes: Sequence[int]) -> int:
        waiting = 0
        for first in range(len(sizes), 0, -1):
            waiting += sizes[first - 1]
            if waiting > most:
                return first
        return 0

    return needed


def simulate(costs: np.ndarray, runs: np.ndarray, end: float, needed: Needed) -> Ran:
    """Run rounds in their order on the workers; a free worker takes the next cell.

    Parameters
    ----------
    costs : ndarray, shape (N, K)
    runs : ndarray, shape (K,)
        Number of datasets after which each strategy leaves.
    end : float
        Number of datasets after which the question is answered; infinite for a full study.
    needed : callable
    """
    free = [0.0] * WORKERS  # when each worker has no cell
    ended = [0.0]  # when the first n rounds have ended
    sizes: list[int] = []
    busy = 0.0
    for row in costs:
        known = needed(sizes)
        if known >= end:
            break
        racing = row[runs > known]
        last = ended[-1]
        for seconds in racing.tolist():
            finish = max(free[0], ended[known]) + seconds
            heapq.heapreplace(free, finish)
            last = max(last, finish)
        ended.append(last)
        sizes.append(len(racing))
        busy += float(racing.sum())
    return Ran(sum(sizes), busy, 1 - busy / (WORKERS * ended[-1]), ended[-1])


def race_of(losses: np.ndarray) -> tuple[np.ndarray, float, int]:
    """Return after how many datasets each strategy leaves, when the race ends, and who is left."""
    course = follow(losses, losses, RaceTerms())
    end = len(course.against) if course.answered else np.inf
    return np.where(course.left, np.inf, course.runs), end, int(course.left.sum())


def line(name: str, ran: list[Ran]) -> None:
    """Print a line of the table."""
    columns = np.array([(one.cells, one.cost, one.idle, one.time) for one in ran]).T
    errors = columns.std(axis=1, ddof=1) / np.sqrt(len(ran))
    cells = (f"{m:.3f} ± {e:.3f}" for m, e in zip(columns.mean(axis=1), errors, strict=True))
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main(times: int) -> None:
    """Print the table."""
    rules = {f"{ahead} rounds": by_rounds(ahead) for ahead in AHEAD}
    rules |= {f"{most:,} cells": by_cells(most) for most in AHEAD_CELLS}
    found: dict[str, list[Ran]] = {name: [] for name in ("full study", *rules)}
    ends, left, right = [], [], 0
    for seed in range(times):
        losses, costs, best = study(seed)
        runs, end, n_left = race_of(losses)
        ends.append(min(end, DATASETS))
        left.append(n_left)
        right += runs[best] == np.inf
        always = np.full(STRATEGIES, np.inf)
        full = simulate(costs, always, np.inf, lambda _: 0)
        found["full study"].append(replace(full, cells=1.0, cost=1.0, time=1.0))
        for name, needed in rules.items():
            ran = simulate(costs, runs, end, needed)
            shares = ran.cells / full.cells, ran.cost / full.cost, ran.idle, ran.time / full.time
            found[name].append(Ran(*shares))
    print(f"rounds {np.mean(ends):.0f}, left {np.mean(left):.2f}, best kept {right} of {times}")
    print("| ahead | cells | cost | idle | time |\n" + "| --- " * 5 + "|")
    for name, ran in found.items():
        line(name, ran)


if __name__ == "__main__":
    main(int(sys.argv[1]))
