"""Scores of fitted models, by the user's scorer, and those of single rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, is_regressor
from sklearn.metrics import accuracy_score, mean_squared_error, r2_score
from sklearn.pipeline import Pipeline

from mlaut_sharing.search.private import (
    _BaseScorer,
    _MultimetricScorer,
    _PassthroughScorer,
    _Scorer,
)


def only_asks_for_predictions(scorer: Any) -> bool:
    """Return whether a scorer uses only a model's predictions, which a stand-in can provide."""
    if isinstance(scorer, _MultimetricScorer):
        return all(only_asks_for_predictions(part) for part in scorer._scorers.values())
    own = getattr(scorer, "only_predictions", False)
    return own or isinstance(scorer, _BaseScorer | _PassthroughScorer)


@dataclass(frozen=True)
class Metric:
    """Score of predictions that is a mean over rows, or nearly one (R2).

    Attributes
    ----------
    score : callable
        Function of targets and predictions.
    by_row : callable
        Function of arrays of targets and predictions that returns the scores of single rows.
    """

    score: Callable[[Any, Any], Any]
    by_row: Callable[[np.ndarray, np.ndarray], np.ndarray]

    def of_rows(self, y: Any, predicted: Any) -> np.ndarray | None:
        """Return the scores of single rows; None without one finite prediction for each row."""
        truth, guess = np.asarray(y), np.asarray(predicted)
        finite = guess.dtype.kind != "f" or bool(np.isfinite(guess).all())
        alike = finite and truth.ndim == 1 and truth.shape == guess.shape
        return self.by_row(truth, guess) if alike else None


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

    def __call__(self, model: Any, X: Any, y: Any) -> tuple[Any, np.ndarray | None]:
        """Return the score of a model, and that of each row if the score is a mean over rows."""
        metric = self.metric(model)
        if metric is None:
            return _as_numbers(self.scorer(model, X, y)), None
        predicted = model.predict(X)
        return _as_numbers(metric.score(y, predicted)), metric.of_rows(y, predicted)

    def metric(self, model: Any) -> Metric | None:
        """Return what the scorer computes from predictions alone, if it is known."""
        if isinstance(self.scorer, _PassthroughScorer):
            while isinstance(model, Pipeline):
                model = model.steps[-1][1]  # whose score it has
            own: Any = getattr(type(model), "score", None)
            neighbours = getattr(own, "__module__", "").startswith("sklearn.neighbors.")
            repeated = neighbours and own.__qualname__ in _BY_NEIGHBOURS
            return _ACCURACY if repeated else _OWN_SCORES.get(own)
        if not isinstance(self.scorer, _Scorer) or self.scorer._kwargs:
            return None
        return _OF_SCORERS.get((self.scorer._score_func, self.scorer._sign))


class Recorder:
    """Scorer with the same scores as another one; it keeps the scores of the rows of each call."""

    def __init__(self, scoring: Scoring) -> None:
        self._scoring = scoring
        self.rows: list[np.ndarray | None] = []

    def __call__(self, model: Any, X: Any, y: Any) -> Any:
        """Return the score."""
        score, rows = self._scoring(model, X, y)
        self.rows.append(rows)
        return score


def is_r2(scorer: Any, estimator: Any) -> bool:
    """Return whether a score is R2, which is not a mean over rows."""
    if isinstance(scorer, _PassthroughScorer):
        return is_regressor(estimator)
    return getattr(scorer, "_score_func", None) is r2_score


def _squares(truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return -np.square(truth - predicted)


_ACCURACY = Metric(accuracy_score, lambda truth, predicted: (truth == predicted).astype(float))
_R2 = Metric(r2_score, _squares)
_OWN_SCORES = {ClassifierMixin.score: _ACCURACY, RegressorMixin.score: _R2}
# Classifiers by neighbours repeat the method, for calls without rows.
_BY_NEIGHBOURS = ("KNeighborsClassifier.score", "RadiusNeighborsClassifier.score")
_OF_SCORERS = {
    (accuracy_score, 1): _ACCURACY,
    (r2_score, 1): _R2,
    (mean_squared_error, -1): Metric(lambda y, p: -mean_squared_error(y, p), _squares),
}


def _as_numbers(scores: Any) -> Any:
    if isinstance(scores, dict):
        return {name: _as_numbers(score) for name, score in scores.items()}
    if isinstance(scores, str):  # the traceback of a failed metric of several
        raise ValueError(scores)
    return scores.item() if hasattr(scores, "item") else scores
