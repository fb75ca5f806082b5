"""Plain files: read up to a limit, and written as a whole or not at all.

A pipe or a device that somebody names is refused: reading it may never end. A file that is written
takes its place when it is finished, so a full disk or a kill leaves the old one.
"""

import contextlib
import errno
import json
import os
import resource
import shutil
import stat
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mlaut.errors import StoreError
from mlaut.files_io.safe_files.system_errors import explained
from mlaut.helpers.held import unfinished

MOST_TEXT = 2**24  # bytes of a study file, a list of clusters, or a file of strategies

# ------------------------------------------------------------------------- memory

DEFLATED = 1100  # above the largest ratio of deflate, 1,032 bytes from one
_CGROUP = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
TEXT = 32  # bytes that Python's objects may take in memory for a byte of text or JSON


def _usable() -> int:
    """Return the bytes of memory that this process may use: of the machine, or its limits."""
    known = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    known += [soft] * (soft != resource.RLIM_INFINITY)
    for file in _CGROUP:
        with contextlib.suppress(OSError, ValueError):  # not there, or "max"
            known.append(int(Path(file).read_text()))
    return min(known)


MEMORY = _usable() // 2  # half: tables are copied
MOST_JSON = min(2**28, MEMORY // TEXT)  # bytes of a JSON value

# ---------------------------------------------------------------------- kinds of files


def check_plain(path: Path) -> None:
    """Check that a path is a plain file, if it exists: reading a pipe or a device may never end.

    Raises
    ------
    StoreError
        The path is a folder, a pipe or a device.
    """
    if path.exists() and not path.is_file():
        if path.is_dir():
            raise StoreError(f"{path}: is a folder, and must be a file; name a file in it")
        raise StoreError(f"{path}: a pipe or a device, and must be a file; name another")


def open_plain(path: Path, flags: int, mode: int = 0o666) -> int:
    """Open a file that MLaut keeps beside a database, and return its descriptor.

    MLaut never makes these files as links, pipes or devices, nor with a second name. Somebody may
    have put such a file there to have another file changed, so it is refused.

    Raises
    ------
    StoreError
        The file is not a plain file, or is opened for writing and has several names.
    OSError
        The file cannot be opened.
    """
    try:
        handle = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, mode)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            raise _led_away(path) from None
        raise
    about = os.fstat(handle)
    writes = flags & (os.O_RDWR | os.O_WRONLY)
    if not stat.S_ISREG(about.st_mode) or (writes and about.st_nlink > 1):
        os.close(handle)
        raise _led_away(path)
    return handle


def refuse_link(folder: Path) -> None:
    """Check that a folder that MLaut writes into is not a link.

    Raises
    ------
    StoreError
        The folder is a link.
    """
    if folder.is_symlink():
        raise _led_away(folder)


def _led_away(path: Path) -> StoreError:
    return StoreError(
        f"{path}: a link, a pipe or a device, and MLaut writes only to plain files and folders of "
        "its own beside a study; do not trust this folder, or remove the link"
    )


# ------------------------------------------------------------------------- reading


def read_text(path: Path, most: int = MOST_TEXT) -> str:
    """Return the text of a plain file in UTF-8, also with a byte-order mark, as Windows writes it.

    Raises
    ------
    UnicodeDecodeError
        The file has another encoding; else as `read_plain`.
    """
    return read_plain(path, most).decode("utf-8-sig")


def read_plain(path: Path, most: int = MOST_TEXT) -> bytes:
    """Return the content of a plain file.

    Raises
    ------
    StoreError
        The path is a folder, a pipe or a device, or has more bytes than ``most``.
    OSError
        The file cannot be read.
    """
    check_plain(path)
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise StoreError(f"{path}: has more than {most:,} bytes; not read")
    return content


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file; ValueError if it is none, else as `read_text`."""
    text = read_text(path)
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def strict_json(text: str) -> Any:
    """Return the value of a JSON text; raise ValueError also where an object has a key twice.

    Examples
    --------
    >>> strict_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: an object has the key 'a' twice
    """
    try:
        return json.loads(text, object_pairs_hook=_once)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in values if keys.count(key) > 1)
        raise ValueError(f"an object has the key {twice!r} twice")
    return values


# ------------------------------------------------------------------------- writing


def write_file(path: Path, content: str | bytes, *, new: bool = False) -> Path:
    """Write a file, which replaces the present one when it is complete, and return its path.

    A link is followed. With ``new``, nothing is replaced.

    Raises
    ------
    StoreError
        The file cannot be written, and the present one is as it was; it is no plain file; or it
        exists and must be new.
    """
    real = Path(os.path.realpath(path))
    with explained(path, "writing it"):
        check_plain(real)
        if real.exists() and new:
            raise StoreError(f"{path}: exists, and nothing is overwritten; name another, or delete")
        if real.exists() and not os.access(real, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        real.parent.mkdir(parents=True, exist_ok=True)
        with unfinished(real) as (temporary, handle):
            if real.exists():
                shutil.copymode(real, temporary)
            temporary.write_bytes(_encoded(content))
            os.fsync(handle)
            temporary.replace(real)
    return path


def write_files(folder: Path, contents: Iterable[tuple[str, str | bytes]]) -> tuple[Path, ...]:
    """Write files of a folder, and return their paths: if one cannot be written, none is replaced.

    Raises
    ------
    StoreError
        The files cannot be written.
    """
    with explained(folder, "writing its files"):
        folder.mkdir(parents=True, exist_ok=True)
        names = []
        with unfinished(folder / "files", folder=True) as (temporary, _):
            for name, content in contents:
                (temporary / name).parent.mkdir(parents=True, exist_ok=True)
                (temporary / name).write_bytes(_encoded(content))
                names.append(name)
            for name in names:  # a link in its place is replaced: it may lead anywhere
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (temporary / name).replace(folder / name)
    return tuple(folder / name for name in names)


def _encoded(content: str | bytes) -> bytes:
    if isinstance(content, bytes):
        return content
    return content.encode("utf-8", "backslashreplace")  # UTF-8 has no form of a lone surrogate
