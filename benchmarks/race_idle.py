"""How long workers wait in a race, by how far its rounds overlap: a table in Markdown.

Run it as ``python benchmarks/race_idle.py``; it takes about two minutes and hardly any CPU time.
Cells only sleep, for times that differ by dataset and strategy, so that a busy machine changes
little. The four strategies predict the same, so that none leaves. Beside each race stands the
same study without a race.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier

from mlaut import Study
from mlaut.files_io import Study as Store

DATASETS, WORKERS = 12, 4
OVERLAPS = {
    "ahead = 0": {"ahead": 0},
    "ahead = 1": {"ahead": 1},
    "ahead = 3": {"ahead": 3},
    "ahead_cells = 8": {"ahead": 0, "ahead_cells": 8},
    "ahead_cells = 16": {"ahead": 0, "ahead_cells": 16},
    "no race": None,
}


class Sleeper(DummyClassifier):
    """Sleep as long as a table and the strategy say; predict the most frequent class."""

    def __init__(self, scale: float = 1.0) -> None:
        super().__init__()
        self.scale = scale

    def fit(self, X: pd.DataFrame, y: pd.Series, sample_weight: None = None) -> Sleeper:
        """Sleep and fit."""
        time.sleep(self.scale * float(X["seconds"].iloc[0]))
        super().fit(X, y, sample_weight)
        return self


def main() -> None:
    """Print the table."""
    print(f"| {WORKERS} workers, {DATASETS} datasets | wall seconds | workers busy |")
    print("| --- | --- | --- |")
    strategies = [(f"sleeper {k}", Sleeper(scale)) for k, scale in enumerate((0.3, 0.3, 1.0, 2.0))]
    rng = np.random.default_rng(0)
    seconds = 0.1 + rng.exponential(0.4, DATASETS)
    with tempfile.TemporaryDirectory() as folder:
        tables = Path(folder, "tables")
        tables.mkdir()
        for place, value in enumerate(seconds):
            table = pd.DataFrame({"seconds": value, "x": range(12), "target": list("ab") * 6})
            table.to_csv(tables / f"d{place:02}.csv", index=False)
        datasets = Path(folder, "datasets.h5")
        Study(Path(folder, "any.h5"), datasets).add_datasets(tables)
        for number, (name, race) in enumerate(OVERLAPS.items()):
            study = Study(Path(folder, f"study {number}.h5"), datasets)
            study.run(strategies, race=race, n_jobs=WORKERS, verbose=0)
            usage = np.concatenate(
                [numbers["usage"].reshape(-1, 3) for _, numbers in Store(study.path).numbers()]
            )
            print(line(name, usage), flush=True)


def line(name: str, usage: np.ndarray) -> str:
    """Return a line of the table, from the beginnings and durations of all cells."""
    begun, lasted = usage[:, 0], usage[:, 1]
    wall = (begun + lasted).max() - begun.min()
    return f"| {name} | {wall:.1f} | {lasted.sum() / wall / WORKERS:.2f} |"


if __name__ == "__main__":
    main()
