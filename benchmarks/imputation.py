"""Measure tests of results with missing cells: their level, and the coverage of their intervals.

Five strategies do not differ on 20 datasets, and cells of the last two are missing: a fifth of them
at random, or half of them where the first strategy does badly. In "alike" the last two strategies
are nearly one; in "spread" datasets differ in the size of their differences (lognormal, 1). The
table, in Markdown, is in docs/measured-levels.md. Four minutes on one core.

    OMP_NUM_THREADS=1 python benchmarks/imputation.py 40
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

from mlaut.analysis import Results, friedman_test, t_test, treat_missing, wilcoxon_test
from mlaut.analysis.methods.frequentist import skillings_mack_test
from mlaut.analysis.methods.multilevel import multiple_imputation

DATASETS = 20
NAMES = list("ABCDE")
KINDS = ("normal", "alike", "spread")
WHY = ("at random", "where A is bad")


def drawn(rng: np.random.Generator, kind: str, why: str, n: int) -> Results:
    """Draw losses of equal strategies, of which cells of D and E are missing."""
    noise = rng.normal(size=(n, 5))
    if kind == "alike":
        noise[:, 4] = noise[:, 3] + 0.2 * rng.normal(size=n)
    if kind == "spread":
        noise *= np.exp(rng.normal(size=(n, 1)))
    if why == "where A is bad":  # D resembles A: so its missing losses are larger than the others
        noise[:, 3] = 0.8 * noise[:, 0] + 0.6 * noise[:, 3]
    gone = np.zeros((n, 5), dtype=bool)
    bad = noise[:, :1] > np.median(noise[:, 0])
    share = 0.2 if why == "at random" else 0.5 * bad
    gone[:, 3:] = rng.random((n, 2)) < share
    table = pd.DataFrame(noise + 5 * rng.normal(size=(n, 1)), columns=NAMES).mask(gone)
    return Results.from_table(table, metric="loss", greater_is_better=False)


def measured(kind: str, why: str, n: int, samples: int) -> dict[str, float]:
    """Return rejections at 5 % and coverage of 95 % intervals, in per cent, of pairs with gaps."""
    rng = np.random.default_rng(0)
    kept: dict[str, list[float]] = {}
    for seed in range(samples):
        results = drawn(rng, kind, why, n)
        found = {
            "t, imputed": multiple_imputation(results, t_test, seed=seed),
            "signed rank, imputed": multiple_imputation(results, wilcoxon_test, seed=seed),
            "t, row mean": t_test(treat_missing(results, "row mean")),
        }
        for name, pairs in found.items():
            frame = pairs.to_frame().drop(index=[("A", "B"), ("A", "C"), ("B", "C")])
            kept.setdefault(f"{name}: rejected", []).append((frame["p_value"] <= 0.05).mean())
            if name.startswith("t"):
                inside = frame["mean difference low"].le(0) & frame["mean difference high"].ge(0)
                kept.setdefault(f"{name}: coverage", []).append(inside.mean())
        whole = multiple_imputation(results, friedman_test, seed=seed)
        kept.setdefault("Friedman, imputed: rejected", []).append(whole.rejects(0.05))
        gaps = skillings_mack_test(results)
        kept.setdefault("Skillings-Mack: rejected", []).append(gaps.rejects(0.05))
    return {name: 100 * float(np.mean(x)) for name, x in kept.items()}


def main(samples: int) -> None:
    """Write a row for each number, and a column for each kind of results."""
    table = {
        f"{kind}, {why}": measured(kind, why, DATASETS, samples) for why in WHY for kind in KINDS
    }
    sys.stdout.write(pd.DataFrame(table).to_markdown(floatfmt=".1f") + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
