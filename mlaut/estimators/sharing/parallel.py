"""Run the units of a search in one or several processes, from where an earlier run ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from mlaut.estimators.sharing.candidate_groups import Group
from mlaut.estimators.sharing.evaluation import Evaluation, Result, Unit, units_of
from mlaut.estimators.sharing.hopeless import best_possible, hopeless, leader
from mlaut.estimators.sharing.score_log import Place

__all__ = ["Progress", "score_all"]


@dataclass(eq=False)
class Progress:
    """What is known so far: the scores of each candidate and fold, and where they came from."""

    scores: dict[Place, dict[str, Any]]
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, results: Iterable[Result]) -> None:
        """Take up new results."""
        for result in results:
            self.scores[result.place] = result.scores
            self.counts["shared" if result.shared else "plain"] += 1

    def left(self, unit: Unit) -> Unit:
        """Return what of a unit is not known yet."""
        known = {index for index, fold in self.scores if fold == unit.fold}
        groups = (group.without(known) for group in unit.groups)
        return Unit(unit.fold, tuple(group for group in groups if group.candidates))


def score_all(
    evaluation: Evaluation,
    groups: Sequence[Group],
    *,
    n_jobs: int | None,
    pre_dispatch: Any,
    skip_hopeless: bool,
) -> Progress:
    """Score all candidates on all folds, as far as time allows and hope goes."""
    known = evaluation.checkpoint.read() if evaluation.checkpoint else {}
    progress = Progress(known, Counter(resumed=len(known)))
    run = _Runner(evaluation, progress, n_jobs, pre_dispatch)
    if skip_hopeless:
        _race(run, groups)
    else:
        run(groups, range(len(evaluation.splits)))
    return progress


class _Runner:
    """Runs groups of candidates on some folds and adds what they got to the progress."""

    def __init__(
        self, evaluation: Evaluation, progress: Progress, n_jobs: int | None, pre_dispatch: Any
    ) -> None:
        self.evaluation, self.progress = evaluation, progress
        self._parallel = {"n_jobs": n_jobs, "pre_dispatch": pre_dispatch}
        self._n_jobs = effective_n_jobs(n_jobs)

    def __call__(self, groups: Sequence[Group], folds: Sequence[int]) -> None:
        by_group = self.evaluation.deadline is not None
        if by_group:
            groups = _mixed(groups)
        units = units_of(groups, folds, self._n_jobs, by_group)
        todo = [unit for unit in map(self.progress.left, units) if unit.groups]
        for results in self._results(todo):
            self.progress.add(results)

    def _results(self, units: Sequence[Unit]) -> Iterator[list[Result]]:
        if self._n_jobs == 1:
            return map(self.evaluation.run, units)
        tasks = (delayed(self.evaluation.run)(unit) for unit in units)
        return iter(Parallel(**self._parallel)(tasks))


def _mixed(groups: Sequence[Group]) -> list[Group]:
    """Return groups in a random order, always the same one.

    When time is over, what was scored is a sample of the whole grid and not a corner of it.
    """
    parts = [part for group in groups for part in _parts(group)]
    return [parts[i] for i in np.random.default_rng(0).permutation(len(parts))]


def _parts(group: Group) -> list[Group]:
    """Cut a group where a candidate may hold up all others of it."""
    most = getattr(group.sharer, "most_in_time", None) or len(group.candidates)
    starts = range(0, len(group.candidates), most)
    return [Group(group.sharer, group.candidates[i : i + most]) for i in starts]


def _race(run: _Runner, groups: Sequence[Group]) -> None:
    """Go fold by fold; after each the leader finishes, and the hopeless go no further."""
    best = best_possible(run.evaluation.scoring.scorer)
    folds = range(len(run.evaluation.splits))
    given_up: set[int] = set()
    for fold in folds:
        run([group.without(given_up) for group in groups], [fold])
        first = leader(run.progress.scores, len(folds))
        if first is not None:
            run([_only(groups, first)], folds)
        given_up = hopeless(run.progress.scores, len(folds), best)


def _only(groups: Sequence[Group], index: int) -> Group:
    group = next(g for g in groups if any(c.index == index for c in g.candidates))
    return group.without({c.index for c in group.candidates} - {index})
