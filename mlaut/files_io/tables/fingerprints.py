"""Fingerprints: digests of the content of a table, independent of how it is stored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mlaut.files_io.safe_files.names import plain_names
from mlaut.files_io.tables.arrays import array_fingerprint
from mlaut.files_io.tables.encodings import Element, encode_columns
from mlaut.helpers.lazy import pd

VERSION = "mlaut-table-1"
EXACT_IN_FLOAT = 2**53  # up to this, every integer is a float64
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def fingerprint(frame: pd.DataFrame, elements: Sequence[Element] | None = None) -> str:
    """Return the SHA-256 of the content of a table.

    It depends on the names and the order of the columns, on the kind of each column (number, truth
    value, text, category, date, duration), on the values, on the places of missing values, on
    categories and their order, and on the order of the rows.

    It does not depend on the storage type: ``1`` is the same number in an int8, a float64 and an
    Int64 column, ``-0.0`` equals ``0.0``, and NaN equals ``pd.NA``; integers of more than 53 bits
    are compared as integers. A text is the same as object, ``string`` and ``str``; a date is the
    same in seconds and in nanoseconds. The index of the rows is not included.

    Parameters
    ----------
    frame : DataFrame
    elements : sequence of Element, optional
        Its columns in storable form, if they are known.

    Returns
    -------
    str
        64 hexadecimal digits.

    Raises
    ------
    DataError
        The type of a column cannot be stored; the message names the column.

    Examples
    --------
    >>> one = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    >>> two = pd.DataFrame({"a": [1.0, 2.0], "b": pd.array(["x", pd.NA], dtype="string")})
    >>> fingerprint(one) == fingerprint(two)
    True
    >>> fingerprint(one) == fingerprint(one[::-1])
    False
    """
    return _digest(VERSION, len(frame), column_fingerprints(frame, elements))


def column_fingerprints(
    frame: pd.DataFrame, elements: Sequence[Element] | None = None
) -> list[tuple[Any, str]]:
    """Return the name and the digest of each column, which show where two tables differ."""
    elements = encode_columns(frame) if elements is None else elements
    digests = (_element_digest(element).hex() for element in elements)
    return list(zip(map(plain_names, frame.columns), digests, strict=True))


def dataset_fingerprint(
    frame: pd.DataFrame,
    target: Any,
    task: str,
    roles: Mapping[str, Sequence[Any]] | None = None,
    array: Any = None,
    elements: Sequence[Element] | None = None,
) -> str:
    """Return the SHA-256 of a dataset: of its table, the name of its target, its task, its roles.

    A dataset without roles has the same fingerprint as before there were roles. Features that are
    no table (``array``) count with their shape, their type and their values. ``elements`` are those
    of `fingerprint`.
    """
    columns = [
        [role, [plain_names(name) for name in names]] for role, names in (roles or {}).items()
    ]
    more = [] if array is None else [{"array": array_fingerprint(array)}]
    of_table = fingerprint(frame, elements)
    return _digest(of_table, plain_names(target), task, *([columns] if columns else []), *more)


def _digest(*content: Any) -> str:
    return hashlib.sha256(json.dumps(content, default=str).encode()).hexdigest()


def _element_digest(element: Element) -> bytes:
    """Return the digest of the kind and the canonical arrays of a column."""
    kind, arrays, parts = _canonical(element)
    digest = hashlib.sha256(kind.encode())
    for array in arrays:
        digest.update(f"|{array.dtype.str}{len(array)}|".encode())
        digest.update(np.ascontiguousarray(array).data)
    for part in parts:
        digest.update(_element_digest(part))
    return digest.digest()


def _canonical(element: Element) -> tuple[str, list[np.ndarray], list[Element]]:
    arrays, about = element.arrays, element.about
    if element.encoding == "text":
        missing = arrays["missing"] > 0
        return "text", [arrays["bytes"], arrays["offsets"], missing], []
    if element.encoding == "categorical":
        kind = f"category, ordered={about['ordered']}"
        return kind, [arrays["codes"].astype("<i8")], [element.parts["categories"]]
    if element.encoding in ("datetime", "timedelta"):
        return _canonical_time(element)
    values = arrays["values"]
    return _canonical_number(values, arrays.get("missing", np.zeros(len(values), dtype=bool)))


def _canonical_time(element: Element) -> tuple[str, list[np.ndarray], list[Element]]:
    name, values = str(element.about["dtype"]), element.arrays["values"]
    unit, _, zone = name.partition("[")[2].rstrip("]").partition(", ")
    missing = values == np.iinfo(np.int64).min
    per_second = PER_SECOND[unit]
    seconds, rest = np.divmod(np.where(missing, 0, values), per_second)
    nanoseconds = rest * (10**9 // per_second)
    return f"{element.encoding} {zone}", [seconds, nanoseconds, missing], []


def _canonical_number(
    values: np.ndarray, missing: np.ndarray
) -> tuple[str, list[np.ndarray], list[Element]]:
    if values.dtype.kind == "b":
        return "truth value", [values & ~missing, missing], []
    if values.dtype.kind == "f":
        missing = missing | np.isnan(values)
    if missing.any():
        values = np.where(missing, values.dtype.type(0), values)
    if values.dtype.kind == "f" or _exact_in_float(values):
        return "number", [values.astype("<f8", copy=False) + 0.0, missing], []
    wide = "<u8" if values.max() > np.iinfo(np.int64).max else "<i8"
    return "integer", [values.astype(wide), missing], []


def _exact_in_float(values: np.ndarray) -> bool:
    if not len(values):
        return True
    return int(values.min()) >= -EXACT_IN_FLOAT and int(values.max()) <= EXACT_IN_FLOAT
