"""Strategies that wrap another one: balanced classes, calibrated probabilities, thresholds.

``"balanced(SVC)"``, ``"calibrated(SVC)"`` and ``"thresholded(SVC)"`` are names of strategies
wherever one is expected: in Python, in study files and on the command line.
"""

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.utils import compute_sample_weight

from mlaut.costs import Costs
from mlaut.errors import StrategyError
from mlaut.estimators.searches.tuning import TuningFolds, TuningWarning
from mlaut.estimators.strategy.generic_estimator import Generic_Estimator, name_of
from mlaut.estimators.strategy.mlaut_estimator import MlautEstimator
from mlaut.records import CLASSIFICATION


class _Wrapper(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Base class of classifiers around a classifier."""

    estimator: Any

    @property
    def classes_(self) -> np.ndarray:
        """Class labels, sorted."""
        return self.estimator_.classes_

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels: shape (n_rows,)."""
        return self.estimator_.predict(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict probabilities: shape (n_rows, n_classes)."""
        return self.estimator_.predict_proba(X)

    def _folds(self, cv: int, random_state: Any, X: Any, y: Any) -> list[Any]:
        """Return folds whose training parts have all classes; none if there are too few rows."""
        folds = TuningFolds(cv, random_state=random_state)
        if folds.get_n_splits(X, y) >= 2:
            return list(folds.split(X, y))
        kind = type(self).__name__.lower()
        warnings.warn(f"not {kind}: too few rows for two folds", TuningWarning, stacklevel=3)
        return []


class Balanced(_Wrapper):
    """Classifier fitted with weights that make the classes of the training rows equally heavy.

    A row weighs n / (number of classes x rows of its class), where n is the number of rows.

    Parameters
    ----------
    estimator : estimator
        Classifier or strategy whose ``fit`` takes weights.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a copy of the classifier; ``sample_weight`` multiplies the weights of the classes.

        Raises
        ------
        StrategyError
            The ``fit`` of a strategy takes no weights.
        """
        if isinstance(self.estimator, MlautEstimator) and not self.estimator.takes_weights():
            raise StrategyError(
                f"balanced({self.estimator.name}): its fit takes no sample_weight; leave it out"
            )
        weights = compute_sample_weight("balanced", np.asarray(y))
        if sample_weight is not None:
            weights = weights * np.asarray(sample_weight)
        self.estimator_ = clone(self.estimator).fit(X, y, sample_weight=weights)
        return self


@dataclass(eq=False, repr=False)
class Calibrated(_Wrapper):
    """Classifier whose probabilities are calibrated on rows that it was not fitted on.

    It is scikit-learn's `CalibratedClassifierCV` with the folds of `TuningFolds`, whose training
    parts have all classes. It averages over a calibrated classifier for each fold.

    Parameters
    ----------
    estimator : estimator
        Classifier or strategy with probabilities or decision values.
    method : {"sigmoid", "isotonic"}, default "sigmoid"
        Platt's sigmoid, or isotonic regression, which needs some hundred rows for each class.
    cv : int, default 5
        Number of folds.
    random_state : int, RandomState or None, default None
        Seed of the folds.
    """

    estimator: Any
    _: KW_ONLY
    method: str = "sigmoid"
    cv: int = 5
    random_state: Any = None

    def fit(self, X: Any, y: Any) -> Self:
        """Fit and calibrate; without two folds, the classifier is fitted uncalibrated."""
        model = clone(self.estimator)
        if folds := self._folds(self.cv, self.random_state, X, y):
            from sklearn.calibration import CalibratedClassifierCV  # slow to load

            model = CalibratedClassifierCV(model, method=self.method, cv=folds)
        self.estimator_ = model.fit(X, y)
        return self


@dataclass(eq=False, repr=False)
class Thresholded(_Wrapper):
    """Classifier of two classes with the threshold that scored best on rows outside of its fit.

    It is scikit-learn's `TunedThresholdClassifierCV` with the folds of `TuningFolds`, and is fitted
    on all rows in the end. The probabilities of the classifier do not change.

    Parameters
    ----------
    estimator : estimator
        Classifier or strategy with probabilities or decision values.
    scoring : str, default "balanced_accuracy"
        Name of a scorer of scikit-learn for labels. It is not used if there are ``costs``.
    costs : mapping of (truth, predicted) to float, str, or None
        Costs as in `mlaut.costs.Costs`; the threshold then has the smallest mean cost.
    cv : int, default 5
        Number of folds.
    random_state : int, RandomState or None, default None
        Seed of the folds.
    """

    estimator: Any
    _: KW_ONLY
    scoring: str = "balanced_accuracy"
    costs: Mapping[tuple[Any, Any], float] | str | None = None
    cv: int = 5
    random_state: Any = None

    def fit(self, X: Any, y: Any) -> Self:
        """Tune the threshold and fit.

        With fewer than two folds, or constant probabilities in a fold, the usual threshold is used.

        Raises
        ------
        StrategyError
            There are not two classes.
        """
        n_classes = len(np.unique(np.asarray(y)))
        if n_classes != 2:
            raise StrategyError(
                f"thresholds are tuned for two classes, and the training rows have {n_classes}; "
                "leave this strategy out for this dataset"
            )
        plain = clone(self.estimator)
        if folds := self._folds(self.cv, self.random_state, X, y):
            scorer = self.scoring if self.costs is None else make_scorer(Costs.of(self.costs).gain)
            tuned = TunedThresholdClassifierCV(plain, scoring=scorer, cv=folds)
            try:
                self.estimator_ = tuned.fit(X, y)
            except ValueError as error:
                if "constant predictions" not in str(error):
                    raise
                warnings.warn(
                    "not thresholded: in a fold, all rows get the same probability",
                    TuningWarning,
                    stacklevel=2,
                )
            else:
                return self
        self.estimator_ = plain.fit(X, y)
        return self


WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "balanced": Balanced,
    "calibrated": Calibrated,
    "thresholded": Thresholded,
}
"""Makers of wrappers by the word before the parenthesis."""


def wrapper_of(word: str) -> tuple[str, str] | None:
    """Return the word of a wrapper and the words in its parentheses; None for any other text.

    Examples
    --------
    >>> wrapper_of("calibrated(SVC)"), wrapper_of("SVC")
    (('calibrated', 'SVC'), None)
    """
    match = re.fullmatch(r"(\w+)\((.+)\)", word)
    return (match[1], match[2]) if match and match[1] in WRAPPERS else None


def wrapped(strategies: Iterator[MlautEstimator], kind: str) -> Iterator[MlautEstimator]:
    """Yield wrapped classifiers; other strategies that a collective word chose are left out.

    Raises
    ------
    StrategyError
        A strategy that was chosen by its name is not for classification.
    """
    for strategy in strategies:
        if strategy.tasks == (CLASSIFICATION,):
            name = f"{kind}({strategy.name})"
            wrapper = Generic_Estimator(WRAPPERS[kind](strategy), name=name, preprocessing=None)
            wrapper.chosen_by = strategy.chosen_by
            yield wrapper
        elif not strategy.chosen_by:
            raise StrategyError(
                f"{kind}({strategy.name}) is for classification, and {name_of(strategy)} is for "
                f"{' and '.join(strategy.tasks)}; leave it out"
            )
