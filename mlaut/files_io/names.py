"""Names of datasets as names of HDF5 groups, in which ``/`` and ``.`` mean something else.

And names of the files that belong to a database.
"""

import os
from pathlib import Path
from urllib.parse import quote, unquote

__all__ = ["beside", "from_h5", "to_h5"]


def beside(database: Path, suffix: str) -> Path:
    """Return the path of a file that belongs to a database: beside it, with its name and a suffix.

    Where the database is a symbolic link, that is beside the real file, so that all ways to it have
    one lock, one journal and one folder of models.

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
    """Return the name of the dataset of an HDF5 name.

    Examples
    --------
    >>> all(from_h5(to_h5(name)) == name for name in ("iris", "a/b", "50 %", "..", "", "%2F", "é"))
    True
    """
    return "" if name == "%" else unquote(name)
