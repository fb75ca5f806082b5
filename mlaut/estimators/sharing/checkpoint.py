"""The scores of a search that may be killed, one line each, appended as soon as they are known.

A line is a checksum and JSON. It is written by one call to the operating system, so that several
processes may append to one file, and begins with a line break, so that what a killed process left
half-written spoils no other line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from mlaut.errors import StoreError

__all__ = ["Checkpoint", "Place"]

Place = tuple[int, int]
"""Numbers of a candidate and of a fold."""


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
    ...     kept.append((3, 0), {"test_scores": 0.5})
    ...     kept.read()
    {(3, 0): {'test_scores': 0.5}}
    """

    path: Path
    search: str

    def append(self, place: Place, scores: Mapping[str, Any]) -> None:
        """Add what one candidate got on one fold."""
        text = json.dumps({"search": self.search, "place": place, "scores": scores}).encode()
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(handle, b"\n%08x %b\n" % (crc32(text), text))
        finally:
            os.close(handle)

    def read(self) -> dict[Place, dict[str, Any]]:
        """Give all whole entries of this search; none where there is no file."""
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
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


def _entry(line: bytes) -> dict[str, Any] | None:
    checksum, _, text = line.partition(b" ")
    if checksum != b"%08x" % crc32(text):
        return None
    entry = json.loads(text)
    return entry if isinstance(entry, dict) and "place" in entry else None
