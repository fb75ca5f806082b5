"""Scores of searches that run inside of cells, in a folder beside the study until the cell is done.

A cell that is killed in the middle of its search goes on from there when it is tried again. Nothing
but time is lost with the folder: it may be deleted, and where it cannot be written, cells run
without it.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from mlaut.files_io.names import beside
from mlaut.records import Cell, Outcome, Status

__all__ = ["checkpoint_of", "checkpoints_folder", "forget_checkpoints", "kept_checkpoints"]

_ENDED_BY_ITSELF = (Status.DONE, Status.ERROR)


def checkpoints_folder(study_path: Path) -> Path:
    """Where the scores of unfinished searches of a study lie."""
    return beside(study_path, ".searches")


def checkpoint_of(folder: Path | None, cell: Cell) -> Path | None:
    """Where those of one cell lie; None on a machine that does not have the folder."""
    if folder is None or not folder.is_dir():
        return None
    key = "\0".join([cell.dataset, cell.strategy, str(cell.repeat), str(cell.fold)])
    return folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.scores"


def forget_checkpoints(folder: Path, outcomes: Iterable[Outcome]) -> None:
    """Remove the scores of cells that ended by themselves."""
    for outcome in outcomes:
        path = checkpoint_of(folder, outcome.cell)
        if path is not None and outcome.status in _ENDED_BY_ITSELF:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


@contextlib.contextmanager
def kept_checkpoints(folder: Path) -> Iterator[None]:
    """Have the folder while a run lasts, and afterwards only if a search was not finished."""
    with contextlib.suppress(OSError):
        folder.mkdir(exist_ok=True)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()
