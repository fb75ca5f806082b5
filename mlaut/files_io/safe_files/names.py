"""Conversion of dataset names to names of HDF5 groups, and paths of files beside a database.

In HDF5, ``/`` and ``.`` in a name have special meanings, so they are replaced.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

_NOTED = "changed names: "
_MOST_NOTED = 100  # an attribute holds 64 kB


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


def note_names(file: Any, what: str, changes: Mapping[str, str | None]) -> None:
    """Note in an HDF5 file which names were changed, for a command that is repeated."""
    noted = {**noted_names(file, what), **changes}
    file.attrs[_NOTED + what] = json.dumps(dict([*noted.items()][-_MOST_NOTED:]))


def noted_names(file: Any, what: str) -> dict[str, str | None]:
    """Return the names that were changed, each with its new one, or None if it was removed."""
    try:
        noted = json.loads(file.attrs.get(_NOTED + what, "{}"))
    except (TypeError, ValueError):  # of another program
        return {}
    return noted if isinstance(noted, dict) else {}


def plain_names(target: Any) -> Any:
    """Return the name of a target, or the names of several, as plain JSON values."""
    return [_plain(one) for one in target] if isinstance(target, list) else _plain(target)


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
