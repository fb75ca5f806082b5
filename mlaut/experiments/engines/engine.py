"""Engines, which run cells: in this process one after the other, or in guarded worker processes.

An engine takes groups of cells and yields outcomes as cells end, in any order. It never writes to
a study.
"""

import pkgutil
import sys
from collections.abc import Generator, Iterable
from copy import copy
from functools import lru_cache, partial
from typing import Any, Protocol, Self, TypeVar

import cloudpickle

from mlaut.errors import OptionalPackageError, StudyError, nearest
from mlaut.experiments.cells.memory import parse_seconds
from mlaut.experiments.options import ENGINES, RunOptions
from mlaut.experiments.workers.allotted import allotted_cores
from mlaut.experiments.workers.batches import Batch, BatchQueue
from mlaut.experiments.workers.pool import Team, run_batches
from mlaut.experiments.workers.tables import load_table
from mlaut.experiments.workers.worker import prepare
from mlaut.helpers.former_names import without_plugin
from mlaut.plugins.finding import found
from mlaut.records import Outcome

Outcomes = Generator[list[Outcome], None, None]
E = TypeVar("E")


class Engine(Protocol):
    """Contract of an engine, which `tests/experiments/engines/test_contract.py` tries.

    - It takes groups lazily, one after the other: a study may have millions of cells.
    - None in the place of a group says that the next one depends on cells that still run. The
      engine then yields an outcome before it takes another group; if no cell runs, it ends.
    - It yields one outcome for each cell, in any order, in lists as cells end. An outcome of a cell
      that ran has the cell's seed, and ``elapsed`` in its details (`workers.worker.prepare` makes
      such outcomes). A cell that fails, or kills its process, has an outcome that says so: the
      engine raises no error for it.
    - Where cells run on the machine of the run, and ``groups`` have a method ``begin``, it calls
      that with each batch, or part of one, before its cells run: they may take the run with them.
    - While no cell ends, it yields an empty list about each second, as a sign of life: a run that
      yields nothing for minutes is reported as stalled (``mlaut status --alive``), and Ctrl-C is
      noticed between two lists. An engine in the process of the run cannot do so.
    - When its generator is closed, it ends the cells that run, and the processes that it started,
      whatever started them (`multiprocessing`, a batch system), with those of their cells. If the
      run is killed, they end by themselves.
    - Cells have what a batch brings of the session of the run: the settings of libraries (set by
      `workers.worker.prepare`) and, before a strategy is unpickled, its ``sys.path``.
    - If its cells run on other machines, whose cores and memory are not those of this one, it has
      an attribute ``elsewhere`` that is true.
    - It keeps the limits of the run, or refuses them in `of`, because the study records them.
    - It runs one cell at a time in a process. A cell sets what the whole process has: the state of
      the global random numbers, the limits of memory and of threads, the warnings. Threads of one
      process that run cells side by side would change each other's results.
    - It never writes to a study.
    """

    def run(self, groups: Iterable[Batch | None]) -> Outcomes:
        """Run all cells of each group, and yield their outcomes as they end."""
        ...

    def of(self, options: RunOptions) -> Self:
        """Return this engine with the limits of a run.

        They are ``timeout`` (`parse_seconds` makes seconds of it, or `CpuSeconds`: a clock does not
        count those), ``n_jobs`` (cells at a time; -1, the default, is as many as the engine can)
        and ``threads``; ``memory`` and ``threads`` also come with each batch, in its `CellOptions`.

        Raises
        ------
        StudyError
            The engine cannot keep a limit.
        """
        ...


def cores() -> int:
    """Return the number of cores that this process may use, in its container and in its job."""
    import joblib

    return min(int(joblib.cpu_count()), allotted_cores() or sys.maxsize)


