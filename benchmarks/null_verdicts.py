"""Measure how often verdicts are wrong about strategies that are all equal.

    OMP_NUM_THREADS=1 python benchmarks/null_verdicts.py [TABLES]

Scores are normal about a level of each dataset, or the same rounded to two digits, so that some are
tied. Printed, in Markdown, are the shares of tables in which a strategy is to be avoided, in which
one is "probably worse" or to be avoided, and in which one is named first with a chance to be the
best above a half; of many strategies, the share of strategies that are ruled out in a tenth, a
twentieth and a fortieth as many tables. 400 tables take about fifteen minutes on one core.
"""

import sys

import numpy as np
import pandas as pd

from mlaut.analysis import Results, compare

SMALL = [(k, n, digits) for k in (2, 5, 10) for n in (10, 30) for digits in (None, 2)]
LARGE = [(50, 8, 10), (100, 8, 20), (200, 8, 40)]  # strategies, datasets, divisor of the tables
USE, AVOID, WORSE = ["use"], ["avoid"], ["avoid", "probably worse"]


def verdicts(tables, strategies, datasets, digits=None):
    """Yield the verdicts on equal strategies."""
    names = [f"s{i}" for i in range(strategies)]
    for seed in range(tables):
        rng = np.random.default_rng([seed, strategies, datasets])
        losses = 0.2 + 0.05 * rng.normal(size=(datasets, 1))
        losses = losses + 0.02 * rng.normal(size=(datasets, strategies))
        table = pd.DataFrame(losses if digits is None else losses.round(digits), columns=names)
        results = Results.from_table(table, greater_is_better=False)
        yield compare(results).decision().frame["verdict"]


def main(tables: int) -> None:
    """Print a row for each size of a table."""
    print("| strategies | datasets | scores | avoid | probably worse, too | use |")
    print("|---|---|---|---|---|---|")
    for k, n, digits in SMALL:
        found = [
            (x.isin(AVOID).any(), x.isin(WORSE).any(), x.isin(USE).any())
            for x in verdicts(tables, k, n, digits)
        ]
        shares = " | ".join(f"{share:.1%}" for share in np.mean(found, axis=0))
        print(f"| {k} | {n} | {'rounded' if digits else 'normal'} | {shares} |", flush=True)
    for k, n, divisor in LARGE:
        out = [x.isin(WORSE).mean() for x in verdicts(tables // divisor, k, n)]
        print(f"{k} strategies on {n} datasets: {np.mean(out):.1%} ruled out, {len(out)} tables")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
