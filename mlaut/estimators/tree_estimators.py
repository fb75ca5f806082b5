"""Single decision trees."""

from typing import Any

from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from mlaut.estimators.metadata import properties
from mlaut.estimators.mlaut_estimator import MlautEstimator
from mlaut.estimators.preprocessing import Preprocessor
from mlaut.estimators.sizes import SizeLimit
from mlaut.records import CLASSIFICATION, REGRESSION

__all__ = ["Decision_Tree_Classifier", "Decision_Tree_Regressor"]

TREE = {
    "max_depth": [None, *range(2, 11), 20, 50, 100],
    "max_features": [None, "sqrt", "log2"],
    "min_samples_leaf": list(range(1, 11)),
}


@properties(
    name="DecisionTreeClassifier",
    estimator_family=["Decision_Tree"],
    tasks=[CLASSIFICATION],
    missing=True,
    sparse=True,
    preprocessing=Preprocessor(categories="ordinal"),
    size_limit=SizeLimit(values=25_000_000),
    param_grid={**TREE, "criterion": ["gini", "entropy"]},
)
class Decision_Tree_Classifier(MlautEstimator):
    """One tree."""

    def build(self, **_: Any) -> Any:
        """Return a `DecisionTreeClassifier`, tuned."""
        return self.tuned(DecisionTreeClassifier())


@properties(
    name="DecisionTreeRegressor",
    estimator_family=["Decision_Tree"],
    tasks=[REGRESSION],
    missing=True,
    sparse=True,
    preprocessing=Preprocessor(categories="ordinal"),
    size_limit=SizeLimit(values=50_000_000),
    param_grid=TREE,
)
class Decision_Tree_Regressor(MlautEstimator):
    """One tree."""

    def build(self, **_: Any) -> Any:
        """Return a `DecisionTreeRegressor`, tuned."""
        return self.tuned(DecisionTreeRegressor())
