"""By which argument of fit a model takes the weights of rows."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mlaut.estimators import Generic_Estimator
from mlaut.estimators.preparing.weights import weight_argument

PIPELINE = make_pipeline(StandardScaler(), Ridge())


class Resampler(BaseEstimator):
    """Step that draws rows itself, as those of imbalanced-learn do."""

    def fit(self, X, y):
        return self

    def transform(self, X):
        return X

    def fit_resample(self, X, y):
        return X, y


@pytest.mark.parametrize(
    ("model", "argument"),
    [
        (Ridge(), "sample_weight"),
        (KNeighborsRegressor(), None),
        (PIPELINE, "ridge__sample_weight"),
        (make_pipeline(Resampler(), Ridge()), None),
        (GridSearchCV(PIPELINE, {}), "ridge__sample_weight"),
        (RandomizedSearchCV(Ridge(), {}), "sample_weight"),
        (TransformedTargetRegressor(Ridge()), "sample_weight"),
        (TransformedTargetRegressor(KNeighborsRegressor()), None),
        (TunedThresholdClassifierCV(LogisticRegression()), None),
        (FixedThresholdClassifier(LogisticRegression()), None),
    ],
    ids=str,
)
def test_weights_are_taken_by_one_argument_of_fit(model, argument):
    assert weight_argument(model) == argument


def test_a_strategy_hands_weights_to_the_last_step():
    X, y = np.arange(8.0)[:, None] ** 2, np.arange(8) % 3 * 1.0
    weights = np.arange(8) + 1.0
    found = Generic_Estimator(PIPELINE).fit(X, y, sample_weight=weights).predict(X)
    PIPELINE.fit(X, y, ridge__sample_weight=weights)
    assert (found == PIPELINE.predict(X)).all()


def test_a_stack_without_a_last_estimator_is_a_strategy():
    stack = StackingClassifier([("a", LogisticRegression())])
    assert not hasattr(stack, "predict")  # it has one as soon as it is fitted
    assert Generic_Estimator(stack).tasks == ("Classification",)
    assert isinstance(stack, ClassifierMixin)
