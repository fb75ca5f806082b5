"""Measure what a race saves on published results; print tables in Markdown.

Run it as ``OMP_NUM_THREADS=1 python benchmarks/race_power.py 60``. The number is that of random
orders and subsets of strategies; names of some of the tables may follow. It takes five minutes of
CPU. A number after "±" is a standard error over the draws.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np
import pandas as pd
from mlaut_races.evidence import BETS, KINDS, grow, log_mean

from mlaut.analysis import (
    Race,
    Results,
    bayesian_sign_test,
    bayesian_signed_rank_test,
    nemenyi_test,
    published,
    race,
    treat_missing,
    wilcoxon_test,
)
from mlaut.analysis.pairwise import adjust

NUMBERS = {"mlaut2018": (3, 5, 9), "wainer2023": (5, 9, 16), "delgado2014": (5, 9, 20, 50)}
"""Numbers of strategies of each published matrix."""
SECONDS = pd.Series(
    {
        "BaggingClassifier": 5.231,
        "BaselineClassifier": 0.001,
        "BernoulliNaiveBayes": 0.005,
        "GaussianNaiveBayes": 0.004,
        "GradientBoostingClassifier": 49.509,
        "NeuralNetworkDeepClassifier": 14.617,
        "PassiveAggressiveClassifier": 19.352,
        "RandomForestClassifier": 14.277,
        "SVC": 1742.466,
    }
)
"""Seconds a dataset of Kazakov and Kiraly (2019, Table 8), which has no network of this name: that
of 4 layers with dropout stands in."""
ROPES = (0.0, 0.01, 0.02, 0.03, 0.05)
LOOKS = (10, 20, 40, 80)


def share_of_cost(one: Race) -> float:
    """Return the share of the seconds of all cells that a race runs."""
    seconds = SECONDS.reindex(one.strategies).to_numpy()
    return float(one.course.runs @ seconds / (one.n_datasets * seconds.sum()))


def benchmark(name: str) -> Results:
    """Return a published matrix; a failure gets the mean of its dataset."""
    return treat_missing(published(name), "row mean")


def draws(results: Results, k: int, n: int) -> Iterator[Results]:
    """Yield random subsets of the strategies, with the datasets in random order."""
    rng = np.random.default_rng(k)
    for _ in range(n):
        chosen = [results.strategies[i] for i in rng.permutation(len(results.strategies))[:k]]
        order = [results.datasets[i] for i in rng.permutation(len(results.datasets))]
        yield results.select(datasets=order, strategies=chosen)


def best_of(results: Results) -> str:
    """Return the strategy with the best average rank over all cells."""
    return str(results.losses.rank(axis=1).mean().idxmin())


def nemenyi_left(results: Results, best: str) -> int:
    """Return how many strategies Nemenyi's test with all cells leaves, the best included."""
    return 1 + int((nemenyi_test(results).p_values.loc[best].drop(best) > 0.05).sum())


def wilcoxon_left(results: Results, best: str) -> int:
    """Return the same for the signed rank test against the best with Holm's correction."""
    p = wilcoxon_test(results).p_values.loc[best].drop(best)
    return 1 + int((adjust(p.to_numpy(), "holm") > 0.05).sum())


def bayes_left(test: Callable[..., object]) -> Callable[[Results, str], int]:
    """Return the function that counts strategies that are worse with probability up to 0.95."""

    def left(results: Results, best: str) -> int:
        found = test(results).table("P(row better)").loc[best].drop(best)
        return 1 + int((found <= 0.95).sum())

    return left


ALL_CELLS = {
    "Nemenyi": nemenyi_left,
    "Wilcoxon, Holm": wilcoxon_left,
    "Bayes, sign": bayes_left(bayesian_sign_test),
    "Bayes, signed rank": bayes_left(bayesian_signed_rank_test),
}


def mean(values: Sequence[float], digits: int = 2) -> str:
    """Return the mean and its standard error as text."""
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):.{digits}f} ± {error:.{digits}f}"


def table(*heads: str) -> None:
    """Print the head of a table."""
    print(f"\n| {' | '.join(heads)} |\n{'| --- ' * len(heads)}|", flush=True)


