"""Build ``shim.c``, which watches what a process changes in files, and begin again under it."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_name("shim.c")
HOW = ("before", "after", "half")
_WRITE, _SIZE, _SYNC, _CREATE, _OPEN, _READ, _NAME = (2**k for k in range(7))
KINDS = {
    "EIO": _WRITE | _SIZE | _SYNC | _CREATE | _READ | _NAME,
    "ENOSPC": _WRITE | _SIZE | _SYNC | _CREATE,
    "EDQUOT": _WRITE | _SIZE | _SYNC | _CREATE,
    "EMFILE": _OPEN,
    "short": _WRITE,
}
RARE = {"EIO-rare": KINDS["EIO"] & ~(_WRITE | _READ)}  # few enough to try them all


def compiler() -> str | None:
    """Return the C compiler of this machine; None where there is none."""
    return next((found for name in ("cc", "gcc", "clang") if (found := shutil.which(name))), None)


def begin_again_watched() -> None:
    """Replace this process by one that has loaded the shim; return where it has."""
    if "MLAUT_SHIM" in os.environ:
        return
    found = compiler()
    if not found or not sys.platform.startswith("linux"):
        raise SystemExit("a C compiler and Linux are needed")
    library = Path(tempfile.mkdtemp(prefix="mlaut-shim-")) / "shim.so"
    command = [found, "-O1", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"]
    subprocess.run(command, check=True)
    environment = {**os.environ, "LD_PRELOAD": str(library), "MLAUT_SHIM": str(library)}
    os.execve(sys.executable, [sys.executable, *sys.argv], environment)


def kill_at(folder: Path, number: int, how: str) -> None:
    """Have this process killed at a call that changes a file below a folder.

    Parameters
    ----------
    folder : Path
    number : int
        Of the call, counted from now: 1 is the next.
    how : {"before", "after", "half"}
        Before it, after it, or when half of what it writes is written.
    """
    place = os.fsencode(os.path.realpath(folder))
    _shim().watch_kill(place, ctypes.c_long(number), HOW.index(how))


def fail_at(folder: Path, number: int, error: str) -> None:
    """Have a call on files below a folder fail, counted from now: 1 is the next.

    Parameters
    ----------
    folder : Path
    number : int
    error : str
        Key of `KINDS` or `RARE`: an errno, or "short" for a write of half of what it should.
    """
    place, code = os.fsencode(os.path.realpath(folder)), getattr(errno, error.partition("-")[0], 0)
    _shim().watch_fail(place, ctypes.c_long(number), code, (KINDS | RARE)[error])


def log_to(folder: Path, file: Path) -> None:
    """Write every call that changes a file below a folder to a file elsewhere."""
    _shim().watch_log(os.fsencode(os.path.realpath(folder)), os.fsencode(file))


def calls_left() -> int:
    """Return how many calls are left before the one that kills."""
    return int(_shim().watch_left())


def _shim() -> ctypes.CDLL:
    library = ctypes.CDLL(os.environ["MLAUT_SHIM"])
    library.watch_left.restype = ctypes.c_long
    return library
