"""Compiled histogram boosting has the scores of scikit-learn, bit for bit."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from .sharing_cases import (
    CLASSES,
    NUMBERS,
    SHUFFLED,
    STRATIFIED,
    both,
    check_all_shared,
    check_equal,
)

pytest.importorskip("numba")

from mlaut.sharing.learners import histograms

SEED = {"random_state": 0, "early_stopping": False}
GRID = {"max_iter": [2, 9], "min_samples_leaf": [2, 20], "max_leaf_nodes": [4, None]}
PREDICTED = {"return_train_score": True, "refit": False}


@pytest.fixture
def stages(monkeypatch):
    """Return a list of the numbers of trees in each compiled run."""
    grown = []
    run = histograms._HistogramRun._add_tree

    def add_tree(self, k, *rest):
        run(self, k, *rest)
        grown.append(k)

    monkeypatch.setattr(histograms._HistogramRun, "_add_tree", add_tree)
    return grown


@pytest.mark.parametrize("table", CLASSES)
def test_classes(table, stages):
    estimator = HistGradientBoostingClassifier(**SEED)
    scoring = ["accuracy", "neg_log_loss"]
    plain, sharing = both(
        estimator, GRID, *CLASSES[table], STRATIFIED, scoring=scoring, **PREDICTED
    )
    check_same_scores(plain, sharing)
    assert stages


@pytest.mark.parametrize("table", NUMBERS)
@pytest.mark.parametrize(
    "settings", [{}, {"max_depth": 2, "l2_regularization": 0.3}, {"max_bins": 7}]
)
def test_numbers(table, settings, stages):
    estimator = HistGradientBoostingRegressor(**SEED, **settings)
    plain, sharing = both(estimator, GRID, *NUMBERS[table], SHUFFLED, **PREDICTED)
    check_same_scores(plain, sharing)
    assert stages


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_other_losses(loss, stages):
    X, y = NUMBERS["ten columns"]
    estimator = HistGradientBoostingRegressor(loss=loss, **SEED)
    plain, sharing = both(estimator, GRID, X, np.exp(y), SHUFFLED, **PREDICTED)
    check_same_scores(plain, sharing)
    assert stages


def mixed(n_rows=300):
    """Return a table with categories, gaps of both kinds and columns of one value, and targets."""
    rng = np.random.default_rng(5)
    numbers = rng.normal(size=(n_rows, 3)).round(1)
    numbers[rng.random(numbers.shape) < 0.2] = np.nan
    numbers[:, 2] = np.where(np.isnan(numbers[:, 2]), np.nan, 1.0)
    table = pd.DataFrame(numbers, columns=list("abc")).assign(d=2.0)
    letters = rng.choice(list("pqrstuvw"), n_rows)
    table["e"] = pd.Categorical(letters)
    table["f"] = pd.Categorical(np.where(rng.random(n_rows) < 0.3, None, letters[::-1]))
    y = (table["a"].fillna(0) > 0).astype(int) + (letters > "s") + (rng.random(n_rows) < 0.2)
    return table, y.to_numpy()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_categories_and_gaps(n_classes, stages):
    X, y = mixed()
    estimator = HistGradientBoostingClassifier(categorical_features="from_dtype", **SEED)
    plain, sharing = both(estimator, GRID, X, np.minimum(y, n_classes - 1), STRATIFIED, **PREDICTED)
    check_same_scores(plain, sharing)
    assert stages


def test_gaps_and_categories_that_only_test_rows_have(stages):
    X, y = mixed(90)
    X.loc[::3, "a"], X.loc[1::3, "a"], X.loc[2::3, "a"] = np.nan, 0.5, 1.5
    X["e"] = X["e"].where(np.arange(90) % 3 > 0)
    folds = [(np.flatnonzero(np.arange(90) % 3), np.arange(0, 90, 3))]
    estimator = HistGradientBoostingClassifier(categorical_features="from_dtype", **SEED)
    plain, sharing = both(estimator, GRID, X, y, folds, **PREDICTED)
    check_same_scores(plain, sharing)
    assert stages


def test_stages_end_where_no_tree_has_a_split(stages):
    X, y = np.repeat([[0.0], [1.0]], 30, axis=0), np.repeat([0, 1], 30)
    grid = {"max_iter": [5, 900], "learning_rate": [1.0]}
    plain, sharing = both(HistGradientBoostingClassifier(**SEED), grid, X, y, STRATIFIED)
    check_equal(plain, sharing)
    assert len(stages) < 3 * 100


def test_a_limit_of_leaves_that_no_tree_reaches_changes_nothing(stages):
    X, y = NUMBERS["ten columns"]
    grid = {"max_iter": [4], "max_leaf_nodes": [10, 30]}
    plain, sharing = both(HistGradientBoostingRegressor(**SEED), grid, X, y, SHUFFLED)
    check_equal(plain, sharing)
    assert len(stages) == 3 * 4


@pytest.mark.parametrize(
    "settings",
    [{"max_features": 0.5}, {"class_weight": "balanced"}, {"monotonic_cst": [1] + [0] * 29}],
)
def test_what_is_not_compiled_is_cut_from_the_largest(settings, stages):
    estimator = HistGradientBoostingClassifier(**SEED, **settings)
    grid = {"max_iter": [2, 4]}
    plain, sharing = both(estimator, grid, *CLASSES["two classes"], STRATIFIED)
    check_equal(plain, sharing)
    check_all_shared(sharing)
    assert not stages


def test_trees_that_differ_from_scikit_learns_are_not_used(monkeypatch):
    from mlaut.sharing.compiled import growing

    grow = growing.grow

    def grow_wrongly(*given):
        n_nodes = grow(*given)
        _, real, *_ = given[6]
        real[:n_nodes, growing.VALUE] *= 2
        return n_nodes

    monkeypatch.setattr(growing, "grow", grow_wrongly)
    estimator = HistGradientBoostingClassifier(**SEED)
    plain, sharing = both(estimator, {"max_iter": [2, 4]}, *CLASSES["two classes"], STRATIFIED)
    check_equal(plain, sharing)


def check_same_scores(plain, sharing):
    """All scores are the same bits, and all candidates shared."""
    for name, expected in plain.cv_results_.items():
        if "score" in name and "time" not in name:
            np.testing.assert_array_equal(sharing.cv_results_[name], expected, err_msg=name)
    check_all_shared(sharing)
