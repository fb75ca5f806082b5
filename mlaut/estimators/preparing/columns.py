"""Columns of a user's table: the kind of each column, and its values as numbers or texts.

The kind is decided once, on the training rows. Later rows are read as that kind, whatever their
type. A value that cannot be read counts as missing (a gap), and so does an infinite number.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mlaut.errors import DataError

NUMBER = "number"
DATE = "date"
DURATION = "duration"
ORDER = "order"
CATEGORY = "category"
EMPTY = "empty"

_KIND_OF_OBJECTS = {
    **dict.fromkeys(("integer", "floating", "mixed-integer-float", "decimal", "boolean"), NUMBER),
    **dict.fromkeys(("datetime", "datetime64", "date"), DATE),
    **dict.fromkeys(("timedelta", "timedelta64"), DURATION),
}


@dataclass(frozen=True)
class Column:
    """Name and kind of a column of the training table.

    Attributes
    ----------
    name : hashable
    kind : str
        ``"number"`` (also booleans), ``"date"``, ``"duration"``, ``"order"`` (ordered categories),
        ``"category"`` (text and everything else), or ``"empty"`` (no value at all).
    categories : tuple
        Categories of a column of kind ``"order"``, in their order; otherwise empty.
    """

    name: Hashable
    kind: str
    categories: tuple[Any, ...] = ()


def kinds_of(frame: pd.DataFrame) -> tuple[Column, ...]:
    """Return the columns of a training table with their kinds.

    Examples
    --------
    >>> table = pd.DataFrame({"age": [1, None], "sex": ["f", "m"], "seen": [None, None]})
    >>> [column.kind for column in kinds_of(table)]
    ['number', 'category', 'empty']
    """
    return tuple(_column(name, frame.iloc[:, i]) for i, name in enumerate(frame.columns))


def _column(name: Hashable, series: pd.Series) -> Column:
    if series.isna().all():
        return Column(name, EMPTY)
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        if dtype.ordered:
            return Column(name, ORDER, tuple(dtype.categories))
        return Column(name, CATEGORY)
    if pd.api.types.is_complex_dtype(dtype):
        raise DataError(f"Complex data not supported: column {name!r}; split it into two columns")
    if pd.api.types.is_bool_dtype(dtype) or pd.api.types.is_numeric_dtype(dtype):
        return Column(name, NUMBER)
    if pd.api.types.is_datetime64_any_dtype(dtype) or isinstance(dtype, pd.PeriodDtype):
        return Column(name, DATE)
    if pd.api.types.is_timedelta64_dtype(dtype):
        return Column(name, DURATION)
    if pd.api.types.is_object_dtype(dtype):
        return Column(name, _KIND_OF_OBJECTS.get(pd.api.types.infer_dtype(series), CATEGORY))
    return Column(name, CATEGORY)


def as_numbers(series: pd.Series, column: Column) -> np.ndarray:
    """Return the values as float64: dates as days since 1970, durations as days, gaps as NaN.

    Parameters
    ----------
    series : Series
        Values of any type.
    column : Column
        Column of any kind except ``"category"``.

    Returns
    -------
    ndarray of float64

    Examples
    --------
    >>> as_numbers(pd.Series(["1970-01-03", None]), Column("day", "date"))
    array([ 2., nan])
    """
    if column.kind == EMPTY:
        return np.full(len(series), np.nan)
    if column.kind == ORDER:
        positions = pd.Index(column.categories).get_indexer(pd.Index(series.astype(object)))
        return np.where(positions < 0, np.nan, positions.astype(np.float64))
    if column.kind == DATE:
        numbers = _days(_moments(series) - pd.Timestamp(0, tz="UTC"))
    elif column.kind == DURATION:
        numbers = _days(pd.to_timedelta(_loose(series), errors="coerce"))
    else:
        read = pd.to_numeric(_loose(series), errors="coerce")
        numbers = read.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _loose(series: pd.Series) -> pd.Series:
    """Return a series without a category type, which the converters of pandas do not accept."""
    return series.astype(object) if isinstance(series.dtype, pd.CategoricalDtype) else series


def _moments(series: pd.Series) -> pd.Series:
    if isinstance(series.dtype, pd.PeriodDtype):
        series = series.dt.to_timestamp()
    return pd.to_datetime(_loose(series), errors="coerce", utc=True)


def _days(durations: pd.Series) -> np.ndarray:
    return durations.dt.total_seconds().to_numpy(dtype=np.float64) / 86_400


def as_texts(series: pd.Series) -> np.ndarray:
    """Return the values as text, gaps as NaN: shape (n_rows,), dtype object.

    Equal values become equal texts, whether the column holds integers, floats or objects.

    Examples
    --------
    >>> as_texts(pd.Series([1.0, True, "a", None], dtype=object))
    array(['1', 'True', 'a', nan], dtype=object)
    """
    values = series.astype(object).to_numpy()
    gaps = series.isna().to_numpy()
    texts = np.full(len(values), np.nan, dtype=object)
    texts[~gaps] = [_text(value) for value in values[~gaps]]
    return texts


def _text(value: Any) -> str:
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def complete_numbers(frame: pd.DataFrame) -> np.ndarray | None:
    """Return a table as an array if it has only finite numbers, else None.

    Returns
    -------
    ndarray of float64, shape (n_rows, n_columns), or None
        None if a column is not of a plain number type, or has a gap or an infinite number.

    Examples
    --------
    >>> complete_numbers(pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]}))
    array([[1. , 0.5],
           [2. , 1.5]])
    >>> complete_numbers(pd.DataFrame({"a": [1, None]})) is None
    True
    """
    if not are_plain_numbers(frame):
        return None
    numbers = frame.to_numpy(dtype=np.float64)
    return numbers if np.isfinite(numbers).all() else None


def are_plain_numbers(frame: pd.DataFrame) -> bool:
    """Return whether all columns have a plain number type: no booleans, no types of pandas."""
    kinds = {
        dtype.kind if isinstance(dtype, np.dtype) else "O" for dtype in set(frame.dtypes.array)
    }
    return kinds <= set("iuf")


def have_names_of_one_type(frame: pd.DataFrame) -> bool:
    """Return whether scikit-learn accepts the names of the columns: all or none are texts."""
    return len({isinstance(name, str) for name in frame.columns}) == 1
