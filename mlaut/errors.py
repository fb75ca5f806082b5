"""The errors that MLaut raises on purpose.

Each message says three things in one line: the cause, the evidence (which file, dataset, column or
strategy), and the way out. The command line prints that line and leaves with ``exit_code``.
"""

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = [
    "AnalysisError",
    "DataError",
    "MissingCellsError",
    "MlautError",
    "OptionalPackageError",
    "RunInterrupted",
    "StoreError",
    "StoreWarning",
    "StrategyError",
    "StudyError",
    "StudyLockedError",
    "nearest",
]


class MlautError(Exception):
    """Base of every error that MLaut raises on purpose; its text is one line with a way out."""

    exit_code = 1


class DataError(MlautError, ValueError):
    """A dataset, a column or a target is not what it must be."""

    exit_code = 3


class StoreError(MlautError):
    """An HDF5 database cannot be opened, read or written."""

    exit_code = 4


class StudyLockedError(StoreError):
    """Another process, or a run in another thread, is writing to this study."""


class StoreWarning(UserWarning):
    """Something beside a database was damaged; what was whole in it was used."""


class StudyError(MlautError):
    """A study file, a plan or a stored study contradicts what is asked of it."""

    exit_code = 5


class StrategyError(MlautError, ValueError):
    """A strategy is unknown, named twice, or does not suit the task."""

    exit_code = 6


class AnalysisError(MlautError, ValueError):
    """A statistic is not defined for what it was given."""

    exit_code = 7


class MissingCellsError(AnalysisError):
    """Some cells have no result, and the caller has not said how to treat them."""


class OptionalPackageError(MlautError, ImportError):
    """A package of an extra is needed and not installed."""

    exit_code = 8


class RunInterrupted(KeyboardInterrupt):
    """A run was stopped by a signal; everything that had ended is stored.

    It is a ``KeyboardInterrupt``, not an ``MlautError``, so that a script stops at the same place
    as it would without MLaut, and no code that follows takes a partial study for a complete one.
    """

    exit_code = 130


def nearest(word: object, known: Iterable[object]) -> str:
    """Return the end of a message on an unknown word: the nearest that is known, or nothing.

    Examples
    --------
    >>> "no column 'specis'" + nearest("specis", ["petal", "species"])
    "no column 'specis'; did you mean 'species'?"
    >>> nearest("colour", [0, 1])
    ''
    """
    by_text = {str(name).lower(): name for name in known}
    close = get_close_matches(str(word).lower(), by_text, n=1)
    return f"; did you mean {by_text[close[0]]!r}?" if close else ""
