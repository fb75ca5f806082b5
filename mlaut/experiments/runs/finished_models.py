"""Save models of cells that are done, by fitting them again; predict with saved models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlaut.errors import StudyError
from mlaut.experiments.cells.saved_models import read_saved
from mlaut.experiments.plans.run_options import RunOptions
from mlaut.experiments.runs.execution import run_record
from mlaut.experiments.runs.refit import difference, fitted_again, usable_strategies
from mlaut.experiments.workers.environment import describe_environment
from mlaut.files_io import FilesIO, SplitEntry, Study
from mlaut.files_io.lock import beat
from mlaut.files_io.models import model_path, models_folder, prepare_models
from mlaut.files_io.study_records import outcome_arrays, record_outcome
from mlaut.records import Cell, Outcome, Status

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["predict_again", "save_models"]

_NAMED = 3  # greatest number of cells that an error message names


def save_models(
    study: Study,
    input_io: FilesIO,
    datasets: Sequence[str],
    strategies: Any,
    options: RunOptions,
    seed: int,
) -> int:
    """Fit the done cells that have no saved model again, and save their models.

    Parameters
    ----------
    study : Study
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
    stored = {
        cell: record
        for name in datasets
        for cell, record in _without_model(study, name, [one.name for one in usable])
    }
    if not stored:
        return 0
    folder = models_folder(study.path).absolute()
    block = lru_cache(maxsize=4)(study.block)
    differ, saved = [], 0
    again = fitted_again(study, input_io, usable, list(stored), options.make_engine(), folder)
    record = {**describe_environment(), **run_record(study, input_io.path, options, seed)}
    with study.writing({**record, "purpose": "models of cells that were done"}) as writer:
        prepare_models(folder)
        for outcome in again:
            beat(study.path)
            if what := difference(block(outcome.cell.dataset), outcome):
                differ.append(f"{outcome.cell}: {what}")
                _remove(folder, outcome)
            else:
                writer.write(_with_model(outcome, stored[outcome.cell]))
                saved += 1
    if differ:
        more = f" and {len(differ) - _NAMED} more" if len(differ) > _NAMED else ""
        raise StudyError(
            f"{study.path}: {len(differ)} cells now have other predictions than the stored ones, "
            f"so their models were not saved ({'; '.join(differ[:_NAMED])}{more}); use the "
            "versions that the study was run with"
        )
    return saved


def _without_model(
    study: Study, dataset: str, names: Sequence[str]
) -> Iterator[tuple[Cell, Mapping[str, Any]]]:
    for record in study.details(dataset):
        done = record["status"] == Status.DONE.word
        if done and "model" not in record and record["strategy"] in names:
            yield Cell(dataset, record["strategy"], record["repeat"], record["fold"]), record


def _with_model(outcome: Outcome, stored: Mapping[str, Any]) -> Outcome:
    """Return the stored outcome, with its stored times and details, and the new model."""
    return record_outcome({**stored, "model": outcome.details["model"]}, outcome_arrays(outcome))


def _remove(folder: Path, outcome: Outcome) -> None:
    """Remove the model of a cell whose predictions differ from the stored ones."""
    if "model" in outcome.details:
        model_path(folder, outcome.details["model"]).unlink(missing_ok=True)


def predict_again(
    study: Study,
    input_io: FilesIO,
    splits: Mapping[str, SplitEntry],
    names: Sequence[str] | None,
    trusted: bool,
) -> pd.DataFrame:
    """Predict the test rows of every fold with the saved models (`Orchestrator.predict_all`).

    Parameters
    ----------
    study : Study
    input_io : FilesIO
        Database of the datasets.
    splits : mapping of str to SplitEntry
        Datasets to predict, by name.
    names : sequence of str or None
        Names of the strategies; None takes all that have saved models.
    trusted : bool
        Whether to load pickled models.
    """
    import pandas as pd

    folder, parts = models_folder(study.path), []
    for entry in splits.values():
        records = [
            record
            for record in study.details(entry.name)
            if "model" in record and (names is None or record["strategy"] in names)
        ]
        if not records:
            continue
        dataset = input_io.load_dataset(entry.path)
        truth = dataset.labels.to_numpy()
        for record in records:
            model = read_saved(folder, record["model"], trusted=trusted)
            test = entry.split.rows(record["repeat"], record["fold"])[1]
            cell = {key: record[key] for key in ("dataset", "strategy", "repeat", "fold")}
            predicted = model.predict(dataset.features.iloc[test])
            part = {**cell, "row": test, "truth": truth[test], "prediction": predicted}
            parts.append(pd.DataFrame(part))
    if not parts:
        raise StudyError(
            f"{study.path}: no fitted models were saved; run with save_models=True, or call "
            "save_models with the same strategies to fit the cells that are done again"
        )
    return pd.concat(parts, ignore_index=True)
