"""The race of a study: its terms as the study stores them, and how it stands."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mlaut.analysis.racing.course import follow
from mlaut.analysis.racing.race import Race, cell_losses, make_race, terms_of
from mlaut.analysis.results.results import Results
from mlaut.errors import StudyError
from mlaut.files_io import Study

__all__ = ["Sealed", "StudyRace"]


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

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return {**vars(self), "order": list(self.order), "strategies": list(self.strategies)}

    @classmethod
    def read(cls, stored: Mapping[str, Any], place: object) -> Self:
        """Return the terms from the plain values that a study stores.

        Raises
        ------
        StudyError
            A value is missing or of another type.
        """
        kinds: dict[str, Any] = {
            "order": list,
            "strategies": list,
            "alpha": float,
            "rope": float,
            "ahead": int,
            "seed": int,
        }
        stored = {"seed": 0, **stored}  # studies without it were drawn with 0
        values: dict[str, Any] = {}
        for field in dataclasses.fields(cls):
            kind: Any = kinds.get(field.name, str)
            value: Any = stored.get(field.name)
            if not isinstance(value, kind) or isinstance(value, bool):
                raise StudyError(f"{place}: the stored race has no valid {field.name!r}")
            values[field.name] = tuple(str(one) for one in value) if kind is list else value
        return cls(**values)


class StudyRace:
    """The race of a study, as it stands after its first datasets.

    Losses are read once for each dataset, as soon as it is complete.

    Parameters
    ----------
    study : Study
    sealed : Sealed
    """

    def __init__(self, study: Study, sealed: Sealed) -> None:
        self.study, self.sealed = study, sealed
        self._results: list[Results] = []
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

    def results(self, n: int) -> list[Results]:
        """Return the results of the first n datasets, each by itself."""
        while len(self._results) < n:
            block = self.study.block(self.sealed.order[len(self._results)])
            self._results.append(
                Results.from_blocks([block], self.sealed.metric, strategies=self.sealed.strategies)
            )
        return self._results[:n]

    def after(self, n: int) -> Race:
        """Return the race as it stands after the first n datasets, which are complete."""
        if n not in self._races:
            sealed, parts = self.sealed, self.results(max(n, 1))
            terms = terms_of(parts[0], sealed.question, sealed.kind, sealed.alpha, sealed.rope)
            losses = np.concatenate([cell_losses(one, "failures last") for one in parts])[:n]
            scale = np.concatenate([np.nan_to_num(one.noise_scale) for one in parts])[:n]
            self._races[n] = make_race(
                strategies=sealed.strategies,
                datasets=sealed.order,
                question=sealed.question,
                terms=terms,
                course=follow(losses, scale, terms),
                losses=losses,
                metric=parts[0].metric.loss_name,
            )
        return self._races[n]

    def now(self) -> Race:
        """Return the race as it stands now: it uses the datasets that are complete."""
        stored = set(self.study.datasets)
        known = next(
            (t for t, name in enumerate(self.sealed.order) if name not in stored),
            len(self.sealed.order),
        )
        return self.after(known)

    def seconds(self, n: int) -> np.ndarray:
        """Return the time of all cells of each strategy on each of the first n datasets: (n, K)."""
        found = np.zeros((n, len(self.sealed.strategies)))
        for row, results in enumerate(self.results(n)):
            if results.seconds is not None:
                found[row] = np.nansum(results.seconds[0], axis=(1, 2, 3))
        return found