def line(*cells: object) -> None:
    """Print a line of a table."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def savings(n: int) -> None:
    """Print cells and strategies that each kind of evidence uses and leaves, and those of tests."""
    table("matrix", "strategies", "evidence", "cells", "left", "best kept", *ALL_CELLS)
    for name, numbers in NUMBERS.items():
        for k in numbers:
            drawn = list(draws(benchmark(name), k, n))
            best = [best_of(one) for one in drawn]
            tests = [
                mean([left(one, b) for one, b in zip(drawn, best, strict=True)], 1)
                for left in ALL_CELLS.values()
            ]
            for kind in KINDS:
                races = [race(one, order=one.datasets, kind=kind) for one in drawn]
                kept = np.mean([b in one.left for b, one in zip(best, races, strict=True)])
                cells = mean([one.share_of_cells for one in races])
                left = mean([len(one.left) for one in races], 1)
                line(name, k, kind, cells, left, f"{100 * kept:.0f} %", *tests)


def costs(n: int) -> None:
    """Print shares of cells and of cost by region of practical equivalence."""
    table("strategies", "rope", "cells", "cost", "left", "answered")
    for k, rope in product(NUMBERS["mlaut2018"], ROPES):
        races = [
            race(one, order=one.datasets, rope=rope) for one in draws(benchmark("mlaut2018"), k, n)
        ]
        cost = mean([share_of_cost(one) for one in races])
        left = mean([len(one.left) for one in races], 1)
        answered = f"{100 * np.mean([one.answered for one in races]):.0f} %"
        line(k, rope, mean([one.share_of_cells for one in races]), cost, left, answered)


def departures(n: int) -> None:
    """Print which share of the strategies has left a race, by number of datasets."""
    table("matrix", "strategies", "evidence", *(f"{look} datasets" for look in LOOKS), "all")
    for name, kind in product(NUMBERS, KINDS):
        k = 9
        races = [race(one, order=one.datasets, kind=kind) for one in draws(benchmark(name), k, n)]
        line(name, k, kind, *(mean([gone(one, t) for one in races]) for t in (*LOOKS, np.inf)))


def gone(found: Race, look: float) -> float:
    """Return the share of the strategies that left within a number of datasets."""
    within = [after for after, _ in found.departures.values() if after <= look]
    return len(within) / len(found.strategies)


def mixtures(n: int) -> None:
    """Print after how many datasets pairs are decided by fixed bets and by their mixture.

    The pairs are those that the best single bet of each, chosen afterwards, decides.
    """
    heads = ("mixture", *(f"bet {bet:g}" for bet in BETS), "best bet of each pair")
    table("matrix", "evidence", "pairs", *heads)
    for name, kind in product(NUMBERS, KINDS):
        results = benchmark(name)
        losses = results.losses.to_numpy()
        rng = np.random.default_rng(0)
        orders = [rng.permutation(len(losses)) for _ in range(max(1, n // 20))]
        times = np.concatenate([times_of(losses[order], kind) for order in orders], axis=1)
        decided = times[1:].min(axis=0) < np.inf
        capped = np.minimum(times[:, decided], len(losses))
        best = capped[1:].min(axis=0).mean()
        means = (f"{value:.1f}" for value in (*capped.mean(axis=1), best))
        line(name, kind, int(decided.sum()), *means)


def times_of(losses: np.ndarray, kind: str) -> np.ndarray:
    """Return after how many datasets each ordered pair is decided at level 0.05.

    Returns
    -------
    ndarray, shape (1 + len(BETS), pairs)
        For the mixture and for each bet; infinity for never.
    """
    n, k = losses.shape
    i, j = np.nonzero(~np.eye(k, dtype=bool))
    steps, logs = KINDS[kind].steps(1.0, (n, len(i))), np.zeros((len(BETS), len(i)))
    times = np.full((1 + len(BETS), len(i)), np.inf)
    for t, row in enumerate(losses, start=1):
        grow(logs, steps(row[i] - row[j]))
        reached = np.vstack([log_mean(logs), logs]) >= np.log(20)
        times[reached & np.isinf(times)] = t
    return times


PARTS = {part.__name__: part for part in (savings, costs, departures, mixtures)}


def main(n: int, parts: Sequence[str]) -> None:
    """Print the tables."""
    for part in parts or PARTS:
        PARTS[part](n)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
