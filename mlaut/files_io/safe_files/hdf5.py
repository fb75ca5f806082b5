"""Open HDF5 files so that an interruption cannot destroy stored data.

Databases are opened in four ways only:

- `read_h5` reads, also while another process writes.
- `change_h5` changes the structure of a sealed file in place (`changes`); it writes as much as is
  new.
- `rewrite_h5` makes a file anew, which then replaces the present one in one step: to make a
  database, to free unused space, and for files without a seal.
- `write_in_place` writes values of allocated arrays directly to the file, bypassing HDF5, so that
  an interruption can only leave those values half written.

Every file that is written here is sealed (`seal`), and the seal is checked before HDF5 reads it.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from mlaut.errors import StoreError
from mlaut.files_io.safe_files import changes
from mlaut.files_io.safe_files.handles import open_own, refuse_other_handles
from mlaut.files_io.safe_files.hdf5_output import Bytes, object_h5, output_h5, write_all
from mlaut.files_io.safe_files.lock import locked
from mlaut.files_io.safe_files.plain_files import check_plain
from mlaut.files_io.safe_files.seal import (
    BLOCK,
    check_seal,
    keep_read,
    kept,
    list_open,
    make_seal,
    sealed_size,
)
from mlaut.files_io.safe_files.system_errors import damage_told, explain, explained
from mlaut.files_io.safe_files.untrusted import check_links
from mlaut.helpers.held import remove_leftovers, unfinished

_PIECE = 2**20  # bytes of one read
_NO_SEAL = "it cannot be sealed"


@contextlib.contextmanager
def _opened(path: Path, doing: str) -> Iterator[h5py.File]:
    """Open a file for reading, through a change that counts and is not in it yet."""
    check_plain(path)
    refuse_other_handles(path)
    with contextlib.ExitStack() as stack:
        try:
            handle = stack.enter_context(changes.shared(path))
            change = changes.read_change(path, handle)
            file = stack.enter_context(_checked(path, handle, change))
        except OSError as error:
            raise explain(error, path, doing) from error
        yield file


@contextlib.contextmanager
def _checked(path: Path, handle: int, change: changes.Change | None) -> Iterator[h5py.File]:
    about = os.fstat(handle)
    if change is None:
        check_seal(path, Bytes(handle), (about.st_ino, about.st_size, about.st_mtime_ns))
        # HDF5's own lock would shut readers out while a run writes, and must have the same setting
        # for all openings of a file in a process. `locked` keeps other writers out instead.
        opened = open_own(path, "r", locking=False)
    else:
        content = changes.Overlay.of(handle, change)
        check_seal(path, content, None)
        opened = object_h5(content, "r", str(path))
    with opened as file:
        check_links(file, path)
        yield file


@contextlib.contextmanager
def read_h5(path: str | os.PathLike[str]) -> Iterator[h5py.File]:
    """Open a file for reading, so that a study can be read while a run writes.

    Raises
    ------
    StoreError
        The file does not exist, is not HDF5, or is damaged.
    """
    path = Path(path)
    with explained(path, "reading"), _opened(path, "opening it to read") as file:
        yield file


def kept_of(path: Path, key: Any) -> Any:
    """Return what `read_once` keeps of a file that nobody has changed since; None if nothing.

    HDF5 does not open the file, which takes fifty times as long.
    """
    check_plain(path)
    with contextlib.suppress(OSError), changes.shared(path) as handle:
        if changes.read_change(path, handle) is None:
            return kept(path, handle, key)
    return None


# ----------------------------------------------------------- changing structure


@contextlib.contextmanager
def rewrite_h5(
    path: str | os.PathLike[str],
    *,
    fresh: bool = False,
    unsealed: bool = False,
    if_smaller: bool = False,
) -> Iterator[h5py.File]:
    """Make a database anew; the new file becomes visible as a whole or not at all.

    Parameters
    ----------
    path : path-like
        Path of the database, which is created if it does not exist.
    fresh : bool, default False
        Begin with an empty file instead of a copy of the present one. The caller copies what is
        kept; deleted data then leave no unused space in the file.
    unsealed : bool, default False
        Do not check the seal of the present file.
    if_smaller : bool, default False
        Keep the present file unless the new one takes less of the disk.

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
        exists = real.exists()
        if exists:
            _complete(real)
        if exists and not unsealed:
            with _opened(path, doing):
                pass
        with unfinished(real) as (temporary, handle):
            if exists:
                shutil.copymode(real, temporary)
            if exists and not fresh:
                _copy(real, handle)
            place, content = None, Bytes(handle)
            with output_h5(content, empty=fresh or not exists) as file:
                if exists and not fresh:
                    check_links(file, real)
                yield file
                if file.userblock_size == BLOCK:
                    with damage_told(path, _NO_SEAL):
                        place = list_open(file)
            # The seal covers what HDF5 wrote while it closed the file, so it can only be made now.
            # A kill before it leaves a file that no name leads to.
            if place:
                with damage_told(path, _NO_SEAL):
                    os.pwrite(handle, make_seal(content, *place), 0)
            if if_smaller:
                os.fsync(handle)  # before that, the system may not have given it its room
                if os.fstat(handle).st_blocks >= real.stat().st_blocks:
                    return
            _replace(temporary, handle, real)


