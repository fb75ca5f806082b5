"""Nearest-neighbour strategies, which predict a row from similar training rows."""

from typing import Any

import sklearn
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.utils.fixes import parse_version

from mlaut.estimators.metadata import DataShape, properties
from mlaut.estimators.mlaut_estimator import MlautEstimator
from mlaut.estimators.preprocessing import Preprocessor
from mlaut.estimators.sizes import SizeLimit
from mlaut.records import CLASSIFICATION, REGRESSION

__all__ = ["K_Neighbours", "K_Neighbours_Regressor"]

# Before version 1.9, scikit-learn's brute-force search with p=1 refused labels that are text.
ALGORITHM = "auto" if parse_version(sklearn.__version__) >= parse_version("1.9") else "ball_tree"


def _untuned_number(shape: DataShape | None) -> int:
    """Return the number of neighbours where too few rows exist for tuning: at most 5."""
    return 5 if shape is None else min(5, shape.n_rows)


@properties(
    name="K_Neighbours",
    estimator_family=["Cluster"],
    tasks=[CLASSIFICATION],
    sparse=True,
    size_limit=SizeLimit(rows=1_000_000),
    preprocessing=Preprocessor(normalize_features=True),
    param_grid={"n_neighbors": list(range(1, 31)), "p": [1, 2]},
)
class K_Neighbours(MlautEstimator):
    """The class that most of the nearest training rows have."""

    def build(self, shape: DataShape | None = None, **_: Any) -> Any:
        """Return a `KNeighborsClassifier`, tuned."""
        return self.tuned(KNeighborsClassifier(_untuned_number(shape), algorithm=ALGORITHM))


@properties(
    name="K_Neighbours_Regressor",
    estimator_family=["Cluster"],
    tasks=[REGRESSION],
    sparse=True,
    size_limit=SizeLimit(rows=1_000_000),
    preprocessing=Preprocessor(normalize_features=True),
    param_grid={"n_neighbors": list(range(1, 31)), "p": [1, 2]},
)
class K_Neighbours_Regressor(MlautEstimator):
    """The mean of the nearest training rows."""

    def build(self, shape: DataShape | None = None, **_: Any) -> Any:
        """Return a `KNeighborsRegressor`, tuned."""
        return self.tuned(KNeighborsRegressor(_untuned_number(shape)))
