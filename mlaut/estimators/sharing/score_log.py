"""The scores of a search that may be killed, one line each, appended within half a second.

A line is a checksum and JSON. Lines are written by one call to the operating system, so that
several processes may append to one file, and begin with a line break, so that what a killed process
left half-written spoils no other line.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from zlib import crc32

from mlaut.errors import StoreError

__all__ = ["Checkpoint", "Place", "Writer"]

Place = tuple[int, int]
"""Numbers of a candidate and of a fold."""

Entry = tuple[Place, Mapping[str, Any]]

# A link could have another file of the user changed; a pipe would be waited for.
_APPENDING = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK

PAUSE = 0.5
"""Seconds between two writes; what is waiting when a process is killed is computed again."""


@dataclass(frozen=True)
class Checkpoint:
    """The file, and the search whose scores are meant.

    Attributes
    ----------
    path : Path
    search : str
        What the search is known by.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept = Checkpoint(Path(folder) / "scores", "a search")
    ...     kept.append([((3, 0), {"test_scores": 0.5})])
    ...     kept.read()
    {(3, 0): {'test_scores': 0.5}}
    """

    path: Path
    search: str

    def append(self, entries: Sequence[Entry]) -> None:
        """Add what candidates got on folds."""
        lines = b"".join(self._line(place, scores) for place, scores in entries)
        handle = os.open(self.path, _APPENDING, 0o666)
        try:
            os.write(handle, lines)
        finally:
            os.close(handle)

    def _line(self, place: Place, scores: Mapping[str, Any]) -> bytes:
        text = json.dumps({"search": self.search, "place": place, "scores": scores}).encode()
        return b"\n%08x %b\n" % (crc32(text), text)

    def read(self) -> dict[Place, dict[str, Any]]:
        """Return all whole entries of this search; none where there is no file."""
        try:
            lines = self.path.read_bytes().split(b"\n")
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            raise StoreError(
                f"{self.path}: scores cannot be read ({error}); give another path"
            ) from error
        entries = [_entry(line) for line in lines]
        return {
            tuple(entry["place"]): entry["scores"]
            for entry in entries
            if entry is not None and entry["search"] == self.search
        }


class Writer:
    """Appends to a checkpoint now and then, and the rest in the end; a context manager.

    Parameters
    ----------
    checkpoint : Checkpoint or None
        None keeps nothing. One that cannot be written stops no search: it is told by a warning.
    """

    def __init__(self, checkpoint: Checkpoint | None) -> None:
        self._checkpoint = checkpoint
        self._waiting: list[Entry] = []
        self._written = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._write()

    def add(self, place: Place, scores: Mapping[str, Any]) -> None:
        """Take what one candidate got on one fold."""
        if self._checkpoint is not None:
            self._waiting.append((place, scores))
            if time.monotonic() - self._written > PAUSE:
                self._write()

    def _write(self) -> None:
        if self._checkpoint is None or not self._waiting:
            return
        try:
            self._checkpoint.append(self._waiting)
        except OSError as error:
            warnings.warn(f"scores are not kept for another run: {error}", stacklevel=3)
            self._checkpoint = None
        self._waiting, self._written = [], time.monotonic()


def _entry(line: bytes) -> dict[str, Any] | None:
    checksum, _, text = line.partition(b" ")
    if checksum != b"%08x" % crc32(text):
        return None
    entry = json.loads(text)
    return entry if isinstance(entry, dict) and "place" in entry else None
