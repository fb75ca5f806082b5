"""Run cells of foreign code in copies (forks) of their worker process.

Cells must not influence each other. A strategy that consists only of classes of scikit-learn and
MLaut leaves nothing behind in its process, so its cells share one. Other code is called foreign:
it may patch a library, keep a list in its class, or change its tables in place. Each of its cells
runs in a copy of a process that has loaded the strategy and run no cell.
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

from mlaut import estimators

_TASKS = Path("/proc/self/task")
_LOOK_MS = 50  # between checks whether a copy has died while its own children hold its pipe open
_PIECE = 2**16  # bytes of one read
_KNOWN = ("mlaut", "numpy", "scipy", "sklearn")
# Functions of NumPy and Python that only construct objects during unpickling.
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
    """Error: a strategy contains foreign code."""


class _KnownOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        root = module.partition(".")[0]
        if root not in (*_KNOWN, "builtins", "copyreg"):
            raise _ForeignError(module)
        value = super().find_class(module, name)
        if root != "mlaut" and not isinstance(value, type) and name not in _MAKERS:
            raise _ForeignError(f"{module}.{name}")
        return value


def load_known(strategy: bytes) -> Any:
    """Return a strategy from its pickle, or None if it has foreign code.

    Known code is that of MLaut, scikit-learn, NumPy and SciPy. No other code runs here.

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
    except Exception:  # the cell will report any error
        return None


def foreign_code(strategy: bytes) -> bool:
    """Return whether cells of a strategy run in copies of their process."""
    return load_known(strategy) is None


def shared_process(strategy: estimators.MlautEstimator, pickled: bytes) -> bytes | None:
    """Return the key of the processes in which cells of a strategy may run with those of others.

    Strategies of known code share processes if they use the same libraries: what a library leaves
    in a process (threads, a mode of the processor, memory) could otherwise reach a strategy that
    does without it. The key is empty for scikit-learn alone, and None for foreign code.

    Examples
    --------
    >>> import cloudpickle
    >>> from mlaut.estimators import as_strategies
    >>> (strategy,) = as_strategies("SVC")
    >>> shared_process(strategy, cloudpickle.dumps(strategy))
    b''
    """
    if load_known(pickled) is None:
        return None
    used = {*strategy.identified().libraries, strategy.metadata.package}
    return ",".join(sorted(used - {*_KNOWN, "scikit-learn"})).encode()


def can_be_copied() -> bool:
    """Return whether this process has one thread: a copy would keep the locks of others locked."""
    return not _TASKS.is_dir() or len(list(_TASKS.iterdir())) == 1


def run_in_copy(work: Callable[[], bytes], largest: int, close: list[int]) -> tuple[int, bytes]:
    """Run a function in a copy of this process, and return the bytes that it sends.

    Parameters
    ----------
    work : callable
        Function that returns the bytes to send.
    largest : int
        Number of bytes above which the copy is killed.
    close : list of int
        File descriptors to close in the copy.

    Returns
    -------
    status : int
        Exit status, as `os.waitpid` returns it.
    received : bytes
        All bytes that came through the pipe of the copy; its strategy may have written some.
    """
    # A copy, not a new process: it has the strategy and the table without loading them again, and
    # nothing that the strategy changes in it outlives the cell.
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        _be_the_copy(work, writer, [reader, *close])
    os.close(writer)
    try:
        return _listen(pid, reader, largest)
    finally:
        os.close(reader)


def _be_the_copy(work: Callable[[], bytes], pipe: int, close: list[int]) -> NoReturn:
    code = 1
    try:
        me = os.getpid()
        for descriptor in close:
            os.close(descriptor)
        rest = memoryview(work())
        if os.getpid() == me:  # not a process that the strategy has forked
            sys.stdout.flush()
            while rest:
                rest = rest[os.write(pipe, rest) :]
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def _listen(pid: int, pipe: int, largest: int) -> tuple[int, bytes]:
    """Read until the copy has ended, even if its own children keep its pipe open."""
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    received = bytearray()
    status: int | None = None
    while status is None:
        if poll.poll(_LOOK_MS):
            piece = os.read(pipe, _PIECE)
            received += piece
            if not piece or len(received) > largest:
                break
        ended, ended_as = os.waitpid(pid, os.WNOHANG)
        status = ended_as if ended else None
    if len(received) > largest:
        os.kill(pid, signal.SIGKILL)
    elif status is not None:  # read the rest that it wrote before it ended
        while len(received) <= largest and poll.poll(0) and (piece := os.read(pipe, _PIECE)):
            received += piece
    return os.waitpid(pid, 0)[1] if status is None else status, bytes(received)
