"""Shared gradient boosting: a run with the most stages serves all smaller numbers of stages.

Stages are grown as in `trees`, with scikit-learn's losses and starting values. The first stage is
compared with scikit-learn's in every group of candidates and fold. If no tree of a run reaches the
allowed depth, the run is the same for larger depths.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np

from mlaut_sharing.ensembles import BOOSTED, Ensembles
from mlaut_sharing.interface import Candidate, CannotShareError, Fold, Shared
from mlaut_sharing.private import (
    LOSSES,
    TREES,
    HalfBinomialLoss,
    HalfMultinomialLoss,
    HalfSquaredError,
)
from mlaut_sharing.stand_ins import per_table, stand_in
from mlaut_sharing.trees import (
    Grower,
    can_grow,
    codes,
    depth_order,
    plain_numbers,
    same_tree,
    seeded,
)

SMALLEST_HESSIAN = 1e-150  # scikit-learn's own bound, below which a leaf's value is 0


class Boosted(Ensembles):
    """Sharer among numbers of stages, and among depths that no tree reaches."""

    kinds = BOOSTED
    private = (LOSSES, TREES)

    def keeps(self, candidate: Candidate) -> bool:  # noqa: ARG002
        """Return True: a longer run continues the stages of a shorter one."""
        return True

    def models(self, candidates: list[Candidate], fold: Fold) -> Iterator[Shared]:
        """Yield models from one run with the most stages, or from the run of a smaller depth."""
        sizes = sorted({c.setting("n_estimators") for c in candidates})
        try:
            run = _run_of(candidates[0], sizes, fold)
        except CannotShareError:
            yield from super().models(candidates, fold)
            return
        for candidate in candidates:
            yield Shared((candidate.index,), run.model(candidate.setting("n_estimators")), fold)


def _run_of(candidate: Candidate, sizes: list[int], fold: Fold) -> _BoostedRun:
    runs: dict[Hashable, _BoostedRun] = fold.once("runs", dict)
    key = candidate.rest("n_estimators", "max_depth")
    if key not in runs or not runs[key].is_that_of(candidate.setting("max_depth"), sizes[-1]):
        if fold.deadline is not None:  # the fold may stay until the search ends
            runs.clear()
        runs[key] = _BoostedRun(candidate, fold)
    runs[key].reach(sizes)
    return runs[key]


class _BoostedRun:
    """All stages of boosting with one setting on one fold."""

    def __init__(self, candidate: Candidate, fold: Fold) -> None:
        start = candidate.estimator(n_estimators=1)
        if start.subsample != 1.0 or start.init not in (None, "zero"):
            raise CannotShareError("stages that scikit-learn fits")
        self.base, self._fold = candidate.base, fold
        self.numbers = fold.once("tree numbers", lambda: per_table(plain_numbers))
        self._X = self.numbers(fold.X_train)
        self._start = start.fit(fold.X_train, fold.y_train)
        self._loss, self._rate = start._loss, start.learning_rate
        if type(self._loss) not in (HalfBinomialLoss, HalfMultinomialLoss, HalfSquaredError):
            raise CannotShareError("leaves that scikit-learn computes")
        self._classes = getattr(start, "classes_", None)
        self._depth, self._deepest = start.max_depth, 0
        self._prepare(candidate)
        self._stages = [self._stage()]
        self._compare()

    def reach(self, sizes: list[int]) -> None:
        """Continue the run to the largest of these sizes, for models of all of them."""
        while len(self._stages) < sizes[-1]:
            self._stages.append(self._stage())
        self._sizes, self._at = sizes, per_table(self._scan)

    def is_that_of(self, depth: int | None, size: int) -> bool:
        """Return whether this run serves a model with this maximal depth and ``size`` stages."""
        if depth == self._depth:
            return True
        return size <= len(self._stages) and self._deepest < min(
            map(depth_order, (depth, self._depth))
        )

    def _prepare(self, candidate: Candidate) -> None:
        y = codes(self._classes, self._fold.y_train)
        self._y = np.ascontiguousarray(y[:, 0])
        self._targets = [self._y]
        if self._loss.is_multiclass:
            n_classes = self._loss.n_classes
            self._targets = [(self._y == k).astype(np.float64) for k in range(n_classes)]
        self._raw = np.ascontiguousarray(self._start._raw_predict_init(self._X))
        self._weights = np.ones(len(self._y))
        tree = self._start.estimators_[0, 0]
        if not can_grow(tree):
            raise CannotShareError("trees that scikit-learn grows")
        self._grower = Grower(
            tree,
            n_rows=len(self._y),
            n_features=self._X.shape[1],
            n_classes=1,
            weight=len(self._y),
            random_state=seeded(candidate.setting("random_state")),
        )

    def _stage(self) -> list[Any]:
        """Return a new stage, one tree per column of the gradient, added to the predictions."""
        self._fold.check_time()
        gradient = -self._loss.gradient(
            y_true=self._y, raw_prediction=self._raw, sample_weight=None
        )
        gradient = gradient.reshape(len(self._y), -1)
        stage = []
        for k, target in enumerate(self._targets):
            column = np.ascontiguousarray(gradient[:, k])
            tree = self._grower.grow(self._X, column.reshape(-1, 1), self._weights, self._depth)
            self._add(tree, target, column, k)
            self._deepest = max(self._deepest, tree.max_depth)
            stage.append(tree)
        return stage

    def _add(self, tree: Any, target: np.ndarray, gradient: np.ndarray, k: int) -> None:
        """Set the leaves of a tree, and add them to a column of the predictions."""
        leaves, newton = tree.apply(self._X), not isinstance(self._loss, HalfSquaredError)
        if newton:
            self._set_leaves(tree, leaves, target, gradient)
        self._raw[:, k] += self._rate * tree.value[:, 0, 0].take(leaves)

    @property
    def _factor(self) -> float:
        """Return the factor of Newton steps for several classes."""
        n = len(self._targets)
        return (n - 1) / n if n > 1 else 1.0

    def _set_leaves(
        self, tree: Any, leaves: np.ndarray, target: np.ndarray, gradient: np.ndarray
    ) -> None:
        """Set each leaf to its Newton step; sums run over its rows in the order of the table."""
        probability = target - gradient
        hessian = probability * (1 - probability)
        order = np.argsort(leaves, kind="stable")
        of_row = leaves[order]
        starts = [0, *(np.flatnonzero(np.diff(of_row)) + 1).tolist()]
        gradient, hessian = gradient[order], hessian[order]
        values = tree.value[:, 0, 0]
        for start, stop in zip(starts, [*starts[1:], len(order)], strict=True):
            slope = gradient[start:stop].sum() / (stop - start) * self._factor
            curvature = hessian[start:stop].sum() / (stop - start)
            safe = abs(curvature) >= SMALLEST_HESSIAN
            values[of_row[start]] = float(slope) / float(curvature) if safe else 0.0

    def _compare(self) -> None:
        for own, tree in zip(self._stages[0], self._start.estimators_[0], strict=True):
            if not same_tree(own, tree.tree_):
                raise CannotShareError("stages that differ from scikit-learn's")

    def _scan(self, X: Any) -> dict[int, np.ndarray]:
        """Return raw predictions of the first n stages, for each requested n."""
        rows = self.numbers(X)
        raw = self._start._raw_predict_init(rows)
        at = {}
        for n, stage in enumerate(self._stages, 1):
            for k, tree in enumerate(stage):
                raw[:, k] += self._rate * tree.predict(rows)[:, 0]
            if n in self._sizes:
                at[n] = raw.copy()
        return at

    def model(self, size: int) -> Any:
        """Return a model that predicts as the fitted ensemble of this size."""

        def decisions(X: Any) -> np.ndarray:
            raw = self._at(X)[size]
            return raw.ravel() if raw.shape[1] == 1 else raw

        classes = self._classes
        if classes is None:
            return stand_in(self.base, predict=decisions)
        return stand_in(
            self.base,
            classes,
            predict=lambda X: classes[_winners(decisions(X))],
            predict_proba=lambda X: self._loss.predict_proba(decisions(X)),
            decision_function=decisions,
        )


def _winners(decisions: np.ndarray) -> np.ndarray:
    return (decisions >= 0).astype(int) if decisions.ndim == 1 else decisions.argmax(axis=1)
