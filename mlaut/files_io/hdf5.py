"""Open HDF5 files so that an interruption cannot destroy stored data.

Databases are opened in three ways only:

- `read_h5` reads, also while another process writes.
- `rewrite_h5` changes the structure. HDF5 can destroy *old* data when a change of its metadata is
  interrupted, so the change is made in a temporary copy that replaces the file in one step.
- `write_in_place` writes values of allocated arrays directly to the file, bypassing HDF5, so that
  an interruption can only leave those values half written.

Every file that is written here is sealed (`mlaut.files_io.seal`), and the seal is checked before
HDF5 reads a file.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from operator import mul
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from mlaut.errors import StoreError
from mlaut.files_io.hdf5_output import output_h5
from mlaut.files_io.lock import locked
from mlaut.files_io.seal import BLOCK, check_seal, list_open, write_seal
from mlaut.files_io.system_errors import explain, explained
from mlaut.files_io.untrusted import check_links, check_plain

__all__ = [
    "InPlace",
    "RawArray",
    "accept_changes",
    "fsync_folder",
    "is_held",
    "leftovers",
    "read_h5",
    "rewrite_h5",
    "write_in_place",
]


def _open(path: Path, mode: str, doing: str) -> h5py.File:
    # HDF5's own lock would shut readers out while a run writes, and must have the same setting for
    # all openings of a file in a process. `locked` keeps other writers out instead.
    check_plain(path)
    try:
        check_seal(path)
        file = h5py.File(path, mode, locking=False)
        try:
            check_links(file, path)
        except BaseException:
            file.close()
            raise
    except OSError as error:
        raise explain(error, path, doing) from error
    return file


@contextlib.contextmanager
def read_h5(path: str | os.PathLike[str]) -> Iterator[h5py.File]:
    """Open a file for reading, without a lock, so that a study can be read while a run writes.

    Raises
    ------
    StoreError
        The file does not exist, is not HDF5, or is damaged.
    """
    path = Path(path)
    with explained(path, "reading"), _open(path, "r", "opening it to read") as file:
        yield file


# ----------------------------------------------------------- changing structure


@contextlib.contextmanager
def rewrite_h5(
    path: str | os.PathLike[str], *, fresh: bool = False, unsealed: bool = False
) -> Iterator[h5py.File]:
    """Open a database to change its structure; the change becomes visible as a whole or not at all.

    Parameters
    ----------
    path : path-like
        Path of the database, which is created if it does not exist.
    fresh : bool, default False
        Begin with an empty file instead of a copy of the present one. The caller copies what is
        kept; deleted data then leave no unused space in the file.
    unsealed : bool, default False
        Do not check the seal of the present file.

    Yields
    ------
    h5py.File
        Temporary file in the same folder. When the block ends without an error, it is sealed,
        synced to disk, and replaces ``path``; otherwise it is deleted, and ``path`` is unchanged.

    Raises
    ------
    StoreError
        The file is damaged, read-only, held by another process, or the disk is full.
    """
    path = Path(path)
    real = Path(os.path.realpath(path))
    doing = "changing its structure"
    with explained(path, doing), locked(path):
        known = real.exists()
        if known and not unsealed:
            _open(path, "r", doing).close()
        if known and not os.access(real, os.W_OK):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        remove_leftovers(real)
        with _temporary(real) as (temporary, handle):
            if known:
                shutil.copymode(real, temporary)
            if known and not fresh:
                shutil.copyfile(real, temporary)
            place = None
            with output_h5(handle, empty=fresh or not known) as file:
                if known and not fresh:
                    check_links(file, real)
                yield file
                if file.userblock_size == BLOCK:
                    place = list_open(file)
            if place:
                write_seal(temporary, *place)
            os.fsync(handle)
            temporary.replace(real)
            fsync_folder(real.parent)


def accept_changes(path: str | os.PathLike[str]) -> None:
    """Seal a database again that another program has changed; its content is not checked.

    Raises
    ------
    StoreError
        The file does not exist, HDF5 cannot open it, or another process writes to it.
    """
    path = Path(path)
    if not path.exists():
        raise explain(FileNotFoundError(errno.ENOENT, ""), path, "sealing it")
    with rewrite_h5(path, unsealed=True):
        pass


@contextlib.contextmanager
def _temporary(path: Path) -> Iterator[tuple[Path, int]]:
    """Yield a temporary file beside a database, locked while its writer lives; then remove it."""
    name = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield name, handle
    finally:
        name.unlink(missing_ok=True)
        os.close(handle)


def leftovers(path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Return the unfinished copies of a database that killed writers left beside it.

    Each copy may be as large as the database. The next writer removes them.
    """
    path = Path(os.path.realpath(path))
    of_path = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-z_]{{8}}\.tmp")
    files = sorted(path.parent.iterdir()) if path.parent.is_dir() else ()
    return tuple(f for f in files if of_path.fullmatch(f.name) and not is_held(f))


