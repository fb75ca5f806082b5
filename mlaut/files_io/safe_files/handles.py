"""Handles of HDF5 in this process: MLaut's own, and those of others on the same file.

HDF5 has one open file for all handles of a process, with the setting of locks and the view of the
file that its first handle had. Beside a handle that somebody keeps, MLaut would read what the file
was, and take it for damage. So such a file is refused, by name.
"""

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
from h5py import h5f

from mlaut.errors import StoreError

_own: set[int] = set()  # identifiers of the files that MLaut has open
_opening = threading.Lock()  # a file is open and in `_own`, or neither


def _renew() -> None:
    global _opening  # another thread of the parent may hold it, which the child does not have
    _opening = threading.Lock()


os.register_at_fork(after_in_child=_renew)


@contextlib.contextmanager
def open_own(file: Any, mode: str, **options: Any) -> Iterator[h5py.File]:
    """Open a file of HDF5 that `refuse_other_handles` knows as MLaut's."""
    with _opening:
        try:
            opened = h5py.File(file, mode, **options)
            identity = opened.id.id
            _own.add(identity)
        except KeyboardInterrupt:
            # It may have left the file open: while the interrupt is handled, its traceback keeps
            # h5py's handle, and what is then read or stored must not take it for another's.
            if isinstance(file, Path):
                _own.update(left.id for left in _others(file))
            raise
    try:
        with opened:
            yield opened
    finally:
        if not opened.id.valid:  # pragma: no branch - an interrupt can leave it open
            _own.discard(identity)


def refuse_other_handles(path: Path) -> None:
    """Check that only MLaut has a file open with HDF5 in this process.

    Raises
    ------
    StoreError
        Something else has it open, such as an ``h5py.File`` that a notebook keeps.
    """
    with _opening:
        for file in _others(path):
            raise StoreError(
                f"{path}: this process has it open in h5py (mode {_mode(file)}), and HDF5 "
                "would show MLaut the file as it was then; close that h5py.File "
                "(file.close()), and repeat the call"
            )


def _others(path: Path) -> list[h5f.FileID]:
    """Return what has a file open with HDF5 in this process and is not known as MLaut's."""
    try:
        about = path.stat()
    except OSError:
        return []
    return [
        file
        for file in h5f.get_obj_ids(h5f.OBJ_ALL, h5f.OBJ_FILE)
        if file.id not in _own and _has_name_of(file, about) and _is_of(file, about)
    ]


def _has_name_of(file: h5f.FileID, about: os.stat_result) -> bool:
    """Return whether the name of an open file leads to a file.

    Nothing else is asked of others: of a file object that an interrupt has left open, HDF5
    may close the file, or crash.
    """
    try:
        return os.path.samestat(Path(os.fsdecode(h5f.get_name(file))).stat(), about)
    except (OSError, RuntimeError):
        return False


def _is_of(file: h5f.FileID, about: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.fstat(file.get_vfd_handle()), about)
    except (OSError, RuntimeError):  # a copy in memory or a file object, which HDF5 does not share
        return False


def _mode(file: h5f.FileID) -> str:
    intent = file.get_intent()
    mode = "'r+'" if intent & h5f.ACC_RDWR else "'r'"
    return mode + ", swmr" * bool(intent & (h5f.ACC_SWMR_READ | h5f.ACC_SWMR_WRITE))
