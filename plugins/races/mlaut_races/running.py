"""Run of a study as a race, which ends when its question is answered.

`run_race` runs the datasets of a study file in an order that is drawn by lot and stored with the
terms of the race before the first result. Strategies leave as soon as the evidence allows it. An
interrupted race continues with the same decisions, because they follow from the stored results
alone.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mlaut.errors import StudyError
from mlaut.experiments import (
    Plan,
    RunOptions,
    RunSummary,
    StudyFile,
    read_study_file,
    run_study,
)
from mlaut.files_io import DatasetInfo, FilesIO, StudyStore
from mlaut.plugins import MakeRace, check_targets, clusters_of, read_race, share
from mlaut.records import CLASSIFICATION
from mlaut_races.race import drawn_order
from mlaut_races.race_forecast import max_cost_of
from mlaut_races.rounds import Rounds
from mlaut_races.study_race import Draw, StudyRace
from mlaut_races.terms import RaceTerms


def run_race(
    path: str | os.PathLike[str] | StudyFile,
    *,
    verbose: int = 1,
    complete: bool = False,
    **changes: Any,
) -> RunSummary:
    """Run or resume a study file, as a race if it has a section ``[race]``.

    Parameters
    ----------
    path : path-like or StudyFile
        Path of the study file, or what `mlaut.experiments.read_study_file` returned.
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
    file = path if isinstance(path, StudyFile) else read_study_file(path)
    begin = begun_by(file.race) if file.race is not None else None
    return run_study(file, verbose=verbose, race=begin, complete=complete, **changes)


def make_race(**terms: Any) -> MakeRace:
    """Return a function that begins a race, for the argument ``race`` of `mlaut.Orchestrator.run`.

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
    >>> begin = make_race(question="all pairs", rope=0.01)
    >>> make_race(alhpa=0.1)
    Traceback (most recent call last):
    mlaut.errors.StudyError: race: unknown key 'alhpa' in [race]; did you mean 'alpha'?
    """
    return begun_by(read_race(terms))


def begun_by(terms: RaceTerms | Mapping[str, Any]) -> MakeRace:
    """Return a function that begins a race by these terms, or goes on with it.

    They are plain values where this plug-in is found without its entry points.
    """
    return partial(_begin, terms if isinstance(terms, RaceTerms) else RaceTerms(**terms))


def _begin(
    terms: RaceTerms, study: StudyStore, plan: Plan, options: RunOptions, database: Path
) -> Rounds:
    """Begin a race, or go on with it.

    Raises
    ------
    StudyError
        Datasets share a source, since a round is one dataset; failures that the race has counted
        would be tried again; or the study has results from before the race.
    """
    check_unrelated(FilesIO(database, "r").infos_of(x.entry.path for x in plan.datasets))
    if options.retry or options.overwrite_predictions:
        raise StudyError(
            f"{study.path}: a race counts a failure when it happens, so retry and "
            "overwrite_predictions would change decisions; leave them out, or complete the race "
            "with 'mlaut run --complete'"
        )
    if study.race is None and any(status.any() for _, status in study.statuses().values()):
        raise StudyError(
            f"{study.path}: has results already, and the terms of a race are stored before the "
            "first result; race in a new study"
        )
    return Rounds(plan, _RunningRace(terms, study, plan))


def check_unrelated(infos: Iterable[DatasetInfo]) -> None:
    """Raise `StudyError` if datasets of a race share a source, since a round is one dataset."""
    clusters = clusters_of(infos)
    if len(set(clusters.values())) < len(clusters):
        raise StudyError(
            f"{len(clusters)} datasets of the race share sources (metadata 'cluster'), and a round "
            "is one dataset: run all cells, then mlaut.analysis.race of the results"
        )


