"""Processes that cells start: each worker leads a session, and what it leaves is ended with it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from multiprocessing import forkserver, resource_tracker
from pathlib import Path

__all__ = [
    "eldest_child",
    "end_children",
    "end_session",
    "forget_server",
    "is_running",
    "lead_session",
]

_PROC = Path("/proc")
_PR_SET_CHILD_SUBREAPER = 36
_ROUNDS = 100


def lead_session() -> None:
    """Make this process the leader of a session, and the heir of orphans among its descendants."""
    with contextlib.suppress(PermissionError):  # leads one already
        os.setsid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def forget_server() -> None:
    """Let go of the server that has forked this process, and of its tracker of resources.

    A byte in their pipes would end them; code that needs such processes starts its own.
    """
    server = getattr(forkserver, "_forkserver", None)
    tracker = getattr(resource_tracker, "_resource_tracker", None)
    for of, name in ((server, "_forkserver_alive_fd"), (tracker, "_fd")):
        if (descriptor := getattr(of, name, None)) is not None:
            setattr(of, name, None)
            with contextlib.suppress(OSError):
                os.close(descriptor)


def end_children() -> None:
    """End what the code of a cell has started in this process and left running."""
    me = os.getpid()
    for _ in range(_ROUNDS):
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return  # the usual case, at the cost of one system call
        for pid in _members(me) - {me}:
            _send(signal.SIGKILL, pid)


def end_session(leader: int) -> None:
    """End a worker, every process of its session, and every descendant that has left it.

    The worker is stopped first, so that it starts nothing more, and ended last, so that its
    descendants can be told by it.
    """
    if not _PROC.is_dir():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)
        return
    if _is_leader(leader):
        _send(signal.SIGSTOP, leader)
    for _ in range(_ROUNDS):
        others = _members(leader) - {leader}
        if not others:
            break
        for pid in others:
            _send(signal.SIGKILL, pid)
    if _is_leader(leader):  # and not another process that has got its number
        _send(signal.SIGKILL, leader)


def eldest_child(pid: int) -> int:
    """Return the child of a process that has run the longest; the process itself without one."""
    children = []
    for folder in _PROC.glob("[0-9]*"):
        found = _stat(folder)
        if found and found[0] not in "ZX" and found[1] == pid:
            children.append(int(folder.name))
    return min(children, default=pid)


def is_running(pid: int) -> bool:
    """Return whether there is a process of that number, and it has not ended."""
    if _PROC.is_dir():
        found = _stat(_PROC / str(pid))
        return found is not None and found[0] not in "ZX"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _send(number: signal.Signals, pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _is_leader(pid: int) -> bool:
    found = _stat(_PROC / str(pid))
    return found is not None and found[2] == pid


def _members(leader: int) -> set[int]:
    """Find the running processes of a session, and all that descend from them."""
    alive = {}
    for folder in _PROC.glob("[0-9]*"):
        found = _stat(folder)
        if found and found[0] not in "ZX":
            alive[int(folder.name)] = found
    members = {pid for pid, (_, _, session) in alive.items() if session == leader}
    while more := {p for p, (_, parent, _) in alive.items() if parent in members} - members:
        members |= more
    return members


def _stat(folder: Path) -> tuple[str, int, int] | None:
    """State, parent and session of a process; None where it is gone."""
    try:
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return fields[0], int(fields[1]), int(fields[3])
