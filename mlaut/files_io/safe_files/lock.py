"""Locks of databases: one writer at a time; a lock names its holder and ends with its process.

A holder is a thread of a process. Other processes and other threads wait for a short change, such
as storing a dataset, and are refused while a run writes.
"""

import contextlib
import fcntl
import json
import math
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from mlaut.errors import StoreError, StudyLockedError
from mlaut.files_io.safe_files.names import beside
from mlaut.files_io.safe_files.plain_files import open_plain
from mlaut.files_io.safe_files.system_errors import TAKING_A_LOCK, explain
from mlaut.helpers.held import is_still


@dataclass
class _Held:
    """Lock that this process holds: its thread, its depth, and whether it is held for a run."""

    handle: int
    thread: int
    for_run: bool
    depth: int = 1
    last_beat: float = -math.inf


# A writer tries again, because `holder_of` takes the lock for some microseconds to look at it.
_TRIES, _PAUSE = 5, 0.02  # seconds
_PATIENCE = 120.0  # seconds to wait for a short change of another thread or process
_BEAT_SECONDS = 5.0  # between two beats: a network file system sends a message for each
_SILENCE = 60.0  # seconds without a beat after which a holder on another machine counts as dead
_LOOK_SECONDS = 1.0  # between two looks at the beat of such a holder
_JOB_IDS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID")  # of Slurm, PBS, LSF, SGE
_HERE = socket.gethostname()
_held: dict[Path, _Held] = {}
_changed = threading.Condition()


def lock_path(path: Path) -> Path:
    """Return the path of the lock of a database."""
    return beside(path, ".lock")


@contextlib.contextmanager
def locked(path: Path, *, for_run: bool = False) -> Iterator[None]:
    """Hold the lock of a database during the block; the thread that holds it may take it again.

    The lock is a kernel lock (``flock``), so a lock file that a dead process left has no effect. It
    lies beside the real file, so that a symbolic link, a relative and an absolute path have the
    same lock.

    Parameters
    ----------
    path : Path
        Path of the database.
    for_run : bool, default False
        Whether the lock is held for a whole run; others are then refused instead of waiting.

    Raises
    ------
    StudyLockedError
        A run in another process (the message names it) or thread holds the lock, or a short change
        has taken two minutes.
    StoreError
        The folder is read-only, full or gone; the file has several names (hard links); or its lock
        is a link to another file.
    """
    key = lock_path(path)
    held = _take(path, key, for_run)
    try:
        yield
    finally:
        _give_back(key, held)


def beat(path: Path) -> None:
    """Record that the run which holds the lock is making progress: touch the lock file."""
    due = time.monotonic() - _BEAT_SECONDS
    late = any(held.last_beat <= due for held in [*_held.values()])  # else no look at the disk
    if late and (held := _held.get(lock_path(path))) and held.last_beat <= due:
        held.last_beat = time.monotonic()
        with contextlib.suppress(OSError):  # the folder may be gone, which the next write reports
            os.utime(held.handle)


def holder_of(path: Path) -> dict[str, Any] | None:
    """Return the process that holds the lock of a database now; None if none does.

    ``silent`` is the number of seconds since the process has taken the lock, or since its last
    `beat`.
    """
    try:
        handle = open_plain(lock_path(path), os.O_RDWR)
    except (OSError, StoreError):
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return {**_read_holder(handle), "silent": _silence(handle)}
    except OSError:  # a file system without locks
        return None
    else:  # one on another machine may hold it, where locks are not shared
        away = _read_holder(handle) if _is_held_elsewhere(handle) else {}
        return {**away, "silent": _silence(handle)} if away else None
    finally:
        os.close(handle)


def holder_words(holder: Mapping[str, Any]) -> str:
    """Return the words for the holder of a lock: its process, its job, and its machine.

    Examples
    --------
    >>> holder_words({"pid": 7, "host": "node1", "job": "45_3"})
    'process 7 of job 45_3 on node1'
    """
    job = f" of job {holder['job']}" if holder.get("job") else ""
    return f"process {holder.get('pid', '?')}{job} on {holder.get('host', '?')}"


def _silence(handle: int) -> float:
    return round(max(0.0, time.time() - os.fstat(handle).st_mtime), 1)


def _is_held_elsewhere(handle: int) -> bool:
    """Return whether a run on another machine seems to hold a lock that this one could take."""
    who = _read_holder(handle)
    elsewhere = who.get("for_run") and who.get("host", _HERE) != _HERE
    return bool(elsewhere) and _silence(handle) < _SILENCE


