"""Measure how often tests of all pairs reject a true hypothesis if others are false.

In "one bad" one strategy is far worse than all others, which are equal. In "two groups" half of the
strategies are equal, and the other half are equal and far worse. A false claim is a rejection, or a
probability above .95, of a pair of equal strategies. The table, in Markdown, is in
docs/measured-levels.md. The script takes two minutes on one core.

    OMP_NUM_THREADS=1 python benchmarks/partial_nulls.py 1000
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
    nemenyi_test,
    sign_test,
    wilcoxon_test,
)
from mlaut.analysis.methods.frequentist import conover_test, post_hoc_test

SIZES = ((5, 10), (5, 30), (10, 30))  # strategies, datasets
FAR = 5.0  # standard deviations of the noise
WORSE: dict[str, Callable[[int], np.ndarray]] = {
    "all equal": np.zeros,
    "one bad": lambda k: FAR * (np.arange(k) == 0),
    "two groups": lambda k: FAR * (np.arange(k) < k // 2),
}
TESTS = {
    "Nemenyi": lambda r: nemenyi_test(r).p_values <= 0.05,
    "ranks after Friedman, Holm": lambda r: adjust_pairs(post_hoc_test(r), "holm").p_values <= 0.05,
    "Conover, Holm": lambda r: adjust_pairs(conover_test(r), "holm").p_values <= 0.05,
    "signed rank, Holm": lambda r: adjust_pairs(wilcoxon_test(r), "holm").p_values <= 0.05,
    "signed rank, Shaffer": lambda r: adjust_pairs(wilcoxon_test(r), "shaffer").p_values <= 0.05,
    "sign, Holm": lambda r: adjust_pairs(sign_test(r), "holm").p_values <= 0.05,
    "Bayesian sign, a pair above .95": lambda r: (
        bayesian_sign_test(r).table("P(row better)") > 0.95
    ),
}


def main(samples: int) -> None:
    """Write a row for each test, and a column for each truth and size of study."""
    table: dict[str, dict[str, float]] = {}
    for truth, worse in WORSE.items():
        for k, n in SIZES:
            rng, level = np.random.default_rng(0), worse(k)
            equal = (level[:, None] == level) & ~np.eye(k, dtype=bool)
            names = [f"s{i}" for i in range(k)]
            hits = dict.fromkeys(TESTS, 0)
            for _ in range(samples):
                losses = level + rng.normal(size=(n, 1)) + rng.normal(size=(n, k))
                results = Results.from_table(
                    pd.DataFrame(losses, columns=names), greater_is_better=False
                )
                for test, claims in TESTS.items():
                    hits[test] += bool(claims(results).to_numpy()[equal].any())
            table[f"{truth}, {k} x {n}"] = {t: 100 * count / samples for t, count in hits.items()}
    frame = pd.DataFrame(table).rename_axis("test").reset_index()
    sys.stdout.write(frame.to_markdown(index=False, floatfmt=".1f") + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
