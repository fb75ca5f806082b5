"""The strategy of an entry as a pickle, made by a process of its own.

Only that process, and the guarded ones in which cells run, execute code of the entry. What
measures has the pickle as bytes, and never loads it: nothing that the entry does to its own process
reaches the measuring.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from mlaut_exchange import open_bundle, strategies_of_bundle

from mlaut.errors import MlautError, StudyError
from mlaut.files_io import StudyStore
from mlaut.plugins import pickled, usable_strategies


def packed_strategy(entry: Path, *, limit: int, trusted: bool, seconds: float) -> bytes:
    """Return the strategy of an entry as a pickle; another process loads the entry.

    Raises
    ------
    StudyError
        The entry has no usable strategy, or its process ends without one.
    """
    with tempfile.TemporaryDirectory() as folder:
        made, why = Path(folder, "strategy"), Path(folder, "why")
        words = [sys.executable, "-m", __name__, str(entry), str(made), str(why), str(limit)]
        where = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        try:
            done = subprocess.run(
                [*words, str(int(trusted))],
                env=os.environ | where,
                timeout=seconds,
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # of the entry: the answer of a command may be JSON
            )
        except subprocess.TimeoutExpired as error:
            raise StudyError(f"loading the strategy took more than {seconds:.0f} s") from error
        if not made.exists():
            reason = why.read_text(encoding="utf-8")[:2000] if why.exists() else ""
            raise StudyError(reason or f"the process that loads it ended ({done.returncode})")
        return made.read_bytes()


def _pack(entry: str, made: str, why: str, limit: str, trusted: str) -> None:
    """Load the strategy of an entry and write it; this is run in the other process."""
    try:
        bundle = open_bundle(entry, limit=int(limit))
        strategies = strategies_of_bundle(bundle, trusted == "1")
        (first, *_) = usable_strategies(StudyStore(bundle.study), strategies)[0]
    except MlautError as error:
        Path(why).write_text(str(error), encoding="utf-8")
        return
    Path(made).write_bytes(pickled(first))


if __name__ == "__main__":
    _pack(*sys.argv[1:])
