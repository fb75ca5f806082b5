"""One writer a database: a lock beside the file that names its holder and dies with it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from mlaut.errors import StudyLockedError
from mlaut.files_io.system_errors import explain

__all__ = ["holder_of", "locked"]

_held: dict[Path, int] = {}
_guard = threading.RLock()


def lock_path(path: Path) -> Path:
    """Where the lock of a database lies."""
    return path.with_name(path.name + ".lock")


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a database; within one process it may be taken again.

    The lock is the kernel's (``flock``), so a lock file left by a dead process holds nobody back.

    Raises
    ------
    StudyLockedError
        Another process holds it; the message names that process.
    StoreError
        The folder is read-only or gone.
    """
    path = path.absolute()
    with _guard:
        if path in _held:
            handle = None
            _held[path] += 1
        else:
            handle = _acquire(path)
            _held[path] = 1
    try:
        yield
    finally:
        with _guard:
            _held[path] -= 1
            if not _held[path]:
                del _held[path]
        if handle is not None:
            with contextlib.suppress(OSError):  # the folder may be gone; the lock dies anyway
                lock_path(path).unlink()
            os.close(handle)


def holder_of(path: Path) -> dict[str, str | int] | None:
    """Say which process holds the lock of a database now; None when nobody does."""
    try:
        handle = os.open(lock_path(path.absolute()), os.O_RDWR)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read_holder(handle)
    else:
        return None
    finally:
        os.close(handle)


def _acquire(path: Path) -> int:
    name = lock_path(path)
    while True:
        try:
            handle = os.open(name, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise explain(error, path, "taking its lock") from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            who = _read_holder(handle)
            os.close(handle)
            raise StudyLockedError(
                f"{path}: process {who.get('pid', '?')} on {who.get('host', '?')} is writing to it "
                f"since {who.get('since', '?')} ({who.get('command', '?')}); "
                "wait until it ends, or stop it"
            ) from None
        if _still_named(handle, name):
            break
        os.close(handle)  # its holder removed it between our open and our lock
    os.ftruncate(handle, 0)
    os.pwrite(handle, json.dumps(_myself()).encode(), 0)
    return handle


def _still_named(handle: int, name: Path) -> bool:
    try:
        return os.fstat(handle).st_ino == name.stat().st_ino
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
