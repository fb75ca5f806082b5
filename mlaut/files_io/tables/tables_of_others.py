"""Tables of other libraries as DataFrames: polars, pyarrow and others through narwhals; pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mlaut.arrays import Series, is_array, is_list_of_arrays
from mlaut.errors import DataError
from mlaut.helpers.lazy import pd
from mlaut.helpers.optional import need

_TYPES = {"boolean": "boolean", "date": "datetime64[s]", "decimal": "float64"}
"""Types for objects of one kind, by pandas' name of the kind."""

_KNOWN = "a DataFrame of pandas or polars, a pyarrow table or an array"


def is_table(obj: Any) -> bool:
    """Return whether `as_pandas` may convert an object: a table, a matrix or an array."""
    if isinstance(obj, pd.DataFrame | np.ndarray) or hasattr(obj, "tocsr"):
        return True
    return any(hasattr(obj, name) for name in ("__dataframe__", "__arrow_c_stream__", "collect"))


def is_pair(obj: Any) -> bool:
    """Return whether an object is a pair of a table and its labels, as scikit-learn takes them."""
    if not (isinstance(obj, tuple) and len(obj) == 2):
        return False
    if not (is_table(obj[0]) or is_list_of_arrays(obj[0]) or isinstance(obj[0], Series)):
        return False
    of_y = isinstance(obj[1], list | np.ndarray) or hasattr(obj[1], "tocsr")
    return of_y or hasattr(obj[1], "to_numpy")


def as_pandas(table: Any) -> pd.DataFrame:
    """Return a table of another library as a DataFrame.

    Parameters
    ----------
    table : table
        A DataFrame of pandas, which is returned as it is but for columns of pyarrow's types; a
        table that narwhals knows (polars, pyarrow and others, also lazy); or an array of two
        dimensions, whose columns become ``x0``, ``x1``, ...

    Raises
    ------
    DataError
        The object is no table; the message names its type.
    OptionalPackageError
        narwhals or pyarrow is not installed.

    Examples
    --------
    >>> as_pandas(np.array([[1.0, 2.0]])).columns.tolist()
    ['x0', 'x1']
    """
    if isinstance(table, pd.DataFrame):
        return _without_arrow(table)
    kind = f"{type(table).__module__}.{type(table).__qualname__}"
    if is_array(table) or isinstance(table, np.ndarray):
        if is_array(table) or table.ndim != 2:
            raise DataError(
                f"a table has rows and columns, and this is a {kind} of shape {table.shape}; as "
                "features, pass (X, y)"
            )
        return pd.DataFrame(table).add_prefix("x").infer_objects()
    if not is_table(table):
        raise DataError(f"a table is needed, not a {kind}; pass {_KNOWN}")
    narwhals = need("narwhals", "pyarrow", extra="tables", purpose=f"A {kind}")
    try:
        frame = narwhals.from_native(table)
        frame = frame.collect() if hasattr(frame, "collect") else frame
        converted = frame.to_pandas()
    except (ImportError, NotImplementedError, TypeError, ValueError) as error:
        raise DataError(
            f"a {kind} cannot be converted ({' '.join(str(error).split())}); mend that, or make it "
            "a DataFrame of pandas"
        ) from error
    return _without_objects(pd.DataFrame(converted))


