"""Options of a run: arguments of ``Orchestrator.run``, and section ``[run]`` of a study file."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from mlaut.errors import MlautError, StudyError, nearest
from mlaut.experiments.cells.memory import (
    CpuSeconds,
    check_cpu_can_be_measured,
    check_memory_can_be_limited,
    parse_bytes,
    parse_seconds,
)
from mlaut.experiments.cells.search_checkpoints import checkpoints_folder
from mlaut.experiments.plans.shards import Shard
from mlaut.files_io.models import models_folder
from mlaut.records import Status

if TYPE_CHECKING:  # reading a study file must not import scikit-learn, which takes a second
    from mlaut.experiments.cells.cell import CellOptions
    from mlaut.experiments.engines.engine import Engine

__all__ = ["TUNING", "RunOptions", "collect", "parse_retry"]

TUNING = ("search", "budget", "trace_predictions")
"""Options of a run that a study file has in its section ``[tuning]``."""

T = TypeVar("T")


@dataclass(frozen=True)
class RunOptions:
    """Options of a run: the arguments of ``Orchestrator.run``, and ``[run]`` of a study file.

    Attributes
    ----------
    n_jobs : int or None, default -1
        Number of worker processes; -1 uses one per core.
    timeout : float or str, optional
        Time limit of a cell: seconds of wall time, or for example ``"10m"``; ``"10m cpu"`` limits
        the CPU time of the cell with all its threads and processes, which other programs on the
        machine hardly change. A cell that mostly waits then ends after ten times as long by the
        clock.
    tuning_timeout : float or str, optional
        CPU time, of all threads of a cell together, after which tuning starts no further fit and
        chooses among the candidates that are scored on all folds. The details of the cell record
        their number. Other programs on the machine do not use up this time. A search that mostly
        waits ends after ten times as long by the clock.
    memory : float or str, optional
        Memory limit of a cell: bytes, or for example ``"4GiB"``.
    threads : int, default 1
        Threads inside each worker. Their number can change the last bits of a result, so it does
        not depend on ``n_jobs``.
    retry : str, sequence of str, or mapping by strategy, default ()
        Statuses of failed cells to try again: ``"timeout"`` or ``["timeout", "crashed"]``.
    overwrite_predictions : bool, default False
        Run strategies again that are stored under the same name with other parameters, and replace
        their stored outcomes.
    save_models : bool, default False
        Save each fitted model in the folder ``<study>.models``, for `Orchestrator.predict_all` and
        `mlaut.experiments.load_model`.
    limits : bool, default True
        Skip the datasets that are above the size limit of a strategy. Their cells get the status
        ``skipped``, with the reason; ``retry=["skipped"]`` tries them later.
    engine : {"local", "inline", "dask"} or Engine, default "local"
        Where cells run: in processes of this machine, in this process, or on a Dask cluster.
    scheduler : str or distributed.Client, optional
        Address or client of the Dask cluster, for example ``"tcp://10.0.0.1:8786"``.
    search : str, default ""
        How strategies that tune choose their candidates: ``"grid"``, ``"random(50)"``,
        ``"halving(81)"`` or ``"optuna(50)"``; see `mlaut.estimators.BudgetedSearch`. Empty: the
        grid. A strategy with a search of its own keeps that. Part of the identity of a strategy,
        as ``budget`` is. In a study file, these three stand in ``[tuning]``.
    budget : str or float, optional
        Budget of each search: ``"50 evaluations"`` or 50, ``"10m cpu"``, or ``"10m"`` (wall time).
    trace_predictions : bool, default False
        Also fit what tuning would have chosen with budgets of 1, 2, 4, ... candidates, and store
        what that predicts, for `mlaut.analysis.score_against_budget`. This takes at most as many
        further fits for each cell as the number of its candidates can be halved.
    shard : str, optional
        Share of the cells to run, for example ``"2/10"``: the second of ten. Each shard is a
        database of its own; `mlaut.merge_studies` joins them.
    """

    n_jobs: int | None = -1
    timeout: str | float | None = None
    tuning_timeout: str | float | None = None
    memory: str | float | None = None
    threads: int = 1
    retry: str | Sequence[str] | Mapping[str, str | Sequence[str]] = ()
    overwrite_predictions: bool = False
    save_models: bool = False
    limits: bool = True
    engine: str | Engine = "local"
    scheduler: Any = None
    search: str = ""
    budget: str | float | None = None
    trace_predictions: bool = False
    shard: str | None = None

    def replaced(self, changes: Mapping[str, Any]) -> Self:
        """Return the options with some values replaced.

        Raises
        ------
        StudyError
            There is no option of that name.

        Examples
        --------
        >>> RunOptions().replaced({"n_jobs": 2}).n_jobs
        2
        >>> RunOptions().replaced({"timeot": "1h"})
        Traceback (most recent call last):
        mlaut.errors.StudyError: unknown option 'timeot' of a run; did you mean 'timeout'?
        """
        known = [option.name for option in dataclasses.fields(self)]
        for name in changes:
            if name not in known:
                hint = nearest(name, known) or f"; known are {', '.join(known)}"
                raise StudyError(f"unknown option {name!r} of a run{hint}")
        return dataclasses.replace(self, **changes)

    @property
    def engine_name(self) -> str:
        """Name of the engine, for the record of the run."""
        return self.engine if isinstance(self.engine, str) else type(self.engine).__name__

    def mistakes(self, strategies: Sequence[str]) -> list[MlautError]:
        """Return an error for each value that is invalid, in a run of these strategies."""
        from mlaut.estimators.searches.words import parse_budget, parse_search
        from mlaut.experiments.engines.engine import check_engine

        found: list[MlautError] = []
        collect(found, parse_seconds, self.timeout)
        collect(found, parse_seconds, self.tuning_timeout, "tuning_timeout")
        collect(found, parse_search, self.search or "grid")
        collect(found, parse_budget, self.budget)
        collect(found, parse_bytes, self.memory)
        if isinstance(self.engine, str):
            limits = self.timeout, self.scheduler, self.threads
            collect(found, check_engine, self.engine, self.n_jobs, *limits)
        collect(found, parse_retry, self.retry, strategies)
        if self.shard:
            collect(found, Shard.parse, self.shard)
        return found

    def make_engine(self) -> Engine:
        """Return the engine that runs the cells (see `engines.engine`)."""
        from mlaut.experiments.engines.engine import make_engine

        seconds = parse_seconds(self.timeout)
        return make_engine(self.engine, self.n_jobs, seconds, self.threads, self.scheduler)

    def cell_options(self, study: Path) -> CellOptions:
        """Return the options that all cells of the run share.

        Parameters
        ----------
        study : Path
            Path of the study's database, beside which models and unfinished searches are stored.

        Raises
        ------
        StudyError
            A limit cannot be parsed, or this system cannot enforce it.
        """
        from mlaut.experiments.cells.cell import CellOptions

        memory = parse_bytes(self.memory)
        if self.engine != "dask":
            if memory is not None:
                check_memory_can_be_limited()
            if isinstance(parse_seconds(self.timeout), CpuSeconds):
                check_cpu_can_be_measured()
        return CellOptions(
            threads=self.threads,
            memory=memory,
            models=models_folder(study).absolute() if self.save_models else None,
            tuning_timeout=parse_seconds(self.tuning_timeout, "tuning_timeout"),
            checkpoints=checkpoints_folder(study).absolute(),
            trace_predictions=self.trace_predictions,
        )


def collect(found: list[MlautError], call: Callable[..., T], *arguments: Any) -> T | None:
    """Return the value of a call; append a `MlautError` that it raises to ``found``."""
    try:
        return call(*arguments)
    except MlautError as error:
        found.append(error)
        return None


def parse_retry(
    retry: str | Sequence[str] | Mapping[str, str | Sequence[str]], strategies: Sequence[str]
) -> dict[str, frozenset[Status]]:
    """Return the statuses of the cells that are tried again, by strategy.

    Parameters
    ----------
    retry : str, sequence of str, or mapping of str to either
        Statuses (``"error"``, ``"timeout"``, ``"memory"``, ``"crashed"``, ``"diverged"``,
        ``"skipped"``), for all strategies or by strategy.
    strategies : sequence of str
        Names of the strategies of the run.

    Raises
    ------
    StudyError
        A word is not one of these statuses, or a strategy is not part of the run.

    Examples
    --------
    >>> sorted(parse_retry("timeout", ["SVC"])["SVC"])
    [<Status.TIMEOUT: 3>]
    """
    by_strategy = retry if isinstance(retry, Mapping) else dict.fromkeys(strategies, retry)
    words = {status.word: status for status in Status if status.failed or status is Status.SKIPPED}
    parsed = dict.fromkeys(strategies, frozenset[Status]())
    for name, statuses in by_strategy.items():
        if name not in parsed:
            raise StudyError(f"retry: strategy {name!r} is not part of this run; check its name")
        if not isinstance(statuses, Iterable):
            raise StudyError(
                f"retry {statuses!r}: not the status of a failed cell; use {', '.join(words)}"
            )
        chosen = [statuses] if isinstance(statuses, str) else list(statuses)
        for word in chosen:
            if word not in words:
                hint = nearest(word, words) or f"; use {', '.join(words)}"
                raise StudyError(f"retry {word!r}: not the status of a failed cell{hint}")
        parsed[name] = frozenset(words[word] for word in chosen)
    return parsed
