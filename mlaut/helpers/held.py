"""Files that a process holds: locks with a limited wait, and unfinished files.

An unfinished file or folder is in the same folder as its target. It is locked while its writer
lives. A killed writer leaves it without a lock, and the next writer of the same target removes it.
"""

import contextlib
import fcntl
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from mlaut.errors import StudyLockedError

PATIENCE = 10.0  # seconds: a change in place locks its file while it writes what is new
_PAUSE = 0.01  # seconds between two tries
_BEGIN = 50  # characters of a target's name in that of its unfinished files: no name is too long


def wait_for_lock(handle: int, kind: int, path: Path, seconds: float | None = None) -> None:
    """Lock an open file (``flock``) like HDF5 and other programs; wait some time for others.

    Parameters
    ----------
    handle : int
        File descriptor.
    kind : int
        ``fcntl.LOCK_SH`` or ``fcntl.LOCK_EX``.
    path : Path
        Path of the file, for the message.
    seconds : float, optional
        Time to wait; default `PATIENCE`.

    Raises
    ------
    StudyLockedError
        Another process still holds a lock of the file (the message names it).
    """
    patience = PATIENCE if seconds is None else seconds
    until = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > until:
                raise StudyLockedError(
                    f"{path}: {_locker(handle)} has the file open and locked (as h5py does in mode "
                    f"'r+'), and kept it for {patience:g} s; close it there, and repeat the call"
                ) from None
            time.sleep(_PAUSE)
        except OSError:  # a file system without locks
            return


def _locker(handle: int) -> str:
    """Return a phrase on the process that has locked a file, from the list of Linux."""
    about = os.fstat(handle)
    file = f"{os.major(about.st_dev):02x}:{os.minor(about.st_dev):02x}:{about.st_ino}"
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/locks").read_text().splitlines():
            words = line.split()
            if words[1] == "FLOCK" and words[5] == file:
                command = Path("/proc", words[4], "cmdline").read_bytes()
                text = command.decode(errors="replace").replace("\0", " ").strip()
                return f"process {words[4]} ({' '.join(text.split())[:200]})"
    return "another process"


@contextlib.contextmanager
def unfinished(target: Path, *, folder: bool = False) -> Iterator[tuple[Path, int]]:
    """Yield path and descriptor of an empty file or folder that will become another one.

    Leftovers of killed writers of the target are removed first. The caller renames the file or
    folder when it is finished; otherwise it is removed.
    """
    remove_leftovers(target)
    path, handle = _made(target, folder)
    try:
        yield path, handle
    finally:
        _remove(path)
        os.close(handle)


def _made(target: Path, folder: bool) -> tuple[Path, int]:
    while True:
        path = target.with_name(f".{target.name[:_BEGIN]}.{secrets.token_hex(4)}.tmp")
        if folder:
            path.mkdir()
            flags = os.O_RDONLY
        else:
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
        try:  # another writer may take it for a leftover before it is locked
            handle = os.open(path, flags, 0o666)
            wait_for_lock(handle, fcntl.LOCK_EX, path)
            if is_still(handle, path):
                return path, handle
            os.close(handle)
        except FileNotFoundError:
            if not folder or not path.parent.exists():
                raise
        except BaseException:
            _remove(path)
            raise


def is_still(handle: int, path: Path) -> bool:
    """Return whether a path still leads to an open file."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def leftovers(target: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Return the unfinished files that killed writers of a file or folder left beside it.

    Each may be as large as the finished file. The next writer removes them.
    """
    target = Path(os.path.realpath(target))
    of_target = re.compile(rf"\.{re.escape(target.name[:_BEGIN])}\.[0-9a-z_]{{8}}\.tmp")
    files = sorted(target.parent.iterdir()) if target.parent.is_dir() else ()
    return tuple(f for f in files if of_target.fullmatch(f.name) and not is_held(f))


def remove_leftovers(target: str | os.PathLike[str]) -> None:
    """Remove the unfinished files that killed writers of a file or folder left."""
    for path in leftovers(target):
        _remove(path)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def is_held(file: Path) -> bool:
    """Return whether a living process has a lock on a file; True if that cannot be determined."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(handle)
