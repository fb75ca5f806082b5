"""Scores of unfinished parameter searches, kept in a folder beside the study.

A cell that is killed during its search resumes the search when it is tried again. The folder only
saves time: it may be deleted, and where it cannot be written, cells run without it.
"""

import contextlib
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from mlaut.files_io import StudyStore
from mlaut.files_io.safe_files.names import beside
from mlaut.records import Cell, Outcome, Status

_ENDED_BY_ITSELF = (Status.DONE, Status.ERROR, Status.DIVERGED)
_OPEN = {*Status} - {*_ENDED_BY_ITSELF, Status.SKIPPED}


def checkpoints_folder(study_path: Path) -> Path:
    """Return the folder of the scores of unfinished searches of a study."""
    return beside(study_path, ".searches")


def checkpoint_of(folder: Path | None, cell: Cell) -> Path | None:
    """Return the file of the scores of one cell; None where the folder is missing, or a link."""
    if folder is None or folder.is_symlink() or not folder.is_dir():
        return None
    key = "\0".join([cell.dataset, cell.strategy, str(cell.repeat), str(cell.fold)])
    return folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.scores"


def forget_checkpoints(folder: Path, outcomes: Iterable[Outcome]) -> None:
    """Remove the scores of cells that finished or failed; those of killed cells are kept."""
    if not folder.is_dir() or not any(folder.iterdir()):
        return  # the usual case costs one look for many cells
    for outcome in outcomes:
        path = checkpoint_of(folder, outcome.cell)
        if path is not None and outcome.status in _ENDED_BY_ITSELF:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


def sweep_checkpoints(study: StudyStore) -> None:
    """Remove the scores of cells that ended, also in runs that were killed, and an empty folder."""
    folder = checkpoints_folder(study.path)
    if folder.is_symlink() or not folder.is_dir():
        return
    unfinished = {checkpoint_of(folder, cell) for cell in study.cells(*_OPEN)}
    with contextlib.suppress(OSError):
        for path in {*folder.glob("*.scores")} - unfinished:
            path.unlink(missing_ok=True)
        folder.rmdir()


@contextlib.contextmanager
def kept_checkpoints(folder: Path) -> Iterator[None]:
    """Create the folder for a run; afterwards remove it unless it holds unfinished searches."""
    with contextlib.suppress(OSError):
        folder.mkdir(exist_ok=True)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()
