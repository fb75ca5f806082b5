"""Put learners that were run later beside the stored scores: python beside.py, after the run.

Accuracies of the other strategies are those of ``results/scores.csv``: the splits are the same.
"""

import sys
from pathlib import Path

import pandas as pd

from mlaut.analysis import Results, compare
from mlaut.errors import MlautError

HERE = Path(__file__).parent


def write(study: Path, folder: Path) -> None:
    """Write the accuracies of all strategies, and the comparison of those run on all datasets."""
    stored = pd.read_csv(folder / "scores.csv", index_col=0)
    added = Results.from_study(study, "accuracy").scores.round(4)  # as stored, so that ties tie
    scores = stored.join(added[[name for name in added if name not in stored]])
    scores.to_csv(folder / "beside_scores.csv")
    whole = scores.dropna(axis="columns")
    decision = compare(Results.from_table(whole, metric="accuracy")).decision()
    decision.to_frame().round(4).to_csv(folder / "beside.csv")


if __name__ == "__main__":
    try:
        write(HERE / "study.h5", HERE / "results")
    except MlautError as error:
        sys.exit(f"{error} (mlaut run study.toml makes the study)")
