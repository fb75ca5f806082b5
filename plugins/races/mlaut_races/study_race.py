"""The race of a study: its terms as the study stores them, and its state."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from mlaut.analysis import Results, metric
from mlaut.errors import StudyError
from mlaut.experiments import read_study_file
from mlaut.files_io import StudyStore
from mlaut.plugins import USAGE
from mlaut.records import Status
from mlaut_races.course import Following
from mlaut_races.evidence import KINDS
from mlaut_races.race import Race, cell_losses, check_terms
from mlaut_races.terms import RACE_RULE, RaceTerms

_COST = ["cells", "cells left out", "cells open", "seconds", "seconds left out"]
_KEPT = 3  # standings kept beside those of rounds that overlap: more are not asked for again


_ITEMS = {"order": str, "strategies": str}


@dataclass(frozen=True)
class Draw:
    """Decisions that are made when a race begins, and stored with its terms.

    Attributes
    ----------
    order : tuple of str
        Datasets in the order of the race.
    strategies : tuple of str
    """

    order: tuple[str, ...] = ()
    strategies: tuple[str, ...] = ()


def read_sealed(stored: Mapping[str, Any], place: object) -> tuple[RaceTerms, Draw]:
    """Return the terms and the draw of a race from the plain values that a study stores.

    Raises
    ------
    StudyError
        A value is missing or of another type, or strategies lag, which an earlier version had.
    """
    stored = {"rule": 1, **stored}  # the first version did not name its rule
    values: dict[str, Any] = {}
    for name, default in {**RaceTerms().sealed(), **vars(Draw())}.items():
        value: Any = stored.get(name)
        if not _is_like(value, default, _ITEMS.get(name)):
            raise StudyError(f"{place}: the stored race has no valid {name!r}")
        values[name] = tuple(value) if isinstance(value, list) else value
    if stored.get("lag"):
        raise StudyError(
            f"{place}: strategies lag in the stored race, which this version of MLaut cannot "
            "follow: use the version that began the race"
        )
    draw = Draw(*(values.pop(name) for name in vars(Draw())))
    return RaceTerms(**values), draw


def _is_like(value: Any, default: Any, item: type | None) -> bool:
    """Return whether a stored value has the type of a default, and each item the type ``item``."""
    kind = list if isinstance(default, tuple) else type(default)
    return type(value) is kind and (item is None or all(type(each) is item for each in value))


class StudyRace:
    """Race of a study after its first rounds; a round is a dataset.

    Losses of a round are read once, as soon as the round is complete.

    Parameters
    ----------
    study : StudyStore
    terms : RaceTerms
    draw : Draw
    """

    def __init__(self, study: StudyStore, terms: RaceTerms, draw: Draw) -> None:
        self.study, self.terms, self.draw = study, terms, draw
        if terms.rule != RACE_RULE:
            raise StudyError(
                f"{study.path}: the race is decided by rule {terms.rule}, and this version of "
                f"MLaut decides by rule {RACE_RULE}: use the version that began the race"
            )
        self._metric = metric(terms.metric)
        check_terms(terms, draw.strategies, self._metric)
        n, k = len(draw.order), len(draw.strategies)
        self._losses = np.full((n, k), np.nan)
        self._scale, self._seconds = np.zeros((2, n, k))
        self._n_read = 0
        self._following = self._begun()
        self._races: dict[int, Race] = {}

    @classmethod
    def of(cls, study: StudyStore) -> Self | None:
        """Return the race of a study; None if the study is no race.

        Raises
        ------
        StudyError
            The stored terms are damaged.
        """
        stored = study.race
        return None if stored is None else cls(study, *read_sealed(stored, study.path))

    def sealed(self) -> dict[str, Any]:
        """Return the terms and the draw as plain JSON values, and the test that reports use."""
        draw = {name: list(value) for name, value in vars(self.draw).items()}
        return {**self.terms.sealed(), **draw, "test": KINDS[self.terms.kind].test}

    def _read(self, n: int) -> None:
        """Read the losses and times of the first n rounds."""
        names = self.draw.strategies
        for place in range(self._n_read, n):
            dataset = self.draw.order[place]
            block = self.study.block(dataset)
            if set(names) <= set(block.strategies):
                results = Results.from_blocks([block], self._metric, strategies=names)
                self._losses[place] = cell_losses(results, "failures last")[0]
                self._scale[place] = np.nan_to_num(results.noise_scale)[0]
                ((_, _, numbers),) = self.study.numbers([dataset])
                rows = [block.strategies.index(name) for name in names]
                self._seconds[place] = _elapsed(numbers)[rows]
        self._n_read = max(n, self._n_read)

    def after(self, n: int) -> Race:
        """Return the race after the first n rounds, which are complete."""
        if n not in self._races:
            self._races[n] = self._as_race(self._at(n))
            for old in sorted(self._races)[: -self.terms.ahead - _KEPT]:
                del self._races[old]
        return self._races[n]

    def _begun(self) -> Following:
        names, span = self.draw.strategies, self._metric.span
        return Following(names, len(self.draw.order), self.terms, span=span)

    def _at(self, n: int) -> Following:
        """Return the race after the first n rounds; a race that is past them starts anew."""
        self._read(n)
        following = self._begun() if self._following.n_taken > n else self._following
        for place in range(following.n_taken, n):
            if not following.take(self._losses[place], self._scale[place]):
                break
        return following

    def _as_race(self, following: Following) -> Race:
        course = following.course()
        used = np.arange(len(self._losses))[:, None] < course.runs
        return Race.of(
            strategies=self.draw.strategies,
            datasets=self.draw.order,
            terms=self.terms,
            course=course,
            losses=np.where(used, self._losses, np.nan),
            metric=self._metric.loss_name,
            span=self._metric.span,
        )

    def now(self) -> Race:
        """Return the race after all complete rounds, with its cost."""
        return dataclasses.replace(self.after(self.n_known), cost=self._cost())

    def forecast(self, study_file: str | os.PathLike[str]) -> object:
        """Return the forecast of the race of a study file, or why there is none."""
        from mlaut_races.race_forecast import forecast_race, max_cost_of

        terms = read_study_file(study_file).race
        forecast = forecast_race(self, max_cost=max_cost_of(terms) if terms else np.inf)
        return forecast or "race: no dataset is complete yet, so nothing is forecast"

    def _cost(self) -> pd.DataFrame:
        """Return the table of `Race.cost`."""
        names = list(self.draw.strategies)
        costs = pd.DataFrame(0.0, pd.Index(names, name="strategy"), _COST)
        stored = set(self.study.datasets)
        known = [dataset for dataset in self.draw.order if dataset in stored]
        for _, in_study, numbers in self.study.numbers(known):
            status = numbers["status"]
            out, still = status == Status.RACED_OUT, status == Status.MISSING
            counts = [~(out | still), out, still]
            cells = [of_kind.sum(axis=(1, 2)) for of_kind in counts]
            here = pd.DataFrame(dict(zip(_COST, [*cells, _elapsed(numbers), 0], strict=True)))
            costs += here.set_axis(list(in_study)).reindex(names).fillna(0.0)
        mean = costs["seconds"] / costs["cells"].where(costs["cells"] > 0)
        costs["seconds left out"] = (mean * costs["cells left out"]).fillna(0.0)
        return costs.astype(dict.fromkeys(_COST[:3], int))

    @property
    def n_known(self) -> int:
        """Number of rounds before the first one whose dataset is not stored."""
        stored, order = set(self.study.datasets), self.draw.order
        return next((i for i, name in enumerate(order) if name not in stored), len(order))

    @property
    def n_taken(self) -> int:
        """Number of rounds that were complete when the race was last looked at."""
        return self._following.n_taken

    def following(self, n: int) -> Following:
        """Return a copy of the race after the first n rounds, which can be followed further."""
        return self._at(n).copy()

    def losses(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the losses of the first n rounds and their sizes: (N, K); NaN for the others."""
        return self._seen(self._losses, n, np.nan), self._scale

    def seconds(self, n: int) -> np.ndarray:
        """Return the time of all cells of each dataset and strategy in the first n rounds: (N, K).

        The times are wall times of cells, including failed ones.
        """
        return self._seen(self._seconds, n, 0.0)

    def _seen(self, values: np.ndarray, n: int, otherwise: float) -> np.ndarray:
        """Read the first n rounds, and return their values; all others are ``otherwise``."""
        self._read(n)
        return np.where(np.arange(len(values))[:, None] < n, values, otherwise)


def _elapsed(numbers: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the seconds of all cells of each strategy; those of fits if no others are known."""
    elapsed = numbers["usage"][..., USAGE.index("elapsed")]
    fits = np.nansum(numbers["seconds"], axis=-1)
    return np.asarray(np.where(np.isnan(elapsed), fits, elapsed).sum(axis=(1, 2)))