def check_engine(options: RunOptions) -> None:
    """Check the options that `make_engine` uses.

    Raises
    ------
    StudyError
        The engine is unknown, or cannot keep a limit; or ``n_jobs`` or ``threads`` is 0.
    """
    engine, threads, name = options.engine, options.threads, repr(options.engine_name)
    if isinstance(engine, str):
        engine_called(engine)
    is_one = isinstance(engine, str) or (hasattr(engine, "run") and hasattr(engine, "of"))
    if isinstance(engine, type) or not is_one:
        raise StudyError(f"engine {engine!r}: is no engine; pass an object with 'run' and 'of'")
    if options.scheduler is not None and (not isinstance(engine, str) or engine in ENGINES):
        raise StudyError(
            f"engine {name} takes no scheduler; use engine='dask', or leave scheduler out"
        )
    if options.n_jobs is not None and not isinstance(options.n_jobs, int):
        raise StudyError(f"n_jobs {options.n_jobs!r}: must be a whole number, or None")
    if options.n_jobs == 0:
        raise StudyError("n_jobs 0: no worker could run a cell; use -1 for every core, or 1")
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise StudyError(f"threads {threads!r}: must be a whole number of at least 1")
    if isinstance(engine, str) and engine in ENGINES.keys() - {"local"}:  # it keeps every limit
        engine_called(engine)().of(options)


def engine_called(name: str) -> Any:
    """Return the class of an engine, MLaut's own or of a plug-in.

    Raises
    ------
    StudyError
        There is none.
    OptionalPackageError
        Its plug-in is not installed.
    """
    if name in ENGINES:
        return pkgutil.resolve_name(ENGINES[name])
    if name in (added := found("engines")):
        return added[name]
    if name == "dask":
        raise OptionalPackageError(without_plugin("engine 'dask' is in", "dask"))
    known = [*ENGINES, *added]
    hint = nearest(name, known) or f"; use {' or '.join(map(repr, known))}"
    raise StudyError(f"engine {name!r}: unknown{hint}")


def make_engine(options: RunOptions) -> Engine:
    """Return the engine of a run, with its limits.

    Raises
    ------
    StudyError
        The engine is unknown, or cannot keep a limit of the run (`check_engine`).
    """
    check_engine(options)
    engine: Any = options.engine
    if isinstance(engine, str):
        kind = engine_called(engine)
        engine = kind() if options.scheduler is None else kind(options.scheduler)
    return engine.of(options)


def limited(engine: E, **limits: Any) -> E:
    """Return a copy of an engine with some limits set."""
    engine = copy(engine)
    vars(engine).update(limits)
    return engine


class InlineEngine:
    """Engine that runs cells in this process, one after the other, for debugging.

    Changes that a strategy makes to the process affect all cells after it.
    """

    def of(self, options: RunOptions) -> Self:
        """Return this engine.

        Raises
        ------
        StudyError
            The run has a time limit, which only another process could enforce.
        """
        if options.timeout is not None:
            raise StudyError("engine 'inline' cannot enforce a time limit; use engine='local'")
        return self

    def run(self, groups: Iterable[Batch | None]) -> Outcomes:
        """Run all cells of each group, and yield their outcomes as they end."""
        table_of = lru_cache(maxsize=1)(load_table)
        strategy_of = lru_cache(maxsize=64)(cloudpickle.loads)  # for the groups of a dataset
        for group in groups:
            if group is None:  # cells run one after the other: none is left to wait for
                return
            table = table_of(group.dataset)
            # Unpickled inside its first cell, which has limits.
            run = prepare(group, table, partial(strategy_of, group.strategy))
            begin = getattr(groups, "begin", lambda _: None)
            for place, cell in enumerate(group.keys):
                begin(group.part([group.cells[place]]))
                yield [run(cell)]


class LocalEngine:
    """Engine that runs cells in worker processes of this machine.

    If a worker dies, or is ended because a cell took too long, only that cell fails. A time limit
    also holds for code that never returns to Python.
    """

    n_workers: int = 1
    timeout: float | None = None
    threads: int = 1

    def of(self, options: RunOptions) -> Self:
        """Return this engine with the time limit, the workers and the threads of a run."""
        n_jobs = options.n_jobs
        n_workers = 1 if n_jobs is None else n_jobs if n_jobs > 0 else cores() + 1 + n_jobs
        seconds = parse_seconds(options.timeout)
        return limited(self, n_workers=max(1, n_workers), timeout=seconds, threads=options.threads)

    def run(self, groups: Iterable[Batch | None]) -> Outcomes:
        """Run all cells of each group, and yield their outcomes as they end."""
        with Team(self.threads) as team:
            yield from run_batches(BatchQueue(groups), team, self.n_workers, self.timeout)
