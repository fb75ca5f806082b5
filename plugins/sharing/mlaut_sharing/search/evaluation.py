"""Scoring of candidates on folds.

The core scores every candidate by itself; a plug-in may have groups that share work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import process_time
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone

from mlaut_sharing.search.honest import ROWS
from mlaut_sharing.search.private import _fit_and_score, _MultimetricScorer
from mlaut_sharing.search.score_log import Checkpoint, Place, Writer
from mlaut_sharing.search.scores import Recorder, Scoring

CPU_TIME = "cpu_time"
"""Key of the CPU seconds of a score, which scikit-learn's results do not have."""


class DeadlineError(Exception):
    """Error for a search whose time is over."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """One point of a grid.

    Attributes
    ----------
    index : int
        Row of the candidate in ``cv_results_``.
    base : estimator
        Estimator that is tuned; it is not changed.
    params : mapping
        Parameters of the grid to set on a copy of the estimator.
    """

    index: int
    base: Any
    params: Mapping[str, Any]


class Result(NamedTuple):
    """Scores of a candidate on a fold, in scikit-learn's form, and whether work was shared."""

    place: Place
    scores: dict[str, Any]
    shared: bool


@dataclass(frozen=True, eq=False)
class CandidateGroup:
    """Candidates that are scored together; here each by itself, as scikit-learn does.

    Attributes
    ----------
    candidates : tuple of Candidate
    """

    candidates: tuple[Candidate, ...]

    @property
    def shares(self) -> bool:
        """Whether the candidates share work."""
        return False

    def without(self, indices: set[int]) -> Self:
        """Return the group without some candidates."""
        return replace(self, candidates=tuple(c for c in self.candidates if c.index not in indices))

    def parts(self) -> list[Self]:
        """Return the group in parts that take turns with other groups when time is limited.

        A part is scored on all folds before the next one. Without parts, one candidate that takes
        long would keep all others from a complete score.
        """
        return [self]

    def results(
        self,
        evaluation: Evaluation,
        fold: int,
        shared: dict[int, Any],  # noqa: ARG002 - for groups that share
    ) -> Iterator[Result]:
        """Yield the results of the candidates on a fold.

        ``shared`` has what earlier groups on these rows share, by fold.

        Raises
        ------
        DeadlineError
            The time is over.
        """
        for candidate in self.candidates:
            evaluation.check_time()
            yield Result((candidate.index, fold), evaluation.plain(candidate, fold), False)


class Unit(NamedTuple):
    """Unit of work: some groups of candidates on one fold."""

    fold: int
    groups: tuple[CandidateGroup, ...]


def units_of(
    groups: Sequence[CandidateGroup], folds: Sequence[int], n_jobs: int, by_group: bool
) -> list[Unit]:
    """Return the work as a list of units.

    Parameters
    ----------
    groups : sequence of CandidateGroup
    folds : sequence of int
    n_jobs : int
        Number of processes. One process gets one unit per fold, so that groups share as much as
        possible; several processes get about four units each.
    by_group : bool
        Whether each group and fold is a unit, with the folds of a group in a row. If the search
        stops early, as many candidates as possible then have scores on all folds.
    """
    if by_group:
        return [Unit(fold, (group,)) for group in groups for fold in folds]
    n_parts = 1 if n_jobs == 1 else max(1, -(-4 * n_jobs // max(1, len(folds))))
    parts = np.array_split(np.arange(len(groups)), min(n_parts, max(1, len(groups))))
    return [Unit(fold, tuple(groups[i] for i in part)) for fold in folds for part in parts]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Everything that scoring any candidate on any fold needs; can be pickled for a process.

    Attributes
    ----------
    base : estimator
    X, y
        All rows.
    splits : list of (train, test)
    scoring : Scoring
    error_score : float or "raise"
    verbose : int
    n_candidates : int
    deadline : callable or None
        Function that returns whether the time is over.
    checkpoint : Checkpoint or None
    fit_params : mapping
        Further arguments of ``fit``, for candidates that share nothing.
    kept : dict or None
        What groups keep of a fold for later groups, by fold; None keeps nothing.
    """

    base: Any
    X: Any
    y: Any
    splits: Sequence[tuple[np.ndarray, np.ndarray]]
    scoring: Scoring
    error_score: Any
    verbose: int
    n_candidates: int
    deadline: Callable[[], bool] | None
    checkpoint: Checkpoint | None
    fit_params: Mapping[str, Any] = field(default_factory=dict)
    kept: dict[int, Any] | None = None

    def run(self, unit: Unit) -> list[Result]:
        """Return the results of one unit; fewer if the time is over."""
        results: list[Result] = []
        shared: dict[int, Any] = {}
        with suppress(DeadlineError), Writer(self.checkpoint) as writer:
            for group in unit.groups:
                for result in group.results(self, unit.fold, shared):
                    writer.add(result.place, result.scores)
                    results.append(result)
        return results

    def known(self) -> dict[Place, dict[str, Any]]:
        """Return the scores of an earlier, interrupted search, by candidate and fold."""
        return {} if self.checkpoint is None else self.checkpoint.read()

    def check_time(self) -> None:
        """Raise `DeadlineError` if the time is over."""
        if self.deadline is not None and self.deadline():
            raise DeadlineError

    def plain(self, candidate: Candidate, number: int) -> dict[str, Any]:
        """Return the scores of a candidate on a fold, fitted as scikit-learn does."""
        train, test = self.splits[number]
        started = process_time()
        # several metrics have no rows, and scikit-learn treats their scorer in a way of its own
        by_row = not isinstance(self.scoring.scorer, _MultimetricScorer)
        recorder = Recorder(self.scoring)
        scores: dict[str, Any] = _fit_and_score(
            clone(self.base),
            self.X,
            self.y,
            scorer=recorder if by_row else self.scoring.scorer,
            train=train,
            test=test,
            verbose=self.verbose,
            parameters=candidate.params,
            fit_params=dict(self.fit_params),
            score_params=None,
            return_train_score=self.scoring.train,
            return_n_test_samples=True,
            return_times=True,
            split_progress=(number, len(self.splits)),
            candidate_progress=(candidate.index, self.n_candidates),
            error_score=self.error_score,
        )
        if recorder.rows and recorder.rows[0] is not None:  # the test rows come first
            scores[ROWS] = recorder.rows[0]
        return {**scores, CPU_TIME: process_time() - started}
