"""Histogram boosting: one compiled run with the most stages serves all smaller numbers.

With numba (extra ``fast``), trees are grown by `growing`, on rows that are binned once a fold. The
trees of the first stage are compared with scikit-learn's in every group of candidates and fold.
Without numba, and for settings that `growing` does not have, `ensembles` cuts down the largest
ensemble that scikit-learn fits.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

from mlaut.sharing.interface import Candidate, CannotShareError, Fold, Shared
from mlaut.sharing.learners.ensembles import HISTOGRAMS, Ensembles, may_stop_early
from mlaut.sharing.learners.trees import depth_order
from mlaut.sharing.private import GROWERS, HISTOGRAM_DTYPE, TreeGrower

GROWTH = (
    "l2_regularization",
    "learning_rate",
    "max_depth",
    "max_iter",
    "max_leaf_nodes",
    "min_samples_leaf",
)
"""Parameters that change neither the bins nor the loss, so that candidates share these."""

MOST_NUMBERS = 2**26  # of the histograms of one tree: half a gigabyte; larger ones are not shared
BINS = 256  # bins of scikit-learn's histograms, with that of gaps


class Histograms(Ensembles):
    """Sharer among numbers of stages, of rows binned once a fold, with compiled trees."""

    kinds = HISTOGRAMS
    private = (GROWERS,)

    def models(self, candidates: list[Candidate], fold: Fold) -> Iterator[Shared]:
        """Yield models from one run with the most stages."""
        try:
            run = _run_of(candidates[0], sorted({c.setting("max_iter") for c in candidates}), fold)
        except CannotShareError:
            yield from super().models(candidates, fold)
            return
        for candidate in candidates:
            yield Shared((candidate.index,), run.model(candidate.setting("max_iter")), fold)


def _run_of(candidate: Candidate, sizes: list[int], fold: Fold) -> _HistogramRun:
    key = ("run", *sizes, candidate.rest("max_iter", "max_leaf_nodes"))
    limit = candidate.setting("max_leaf_nodes")
    if key not in fold.memo or not fold.memo[key].is_that_of(limit):
        fold.memo[key] = _HistogramRun(candidate, sizes, fold)
    return fold.memo[key]


def _can_grow(model: Any) -> bool:
    """Return whether `growing` has all settings of an estimator."""
    return (
        model.max_features == 1.0
        and model.max_bins < BINS
        and model.monotonic_cst is None
        and model.interaction_cst is None
        and getattr(model, "class_weight", None) is None
        and model.loss in ("log_loss", "squared_error", "poisson", "gamma")
        and not model.verbose
    )


class _Bins:
    """Rows of a fold in bins, and what else does not depend on how trees grow."""

    def __init__(self, candidate: Candidate, fold: Fold) -> None:
        self.start = start = candidate.estimator(max_iter=1, early_stopping=False)
        if not _can_grow(start):
            raise CannotShareError("settings that scikit-learn fits")
        start.fit(fold.X_train, fold.y_train)
        self.y = start._encode_y(np.asarray(fold.y_train))
        self.numbers = [start._preprocess_X(X, reset=False) for X in (fold.X_train, fold.X_test)]
        self.mapper = mapper = start._bin_mapper
        self.n_bins = np.asarray(mapper.n_bins_non_missing_, dtype=np.int64)
        self.first = np.concatenate([[0], np.cumsum(self.n_bins + 1)])
        self.binned = mapper.transform(self.numbers[0])
        self.gaps = (self.binned == mapper.missing_values_bin_idx_).any(axis=0)
        categorical = start._is_categorical_remapped
        self.categorical = np.zeros(len(self.n_bins), bool) if categorical is None else categorical
        self.codes = self._codes(self.binned)
        self.test_codes = self._codes(mapper.transform(self.numbers[1]))

    def _codes(self, binned: np.ndarray) -> np.ndarray:
        """Return the position of each value in a histogram of all columns; gaps come last."""
        bins = np.where(binned == self.mapper.missing_values_bin_idx_, self.n_bins, binned)
        return np.ascontiguousarray(bins + self.first[:-1], dtype=np.int32)

    def table(self) -> tuple[np.ndarray, ...]:
        """Return the training rows as `growing.grow` takes them."""
        return self.codes, self.first, self.gaps, self.categorical

    def grower(self, model: Any, gradient: np.ndarray, hessian: np.ndarray) -> Any:
        """Return scikit-learn's grower of a tree, after growth."""
        grower = TreeGrower(
            X_binned=self.binned,
            gradients=gradient,
            hessians=hessian,
            n_bins=model.max_bins + 1,
            n_bins_non_missing=self.mapper.n_bins_non_missing_,
            has_missing_values=self.gaps.astype(np.uint8),
            is_categorical=self.categorical,
            max_leaf_nodes=model.max_leaf_nodes,
            max_depth=model.max_depth,
            min_samples_leaf=model.min_samples_leaf,
            l2_regularization=model.l2_regularization,
            shrinkage=model.learning_rate,
            n_threads=1,
        )
        grower.grow()
        return grower

    def leaves(self, grower: Any) -> list[np.ndarray]:
        """Return the leaf values of a tree for the training and the test rows."""
        predictor = grower.make_predictor(binning_thresholds=self.mapper.bin_thresholds_)
        bitsets = self.mapper.make_known_categories_bitsets()
        return [predictor.predict(X, *bitsets, n_threads=1) for X in self.numbers]

    def sum_by_bin(self, numbers: np.ndarray) -> float:
        """Return the sum of numbers of the rows, added as scikit-learn 1.9 does."""
        histogram = np.zeros(self.start.max_bins + 1, HISTOGRAM_DTYPE)
        histogram["sum_gradients"] = np.bincount(self.binned[:, 0], numbers, len(histogram))
        return float(histogram["sum_gradients"].sum())

    def sum_by_row(self, numbers: np.ndarray) -> float:
        """Return the sum of numbers of the rows, added as scikit-learn 1.6 does."""
        return float(np.cumsum(numbers, dtype=np.float64)[-1])


