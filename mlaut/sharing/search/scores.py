"""Scores of fitted models, by the user's scorer.

Accuracy and R2, the defaults, are computed here, with the same steps in the same order as in
`sklearn.metrics`, but without its checks, which it repeats for each candidate.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score

from mlaut.sharing.interface import Fold
from mlaut.sharing.private import (
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
        scores = {"test_scores": self._score(model, fold, fold.X_test, fold.y_test)}
        if self.train:
            scores["train_scores"] = self._score(model, fold, fold.X_train, fold.y_train)
        return scores

    def _score(self, model: Any, fold: Fold, X: Any, y: Any) -> Any:
        metric = _plain_metric(self.scorer, model)
        if metric is not None:
            truth = fold.once(("truth", id(y)), lambda: _Truth(y))
            score = metric(truth, np.asarray(model.predict(X)))
            if score is not None:
                return score
        return _as_numbers(self.scorer(model, X, y))


class _Truth:
    """Targets of a fold, with the parts of scores that depend only on them."""

    def __init__(self, y: Any) -> None:
        self.values = np.asarray(y)

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


def _plain_metric(scorer: Any, model: Any) -> Callable[[_Truth, np.ndarray], float | None] | None:
    if isinstance(scorer, _PassthroughScorer):
        return _OWN_SCORES.get(type(model).score)
    if not isinstance(scorer, _Scorer) or scorer._kwargs or scorer._sign != 1:
        return None
    return {accuracy_score: _accuracy, r2_score: _r2}.get(scorer._score_func)


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


_OWN_SCORES = {ClassifierMixin.score: _accuracy, RegressorMixin.score: _r2}


def _as_numbers(scores: Any) -> Any:
    if isinstance(scores, dict):
        return {name: _as_numbers(score) for name, score in scores.items()}
    if isinstance(scores, str):  # the traceback of a failed metric of several
        raise ValueError(scores)
    return scores.item() if hasattr(scores, "item") else scores
