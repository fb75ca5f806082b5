"""Copies of worker processes: for which strategies, and what comes through their pipe."""

import os
import signal

import cloudpickle
import numpy as np
import pytest
from learners import Random
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from mlaut.estimators import REGISTRY, as_strategies
from mlaut.estimators.networks.keras_backend import choose_backend
from mlaut.estimators.networks.keras_estimator import KerasClassifier
from mlaut.experiments.workers.copies import foreign_code, run_in_copy, shared_process

NETWORKS = ",".join(sorted(["keras", choose_backend()])).encode()


def test_the_listed_strategies_need_no_copies():
    for spec in REGISTRY.search(package="scikit-learn"):
        assert not foreign_code(cloudpickle.dumps(as_strategies(spec.name)[0])), spec.name
    grid = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": np.logspace(-2, 2, 5)})
    assert not foreign_code(cloudpickle.dumps(as_strategies(grid)[0]))


@pytest.mark.parametrize(
    "estimator",
    [
        Random(),
        make_pipeline(FunctionTransformer(np.log1p), SVC()),
        SVC(kernel=lambda a, b: a @ b.T),
    ],
    ids=["class", "function", "lambda"],
)
def test_code_of_others_runs_in_copies(estimator):
    assert foreign_code(cloudpickle.dumps(as_strategies(estimator)[0]))


@pytest.mark.parametrize(
    ("estimator", "key"),
    [
        ("SVC", b""),
        (make_pipeline(StandardScaler(), SVC()), b""),
        (Random(), None),
        ("NN-4-layer_thin_dropout_lr1", NETWORKS),
        ("NN-2-layer-dropout-input-layer_lr001", NETWORKS),
        (make_pipeline(StandardScaler(), KerasClassifier(None)), NETWORKS),
    ],
    ids=["listed", "pipeline", "class", "listed network", "another", "network in a pipeline"],
)
def test_strategies_of_known_code_and_the_same_libraries_share_processes(estimator, key):
    (strategy,) = as_strategies(estimator)
    assert shared_process(strategy, cloudpickle.dumps(strategy)) == key


def test_looking_for_code_of_others_runs_none_of_it(tmp_path):
    class Loaded:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "made"),)

    assert foreign_code(cloudpickle.dumps(Loaded()))
    assert not (tmp_path / "made").exists()


def test_a_copy_tells_and_changes_nothing_here():
    here = []

    def work():
        here.append(1)
        return b"x" * 2**17  # more than a pipe holds

    assert run_in_copy(work, 2**20, []) == (0, b"x" * 2**17)
    assert here == []


def test_a_copy_that_dies_says_how():
    assert run_in_copy(lambda: os.kill(os.getpid(), signal.SIGKILL), 9, []) == (9, b"")
    status, told = run_in_copy(lambda: os._exit(3), 9, [])
    assert (os.waitstatus_to_exitcode(status), told) == (3, b"")


def test_a_copy_that_tells_too_much_is_ended():
    assert run_in_copy(lambda: b"x" * 2**20, 2**17, [])[0] == signal.SIGKILL
