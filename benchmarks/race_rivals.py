"""Compare races with successive halving, F-race and group-sequential tests (Markdown).

Run it as ``OMP_NUM_THREADS=1 python benchmarks/race_rivals.py 300``. The number is that of
simulated studies of each truth (names of truths may follow). Each study has 9 strategies and 121
datasets. It takes two minutes of CPU. The truth is known: losses are drawn, or datasets are drawn
with replacement from a published matrix, in which one strategy is the best by average rank and more
often better than each other one. The elimination of this best strategy is an error. A number after
"±" is a standard error.

The rivals are written from their definitions:

- Successive halving (Karnin et al. 2013; Jamieson & Talwalkar 2016) continues with the better half
  by mean loss and twice the datasets; the last two strategies use all datasets.
- F-race (Birattari et al. 2002) is run with the defaults of irace (Lopez-Ibanez et al. 2016). From
  the fifth dataset on, Friedman's test follows each dataset. If it rejects, Conover's comparison
  drops strategies that are worse than the best; Wilcoxon's test compares the last two.
- Group-sequential tests, which Eugster (2011) proposes for benchmark experiments, are signed rank
  tests at five planned looks. They have the boundaries of Pocock and of O'Brien and Fleming
  (Jennison & Turnbull 2000), and Bonferroni's correction over rivals. That thesis was not
  available to us, so the correction and the number of looks are ours.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np
from mlaut_races.course import follow
from mlaut_races.terms import RaceTerms
from race_levels import LOSSES
from race_power import NUMBERS, benchmark
from scipy.optimize import brentq
from scipy.stats import chi2, norm, rankdata, studentized_range, t, wilcoxon

N, K, ALPHA, LOOKS = 121, 9, 0.05, 5
Method = Callable[[np.ndarray], tuple[int, np.ndarray]]
"""From losses of shape (N, K): the number of cells that are used, and which strategies are left."""


def evidence(kind: str) -> Method:
    """Return the race of `mlaut.analysis.race`."""

    def method(losses: np.ndarray) -> tuple[int, np.ndarray]:
        course = follow(losses, losses, RaceTerms(kind=kind, alpha=ALPHA), span=1.0)
        return int(course.runs.sum()), course.left

    return method


def successive_halving(losses: np.ndarray) -> tuple[int, np.ndarray]:
    """Race by successive halving."""
    n, k = losses.shape
    rungs = int(np.ceil(np.log2(k)))
    alive, cells, before = np.arange(k), 0, 0
    for rung in range(rungs):
        after = round(n / 2 ** (rungs - 1 - rung))
        cells += len(alive) * (after - before)
        order = np.argsort(losses[:after, alive].mean(axis=0), kind="stable")
        alive, before = alive[order[: (len(alive) + 1) // 2]], after
    return cells, np.isin(np.arange(k), alive)


def f_race(losses: np.ndarray) -> tuple[int, np.ndarray]:
    """Race by Friedman's test after each dataset."""
    n, k = losses.shape
    alive, cells = np.arange(k), 0
    for after in range(1, n + 1):
        cells += len(alive)
        if after >= 5:
            alive = alive[_not_worse(losses[:after, alive])]
        if len(alive) == 1:
            break
    return cells, np.isin(np.arange(k), alive)


def _not_worse(losses: np.ndarray) -> np.ndarray:
    """Return which strategies are not significantly worse than the best."""
    n, k = losses.shape
    ranks = rankdata(losses, axis=1)
    sums = ranks.sum(axis=0)
    keep = np.ones(k, dtype=bool)
    if k == 2:
        d = losses[:, 0] - losses[:, 1]
        if d.any() and wilcoxon(d[d != 0], method="approx").pvalue < ALPHA:
            keep = sums == sums.min()
        return keep
    squares = (ranks**2).sum()
    spread = squares - n * k * (k + 1) ** 2 / 4
    if spread == 0:
        return keep
    statistic = (k - 1) * ((sums - n * (k + 1) / 2) ** 2).sum() / spread
    if chi2.sf(statistic, k - 1) < ALPHA:
        df = (n - 1) * (k - 1)
        width = np.sqrt(max(2 * (n * squares - (sums**2).sum()), 0) / df)
        keep = sums - sums.min() <= t.ppf(1 - ALPHA / 2, df) * width
    return keep


def group_sequential(power: float) -> Method:
    """Race by signed rank tests at planned looks; power 0.5 is Pocock's, 0 O'Brien & Fleming's."""

    def method(losses: np.ndarray) -> tuple[int, np.ndarray]:
        n, k = losses.shape
        alive, cells, before = np.arange(k), 0, 0
        for look in range(1, LOOKS + 1):
            after = round(n * look / LOOKS)
            cells += len(alive) * (after - before)
            worse = _signed_rank_z(losses[:after, alive]).max(axis=1)
            bound = boundary(ALPHA / (k - 1), power) * (look / LOOKS) ** (power - 0.5)
            alive, before = alive[worse < bound], after
            if len(alive) <= 1:
                break
        return cells, np.isin(np.arange(k), alive)

    return method


