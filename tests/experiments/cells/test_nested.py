"""Estimators inside estimators, and learners of other kinds, predict as scikit-learn runs them."""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import all_estimators

from mlaut.errors import StrategyError
from mlaut.estimators import Generic_Estimator, as_strategies
from mlaut.estimators.strategy.wrappers import WRAPPERS
from mlaut.experiments.cells.cell import run_cell
from mlaut.experiments.cells.cell_input import CellOptions, FoldTable
from mlaut.records import Cell, Status

RANDOM = np.random.default_rng(0)
X = pd.DataFrame(np.round(RANDOM.normal(size=(40, 4)), 3), columns=list("abcd"))
NUMBERS = (X["a"] + RANDOM.normal(size=40)).round(3).to_numpy()
LABELS = np.where(NUMBERS > 0, "yes", "no")
FOLDS = list(KFold(2, shuffle=True, random_state=0).split(X))
SMALL = {"n_estimators": 2, "random_state": 0}
SETTINGS = {**SMALL, "cv": 2, "param_grid": {}, "param_distributions": {}, "n_iter": 1}
SETTINGS["thresholds"] = 5
CLASSIFIERS = [
    RandomForestClassifier(**SMALL),
    ExtraTreesClassifier(**SMALL),
    BaggingClassifier(**SMALL),
    AdaBoostClassifier(**SMALL),
    GradientBoostingClassifier(**SMALL),
    HistGradientBoostingClassifier(max_iter=2, random_state=0),
    DecisionTreeClassifier(random_state=0),
    LogisticRegression(),
    GaussianNB(),
    SVC(),
]
REGRESSORS = [
    RandomForestRegressor(**SMALL),
    ExtraTreesRegressor(**SMALL),
    BaggingRegressor(**SMALL),
    AdaBoostRegressor(**SMALL),
    GradientBoostingRegressor(**SMALL),
    HistGradientBoostingRegressor(max_iter=2, random_state=0),
    DecisionTreeRegressor(random_state=0),
    KNeighborsRegressor(),
    Ridge(),
    SVR(),
]
TAKEN = {"estimator", "estimators", "base_estimator", "regressor"}
METAS = {
    name: cls
    for name, cls in all_estimators()
    if TAKEN & {*inspect.signature(cls).parameters}
    and hasattr(cls, "predict")
    and not any(word in name for word in ("MultiOutput", "Chain", "Frozen"))
}


def around(name, base):
    """Return a meta-estimator around a base learner."""
    names = inspect.signature(METAS[name]).parameters
    held = dict.fromkeys(TAKEN & {*names}, base)
    if "estimators" in held:
        held["estimators"] = [("one", base), ("other", clone(base))]
    few = {key: value for key, value in SETTINGS.items() if key in names}
    return METAS[name](**held, **few)


def ours(strategy, labels):
    """Return what the cells of a strategy predict, or the reason why one fails."""
    classes = tuple(np.unique(labels).tolist()) if labels is LABELS else ()
    table, predicted = FoldTable(X, labels, classes), np.empty(len(X), dtype=labels.dtype)
    for train, test in FOLDS:
        cell = run_cell(Cell("d", "s"), lambda: strategy, table, (train, test), 0, CellOptions())
        if cell.status != Status.DONE:
            return cell.reason
        predicted[test] = np.asarray(classes)[cell.predictions] if classes else cell.predictions
    return predicted


def theirs(estimator, labels):
    """Return what scikit-learn alone predicts for the same folds, or None if it refuses them."""
    predicted = np.empty(len(X), dtype=labels.dtype)
    for train, test in FOLDS:
        np.random.seed(0)  # noqa: NPY002 - as a cell does, for base learners without a seed
        try:
            fitted = clone(estimator)
            fitted.fit(X.iloc[train], labels[train])
            predicted[test] = np.ravel(fitted.predict(X.iloc[test]))
        except (AttributeError, TypeError, ValueError):
            return None
    return predicted


def runs_alike(estimator, labels):
    """Return whether scikit-learn runs an estimator; a study then predicts the same."""
    alone = theirs(estimator, labels)
    if alone is not None:
        (strategy,) = as_strategies(estimator)
        strategy.identity()
        np.testing.assert_array_equal(ours(strategy, labels), alone, err_msg=str(estimator))
    return alone is not None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("labels", [LABELS, NUMBERS], ids=["classes", "numbers"])
