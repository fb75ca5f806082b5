"""Support vector machines."""

from typing import Any

import numpy as np
from sklearn.svm import SVC, SVR

from mlaut.estimators.metadata import properties
from mlaut.estimators.mlaut_estimator import MlautEstimator
from mlaut.estimators.preprocessing import Preprocessor
from mlaut.estimators.sizes import SizeLimit
from mlaut.records import CLASSIFICATION, REGRESSION

__all__ = ["MOST_STEPS", "SVC_mlaut", "SVR_mlaut"]

MOST_STEPS = 1_000_000
"""Largest number of steps of the solver; a fit that stops there unconverged raises a warning.

Without a bound, one fit with C = 10^10 takes half a minute on 87 rows of noise. On the tables of
the starter collection, no fit with C up to 10^4 takes as many steps; docs/strategies.md has the
figures.
"""


@properties(
    name="SVC",
    estimator_family=["Support_Vector_Machines"],
    tasks=[CLASSIFICATION],
    sparse=True,
    size_limit=SizeLimit(rows=20_000),
    preprocessing=Preprocessor(normalize_features=True),
    param_grid={"C": np.logspace(-2, 10, 13).tolist(), "gamma": np.logspace(-9, 3, 13).tolist()},
)
class SVC_mlaut(MlautEstimator):
    """Support vector classification with a Gaussian kernel and at most `MOST_STEPS` steps."""

    def build(self, **_: Any) -> Any:
        """Return an `SVC`, tuned."""
        return self.tuned(SVC(kernel="rbf", max_iter=MOST_STEPS))


@properties(
    name="SVR",
    estimator_family=["Support_Vector_Machines"],
    tasks=[REGRESSION],
    sparse=True,
    normalize_labels=True,
    size_limit=SizeLimit(rows=20_000),
    preprocessing=Preprocessor(normalize_features=True),
    param_grid={"C": np.logspace(-2, 3, 11).tolist(), "gamma": np.logspace(-5, 1, 13).tolist()},
)
class SVR_mlaut(MlautEstimator):
    """Support vector regression with a Gaussian kernel, of the scaled target.

    The solver takes `MOST_STEPS` steps at most.

    The grid ends at C = 10^3 (the classifier's at 10^10), because beyond it a fit on a noisy target
    takes seconds to minutes (300 rows, 10 columns).
    """

    def build(self, **_: Any) -> Any:
        """Return an `SVR`, tuned."""
        return self.tuned(SVR(kernel="rbf", max_iter=MOST_STEPS))
