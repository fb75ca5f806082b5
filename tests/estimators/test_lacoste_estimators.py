"""The parts of Lacoste's strategies that scikit-learn does not have."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import AdaBoostClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from mlaut.estimators.catalogue.lacoste_estimators import (
    PAIRS_AT_ONCE,
    ParzenWindow,
    UniformStump,
    UnitDistance,
)
from mlaut.estimators.catalogue.listed import Lacoste_SVM

X, Y = load_iris(return_X_y=True)
PARTS = [ParzenWindow(), UniformStump(), UnitDistance()]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: type(part).__name__)
def test_it_follows_the_rules_of_scikit_learn(part):
    weak = (
        {}
        if not isinstance(part, UniformStump)
        else {
            "check_classifiers_train": "one cut is too little for three classes",
            "check_classifiers_classes": "one cut is too little for three classes",
        }
    )
    outcomes = check_estimator(part, expected_failed_checks=weak, on_skip=None)
    assert sum(outcome["status"] == "passed" for outcome in outcomes) > 30


def test_distances_are_divided_by_root_2_times_the_10th_percentile():
    fitted = UnitDistance().fit(X[:40])
    sigma = np.percentile(pdist(X[:40]), 10)
    np.testing.assert_allclose(fitted.transform(X), X / (np.sqrt(2) * sigma))


def test_the_kernel_is_equation_6():
    r, sigma = 0.3, np.percentile(pdist(X), 10)
    z = UnitDistance().fit_transform(X)
    kernel = np.exp(-r / (2 * sigma**2) * cdist(X, X, "sqeuclidean"))
    np.testing.assert_allclose(np.exp(-r * cdist(z, z, "sqeuclidean")), kernel)
    model = Lacoste_SVM(params={"gamma": r, "C": 1.0}).fit(X, Y)
    theirs = SVC(kernel="precomputed").fit(kernel, Y)
    np.testing.assert_allclose(model.decision_function(X), theirs.decision_function(kernel))


def test_equal_rows_do_not_count_and_no_distance_divides_nothing():
    assert UnitDistance().fit([[0.0]] * 50 + [[2.0]]).distance_ == 2
    same = np.ones((4, 2))
    np.testing.assert_array_equal(UnitDistance().fit_transform(same), same)


def test_many_rows_are_represented_by_some():
    rows = np.random.default_rng(0).normal(size=(500, 3))
    part, whole = (UnitDistance(max_rows=m, random_state=0).fit(rows).distance_ for m in (200, 500))
    assert part != whole
    assert abs(part / whole - 1) < 0.05


def test_the_parzen_window_compares_sums_of_kernels():
    train, test = X[::2], X[1::2]
    kernel = np.exp(-0.7 * cdist(test, train, "sqeuclidean"))
    sums = np.column_stack([kernel[:, Y[::2] == k].sum(axis=1) for k in range(3)])
    fitted = ParzenWindow(gamma=0.7).fit(train, Y[::2])
    np.testing.assert_allclose(
        fitted.predict_proba(test), sums / sums.sum(axis=1, keepdims=True), atol=1e-12
    )
    np.testing.assert_array_equal(fitted.predict(test), sums.argmax(axis=1))


def test_a_narrow_parzen_window_is_the_nearest_neighbour():
    rows, labels = load_breast_cancer(return_X_y=True)
    narrow = ParzenWindow(gamma=1e6).fit(rows[::2], labels[::2])
    nearest = KNeighborsClassifier(1).fit(rows[::2], labels[::2])
    np.testing.assert_array_equal(narrow.predict(rows[1::2]), nearest.predict(rows[1::2]))


def test_the_parzen_window_goes_through_many_rows_in_parts():
    rng = np.random.default_rng(0)
    train, test = rng.normal(size=(PAIRS_AT_ONCE // 50, 1)), rng.normal(size=(120, 1))
    fitted = ParzenWindow().fit(train, train[:, 0] > 0)
    whole = fitted.predict_proba(test)
    np.testing.assert_allclose(whole, np.vstack([fitted.predict_proba(row[None]) for row in test]))


@pytest.mark.parametrize("n_stumps", [1, 3, 10])
def test_a_stump_cuts_at_one_of_the_equally_spaced_thresholds(n_stumps):
    rng = np.random.default_rng(n_stumps)
    x = np.sort(rng.random(200))
    stump = UniformStump(n_stumps=n_stumps).fit(x[:, None], x > 0.4)
    thresholds = np.linspace(x[0], x[-1], n_stumps + 2)[1:-1]
    sides = stump.predict(x[:, None])
    cuts = [(sides == (x >= t)).all() for t in thresholds]
    assert sum(cuts) == 1
    assert abs(thresholds[np.argmax(cuts)] - 0.4) == np.abs(thresholds - 0.4).min()


def test_a_stump_with_many_thresholds_is_a_tree_of_depth_1():
    many = UniformStump(n_stumps=100_000).fit(X, Y)
    tree = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(many.predict_proba(X), tree.predict_proba(X))


@pytest.mark.parametrize("labels", ["numbers", "texts"])
def test_a_stump_chooses_as_a_tree_on_the_passed_thresholds(labels):
    rng = np.random.default_rng(1)
    for n_stumps in (1, 2, 7, 31):
        rows, weight = rng.normal(size=(120, 6)), rng.random(120)
        rows[:, 5] = 3.0
        y = (rows[:, 0] + rng.normal(size=120) > 0).astype(int) + (rows[:, 1] > 1)
        y = y if labels == "numbers" else np.array(["a", "b", "c"], dtype=object)[y]
        low, high = rows.min(axis=0), rows.max(axis=0)
        steps = np.clip((rows - low) / (np.maximum(high - low, 1e-9) / (n_stumps + 1)), 0, n_stumps)
        tree = DecisionTreeClassifier(max_depth=1).fit(np.floor(steps), y, sample_weight=weight)
        stump = UniformStump(n_stumps=n_stumps).fit(rows, y, sample_weight=weight)
        np.testing.assert_allclose(
            stump.predict_proba(rows), tree.predict_proba(np.floor(steps)), atol=1e-12
        )
        np.testing.assert_array_equal(stump.predict(rows), tree.predict(np.floor(steps)))


def test_a_stump_without_anything_to_cut_predicts_the_majority():
    stump = UniformStump().fit(np.ones((5, 2)), [0, 1, 1, 0, 1])
    assert stump.threshold_ == 0
    np.testing.assert_array_equal(stump.predict([[0.0, 0.0], [9.0, 9.0]]), [1, 1])
    np.testing.assert_allclose(stump.predict_proba([[9.0, 9.0]]), [[0.4, 0.6]])


def test_rows_without_weight_do_not_choose_but_count_as_rows():
    rows, y = np.array([[0.0, 0.0], [1.0, 4.0], [9.0, 9.0]]), np.array([0, 1, 1])
    stump = UniformStump(n_stumps=8).fit(rows, y, sample_weight=[1.0, 1.0, 0.0])
    assert stump.predict([[1.0, 4.0]]).tolist() == [1]
    with pytest.raises(ValueError, match=r"sample_weight has shape \(2,\), the labels have \(3,\)"):
        stump.fit(rows, y, sample_weight=[1.0, 1.0])


def test_stumps_are_boosted_with_their_weights():
    rows, labels = load_breast_cancer(return_X_y=True)
    boosted = AdaBoostClassifier(UniformStump(n_stumps=10), n_estimators=30, random_state=0)
    scores = list(boosted.fit(rows[::2], labels[::2]).staged_score(rows[1::2], labels[1::2]))
    assert len(scores) == 30
    assert scores[-1] > 0.94 > scores[0]
