"""Preview of a run (``mlaut plan``): the checks and the plan of ``mlaut run``, without changes."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mlaut.data import Data
from mlaut.data.resampling import parse_scheme
from mlaut.errors import DataError, MlautError, StudyError
from mlaut.experiments.engines.engine import LocalEngine, make_engine
from mlaut.experiments.forecast import Forecast, make_forecast
from mlaut.experiments.plans.plan import Plan, plan_run
from mlaut.experiments.plans.run_options import collect
from mlaut.experiments.study_file import (
    StudyFile,
    choose_strategies,
    chosen_datasets,
    fills_input,
    prepare_data,
    read_study_file,
    together,
)
from mlaut.files_io import FilesIO, Study
from mlaut.markup import Displayed
from mlaut.records import TASKS

__all__ = ["Preview", "plan_study"]


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
    """

    study: Path
    plan: Plan
    forecast: Forecast
    repeated: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return {
            "study": str(self.study),
            "cells": self.plan.n_cells,
            "todo": self.plan.n_todo,
            "refusals": [str(refusal) for refusal in self.plan.refusals],
            "why": self.plan.why(),
            "repeated_rows": {name: repeated for name, (repeated, _) in self.repeated.items()},
            "forecast": self.forecast.to_dict(),
        }

    def _lines(self) -> list[str]:
        plan = self.plan
        lines = [
            f"{self.study}: {plan.n_cells} cells, {plan.before.n_done} done, {plan.n_todo} to do",
            *(f"would be refused: {refusal}" for refusal in plan.refusals),
        ]
        if not plan.n_todo:
            return lines
        if self.repeated:
            worst = sorted(self.repeated.items(), key=lambda one: -one[1][0] / one[1][1])
            some = [f"{name} {few} of {rows}" for name, (few, rows) in worst]
            more = f", and {len(some) - 5} more datasets" if len(some) > 5 else ""
            lines.append(
                "rows that equal another row, so that a fold may train and test on the same: "
                f"{', '.join(some[:5])}{more}"
            )
        return [*lines, str(self.forecast)]

    def _rows(self) -> list[dict[str, Any]]:
        return self.plan.why()


Check = Callable[[StudyFile, Sequence[str], Collection[str]], None]


def plan_study(
    path: str | os.PathLike[str], *, check: Check | None = None, **changes: Any
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
    file = read_study_file(path).changed(changes)
    run = file.run
    found: list[MlautError] = []
    strategies = collect(found, choose_strategies, file) or ()
    names = [strategy.name for strategy in strategies]
    # Without strategies (a mistake that was found already), the words of retry are still checked.
    found += run.mistakes(names or ["any"])
    if file.split.scheme:
        collect(found, parse_scheme, file.split.scheme)
    study = Study(file.output)
    known = study.load_splits() if study.exists else {}
    with contextlib.ExitStack() as stack:
        data = collect(found, lambda: stack.enter_context(_datasets(file)))
        infos = data[0].infos_of(data[1]) if data else ()
        tasks = {info.task for info in infos} if data else set(TASKS)
        if check is not None:
            collect(found, check, file, names, tasks)
        if found or data is None:
            raise together(file.path, found)
        input_io, paths = data
        splits = Data().make_splits(input_io, paths, known=known, **vars(file.split))
        entries = {entry.name: entry for entry in splits}
        plan = plan_run(study if known else None, input_io, entries, strategies, run)
    engine = make_engine("local", run.n_jobs)
    n_workers = engine.n_workers if isinstance(engine, LocalEngine) else 1
    foreseen = make_forecast(plan, file.output, n_workers=n_workers, save_models=run.save_models)
    repeated = {
        info.name: (info.repeated_rows, info.n_rows) for info in infos if info.repeated_rows
    }
    return Preview(file.output, plan, foreseen, repeated)


@contextlib.contextmanager
def _datasets(file: StudyFile) -> Iterator[tuple[FilesIO, list[str]]]:
    """Yield the datasets as a run would find them; new ones are loaded into a temporary file."""
    if not fills_input(file):
        yield prepare_data(file)
        return
    if stored := _stored(file):
        yield stored
        return
    with tempfile.TemporaryDirectory(prefix="mlaut-") as folder:
        passing = replace(file.data, input=str(Path(folder, "input.h5")))
        yield prepare_data(replace(file, data=passing))


def _stored(file: StudyFile) -> tuple[FilesIO, list[str]] | None:
    if not file.input.exists():
        return None
    input_io = FilesIO(file.input)
    try:
        return input_io, chosen_datasets(file, input_io)
    except (DataError, StudyError):
        return None
