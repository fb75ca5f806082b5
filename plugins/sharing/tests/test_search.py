"""The search around the families: options of scikit-learn's search, and when it steps back."""

import numpy as np
import pytest
import sklearn
from mlaut_sharing.search.honest import OutOfFold
from sharing_cases import CLASSES, STRATIFIED, both, check_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_friedman1
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from mlaut.sharing import GridSearchCV as SharingGridSearchCV

X, Y = CLASSES["two classes"]
KNN = KNeighborsClassifier()
NEIGHBOURS = {"n_neighbors": [1, 3, 5, 7]}


def test_refit_by_a_function_and_no_refit():
    def last(results):
        return len(results["params"]) - 1

    plain, sharing = [
        kind(KNN, NEIGHBOURS, cv=STRATIFIED, refit=last).fit(X, Y)
        for kind in (GridSearchCV, SharingGridSearchCV)
    ]
    assert sharing.best_params_ == plain.best_params_ == {"n_neighbors": 7}
    assert not hasattr(sharing, "best_score_")
    bare = SharingGridSearchCV(KNN, NEIGHBOURS, cv=STRATIFIED, refit=False).fit(X, Y)
    assert not hasattr(bare, "best_estimator_")
    assert bare.best_params_ == both(KNN, NEIGHBOURS, X, Y, STRATIFIED)[0].best_params_


def test_the_final_model_is_scikit_learns():
    plain, sharing = both(SVC(), {"C": [0.1, 1.0, 10.0]}, X, Y, STRATIFIED)
    assert type(sharing.best_estimator_) is SVC
    np.testing.assert_array_equal(sharing.predict(X), plain.predict(X))
    np.testing.assert_array_equal(sharing.decision_function(X), plain.decision_function(X))
    assert sharing.refit_time_ > 0
    assert sharing.n_features_in_ == X.shape[1]


def test_gaps_are_handled_as_by_scikit_learn():
    gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
    forest = RandomForestClassifier(random_state=0)
    plain, sharing = both(forest, {"n_estimators": [2, 5]}, gaps, Y, STRATIFIED)
    check_equal(plain, sharing)
    tree = DecisionTreeClassifier(random_state=0)
    check_equal(*both(tree, {"max_depth": [1, 3]}, gaps, Y, STRATIFIED))


def test_folds_are_drawn_once_from_a_generator():
    searches = [
        kind(KNN, NEIGHBOURS, cv=KFold(3, shuffle=True, random_state=np.random.RandomState(5)))
        for kind in (GridSearchCV, SharingGridSearchCV)
    ]
    check_equal(*[search.fit(X, Y) for search in searches])


# ---- pipelines and mixed grids


class CountingScaler(StandardScaler):
    fits = 0

    def fit(self, X, y=None, sample_weight=None):
        type(self).fits += 1
        return super().fit(X, y, sample_weight)


# ---- what fails, fails as in scikit-learn


def test_errors_are_raised_where_asked():
    grid = {"C": [1.0, -1.0]}
    search = SharingGridSearchCV(SVC(), grid, cv=STRATIFIED, error_score="raise")
    with pytest.raises(ValueError, match="'C' parameter of SVC must be a float"):
        search.fit(X, Y)
    with pytest.raises(ValueError, match="All the 6 fits failed"):
        SharingGridSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=STRATIFIED).fit(X * np.nan, Y)
    with pytest.raises(ValueError, match="Invalid parameter 'K'"):
        SharingGridSearchCV(SVC(), {"K": [1]}, cv=STRATIFIED).fit(X, Y)
    with pytest.raises(ValueError, match="refit must be set"):
        SharingGridSearchCV(SVC(), grid, scoring=["accuracy"], cv=STRATIFIED).fit(X, Y)


def test_a_number_to_classify_is_refused():
    tree = DecisionTreeClassifier(random_state=0)
    numbers = X[:, 0]
    with pytest.raises(ValueError, match="fits failed"):
        SharingGridSearchCV(tree, {"max_depth": [1, 2]}, cv=KFold(3)).fit(X, numbers)


