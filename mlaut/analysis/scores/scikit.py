"""scikit-learn's scorers as metrics of stored predictions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from inspect import Parameter, signature
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, make_scorer
from sklearn.utils.metaestimators import available_if

from mlaut.analysis.common.arguments import shown
from mlaut.analysis.scores.base import IN_TARGET_UNITS, MLautScore, in_target_units, labels_array
from mlaut.analysis.scores.metrics import LossAbsolute, LossSquared
from mlaut.arrays import takes_several
from mlaut.errors import AnalysisError
from mlaut.records import CLASSIFICATION, REGRESSION

_WITHOUT_UPPER_BOUND = ("mutual_info_score", "positive_likelihood_ratio")
_REGRESSION = ("r2", "explained_variance", "neg_mean_poisson_deviance", "neg_mean_gamma_deviance")


def scikit_score(scorer: Any, greater_is_better: bool | None = None) -> MLautScore:
    """Return a scorer as a metric of which greater is better.

    ``scorer`` is the name of a scorer, a result of ``make_scorer``, or with a direction a function
    of truth and predictions. The negative mean absolute and mean squared error become averages over
    test points; all others become aggregates.
    """
    if greater_is_better is not None:
        return _of_function(scorer, greater_is_better)
    if callable(scorer) and _n_required(scorer) == 2:
        raise AnalysisError(
            f"metric {shown(scorer)} does not say its direction: use metric(function, "
            "greater_is_better=True) or False, or what sklearn.metrics.make_scorer makes of it"
        )
    if scorer == "neg_mean_absolute_error":
        return _Negative(LossAbsolute(), scorer)
    if scorer == "neg_mean_squared_error":
        return _Negative(LossSquared(), scorer)
    return _ScikitScore(scorer)


def _of_function(function: Any, greater_is_better: bool) -> MLautScore:
    score = _FunctionScore(make_scorer(function))
    score.greater_is_better = greater_is_better
    score.name = _name_of_function(function)
    return score


def _name_of(scorer: Any) -> str:
    """Return the name of a scorer, in the form of the names of scikit-learn's scorers.

    ``make_scorer(fbeta_score, beta=2)`` is "fbeta_score(beta=2)"; "neg_" is for a loss.
    """
    if not hasattr(scorer, "_score_func"):
        return str(scorer)
    options = ", ".join(f"{name}={value!r}" for name, value in scorer._kwargs.items())
    name = _name_of_function(scorer._score_func) + f"({options})" * bool(options)
    return name if scorer._sign > 0 else f"neg_{name}"


def _name_of_function(function: Any) -> str:
    return str(getattr(getattr(function, "func", function), "__name__", shown(function)))


def _n_required(function: Any) -> int:
    """Return the number of arguments that a call needs; 3, as for a scorer, if it is unknown."""
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):
        return 3
    return sum(p.default is p.empty and p.kind in _BY_POSITION for p in parameters)


_BY_POSITION = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


class _Negative(MLautScore):
    """Loss with the opposite sign, so that greater is better."""

    greater_is_better = True

    def __init__(self, loss: MLautScore, name: str) -> None:
        self.of, self.name, self.task = loss, name, loss.task
        self.bounds = (-np.inf, 0.0)
        self.undefined, self.incomparable = loss.undefined, loss.incomparable
        self.targets = loss.targets

    def points(self, truth: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        return -self.of.points(truth, predictions)


class _ScikitScore(MLautScore):
    greater_is_better = True
    takes_weights = True

    def __init__(self, scorer: Any) -> None:
        self.scorer = get_scorer(scorer) if isinstance(scorer, str) else scorer
        self.name = scorer if isinstance(scorer, str) else _name_of(scorer)
        if isinstance(scorer, str):
            self.incomparable = IN_TARGET_UNITS if in_target_units(scorer) else ""
            upper = 0.0 if scorer.startswith("neg_") else 1.0
            self.bounds = (-np.inf, np.inf if scorer in _WITHOUT_UPPER_BOUND else upper)
            regression = "error" in scorer or scorer in _REGRESSION
            self.task = REGRESSION if regression else CLASSIFICATION
            # classes are positions, so that pos_label=1 means the last of two sorted classes
            self.encoded = True
            self.targets = "any" if takes_several(self.scorer) else "one"
        else:
            self.targets = "any"  # a function may take what its user knows
        if self.name.endswith("_samples"):
            self.targets = "several"
        self.uses = "probabilities" if self._needs_probabilities() else "labels"

    def _needs_probabilities(self) -> bool:
        classes = np.array([] if self.task == REGRESSION else [0, 1])
        given: dict[str, Any] = {"labels": np.array([0, 1, 0, 1])}
        for _ in range(2):
            try:
                self._ask(_stored(classes=classes, **given), np.array([0, 1, 1, 0]))
            except AttributeError:  # it asks for another form of predictions
                given["probabilities"] = np.full((4, 2), 0.5)
            except TypeError as error:
                raise AnalysisError(
                    f"{shown(self.scorer)} is no metric: give one of mlaut.analysis.metric_names()"
                    ", or what sklearn.metrics.make_scorer makes of a function"
                ) from error
            except Exception:  # of a function that these labels do not suit
                return "probabilities" in given
            else:
                return "probabilities" in given
        raise AnalysisError(
            f"{shown(self.scorer)} needs more than the labels and probabilities that a study "
            "stores: use response_method='predict' or 'predict_proba' of make_scorer"
        )

    def _ask(
        self, stored: BaseEstimator, truth: np.ndarray, weights: np.ndarray | None = None
    ) -> float:
        """Return the value of the scorer, or NaN, for which its error or warning is the reason."""
        given = {} if weights is None else {"sample_weight": weights}
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            try:
                value = float(self.scorer(stored, np.zeros((len(truth), 1)), truth, **given))
                why: list[Any] = [one.message for one in heard[-1:]]
            except ValueError as error:
                value, why = np.nan, [error]
            except TypeError as error:
                if weights is None:
                    raise
                raise AnalysisError(
                    f"{self.name} takes no weights, and a dataset has weights: choose another "
                    "metric"
                ) from error
        if np.isnan(value):
            told = "".join(f" ({' '.join(str(one).split())})" for one in why)
            self.undefined = f"{self.name} is not defined for this test set{told}"
        return value

    def calculate(self, truth: np.ndarray, predictions: np.ndarray) -> float:
        """Score one test set; probabilities are in the order of the classes."""
        self.check_probabilities(predictions)
        if self.uses == "probabilities":
            classes: Sequence[Any] = range(predictions.shape[-1])
        elif self.task == REGRESSION or (self.task is None and np.asarray(truth).dtype.kind == "f"):
            classes = ()
        elif truth.ndim > 1:
            classes = range(truth.shape[1])
        else:
            classes = sorted({*truth.tolist(), *predictions.tolist()})
        return float(self.cells(truth, predictions[None], classes)[0])

    def cells(
        self,
        truth: np.ndarray,
        outputs: np.ndarray,
        classes: Sequence[Any],
        weights: np.ndarray | None = None,
    ) -> np.ndarray:
        labels: Any = np.arange(len(classes)) if self.encoded else labels_array(classes)
        if truth.ndim > 1 and len(classes):
            labels = [np.array([0, 1])] * truth.shape[1]  # as of scikit-learn's models
        given = "probabilities" if self.uses == "probabilities" else "labels"
        try:
            values = [
                self._ask(_stored(classes=labels, **{given: output}), truth, weights)
                for output in outputs
            ]
        except AnalysisError:
            raise
        except Exception as error:  # the user's function may raise anything
            what = f"{type(error).__name__}: {' '.join(str(error).split())}"
            raise AnalysisError(f"metric {self.name} failed: {what}; correct it") from error
        return np.array(values)


class _FunctionScore(_ScikitScore):
    """Metric made of a function of truth and predictions, which takes no probabilities."""

    def _needs_probabilities(self) -> bool:
        return False


def _stored(classes: np.ndarray, **kept: np.ndarray) -> BaseEstimator:
    return (_StoredClassifier if len(classes) else _StoredRegressor)(classes=classes, **kept)


def _has_probabilities(stored: _Stored) -> bool:
    return stored.probabilities is not None


class _Stored(BaseEstimator):
    """Fitted estimator that returns stored predictions of one test set to a scorer."""

    def __init__(
        self,
        labels: np.ndarray | None = None,
        probabilities: np.ndarray | None = None,
        classes: np.ndarray | None = None,
    ) -> None:
        self.labels, self.probabilities, self.classes = labels, probabilities, classes
        self.classes_ = classes

    def predict(self, X: np.ndarray) -> np.ndarray | None:  # noqa: ARG002
        return self.labels

    @available_if(_has_probabilities)
    def predict_proba(self, X: np.ndarray) -> np.ndarray | None:  # noqa: ARG002
        return self.probabilities


class _StoredClassifier(ClassifierMixin, _Stored):
    pass


class _StoredRegressor(RegressorMixin, _Stored):
    pass
