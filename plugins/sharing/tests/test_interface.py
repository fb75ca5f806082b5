"""What each family relies on, looked at by itself."""

import numpy as np
import pytest
from mlaut_sharing import boosting, forests, kernels, neighbours, trees
from mlaut_sharing.boosting import Boosted
from mlaut_sharing.forests import Bags, Forests
from mlaut_sharing.interface import Candidate, CannotShareError, Fold
from mlaut_sharing.kernels import GaussianMachines
from mlaut_sharing.linear import LarsPaths, Lassos, Ridges
from mlaut_sharing.neighbours import Neighbours
from mlaut_sharing.trees import Trees, n_drawn_features
from scipy.spatial.distance import cdist
from sharing_cases import (
    CLASSES,
    NUMBERS,
    SHUFFLED,
    STRATIFIED,
    both,
    check_all_shared,
    check_equal,
)
from sklearn.base import clone
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import Lasso, LassoLars, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

SEED = {"random_state": 0}


def fold_of(X, y):
    train = np.arange(len(y)) % 3 > 0
    return Fold(X[train], y[train], X[~train], y[~train])


def shared(sharer, estimator, grid, fold):
    """Models by their parameter; the grid has one."""
    ((name, values),) = grid.items()
    candidates = [Candidate(i, estimator, {name: value}) for i, value in enumerate(values)]
    models = sharer.models(candidates, fold)
    return {values[i]: model for indices, model, _ in models for i in indices}


# ---- candidates


def test_a_candidate_makes_new_estimators():
    pattern = KNeighborsClassifier(weights="distance")
    candidate = Candidate(0, pattern, {"n_neighbors": 3})
    made = candidate.estimator()
    assert (made.n_neighbors, made.weights) == (3, "distance")
    assert made is not candidate.estimator()
    assert pattern.n_neighbors == 5
    assert candidate.setting("n_neighbors") == 3
    assert candidate.setting("weights") == "distance"


# ---- nearest neighbours


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree", "ball_tree"])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_equally_far_neighbours_are_those_that_a_search_for_that_number_takes(algorithm, weights):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (150, 3)).astype(float), rng.integers(0, 4, 150)
    fold = fold_of(X, y)
    base = KNeighborsClassifier(algorithm=algorithm, weights=weights)
    grid = {"n_neighbors": [1, 2, 3, 7, 20, 49, 50, 99, 100]}
    for size, model in shared(Neighbours(), base, grid, fold).items():
        alone = clone(base).set_params(n_neighbors=size).fit(fold.X_train, fold.y_train)
        np.testing.assert_array_equal(model.predict(fold.X_test), alone.predict(fold.X_test))
        np.testing.assert_allclose(
            model.predict_proba(fold.X_test), alone.predict_proba(fold.X_test), rtol=0, atol=1e-15
        )


def _binary(n_columns, seed=0):
    return np.random.default_rng(seed).integers(0, 2, (110, n_columns)).astype(float)


TIED = {
    "zeros and ones": _binary(18),
    "few zeros and ones": _binary(5),
    "halves": _binary(18) / 2,
    "binary and scaled": np.hstack([_binary(38, seed=3)[:, ::2], _binary(6, seed=4) * 1.3 - 0.7]),
    "every row three times": np.repeat(_binary(20, seed=1)[:40], 3, axis=0)[:110],
    "mostly zeros": _binary(40) * _binary(40, seed=1) * _binary(40, seed=2),
    "all rows alike": np.ones((110, 2)),
}


def check_votes(table, algorithm, n_classes, sizes):
    X = TIED[table]
    y = np.random.default_rng(n_classes).integers(0, n_classes, len(X))
    base, grid = KNeighborsClassifier(algorithm=algorithm), {"n_neighbors": sizes, "p": [1, 2]}
    plain, sharing = both(base, grid, X, y, STRATIFIED)
    check_equal(plain, sharing)
    check_all_shared(sharing)


@pytest.mark.parametrize("table", TIED)
@pytest.mark.parametrize(("algorithm", "n_classes"), [("auto", 2), ("brute", 5), ("ball_tree", 3)])
def test_votes_of_equally_far_neighbours_are_those_of_scikit_learn(table, algorithm, n_classes):
    check_votes(table, algorithm, n_classes, [1, 2, 3, 8, 36, 73])


