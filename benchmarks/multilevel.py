"""Measure the coverage of the multilevel model's intervals, also where its assumptions fail.

Effects of strategies are normal with the standard deviation .02, as are those of strategies x
datasets, and five folds have noise of .02, of which every dataset has another multiple (lognormal,
.7). Folds share the part of the noise that Nadeau & Bengio (2003) suppose. The table, in Markdown,
is in docs/measured-levels.md. Five minutes on one core.

    OMP_NUM_THREADS=1 python benchmarks/multilevel.py 100
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

from mlaut.analysis import Results
from mlaut.analysis.methods.multilevel import multilevel_model

SIZES = ((2, 6), (5, 6), (5, 20))  # strategies, datasets
FOLDS, SD = 5, 0.02
DRAWS = 800
KINDS = ("normal", "equal strategies", "skewed over datasets", "one wild strategy", "one fold")


def simulated(
    rng: np.random.Generator, kind: str, k: int, n: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return true effects over all and over the seen datasets, and losses, (N, folds, K)."""
    folds = 1 if kind == "one fold" else FOLDS
    effects = SD * rng.normal(size=k) * (kind != "equal strategies")
    deviations = rng.normal(size=(n, k))
    if kind == "skewed over datasets":
        deviations = rng.exponential(size=(n, k)) - 1
    elif kind == "one wild strategy":
        deviations[:, -1] *= 10
    of_datasets = effects + SD * deviations
    noise = SD * np.exp(0.7 * rng.normal(size=(n, 1, 1)))
    y = (
        of_datasets[:, None]
        + rng.normal(0.3, 0.1, (n, 1, 1))
        + noise * rng.normal(size=(n, folds, k))
    )
    if folds > 1:
        y += noise * np.sqrt(1 / (folds - 1)) * rng.normal(size=(n, 1, k))
    return effects, of_datasets.mean(axis=0), y


def measured(kind: str, k: int, n: int, samples: int) -> tuple[float, ...]:
    """Return the coverage of the 95 % intervals by scenario, and the share of sure pairs."""
    rng = np.random.default_rng(0)
    inside: dict[str, list[float]] = {"(c)": [], "(b)": []}
    sure = []
    first, second = np.triu_indices(k, 1)
    for seed in range(samples):
        *truths, y = simulated(rng, kind, k, n)
        index = pd.MultiIndex.from_product([range(n), [0], range(y.shape[1])])
        table = pd.DataFrame(y.reshape(-1, k), index, list("ABCDE")[:k])
        results = Results.from_table(table, greater_is_better=False)
        found = multilevel_model(results, n_samples=DRAWS, seed=seed)
        for kept, truth, pairs in zip(
            inside.values(), truths, (found.pairs, found.seen_pairs), strict=True
        ):
            if pairs is not None:
                frame, d = pairs.to_frame(), truth[first] - truth[second]
                kept.append(
                    float(frame["difference low"].le(d).mul(frame["difference high"].ge(d)).mean())
                )
        frame = found.pairs.to_frame()
        sure.append((frame[["P(row better)", "P(column better)"]].max(axis=1) > 0.975).mean())
    return tuple(100 * np.mean(x) if x else np.nan for x in (*inside.values(), sure))


def main(samples: int) -> None:
    """Write a row for each kind of results, a column for each scenario and size of study."""
    rows = []
    for kind in KINDS:
        row: dict[str, float | str] = {"results": kind}
        found = {size: measured(kind, *size, samples) for size in SIZES}
        for place, what in enumerate(("(c)", "(b)")):
            row |= {f"{what} {k}, {n}": x[place] for (k, n), x in found.items()}
        if kind == KINDS[1]:
            sure = ", ".join(f"{x[2]:.1f}" for x in found.values())
            sys.stderr.write(f"pairs above .975 where all are equal: {sure}\n")
        rows.append(row)
    sys.stdout.write(pd.DataFrame(rows).to_markdown(index=False, floatfmt=".1f") + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
