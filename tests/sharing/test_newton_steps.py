"""Compiled steps of boosted leaves have the bits of NumPy's sums and of scikit-learn's scores."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier

from .sharing_cases import CLASSES, STRATIFIED, both, check_all_shared

pytest.importorskip("numba")

from mlaut.sharing.compiled import newton_steps
from mlaut.sharing.learners import boosting


def test_sums_are_numpys():
    random = np.random.default_rng(0)
    for size in [*range(300), 511, 1025, 4099]:
        numbers = random.normal(size=size + 1) * 10.0 ** random.integers(-9, 9, size + 1)
        assert newton_steps._sum(numbers, 1, size + 1) == numbers[1:].sum(), size


@pytest.mark.parametrize("table", CLASSES)
def test_scores_are_scikit_learns(table, monkeypatch):
    columns = []
    compiled = newton_steps.add_steps

    class Watched:
        @staticmethod
        def add_steps(values, leaves, target, gradient, raw, column, rules):
            compiled(values, leaves, target, gradient, raw, column, rules)
            columns.append(column)

    monkeypatch.setattr(boosting, "_compiled", lambda: Watched)
    model = GradientBoostingClassifier(random_state=0)
    grid = {"n_estimators": [2, 30], "max_depth": [1, 8], "learning_rate": [0.1, 1]}
    scoring = ["accuracy", "neg_log_loss"]
    plain, sharing = both(model, grid, *CLASSES[table], STRATIFIED, scoring=scoring, refit=False)
    for key in plain.cv_results_:
        if key.startswith("split"):
            np.testing.assert_array_equal(plain.cv_results_[key], sharing.cv_results_[key])
    check_all_shared(sharing)
    n_classes = len(set(CLASSES[table][1]))
    assert set(columns) == set(range(n_classes if n_classes > 2 else 1))


def test_a_leaf_without_curvature_stays_where_it_is():
    """A step of gradient 1e-170 over curvature 1e-170 is none, as in scikit-learn."""
    values, raw = np.array([7.0, 7.0, 7.0]), np.array([[1.0], [2.0]])
    target, gradient = np.array([0.0, 1.0]), np.array([-1e-170, 0.5])
    leaves = np.array([1, 2])
    newton_steps.add_steps(values, leaves, target, gradient, raw, 0, (0.1, 1.0, 1e-150))
    assert values.tolist() == [7.0, 0.0, 2.0]
    assert raw.tolist() == [[1.0], [2.2]]
