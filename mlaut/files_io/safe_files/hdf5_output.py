"""File objects through which HDF5 reads and writes a descriptor.

HDF5 cannot close a file that it cannot write: on a full disk it reports each of its objects on
standard error, raises errors that look like damage, and may end the process. An interrupt
(Ctrl-C) or an error in what it calls leaves its file open, and comes back as some other error, or
not at all.
So HDF5 reads and writes through `object_h5`, which accepts every byte, and raises the first error
of the system, and an interrupt, after HDF5 has closed the file.
"""

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from typing import Any

import h5py
import numpy as np

from mlaut.files_io.safe_files.handles import open_own
from mlaut.files_io.safe_files.seal import BLOCK

_PAGE = 4096  # bytes of zeros that become a hole: the block of most file systems
_FORM = ("v110", "v110")  # in which groups and places of arrays take a fifth of the bytes


class Bytes:
    """The bytes of a descriptor.

    Parameters
    ----------
    handle : int
        File descriptor.
    """

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self.size = os.fstat(handle).st_size

    def read(self, size: int, offset: int) -> bytes:
        """Return the bytes from an offset on; fewer than ``size`` at the end."""
        return os.pread(self.handle, size, offset)

    def write(self, content: Any, offset: int) -> None:
        """Write bytes; whole pages of zeros are left out where the file has a hole or ends.

        HDF5 writes whole pieces of arrays, and most of a piece may be room for what comes later.
        """
        rest = memoryview(content).cast("B")
        before, end = -offset % _PAGE, offset + len(rest)
        n_pages = max(0, len(rest) - before) // _PAGE
        starts, begin = list[int](), 0
        if n_pages:
            pages = np.frombuffer(rest, np.uint64, n_pages * _PAGE // 8, before)
            empty = np.flatnonzero(~pages.reshape(-1, _PAGE // 8).any(axis=1))
            starts = (before + _PAGE * empty).tolist()
        for start in starts:
            if not os.pread(self.handle, _PAGE, offset + start).strip(b"\0"):
                write_all(self.handle, rest[begin:start], offset + begin)
                begin = start + _PAGE
        write_all(self.handle, rest[begin:], offset + begin)
        self.size = max(self.size, end)

    def truncate(self, size: int) -> None:
        """Set the size of the file."""
        os.ftruncate(self.handle, size)
        self.size = size


def write_all(handle: int, content: bytes | memoryview, offset: int) -> None:
    """Write bytes at an offset of a descriptor, however many calls that takes."""
    rest = memoryview(content)
    while rest:
        written = os.pwrite(handle, rest, offset)
        rest, offset = rest[written:], offset + written


@contextlib.contextmanager
def object_h5(
    content: Any, mode: str, name: str = "database", **options: Any
) -> Iterator[h5py.File]:
    """Open bytes as an HDF5 file.

    Parameters
    ----------
    content : Bytes, or an object with its methods
    mode : str
        Mode of `h5py.File`.
    name : str, default "database"
        Name of the file in messages of h5py.
    **options
        Of `h5py.File`.

    Raises
    ------
    OSError, KeyboardInterrupt
        First error of the system, or interrupt, raised when the block has ended. It replaces any
        error of the block, which is probably its consequence.
    """
    opened = FileObject(content, name)
    try:
        with open_own(opened, mode, **options) as file:
            yield file
    except Exception as error:
        if (kept := opened.taken()) is None:
            raise
        raise kept from error
    if (kept := opened.taken()) is not None:
        raise kept


def output_h5(content: Any, empty: bool) -> contextlib.AbstractContextManager[h5py.File]:
    """Return `object_h5` for writing; an empty file begins with space for a seal."""
    options: dict[str, Any] = {"userblock_size": BLOCK} if empty else {}
    return object_h5(content, "w" if empty else "r+", libver=_FORM, **options)


def interrupted_later(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of `FileObject` that keeps an interrupt, and does its work again."""

    @functools.wraps(method)
    def whole(file: "FileObject", *arguments: Any) -> Any:
        position = file.position
        try:
            return method(file, *arguments)
        except KeyboardInterrupt:
            # Without its traceback, which leads to h5py's property list, and that to this file.
            file.error, file.position = KeyboardInterrupt(), position
            return method(file, *arguments)

    return whole


class FileObject:
    """File object for h5py with a position of its own.

    Parameters
    ----------
    content : Bytes, or an object with its methods
    name : str, default "database"
        Name of the file in messages of h5py.
    """

    def __init__(self, content: Any, name: str = "database") -> None:
        self.error: OSError | KeyboardInterrupt | None = None
        self._content = content
        self._name = name
        self.position = 0

    def __repr__(self) -> str:
        return self._name

    def taken(self) -> OSError | KeyboardInterrupt | None:
        """Return the error, and forget it: its causes lead to h5py's property list, and back."""
        error, self.error = self.error, None
        return error

    @interrupted_later
    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move the position, and return it."""
        begin = {os.SEEK_SET: 0, os.SEEK_CUR: self.position}.get(whence, self._content.size)
        self.position = offset + begin
        return self.position

    def tell(self) -> int:
        """Return the position."""
        return self.position

    @interrupted_later
    def read(self, size: int) -> bytes:
        """Return the next bytes; zeros where they cannot be read, and the error is kept."""
        try:
            content = self._content.read(size, self.position)
        except OSError as error:
            content, self.error = bytes(size), error.with_traceback(None)
        self.position += len(content)
        return content

    @interrupted_later
    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with the next bytes, and with zeros behind the end, and return its length.

        HDF5 reads room that is not written yet, and would store what is left in a buffer.
        """
        rest = memoryview(buffer).cast("B")
        while rest:
            piece = self.read(len(rest)) or bytes(len(rest))
            rest[: len(piece)] = piece
            rest = rest[len(piece) :]
        return len(buffer)

    @interrupted_later
    def write(self, content: Any) -> int:
        """Accept bytes; the first error of the system is kept."""
        self._try(self._content.write, content, self.position)
        self.position += len(content)
        return len(content)

    @interrupted_later
    def truncate(self, size: int | None = None) -> int:
        """Set the size; the first error of the system is kept."""
        new_size = self.position if size is None else size
        self._try(self._content.truncate, new_size)
        return new_size

    def _try(self, change: Callable[..., None], *arguments: Any) -> None:
        try:
            if self.error is None:
                change(*arguments)
        except OSError as error:
            self.error = error.with_traceback(None)  # as in `interrupted_later`

    def flush(self) -> None:
        """Do nothing: whoever opened the descriptor syncs it."""
