"""Where cells run: in this process one after the other, or in guarded worker processes.

An engine takes groups of cells and gives outcomes as they end, in any order. It never writes.
"""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import signal
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from mlaut.errors import StudyError
from mlaut.experiments.processes import end_session
from mlaut.experiments.worker import (
    THREAD_VARIABLES,
    Batch,
    preload,
    run_announced,
    run_batch,
    start_worker,
)
from mlaut.records import Outcome, Status

__all__ = ["Engine", "InlineEngine", "LocalEngine", "cores", "make_engine"]

_BATCH_SECONDS = 0.1
_LARGEST_BATCH = 200
_LOOK_SECONDS = 1.0


class Engine(Protocol):
    """Runs batches; what is not worth a journey of its own travels together."""

    def run(self, groups: Iterable[Batch]) -> Iterator[list[Outcome]]:
        """Run all cells of each group and give their outcomes as they end."""
        ...


def cores() -> int:
    """Cores that this process may use; a container's limit counts."""
    import joblib

    return int(joblib.cpu_count())


def make_engine(
    engine: str | Engine = "local",
    n_jobs: int | None = -1,
    timeout: float | None = None,
    threads: int = 1,
) -> Engine:
    """Give the engine of a name, or the one that is passed.

    Parameters
    ----------
    engine : {"local", "inline"} or Engine, default "local"
        ``"inline"`` runs cells in this process, without a time limit: for debugging.
    n_jobs : int or None, default -1
        Worker processes; -1 takes every core, -2 all but one, None one.
    timeout : float, optional
        Seconds that a cell may take.
    threads : int, default 1
        Threads inside each worker.

    Raises
    ------
    StudyError
        Unknown engine, ``n_jobs`` of 0, or a time limit inline.
    """
    if not isinstance(engine, str):
        return engine
    if engine not in ("local", "inline"):
        raise StudyError(f"engine {engine!r}: unknown; use 'local' or 'inline'")
    if n_jobs == 0:
        raise StudyError("n_jobs 0: no worker could run a cell; use -1 for every core, or 1")
    if engine == "inline":
        if timeout is not None:
            raise StudyError("engine 'inline': cannot keep a time limit; use engine='local'")
        return InlineEngine()
    n_workers = 1 if n_jobs is None else n_jobs if n_jobs > 0 else cores() + 1 + n_jobs
    return LocalEngine(max(1, n_workers), timeout, threads)


class InlineEngine:
    """Runs cells in this process, one after the other."""

    def run(self, groups: Iterable[Batch]) -> Iterator[list[Outcome]]:
        """Run all cells of each group and give their outcomes as they end."""
        for group in groups:
            for cell in group.cells:
                yield run_batch(replace(group, cells=(cell,)))


class LocalEngine:
    """Runs cells in worker processes of this machine.

    A worker that dies, or is ended because a cell took too long, costs that cell only: a batch
    that dies is run again cell by cell.

    Parameters
    ----------
    n_workers : int
    timeout : float or None
        Seconds that a cell may take; it holds when the code never returns to Python.
    threads : int
        Threads inside each worker.
    """

    def __init__(self, n_workers: int, timeout: float | None = None, threads: int = 1) -> None:
        self.n_workers = n_workers
        self.timeout = timeout
        self.threads = threads

    def run(self, groups: Iterable[Batch]) -> Iterator[list[Outcome]]:
        """Run all cells of each group and give their outcomes as they end."""
        pace = _Pace()
        batches = _in_batches(groups, pace)
        again: deque[Batch] = deque()
        with _announcements() as announce, self._pool() as pool:
            running: dict[Any, tuple[Batch, Path]] = {}
            while True:
                while len(running) < 2 * self.n_workers:
                    batch = again.popleft() if again else next(batches, None)
                    if batch is None:
                        break
                    place = announce()
                    future = pool.schedule(run_announced, args=[batch, place], timeout=self.timeout)
                    running[future] = batch, place
                if not running:
                    return
                done = wait(running, _LOOK_SECONDS, return_when=FIRST_COMPLETED).done
                for future in done or [f for f in running if _gone(running[f][1])]:
                    batch, place = running.pop(future)
                    error = future.exception() if future in done else _LeftError()
                    if error is not None:
                        _end_announced(place)
                        if len(batch.cells) > 1:
                            again.extend(replace(batch, cells=(cell,)) for cell in batch.cells)
                            continue
                    outcomes = _failed(batch, error, self.timeout) if error else future.result()
                    pace.saw(batch, outcomes)
                    yield outcomes

    @contextlib.contextmanager
    def _pool(self) -> Iterator[Any]:
        from pebble import ProcessPool

        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["mlaut.experiments.preloaded"])
        with _main_hidden(), _threads_in_environment(self.threads):
            # The server loads its libraries first: a pool that is stopped while its workers wait
            # for that leaves them without their locks, and they complain.
            first = context.Process(target=preload)
            first.start()
            first.join()
            pool = ProcessPool(
                max_workers=self.n_workers,
                context=context,
                initializer=start_worker,
                initargs=[self.threads],
            )
            try:
                yield pool
            finally:
                pool.stop()
                pool.join()


