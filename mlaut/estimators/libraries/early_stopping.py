"""Early stopping of boosting learners by a validation part of the training rows."""

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import train_test_split
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from mlaut.arrays import is_array, take_rows
from mlaut.errors import StrategyError
from mlaut.estimators.libraries.library import LIBRARIES, library_of
from mlaut.estimators.preparing.related_rows import RelatedRows


@dataclass(eq=False, repr=False)
class EarlyStopping(MetaEstimatorMixin, BaseEstimator):
    """Estimator of XGBoost, LightGBM or CatBoost that stops by its loss on held-back rows.

    Parameters
    ----------
    estimator : estimator
        Classifier or regressor of one of these packages, or of another `Library` with ``stop``. A
        copy of it is fitted.
    size : float, default 0.2
        Share of the training rows that validate and are not fitted. Each class with two rows or
        more loses about this share; a class with a single row is always fitted.
    rounds : int, default 20
        Number of rounds without a better loss after which the fit stops.
    random_state : int, RandomState or None, default None
        Seed of the draw of the validation rows.

    Notes
    -----
    In a study whose split keeps groups together or respects time, whole groups or the latest rows
    validate. Inside a search, validation rows are drawn from all rows.

    Attributes
    ----------
    estimator_ : estimator
        The fitted copy, which predicts with its best round.
    validation_rows_ : ndarray of int
        Positions of the training rows that validated.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> EarlyStopping(Ridge()).fit([[1.0], [2.0]], [1.0, 2.0])
    Traceback (most recent call last):
    mlaut.errors.StrategyError: EarlyStopping is for estimators of catboost, lightgbm, xgboost, \
not for Ridge; scikit-learn's own stop by their parameters early_stopping or n_iter_no_change; \
another package needs its Library, with stop
    """

    estimator: Any
    _: KW_ONLY
    size: float = 0.2
    rounds: int = 20
    random_state: Any = None
    related_rows: RelatedRows | None = field(default=None, init=False)  # of rows: no parameter

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit on a part of the rows, and stop by the loss on the others.

        Parameters
        ----------
        X : DataFrame or array-like, shape (n_rows, n_features)
        y : array-like, shape (n_rows,)
        sample_weight : array-like, shape (n_rows,), optional
            Weights of the rows, for the fit and for the loss of the validation rows.
        **fit_params
            Further arguments of the learner's ``fit``.

        Raises
        ------
        StrategyError
            The estimator is of another package, or ``size`` leaves a part without rows.
        """
        stop = library_of(self.estimator).stop
        if stop is None:
            packages = ", ".join(name for name, library in LIBRARIES.items() if library.stop)
            raise StrategyError(
                f"EarlyStopping is for estimators of {packages}, not for "
                f"{type(self.estimator).__name__}; scikit-learn's own stop by their parameters "
                "early_stopping or n_iter_no_change; another package needs its Library, with stop"
            )
        labels = np.asarray(y)
        fitted, held = self._parts(labels)
        weights = None if sample_weight is None else np.asarray(sample_weight)
        known, validation = (
            (_rows(X, part), labels[part], None if weights is None else weights[part])
            for part in (fitted, held)
        )
        self.estimator_ = stop(clone(self.estimator), known, validation, self.rounds, **fit_params)
        self.validation_rows_ = held
        return self

    def _parts(self, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the positions of the rows to fit and of those to validate, both ascending."""
        rows, codes = np.arange(len(labels)), None
        lone = rows[:0]
        if is_classifier(self.estimator):
            _, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
            lone, rows = rows[counts[codes] == 1], rows[counts[codes] > 1]
            enough = min(self.size, 1 - self.size) * len(rows) >= len(counts)
            codes = codes[rows] if enough else None
        try:
            if self.related_rows is not None and len(self.related_rows.values) == len(labels):
                return self.related_rows.held_back(self.size, self.random_state)
            fitted, held = train_test_split(
                rows, test_size=self.size, stratify=codes, random_state=self.random_state
            )
        except ValueError as error:
            raise StrategyError(f"EarlyStopping: {' '.join(str(error).split())}") from error
        return np.sort(np.concatenate([fitted, lone])), np.sort(held)

    @property
    def classes_(self) -> np.ndarray:
        """Class labels in the order of the columns of ``predict_proba``."""
        return self.estimator_.classes_

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels or numbers: shape (n_rows,)."""
        return self.estimator_.predict(X)

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict probabilities: shape (n_rows, n_classes)."""
        return self.estimator_.predict_proba(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of a classifier, or the R2 of a regressor."""
        measure = accuracy_score if is_classifier(self.estimator) else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)


def _rows(X: Any, rows: np.ndarray) -> Any:
    return take_rows(X if hasattr(X, "iloc") or is_array(X) else np.asarray(X), rows)
