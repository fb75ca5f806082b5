"""Scoring of candidates on folds: together where they share, otherwise as scikit-learn does."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from mlaut.sharing.candidate_groups import Group
from mlaut.sharing.interface import (
    Candidate,
    CannotShareError,
    DeadlineError,
    Fold,
    Shared,
)
from mlaut.sharing.private import (
    SharingWarning,
    _fit_and_score,
    _MultimetricScorer,
    _safe_indexing,
)
from mlaut.sharing.search.honest import ROWS
from mlaut.sharing.search.score_log import Checkpoint, Place, Writer
from mlaut.sharing.search.scores import Recorder, Scoring

CPU_TIME = "cpu_time"
"""Key of the CPU seconds of a score, which scikit-learn's results do not have."""


class Unit(NamedTuple):
    """Unit of work: some groups of candidates on one fold."""

    fold: int
    groups: tuple[Group, ...]


class Result(NamedTuple):
    """Scores of a candidate on a fold, in scikit-learn's form, and whether work was shared."""

    place: Place
    scores: dict[str, Any]
    shared: bool


def units_of(
    groups: Sequence[Group], folds: Sequence[int], n_jobs: int, by_group: bool
) -> list[Unit]:
    """Return the work as a list of units.

    Parameters
    ----------
    groups : sequence of Group
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

    def run(self, unit: Unit, fold: Fold | None = None) -> list[Result]:
        """Return the results of one unit; fewer if the time is over.

        ``fold`` is the fold of the unit, with results of earlier units; None makes a new one.
        """
        results: list[Result] = []
        if self.deadline is not None and self.deadline():
            return results  # what a group shares would take time, too
        if fold is None:
            fold = self.fold(unit.fold)
        with suppress(DeadlineError), Writer(self.checkpoint) as writer:
            for group in unit.groups:
                for result in self._score_group(group, unit.fold, fold):
                    writer.add(result.place, result.scores)
                    results.append(result)
        return results

    def fold(self, number: int) -> Fold:
        """Return the rows of a fold, with no results kept yet."""
        train, test = self.splits[number]
        X_train, X_test = _safe_indexing(self.X, train), _safe_indexing(self.X, test)
        y_train, y_test = _safe_indexing(self.y, train), _safe_indexing(self.y, test)
        return Fold(X_train, y_train, X_test, y_test, self.deadline)

    def _score_group(self, group: Group, number: int, fold: Fold) -> Iterator[Result]:
        done: set[int] = set()
        failures: list[Exception] = []
        for result in self._shared(group, number, fold, failures):
            done.add(result.place[0])
            yield result
        alone = group.without(done).candidates
        failed = False
        for candidate in alone:
            fold.check_time()
            scores = self._plain(candidate, number)
            failed |= scores.get("fit_error") is not None
            yield Result((candidate.index, number), scores, False)
        # Fitted alone, the candidates work: so sharing failed, not the candidates.
        if failures and alone and not failed:
            _warn_of_failure(type(group.sharer).__name__, failures[0])

    def _shared(
        self, group: Group, number: int, fold: Fold, failures: list[Exception]
    ) -> Iterator[Result]:
        """Yield the scores of shared models; scikit-learn fits candidates that fail here again."""
        if group.sharer is None:
            return
        started = _now()
        try:
            for shared in group.sharer.models(list(group.candidates), fold):
                fitted = _now()
                scores = self._score(shared, failures)
                if scores is not None:
                    scored = _now()
                    times = {
                        "fit_time": fitted.wall - started.wall,
                        "score_time": scored.wall - fitted.wall,
                        CPU_TIME: scored.cpu - started.cpu,
                    }
                    yield from self._results(shared.indices, number, scores, times)
                started = _now()
        except DeadlineError:
            raise
        except CannotShareError:
            return
        except Exception as error:
            failures.append(error)

    def _score(self, shared: Shared, failures: list[Exception]) -> dict[str, Any] | None:
        try:
            return self.scoring(shared.model, shared.fold)
        except CannotShareError:
            return None
        except Exception as error:
            failures.append(error)
            return None

    def _results(
        self,
        indices: tuple[int, ...],
        number: int,
        scores: Mapping[str, Any],
        times: Mapping[str, float],
    ) -> Iterator[Result]:
        """Yield the result of each candidate of one model, with an equal part of the seconds."""
        parts = {name: seconds / len(indices) for name, seconds in times.items()}
        parts["n_test_samples"] = len(self.splits[number][1])
        for index in indices:
            yield Result((index, number), {"fit_error": None, **scores, **parts}, True)

    def _plain(self, candidate: Candidate, number: int) -> dict[str, Any]:
        train, test = self.splits[number]
        started = _now()
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
        return {**scores, CPU_TIME: _now().cpu - started.cpu}


class _Clocks(NamedTuple):
    """Seconds of wall time, and CPU seconds of all threads of this process."""

    wall: float
    cpu: float


def _now() -> _Clocks:
    return _Clocks(perf_counter(), process_time())


def _warn_of_failure(family: str, error: Exception) -> None:
    """Warn of a failure of sharing, which costs time and would otherwise go unnoticed."""
    what = " ".join(f"{type(error).__name__}: {error}".split())
    warnings.warn(
        f"{family}: candidates were fitted one by one, with the same scores, because what they "
        f"share failed ({what})",
        SharingWarning,
        stacklevel=2,
    )