@contextlib.contextmanager
def _announcements() -> Iterator[Callable[[], Path]]:
    """Give places where a worker says which process it is; whoever is still there is ended."""
    numbers = itertools.count()
    with tempfile.TemporaryDirectory(prefix="mlaut-") as folder:
        try:
            yield lambda: Path(folder, str(next(numbers)))
        finally:
            for place in Path(folder).iterdir():
                _end_announced(place)


def _end_announced(place: Path) -> None:
    with contextlib.suppress(OSError, ValueError):
        end_session(int(place.read_text()))
        place.unlink()


def _in_batches(groups: Iterable[Batch], pace: _Pace) -> Iterator[Batch]:
    """Cut groups into batches, each as large as the pace seen when it is asked for allows."""
    for group in groups:
        cells = deque(group.cells)
        while cells:
            size = min(pace.batch_size(group), len(cells))
            taken = tuple(cells.popleft() for _ in range(size))
            repeats = {repeat for repeat, _ in taken}
            yield replace(group, cells=taken, folds={r: group.folds[r] for r in sorted(repeats)})


class _Pace:
    """How long the cells of each group take, from those that have ended."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], tuple[int, float]] = {}

    def saw(self, batch: Batch, outcomes: list[Outcome]) -> None:
        key = batch.dataset.name, batch.name
        count, total = self._seen.get(key, (0, 0.0))
        elapsed = sum(outcome.details.get("elapsed", _BATCH_SECONDS) for outcome in outcomes)
        self._seen[key] = count + len(outcomes), total + elapsed

    def batch_size(self, group: Batch) -> int:
        count, total = self._seen.get((group.dataset.name, group.name), (0, 0.0))
        if not count:
            return 1
        return max(1, min(_LARGEST_BATCH, int(_BATCH_SECONDS * count / max(total, 1e-9))))


class _LeftError(Exception):
    """A worker left by its own will, which its pool takes for a regular end."""


def _gone(place: Path) -> bool:
    """Whether the process that works on a batch is not there any more."""
    try:
        os.kill(int(place.read_text()), 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError):  # not begun, or just ended
        return False
    return False


def _failed(batch: Batch, error: BaseException, timeout: float | None) -> list[Outcome]:
    """Say how the worker of a batch of one cell ended."""
    from pebble import ProcessExpired

    if isinstance(error, TimeoutError):
        status, reason = Status.TIMEOUT, f"took longer than {timeout:g} s and was ended"
    elif isinstance(error, ProcessExpired | _LeftError):
        code = getattr(error, "exitcode", 0)
        status, reason = Status.CRASHED, f"its worker process {_how_it_ended(code)}"
    else:
        status, reason = Status.ERROR, f"{type(error).__name__}: {error}"[:500]
    return [Outcome(cell, status, reason=reason) for cell in batch.keys]


def _how_it_ended(exitcode: int) -> str:
    if exitcode >= 0:
        return f"left with exit code {exitcode}"
    try:
        return f"was killed by {signal.Signals(-exitcode).name}"
    except ValueError:
        return f"was killed by signal {-exitcode}"


@contextlib.contextmanager
def _threads_in_environment(threads: int) -> Iterator[None]:
    """Let the server that workers are forked from load its libraries with bounded threads."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _main_hidden() -> Iterator[None]:
    """Keep workers from importing the user's script.

    ``multiprocessing`` runs the script that was started again in each worker, which starts the
    study again unless the script is guarded by ``if __name__ == "__main__"``. Workers do not need
    it: strategies travel by value.
    """
    main = sys.modules["__main__"]
    hidden = {name: getattr(main, name) for name in ("__spec__", "__file__") if hasattr(main, name)}
    main.__spec__ = None
    if "__file__" in hidden:
        del main.__file__
    try:
        yield
    finally:
        vars(main).update(hidden)
