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
import os
import struct
import time
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mlaut.errors import StoreError
from mlaut.files_io.system_errors import explain

__all__ = ["Journal", "read_journal"]

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
        try:
            whole = _valid_length(path, study_id) if path.exists() else 0
            self._file = path.open("r+b" if path.exists() else "x+b", buffering=0)
            self._file.truncate(whole)
            self._file.seek(whole)
            if not whole:
                self._file.write(_header(study_id))
        except OSError as error:
            raise explain(error, path, "opening the journal") from error
        self._synced = time.monotonic()

    def append(self, record: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Append one record; when this returns, it survives the death of the process."""
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

    def sync(self) -> None:
        """Make what was appended survive a power cut."""
        os.fsync(self._file.fileno())
        self._synced = time.monotonic()

    def close(self) -> None:
        """Sync and close."""
        self.sync()
        self._file.close()


def read_journal(path: Path, study_id: str) -> Iterator[Record]:
    """Give each whole record of a journal; a torn end is passed over.

    Raises
    ------
    StoreError
        The file is not a journal, or belongs to another study.
    """
    if not path.exists():
        return
    try:
        with path.open("rb") as file:
            for payload in _payloads(file, path, study_id):
                yield _decode(payload)
    except OSError as error:
        raise explain(error, path, "reading the journal") from error


def _header(study_id: str) -> bytes:
    return MAGIC + study_id.encode("ascii").ljust(64)


def _payloads(file: BinaryIO, path: Path, study_id: str) -> Iterator[bytes]:
    expected = _header(study_id)
    header = file.read(len(expected))
    if header != expected:
        if expected.startswith(header):
            return  # killed while it was created
        raise StoreError(
            f"{path}: not the journal of this study (id {study_id[:8]}); "
            "move it away if the study was replaced on purpose"
        )
    while len(frame := file.read(_FRAME.size)) == _FRAME.size:
        length, checksum = _FRAME.unpack(frame)
        if length > _LARGEST:
            return
        payload = file.read(length)
        if len(payload) < length or zlib.crc32(payload) != checksum:
            return
        yield payload


def _valid_length(path: Path, study_id: str) -> int:
    """Bytes up to the end of the last whole record."""
    with path.open("rb") as file:
        records = sum(_FRAME.size + len(payload) for payload in _payloads(file, path, study_id))
        header = len(_header(study_id))
        return header + records if path.stat().st_size >= header else 0


def _encode(record: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    layout = {name: [array.dtype.str, *array.shape] for name, array in arrays.items()}
    text = json.dumps({"record": record, "arrays": layout}).encode()
    payload = b"".join(
        [
            _LENGTH.pack(len(text)),
            text,
            *(np.ascontiguousarray(a).tobytes() for a in arrays.values()),
        ]
    )
    return _FRAME.pack(len(payload), zlib.crc32(payload)) + payload


def _decode(payload: bytes) -> Record:
    (size,) = _LENGTH.unpack_from(payload)
    start = _LENGTH.size + size
    content = json.loads(payload[_LENGTH.size : start])
    arrays = {}
    for name, (dtype, *shape) in content["arrays"].items():
        count = int(np.prod(shape))
        values = np.frombuffer(payload, dtype=dtype, count=count, offset=start)
        arrays[name] = values.reshape(shape)
        start += values.nbytes
    return content["record"], arrays
