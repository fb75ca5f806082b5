"""Conversion of errors of the operating system and of HDF5 to one line with a way out."""

import contextlib
import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path

from mlaut.errors import MlautError, StoreError
from mlaut.helpers.markup import beside

TAKING_A_LOCK = "taking its lock"
_MEANT = beside(__file__)  # read now: when an error is explained, too many files may be open
_ENOTSUPP = 524  # of Linux, for which Python has no name
# Errors of what the machine lacks at the moment: they say nothing about the file that is read.
OF_THE_MACHINE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.ESTALE)


def explain(error: OSError, path: Path, doing: str) -> StoreError:
    """Return a StoreError with one clear line for an error of the system or of HDF5."""
    text, size = str(error), 0
    with contextlib.suppress(OSError):
        size = path.stat().st_size
    if error.errno == errno.ENOENT:
        if not path.parent.exists():
            return StoreError(f"{path}: its folder is not there while {doing}; check the path")
        when = "" if doing.startswith("opening") else f" while {doing}"
        return StoreError(f"{path}: no such file{when}; check the path")
    for about in _MEANT.values():
        codes = [getattr(errno, name, _ENOTSUPP) for name in about.get("codes", ())]
        fits = error.errno in codes or any(words in text for words in about.get("words", ()))
        if fits and doing == about.get("only", doing):
            return StoreError(f"{path}: {about['message'].format(doing=doing, size=size)}")
    return StoreError(f"{path}: cannot be used while {doing}: {' '.join(text.split())}")


@contextlib.contextmanager
def explained(path: Path, doing: str) -> Iterator[None]:
    """Turn an OSError of the block into a StoreError that explains it; others pass unchanged.

    An interrupt (Ctrl-C) at the begin of what HDF5 calls becomes another error on its way; it is
    raised again.
    """
    try:
        yield
    except Exception as error:
        if _is_interrupt(error):
            raise KeyboardInterrupt from error
        if (of_system := system_error_of(error)) is None:
            raise
        raise explain(of_system, path, doing) from error


def _is_interrupt(error: BaseException | None) -> bool:
    if re.search(r"driver \w+ request failed", str(error)):  # `FileObject` raises nothing else
        return isinstance(error, RuntimeError)
    while isinstance(error, SystemError):
        error = error.__cause__
    return isinstance(error, KeyboardInterrupt)


@contextlib.contextmanager
def damage_told(path: Path, what: str) -> Iterator[None]:
    """Turn what HDF5 raises on a damaged structure into a StoreError; ``what`` is the sign of it.

    Errors of the system pass unchanged.
    """
    try:
        yield
    except (KeyError, RuntimeError, ValueError) as error:
        if system_error_of(error):
            raise
        raise StoreError(
            f"{path}: damaged, for {what} ({' '.join(str(error).split())}); "
            "restore it from a copy, or write to a new file"
        ) from error


def refuse_error_of_machine(error: Exception, path: Path, doing: str) -> None:
    """Raise a StoreError for an error of the machine, which says nothing of the file."""
    if isinstance(error, OSError) and error.errno in OF_THE_MACHINE:
        raise explain(error, path, doing) from error


def system_error_of(error: Exception) -> OSError | None:
    """Return an OSError, also one that HDF5 raises as another error and names in its text."""
    if isinstance(error, OSError):
        return error
    named = None if isinstance(error, MlautError) else re.search(r"errno = (\d+)", str(error))
    return OSError(int(named[1]), os.strerror(int(named[1]))) if named else None
