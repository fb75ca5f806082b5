"""File object for the output of HDF5, which hides errors of the system until HDF5 has closed it.

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

__all__ = ["output_h5"]


@contextlib.contextmanager
def output_h5(handle: int, empty: bool) -> Iterator[h5py.File]:
    """Open a file descriptor as an HDF5 file for writing.

    Parameters
    ----------
    handle : int
        File descriptor, open for reading and writing.
    empty : bool
        Whether to begin with an empty file, with space for a seal.

    Raises
    ------
    OSError
        First error of the system, raised when the block has ended. It replaces any error of the
        block, which is probably its consequence.
    """
    output = _Output(handle)
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


class _Output:
    """File object for h5py, which reads and writes a descriptor at its own position."""

    def __init__(self, handle: int) -> None:
        self.error: OSError | None = None
        self._handle = handle
        self._position = 0

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        end = os.fstat(self._handle).st_size
        self._position = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._position}.get(whence, end)
        return self._position

    def tell(self) -> int:
        return self._position

    def read(self, size: int) -> bytes:
        content = os.pread(self._handle, size, self._position)
        self._position += len(content)
        return content

    def readinto(self, buffer: Any) -> int:
        rest = memoryview(buffer)
        while rest and (count := os.preadv(self._handle, [rest], self._position)):
            rest, self._position = rest[count:], self._position + count
        return len(buffer) - len(rest)

    def write(self, content: Any) -> int:
        rest = memoryview(content)
        try:
            while rest and self.error is None:
                count = os.pwrite(self._handle, rest, self._position)
                rest, self._position = rest[count:], self._position + count
        except OSError as error:
            self.error = error
        self._position += len(rest)
        return len(content)

    def truncate(self, size: int | None = None) -> int:
        wanted = self._position if size is None else size
        try:
            os.ftruncate(self._handle, wanted)
        except OSError as error:
            self.error = self.error or error
        return wanted

    def flush(self) -> None:
        pass
