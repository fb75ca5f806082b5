"""Processes that belong to a test, found by a mark in their environment."""

from __future__ import annotations

import time
from pathlib import Path


def marked(mark: str) -> list[int]:
    """Return the processes that have ``NAME=value`` in the environment that they began with."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def none_left(mark: str, seconds: float = 600.0) -> bool:
    """Return whether no process with this mark is left, or will be in a while."""
    until = time.monotonic() + seconds
    while marked(mark):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
