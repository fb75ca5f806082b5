"""Fit cells of a study again, with the seeds of their runs: to compare, or to save their models."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from mlaut.arrays import take_rows
from mlaut.errors import MlautError, StudyError, some_of
from mlaut.estimators import MlautEstimator, as_strategies
from mlaut.estimators.catalogue.strategies import tuned_as
from mlaut.estimators.libraries.session import SETTINGS, in_session
from mlaut.experiments.cells.cell_input import CellOptions, origin_of_seed
from mlaut.experiments.cells.saved_models import read_saved
from mlaut.experiments.engines.engine import Engine, make_engine
from mlaut.experiments.options import RunOptions
from mlaut.experiments.plans.entries import as_stored, described_change, strategy_entries
from mlaut.experiments.runs.execution import raise_if_unsaved, run_record
from mlaut.experiments.workers.batches import make_batches
from mlaut.experiments.workers.environment import describe_environment
from mlaut.files_io import FilesIO, SplitEntry, StrategyEntry, StudyStore
from mlaut.files_io.outcomes.study_records import OF_OUTCOME, USAGE
from mlaut.files_io.safe_files.lock import beat
from mlaut.files_io.studies.models import model_path, models_folder, prepare_models
from mlaut.files_io.studies.study_reader import LEARNERS
from mlaut.helpers.lazy import pd
from mlaut.identity.distributions import installed_version
from mlaut.records import Block, Cell, Outcome, Status


def usable_strategies(
    study: StudyStore, given: Any, source: str = ""
) -> tuple[list[MlautEstimator], list[str]]:
    """Return the strategies that equal those of the study, and why others cannot be used.

    A strategy is compared as it is in a session with the settings of its run (`settings_of`).

    Parameters
    ----------
    study : StudyStore
    given : strategies or None
        Candidates, as ``Orchestrator.run`` takes them; None takes those that come with MLaut.
    source : str, default ""
        Name of the file that defines the candidates.

    Raises
    ------
    StudyError
        No strategy of the study can be used.
    """
    usable: list[MlautEstimator] = []
    why: dict[str, list[str]] = {}  # strategies by the reason that they share
    candidates = {s.name: s for s in (() if given is None else as_strategies(given))}
    for entry in study.strategies:
        strategy = candidates.get(entry.name)
        with in_session(settings_of(entry)):
            if strategy is not None:
                strategy = as_stored([strategy], study)[0]
            elif given is None:
                strategy = _find_registered(entry, study)
            now = None if strategy is None else strategy_entries([strategy], study)[0]
        if strategy is None or now is None:
            why.setdefault(_unknown(entry, candidates, given, source), []).append(entry.name)
        elif not now.is_same(entry):
            what = "; ".join([described_change(entry, now), *_other_versions(study)])
            reason = f"its parameters are not those that are stored ({what})"
            why.setdefault(reason, []).append(entry.name)
        else:
            usable.append(strategy)
    left_out = [f"{some_of(names)}: {reason}" for reason, names in why.items()]
    if not usable:
        raise StudyError(f"{study.path}: nothing can be fitted again: {'; '.join(left_out)}")
    return usable, left_out


def _unknown(entry: StrategyEntry, candidates: Mapping[str, Any], given: Any, source: str) -> str:
    """Return why no strategy has the name of a stored one, in words."""
    if given is None:
        return (
            "MLaut has none so called; name the study file, or call "
            "mlaut.experiments.verify_study(path, strategies=...)"
        )
    former = [name for name in entry.named if name in candidates]
    hint = f"; it was renamed, and {former[0]!r} is: rename that, too" if former else ""
    missing = (
        f"{source} defines no strategy so called" if source else "no strategy so called is given"
    )
    return f"{missing}{hint}"


def settings_of(entry: StrategyEntry) -> Mapping[str, Any]:
    """Return what the session in which a strategy was run had changed in libraries."""
    settings = entry.identity.get(SETTINGS)
    return settings if isinstance(settings, Mapping) else {}


def _other_versions(study: StudyStore) -> Iterator[str]:
    """Yield each library of learners that has another version now than in the last run."""
    stored = study.runs[-1].get("versions", {}) if study.runs else {}
    for name in LEARNERS:
        then, now = stored.get(name), installed_version(name) or "none"
        if then not in (None, now):
            yield f"{name} {then} -> {now}"


def _find_registered(entry: StrategyEntry, study: StudyStore) -> MlautEstimator | None:
    """Return the strategy of MLaut with this name, tuned as one of the study's runs tuned it."""
    stored = {(str(run.get("search") or ""), str(run.get("budget") or "")) for run in study.runs}
    strategy = None
    for search, budget in sorted({("", ""), *stored}):
        try:
            tuned = tuned_as(as_strategies(entry.name), search, budget or None)
            strategy = as_stored(tuned, study)[0]
            if strategy_entries([strategy], study)[0].is_same(entry):
                break
        except MlautError:
            continue
    return strategy