@pytest.mark.slow
@pytest.mark.parametrize("table", TIED)
@pytest.mark.parametrize("algorithm", ["auto", "brute"])
def test_votes_for_every_number_of_neighbours(table, algorithm):
    check_votes(table, algorithm, 4, list(range(1, 74)))


@pytest.mark.parametrize("table", TIED)
def test_means_of_equally_far_neighbours_are_those_of_scikit_learn(table):
    X = TIED[table]
    y = X[:, 0] + np.random.default_rng(0).normal(size=len(X))
    grid = {"n_neighbors": [1, 2, 7, 36, 73], "p": [1, 2]}
    plain, sharing = both(KNeighborsRegressor(), grid, X, y, SHUFFLED)
    check_equal(plain, sharing, within=1e-14)
    check_all_shared(sharing)


@pytest.mark.parametrize(
    ("table", "options", "searches"),
    [
        ("zeros and ones", {}, 1),
        ("zeros and ones", {"weights": "distance"}, 2),
        ("halves", {}, 2),
        ("few zeros and ones", {}, 2),  # a tree goes through its rows in an order of its own
        ("few zeros and ones", {"algorithm": "brute"}, 1),
    ],
)
def test_both_distances_are_one_search_of_zeros_and_ones(table, options, searches, monkeypatch):
    monkeypatch.setattr(neighbours, "_openmp_effective_n_threads", lambda: 1)
    X = TIED[table]
    fold = fold_of(X, np.arange(len(X)) % 2)
    base = KNeighborsClassifier(**options)
    candidates = [Candidate(i, base, {"n_neighbors": 3, "p": i + 1}) for i in range(2)]
    models = [indices for indices, _, _ in Neighbours().models(candidates, fold)]
    assert models == ([(0, 1)] if searches == 1 else [(0,), (1,)])


def test_with_threads_nothing_depends_on_the_number_of_rows_or_the_distance(monkeypatch):
    monkeypatch.setattr(neighbours, "_openmp_effective_n_threads", lambda: 2)
    X = TIED["zeros and ones"]
    fold = fold_of(X, np.arange(len(X)) % 2)
    candidates = [Candidate(i, KNeighborsClassifier(), {"p": i + 1}) for i in range(2)]
    models = list(Neighbours().models(candidates, fold))
    assert [indices for indices, _, _ in models] == [(0,), (1,)]
    check_votes("mostly zeros", "brute", 4, [2, 5, 9])


def test_another_way_of_searching_is_left_to_scikit_learn(monkeypatch):
    monkeypatch.setattr(neighbours, "FEW_COLUMNS", 2)  # as if scikit-learn had changed its rule
    X, y = CLASSES["ties"]
    grid = {"n_neighbors": [1, 5, 30]}
    plain, sharing = both(KNeighborsClassifier(), grid, X, y, STRATIFIED)
    check_equal(plain, sharing)
    assert sharing.sharing_["plain"] == 9


