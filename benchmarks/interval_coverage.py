"""Measure the coverage of the intervals of ratings, aggregates and runs.

The truth is the same number on 20,000 datasets (or runs) of the population. Losses are lognormal
around the level of their dataset, and the strategies' expected logarithms are half a standard
deviation of the noise apart, on average. The script takes two minutes on one core.

    OMP_NUM_THREADS=1 python benchmarks/interval_coverage.py 120
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

from mlaut.analysis import elo_ratings, probability_of_best, scale_free_table
from mlaut.analysis.methods.aggregates import interquartile_means, probability_of_improvement

LARGE = 20_000
SIZES = ((5, 5), (5, 10), (5, 30), (20, 30))  # strategies, datasets
RUNS = (3, 5, 10)
OF_TABLE = ("average rank", "won duels", "share best", "normalised score", "improvability")
HOW = {"metric": "loss", "greater_is_better": False}


def lognormal(rng: np.random.Generator, expected: np.ndarray, n: int) -> pd.DataFrame:
    """Draw losses on n datasets."""
    z = expected + rng.normal(size=(n, len(expected))) + rng.normal(size=(n, 1))
    return pd.DataFrame(np.exp(0.5 * z)).add_prefix("s")


def estimates(table: pd.DataFrame, draws: int) -> dict[str, pd.DataFrame]:
    """Return the value, low and high of each strategy by the name of the number."""
    elo = elo_ratings(table, n_samples=draws, **HOW).frame[["Elo", "low", "high"]]
    means = scale_free_table(table, **HOW).frame
    aggregates = {name: means[[name, f"{name} low", f"{name} high"]] for name in OF_TABLE}
    return {"Elo": elo, **aggregates}


def covered(found: pd.DataFrame, truth: pd.Series) -> float:
    """Return the share of intervals that contain the truth."""
    low, high = found.iloc[:, 1], found.iloc[:, 2]
    inside = (low <= truth[found.index]) & (truth[found.index] <= high)
    return float(inside.mean())


def over_datasets(k: int, n: int, samples: int) -> dict[str, float]:
    """Return the coverage of 95 % intervals over datasets, in per cent."""
    rng = np.random.default_rng(0)
    expected = np.linspace(-1, 1, k)
    large = estimates(lognormal(rng, expected, LARGE), 1)
    true_ranks = pd.Series(np.arange(1, k + 1), index=[f"s{i}" for i in range(k)])
    kept: dict[str, list[float]] = {}
    for _ in range(samples):
        table = lognormal(rng, expected, n)
        for name, found in estimates(table, 200).items():
            kept.setdefault(name, []).append(covered(found, large[name].iloc[:, 0]))
        ranks = probability_of_best(table, n_samples=1000, **HOW).frame
        ranks = ranks[["expected rank", "low", "high"]]
        kept.setdefault("rank among all, P(best)", []).append(covered(ranks, true_ranks))
    return {name: 100 * float(np.mean(x)) for name, x in kept.items()}


def over_runs(runs: int, samples: int) -> dict[str, float]:
    """Return the coverage of 95 % intervals over the runs on ten datasets, in per cent."""
    rng = np.random.default_rng(0)
    expected = rng.normal(size=(10, 1, 3)) + np.linspace(0, 1, 3)

    def drawn(size: int) -> pd.DataFrame:
        z = expected + rng.normal(size=(10, size, 3))
        index = pd.MultiIndex.from_product([range(10), [0], range(size)])
        return pd.DataFrame(1 / (1 + np.exp(z.reshape(-1, 3))), index, list("ABC"))

    of_runs = {"interquartile mean": [], "probability of improvement": []}
    large = interquartile_means(drawn(2000), n_samples=1, metric="accuracy").frame.iloc[:, 0]
    some = [
        probability_of_improvement(drawn(200), n_samples=1, metric="accuracy") for _ in range(9)
    ]
    key = "probability of improvement"
    truth = np.mean([one.to_frame()[key] for one in some], axis=0)
    for _ in range(samples):
        table = drawn(runs)
        found = interquartile_means(table, n_samples=400, metric="accuracy").frame
        of_runs["interquartile mean"].append(covered(found, large))
        pairs = probability_of_improvement(table, n_samples=400, metric="accuracy").to_frame()
        inside = (pairs[f"{key} low"] <= truth) & (truth <= pairs[f"{key} high"])
        of_runs[key].append(float(inside.mean()))
    return {name: 100 * float(np.mean(x)) for name, x in of_runs.items()}


def main(samples: int) -> None:
    """Write a table over datasets, and one over runs."""
    for table in (
        {f"{k} strategies, {n} datasets": over_datasets(k, n, samples) for k, n in SIZES},
        {f"{runs} runs": over_runs(runs, samples) for runs in RUNS},
    ):
        sys.stdout.write(pd.DataFrame(table).to_markdown(floatfmt=".1f") + "\n\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 120)
