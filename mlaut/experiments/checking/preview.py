"""Preview of a run (``mlaut plan``): the checks and the plan of ``mlaut run``, without changes."""

import contextlib
import os
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mlaut.data import Data
from mlaut.data.splits.resampling import parse_scheme
from mlaut.errors import DataError, MlautError, StudyError, some_of
from mlaut.experiments.engines.engine import LocalEngine
from mlaut.experiments.following.forecast import Forecast, make_forecast
from mlaut.experiments.options import RunOptions
from mlaut.experiments.plans.plan import Plan, plan_run
from mlaut.experiments.plans.run_options import collect, mistakes_in
from mlaut.experiments.plans.shards import check_shard
from mlaut.experiments.runs.trial import trial_fits
from mlaut.experiments.study_files import choices, study_file
from mlaut.files_io import FilesIO, StudyStore
from mlaut.helpers.markup import Displayed, counted
from mlaut.plugins.finding import the_plugin
from mlaut.records import TASKS, Analysis


@dataclass(frozen=True, eq=False, repr=False)
class Preview(Displayed):
    """Plan and forecast of a run.

    Attributes
    ----------
    study : Path
        Path of the study's database.
    plan : Plan
    forecast : Forecast
    repeated : mapping of str to tuple of int
        Number of rows that equal another row, and of all rows, for each dataset that has such
        rows: one of them may train and the other test in the same fold.
    failing : tuple of str
        A line for each dataset that cannot be split, and each strategy whose trial fit failed.
    """

    study: Path
    plan: Plan
    forecast: Forecast
    repeated: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    failing: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return {
            "study": str(self.study),
            "cells": self.plan.n_cells,
            "todo": self.plan.n_todo,
            "refusals": [str(refusal) for refusal in self.plan.refusals],
            "why": self.plan.why(),
            "repeated_rows": {name: repeated for name, (repeated, _) in self.repeated.items()},
            "failing": list(self.failing),
            "limits": self.plan.limits,
            "forecast": self.forecast.to_dict(),
        }

    def _lines(self) -> list[str]:
        plan = self.plan
        lines = [
            f"{self.study}: {counted(plan.n_cells, 'cell')}, {plan.before.n_done} done, "
            f"{plan.n_todo} to do",
            *(f"would be refused: {refusal}" for refusal in plan.refusals),
            *self.failing,
        ]
        lines += filter(None, (plan.versions, plan.limits))
        if not plan.n_todo:
            return lines
        if self.repeated:
            worst = sorted(self.repeated.items(), key=lambda item: -item[1][0] / item[1][1])
            texts = [f"{name} {few} of {rows}" for name, (few, rows) in worst]
            lines.append(
                "rows that equal another row, so that a fold may train and test on the same: "
                f"{some_of(texts, 5)}"
            )
        return [*lines, str(self.forecast)]

    def _rows(self) -> list[dict[str, Any]]:
        return self.plan.why()


Check = Callable[[study_file.StudyFile, Sequence[str], Collection[str]], None]


def plan_study(
    path: str | os.PathLike[str], *, check: Check | None = None, trial: bool = False, **changes: Any
) -> Preview:
    """Return what ``run_study`` would do and why, with its expected time and disk space.

    The Python file that ``[strategies]`` names is executed, as by ``run_study``.

    Parameters
    ----------
    path : path-like
        Path of the study file.
    check : callable, optional
        Further check, called with the study file, the names of the strategies and the tasks of
        the datasets. A `MlautError` that it raises is reported with the other mistakes.
    trial : bool, default False
        Whether to fit each strategy that has cells to do on a few rows, in a guarded process.
    **changes
        Keys of ``[run]`` that replace those of the file, for example ``retry=["timeout"]``.

    Returns
    -------
    Preview

    Raises
    ------
    StudyError
        The study file has mistakes; the message lists all of them.
    """
    file = study_file.read_study_file(path).changed(changes)
    run = file.run
    mistakes: list[MlautError] = []
    strategies = collect(mistakes, choices.choose_strategies, file) or ()
    names = [strategy.name for strategy in strategies]
    # Without strategies (a mistake that was found already), the words of retry are still checked.
    mistakes += mistakes_in(run, names or ["any"])
    for scheme in filter(None, (file.split.scheme, *file.split.datasets.values())):
        collect(mistakes, parse_scheme, scheme)
    study = StudyStore(file.output)
    stored = study.load_splits() if study.exists else {}
    with contextlib.ExitStack() as stack:
        data = collect(mistakes, lambda: stack.enter_context(_datasets(file)))
        infos = data[0].infos_of(data[1]) if data else ()
        tasks = {info.task for info in infos} if data else set(TASKS)
        if check is not None:
            collect(mistakes, check, file, names, tasks)
        if file.race is not None:
            collect(mistakes, lambda: the_plugin("races", "[race] is run").check_unrelated(infos))
        collect(mistakes, check_shard, study, run.shard, file.race is not None)
        if mistakes or data is None:
            raise study_file.together(file.path, mistakes)
        input_io, paths = data
        unusable: list[DataError] = []
        splits = Data().make_splits(
            input_io, paths, known=stored, unusable=unusable, **file.split.arguments
        )
        entries = {entry.name: entry for entry in splits}
        metric = (file.analysis or Analysis()).metric or file.report.metric
        plan = plan_run(study if stored else None, input_io, entries, strategies, run, metric)
        failing = trial_fits(plan, input_io.path, run) if trial and not plan.refusals else []
    n_workers = LocalEngine().of(RunOptions(n_jobs=run.n_jobs)).n_workers
    foreseen = make_forecast(plan, file.output, n_workers=n_workers, save_models=run.save_models)
    left_out = [str(error).replace(str(input_io.path), str(file.input)) for error in unusable]
    lines = [f"would be left out: {error}" for error in left_out]
    repeated = {
        info.name: (info.repeated_rows, info.n_rows) for info in infos if info.repeated_rows
    }
    return Preview(file.output, plan, foreseen, repeated, (*lines, *failing))


@contextlib.contextmanager
def _datasets(file: study_file.StudyFile) -> Iterator[tuple[FilesIO, list[str]]]:
    """Yield the datasets as a run would find them: it prepares them in a copy of the database."""
    if not choices.fills_input(file):
        yield choices.prepare_data(file)
        return
    may_change = file.data.folder or choices.files_of(file)
    if not may_change and (stored := _stored(file)):
        yield stored  # neither a collection nor a reference changes
        return
    with tempfile.TemporaryDirectory(prefix="mlaut-") as folder:
        copy = Path(folder, "input.h5")
        if file.input.exists():
            FilesIO(file.input).copy_to(copy)
        passing = replace(file, data=replace(file.data, input=str(copy)))
        try:
            prepared = choices.prepare_data(passing)
        except MlautError as error:
            raise type(error)(str(error).replace(str(copy), str(file.input))) from error
        yield prepared


def _stored(file: study_file.StudyFile) -> tuple[FilesIO, list[str]] | None:
    if not file.input.exists():
        return None
    input_io = FilesIO(file.input)
    try:
        return input_io, choices.chosen_datasets(file, input_io)
    except (DataError, StudyError):
        return None
