"""The run: every strategy on every fold of every dataset, minus what is done already."""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mlaut.errors import RunInterrupted, StudyError
from mlaut.estimators import MlautEstimator, as_strategies
from mlaut.experiments.batches import make_batches
from mlaut.experiments.cell import CellOptions
from mlaut.experiments.cell_memory import check_memory_can_be_limited, parse_bytes, parse_seconds
from mlaut.experiments.engines import Engine, make_engine
from mlaut.experiments.entries import strategy_entries
from mlaut.experiments.environment import describe_environment
from mlaut.experiments.plan import (
    Plan,
    applicable,
    make_plan,
    parse_retry,
)
from mlaut.experiments.progress import Progress
from mlaut.experiments.search_checkpoints import (
    checkpoints_folder,
    forget_checkpoints,
    kept_checkpoints,
)
from mlaut.experiments.signals import interrupted_once
from mlaut.experiments.size_checks import too_large
from mlaut.experiments.summary import RunSummary
from mlaut.files_io import FilesIO, SplitEntry, StrategyEntry, Study, StudyWriter
from mlaut.files_io.models import models_folder
from mlaut.records import Cell, Outcome, Status

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Orchestrator"]

Named = TypeVar("Named", MlautEstimator, StrategyEntry)


class Orchestrator:
    """Runs strategies on the datasets of a study and stores what they predict.

    Parameters
    ----------
    hdf5_input_io : FilesIO
        The database with the datasets.
    hdf5_output_io : FilesIO
        The study, with the splits that ``Data.split_datasets`` made.
    dts_names : sequence of str, optional
        Names of the datasets to run on; default all that have a split.
    original_datasets_group_h5_path : str, optional
        The group of the datasets in the input database; a check only, since the study knows
        where each of its datasets came from.
    seed : int, default 0
        Of everything random; each cell derives its own from it and from its key.

    Examples
    --------
    >>> from mlaut import Data, Orchestrator
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> data = Data()
    >>> input_io = data.open_hdf5(folder.name + "/input.h5", mode="a")
    >>> out_io = data.open_hdf5(folder.name + "/study.h5", mode="a")
    >>> _ = data.load_collection("starter", hdf5_io=input_io, names=["iris"])
    >>> names, paths = data.list_datasets(hdf5_io=input_io, hdf5_group="starter/")
    >>> _ = data.split_datasets(hdf5_in=input_io, hdf5_out=out_io, dataset_paths=paths)
    >>> orchestrator = Orchestrator(input_io, out_io, names, "starter/")
    >>> summary = orchestrator.run("GaussianNaiveBayes", engine="inline", verbose=0)
    >>> summary.n_done, summary.complete
    (1, True)
    >>> folder.cleanup()
    """

    def __init__(
        self,
        hdf5_input_io: FilesIO,
        hdf5_output_io: FilesIO,
        dts_names: Sequence[str] | None = None,
        original_datasets_group_h5_path: str | None = None,
        *,
        seed: int = 0,
    ) -> None:
        self.hdf5_input_io = hdf5_input_io
        self.hdf5_output_io = hdf5_output_io
        self.dts_names = dts_names
        self.original_datasets_group_h5_path = original_datasets_group_h5_path
        self.seed = seed

    def run(
        self,
        modelling_strategies: Any,
        *,
        n_jobs: int | None = -1,
        timeout: str | float | None = None,
        tuning_timeout: str | float | None = None,
        memory: str | float | None = None,
        threads: int = 1,
        retry: str | Sequence[str] | Mapping[str, str | Sequence[str]] = (),
        overwrite_predictions: bool = False,
        save_models: bool = False,
        limits: bool = True,
        engine: str | Engine = "local",
        scheduler: Any = None,
        verbose: int = 1,
    ) -> RunSummary:
        """Run what is not done yet; calling it again resumes.

        Parameters
        ----------
        modelling_strategies : strategies
            Whatever ``mlaut.estimators.as_strategies`` takes: MLaut's strategies, scikit-learn
            estimators or pipelines, alone, in a list, as (name, estimator) pairs or a dict, or
            names.
        n_jobs : int or None, default -1
            Worker processes; -1 takes every core.
        timeout : float or str, optional
            Wall time that a cell may take: seconds, or for example ``"10m"``.
        tuning_timeout : float or str, optional
            CPU time, of all threads of a cell together, after which tuning begins no further fit
            and chooses among the candidates that it has scored on all folds. The details of the
            cell say how many. Other programs on the machine take none of it. A search that waits
            more than it computes ends after ten times as long by the clock.
        memory : float or str, optional
            Memory that a cell may allocate: bytes, or for example ``"4GiB"``.
        threads : int, default 1
            Threads inside each worker. It is part of what decides the last bits of a result, so
            it does not follow from ``n_jobs``.
        retry : str, sequence of str, or mapping by strategy, default ()
            Failed cells to try again, by status: ``"timeout"`` or ``["timeout", "crashed"]``.
        overwrite_predictions : bool, default False
            Run strategies again that are stored under the same name with other parameters. What
            they gave before is replaced.
        save_models : bool, default False
            Keep each fitted model in the folder ``<study>.models``, for `predict_all` and
            `mlaut.experiments.load_model`.
        limits : bool, default True
            Skip the datasets that a strategy says it cannot do in reasonable time; the cells have
            the status ``skipped``, with the reason. ``retry=["skipped"]`` tries them too.
        engine : {"local", "inline", "dask"} or Engine, default "local"
            Where cells run: in processes of this machine, in this process, or on a Dask cluster.
        scheduler : str or distributed.Client, optional
            Of the cluster, for example ``"tcp://10.0.0.1:8786"``.
        verbose : int, default 1
            0 shows nothing, 1 the progress, 2 also each failure.

        Returns
        -------
        RunSummary

        Raises
        ------
        RunInterrupted
            Ctrl-C, or a signal to terminate; everything that had ended is stored.
        StudyError, StrategyError, DataError, StoreError
            The run does not begin: what is asked contradicts what is stored.
        """
        strategies = as_strategies(modelling_strategies)
        options = CellOptions(
            threads,
            parse_bytes(memory),
            self._models(save_models),
            parse_seconds(tuning_timeout, "tuning_timeout"),
            checkpoints_folder(self.hdf5_output_io.path).absolute(),
        )
        if options.memory is not None and engine != "dask":
            check_memory_can_be_limited()
        chosen = make_engine(engine, n_jobs, parse_seconds(timeout), threads, scheduler)
        study = Study(self.hdf5_output_io.path)
        study.settle()
        known = strategy_entries(strategies, study)
        plan = self._plan(study, strategies, known, retry, overwrite_predictions, limits)
        plan.check()
        wanted = {planned.entry.name: planned.strategies for planned in plan.datasets}
        strategies = _used(strategies, wanted)
        study.allocate(_used(known, wanted), wanted, replace=overwrite_predictions)
        about = {
            "engine": engine if isinstance(engine, str) else type(engine).__name__,
            "seed": self.seed,
            "input": os.path.relpath(self.hdf5_input_io.path, study.path.parent),
            "threads": threads,
            "n_jobs": n_jobs,
            "timeout": timeout,
            "tuning_timeout": tuning_timeout,
            "memory": memory,
            "limits": limits,
        }
        return self._run(study, plan, strategies, chosen, options, about, verbose)

    def plan(
        self,
        modelling_strategies: Any,
        *,
        retry: str | Sequence[str] | Mapping[str, str | Sequence[str]] = (),
        overwrite_predictions: bool = False,
        limits: bool = True,
    ) -> Plan:
        """Say what `run` would do with the same arguments, and why; nothing is changed.

        What `run` would refuse is in ``refusals`` of the plan; `Plan.why` tells the reasons, and
        `mlaut.experiments.make_forecast` the time and the room that it takes.
        """
        strategies = as_strategies(modelling_strategies)
        study = Study(self.hdf5_output_io.path)
        known = strategy_entries(strategies, study)
        return self._plan(study, strategies, known, retry, overwrite_predictions, limits)

    def save_models(
        self,
        modelling_strategies: Any = None,
        *,
        n_jobs: int | None = -1,
        timeout: str | float | None = None,
        engine: str | Engine = "local",
        scheduler: Any = None,
    ) -> int:
        """Save the fitted models of cells that are done, where ``run`` has saved none.

        Each cell is fitted again from its stored seed. Its model is kept only where it predicts
        what is stored, to the last bit; nothing else in the study changes.

        Parameters
        ----------
        modelling_strategies : strategies, optional
            As `run` takes them; default those of the study that come with MLaut.
        n_jobs : int or None, default -1
            Worker processes; -1 takes every core.
        timeout : float or str, optional
            Wall time that a cell may take: seconds, or for example ``"10m"``.
        engine, scheduler
            Where cells run, as for `run`.

        Returns
        -------
        int
            Number of models that were saved; 0 where all are there.

        Raises
        ------
        StudyError
            Cells give now something else than is stored, and the message names them. The models of
            the others are saved.

        Examples
        --------
        >>> import tempfile
        >>> from mlaut import Data, Orchestrator
        >>> folder = tempfile.TemporaryDirectory()
        >>> data = Data()
        >>> input_io = data.open_hdf5(folder.name + "/input.h5", mode="a")
        >>> out_io = data.open_hdf5(folder.name + "/study.h5", mode="a")
        >>> _ = data.load_collection("starter", hdf5_io=input_io, names=["iris"])
        >>> _ = data.split_datasets(input_io, out_io, ["starter/iris"])
        >>> orchestrator = Orchestrator(input_io, out_io)
        >>> _ = orchestrator.run("GaussianNaiveBayes", engine="inline", verbose=0)
        >>> orchestrator.save_models(engine="inline")
        1
        >>> len(orchestrator.predict_all(trusted=True))
        50
        >>> folder.cleanup()
        """
        from mlaut.experiments.models_again import save_models

        study = Study(self.hdf5_output_io.path)
        study.settle()
        chosen = make_engine(engine, n_jobs, parse_seconds(timeout), 1, scheduler)
        about = {
            "engine": engine if isinstance(engine, str) else type(engine).__name__,
            "seed": self.seed,
            "input": os.path.relpath(self.hdf5_input_io.path, study.path.parent),
            "n_jobs": n_jobs,
            "timeout": timeout,
            "purpose": "models of cells that were done",
        }
        names = list(self._entries(study))
        return save_models(study, self.hdf5_input_io, names, modelling_strategies, chosen, about)

    def predict_all(
        self, modelling_strategies: Any = None, *, trusted: bool = False
    ) -> pd.DataFrame:
        """Predict the test rows of every fold again, from the models that ``run`` has saved.

        Parameters
        ----------
        modelling_strategies : strategies, optional
            Default all that have saved models.
        trusted : bool, default False
            Say that the models are your own: loading a pickled model can run any code.

        Returns
        -------
        DataFrame
            One row a test row: ``dataset``, ``strategy``, ``repeat``, ``fold``, ``row``,
            ``truth``, ``prediction`` (labels or numbers).

        Raises
        ------
        StudyError
            No model was saved.
        StoreError
            A model is not the one that the study recorded, or the models are not trusted.
        """
        import pandas as pd

        study = Study(self.hdf5_output_io.path)
        names = (
            None if modelling_strategies is None else _names(as_strategies(modelling_strategies))
        )
        parts = [
            _predict_again(study, self.hdf5_input_io, entry, record, trusted)
            for entry in self._entries(study).values()
            for record in study.details(entry.name)
            if "model" in record and (names is None or record["strategy"] in names)
        ]
        if not parts:
            raise StudyError(
                f"{study.path}: no fitted models were saved; run with save_models=True, or call "
                "save_models with the same strategies to fit the cells that are done again"
            )
        return pd.concat(parts, ignore_index=True)

    def _models(self, save_models: bool) -> Path | None:
        return models_folder(self.hdf5_output_io.path).absolute() if save_models else None

    def _plan(
        self,
        study: Study,
        strategies: Sequence[MlautEstimator],
        known: Sequence[StrategyEntry],
        retry: str | Sequence[str] | Mapping[str, str | Sequence[str]],
        overwrite: bool,
        limits: bool,
    ) -> Plan:
        entries = self._entries(study)
        wanted = applicable(entries.values(), strategies)
        again = parse_retry(retry, _names(strategies))
        return make_plan(
            study,
            wanted,
            again,
            entries=entries,
            strategies=known,
            replace=overwrite,
            too_large=too_large(self.hdf5_input_io, entries, wanted, strategies, again)
            if limits
            else None,
        )

    def _entries(self, study: Study) -> dict[str, SplitEntry]:
        """Return the datasets of the run, each with the content that it has now."""
        stored = study.load_splits()
        names = list(stored) if self.dts_names is None else list(dict.fromkeys(self.dts_names))
        missing = [name for name in names if name not in stored]
        if missing:
            raise StudyError(
                f"{study.path}: no split of {', '.join(missing)}; call Data.split_datasets first"
            )
        if not names:
            raise StudyError(f"{study.path}: no dataset to run on; call Data.split_datasets first")
        now = self.hdf5_input_io.fingerprints(stored[name].path for name in names)
        return {
            name: replace(stored[name], fingerprint=content)
            for name, content in zip(names, now, strict=True)
        }

    def _run(
        self,
        study: Study,
        plan: Plan,
        strategies: Sequence[MlautEstimator],
        engine: Engine,
        options: CellOptions,
        about: Mapping[str, Any],
        verbose: int,
    ) -> RunSummary:
        begun = time.monotonic()
        reasons: Counter[str] = Counter()
        progress = Progress(plan.n_todo, verbose)
        if plan.n_todo or plan.n_skipped:
            path, checkpoints = self.hdf5_input_io.path, checkpoints_folder(study.path)
            batches = make_batches(plan.groups(), strategies, path, self.seed, options)
            try:
                with (
                    interrupted_once(),
                    study.writing({**describe_environment(strategies), **about}) as writer,
                    kept_checkpoints(checkpoints),
                    progress,
                    contextlib.closing(engine.run(batches)) as ended,
                ):
                    _forget(writer, plan)
                    reasons.update(_skip(writer, plan))
                    for outcomes in ended:
                        writer.write(*outcomes)
                        forget_checkpoints(checkpoints, outcomes)
                        progress.update(outcomes)
                        reasons.update(
                            f"{o.cell.strategy}: {o.status.word}: {o.reason}"
                            for o in outcomes
                            if o.reason
                        )
            except KeyboardInterrupt:
                done = progress.counts.total()
                raise RunInterrupted(
                    f"stopped after {done} of {plan.n_todo} cells; all of them are stored in "
                    f"{study.path}: make the same call again to go on"
                ) from None
        before = plan.counts()
        failures = [status for status in Status if status.failed]
        kept_failures = sum(before[status] for status in failures) - _tried_now(plan, failures)
        return RunSummary(
            study=study.path,
            n_cells=plan.n_cells,
            n_before=before[Status.DONE],
            counts=progress.counts + Counter({Status.SKIPPED: plan.n_skipped}),
            failed_before=kept_failures,
            reasons=tuple(reasons.most_common()),
            seconds=time.monotonic() - begun,
            skipped_before=before[Status.SKIPPED] - _tried_now(plan, [Status.SKIPPED]),
        )


