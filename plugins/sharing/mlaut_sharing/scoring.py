"""Scores of models that share work.

Accuracy and R2, the defaults, are computed here, with the same steps in the same order as in
`sklearn.metrics`. Only its checks are omitted, which it repeats for each candidate.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from mlaut_sharing.fold import Fold
from mlaut_sharing.search.honest import ROWS
from mlaut_sharing.search.scores import Scoring


def scores_of(scoring: Scoring, model: Any, fold: Fold) -> dict[str, Any]:
    """Return the scores of a model on one fold; errors of the scorer pass through."""
    score, rows = _score(scoring, model, fold, fold.X_test, fold.y_test)
    scores = {"test_scores": score} if rows is None else {"test_scores": score, ROWS: rows}
    if scoring.train:
        scores["train_scores"] = _score(scoring, model, fold, fold.X_train, fold.y_train)[0]
    return scores


def _score(
    scoring: Scoring, model: Any, fold: Fold, X: Any, y: Any
) -> tuple[Any, np.ndarray | None]:
    metric = scoring.metric(model)
    fast = None if metric is None else _FAST.get(metric.score)
    if metric is None or fast is None:
        return scoring(model, X, y)
    truth = fold.once(("truth", id(y)), lambda: _Truth(y))
    predicted = np.asarray(model.predict(X))
    score = fast(truth, predicted)
    return scoring(model, X, y) if score is None else (score, metric.of_rows(y, predicted))


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


_FAST: dict[Callable[..., Any], Callable[[_Truth, np.ndarray], float | None]] = {
    accuracy_score: _accuracy,
    r2_score: _r2,
}
