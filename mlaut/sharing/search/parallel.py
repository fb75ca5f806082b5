"""Execution of the units of a search in one or several processes, with earlier scores resumed."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from mlaut.sharing.search.evaluation import CandidateGroup, Evaluation, Result, Unit, units_of
from mlaut.sharing.search.score_log import Place


@dataclass(eq=False)
class SearchProgress:
    """Scores of each candidate and fold so far, with counts of their origins."""

    scores: dict[Place, dict[str, Any]]
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, results: Iterable[Result]) -> None:
        """Add new results."""
        for result in results:
            self.scores[result.place] = result.scores
            self.counts["shared" if result.shared else "plain"] += 1

    def left(self, unit: Unit) -> Unit:
        """Return the part of a unit that has no scores yet."""
        known = {index for index, fold in self.scores if fold == unit.fold}
        groups = (group.without(known) for group in unit.groups)
        return Unit(unit.fold, tuple(group for group in groups if group.candidates))


class Runner:
    """Runner of groups of candidates on some folds; it adds their scores to the progress.

    ``kept`` has what an earlier runner on the same rows kept of folds, for a search in parts.
    """

    def __init__(
        self,
        evaluation: Evaluation,
        progress: SearchProgress,
        n_jobs: int | None,
        pre_dispatch: Any,
        kept: dict[int, Any] | None = None,
    ) -> None:
        self._parallel = {"n_jobs": n_jobs, "pre_dispatch": pre_dispatch}
        self._n_jobs = effective_n_jobs(n_jobs)
        if kept is None and evaluation.deadline is not None:
            kept = {}  # each fold occurs again for other groups
        self.evaluation = replace(evaluation, kept=kept if self._n_jobs == 1 else None)
        self.progress = progress

    def __call__(self, groups: Sequence[CandidateGroup], folds: Sequence[int]) -> None:
        """Score the candidates of the groups on the folds, except where they have scores."""
        by_group = self.evaluation.deadline is not None
        if by_group:
            groups = in_parts(groups)
        units = units_of(groups, folds, self._n_jobs, by_group)
        todo = [unit for unit in map(self.progress.left, units) if unit.groups]
        for results in self._results(todo):
            self.progress.add(results)

    def _results(self, units: Sequence[Unit]) -> Iterator[list[Result]]:
        if self._n_jobs == 1:
            return map(self.evaluation.run, units)
        tasks = (delayed(self.evaluation.run)(unit) for unit in units)
        return iter(Parallel(**self._parallel)(tasks))


def in_parts(groups: Sequence[CandidateGroup]) -> list[CandidateGroup]:
    """Return groups and parts of groups in a random order, which is always the same.

    So if time runs out, the scored candidates are a sample of the whole grid, not a corner of it.
    The parts of a group keep their order.
    """
    parts = [deque(group.parts()) for group in groups if group.candidates]
    turns = [i for i, some in enumerate(parts) for _ in some]
    return [parts[turns[k]].popleft() for k in np.random.default_rng(0).permutation(len(turns))]