def _without_arrow(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a DataFrame in which types of pandas itself replace those of pyarrow."""
    columns = [n for n, dtype in enumerate(frame.dtypes) if isinstance(dtype, pd.ArrowDtype)]
    if not columns:
        return frame
    plain = frame.copy(deep=False)
    for number in columns:
        column: Any = frame.iloc[:, number].array
        plain.isetitem(number, column.__arrow_array__().to_pandas().set_axis(frame.index))
    return _without_objects(plain)


def _without_objects(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a DataFrame in which values that pyarrow made objects of have a type of their own.

    These values are decimals, days, and truth values with gaps.
    """
    labelled = frame.copy(deep=False)
    for number, dtype in enumerate(frame.dtypes):
        if not pd.api.types.is_object_dtype(dtype):
            continue
        column: Any = frame.iloc[:, number]
        kind = pd.api.types.infer_dtype(column, skipna=True)
        if kind in _TYPES:
            labelled.isetitem(number, column.astype(_TYPES[kind]))
    return labelled


def of_pair(
    X: Any, y: Any, target: Any, roles: Mapping[str, Any]
) -> tuple[pd.DataFrame, Any, dict[str, Any]]:
    """Return ``X, y``, as scikit-learn takes them, in the form of a dataset.

    Parameters
    ----------
    X : table or array
        What `as_pandas` takes, a sparse matrix, an array of three and more dimensions, or a list of
        series of different lengths.
    y : array-like, shape (n_rows,) or (n_rows, k), or list of lists of labels
    target : str, or list of names
        Name of the column of ``y``. The columns of several targets keep the names that a DataFrame
        gives them, or get numbers behind this name; a list of labels gets their names.
    roles : mapping
        Columns by role; an array of a value for each row becomes a column of the role's name.

    Returns
    -------
    frame : DataFrame
        Columns of a table, then the labels, then the arrays with a role.
    array : ndarray, sparse matrix, or None
        Features that are no table.
    roles : dict
        With ``"target"``, the names of the columns, if there are several.

    Raises
    ------
    DataError
        The numbers of rows differ, or a column has that name.

    Examples
    --------
    >>> frame, array, _ = of_pair(np.array([[1.0], [2.0]]), ["a", "b"], "target", {})
    >>> frame.columns.tolist(), array
    (['x0', 'target'], None)
    """
    X = Series.of(X) if is_list_of_arrays(X) else X
    apart = is_array(X)
    table = X if hasattr(X, "shape") else as_pandas(X)
    several = several_targets(y, target)
    labels = one_target(y, table) if several is None else several
    check_order("y", y, table)
    frame = pd.DataFrame(index=range(len(labels))) if apart else as_pandas(X)
    plain: dict[str, Any] = dict(roles)
    columns: dict[Any, Any]
    if several is None:
        columns = {target: labels}
    else:
        columns = {name: several[name].to_numpy() for name in several}
        plain["target"] = list(columns)
    for role, values in roles.items():
        if isinstance(values, np.ndarray | pd.Series):
            check_order(role, values, X)
            columns[role] = np.asarray(values)
            plain[role] = role
    for name, values in columns.items():
        if name in frame.columns:
            what = "target" if name in plain.get("target", [target]) else "column"
            raise DataError(f"the table has a column {name!r} already; name the {what} differently")
        if len(values) != len(frame):
            raise DataError(f"{len(frame)} rows and {len(values)} values of {name}")
    made: Any = {n: pd.Series(values, frame.index).infer_objects() for n, values in columns.items()}
    frame = pd.concat([frame, pd.DataFrame(made, frame.index)], axis=1)
    return frame, X if apart else None, plain


def several_targets(y: Any, name: str | list[Any]) -> pd.DataFrame | None:
    """Return several targets as a table with a column for each; None for one target.

    Examples
    --------
    >>> several_targets([["sad", "calm"], ["happy"], []], "y")
       calm  happy  sad
    0     1      0    1
    1     0      1    0
    2     0      0    0
    >>> several_targets(np.array([[1.5, 2.5]]), "y").columns.tolist()
    ['y0', 'y1']
    """
    if isinstance(y, list) and _are_lists(y):
        return _indicators(y)
    if isinstance(y, list | pd.Series):
        try:
            y = np.asarray(y)
        except ValueError:
            return None
    if hasattr(y, "tocsr"):
        y = y.toarray()
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if isinstance(name, list) and (len(shape) != 2 or len(name) != shape[1]):
        raise DataError(f"targets of shape {shape} and {len(name)} names of targets; name each")
    if len(shape) != 2 or shape[1] < 2:
        return None
    table = pd.DataFrame(y).infer_objects() if isinstance(y, np.ndarray) else as_pandas(y)
    if isinstance(name, list):
        return table.set_axis(name, axis=1)
    return table.add_prefix(name) if isinstance(y, np.ndarray) else table


def with_indicators(frame: pd.DataFrame, target: Any) -> tuple[pd.DataFrame, Any]:
    """Return a table and its target, of which a column of lists became a column for each label."""
    if isinstance(target, list) and len(target) == 1:
        target = target[0]
    if isinstance(target, list) or target not in frame or not _are_lists(frame[target]):
        return frame, target
    labels, rest = _indicators(frame[target]), frame.drop(columns=target)
    if twice := [name for name in labels if name in rest]:
        raise DataError(f"the label {twice[0]!r} of {target!r} is also a column; rename one")
    return pd.concat([rest, labels.set_index(rest.index)], axis=1), list(labels)


def _are_lists(values: Any) -> bool:
    """Return whether each row has a list of labels: of texts, or lists of several lengths."""
    if not len(values) or not all(isinstance(x, list | tuple | set | frozenset) for x in values):
        return False
    texts = any(isinstance(label, str) for row in values for label in row)
    return texts or len(set(map(len, values))) > 1 or isinstance(values, pd.Series)


def _indicators(rows: Any) -> pd.DataFrame:
    try:
        names = sorted({label for row in rows for label in row})
    except TypeError:
        raise DataError("lists of labels that have no order; make them texts") from None
    if len(names) < 2:
        raise DataError(f"lists of the labels {names}; a classification needs two at least")
    where = {label: column for column, label in enumerate(names)}
    values = np.zeros((len(rows), len(names)), dtype=np.int8)
    for number, row in enumerate(rows):
        values[number, [where[label] for label in row]] = 1
    return pd.DataFrame(values, columns=names)


def one_target(labels: Any, table: Any) -> np.ndarray:
    """Return labels as an array with one value for each row of a table.

    Raises
    ------
    DataError
        The numbers of rows differ, there are several targets, or two objects of pandas have the
        same index in another order.

    Examples
    --------
    >>> one_target(pd.DataFrame({"y": [1, 2]}), np.zeros((2, 3)))
    array([1, 2])
    """
    try:
        values = np.asarray(labels)
    except ValueError:  # lists of several lengths
        raise DataError(
            "targets are lists of several lengths; pass one label for each row"
        ) from None
    if values.dtype.names:
        raise DataError(
            f"targets with the fields {', '.join(values.dtype.names)}: survival times are not "
            "taken; pass one column of numbers or classes"
        )
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise DataError(
            f"targets of shape {values.shape}; here one target is taken: pass one column of them "
            "(a study takes several: mlaut.Study.add_datasets)"
        )
    n_rows = table.shape[0] if hasattr(table, "shape") else len(table)
    if len(values) != n_rows:
        raise DataError(f"{n_rows} rows and {len(values)} targets; each row needs one")
    check_order("y", labels, table)
    return values


def check_order(name: str, values: Any, table: Any) -> None:
    """Raise `DataError` where two objects of pandas have the same index in another order."""
    both = isinstance(table, pd.DataFrame) and isinstance(values, pd.Series | pd.DataFrame)
    moved = both and table.index.is_unique and not table.index.equals(values.index)
    if moved and set(table.index) == set(values.index):
        raise DataError(
            f"X and {name} have their rows in different orders; pass {name}.loc[X.index]"
        )