def fitted_again(
    study: StudyStore,
    input_io: FilesIO,
    strategies: Sequence[MlautEstimator] | Mapping[str, bytes],
    cells: Sequence[Cell],
    engine: Engine,
    models: Path | None = None,
) -> Iterator[Outcome]:
    """Fit cells again, with seed, threads and settings of their run, and yield their outcomes.

    Parameters
    ----------
    study : StudyStore
    input_io : FilesIO
        Database of the datasets.
    strategies : sequence of MlautEstimator, or mapping of str to bytes
        Strategies of the cells; or their pickles by name, which this process does not load.
    cells : sequence of Cell
    engine : Engine
    models : Path, optional
        Folder in which fitted models are saved; default none is saved.
    """
    runs, entries = RunHistory(study), study.load_splits()
    settings = {entry.name: settings_of(entry) for entry in study.strategies}
    by_run: dict[tuple[int, int, str], list[Cell]] = {}
    first_names = {cell: runs.seeded_by(cell) for cell in cells}
    for cell in cells:
        session = json.dumps(settings[cell.strategy], sort_keys=True)
        key = first_names[cell][0], int(runs.run_of(cell).get("threads", 1)), session
        by_run.setdefault(key, []).append(cell)
    for (seed, threads, session), of_run in by_run.items():
        places: dict[tuple[str, str, tuple[str, str]], list[tuple[int, int]]] = {}
        for cell in of_run:
            group = cell.dataset, cell.strategy, first_names[cell][1]
            places.setdefault(group, []).append((cell.repeat, cell.fold))
        groups = (
            (entries[name], strategy, tuple(at)) for (name, strategy, _), at in places.items()
        )
        options = CellOptions(threads, models=models, settings=json.loads(session))
        batches = make_batches(groups, strategies, input_io.path, seed, options)
        seeded = (
            batch and replace(batch, first_names=names)
            for batch, (_, _, names) in zip(batches, places, strict=True)
        )
        for outcomes in engine.run(seeded):
            raise_if_unsaved(outcomes)
            yield from outcomes


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
    differ = int((before != outcome.predictions).reshape(len(before), -1).any(axis=1).sum())
    differences = [f"{differ} of {len(before)} predictions differ"] if differ else []
    if block.probabilities is not None and outcome.probabilities is not None:
        gap = np.abs(block.probabilities[s, cell.repeat, test] - outcome.probabilities).max()
        differences += [f"probabilities differ by up to {gap:.2g}"] if gap > 0 else []
    return ", ".join(differences)


class RunHistory:
    """Runs of a study: which one made a cell, and which versions have changed since."""

    def __init__(self, study: StudyStore) -> None:
        self._runs = sorted(study.runs, key=_began)
        self._began = [_began(run) for run in self._runs]
        started = USAGE.index("started")
        self._names, self._started, self._seeds = {}, {}, {}
        for name, self._names[name], numbers in study.numbers():
            self._started[name], self._seeds[name] = numbers["usage"][..., started], numbers["seed"]
        self._datasets = study.load_splits()
        self._strategies = {entry.name: entry for entry in study.strategies}
        self._now = describe_environment()

    def run_of(self, cell: Cell) -> Mapping[str, Any]:
        """Return the record of the last run that began before the cell did."""
        s = self._names[cell.dataset].index(cell.strategy)
        started = self._started[cell.dataset][s, cell.repeat, cell.fold]
        at = int(np.searchsorted(self._began, started, side="right")) - 1
        return self._runs[max(at, 0)] if self._runs else {}

    def seeded_by(self, cell: Cell) -> tuple[int, tuple[str, str]]:
        """Return what the stored seed of a cell is derived from: the seed of a run, and names.

        Names are those that dataset and strategy had when the cell was run. A seed that is derived
        from no run gives those of a new cell.
        """
        dataset, strategy = self._datasets[cell.dataset], self._strategies[cell.strategy]
        s = self._names[cell.dataset].index(cell.strategy)
        stored = int(self._seeds[cell.dataset][s, cell.repeat, cell.fold])
        of_run = int(self.run_of(cell).get("seed", 0))
        seeds = dict.fromkeys([of_run, *(int(run.get("seed", 0)) for run in self._runs)])
        found = origin_of_seed(stored, cell, seeds, dataset, strategy)
        return found or (of_run, (dataset.first_name, strategy.first_name))

    def changes(self, cell: Cell) -> dict[str, tuple[str, str]]:
        """Return the versions that differ between the run of a cell and now, as (then, now)."""
        then, now = _versions(self.run_of(cell)), _versions(self._now)
        others = ((name, installed_version(name)) for name in then if name not in now)
        now |= {name: version for name, version in others if version}
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