class _HistogramRun:
    """All stages of boosting with one setting on one fold."""

    def __init__(self, candidate: Candidate, sizes: list[int], fold: Fold) -> None:
        if find_spec("numba") is None or may_stop_early(candidate, fold):
            raise CannotShareError("trees that scikit-learn grows")
        from mlaut.sharing.compiled import growing

        key = ("bins", candidate.rest(*GROWTH))
        self._bins = bins = fold.once(key, lambda: _Bins(candidate, fold))
        self._growing, self._model, self._fold = growing, candidate.estimator(), fold
        self._prepare(bins.start)
        self._stage(compare=True)
        for size in range(1, sizes[-1] + 1):
            if size > 1 and self._grows:
                fold.check_time()
                self._stage(compare=False)
            if size in sizes:
                self._at[size] = [raw.copy() for raw in self._raw]

    def is_that_of(self, max_leaf_nodes: int | None) -> bool:
        """Return whether this run would be the same with that largest number of leaves."""
        limits = depth_order(max_leaf_nodes), depth_order(self._model.max_leaf_nodes)
        return self._most_nodes < 2 * min(limits) - 1

    def _prepare(self, start: Any) -> None:
        model, n_rows, n_positions = self._model, len(self._bins.y), int(self._bins.first[-1])
        most = max(1, n_rows // model.min_samples_leaf)
        n_leaves = min(most, model.max_leaf_nodes or most) + 1
        if n_leaves * n_positions * 3 > MOST_NUMBERS:
            raise CannotShareError("histograms that take too much memory")
        self._rules = model.min_samples_leaf, float(model.l2_regularization)
        self._limits = model.max_leaf_nodes or -1, model.max_depth or -1
        self._nodes = self._growing.node_arrays(n_leaves, n_positions)
        self._rows, self._spare = np.arange(n_rows, dtype=np.int32), np.empty(n_rows, np.int32)
        base = start._baseline_prediction
        tables = self._bins.numbers
        self._raw = [np.asfortranarray(np.zeros((len(X), 1), base.dtype) + base) for X in tables]
        self._loss = start._loss
        self._slopes = self._loss.init_gradient_and_hessian(n_rows, np.float32, order="F")
        self._ones = np.ones(n_rows, np.float32)  # constant hessians
        self._at: dict[int, list[np.ndarray]] = {}
        self._most_nodes = 0  # of a tree; a tree of n leaves has 2 n - 1 nodes
        self._grows = True  # if no tree of a stage has a split, all later stages are like it

    def _stage(self, compare: bool) -> None:
        """Add a tree for each column of the predictions."""
        gradient, hessian = self._slopes
        known = {"y_true": self._bins.y, "raw_prediction": self._raw[0], "sample_weight": None}
        if self._loss.constant_hessian:
            self._loss.gradient(**known, gradient_out=gradient)
        else:
            self._loss.gradient_hessian(**known, gradient_out=gradient, hessian_out=hessian)
        self._grows = False
        for k in range(self._raw[0].shape[1]):
            g = gradient if gradient.ndim == 1 else gradient[:, k]
            h = hessian if hessian.ndim == 1 else hessian[:, k]
            if not compare:
                self._add_tree(k, g, h)
                continue
            grower = self._bins.grower(self._model, g, h)
            rules = (self._bins.sum_by_bin, self._bins.sum_by_row)
            same = [rule for rule in rules if rule(g) == grower.root.sum_gradients]
            if not same:
                raise CannotShareError("sums that scikit-learn adds in another order")
            self._sum = same[0]
            expected = [
                raw[:, k] + leaf
                for raw, leaf in zip(self._raw, self._bins.leaves(grower), strict=True)
            ]
            self._add_tree(k, g, h)
            got = [raw[:, k] for raw in self._raw]
            if not all(map(np.array_equal, got, expected)):
                raise CannotShareError("trees that differ from scikit-learn's")

    def _add_tree(self, k: int, gradient: np.ndarray, hessian: np.ndarray) -> None:
        """Grow a tree, and add its leaves to a column of the predictions."""
        constant = self._loss.constant_hessian
        total = float(len(gradient)) if constant else self._sum(hessian)
        hessian = self._ones if constant else hessian
        root = (self._sum(gradient), total)
        table, train, test = self._bins.table(), self._raw[0][:, k], self._raw[1][:, k]
        self._rows[:] = np.arange(len(self._rows))
        n_nodes = self._growing.grow(
            table,
            gradient,
            hessian,
            root,
            self._rules,
            self._limits,
            self._nodes,
            self._rows,
            self._spare,
            self._growing.BY_VALUE,
        )
        rate = float(self._model.learning_rate)
        self._growing.add_leaves(
            train, test, self._bins.test_codes, table, self._nodes, n_nodes, self._rows, rate
        )
        self._grows |= n_nodes > 1
        self._most_nodes = max(self._most_nodes, n_nodes)

    def model(self, size: int) -> Any:
        """Return a model that predicts the rows of the fold as the ensemble of this size."""
        model, fold, known = copy.copy(self._bins.start), self._fold, self._at[size]

        def predict(X: Any, **_: Any) -> np.ndarray:
            if X is fold.X_test:
                return known[1].copy()
            if X is fold.X_train:
                return known[0].copy()
            raise CannotShareError("rows that are not of the fold")

        model._raw_predict = predict
        return model
