"""Histogram boosting that is cut from the largest has the scores of scikit-learn, bit for bit."""

import numpy as np
import pandas as pd
import pytest
from sharing_cases import (
    CLASSES,
    HALVES,
    NUMBERS,
    SHUFFLED_HALVES,
    both,
    check_all_shared,
    check_equal,
)
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

SEED = {"random_state": 0, "early_stopping": False}
GRID = {"max_iter": [2, 4], "min_samples_leaf": [2, 20], "max_leaf_nodes": [4, None]}
PREDICTED = {"return_train_score": True, "refit": False}


@pytest.mark.parametrize("table", CLASSES)
def test_classes(table):
    estimator = HistGradientBoostingClassifier(**SEED)
    scoring = ["accuracy", "neg_log_loss"]
    plain, sharing = both(estimator, GRID, *CLASSES[table], HALVES, scoring=scoring, **PREDICTED)
    check_same_scores(plain, sharing)


@pytest.mark.parametrize("table", NUMBERS)
@pytest.mark.parametrize(
    "settings", [{}, {"max_depth": 2, "l2_regularization": 0.3}, {"max_bins": 7}]
)
def test_numbers(table, settings):
    estimator = HistGradientBoostingRegressor(**SEED, **settings)
    plain, sharing = both(estimator, GRID, *NUMBERS[table], SHUFFLED_HALVES, **PREDICTED)
    check_same_scores(plain, sharing)


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_other_losses(loss):
    X, y = NUMBERS["ten columns"]
    estimator = HistGradientBoostingRegressor(loss=loss, **SEED)
    plain, sharing = both(estimator, GRID, X, np.exp(y), SHUFFLED_HALVES, **PREDICTED)
    check_same_scores(plain, sharing)


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
def test_categories_and_gaps(n_classes):
    X, y = mixed()
    estimator = HistGradientBoostingClassifier(categorical_features="from_dtype", **SEED)
    plain, sharing = both(estimator, GRID, X, np.minimum(y, n_classes - 1), HALVES, **PREDICTED)
    check_same_scores(plain, sharing)


def test_gaps_and_categories_that_only_test_rows_have():
    X, y = mixed(90)
    X.loc[::3, "a"], X.loc[1::3, "a"], X.loc[2::3, "a"] = np.nan, 0.5, 1.5
    X["e"] = X["e"].where(np.arange(90) % 3 > 0)
    folds = [(np.flatnonzero(np.arange(90) % 3), np.arange(0, 90, 3))]
    estimator = HistGradientBoostingClassifier(categorical_features="from_dtype", **SEED)
    plain, sharing = both(estimator, GRID, X, y, folds, **PREDICTED)
    check_same_scores(plain, sharing)


@pytest.mark.parametrize(
    "settings",
    [{"max_features": 0.5}, {"class_weight": "balanced"}, {"monotonic_cst": [1] + [0] * 29}],
)
def test_other_settings_are_cut_from_the_largest_too(settings):
    estimator = HistGradientBoostingClassifier(**SEED, **settings)
    grid = {"max_iter": [2, 4]}
    plain, sharing = both(estimator, grid, *CLASSES["two classes"], HALVES)
    check_equal(plain, sharing)
    check_all_shared(sharing)


def check_same_scores(plain, sharing):
    """All scores are the same bits, and all candidates shared."""
    for name, expected in plain.cv_results_.items():
        if "score" in name and "time" not in name:
            np.testing.assert_array_equal(sharing.cv_results_[name], expected, err_msg=name)
    check_all_shared(sharing)
