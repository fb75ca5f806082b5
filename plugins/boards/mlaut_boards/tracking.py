"""Studies as runs of the experiment tracker MLflow."""

import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mlaut.analysis import Results
from mlaut.analysis import metric as find_metric
from mlaut.errors import AnalysisError
from mlaut.files_io import StudyStore
from mlaut.plugins import DEFAULT_METRICS, Chosen, need
from mlaut.records import TASKS, Status

_MOST = 500  # characters of a parameter, which MLflow accepts
_SECONDS = ("tuning seconds", "fitting seconds", "predicting seconds")


@dataclass(frozen=True)
class TrackedRun:
    """One strategy on one dataset, as MLflow stores it.

    Attributes
    ----------
    strategy, dataset : str
    parameters : mapping of str to str
        Chosen parameters; where folds chose different ones, those of each as ``name/REPEAT.FOLD``.
    numbers : mapping of str to float
        Mean score, cells that are done and that failed, mean seconds of a done cell.
    steps : tuple of (str, int, float)
        Score of each test set, by its number.
    tags : mapping of str to str
        Study, metric, seed and reasons of failures.
    begun, ended : float
        POSIX seconds; NaN where they are not known.
    """

    strategy: str
    dataset: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)
    steps: tuple[tuple[str, int, float], ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    begun: float = math.nan
    ended: float = math.nan

    @property
    def name(self) -> str:
        """Name of the run."""
        return f"{self.strategy} on {self.dataset}"

    @property
    def failed(self) -> bool:
        """Return whether a cell failed."""
        return self.numbers["failed cells"] > 0


def tracked_runs(study: StudyStore, metric: str = "") -> Iterator[TrackedRun]:
    """Yield a run for each strategy and dataset of which a cell has an outcome.

    Parameters
    ----------
    study : Study
    metric : str, optional
        Default that of the study's analysis, or accuracy or R2 by the task.

    Raises
    ------
    AnalysisError
        The study has no cell that is done, or its tasks have no common metric.
    """
    results = Results.from_study(study, find_metric(metric or _metric_of(study)))
    name = results.metric.name
    place = {dataset: d for d, dataset in enumerate(results.datasets)}
    for dataset, records in study.all_details():
        for s, strategy in enumerate(results.strategies):
            own = [record for record in records if record["strategy"] == strategy]
            if not own or dataset not in place:
                continue
            scores = results.cells[place[dataset], s].ravel()
            steps = np.flatnonzero(~np.isnan(scores)).tolist()
            numbers = {f"mean {name}": float(scores[steps].mean())} if steps else {}
            done = [record for record in own if record["status"] == "done"]
            failed = sum(Status.of_word(record["status"]).failed for record in own)
            numbers |= {"done cells": len(done), "failed cells": failed}
            if done:
                seconds = np.array([record["seconds"] for record in done], dtype=float).mean(axis=0)
                numbers |= dict(zip(_SECONDS, seconds.tolist(), strict=True))
            begun = [record.get("started", math.nan) for record in own]
            ends = [record.get("started", math.nan) + record.get("elapsed", 0.0) for record in own]
            yield TrackedRun(
                strategy=strategy,
                dataset=dataset,
                parameters=_parameters(done),
                numbers={key: float(x) for key, x in numbers.items() if math.isfinite(x)},
                steps=tuple((name, step, float(scores[step])) for step in steps),
                tags={
                    "mlaut.study": study.id,
                    "mlaut.metric": name,
                    "mlaut.cells": f"{len(done)} of {len(own)}",
                    **{
                        f"mlaut.{record['status']}": record["reason"][:_MOST]
                        for record in own
                        if record["status"] != "done"
                    },
                },
                begun=min(begun),
                ended=max(ends),
            )


def _metric_of(study: StudyStore) -> str:
    chosen = Chosen.of(study)
    if chosen is not None and chosen.analysis.metric:
        return chosen.analysis.metric
    tasks = {study.load_split(dataset).task for dataset in study.datasets}
    if len(tasks) != 1:
        raise AnalysisError(f"{study.path}: has the tasks {' and '.join(TASKS)}: name a metric")
    return DEFAULT_METRICS[tasks.pop()]


def _parameters(done: list[dict[str, Any]]) -> dict[str, str]:
    """Return the chosen parameters as text, once where all folds chose the same."""
    chosen = {(r["repeat"], r["fold"]): r.get("best_params") or {} for r in done}
    shown: dict[str, str] = {}
    for name in dict.fromkeys(key for choice in chosen.values() for key in choice):
        values = {at: _text(choice.get(name)) for at, choice in chosen.items()}
        if len(set(values.values())) == 1:
            shown[name] = next(iter(values.values()))
        else:
            shown |= {f"{name}/{r}.{f}": value for (r, f), value in values.items()}
    return shown


def _text(value: Any) -> str:
    return (value if isinstance(value, str) else json.dumps(value))[:_MOST]


def to_mlflow(study: StudyStore, place: str, *, metric: str = "", experiment: str = "") -> int:
    """Write a study into MLflow: a run for each strategy and dataset; return how many were new.

    A run that MLflow has with the same cells stays, and one with other cells is replaced. So the
    call may be repeated while the study grows.

    Parameters
    ----------
    study : Study
    place : str
        File of a database (``mlflow.db``), folder, or address of a tracking server.
    metric : str, optional
        As for `tracked_runs`.
    experiment : str, optional
        Name of the experiment; default that of the study's file.

    Raises
    ------
    OptionalPackageError
        MLflow is not installed.
    AnalysisError
        As for `tracked_runs`.
    """
    need("mlflow", extra="mlflow", purpose="The export to MLflow")
    # A folder is refused by MLflow 3.7 and later without this word; here the caller named it.
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException

    runs = tracked_runs(study, metric)
    try:
        client = MlflowClient(tracking_uri=_address(place))
        title = experiment or study.path.stem
        stored = client.get_experiment_by_name(title)
        where = stored.experiment_id if stored is not None else client.create_experiment(title)
        return _write_mlflow(client, where, runs, _known_to_mlflow(client, where, study.id))
    except (MlflowException, ImportError) as error:  # a database needs SQLAlchemy
        text = " ".join(str(error).split())
        raise AnalysisError(f"MLflow cannot store the runs in {place}: {text}") from error


def _address(place: str) -> str:
    """Return the address of a tracking server, a database file or a folder."""
    if "://" in place:
        return place
    path = Path(place).resolve()
    return f"sqlite:///{path}" if path.suffix == ".db" else path.as_uri()


def _write_mlflow(
    client: Any,
    where: str,
    runs: Iterable[TrackedRun],
    stored: Mapping[tuple[str, str], tuple[str, str]],
) -> int:
    """Write the runs that MLflow lacks, or has with other cells; return their number."""
    from mlflow.entities import Metric, Param, RunTag

    written = 0
    for run in runs:
        old, same = stored.get((run.name, run.tags["mlaut.metric"]), (None, ""))
        if same == run.tags["mlaut.cells"]:
            continue
        if old is not None:
            client.delete_run(old)
        begun, ended = (
            None if math.isnan(at) else round(1000 * at) for at in (run.begun, run.ended)
        )
        tags = {**run.tags, "strategy": run.strategy, "dataset": run.dataset}
        cells = tags.pop("mlaut.cells")  # stored last: a run without it is not complete
        info = client.create_run(where, start_time=begun, tags=tags, run_name=run.name).info
        at = ended or 0
        numbers = [(key.replace(" ", "_"), 0, x) for key, x in run.numbers.items()]
        numbers += [(f"{key}_by_fold", step, x) for key, step, x in run.steps]
        client.log_batch(
            info.run_id,
            metrics=[Metric(_key(key), x, at, step) for key, step, x in numbers],
            params=[Param(_key(key), text) for key, text in run.parameters.items()],
            tags=[RunTag("mlaut.cells", cells)],
        )
        client.set_terminated(info.run_id, "FAILED" if run.failed else "FINISHED", end_time=ended)
        written += 1
    return written


def _key(name: str) -> str:
    """Return a name with the signs that MLflow allows."""
    return re.sub(r"[^\w\-. :/]", "_", name)


def _known_to_mlflow(client: Any, where: str, study: str) -> dict[tuple[str, str], tuple[str, str]]:
    """Return the runs of a study that MLflow has, by name and metric: id and cells."""
    stored, token = {}, None
    while True:
        page = client.search_runs([where], f"tags.`mlaut.study` = '{study}'", page_token=token)
        for run in page:
            tags = run.data.tags
            key = run.info.run_name, tags.get("mlaut.metric", "")
            stored[key] = run.info.run_id, tags.get("mlaut.cells", "")
        token = page.token
        if not token:
            return stored
