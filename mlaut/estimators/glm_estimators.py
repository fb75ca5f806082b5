"""Generalised linear models."""

from typing import Any

import numpy as np
import sklearn
from sklearn import linear_model
from sklearn.linear_model import Lasso, LassoLars, LogisticRegression, Ridge, SGDClassifier
from sklearn.utils.fixes import parse_version

from mlaut.estimators.metadata import properties
from mlaut.estimators.mlaut_estimator import MlautEstimator
from mlaut.estimators.preprocessing import Preprocessor
from mlaut.records import CLASSIFICATION, REGRESSION

__all__ = [
    "Lasso_Lars",
    "Lasso_mlaut",
    "Logistic_Regression",
    "Passive_Aggressive_Classifier",
    "Ridge_Regression",
]

POWERS = np.logspace(-2, 10, 13).tolist()
RELATIVE = np.logspace(-4, 0, 13).tolist()
"""Penalties for a target of standard deviation 1. At penalty 1 all coefficients are 0."""


def _passive_aggressive() -> tuple[Any, str]:
    """Return the classifier of the installed scikit-learn, and its name of the parameter C."""
    if parse_version(sklearn.__version__) >= parse_version("1.8"):
        online = SGDClassifier(
            loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0, max_iter=1000
        )
        return online, "eta0"
    return linear_model.PassiveAggressiveClassifier(max_iter=1000), "C"


@properties(
    name="LogisticRegression",
    estimator_family=["Generalized_Linear_Models"],
    tasks=[CLASSIFICATION],
    sparse=True,
    preprocessing=Preprocessor(normalize_features=True),
    param_grid={"C": np.logspace(-5, 15, 13, base=2).tolist()},
)
class Logistic_Regression(MlautEstimator):
    """Logistic regression with an L2 penalty."""

    def build(self, **_: Any) -> Any:
        """Return a `LogisticRegression`, tuned."""
        return self.tuned(LogisticRegression(max_iter=1000))


@properties(
    name="PassiveAggressiveClassifier",
    estimator_family=["Generalized_Linear_Models"],
    tasks=[CLASSIFICATION],
    sparse=True,
    preprocessing=Preprocessor(normalize_features=True),
    param_grid={_passive_aggressive()[1]: POWERS},
)
class Passive_Aggressive_Classifier(MlautEstimator):
    """The online passive-aggressive linear classifier (PA-I).

    Since scikit-learn 1.8 it is a learning rate of `SGDClassifier`, and its C is called ``eta0``.
    """

    def build(self, **_: Any) -> Any:
        """Return the passive-aggressive classifier, tuned."""
        return self.tuned(_passive_aggressive()[0])


@properties(
    name="RidgeRegression",
    estimator_family=["Generalized_Linear_Models"],
    tasks=[REGRESSION],
    sparse=True,
    preprocessing=Preprocessor(normalize_features=True),
    param_grid={"alpha": np.logspace(-4, 4, 17).tolist()},
)
class Ridge_Regression(MlautEstimator):
    """Least squares with an L2 penalty."""

    def build(self, **_: Any) -> Any:
        """Return a `Ridge`, tuned."""
        return self.tuned(Ridge())


@properties(
    name="Lasso",
    estimator_family=["Generalized_Linear_Models"],
    tasks=[REGRESSION],
    sparse=True,
    normalize_labels=True,
    preprocessing=Preprocessor(normalize_features=True),
    param_grid={"alpha": RELATIVE},
)
class Lasso_mlaut(MlautEstimator):
    """Least squares with an L1 penalty, of the scaled target."""

    def build(self, **_: Any) -> Any:
        """Return a `Lasso`, tuned."""
        return self.tuned(Lasso(max_iter=10_000))


@properties(
    name="LassoLars",
    estimator_family=["Generalized_Linear_Models"],
    tasks=[REGRESSION],
    normalize_labels=True,
    preprocessing=Preprocessor(normalize_features=True),
    param_grid={"alpha": RELATIVE},
)
class Lasso_Lars(MlautEstimator):
    """The Lasso by least-angle regression, of the scaled target."""

    def build(self, **_: Any) -> Any:
        """Return a `LassoLars`, tuned."""
        return self.tuned(LassoLars())
