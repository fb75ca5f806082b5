"""Log of the scores of a search, so that a killed search can resume; one line per score.

Scores are appended about every half second, as lines of a checksum and JSON. Each batch of lines is
one write call, so that several processes may append to one file. Each line starts with a line
break, so that a line that a killed process has half written damages no other line.
"""

import json
import os
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from zlib import crc32

import numpy as np

from mlaut.errors import StoreError

Place = tuple[int, int]
"""Index of a candidate and of a fold."""

Entry = tuple[Place, Mapping[str, Any]]

# A link could have another file of the user changed; a pipe would be waited for.
_APPENDING = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK

PAUSE = 0.5
"""Seconds between two writes. Scores that wait when a process is killed are computed again."""


@dataclass(frozen=True)
class Checkpoint:
    """File of scores, together with the search whose scores are read and written.

    Attributes
    ----------
    path : Path
    search : str
        Key of the search in the file.

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
        """Append the scores of candidates on folds."""
        lines = b"".join(self._line(place, scores) for place, scores in entries)
        handle = os.open(self.path, _APPENDING, 0o666)
        try:
            os.write(handle, lines)
        finally:
            os.close(handle)

    def _line(self, place: Place, scores: Mapping[str, Any]) -> bytes:
        entry = {"search": self.search, "place": place, "scores": scores}
        text = json.dumps(entry, default=np.ndarray.tolist).encode()
        return b"\n%08x %b\n" % (crc32(text), text)

    def read(self) -> dict[Place, dict[str, Any]]:
        """Return all undamaged entries of this search; an empty dict if there is no file."""
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
    """Context manager that appends to a checkpoint at intervals, and the rest at its end.

    Parameters
    ----------
    checkpoint : Checkpoint or None
        Checkpoint to write to; None stores nothing. If it cannot be written, the search goes on
        with a warning.
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
        """Add the scores of one candidate on one fold; write if the last write is long ago."""
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