def test_meta_estimators_run_around_forests(labels):
    base = (CLASSIFIERS if labels is LABELS else REGRESSORS)[0]
    ran = {name for name in METAS if runs_alike(around(name, base), labels)}
    assert {"GridSearchCV", "RFE"} < ran
    assert len(ran) >= (14 if labels is LABELS else 10), ran


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("labels", [LABELS, NUMBERS], ids=["classes", "numbers"])
@pytest.mark.parametrize("name", METAS)
def test_meta_estimators_run_around_ten_learners_and_pipelines(name, labels):
    bases = CLASSIFIERS if labels is LABELS else REGRESSORS
    for base in [*bases, *(make_pipeline(StandardScaler(), base) for base in bases)]:
        runs_alike(around(name, base), labels)
    runs_alike(GridSearchCV(around(name, bases[0]), {}, cv=2), labels)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", WRAPPERS)
def test_wrappers_run_around_meta_estimators(kind):
    few = {"cv": 2, "random_state": 0} if kind != "balanced" else {}
    for inner in (CLASSIFIERS[0], GridSearchCV(CLASSIFIERS[0], {}, cv=2)):
        wrapper = WRAPPERS[kind](inner).set_params(**few)
        assert runs_alike(wrapper, LABELS) or kind == "balanced"  # a search takes weights by name
        strategy = Generic_Estimator(inner, random_state=0)
        wrapper = Generic_Estimator(wrapper.set_params(estimator=strategy), preprocessing=None)
        assert isinstance(ours(wrapper, LABELS), np.ndarray) or kind == "balanced"


class Plain(BaseEstimator):
    """A beginner's learner: no underscores, ``fit`` returns nothing, no parameters."""

    def fit(self, X, y):
        self.known = [np.median(y) if np.asarray(y).dtype.kind == "f" else min(y)]

    def predict(self, X):
        return self.known * len(X)


class PlainClassifier(ClassifierMixin, Plain):
    def predict_proba(self, X):
        return np.tile([1.0, 0.0], (len(X), 1))


class PlainRegressor(RegressorMixin, Plain):
    """Predicts a column."""

    def predict(self, X):
        return np.reshape(super().predict(X), (-1, 1))


class Changing(ClassifierMixin, BaseEstimator):
    """`clone` refuses it: its constructor copies the list."""

    def __init__(self, columns=()):
        self.columns = list(columns)

    def fit(self, X, y):
        self.inner_ = SVC().fit(X.iloc[:, self.columns], y)
        return self

    def predict(self, X):
        return self.inner_.predict(X.iloc[:, self.columns])


@pytest.mark.parametrize("learner", [PlainClassifier(), PlainRegressor()])
def test_learners_without_underscores_run(learner):
    labels = LABELS if isinstance(learner, PlainClassifier) else NUMBERS
    assert runs_alike(learner, labels)
    (strategy,) = as_strategies(learner)
    assert len(strategy.fit(X, labels).predict(X)) == len(X)


def test_learners_that_clone_refuses_run_untuned():
    learner = Changing([0, 2])
    alone = learner.fit(X.iloc[FOLDS[0][0]], LABELS[FOLDS[0][0]]).predict(X.iloc[FOLDS[0][1]])
    (strategy,) = as_strategies(clone(Generic_Estimator(learner)))
    np.testing.assert_array_equal(ours(strategy, LABELS)[FOLDS[0][1]], alone)
    with pytest.raises(StrategyError, match=r"'c' cannot be tuned: .* Changing changes columns"):
        Generic_Estimator(learner, name="c", param_grid={"columns": [[0], [1]]}).identity()


def test_frozen_estimators_run_as_they_are_and_are_told_apart():
    frozen = [FrozenEstimator(SVC().fit(X[:n], LABELS[:n])) for n in (20, 30, 20)]
    assert all(runs_alike(estimator, LABELS) for estimator in frozen)
    assert runs_alike(make_pipeline(FrozenEstimator(StandardScaler().fit(X)), SVC()), LABELS)
    one, other, again = (Generic_Estimator(estimator).fingerprint() for estimator in frozen)
    assert one == again != other
