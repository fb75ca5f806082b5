"""One writer a database: a lock beside the file that names its holder and dies with it.

A holder is a thread of a process. Other processes are refused. Other threads of the same process
wait for a short change, such as storing a dataset, and are refused while a run writes.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from mlaut.errors import StoreError, StudyLockedError
from mlaut.files_io.names import beside
from mlaut.files_io.system_errors import explain
from mlaut.files_io.untrusted import open_plain

__all__ = ["holder_of", "locked"]


@dataclass
class _Held:
    """A lock that this process holds: by which thread, how often, and whether a run has it."""

    handle: int
    thread: int
    for_run: bool
    depth: int = 1


# `holder_of` takes the lock for some microseconds: who only looks must not keep a writer out.
_TRIES, _PAUSE = 5, 0.02  # seconds
_held: dict[Path, _Held] = {}
_changed = threading.Condition()


def lock_path(path: Path) -> Path:
    """Return where the lock of a database lies."""
    return beside(path, ".lock")


@contextlib.contextmanager
def locked(path: Path, *, for_run: bool = False) -> Iterator[None]:
    """Hold the lock of a database; the thread that has it may take it again.

    The lock is the kernel's (``flock``), so a lock file left by a dead process holds nobody back.
    It lies beside the real file, so a symbolic link, a relative and an absolute path are one
    database.

    Parameters
    ----------
    path : Path
    for_run : bool, default False
        Whether it is held for as long as a run takes, so that other threads must not wait for it.

    Raises
    ------
    StudyLockedError
        Another process holds it, or a run in another thread; the message names that process.
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


def holder_of(path: Path) -> dict[str, str | int] | None:
    """Say which process holds the lock of a database now; None when nobody does."""
    try:
        handle = open_plain(lock_path(path), os.O_RDWR)
    except (OSError, StoreError):
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read_holder(handle)
    else:
        return None
    finally:
        os.close(handle)


def _take(path: Path, key: Path, for_run: bool) -> _Held:
    me = threading.get_ident()
    with _changed:
        while key in _held and _held[key].thread != me:
            if _held[key].for_run:
                raise StudyLockedError(
                    f"{path}: a run in another thread of this process is writing to it; "
                    "wait until it ends"
                )
            _changed.wait()
        if key in _held:
            held = _held[key]
            held.depth += 1
        else:
            held = _held[key] = _Held(_acquire(path, key), me, for_run)
        return held


def _give_back(key: Path, held: _Held) -> None:
    with _changed:
        if _held.get(key) is not held:
            return  # a fork of the holder: the lock is not its own
        held.depth -= 1
        if not held.depth:
            del _held[key]
            with contextlib.suppress(OSError):  # the folder may be gone; the lock dies anyway
                key.unlink()
            os.close(held.handle)
            _changed.notify_all()


def _forget_in_child() -> None:
    """Leave the locks to the parent: they must die with it, and not with its children."""
    global _changed  # the parent's may be held by a thread that the child does not have
    _changed = threading.Condition()
    for held in _held.values():
        os.close(held.handle)
    _held.clear()


os.register_at_fork(after_in_child=_forget_in_child)


def _acquire(path: Path, name: Path) -> int:
    try:
        handle = _flocked(path, name)
        try:
            _refuse_other_names(path)
            os.ftruncate(handle, 0)
            os.pwrite(handle, json.dumps(_myself()).encode(), 0)
        except BaseException:
            name.unlink(missing_ok=True)
            os.close(handle)
            raise
    except OSError as error:
        raise explain(error, path, "taking its lock") from error
    return handle


def _flocked(path: Path, name: Path) -> int:
    tries = _TRIES
    while True:
        handle = open_plain(name, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            who = _read_holder(handle)
            os.close(handle)
            tries -= 1
            if tries:
                time.sleep(_PAUSE)
                continue
            raise StudyLockedError(
                f"{path}: process {who.get('pid', '?')} on {who.get('host', '?')} is writing to it "
                f"since {who.get('since', '?')} ({who.get('command', '?')}); "
                "wait until it ends, or stop it"
            ) from None
        if _still_named(handle, name):
            return handle
        os.close(handle)  # its holder removed it between our open and our lock


def _refuse_other_names(path: Path) -> None:
    """Refuse a file with hard links: a change would reach some of its names and not the others."""
    try:
        about = path.stat()
    except FileNotFoundError:
        return
    if path.is_file() and about.st_nlink > 1:
        raise StoreError(
            f"{path}: the file has {about.st_nlink} names (hard links), and a change would leave "
            "the others behind; write to a copy of it, or remove the other names"
        )


def _still_named(handle: int, name: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), name.stat())
    except FileNotFoundError:
        return False


def _myself() -> dict[str, str | int]:
    return {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now().astimezone().isoformat(timespec="seconds"),
        "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])[:200],
    }


def _read_holder(handle: int) -> dict[str, str | int]:
    try:
        return dict(json.loads(os.pread(handle, 4096, 0)))
    except (TypeError, ValueError):
        return {}
