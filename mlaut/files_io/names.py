"""Conversion of dataset names to names of HDF5 groups, and paths of files beside a database.

In HDF5, ``/`` and ``.`` in a name have special meanings, so they are replaced.
"""

import os
from pathlib import Path
from urllib.parse import quote, unquote

__all__ = ["beside", "from_h5", "to_h5"]


def beside(database: Path, suffix: str) -> Path:
    """Return the path of a file that belongs to a database: its path plus a suffix.

    If the path of the database is a symbolic link, the path is beside the real file, so that all
    paths to a database share one lock, one journal and one folder of models.

    Examples
    --------
    >>> beside(Path("/studies/study.h5"), ".journal").as_posix()
    '/studies/study.h5.journal'
    """
    real = Path(os.path.realpath(database))
    return real.with_name(real.name + suffix)


def to_h5(name: str) -> str:
    """Return the HDF5 name of a dataset.

    Examples
    --------
    >>> to_h5("iris"), to_h5("a/b"), to_h5("50 %"), to_h5("..")
    ('iris', 'a%2Fb', '50 %25', '%2E%2E')
    """
    if not name.strip("."):
        return name.replace(".", "%2E") or "%"
    return "".join(quote(c, safe="") if c in "%/\0" else c for c in name)


def from_h5(name: str) -> str:
    """Return the dataset name of an HDF5 name.

    Examples
    --------
    >>> all(from_h5(to_h5(name)) == name for name in ("iris", "a/b", "50 %", "..", "", "%2F", "é"))
    True
    """
    return "" if name == "%" else unquote(name)
