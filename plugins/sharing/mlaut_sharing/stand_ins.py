"""Models that predict in place of fitted ones, from what several candidates share."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

Value = TypeVar("Value")


def per_table(compute: Callable[[Any], Value]) -> Callable[[Any], Value]:
    """Return a function that caches its result for each table, by the table's identity.

    Examples
    --------
    >>> table = [1, 2]
    >>> total = per_table(lambda table: [sum(table)])
    >>> total(table) is total(table)
    True
    """
    known: list[tuple[Any, Value]] = []

    def get(table: Any) -> Value:
        for seen, value in known:
            if seen is table:
                return value
        known.append((table, compute(table)))
        return known[-1][1]

    return get


def _answers(method: str) -> Callable[[Any], bool]:
    return lambda model: method in model.answers


class _StandIn(BaseEstimator):
    """Fitted model whose predictions were computed for several candidates at once."""

    def __init__(self, answers: Mapping[str, Callable[[Any], Any]], classes: Any = None) -> None:
        self.answers = answers
        self.classes_ = classes

    def predict(self, X: Any) -> Any:
        return self.answers["predict"](X)

    @available_if(_answers("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        return self.answers["predict_proba"](X)

    @available_if(_answers("decision_function"))
    def decision_function(self, X: Any) -> Any:
        return self.answers["decision_function"](X)


class _StandInClassifier(ClassifierMixin, _StandIn):
    pass


class _StandInRegressor(RegressorMixin, _StandIn):
    pass


def stand_in(estimator: Any, classes: Any = None, **answers: Callable[[Any], Any]) -> BaseEstimator:
    """Return a model that predicts instead of a fitted estimator.

    Parameters
    ----------
    estimator : estimator
        Estimator to replace. It determines whether the model is a classifier or a regressor.
    classes : ndarray, optional
        Sorted labels of a classifier.
    **answers : callable
        Functions ``predict`` and, if the estimator has them, ``predict_proba`` and
        ``decision_function``.

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> model = stand_in(DummyRegressor(), predict=lambda X: [7.0 for _ in X])
    >>> model.predict([[1], [2]]), hasattr(model, "predict_proba")
    ([7.0, 7.0], False)
    """
    kind = _StandInClassifier if isinstance(estimator, ClassifierMixin) else _StandInRegressor
    return kind(answers, classes)


def stand_in_of_means(
    estimator: Any, classes: Any, means: Callable[[Any], np.ndarray]
) -> BaseEstimator:
    """Return a model that predicts from means: shares of classes, or a column of numbers."""
    if classes is None:
        return stand_in(estimator, predict=lambda X: means(X)[:, 0])
    return stand_in(
        estimator,
        classes,
        predict=lambda X: classes.take(means(X).argmax(axis=1)),
        predict_proba=means,
    )


def same_parts(one: Any, other: Any, *parts: str) -> bool:
    """Return whether two fitted models have equal numbers in all these attributes."""
    return all(np.array_equal(getattr(one, part), getattr(other, part)) for part in parts)
