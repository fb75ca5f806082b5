"""Strategies tune with shared work by default, with what each candidate by itself would give."""

import numpy as np
import pytest
from sharing_cases import STRATIFIED, check_equal
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC
from tables import SHAPE, awkward, labels

from mlaut.estimators import REGISTRY, GridSearch, as_strategies, instantiate_default_estimators
from mlaut.records import CLASSIFICATION

SIZES = {"n_estimators": [3, 6], "max_iter": [3, 6], "hidden_layer_sizes": [(2, 2)]}
ALONE = {"LogisticRegression", "Lacoste_Parzen", "Lacoste_ANN"}
TUNED = [
    strategy
    for strategy in instantiate_default_estimators([spec.name for spec in REGISTRY.search("all")])
    if strategy.param_grid and strategy.metadata.package == "scikit-learn"
]

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def fitted(strategy, share_work):
    """The strategy with two values of each parameter, and three folds."""
    grid = {name: SIZES.get(name, values[-2:]) for name, values in strategy.param_grid.items()}
    few = clone(strategy).set_params(param_grid=grid, cv=3, share_work=share_work)
    X = awkward()
    return few.assemble(SHAPE, random_state=0).fit(X, labels(X, strategy.tasks[0]))


def search_in(model):
    core = model[-1]
    return core.regressor_ if isinstance(core, TransformedTargetRegressor) else core


@pytest.mark.parametrize("strategy", TUNED, ids=lambda s: s.name)
def test_every_default_strategy_chooses_as_without_sharing(strategy):
    models = [fitted(strategy, share_work) for share_work in (False, True)]
    plain, shared = map(search_in, models)
    assert plain.sharing_["shared"] == 0
    assert (shared.sharing_["shared"] > 0) == (strategy.name not in ALONE)
    check_equal(plain, shared, within=0.0 if CLASSIFICATION in strategy.tasks else 1e-12)
    predictions = [model.predict(awkward(20, seed=1)) for model in models]
    np.testing.assert_array_equal(*predictions)


def test_sharing_is_no_part_of_what_a_strategy_is():
    one, other = as_strategies(["SVC", {"alone": "SVC"}])
    other.set_params(share_work=False)
    assert one.fingerprint() == other.fingerprint()
    assert one.identity() == other.identity()
    assert other.assemble(SHAPE)[-1].share_work is False


def test_without_sharing_it_is_scikit_learns_search():
    X, y = load_iris(return_X_y=True)
    grid = {"C": [0.1, 1.0], "gamma": [0.1, 1.0]}
    ours = GridSearch(SVC(), grid, cv=STRATIFIED, share_work=False).fit(X, y)
    check_equal(GridSearchCV(SVC(), grid, cv=STRATIFIED).fit(X, y), ours)
    assert ours.sharing_ == {"shared": 0, "plain": 12, "resumed": 0, "missing": 0}
    assert np.isfinite(ours.tuning_seconds_)
