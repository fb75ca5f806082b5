"""Verification of studies: structure, checksums, seeds, datasets, and cells fitted again."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mlaut.data.splits.targets import encode_target
from mlaut.errors import MlautError, StoreError, StudyError
from mlaut.experiments.cells.cell_input import origin_of_seed
from mlaut.experiments.following.status import JOURNAL_LEFT
from mlaut.experiments.options import RunOptions
from mlaut.experiments.plans.ledger import count_cells, counts_text, counts_words
from mlaut.experiments.study_files.choices import choose_strategies
from mlaut.experiments.study_files.study_file import read_study_file
from mlaut.files_io import FilesIO, SplitEntry, StudyStore
from mlaut.files_io.kinds import Kind, kind_of
from mlaut.files_io.outcomes.study_records import foreign_sources
from mlaut.files_io.studies.study_checks import journal_problems, problems_of, remains_of
from mlaut.helpers.markup import Displayed, counted
from mlaut.records import Cell, Dataset, Status

if TYPE_CHECKING:
    from mlaut.estimators import MlautEstimator
    from mlaut.experiments.engines.engine import Engine

_UNCHECKED = "the datasets were not checked"


@dataclass(frozen=True)
class Drift:
    """Cell whose predictions differ from the stored ones when it is fitted again.

    Attributes
    ----------
    cell : Cell
    what : str
        Number of predictions that differ, and the largest difference of the probabilities; or the
        reason of a failure.
    versions : mapping of str to (str, str)
        Differences between the run that made the cell and the present environment: for each
        package, Python or processor, its version then and now.
    """

    cell: Cell
    what: str
    versions: Mapping[str, tuple[str, str]]

    def __str__(self) -> str:
        changes = [f"{name} {then} -> {now}" for name, (then, now) in self.versions.items()]
        versions = ", ".join(changes)
        return f"{self.cell}: {self.what}; {versions or 'all versions are the same'}"


@dataclass(frozen=True, eq=False, repr=False)
class Verification(Displayed):
    """Result of a verification.

    Attributes
    ----------
    path : Path
        Path of the checked file.
    datasets : int
        Number of datasets.
    counts : mapping of Status to int
        Number of cells by status, over the datasets that can be read.
    problems : tuple of (str, str)
        Place and description of each problem.
    unsettled : bool
        Whether an interrupted run left a journal; the next run merges it into the study.
    refitted : int
        Number of cells that were fitted again.
    drifts : tuple of Drift
        Cells whose predictions differ from the stored ones.
    left_out : tuple of str
        Strategies whose cells could not be fitted again, with the reason.
    remains : tuple of str
        What killed writers or damage left beside the study, one line each.
    unchecked : str
        What was not checked, and why: datasets at a recorded path outside the study's folder, or a
        file without study and datasets.
    """

    path: Path
    datasets: int
    counts: Mapping[Status, int]
    problems: tuple[tuple[str, str], ...]
    unsettled: bool = False
    refitted: int = 0
    drifts: tuple[Drift, ...] = ()
    left_out: tuple[str, ...] = ()
    remains: tuple[str, ...] = ()
    unchecked: str = ""

    @property
    def ok(self) -> bool:
        """Return whether the verification found no problem and no drift."""
        return not self.problems and not self.drifts

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return {
            "study": str(self.path),
            "ok": self.ok,
            "datasets": self.datasets,
            "unsettled": self.unsettled,
            "remains": list(self.remains),
            "cells": counts_words(self.counts),
            "problems": [list(problem) for problem in self.problems],
            "refitted": self.refitted,
            "drifts": [
                {"cell": str(d.cell), "what": d.what, "versions": dict(d.versions)}
                for d in self.drifts
            ],
            "left_out": list(self.left_out),
            "unchecked": self.unchecked,
        }

    def _lines(self) -> list[str]:
        cells = counts_text(self.counts)
        cells = f", {counted(sum(self.counts.values()), 'cell')}: {cells}" if cells else ""
        lines = [f"{self.path}: {counted(self.datasets, 'dataset')}{cells}"]
        lines += [f"  {where}: {what}" for where, what in self.problems]
        if not self.problems:
            lines.append("  no problem found in structure and content")
        if self.unsettled:
            lines.append(f"  {JOURNAL_LEFT}")
        lines += [f"  {line}" for line in self.remains]
        if self.unchecked:
            lines.append(f"  {self.unchecked}")
        if self.refitted:
            others = f"{len(self.drifts)} gave other results" if self.drifts else "all as stored"
            lines.append(f"  {counted(self.refitted, 'cell')} fitted again, {others}")
        lines += [f"  {drift}" for drift in self.drifts]
        return [*lines, *(f"  not fitted again: {reason}" for reason in self.left_out)]


def verify_study(
    path: str | os.PathLike[str],
    *,
    refit: str | float = 0.0,
    strategies: Any = None,
    hdf5_input_io: FilesIO | None = None,
    engine: str | Engine = "local",
    n_jobs: int | None = -1,
    seed: int = 0,
) -> Verification:
    """Check the structure, checksums, seeds and datasets of a study; fit some cells again.

    Parameters
    ----------
    path : path-like
        Path of a study's database, of a study file, or of a database of datasets.
    refit : str or float, default 0
        Share of the done cells to fit again, drawn at random: ``"1%"`` or ``0.01``.
    strategies : strategies, optional
        Strategies to fit cells with, as ``Orchestrator.run`` takes them; default those of the
        study file, or those that come with MLaut and have the stored name and parameters.
    hdf5_input_io : FilesIO, optional
        Database of the datasets; default the one of the last run, if it is inside the folder of
        the study.
    engine, n_jobs
        Where cells are fitted again, as for ``Orchestrator.run``.
    seed : int, default 0
        Random seed of the sample of cells.

    Returns
    -------
    Verification

    Raises
    ------
    StoreError
        There is no such file.
    StudyError
        Cells are to be fitted again, and the datasets or the strategies are not available.
    """
    path, share, source = Path(os.path.expanduser(path)), _share(refit), ""
    database: Path | None = None
    if kind_of(path) is Kind.STUDY_FILE:
        file = read_study_file(path)
        if strategies is None:
            strategies = choose_strategies(file)
            source = file.strategies.file or path.name
        database = file.input if file.input.exists() else None
        path = file.output
    if not path.exists():  # a misspelt name is no problem of a study
        raise StoreError(f"{path}: no such file; check the path")
    study = StudyStore(path)
    problems = list(problems_of(study))
    if any(where == "study" for where, _ in problems):
        is_input = False
        with contextlib.suppress(MlautError):
            is_input = path.exists() and not study.exists
        return _verify_input(path) if is_input else Verification(path, 0, {}, tuple(problems))
    unchecked = ""
    if hdf5_input_io is None and database is None:
        database, why = recorded_input(study)
        if why:
            unchecked = f"{_UNCHECKED}: {why}; name them with --input (hdf5_input_io)"
    if hdf5_input_io is None and database is not None:
        try:
            hdf5_input_io = FilesIO(database)
        except MlautError as error:  # the study is checked all the same
            problems.append(("datasets", str(error)))
    blamed = {where for where, _ in problems}
    names = [name for name in study.datasets if f"dataset {name!r}" not in blamed]
    problems += [("journal", line) for line in journal_problems(study)]
    seeds = [(name, held, x["status"], x["seed"]) for name, held, x in study.numbers(names)]
    problems += _seed_problems(study, seeds)
    if hdf5_input_io is not None:
        problems += _dataset_problems(study, names, hdf5_input_io)
    checked = Verification(
        path,
        len(study.datasets),
        count_cells({name: (held, status) for name, held, status, _ in seeds}).total,
        tuple(problems),
        study.journal_path.exists(),
        remains=remains_of(study),
        unchecked=unchecked,
    )
    if not share or problems or not checked.counts.get(Status.DONE):
        return checked
    if hdf5_input_io is None:
        raise StudyError(f"{path}: fitting cells again needs the datasets; name their database")
    from mlaut.experiments.engines.engine import make_engine
    from mlaut.experiments.runs.refit import usable_strategies

    usable, left_out = usable_strategies(study, strategies, source)
    options = RunOptions(engine=engine, n_jobs=n_jobs)
    cells = _sample(study, [strategy.name for strategy in usable], share, seed)
    drifts = _refit(study, hdf5_input_io, usable, cells, make_engine(options))
    return replace(checked, refitted=len(cells), drifts=tuple(drifts), left_out=tuple(left_out))


def _share(text: str | float) -> float:
    """Return a share of cells as a number from 0 to 1.

    Examples
    --------
    >>> _share("1%"), _share("0.5"), _share(0)
    (0.01, 0.5, 0.0)
    """
    number = str(text).strip()
    try:
        share = float(number.rstrip("%")) / (100 if number.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise StudyError(f"refit {text!r}: not a share of the cells; write '1%' or 0.01")
    return share


# -------------------------------------------------------------- seeds and data


def _verify_input(path: Path) -> Verification:
    """Check a database of datasets: each must match its stored fingerprint."""
    input_io, problems = FilesIO(path), []
    paths = input_io.list_datasets()[1]
    with input_io.loading() as load:
        for dataset in paths:
            try:
                load(dataset)
            except MlautError as error:
                problems.append((f"dataset {dataset!r}", str(error)))
    unchecked = "" if paths else "nothing was checked: the file holds no study and no dataset"
    return Verification(path, len(paths), {}, tuple(problems), unchecked=unchecked)


def _seed_problems(
    study: StudyStore, stored: Sequence[tuple[str, tuple[str, ...], np.ndarray, np.ndarray]]
) -> Iterator[tuple[str, str]]:
    """Yield a problem for each cell whose seed is not derived from its key and a run's seed."""
    seeds = {run["seed"] for run in study.runs if isinstance(run.get("seed"), int)}
    if not seeds:
        return
    foreign = foreign_sources(study.strategies)  # no run derived their seeds
    entries = {entry.name: entry for entry in study.strategies}
    splits = {entry.name: entry for entry in study.splits_of(name for name, *_ in stored)}
    for dataset, strategies, status, of_cells in stored:
        for s, repeat, fold in np.argwhere(status == Status.DONE).tolist():
            cell = Cell(dataset, strategies[s], repeat, fold)
            if cell.strategy in foreign:
                continue
            seed = int(of_cells[s, repeat, fold])
            if not origin_of_seed(seed, cell, seeds, splits[dataset], entries[cell.strategy]):
                yield f"dataset {cell.dataset!r}", f"{cell}: its seed does not follow from its key"


