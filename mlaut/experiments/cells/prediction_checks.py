"""Checks of the predictions and probabilities that a fitted model returns."""

from numbers import Real
from typing import Any

import numpy as np

from mlaut.data.splits.targets import positions
from mlaut.errors import StrategyError
from mlaut.experiments.cells.messages import largest_outcome
from mlaut.files_io.outcomes.journal import LARGEST_RECORD
from mlaut.records import not_distributions


def checked_predictions(
    predicted: Any, classes: tuple[Any, ...], n_test: int, n_targets: int = 0
) -> np.ndarray:
    """Return predictions in the form in which they are stored.

    Parameters
    ----------
    predicted : array-like, shape (n_test,) or (n_test, 1); of several targets (n_test, k)
        Value that ``predict`` returned.
    classes : tuple
        Sorted labels of the dataset; empty for regression.
    n_test : int
        Number of test rows.
    n_targets : int, default 0
        Number k of targets, if there are several.

    Returns
    -------
    ndarray, shape (n_test,) or (n_test, k)
        int32 positions in ``classes``, or float64 numbers.

    Raises
    ------
    StrategyError, DataError
        The shape is wrong, values are masked, a label is no class of the dataset, or numbers are
        not finite.

    Examples
    --------
    >>> checked_predictions(["b", "a"], ("a", "b"), 2).tolist()
    [1, 0]
    >>> checked_predictions([0.5, float("inf")], (), 2)
    Traceback (most recent call last):
    mlaut.errors.StrategyError: predict returned 1 values of 2 that are NaN or infinite
    """
    _refuse_masked(predicted, "predict")
    values = np.asarray(predicted.toarray() if hasattr(predicted, "tocsr") else predicted)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if n_targets and values.shape != (n_test, n_targets):
        raise StrategyError(
            f"predict returned shape {values.shape} for {n_test} test rows and {n_targets} targets"
        )
    if not n_targets and values.shape != (n_test,):
        what = f"shape {values.shape}" if values.ndim else f"a {type(predicted).__name__}"
        way_out = "" if values.ndim else "; return an array with a value for each row"
        raise StrategyError(f"predict returned {what} for {n_test} test rows{way_out}")
    if classes:
        return positions(values, (0, 1) if n_targets else classes).reshape(values.shape)
    numbers = _numbers(values, "predict")
    if not np.isfinite(numbers).all():
        bad = int((~np.isfinite(numbers)).sum())
        raise StrategyError(
            f"predict returned {bad} values of {numbers.size} that are NaN or infinite"
        )
    return numbers


def checked_probabilities(
    model: Any, table: Any, classes: tuple[Any, ...], n_targets: int = 0
) -> np.ndarray | None:
    """Return the probabilities of all classes of the dataset.

    Parameters
    ----------
    model : estimator
        Fitted model.
    table : DataFrame, array or sparse matrix, shape (n_test, n_features)
        Test rows.
    classes : tuple
        Sorted labels of the dataset; empty for regression.
    n_targets : int, default 0
        Number of labels that a row may have, if it may have several.

    Returns
    -------
    ndarray of float32, shape (n_test, n_classes), or None
        Probabilities; 0 for a class that was absent in training. None if the model has no
        ``predict_proba``, and for regression.

    Raises
    ------
    StrategyError, DataError
        The shape does not fit the classes of the model, or rows are not probability
        distributions.
    """
    if not classes or not hasattr(model, "predict_proba"):
        return None
    n_test = table.shape[0] if hasattr(table, "shape") else len(table)
    if (size := largest_outcome(n_test, len(classes), n_targets)) > LARGEST_RECORD:
        raise StrategyError(
            f"predict_proba for {n_test} test rows and {len(classes)} classes needs {size} "
            f"bytes, and a cell may have {LARGEST_RECORD}; split into more folds"
        )
    if n_targets:
        return _of_labels(model, model.predict_proba(table), (n_test, n_targets))
    seen = _classes_seen(model, table, classes)
    probabilities = np.zeros((n_test, len(classes)), dtype=np.float32)
    if len(seen) == 1:  # some models of scikit-learn return two columns for one class
        probabilities[:, seen] = 1
        return probabilities
    answer = model.predict_proba(table)
    _refuse_masked(answer, "predict_proba")
    array = np.asarray(answer)
    if array.shape != (n_test, len(seen)):
        raise StrategyError(
            f"predict_proba returned shape {array.shape} for {n_test} test rows and "
            f"{len(seen)} classes"
        )
    array = _numbers(array, "predict_proba")
    _refuse_rows(array, ~np.isfinite(array).all(axis=1), "that are NaN or infinite")
    _refuse_rows(array, not_distributions(array), "that are not in [0, 1] with the sum 1")
    probabilities[:, seen] = array.clip(0, 1)
    return probabilities


