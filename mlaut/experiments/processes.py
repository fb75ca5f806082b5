"""Processes that cells start: each worker leads a session, which ends with its cell."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["end_children", "end_session", "lead_session"]

_PR_SET_PDEATHSIG = 1


def lead_session() -> None:
    """Make this process the leader of a session that dies with the process that started it."""
    with contextlib.suppress(PermissionError):  # leads one already
        os.setsid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def end_children() -> None:
    """End what the code of a cell has started in this process' session and left running."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return  # the usual case, at the cost of one system call
    for pid in _members(os.getpid()):
        if pid != os.getpid():
            _kill(pid)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def end_session(leader: int) -> None:
    """End every process of the session of a worker, the worker too."""
    for pid in _members(leader):
        _kill(pid)


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _members(session: int) -> Iterator[int]:
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:  # state, parent, group, session
                yield int(folder.name)
