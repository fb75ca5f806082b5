"""A library that MLaut does not know, added as docs/architecture.md says: one record does it."""

import sys
import types

import cloudpickle
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC

from mlaut.errors import OptionalPackageError, StrategyError
from mlaut.estimators import LIBRARIES, EarlyStopping, Generic_Estimator, Library
from mlaut.estimators.catalogue.registry import check_packages
from mlaut.estimators.libraries.library import package_of, with_libraries
from mlaut.estimators.libraries.native import coding_of
from mlaut.estimators.libraries.parameters import seed_all, set_n_jobs, unset_seeds
from mlaut.experiments.cells.memory import lacked_memory

X = pd.DataFrame({"x": np.arange(20.0), "kind": ["u", "v"] * 10})
Y = np.array(["a", "b"] * 10)


class Boost(ClassifierMixin, BaseEstimator):
    """Learner of the library, which notes how it was fitted."""

    def __init__(self, workers=None, patience=None, column=None):
        self.workers, self.patience, self.column = workers, patience, column

    def fit(self, X, y, held=None):
        self.classes_, self.rows_, self.held_ = np.unique(y), len(X), held
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class FullError(Exception):
    """Error of the library."""


Boost.__module__ = FullError.__module__ = "newboost.core"


class Mine(Boost):
    """Class of a user on top of the library."""


def stop(learner, known, held, rounds):
    return learner.set_params(patience=rounds).fit(known[0], known[1], held=len(held[0]))


@pytest.fixture
def newboost(monkeypatch):
    module = types.ModuleType("newboost.core")
    module.Boost, module.FullError = Boost, FullError
    monkeypatch.setitem(sys.modules, "newboost.core", module)
    library = Library(
        threads="workers",
        all_cores=True,
        coding=lambda _: "native",
        columns=("column",),
        stop=stop,
        stopping=("patience",),
        out_of_memory=("arena is full",),
        distributions=("newboost-cpu", "newboost-gpu"),
        extra="newboost",
    )
    monkeypatch.setitem(LIBRARIES, "newboost", library)


@pytest.mark.parametrize("learner", [Boost, Mine])
@pytest.mark.usefixtures("newboost")
def test_one_record_makes_a_library_known(learner):
    assert package_of(learner()) == "newboost"
    assert set_n_jobs(learner(), 3).workers == 3
    assert coding_of(learner()) == "native"
    stopped = EarlyStopping(learner(), size=0.2, rounds=7, random_state=0).fit(X, Y)
    assert stopped.estimator_.get_params()["patience"] == 7
    assert (stopped.estimator_.rows_, stopped.estimator_.held_) == (16, 4)
    strategy = Generic_Estimator(EarlyStopping(learner()))
    assert strategy.assemble(n_jobs=2).estimator.workers == 2
    assert Generic_Estimator(learner(column="kind")).preprocessing is None
    with pytest.raises(StrategyError, match=r"stops early by rows .* leave patience out"):
        Generic_Estimator(learner(patience=5)).build()
    with pytest.raises(StrategyError, match=r"leave patience out, .* EarlyStopping\(\w+\(...\)\)$"):
        Generic_Estimator(learner(patience="auto")).build()
    for off in (None, False, 0, -1):
        Generic_Estimator(learner(patience=off)).build()


@pytest.mark.usefixtures("newboost")
def test_its_record_goes_with_a_strategy_to_the_processes_of_a_run(monkeypatch):
    sent = cloudpickle.dumps(with_libraries(SVC(C=2)))
    monkeypatch.delitem(LIBRARIES, "newboost")
    assert cloudpickle.loads(sent).C == 2
    assert LIBRARIES["newboost"].threads == "workers"
    assert LIBRARIES["newboost"].coding(None) == "native"
    del LIBRARIES["newboost"]
    learner = SVC()
    assert with_libraries(learner) is learner


@pytest.mark.usefixtures("newboost")
def test_a_seed_of_another_name_is_set(monkeypatch):
    class Seeded(Boost):
        def __init__(self, seed=None):
            self.seed = seed

    Seeded.__module__ = "newboost.core"
    monkeypatch.setitem(LIBRARIES, "newboost", Library(seeds=("seed",)))
    assert unset_seeds(Seeded()) == ["seed"]
    assert isinstance(seed_all(Seeded(), 1).seed, int)
    assert seed_all(Seeded(seed=4), 1).seed == 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [("the arena is full", True), ("Out of memory", True), ("bad label", False)],
)
@pytest.mark.usefixtures("newboost")
def test_its_errors_of_memory_are_known(text, expected):
    assert lacked_memory(FullError(text)) is expected


@pytest.mark.usefixtures("newboost")
def test_its_extra_is_named_where_it_is_not_installed():
    metadata = {"name": "Mine", "package": "newboost-cpu"}
    with pytest.raises(OptionalPackageError, match=r"pip install 'mlaut\[newboost\]'"):
        check_packages([Generic_Estimator(Boost(), properties=metadata)])


def test_without_its_record_a_library_has_the_defaults():
    assert set_n_jobs(Boost(), 3).workers is None
    assert coding_of(Boost()) is None
    assert not lacked_memory(FullError("Out of memory"))
    assert (package_of(Boost()), package_of(SVC())) == ("newboost", "sklearn")
    with pytest.raises(StrategyError, match="of catboost, lightgbm, xgboost, not for Boost"):
        EarlyStopping(Boost()).fit(X, Y)
