"""Change the structure of a sealed database in place: the change is complete, or it is absent.

HDF5 can destroy *old* data when a change of its metadata is interrupted. So HDF5 never writes over
sealed bytes itself. While it changes a file, an `Overlay` takes its writes: bytes behind the sealed
end go to the file, where nothing refers to them yet; changed bytes before that end stay in memory.
The change is then made in these steps, each synced to disk before the next:

1. The new bytes behind the sealed end are in the file.
2. The changed bytes, with the old and the new seal, are written to ``<database>.change``. From now
   on the change counts: readers see the file through that list, and the next writer completes it.
3. The changed bytes are written into the file, and its new seal last.
4. ``<database>.change`` is removed.

In step 3 the file contradicts itself, so it is locked against readers, who hold a shared lock
(``flock``) while they have a file open, as HDF5 itself does. If a reader does not end within a
second, the changed file is copied and replaces the old one, which the reader keeps.

The list of changes is: ``MLAUT-CHANGE-1`` and a new line, the SHA-256 of the rest, the old and the
new first 512 bytes of the file, the number of changes, offset and length of each, and their bytes.
Numbers have 8 bytes, little-endian.
"""

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from mlaut.errors import StudyLockedError
from mlaut.files_io.safe_files.hdf5_output import Bytes, write_all
from mlaut.files_io.safe_files.names import beside
from mlaut.files_io.safe_files.plain_files import open_plain
from mlaut.files_io.safe_files.seal import BLOCK, joined, sealed_size
from mlaut.helpers.held import is_still, wait_for_lock

_MAGIC = b"MLAUT-CHANGE-1\n"
_PAGE = 4096  # bytes: the unit in which file systems write
_PATIENCE = 1.0  # seconds to wait for readers
_LARGEST = 2**31  # bytes of a list of changes, which is read into memory at once


@dataclass(frozen=True, eq=False)
class Change:
    """Change of a file that counts, and may not be in the file yet.

    Attributes
    ----------
    old, new : bytes
        First bytes of the file before and after the change, with the seals.
    places : ndarray of uint64, shape (n, 2)
        Offset and length of each changed piece, in ascending order.
    content : bytes
        The pieces.
    """

    old: bytes
    new: bytes
    places: np.ndarray
    content: bytes

    def pieces(self) -> Iterator[tuple[int, bytes]]:
        """Yield offset and bytes of each piece."""
        start = 0
        for offset, length in self.places.tolist():
            yield offset, self.content[start : start + length]
            start += length


