"""Scores of fitted models, by the user's scorer.

Accuracy and R2, the defaults, are computed here, with the same steps in the same order as in
`sklearn.metrics`. Only its checks are omitted, which it repeats for each candidate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, is_regressor
from sklearn.metrics import accuracy_score, mean_squared_error, r2_score
from sklearn.pipeline import Pipeline

from mlaut.sharing.interface import Fold
from mlaut.sharing.private import (
    _BaseScorer,
    _MultimetricScorer,
    _PassthroughScorer,
    _Scorer,
)
from mlaut.sharing.search.honest import ROWS


def only_asks_for_predictions(scorer: Any) -> bool:
    """Return whether a scorer uses only a model's predictions, which a stand-in can provide."""
    if isinstance(scorer, _MultimetricScorer):
        return all(only_asks_for_predictions(part) for part in scorer._scorers.values())
    own = getattr(scorer, "only_predictions", False)
    return own or isinstance(scorer, _BaseScorer | _PassthroughScorer)


@dataclass(frozen=True, eq=False)
class Scoring:
    """Scorer of a search, applied to the rows of a fold.

    Attributes
    ----------
    scorer : callable
        Scorer of the search.
    train : bool
        Whether the training rows are scored too.
    """

    scorer: Any
    train: bool

    def __call__(self, model: Any, fold: Fold) -> dict[str, Any]:
        """Return the scores of a model on one fold; errors of the scorer pass through."""
        truth = fold.once(("truth", id(fold.y_test)), lambda: _Truth(fold.y_test))
        score, rows = self.score(model, fold.X_test, fold.y_test, truth)
        scores = {"test_scores": score} if rows is None else {"test_scores": score, ROWS: rows}
        if self.train:
            truth = fold.once(("truth", id(fold.y_train)), lambda: _Truth(fold.y_train))
            scores["train_scores"] = self.score(model, fold.X_train, fold.y_train, truth)[0]
        return scores

    def score(
        self, model: Any, X: Any, y: Any, truth: _Truth | None = None
    ) -> tuple[Any, np.ndarray | None]:
        """Return the score of a model, and that of each row if the score is a mean over rows."""
        metric = _plain_metric(self.scorer, model)
        if metric is not None:
            truth = _Truth(y) if truth is None else truth
            predicted = np.asarray(model.predict(X))
            score = metric.mean(truth, predicted)
            rows = metric.of_rows(truth.values, predicted) if truth.like(predicted) else None
            return _as_numbers(self.scorer(model, X, y)) if score is None else score, rows
        return _as_numbers(self.scorer(model, X, y)), None


class Recorder:
    """Scorer with the same scores as another one; it keeps the scores of the rows of each call."""

    def __init__(self, scoring: Scoring) -> None:
        self._scoring = scoring
        self.rows: list[np.ndarray | None] = []

    def __call__(self, model: Any, X: Any, y: Any) -> Any:
        """Return the score."""
        score, rows = self._scoring.score(model, X, y)
        self.rows.append(rows)
        return score


class _Truth:
    """Targets of a fold, with the parts of scores that depend only on them."""

    def __init__(self, y: Any) -> None:
        self.values = np.asarray(y)

    def like(self, predicted: np.ndarray) -> bool:
        """Return whether there is one prediction for each row, none of them infinite or NaN."""
        finite = predicted.dtype.kind != "f" or bool(np.isfinite(predicted).all())
        return finite and self.values.ndim == 1 and self.values.shape == predicted.shape

    @cached_property
    def column(self) -> np.ndarray:
        return self.values.reshape(-1, 1).astype(float)

    @cached_property
    def spread(self) -> Any:
        """Sum of squares around the mean; None where scikit-learn must compute R2."""
        y = self.values
        if y.dtype.kind not in "iuf" or y.itemsize != 8 or y.ndim != 1 or len(y) < 2:
            return None
        return ((self.column - np.average(self.column, axis=0)) ** 2).sum(axis=0)[0] or None


def _plain_metric(scorer: Any, model: Any) -> _Metric | None:
    if isinstance(scorer, _PassthroughScorer):
        while isinstance(model, Pipeline):
            model = model.steps[-1][1]  # whose score it has
        own: Any = getattr(type(model), "score", None)
        neighbours = getattr(own, "__module__", "").startswith("sklearn.neighbors.")
        repeated = neighbours and own.__qualname__ in _BY_NEIGHBOURS
        return _ACCURACY if repeated else _OWN_SCORES.get(own)
    if not isinstance(scorer, _Scorer) or scorer._kwargs:
        return None
    return _OF_SCORERS.get((scorer._score_func, scorer._sign))


def is_r2(scorer: Any, estimator: Any) -> bool:
    """Return whether a score is R2, which is not a mean over rows."""
    if isinstance(scorer, _PassthroughScorer):
        return is_regressor(estimator)
    return getattr(scorer, "_score_func", None) is r2_score


def _accuracy(truth: _Truth, predicted: np.ndarray) -> float | None:
    hits = truth.values == predicted
    if not isinstance(hits, np.ndarray) or hits.ndim != 1 or hits.shape != predicted.shape:
        return None
    return float(np.count_nonzero(hits) / len(hits))


def _r2(truth: _Truth, predicted: np.ndarray) -> float | None:
    if truth.spread is None or predicted.dtype != np.float64:
        return None
    if truth.values.shape != predicted.shape or not np.isfinite(predicted).all():
        return None
    missed = ((truth.column - predicted.reshape(-1, 1)) ** 2).sum(axis=0)[0]
    return None if missed == 0 else float(1 - missed / truth.spread)


class _Metric(NamedTuple):
    """Score of predictions, computed as scikit-learn does, and the scores of single rows."""

    mean: Callable[[_Truth, np.ndarray], float | None]
    of_rows: Callable[[np.ndarray, np.ndarray], np.ndarray]


def _squares(truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return -np.square(truth - predicted)


_ACCURACY = _Metric(_accuracy, lambda truth, predicted: (truth == predicted).astype(float))
_R2 = _Metric(_r2, _squares)
_OWN_SCORES = {ClassifierMixin.score: _ACCURACY, RegressorMixin.score: _R2}
# Classifiers by neighbours repeat the method, for calls without rows.
_BY_NEIGHBOURS = ("KNeighborsClassifier.score", "RadiusNeighborsClassifier.score")
_OF_SCORERS = {
    (accuracy_score, 1): _ACCURACY,
    (r2_score, 1): _R2,
    (mean_squared_error, -1): _Metric(lambda t, p: -mean_squared_error(t.values, p), _squares),
}


def _as_numbers(scores: Any) -> Any:
    if isinstance(scores, dict):
        return {name: _as_numbers(score) for name, score in scores.items()}
    if isinstance(scores, str):  # the traceback of a failed metric of several
        raise ValueError(scores)
    return scores.item() if hasattr(scores, "item") else scores
