"""Run a study as a race: it ends when its question is answered.

`run_race` runs the datasets of a study file in an order that is drawn by lot and stored with the
terms of the race before the first result. Strategies leave as soon as they may. An interrupted race
continues with the same decisions, because they follow from the stored results alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mlaut.analysis.common.arguments import check
from mlaut.analysis.racing.forecast import RaceForecast, forecast_race, is_unlikely
from mlaut.analysis.racing.race import drawn_order, terms_of
from mlaut.analysis.racing.study_race import Sealed, StudyRace
from mlaut.analysis.scores.catalogue import metric
from mlaut.errors import StudyError
from mlaut.experiments.cells.memory import parse_seconds
from mlaut.experiments.plans.plan import Plan
from mlaut.experiments.plans.rounds import MakeReferee
from mlaut.experiments.study_file import RaceSection, read_race, read_study_file, run_study
from mlaut.files_io import Study
from mlaut.records import CLASSIFICATION

if TYPE_CHECKING:
    from mlaut.experiments import RunSummary

__all__ = ["RaceForecast", "forecast_race", "make_race", "max_cost_of", "run_race"]

_STOP_IF = re.compile(r"P\(decided\) ?< ?(0?\.[0-9]+)")


def run_race(
    path: str | os.PathLike[str], *, verbose: int = 1, complete: bool = False, **changes: Any
) -> RunSummary:
    """Run or resume a study file; with a section ``[race]``, as a race.

    Parameters
    ----------
    path : path-like
        Path of the study file.
    verbose : int, default 1
        0 shows nothing, 1 the progress, 2 also each failure.
    complete : bool, default False
        Whether to run all cells that the race left out.
    **changes
        Keys of ``[run]`` that replace those of the file, for example ``n_jobs=2``.

    Returns
    -------
    RunSummary
        Its ``race`` is the result of the race in words.

    Raises
    ------
    StudyError
        The terms differ from those with which the race began, or the study has results from before
        the race.
    """
    section = read_study_file(path).race
    judge = _referee_of(section) if section is not None else None
    return run_study(path, verbose=verbose, race=judge, complete=complete, **changes)


def make_race(**terms: Any) -> MakeReferee:
    """Return who decides a race, for the argument ``race`` of `mlaut.Orchestrator.run`.

    Parameters
    ----------
    **terms
        Keys of ``[race]`` in a study file; see `docs/when-is-it-enough.md`.

    Raises
    ------
    StudyError
        A key is not known, or its value is of another type.

    Examples
    --------
    >>> decide = make_race(question="all pairs", rope=0.01)
    >>> make_race(alhpa=0.1)
    Traceback (most recent call last):
    mlaut.errors.StudyError: race: unknown key 'alhpa' in [race]; did you mean 'alpha'?
    """
    return _referee_of(read_race(terms))


def _referee_of(section: RaceSection) -> MakeReferee:
    return lambda study, plan: _Referee.of(section, study, plan)


@dataclass(frozen=True, eq=False)
class _Referee:
    """Decides a race from the stored results of complete rounds."""

    race: StudyRace
    max_cost: float
    stop_below: float = 0.0
    _unlikely: dict[int, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, section: RaceSection, study: Study, plan: Plan) -> _Referee:
        """Return the referee of a study.

        Raises
        ------
        StudyError, AnalysisError
            The terms are not possible, or differ from those that the study has stored.
        """
        for name, unit in (("ahead", "rounds"), ("ahead_cells", "cells")):
            if getattr(section, name) < 0:
                value = getattr(section, name)
                raise StudyError(f"[race] {name} = {value}: a number of {unit} from 0 is needed")
        most, below = max_cost_of(section), _stop_below(section)
        wanted = _wanted(section, plan)
        begun = StudyRace.of(study)
        if begun is not None:
            wanted = _continued(begun.sealed, wanted, study)
        return cls(StudyRace(study, wanted), most, below)

    @property
    def rounds(self) -> Sequence[tuple[str, tuple[str, ...]]]:
        race, names = self.race, self.race.sealed.strategies
        turns = {lag: tuple(names[place] for place in race.places(lag)) for lag in set(race.lags)}
        return [(race.sealed.order[one.dataset], turns[one.lag]) for one in race.rounds]

    @property
    def ahead(self) -> int:
        return self.race.sealed.ahead

    @property
    def ahead_cells(self) -> int:
        return self.race.sealed.ahead_cells

    @property
    def terms(self) -> Mapping[str, Any]:
        return self.race.sealed.to_dict()

    def racing(self, n: int) -> frozenset[str]:
        if n == 0:
            return frozenset(self.race.sealed.strategies)
        found = self.race.after(n)
        if found.answered or self._ended_early(n):
            return frozenset()
        return frozenset(found.left)

    def dropped(self, n: int) -> Mapping[str, str]:
        if n == 0:
            return {}
        found = self.race.after(n)
        why = f"not needed: the race was answered after {len(found.datasets)} datasets"
        rest = dict.fromkeys(found.left, why) if found.answered else {}
        return {**rest, **{name: reason for name, (_, reason) in found.departures.items()}}

    def sentence(self, n: int) -> str:
        if n == 0:
            return "no dataset is complete yet"
        return self.race.after(n).sentence() + self._ended_early(n)

    def _ended_early(self, n: int) -> str:
        """Return why no round begins though the question is open; empty if one may."""
        if np.isfinite(self.max_cost) and self.race.seconds(n).sum() >= self.max_cost:
            return f" No round begins after max_cost, {self.max_cost:g} s."
        if self.stop_below and any(self._is_unlikely(m) for m in range(1, n + 1)):
            return f" No round begins: the rest decides with P < {self.stop_below:g} (stop_if)."
        return ""

    def _is_unlikely(self, n: int) -> bool:
        if n not in self._unlikely:
            below, most = self.stop_below, self.max_cost
            self._unlikely[n] = is_unlikely(self.race, n, below, max_cost=most)
        return self._unlikely[n]


def max_cost_of(section: RaceSection) -> float:
    """Return the seconds after which no round begins; infinite without ``max_cost``."""
    cost = section.max_cost.replace(" ", "").removesuffix("cpu")
    most = parse_seconds(cost or None, "max_cost")
    return np.inf if most is None else most


def _stop_below(section: RaceSection) -> float:
    """Return the probability of ``stop_if``; 0 without it."""
    found = _STOP_IF.fullmatch(section.stop_if.strip())
    if section.stop_if and not found:
        raise StudyError(
            f"[race] stop_if = {section.stop_if!r}: write a probability below 1, for example "
            "'P(decided) < 0.2'"
        )
    return float(found[1]) if found else 0.0


def _wanted(section: RaceSection, plan: Plan) -> Sealed:
    """Return the terms of a race that begins now."""
    tasks = {planned.entry.task for planned in plan.datasets}
    if len(tasks) > 1:
        raise StudyError("a race is about datasets of one task: set task in [data]")
    strategies = tuple(entry.name for entry in plan.entries)
    default = "accuracy" if tasks == {CLASSIFICATION} else "r2"
    wanted = Sealed(
        order=tuple(drawn_order((planned.entry.name for planned in plan.datasets), section.seed)),
        strategies=strategies,
        metric=section.metric or default,
        question=section.question,
        kind=section.kind,
        alpha=float(section.alpha),
        rope=float(section.rope),
        ahead=section.ahead,
        seed=section.seed,
        lag=dict(section.lag),
        ahead_cells=section.ahead_cells,
    )
    _check_possible(wanted)
    return wanted


def _check_possible(wanted: Sealed) -> None:
    """Raise an error for terms that no race can have, before anything runs."""
    check(alpha=wanted.alpha)
    terms_of(
        wanted.strategies,
        metric(wanted.metric),
        wanted.question,
        wanted.kind,
        wanted.alpha,
        wanted.rope,
        wanted.lag,
    )


def _continued(sealed: Sealed, wanted: Sealed, study: Study) -> Sealed:
    """Return the stored terms, with new datasets behind the old ones in an order of their own.

    Raises
    ------
    StudyError
        Other terms than the datasets have changed, or a dataset of the race is missing.
    """
    if set(wanted.strategies) == set(sealed.strategies):
        wanted = replace(wanted, strategies=sealed.strategies)
    for name, before in vars(sealed).items():
        now = getattr(wanted, name)
        if name not in ("order", "batches") and now != before:
            raise StudyError(
                f"{study.path}: the {name} of the race was stored before its first result as "
                f"{_text(before)}, and is now {_text(now)}: a change after results are known is no "
                "longer valid; restore the old value, or race in a new study"
            )
    known = set(sealed.order)
    if lacks := known - set(wanted.order):
        raise StudyError(
            f"{study.path}: the race is about {len(sealed.order)} datasets, and "
            f"{', '.join(sorted(lacks)[:3])} are no longer chosen: choose them again"
        )
    new = drawn_order([name for name in wanted.order if name not in known], sealed.seed)
    batches = sealed.batches
    if new:
        batches = (*(batches or (len(sealed.order),)), len(new))
    return replace(sealed, order=(*sealed.order, *new), batches=batches)


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return str(value) if value != {} else "none"
