"""Start processes with the fork server, which has the libraries of a cell already loaded."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from mlaut.errors import StudyError

__all__ = ["THREAD_VARIABLES", "start_process"]

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_START_PAUSES = (0.05, 0.2, 1.0, 0.0)  # seconds; a fork server that was killed needs a restart

_birth = threading.Lock()


def start_process(function: Callable[..., None], *arguments: Any) -> Any:
    """Start a process with the fork server, which has the libraries already loaded."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["mlaut.experiments.workers.preloaded"])
    process = context.Process(target=function, args=arguments)
    with _birth, _main_hidden(), _children_allowed(), _one_thread():
        for pause in _START_PAUSES:
            try:
                process.start()
                return process
            except (OSError, EOFError) as error:
                failed = error
            time.sleep(pause)
    raise StudyError(
        f"no worker process could be started ({str(failed) or type(failed).__name__}); "
        "check whether the machine has free memory and allows more processes"
    ) from failed


@contextlib.contextmanager
def _main_hidden() -> Iterator[None]:
    """Keep workers from importing the user's script.

    ``multiprocessing`` imports the main script in each worker, which would start the study again
    unless the script is guarded by ``if __name__ == "__main__"``. Workers do not need the script:
    strategies are pickled by value.
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


@contextlib.contextmanager
def _children_allowed() -> Iterator[None]:
    """Let a daemonic process, such as a Dask worker, start children; `Team` ends them."""
    settings = vars(multiprocessing.current_process())["_config"]
    before = settings.get("daemon")
    settings["daemon"] = False
    try:
        yield
    finally:
        if before is None:
            del settings["daemon"]
        else:
            settings["daemon"] = before


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Let the fork server load its libraries with one thread; each worker sets its own number.

    ``PYTHONHASHSEED`` is fixed: the order of sets of text is then the same in all runs, and so are
    the results of a strategy that depends on it.
    """
    before = {name: os.environ.get(name) for name in (*THREAD_VARIABLES, "PYTHONHASHSEED")}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"), PYTHONHASHSEED="0")
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
