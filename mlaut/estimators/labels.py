"""Labels of any kind for classifiers that take nothing but the numbers 0 to K-1, as XGBoost's does.

Scikit-learn's classifiers and MLaut's take every label, and always get them as they are. One from
elsewhere gets them as they are too, and numbers in their place only where it fails on them: what
works on labels (``class_weight`` and ``pos_label`` that name some, code that looks at them) goes on
working, and gives what it gave.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if

from mlaut.errors import StrategyError

__all__ = ["NumberedClasses", "fit_classifier"]

_TAKES_EVERY_LABEL = ("sklearn", "mlaut")
_MOST_WARNINGS = 1000  # of one fit, lest a learner that warns in a loop fills the memory


def fit_classifier(model: Any, X: Any, y: Any, **fit_params: Any) -> Any:
    """Fit a classifier on labels, or on numbers in their place where it takes nothing else.

    Parameters
    ----------
    model : estimator
        Not fitted; alone, in a pipeline or in a search.
    X : DataFrame or array-like, shape (n_rows, n_features)
    y : array-like, shape (n_rows,)
        Labels.
    **fit_params
        For ``fit``.

    Returns
    -------
    estimator
        The fitted model, which predicts labels: ``model`` itself, or a `NumberedClasses`.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> fit_classifier(GaussianNB(), [[0.0], [1.0]], ["no", "yes"]).predict([[0.9]])
    array(['yes'], dtype='<U3')
    """
    if not _is_foreign(model) or _are_numbers(y):
        model.fit(X, y, **fit_params)
        return model
    with _warnings_held() as held:
        failure = _failure(model, X, y, fit_params)
    if failure is not None:  # what it warned of on the way there is of no interest
        try:
            return NumberedClasses(model).fit(X, y, **fit_params)
        except Exception as error:
            raise error from failure
    for warning in held:
        warnings.warn_explicit(*warning)
    return model


@contextmanager
def _warnings_held() -> Iterator[list[tuple[Any, ...]]]:
    """Keep warnings, as `warnings.warn_explicit` takes them, instead of showing them."""
    held: list[tuple[Any, ...]] = []

    def hold(*warning: Any, **_: Any) -> None:
        if len(held) < _MOST_WARNINGS:
            held.append(warning[:4])

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = hold
        yield held


def _failure(model: Any, X: Any, y: Any, fit_params: Mapping[str, Any]) -> Exception | None:
    """Fit a model, and return the error that kept it from being fitted."""
    try:
        model.fit(X, y, **fit_params)
    except MemoryError:
        raise
    except Exception as error:
        return error
    return None


class NumberedClasses(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier that is fitted on numbers 0 to K-1 in place of K labels, and predicts labels.

    The numbers are those of the classes among the rows that it is fitted on, in sorted order.

    Parameters
    ----------
    estimator : estimator
        Classifier, alone, in a pipeline or in a search. A copy of it is fitted.

    Attributes
    ----------
    estimator_ : estimator
        Fitted on the numbers.
    classes_ : ndarray, shape (n_classes,)
        Labels, in the order of the columns of ``predict_proba``.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = [[0.0], [0.2], [0.8], [1.0]], ["no", "no", "yes", "yes"]
    >>> model = NumberedClasses(GaussianNB()).fit(X, y)
    >>> model.estimator_.classes_.tolist(), model.predict([[0.9]]).tolist()
    ([0, 1], ['yes'])
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit a copy of the estimator on the numbers of the labels."""
        self.labels_, numbers = np.unique(np.asarray(y), return_inverse=True)
        self.estimator_ = clone(self.estimator)
        self.estimator_.fit(X, numbers, **fit_params)
        return self

    @property
    def classes_(self) -> np.ndarray:
        """Labels, in the order of the columns of ``predict_proba``."""
        return self._labels(getattr(self.estimator_, "classes_", np.arange(len(self.labels_))))

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels: shape (n_rows,)."""
        return self._labels(self.estimator_.predict(X))

    @available_if(lambda self: hasattr(self.estimator_, "predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Predict probabilities: shape (n_rows, n_classes), columns as ``classes_``."""
        return self.estimator_.predict_proba(X)

    @available_if(lambda self: hasattr(self.estimator_, "decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Return the confidence of each class, as the estimator does."""
        return self.estimator_.decision_function(X)

    def _labels(self, numbers: Any) -> np.ndarray:
        known = np.isin(numbers, np.arange(len(self.labels_)))
        if np.ma.is_masked(numbers) or not known.all():
            raise StrategyError(
                f"predicted values that are none of the {len(self.labels_)} numbers of the classes "
                f"that it was fitted on: {np.ravel(numbers)[~np.ravel(known)][:5].tolist()}"
            )
        return self.labels_[np.asarray(numbers).astype(np.intp)]


def _are_numbers(y: Any) -> bool:
    """Return whether the labels are the numbers 0 to K-1 already."""
    labels = np.asarray(y)
    if labels.dtype.kind not in "biuf":
        return False
    found = np.unique(labels)
    return np.array_equal(found, np.arange(len(found)))


def _is_foreign(model: Any) -> bool:
    """Return whether a part that can be fitted comes neither from scikit-learn nor from MLaut."""
    return any(
        cls.__module__.partition(".")[0] not in _TAKES_EVERY_LABEL
        for cls in {type(part) for part in _parts(model)}
    )


def _parts(value: Any) -> Iterator[Any]:
    """Return the estimators in a model: it, its parameters, and those that a grid may put there."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        if hasattr(value, "fit"):
            yield value
        value = value.get_params(deep=False)
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _parts(item)