# ---- stepping back


def unshared(search, **fit_params):
    search.fit(X, Y, **fit_params)
    return search.sharing_["shared"] == 0


def test_an_ensemble_without_a_seed_is_not_shared():
    grid = {"n_estimators": [2, 4]}
    assert unshared(SharingGridSearchCV(RandomForestClassifier(), grid, cv=STRATIFIED))
    np.random.seed(3)  # noqa: NPY002 - the generator that scikit-learn draws from
    plain = GridSearchCV(RandomForestClassifier(), grid, cv=STRATIFIED).fit(X, Y)
    np.random.seed(3)  # noqa: NPY002 - the generator that scikit-learn draws from
    sharing = SharingGridSearchCV(RandomForestClassifier(), grid, cv=STRATIFIED).fit(X, Y)
    check_equal(plain, sharing)


def test_weights_given_to_fit_are_passed_on():
    weights = np.linspace(0.1, 1, len(Y))
    searches = [
        kind(SVC(), {"C": [0.1, 1.0]}, cv=STRATIFIED, scoring="accuracy").fit(
            X, Y, sample_weight=weights
        )
        for kind in (GridSearchCV, SharingGridSearchCV)
    ]
    check_equal(*searches)
    assert searches[1].sharing_["shared"] == 0


def test_routing_of_metadata_is_left_to_scikit_learn():
    with sklearn.config_context(enable_metadata_routing=True):
        assert unshared(SharingGridSearchCV(KNN, NEIGHBOURS, cv=STRATIFIED))


def test_unknown_estimators_and_subclasses_are_left_to_scikit_learn():
    assert unshared(SharingGridSearchCV(First(), {"label": [0, 1]}, cv=STRATIFIED))
    assert unshared(SharingGridSearchCV(OwnNeighbours(), NEIGHBOURS, cv=STRATIFIED))


class First(ClassifierMixin, BaseEstimator):
    def __init__(self, label=0):
        self.label = label

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[self.label])


class OwnNeighbours(KNeighborsClassifier):
    pass


def test_several_targets_are_left_to_scikit_learn():
    search = SharingGridSearchCV(KNN, NEIGHBOURS, cv=KFold(3))
    assert search.fit(X, np.column_stack([Y, Y])).sharing_["shared"] == 0


# ------------------------------------------------------------------- honest score


def test_the_honest_score_without_information_is_a_half():
    rng = np.random.default_rng(1)
    common, own = rng.normal(size=(60, 200, 1)), rng.normal(size=(60, 200, 100))
    found = [OutOfFold(rows.astype(float)).honest for rows in 0.9 * common + 0.45 * own > 0]
    bias = (np.mean([score for score, _ in found]) - 0.5) / (0.5 / np.sqrt(200))
    covered = [low < 0.5 < high for _, (low, high) in found]
    assert abs(bias) < 0.2
    assert 0.9 < np.mean(covered) <= 1


def test_one_candidate_needs_no_correction():
    search = SharingGridSearchCV(DecisionTreeRegressor(random_state=0), {"max_depth": [3]}, cv=5)
    for scoring in (None, "neg_mean_squared_error"):
        rows, target = make_friedman1(200, random_state=0)
        search.set_params(scoring=scoring).fit(rows, target)
        assert search.honest_score_ == pytest.approx(search.best_score_, rel=0.02)


def test_a_search_around_a_pipeline_with_a_forest_has_an_honest_score():
    pipeline = make_pipeline(MinMaxScaler(), RandomForestClassifier(5, random_state=0))
    search = SharingGridSearchCV(pipeline, {"randomforestclassifier__max_depth": [1, 2, 4]}, cv=3)
    search.fit(X, Y)
    low, high = search.honest_interval_
    assert 0.5 < low < search.honest_score_ <= search.best_score_ + 0.01 < high
