"""Measure how often `same_results` is wrong, and how often it shows that nothing has changed.

A rerun moves the score of a strategy on a dataset by a change (a mean) and by noise. Half of the
noise is common to all strategies, or to the source. False "same" and false "differs" are counted
with the mean at the edge of the region, which is the worst case, and "differs" without a change
too. "All same" is the share of reruns without a change in which all strategies are shown to be the
same. The table is in examples/studies/leaderboards/README.md. The script takes two minutes on one
core.

    OMP_NUM_THREADS=1 python benchmarks/rerun_levels.py 300
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
from mlaut_boards import same_results

from mlaut.analysis import Results

ROPE = 0.01
SIZES = np.array(
    [1] * 10 + [2] * 6 + [3] * 5 + [4] * 3 + [6, 8, 12, 20]
)  # much as those of GIFT-Eval
_T3 = np.sqrt(3.0)  # standard deviation of Student's t with 3 degrees of freedom
NOISE: dict[str, Callable[[np.random.Generator, tuple[int, int]], np.ndarray]] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "heavy tails (t, 3)": lambda rng, shape: rng.standard_t(3, size=shape) / _T3,
    "skew (exponential)": lambda rng, shape: rng.exponential(size=shape) - 1,
    # One dataset in ten moves, by 2.846 standard deviations and to one side.
    "one in ten moves": lambda rng, shape: (rng.random(shape) < 0.1) / 0.3 - 1 / 3,
}


def main(samples: int) -> None:
    """Write a row for each kind of noise, number of strategies and datasets."""
    rows = [
        (kind, k, n, "none", np.arange(n)) for kind in NOISE for k, n in ((1, 10), (1, 30), (5, 30))
    ]
    rows += [
        ("normal", k, n, "none", np.arange(n)) for k, n in ((5, 6), (5, 10), (20, 30), (20, 100))
    ]
    rows += [("normal", k, SIZES.sum(), "28", np.repeat(np.arange(28), SIZES)) for k in (1, 5)]
    for row in rows:
        found = _row(*row, samples)
        head = row is rows[0]
        line = f"| {' | '.join(map(str, found.values()))} |\n"
        sys.stdout.write((f"| {' | '.join(found)} |\n|{'---|' * len(found)}\n" * head) + line)
        sys.stdout.flush()


def _row(
    kind: str, k: int, n: int, sources: str, source: np.ndarray, samples: int
) -> dict[str, object]:
    rng, draw = np.random.default_rng(0), NOISE[kind]
    sd = ROPE * np.sqrt(source.max() + 1) / 4  # the region is four standard errors of a mean
    old = pd.DataFrame(rng.uniform(0.4, 0.6, (n, k)), [f"d{i}" for i in range(n)])
    old.columns = [f"s{j}" for j in range(k)]
    clusters = dict(zip(old.index, source.astype(str), strict=True))
    before = Results.from_table(old, metric="score", greater_is_better=True).with_clusters(clusters)
    false = dict.fromkeys(("same", "differs", "differs, no change", "all same"), 0)
    for _ in range(samples):
        together = draw(rng, (source.max() + 1, k if sources != "none" else 1))[source]
        noise = sd * np.sqrt(0.5) * (together + draw(rng, (n, k)))
        for mean in (0.0, ROPE):
            cells = before.cells + (noise + mean)[..., None, None]
            new = replace(before, cells=cells, cell_losses=-cells)
            answers = same_results(before, new, rope=ROPE).frame["answer"].tolist()
            if mean:
                false["same"] += "same" in answers
                false["differs"] += "differs" in answers
            else:
                false["differs, no change"] += "differs" in answers
                false["all same"] += set(answers) == {"same"}
    about = {"noise": kind, "strategies": k, "datasets": n, "sources": sources}
    shares = {name: f"{100 * count / samples:.1f}" for name, count in false.items()}
    return about | {
        f"false {name}" if name != "all same" else name: x for name, x in shares.items()
    }


if __name__ == "__main__":
    main(int(sys.argv[1]))
