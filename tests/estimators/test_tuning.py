"""Folds for tuning, the search, and reading what it gave."""

import json
import warnings

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from mlaut.errors import StrategyError
from mlaut.estimators import (
    Generic_Estimator,
    GridSearch,
    TuningFolds,
    TuningWarning,
    tuning_record,
)

IRIS = load_iris(return_X_y=True)


def folds_of(labels, n_splits=5, **parameters):
    folds = TuningFolds(n_splits, random_state=0, **parameters)
    X = np.zeros((len(labels), 1))
    splits = list(folds.split(X, labels))
    assert len(splits) == folds.get_n_splits(X, labels)
    return splits


def test_classes_are_spread_over_the_folds():
    labels = np.array(["a"] * 10 + ["b"] * 5)
    for train, test in folds_of(labels):
        assert (labels[test] == "b").sum() == 1
        assert sorted([*train, *test]) == list(range(15))


@pytest.mark.parametrize(("rarest", "n_splits"), [(5, 5), (4, 4), (3, 3), (2, 3), (1, 5)])
def test_fewer_folds_where_a_class_is_rare(rarest, n_splits):
    labels = np.array(["a"] * 20 + ["b"] * rarest)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        splits = folds_of(labels)
    assert len(splits) == n_splits
    assert all(set(labels[train]) == {"a", "b"} for train, _ in splits)
    assert [str(w.message) for w in told] == (
        []
        if n_splits == 5
        else [f"{n_splits} tuning folds instead of 5: the rarest class has few rows"]
    )


def test_a_class_of_one_row_is_trained_on_and_never_tested():
    labels = np.array([0] * 5 + [1] * 5 + [2])
    for train, test in folds_of(labels):
        assert 10 in train
        assert 10 not in test


def test_no_more_folds_than_rows_of_any_class():
    with pytest.warns(TuningWarning, match="2 tuning folds instead of 5"):
        assert len(folds_of([1, 1, 2, 2, 3, 3])) == 2


def test_numbers_are_not_classes():
    splits = folds_of(np.array([1, 1, 1, 1, 1, 1, 1, 9]), stratify=False)
    assert len(splits) == 5
    with pytest.warns(TuningWarning, match="3 tuning folds instead of 5: 3 rows"):
        assert len(folds_of([1.0, 2.0, 3.0], stratify=False)) == 3


def test_folds_come_from_the_seed():
    one, same, other = (
        [test.tolist() for _, test in TuningFolds(random_state=seed).split(*IRIS)]
        for seed in (1, 1, 2)
    )
    assert one == same != other


@pytest.mark.parametrize(
    "cv", [TuningFolds(random_state=0), KFold(3, shuffle=True, random_state=0)]
)
def test_the_search_is_that_of_scikit_learn(cv):
    grid = {"C": [0.1, 10], "gamma": [0.01, 1]}
    ours = GridSearch(SVC(), grid, cv=cv).fit(*IRIS)
    theirs = GridSearchCV(SVC(), grid, cv=cv).fit(*IRIS)
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_score_ == theirs.best_score_
    for key in theirs.cv_results_:
        if "time" not in key:
            np.testing.assert_array_equal(ours.cv_results_[key], theirs.cv_results_[key])


def test_no_more_neighbours_than_the_smallest_training_fold_has_rows():
    X, y = IRIS[0][::10], IRIS[1][::10]  # 15 rows, folds of 3
    grid = [{"n_neighbors": [1, 12, 13]}, {"n_neighbors": [40], "p": [1]}]
    search = GridSearch(KNeighborsClassifier(), grid, cv=TuningFolds(random_state=0)).fit(X, y)
    assert search.searched_grid_ == [{"n_neighbors": [1, 12]}, {"n_neighbors": [12], "p": [1]}]
    assert search.param_grid == grid


def test_too_few_rows_to_tune_give_the_untuned_estimator():
    search = GridSearch(DecisionTreeClassifier(), {"max_depth": [1]}, cv=TuningFolds())
    with pytest.warns(TuningWarning, match="not tuned: too few rows for two folds"):
        search.fit([[0.0], [1.0], [2.0]], ["a", "b", "c"])
    assert search.predict([[2.0], [0.0]]).tolist() == ["c", "a"]
    assert search.score([[2.0]], ["c"]) == 1
    record = tuning_record(search)
    assert (record.best_params, record.best_score, record.n_candidates) == ({}, None, 0)


def test_a_search_in_which_all_fails_says_why_in_one_line():
    search = GridSearch(SVC(), {"C": [-1.0, -2.0]}, cv=2)
    with pytest.raises(StrategyError) as error:
        search.fit(*IRIS)
    assert str(error.value).startswith("SVC: every tuning fit failed: ")
    assert "'C' parameter of SVC must be a float" in str(error.value)
    assert "\n" not in str(error.value)


def test_other_errors_of_a_search_are_passed_on():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        GridSearch(SVC(), {"C": [1.0]}, cv=2).fit([[0.0]] * 5, [0, 1, 0, 1])


def scaled_svc():
    return make_pipeline(StandardScaler(), SVC())


@pytest.mark.parametrize(
    "model",
    [
        GridSearch(scaled_svc(), {"svc__C": [1, 100]}),
        GridSearchCV(scaled_svc(), {"svc__C": np.array([1, 100])}),
        RandomizedSearchCV(scaled_svc(), {"svc__C": [1, 100]}, n_iter=2, random_state=0),
        make_pipeline(StandardScaler(), GridSearchCV(SVC(), {"C": [1, 100]})),
        Generic_Estimator(SVC(), param_grid={"C": [1, 100]}),
        Generic_Estimator(GridSearchCV(SVC(), {"C": [1, 100]})),
        make_pipeline(Generic_Estimator(SVC(), param_grid={"C": [1, 100]})),
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_tuning_gave_is_found_in_any_model(model):
    record = tuning_record(model.fit(*IRIS))
    assert record.best_params in ({"C": 1}, {"C": 100})
    assert 0.9 < record.best_score <= 1
    assert record.n_candidates == 2
    assert record.tuning_seconds > 0
    assert record.fit_seconds > 0
    assert json.loads(json.dumps(record.best_params)) == record.best_params


def test_what_tuning_gave_is_found_behind_a_transformed_target():
    X, y = load_diabetes(return_X_y=True)
    model = TransformedTargetRegressor(GridSearch(Ridge(), {"alpha": [0.1, 1e9]}))
    assert tuning_record(model.fit(X, y)).best_params == {"alpha": 0.1}


def test_names_that_would_become_the_same_keep_their_prefixes():
    pipe = make_pipeline(DummyTransformer(C=1), SVC())
    search = GridSearchCV(pipe, {"dummytransformer__C": [1], "svc__C": [2]}, cv=2)
    assert tuning_record(search.fit(*IRIS)).best_params == {"dummytransformer__C": 1, "svc__C": 2}


class DummyTransformer(StandardScaler):
    def __init__(self, C=1):
        super().__init__()
        self.C = C


def test_a_model_without_tuning_has_no_record():
    assert tuning_record(DummyClassifier().fit(*IRIS)) is None
    assert tuning_record(Generic_Estimator(SVC()).fit(*IRIS)) is None
