"""Baseline strategies, which predict without the features."""

from typing import Any

from sklearn.dummy import DummyClassifier, DummyRegressor

from mlaut.estimators.metadata import properties
from mlaut.estimators.mlaut_estimator import MlautEstimator
from mlaut.records import CLASSIFICATION, REGRESSION

__all__ = ["Baseline_Classifier", "Baseline_Regressor"]


@properties(
    name="BaselineClassifier",
    estimator_family=["Baseline"],
    tasks=[CLASSIFICATION],
    missing=True,
    categories=True,
    sparse=True,
)
class Baseline_Classifier(MlautEstimator):
    """The most frequent class of the training part, for every row.

    The probability of each class is its share of the training rows. The expected log loss is
    therefore at most that of equal probabilities for all classes.
    """

    def build(self, **_: Any) -> Any:
        """Return a `DummyClassifier`."""
        return self.tuned(DummyClassifier(strategy="prior"))


@properties(
    name="BaselineRegressor",
    estimator_family=["Baseline"],
    tasks=[REGRESSION],
    missing=True,
    categories=True,
    sparse=True,
)
class Baseline_Regressor(MlautEstimator):
    """The median of the training part, for every row."""

    def build(self, **_: Any) -> Any:
        """Return a `DummyRegressor`."""
        return self.tuned(DummyRegressor(strategy="median"))
