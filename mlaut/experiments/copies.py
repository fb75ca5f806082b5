"""Cells in copies of their worker process, so that nothing of one cell reaches the next.

A strategy that is made of scikit-learn's and MLaut's classes alone leaves nothing behind in its
process, and its cells share one. Of other code nobody knows: it may patch a library, keep a list in
its class, or change its tables in place. Each of its cells runs in a copy of a process that has
loaded the strategy and run nothing.
"""

from __future__ import annotations

import io
import os
import pickle
import select
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

__all__ = ["can_be_copied", "foreign_code", "load_known", "run_in_copy"]

_TASKS = Path("/proc/self/task")
_LOOK_MS = 50  # between looks whether a copy has died while its own copies hold its pipe
_PIECE = 2**16
_KNOWN = ("mlaut", "numpy", "scipy", "sklearn")
# Functions of NumPy and Python that make objects when these are unpickled, and do nothing else.
_MAKERS = {
    "_frombuffer",
    "_reconstruct",
    "_reconstructor",
    "scalar",
    "__bit_generator_ctor",
    "__generator_ctor",
    "__randomstate_ctor",
}


class _ForeignError(Exception):
    """Some part of a strategy is code that neither scikit-learn nor MLaut has."""


class _KnownOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        root = module.partition(".")[0]
        if root not in (*_KNOWN, "builtins", "copyreg"):
            raise _ForeignError(module)
        found = super().find_class(module, name)
        if root != "mlaut" and not isinstance(found, type) and name not in _MAKERS:
            raise _ForeignError(f"{module}.{name}")
        return found


def load_known(strategy: bytes) -> Any:
    """Return a strategy from its pickle, or None where it has code of others.

    Known are scikit-learn, what it stands on, and MLaut. Of other code nothing runs here.

    Examples
    --------
    >>> import cloudpickle
    >>> from sklearn.naive_bayes import GaussianNB
    >>> load_known(cloudpickle.dumps(GaussianNB()))
    GaussianNB()
    >>> load_known(cloudpickle.dumps(lambda: GaussianNB())) is None
    True
    """
    try:
        return _KnownOnly(io.BytesIO(strategy)).load()
    except Exception:  # whatever it is, the cell tells of it
        return None


def foreign_code(strategy: bytes) -> bool:
    """Return whether cells of a strategy run in copies of their process."""
    return load_known(strategy) is None


def can_be_copied() -> bool:
    """Return whether this process has one thread; the locks of others would stay shut in a copy."""
    return not _TASKS.is_dir() or len(list(_TASKS.iterdir())) == 1


def run_in_copy(work: Callable[[], bytes], largest: int, close: list[int]) -> tuple[int, bytes]:
    """Run a function in a copy of this process.

    Parameters
    ----------
    work : callable
        Returns what the copy is to tell.
    largest : int
        Bytes above which a copy that tells more is killed.
    close : list of int
        Descriptors that are closed in the copy.

    Returns
    -------
    status : int
        As `os.waitpid` gives it.
    told : bytes
        All that came through the pipe of the copy, whoever has written it.
    """
    ours, theirs = os.pipe()
    pid = os.fork()
    if not pid:
        _be_the_copy(work, theirs, [ours, *close])
    os.close(theirs)
    try:
        return _listen(pid, ours, largest)
    finally:
        os.close(ours)


def _be_the_copy(work: Callable[[], bytes], pipe: int, close: list[int]) -> NoReturn:
    code = 1
    try:
        me = os.getpid()
        for descriptor in close:
            os.close(descriptor)
        rest = memoryview(work())
        if os.getpid() == me:  # and not a copy that the strategy has made
            sys.stdout.flush()
            while rest:
                rest = rest[os.write(pipe, rest) :]
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def _listen(pid: int, pipe: int, largest: int) -> tuple[int, bytes]:
    """Read until the copy has ended, also where copies of the copy hold its pipe open."""
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    told = bytearray()
    status: int | None = None
    while status is None:
        if poll.poll(_LOOK_MS):
            piece = os.read(pipe, _PIECE)
            told += piece
            if not piece or len(told) > largest:
                break
        ended, ended_as = os.waitpid(pid, os.WNOHANG)
        status = ended_as if ended else None
    if len(told) > largest:
        os.kill(pid, signal.SIGKILL)
    elif status is not None:  # what it had written before it ended
        while len(told) <= largest and poll.poll(0) and (piece := os.read(pipe, _PIECE)):
            told += piece
    return os.waitpid(pid, 0)[1] if status is None else status, bytes(told)
