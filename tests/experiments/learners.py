"""Learners that misbehave, or leave a trace, for the tests of the orchestrator."""

import ctypes
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from mlaut.estimators import MlautEstimator, properties
from mlaut.estimators.libraries.session import session_settings


class Traced(GaussianNB):
    """Naive Bayes that adds a line to a file at each fit, and may take its time."""

    def __init__(self, trace="", seconds=0.0, priors=None, var_smoothing=1e-9):
        super().__init__(priors=priors, var_smoothing=var_smoothing)
        self.trace = trace
        self.seconds = seconds

    def fit(self, X, y, sample_weight=None):
        time.sleep(self.seconds)
        with Path(self.trace).open("a") as file:
            file.write(f"{len(y)}\n")
        return super().fit(X, y, sample_weight)


class SlowRidge(Ridge):
    """Ridge that adds a line to a file at each fit, and takes its time."""

    def __init__(self, trace="/dev/null", seconds=0.0):
        super().__init__()
        self.trace, self.seconds = trace, seconds

    def fit(self, X, y):
        time.sleep(self.seconds)
        with Path(self.trace).open("a") as file:
            file.write("fit\n")
        return super().fit(X, y)


class Busy(Traced):
    """Computes for so many CPU seconds at each fit, however long that takes by the clock."""

    def fit(self, X, y, sample_weight=None):
        begun = time.process_time()
        while time.process_time() - begun < self.seconds:
            pass
        with Path(self.trace).open("a") as file:
            file.write(f"{len(y)}\n")
        return GaussianNB.fit(self, X, y, sample_weight)


class Mortal(Traced):
    """Is killed after its 20th fit."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        if len(Path(self.trace).read_text().splitlines()) == 20:
            os.kill(os.getpid(), signal.SIGKILL)
        return self


class Parent(Traced):
    """Starts another process, writes the numbers of both to a file, and takes an hour."""

    def fit(self, X, y, sample_weight=None):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
        written = Path(f"{self.trace}.new")
        written.write_text(f"{os.getpid()} {child.pid}")
        written.replace(self.trace)
        time.sleep(3600)


class Once(Traced):
    """Takes an hour in the first fit, whose process it writes to a file, and no time in others."""

    def fit(self, X, y, sample_weight=None):
        if not Path(self.trace).exists():
            written = Path(f"{self.trace}.new")
            written.write_text(str(os.getpid()))
            written.replace(self.trace)
            time.sleep(3600)
        return GaussianNB.fit(self, X, y, sample_weight)


class Random(ClassifierMixin, BaseEstimator):
    """Draws from every generator there is: the one it is given, numpy's and Python's."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        import random

        own = np.random.RandomState(self.random_state).randint(3, size=len(X))
        everyones = np.random.randint(3, size=len(X)) + random.randrange(3)  # noqa: NPY002
        return self.classes_[(own + everyones) % len(self.classes_)]


class Hostile(ClassifierMixin, BaseEstimator):
    """Does what ``deed`` says instead of learning."""

    def __init__(self, deed="raise"):
        self.deed = deed

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        getattr(self, f"_{self.deed}")()
        return self

    def predict(self, X):
        if self.deed == "short":
            return self.classes_[:1]
        if self.deed == "nan":
            return np.full(len(X), np.nan)
        return np.repeat(self.classes_[:1], len(X))

    def _short(self):
        pass

    _nan = _short

    def _raise(self):
        raise RuntimeError("no such luck\nand a second line")

    def _warn(self):
        for _ in range(3):
            warnings.warn("mind the gap", stacklevel=1)

    def _loop(self):
        while True:
            pass

    def _sleep_in_c(self):
        ctypes.PyDLL(None).sleep(3600)  # holds the interpreter's lock

    def _allocate(self):
        hoard = []
        while True:
            hoard.append(np.ones(2**22))

    def _tell(self):
        raise RuntimeError(f"{session_settings()} {np.geterr()['over']} {np.geterr()['under']}")

    def _segfault(self):
        ctypes.string_at(0)

    def _kill(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def _leave(self):
        os._exit(0)

    def _children(self):
        for _ in range(50):
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
        while True:
            time.sleep(1)

    def _svc(self):
        from sklearn.svm import SVC

        X = np.random.default_rng(0).normal(size=(30000, 20))
        SVC(C=1e6).fit(X, np.arange(30000) % 2)


class Deed(ClassifierMixin, BaseEstimator):
    """Calls a function in the fold whose test rows it meets first, and predicts the first class."""

    def __init__(self, deed=None, fold=0):
        self.deed = deed
        self.fold = fold

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if self.fold is None or self.fold not in set(X.iloc[:, -1]):
            self.deed()
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


def leaves_at_once(*_):
    """What a worker process does that cannot begin."""
    os._exit(7)


class FirstOnly(TransformerMixin, BaseEstimator):
    """Keeps the first column of a DataFrame, and all columns of an array."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X.iloc[:, :1] if hasattr(X, "iloc") else X


@properties(name="Small only", estimator_family=["Test"], tasks=["Classification"])
class SmallOnly(MlautEstimator):
    """Naive Bayes that says it cannot do more than 100 rows."""

    def too_large(self, n_rows, n_columns, n_classes):
        return f"{n_rows} rows, more than 100" if n_rows > 100 else None

    def build(self):
        return GaussianNB()


def computes(seconds):
    """Use CPU time."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


class Unsent(Random):
    """Cannot be pickled."""

    def __reduce_ex__(self, protocol):
        raise RuntimeError("not to be sent")


class KillsTheRun(Random):
    """Kills the run, whose number the environment has, in the fold of wine's first row."""

    def fit(self, X, y):
        if X.shape[1] == 13 and X.iloc[0, 0] != 14.23:
            os.kill(int(os.environ["MLAUT_TEST_RUN"]), signal.SIGKILL)
            time.sleep(60)
        return super().fit(X, y)


class TellsItsNumber(Random):
    """Writes the number of its process into a file, and sleeps."""

    def __init__(self, told=""):
        self.told = told

    def fit(self, X, y):
        Path(self.told).write_text(f"{os.getpid()}\n")
        time.sleep(60)


class NearestShape(ClassifierMixin, BaseEstimator):
    """Nearest mean of rows of any shape; warns with the shape and type of what it gets."""

    def __init__(self, weighted=False):
        self.weighted = weighted

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X, y, sample_weight=None):
        kind = type(X).__name__ if hasattr(X, "tocsr") else X.shape[1:]
        warnings.warn(f"{kind} {X.dtype} {sample_weight is not None}", stacklevel=2)
        self.classes_ = np.unique(y)
        self.means_ = [np.asarray(X[y == label].mean(axis=0)) for label in self.classes_]
        return self

    def predict(self, X):
        X = X.toarray() if hasattr(X, "toarray") else X
        far = [((X - mean) ** 2).reshape(len(X), -1).sum(axis=1) for mean in self.means_]
        return self.classes_[np.argmin(far, axis=0)]


class NearestMeans(NearestShape):
    """Nearest mean of the means of the channels of series of different lengths."""

    def fit(self, X, y):
        assert isinstance(X, list)
        return super().fit(self._means_of(X), y)

    def predict(self, X):
        return super().predict(self._means_of(X))

    def _means_of(self, X):
        return np.array([one.mean(axis=1) for one in X])
