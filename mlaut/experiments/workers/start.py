"""Start processes with the fork server, which has the libraries of a cell already loaded."""

import atexit
import contextlib
import errno
import fcntl
import multiprocessing
import os
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing import forkserver, reduction
from pathlib import Path
from typing import Any

from mlaut.errors import StudyError
from mlaut.helpers import anew
from mlaut.helpers.optional import changed

_START_PAUSES = (0.05, 0.2, 1.0, 0.0)  # seconds; a fork server that was killed needs a restart
_SERVER_TRIES = 3  # of a fork server that ends while it loads
_LONGEST_FOLDER = 75  # bytes; a folder and a socket in it add 32
_SHORT_FOLDERS = ("/tmp", "/dev/shm")  # of a root that is read only the second
_REQUEST_SECONDS = 2.0  # for the descriptors of a process to start; they come at once

_birth = threading.Lock()
_ready: int | None = None  # number of the fork server that is known to take requests


def await_server() -> None:
    """Wait until the fork server, started if need be, has loaded its libraries and takes requests.

    A signal interrupts this wait, but not that of a process that starts: the server would have
    forked it for nobody. An empty request is answered by the end of its connection.
    """
    global _ready
    for _ in range(_SERVER_TRIES):
        with as_parent():
            forkserver.ensure_running()
        if (pid := vars(_the_server())["_forkserver_pid"]) == _ready:
            return
        with socket.socket(socket.AF_UNIX) as request, contextlib.suppress(OSError):
            request.connect(vars(_the_server())["_forkserver_address"])
            request.shutdown(socket.SHUT_WR)
            request.recv(1)
            _ready = pid


def _the_server() -> Any:
    return vars(forkserver)["_forkserver"]


def start_process(function: Callable[..., None], *arguments: Any) -> Any:
    """Start a process with the fork server, which has the libraries already loaded."""
    process = multiprocessing.get_context("forkserver").Process(target=function, args=arguments)
    with as_parent():
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


def _without_server() -> None:
    """Forget the server in a fork of this process: only the parent of a server can wait for it."""
    vars(_the_server())["_forkserver_pid"] = None


os.register_at_fork(after_in_child=_without_server)


def refuse_garbage() -> None:
    """Let the server of this process go on after what is no request: any process may send bytes.

    The server goes on after an aborted connection, and ends after any other error.
    """
    received = reduction.recvfds

    def received_in_time(sock: socket.socket, size: int) -> list[int]:
        if size == 1:  # a worker receives a file, not the server a request
            return received(sock, size)
        sock.settimeout(_REQUEST_SECONDS)
        descriptors: list[int] = []
        try:
            descriptors = received(sock, size)
            reading, writing = descriptors[:2]
            modes = [fcntl.fcntl(end, fcntl.F_GETFL) & os.O_ACCMODE for end in (reading, writing)]
            valid = modes == [os.O_RDONLY, os.O_WRONLY] and len(descriptors) < size
        except (EOFError, OSError, RuntimeError, ValueError, AssertionError):
            valid = False
        if not valid:
            for descriptor in descriptors:
                os.close(descriptor)
            raise ConnectionAbortedError(errno.ECONNABORTED, "no request for a process")
        return descriptors

    vars(reduction)["recvfds"] = received_in_time


@contextlib.contextmanager
def as_parent() -> Iterator[None]:
    """Prepare this process for a start of the fork server or, by it, of a process."""
    with _birth, _main_hidden(), _children_allowed(), one_thread():
        _make_sockets_short()
        forkserver.set_forkserver_preload(["mlaut.experiments.workers.preloaded"])
        yield


def _make_sockets_short() -> None:
    """Put sockets elsewhere where TMPDIR is long, as a job's may be: they end at 107 bytes."""
    config = vars(multiprocessing.current_process())["_config"]
    if "tempdir" in config or len(os.fsencode(tempfile.gettempdir())) <= _LONGEST_FOLDER:
        return
    for place in _SHORT_FOLDERS:
        with contextlib.suppress(OSError):  # the socket will report what is wrong
            config["tempdir"] = tempfile.mkdtemp(prefix="pymp-", dir=place)
            atexit.register(shutil.rmtree, config["tempdir"], ignore_errors=True)
            return


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
    """Allow a daemonic process, such as a Dask worker, to start children; `Team` ends them."""
    with changed(vars(multiprocessing.current_process())["_config"], daemon=False):
        yield


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Make the fork server load its libraries with one thread; each worker sets its own number.

    ``PYTHONHASHSEED`` is fixed: the order of sets of text is then the same in all runs, and so are
    the results of a strategy that depends on it. A file of the user such as ``signal.py`` in the
    working directory is no module of the server if it is none of this process.
    """
    here = {"", "."} | {str(Path.cwd())} if Path().exists() else {"", "."}
    safe = {} if here & set(sys.path) else {"PYTHONSAFEPATH": "1"}
    with changed(os.environ, **anew.SETTINGS, **safe):
        yield