def _of_labels(model: Any, answer: Any, shape: tuple[int, int]) -> np.ndarray:
    """Return the probability of each label of each row: shape (n_test, k).

    scikit-learn's models return either that, or for each label an array with a column for each of
    its values in training, which ``classes_`` lists.
    """
    if isinstance(answer, list):
        seen = getattr(model, "classes_", [(0, 1)] * len(answer))
        columns = [
            np.asarray(given)[:, list(of_label).index(1)] if 1 in of_label else np.zeros(len(given))
            for given, of_label in zip(answer, seen, strict=True)
        ]
        answer = np.column_stack(columns)
    array = np.asarray(answer.toarray() if hasattr(answer, "tocsr") else answer)
    if array.shape != shape:
        raise StrategyError(
            f"predict_proba returned shape {array.shape} for {shape[0]} test rows and {shape[1]} "
            "labels"
        )
    array = _numbers(array, "predict_proba")
    _refuse_rows(array, not_distributions(array, several=True), "that are not in [0, 1]")
    return array.clip(0, 1).astype(np.float32)


def _classes_seen(model: Any, table: Any, classes: tuple[Any, ...]) -> np.ndarray:
    """Return the positions, in ``classes``, of the columns of ``predict_proba``."""
    if not hasattr(model, "classes_"):  # as NGBoost: in sorted order, if its predictions agree
        array, chosen = np.asarray(model.predict_proba(table)), model.predict(table)
        if array.ndim == 2 and array.shape[1] == len(classes):
            likely = array[np.arange(len(array)), positions(np.ravel(chosen), classes)]
            if (likely >= array.max(axis=1)).all():
                return np.arange(len(classes))
        raise StrategyError(
            "the model has predict_proba and no classes_, and predictions that do not show the "
            "order of its columns; set classes_ in fit to the labels of the columns"
        )
    seen = positions(model.classes_, classes)
    if len(np.unique(seen)) < len(seen):
        raise StrategyError(f"classes_ contains a class twice: {list(model.classes_)}")
    return seen


def _refuse_masked(answer: Any, method: str) -> None:
    """Raise a StrategyError for masked values: the numbers below the mask are arbitrary."""
    if np.ma.is_masked(answer):
        bad = np.ma.getmaskarray(answer)
        number = "only" if bad.all() else int(bad.sum())
        raise StrategyError(f"{method} returned {number} values that are masked")


def _refuse_rows(probabilities: np.ndarray, bad: np.ndarray, what: str) -> None:
    if bad.any():
        example = ", ".join(f"{value:.4g}" for value in probabilities[bad][0][:5])
        # No count where all rows are bad, so that equal failures of folds have equal reasons.
        rows = "every row" if bad.all() else f"{int(bad.sum())} of {len(bad)} rows"
        raise StrategyError(
            f"predict_proba returned values {what} for {rows}, "
            f"as in [{example}{', ...' if probabilities.shape[1] > 5 else ''}]"
        )


def _numbers(values: np.ndarray, method: str) -> np.ndarray:
    """Return an array as float64; raise for texts, dates and complex numbers."""
    real = values.dtype.kind in "biuf" or (
        values.dtype.hasobject and all(isinstance(value, Real) for value in values.flat)
    )
    if not real:
        raise StrategyError(f"{method} returned {values.dtype} values that are no real numbers")
    return values.astype(np.float64)