class _RunningRace(StudyRace):
    """Race that decides, from the stored results of complete rounds, which cells are run.

    Raises
    ------
    StudyError, AnalysisError
        The terms are not possible, or differ from those that the study has stored.
    """

    def __init__(self, terms: RaceTerms, study: StudyStore, plan: Plan) -> None:
        for name, unit in (("ahead", "rounds"), ("ahead_cells", "cells")):
            value = getattr(terms, name)
            if value < 0:
                raise StudyError(f"[race] {name} = {value}: a number of {unit} from 0 is needed")
        self.max_cost = max_cost_of(terms)
        terms, draw = _begun(terms, plan)
        share("alpha", terms.alpha)
        before = StudyRace.of(study)
        super().__init__(study, terms, _continued(before, terms, draw) if before else draw)

    @property
    def order(self) -> Sequence[str]:
        """Datasets in the order of the race, each a round."""
        return self.draw.order

    def racing(self, n: int) -> frozenset[str]:
        """Return the strategies that are in the race after ``n`` rounds; none if it has ended."""
        if n == 0:
            return frozenset(self.draw.strategies)
        race = self.after(n)
        return frozenset(() if race.answered or self._ended_early(n) else race.left)

    def dropped(self, n: int) -> Mapping[str, str]:
        """Return why strategies have left after ``n`` rounds."""
        if n == 0:
            return {}
        race = self.after(n)
        why = f"not needed: the race was answered after {len(race.datasets)} datasets"
        rest = dict.fromkeys(race.left, why) if race.answered else {}
        return {**rest, **{name: reason for name, (_, reason) in race.departures.items()}}

    def sentence(self, n: int) -> str:
        """Return the result after ``n`` rounds in words."""
        if n == 0:
            return "no dataset is complete yet"
        return self.after(n).sentence() + self._ended_early(n)

    def _ended_early(self, n: int) -> str:
        """Return why no round begins although the question is open; empty if a round may begin."""
        if np.isfinite(self.max_cost) and self.seconds(n).sum() >= self.max_cost:
            return f" No round begins after max_cost, {self.max_cost:g} s."
        return ""


def _begun(terms: RaceTerms, plan: Plan) -> tuple[RaceTerms, Draw]:
    """Return the terms and the draw of a race that begins now."""
    tasks = {planned.entry.task for planned in plan.datasets}
    if len(tasks) > 1:
        raise StudyError("a race is about datasets of one task: set task in [data]")
    default = "accuracy" if tasks == {CLASSIFICATION} else "r2"
    check_targets([terms.metric], (planned.entry for planned in plan.datasets))
    order = drawn_order((planned.entry.name for planned in plan.datasets), terms.seed)
    draw = Draw(tuple(order), tuple(entry.name for entry in plan.entries))
    alpha, rope = float(terms.alpha), float(terms.rope)
    return replace(terms, metric=terms.metric or default, alpha=alpha, rope=rope), draw


def _continued(before: StudyRace, terms: RaceTerms, now: Draw) -> Draw:
    """Return the stored draw, with new datasets after the old ones in a new random order.

    Raises
    ------
    StudyError
        Other terms than the datasets have changed, or a dataset of the race is missing.
    """
    path, draw = before.study.path, before.draw
    same = set(now.strategies) == set(draw.strategies)
    strategies = draw.strategies if same else now.strategies
    present = {**terms.sealed(), "strategies": strategies}
    for name, old in {**before.terms.sealed(), "strategies": draw.strategies}.items():
        new = present[name]
        if new != old:
            raise StudyError(
                f"{path}: the {name} of the race was stored before its first result as "
                f"{_text(old)}, and is now {_text(new)}: a change after results are known is no "
                "longer valid; restore the old value, or race in a new study"
            )
    if lacks := set(draw.order) - set(now.order):
        raise StudyError(
            f"{path}: the race is about {len(draw.order)} datasets, and "
            f"{', '.join(sorted(lacks)[:3])} are no longer chosen: choose them again"
        )
    added = drawn_order(set(now.order) - set(draw.order), terms.seed)
    return replace(draw, order=(*draw.order, *added))


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
