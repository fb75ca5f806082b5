"""Engines, which run cells: in this process one after the other, or in guarded worker processes.

An engine takes groups of cells and yields outcomes as cells end, in any order. It never writes to
a study.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from functools import lru_cache, partial
from typing import Any, Protocol

import cloudpickle

from mlaut.errors import StudyError, nearest
from mlaut.experiments.workers.batches import Batch, BatchQueue
from mlaut.experiments.workers.pool import Team, run_batches
from mlaut.experiments.workers.tables import load_table
from mlaut.experiments.workers.worker import prepare
from mlaut.records import Outcome

__all__ = ["Engine", "InlineEngine", "LocalEngine", "cores", "make_engine"]

_ENGINES = ("local", "inline", "dask")

Outcomes = Generator[list[Outcome], None, None]


class Engine(Protocol):
    """Interface of the engines."""

    def run(self, groups: Iterable[Batch | None]) -> Outcomes:
        """Run all cells of each group, and yield their outcomes as they end.

        An engine that can do so also yields an empty list every few seconds while no cell ends: a
        run that yields nothing for minutes is reported as stalled (``mlaut status --alive``).
        """
        ...


def cores() -> int:
    """Return the number of cores that this process may use, within the limit of a container."""
    import joblib

    return int(joblib.cpu_count())


def check_engine(
    engine: str, n_jobs: int | None, timeout: object, scheduler: object, threads: int = 1
) -> None:
    """Check the arguments of `make_engine`.

    Raises
    ------
    StudyError
        `make_engine` could not make the engine.
    """
    if engine not in _ENGINES:
        hint = nearest(engine, _ENGINES) or f"; use {' or '.join(map(repr, _ENGINES))}"
        raise StudyError(f"engine {engine!r}: unknown{hint}")
    if scheduler is not None and engine != "dask":
        raise StudyError(
            f"engine {engine!r} takes no scheduler; use engine='dask', or leave scheduler out"
        )
    if n_jobs == 0:
        raise StudyError("n_jobs 0: no worker could run a cell; use -1 for every core, or 1")
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise StudyError(f"threads {threads!r}: must be a whole number of at least 1")
    if engine == "inline" and timeout is not None:
        raise StudyError("engine 'inline' cannot enforce a time limit; use engine='local'")


def make_engine(
    engine: str | Engine = "local",
    n_jobs: int | None = -1,
    timeout: float | None = None,
    threads: int = 1,
    scheduler: Any = None,
) -> Engine:
    """Return the engine of that name, or the engine that is passed.

    Parameters
    ----------
    engine : {"local", "inline", "dask"} or Engine, default "local"
        ``"inline"`` runs cells in this process, without a time limit: for debugging.
    n_jobs : int or None, default -1
        Number of worker processes; -1 uses one per core, -2 one fewer, None a single one.
    timeout : float, optional
        Time limit of a cell in seconds of wall time, or `CpuSeconds`.
    threads : int, default 1
        Threads inside each worker.
    scheduler : str or distributed.Client, optional
        Address or client of the Dask cluster.

    Raises
    ------
    StudyError
        The engine is unknown, ``n_jobs`` or ``threads`` is 0, a time limit is set for
        ``"inline"``, or a scheduler for another engine than ``"dask"``.
    """
    if not isinstance(engine, str):
        return engine
    check_engine(engine, n_jobs, timeout, scheduler, threads)
    if engine == "inline":
        return InlineEngine()
    if engine == "dask":
        from mlaut.experiments.engines.dask_engine import DaskEngine

        most = n_jobs if n_jobs is not None and n_jobs > 0 else None
        return DaskEngine(scheduler, timeout, threads, most)
    n_workers = 1 if n_jobs is None else n_jobs if n_jobs > 0 else cores() + 1 + n_jobs
    return LocalEngine(max(1, n_workers), timeout, threads)


class InlineEngine:
    """Engine that runs cells in this process, one after the other, for debugging.

    Changes that a strategy makes to the process affect all cells after it.
    """

    def run(self, groups: Iterable[Batch | None]) -> Outcomes:
        """Run all cells of each group, and yield their outcomes as they end."""
        table_of = lru_cache(maxsize=1)(load_table)
        strategy_of = lru_cache(maxsize=64)(cloudpickle.loads)  # for the groups of a dataset
        for group in groups:
            if group is None:  # cells run one after the other, so nothing is waited for
                continue
            table = table_of(group.dataset)
            # Unpickled inside its first cell, which has limits.
            run = prepare(group, table, partial(strategy_of, group.strategy))
            for cell in group.keys:
                yield [run(cell)]


class LocalEngine:
    """Engine that runs cells in worker processes of this machine.

    If a worker dies, or is ended because a cell took too long, only that cell fails.

    Parameters
    ----------
    n_workers : int
        Number of worker processes.
    timeout : float or None
        Time limit of a cell in seconds of wall time, or `CpuSeconds`. It also holds for code that
        never returns to Python.
    threads : int
        Threads inside each worker.
    """

    def __init__(self, n_workers: int, timeout: float | None = None, threads: int = 1) -> None:
        self.n_workers = n_workers
        self.timeout = timeout
        self.threads = threads

    def run(self, groups: Iterable[Batch | None]) -> Outcomes:
        """Run all cells of each group, and yield their outcomes as they end."""
        with Team(self.threads) as team:
            yield from run_batches(BatchQueue(groups), team, self.n_workers, self.timeout)
