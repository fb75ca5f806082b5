"""Groups of candidates that a search scores together."""

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from time import perf_counter, process_time
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from mlaut_sharing.fold import Candidate, CannotShareError, Fold, Shared
from mlaut_sharing.scoring import scores_of
from mlaut_sharing.search.evaluation import (
    CPU_TIME,
    CandidateGroup,
    DeadlineError,
    Evaluation,
    Result,
)
from mlaut_sharing.search.private import SharingWarning, _safe_indexing

_MOST_BYTES = 0.6e9  # as much as one fold of a support vector machine on its most rows may take
_FLOAT = 8  # bytes


class Family(Protocol):
    """Type of what a group asks of a `mlaut_sharing.interface.Sharer`, which describes it."""

    def parts(self, candidates: list[Candidate]) -> list[list[Candidate]]:
        """Return the candidates in parts that take turns with other groups."""

    def keeps(self, candidate: Candidate) -> bool:
        """Return whether groups use results that earlier groups kept of a fold."""

    def models(self, candidates: list[Candidate], fold: Fold) -> Iterator[Shared]:
        """Yield a model for each candidate that can be shared."""


@dataclass(frozen=True, eq=False)
class SharingGroup(CandidateGroup):
    """Candidates whose models a family makes from shared work.

    Attributes
    ----------
    candidates : tuple of Candidate
    sharer : Sharer
    """

    candidates: tuple[Candidate, ...]
    sharer: Family

    @property
    def shares(self) -> bool:
        """Whether the candidates share work."""
        return True

    def parts(self) -> list[Self]:
        """Return the parts that the family makes of the group."""
        parts = self.sharer.parts(list(self.candidates))
        return [replace(self, candidates=tuple(part)) for part in parts]

    def results(
        self, evaluation: Evaluation, fold: int, shared: dict[int, Any]
    ) -> Iterator[Result]:
        """Yield the results of the candidates on a fold; scikit-learn fits those left alone."""
        done: set[int] = set()
        failures: list[Exception] = []
        for result in self._shared(evaluation, fold, shared, failures):
            done.add(result.place[0])
            yield result
        alone = self.without(done).candidates
        failed = False
        for result in CandidateGroup(alone).results(evaluation, fold, shared):
            failed |= result.scores.get("fit_error") is not None
            yield result
        # Fitted alone, the candidates work: so sharing failed, not the candidates.
        if failures and alone and not failed:
            _warn_of_failure(type(self.sharer).__name__, failures[0])

    def _shared(
        self,
        evaluation: Evaluation,
        number: int,
        shared: dict[int, Any],
        failures: list[Exception],
    ) -> Iterator[Result]:
        """Yield the scores of shared models; scikit-learn fits candidates that fail here again."""
        evaluation.check_time()  # what the group shares would take time, too
        fold = self._fold(evaluation, number, shared)
        n_rows = len(evaluation.splits[number][1])
        started = _now()
        try:
            for made in self.sharer.models(list(self.candidates), fold):
                fitted = _now()
                scores = _scores(evaluation, made, failures)
                if scores is not None:
                    scored = _now()
                    times = {
                        "fit_time": fitted.wall - started.wall,
                        "score_time": scored.wall - fitted.wall,
                        CPU_TIME: scored.cpu - started.cpu,
                    }
                    scores = {**scores, "n_test_samples": n_rows}
                    yield from _results(made.indices, number, scores, times)
                started = _now()
        except DeadlineError:
            raise
        except CannotShareError:
            return
        except Exception as error:
            failures.append(error)

    def _fold(self, evaluation: Evaluation, number: int, shared: dict[int, Any]) -> Fold:
        """Return the rows of a fold: kept for later groups if that pays, else for these alone."""
        kept = evaluation.kept
        pays = kept is not None and self.sharer.keeps(self.candidates[0])
        if kept is not None and pays and number < _most_kept(evaluation):
            shared = kept
        if number not in shared:
            shared[number] = _rows(evaluation, number)
        fold: Fold = shared[number]
        fold.deadline = evaluation.deadline
        return fold


def _rows(evaluation: Evaluation, number: int) -> Fold:
    train, test = evaluation.splits[number]
    X, y = evaluation.X, evaluation.y
    X_train, X_test = _safe_indexing(X, train), _safe_indexing(X, test)
    return Fold(X_train, _safe_indexing(y, train), X_test, _safe_indexing(y, test))


def _most_kept(evaluation: Evaluation) -> int:
    """Return how many folds may stay in memory with their rows and all distances between them."""
    n_rows = max(len(train) for train, _ in evaluation.splits)
    row_size = np.prod(getattr(evaluation.X, "shape", (0, 1))[1:])
    return int(_MOST_BYTES // (2 * _FLOAT * max(1, n_rows * (n_rows + row_size))))


def _scores(
    evaluation: Evaluation, shared: Shared, failures: list[Exception]
) -> dict[str, Any] | None:
    try:
        return scores_of(evaluation.scoring, shared.model, shared.fold)
    except CannotShareError:
        return None
    except Exception as error:
        failures.append(error)
        return None


def _results(
    indices: tuple[int, ...], fold: int, scores: Mapping[str, Any], times: Mapping[str, float]
) -> Iterator[Result]:
    """Yield the result of each candidate of one model, with an equal part of the seconds."""
    parts = {name: seconds / len(indices) for name, seconds in times.items()}
    for index in indices:
        yield Result((index, fold), {"fit_error": None, **scores, **parts}, True)


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
