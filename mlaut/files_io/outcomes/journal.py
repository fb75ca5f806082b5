"""The journal: an append-only file beside a study, with checksummed records of all outcomes.

An outcome is appended here before it is written into the arrays of the study. After a crash, all
whole records of the journal are written into the arrays again, and a torn end is dropped. When a
run ends, the records move into the study file and the journal is deleted.

An appended record has reached the operating system, so it survives the death of the process. A
thread syncs the journal to disk every half second, so that all but the last second survives a
power cut.

A record is ``length, crc32, payload``. A payload is a JSON object, preceded by its length, followed
by the bytes of its arrays in the order in which the object names them. It holds a run or a
pack of outcomes (`packs`). Behind a damaged record, the next whole one is found by the first words
of its object.
"""

from __future__ import annotations

import glob
import itertools
import operator
import os
import re
import struct
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from mlaut.errors import StoreError, StudyError
from mlaut.files_io.outcomes.packs import LENGTH, checked_pack, read_record, unpack_outcomes
from mlaut.files_io.safe_files.hdf5 import fsync_folder
from mlaut.files_io.safe_files.plain_files import open_plain
from mlaut.files_io.safe_files.system_errors import explain, explained
from mlaut.records import Outcome

MAGIC = b"MLAUT-JOURNAL-1\n"
_FRAME = struct.Struct("<II")
_BEGIN = b'{"record": '  # of the JSON object of each record, behind its length
LARGEST_RECORD = 2**31  # bytes of a payload, which a reader takes into memory at once
_DAMAGED = ".damaged"
_SYNC_SECONDS = 0.5  # half of the promised second, because a sync itself takes time
_PIECE = 2**20  # bytes of one read
_ANOTHER = 16  # bytes of a header that must differ for another study's: half of the id
_OF_A_STUDY = re.compile(MAGIC + rb"[0-9a-f]{32} *")
# Limit of the search for whole records behind damage, in sizes of the journal. A journal could be
# made so that an unlimited search would not end.
_PATIENCE = 16


class Journal:
    """Journal of one study, open for appending.

    Parameters
    ----------
    path : Path
        Path of the journal. It is created if it does not exist; otherwise a torn end is cut off,
        and new records follow.
    study_id : str
        Identifier of the study; a journal of another study is refused.
    """

    def __init__(self, path: Path, study_id: str) -> None:
        self.path = path
        self._failed: OSError | None = None
        self._appended = self._synced = 0  # numbers of records
        self._told = 0  # number of synced records at the last call of `append`
        self._closing = threading.Event()
        with explained(path, "opening the journal"):
            whole = index_journal(path, study_id).whole
            handle = open_plain(path, os.O_RDWR | os.O_CREAT)
            self._file = os.fdopen(handle, "r+b", buffering=0)
            self._file.truncate(whole)
            self._file.seek(whole)
            if not whole:
                self._file.write(_header(study_id))
            self._header = len(_header(study_id))
            os.fsync(self._file.fileno())
            fsync_folder(path.parent)
        # A daemon thread, so that a journal that is never closed does not keep its process alive.
        self._clock = threading.Thread(target=self._sync_by_the_clock, daemon=True)
        self._clock.start()

    def append(self, *payloads: bytes) -> bool:
        """Append records as payloads, which from then on survive the death of the process.

        Returns
        -------
        bool
            Whether the journal was synced since the last call.

        Raises
        ------
        StoreError
            The disk is full, or earlier records could not be synced; none is appended.
        StudyError
            A record is larger than a reader accepts; none is appended.
        """
        self._check()
        content = b"".join(_framed(payload, self.path) for payload in payloads)
        rest = memoryview(content)
        start = self._file.tell()
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            self._file.truncate(start)
            self._file.seek(start)
            raise explain(error, self.path, "appending to the journal") from error
        self._appended += len(payloads)
        synced, self._told = self._told != self._synced, self._synced
        return synced

    @property
    def size(self) -> int:
        """Bytes of the journal."""
        return self._file.tell()

    def restart(self) -> None:
        """Drop all records, which the study now holds and has synced to disk."""
        with explained(self.path, "emptying the journal"):
            self._file.truncate(self._header)
            self._file.seek(self._header)

    def sync(self) -> None:
        """Sync the journal to disk: all appended records then survive a power cut.

        Raises
        ------
        StoreError
            The system cannot write them; every further `append` raises, too.
        """
        self._sync()
        self._check()

    def close(self) -> None:
        """Sync the journal to disk, and close it."""
        self._closing.set()
        self._clock.join()
        try:
            self.sync()
        finally:
            self._file.close()

    def _sync_by_the_clock(self) -> None:
        while not self._closing.wait(_SYNC_SECONDS):
            self._sync()

    def _sync(self) -> None:
        appended = self._appended
        if appended == self._synced or self._failed is not None:
            return
        try:
            os.fsync(self._file.fileno())
            self._synced = appended
        except OSError as error:
            self._failed = error  # not retried: the system may have dropped the unwritten bytes

    def _check(self) -> None:
        if self._failed is not None:
            raise explain(self._failed, self.path, "syncing the journal") from self._failed


