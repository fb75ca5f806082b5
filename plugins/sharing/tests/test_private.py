"""A private name that scikit-learn lacks costs the sharing of a family and gives a warning."""

import importlib
import re
import subprocess
import sys
import types
import warnings
from pathlib import Path

import mlaut_sharing
import numpy as np
import pytest
from mlaut_sharing.neighbours import Neighbours
from mlaut_sharing.search.private import NAMES
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import mlaut
from mlaut.estimators import as_strategies
from mlaut.experiments.cells.cell import run_cell
from mlaut.experiments.cells.cell_input import CellOptions, FoldTable
from mlaut.records import Cell, Status
from mlaut.sharing import GridSearchCV as SharingGridSearchCV
from mlaut.sharing import SharingWarning

PACKAGES = ("mlaut.plugins", "mlaut_sharing")
X, Y = load_iris(return_X_y=True)
X, Y = X[::3], Y[::3]
FAMILIES = {
    "GaussianMachines": (SVC(), {"C": [0.1, 1.0], "gamma": [0.1, 1.0]}),
    "Neighbours": (KNeighborsClassifier(), {"n_neighbors": [1, 5]}),
    "Trees": (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 9]}),
    "Forests": (RandomForestClassifier(random_state=0), {"n_estimators": [2, 4]}),
    "Boosted": (GradientBoostingClassifier(random_state=0), {"n_estimators": [2, 3]}),
    "Ridges": (Ridge(), {"alpha": [0.1, 1.0]}),
    "Pipelines": (make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 1.0]}),
}
COSTS = {
    "search": set(FAMILIES),
    "kernels": {"GaussianMachines", "Pipelines"},
    "neighbours": {"Neighbours"},
    "trees": {"Trees"},  # the ensembles are shared in another way
    "losses": set(),
}


@pytest.fixture
def without(monkeypatch):
    """Return sharing as it is where scikit-learn lacks a name, for this package alone."""
    kept = {name: module for name, module in sys.modules.items() if name.startswith(PACKAGES)}
    found = importlib.import_module

    def lack(module, name):
        def import_module(asked, *rest):
            real = found(asked, *rest)
            if asked != module:
                return real
            owner, _, own = name.rpartition(".")
            bare = {key: value for key, value in vars(real).items() if key != name}
            if owner:
                methods = {key: None for key in dir(bare[owner]) if key != own}
                bare[owner] = types.SimpleNamespace(**methods)
            return types.SimpleNamespace(**bare)

        for known in kept:
            monkeypatch.delitem(sys.modules, known)
        monkeypatch.setattr(importlib, "import_module", import_module)
        return found("mlaut_sharing")

    yield lack
    monkeypatch.undo()
    for name in [name for name in sys.modules if name.startswith(PACKAGES)]:
        del sys.modules[name]
    sys.modules.update(kept)
    sys.modules["mlaut"].plugins = kept["mlaut.plugins"]


def searched(package, family):
    estimator, grid = FAMILIES[family]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        search = package.GridSearchCV(estimator, grid, cv=2).fit(X, Y)
    return search, [w for w in told if w.category.__name__ == "SharingWarning"]


@pytest.fixture(scope="module")
def plain():
    return {
        name: GridSearchCV(estimator, grid, cv=2).fit(X, Y).cv_results_["mean_test_score"]
        for name, (estimator, grid) in FAMILIES.items()
    }


@pytest.mark.parametrize("family", FAMILIES)
def test_the_installed_scikit_learn_lets_a_family_share(family):
    """The nightly job reads off these tests which family a new scikit-learn costs."""
    search, warned = searched(mlaut_sharing, family)
    assert [str(one.message) for one in warned] == []
    assert search.sharing_["shared"] > 0


@pytest.mark.parametrize(
    ("group", "module", "name"), [pytest.param(*one, id=one[2]) for one in NAMES]
)
def test_a_name_that_scikit_learn_lacks_costs_the_sharing_of_its_family(
    group, module, name, without, plain
):
    package = without(module, name)
    for family, scores in plain.items():
        search, told = searched(package, family)
        np.testing.assert_array_equal(search.cv_results_["mean_test_score"], scores)
        assert (search.sharing_["shared"] == 0) == (family in COSTS[group])
        if family in COSTS[group]:
            assert told
            assert f"{name}; update MLaut" in str(told[0].message)


def test_no_name_is_taken_elsewhere():
    """All private names are in one file."""
    folders = [Path(one.__file__).parent for one in (mlaut, mlaut_sharing)]
    private = re.compile(r"^\s*(from|import) sklearn(\.\w+)*(\._\w+| import .*\b_[a-z])", re.M)
    paths = [path for folder in folders for path in folder.rglob("*.py")]
    found = [path.name for path in paths if private.search(path.read_text())]
    assert found == []


@pytest.mark.slow
def test_strategies_without_a_name_that_is_really_gone():
    code = (
        "import sklearn.svm._base as base; del base.LIBSVM_IMPL\n"
        "from mlaut.estimators import as_strategies\n"
        "print(as_strategies('GaussianNaiveBayes')[0].fit([[0.0], [1.0]], [0, 1]).predict([[1]]))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.stdout, run.returncode) == ("[1]\n", 0), run.stderr


def break_neighbours(monkeypatch):
    def models(self, candidates, fold):
        raise AttributeError("'KNeighborsClassifier' object has no attribute '_fit_method'")
        yield

    monkeypatch.setattr(Neighbours, "models", models)


def test_a_private_attribute_that_vanishes_is_told(monkeypatch, plain):
    break_neighbours(monkeypatch)
    estimator, grid = FAMILIES["Neighbours"]
    search = SharingGridSearchCV(estimator, grid, cv=2)
    with pytest.warns(SharingWarning, match=r"^Neighbours: .* failed \(AttributeError: .*_fit_m"):
        search.fit(X, Y)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], plain["Neighbours"])
    assert search.sharing_["plain"] == 4


def test_a_study_holds_it_as_a_warning_of_the_cell(monkeypatch):
    import pandas as pd

    break_neighbours(monkeypatch)
    (strategy,) = as_strategies("K_Neighbours")
    strategy.set_params(param_grid={"n_neighbors": [1, 3]}, preprocessing=None)
    table = FoldTable(pd.DataFrame(X), Y, (0, 1, 2))
    rows = np.arange(0, len(Y), 2), np.arange(1, len(Y), 2)
    cell = Cell("iris", "K_Neighbours")
    outcome = run_cell(cell, lambda: strategy, table, rows, 0, CellOptions())
    assert outcome.status is Status.DONE
    assert "Neighbours: candidates were fitted one by one" in str(outcome.details["warnings"])


def test_candidates_that_fail_by_themselves_are_no_failure_of_sharing():
    """Scikit-learn says what is wrong with them; nothing else is told."""
    search = SharingGridSearchCV(SVC(), {"C": [-1.0, -2.0]}, cv=3)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with pytest.raises(ValueError, match="All the 6 fits failed"):
            search.fit(X, Y)
    assert not [w for w in told if issubclass(w.category, SharingWarning)]
