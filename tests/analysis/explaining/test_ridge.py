"""The left-out predictions are those of scikit-learn's ridge regression."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeCV

from mlaut.analysis.explaining.ridge import _PENALTIES, left_out_predictions

RNG = np.random.default_rng(0)
X = RNG.normal(size=(37, 4))
PLACES = np.arange(37) % 7


def test_predictions_are_scikit_learns():
    y = np.stack([X[:, 0] + RNG.normal(size=37), X @ [1, -1, 2, 0] + RNG.normal(size=37)], axis=1)
    predicted, mean = left_out_predictions(X, y, PLACES)
    for fold in range(7):
        out = fold == PLACES
        x, n = X[~out], (~out).sum()
        for at in range(2):
            model = RidgeCV(n * _PENALTIES[:-1]).fit(x - x.mean(axis=0), y[~out, at])
            theirs = model.predict(X[out] - x.mean(axis=0))
            assert predicted[out, at] == pytest.approx(theirs, rel=1e-6)
            assert mean[out, at] == pytest.approx(np.full(out.sum(), y[~out, at].mean()))


def test_noise_is_mostly_predicted_by_its_mean():
    y = RNG.normal(size=(37, 200))
    predicted, mean = left_out_predictions(X, y, PLACES)
    assert (predicted == mean).all(axis=0).sum() > 5  # the infinite penalty in all folds
    assert ((y - predicted) ** 2).sum() > ((y - mean) ** 2).sum()


def test_a_property_that_repeats_another_changes_nothing_much():
    y = X[:, :1] + 0.1 * RNG.normal(size=(37, 1))
    doubled = left_out_predictions(np.hstack([X, X[:, :1]]), y, PLACES)[0]
    assert np.corrcoef(doubled[:, 0], y[:, 0])[0, 1] > 0.95
    assert np.isfinite(doubled).all()