def _names(strategies: Sequence[MlautEstimator]) -> list[str]:
    return [strategy.name for strategy in strategies]


def _used(strategies: Sequence[Named], wanted: Mapping[str, Sequence[str]]) -> list[Named]:
    """Return the strategies that some dataset wants."""
    names = {name for of_dataset in wanted.values() for name in of_dataset}
    return [strategy for strategy in strategies if strategy.name in names]


def _forget(writer: StudyWriter, plan: Plan) -> None:
    """Clear what will be done again, so that it never counts while it is half replaced."""
    for planned in plan.datasets:
        again = planned.todo & (planned.status != Status.MISSING)
        if again.any():
            writer.forget(planned.entry.name, planned.strategies, again)


def _skip(writer: StudyWriter, plan: Plan) -> Counter[str]:
    """Store what is not tried, and count the reasons."""
    reasons: Counter[str] = Counter()
    for planned in plan.datasets:
        for s, repeat, fold in np.argwhere(planned.skipped).tolist():
            name = planned.strategies[s]
            cell, reason = Cell(planned.entry.name, name, repeat, fold), planned.too_large[name]
            writer.write(Outcome(cell, Status.SKIPPED, reason=reason))
            reasons[f"{name}: skipped: {reason}"] += 1
    return reasons


def _tried_now(plan: Plan, before: Sequence[Status]) -> int:
    """Count the cells that this run tries, of those that had one of these statuses before."""
    return sum(int((p.todo & np.isin(p.status, before)).sum()) for p in plan.datasets)


def _predict_again(
    study: Study, input_io: FilesIO, entry: SplitEntry, record: Mapping[str, Any], trusted: bool
) -> pd.DataFrame:
    import pandas as pd

    from mlaut.experiments.saved_models import read_saved

    model = read_saved(models_folder(study.path), record["model"], trusted=trusted)
    dataset = input_io.load_dataset(entry.path)
    test = entry.split.rows(record["repeat"], record["fold"])[1]
    return pd.DataFrame(
        {
            "dataset": entry.name,
            "strategy": record["strategy"],
            "repeat": record["repeat"],
            "fold": record["fold"],
            "row": test,
            "truth": dataset.labels.to_numpy()[test],
            "prediction": model.predict(dataset.features.iloc[test]),
        }
    )
