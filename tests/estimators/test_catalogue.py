"""The catalogue of strategies, and the classes that are made of it."""

import pickle

import pytest

import mlaut.estimators
from mlaut.estimators import DataShape, instantiate_default_estimators
from mlaut.estimators.catalogue import catalogue
from mlaut.estimators.catalogue.catalogue import CATALOGUE
from mlaut.identity.describer import class_path

# Identities in studies, and pickles of strategies, hold these paths.
PATHS = [
    "Baseline_Classifier",
    "Gaussian_Naive_Bayes",
    "Bernoulli_Naive_Bayes",
    "Logistic_Regression",
    "Passive_Aggressive_Classifier",
    "K_Neighbours",
    "SVC_mlaut",
    "Decision_Tree_Classifier",
    "Random_Forest_Classifier",
    "Bagging_Classifier",
    "Gradient_Boosting_Classifier",
    "Hist_Gradient_Boosting_Classifier",
    "Baseline_Regressor",
    "Ridge_Regression",
    "Lasso_mlaut",
    "Lasso_Lars",
    "K_Neighbours_Regressor",
    "SVR_mlaut",
    "Decision_Tree_Regressor",
    "Random_Forest_Regressor",
    "Bagging_Regressor",
    "Gradient_Boosting_Regressor",
    "Hist_Gradient_Boosting_Regressor",
    "Lacoste_SVM",
    "Lacoste_Parzen",
    "Lacoste_AdaBoost",
    "Lacoste_ANN",
]


def test_every_class_is_found_where_studies_and_pickles_say():
    made = instantiate_default_estimators([entry.name for entry in CATALOGUE])
    assert [class_path(type(s)) for s in made] == [f"mlaut.estimators.{path}" for path in PATHS]
    for strategy in made:
        assert type(pickle.loads(pickle.dumps(strategy))) is type(strategy)
        assert type(strategy).__doc__.splitlines()[0].endswith(".")


@pytest.mark.parametrize(("n_rows", "n_neighbors"), [(3, 3), (100, 5)])
def test_no_more_neighbours_than_training_rows(n_rows, n_neighbors):
    for strategy in instantiate_default_estimators("Cluster"):
        core = strategy.build(shape=DataShape(n_rows, 4)).estimator
        assert core.n_neighbors == n_neighbors


def test_an_entry_may_be_like_another_entry(monkeypatch):
    tables = {
        "Own{}": {"wraps": "a:Own{}", "estimator_family": "F", "param_grid": {"a": [1]}},
        "Other{}": {"like": "Own{}", "param_grid": {"b": [2]}},
    }
    monkeypatch.setattr(catalogue.tomllib, "loads", lambda _: tables)
    entry = [*catalogue._entries("catalogue.toml")][-1]
    assert (entry.name, entry.wraps) == ("OtherRegressor", "a:OwnRegressor")
    assert entry.param_grid == {"a": [1], "b": [2]}


def test_a_strategy_is_imported_by_the_name_that_study_files_have():
    (entry,) = (entry for entry in CATALOGUE if entry.name == "RandomForestClassifier")
    assert mlaut.estimators.RandomForestClassifier is entry.load()
    assert mlaut.estimators.Random_Forest_Classifier is entry.load()
