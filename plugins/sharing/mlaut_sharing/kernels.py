"""Shared machines with a Gaussian kernel: one kernel per width serves every penalty.

The squared distances are computed once per fold, the kernel once per ``gamma``. The solver runs
for increasing ``C`` until two values take the same number of steps to the same model, bit for bit.
The solver uses ``C`` only to clip. So if nothing is clipped at two values, we assume that nothing
is clipped at larger ones.

Distances are computed in libsvm's way, pair by pair with the same dot product, so that the kernel
differs from libsvm's by at most the last bit of the exponential. For fitting, libsvm rounds the
kernel to single precision, which makes the fitted coefficients the same. Decision values on other
rows differ by about 1e-16 times the sum of the absolute coefficients; a label could only differ
where the decision is closer to zero than that.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Hashable, Iterator
from itertools import combinations
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR
from sklearn.utils import check_array

from mlaut_sharing.interface import Candidate, CannotShareError, Fold, Shared, Sharer
from mlaut_sharing.private import KERNELS, LIBSVM_IMPL, _libsvm
from mlaut_sharing.search.private import _safe_indexing
from mlaut_sharing.stand_ins import per_table, stand_in

_CUT_OFF = 1  # libsvm's status of a solver that has reached ``max_iter``

_IN_PART = 5

MOST_ROWS = 5_000
"""Most training rows for which kernels are stored; this takes 0.4 GB, and briefly 0.6 GB."""


class GaussianMachines(Sharer):
    """Sharer of fits among values of ``C``, and of distances among values of ``gamma``."""

    private = (KERNELS,)

    def parts(self, candidates: list[Candidate]) -> list[list[Candidate]]:
        """Return parts of five candidates in random order: a fit for a large ``C`` may be slow."""
        starts = range(0, len(candidates), _IN_PART)
        parts = [candidates[i : i + _IN_PART] for i in starts]
        return [parts[k] for k in np.random.default_rng(0).permutation(len(parts))]

    def keeps(self, candidate: Candidate) -> bool:  # noqa: ARG002
        """Return True: all values of ``gamma`` need the distances."""
        return True

    def key(self, candidate: Candidate) -> Hashable | None:
        """Return all parameters except ``C``."""
        if type(candidate.base) not in (SVC, SVR) or candidate.setting("kernel") != "rbf":
            return None
        if not isinstance(candidate.setting("C"), Real):
            return None
        if any(
            getattr(candidate.base, name, False) is True for name in ("break_ties", "probability")
        ):
            return None
        return type(candidate.base).__name__, candidate.rest("C")

    def models(self, candidates: list[Candidate], fold: Fold) -> Iterator[Shared]:
        """Yield models for increasing ``C``, fitting until the model stops changing."""
        solver = _solver(candidates[0], fold)
        before, fitted, model, settled = None, None, None, False
        for candidate in sorted(candidates, key=lambda c: c.setting("C")):
            C = candidate.setting("C")
            if not settled and (fitted is None or fitted.C != C):
                fold.check_time()
                before, fitted = fitted, solver.fit(candidate)
                settled = before is not None and _same(before, fitted)
                model = model if settled else solver.model(fitted)
            yield Shared((candidate.index,), model, fold)


def _same(one: Any, other: Any) -> bool:
    """Return whether the solver took the same number of steps to the same numbers."""
    parts = ("n_iter_", "support_", "dual_coef_", "intercept_")
    return all(np.array_equal(_dense(one, part), _dense(other, part)) for part in parts)


def _dense(fitted: Any, part: str) -> np.ndarray:
    value = getattr(fitted, part)
    return value.toarray() if issparse(value) else np.asarray(value)


def _solver(candidate: Candidate, fold: Fold) -> _OwnKernel | _KeptKernel:
    """Return a solver on a stored kernel if it fits into memory, else scikit-learn's machine."""
    if issparse(fold.X_train) or len(fold.y_train) > MOST_ROWS:
        return _OwnKernel(fold)
    kind = ("machine", candidate.rest("C", "gamma"))
    if kind in fold.memo:
        return _KeptKernel(candidate, fold, fold.memo[kind])
    machine = _OwnKernel(fold).fit(candidate)
    solver = _KeptKernel(candidate, fold, machine)
    if not _same(machine, solver.fit(candidate)):
        raise CannotShareError("the solver does not take the same steps on the kernel kept")
    fold.memo[kind] = machine
    return solver


