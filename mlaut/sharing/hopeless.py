"""Hopeless candidates, which cannot be chosen any more, whatever their scores on remaining folds.

After each fold, the leading candidate is scored on all folds. A candidate is given up if its mean
would stay below the best mean so far even with the best possible score on all missing folds. Ties
are not given up, because the first of equal candidates is chosen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from sklearn import metrics

from mlaut.errors import StrategyError
from mlaut.sharing.private import _PassthroughScorer, _Scorer
from mlaut.sharing.score_log import Place

__all__ = ["best_possible", "hopeless", "leader"]

_AT_MOST_ONE = (
    metrics.accuracy_score,
    metrics.average_precision_score,
    metrics.balanced_accuracy_score,
    metrics.explained_variance_score,
    metrics.f1_score,
    metrics.jaccard_score,
    metrics.matthews_corrcoef,
    metrics.precision_score,
    metrics.r2_score,
    metrics.recall_score,
    metrics.roc_auc_score,
)
_LOSSES = (
    metrics.brier_score_loss,
    metrics.log_loss,
    metrics.max_error,
    metrics.mean_absolute_error,
    metrics.mean_absolute_percentage_error,
    metrics.mean_squared_error,
    metrics.mean_squared_log_error,
    metrics.median_absolute_error,
    metrics.root_mean_squared_error,
)
ROUNDING = 1e-9  # a candidate this close to the bar is not hopeless: sums of scores are rounded


def best_possible(scorer: Any) -> float:
    """Return the largest possible value of a scorer.

    Raises
    ------
    StrategyError
        The largest value is not known.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer
    >>> best_possible(get_scorer("roc_auc")), best_possible(get_scorer("neg_log_loss"))
    (1.0, 0.0)
    """
    if isinstance(scorer, _PassthroughScorer):
        return 1.0
    if isinstance(scorer, _Scorer) and scorer._sign == 1 and scorer._score_func in _AT_MOST_ONE:
        return 1.0
    if isinstance(scorer, _Scorer) and scorer._sign == -1 and scorer._score_func in _LOSSES:
        return 0.0
    raise StrategyError(
        f"skip_hopeless: the best possible value of {scorer} is not known; score by one metric of "
        "scikit-learn, or search without skip_hopeless"
    )


def leader(scores: Mapping[Place, Mapping[str, Any]], n_folds: int) -> int | None:
    """Return the candidate with the best mean so far; None if it is scored on all folds."""
    known = _by_candidate(scores)
    means = {index: sum(got) / len(got) for index, got in known.items() if not _failed(got)}
    if not means:
        return None
    best = max(means, key=lambda index: (means[index], -index))
    return None if len(known[best]) == n_folds else best


def hopeless(scores: Mapping[Place, Mapping[str, Any]], n_folds: int, best: float) -> set[int]:
    """Return the indices of the candidates that cannot be chosen any more.

    Examples
    --------
    >>> scores = {(0, 0): {"test_scores": 0.9}, (0, 1): {"test_scores": 0.9},
    ...           (1, 0): {"test_scores": 0.7}, (2, 0): {"test_scores": 0.8}}
    >>> hopeless(scores, 2, 1.0)
    {1}
    """
    known = _by_candidate(scores)
    complete = [sum(got) / n_folds for got in known.values() if len(got) == n_folds]
    bar = max((mean for mean in complete if math.isfinite(mean)), default=-math.inf)
    return {
        index
        for index, got in known.items()
        if _failed(got) or (sum(got) + (n_folds - len(got)) * best) / n_folds < bar - ROUNDING
    }


def _by_candidate(scores: Mapping[Place, Mapping[str, Any]]) -> dict[int, list[float]]:
    known: dict[int, list[float]] = {}
    for (index, _), got in sorted(scores.items(), key=lambda item: item[0]):
        known.setdefault(index, []).append(got["test_scores"])
    return known


def _failed(got: Iterable[float]) -> bool:
    return any(math.isnan(score) for score in got)
