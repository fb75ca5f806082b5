"""Rows of features in any form: of a table, of an array, of a sparse matrix; several targets."""

import warnings
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


def takes_several(scorer: Any) -> bool:
    """Return whether a scorer of scikit-learn takes several targets.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer
    >>> takes_several(get_scorer("f1_micro")), takes_several(get_scorer("matthews_corrcoef"))
    (True, False)
    """
    import numpy as np

    labels = np.array([[0, 1], [1, 0], [1, 1]])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scorer._score_func(labels, labels, **scorer._kwargs)
    except (TypeError, ValueError):
        return False
    return True
