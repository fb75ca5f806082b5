"""Roles of columns: weight, group, time, id and ignored columns, which are never features."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from mlaut.errors import DataError, nearest, refuse_unknown
from mlaut.helpers.lazy import pd
from mlaut.records import ROLES, Dataset, as_list

_ONE_COLUMN = ("weight", "group", "time")


def plain_roles(roles: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Return roles with a tuple of columns each, in the order of `mlaut.records.ROLES`.

    Parameters
    ----------
    roles : mapping of str to str or sequence of str
        One column, or several, for each role.

    Raises
    ------
    DataError
        A role is unknown.

    Examples
    --------
    >>> plain_roles({"ignore": ["a", "b"], "group": "patient"})
    {'group': ('patient',), 'ignore': ('a', 'b')}
    """
    if not isinstance(roles, Mapping):
        raise DataError(f"roles are given as {{'group': 'column'}}, not as {roles!r}")
    refuse_unknown(roles, ROLES, DataError, "no role", words="there are target,")
    columns = {role: roles[role] for role in ROLES if role in roles}
    several = {
        role: tuple(names) if isinstance(names, list | tuple) else (names,)
        for role, names in columns.items()
    }
    return {role: names for role, names in several.items() if names}


def described_roles(roles: Mapping[str, Collection[Any]]) -> str:
    """Return roles as a text, for example ``group=patient``; ``none`` without any.

    Examples
    --------
    >>> described_roles({"group": ("patient",), "ignore": ("a", "b")})
    'group=patient, ignore=a, ignore=b'
    """
    return ", ".join(f"{role}={name}" for role, names in roles.items() for name in names) or "none"


def checked_roles(
    frame: pd.DataFrame, target: Any, roles: Mapping[str, Any], *, alone: bool = True
) -> dict[str, tuple[Any, ...]]:
    """Return the roles of a table's columns after a check of these columns.

    A table that is not ``alone`` stands beside an array: all its columns have a role.

    Raises
    ------
    DataError
        A role is unknown, a column does not exist or has two roles, weight, group or time has
        several columns or gaps, the weights are not numbers from 0 with a positive sum, the times
        have no order, or no feature is left.
    """
    plain = plain_roles(roles)
    role_of: dict[Any, str] = dict.fromkeys(as_list(target), "target")
    for role, columns in plain.items():
        if role in _ONE_COLUMN and len(columns) > 1:
            raise DataError(f"role {role!r} is for one column, and {len(columns)} are given")
        for column in columns:
            if isinstance(column, list | dict) or column not in frame.columns:
                hint = nearest(str(column), list(map(str, frame.columns)))
                raise DataError(f"no column {column!r} for the role {role!r}{hint}")
            if column in role_of:
                raise DataError(f"column {column!r} has two roles, {role_of[column]} and {role}")
            role_of[column] = role
    for role in _ONE_COLUMN:
        for column in plain.get(role, ()):
            check_values(role, frame[column])
    if not alone and (others := [name for name in frame.columns if name not in role_of]):
        raise DataError(f"column {others[0]!r} beside an array has no role; name one, or drop it")
    if alone and len(role_of) == frame.shape[1]:
        raise DataError(
            f"no column beside the target {target!r} and the roles {', '.join(plain)}; a strategy "
            "needs features"
        )
    return plain


def check_values(role: str, values: pd.Series) -> None:
    """Raise `DataError` where a column has gaps, or values that do not suit its role."""
    gaps = np.flatnonzero(values.isna().to_numpy())
    if len(gaps):
        raise DataError(
            f"{role} {values.name!r}: {len(gaps)} values are missing, the first in row {gaps[0]}; "
            "fill them, or drop these rows"
        )
    if role == "weight":
        weights_of(values)
    elif role == "time":
        numbers_of_time(values)


def weights_of(values: pd.Series) -> np.ndarray:
    """Return weights of rows as numbers, checked: finite, from 0, with a positive sum."""
    if not pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
        raise DataError(f"weight {values.name!r}: {values.dtype} values; weights are numbers")
    numbers = values.to_numpy(dtype=np.float64)
    wrong = np.flatnonzero(~np.isfinite(numbers) | (numbers < 0))
    if len(wrong):
        raise DataError(
            f"weight {values.name!r}: {numbers[wrong[0]]:g} in row {wrong[0]}; weights are finite "
            "numbers from 0"
        )
    if not numbers.sum() > 0:
        raise DataError(f"weight {values.name!r}: every weight is 0; give rows a positive weight")
    return numbers


def numbers_of_time(values: pd.Series) -> np.ndarray:
    """Return the times of rows as numbers with the same order: shape (n_rows,).

    Parameters
    ----------
    values : Series
        Numbers, dates, durations, ordered categories, or texts of dates in ISO 8601.

    Raises
    ------
    DataError
        The values have no order in time.

    Examples
    --------
    >>> numbers_of_time(pd.Series(["2021-03-01", "2020-12-31"])).argsort().tolist()
    [1, 0]
    """
    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        if dtype.ordered:
            return values.cat.codes.to_numpy(dtype=np.int64)
        values = values.astype(dtype.categories.dtype)
        dtype = values.dtype
    if isinstance(dtype, pd.PeriodDtype):
        values = values.dt.to_timestamp()
    elif pd.api.types.is_bool_dtype(dtype):
        raise DataError(f"time {values.name!r}: truth values have no order in time")
    elif pd.api.types.is_numeric_dtype(dtype):
        return _ordered(values, values.to_numpy())
    if not pd.api.types.is_timedelta64_dtype(values.dtype):
        try:
            values = pd.to_datetime(values, format="ISO8601", utc=True)
        except (TypeError, ValueError):
            raise DataError(
                f"time {values.name!r}: {values.iloc[0]!r} is no date in the form 2020-01-31; "
                "convert the column to dates or numbers"
            ) from None
    return values.to_numpy(dtype="int64") if len(values) else np.zeros(0)


def _ordered(values: pd.Series, numbers: np.ndarray) -> np.ndarray:
    if not np.isfinite(numbers.astype(np.float64)).all():
        raise DataError(f"time {values.name!r}: a value is infinite; drop this row")
    return numbers


def role_values(dataset: Dataset, roles: Collection[str] = ROLES) -> dict[str, np.ndarray]:
    """Return the values of the weight, group, time and id of a dataset, where it has them.

    Weights are float64; times are numbers; several columns of ``id`` count as one.
    """
    by_role: dict[str, np.ndarray] = {}
    for role, columns in dataset.roles.items():
        if role not in roles or role == "ignore":
            continue
        values = dataset.frame[columns[0]]
        if role == "weight":
            by_role[role] = weights_of(values)
        elif role == "time":
            by_role[role] = numbers_of_time(values)
        elif role == "id":
            by_role[role] = dataset.frame.groupby(list(columns), dropna=False).ngroup().to_numpy()
        else:
            by_role[role] = values.to_numpy()
    return by_role
