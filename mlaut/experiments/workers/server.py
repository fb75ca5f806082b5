"""Start the fork server early: when a study is begun, or as a fork of the command line."""

import contextlib
import gc
import os
import sys
from multiprocessing import forkserver, resource_tracker, util
from pathlib import Path
from typing import Any

from mlaut.experiments.workers.signals import interrupts_held
from mlaut.experiments.workers.start import as_parent, one_thread
from mlaut.helpers import anew
from mlaut.helpers.optional import changed

_OF_ARROW = "jemalloc_bg_thd"  # thread of the memory of pyarrow, which is made for forks


def start_server(study: Path, engine: Any = "local") -> None:
    """Start the fork server for a study that is new, and so has cells to run, and do not wait.

    The server loads its libraries while the caller draws splits. A study that
    exists may have nothing left to run; its server starts with its first process.
    """
    if engine == "local" and not study.exists() and not fork_server():
        with as_parent(), contextlib.suppress(OSError):  # the first process will report it
            forkserver.ensure_running()


def fork_server() -> bool:
    """Fork the server from this process if that began anew for it, and return whether it did.

    The libraries of a cell are loaded first. Whoever calls this has read no label and has loaded
    no code of the user: the server would have them, too.
    """
    if not anew.begun:
        return False
    with one_thread():
        from mlaut.experiments.workers import pool  # noqa: F401 - the code of the janitor
        from mlaut.experiments.workers.worker import preload

        preload()
    threads = [name.read_text().strip() for name in Path("/proc/self/task").glob("*/comm")]
    if len(threads) - threads.count(_OF_ARROW) != 1:
        return False
    with interrupts_held(), as_parent(), contextlib.suppress(OSError):  # as above
        resource_tracker.ensure_running()
        with changed(vars(util), spawnv_passfds=_forked):
            forkserver.ensure_running()
    return True


def _forked(_: str, command: list[str], descriptors: list[int]) -> int:
    """Fork this process where another program, the server, would be started."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    gc.freeze()  # else collections here would duplicate the memory that both have
    if pid := os.fork():
        return pid
    raise anew.ServerBornError(command[-1], descriptors)
