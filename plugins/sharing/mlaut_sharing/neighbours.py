"""Shared nearest neighbours: one search per metric and fold serves every number of neighbours.

The first ``k`` of the ``K`` nearest rows are the ``k`` nearest, unless distances are equal. Which
of several equally distant rows a search returns depends on ``k``. Such rows are searched again for
that ``k``, unless all tied rows have the same label. On tables that have only zeros and ones,
``p = 1`` and ``p = 2`` are one search.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from mlaut_sharing.ensembles import is_size
from mlaut_sharing.interface import Candidate, CannotShareError, Fold, Shared, Sharer
from mlaut_sharing.private import NEIGHBOURS, ArgKmin, _openmp_effective_n_threads
from mlaut_sharing.stand_ins import per_table, stand_in

FEW_COLUMNS = 15
"""Number of columns above which ``algorithm="auto"`` compares all rows."""


class Neighbours(Sharer):
    """Sharer among values of ``n_neighbors``, and of ``p`` where it makes no difference."""

    private = (NEIGHBOURS,)

    def key(self, candidate: Candidate) -> Hashable | None:
        """Return all parameters except ``n_neighbors`` and ``p``."""
        if type(candidate.base) not in (KNeighborsClassifier, KNeighborsRegressor):
            return None
        metric = candidate.setting("metric")
        if not isinstance(metric, str) or metric == "precomputed":
            return None
        return type(candidate.base).__name__, candidate.rest("n_neighbors", "p")

    def models(self, candidates: list[Candidate], fold: Fold) -> Iterator[Shared]:
        """Yield models, with one search for each kind of search."""
        n_rows = len(fold.y_train)
        ways: dict[tuple[bool, Hashable], list[Candidate]] = {}
        for candidate in candidates:
            size = candidate.setting("n_neighbors")
            if is_size(size) and size <= n_rows:
                ways.setdefault(_search_kind(candidate, fold), []).append(candidate)
        for (compares_all, _), group in ways.items():
            yield from _share(group, compares_all, fold)


def _search_kind(candidate: Candidate, fold: Fold) -> tuple[bool, Hashable]:
    """Return whether a search compares all rows (scikit-learn's `_fit_method`), and its metric."""
    n_rows, n_columns = len(fold.y_train), np.shape(fold.X_train)[1]
    compares_all = candidate.setting("algorithm") == "brute" or (
        candidate.setting("algorithm") == "auto"
        and (n_columns > FEW_COLUMNS or candidate.setting("n_neighbors") >= n_rows // 2)
    )
    either = (
        compares_all
        and candidate.setting("p") in (1, 2)
        and candidate.setting("metric") == "minkowski"
        and candidate.setting("metric_params") is None
        and candidate.setting("weights") in ("uniform", None)
        and fold.once("zeros and ones", lambda: _zeros_and_ones(fold))
    )
    return compares_all, None if either else candidate.rest("n_neighbors")


def _zeros_and_ones(fold: Fold) -> bool:
    """Return whether tables hold only 0 and 1, so that ``p = 1`` and ``p = 2`` agree exactly.

    The result is False for several threads: the two then sometimes chose different rows among those
    at equal distances.
    """
    if _openmp_effective_n_threads() > 1:
        return False
    tables = (fold.X_train, fold.X_test)
    numbers = all(isinstance(X, np.ndarray) and X.dtype == np.float64 for X in tables)
    return numbers and all(bool(((X == 0) | (X == 1)).all()) for X in tables)


def _share(group: list[Candidate], compares_all: bool, fold: Fold) -> Iterator[Shared]:
    sizes: dict[int, list[int]] = {}
    for candidate in group:
        sizes.setdefault(int(candidate.setting("n_neighbors")), []).append(candidate.index)
    # Where p makes no difference, p=2 is faster.
    widest = max(group, key=lambda c: (c.setting("n_neighbors"), c.setting("p") == 2))
    fitted = widest.estimator().fit(fold.X_train, fold.y_train)
    if fitted._y.ndim != 1 or (fitted._fit_method == "brute") != compares_all:
        raise CannotShareError("several targets, or another way of searching")
    tables = per_table(lambda X: _NearestRows(fitted, X, sorted(sizes)))
    for size, indices in sizes.items():
        fold.check_time()
        yield Shared(tuple(indices), _model(fitted, tables, size), fold)


def _model(fitted: Any, tables: Callable[[Any], _NearestRows], size: int) -> Any:
    if fitted.weights not in ("uniform", None):
        return _weigher(fitted, tables, size)
    if isinstance(fitted, KNeighborsRegressor):
        return stand_in(fitted, predict=lambda X: tables(X).means(size))
    return stand_in(
        fitted,
        fitted.classes_,
        predict=lambda X: fitted.classes_.take(tables(X).counts(size).argmax(axis=1)),
        predict_proba=lambda X: tables(X).counts(size) / size,
    )


def _weigher(fitted: Any, tables: Callable[[Any], _NearestRows], size: int) -> Any:
    """Return a copy of the fitted estimator whose ``kneighbors`` uses the stored neighbours."""
    model = copy.copy(fitted)
    model.n_neighbors = size

    def kneighbors(X: Any, return_distance: bool = True) -> Any:
        return tables(X).nearest(size, return_distance)

    model.kneighbors = kneighbors
    return model


class _NearestRows:
    """Neighbours of the rows of one table, nearest first, with one more than the largest size."""

    def __init__(self, fitted: Any, X: Any, sizes: list[int]) -> None:
        self._fitted, self._X = fitted, X
        self._width = min(sizes[-1] + 1, fitted.n_samples_fit_)
        self._distances, self._rows = self._nearest()
        self._labels = fitted._y[self._rows]

    @property
    def _by_set(self) -> bool:
        """True if predictions depend only on the set of neighbours; weights need the order."""
        return self._fitted.weights in ("uniform", None)

    def _nearest(self) -> Any:
        """Return distances (or their squares, which have the same order) and rows."""
        if self._by_set and self._at_once and self._fitted.effective_metric_ == "euclidean":
            # Different squares may have equal roots, and such rows would need another search.
            squares = {"metric": "sqeuclidean", "return_distance": True}
            return self._compare(self._X, self._width, **squares)
        return self._fitted.kneighbors(self._X, self._width)

    # ---- answers

    def counts(self, size: int) -> np.ndarray:
        """Return the number of neighbours of each class: shape (n_rows, n_classes)."""
        return self._count(self.nearest(size, False))

    def means(self, size: int) -> np.ndarray:
        """Return the means of the targets of the neighbours: shape (n_rows,)."""
        means = self._labels[:, :size].sum(axis=1) / size
        unsure = self._unsure(size)
        if unsure.size:
            means[unsure] = self._fitted._y[self._look_up(unsure, size)].sum(axis=1) / size
        return means

    def nearest(self, size: int, return_distance: bool) -> Any:
        """Return the result of ``kneighbors`` for this size.

        Distances may be squares where predictions need no distances.
        """
        distances, rows = self._distances[:, :size], self._rows[:, :size]
        unsure = self._unsure(size)
        if unsure.size:
            rows = rows.copy()
            rows[unsure] = self._look_up(unsure, size)
        return (distances, rows) if return_distance else rows

    def _count(self, rows: np.ndarray) -> np.ndarray:
        n_classes = len(self._fitted.classes_)
        codes = self._fitted._y[rows] + np.arange(len(rows))[:, None] * n_classes
        tally = np.bincount(codes.ravel(), minlength=len(rows) * n_classes)
        return tally.reshape(len(rows), n_classes)

    # ---- equal distances

    @cached_property
    def _equal(self) -> np.ndarray:
        """Mask of the neighbours that are as far as the previous one."""
        equal = np.zeros(self._distances.shape, dtype=bool)
        np.equal(self._distances[:, 1:], self._distances[:, :-1], out=equal[:, 1:])
        return equal

    @cached_property
    def _runs(self) -> tuple[np.ndarray, np.ndarray]:
        """Start and end of the run of equal distances that contains each neighbour."""
        columns = np.arange(self._width)
        starts = np.maximum.accumulate(np.where(self._equal, 0, columns), axis=1)
        last = np.ones(self._equal.shape, dtype=bool)
        last[:, :-1] = ~self._equal[:, 1:]
        ends = np.where(last, columns + 1, self._width)[:, ::-1]
        return starts, np.minimum.accumulate(ends, axis=1)[:, ::-1]

    @cached_property
    def _doubtful(self) -> np.ndarray:
        """Mask, by row and number of neighbours, of cases in which the first ones may be wrong."""
        doubtful = np.zeros(self._equal.shape, dtype=bool)
        if self._by_set:
            doubtful[:, :-1] = self._equal[:, 1:] & self._differ[:, :-1]
        else:
            doubtful[:, :-1] = np.logical_or.accumulate(self._equal, axis=1)[:, 1:]
        return doubtful

    @cached_property
    def _differ(self) -> np.ndarray:
        """Mask of the neighbours whose equally distant rows may have different labels."""
        starts, ends = self._runs
        other = np.zeros(self._equal.shape, dtype=np.intp)
        other[:, 1:] = self._labels[:, 1:] != self._labels[:, :-1]
        changes = np.cumsum(other, axis=1)
        inside = np.take_along_axis(changes, ends - 1, axis=1)
        return (inside > np.take_along_axis(changes, starts, axis=1)) | self._unseen(ends)

    def _unseen(self, ends: np.ndarray) -> np.ndarray:
        """Return whether rows that were not looked up may be as near as the last one that was."""
        return (ends == self._width) & (self._width < self._fitted.n_samples_fit_)

    def _unsure(self, size: int) -> np.ndarray:
        """Return the rows for which the first ``size`` neighbours may be wrong."""
        return np.flatnonzero(self._doubtful[:, size - 1])

    # ---- looking up

    def _look_up(self, unsure: np.ndarray, size: int) -> np.ndarray:
        """Search again as scikit-learn does, so that distances are equal to the last bit."""
        if self._fitted._fit_method in ("kd_tree", "ball_tree"):  # they search row by row
            return self._fitted._tree.query(self._points[unsure], size, return_distance=False)
        if not self._at_once:
            return self._fitted.kneighbors(self._X, size, return_distance=False)[unsure]
        if self._row_by_row:
            return self._compare(self._X[unsure], size)
        return self._compare(self._X, size)[unsure]

    def _compare(self, X: np.ndarray, size: int, **options: Any) -> Any:
        """Search by comparing all rows, as ``kneighbors`` does, but without its checks."""
        fitted = self._fitted
        euclidean = fitted.effective_metric_ in ("euclidean", "sqeuclidean")
        votes = isinstance(fitted, KNeighborsClassifier) and not euclidean
        return ArgKmin.compute(
            X=X,
            Y=fitted._fit_X,
            k=size,
            metric_kwargs=fitted.effective_metric_params_,
            strategy="parallel_on_X" if votes else "auto",  # as in scikit-learn's predict
            **{"metric": fitted.effective_metric_, "return_distance": False, **options},
        )

    @cached_property
    def _at_once(self) -> bool:
        fitted, X = self._fitted, self._X
        return (
            isinstance(X, np.ndarray)
            and fitted._fit_method == "brute"
            and bool(ArgKmin.is_usable_for(X, fitted._fit_X, fitted.effective_metric_))
        )

    @cached_property
    def _row_by_row(self) -> bool:
        """True if the search for a row is independent of the other rows of the table.

        With several threads it is not, since they divide the work by the number of rows. Euclidean
        distances come from a matrix product, whose rounding depends on the shape; only products of
        whole numbers are exact.
        """
        if _openmp_effective_n_threads() > 1:
            return False
        if self._fitted.effective_metric_ not in ("euclidean", "sqeuclidean"):
            return True
        tables = (self._X, self._fitted._fit_X)
        largest = max(np.abs(X).max() for X in tables)
        exact = 4 * self._X.shape[1] * largest**2 < 2 / np.finfo(self._X.dtype).eps
        return bool(exact and all((np.rint(X) == X).all() for X in tables))

    @cached_property
    def _points(self) -> np.ndarray:
        return np.ascontiguousarray(self._X, dtype=np.float64)
