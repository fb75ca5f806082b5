"""File objects through which HDF5 reads and writes a descriptor.

HDF5 cannot close a file that it cannot write: on a full disk it reports each of its objects on
standard error, raises errors that look like damage, and may end the process. So HDF5 writes through
`output_h5`, which accepts every byte, and raises the first error of the system after HDF5 has
closed the file.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import h5py

from mlaut.files_io.seal import BLOCK

__all__ = ["Bytes", "FileObject", "output_h5"]

_PAGE = 4096  # bytes of zeros that become a hole: the block of most file systems
_ZEROS = bytes(_PAGE)


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
        """Write bytes; whole pages of zeros behind the end of the file stay holes of it."""
        rest = memoryview(content).cast("B")
        while offset >= self.size and len(rest) >= _PAGE and bytes(rest[:_PAGE]) == _ZEROS:
            rest, offset = rest[_PAGE:], offset + _PAGE
        while rest:
            written = os.pwrite(self.handle, rest, offset)
            rest, offset = rest[written:], offset + written
        self.size = max(self.size, offset)

    def truncate(self, size: int) -> None:
        """Set the size of the file."""
        os.ftruncate(self.handle, size)
        self.size = size


@contextlib.contextmanager
def output_h5(content: Any, empty: bool) -> Iterator[h5py.File]:
    """Open bytes as an HDF5 file for writing.

    Parameters
    ----------
    content : Bytes, or an object with its methods
    empty : bool
        Whether to begin with an empty file, with space for a seal.

    Raises
    ------
    OSError
        First error of the system, raised when the block has ended. It replaces any error of the
        block, which is probably its consequence.
    """
    output = FileObject(content)
    options: dict[str, Any] = {"mode": "w", "userblock_size": BLOCK} if empty else {"mode": "r+"}
    try:
        with h5py.File(output, **options) as file:
            yield file
    except Exception as error:
        if output.error is not None:
            raise output.error from error
        raise
    if output.error is not None:
        raise output.error


class FileObject:
    """File object for h5py with a position of its own.

    Parameters
    ----------
    content : Bytes, or an object with its methods
    name : str, default "database"
        Name of the file in messages of h5py.
    """

    def __init__(self, content: Any, name: str = "database") -> None:
        self.error: OSError | None = None
        self._content = content
        self._name = name
        self._position = 0

    def __repr__(self) -> str:
        return self._name

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move the position, and return it."""
        begin = {os.SEEK_SET: 0, os.SEEK_CUR: self._position}.get(whence, self._content.size)
        self._position = offset + begin
        return self._position

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def read(self, size: int) -> bytes:
        """Return the next bytes."""
        content = self._content.read(size, self._position)
        self._position += len(content)
        return content

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with the next bytes, and return their number."""
        rest = memoryview(buffer).cast("B")
        while rest and (piece := self.read(len(rest))):
            rest[: len(piece)] = piece
            rest = rest[len(piece) :]
        return len(buffer) - len(rest)

    def write(self, content: Any) -> int:
        """Accept bytes; the first error of the system is kept."""
        try:
            if self.error is None:
                self._content.write(content, self._position)
        except OSError as error:
            self.error = error
        self._position += len(content)
        return len(content)

    def truncate(self, size: int | None = None) -> int:
        """Set the size; the first error of the system is kept."""
        wanted = self._position if size is None else size
        try:
            if self.error is None:
                self._content.truncate(wanted)
        except OSError as error:
            self.error = error
        return wanted

    def flush(self) -> None:
        """Do nothing: whoever opened the descriptor syncs it."""