def recorded_input(study: StudyStore) -> tuple[Path | None, str]:
    """Return the database of the last run that exists, or the reason why it is not opened.

    A study may come from an untrusted source, so a path that it records is opened only if it lies
    inside the folder of the study.
    """
    outside, folder = "", study.path.parent.resolve()
    for run in reversed(study.runs):
        name = run.get("input", "")
        path = folder / name
        if not name or not path.is_file():
            continue
        if path.resolve().is_relative_to(folder):
            return path, ""
        outside = outside or name
    if not outside:
        return None, ""
    return None, (
        f"the study records that its datasets are in {outside}, outside its folder, and such a "
        "path is not opened"
    )


def _dataset_problems(
    study: StudyStore, names: Sequence[str], input_io: FilesIO
) -> Iterator[tuple[str, str]]:
    """Yield a problem for each dataset that differs from the one that was split."""
    with input_io.loading() as load:
        for name, entry in zip(names, study.splits_of(names), strict=True):
            if problem := _dataset_problem(load, entry, input_io.path):
                yield f"dataset {name!r}", problem


def _dataset_problem(load: Callable[[str], Dataset], entry: SplitEntry, path: Path) -> str:
    """Return how a dataset differs from the one that was split; empty if it does not."""
    try:
        dataset = load(entry.path)
        truth, classes = encode_target(dataset.labels, dataset.task)
    except MlautError as error:
        return str(error)
    if dataset.fingerprint != entry.fingerprint:
        return f"{path} has other content under {entry.path}"
    if classes != entry.classes or not np.array_equal(truth, entry.truth):
        return "its truth is not the target of its dataset"
    return ""


# ---------------------------------------------------------------- fitting again


def _sample(study: StudyStore, names: Sequence[str], share: float, seed: int) -> list[Cell]:
    """Draw a sample of the done cells, at least one."""
    done = [cell for cell in study.cells(Status.DONE) if cell.strategy in names]
    size = min(len(done), max(1, round(share * len(done))))
    chosen = np.sort(np.random.default_rng(seed).choice(len(done), size, replace=False))
    return [done[number] for number in chosen.tolist()]


def _refit(
    study: StudyStore,
    input_io: FilesIO,
    strategies: Sequence[MlautEstimator],
    cells: Sequence[Cell],
    engine: Engine,
) -> Iterator[Drift]:
    """Fit cells again, and yield those whose predictions differ from the stored ones."""
    from mlaut.experiments.runs.refit import RunHistory, difference, fitted_again

    runs, block = RunHistory(study), lru_cache(maxsize=4)(study.block)
    for outcome in fitted_again(study, input_io, strategies, cells, engine):
        if what := difference(block(outcome.cell.dataset), outcome):
            yield Drift(outcome.cell, what, runs.changes(outcome.cell))
