"""Candidates that a search with a budget has scored so far."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from mlaut.estimators import GridSearch
from mlaut.plugins import Budget
from mlaut_sharing.search.candidate_groups import groups_of
from mlaut_sharing.search.evaluation import CPU_TIME, Evaluation
from mlaut_sharing.search.parallel import SearchProgress, score_groups

Pair = tuple[np.ndarray, np.ndarray]
"""Training rows and test rows of a fold."""


@dataclass(eq=False)
class ScoredCandidates:
    """Candidates of a search so far, with their scores and costs.

    Attributes
    ----------
    search : GridSearch
    evaluation : Evaluation
    budget : Budget or None
    share : bool
        Whether candidates may share work.
    points : list of dict
        Candidates; one that is scored on several shares of the rows occurs several times.
    shares : list of float
        Share of the training rows of each candidate.
    progress : SearchProgress
        Scores so far; those of an earlier, interrupted run are added when their turn comes.
    """

    search: GridSearch
    evaluation: Evaluation
    budget: Budget | None
    share: bool
    points: list[dict[str, Any]] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    progress: SearchProgress = field(default_factory=lambda: SearchProgress({}))

    def __post_init__(self) -> None:
        self._known = self.evaluation.known()

    @property
    def splits(self) -> list[Pair]:
        """Rows of all folds."""
        return list(self.evaluation.splits)

    @property
    def labels(self) -> np.ndarray:
        """Targets of all rows."""
        return np.asarray(self.evaluation.y)

    def most_candidates(self, n: int | None) -> int | None:
        """Return the number of candidates that number and budget allow; None without a number."""
        if self.budget is None or self.budget.unit != "evaluations":
            return n
        return min(max(1, int(self.budget.amount)), n or int(self.budget.amount) or 1)

    def add(self, points: Sequence[dict[str, Any]], share: float) -> list[int]:
        """Add candidates; return their numbers."""
        first = len(self.points)
        self.points += points
        self.shares += [share] * len(points)
        return list(range(first, len(self.points)))

    def in_parts(self, points: Sequence[dict[str, Any]], share: float, splits: list[Pair]) -> None:
        """Score candidates: all at once, or with a budget of seconds in parts that double."""
        timed = self.budget is not None and self.budget.unit != "evaluations"
        ends = [1, *(2**k for k in range(1, len(points).bit_length() + 1))] if timed else []
        start, kept = 0, dict[int, Any]() if timed else None
        for end in [*ends, len(points)]:
            part = points[start:end]
            if not part or (self.points and self.over()):
                break
            self.score(self.add(part, share), splits, kept=kept)
            start = end

    def score(
        self,
        numbers: Sequence[int],
        splits: list[Pair],
        folds: Sequence[int] | None = None,
        alone: bool = False,
        kept: dict[int, Any] | None = None,
    ) -> None:
        """Score candidates on folds; no fit begins after the budget is used up.

        ``kept`` has what earlier parts kept of folds, if they used the same splits.
        """
        folds = range(len(splits)) if folds is None else folds
        places = [(number, fold) for number in numbers for fold in folds]
        known = {place: self._known[place] for place in places if place in self._known}
        self.progress.scores |= known
        self.progress.counts["resumed"] += len(known)
        evaluation = replace(
            self.evaluation,
            splits=splits,
            n_candidates=len(self.points),
            deadline=self._deadline(first=min(numbers) == 0),
        )
        points = [self.points[number] for number in numbers]
        groups = groups_of(evaluation.base, points, numbers, self.share and not alone)
        jobs = self.search.n_jobs, self.search.pre_dispatch
        score_groups(evaluation, self.progress, groups, folds, *jobs, kept)

    def _deadline(self, first: bool) -> Callable[[], bool] | None:
        """Return a function that tells whether time is over; the first candidate has no budget."""
        limit, outer = self.budget, self.evaluation.deadline
        if limit is None or limit.unit == "evaluations" or first:
            return outer
        left = limit.amount - self.spent()[limit.unit]
        return partial(_is_over, _CLOCKS[limit.unit]() + left, limit.unit, outer)

    def spent(self) -> dict[str, float]:
        """Return the cost of the scores so far in each unit of a budget."""
        scores, n_folds = self.progress.scores, len(self.evaluation.splits)
        return {
            "evaluations": math.fsum(self.shares[number] / n_folds for number, _ in scores),
            "cpu": math.fsum(score[CPU_TIME] for score in scores.values()),
            "wall": math.fsum(score["fit_time"] + score["score_time"] for score in scores.values()),
        }

    def over(self) -> bool:
        """Return whether the budget, or the time limit of the cell, is used up."""
        outer = self.evaluation.deadline
        if outer is not None and outer():
            return True
        # Fifths of an evaluation do not sum to whole numbers.
        return self.budget is not None and (
            self.spent()[self.budget.unit] >= self.budget.amount - 1e-9
        )

    def value(self, number: int, fold: int) -> float | None:
        """Return the score of a candidate on a fold, or None if it has none."""
        scores = self.progress.scores.get((number, fold))
        if scores is None:
            return None
        scored = scores["test_scores"]
        return float(scored[self.search.refit] if isinstance(scored, dict) else scored)

    def best(self, points: Sequence[dict[str, Any]], n: int) -> list[dict[str, Any]]:
        """Return the best of the candidates that were added last, in their order."""
        first = len(self.points) - len(points)
        means = []
        for number in range(first, len(self.points)):
            scores = [self.value(number, fold) for fold in range(len(self.splits))]
            whole = all(score is not None and math.isfinite(score) for score in scores)
            means.append(float(np.mean(np.array(scores, dtype=float))) if whole else -math.inf)
        order = np.argsort(-np.array(means), kind="stable")[:n]
        return [points[i] for i in sorted(order.tolist())]


_CLOCKS: dict[str, Callable[[], float]] = {"cpu": time.process_time, "wall": time.perf_counter}


def _is_over(end: float, unit: str, outer: Callable[[], bool] | None) -> bool:
    """Return whether a clock has reached its end, or an outer deadline is over."""
    return _CLOCKS[unit]() >= end or (outer is not None and outer())
