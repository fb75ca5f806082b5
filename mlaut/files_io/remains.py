"""Description of the files that killed writers and damage left beside a study."""

from __future__ import annotations

from mlaut.errors import StoreError
from mlaut.files_io.changes import change_path
from mlaut.files_io.hdf5 import leftovers
from mlaut.files_io.journal import index_journal, kept_journals
from mlaut.files_io.lock import holder_of
from mlaut.files_io.study import Study

__all__ = ["remains_of"]


def remains_of(study: Study) -> tuple[str, ...]:
    """Return a line on each file that killed writers or damage left beside a study."""
    lines = [
        f"{file.name}: an unfinished copy of {file.stat().st_size} bytes that a killed writer "
        "left; the next writer removes it"
        for file in leftovers(study.path)
    ]
    lines += [
        f"{file.name}: a damaged journal; what was whole in it is in the "
        "study; delete the file when you do not need it"
        for file in kept_journals(study.journal_path)
    ]
    if change_path(study.path).exists() and holder_of(study.path) is None:
        lines.append(
            f"{change_path(study.path).name}: a change that a killed writer had decided; the next "
            "writer completes it, and readers already see it"
        )
    if holder_of(study.path) is None:
        lines += _journal_damage(study)
    return tuple(lines)


def _journal_damage(study: Study) -> list[str]:
    try:
        damaged = index_journal(study.journal_path, study.id).damaged
    except StoreError as error:
        return [str(error)]
    if not damaged:
        return []
    return [
        f"{study.journal_path.name}: {damaged} bytes of this journal are damaged; "
        "the next run goes on from what is whole, and keeps the journal under another name"
    ]
