"""Labels of any kind for classifiers that accept only the numbers 0 to K-1, such as XGBoost's.

Classifiers of scikit-learn and MLaut accept all labels and always get the original ones. A
classifier of another package also gets the original labels first. Only if it fails on them, or
changes them, it is fitted on numbers. So everything that uses labels (``class_weight``,
``pos_label``, code that reads labels) keeps working, with the same results.
"""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mlaut.errors import StrategyError
from mlaut.estimators.looking import has
from mlaut.helpers.lazy import imported

_TAKES_EVERY_LABEL = ("sklearn", "mlaut")
_MOST_WARNINGS = 1000  # per fit, so that a classifier that warns in a loop cannot fill the memory


def fit_classifier(model: Any, X: Any, y: Any, **fit_params: Any) -> Any:
    """Fit a classifier on labels, or on the numbers 0 to K-1 if it fails on labels.

    Parameters
    ----------
    model : estimator
        Unfitted classifier, alone, in a pipeline or in a search.
    X : DataFrame or array-like, shape (n_rows, n_features)
    y : array-like, shape (n_rows,)
        Labels.
    **fit_params
        Further arguments of ``fit``.

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
    if not is_foreign(model) or _are_numbers(y):
        model.fit(X, y, **fit_params)
        return as_fitted(model)
    with _warnings_held() as held:
        failure = _failure(model, X, y, fit_params)
    if failure is not None:  # the warnings of the failed fit are dropped
        try:
            return NumberedClasses(model).fit(X, y, **fit_params)
        except Exception as error:
            raise error from failure
    for warning in held:
        warnings.warn_explicit(*warning)
    return as_fitted(model)


def as_fitted(model: Any) -> Any:
    """Return a fitted model that scikit-learn's pipelines recognise as fitted.

    Pipelines look for an attribute that ends with an underscore, which other learners may lack.
    """
    last = model
    while isinstance(last, Pipeline):
        last = last.steps[-1][1]
    try:
        if last is not model:
            check_is_fitted(last)
    except NotFittedError:
        vars(last)["fitted_"] = True
    return model


@contextmanager
def _warnings_held() -> Iterator[list[tuple[Any, ...]]]:
    """Collect warnings, as arguments of `warnings.warn_explicit`, instead of showing them."""
    held: list[tuple[Any, ...]] = []

    def hold(*warning: Any, **_: Any) -> None:
        if len(held) < _MOST_WARNINGS:
            held.append(warning[:4])

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = hold
        yield held


def _failure(model: Any, X: Any, y: Any, fit_params: Mapping[str, Any]) -> Exception | None:
    """Fit a model; return the error of the fit, or an error if the classes changed, or None."""
    try:
        model.fit(X, y, **fit_params)
    except MemoryError:
        raise
    except Exception as error:
        return error
    classes = np.ravel(getattr(model, "classes_", [])).tolist()
    if set(classes) <= set(np.asarray(y).tolist()):
        return None
    return StrategyError(  # as explainable boosting does with labels that are floats
        f"{type(model).__name__} has other classes than its labels, such as {classes[0]!r}; give "
        "it labels that it keeps"
    )


class NumberedClasses(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Classifier that is fitted on the numbers 0 to K-1 instead of K labels, and predicts labels.

    The numbers are the positions of the labels among the sorted labels of the training rows.

    Parameters
    ----------
    estimator : estimator
        Classifier, alone, in a pipeline or in a search. A copy of it is fitted.

    Attributes
    ----------
    estimator_ : estimator
        Copy of the estimator, fitted on the numbers.
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
        as_fitted(self.estimator_)
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
                f"the classifier predicts none of the {len(self.labels_)} numbers of the classes "
                f"that it was fitted on, but {np.ravel(numbers)[~np.ravel(known)][:5].tolist()}; "
                "let predict return numbers that fit received"
            )
        return self.labels_[np.asarray(numbers).astype(np.intp)]


def _are_numbers(y: Any) -> bool:
    """Return whether the labels already are the integers 0 to K-1."""
    labels = np.asarray(y)
    if labels.dtype.kind not in "iu":
        return False
    classes = np.unique(labels)
    return np.array_equal(classes, np.arange(len(classes)))


def is_foreign(model: Any) -> bool:
    """Return whether a part of a model with ``fit`` is neither from scikit-learn nor from MLaut."""
    return any(
        cls.__module__.partition(".")[0] not in _TAKES_EVERY_LABEL
        for cls in {type(part) for part in parts_of(model)}
    )


def refuses_texts_of_numpy(model: Any) -> bool:
    """Return whether a part of a model takes texts only as objects, the type of pandas.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.semi_supervised import SelfTrainingClassifier
    >>> refuses_texts_of_numpy(SelfTrainingClassifier(GaussianNB()))
    True
    """
    kinds = imported("sklearn.semi_supervised.SelfTrainingClassifier")
    return any(isinstance(part, kinds) for part in parts_of(model))


def parts_of(value: Any) -> Iterator[Any]:
    """Yield all estimators in a model: itself, its parameters, and the values of its grids."""
    if has(value, "get_params") and not isinstance(value, type):
        if has(value, "fit"):
            yield value
        value = value.get_params(deep=False)
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from parts_of(item)
