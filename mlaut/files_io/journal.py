"""The journal: an append-only, checksummed record of what a run does, beside its study.

An outcome is appended here before it goes into the arrays of the study. After a crash the journal
is the first witness: whatever it holds whole is put into the arrays again, a torn end is dropped.
When a run ends, its records move into the study file and the journal is deleted.

Appending reaches the operating system before it returns, so it survives the death of the process;
`Journal.sync`, called at most once a second, makes it survive a power cut.

A record is ``length, crc32, payload``; a payload is a JSON object, preceded by its length, and the
bytes of its arrays in the order that the object names them.
"""

from __future__ import annotations

import json
import math
import os
import struct
import time
import zlib
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mlaut.errors import StoreError
from mlaut.files_io.hdf5 import fsync_folder
from mlaut.files_io.system_errors import explain, explained

__all__ = ["Journal", "JournalIndex", "index_journal"]

MAGIC = b"MLAUT-JOURNAL-1\n"
_FRAME = struct.Struct("<II")
_LENGTH = struct.Struct("<I")
_LARGEST = 2**31
_SYNC_SECONDS = 1.0

Record = tuple[dict[str, Any], dict[str, np.ndarray]]


class Journal:
    """Append records to the journal of one study.

    Parameters
    ----------
    path : Path
        Created when it does not exist; else a torn end is cut off, and appending goes on.
    study_id : str
        Of the study that it belongs to; a journal of another study is refused.
    """

    def __init__(self, path: Path, study_id: str) -> None:
        self.path = path
        with explained(path, "opening the journal"):
            whole = index_journal(path, study_id).whole
            self._file = path.open("r+b" if path.exists() else "x+b", buffering=0)
            self._file.truncate(whole)
            self._file.seek(whole)
            if not whole:
                self._file.write(_header(study_id))
            self.sync()
            fsync_folder(path.parent)

    def append(self, record: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bool:
        """Append one record; when this returns, it survives the death of the process.

        Returns
        -------
        bool
            Whether the journal was synced too, as it is once a second.
        """
        start = self._file.tell()
        rest = memoryview(_encode(record, arrays))
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            self._file.truncate(start)
            self._file.seek(start)
            raise explain(error, self.path, "appending to the journal") from error
        if time.monotonic() - self._synced > _SYNC_SECONDS:
            self.sync()
            return True
        return False

    def sync(self) -> None:
        """Make what was appended survive a power cut."""
        os.fsync(self._file.fileno())
        self._synced = time.monotonic()

    def close(self) -> None:
        """Sync and close."""
        self.sync()
        self._file.close()


@dataclass(frozen=True, eq=False)
class JournalIndex:
    """Where the whole records of a journal are; the records themselves stay in the file.

    Attributes
    ----------
    path : Path
    whole : int
        Bytes up to the end of the last whole record.
    runs : tuple of dict
        What is told of each run.
    places : mapping of str to array of int
        For each dataset the offsets of its records, in the order of their arrival.
    """

    path: Path
    whole: int = 0
    runs: tuple[dict[str, Any], ...] = ()
    places: Mapping[str, array[int]] = field(default_factory=dict)

    def records(self, dataset: str) -> Iterator[Record]:
        """Give the records of a dataset, with their arrays."""
        if dataset not in self.places:
            return
        with self.path.open("rb") as file:
            for place in self.places[dataset]:
                file.seek(place)
                yield _decode(file.read(_FRAME.unpack(file.read(_FRAME.size))[0]))


def index_journal(path: Path, study_id: str) -> JournalIndex:
    """Find the whole records of a journal; a torn end is passed over.

    Raises
    ------
    StoreError
        The file is not a journal, or belongs to another study.
    """
    if not path.exists():
        return JournalIndex(path)
    runs: list[dict[str, Any]] = []
    places: dict[str, array[int]] = {}
    with explained(path, "reading the journal"), path.open("rb") as file:
        whole = 0
        for place, payload in _payloads(file, path, study_id):
            record = _text(payload)["record"] if payload else {}
            if "dataset" in record:
                places.setdefault(record["dataset"], array("q")).append(place)
            elif "run" in record:
                runs.append(record["run"])
            whole = file.tell()
    return JournalIndex(path, whole, tuple(runs), places)


def _header(study_id: str) -> bytes:
    return MAGIC + study_id.encode("ascii").ljust(64)


def _payloads(file: BinaryIO, path: Path, study_id: str) -> Iterator[tuple[int, bytes]]:
    """Give offset and payload of each whole record; first of the header, without payload."""
    expected = _header(study_id)
    header = file.read(len(expected))
    if header != expected:
        if expected.startswith(header):
            return  # killed while it was created
        raise StoreError(
            f"{path}: not the journal of this study (id {study_id[:8]}); "
            "move it away if the study was replaced on purpose"
        )
    yield 0, b""
    place = len(expected)
    while len(frame := file.read(_FRAME.size)) == _FRAME.size:
        length, checksum = _FRAME.unpack(frame)
        if not _LENGTH.size < length <= _LARGEST:
            return  # also where a power cut left zeros
        payload = file.read(length)
        if len(payload) < length or zlib.crc32(payload) != checksum:
            return
        yield place, payload
        place += _FRAME.size + length


def _encode(record: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    layout = {name: [array.dtype.str, *array.shape] for name, array in arrays.items()}
    text = json.dumps({"record": record, "arrays": layout}).encode()
    parts = [_LENGTH.pack(len(text)), text, *(a.tobytes() for a in arrays.values())]
    payload = b"".join(parts)
    return _FRAME.pack(len(payload), zlib.crc32(payload)) + payload


def _text(payload: bytes) -> dict[str, Any]:
    (size,) = _LENGTH.unpack_from(payload)
    return json.loads(payload[_LENGTH.size : _LENGTH.size + size])


def _decode(payload: bytes) -> Record:
    content = _text(payload)
    start = _LENGTH.size + _LENGTH.unpack_from(payload)[0]
    arrays = {}
    for name, (dtype, *shape) in content["arrays"].items():
        values = np.frombuffer(payload, dtype=dtype, count=math.prod(shape), offset=start)
        arrays[name] = values.reshape(shape)
        start += values.nbytes
    return content["record"], arrays
