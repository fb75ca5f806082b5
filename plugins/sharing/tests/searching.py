"""Searches that are killed in the middle, for tests of several searches."""

import multiprocessing
import os
import signal
from pathlib import Path

import numpy as np
from mlaut_sharing.search import score_log
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris

from mlaut.estimators import BudgetedSearch
from mlaut.estimators.searches.traces import trace_of
from mlaut.estimators.searches.tuning import TuningFolds
from mlaut.sharing import Floats, search_limits

SPACE = {"width": Floats(0.1, 10, log=True), "shift": [0.0, 0.5, 1.0]}


class Band(ClassifierMixin, BaseEstimator):
    """Classifier by bands of the first column; it counts its fits in a file and may die of one."""

    def __init__(self, width=1.0, shift=0.0):
        self.width = width
        self.shift = shift

    def fit(self, X, y):
        counter, die_at = os.environ.get("BAND_COUNTER"), os.environ.get("BAND_DIES_AT")
        if counter:
            with Path(counter).open("ab") as file:
                file.write(b".")
            if die_at and Path(counter).stat().st_size == int(die_at):
                os.kill(os.getpid(), signal.SIGKILL)
        self.classes_ = np.unique(y)
        self.votes_ = {
            band: np.bincount(y[self._bands(X) == band]).argmax()
            for band in np.unique(self._bands(X))
        }
        return self

    def _bands(self, X):
        return np.floor((X[:, 0] + self.shift) / self.width)

    def predict(self, X):
        return np.array([self.votes_.get(band, 0) for band in self._bands(X)])


def searched(words, budget=None, checkpoint=None):
    """Return the fitted search and its trace."""
    folds = TuningFolds(4, random_state=0)
    search = BudgetedSearch(Band(), SPACE, search=words, budget=budget, cv=folds, random_state=3)
    with search_limits(checkpoint=checkpoint):
        search.fit(*load_iris(return_X_y=True))
    return search, trace_of(search, 0)


def check_kills(words, places, tmp_path, monkeypatch, budget=None):
    """Check that a search killed at each place, and resumed, leaves the uninterrupted trace."""
    monkeypatch.setattr(score_log, "PAUSE", 0.0)  # scores are kept at once
    monkeypatch.setenv("BAND_COUNTER", str(tmp_path / "uninterrupted"))
    _, wanted = searched(words, budget)
    fits = (tmp_path / "uninterrupted").stat().st_size
    for place in places:
        checkpoint, counter = tmp_path / f"scores {place}", tmp_path / f"counter {place}"
        monkeypatch.setenv("BAND_COUNTER", str(counter))
        monkeypatch.setenv("BAND_DIES_AT", str(place))
        context = multiprocessing.get_context("fork")
        child = context.Process(target=searched, args=(words, budget, checkpoint))
        child.start()
        child.join()
        assert child.exitcode == -signal.SIGKILL
        monkeypatch.delenv("BAND_DIES_AT")
        search, trace = searched(words, budget, checkpoint)
        assert search.sharing_["resumed"] == place - 1
        assert counter.stat().st_size == fits + 1  # the fit that was killed is repeated
        assert trace.params == wanted.params
        np.testing.assert_array_equal(trace.scores, wanted.scores)
        np.testing.assert_array_equal(trace.shares, wanted.shares)
