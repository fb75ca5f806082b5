"""Sessions of processes: each worker leads one, and all that its cells start ends with it."""

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Collection
from multiprocessing import forkserver, resource_tracker
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_PR_SET_CHILD_SUBREAPER = 36  # of <linux/prctl.h>
_ROUNDS = 100  # of killing; processes may start others while they are being killed


def lead_session() -> None:
    """Make this process the leader of a session, and the parent of orphaned descendants."""
    with contextlib.suppress(PermissionError):  # it already leads one
        os.setsid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def forget_server() -> None:
    """Close the pipes to the fork server of this process and to its resource tracker.

    A byte that a cell writes into these pipes would end them. Code that needs such processes
    starts its own.
    """
    server = getattr(forkserver, "_forkserver", None)
    tracker = getattr(resource_tracker, "_resource_tracker", None)
    for owner, name in ((server, "_forkserver_alive_fd"), (tracker, "_fd")):
        if (descriptor := getattr(owner, name, None)) is not None:
            setattr(owner, name, None)
            with contextlib.suppress(OSError):
                os.close(descriptor)


def end_children() -> None:
    """Kill the child processes that a cell has started and left running."""
    me = os.getpid()
    for _ in range(_ROUNDS):
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return  # the usual case, at the cost of one system call
        for pid in _members([me]) - {me}:
            _send(signal.SIGKILL, pid)


def end_sessions(leaders: Collection[int]) -> None:
    """Kill workers, every process of their sessions, and every descendant that left a session.

    The workers are stopped first, so that they start no more processes, and killed last, because
    their descendants are found through them.
    """
    if not leaders:
        return
    if not _PROC.is_dir():
        for leader in leaders:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(leader, signal.SIGKILL)
        return
    for leader in filter(_is_leader, leaders):
        _send(signal.SIGSTOP, leader)
    for _ in range(_ROUNDS):
        others = _members(leaders) - {*leaders}
        if not others:
            break
        for pid in others:
            _send(signal.SIGKILL, pid)
    for leader in filter(_is_leader, leaders):  # not others that have received the same number
        _send(signal.SIGKILL, leader)


def eldest_child(pid: int) -> int:
    """Return the oldest running child of a process (lowest number), or the process if childless."""
    every = _processes().items()
    return min((child for child, state in every if state.runs and state.parent == pid), default=pid)


def is_running(pid: int) -> bool:
    """Return whether a process of that number exists and has not ended."""
    if _PROC.is_dir():
        stat = _stat(_PROC / str(pid))
        return stat is not None and stat.runs
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
    stat = _stat(_PROC / str(pid))
    return stat is not None and stat.session == pid


def cpu_seconds_of_session(leader: int) -> float:
    """Return the CPU seconds of a worker, of its session, and of all their descendants.

    Seconds of processes that have ended are included once their parent has waited for them.
    """
    return sum(process.cpu for process in _family([leader]).values()) / os.sysconf("SC_CLK_TCK")


class _Process(NamedTuple):
    """State of a process.

    ``cpu`` is the CPU time, in clock ticks, of the process and of the children it has waited for.
    """

    runs: bool
    parent: int
    session: int
    cpu: int


def _members(leaders: Collection[int]) -> set[int]:
    """Return the running processes of sessions, and all their descendants."""
    return {pid for pid, process in _family(leaders).items() if process.runs}


def _family(leaders: Collection[int]) -> dict[int, _Process]:
    """Return the processes of sessions and all their descendants, also those that have ended."""
    seen = _processes()
    members = {pid for pid, process in seen.items() if process.session in leaders}
    while more := {pid for pid, process in seen.items() if process.parent in members} - members:
        members |= more
    return {pid: seen[pid] for pid in members}


def _processes() -> dict[int, _Process]:
    return {int(folder.name): state for folder in _PROC.glob("[0-9]*") if (state := _stat(folder))}


def _stat(folder: Path) -> _Process | None:
    """Return the state of a process; None if it is gone."""
    try:
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    cpu = sum(map(int, fields[11:15]))
    return _Process(fields[0] not in "ZX", int(fields[1]), int(fields[3]), cpu)
