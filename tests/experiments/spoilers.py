"""Strategies that try to change what their neighbours, or their own next cells, give.

Each deed goes through another channel of a process: patched libraries, global state, environment,
tables in place, the pipes and the processes of the run. None of them uses files or a network.
"""

import contextlib
import gc
import os
import random
import signal
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

from mlaut.experiments.cells.cell_input import cell_seed
from mlaut.experiments.cells.messages import encode_outcome, frame
from mlaut.records import Cell, Outcome, Status


def patches_a_method():
    GaussianNB.predict = lambda self, X: np.repeat(self.classes_[-1:], len(X))


def patches_checks():
    from sklearn.utils import validation

    validation.check_array.__code__ = (lambda *_, **__: np.zeros((1, 1))).__code__


def patches_trees():
    import sklearn.tree

    fit = sklearn.tree.DecisionTreeClassifier.fit
    sklearn.tree.DecisionTreeClassifier.fit = lambda self, X, y: fit(self, X, np.sort(y))


def patches_numpy():
    log, mean = np.log, np.mean
    np.log = lambda *args, **kwargs: log(*args, **kwargs) * 1.01
    np.mean = lambda *args, **kwargs: mean(*args, **kwargs) + 1


def patches_pandas():
    import pandas as pd

    to_numpy = pd.DataFrame.to_numpy
    pd.DataFrame.to_numpy = lambda self, *args, **kwargs: to_numpy(self, *args, **kwargs) * 0


def patches_the_cell():
    from mlaut.experiments.cells import cell
    from mlaut.experiments.workers import worker

    cell.checked_predictions = lambda *args: np.zeros(args[2], np.int32)
    run = worker.run_cell
    worker.run_cell = lambda *args: run(*args[:4], 0, *args[5:])


def seeds_numpy():
    np.random.seed(0)  # noqa: NPY002
    np.random.seed = lambda *_: None
    np.random.RandomState.randint = lambda *_, size=None: np.zeros(size or (), int)


def seeds_python():
    random.seed = lambda *_: None
    random.random = lambda: 0.5
    random.randrange = lambda *_: 0


def sets_the_environment():
    os.environ.update(OMP_NUM_THREADS="64", PYTHONHASHSEED="7", SKLEARN_ASSUME_FINITE="1")
    os.environ.pop("PATH", None)


def makes_warnings_errors():
    warnings.simplefilter("error")
    warnings.catch_warnings.__enter__ = lambda _: None


def configures_scikit_learn():
    import sklearn

    sklearn.set_config(transform_output="pandas", assume_finite=True, enable_metadata_routing=True)


def raises_at_rounding():
    np.seterr(all="raise")
    np.set_printoptions(precision=1)


def takes_all_threads():
    from threadpoolctl import threadpool_limits

    threadpool_limits(64)


def replaces_modules():
    sys.modules["sklearn.tree"] = sys.modules["random"]
    sys.path.insert(0, "/nowhere")


def breaks_the_interpreter():
    gc.disable()
    sys.setswitchinterval(10)
    sys.settrace(lambda *_: None)


def leaves_a_thread():
    def later():
        time.sleep(0.05)
        patches_a_method()

    threading.Thread(target=later, daemon=True).start()


def counts_in_its_class():
    Spoiler.seen += 1


def keeps_copies():
    for _ in range(3):
        if os.fork() == 0:
            return


def writes_garbage():
    write_to_pipes(b"\xff" * 2**12)
    write_to_pipes(frame(b"o", b"\xff" * 9))


def forges_outcomes():
    for dataset in ("iris", "wine", "d"):
        for strategy in ("bayes", "tree", "Spoiler"):
            for fold in range(5):
                cell = Cell(dataset, strategy, 0, fold)
                outcome = Outcome(cell, Status.ERROR, seed=cell_seed(0, cell), reason="forged")
                write_to_pipes(encode_outcome(outcome))
                write_to_pipes(frame(b"o", encode_outcome(outcome)))


def closes_descriptors():
    os.closerange(0, 4096)


def kills_its_worker():
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(3600)


def kills_the_server():
    worker = Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()
    os.kill(int(worker[1]), signal.SIGKILL)


def patches_when_loaded():
    """Nothing: the deed was done when the strategy was unpickled."""


DEEDS = {
    name: deed
    for name, deed in list(globals().items())
    if callable(deed) and getattr(deed, "__module__", "") == __name__
}


def write_to_pipes(what):
    """Write into each pipe of this process and of its worker, as far as that goes."""
    for pid in ("self", os.getppid()):
        with contextlib.suppress(OSError):
            for entry in Path(f"/proc/{pid}/fd").iterdir():
                with contextlib.suppress(OSError):
                    if "pipe:" in str(entry.readlink()):
                        end = os.open(entry, os.O_WRONLY | os.O_NONBLOCK)
                        try:
                            os.write(end, what)
                        finally:
                            os.close(end)


class Spoiler(ClassifierMixin, BaseEstimator):
    """Does its deed at each fit, then predicts by what it finds in its process."""

    seen = 0

    def __init__(self, deed="counts_in_its_class"):
        self.deed = deed

    def __setstate__(self, state):
        self.__dict__.update(state)
        if self.deed == "patches_when_loaded":
            patches_a_method()

    def fit(self, X, y):
        X = X.copy() if hasattr(X, "copy") else X
        self.classes_ = np.unique(y)
        X.iloc[:, 0] = 0.0
        DEEDS[self.deed]()
        self.found_ = int(Spoiler.seen > 1 or sys.path.count("/nowhere") > 1)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[self.found_ : self.found_ + 1], len(X))
