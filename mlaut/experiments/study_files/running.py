"""Run of a study file, as of ``mlaut run study.toml``."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mlaut import files_io
from mlaut.errors import StudyError, StudyLockedError
from mlaut.experiments.study_files.choices import choose_strategies, prepare_data
from mlaut.experiments.study_files.splits import split_told
from mlaut.experiments.study_files.study_file import StudyFile, read_study_file

if TYPE_CHECKING:
    from mlaut.experiments.plans.races import MakeRace
    from mlaut.experiments.runs.summary import RunSummary

Seal = Callable[["files_io.StudyStore", Sequence[str], Collection[str], Mapping[str, str]], object]

_PATIENCE = 600.0  # seconds to wait for another shard that loads the datasets, as it may download
_PAUSE = 0.5  # seconds between two tries


def run_study(
    path: str | os.PathLike[str] | StudyFile,
    *,
    verbose: int = 1,
    race: MakeRace | None = None,
    complete: bool = False,
    seal: Seal | None = None,
    trial: bool = False,
    **changes: Any,
) -> RunSummary:
    """Run or resume a study file: prepare datasets and splits, then run the cells not yet done.

    Parameters
    ----------
    path : path-like or StudyFile
        Path of the study file, or what `read_study_file` returned.
    verbose : int, default 1
        0 shows nothing, 1 the progress, 2 also each failure.
    race : callable, optional
        Function that begins the race of ``[race]``, as `mlaut_races.make_race` returns it.
    complete : bool, default False
        Whether to run all cells of a study that is a race.
    seal : callable, optional
        Function that stores the analysis of the study file. It is called before the run with the
        study, the names of the strategies, and the tasks and sources of the datasets.
    trial : bool, default False
        Whether each strategy is first fitted on a few rows (`Orchestrator.run`).
    **changes
        Keys of ``[run]`` and ``[tuning]`` that replace those of the file, for example ``n_jobs=2``;
        ``analysis`` is a mapping of those of ``[analysis]``.

    Returns
    -------
    RunSummary

    Raises
    ------
    MlautError
        The study cannot be run; no cell has run.
    RunInterrupted
        A signal stopped the run; the same call resumes it.
    """
    from mlaut.experiments.workers.server import fork_server, start_server

    file = path if isinstance(path, StudyFile) else read_study_file(path)
    file = file.changed(changes)
    start_server(file.output, file.run.engine)
    from mlaut.experiments.runs.done_before import named_before, names_alone, nothing_to_do
    from mlaut.files_io.tables.datasets import clusters_of

    if file.race is not None and race is None and not complete:
        raise StudyError(
            f"{file.path}: a study with [race] is run as a race; call mlaut_races.run_race, or "
            "'mlaut run'"
        )
    special = race is not None or complete or file.strategies.parameters or file.strategies.file
    given = [] if special else names_alone(list(file.strategies.names))
    tasks = named_before(files_io.StudyStore(file.output), given, vars(file.run)) if given else {}
    if not tasks and file.run.engine == "local":
        fork_server()
    strategies = () if tasks else choose_strategies(file)
    input_io, paths = _prepare_patiently(file) if file.run.shard else prepare_data(file)
    out_io = files_io.FilesIO(file.output, "a")
    names = split_told(input_io, out_io, paths, **file.split.arguments)
    if seal is not None:
        infos = input_io.infos_of(paths)
        of_data, clusters = {info.task for info in infos}, clusters_of(infos)
        own = list(tasks) or [strategy.name for strategy in strategies]
        seal(files_io.StudyStore(out_io.path), own, of_data, clusters)
    if tasks and (found := nothing_to_do(files_io.StudyStore(out_io.path), input_io, tasks, names)):
        return found
    from mlaut.experiments.runs.orchestrator import Orchestrator

    orchestrator = Orchestrator(input_io, out_io, names, seed=file.study.seed)
    options = {**vars(file.run), "trial": trial}
    with contextlib.ExitStack() as stack:
        if (file.run.engine, file.run.scheduler) == ("dask", "slurm"):
            from mlaut.experiments.engines.engine import engine_called

            on_slurm = engine_called("dask").on_slurm
            engine = stack.enter_context(on_slurm(file.slurm, file.output))
            options |= {"engine": engine, "scheduler": None}
        how: dict[str, Any] = {"verbose": verbose, "race": race, "complete": complete}
        return orchestrator.run(given or strategies, **how, **options)


def _prepare_patiently(file: StudyFile) -> tuple[files_io.FilesIO, list[str]]:
    """Prepare the datasets; other shards, which begin at the same time, may be loading them."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return prepare_data(file)
        except StudyLockedError:
            if time.monotonic() > until:
                raise
            time.sleep(_PAUSE)
