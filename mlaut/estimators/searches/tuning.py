"""Tuning: exhaustive grid search by cross-validation on the training part, and its record.

All tuning in MLaut goes through `GridSearch`. `tuning_record` reads the result of the tuning from
any fitted model: a pipeline, a search of scikit-learn, or a strategy.
"""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import KW_ONLY, dataclass, field
from time import perf_counter
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import StratifiedKFold, check_cv

from mlaut.errors import OptionalPackageError, StrategyError
from mlaut.estimators.preparing.related_rows import RelatedRows
from mlaut.estimators.searches.traces import search_in, short_names
from mlaut.helpers.former_names import without_plugin
from mlaut.identity.digests import plain
from mlaut.plugins.finding import grid_search

_GridSearchCV: Any = grid_search()

FEWEST_FOLDS = 3
"""Smallest number of tuning folds. With two folds, candidates would train on half of the rows."""


class TuningWarning(UserWarning):
    """Warning about tuning that differs from the request because the training part is too small."""


@dataclass(eq=False, repr=False)
class TuningFolds(BaseEstimator):
    """Shuffled k-fold for tuning, stratified for classes, with fewer folds if a class is rare.

    If the rarest class has fewer rows than ``n_splits``, the number of folds is the size of that
    class, but at least 3. A class with a single row is in every training fold and in no test fold,
    because no candidate could predict it otherwise. So all classes are in every training fold.
    A `TuningWarning` reports fewer folds than requested.

    In a study, if the split keeps groups together or tests later rows than it trains on, these
    folds do the same (`related_rows`). Such folds do not move classes with a single row.

    The class inherits from `BaseEstimator` only so that its ``random_state`` can be set as
    ``cv__random_state`` of a search.

    Parameters
    ----------
    n_splits : int, default 5
        Number of folds.
    stratify : bool, default True
        Whether the target has classes; False for regression.
    random_state : int, RandomState or None, default None
        Seed of the shuffle.

    Examples
    --------
    >>> folds = TuningFolds(n_splits=2, random_state=0)
    >>> labels = ["a", "a", "b", "b", "c"]
    >>> [test.tolist() for _, test in folds.split(np.zeros((5, 1)), labels)]
    [[1, 2], [0, 3]]
    """

    n_splits: int = 5
    _: KW_ONLY
    stratify: bool = True
    random_state: Any = None
    related_rows: RelatedRows | None = field(default=None, init=False)  # of rows: no parameter

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """Return the number of folds for these rows, or ``n_splits`` if ``y`` is None."""
        if y is not None and (related := self._related(y)):
            return related.n_folds(self.n_splits)
        return self.n_splits if y is None else self._count(self._classes(y)[1])

    def split(
        self,
        X: Any,  # noqa: ARG002
        y: Any,
        groups: Any = None,  # noqa: ARG002
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the positions of the training rows and of the test rows of each fold."""
        if related := self._related(y):
            yield from self._related_folds(related, np.asarray(y))
            return
        codes, sizes = self._classes(y)
        n_splits = self._count(sizes)
        if n_splits < self.n_splits:
            few = "the rarest class has few rows" if self.stratify else f"{len(codes)} rows"
            warnings.warn(
                f"{n_splits} tuning folds instead of {self.n_splits}: {few}",
                TuningWarning,
                stacklevel=2,
            )
        lone, shared = np.flatnonzero(sizes == 1), np.flatnonzero(sizes > 1)
        splitter = StratifiedKFold(n_splits, shuffle=True, random_state=self.random_state)
        with warnings.catch_warnings():  # the warning above already reports rare classes
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            folds = list(splitter.split(shared, codes[shared]))
        for train, test in folds:
            yield np.sort(np.concatenate([shared[train], lone])), shared[test]

    def _related(self, y: Any) -> RelatedRows | None:
        """Return the relation of these rows; None if they are only a part of the related rows."""
        related = self.related_rows
        return related if related is not None and len(related.values) == len(y) else None

    def _related_folds(
        self, related: RelatedRows, labels: np.ndarray
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        if related.n_folds(self.n_splits) < self.n_splits:
            warnings.warn(
                f"{related.n_folds(self.n_splits)} tuning folds instead of {self.n_splits}: there "
                f"are no more {related.kind}s",
                TuningWarning,
                stacklevel=3,
            )
        with warnings.catch_warnings():  # a class in fewer groups than folds is dealt all the same
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            return related.folds(labels, self.n_splits, self.stratify, self.random_state)

    def __sklearn_clone__(self) -> Self:
        copy = super().__sklearn_clone__()
        copy.related_rows = self.related_rows
        return copy

    def _classes(self, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return for each row the code and the size of its class; numbers count as one class."""
        labels = np.asarray(y)
        codes = np.zeros(len(labels), dtype=np.intp)
        if self.stratify and labels.ndim == 1:
            codes = pd.factorize(labels, use_na_sentinel=False)[0]
        return codes, np.bincount(codes)[codes]

    def _count(self, sizes: np.ndarray) -> int:
        shared = sizes[sizes > 1]
        if not shared.size:
            return 0
        return int(min(self.n_splits, max(FEWEST_FOLDS, shared.min()), shared.max()))


@dataclass(eq=False, repr=False)
class GridSearch(_GridSearchCV):
    """Exhaustive grid search of scikit-learn that handles small training parts.

    Constructor, attributes and results are those of `mlaut.sharing.GridSearchCV`, whose scores and
    choice are scikit-learn's; without the plug-in mlaut-sharing, those of scikit-learn's class.
    There are three additions. ``n_neighbors`` never exceeds the size of
    the smallest training fold. If no folds can be made (`TuningFolds` finds no class with two
    rows), the estimator is fitted untuned, with a `TuningWarning`. The wall time of tuning is
    stored.

    Parameters
    ----------
    estimator, param_grid, scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, \
return_train_score
        As for `GridSearchCV`.
    share_work : bool, default True
        Whether candidates share computations, with the plug-in mlaut-sharing. False fits every
        candidate separately, as `GridSearchCV` does.

    Attributes
    ----------
    searched_grid_ : dict or list of dict
        The grid that was searched: ``param_grid`` without the values that need more rows.
    fewest_rows_ : int
        Number of rows of the smallest training fold.
    tuning_seconds_ : float
        Wall seconds of the search, without the final fit (which is ``refit_time_``).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> folds = TuningFolds(random_state=0)
    >>> search = GridSearch(KNeighborsClassifier(), {"n_neighbors": [5, 500]}, cv=folds)
    >>> search.fit(X, y).searched_grid_
    {'n_neighbors': [5]}
    """

    estimator: Any
    param_grid: Any
    _: KW_ONLY
    scoring: Any = None
    n_jobs: int | None = None
    refit: Any = True
    cv: Any = None
    verbose: int = 0
    pre_dispatch: Any = "2*n_jobs"
    error_score: Any = np.nan
    return_train_score: bool = False
    share_work: bool = True

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Search the grid and fit the best candidate on all rows.

        Parameters
        ----------
        X : array-like or DataFrame, shape (n_rows, n_features)
        y : array-like, shape (n_rows,)
        **params
            Further arguments of `GridSearchCV.fit`.
        """
        started = perf_counter()
        folds = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        if folds.get_n_splits(X, y, params.get("groups")) < 2:
            return self._fit_untuned(X, y, params)
        self.fewest_rows_ = _fewest_rows(folds, X, y, params)
        self.searched_grid_ = _grid_within(self.param_grid, self.fewest_rows_)
        self._search(X, y, params)
        seconds = perf_counter() - started
        self.tuning_seconds_ = seconds - getattr(self, "refit_time_", 0.0)
        if hasattr(self, "fit_incumbents"):
            self.fit_incumbents(X, y, params)
        return self

    def _search(self, X: Any, y: Any, params: Mapping[str, Any]) -> None:
        given: Any = self.param_grid
        self.param_grid: Any = self.searched_grid_
        try:
            with self._failures_in_one_line():
                super().fit(X, y, **params)
        finally:
            self.param_grid = given

    @contextmanager
    def _failures_in_one_line(self) -> Iterator[None]:
        try:
            yield
        except ValueError as error:
            if "fits failed" not in str(error):
                raise
            last_line = str(error).strip().splitlines()[-1]
            name = type(self.estimator).__name__
            raise StrategyError(f"{name}: every tuning fit failed: {last_line}") from error

    def _fit_untuned(self, X: Any, y: Any, params: Mapping[str, Any]) -> Self:
        warnings.warn("not tuned: too few rows for two folds", TuningWarning, stacklevel=3)
        self.best_params_: dict[str, Any] = {}
        self.best_score_ = np.nan
        self.cv_results_: dict[str, Any] = {"params": []}
        self.searched_grid_, self.n_splits_, self.multimetric_ = {}, 0, False
        self.scorer_ = check_scoring(self.estimator, self.scoring)
        started = perf_counter()
        given = {name: value for name, value in params.items() if name != "groups"}
        self.best_estimator_ = clone(self.estimator).fit(X, y, **given)
        self.refit_time_, self.tuning_seconds_ = perf_counter() - started, 0.0
        return self


def limited_search(wanted: bool) -> Callable[..., AbstractContextManager[None]]:
    """Return what limits the search of a cell, with the plug-in mlaut-sharing; else nothing does.

    Raises
    ------
    OptionalPackageError
        The plug-in is missing, and limits are ``wanted``.
    """
    if wanted and not hasattr(GridSearch, "limits"):
        what = "tuning_timeout and trace_predictions need"
        raise OptionalPackageError(without_plugin(what, "sharing"))
    return getattr(GridSearch, "limits", _no_limits)


def told_limits(strategies: Sequence[Any], timeout: Any) -> str:
    """Return a sentence on the searches that have a time limit; empty without any."""
    return GridSearch.told_limits(strategies, timeout) if hasattr(GridSearch, "limits") else ""


def _no_limits(**_: Any) -> AbstractContextManager[None]:
    return nullcontext()


def _fewest_rows(folds: Any, X: Any, y: Any, params: Mapping[str, Any]) -> int:
    """Return the number of rows of the smallest training fold."""
    with warnings.catch_warnings():  # the search itself warns when it makes the folds
        warnings.simplefilter("ignore", TuningWarning)
        return min(len(train) for train, _ in folds.split(X, y, params.get("groups")))


def _grid_within(grid: Any, n_rows: int) -> Any:
    """Return the grid without numbers of neighbours above ``n_rows``."""
    if not isinstance(grid, Mapping):
        return [_grid_within(part, n_rows) for part in grid]
    return {
        name: _neighbours_within(values, n_rows) if name.endswith("n_neighbors") else values
        for name, values in grid.items()
    }


def _neighbours_within(values: Any, n_rows: int) -> Any:
    if hasattr(values, "rvs"):  # what is drawn from a range is limited when it is drawn
        return values
    return [value for value in values if value <= n_rows] or [n_rows]


@dataclass(frozen=True)
class TuningRecord:
    """Result of tuning.

    Attributes
    ----------
    best_params : dict
        Parameters of the chosen candidate: plain JSON values, names without pipeline prefixes.
    best_score : float or None
        Mean score of the chosen candidate over the tuning folds; None if it was not scored.
    honest_score : float or None
        Score of the chosen candidate without the bias of its choice; None if it is not valid.
    tuning_seconds : float
        Wall seconds of the search without the final fit. For a search other than `GridSearch`, the
        sum over its fits, which exceeds the wall seconds if they ran in parallel.
    fit_seconds : float
        Wall seconds of the final fit.
    n_candidates : int
        Number of candidates of the grid.
    n_scored : int
        Number of candidates that were scored on all tuning folds; smaller if time ran out.
    n_resumed : int
        Number of scores (of one candidate on one fold) taken from an earlier, interrupted run.
        Their time is not in ``tuning_seconds``.
    """

    best_params: Mapping[str, Any]
    best_score: float | None
    honest_score: float | None
    tuning_seconds: float
    fit_seconds: float
    n_candidates: int
    n_scored: int
    n_resumed: int


def tuning_record(fitted: Any) -> TuningRecord | None:
    """Return the result of tuning in a fitted model.

    Parameters
    ----------
    fitted : estimator
        Pipeline, search, strategy or any other estimator. The search may also be the last step of a
        pipeline, or the regressor of a transformed target.

    Returns
    -------
    TuningRecord or None
        None if nothing was tuned.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> search = GridSearch(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]})
    >>> record = tuning_record(make_pipeline(search).fit(*load_iris(return_X_y=True)))
    >>> record.best_params, record.n_candidates
    ({'max_depth': 3}, 2)
    >>> tuning_record(DecisionTreeClassifier()) is None
    True
    """
    search = search_in(fitted)
    if search is None:
        return None
    score, results = float(getattr(search, "best_score_", np.nan)), search.cv_results_
    honest = float(getattr(search, "honest_score_", np.nan))
    n_candidates = len(results["params"])
    return TuningRecord(
        best_params=plain(short_names(search.best_params_)),
        best_score=score if math.isfinite(score) else None,
        honest_score=honest if math.isfinite(honest) else None,
        tuning_seconds=_tuning_seconds(search),
        fit_seconds=float(getattr(search, "refit_time_", 0.0)),
        n_candidates=n_candidates,
        n_scored=int(np.sum(results.get("complete", np.ones(n_candidates)))),
        n_resumed=getattr(search, "sharing_", {}).get("resumed", 0),
    )


def _tuning_seconds(search: Any) -> float:
    if hasattr(search, "tuning_seconds_"):
        return float(search.tuning_seconds_)
    results = search.cv_results_
    seconds = np.asarray(results["mean_fit_time"]) + np.asarray(results["mean_score_time"])
    return float(seconds.sum() * search.n_splits_)
