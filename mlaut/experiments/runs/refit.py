"""Fit cells of a study again, with the seeds of their runs, and compare with the stored values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from mlaut.errors import MlautError, StudyError
from mlaut.estimators import MlautEstimator, as_strategies
from mlaut.estimators.strategies import tuned_as
from mlaut.experiments.cells.cell import CellOptions
from mlaut.experiments.engines.engine import Engine
from mlaut.experiments.plans.entries import as_stored, strategy_entries
from mlaut.experiments.workers.batches import make_batches
from mlaut.experiments.workers.environment import describe_environment
from mlaut.files_io import FilesIO, SplitEntry, StrategyEntry, Study
from mlaut.files_io.study_records import USAGE
from mlaut.identity.distributions import installed_version
from mlaut.records import Block, Cell, Outcome

__all__ = ["RunHistory", "difference", "fitted_again", "usable_strategies"]


def usable_strategies(study: Study, given: Any) -> tuple[list[MlautEstimator], list[str]]:
    """Return the strategies that equal those of the study, and why others cannot be used.

    Parameters
    ----------
    study : Study
    given : strategies or None
        Candidates, as ``Orchestrator.run`` takes them; None takes those that come with MLaut.

    Raises
    ------
    StudyError
        No strategy of the study can be used.
    """
    usable, left_out = [], []
    candidates = (
        {} if given is None else {s.name: s for s in as_stored(as_strategies(given), study)}
    )
    for entry in study.strategies:
        strategy = candidates.get(entry.name)
        if given is None:
            strategy = _find_registered(entry, study)
        if strategy is None:
            left_out.append(f"{entry.name}: this strategy is not known here; name the study file")
        elif not strategy_entries([strategy], study)[0].is_same(entry):
            left_out.append(f"{entry.name}: its parameters are not those that are stored")
        else:
            usable.append(strategy)
    if not usable:
        raise StudyError(f"{study.path}: nothing can be fitted again: {'; '.join(left_out)}")
    return usable, left_out


def _find_registered(entry: StrategyEntry, study: Study) -> MlautEstimator | None:
    """Return the strategy of MLaut with this name, tuned as one of the study's runs tuned it."""
    stored = {(str(run.get("search") or ""), str(run.get("budget") or "")) for run in study.runs}
    found = None
    for search, budget in sorted({("", ""), *stored}):
        try:
            found = tuned_as(as_strategies(entry.name), search, budget or None)[0]
            if strategy_entries([found], study)[0].is_same(entry):
                break
        except MlautError:
            continue
    return found


def fitted_again(
    study: Study,
    input_io: FilesIO,
    strategies: Sequence[MlautEstimator],
    cells: Sequence[Cell],
    engine: Engine,
    models: Path | None = None,
) -> Iterator[Outcome]:
    """Fit cells again, with the seed and the threads of their run, and yield their outcomes.

    Parameters
    ----------
    study : Study
    input_io : FilesIO
        Database of the datasets.
    strategies : sequence of MlautEstimator
        Strategies of the cells.
    cells : sequence of Cell
    engine : Engine
    models : Path, optional
        Folder in which fitted models are saved; default none is saved.
    """
    runs, entries = RunHistory(study), study.load_splits()
    by_run: dict[tuple[int, int], list[Cell]] = {}
    for cell in cells:
        run = runs.of(cell)
        key = int(run.get("seed", 0)), int(run.get("threads", 1))
        by_run.setdefault(key, []).append(cell)
    for (seed, threads), of_run in by_run.items():
        groups, options = _groups(entries, of_run), CellOptions(threads, models=models)
        batches = make_batches(groups, strategies, input_io.path, seed, options)
        for outcomes in engine.run(batches):
            yield from outcomes


def _groups(
    entries: Mapping[str, SplitEntry], cells: Iterable[Cell]
) -> Iterator[tuple[SplitEntry, str, tuple[tuple[int, int], ...]]]:
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for cell in cells:
        found.setdefault((cell.dataset, cell.strategy), []).append((cell.repeat, cell.fold))
    for (dataset, strategy), of_group in found.items():
        yield entries[dataset], strategy, tuple(of_group)


def difference(block: Block, outcome: Outcome) -> str:
    """Return the difference between the stored values of a cell and another outcome, as text.

    The text is empty if nothing differs.

    Parameters
    ----------
    block : Block
        Stored values of the dataset of the cell.
    outcome : Outcome
        Outcome of the cell when it is fitted again.
    """
    cell = outcome.cell
    if outcome.predictions is None:
        return f"{outcome.status.word}: {outcome.reason}"
    s, test = block.strategies.index(cell.strategy), block.split.folds[cell.repeat] == cell.fold
    before = block.predictions[s, cell.repeat, test]
    differ = int((before != outcome.predictions).sum())
    differences = [f"{differ} of {len(before)} predictions differ"] if differ else []
    if block.probabilities is not None and outcome.probabilities is not None:
        gap = np.abs(block.probabilities[s, cell.repeat, test] - outcome.probabilities).max()
        differences += [f"probabilities differ by up to {gap:.2g}"] if gap > 0 else []
    return ", ".join(differences)


class RunHistory:
    """Runs of a study: which one made a cell, and which versions have changed since."""

    def __init__(self, study: Study) -> None:
        self._runs = sorted(study.runs, key=_began)
        self._began = [_began(run) for run in self._runs]
        started = USAGE.index("started")
        self._started = {name: numbers["usage"][..., started] for name, numbers in study.numbers()}
        self._names = {name: names for name, (names, _) in study.statuses().items()}
        self._now = describe_environment()

    def of(self, cell: Cell) -> Mapping[str, Any]:
        """Return the record of the last run that began before the cell did."""
        s = self._names[cell.dataset].index(cell.strategy)
        started = self._started[cell.dataset][s, cell.repeat, cell.fold]
        at = int(np.searchsorted(self._began, started, side="right")) - 1
        return self._runs[max(at, 0)] if self._runs else {}

    def changes(self, cell: Cell) -> dict[str, tuple[str, str]]:
        """Return the versions that differ between the run of a cell and now, as (then, now)."""
        then, now = _versions(self.of(cell)), _versions(self._now)
        others = ((name, installed_version(name)) for name in then if name not in now)
        now |= {name: found for name, found in others if found}
        return {
            name: (then.get(name, "none"), now.get(name, "none"))
            for name in sorted({*then, *now})
            if then.get(name) != now.get(name)
        }


def _began(run: Mapping[str, Any]) -> float:
    return datetime.fromisoformat(run["started"]).timestamp() if "started" in run else 0.0


def _versions(run: Mapping[str, Any]) -> dict[str, str]:
    system = {key: str(run[key]) for key in ("python", "platform", "processor") if key in run}
    return {**system, **run.get("versions", {})}
