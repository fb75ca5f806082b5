"""Searches within a budget grow what they have, and compute nothing twice."""

import numpy as np
import pytest
from mlaut_sharing.boosting import _BoostedRun
from mlaut_sharing.forests import _Forest
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from mlaut.estimators import BudgetedSearch
from mlaut.estimators.searches.tuning import TuningFolds

X, Y = load_iris(return_X_y=True)
FOLDS = TuningFolds(4, random_state=0)


def fitted(search, space, estimator, **options):
    how = {"search": search, "cv": FOLDS, "random_state": 0, **options}
    return BudgetedSearch(estimator, space, **how).fit(X, Y)


def test_random_candidates_share_work():
    space = {"max_depth": [1, 2, 3, 9, 10, 11], "min_samples_leaf": [1, 5, 20]}
    tree = DecisionTreeClassifier(random_state=0)
    assert fitted("random(9)", space, tree).sharing_["shared"] > 0


def test_a_function_that_may_look_into_the_model_is_not_given_a_stand_in():
    def depth(model, X, y):
        return model.tree_.max_depth

    tree = DecisionTreeClassifier(random_state=0)
    search = fitted("random(3)", {"max_depth": [1, 2, 3]}, tree, scoring=depth)
    assert search.sharing_["shared"] == 0
    assert search.best_score_ == 3


@pytest.mark.parametrize(
    ("estimator", "grows", "depths"),
    [
        (RandomForestClassifier(random_state=0), (_Forest, "_new_tree"), [None]),
        (RandomForestClassifier(random_state=0), (_Forest, "_new_tree"), [2, None]),
        (GradientBoostingClassifier(random_state=0), (_BoostedRun, "_stage"), [3]),
        pytest.param(
            *(GradientBoostingClassifier(random_state=0), (_BoostedRun, "_stage"), [1, 2, 5, 9]),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_search_in_parts_grows_its_ensembles_further(estimator, grows, depths, monkeypatch):
    grown, grow = [], getattr(*grows)
    monkeypatch.setattr(*grows, lambda *given: grown.append(1) or grow(*given))
    space = {"n_estimators": [2, 5, 8], "max_depth": depths}
    step = f"{type(estimator).__name__.lower()}__"
    for model, name in ((estimator, ""), (make_pipeline(StandardScaler(), estimator), step)):
        named = {name + parameter: values for parameter, values in space.items()}
        grown.clear()
        search = fitted("grid", named, model, budget="9h cpu", refit=False)
        assert search.sharing_["shared"] == 4 * 3 * len(depths)
        # Each of four folds needs 8 members: none is grown twice where only their number differs.
        assert len(grown) == 4 * 8 or len(depths) > 1
        alone = fitted("grid", named, model, budget="9h cpu", refit=False, share_work=False)
        for fold in range(4):
            key = f"split{fold}_test_score"
            np.testing.assert_array_equal(search.cv_results_[key], alone.cv_results_[key])
