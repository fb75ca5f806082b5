"""Every family that shares, on tables of different shape: scores, ranks and choice, bit for bit."""

import warnings

import numpy as np
import pytest
import sklearn
from mlaut_sharing.search.candidate_groups import groups_of
from sharing_cases import (
    CLASSES,
    HALVES,
    NUMBERS,
    SHUFFLED_HALVES,
    STRATIFIED,
    both,
    check_all_shared,
    check_equal,
)
from sklearn import linear_model
from sklearn.base import clone
from sklearn.datasets import make_classification
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
from sklearn.linear_model import ElasticNet, Lasso, LassoLars, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC, SVR
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from sklearn.utils.fixes import parse_version

SIZES = [2, 5]
SEED = {"random_state": 7}
WIDTHS = {"C": [0.01, 1.0, 100.0, 1e5], "gamma": [1e-3, 0.1, "scale"]}
DEPTHS = {"max_depth": [None, 2, 4], "max_features": [None, "sqrt"]}
FEW_DEPTHS = {"max_depth": [2, None], "max_features": ["sqrt", "log2"]}


def passive_aggressive():
    if parse_version(sklearn.__version__) >= parse_version("1.8"):
        online = linear_model.SGDClassifier(
            loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0, tol=1e-2, **SEED
        )
        return online, "eta0"
    return linear_model.PassiveAggressiveClassifier(tol=1e-2, **SEED), "C"


ONLINE, AGGRESSIVENESS = passive_aggressive()
PENALTIES = {"alpha": np.logspace(-3, 1, 7).tolist()}

CLASSIFIERS = {
    "neighbours": (KNeighborsClassifier(), {"n_neighbors": [1, 2, 3, 5, 9, 14], "p": [1, 2]}),
    "neighbours by distance": (KNeighborsClassifier(weights="distance"), {"n_neighbors": [1, 4]}),
    "SVC": (SVC(), WIDTHS),
    "SVC, weighted": (SVC(class_weight="balanced"), WIDTHS),
    "tree": (DecisionTreeClassifier(**SEED), {**DEPTHS, "min_samples_leaf": [1, 0.1]}),
    "random tree": (ExtraTreeClassifier(**SEED), DEPTHS),
    "forest": (RandomForestClassifier(**SEED), {**FEW_DEPTHS, "n_estimators": SIZES}),
    "extra trees": (ExtraTreesClassifier(**SEED), {"max_depth": [2, None], "n_estimators": SIZES}),
    "forest, weighted": (
        RandomForestClassifier(class_weight="balanced", max_depth=3, **SEED),
        {"n_estimators": SIZES},
    ),
    "bagging": (
        BaggingClassifier(DecisionTreeClassifier(), max_features=0.5, **SEED),
        {"n_estimators": SIZES, "max_samples": [0.5, 1.0]},
    ),
    "bagging of others": (
        BaggingClassifier(KNeighborsClassifier(2), max_samples=0.5, **SEED),
        {"n_estimators": SIZES},
    ),
    "gradient boosting": (
        GradientBoostingClassifier(**SEED),
        {"n_estimators": SIZES, "max_depth": [1, 5], "learning_rate": [0.1, 1]},
    ),
    "stochastic gradient boosting": (
        GradientBoostingClassifier(subsample=0.5, max_features=2, **SEED),
        {"n_estimators": SIZES},
    ),
    "histogram boosting": (
        HistGradientBoostingClassifier(early_stopping=False, max_leaf_nodes=4, **SEED),
        {"max_iter": [3, 8]},
    ),
    "AdaBoost": (AdaBoostClassifier(**SEED), {"n_estimators": SIZES}),
    "passive-aggressive": (ONLINE, {AGGRESSIVENESS: np.logspace(-2, 6, 9).tolist()}),
}

REGRESSORS = {
    "neighbours": (KNeighborsRegressor(), {"n_neighbors": [1, 2, 3, 5, 9, 14], "p": [1, 2]}),
    "neighbours by distance": (KNeighborsRegressor(weights="distance"), {"n_neighbors": [1, 4]}),
    "SVR": (SVR(), {"C": [0.01, 1.0, 100.0, 1e4], "gamma": [1e-3, 0.5, "auto"]}),
    "tree": (DecisionTreeRegressor(**SEED), {**DEPTHS, "min_samples_leaf": [1, 3]}),
    "random tree": (ExtraTreeRegressor(**SEED), DEPTHS),
    "forest": (RandomForestRegressor(**SEED), {**FEW_DEPTHS, "n_estimators": SIZES}),
    "extra trees": (ExtraTreesRegressor(**SEED), {"max_depth": [2, None], "n_estimators": SIZES}),
    "bagging": (BaggingRegressor(**SEED), {"n_estimators": SIZES, "max_features": [0.5, 1.0]}),
    "gradient boosting": (
        GradientBoostingRegressor(**SEED),
        {"n_estimators": SIZES, "max_depth": [1, 5], "learning_rate": [0.1, 1]},
    ),
    "gradient boosting, Huber": (
        GradientBoostingRegressor(loss="huber", **SEED),
        {"n_estimators": SIZES},
    ),
    "histogram boosting": (
        HistGradientBoostingRegressor(early_stopping=False, max_leaf_nodes=4, **SEED),
        {"max_iter": [3, 8]},
    ),
    "AdaBoost": (AdaBoostRegressor(**SEED), {"n_estimators": SIZES}),
    "ridge": (Ridge(), PENALTIES),
    "ridge through the origin": (Ridge(fit_intercept=False), PENALTIES),
    "Lasso": (Lasso(max_iter=10_000), PENALTIES),
    "elastic net": (ElasticNet(max_iter=10_000), {**PENALTIES, "l1_ratio": [0.3, 0.9]}),
    "Lasso path": (LassoLars(), PENALTIES),
}


