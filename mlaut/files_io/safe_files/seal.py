"""The seal of a database: a digest of all bytes that must not change.

HDF5 trusts the bytes of a file that describe its structure. If one is wrong, the library may crash,
hang, or silently read wrong numbers. So every database begins with a line of text, in the 512 bytes
that HDF5 reserves for its user (the *user block*)::

    MLaut 1 size=<bytes> open=<offset>+<count> sha256=<digest>

The digest covers that line up to ``open=...`` and the file behind the user block, except for its
*open* stretches: the values of outcomes, which change while a run writes and have a checksum per
cell, and the values of tables, which have a fingerprint. ``open`` is the place of the list of these
stretches: ``count`` pairs (begin, end) of 8-byte numbers. `check_seal` reads only the bytes that
the digest covers. So it is fast, and valid while a run writes.
"""

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import h5py
import numpy as np

from mlaut.errors import StoreError
from mlaut.files_io.safe_files.texts import encoding_of

BLOCK = 512  # bytes before the HDF5 content: HDF5 looks for its signature at 0, 512, 1024 ...
LIST = "mlaut-seal"
_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_LINE = re.compile(
    rb"(MLaut 1 size=(\d{1,15}) open=(\d{1,15})\+(\d{1,12})) sha256=([0-9a-f]{64})\n"
)
_SMALL = 4096  # bytes; smaller values of tables are covered by the digest
_PIECE = 2**20  # bytes of one read
_CLOSED = {  # what the digest covers in groups of a kind: half of what a dataset holds
    b"mlaut-dataset": (b"about", b"split"),
    b"mlaut-outcomes": (b"strategies",),
    b"mlaut-table": (b"columns", b"index"),
}
_known: dict[Path, tuple[int, int, int]] = {}
T = TypeVar("T")
_MOST_READ = 2**26  # bytes of what is kept of files
_read: dict[bytes, dict[Any, Any]] = {}  # by the seal of a file, what was read of it
_read_bytes = [0]
_MOST_LINES = 8
_lines: dict[int, bytes] = {}  # first bytes of the files opened last, by their numbers in HDF5


# -------------------------------------------------------------------- sealing


def list_open(file: h5py.File, same: bool = False) -> tuple[int, int]:
    """Store the list of open stretches; it must be the last change before a file is sealed.

    They are the ``same`` where no array with open values was made, moved or deleted.

    Returns
    -------
    offset, count : int
        Offset of the list in the file, and its number of pairs.
    """
    if same:
        stretches = joined((a, b) for a, b in file[LIST][...].tolist() if b)
    else:
        stretches = joined(_stretches(file.id))
    if LIST in file:
        del file[LIST]
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    creation.set_obj_track_times(False)  # the same content always has the same bytes
    space = h5py.h5s.create_simple((max(1, len(stretches)), 2))
    item = h5py.h5d.create(file.id, LIST.encode(), h5py.h5t.STD_U64LE, space, dcpl=creation)
    if len(stretches):
        item.write(h5py.h5s.ALL, h5py.h5s.ALL, stretches)
    return item.get_offset(), len(stretches)


def make_seal(content: Any, offset: int, count: int) -> bytes:
    """Return the first bytes of a closed file, which hold its seal.

    Parameters
    ----------
    content : mlaut.files_io.safe_files.hdf5_output.Bytes, or an object with its methods
    offset, count : int
        Place of the list of open stretches.
    """
    head = f"MLaut 1 size={content.size} open={offset}+{count}".encode()
    digest = _digest(content, head, offset, count)
    if digest is None:
        raise ValueError("the list of its open stretches makes no sense")
    return (head + b" sha256=" + digest.encode() + b"\n").ljust(BLOCK, b"\0")


def sealed_size(block: bytes) -> int | None:
    """Return the size of a file that its first bytes name; None without a whole seal."""
    line = _LINE.match(block)
    return int(line[2]) if line else None


def _stretches(group: Any, kind: bytes = b"") -> Iterator[tuple[int, int]]:
    """Yield begin and end of the values below a group that have their own checksum.

    Every change of a file looks at all that it holds. So this function uses identifiers of HDF5,
    which take half of the time of objects of h5py.
    """
    for name in () if kind == b"mlaut-split" else group:
        if name in _CLOSED.get(kind, ()):
            continue
        item = h5py.h5o.open(group, name)
        if isinstance(item, h5py.h5g.GroupID):
            body = kind == b"body" or (kind == b"mlaut-table" and name == b"body")
            told = "body" if body else encoding_of(item)
            yield from _stretches(item, str(told).encode())
        elif isinstance(item, h5py.h5d.DatasetID) and (
            kind in (b"mlaut-outcomes", b"body", b"csr_matrix")
            or (kind == b"mlaut-dataset" and name == b"X")
        ):
            yield from _places(item, changing=kind == b"mlaut-outcomes")


def _places(identity: Any, changing: bool) -> Iterator[tuple[int, int]]:
    """Yield begin and end of values that change in place, or are too large to read each time."""
    creation = identity.get_create_plist()
    if changing and creation.get_alloc_time() != h5py.h5d.ALLOC_TIME_EARLY:
        return  # only arrays of cells are allocated early
    smallest = 1 if changing else _SMALL
    if creation.get_layout() != h5py.h5d.CHUNKED:
        offset, size = identity.get_offset(), identity.get_storage_size()
        if offset is not None and size >= smallest:
            yield offset, offset + size
    else:
        chunks: list[tuple[int, int]] = []
        identity.chunk_iter(lambda chunk: chunks.append((chunk.byte_offset, chunk.size)))
        yield from ((begin, begin + size) for begin, size in chunks if size >= smallest)


