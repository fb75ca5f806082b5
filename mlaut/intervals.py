"""Errors of learners on one table with intervals, and their comparison, without a study."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import indexable

from mlaut.analysis.common.arguments import share
from mlaut.analysis.comparing.compare import compare
from mlaut.analysis.comparing.one_comparison import OneComparison
from mlaut.analysis.estimates.error_intervals import (
    ErrorInterval,
    chosen_method,
    error_of_block,
    metric_of_points,
)
from mlaut.analysis.results.results import Results
from mlaut.analysis.scores.base import MLautScore
from mlaut.analysis.scores.metric_names import metric as find_metric
from mlaut.arrays import take_rows
from mlaut.data.splits.by_role import LeakWarning, leaks
from mlaut.data.splits.resampling import make_split
from mlaut.data.splits.targets import encode_target
from mlaut.errors import (
    AnalysisError,
    DataError,
    MlautError,
    StrategyError,
    check_options,
    with_checked_options,
)
from mlaut.estimators import MlautEstimator, as_strategies
from mlaut.estimators.libraries.column_names import take_every_name
from mlaut.estimators.preparing.preprocessing import explained_texts
from mlaut.estimators.preparing.weights import fit_arguments, needs_groups
from mlaut.estimators.strategy.generic_estimator import check_methods
from mlaut.experiments.cells.prediction_checks import checked_predictions, checked_probabilities
from mlaut.experiments.runs.progress import shown
from mlaut.files_io.tables.roles import check_values, numbers_of_time, weights_of
from mlaut.files_io.tables.tables_of_others import check_order, one_target
from mlaut.records import CLASSIFICATION, REGRESSION, Block, Status

ANY = "any"  # method: any split is taken, as a comparison says itself where no test is valid
_METRICS = {CLASSIFICATION: "misclassification", REGRESSION: "mae"}


@with_checked_options(AnalysisError)
def error_interval(
    estimator: Any,
    X: Any,
    y: Any,
    metric: Any = None,
    *,
    split: Any = "kfold(10)",
    method: str | None = None,
    confidence: float = 0.95,
    groups: Any = None,
    sample_weight: Any = None,
    seed: int = 0,
) -> ErrorInterval:
    """Estimate the error of a learner on one table, with an interval and its estimand.

    Parameters
    ----------
    estimator : scikit-learn estimator or str
        Classifier or regressor, also a pipeline or a search. Copies of it are fitted. A text names
        a strategy that comes with MLaut.
    X : array-like or DataFrame, shape (n_rows, n_features)
    y : array-like, shape (n_rows,)
    metric : str or MLautScore, optional
        See `mlaut.analysis.metric`; a score is turned into a loss. Default ``"misclassification"``
        for classifiers and ``"mae"`` for regressors. Metrics that are means over test points,
        ``"rmse"``, ``"r2"`` and ``"auc"`` (delta method) have intervals from test points. All
        others have intervals from folds by ``"corrected t"``, which on folds is the default for
        AUC and R2, too. R2 and the RMSE are those of all test points of a repeat.
    split : str, scheme or scikit-learn splitter, default "kfold(10)"
        The same as for `mlaut.Study.run`. Its number of fits decides the cost.
    method : str, optional
        ``"hold-out"``, ``"corrected t"``, ``"conservative z"``, ``"nested CV"``, ``"CV Wald"`` or
        ``"inflated CV Wald"``. Default the method of the split (docs/intervals.md has their
        coverage), or ``"corrected t"`` for the difference of two learners on folds.
    confidence : float, default 0.95
        Confidence of the interval.
    groups : array-like, shape (n_rows,), optional
        Group of each row, for a split that keeps groups together, and for folds of groups in the
        learner.
    sample_weight : array-like, shape (n_rows,), optional
        Weight of each row, for the fits and for the metric. The interval then is that from folds
        by ``"corrected t"``, or from the rows of a hold-out.
    seed : int, default 0
        Seed of the split.

    Returns
    -------
    ErrorInterval
        It has ``value``, ``low``, ``high``, ``method`` and ``estimand``, and prints as a sentence.

    Raises
    ------
    StrategyError
        The estimator is neither classifier nor regressor, or a fit failed.
    DataError
        The split or the target does not suit.
    AnalysisError
        The method does not suit the split or the metric.

    Warns
    -----
    LeakWarning
        The split has rows of one of the groups on both sides of a fold.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> error = error_interval(DecisionTreeClassifier(random_state=0), X, y)
    >>> round(error.value, 3), error.method, error.fits
    (0.067, 'inflated CV Wald', 10)
    """
    more = (split, method, confidence, groups, sample_weight, seed)
    return _error([estimator], X, y, metric, *more)


def error_difference(
    a: Any, b: Any, X: Any, y: Any, metric: Any = None, **options: Any
) -> ErrorInterval:
    """Estimate the error of learner ``a`` minus that of ``b`` on one table, on the same folds.

    Parameters
    ----------
    a, b : scikit-learn estimators or str
        Two classifiers or two regressors, as for `error_interval`.
    X, y, metric
        As for `error_interval`.
    **options
        ``split``, ``method``, ``confidence``, ``groups``, ``sample_weight`` and ``seed`` of
        `error_interval`.

    Returns
    -------
    ErrorInterval
        The value is below 0 if ``a`` is better. An interval without 0 shows which one is better on
        rows of this source, but not on other datasets.

    Raises
    ------
    StrategyError, DataError, AnalysisError
        As for `error_interval`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> difference = error_difference(tree, KNeighborsClassifier(), X, y)
    >>> difference.high < 0, difference.name
    (True, 'misclassification of DecisionTreeClassifier minus that of KNeighborsClassifier')
    """
    known = list(signature(error_interval).parameters)[4:]
    check_options("error_difference", ["a", *known], options, AnalysisError)
    return _error([a, b], X, y, metric, **options)


@with_checked_options(AnalysisError)
def compare_learners(
    learners: Mapping[str, Any] | Sequence[Any],
    X: Any,
    y: Any,
    metric: Any = None,
    *,
    split: Any = "kfold(10)",
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    confidence: float = 0.95,
    rope: float = 0.0,
    name: str = "the table",
    seed: int = 0,
) -> OneComparison:
    """Compare two or more learners on one table: which to use, and how sure that is.

    Parameters
    ----------
    learners : mapping of str to estimator, or sequence of estimators
        Classifiers or regressors, as for `error_interval`. Those of a sequence have the names of
        their classes.
    X, y, metric, split, groups, sample_weight, seed
        As for `error_interval`.
    time : array-like, shape (n_rows,), optional
        Time of each row, for a split that tests later rows than it trains on.
    confidence : float, default 0.95
        Confidence of the intervals, and of all verdicts together.
    rope : float, default 0
        Half width of the region in which learners are practically equal, in units of the metric.
    name : str, default "the table"
        Name of the table in sentences.

    Returns
    -------
    OneComparison
        It prints as a sentence and a table. ``decision()`` has the verdicts, ``pair_frame()`` the
        differences of all pairs with intervals; for two learners it is that of `error_difference`.

    Raises
    ------
    StrategyError, DataError, AnalysisError
        As for `error_interval`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> found = compare_learners({"Bayes": GaussianNB(), "knn": KNeighborsClassifier()}, X, y)
    >>> found.decision().answer()
    'For new data like the table, use Bayes. Avoid knn (misclassification 0.28 above Bayes).'
    """
    if isinstance(learners, list | tuple):
        learners = {one.name: one for one in as_strategies(learners)}
    if not isinstance(learners, Mapping) or len(learners) < 2:
        raise AnalysisError("learners is a list, or a dict by name, of two or more estimators")
    names, alpha = [str(name) for name in learners], round(1 - confidence, 12)
    rows = {"groups": groups, "time": time, "sample_weight": sample_weight}
    score, block = _predicted(
        _chosen(learners.values()), names, X, y, metric, split, ANY, confidence, **rows, seed=seed
    )
    results = Results.from_blocks([replace(block, dataset=name)], score)
    found = compare(results, alpha=alpha, confidence=confidence, rope=rope, missing="failures last")
    assert isinstance(found, OneComparison)
    return found


def _error(
    estimators: Sequence[Any],
    X: Any,
    y: Any,
    metric: Any,
    split: Any = "kfold(10)",
    method: str | None = None,
    confidence: float = 0.95,
    groups: Any = None,
    sample_weight: Any = None,
    seed: int = 0,
) -> ErrorInterval:
    estimators = _chosen(estimators)
    names = [e.name if isinstance(e, MlautEstimator) else type(e).__name__ for e in estimators]
    if len(set(names)) < len(names):
        names = ["the first", "the second"]
    how = (groups, None, sample_weight, seed)
    score, block = _predicted(estimators, names, X, y, metric, split, method, confidence, *how)
    return error_of_block(score, block, method=method, confidence=confidence)


def _chosen(estimators: Iterable[Any]) -> list[Any]:
    """Return estimators, with the strategies of MLaut in place of their names."""
    return [_strategy(one) if isinstance(one, str) else one for one in estimators]


def _strategy(name: str) -> MlautEstimator:
    """Return the strategy of MLaut that a name means."""
    found = as_strategies(name)
    if len(found) > 1:
        raise StrategyError(f"{name!r} names {len(found)} strategies; name one, or list them")
    return found[0]


def _predicted(
    estimators: Sequence[Any],
    names: Sequence[str],
    X: Any,
    y: Any,
    metric: Any,
    split: Any,
    method: str | None,
    confidence: float,
    groups: Any,
    time: Any,
    sample_weight: Any,
    seed: int,
) -> tuple[MLautScore, Block]:
    """Return the metric, and the predictions of copies of the estimators on the test sets."""
    share("confidence", confidence)
    task = _task_of(estimators)
    score = find_metric(_METRICS[task] if metric is None else metric)
    if score.task not in (None, task):
        raise AnalysisError(f"{score.name} is for {score.task}, and the learners for {task}")
    try:
        (X,) = indexable(X)
    except TypeError as error:
        raise DataError(f"X is no table: {error}") from None
    target = pd.Series(one_target(y, X), name="y")
    if target.empty:
        raise DataError("the table has no rows; check where it was read")
    truth, classes = encode_target(target, task)
    groups = _of_rows("group", "groups", groups, X, len(truth))
    weights = _of_rows("weight", "sample_weight", sample_weight, X, len(truth))
    named = str(split).lower()
    times = _of_rows("time", "time", time, X, len(truth))
    if "time_series" in named and times is None:
        raise DataError(
            f"split={str(split)!r} needs the time of each row: add the table to a mlaut.Study with "
            "roles={'time': 'column'}, or pass time= to compare_learners"
        )
    if groups is None and "group" in named:
        raise DataError(f"split={str(split)!r} needs the group of each row: pass groups=")
    roles = {"group": groups, "time": times}
    known = {role: values for role, values in roles.items() if values is not None}
    drawn = make_split(truth, task, split, seed=seed, groups=groups, times=times, table=(X, target))
    for line in leaks(drawn, known):
        warnings.warn(line, LeakWarning, stacklevel=5 if len(names) == 1 else 4)
    if weights is not None and not score.weighted:
        raise AnalysisError(f"{score.name} takes no weights of rows; choose another metric")
    of_points = metric_of_points(score, drawn, pairs=len(estimators) == 2)
    of_points = None if weights is not None and not score.average else of_points
    if method != ANY:
        chosen_method(method, drawn, by_points=of_points is not None)  # before any fit
    shape = (len(names), drawn.n_repeats, len(truth))
    block = Block(
        dataset="the table",
        task=task,
        fingerprint="",
        strategies=tuple(names),
        classes=classes,
        truth=truth,
        split=drawn,
        status=np.full((*shape[:2], drawn.n_folds), Status.DONE, dtype=np.uint8),
        predictions=np.full(shape, -1 if classes else np.nan, dtype=truth.dtype),
        probabilities=np.full((*shape, len(classes)), np.nan, np.float32) if classes else None,
        seconds=np.full((*shape[:2], drawn.n_folds, 3), np.nan),
        weights=weights,
    )
    of_rows = weights, None if groups is None else np.unique(groups, return_inverse=True)[1]
    fits = [(place, *fold) for place in range(len(names)) for fold in enumerate(drawn)]
    for place, number, (train, test) in shown(fits, "fit"):
        at, needs_shares = (place, number // drawn.n_folds, test), score.uses == "probabilities"
        _predict(estimators[place], (X, target, *of_rows), train, block, at, needs_shares)
    return score, block


def _of_rows(role: str, name: str, values: Any, table: Any, n_rows: int) -> np.ndarray | None:
    """Return one value for each row, checked as a column with that role is."""
    if values is None:
        return None
    array = np.asarray(values, dtype=object)  # of a list with a gap, that would become a text
    array = array[:, 0] if array.shape[1:] == (1,) else array
    if array.shape != (n_rows,):
        raise DataError(
            f"{name} of shape {array.shape}, and the table has {n_rows} rows: pass one value for "
            f"each row, for example {name}=table['{role}']"
        )
    check_order(name, values, table)
    column = pd.Series(array, name=name).infer_objects()
    check_values(role, column)
    if role == "weight":
        return weights_of(column)
    if role == "time":
        return numbers_of_time(column)
    return (column.astype(str) if column.dtype == object else column).to_numpy()  # for an order


def _task_of(estimators: Sequence[Any]) -> str:
    for estimator in estimators:
        check_methods(estimator)
    with suppress(AttributeError):  # of an object without scikit-learn's tags
        for task, has_it in ((CLASSIFICATION, is_classifier), (REGRESSION, is_regressor)):
            if all(map(has_it, estimators)):
                return task
    kinds = " and ".join(type(estimator).__name__ for estimator in estimators)
    raise StrategyError(
        f"{kinds}: only classifiers, or only regressors, of scikit-learn's interface are taken"
    )


def _predict(
    estimator: Any, table: Any, train: np.ndarray, block: Block, at: Any, probabilities: bool
) -> None:
    """Fit a copy of an estimator, and write its predictions into a block."""
    (X, target, *of_rows), test = table, at[-1]
    try:
        model = take_every_name(clone(estimator))
        given = (None if values is None else values[train] for values in of_rows)
        arguments, routed = fit_arguments(model, *given, grouped=needs_groups(model))
        with routed, explained_texts(X):
            model.fit(take_rows(X, train), target.to_numpy()[train], **arguments)
        rows = take_rows(X, test)
        block.predictions[at] = checked_predictions(model.predict(rows), block.classes, len(test))
        if probabilities and block.probabilities is not None:
            shares = checked_probabilities(model, rows, block.classes)
            if shares is None:
                raise StrategyError("it has no predict_proba; choose another metric")
            block.probabilities[at] = shares
    except Exception as error:
        kind = "" if isinstance(error, MlautError) else f"{type(error).__name__}: "
        where = f"{type(estimator).__name__} failed on {len(train)} training rows"
        raise StrategyError(f"{where}: {' '.join(f'{kind}{error}'.split())}") from error
