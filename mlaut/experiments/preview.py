"""What ``mlaut run`` would do with a study file: the same look at everything, and no change."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mlaut.data import Data
from mlaut.errors import DataError, StudyError
from mlaut.experiments.engines import LocalEngine, make_engine
from mlaut.experiments.entries import strategy_entries
from mlaut.experiments.forecast import Forecast, make_forecast
from mlaut.experiments.limits import too_large
from mlaut.experiments.plan import Plan, applicable, make_plan, parse_retry
from mlaut.experiments.study_file import (
    StudyFile,
    choose_strategies,
    chosen_datasets,
    fills_input,
    prepare_data,
    read_study_file,
)
from mlaut.files_io import FilesIO, Study
from mlaut.markup import table_html
from mlaut.records import Status

__all__ = ["Preview", "plan_study"]


@dataclass(frozen=True, eq=False, repr=False)
class Preview:
    """What a run would do.

    Attributes
    ----------
    study : Path
    plan : Plan
    forecast : Forecast
    """

    study: Path
    plan: Plan
    forecast: Forecast

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain JSON values."""
        return {
            "study": str(self.study),
            "cells": self.plan.n_cells,
            "todo": self.plan.n_todo,
            "refusals": [str(refusal) for refusal in self.plan.refusals],
            "why": self.plan.why(),
            "forecast": self.forecast.to_dict(),
        }

    def __str__(self) -> str:
        done = self.plan.counts()[Status.DONE]
        lines = [
            f"{self.study}: {self.plan.n_cells} cells, {done} done, {self.plan.n_todo} to do",
            *(f"would be refused: {refusal}" for refusal in self.plan.refusals),
        ]
        return "\n".join([*lines, str(self.forecast)] if self.plan.n_todo else lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return table_html(str(self), self.plan.why())


def plan_study(path: str | os.PathLike[str], **changes: Any) -> Preview:
    """Say what ``run_study`` would do, and why, how long it would take, and how much room.

    Parameters
    ----------
    path : path-like
        The study file.
    **changes
        Keys of ``[run]`` that differ from the file, for example ``retry=["timeout"]``.

    Returns
    -------
    Preview
    """
    file = read_study_file(path)
    run = replace(file.run, **changes)
    strategies = choose_strategies(file)
    study = Study(file.output)
    known = study.load_splits() if study.exists else {}
    with _datasets(file) as (input_io, paths):
        splits = Data().make_splits(input_io, paths, known=known, **vars(file.split))
        entries = {entry.name: entry for entry in splits}
        wanted = applicable(splits, strategies)
        again = parse_retry(run.retry, [strategy.name for strategy in strategies])
        large = too_large(input_io, entries, wanted, strategies, again) if run.limits else None
    plan = make_plan(
        study if known else None,
        wanted,
        again,
        entries=entries,
        strategies=strategy_entries(strategies, study if known else None),
        replace=run.overwrite_predictions,
        too_large=large,
    )
    engine = make_engine("local", run.n_jobs)
    n_workers = engine.n_workers if isinstance(engine, LocalEngine) else 1
    foreseen = make_forecast(plan, file.output, n_workers=n_workers, save_models=run.save_models)
    return Preview(file.output, plan, foreseen)


@contextlib.contextmanager
def _datasets(file: StudyFile) -> Iterator[tuple[FilesIO, list[str]]]:
    """Give the datasets as a run would find them; those not stored yet from a passing database."""
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
