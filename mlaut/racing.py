"""Run a study file as a race: it ends when its question is answered.

`run_race` runs the datasets in an order that is drawn by lot and stored with the terms of the race
before the first result. Strategies leave as soon as they may. An interrupted race continues with
the same decisions, because they follow from the stored results alone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mlaut.analysis.racing.course import follow
from mlaut.analysis.racing.race import drawn_order, terms_of
from mlaut.analysis.racing.study_race import Sealed, StudyRace
from mlaut.analysis.results.results import Results
from mlaut.errors import StudyError
from mlaut.experiments.cells.memory import parse_seconds
from mlaut.experiments.plans.plan import Plan
from mlaut.experiments.plans.rounds import MakeReferee
from mlaut.experiments.study_file import RaceSection, read_study_file, run_study
from mlaut.files_io import Study
from mlaut.records import CLASSIFICATION

if TYPE_CHECKING:
    from mlaut.experiments import RunSummary

__all__ = ["RaceForecast", "forecast_race", "referee_of", "run_race"]

_SIMULATED = 200  # races; the standard error of a probability is at most 3.5 points


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
    judge = referee_of(section) if section is not None else None
    return run_study(path, verbose=verbose, race=judge, complete=complete, **changes)


def referee_of(section: RaceSection) -> MakeReferee:
    """Return the function that makes the referee of a study from the terms of its study file."""
    return lambda study, plan: _Referee.of(section, study, plan)


@dataclass(frozen=True, eq=False)
class _Referee:
    """Decides a race from the stored results of complete rounds."""

    race: StudyRace
    max_cost: float

    @classmethod
    def of(cls, section: RaceSection, study: Study, plan: Plan) -> _Referee:
        """Return the referee of a study.

        Raises
        ------
        StudyError, AnalysisError
            The terms are not possible, or differ from those that the study has stored.
        """
        if section.ahead < 0:
            raise StudyError(f"[race] ahead = {section.ahead}: a number of rounds from 0 is needed")
        cost = section.max_cost.replace(" ", "").removesuffix("cpu")
        most = parse_seconds(cost or None, "max_cost")
        wanted = _wanted(section, plan)
        begun = StudyRace.of(study)
        if begun is not None:
            wanted = _continued(begun.sealed, wanted, study)
        return cls(StudyRace(study, wanted), np.inf if most is None else most)

    @property
    def order(self) -> Sequence[str]:
        return self.race.sealed.order

    @property
    def ahead(self) -> int:
        return self.race.sealed.ahead

    @property
    def terms(self) -> Mapping[str, Any]:
        return self.race.sealed.to_dict()

    def racing(self, n: int) -> frozenset[str]:
        if n == 0:
            return frozenset(self.race.sealed.strategies)
        found = self.race.after(n)
        if found.answered or self._too_expensive(n):
            return frozenset()
        return frozenset(found.left)

    def dropped(self, n: int) -> Mapping[str, tuple[int, str]]:
        if n == 0:
            return {}
        found = self.race.after(n)
        used = len(found.datasets)
        why = used, f"not needed: the race was answered after {used} datasets"
        rest = dict.fromkeys(found.left, why) if found.answered else {}
        return {**rest, **found.departures}

    def sentence(self, n: int) -> str:
        if n == 0:
            return "no dataset is complete yet"
        end = f" No round begins after max_cost, {self.max_cost:g} s." * self._too_expensive(n)
        return self.race.after(n).sentence() + end

    def _too_expensive(self, n: int) -> bool:
        if not np.isfinite(self.max_cost):
            return False
        return bool(self.race.seconds(n).sum() >= self.max_cost)


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
    )
    _check_possible(wanted)
    return wanted


def _check_possible(wanted: Sealed) -> None:
    """Raise an error for terms that no race can have, before anything runs."""
    import pandas as pd

    from mlaut.analysis import metric
    from mlaut.analysis.common.arguments import check

    check(alpha=wanted.alpha)
    table = pd.DataFrame([[0.0] * len(wanted.strategies)], columns=list(wanted.strategies))
    none = Results.from_table(table, metric=metric(wanted.metric))
    terms_of(none, wanted.question, wanted.kind, wanted.alpha, wanted.rope)


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
        if name != "order" and now != before:
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
    return replace(sealed, order=(*sealed.order, *new))


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


# --------------------------------------------------------------------- forecast


@dataclass(frozen=True)
class RaceForecast:
    """Forecast of the rest of a race, whose datasets are taken to be like those seen so far.

    Attributes
    ----------
    seen : int
        Number of complete datasets.
    n_datasets : int
    decided : float
        Share of simulated races that answer the question.
    datasets : float
        Mean number of further datasets.
    cells, seconds : float
        Mean shares of the remaining cells, and of their time, that will be run.
    """

    seen: int
    n_datasets: int
    decided: float
    datasets: float
    cells: float
    seconds: float

    def __str__(self) -> str:
        return (
            f"race: {self.seen} of {self.n_datasets} datasets are complete; if the others are like "
            f"them, the question is answered with probability {self.decided:.2f}, after "
            f"{self.datasets:.0f} more datasets on average, with {100 * self.cells:.0f} % of the "
            f"cells of the others and {100 * self.seconds:.0f} % of their time"
        )


def forecast_race(race: StudyRace, seed: int = 0) -> RaceForecast | None:
    """Forecast a race by simulation: further datasets are drawn from those seen so far.

    Parameters
    ----------
    race : StudyRace
    seed : int, default 0

    Returns
    -------
    RaceForecast or None
        None while no dataset is complete.
    """
    now = race.now()
    n, total, terms = len(now.datasets), now.n_datasets, now.terms
    if n == 0:
        return None
    # Before a strategy left, all losses are known; later ones of it are not needed.
    seconds = race.seconds(n)
    runs = np.minimum(now.course.runs, n)
    mean_seconds = seconds.sum(axis=0) / np.maximum(runs, 1)
    rng = np.random.default_rng(seed)
    rest = (total - n) * len(now.strategies)
    found = []
    for _ in range(_SIMULATED):
        drawn = now.losses[rng.integers(0, n, total - n)]
        drawn = np.where(now.course.left, drawn, 0.0)
        losses = np.concatenate([now.losses, drawn])
        course = follow(losses, np.abs(np.nan_to_num(losses, posinf=0.0)), terms)
        more = course.runs - runs
        found.append((course.answered, len(course.against) - n, more.sum(), more @ mean_seconds))
    decided, datasets, cells, cost = np.mean(found, axis=0, dtype=float)
    full = mean_seconds.sum() * (total - n)
    return RaceForecast(
        seen=n,
        n_datasets=total,
        decided=float(decided),
        datasets=float(datasets),
        cells=float(cells / rest) if rest else 0.0,
        seconds=float(cost / full) if full else 0.0,
    )
