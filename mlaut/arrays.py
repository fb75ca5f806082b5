"""Rows of features in any form: of a table, an array, a sparse matrix, series of any length."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from mlaut.errors import DataError


class Series:
    """Series of different lengths, as one array; rows of it are a list of arrays, as aeon's.

    Parameters
    ----------
    values : ndarray, shape (n_points, n_channels)
        The points of all series, one series below the other.
    lengths : ndarray of int64, shape (n_rows,)
        Number of points of each.

    Examples
    --------
    >>> two = Series.of([np.array([[1, 2, 3]]), np.array([[4, 5]])])
    >>> two.shape, two[[1, 0]]
    ((2, 1, 3), [array([[4, 5]]), array([[1, 2, 3]])])
    """

    ndim = 3

    def __init__(self, values: np.ndarray, lengths: np.ndarray) -> None:
        self.values, self.lengths, self.dtype = values, lengths, values.dtype
        self.ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        if values.ndim != 2 or (lengths < 1).any() or self.ends[-1] != len(values):
            raise ValueError(f"series of {self.ends[-1]} points, and {len(values)} are there")
        self.shape = len(lengths), values.shape[1], int(lengths.max())
        self.nbytes = values.nbytes + lengths.nbytes

    @classmethod
    def of(cls, arrays: Sequence[Any]) -> Any:
        """Return arrays of shape (channels, points), or (points,); those of one shape stacked.

        Raises
        ------
        DataError
            They have other numbers of channels or dimensions, or no points.
        """
        if len({one.shape for one in arrays}) == 1:
            return np.stack(arrays)
        rows = [one[None] if one.ndim == 1 else one for one in arrays]
        if any(one.ndim != 2 or not one.size for one in rows) or len({*map(len, rows)}) > 1:
            shapes = ", ".join(str(shape) for shape in list({one.shape: 0 for one in arrays})[:3])
            raise DataError(
                f"a list of arrays of shapes {shapes}, ...; series of different lengths have the "
                "shape (channels, points), and the same channels"
            )
        lengths = np.array([one.shape[1] for one in rows])
        return cls(np.concatenate([one.T for one in rows]), lengths)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, rows: Any) -> list[np.ndarray]:
        places = np.arange(len(self))[rows]
        starts, ends = self.ends[places].tolist(), self.ends[places + 1].tolist()
        cut = map(slice, starts, ends)
        return [np.ascontiguousarray(self.values[points].T) for points in cut]


def is_list_of_arrays(X: Any) -> bool:
    """Return whether rows are a list of arrays, or an array of objects that holds them."""
    held = isinstance(X, list) or (isinstance(X, np.ndarray) and X.dtype.hasobject and X.ndim == 1)
    return held and len(X) > 0 and all(getattr(one, "ndim", 0) > 0 for one in X)


def is_sparse(X: Any) -> bool:
    """Return whether features are a sparse matrix, or sparse array, of SciPy."""
    return hasattr(X, "tocsr")


def is_array(X: Any) -> bool:
    """Return whether features are no table: an array of 3 and more dimensions, sparse, series."""
    return is_sparse(X) or getattr(X, "ndim", 0) > 2 or is_list_of_arrays(X)


def row_shape(X: Any) -> tuple[int, ...]:
    """Return the shape of a row, among series of different lengths that of the longest.

    Examples
    --------
    >>> row_shape(np.zeros((9, 3, 40)))
    (3, 40)
    """
    if isinstance(X, list) and is_list_of_arrays(X):
        return max(one.shape for one in X)
    return tuple(map(int, np.shape(X)[1:] if isinstance(X, list) else X.shape[1:])) or (1,)


def take_rows(X: Any, rows: Any) -> Any:
    """Return rows in this order."""
    if isinstance(X, list):
        return [X[n] for n in np.arange(len(X))[rows]]
    if hasattr(X, "column_names"):  # a table of pyarrow
        return X.take(rows)
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def takes_several(scorer: Any) -> bool:
    """Return whether a scorer of scikit-learn takes several targets.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer
    >>> takes_several(get_scorer("f1_micro")), takes_several(get_scorer("matthews_corrcoef"))
    (True, False)
    """
    labels = np.array([[0, 1], [1, 0], [1, 1]])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scorer._score_func(labels, labels, **scorer._kwargs)
    except (TypeError, ValueError):
        return False
    return True