@dataclass(frozen=True, eq=False)
class JournalIndex:
    """Index of the whole records of a journal, in memory: it stays valid when the run ends.

    Attributes
    ----------
    path : Path
        Path of the journal.
    whole : int
        Number of bytes up to the end of the last whole record.
    damaged : int
        Number of damaged bytes before that end: of the header, and outside of whole records.
    runs : tuple of dict
        Record of each run: machine, versions, arguments.
    packs : mapping of str to list of bytes
        Packs of each dataset, in the order in which they were appended.
    """

    path: Path
    whole: int = 0
    damaged: int = 0
    runs: tuple[dict[str, Any], ...] = ()
    packs: Mapping[str, list[bytes]] = field(default_factory=dict)

    def outcomes(self, dataset: str) -> Iterator[Outcome]:
        """Yield the outcomes of a dataset, in the order in which they were appended."""
        return itertools.chain.from_iterable(map(unpack_outcomes, self.packs.get(dataset, ())))

    def last_outcomes(self, dataset: str) -> Iterable[Outcome]:
        """Return the last outcome of each cell of a dataset."""
        return {outcome.cell: outcome for outcome in self.outcomes(dataset)}.values()


def index_journal(path: Path, study_id: str) -> JournalIndex:
    """Return the index of the whole records of a journal; damage and a torn end are skipped.

    Raises
    ------
    StoreError
        The file belongs to another study, or is a link, a pipe or a device.
    """
    runs: list[dict[str, Any]] = []
    packs: dict[str, list[bytes]] = {}
    with explained(path, "reading the journal"):
        try:
            handle = open_plain(path, os.O_RDONLY)
        except FileNotFoundError:  # a run may have ended just now
            return JournalIndex(path)
        with os.fdopen(handle, "rb") as file:
            whole = 0
            damaged = _damaged_header(file, path, study_id)
            for place, payload in _payloads(file):
                record = _checked_record(payload, path) if payload else {}
                if "dataset" in record:
                    packs.setdefault(record["dataset"], []).append(payload)
                elif "run" in record:
                    runs.append(record["run"])
                damaged += place - whole
                whole = file.tell()
    return JournalIndex(path, whole, damaged, tuple(runs), packs)


def _checked_record(payload: bytes, path: Path) -> dict[str, Any]:
    """Return the record of a payload, after a check of its keys and types.

    The check is needed because a journal may come from an untrusted source.
    """
    try:
        record = read_record(payload)
        if "run" not in record:
            checked_pack(payload)
            return record
        if isinstance(record["run"]["id"], str):
            return {"run": record["run"]}
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError, struct.error):
        pass
    raise StoreError(
        f"{path}: it begins with a record that is not that of a run; restore the journal from a "
        "copy (a copy of the study file alone, elsewhere, is read without it)"
    )


