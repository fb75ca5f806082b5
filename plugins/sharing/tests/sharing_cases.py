"""Small tables of different shape, and a check that two searches give the same."""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from mlaut.sharing import GridSearchCV as SharingGridSearchCV

STRATIFIED = StratifiedKFold(3, shuffle=True, random_state=0)
SHUFFLED = KFold(3, shuffle=True, random_state=0)
# Two folds, for the tests of every family on every table: sharing treats all folds alike.
HALVES = StratifiedKFold(2, shuffle=True, random_state=0)
SHUFFLED_HALVES = KFold(2, shuffle=True, random_state=0)


def _two_classes():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X[:120]), y[:120]


def _ten_classes():
    X, y = load_digits(return_X_y=True)
    return X[:130], y[:130]


def _wide():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 45)
    return rng.normal(size=(45, 120)) + 0.2 * y[:, None], y


def _ties():
    rng = np.random.default_rng(1)
    return rng.integers(0, 3, (120, 3)).astype(float), rng.integers(0, 3, 120)


def _strings():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"], dtype=object)
    return X[::2], names[y[::2]]


def _noisy():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(90, 6))
    return X, (X[:, 0] + 2 * rng.normal(size=90) > 0).astype(int) - 1


CLASSES = {
    "two classes": _two_classes(),
    "ten classes": _ten_classes(),
    "more columns than rows": _wide(),
    "ties": _ties(),
    "strings": _strings(),
    "noisy, negative labels": _noisy(),
}


def _numbers():
    X, y = load_diabetes(return_X_y=True)
    return X[:120], (y[:120] - 150) / 77


def _wide_numbers():
    X, _ = _wide()
    return X, X[:, 0] - 2 * X[:, 1] + np.random.default_rng(3).normal(size=len(X))


def _whole_numbers():
    X, y = _ties()
    return X, (y + X[:, 0]).astype(int)


NUMBERS = {
    "ten columns": _numbers(),
    "more columns than rows": _wide_numbers(),
    "ties": _whole_numbers(),
}


def both(estimator, grid, X, y, cv, **options):
    """Search with scikit-learn and with shared work."""
    searches = [kind(estimator, grid, cv=cv, **options) for kind in KINDS]
    return [search.fit(X, y) for search in searches]


KINDS = (GridSearchCV, SharingGridSearchCV)


def check_equal(plain, sharing, *, within=0.0):
    """All of two searches is the same, but for times."""
    assert list(plain.cv_results_["params"]) == list(sharing.cv_results_["params"])
    assert plain.cv_results_.keys() == sharing.cv_results_.keys()
    for key, expected in plain.cv_results_.items():
        got = sharing.cv_results_[key]
        if key.startswith(("rank", "param")):
            assert list(expected) == list(got), key
        elif not key.endswith("_time"):
            np.testing.assert_allclose(got, expected, rtol=0, atol=within, err_msg=key)
    for attribute in ("best_params_", "best_index_", "n_splits_", "multimetric_"):
        assert getattr(plain, attribute) == getattr(sharing, attribute)
    np.testing.assert_allclose(sharing.best_score_, plain.best_score_, rtol=0, atol=within)


def check_all_shared(sharing):
    n_scores = len(sharing.cv_results_["params"]) * sharing.n_splits_
    assert sharing.sharing_ == {"shared": n_scores, "plain": 0, "resumed": 0, "missing": 0}