def test_neighbours_are_looked_up_again_only_where_it_matters(monkeypatch):
    looked_up = []
    original = neighbours._NearestRows._look_up

    def look_up(self, unsure, size):
        looked_up.append(len(unsure))
        return original(self, unsure, size)

    monkeypatch.setattr(neighbours._NearestRows, "_look_up", look_up)
    X = np.repeat(np.r_[:30, 1000:1030].astype(float), 2)[:, None]  # every row is there twice
    grid = {"n_neighbors": [1, 2, 3, 4]}
    for labels, again in [(np.arange(120) // 60, False), (np.arange(120) % 2, True)]:
        looked_up.clear()
        for model in shared(
            Neighbours(), KNeighborsClassifier(), grid, fold_of(X, labels)
        ).values():
            model.predict(X)
        assert bool(looked_up) == again


# ---- kernels


def test_distances_are_those_of_libsvm():
    rows = np.random.default_rng(0).normal(size=(30, 17))
    others = rows[:5] + 0.1
    np.testing.assert_allclose(kernels._distances_within(rows), cdist(rows, rows) ** 2, atol=1e-12)
    np.testing.assert_allclose(kernels._distances(others, rows), cdist(others, rows) ** 2)
    with pytest.raises(CannotShareError, match="not finite"):
        kernels._distances_within(np.full((2, 1), 1e200))


def test_the_solver_stops_where_the_penalty_clips_nothing(monkeypatch):
    X, y = CLASSES["two classes"]
    penalties = []
    original = kernels._KeptKernel.fit

    def fit(self, candidate):
        penalties.append(candidate.params["C"])
        return original(self, candidate)

    monkeypatch.setattr(kernels._KeptKernel, "fit", fit)
    grid = {"C": np.logspace(-2, 10, 13).tolist()}
    fold = fold_of(X, y)
    models = shared(GaussianMachines(), SVC(gamma=0.1), grid, fold)
    assert len(penalties[1:]) < 7  # the first is a comparison with scikit-learn
    assert len({id(model) for model in models.values()}) == len(penalties[1:]) - 1
    for C, model in models.items():
        alone = SVC(C=C, gamma=0.1).fit(fold.X_train, fold.y_train)
        np.testing.assert_array_equal(model.predict(fold.X_test), alone.predict(fold.X_test))
        np.testing.assert_array_equal(
            model.decision_function(fold.X_test), alone.decision_function(fold.X_test)
        )


def test_two_equal_penalties_prove_nothing():
    X, y = CLASSES["noisy, negative labels"]
    grid = {"C": [0.1, 0.1, 100.0, 1e5], "gamma": [0.1]}
    plain, sharing = both(SVC(), grid, X, y, STRATIFIED)
    check_equal(plain, sharing)
    check_all_shared(sharing)


def test_rows_on_the_border_are_left_to_libsvm():
    X = np.array([[-1.0], [1.0], [-1.0], [1.0], [0.0], [0.0]])
    y = np.array([0, 1, 0, 1, 0, 1])
    fold = Fold(X, y, np.array([[0.0], [0.5], [-0.5]]), y[:3])
    for C, model in shared(GaussianMachines(), SVC(gamma=1.0), {"C": [1.0, 1e6]}, fold).items():
        alone = SVC(C=C, gamma=1.0).fit(X, y)
        assert abs(alone.decision_function(fold.X_test)[0]) < 1e-9
        np.testing.assert_array_equal(model.predict(fold.X_test), alone.predict(fold.X_test))


def test_large_tables_that_are_not_scaled():
    X, y = CLASSES["ten classes"]
    grid = {"C": [0.1, 10.0, 1e4], "gamma": [1e-9, 1e-4, "scale"]}
    plain, sharing = both(SVC(), grid, 1e4 + 100 * X, y, STRATIFIED)
    check_equal(plain, sharing)
    check_all_shared(sharing)


def test_beyond_a_number_of_rows_only_the_stop_is_left(monkeypatch):
    monkeypatch.setattr(kernels, "MOST_ROWS", 10)
    monkeypatch.setattr(kernels, "_KeptKernel", None)
    X, y = CLASSES["two classes"]
    fold = fold_of(X, y)
    models = shared(GaussianMachines(), SVC(gamma=0.1), {"C": np.logspace(0, 6, 7).tolist()}, fold)
    assert len({id(model) for model in models.values()}) < 7
    assert all(type(model) is SVC for model in models.values())


# ---- trees and ensembles


def test_numbers_of_features_drawn():
    drawn = [n_drawn_features(value, 13) for value in (None, "sqrt", "log2", 5, 0.5, 0.01)]
    assert drawn == [13, 3, 3, 5, 6, 1]


def test_a_depth_that_does_not_bind_grows_no_tree(monkeypatch):
    grown = []
    original = trees.Grower.grow

    def grow(self, X, y, weights, depth):
        grown.append(depth)
        return original(self, X, y, weights, depth)

    monkeypatch.setattr(trees.Grower, "grow", grow)
    fold = fold_of(*CLASSES["strings"])
    depth = DecisionTreeClassifier(**SEED).fit(fold.X_train, fold.y_train).get_depth()
    grid = {"max_depth": [1, 2, depth, depth + 1, 50, None]}
    models = shared(Trees(), DecisionTreeClassifier(**SEED), grid, fold)
    assert grown == [None, None, depth, 2, 1]  # once more for the comparison
    assert models[None] is models[50] is models[depth + 1] is not models[depth]


def test_a_forest_takes_over_trees_that_end_above_its_depth(monkeypatch):
    grown = []
    original = trees.Grower.grow

    def grow(self, X, y, weights, depth):
        grown.append(depth)
        return original(self, X, y, weights, depth)

    monkeypatch.setattr(trees.Grower, "grow", grow)
    fold = fold_of(*CLASSES["strings"])
    models = shared(
        Forests(),
        RandomForestClassifier(n_estimators=20, **SEED),
        {"max_depth": [None, 30, 4]},
        fold,
    )
    assert grown.count(None) == 20
    assert 30 not in grown
    assert 0 < grown.count(4) < 20
    for depth, model in models.items():
        alone = RandomForestClassifier(n_estimators=20, max_depth=depth, **SEED)
        alone.fit(fold.X_train, fold.y_train)
        np.testing.assert_array_equal(
            model.predict_proba(fold.X_test), alone.predict_proba(fold.X_test)
        )


def test_boosting_without_a_tree_at_its_limit_serves_larger_depths():
    X, y = CLASSES["strings"]
    fold = fold_of(X, y)
    base = GradientBoostingClassifier(n_estimators=5, learning_rate=1.0, **SEED)
    runs = []
    for depth in (1, 15, 20):
        list(Boosted().models([Candidate(0, base, {"max_depth": depth})], fold))
        runs.append(next(iter(fold.memo["runs"].values())))
    assert runs[0] is not runs[1]
    assert runs[1] is runs[2]


@pytest.mark.parametrize(
    ("sharer", "module", "base"),
    [
        (Forests(), forests, RandomForestClassifier(**SEED)),
        (Bags(), forests, BaggingClassifier(DecisionTreeClassifier(), **SEED)),
        (Boosted(), boosting, GradientBoostingClassifier(**SEED)),
    ],
)
def test_members_that_differ_from_scikit_learns_are_not_used(sharer, module, base, monkeypatch):
    monkeypatch.setattr(module, "same_tree", lambda *_: False)
    fold = fold_of(*CLASSES["two classes"])
    models = shared(sharer, base, {"n_estimators": [2, 6]}, fold)
    assert all(type(model) is type(base) for model in models.values())
    for size, model in models.items():
        alone = clone(base).set_params(n_estimators=size).fit(fold.X_train, fold.y_train)
        np.testing.assert_array_equal(
            model.predict_proba(fold.X_test), alone.predict_proba(fold.X_test)
        )


def test_a_lone_tree_that_differs_from_scikit_learns_is_not_used(monkeypatch):
    monkeypatch.setattr(trees, "same_tree", lambda *_: False)
    plain, sharing = both(
        DecisionTreeClassifier(**SEED), {"max_depth": [1, 2]}, *CLASSES["strings"], STRATIFIED
    )
    check_equal(plain, sharing)
    assert sharing.sharing_["plain"] == 6


# ---- linear models


@pytest.mark.parametrize(
    ("sharer", "base"), [(Ridges(), Ridge()), (Lassos(), Lasso()), (LarsPaths(), LassoLars())]
)
def test_coefficients_are_those_of_scikit_learn(sharer, base):
    fold = fold_of(*NUMBERS["ten columns"])
    grid = {"alpha": [1e-4, 1e-3, 2e-3, 0.01, 0.07, 0.3, 5.0]}
    for alpha, model in shared(sharer, base, grid, fold).items():
        alone = clone(base).set_params(alpha=alpha).fit(fold.X_train, fold.y_train)
        np.testing.assert_array_equal(model.coef_, alone.coef_)
        assert (model.alpha, model.intercept_) == (alpha, alone.intercept_)


def test_coefficients_that_differ_are_not_used(monkeypatch):
    monkeypatch.setattr(Ridges, "_solver", lambda *_: lambda _: np.zeros(10))
    with pytest.raises(CannotShareError, match="differ from scikit-learn's"):
        shared(Ridges(), Ridge(), {"alpha": [1.0, 2.0]}, fold_of(*NUMBERS["ten columns"]))