def _signed_rank_z(losses: np.ndarray) -> np.ndarray:
    """Return the standardised signed rank statistic that the row is worse than the column."""
    d = losses[:, :, None] - losses[:, None]
    ranks = rankdata(np.where(d == 0, np.inf, np.abs(d)), axis=0) * (d != 0)
    size = np.sqrt((ranks**2).sum(axis=0))
    return (np.sign(d) * ranks).sum(axis=0) / np.where(size > 0, size, 1)


@cache
def boundary(level: float, power: float) -> float:
    """Return the constant of a one-sided boundary at equally spaced looks.

    The sum of k standard normal numbers crosses ``constant * (k / LOOKS)**(power - 0.5) * sqrt(k)``
    at any look with probability ``level``. The density of the sum is computed on a grid, look by
    look.
    """
    grid = np.linspace(-12, 12, 1201)
    step = norm.pdf(grid[:, None] - grid) * (grid[1] - grid[0])

    def excess(constant: float) -> float:
        density, crossed = norm.pdf(grid), 0.0
        for look in range(1, LOOKS + 1):
            over = grid >= constant * (look / LOOKS) ** (power - 0.5) * np.sqrt(look)
            crossed += density[over].sum() * (grid[1] - grid[0])
            density = step @ np.where(over, 0.0, density)
        return crossed - level

    return float(brentq(excess, 0.5, 6, xtol=1e-3))


def nemenyi(losses: np.ndarray) -> tuple[int, np.ndarray]:
    """Use all cells; keep the strategies that Nemenyi's test does not separate from the best."""
    n, k = losses.shape
    ranks = rankdata(losses, axis=1).mean(axis=0)
    width = _range_quantile(k) * np.sqrt(k * (k + 1) / (12 * n))
    return n * k, ranks - ranks.min() <= width


@cache
def _range_quantile(k: int) -> float:
    return float(studentized_range.ppf(1 - ALPHA, k, np.inf))


METHODS: dict[str, Method] = {
    "evidence, sign": evidence("sign"),
    "evidence, signed rank": evidence("signed rank"),
    "F-race": f_race,
    "successive halving": successive_halving,
    "group-sequential, Pocock": group_sequential(0.5),
    "group-sequential, O'Brien-Fleming": group_sequential(0.0),
    "Nemenyi, all cells": nemenyi,
}


def simulated(name: str, shift: np.ndarray) -> Callable[[int], Iterator[np.ndarray]]:
    """Return the truth with these losses, and shifts of the strategies; the first is the best."""

    def truth(times: int) -> Iterator[np.ndarray]:
        for seed in range(times):
            yield LOSSES[name](np.random.default_rng([seed, K, N]), N, K) + shift

    return truth


def resampled(name: str) -> Callable[[int], Iterator[np.ndarray]]:
    """Return the truth of a published matrix; the best of 9 strategies comes first."""
    matrix = benchmark(name).losses.to_numpy()

    def truth(times: int) -> Iterator[np.ndarray]:
        rng = np.random.default_rng(0)
        for _ in range(times):
            while True:
                part = matrix[:, rng.permutation(matrix.shape[1])[:K]]
                best = int(rankdata(part, axis=1).mean(axis=0).argmin())
                if (np.sign(part - part[:, [best]]).sum(axis=0) >= 0).all():
                    break
            first = np.argsort(np.arange(K) != best, kind="stable")
            yield part[rng.integers(0, len(part), N)][:, first]

    return truth


SPREAD = 0.05 * np.sqrt(2)  # of a difference of two losses called "normal"
AHEAD = SPREAD * norm.ppf(0.6)
"""A strategy that is so much better wins 60 % of the datasets."""
FIRST = (np.arange(K) > 0).astype(float)
TRUTHS = {
    "no difference, normal": simulated("normal", np.zeros(K)),
    "no difference, tied": simulated("tied", np.zeros(K)),
    "two equal, each wins 60 % against the rest": simulated("normal", AHEAD * (np.arange(K) > 1)),
    "the best wins 60 %, the rest equal": simulated("normal", AHEAD * FIRST),
    "the best wins 53 to 75 %": simulated("normal", AHEAD * np.arange(K) / 3),
    **{f"drawn from {name}": resampled(name) for name in NUMBERS},
}


def share(values: np.ndarray, digits: int = 2) -> str:
    """Return the mean and its standard error as text."""
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):.{digits}f} ± {error:.{digits}f}"


def main(times: int, truths: Sequence[str]) -> None:
    """Print the table."""
    print("| truth | method | cells | left | best dropped, % |\n" + "| --- " * 5 + "|")
    for name in truths or TRUTHS:
        studies = list(TRUTHS[name](times))
        for label, method in METHODS.items():
            cells, left, dropped = np.zeros((3, times))
            for i, losses in enumerate(studies):
                used, kept = method(losses)
                cells[i], left[i], dropped[i] = used / losses.size, kept.sum(), not kept[0]
            numbers = share(cells), share(left, 1), share(100 * dropped, 1)
            print(f"| {name} | {label} | {' | '.join(numbers)} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
