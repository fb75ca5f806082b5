"""Rows of features in any form: of a table, of an array, of a sparse matrix."""

from typing import Any


def is_sparse(X: Any) -> bool:
    """Return whether features are a sparse matrix, or sparse array, of SciPy."""
    return hasattr(X, "tocsr")


def is_array(X: Any) -> bool:
    """Return whether features are no table: an array of 3 and more dimensions, or sparse."""
    return is_sparse(X) or getattr(X, "ndim", 0) > 2


def row_shape(X: Any) -> tuple[int, ...]:
    """Return the shape of a row.

    Examples
    --------
    >>> import numpy as np
    >>> row_shape(np.zeros((9, 3, 40)))
    (3, 40)
    """
    return tuple(map(int, X.shape[1:])) or (1,)


def take_rows(X: Any, rows: Any) -> Any:
    """Return rows in this order."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]
