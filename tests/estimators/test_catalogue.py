"""The catalogue of strategies, and the classes that are made of it."""

import pickle

import pytest

from mlaut.estimators import DataShape, instantiate_default_estimators
from mlaut.estimators.catalogue import CATALOGUE, CatalogueEntry
from mlaut.identity.digests import class_path
from mlaut.records import CLASSIFICATION

# Identities in studies, and pickles of strategies, hold these paths.
PATHS = [
    "baseline_estimators.Baseline_Classifier",
    "nb_estimators.Gaussian_Naive_Bayes",
    "nb_estimators.Bernoulli_Naive_Bayes",
    "glm_estimators.Logistic_Regression",
    "glm_estimators.Passive_Aggressive_Classifier",
    "cluster_estimators.K_Neighbours",
    "svm_estimators.SVC_mlaut",
    "tree_estimators.Decision_Tree_Classifier",
    "ensemble_estimators.Random_Forest_Classifier",
    "ensemble_estimators.Bagging_Classifier",
    "ensemble_estimators.Gradient_Boosting_Classifier",
    "ensemble_estimators.Hist_Gradient_Boosting_Classifier",
    "baseline_estimators.Baseline_Regressor",
    "glm_estimators.Ridge_Regression",
    "glm_estimators.Lasso_mlaut",
    "glm_estimators.Lasso_Lars",
    "cluster_estimators.K_Neighbours_Regressor",
    "svm_estimators.SVR_mlaut",
    "tree_estimators.Decision_Tree_Regressor",
    "ensemble_estimators.Random_Forest_Regressor",
    "ensemble_estimators.Bagging_Regressor",
    "ensemble_estimators.Gradient_Boosting_Regressor",
    "ensemble_estimators.Hist_Gradient_Boosting_Regressor",
    "lacoste_estimators.Lacoste_SVM",
    "lacoste_estimators.Lacoste_Parzen",
    "lacoste_estimators.Lacoste_AdaBoost",
    "lacoste_estimators.Lacoste_ANN",
    "ensemble_estimators.Random_Forest_Classifier_Large_Grid",
]


def test_every_class_is_found_where_studies_and_pickles_say():
    made = instantiate_default_estimators([entry.name for entry in CATALOGUE])
    assert [class_path(type(s)) for s in made] == [f"mlaut.estimators.{path}" for path in PATHS]
    for strategy in made:
        assert type(pickle.loads(pickle.dumps(strategy))) is type(strategy)
        assert type(strategy).__doc__.splitlines()[0].endswith(".")


def test_a_strategy_of_a_new_family_needs_no_file_of_its_own():
    entry = CatalogueEntry("New", "New", "New_Family", CLASSIFICATION, "Do.", "sklearn.svm:SVC")
    assert entry.module == "mlaut.estimators.listed"


@pytest.mark.parametrize(("n_rows", "n_neighbors"), [(3, 3), (100, 5)])
def test_no_more_neighbours_than_training_rows(n_rows, n_neighbors):
    for strategy in instantiate_default_estimators("Cluster"):
        core = strategy.build(shape=DataShape(n_rows, 4)).estimator
        assert core.n_neighbors == n_neighbors