def _copy(source: Path, handle: int) -> None:
    """Copy a file to a descriptor; holes stay holes."""
    target = Bytes(handle)
    with source.open("rb") as file:
        while piece := file.read(_PIECE):
            target.write(piece, file.tell() - len(piece))
    target.truncate(source.stat().st_size)


def _replace(temporary: Path, handle: int, real: Path) -> None:
    os.fsync(handle)
    temporary.replace(real)
    fsync_folder(real.parent)


@contextlib.contextmanager
def change_h5(
    path: str | os.PathLike[str], keeps: str = "", same_open: bool = False
) -> Iterator[h5py.File]:
    """Open a database to change its structure; the change becomes visible as a whole or not at all.

    A sealed file is changed in place, which writes as much as is new. Space of what is deleted
    stays unused until `rewrite_h5` makes the file anew.

    Parameters
    ----------
    path : path-like
        Path of the database, which is created if it does not exist.
    keeps : str, optional
        First word of the keys of `read_once` whose values the change leaves as they are.
    same_open : bool, default False
        The change makes, moves and deletes no array whose values the seal leaves open.

    Yields
    ------
    h5py.File
        The changes become visible when the block ends without an error.

    Raises
    ------
    StoreError
        The file is damaged, read-only, held by another process, or the disk is full.
    """
    path = Path(path)
    real = Path(os.path.realpath(path))
    doing = "changing its structure"
    with explained(path, doing), locked(path), contextlib.ExitStack() as stack:
        end = None
        if real.exists():
            _complete(real)
            with _opened(path, doing) as file, real.open("rb") as raw:
                before = raw.read(BLOCK)
                end = sealed_size(before) if file.userblock_size == BLOCK else None
        if end is None:
            yield stack.enter_context(rewrite_h5(path))
            return
        handle = os.open(real, os.O_RDWR)
        stack.callback(os.close, handle)
        if os.fstat(handle).st_size > end:
            os.ftruncate(handle, end)  # what an interrupted change has left behind the end
        # HDF5 may overwrite old metadata at any moment. The overlay lets new bytes through behind
        # the sealed end, which readers ignore, and keeps those before it in memory: until they are
        # listed beside the file, a kill leaves the old content as it was.
        content = changes.Overlay(handle, end)
        try:
            with output_h5(content, empty=False) as file:
                yield file
                with damage_told(path, _NO_SEAL):
                    place = list_open(file, same_open)
            os.ftruncate(handle, max(end, content.size))
            with damage_told(path, _NO_SEAL):
                after = make_seal(content, *place)
                change = content.change(after)
            os.fsync(handle)  # the list may refer to these bytes, so they must be on the disk first
            _decide(real, change)
        except BaseException:
            with contextlib.suppress(OSError):
                if not changes.change_path(real).exists():
                    os.ftruncate(handle, end)
            raise
        _finish(real, handle, change)
        keep_read(before, after, keeps)


def _decide(real: Path, change: changes.Change) -> None:
    """Write the list of changes: from then on, the change counts."""
    with unfinished(real) as (temporary, handle):
        write_all(handle, changes.encoded(change), 0)
        _replace(temporary, handle, changes.change_path(real))


def _finish(real: Path, handle: int, change: changes.Change) -> None:
    """Write a change that counts into the file, or into a copy if readers do not end."""
    if changes.apply_change(real, handle, change):
        return
    with unfinished(real) as (temporary, copy):
        shutil.copymode(real, temporary)
        _copy(real, copy)
        changes.apply_change(temporary, copy, change)
        _replace(temporary, copy, real)
    changes.change_path(real).unlink(missing_ok=True)