# ---------------------------------------------------------------------- models


def save_models(
    study: StudyStore,
    input_io: FilesIO,
    datasets: Sequence[str],
    strategies: Any,
    options: RunOptions,
    seed: int,
) -> int:
    """Fit the done cells that have no saved model again, and save their models.

    Parameters
    ----------
    study : StudyStore
    input_io : FilesIO
        Database of the datasets.
    datasets : sequence of str
        Names of the datasets.
    strategies : strategies or None
        Strategies as `mlaut.estimators.as_strategies` takes them; None takes those that come with
        MLaut.
    options : RunOptions
    seed : int
        Seed of the study, for the record of this run.

    Returns
    -------
    int
        Number of models that were saved.

    Raises
    ------
    StudyError
        Some cells now have other predictions than the stored ones. The models of the other cells
        are saved.
    """
    usable, _ = usable_strategies(study, strategies)
    names = [strategy.name for strategy in usable]
    stored = {
        Cell(dataset, record["strategy"], record["repeat"], record["fold"]): record
        for dataset, records in study.all_details(datasets, only=[Status.DONE])
        for record in records
        if "model" not in record and record["strategy"] in names
    }
    if not stored:
        return 0
    folder = models_folder(study.path).absolute()
    block = lru_cache(maxsize=4)(study.block)
    differ, saved = [], 0
    again = fitted_again(study, input_io, usable, list(stored), make_engine(options), folder)
    record = {**describe_environment(), **run_record(study, input_io.path, options, seed)}
    with study.writing({**record, "purpose": "models of cells that were done"}) as writer:
        prepare_models(folder)
        for outcome in again:
            beat(study.path)
            if what := difference(block(outcome.cell.dataset), outcome):
                differ.append(f"{outcome.cell}: {what}")
                if "model" in outcome.details:
                    model_path(folder, outcome.details["model"]).unlink(missing_ok=True)
            else:
                writer.write(_as_stored(outcome, stored[outcome.cell]))
                saved += 1
    if differ:
        raise StudyError(
            f"{study.path}: {len(differ)} cells now have other predictions than the stored ones, "
            f"so their models were not saved ({some_of(differ, 3)}); use the versions that the "
            "study was run with"
        )
    return saved


def _as_stored(outcome: Outcome, stored: Mapping[str, Any]) -> Outcome:
    """Return an outcome with the times and details that are stored, and its new model."""
    details = {key: value for key, value in stored.items() if key not in OF_OUTCOME}
    details["model"] = outcome.details["model"]
    return replace(outcome, seconds=tuple(stored["seconds"]), details=details)


def predict_again(
    study: StudyStore,
    input_io: FilesIO,
    splits: Mapping[str, SplitEntry],
    names: Sequence[str] | None,
    trusted: bool,
) -> pd.DataFrame:
    """Predict the test rows of every fold with the saved models (`Orchestrator.predict_all`).

    Parameters
    ----------
    study : StudyStore
    input_io : FilesIO
        Database of the datasets.
    splits : mapping of str to SplitEntry
        Datasets to predict, by name.
    names : sequence of str or None
        Names of the strategies; None takes all that have saved models.
    trusted : bool
        Whether to load pickled models.
    """
    folder, parts = models_folder(study.path), []
    settings = {entry.name: settings_of(entry) for entry in study.strategies}
    for entry in splits.values():
        details = study.details(entry.name)
        records = [r for r in details if "model" in r and (names is None or r["strategy"] in names)]
        if not records:
            continue
        dataset = input_io.load_dataset(entry.path)
        truth = dataset.labels.to_numpy()
        for record in records:
            model = read_saved(folder, record["model"], trusted=trusted)
            test = entry.split.rows(record["repeat"], record["fold"])[1]
            cell = {key: record[key] for key in ("dataset", "strategy", "repeat", "fold")}
            with in_session(settings.get(record["strategy"], {})):
                predicted = model.predict(take_rows(dataset.features, test))
            part = {**cell, "row": test}
            if entry.targets:
                for k, one in enumerate(entry.targets):
                    part |= {f"truth.{one}": truth[test, k], f"prediction.{one}": predicted[:, k]}
            else:
                part |= {"truth": truth[test], "prediction": predicted}
            parts.append(pd.DataFrame(part))
    if not parts:
        raise StudyError(
            f"{study.path}: no fitted models were saved; run with save_models=True, or call "
            "save_models with the same strategies to fit the cells that are done again"
        )
    return pd.concat(parts, ignore_index=True)
