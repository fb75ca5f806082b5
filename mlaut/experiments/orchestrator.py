"""Run every strategy on every fold of every dataset, except the cells that are already done."""

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
from mlaut.files_io.models import models_folder, prepare_models
from mlaut.records import Cell, Outcome, Status

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Orchestrator"]

Named = TypeVar("Named", MlautEstimator, StrategyEntry)


class Orchestrator:
    """Runner of strategies on the datasets of a study; it stores their predictions.

    Parameters
    ----------
    hdf5_input_io : FilesIO
        Database of the datasets.
    hdf5_output_io : FilesIO
        Database of the study, with the splits that ``Data.split_datasets`` made.
    dts_names : sequence of str, optional
        Names of the datasets to run on; default all that have a split.
    original_datasets_group_h5_path : str, optional
        Group of the datasets in the input database. It is accepted and not used: the study stores
        the path of each of its datasets.
    seed : int, default 0
        Seed of the study. The seed of each cell is derived from it and from the key of the cell.

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
        """Run all cells that are not done yet; call it again to resume.

        Parameters
        ----------
        modelling_strategies : strategies
            Anything that ``mlaut.estimators.as_strategies`` takes: MLaut's strategies, names of
            strategies, or scikit-learn estimators and pipelines; alone, in a list, as (name,
            estimator) pairs, or in a dict.
        n_jobs : int or None, default -1
            Number of worker processes; -1 uses one per core.
        timeout : float or str, optional
            Wall time limit of a cell: seconds, or for example ``"10m"``.
        tuning_timeout : float or str, optional
            CPU time, of all threads of a cell together, after which tuning starts no further fit
            and chooses among the candidates that are scored on all folds. The details of the cell
            record their number. Other programs on the machine do not use up this time. A search
            that mostly waits ends after ten times as long by the clock.
        memory : float or str, optional
            Memory limit of a cell: bytes, or for example ``"4GiB"``.
        threads : int, default 1
            Threads inside each worker. Their number can change the last bits of a result, so it
            does not depend on ``n_jobs``.
        retry : str, sequence of str, or mapping by strategy, default ()
            Statuses of failed cells to try again: ``"timeout"`` or ``["timeout", "crashed"]``.
        overwrite_predictions : bool, default False
            Run strategies again that are stored under the same name with other parameters, and
            replace their stored outcomes.
        save_models : bool, default False
            Save each fitted model in the folder ``<study>.models``, for `predict_all` and
            `mlaut.experiments.load_model`.
        limits : bool, default True
            Skip the datasets that are above the size limit of a strategy. Their cells get the
            status ``skipped``, with the reason; ``retry=["skipped"]`` tries them later.
        engine : {"local", "inline", "dask"} or Engine, default "local"
            Where cells run: in processes of this machine, in this process, or on a Dask cluster.
        scheduler : str or distributed.Client, optional
            Address or client of the Dask cluster, for example ``"tcp://10.0.0.1:8786"``.
        verbose : int, default 1
            0 shows nothing, 1 the progress, 2 also each failure.

        Returns
        -------
        RunSummary

        Raises
        ------
        RunInterrupted
            The run was stopped by Ctrl-C or by a signal to terminate; all finished cells are
            stored.
        StudyError, StrategyError, DataError, StoreError
            The arguments contradict the stored study; no cell has run.
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
        """Return the plan that `run` would follow with the same arguments; change nothing.

        The errors that `run` would raise are in ``refusals`` of the plan. `Plan.why` returns the
        reasons, and `mlaut.experiments.make_forecast` the expected time and disk space.
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
        """Save the fitted models of cells that are done and have no saved model yet.

        Each cell is fitted again from its stored seed. Its model is saved only if its predictions
        equal the stored ones to the last bit. Nothing else in the study changes.

        Parameters
        ----------
        modelling_strategies : strategies, optional
            Strategies as `run` takes them; default the strategies of the study that come with
            MLaut.
        n_jobs : int or None, default -1
            Number of worker processes; -1 uses one per core.
        timeout : float or str, optional
            Wall time limit of a cell: seconds, or for example ``"10m"``.
        engine, scheduler
            Where cells run, as for `run`.

        Returns
        -------
        int
            Number of models that were saved; 0 if every cell has one already.

        Raises
        ------
        StudyError
            Some cells now have other predictions than the stored ones; the message names them.
            The models of the other cells are saved.

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
        """Predict the test rows of every fold again, with the saved models.

        Parameters
        ----------
        modelling_strategies : strategies, optional
            Strategies whose models are used; default all that have saved models.
        trusted : bool, default False
            Whether to load pickled models. They can run any code: trust only your own.

        Returns
        -------
        DataFrame
            One row per test row and strategy: ``dataset``, ``strategy``, ``repeat``, ``fold``,
            ``row``, ``truth``, ``prediction`` (labels or numbers).

        Raises
        ------
        StudyError
            No model was saved.
        StoreError
            A model is not the one that the study recorded, or it is a pickle and ``trusted`` is
            False.
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
        """Return the stored datasets of the run, each with its present fingerprint.

        A fingerprint that differs from the stored one makes the plan refuse the dataset.
        """
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
                    if options.models:
                        prepare_models(options.models)
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
    """Return the strategies that run on at least one dataset."""
    names = {name for of_dataset in wanted.values() for name in of_dataset}
    return [strategy for strategy in strategies if strategy.name in names]


def _forget(writer: StudyWriter, plan: Plan) -> None:
    """Clear the cells that will be run again, so that no half replaced cell is read as done."""
    for planned in plan.datasets:
        again = planned.todo & (planned.status != Status.MISSING)
        if again.any():
            writer.forget(planned.entry.name, planned.strategies, again)


def _skip(writer: StudyWriter, plan: Plan) -> Counter[str]:
    """Store the cells that are skipped, and count them by reason."""
    reasons: Counter[str] = Counter()
    for planned in plan.datasets:
        for s, repeat, fold in np.argwhere(planned.skipped).tolist():
            name = planned.strategies[s]
            cell, reason = Cell(planned.entry.name, name, repeat, fold), planned.too_large[name]
            writer.write(Outcome(cell, Status.SKIPPED, reason=reason))
            reasons[f"{name}: skipped: {reason}"] += 1
    return reasons


def _tried_now(plan: Plan, before: Sequence[Status]) -> int:
    """Count the cells that had one of these statuses before and are tried in this run."""
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
