"""Measure how often studies in which no strategy differs claim that some pair does.

A posterior probability of .95 is no type I error of 5 %, least of all for the surest of many pairs.
The table, in Markdown, is in docs/measured-levels.md. The script takes five minutes on one core.

    OMP_NUM_THREADS=1 python benchmarks/false_claims.py 1000 > claims.md
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pandas as pd

from mlaut.analysis import (
    Results,
    adjust_pairs,
    bayesian_sign_test,
    bayesian_signed_rank_test,
    decide,
    sign_test,
    wilcoxon_test,
)

SIZES = ((2, 10), (5, 10), (5, 30), (20, 20), (20, 100))  # strategies, datasets
DRAWS = 2000
BETTER = "P(row better)"


def null_study(rng: np.random.Generator, strategies: int, datasets: int) -> Results:
    """Draw normal losses about a level of each dataset; no strategy is better."""
    losses = rng.normal(size=(datasets, 1)) + rng.normal(size=(datasets, strategies))
    columns = [f"s{i}" for i in range(strategies)]
    return Results.from_table(pd.DataFrame(losses, columns=columns), greater_is_better=False)


def claims(better: pd.DataFrame) -> dict[str, bool]:
    """Return whether something is claimed, by rule."""
    return {
        "some pair above .95": bool((better > 0.95).any(axis=None)),
        "`decide(false_share=.05)`": bool(decide(better, false_share=0.05).claims),
        "`decide(false_number=.05)`": bool(decide(better, false_number=0.05).claims),
    }


def corrected(test: Callable) -> Callable[[Results], dict[str, bool]]:
    """Return a function on whether a test with Holm's correction rejects anything at .05."""

    def rejects(results: Results) -> dict[str, bool]:
        p = adjust_pairs(test(results), "holm").p_values
        return {"Holm, p at most .05": bool((p <= 0.05).any(axis=None))}

    return rejects


TESTS: dict[str, Callable[[Results], dict[str, bool]]] = {
    "Bayesian sign": lambda r: claims(bayesian_sign_test(r).table(BETTER)),
    "Bayesian signed rank": lambda r: claims(
        bayesian_signed_rank_test(r, n_samples=DRAWS).table(BETTER)
    ),
    "sign": corrected(sign_test),
    "signed rank": corrected(wilcoxon_test),
}


def main(samples: int) -> None:
    """Write a row for each test and rule, and a column for each size of study."""
    table: dict[str, dict[tuple[str, str], float]] = {}
    for strategies, datasets in SIZES:
        rng = np.random.default_rng(0)
        count = min(samples, 300) if strategies == 20 else samples
        found = []
        for _ in range(count):
            results = null_study(rng, strategies, datasets)
            rules = {name: test(results) for name, test in TESTS.items()}
            found.append(
                {(n, rule): hit for n, hits in rules.items() for rule, hit in hits.items()}
            )
        column = f"{strategies} strategies, {datasets} datasets (N = {count})"
        table[column] = (100 * pd.DataFrame(found).mean()).to_dict()
    frame = pd.DataFrame(table).rename_axis(["test", "rule"])
    sys.stdout.write(frame.reset_index().to_markdown(index=False, floatfmt=".1f") + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
