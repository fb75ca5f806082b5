"""Execution of the units of a search in one or several processes, with earlier scores resumed."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from mlaut.sharing.candidate_groups import Group
from mlaut.sharing.interface import Fold
from mlaut.sharing.search.evaluation import Evaluation, Result, Unit, units_of
from mlaut.sharing.search.score_log import Place

_MOST_BYTES = 0.6e9  # as much as one fold of a support vector machine on its most rows may take
_FLOAT = 8  # bytes


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

    ``kept`` has the folds that an earlier runner on the same rows kept, for a search in parts.
    """

    def __init__(
        self,
        evaluation: Evaluation,
        progress: SearchProgress,
        n_jobs: int | None,
        pre_dispatch: Any,
        kept: dict[int, Fold] | None = None,
    ) -> None:
        self.evaluation, self.progress = evaluation, progress
        self._parallel = {"n_jobs": n_jobs, "pre_dispatch": pre_dispatch}
        self._n_jobs = effective_n_jobs(n_jobs)
        self._again = kept is not None or evaluation.deadline is not None
        self._kept: dict[int, Fold] = {} if kept is None else kept

    def __call__(self, groups: Sequence[Group], folds: Sequence[int]) -> None:
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
            return (self.evaluation.run(unit, self._fold(unit)) for unit in units)
        tasks = (delayed(self.evaluation.run)(unit) for unit in units)
        return iter(Parallel(**self._parallel)(tasks))

    def _fold(self, unit: Unit) -> Fold | None:
        """Return the kept fold of a unit whose fold occurs again for other groups.

        None stands for a new fold: for other units, and for folds that would keep too much.
        """
        group = unit.groups[0]
        if not (self._again and group.sharer and group.sharer.keeps(group.candidates[0])):
            return None
        if unit.fold >= _most_kept(self.evaluation):
            return None
        if unit.fold not in self._kept:
            self._kept[unit.fold] = self.evaluation.fold(unit.fold)
        self._kept[unit.fold].deadline = self.evaluation.deadline
        return self._kept[unit.fold]


def _most_kept(evaluation: Evaluation) -> int:
    """Return how many folds may stay in memory with their rows and all distances between them."""
    n_rows = max(len(train) for train, _ in evaluation.splits)
    row_size = np.prod(getattr(evaluation.X, "shape", (0, 1))[1:])
    return int(_MOST_BYTES // (2 * _FLOAT * max(1, n_rows * (n_rows + row_size))))


def in_parts(groups: Sequence[Group]) -> list[Group]:
    """Return groups and parts of groups in a random order, which is always the same.

    So if time runs out, the scored candidates are a sample of the whole grid, not a corner of it.
    The parts of a group keep their order.
    """
    parts = [deque(_parts(group)) for group in groups if group.candidates]
    turns = [i for i, some in enumerate(parts) for _ in some]
    return [parts[turns[k]].popleft() for k in np.random.default_rng(0).permutation(len(turns))]


def _parts(group: Group) -> list[Group]:
    if group.sharer is None:
        return [group]
    parts = group.sharer.parts(list(group.candidates))
    return [Group(group.sharer, tuple(part)) for part in parts]
