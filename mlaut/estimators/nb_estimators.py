"""Naive Bayes strategies, which assume that features are independent within each class."""

from typing import Any

from sklearn.naive_bayes import BernoulliNB, GaussianNB

from mlaut.estimators.metadata import properties
from mlaut.estimators.mlaut_estimator import MlautEstimator
from mlaut.estimators.preprocessing import Preprocessor
from mlaut.records import CLASSIFICATION

__all__ = ["Bernoulli_Naive_Bayes", "Gaussian_Naive_Bayes"]


@properties(
    name="GaussianNaiveBayes",
    estimator_family=["Naive_Bayes"],
    tasks=[CLASSIFICATION],
    preprocessing=Preprocessor(normalize_features=True),
)
class Gaussian_Naive_Bayes(MlautEstimator):
    """Features normal within each class, and independent."""

    def build(self, **_: Any) -> Any:
        """Return a `GaussianNB`."""
        return self.tuned(GaussianNB())


@properties(
    name="BernoulliNaiveBayes",
    estimator_family=["Naive_Bayes"],
    tasks=[CLASSIFICATION],
    sparse=True,
    preprocessing=Preprocessor(normalize_features=True),
)
class Bernoulli_Naive_Bayes(MlautEstimator):
    """Features cut at their mean (at 0 once they are scaled), and independent within each class."""

    def build(self, **_: Any) -> Any:
        """Return a `BernoulliNB`."""
        return self.tuned(BernoulliNB(binarize=0.0))
