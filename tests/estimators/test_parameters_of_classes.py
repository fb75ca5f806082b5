"""Parameters of estimators are declared once, and those of a base class come with them."""

from inspect import signature

import pytest
from sklearn import model_selection
from sklearn.base import clone

from mlaut.estimators import (
    REGISTRY,
    Generic_Estimator,
    GridSearch,
    KerasClassifier,
    KerasRegressor,
    MlautEstimator,
    instantiate_default_estimators,
)

PRINTED = ["BaggingClassifier", "GradientBoostingClassifier", "SVC"]
NETWORK = REGISTRY["NN-4-layer_thin_dropout_lr001"].load()


def names(cls):
    return set(signature(cls).parameters)


@pytest.mark.parametrize(
    ("cls", "base", "own"),
    [
        (GridSearch, model_selection.GridSearchCV, {"share_work"}),
        (Generic_Estimator, MlautEstimator, {"estimator", "properties"}),
        (NETWORK, MlautEstimator, {"protocol"}),
        (KerasClassifier, KerasRegressor, {"class_weight"}),
    ],
)
def test_a_signature_has_the_parameters_of_the_base_and_its_own(cls, base, own):
    assert names(cls) == names(base) | own
    assert names(cls) == set(cls._get_param_names())


def test_an_unknown_parameter_is_refused():
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'n_job'"):
        Generic_Estimator(None, n_job=2)


def test_the_grids_of_the_paper():
    grids = [s.param_grid for s in instantiate_default_estimators(PRINTED, param_grid="paper")]
    assert list(map(list, grids)) == [
        ["n_estimators"],
        ["n_estimators", "max_depth"],
        ["C", "gamma"],
    ]
    (bagging,) = instantiate_default_estimators("BaggingRegressor", param_grid="paper")
    assert bagging.describe()["n_candidates"] == 4
    assert clone(bagging).set_params(param_grid="default").describe()["n_candidates"] == 16


def test_a_parameter_that_is_set_back_to_its_default_comes_from_the_metadata():
    network = NETWORK(protocol="paper", cv=3)
    assert network.size_limit.rows > NETWORK().size_limit.rows
    assert clone(network).set_params(cv="default").cv == NETWORK().cv == 5
