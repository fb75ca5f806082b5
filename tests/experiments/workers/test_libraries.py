"""The record of a library reaches the processes that run its learners."""

from mlaut import Data, Orchestrator
from mlaut.estimators import LIBRARIES, Library
from mlaut.records import Status

NEWBOOST = """
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Boost(ClassifierMixin, BaseEstimator):
    def __init__(self, workers=None):
        self.workers = workers

    def fit(self, X, y):
        if self.workers != 2:
            raise RuntimeError(f"workers = {self.workers}")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])
"""


def test_a_learner_of_the_library_itself_gets_the_threads_of_the_run(
    databases, tmp_path, monkeypatch
):
    (tmp_path / "newboost.py").write_text(NEWBOOST)
    monkeypatch.syspath_prepend(tmp_path)
    import newboost

    monkeypatch.setitem(LIBRARIES, "newboost", Library(threads="workers", all_cores=True))
    input_io, out_io = databases
    Data().split_datasets(input_io, out_io, ["tables/iris"])
    run = Orchestrator(input_io, out_io).run
    summary = run(newboost.Boost(), n_jobs=1, threads=2, verbose=0)
    assert summary.counts == {Status.DONE: 1}, summary
