"""Carry out a plan: an engine runs its cells, and their outcomes are written to the study."""

import contextlib
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from mlaut.errors import RunInterrupted, StoreError, StudyError, TimeIsOver
from mlaut.estimators.libraries.session import SETTINGS, session_settings
from mlaut.experiments.cells import search_checkpoints
from mlaut.experiments.engines.engine import Engine, Outcomes, make_engine
from mlaut.experiments.options import RunOptions
from mlaut.experiments.plans.plan import Group, Plan
from mlaut.experiments.plans.races import MakeRace, Rounds
from mlaut.experiments.plans.run_options import cell_options
from mlaut.experiments.runs.begun import BegunCells, WatchedBatches, sweep_notes
from mlaut.experiments.runs.done_before import record_of_named
from mlaut.experiments.runs.progress import RunProgress
from mlaut.experiments.runs.summary import RunSummary
from mlaut.experiments.workers.batches import make_batches
from mlaut.experiments.workers.environment import describe_environment
from mlaut.experiments.workers.signals import interrupt_of, interrupted_once
from mlaut.files_io import StudyStore, StudyWriter
from mlaut.files_io.safe_files.lock import beat
from mlaut.files_io.studies.models import prepare_models
from mlaut.helpers.markup import counted
from mlaut.records import UNSAVED, Cell, Outcome, Status, TooLarge

_OF_A_SIGNAL = (Status.ERROR, Status.CRASHED)


def carry_out(
    plan: Plan,
    study: StudyStore,
    database: Path,
    options: RunOptions,
    *,
    seed: int,
    verbose: int,
    race: MakeRace | None = None,
    given: Any = None,
) -> RunSummary:
    """Run the cells of a plan, and store their outcomes in the study.

    Parameters
    ----------
    plan : Plan
    study : StudyStore
        The study, with the splits of the datasets of the plan.
    database : Path
        Path of the database of the datasets.
    options : RunOptions
    seed : int
        Seed of the study, from which the seeds of the cells are derived.
    verbose : int
        0 shows nothing, 1 the progress, 2 also each failure.
    race : callable, optional
        Function that begins the race of the study; default no race.
    given : strategies, optional
        Strategies as the user gave them, of which a later run may know those given by name.

    Raises
    ------
    RunInterrupted
        A signal stopped the run; all finished cells are stored.
    StudyError
        The plan has a refusal, or an option cannot be met; no cell has run.
    """
    begun = time.monotonic()
    settings, engine = cell_options(options, study.path), make_engine(options)
    plan.check()
    rounds = None if race is None else race(study, plan, options, database)  # it may refuse
    strategies_of = {planned.entry.name: planned.strategies for planned in plan.datasets}
    study.allocate(plan.entries, strategies_of, replace=options.overwrite_predictions)
    reasons, progress = Counter[str](), RunProgress(plan.n_todo, verbose)
    groups, raced_out = _of_race(rounds) if rounds else (plan.groups(), [])
    interrupted: list[int] = []
    has_ended = rounds and not groups and not raced_out
    if not has_ended and (plan.n_todo or plan.n_skipped):
        checkpoints = search_checkpoints.checkpoints_folder(study.path)
        batches = make_batches(groups, plan.strategies, database, seed, settings, plan.first_names)
        notes = BegunCells.of(study)
        watched = WatchedBatches(batches, notes, isolate=rounds is None)
        record = run_record(study, database, options, seed)
        record |= record_of_named(given, {entry.name: entry.fingerprint for entry in plan.entries})
        record |= {"race": rounds.sealed()} if rounds else {}
        try:
            with (
                interrupted_once() as interrupted,
                study.writing({**describe_environment(plan.strategies), **record}) as writer,
                search_checkpoints.kept_checkpoints(checkpoints),
                notes.kept(),
                progress,
                contextlib.closing(_ended(engine, watched, notes)) as ended,
            ):
                if settings.models:
                    prepare_models(settings.models)
                _forget(writer, plan)
                writer.write(*(skipped := [*_skipped(plan)]), *raced_out)
                reasons.update(map(_reason, skipped))
                for outcomes in chain(ended, iter(watched.given_up, [])):
                    beat(study.path)
                    outcomes = [*outcomes, *watched.given_up()]
                    if interrupted:  # what failed may have failed by it, as Slurm signals all
                        outcomes = [x for x in outcomes if x.status not in _OF_A_SIGNAL]
                    _store(outcomes, writer, notes, rounds)
                    search_checkpoints.forget_checkpoints(checkpoints, outcomes)
                    progress.update(outcomes)
                    reasons.update(_reason(outcome) for outcome in outcomes if outcome.reason)
                    if interrupted:  # what ran at the signal has swallowed the exception
                        raise KeyboardInterrupt
        except KeyboardInterrupt:
            kind, done = interrupt_of(interrupted), progress.counts.total()
            raise _stopped(kind, done, plan.n_todo, study.path, notes) from None
    search_checkpoints.sweep_checkpoints(study)
    sweep_notes(study)
    return RunSummary(
        study=study.path,
        before=plan.before,
        tried=plan.todo,
        counts=progress.counts + Counter({Status.SKIPPED: plan.n_skipped}),
        reasons=tuple(reasons.most_common()),
        seconds=time.monotonic() - begun,
        race=rounds.sentence() if rounds else "",
        versions=plan.versions,
        n_unsaved=_n_unsaved(study, strategies_of) if options.save_models else 0,
    )


