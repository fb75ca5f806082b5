"""Execution of the units of a search in one or several processes, with earlier scores resumed."""

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from mlaut_sharing.search.evaluation import CandidateGroup, Evaluation, Result, Unit, units_of
from mlaut_sharing.search.score_log import Place


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


def score_groups(
    evaluation: Evaluation,
    progress: SearchProgress,
    groups: Sequence[CandidateGroup],
    folds: Sequence[int],
    n_jobs: int | None,
    pre_dispatch: Any,
    kept: dict[int, Any] | None = None,
) -> None:
    """Score the candidates of groups on folds, except where they have scores; add the scores.

    ``kept`` has what an earlier call for the same rows kept of folds, for a search in parts.
    """
    n_processes, by_group = effective_n_jobs(n_jobs), evaluation.deadline is not None
    if by_group:
        groups = in_parts(groups)
        kept = {} if kept is None else kept  # each fold occurs again for other groups
    run = replace(evaluation, kept=kept if n_processes == 1 else None).run
    units = map(progress.left, units_of(groups, folds, n_processes, by_group))
    todo = [unit for unit in units if unit.groups]
    if n_processes == 1:
        results = map(run, todo)
    else:
        parallel = Parallel(n_jobs=n_jobs, pre_dispatch=pre_dispatch)
        results = parallel(delayed(run)(unit) for unit in todo)
    for of_unit in results:
        progress.add(of_unit)


def in_parts(groups: Sequence[CandidateGroup]) -> list[CandidateGroup]:
    """Return groups and parts of groups in a random order, which is always the same.

    So if time runs out, the scored candidates are a sample of the whole grid, not a corner of it.
    The parts of a group keep their order.
    """
    parts = [deque(group.parts()) for group in groups if group.candidates]
    turns = [i for i, some in enumerate(parts) for _ in some]
    return [parts[turns[k]].popleft() for k in np.random.default_rng(0).permutation(len(turns))]
