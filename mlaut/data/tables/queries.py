"""Datasets from databases, by a query in SQL."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd

from mlaut.data.tables.frames import from_frame, roles_of
from mlaut.errors import DataError, MlautError
from mlaut.optional import need
from mlaut.records import Dataset

_SQLITE = "sqlite:///"


def load_sql(
    query: str,
    connection: Any,
    *,
    name: str,
    target: Any = "",
    task: str = "",
    roles: Mapping[str, Any] | None = None,
) -> Dataset:
    """Return the rows of a query as a dataset.

    A database promises no order of rows, and an order is part of a dataset's identity: end the
    query with ``ORDER BY``, so that a study can be resumed from a new copy.

    Parameters
    ----------
    query : str
        Query, for example ``"SELECT * FROM visits ORDER BY number"``.
    connection : str, path-like or connection
        File of SQLite, which is opened for reading only; an address such as
        ``"postgresql://user@server/clinic"`` (needs the package sqlalchemy and the driver of the
        database); or an open connection that `pandas.read_sql` takes.
    name : str
        Name of the dataset.
    target : str, optional
        Name of the target column; by default the last column.
    task : str, optional
        ``"Classification"`` or ``"Regression"``; by default inferred from the target.
    roles : mapping, optional
        Columns that are no features, by role (`mlaut.data.with_roles`).

    Raises
    ------
    DataError
        The database cannot be opened, the query fails, or its rows are no dataset.
    OptionalPackageError
        The address needs sqlalchemy, and it is not installed.

    Examples
    --------
    >>> clinic = sqlite3.connect(":memory:")
    >>> _ = clinic.execute("CREATE TABLE visits (dose REAL, better TEXT)")
    >>> _ = clinic.executemany("INSERT INTO visits VALUES (?, ?)", [(1, "no"), (2, "yes")])
    >>> load_sql("SELECT * FROM visits", clinic, name="visits").target
    'better'
    """
    frame = _rows(query, connection)
    given = roles_of(roles, name)
    target = given.pop("target", None) or target or frame.columns[-1]
    return from_frame(frame, target, name=name, task=task, roles=given, source="a query in SQL")


def _rows(query: str, connection: Any) -> pd.DataFrame:
    try:
        if not isinstance(connection, str | Path):
            return pd.read_sql(query, connection)
        address = str(connection)
        if "://" in address and not address.startswith(_SQLITE):
            need("sqlalchemy", extra="sql", purpose=f"The address {address.partition('://')[0]}://")
            return pd.read_sql(query, address)
        file = Path(address.removeprefix(_SQLITE)).resolve()
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as opened:
            return pd.read_sql(query, opened)
    except MlautError:
        raise
    except Exception as error:  # drivers of databases raise errors of their own
        reason = " ".join(str(error.__cause__ or error).split())
        raise DataError(f"query {query[:60]!r}: {reason}; check query and connection") from error
