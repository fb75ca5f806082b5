"""Shared linear models: what does not depend on the penalty is computed once per fold.

`Ridges` stores the products of the centred table and adds each penalty to them. `LarsPaths` reads
the solutions for all penalties from one path. `Lassos` stores the centred table; coordinate descent
starts from zero for each penalty, as scikit-learn's does, because a warm start would stop at other
numbers. `Passives` increases the aggressiveness until no step is clipped any more. Penalised models
are compared with scikit-learn's fit of one candidate in every group and fold, bit for bit.

Logistic regression is not included: its solvers stop at a tolerance, at a point that depends on the
start.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterator
from numbers import Real
from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse import issparse
from sklearn import config_context, linear_model
from sklearn.linear_model import ElasticNet, Lasso, LassoLars, Ridge, SGDClassifier
from sklearn.utils import check_array

from mlaut_sharing.interface import Candidate, CannotShareError, Fold, Shared, Sharer
from mlaut_sharing.stand_ins import same_parts

SAME_ALPHA = np.finfo(np.float32).eps
"""Distance below which scikit-learn's path treats two penalties as equal."""

_Solver = Callable[[float], np.ndarray]


class _Penalised(Sharer):
    """Base of the sharers among values of ``alpha`` of a regression."""

    kinds: tuple[type, ...]
    order: str | None = None

    def key(self, candidate: Candidate) -> Hashable | None:
        """Return all parameters except ``alpha``."""
        if type(candidate.base) not in self.kinds:
            return None
        alpha = candidate.setting("alpha")
        if not isinstance(alpha, Real) or alpha <= 0 or not self._treats(candidate):
            return None
        return type(candidate.base).__name__, candidate.rest("alpha")

    @abstractmethod
    def _treats(self, candidate: Candidate) -> bool:
        """Return whether the sharer supports the values of all parameters except ``alpha``."""

    @abstractmethod
    def _solver(self, order: list[Candidate], centred: _Centred, fold: Fold) -> _Solver:
        """Return a function from penalty to coefficients; it is called with ascending penalties."""

    def models(self, candidates: list[Candidate], fold: Fold) -> Iterator[Shared]:
        """Fit one model with scikit-learn, and yield copies of it with other coefficients."""
        order = sorted(candidates, key=lambda c: c.setting("alpha"))
        fitted = order[len(order) // 2].estimator().fit(fold.X_train, fold.y_train)
        if np.ndim(fitted.coef_) != 1 or issparse(fold.X_train):
            raise CannotShareError("several targets, or a sparse table")
        how = (bool(fitted.fit_intercept), self.order)
        centred = fold.once(("centred", *how), lambda: _Centred(fold, *how))
        solve = self._solver(order, centred, fold)
        own = centred.put(fitted, solve(fitted.alpha))
        if not (np.array_equal(own.coef_, fitted.coef_) and own.intercept_ == fitted.intercept_):
            raise CannotShareError("coefficients that differ from scikit-learn's")
        for candidate in order:
            fold.check_time()
            model = centred.put(fitted, solve(candidate.setting("alpha")))
            model.alpha = candidate.setting("alpha")
            yield Shared((candidate.index,), model, fold)


class _Centred:
    """Training rows and targets, minus their means if there is an intercept."""

    def __init__(self, fold: Fold, with_intercept: bool, order: str | None) -> None:
        self.X = check_array(fold.X_train, dtype=np.float64, copy=True, order=order)
        self.y = check_array(fold.y_train, dtype=np.float64, ensure_2d=False, copy=True)
        self._with_intercept = with_intercept
        if with_intercept:
            self._means = np.average(self.X, axis=0), np.average(self.y, axis=0)
            self.X -= self._means[0]
            self.y -= self._means[1]

    def put(self, fitted: Any, coefficients: np.ndarray) -> Any:
        """Return a copy of a fitted model with other coefficients and their intercept."""
        model = copy.copy(fitted)
        model.coef_ = coefficients
        if self._with_intercept:
            model.intercept_ = self._means[1] - self._means[0] @ coefficients
        return model


class Ridges(_Penalised):
    """Sharer for ridge regression by Cholesky decomposition, the default for dense tables."""

    kinds = (Ridge,)

    def _treats(self, candidate: Candidate) -> bool:
        return candidate.setting("solver") in ("auto", "cholesky") and not candidate.setting(
            "positive"
        )

    def _solver(self, order: list[Candidate], centred: _Centred, fold: Fold) -> _Solver:  # noqa: ARG002
        X, y = centred.X, centred.y.reshape(-1, 1)
        wide = X.shape[1] > X.shape[0]
        products = X @ X.T if wide else X.T @ X
        right = y if wide else X.T @ y

        def solve(alpha: float) -> np.ndarray:
            penalised = products.copy()
            penalised.flat[:: len(penalised) + 1] += alpha
            solution = scipy.linalg.solve(penalised, right, assume_a="pos", overwrite_a=not wide)
            return np.ravel(X.T @ solution if wide else solution)

        return solve


class Lassos(_Penalised):
    """Sharer for the Lasso and the elastic net by coordinate descent."""

    kinds = (Lasso, ElasticNet)
    order = "F"

    def _treats(self, candidate: Candidate) -> bool:
        if candidate.setting("precompute") is not False or candidate.setting("warm_start"):
            return False
        return candidate.setting("selection") == "cyclic"

    def _solver(self, order: list[Candidate], centred: _Centred, fold: Fold) -> _Solver:  # noqa: ARG002
        bare = order[0].estimator(fit_intercept=False, copy_X=False)

        def solve(alpha: float) -> np.ndarray:
            bare.alpha = alpha
            with config_context(skip_parameter_validation=True):
                return bare.fit(centred.X, centred.y, check_input=False).coef_

        return solve


class LarsPaths(_Penalised):
    """Sharer for the Lasso by least-angle regression: one path serves all penalties."""

    kinds = (LassoLars,)

    def _treats(self, candidate: Candidate) -> bool:
        return bool(candidate.setting("fit_path")) and candidate.setting("jitter") is None

    def _solver(self, order: list[Candidate], centred: _Centred, fold: Fold) -> _Solver:  # noqa: ARG002
        longest = order[0].estimator().fit(fold.X_train, fold.y_train)
        alphas, path = longest.alphas_, longest.coef_path_

        def solve(alpha: float) -> np.ndarray:
            knot = int(np.argmax(alphas <= alpha + SAME_ALPHA))
            if alphas[knot] > alpha + SAME_ALPHA:  # the path ended above this penalty
                return path[:, -1].copy()
            if abs(alphas[knot] - alpha) <= SAME_ALPHA or knot == 0:
                return path[:, knot].copy()
            if knot == len(alphas) - 1:  # the path ends within a step, not at its end
                return order[0].estimator(alpha=alpha).fit(fold.X_train, fold.y_train).coef_
            share = (alphas[knot - 1] - alpha) / (alphas[knot - 1] - alphas[knot])
            return path[:, knot - 1] + share * (path[:, knot] - path[:, knot - 1])

        return solve


class Passives(Sharer):
    """Sharer among values of the aggressiveness of passive-aggressive classifiers (PA-I).

    The aggressiveness only clips steps. Once two values lead to the same model, bit for bit, no
    larger value clips a step.
    """

    def key(self, candidate: Candidate) -> Hashable | None:
        """Return all parameters except the aggressiveness."""
        name = _aggressiveness(candidate)
        if name is None or candidate.setting("random_state") is None:
            return None
        if candidate.setting("warm_start") or not isinstance(candidate.setting(name), Real):
            return None
        return type(candidate.base).__name__, candidate.rest(name)

    def models(self, candidates: list[Candidate], fold: Fold) -> Iterator[Shared]:
        """Yield models for increasing values, fitting until the model stops changing."""
        name = str(_aggressiveness(candidates[0]))
        fitted: Any = None
        settled, last = False, None
        for candidate in sorted(candidates, key=lambda c: c.setting(name)):
            value = candidate.setting(name)
            if not settled and value != last:
                fold.check_time()
                before, last = fitted, value
                fitted = candidate.estimator().fit(fold.X_train, fold.y_train)
                steps = ("n_iter_", "t_", "coef_", "intercept_")
                settled = before is not None and same_parts(before, fitted, *steps)
            yield Shared((candidate.index,), fitted, fold)


def _aggressiveness(candidate: Candidate) -> str | None:
    kind = type(candidate.base)
    if kind is SGDClassifier:
        clipped = (
            candidate.setting("learning_rate") == "pa1" and candidate.setting("penalty") is None
        )
        return "eta0" if clipped else None
    if kind is getattr(linear_model, "PassiveAggressiveClassifier", None):
        return "C" if candidate.setting("loss") == "hinge" else None
    return None
