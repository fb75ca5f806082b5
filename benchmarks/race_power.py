"""How soon a race decides on a published matrix of results: a table in Markdown.

Run it as ``python benchmarks/race_power.py matrix.csv accuracy 20 5 9 20``: a table
of scores with a row for each dataset, its metric, number of random orders and subsets of
strategies, and numbers of strategies. Empty entries get the mean of their row.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from mlaut.analysis import Results, adjust, nemenyi_test, race, wilcoxon_test
from mlaut.analysis.racing.evidence import KINDS


def nemenyi_left(results: Results) -> int:
    """Return the number of strategies that Nemenyi's test with all cells leaves beside the best."""
    p = nemenyi_test(results).p_values
    best = results.losses.rank(axis=1).mean().idxmin()
    return 1 + int((p.loc[best].drop(best) > 0.05).sum())


def wilcoxon_left(results: Results) -> int:
    """Return the same for the signed rank test against the best with Holm's correction."""
    p = wilcoxon_test(results).p_values
    best = results.losses.rank(axis=1).mean().idxmin()
    return 1 + int((adjust(p.loc[best].drop(best).to_numpy(), "holm") > 0.05).sum())


def main(path: Path, metric: str, draws: int, numbers: list[int]) -> None:
    """Print the table."""
    table = pd.read_csv(path, index_col=0)
    table = table.T.fillna(table.mean(axis=1)).T
    table = table / 100 if table.to_numpy().max() > 1 else table  # percentages
    print("| strategies | evidence | share of cells | left | best rank kept | Nemenyi | Wilcoxon |")
    print("| --- " * 7 + "|")
    for k in numbers:
        rng = np.random.default_rng(k)
        drawn = []
        for _ in range(draws):
            columns = rng.permutation(table.shape[1])[:k]
            rows = rng.permutation(len(table))
            drawn.append(Results.from_table(table.iloc[rows, columns], metric=metric))
        classical = [
            np.mean([count(one) for one in drawn]) for count in (nemenyi_left, wilcoxon_left)
        ]
        for kind in KINDS:
            races = [race(one, kind=kind) for one in drawn]
            best = [one.losses.rank(axis=1).mean().idxmin() for one in drawn]
            kept = np.mean([name in one.left for name, one in zip(best, races, strict=True)])
            cells = np.mean([one.share_of_cells for one in races])
            left = np.mean([len(one.left) for one in races])
            print(
                f"| {k} | {kind} | {cells:.2f} | {left:.1f} | {100 * kept:.0f} % | "
                f"{classical[0]:.1f} | {classical[1]:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), [int(text) for text in sys.argv[4:]])
