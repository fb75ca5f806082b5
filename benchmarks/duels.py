"""Measure the coverage of the Bradley-Terry model's intervals, with and without its weight.

Losses are normal. In "equal" no strategy is better; in "different" the expected losses are normal
with half the standard deviation of the noise, so that the true probability of winning a duel is
known. The table, in Markdown, is in docs/measured-levels.md. Five minutes on one core.

    OMP_NUM_THREADS=1 python benchmarks/duels.py 200
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from scipy.special import ndtr

from mlaut.analysis import Results
from mlaut.analysis.methods.ratings import bradley_terry

SIZES = ((2, 20), (5, 20), (20, 20), (5, 100))  # strategies, datasets
DRAWS = 1000


def covered(k: int, n: int, width: float, weight: float | None, samples: int) -> tuple[float, ...]:
    """Return the coverage of the 95 % intervals, and the share of pairs above .95."""
    rng = np.random.default_rng(0)
    inside, sure, some = [], [], []
    for _ in range(samples):
        expected = width * rng.normal(size=k)
        losses = pd.DataFrame(
            expected + rng.normal(size=(n, k)), columns=list("ABCDEFGHIJKLMNOPQRST")[:k]
        )
        results = Results.from_table(losses, greater_is_better=False)
        frame = bradley_terry(results, weight=weight, n_samples=DRAWS).pairs.to_frame()
        first, second = np.triu_indices(k, 1)
        truth = ndtr((expected[second] - expected[first]) / np.sqrt(2))
        low, high = (frame[f"probability of winning {end}"] for end in ("low", "high"))
        inside.append(((low <= truth) & (truth <= high)).mean())
        p = frame[["P(row better)", "P(column better)"]].max(axis=1)
        sure.append((p > 0.975).mean())
        some.append((p > 0.975).any())
    return 100 * np.mean(inside), 100 * np.mean(sure), 100 * np.mean(some)


def main(samples: int) -> None:
    """Write a row a weight and truth, a column a size of study."""
    rows = []
    for weight in (1.0, None):
        for name, width in (("equal", 0.0), ("different", 0.5)):
            found = {f"{k}, {n}": covered(k, n, width, weight, samples) for k, n in SIZES}
            words = ("coverage of 95 % intervals", "pairs above .975", "studies with such a pair")
            for place, what in enumerate(words[: 3 if not width else 1]):
                words_of_weight = "1" if weight else "3 / (K + 1)"
                rows.append(
                    {"weight": words_of_weight, "strategies are": name, "per cent": what}
                    | {size: numbers[place] for size, numbers in found.items()}
                )
    sys.stdout.write(pd.DataFrame(rows).to_markdown(index=False, floatfmt=".1f") + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