def joined(stretches: Iterable[tuple[int, int]]) -> np.ndarray:
    """Return stretches (begin, end) in ascending order, those that touch as one: shape (n, 2)."""
    merged: list[list[int]] = []
    for begin, end in sorted(stretches):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(end, merged[-1][1])
        else:
            merged.append([begin, end])
    return np.array(merged, dtype="<u8").reshape(-1, 2)


# ------------------------------------------------------------------- checking


def check_seal(path: Path, content: Any, now: tuple[int, int, int] | None) -> None:
    """Check a file against its seal; a file that another program made has none, and is accepted.

    Parameters
    ----------
    path : Path
    content : mlaut.files_io.safe_files.hdf5_output.Bytes, or an object with its methods
    now : tuple of int, optional
        Inode, size and time of the last change: a file with those of the last check is not read
        again. None always reads it.

    Raises
    ------
    StoreError
        The file is truncated or damaged, or another program has changed it.
    """
    block = content.read(BLOCK, 0)
    if block.startswith(_SIGNATURE) or (now is not None and _known.get(path) == now):
        return
    line = _LINE.match(block)
    if not line:
        raise _not_sealed(path, content)
    size, offset, count = (int(line[n]) for n in (2, 3, 4))
    if content.size < size:
        raise StoreError(
            f"{path}: a truncated HDF5 file ({content.size} bytes of {size}); "
            "restore it from a copy, or write to a new file"
        )
    if _digest(content, line[1], offset, min(count, size // 16)) != line[5].decode():
        raise StoreError(
            f"{path}: damaged, or changed by another program (its seal does not hold); "
            f"restore it from a copy; if the change is yours, 'mlaut verify --seal {path}' "
            "accepts it"
        )
    if now is not None:
        _known[path] = now


def read_once(item: Any, key: Any, read: Callable[[], T], size: Callable[[T], int]) -> T:
    """Return what is read of a file, which is read again only if the seal of the file is another.

    Parameters
    ----------
    item : h5py.Group
        Group of a file that is open for reading, whose seal holds.
    key : hashable
        Name of what is read, which must be part of what the seal covers.
    read : callable
    size : callable
        Bytes in memory of what ``read`` returns. Nobody may change it.
    """
    number = h5py.h5o.get_info(item.id).fileno
    if (line := _lines.get(number, b"")) == b"":
        with contextlib.suppress(OSError, RuntimeError):  # a change under way has no seal yet
            line = os.pread(h5py.h5i.get_file_id(item.id).get_vfd_handle(), BLOCK, 0)
        if not _LINE.match(line):
            return read()
        _lines[number] = line
        while len(_lines) > _MOST_LINES:
            del _lines[next(iter(_lines))]
    if line not in _read or key not in _read[line]:
        value = read()
        if (needed := size(value)) > _MOST_READ:
            return value
        _read_bytes[0] += needed
        if _read_bytes[0] > _MOST_READ:
            _read.clear()
            _read_bytes[0] = needed
        _read.setdefault(line, {})[key] = value
    return _read[line][key]


def kept(path: Path, handle: int, key: Any) -> Any:
    """Return what `read_once` keeps of a file that is as it was when it was checked; else None."""
    about = os.fstat(handle)
    if _known.get(path) != (about.st_ino, about.st_size, about.st_mtime_ns):
        return None
    return _read.get(os.pread(handle, BLOCK, 0), {}).get(key)


def keep_read(before: bytes, after: bytes, kept: str) -> None:
    """Keep what was read of a file whose seal is now another: keys that begin with a word."""
    found = _read.pop(before, {})
    same = {key: value for key, value in found.items() if type(key) is tuple and key[0] == kept}
    if same:
        _read[after] = same


def _not_sealed(path: Path, content: Any) -> StoreError:
    if content.read(len(_SIGNATURE), BLOCK) == _SIGNATURE:
        return StoreError(
            f"{path}: damaged (the seal at its beginning is not whole); restore it from a copy; "
            f"if the change is yours, 'mlaut verify --seal {path}' accepts it"
        )
    return StoreError(f"{path}: not an HDF5 file; check the path")


def _digest(content: Any, head: bytes, offset: int, count: int) -> str | None:
    """Return the digest of the head of the line and of all bytes that are not open.

    It is None if the list of open stretches is invalid.
    """
    digest = hashlib.sha256(head)
    size = int(head.split()[2].partition(b"=")[2])
    places = content.read(16 * count, offset)
    if len(places) < 16 * count:
        return None
    position = BLOCK
    for begin, end in [*np.frombuffer(places, dtype="<u8").reshape(-1, 2).tolist(), (size, size)]:
        if not position <= begin <= end <= size:
            return None
        while position < begin:
            piece = content.read(min(_PIECE, begin - position), position)
            digest.update(piece)
            position += len(piece) or begin
        position = end
    return digest.hexdigest()