def _complete(real: Path) -> None:
    """Complete the change that a killed writer left; the caller must hold the lock."""
    check_plain(real)
    refuse_other_handles(real)
    if not os.access(real, os.W_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))
    if not changes.change_path(real).exists():
        return
    with contextlib.ExitStack() as stack:
        handle = os.open(real, os.O_RDWR)
        stack.callback(os.close, handle)
        change = changes.read_change(real, handle)
        if change is not None:
            _finish(real, handle, change)
            return
        # A list that could not be removed does no harm. It stays beside a file that has damage.
        with contextlib.suppress(OSError, StoreError), _opened(real, "completing a change"):
            changes.change_path(real).unlink()


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


def fsync_folder(folder: Path) -> None:
    """Sync a folder (or a file) to disk, so that new names in it survive a power cut."""
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
    with explained(path, "writing"), locked(path):
        if real.exists():
            _complete(real)
        remove_leftovers(real)
        with contextlib.closing(InPlace(path)) as file:
            yield file


class InPlace:
    """Database whose structure is read by HDF5 and whose values are written without HDF5.

    Attributes
    ----------
    file : h5py.File
        File open for reading; it may not see the values that `RawArray` writes.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.open()

    def open(self) -> None:
        """Open the file."""
        with contextlib.ExitStack() as stack:
            with _opened(self.path, "opening it to write"):  # checks it
                pass
            self.file = stack.enter_context(open_own(self.path, "r", locking=False))
            raw = stack.enter_context(self.path.open("r+b", buffering=0))
            self.handle = raw.fileno()
            self._stack = stack.pop_all()

    def close(self) -> None:
        """Close the file; a change of structure needs it closed."""
        self._stack.close()

    def array(self, group: h5py.Group, name: str) -> RawArray:
        """Return an allocated array of a group of the file for writing."""
        return RawArray(self, h5py.h5d.open(group.id, name.encode()))

    def sync(self) -> None:
        """Sync the written values to disk, after checking that the file still exists."""
        self.check_there()
        os.fsync(self.handle)

    def check_there(self) -> None:
        """Check that the path still leads to the open file.

        Raises
        ------
        StoreError
            The file was removed or replaced; values that are written now would be lost.
        """
        with contextlib.suppress(OSError):
            if os.path.samestat(self.path.stat(), os.fstat(self.handle)):
                return
        raise StoreError(
            f"{self.path}: the file was removed or replaced while it was written to; restore it, "
            "or make the study anew"
        )


class RawArray:
    """Array (S, R, n, ...) of an HDF5 file, read and written at its places in the file.

    Its pieces are allocated, and hold whole stretches of the third axis.
    """

    def __init__(self, file: InPlace, identity: h5py.h5d.DatasetID) -> None:
        self._file = file
        self._dtype, self._shape = identity.dtype, identity.shape
        self._chunks = identity.get_create_plist().get_chunk()
        self._row = math.prod(self._shape[3:]) * self._dtype.itemsize  # bytes
        self._places: dict[tuple[int, ...], int] = {}
        identity.chunk_iter(
            lambda chunk: self._places.update({chunk.chunk_offset[:3]: chunk.byte_offset})
        )

    def read(self, s: int, r: int) -> np.ndarray:
        """Return a copy of all values of one strategy and repeat."""
        pieces = self._pieces(s, r, 0, self._shape[2])
        content = b"".join(os.pread(self._file.handle, size, place) for place, size in pieces)
        return np.frombuffer(bytearray(content), dtype=self._dtype).reshape(self._shape[2:])

    def write(self, s: int, r: int, start: int, values: Any) -> None:
        """Write values of one strategy and repeat, from a position of the third axis on."""
        content = memoryview(np.ascontiguousarray(values, dtype=self._dtype).tobytes())
        count = len(content) // max(1, self._row)
        if not 0 <= start <= start + count <= self._shape[2] or count * self._row != len(content):
            raise ValueError(f"{len(content)} bytes do not fit at {start} of {self._shape[2]}")
        for place, size in self._pieces(s, r, start, count):
            write_all(self._file.handle, content[:size], place)
            content = content[size:]

    def _pieces(self, s: int, r: int, start: int, count: int) -> Iterator[tuple[int, int]]:
        """Yield place and size of the pieces with some values."""
        strategies, repeats, rows = self._chunks[:3]
        inner = ((s % strategies) * repeats + r % repeats) * rows
        while count > 0:
            first = start // rows * rows
            of_piece = min(count, first + rows - start)
            place = self._places[s // strategies * strategies, r // repeats * repeats, first]
            yield place + (inner + start - first) * self._row, of_piece * self._row
            start, count = start + of_piece, count - of_piece
