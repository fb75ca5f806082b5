"""Faults that users of other tools reported, tried on studies."""

import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

from mlaut import Generic_Estimator, Study
from mlaut.errors import StrategyError
from mlaut.experiments import load_model


class Constant(ClassifierMixin, BaseEstimator):
    def __init__(self, tool=None, keeps=False):
        self.tool, self.keeps = tool, keeps

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.lock_ = threading.RLock() if self.keeps else None
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class NarrowFit(DecisionTreeClassifier):
    """Subclass whose fit lacks an argument for which scikit-learn has a metadata request."""

    def fit(self, X, y):
        return super().fit(X, y)


@pytest.fixture
def study(tmp_path):
    study = Study(tmp_path / "study.h5")
    table = pd.DataFrame({"a": np.arange(20.0), "y": ["p", "n"] * 10})
    study.add_datasets(table, name="d", target="y")
    return study


def test_a_parameter_that_cannot_be_copied_is_named(study):
    with pytest.raises(StrategyError, match=r"of Constant cannot be copied .*RLock.* in fit"):
        study.run([("c", Constant(threading.RLock()))], verbose=0)


def test_a_model_that_cannot_be_saved_says_so(study):
    run = {"split": "holdout", "engine": "inline", "verbose": 0}
    summary = study.run([("c", Constant(keeps=True))], save_models=True, **run)
    ((reason, _),) = summary.reasons
    assert "its fitted model cannot be saved (cannot pickle" in reason
    assert study.run([("c", Constant(keeps=True))], retry=["error"], **run).n_done == 1


def test_the_model_of_a_long_name_is_saved(study):
    name = "x=ä, " * 60
    long = Generic_Estimator(DecisionTreeClassifier(), name=name)
    study.run([long], split="holdout", engine="inline", save_models=True, verbose=0)
    model = load_model(study.path, "d", name, trusted=True)
    assert set(model.predict(pd.DataFrame({"a": [1.0, 2.0]}))) <= {"p", "n"}


def test_a_subclass_with_another_fit_is_run(study):
    summary = study.run([("n", NarrowFit())], split="holdout", engine="inline", verbose=0)
    assert summary.n_done == 1


def test_files_with_names_of_the_standard_library_stop_no_worker(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "queue.py").write_text("raise RuntimeError('this is no module')\n")
    script = tmp_path / "script.py"  # as the command mlaut, it has another folder on its path
    script.write_text(
        "from mlaut.experiments.workers.start import start_process\nstart_process(print).join()\n"
    )
    done = subprocess.run(
        [sys.executable, script],
        cwd=tmp_path / "work",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "\n", "")
