"""Study the series that aeon ships: killed, resumed, equal; and beside published accuracies.

Twelve sets for classification, of 24 to 1,460 points, two of them of different lengths, on their
own splits; six learners. The study is killed twice, resumed, and compared with one that was not.
The accuracies that are published are those of Bagnall et al. (2017), doi:10.1007/s10618-016-0483-9,
on the same splits: nearest neighbours are determined, forests are not. Needs aeon; takes about
ten minutes.

    python benchmarks/series_sets.py
"""

import math
import multiprocessing
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import aeon
import numpy as np
import pandas as pd
from aeon.classification.convolution_based import MiniRocketClassifier
from aeon.classification.distance_based import KNeighborsTimeSeriesClassifier
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from mlaut import Study
from mlaut.errors import MlautError
from mlaut.estimators import Flatten
from mlaut.files_io import StudyStore
from mlaut.records import Status

HOME = Path(aeon.__file__).parent / "datasets" / "data"
SETS = (
    "ACSF1", "ArrowHead", "BasicMotions", "Covid3Month_disc", "GunPoint", "ItalyPowerDemand",
    "JapaneseVowels", "JapaneseVowels_eq", "OSULeaf", "PickupGestureWiimoteZ",
    "PickupGestureWiimoteZ_eq", "UnitTest",
)  # fmt: skip
PUBLISHED = pd.DataFrame(
    {
        "nearest": [0.8, 0.9133, 0.9553, 0.5207],
        "warped": [0.7029, 0.9067, 0.9504, 0.5909],
        "forest": [0.7143, 0.94, 0.966, 0.5124],
    },
    index=["ArrowHead", "GunPoint", "ItalyPowerDemand", "OSULeaf"],
)


class Filled(TransformerMixin, BaseEstimator):
    """Series cut to the longest of the training part, or filled up with zeros to it."""

    def fit(self, X: Any, y: Any = None) -> "Filled":  # noqa: ARG002
        """Note the length."""
        self.length_ = max(one.shape[1] for one in X)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the series as an array."""
        filled = np.zeros((len(X), len(X[0]), self.length_))
        for row, one in zip(filled, X, strict=True):
            row[:, : one.shape[1]] = one[:, : self.length_]
        return filled


def learners() -> dict[str, object]:
    """Return six learners; those of tables, and MiniRocket, get the series filled up with zeros."""

    def flat(learner: object) -> object:
        return make_pipeline(Filled(), Flatten(), learner)

    return {
        "nearest": flat(KNeighborsClassifier(1)),
        "warped": KNeighborsTimeSeriesClassifier(distance="dtw"),
        "forest": flat(RandomForestClassifier(500)),
        "trees": flat(ExtraTreesClassifier(500)),
        "ridge": flat(RidgeClassifier()),
        "rocket": make_pipeline(Filled(), MiniRocketClassifier()),
    }


def study_of(path: Path) -> Study:
    """Return the study of all sets."""
    folder = path.parent / "sets"
    for name in SETS:
        for part in ("TRAIN", "TEST"):
            copy = folder / f"{name}_{part}.ts"
            folder.mkdir(exist_ok=True)
            if not copy.exists():
                shutil.copy(HOME / name.removesuffix("_eq") / copy.name, copy)
    study = Study(path, seed=1)
    study.add_datasets(folder)
    return study


def run(path: Path) -> None:
    """Run what is not done."""
    study_of(path).run(learners(), n_jobs=2, verbose=0)


def killed(path: Path, n_done: int) -> int:
    """Run the study, kill it when so many cells are done, and return how many were stored."""
    process = multiprocessing.get_context("spawn").Process(target=run, args=(path,))
    process.start()
    while process.is_alive() and cells(path) < n_done:
        time.sleep(0.2)
    process.kill()
    process.join()
    return cells(path)


def cells(path: Path) -> int:
    """Return the number of cells that are done."""
    try:
        return sum(int((block.status == Status.DONE).sum()) for block in StudyStore(path).blocks())
    except MlautError:  # not begun
        return 0


def accuracies(path: Path) -> pd.DataFrame:
    """Return the accuracy of each learner on each set."""
    rows = {}
    for block in StudyStore(path).blocks():
        test = block.split.rows(0, 0)[1]
        right = block.predictions[:, 0, test] == block.truth[test]
        rows[block.dataset] = dict(zip(block.strategies, right.mean(axis=1), strict=True))
    return pd.DataFrame.from_dict(rows, orient="index")


def main() -> None:
    """Print what was measured."""
    with tempfile.TemporaryDirectory() as folder:
        whole, torn = Path(folder, "whole.h5"), Path(folder, "torn.h5")
        print("killed with", killed(torn, 15), "and", killed(torn, 45), "cells done")
        run(torn)
        found = accuracies(torn)
        print(found.round(4).to_string())
        sizes = {"ArrowHead": 175, "GunPoint": 150, "ItalyPowerDemand": 1029, "OSULeaf": 242}
        for name, row in PUBLISHED.iterrows():
            for learner, published in row.items():
                noise = math.sqrt(published * (1 - published) / sizes[str(name)])
                off = (found.loc[name, learner] - published) / noise
                here = f"{name}, {learner}: {found.loc[name, learner]:.4f}, published {published}"
                print(f"{here} ({off:+.1f} standard errors of the test set)", flush=True)
        started = time.perf_counter()
        run(whole)
        print(f"whole: {cells(whole)} cells in {time.perf_counter() - started:.0f} s")
        for one, other in zip(StudyStore(whole).blocks(), StudyStore(torn).blocks(), strict=True):
            assert (one.status == Status.DONE).all(), one.dataset
            for name in ("status", "predictions", "probabilities"):
                assert np.array_equal(getattr(one, name), getattr(other, name)), one.dataset
        print("resumed: all arrays are equal")


if __name__ == "__main__":
    import series_sets  # workers find its step by the name of its module

    series_sets.main()
