"""Scorers with which tuning uses the metric of the study."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.utils.metaestimators import available_if

from mlaut.costs import Costs
from mlaut.estimators.strategy.mlaut_estimator import MlautEstimator
from mlaut.helpers.markup import beside
from mlaut.records import CLASSIFICATION, REGRESSION

_NAMES: dict[str, str] = beside(__file__)
"""Scorers of scikit-learn by other names that the analysis has for them."""

DEFAULTS = ("accuracy", "error", "misclassification", "mmce", "r2")
"""Metrics that tuning maximises without a word: accuracy, its counterpart, and R2."""

_OF_REGRESSION = ("explained_variance", "neg_mean_poisson_deviance", "neg_mean_gamma_deviance")
_OF_PROBABILITIES = ("roc_auc", "log_loss", "brier", "average_precision", "top_k", "likelihood")
_OF_ONE_CLASS = ("average_precision", "f1", "jaccard", "neg_brier_score", "precision", "recall")


def tuned_by(strategy: MlautEstimator, metric: str) -> MlautEstimator:
    """Return a strategy that tunes by a metric, if it tunes and has no score of its own.

    The strategy is returned unchanged if the metric is for another task, is the default score, is
    not a scorer of scikit-learn, or needs probabilities that the strategy does not predict.

    Parameters
    ----------
    strategy : MlautEstimator
    metric : str
        Name of a metric of the analysis; empty for none.

    Examples
    --------
    >>> from mlaut.estimators import as_strategies
    >>> (svc,) = as_strategies("SVC")
    >>> tuned_by(svc, "mcc").describe()["tuning"]
    'exhaustive grid, 5-fold cross-validation on the training part, by matthews_corrcoef'
    """
    copy = clone(strategy)
    copy.chosen_by = strategy.chosen_by
    changed = False
    for part in (copy, *copy.get_params(deep=True).values()):
        if not isinstance(part, MlautEstimator) or "scoring" not in part.get_params(deep=False):
            continue
        if part.scoring is None and (part.param_grid or part.search_space):
            part.scoring = _scorer_for(part, metric)
            changed |= part.scoring is not None
    return copy if changed else strategy


def _scorer_for(strategy: MlautEstimator, metric: str) -> Any:
    if costs := re.fullmatch(r"\s*cost\((.*)\)\s*", metric, re.DOTALL | re.I):
        return Gain(str(Costs.of(costs[1]))) if strategy.tasks == (CLASSIFICATION,) else None
    name = metric.strip().lower().replace(" ", "_").replace("-", "_")
    name = _NAMES.get(name, name)
    if name in DEFAULTS or name not in get_scorer_names():
        return None
    regression = "error" in name or name in _OF_REGRESSION
    if strategy.tasks != (REGRESSION if regression else CLASSIFICATION,):
        return None
    if any(word in name for word in _OF_PROBABILITIES) and not strategy._has("predict_proba"):
        return None
    return OnPositions(name) if name in _OF_ONE_CLASS else name


@dataclass(frozen=True)
class OnPositions:
    """Scorer that gets classes as positions; the last class is positive, as in the analysis.

    Attributes
    ----------
    name : str
        Name of a scorer of scikit-learn.
    """

    name: str
    only_predictions = True

    def __call__(self, estimator: Any, X: Any, y: Any, **given: Any) -> float:
        """Return the score of a fitted classifier."""
        if np.ndim(y) > 1:  # labels that a row has or has not are positions already
            return float(get_scorer(self.name)(estimator, X, y, **given))
        places = _Positions(estimator)
        return float(get_scorer(self.name)(places, X, places.positions(y), **given))

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Gain:
    """Scorer of a cost matrix: minus the mean cost.

    Attributes
    ----------
    costs : str
        Costs in the form that `mlaut.costs.Costs` reads.
    """

    costs: str
    only_predictions = True

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """Return the gain of a fitted classifier."""
        return Costs.of(self.costs).gain(np.asarray(y), estimator.predict(X))

    def __str__(self) -> str:
        return f"cost({self.costs})"


class _Positions(ClassifierMixin, BaseEstimator):
    """Fitted classifier whose classes are replaced by their positions."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self.classes_ = np.arange(len(estimator.classes_))

    def positions(self, labels: Any) -> np.ndarray:
        return np.searchsorted(self.estimator.classes_, np.asarray(labels))

    def predict(self, X: Any) -> np.ndarray:
        return self.positions(self.estimator.predict(X))

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        return np.asarray(self.estimator.predict_proba(X))
