"""Measure how often the strategy with the largest P(best) is the best, where the truth is known.

The expected losses of the strategies are drawn anew for each study, from a normal distribution as
wide as 1.5 standard errors of a mean over its datasets, so that the best is neither obvious nor
hidden. The table, in Markdown, is in docs/measured-levels.md. Five minutes on one core.

    OMP_NUM_THREADS=1 python benchmarks/claims_of_best.py 2000
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

from mlaut.analysis import Results, probability_of_best

SIZES = ((2, 3), (2, 10), (5, 3), (5, 10), (5, 30), (20, 10), (20, 100))  # strategies, datasets
WIDTH = 1.5  # standard errors of a mean
DRAWS = 1000
WAYS = {
    "prior 0": {"prior": 0.0, "shrink": False},
    "prior 1": {"prior": 1.0, "shrink": False},
    "prior 1, shrunk": {"prior": 1.0, "shrink": True},
}


def drawn_study(rng: np.random.Generator, k: int, n: int, width: float) -> tuple[Results, int]:
    """Draw normal losses on n datasets of k strategies, and return which strategy is the best."""
    expected = rng.normal(size=k) * width / np.sqrt(n)
    table = pd.DataFrame(expected + rng.normal(size=(n, k)), columns=[f"s{i}" for i in range(k)])
    return Results.from_table(table, greater_is_better=False), int(expected.argmin())


def measured(k: int, n: int, samples: int) -> dict[tuple[str, str], float]:
    """Return what is claimed and what is right, in per cent, by the way of computing it."""
    found: dict[tuple[str, str], float] = {}
    for name, way in WAYS.items():
        rng = np.random.default_rng(0)
        how = {"aggregate": "rank", "n_samples": DRAWS, **way}
        claims, right = np.empty(samples), np.empty(samples, dtype=bool)
        for i in range(samples):
            results, best = drawn_study(rng, k, n, WIDTH)
            p = probability_of_best(results, **how).frame["P(best)"]
            claims[i], right[i] = p.iloc[0], p.index[0] == f"s{best}"
        null = (drawn_study(rng, k, n, 0.0)[0] for _ in range(samples))
        some = [probability_of_best(r, **how).frame["P(best)"].iloc[0] > 0.95 for r in null]
        sure = claims > 0.95
        found[name, "mean of the largest P(best)"] = claims.mean()
        found[name, "it is the best"] = right.mean()
        found[name, "P(best) above .95"] = sure.mean()
        found[name, "of these, it is the best"] = right[sure].mean() if sure.any() else np.nan
        found[name, "P(best) above .95 where all are equal"] = np.mean(some)
    return found


def main(samples: int) -> None:
    """Write a row a way and number, a column a size of study."""
    table = {f"{k} strategies, {n} datasets": measured(k, n, samples) for k, n in SIZES}
    frame = (100 * pd.DataFrame(table)).rename_axis(["", "per cent"])
    sys.stdout.write(frame.reset_index().to_markdown(index=False, floatfmt=".1f") + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
