"""A start of a program anew, so that the server of worker processes can be forked from it.

The environment that a program starts with decides the order of its sets of text and the threads
that its libraries start. What the command line runs then needs no second import of scikit-learn.
"""

import contextlib
import gc
import itertools
import json
import os
import sys
from types import ModuleType
from typing import NoReturn

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
SETTINGS = dict.fromkeys(THREAD_VARIABLES, "1") | {"PYTHONHASHSEED": "0"}
"""Environment of the server: each worker sets its own number of threads."""

_BEFORE = "MLAUT_ENVIRONMENT"  # the variable of what `SETTINGS` have replaced
_collects = gc.get_threshold()
begun = False
"""Whether this process is one that began anew."""


def begin_anew() -> None:
    """Start this program, which has done nothing yet, anew with `SETTINGS`; then undo them."""
    global begun
    if _BEFORE not in os.environ:
        before = json.dumps({name: os.environ.get(name) for name in SETTINGS})
        with contextlib.suppress(OSError):
            command = [sys.executable, *sys.orig_argv[1:]]
            os.execve(command[0], command, {**os.environ, **SETTINGS, _BEFORE: before})
        return
    import numpy  # noqa: F401 - with one thread

    for name, value in json.loads(os.environ.pop(_BEFORE)).items():
        del os.environ[name]
        os.environ.update({name: value} if value is not None else {})
    begun = not sys.flags.hash_randomization  # Python may ignore its variables


class ServerBornError(BaseException):
    """Raised in a fork of a process that began anew: it ends all calls, then `serve` is called.

    All that they have changed for their duration (handlers of signals, locks) is then as before.
    The calls may also close the files of these descriptors, which the code of the server needs.
    """

    def __init__(self, program: str, descriptors: list[int]) -> None:
        self._program = program
        self._copies = {number: os.dup(number) for number in descriptors}

    def serve(self) -> NoReturn:
        """Become the server, as if it was a new program."""
        self.__traceback__ = None  # which has the variables of all calls
        try:
            for number, copy in self._copies.items():
                os.dup2(copy, number)
            kept = [2, *sorted(self._copies), os.sysconf("SC_OPEN_MAX")]
            for low, high in itertools.pairwise(kept):
                os.closerange(low + 1, high)
            gc.set_threshold(*_collects)
            sys.modules["__main__"] = main = ModuleType("__main__")
            exec(self._program, vars(main))
        except SystemExit:
            pass
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(0)