class Overlay:
    """Bytes of a file below changes that are not in it yet.

    Parameters
    ----------
    handle : int
        File descriptor. Writes at ``end`` or behind it go to the file.
    end : int
        Sealed size of the file.
    """

    def __init__(self, handle: int, end: int) -> None:
        self.size = end
        self._end = end
        self._file = Bytes(handle)
        self._pages: dict[int, bytearray] = {}
        self._written: list[tuple[int, int]] = []

    def read(self, size: int, offset: int) -> bytes:
        """Return the bytes from an offset on; fewer than ``size`` at the end."""
        size = max(0, min(size, self.size - offset))
        content = bytearray(self._file.read(size, offset).ljust(size, b"\0"))
        for number in range(offset // _PAGE, -(-(offset + size) // _PAGE)):
            if number in self._pages:
                page = self._pages[number]
                start, stop = number * _PAGE, min(number * _PAGE + len(page), offset + size)
                begin = max(start, offset)
                if begin < stop:
                    content[begin - offset : stop - offset] = page[begin - start : stop - start]
        return bytes(content)

    def write(self, content: Any, offset: int) -> None:
        """Keep the part of a write that lies before the end; write the rest to the file."""
        rest = memoryview(content).cast("B")
        inside = max(0, min(len(rest), self._end - offset))
        if inside:
            self._written.append((offset, offset + inside))
        stop = offset + inside
        for number in range(offset // _PAGE, -(-stop // _PAGE) if inside else 0):
            start = number * _PAGE
            if number not in self._pages:
                length = min(_PAGE, self._end - start)
                self._pages[number] = bytearray(self._file.read(length, start).ljust(length, b"\0"))
            begin, until = max(start, offset), min(start + _PAGE, stop)
            self._pages[number][begin - start : until - start] = rest[
                begin - offset : until - offset
            ]
        if inside < len(rest):
            self._file.write(rest[inside:], stop)
        self.size = max(self.size, offset + len(rest))

    def truncate(self, size: int) -> None:
        """Set the size; the file is never cut within its sealed bytes."""
        self.size = size
        self._file.truncate(max(size, self._end))

    def change(self, new: bytes) -> Change:
        """Return all changes before the end, with the new first bytes of the file."""
        places = joined(self._written)
        places[:, 1] -= places[:, 0]
        content = b"".join(self.read(length, begin) for begin, length in places.tolist())
        return Change(self._file.read(BLOCK, 0), new, places, content)

    @classmethod
    def of(cls, handle: int, change: Change) -> Self:
        """Return the overlay of a file with a change that is not in it yet."""
        overlay = cls(handle, os.fstat(handle).st_size)
        for offset, piece in [*change.pieces(), (0, change.new)]:
            overlay.write(piece, offset)
        return overlay


def change_path(path: Path) -> Path:
    """Return the path of the list of changes of a database."""
    return beside(path, ".change")


def encoded(change: Change) -> bytes:
    """Return the bytes of the list of changes."""
    count = len(change.places).to_bytes(8, "little")
    rest = b"".join([change.old, change.new, count, change.places.tobytes(), change.content])
    return _MAGIC + hashlib.sha256(rest).digest() + rest


def read_change(path: Path, handle: int) -> Change | None:
    """Return the change that counts and is not in a file yet; None if there is none.

    A list of changes is ignored if it is damaged, belongs to another file, or is in the file.

    Parameters
    ----------
    path : Path
        Path of the database.
    handle : int
        File descriptor of the database.
    """
    try:
        listed = open_plain(change_path(path), os.O_RDONLY)
    except FileNotFoundError:
        return None
    with os.fdopen(listed, "rb") as file:
        if os.fstat(listed).st_size > _LARGEST:
            return None
        content = file.read()
    change = _decoded(content)
    if change is None:
        return None
    size, block = sealed_size(change.new), os.pread(handle, BLOCK, 0)
    if size is None or not size <= os.fstat(handle).st_size or block == change.new:
        return None
    same = next((i for i in range(BLOCK) if block[i : i + 1] != change.new[i : i + 1]), BLOCK)
    if block[same:] != change.old[same:]:  # the new seal may have been written in part
        return None
    offsets, lengths = change.places[:, 0].astype(float), change.places[:, 1].astype(float)
    return change if not ((offsets < BLOCK) | (offsets + lengths > size)).any() else None


def _decoded(content: bytes) -> Change | None:
    start = len(_MAGIC) + 32
    rest = content[start:]
    if content[:start] != _MAGIC + hashlib.sha256(rest).digest() or len(rest) < 2 * BLOCK + 8:
        return None
    count = int.from_bytes(rest[2 * BLOCK : 2 * BLOCK + 8], "little")
    end = 2 * BLOCK + 8 + 16 * count
    if len(rest) < end:
        return None
    places = np.frombuffer(rest, "<u8", 2 * count, 2 * BLOCK + 8).reshape(-1, 2)
    if int(places[:, 1].sum()) != len(rest) - end:
        return None
    return Change(rest[:BLOCK], rest[BLOCK : 2 * BLOCK], places, rest[end:])


@contextlib.contextmanager
def shared(path: Path) -> Iterator[int]:
    """Open a file for reading, locked against changes in place, and yield its descriptor."""
    while True:
        handle = os.open(path, os.O_RDONLY)
        try:
            wait_for_lock(handle, fcntl.LOCK_SH, path)
            if is_still(handle, path):  # not replaced meanwhile
                yield handle
                return
        finally:
            os.close(handle)


def apply_change(real: Path, handle: int, change: Change) -> bool:
    """Write a change that counts into the file.

    Parameters
    ----------
    real : Path
        Path of the database, which is no link.
    handle : int
        File descriptor, open for reading and writing.
    change : Change

    Returns
    -------
    bool
        False if readers did not end: nothing has been written.
    """
    try:
        wait_for_lock(handle, fcntl.LOCK_EX, real, _PATIENCE)
    except StudyLockedError:
        return False
    try:
        for offset, piece in change.pieces():
            write_all(handle, piece, offset)
        os.fsync(handle)
        write_all(handle, change.new, 0)
        os.fsync(handle)
    finally:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_UN)
    change_path(real).unlink(missing_ok=True)
    return True
