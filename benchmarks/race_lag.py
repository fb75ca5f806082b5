"""Measure how much a race decides for a part of the cost, by the lag of the costliest strategy.

Run it as ``OMP_NUM_THREADS=1 python benchmarks/race_lag.py 50``; the number is that of random
orders. It takes less than a minute. The race has nine strategies on 121 datasets (MLaut 2018), with
the times of the paper's Table 8 (`race_power.SECONDS`). The support vector machine takes nearly all
of the time.
"""

from __future__ import annotations

import sys

import numpy as np
from race_power import SECONDS, benchmark

from mlaut.analysis.racing.course import Following, rounds_of
from mlaut.records import RaceTerms

BUDGETS = (0.02, 0.05, 0.1, 0.25, 0.5, 1.0)  # shares of the cost of the full study
LAGS = (1, 20, 121)


def standings(losses: np.ndarray, seconds: np.ndarray, lag: np.ndarray) -> list[int]:
    """Return how many strategies are left when each budget is used up."""
    n, k = losses.shape
    names = [str(place) for place in range(k)]
    race = Following(names, n, RaceTerms(lag=dict(zip(names, lag.tolist(), strict=True))))
    spent, found = 0.0, []
    budgets = [share * n * seconds.sum() for share in BUDGETS]
    for one in rounds_of(lag.tolist(), [n]):
        cost = float(seconds[race.racing & (race.lags == one.lag)].sum())
        while len(found) < len(budgets) and spent + cost > budgets[len(found)]:
            found.append(int(race.left.sum()))
        if not race.take(one, losses[one.dataset], losses[one.dataset]):
            break
        spent += cost
    return [*found, *[int(race.left.sum())] * (len(budgets) - len(found))]


def main(draws: int) -> None:
    """Print the table."""
    results = benchmark("mlaut2018")
    seconds = SECONDS[list(results.strategies)].to_numpy()
    losses = results.losses.to_numpy()
    print("| strategies left at a share of the cost of | ", end="")
    print(" | ".join(f"{share:.0%}" for share in BUDGETS) + " |")
    print("| --- " * (1 + len(BUDGETS)) + "|")
    for lag in LAGS:
        lags = np.where(np.array(results.strategies) == "SVC", lag, 1)
        orders = [np.random.default_rng(seed).permutation(len(losses)) for seed in range(draws)]
        left = [standings(losses[order], seconds, lags) for order in orders]
        means = " | ".join(f"{one:.1f}" for one in np.mean(left, axis=0))
        print(f"| lag {lag} | {means} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
