"""Nearest neighbours: the neighbours of a fold, found once a metric, serve every number of them.

The first ``k`` of the ``K`` nearest rows are the ``k`` nearest, except where distances are equal:
which of equally distant rows the search for ``k`` takes depends on ``k``. Such rows are looked up
again for that ``k``, unless all in question have the same label, so that it does not matter.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.metrics._pairwise_distances_reduction import ArgKmin
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.utils import _safe_indexing

from mlaut.estimators.sharing.interface import (
    Candidate,
    CannotShareError,
    Fold,
    Shared,
    Sharer,
    per_table,
    stand_in,
)

__all__ = ["Neighbours"]


class Neighbours(Sharer):
    """Shares among values of ``n_neighbors``."""

    def key(self, candidate: Candidate) -> Hashable | None:
        """Give all but ``n_neighbors``."""
        if type(candidate.base) not in (KNeighborsClassifier, KNeighborsRegressor):
            return None
        metric = candidate.setting("metric")
        if not isinstance(metric, str) or metric == "precomputed":
            return None
        return type(candidate.base).__name__, candidate.rest("n_neighbors")

    def models(self, candidates: list[Candidate], fold: Fold) -> Iterator[Shared]:
        """Find the neighbours of each way of searching once."""
        n_rows = len(fold.y_train)
        sizes = {c.index: c.setting("n_neighbors") for c in candidates}
        valid = [c for c in candidates if _is_size(sizes[c.index], n_rows)]
        for many in (False, True):  # how it searches depends on the number, see `_fit_method`
            group = [c for c in valid if (sizes[c.index] >= n_rows // 2) == many]
            if group:
                yield from _share(group, sizes, fold)


def _is_size(value: Any, n_rows: int) -> bool:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and bool(1 <= value <= n_rows)


def _share(group: list[Candidate], sizes: dict[int, int], fold: Fold) -> Iterator[Shared]:
    largest = max(group, key=lambda c: sizes[c.index])
    fitted = largest.estimator().fit(fold.X_train, fold.y_train)
    if fitted._y.ndim != 1:
        raise CannotShareError("several targets")
    wanted = sorted({int(sizes[c.index]) for c in group})
    tables = per_table(lambda X: _Table(fitted, X, wanted))
    votes = isinstance(fitted, KNeighborsClassifier) and fitted.weights in ("uniform", None)
    for candidate in group:
        fold.check_time()
        size = int(sizes[candidate.index])
        model = _voter(fitted, tables, size) if votes else _averager(fitted, tables, size)
        yield Shared((candidate.index,), model, fold)


def _voter(fitted: Any, tables: Callable[[Any], _Table], size: int) -> Any:
    return stand_in(
        fitted,
        fitted.classes_,
        predict=lambda X: fitted.classes_.take(tables(X).winners[size]),
        predict_proba=lambda X: tables(X).counts(size) / size,
    )


def _averager(fitted: Any, tables: Callable[[Any], _Table], size: int) -> Any:
    """Copy the fitted estimator, with the neighbours that it asks for looked up."""
    model = copy.copy(fitted)
    model.n_neighbors = size

    def kneighbors(X: Any, return_distance: bool = True) -> Any:
        return tables(X).nearest(size, return_distance)

    model.kneighbors = kneighbors
    return model


class _Table:
    """The neighbours of the rows of one table, nearest first, one more than is asked for."""

    def __init__(self, fitted: Any, X: Any, sizes: list[int]) -> None:
        self._fitted, self._X = fitted, X
        self._sizes = sizes
        width = min(sizes[-1] + 1, fitted.n_samples_fit_)
        self._distances, self._rows = fitted.kneighbors(X, width)
        self._labels = fitted._y[self._rows]
        # A vote is decided by the set of neighbours; a sum of weights also by their order.
        self._by_set = fitted.weights in ("uniform", None)
        self._winners: dict[int, np.ndarray] | None = None

    @property
    def winners(self) -> dict[int, np.ndarray]:
        """For each size the class, as a position, that most neighbours have; ties: the first."""
        if self._winners is None:
            self._winners = self._vote()
        return self._winners

    def _vote(self) -> dict[int, np.ndarray]:
        every = np.arange(len(self._labels))
        counts = np.zeros((len(every), len(self._fitted.classes_)), dtype=np.int32)
        winners = {}
        for column in range(self._sizes[-1]):
            counts[every, self._labels[:, column]] += 1
            if column + 1 in self._sizes:
                winners[column + 1] = counts.argmax(axis=1)
        for size in self._sizes:
            unsure = self._unsure(size)
            if unsure.size:
                winners[size][unsure] = self._decide(unsure, size)
        return winners

    def _decide(self, unsure: np.ndarray, size: int) -> np.ndarray:
        """Give the winner where it is the same whichever of equal rows are taken; look up others.

        Positions and counts are put in one number, so that a draw goes to the first class.
        """
        lowest, highest = self._bounds(unsure, size)
        n_classes = lowest.shape[1]
        precedence = np.arange(n_classes)[::-1]
        lowest, highest = lowest * n_classes + precedence, highest * n_classes + precedence
        winners = lowest.argmax(axis=1)
        every = np.arange(len(unsure))
        secured = lowest[every, winners]
        highest[every, winners] = -1
        open_ = np.flatnonzero(highest.max(axis=1) > secured)
        if open_.size:
            rows = self._look_up(unsure[open_], size)
            winners[open_] = self._count(rows).argmax(axis=1)
        return winners

    def _bounds(self, unsure: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Give the fewest and the most votes that each class can have."""
        distances, labels = self._distances[unsure], self._labels[unsure]
        last = distances[:, size - 1][:, None]
        closer, equal = distances < last, distances == last
        sure, tied = self._tally(labels, closer), self._tally(labels, equal)
        free = size - closer.sum(axis=1)[:, None]
        others = equal.sum(axis=1)[:, None] - tied
        unseen = equal[:, [-1]] & (distances.shape[1] < self._fitted.n_samples_fit_)
        fewest = np.where(unseen, 0, np.maximum(0, free - others))
        most = np.where(unseen, free, np.minimum(free, tied))
        return sure + fewest, sure + most

    def _tally(self, labels: np.ndarray, counted: np.ndarray) -> np.ndarray:
        n_classes = len(self._fitted.classes_)
        codes = labels + np.arange(len(labels))[:, None] * n_classes
        tally = np.bincount(codes[counted], minlength=len(labels) * n_classes)
        return tally.reshape(len(labels), n_classes)

    def counts(self, size: int) -> np.ndarray:
        """Count the neighbours of each class: shape (n_rows, n_classes)."""
        return self._count(self.nearest(size, False))

    def _count(self, rows: np.ndarray) -> np.ndarray:
        return self._tally(self._fitted._y[rows], np.ones(rows.shape, dtype=bool))

    def nearest(self, size: int, return_distance: bool) -> Any:
        """Give what ``kneighbors`` gives for this size."""
        distances, rows = self._distances[:, :size], self._rows[:, :size]
        unsure = self._unsure(size)
        if unsure.size:
            rows = rows.copy()
            rows[unsure] = self._look_up(unsure, size)
        return (distances, rows) if return_distance else rows

    def _unsure(self, size: int) -> np.ndarray:
        """Give the rows whose neighbours of this number need not be the first ones."""
        if size == self._distances.shape[1]:  # all training rows: none is left to tie with
            return np.empty(0, dtype=np.intp)
        first = size - 1 if self._by_set else 0
        gaps = np.diff(self._distances[:, first : size + 1], axis=1)
        tied = np.flatnonzero((gaps == 0).any(axis=1))
        return tied[self._matters(tied, size)] if self._by_set and tied.size else tied

    def _matters(self, tied: np.ndarray, size: int) -> np.ndarray:
        """Whether the rows that are as far as the last of the list have different labels."""
        equal = self._distances[tied] == self._distances[tied, size - 1][:, None]
        labels = self._labels[tied]
        differ = (equal & (labels != labels[:, [size - 1]])).any(axis=1)
        more_to_come = self._distances.shape[1] < self._fitted.n_samples_fit_
        return differ | (equal[:, -1] & more_to_come)

    def _look_up(self, unsure: np.ndarray, size: int) -> np.ndarray:
        """Search again for this number; all rows where a part is not measured the same."""
        if self._fitted._fit_method in ("kd_tree", "ball_tree"):  # each row by itself
            return self._fitted._tree.query(self._points[unsure], size, return_distance=False)
        plain = isinstance(self._X, np.ndarray)
        part = self._X[unsure] if plain else _safe_indexing(self._X, unsure)
        distances, rows = self._search(part, size)
        if np.array_equal(distances, self._distances[unsure, :size]):
            return rows
        return self._fitted.kneighbors(self._X, size, return_distance=False)[unsure]

    def _search(self, X: Any, size: int) -> Any:
        """Search as ``kneighbors`` does, without its checks where it compares all rows."""
        fitted = self._fitted
        if self._at_once and isinstance(X, np.ndarray):
            return ArgKmin.compute(
                X=X,
                Y=fitted._fit_X,
                k=size,
                metric=fitted.effective_metric_,
                metric_kwargs=fitted.effective_metric_params_,
                strategy="auto",
                return_distance=True,
            )
        return fitted.kneighbors(X, size)

    @cached_property
    def _at_once(self) -> bool:
        fitted, X = self._fitted, self._X
        return fitted._fit_method == "brute" and bool(
            ArgKmin.is_usable_for(X, fitted._fit_X, fitted.effective_metric_)
        )

    @cached_property
    def _points(self) -> np.ndarray:
        return np.ascontiguousarray(self._X, dtype=np.float64)
