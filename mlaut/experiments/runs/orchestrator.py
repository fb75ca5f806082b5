"""Run every strategy on every fold of every dataset, except the cells that are already done."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from mlaut.errors import StrategyError, StudyError, nearest, some_of, with_checked_options
from mlaut.estimators import MlautEstimator, as_strategies
from mlaut.estimators.catalogue.strategies import tuned_as
from mlaut.experiments.engines.engine import Engine, LocalEngine
from mlaut.experiments.options import RunKeywords, RunOptions, shows_options
from mlaut.experiments.plans.plan import Plan, plan_run
from mlaut.experiments.plans.races import MakeRace, check_no_race, clear_raced_out
from mlaut.experiments.plans.run_options import beyond_the_job, checked_options
from mlaut.experiments.plans.shards import check_shard
from mlaut.experiments.runs.execution import carry_out
from mlaut.experiments.runs.trial import trial_fits
from mlaut.files_io import FilesIO, SplitEntry, StudyStore
from mlaut.files_io.files_io import opened
from mlaut.helpers.markup import printable

if TYPE_CHECKING:
    import pandas as pd

    from mlaut.experiments.runs.summary import RunSummary


@with_checked_options(StudyError)
class Orchestrator:
    """Runner of strategies on the datasets of a study; it stores their predictions.

    Parameters
    ----------
    hdf5_input_io : FilesIO
        Database of the datasets.
    hdf5_output_io : FilesIO
        Database of the study, with the splits that ``Data.split_datasets`` made.
    dts_names : sequence of str, optional
        Names of the datasets to run on; default all of the group that have a split.
    original_datasets_group_h5_path : str, optional
        Group of the input database to which the datasets belong; default any.
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
        self.hdf5_input_io = opened(hdf5_input_io)
        self.hdf5_output_io = opened(hdf5_output_io)
        self.dts_names = dts_names
        self.original_datasets_group_h5_path = original_datasets_group_h5_path
        self.seed = seed

    @shows_options
    def run(
        self,
        modelling_strategies: Any,
        *,
        verbose: int = 1,
        race: MakeRace | None = None,
        complete: bool = False,
        trial: bool = False,
        **options: Unpack[RunKeywords],
    ) -> RunSummary:
        """Run all cells that are not done yet; call it again to resume.

        Parameters
        ----------
        modelling_strategies : strategies
            Anything that ``mlaut.estimators.as_strategies`` takes: MLaut's strategies, names of
            strategies, or scikit-learn estimators and pipelines; alone, in a list, as (name,
            estimator) pairs, or in a dict.
        verbose : int, default 1
            0 shows nothing, 1 the progress, 2 also each failure.
        race : callable, optional
            Function that begins a race, as `mlaut_races.make_race` returns it: cells are then run
            dataset by dataset, and strategies leave.
        complete : bool, default False
            Whether to run all cells of a study that is a race.
        trial : bool, default False
            Whether to fit each strategy on a few rows before the first cell, and to print which
            fail; their cells are run all the same.
        **options
            The fields of `mlaut.experiments.RunOptions`, which describes each: for example
            ``n_jobs=-1`` (one worker process per core), ``timeout="10m"`` and ``memory="4GiB"``
            (limits of a cell), ``search="random(50)"`` and ``budget="10m cpu"`` (of tuning),
            ``retry=["timeout"]`` (failed cells to try again), ``save_models=True``.

        Returns
        -------
        RunSummary

        Raises
        ------
        RunInterrupted
            The run was stopped by Ctrl-C or by a signal to terminate; all finished cells are
            stored.
        StudyError, StrategyError, DataError, StoreError
            The arguments contradict the stored study, or an option is unknown; no cell has run.
        """
        strategies = as_strategies(modelling_strategies)
        chosen = checked_options(options, [strategy.name for strategy in strategies])
        strategies = tuned_as(strategies, chosen.search, chosen.budget)
        self.hdf5_output_io.check_writable()
        study = StudyStore(self.hdf5_output_io.path)
        study.settle()
        check_shard(study, chosen.shard, race is not None and not complete)
        if complete:
            self._plan(study, strategies, chosen).check()  # a run that is refused clears nothing
            clear_raced_out(study)
        elif race is None:
            check_no_race(study)
        plan = self._plan(study, strategies, chosen)
        plan.check()
        database = self.hdf5_input_io.path
        told = beyond_the_job(chosen, LocalEngine().of(chosen).n_workers) if plan.n_todo else []
        for line in (*told, *(trial_fits(plan, database, chosen) if trial else ())):
            sys.stderr.write(f"mlaut: {printable(line, '')}\n")
        return carry_out(
            plan,
            study,
            database,
            chosen,
            seed=self.seed,
            verbose=verbose,
            race=None if complete else race,
            given=modelling_strategies,
        )

    @shows_options
    def plan(self, modelling_strategies: Any, **options: Unpack[RunKeywords]) -> Plan:
        """Return the plan that `run` would follow with the same arguments; change nothing.

        The plan depends on ``retry``, ``overwrite_predictions``, ``limits`` and ``shard``. The
        errors that `run` would raise are in ``refusals`` of the plan. `Plan.why` returns the
        reasons, and `mlaut.experiments.make_forecast` the expected time and disk space.
        """
        study = StudyStore(self.hdf5_output_io.path)
        chosen = RunOptions().replaced(options)
        strategies = as_strategies(modelling_strategies)
        strategies = tuned_as(strategies, chosen.search, chosen.budget)
        return self._plan(study, strategies, chosen)

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
            Time limit of a cell: seconds of wall time, for example ``"10m"``, or ``"10m cpu"``.
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
        from mlaut.experiments.runs.refit import save_models

        self.hdf5_output_io.check_writable()
        study = StudyStore(self.hdf5_output_io.path)
        study.settle()
        options = RunOptions(n_jobs=n_jobs, timeout=timeout, engine=engine, scheduler=scheduler)
        cells = study, self.hdf5_input_io, list(self._splits(study))
        return save_models(*cells, modelling_strategies, options, self.seed)

    def predict_all(
        self, modelling_strategies: Any = None, *, trusted: bool = False
    ) -> pd.DataFrame:
        """Predict the test rows of every fold again, with the saved models.

        Parameters
        ----------
        modelling_strategies : strategies, optional
            Strategies whose models are used, also by their names in the study; default all that
            have saved models.
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
        from mlaut.experiments.runs.refit import predict_again

        study = StudyStore(self.hdf5_output_io.path)
        names = None
        if modelling_strategies is not None:
            names = _names_of(modelling_strategies, study)
        return predict_again(study, self.hdf5_input_io, self._splits(study), names, trusted)

    def _plan(
        self, study: StudyStore, strategies: Sequence[MlautEstimator], options: RunOptions
    ) -> Plan:
        splits = self._splits(study)
        return plan_run(study, self.hdf5_input_io, splits, strategies, options)

    def _splits(self, study: StudyStore) -> dict[str, SplitEntry]:
        """Return the stored datasets of the run, each with its present fingerprint.

        A fingerprint that differs from the stored one makes the plan refuse the dataset.
        """
        stored = study.load_splits(self.original_datasets_group_h5_path)
        names = list(stored) if self.dts_names is None else list(dict.fromkeys(self.dts_names))
        missing = [name for name in names if name not in stored]
        if missing:
            raise StudyError(
                f"{study.path}: no split of {some_of(missing)}; call Data.split_datasets first"
            )
        if not names:
            raise StudyError(f"{study.path}: no dataset to run on; call Data.split_datasets first")
        now = self.hdf5_input_io.fingerprints(stored[name].path for name in names)
        return {
            name: replace(stored[name], fingerprint=content)
            for name, content in zip(names, now, strict=True)
        }


def _names_of(strategies: Any, study: StudyStore) -> list[str]:
    """Return the names of strategies of a study; a stored name need not be known to MLaut.

    Raises
    ------
    StrategyError
        The study does not have one of the strategies.
    """
    stored = [entry.name for entry in study.strategies]
    chosen = []
    for item in strategies if isinstance(strategies, list) else [strategies]:
        names = [item] if isinstance(item, str) else []
        if item not in stored:
            with suppress(StrategyError):
                names = [strategy.name for strategy in as_strategies(item)]
        inside = [name for name in names if name in stored]
        if not inside:
            hint = nearest(item, stored) or f"; it has {some_of(stored)}"
            raise StrategyError(f"{study.path}: no strategy of the study is called {item!r}{hint}")
        chosen += inside
    return chosen