class _OwnKernel:
    """Machines that scikit-learn fits, each with its own kernel."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold

    def fit(self, candidate: Candidate) -> Any:
        return candidate.estimator().fit(self._fold.X_train, self._fold.y_train)

    def model(self, fitted: Any) -> Any:
        return fitted


class _KeptKernel:
    """Machines of one width, fitted on a kernel that is computed once.

    Each machine is a copy of one that scikit-learn has fitted on these rows, with the solver's
    results for other parameters.
    """

    def __init__(self, candidate: Candidate, fold: Fold, machine: Any = None) -> None:
        self._rows = fold.once("numbers", lambda: _numbers(fold.X_train))
        self._width = _width(candidate.setting("gamma"), self._rows)
        self._machine = machine
        self._y = fold.once(("codes", type(machine)), lambda: _codes(machine, fold.y_train))
        distances = fold.once("distances", lambda: _distances_within(self._rows))
        self._train = np.exp(-self._width * distances)
        to_training = fold.once(
            "distances to", lambda: per_table(lambda X: _distances(_numbers(X), self._rows))
        )
        self._to = per_table(lambda X: np.exp(-self._width * to_training(X)))

    def fit(self, candidate: Candidate) -> Any:
        machine = copy.copy(self._machine)
        machine.C, machine.gamma = candidate.setting("C"), candidate.setting("gamma")
        machine._gamma = self._width
        names = ("tol", "shrinking", "cache_size", "nu", "epsilon", "max_iter")
        parts = _libsvm.fit(
            self._train,
            self._y,
            svm_type=LIBSVM_IMPL.index(machine._impl),
            kernel="precomputed",
            C=machine.C,
            class_weight=getattr(machine, "class_weight_", np.empty(0)),
            **{name: getattr(machine, name) for name in names},
        )
        if parts[7] == _CUT_OFF:
            warnings.warn(
                f"Solver terminated early (max_iter={machine.max_iter}).",
                ConvergenceWarning,
                stacklevel=2,
            )
        machine.support_, _, machine._n_support, dual, intercept = parts[:5]
        machine._num_iter = parts[8]
        if not (np.isfinite(dual).all() and np.isfinite(intercept).all()):
            raise CannotShareError("coefficients that are not finite")
        flip = -1 if isinstance(machine, SVC) and len(machine.classes_) == 2 else 1
        machine._dual_coef_, machine._intercept_ = dual, intercept
        machine.dual_coef_, machine.intercept_ = flip * dual, flip * intercept
        machine.support_vectors_ = self._rows[machine.support_]
        machine.n_iter_ = parts[8] if isinstance(machine, SVC) else parts[8].item()
        return machine

    def model(self, fitted: Any) -> Any:
        """Return a model that predicts as the machine does, and caches predictions per table."""
        if isinstance(fitted, SVR):
            return stand_in(fitted, predict=per_table(fitted.predict))
        return stand_in(
            fitted,
            fitted.classes_,
            predict=per_table(lambda X: self._labels(fitted, X)),
            decision_function=per_table(fitted.decision_function),
        )

    def _labels(self, fitted: Any, X: Any) -> np.ndarray:
        """Predict from the stored kernel, or by libsvm where rounding might change the label."""
        decisions = _libsvm.decision_function(
            self._to(X),
            fitted.support_,
            np.empty((0, 0)),
            fitted._n_support,
            fitted._dual_coef_,
            fitted._intercept_,
            kernel="precomputed",
        )
        labels = fitted.classes_.take(_winners(decisions, len(fitted.classes_)))
        weight = np.abs(fitted._dual_coef_).sum() + np.abs(fitted._intercept_).max()
        rounding = 4 * np.finfo(float).eps * len(fitted.support_) * weight
        unsure = np.flatnonzero(np.abs(decisions).min(axis=1) <= rounding)
        if unsure.size:
            labels[unsure] = fitted.predict(_safe_indexing(X, unsure))
        return labels


def _codes(machine: Any, y: Any) -> np.ndarray:
    if isinstance(machine, SVC):
        return np.searchsorted(machine.classes_, np.asarray(y)).astype(np.float64)
    return np.asarray(y, dtype=np.float64)


def _winners(decisions: np.ndarray, n_classes: int) -> np.ndarray:
    """Return for each row the position of the class that wins most pairs; the first wins ties."""
    votes = np.zeros((len(decisions), n_classes), dtype=int)
    for pair, (left, right) in enumerate(combinations(range(n_classes), 2)):
        first = decisions[:, pair] > 0
        votes[:, left] += first
        votes[:, right] += ~first
    return votes.argmax(axis=1)


def _numbers(X: Any) -> np.ndarray:
    return check_array(X, dtype=np.float64, order="C")


def _width(gamma: Any, rows: np.ndarray) -> float:
    if gamma == "scale":
        spread = rows.var()
        return 1.0 / (rows.shape[1] * spread) if spread != 0 else 1.0
    return 1.0 / rows.shape[1] if gamma == "auto" else gamma


def _distances_within(rows: np.ndarray) -> np.ndarray:
    """Return squared distances as libsvm computes them for fitting: from squares and products."""
    with np.errstate(over="ignore", invalid="ignore"):
        products = np.vecdot(rows[:, None], rows[None])
        squares = products.diagonal().copy()
        return _finite(squares[:, None] + squares[None] - 2 * products)


def _distances(others: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return squared distances as libsvm computes them for prediction: from differences."""
    distances = np.empty((len(others), len(rows)))
    with np.errstate(over="ignore", invalid="ignore"):
        for other, out in zip(others, distances, strict=True):
            difference = other - rows
            np.vecdot(difference, difference, out=out)
    return _finite(distances)


def _finite(distances: np.ndarray) -> np.ndarray:
    if not np.isfinite(distances).all():
        raise CannotShareError("distances that are not finite")
    return distances
