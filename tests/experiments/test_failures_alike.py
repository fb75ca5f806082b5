"""Failures that differ only in numbers: one line at the end of a run, one row of the status."""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin

from mlaut import Study
from mlaut.experiments.following.status import unfinished


class Picky(ClassifierMixin, BaseEstimator):
    def __init__(self, k=1):
        self.k = k

    def fit(self, X, y):
        raise ValueError(f"needs {self.k} groups, found {X.iloc[:, 0].sum():.3f} in {len(y)} rows")

    def predict(self, X):
        return X


def test_one_line_for_failures_of_one_kind(tmp_path):
    study = Study(tmp_path / "study.h5")
    for name in ("one", "two"):
        numbers = np.random.default_rng(len(study.datasets)).normal(size=20)
        study.add_datasets(
            pd.DataFrame({"a": numbers, "y": ["p", "n"] * 10}), name=name, target="y"
        )
    run = [("picky1", Picky()), ("picky2", Picky())]
    summary = study.run(run, split="kfold(4)", engine="inline", verbose=0)
    assert len(summary.reasons) == 16
    lines = str(summary).splitlines()[1:]
    assert [line.partition(": ")[0].strip() for line in lines] == ["8 cells"] * 2
    for name, line in zip(("picky1", "picky2"), lines, strict=True):
        assert f"{name}: error: ValueError: needs 1 groups, found " in line
        assert line.endswith("in 15 rows (and 7 reasons that differ in numbers)")
    rows = unfinished(study.path)
    assert [(row["strategy"], row["cells"]) for row in rows] == [("picky1", 8), ("picky2", 8)]
    assert all("found" in row["reason"] and row["traceback"] for row in rows)
