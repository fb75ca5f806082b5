"""Baselines: what can be predicted without looking at the features."""

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
    """The most frequent class of the training part, always; its probabilities are their shares.

    A class that takes a third of the training rows has the probability 1/3 in every row, so that
    the log loss is at most that of a guess among all classes alike.
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
    """The median of the training part, always."""

    def build(self, **_: Any) -> Any:
        """Return a `DummyRegressor`."""
        return self.tuned(DummyRegressor(strategy="median"))