def put_aside(path: Path) -> Path:
    """Rename a damaged journal, so that it is kept, and return its new path."""
    suffixes = (f"-{number}" if number else "" for number in itertools.count())
    names = (path.with_name(f"{path.name}{_DAMAGED}{suffix}") for suffix in suffixes)
    unused = next(name for name in names if not name.exists())
    return path.rename(unused)


def kept_journals(path: Path) -> list[Path]:
    """Return the damaged journals that were put aside."""
    return sorted(path.parent.glob(f"{glob.escape(path.name + _DAMAGED)}*"))


def _header(study_id: str) -> bytes:
    return MAGIC + study_id.encode("ascii").ljust(64)


def _damaged_header(file: BinaryIO, path: Path, study_id: str) -> int:
    """Return the number of damaged bytes of the header.

    Raises
    ------
    StoreError
        The header is whole and belongs to another study.
    """
    expected = _header(study_id)
    header = file.read(len(expected))
    differ = sum(map(operator.ne, header, expected))
    # Of 32 random hexadecimal digits two studies share 2, and damage seldom makes another 32.
    if differ >= _ANOTHER and _OF_A_STUDY.fullmatch(header):
        raise StoreError(
            f"{path}: not the journal of this study (id {study_id[:8]}); "
            "put back the study that it belongs to, or keep it under another name"
        )
    return differ


def _payloads(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield offset and payload of the header, which has an empty payload, and of each record."""
    header = len(_header(""))
    if os.fstat(file.fileno()).st_size < header:
        return  # its writer was killed while creating it
    file.seek(header)
    yield 0, b""
    place: int | None = header
    patience = _PATIENCE * os.fstat(file.fileno()).st_size
    while place is not None:
        payload = _payload_at(file, place)
        if payload is not None:
            yield place, payload
            place += _FRAME.size + len(payload)
        else:
            place, patience = _next_whole(file, place + 1, patience)


def _next_whole(file: BinaryIO, start: int, patience: int) -> tuple[int | None, int]:
    """Find the next whole record, reading at most ``patience`` bytes.

    Returns
    -------
    place : int or None
        Offset of the record; None if there is none, as behind a torn end or the zeros that a power
        cut left.
    patience : int
        Number of bytes that may still be read.
    """
    for place in _likely_places(file, start):
        if _payload_at(file, place) is not None:
            return place, patience
        patience -= file.tell() - place
        if patience < 0:
            break
    return None, patience


def _payload_at(file: BinaryIO, place: int) -> bytes | None:
    """Return the payload of the record at an offset; None if no whole record begins there."""
    file.seek(place)
    frame = file.read(_FRAME.size)
    if len(frame) < _FRAME.size:
        return None
    length, checksum = _FRAME.unpack(frame)
    if (
        not LENGTH.size
        < length
        <= min(LARGEST_RECORD, os.fstat(file.fileno()).st_size - file.tell())
    ):
        return None
    payload = file.read(length)
    return payload if zlib.crc32(payload) == checksum else None


def _likely_places(file: BinaryIO, start: int) -> Iterator[int]:
    """Yield the offsets from ``start`` on at which a record may begin, found by its first words."""
    before = _FRAME.size + LENGTH.size
    position = start + before
    while True:
        file.seek(position)
        piece = file.read(_PIECE)
        offset = -1
        while (offset := piece.find(_BEGIN, offset + 1)) >= 0:
            yield position + offset - before
        if len(piece) < _PIECE:
            return
        position += _PIECE - len(_BEGIN) + 1  # the words may lie across the end of a piece


def _framed(payload: bytes, path: Path) -> bytes:
    if len(payload) > LARGEST_RECORD:
        record = read_record(payload)
        named = [f"{k} {record[k]!r}" for k in ("dataset", "strategy", "strategies") if k in record]
        raise StudyError(
            f"{path}: a record of {len(payload)} bytes ({', '.join(named) or 'of the run'}), and "
            f"none may have more than {LARGEST_RECORD}; use fewer test rows a fold, or store less "
            "about a cell"
        )
    return _FRAME.pack(len(payload), zlib.crc32(payload)) + payload