def _ended(engine: Engine, watched: WatchedBatches, notes: BegunCells) -> Outcomes:
    """Yield outcomes as cells end; cells that may have killed a run are run alone, at the end."""
    yield from engine.run(watched)
    for batch in watched.alone:
        yield from engine.run(WatchedBatches([batch], notes, isolate=False))


def _store(
    outcomes: Sequence[Outcome], writer: StudyWriter, notes: BegunCells, rounds: Rounds | None
) -> None:
    """Write outcomes that ended together, and those of cells that a race then leaves out."""
    writer.write(*(x for x in outcomes if UNSAVED not in x.details))
    notes.ended(outcomes)
    raise_if_unsaved(outcomes)
    if rounds and outcomes:
        writer.write(*rounds.saw(outcomes))


def _stopped(
    kind: type[RunInterrupted], done: int, n_todo: int, path: Path, notes: BegunCells
) -> StudyError | RunInterrupted:
    """Return the error of a run that was stopped: what is stored, and how to go on."""
    of_all = counted(n_todo, "cell")
    so_far = f"stopped before the first of {of_all} had ended"
    if done:
        so_far = f"stopped after {done} of {of_all}; all of them are stored in {path}"
    if kind is TimeIsOver:
        so_far = f"{kind.word}; {so_far}"
        if not done and notes.note_vain() > 1:
            return StudyError(
                f"{path}: {notes.in_vain} jobs in a row ended before a cell did; "
                "give the job more time, or cells a timeout, and make the same call again"
            )
    return kind(f"{so_far}: make the same call again to go on")


def _n_unsaved(study: StudyStore, strategies_of: Mapping[str, Sequence[str]]) -> int:
    """Return the number of done cells without a stored model."""
    return sum(
        "model" not in record and record["strategy"] in strategies_of[name]
        for name, records in study.all_details(strategies_of, only=[Status.DONE])
        for record in records
    )


def _of_race(rounds: Rounds) -> tuple[Iterable[Group | None], list[Outcome]]:
    """Return the groups of a race, which may be none, and outcomes to store at once."""
    groups = rounds.groups()
    first = next(groups, None)  # the first group waits for nothing
    return (chain([first], groups) if first else ()), rounds.left_out()


def run_record(study: StudyStore, database: Path, options: RunOptions, seed: int) -> dict[str, Any]:
    """Return what a study stores of the arguments of a run."""
    path = os.path.relpath(database, study.path.parent)
    session = {SETTINGS: settings} if (settings := session_settings()) else {}
    return {**options.record(), "seed": seed, "input": path, **session}


def _forget(writer: StudyWriter, plan: Plan) -> None:
    """Clear the cells that will be run again, so that no half replaced cell is read as done."""
    for planned in plan.datasets:
        again = planned.todo & (planned.status != Status.MISSING)
        if again.any():
            writer.forget(planned.entry.name, planned.strategies, again)


def raise_if_unsaved(outcomes: Iterable[Outcome]) -> None:
    """Raise `StoreError` if the model of a cell could not be written: the cell is not at fault.

    The cell then has no outcome, so that the next call runs it.
    """
    for outcome in outcomes:
        if UNSAVED in outcome.details:
            raise StoreError(f"{outcome.reason}; the same call goes on from here")


def _skipped(plan: Plan) -> Iterator[Outcome]:
    """Yield an outcome for each cell that is skipped because of a size limit."""
    for planned in plan.datasets:
        for s, repeat, fold in np.argwhere(planned.skipped).tolist():
            name = planned.strategies[s]
            cell = Cell(planned.entry.name, name, repeat, fold)
            reason = planned.size_reasons[name]
            details = {"too_large": asdict(reason)} if isinstance(reason, TooLarge) else {}
            yield Outcome(cell, Status.SKIPPED, reason=str(reason), details=details)


def _reason(outcome: Outcome) -> str:
    return f"{outcome.cell.strategy}: {outcome.status.word}: {outcome.reason}"