def _refuse_if_beating(handle: int, path: Path) -> None:
    """Wait for the next beat of a run on another machine, and refuse; or until it seems dead.

    Some file systems keep the locks of each machine apart (Lustre with ``localflock``, NFS with
    ``local_lock``).
    """
    last = os.fstat(handle).st_mtime_ns
    while _is_held_elsewhere(handle):
        _changed.wait(_LOOK_SECONDS)
        if os.fstat(handle).st_mtime_ns != last:
            raise _refusal(path, _read_holder(handle))


def _refusal(path: Path, who: Mapping[str, Any]) -> StudyLockedError:
    return StudyLockedError(
        f"{path}: {holder_words(who)} is writing to it since {who.get('since', '?')} "
        f"({who.get('command', '?')}); wait until it ends, or stop it"
    )


def _take(path: Path, key: Path, for_run: bool) -> _Held:
    me, until = threading.get_ident(), time.monotonic() + _PATIENCE
    with _changed:
        while key in _held and _held[key].thread != me:
            if _held[key].for_run:
                raise StudyLockedError(
                    f"{path}: a run in another thread of this process is writing to it; "
                    "wait until it ends"
                )
            if time.monotonic() > until:
                raise StudyLockedError(
                    f"{path}: another thread of this process has been changing it for "
                    f"{_PATIENCE:g} s; repeat the call when that has ended"
                )
            _changed.wait(until - time.monotonic())
        if key in _held:
            held = _held[key]
            held.depth += 1
        else:
            held = _held[key] = _Held(_acquire(path, key, for_run), me, for_run)
        return held


def _give_back(key: Path, held: _Held) -> None:
    with _changed:
        if _held.get(key) is not held:
            return  # this process is a fork of the holder, and does not hold the lock
        held.depth -= 1
        if not held.depth:
            del _held[key]
            with contextlib.suppress(OSError):  # the folder may be gone; closing ends the lock
                key.unlink()
            os.close(held.handle)
            _changed.notify_all()


def _forget_in_child() -> None:
    """Close the locks in a forked child: they must end with the parent, not with its children."""
    global _changed  # the parent's may be locked by a thread that does not exist in the child
    _changed = threading.Condition()
    for held in _held.values():
        os.close(held.handle)
    _held.clear()


os.register_at_fork(after_in_child=_forget_in_child)


def _acquire(path: Path, name: Path, for_run: bool) -> int:
    try:
        handle = _flocked(path, name)
        try:
            _refuse_other_names(path)
            _refuse_if_beating(handle, path)
            os.ftruncate(handle, 0)
            os.pwrite(handle, json.dumps({**_myself(), "for_run": for_run}).encode(), 0)
        except BaseException as error:
            if not isinstance(error, StudyLockedError):  # the file is its holder's
                name.unlink(missing_ok=True)
            os.close(handle)
            raise
    except OSError as error:
        raise explain(error, path, TAKING_A_LOCK) from error
    return handle


def _flocked(path: Path, name: Path) -> int:
    tries, until = _TRIES, time.monotonic() + _PATIENCE
    while True:
        handle = open_plain(name, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            who = _read_holder(handle)
            os.close(handle)
            is_short = who.get("for_run") is False and time.monotonic() < until
            tries = _TRIES if is_short else tries - 1
            if tries:
                _changed.wait(_PAUSE)  # other threads may take and give back their locks meanwhile
                continue
            raise _refusal(path, who) from None
        if is_still(handle, name):
            return handle
        os.close(handle)  # its holder removed the file between our open and our lock


def _refuse_other_names(path: Path) -> None:
    """Raise a StoreError for a file with hard links: a change would reach only one name."""
    try:
        about = path.stat()
    except FileNotFoundError:
        return
    if path.is_file() and about.st_nlink > 1:
        raise StoreError(
            f"{path}: the file has {about.st_nlink} names (hard links), and a change would leave "
            "the others behind; write to a copy of it, or remove the other names"
        )


def _myself() -> dict[str, Any]:
    return {
        "pid": os.getpid(),
        "host": _HERE,
        "job": _job(),
        "since": datetime.now().astimezone().isoformat(timespec="seconds"),
        "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])[:200],
    }


def _job() -> str:
    """Return the number of the job in which this process runs, with that of its task."""
    array = os.environ.get("SLURM_ARRAY_JOB_ID")
    if array:
        return f"{array}_{os.environ.get('SLURM_ARRAY_TASK_ID', '?')}"
    return next((os.environ[name] for name in _JOB_IDS if os.environ.get(name)), "")


def _read_holder(handle: int) -> dict[str, Any]:
    try:
        return dict(json.loads(os.pread(handle, 4096, 0)))
    except (TypeError, ValueError):
        return {}
