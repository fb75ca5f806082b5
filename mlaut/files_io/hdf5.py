"""Opening HDF5 files so that nothing stored can be lost.

Three ways, and no other, to touch a database:

- `read_h5`: look, also while another process writes;
- `rewrite_h5`: change the structure. HDF5 can destroy *old* data when a change of its metadata is
  interrupted, so the change is made in a temporary copy that replaces the file in one step;
- `write_h5_in_place`: put raw values into arrays that exist and are allocated. No metadata
  changes, so an interruption can only leave those values half written.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import h5py

from mlaut.errors import StoreError
from mlaut.files_io.lock import locked
from mlaut.files_io.system_errors import explain

__all__ = ["read_h5", "rewrite_h5", "write_h5_in_place"]


def _open(path: Path, mode: str, doing: str) -> h5py.File:
    # HDF5's own lock would keep readers out while a run writes, and wants one setting for a file
    # in a process; `locked` keeps other writers out.
    if path.is_dir():
        raise StoreError(f"{path}: is a folder, not an HDF5 file; name a file in it")
    try:
        return h5py.File(path, mode, locking=False)
    except OSError as error:
        raise explain(error, path, doing) from error


@contextlib.contextmanager
def _explained(path: Path, doing: str) -> Iterator[None]:
    """Explain what goes wrong inside; an error that already explains itself passes."""
    try:
        yield
    except OSError as error:
        raise explain(error, path, doing) from error


@contextlib.contextmanager
def read_h5(path: str | os.PathLike[str]) -> Iterator[h5py.File]:
    """Open for reading, without a lock, so that a live study can be read.

    Raises
    ------
    StoreError
        The file does not exist, is not HDF5, or is damaged.
    """
    path = Path(path)
    with _explained(path, "reading"), _open(path, "r", "opening it to read") as file:
        yield file


@contextlib.contextmanager
def write_h5_in_place(path: str | os.PathLike[str]) -> Iterator[h5py.File]:
    """Open to overwrite values of existing, allocated arrays; the caller changes nothing else."""
    path = Path(path)
    with (
        _explained(path, "writing"),
        locked(path),
        _open(path, "r+", "opening it to write") as file,
    ):
        yield file


@contextlib.contextmanager
def rewrite_h5(path: str | os.PathLike[str], *, fresh: bool = False) -> Iterator[h5py.File]:
    """Change the structure of a database: all of the change becomes visible, or nothing.

    Parameters
    ----------
    path : path-like
        Created when it does not exist.
    fresh : bool, default False
        Begin with an empty file in place of a copy of the present one; the caller copies what is
        to be kept. It leaves no holes where something was deleted.

    Yields
    ------
    h5py.File
        A temporary file in the same folder. When the block ends without an error it is synced to
        disk and replaces ``path``; otherwise it is deleted, and ``path`` is as it was.

    Raises
    ------
    StoreError
        The file is damaged, read-only, held by another process, or the disk is full.
    """
    path = Path(path)
    doing = "changing its structure"
    with _explained(path, doing), locked(path):
        if path.exists():
            _open(path, "r", doing).close()
        if path.exists() and not os.access(path, os.W_OK):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            if path.exists():
                shutil.copymode(path, temporary)
            else:
                temporary.chmod(0o666 & ~_umask())
            if path.exists() and not fresh:
                shutil.copyfile(path, temporary)
            with h5py.File(temporary, "w" if fresh or not path.exists() else "r+") as file:
                yield file
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
            temporary.replace(path)
            _fsync_folder(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _fsync_folder(folder: Path) -> None:
    """Make a rename in a folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