@pytest.mark.parametrize("table", CLASSES)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_classifier_is_searched_as_by_scikit_learn(name, table):
    plain, sharing = both(*CLASSIFIERS[name], *CLASSES[table], HALVES)
    check_equal(plain, sharing)
    check_all_shared(sharing)


@pytest.mark.parametrize("table", NUMBERS)
@pytest.mark.parametrize("name", REGRESSORS)
def test_a_regressor_is_searched_as_by_scikit_learn(name, table):
    plain, sharing = both(*REGRESSORS[name], *NUMBERS[table], SHUFFLED_HALVES)
    # Means of neighbours that are equally far may be summed in another order.
    check_equal(plain, sharing, within=1e-15 if name == "neighbours" else 0.0)
    check_all_shared(sharing)


@pytest.mark.parametrize("most", [1, 100])
@pytest.mark.parametrize(
    ("name", "table"), [*(("SVC", name) for name in CLASSES), *(("SVR", name) for name in NUMBERS)]
)
def test_a_solver_that_is_cut_off_gives_the_same_and_warns(name, table, most):
    (estimator, grid), (X, y), cv = (
        (CLASSIFIERS[name], CLASSES[table], HALVES)
        if name == "SVC"
        else (REGRESSORS[name], NUMBERS[table], SHUFFLED_HALVES)
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plain, sharing = both(clone(estimator).set_params(max_iter=most), grid, X, y, cv)
    told = f"Solver terminated early (max_iter={most})."
    assert {str(warning.message)[: len(told)] for warning in caught} <= {told}
    if most < 100:  # which no table gets by with
        assert any("kernels" in warning.filename for warning in caught)
    check_equal(plain, sharing)
    check_all_shared(sharing)


@pytest.mark.parametrize(
    ("name", "scoring"),
    [
        (name, scoring)
        if name == "tree" or scoring == "roc_auc"
        else pytest.param(name, scoring, marks=pytest.mark.slow)
        for name in ("neighbours", "tree", "forest", "bagging", "gradient boosting", "SVC")
        for scoring in ("neg_log_loss", "roc_auc", "f1")
    ],
)
def test_other_scores_and_training_scores_are_the_same(name, scoring):
    if name == "SVC" and scoring == "neg_log_loss":
        pytest.skip("it has no probabilities")
    X, y = CLASSES["two classes"]
    plain, sharing = both(
        *CLASSIFIERS[name], X, y, HALVES, scoring=scoring, return_train_score=True
    )
    # The mean of equal probabilities may be rounded otherwise: a count is divided here.
    check_equal(plain, sharing, within=1e-15 if name == "neighbours" else 0.0)
    check_all_shared(sharing)


def test_what_no_family_knows_is_left_to_scikit_learn():
    X, y = CLASSES["two classes"]
    plain, sharing = both(GaussianNB(), {"var_smoothing": [1e-9, 0.1]}, X, y, HALVES)
    check_equal(plain, sharing)
    assert sharing.sharing_ == {"shared": 0, "plain": 4, "resumed": 0, "missing": 0}
    assert not groups_of(LogisticRegression(), [{"C": 0.1}, {"C": 1.0}])[0].shares


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_five_thousand_rows(name):
    X, y = make_classification(5000, 12, n_informative=5, n_classes=3, random_state=0)
    estimator, grid = CLASSIFIERS[name]
    if isinstance(estimator, SVC):
        grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1]}
    plain, sharing = both(estimator, grid, X, y, STRATIFIED)
    check_equal(plain, sharing)
    check_all_shared(sharing)


@pytest.mark.slow
def test_kernels_of_many_rows_are_not_kept():
    X, y = make_classification(8000, 10, n_informative=5, flip_y=0, class_sep=3, random_state=0)
    grid = {"C": np.logspace(0, 6, 7).tolist(), "gamma": [0.1]}
    plain, sharing = both(SVC(), grid, X, y, STRATIFIED)
    check_equal(plain, sharing)
    check_all_shared(sharing)