def remove_leftovers(path: Path) -> None:
    """Remove the copies that killed writers left; the caller must hold the lock."""
    for file in leftovers(path):
        with contextlib.suppress(OSError):
            file.unlink()


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


def fsync_folder(folder: Path) -> None:
    """Sync a folder to disk, so that new names in it survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# -------------------------------------------------------------- changing values


@contextlib.contextmanager
def write_in_place(path: str | os.PathLike[str]) -> Iterator[InPlace]:
    """Open a database to overwrite values of its allocated arrays.

    Raises
    ------
    StoreError
        The file does not exist, is damaged or read-only, or another process writes to it.
    """
    path = Path(path)
    real = Path(os.path.realpath(path))
    with (
        explained(path, "writing"),
        locked(path),
        _open(path, "r", "opening it to write") as file,
        real.open("r+b", buffering=0) as raw,
    ):
        remove_leftovers(real)
        yield InPlace(real, file, raw.fileno())


class InPlace:
    """Database whose structure is read by HDF5 and whose values are written without HDF5.

    Attributes
    ----------
    file : h5py.File
        File open for reading; it may not see the values that `RawArray` writes.
    """

    def __init__(self, path: Path, file: h5py.File, handle: int) -> None:
        self.path = path
        self.file = file
        self._handle = handle

    def array(self, dataset: h5py.Dataset) -> RawArray:
        """Return an allocated array of the file for writing."""
        return RawArray(self._handle, dataset)

    def sync(self) -> None:
        """Sync the written values to disk, after checking that the file still exists."""
        self.check_there()
        os.fsync(self._handle)

    def check_there(self) -> None:
        """Check that the path still leads to the open file.

        Raises
        ------
        StoreError
            The file was removed or replaced; values that are written now would be lost.
        """
        with contextlib.suppress(OSError):
            if os.path.samestat(self.path.stat(), os.fstat(self._handle)):
                return
        raise StoreError(
            f"{self.path}: the file was removed or replaced while it was written to; restore it, "
            "or make the study anew"
        )


class RawArray:
    """Allocated, contiguous array of an HDF5 file, read and written at its offset in the file."""

    def __init__(self, handle: int, dataset: h5py.Dataset) -> None:
        self._handle = handle
        self._offset = dataset.id.get_offset()
        self._dtype = dataset.dtype
        self._shape = dataset.shape
        sizes = itertools.accumulate(reversed(self._shape), mul, initial=self._dtype.itemsize)
        self._bytes = tuple(sizes)[::-1]  # size of the part below 0, 1, 2, ... leading indices
        if self._offset is None and dataset.size:
            raise ValueError(f"{dataset.name} is not allocated")

    def read(self, *index: int) -> np.ndarray:
        """Return a copy of the part below leading indices."""
        content = os.pread(self._handle, self._bytes[len(index)], self._place(index))
        shape = self._shape[len(index) :]
        return np.frombuffer(bytearray(content), dtype=self._dtype).reshape(shape)

    def write(self, index: tuple[int, ...], values: Any) -> None:
        """Write the part below leading indices."""
        rest = memoryview(np.asarray(values, dtype=self._dtype).tobytes())
        if len(rest) != self._bytes[len(index)]:
            raise ValueError(f"{len(rest)} bytes where {self._bytes[len(index)]} belong")
        offset = self._place(index)
        while rest:
            written = os.pwrite(self._handle, rest, offset)
            rest, offset = rest[written:], offset + written

    def _place(self, index: tuple[int, ...]) -> int:
        return self._offset + sum(map(mul, index, self._bytes[1:]))
