"""The race of a study: its terms as the study stores them, and how it stands."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pandas as pd

from mlaut.analysis.racing.course import Following, rounds_of
from mlaut.analysis.racing.race import Race, cell_losses, make_race, terms_of
from mlaut.analysis.results.results import Results
from mlaut.analysis.scores.catalogue import metric
from mlaut.errors import StudyError
from mlaut.files_io import Study
from mlaut.files_io.study_records import USAGE
from mlaut.records import Status

__all__ = ["Sealed", "StudyRace"]

_COST = ["cells", "cells left out", "cells open", "seconds", "seconds left out"]
_KEPT = 3  # standings kept beside those of rounds that overlap: more are not asked for again


@dataclass(frozen=True)
class Sealed:
    """Terms of the race of a study, which are stored before its first result.

    Attributes
    ----------
    order : tuple of str
        Datasets in the order of the race.
    strategies : tuple of str
    metric, question, kind : str
    alpha, rope : float
    ahead : int
        Number of rounds that may begin before a round has ended.
    failures : str
        Treatment of failures; ``"last"``: a failure is worse than any loss.
    lag : mapping of str to int
        Strategies that lag; see `mlaut.analysis.race`.
    batches : tuple of int
        Numbers of datasets that were added to the race together, in order; empty for one batch.
    ahead_cells : int
        A round may also begin while at most that many cells of the rounds before it are open.
    seed : int
        Seed with which the order was drawn.
    """

    order: tuple[str, ...]
    strategies: tuple[str, ...]
    metric: str
    question: str = "best"
    kind: str = "sign"
    alpha: float = 0.05
    rope: float = 0.0
    ahead: int = 1
    failures: str = "last"
    seed: int = 0
    lag: Mapping[str, int] = field(default_factory=dict)
    batches: tuple[int, ...] = ()
    ahead_cells: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        values = vars(self)
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}

    @classmethod
    def read(cls, stored: Mapping[str, Any], place: object) -> Self:
        """Return the terms from the plain values that a study stores.

        Raises
        ------
        StudyError
            A value is missing or of another type.
        """
        # Studies that lack these keys were raced with their defaults.
        stored = {"seed": 0, "lag": {}, "batches": [], "ahead_cells": 0, **stored}
        values: dict[str, Any] = {}
        for one in dataclasses.fields(cls):
            value: Any = stored.get(one.name)
            if not _is_kind(value, _KINDS.get(one.name, str)):
                raise StudyError(f"{place}: the stored race has no valid {one.name!r}")
            values[one.name] = tuple(value) if isinstance(value, list) else value
        if values["batches"] and sum(values["batches"]) != len(values["order"]):
            raise StudyError(f"{place}: the stored race has no valid 'batches'")
        return cls(**values)


_KINDS: dict[str, Any] = {
    "order": [str],
    "strategies": [str],
    "alpha": float,
    "rope": float,
    "ahead": int,
    "seed": int,
    "ahead_cells": int,
    "lag": {str: int},
    "batches": [int],
}
"""Types of the stored terms that are no texts."""


def _is_kind(value: Any, kind: Any) -> bool:
    if isinstance(kind, list):
        return isinstance(value, list) and all(_is_kind(one, kind[0]) for one in value)
    if isinstance(kind, dict):
        return isinstance(value, dict) and all(type(one) is int for one in value.values())
    return isinstance(value, kind) and not isinstance(value, bool)


class StudyRace:
    """The race of a study, as it stands after its first rounds.

    Losses of a round are read once, as soon as it is complete.

    Parameters
    ----------
    study : Study
    sealed : Sealed

    Attributes
    ----------
    rounds : tuple of Round
        All rounds in their order.
    """

    def __init__(self, study: Study, sealed: Sealed) -> None:
        self.study, self.sealed = study, sealed
        self._metric = metric(sealed.metric)
        self.terms = terms_of(
            sealed.strategies,
            self._metric,
            sealed.question,
            sealed.kind,
            sealed.alpha,
            sealed.rope,
            sealed.lag,
        )
        n, k = len(sealed.order), len(sealed.strategies)
        self.lags = self.terms.lag or (1,) * k
        self.rounds = tuple(rounds_of(self.lags, sealed.batches or (n,)))
        self._losses = np.full((n, k), np.nan)
        self._scale, self._seconds = np.zeros((2, n, k))
        self._n_read = 0
        self._following = self._begun()
        self._races: dict[int, Race] = {}

    @classmethod
    def of(cls, study: Study) -> Self | None:
        """Return the race of a study; None if the study is no race.

        Raises
        ------
        StudyError
            The stored terms are damaged.
        """
        stored = [run["race"] for run in study.all_runs if isinstance(run.get("race"), dict)]
        return cls(study, Sealed.read(stored[-1], study.path)) if stored else None

    def places(self, lag: int) -> list[int]:
        """Return the places of the strategies with a lag."""
        return [place for place, own in enumerate(self.lags) if own == lag]

    def _read(self, n: int) -> None:
        """Read the losses and times of the first n rounds."""
        names = self.sealed.strategies
        for one in self.rounds[self._n_read : n]:
            dataset, places = self.sealed.order[one.dataset], self.places(one.lag)
            block = self.study.block(dataset)
            chosen = [names[place] for place in places]
            if set(chosen) <= set(block.strategies):
                results = Results.from_blocks([block], self._metric, strategies=chosen)
                self._losses[one.dataset, places] = cell_losses(results, "failures last")[0]
                self._scale[one.dataset, places] = np.nan_to_num(results.noise_scale)[0]
                ((_, numbers),) = self.study.numbers([dataset])
                rows = [block.strategies.index(name) for name in chosen]
                self._seconds[one.dataset, places] = _elapsed(numbers)[rows]
        self._n_read = max(n, self._n_read)

    def after(self, n: int) -> Race:
        """Return the race as it stands after the first n rounds, which are complete."""
        if n not in self._races:
            self._read(n)
            back = self._following.rounds > n
            self._races[n] = self._as_race(
                self._advanced(self._begun() if back else self._following, n)
            )
            for old in sorted(self._races)[: -self.sealed.ahead - _KEPT]:
                del self._races[old]
        return self._races[n]

    def _begun(self) -> Following:
        return Following(len(self.lags), len(self.sealed.order), self.terms)

    def _advanced(self, following: Following, n: int) -> Following:
        for one in self.rounds[following.rounds : n]:
            if not following.take(one, self._losses[one.dataset], self._scale[one.dataset]):
                break
        return following

    def _as_race(self, following: Following) -> Race:
        course = following.course()
        used = np.arange(len(self._losses))[:, None] < course.runs
        return make_race(
            strategies=self.sealed.strategies,
            datasets=self.sealed.order,
            question=self.sealed.question,
            terms=self.terms,
            course=course,
            losses=np.where(used, self._losses, np.nan),
            metric=self._metric.loss_name,
        )

    def now(self) -> Race:
        """Return the race as it stands now, with its cost: it uses the rounds that are complete."""
        return dataclasses.replace(self.after(self.n_known), cost=self._cost())

    def _cost(self) -> pd.DataFrame:
        """Return `Race.cost`."""
        names = list(self.sealed.strategies)
        found = pd.DataFrame(0.0, pd.Index(names, name="strategy"), _COST)
        stored = set(self.study.datasets)
        known = [dataset for dataset in self.sealed.order if dataset in stored]
        statuses = self.study.statuses(known)
        for dataset, numbers in self.study.numbers(known):
            in_study, status = statuses[dataset]
            out, still = status == Status.RACED_OUT, status == Status.MISSING
            counts = [~(out | still), out, still]
            cells = [of_kind.sum(axis=(1, 2)) for of_kind in counts]
            here = pd.DataFrame(dict(zip(_COST, [*cells, _elapsed(numbers), 0], strict=True)))
            found += here.set_axis(list(in_study)).reindex(names).fillna(0.0)
        mean = found["seconds"] / found["cells"].where(found["cells"] > 0)
        found["seconds left out"] = (mean * found["cells left out"]).fillna(0.0)
        return found.astype(dict.fromkeys(_COST[:3], int))

    @property
    def n_known(self) -> int:
        """Number of rounds before the first whose dataset is not stored."""
        stored = set(self.study.datasets)
        unknown = (
            place
            for place, one in enumerate(self.rounds)
            if self.sealed.order[one.dataset] not in stored
        )
        return next(unknown, len(self.rounds))

    @property
    def n_taken(self) -> int:
        """Number of rounds that were complete when the race was last looked at."""
        return self._following.rounds

    def following(self, n: int) -> Following:
        """Return the race as it stands after the first n rounds, to be followed further."""
        self._read(n)
        if self._following.rounds > n:
            return self._advanced(self._begun(), n)
        return self._advanced(self._following, n).copy()

    def losses(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the losses of the first n rounds and their sizes: (N, K); NaN for the others."""
        self._read(n)
        seen = np.full(self._losses.shape, np.nan)
        for one in self.rounds[:n]:
            places = self.places(one.lag)
            seen[one.dataset, places] = self._losses[one.dataset, places]
        return seen, self._scale

    def seconds(self, n: int) -> np.ndarray:
        """Return the time of all cells of each dataset and strategy in the first n rounds: (N, K).

        It is the wall time of cells, failed ones included.
        """
        self._read(n)
        seen = np.zeros(self._seconds.shape)
        for one in self.rounds[:n]:
            places = self.places(one.lag)
            seen[one.dataset, places] = self._seconds[one.dataset, places]
        return seen


def _elapsed(numbers: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the seconds of all cells of each strategy; those of fits where no others are known."""
    elapsed = numbers["usage"][..., USAGE.index("elapsed")]
    fits = np.nansum(numbers["seconds"], axis=-1)
    return np.asarray(np.where(np.isnan(elapsed), fits, elapsed).sum(axis=(1, 2)))
