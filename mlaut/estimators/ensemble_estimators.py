"""Ensembles of trees: averaging and boosting."""

from typing import Any

from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from mlaut.estimators.metadata import properties
from mlaut.estimators.mlaut_estimator import MlautEstimator
from mlaut.estimators.preprocessing import Preprocessor
from mlaut.estimators.sizes import SizeLimit
from mlaut.records import CLASSIFICATION, REGRESSION

__all__ = [
    "Bagging_Classifier",
    "Bagging_Regressor",
    "Gradient_Boosting_Classifier",
    "Gradient_Boosting_Regressor",
    "Hist_Gradient_Boosting_Classifier",
    "Hist_Gradient_Boosting_Regressor",
    "Random_Forest_Classifier",
    "Random_Forest_Classifier_Large_Grid",
    "Random_Forest_Regressor",
]

SIZES = [10, 100, 200, 500]
FOREST = {
    "n_estimators": SIZES,
    "max_features": ["sqrt", "log2", None],
    "max_depth": [10, 100, None],
}
BAGS = {"n_estimators": SIZES, "max_samples": [0.5, 1.0], "max_features": [0.5, 1.0]}
BOOSTING = {
    "n_estimators": [100, 200, 500],
    "max_depth": list(range(1, 11)),
    "learning_rate": [0.01, 0.1, 1],
}
HISTOGRAMS = {
    "max_iter": [100, 300],
    "learning_rate": [0.03, 0.1, 0.3],
    "max_leaf_nodes": [7, 31],
    "min_samples_leaf": [5, 20],
}
ORDINAL = Preprocessor(categories="ordinal")
NATIVE = Preprocessor(categories="native", max_categories=250)


@properties(
    name="RandomForestClassifier",
    estimator_family=["Ensemble_methods"],
    tasks=[CLASSIFICATION],
    missing=True,
    sparse=True,
    preprocessing=ORDINAL,
    size_limit=SizeLimit(values=5_000_000),
    param_grid=FOREST,
)
class Random_Forest_Classifier(MlautEstimator):
    """Trees on bootstrap samples, with a random choice of features at each split."""

    def build(self, **_: Any) -> Any:
        """Return a `RandomForestClassifier`, tuned."""
        return self.tuned(RandomForestClassifier())


@properties(
    name="RandomForestClassifier_large_grid",
    estimator_family=["Ensemble_methods"],
    tasks=[CLASSIFICATION],
    missing=True,
    sparse=True,
    preprocessing=ORDINAL,
    size_limit=SizeLimit(values=500_000),
    param_grid={
        **FOREST,
        "criterion": ["gini", "entropy"],
        "bootstrap": [True, False],
        "min_samples_split": [2, 3, 10],
    },
)
class Random_Forest_Classifier_Large_Grid(Random_Forest_Classifier):
    """The forest with the grid of the published code of the MLaut study.

    That grid had 576 candidates. A quarter of them had ``max_features="auto"``, which means
    ``"sqrt"``, so this grid has the 432 distinct candidates.
    """


@properties(
    name="BaggingClassifier",
    estimator_family=["Ensemble_methods"],
    tasks=[CLASSIFICATION],
    sparse=True,
    preprocessing=ORDINAL,
    size_limit=SizeLimit(values=10_000_000),
    param_grid=BAGS,
)
class Bagging_Classifier(MlautEstimator):
    """Trees on random samples of rows and features."""

    def build(self, **_: Any) -> Any:
        """Return a `BaggingClassifier` of trees, tuned."""
        return self.tuned(BaggingClassifier(DecisionTreeClassifier()))


@properties(
    name="GradientBoostingClassifier",
    estimator_family=["Ensemble_methods"],
    tasks=[CLASSIFICATION],
    sparse=True,
    preprocessing=ORDINAL,
    size_limit=SizeLimit(values=4_000_000, per_class=True),
    param_grid=BOOSTING,
)
class Gradient_Boosting_Classifier(MlautEstimator):
    """Trees that each correct the ones before."""

    def build(self, **_: Any) -> Any:
        """Return a `GradientBoostingClassifier`, tuned."""
        return self.tuned(GradientBoostingClassifier())


@properties(
    name="HistGradientBoostingClassifier",
    estimator_family=["Ensemble_methods"],
    tasks=[CLASSIFICATION],
    missing=True,
    categories=True,
    preprocessing=NATIVE,
    size_limit=SizeLimit(values=500_000_000, per_class=True),
    param_grid=HISTOGRAMS,
)
class Hist_Gradient_Boosting_Classifier(MlautEstimator):
    """Gradient boosting on binned features; it handles gaps and categories itself."""

    def build(self, **_: Any) -> Any:
        """Return a `HistGradientBoostingClassifier`, tuned."""
        return self.tuned(
            HistGradientBoostingClassifier(categorical_features="from_dtype", early_stopping=False)
        )


@properties(
    name="RandomForestRegressor",
    estimator_family=["Ensemble_methods"],
    tasks=[REGRESSION],
    missing=True,
    sparse=True,
    preprocessing=ORDINAL,
    size_limit=SizeLimit(values=5_000_000),
    param_grid=FOREST,
)
class Random_Forest_Regressor(MlautEstimator):
    """Trees on bootstrap samples, with a random choice of features at each split."""

    def build(self, **_: Any) -> Any:
        """Return a `RandomForestRegressor`, tuned."""
        return self.tuned(RandomForestRegressor())


@properties(
    name="BaggingRegressor",
    estimator_family=["Ensemble_methods"],
    tasks=[REGRESSION],
    sparse=True,
    preprocessing=ORDINAL,
    size_limit=SizeLimit(values=10_000_000),
    param_grid=BAGS,
)
class Bagging_Regressor(MlautEstimator):
    """Trees on random samples of rows and features."""

    def build(self, **_: Any) -> Any:
        """Return a `BaggingRegressor` of trees, tuned."""
        return self.tuned(BaggingRegressor(DecisionTreeRegressor()))


@properties(
    name="GradientBoostingRegressor",
    estimator_family=["Ensemble_methods"],
    tasks=[REGRESSION],
    sparse=True,
    preprocessing=ORDINAL,
    size_limit=SizeLimit(values=4_000_000, per_class=True),
    param_grid=BOOSTING,
)
class Gradient_Boosting_Regressor(MlautEstimator):
    """Trees that each correct the ones before."""

    def build(self, **_: Any) -> Any:
        """Return a `GradientBoostingRegressor`, tuned."""
        return self.tuned(GradientBoostingRegressor())


@properties(
    name="HistGradientBoostingRegressor",
    estimator_family=["Ensemble_methods"],
    tasks=[REGRESSION],
    missing=True,
    categories=True,
    preprocessing=NATIVE,
    size_limit=SizeLimit(values=500_000_000, per_class=True),
    param_grid=HISTOGRAMS,
)
class Hist_Gradient_Boosting_Regressor(MlautEstimator):
    """Gradient boosting on binned features; it handles gaps and categories itself."""

    def build(self, **_: Any) -> Any:
        """Return a `HistGradientBoostingRegressor`, tuned."""
        return self.tuned(
            HistGradientBoostingRegressor(categorical_features="from_dtype", early_stopping=False)
        )
