"""Write a DataFrame to an HDF5 group and read it back without loss.

The group of a table, of encoding ``mlaut-table``, holds::

    columns      the names of the columns, an element (`mlaut.files_io.encodings`)
    index        the index of the rows, an element
    body/0, 1    the columns in their order, one element each

Neighbouring columns of one numeric type are joined to one element with an array (column, row), so
that a table of thousands of columns is read quickly; its attribute ``columns`` is their number. An
element is a group with its encoding and version as attributes. It holds only arrays of fixed type:
no pickles, and no strings of variable length.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import h5py
import numpy as np
import pandas as pd

from mlaut.errors import DataError, StoreError
from mlaut.files_io.encodings import (
    Element,
    decode,
    decode_index,
    encode_columns,
    encode_index,
)
from mlaut.files_io.fingerprints import fingerprint
from mlaut.files_io.untrusted import check_together, read_whole

__all__ = ["fingerprint", "read_frame", "write_frame"]

VERSION = 1
COMPRESS_ABOVE = 2**16  # bytes of an array
ENCODING, ENCODING_VERSION = "encoding-type", "encoding-version"


def write_frame(parent: h5py.Group, name: str, frame: pd.DataFrame) -> None:
    """Store a table as a new group.

    Parameters
    ----------
    parent : h5py.Group
        Group in a file that is being rebuilt (`mlaut.files_io.hdf5.rewrite_h5`).
    name : str
        Name of the new group.
    frame : DataFrame
        Columns of numbers, truth values, strings, categories, dates or durations, also with
        missing values, of NumPy's types or of pandas' nullable types.

    Raises
    ------
    DataError
        The type of a column or of an index cannot be stored. The message names it, and a type to
        convert it to. Nothing has been written.

    Examples
    --------
    >>> table = pd.DataFrame({"a/b": [1, 2], "": pd.Categorical(["x", None])})
    >>> with h5py.File("example", "w", driver="core", backing_store=False) as file:
    ...     write_frame(file, "table", table)
    ...     read_frame(file["table"]).equals(table)
    True
    """
    columns, index = _encode_labels(frame.columns, "columns"), _encode_labels(frame.index, "rows")
    body = _merged(encode_columns(frame))
    group = parent.create_group(name)
    group.attrs.update({ENCODING: "mlaut-table", ENCODING_VERSION: VERSION, "rows": len(frame)})
    _put(group, "columns", columns)
    _put(group, "index", index)
    inner = group.create_group("body")
    for position, (count, element) in enumerate(body):
        _put(inner, str(position), element).attrs["columns"] = count


def _encode_labels(index: pd.Index, what: str) -> Element:
    try:
        return encode_index(index)
    except DataError as error:
        raise DataError(f"the index of the {what}: {error}") from None


def _merged(elements: Sequence[Element]) -> list[tuple[int, Element]]:
    """Join neighbouring columns of one numeric type; return (number of columns, element) pairs."""
    merged = []
    for _, run in groupby(enumerate(elements), key=_kind):
        of_run = [element for _, element in run]
        if of_run[0].encoding == "array":
            arrays = [element.arrays["values"] for element in of_run]
            values = np.stack(arrays, dtype=arrays[0].dtype)  # with the dtype, keeps the byte order
            merged.append((len(of_run), replace(of_run[0], arrays={"values": values})))
        else:
            merged.append((1, of_run[0]))
    return merged


def _kind(numbered: tuple[int, Element]) -> object:
    position, element = numbered
    return element.arrays["values"].dtype.str if element.encoding == "array" else position


def _put(parent: h5py.Group, name: str, element: Element) -> h5py.Group:
    group = parent.create_group(name)
    group.attrs.update({ENCODING: element.encoding, ENCODING_VERSION: VERSION, **element.about})
    for key, array in element.arrays.items():
        large = array.nbytes > COMPRESS_ABOVE
        how = {"compression": "gzip", "compression_opts": 1, "shuffle": True} if large else {}
        group.create_dataset(key, data=array, **how)
    for key, part in element.parts.items():
        _put(group, key, part)
    return group


def read_frame(group: h5py.Group, dataset: str = "") -> pd.DataFrame:
    """Read a table.

    Parameters
    ----------
    group : h5py.Group
        Group that `write_frame` wrote.
    dataset : str, default the name of the group
        Name of the table in error messages.

    Raises
    ------
    StoreError
        The group is damaged, or was written by a newer version; the message names file, dataset
        and column.
    """
    where = f"{group.file.filename}: dataset {dataset or group.name!r}"
    with _damage_explained(where, "its layout"):
        if group.attrs[ENCODING] != "mlaut-table":
            raise ValueError(f"encoding {group.attrs[ENCODING]!r}")
        _check_version(group, where)
        check_together(group)
    with _damage_explained(where, "the index of its columns"):
        columns = decode_index(_get(group["columns"], where))
    with _damage_explained(where, "the index of its rows"):
        index = decode_index(_get(group["index"], where))
    parts = list(_read_body(group, columns, index, where))
    with _damage_explained(where, "its columns together"):
        frame = pd.concat(parts, axis=1) if parts else pd.DataFrame(index=index)
        frame.columns = columns
    return frame


def _read_body(
    group: h5py.Group, columns: pd.Index, index: pd.Index, where: str
) -> Iterator[pd.DataFrame | pd.Series]:
    names = list(columns)
    with _damage_explained(where, "its columns"):
        n_elements = len(group["body"])
    start = 0
    for position in range(n_elements):
        what = f"column {names[start]!r}" if start < len(names) else "a column without a name"
        with _damage_explained(where, what):
            stored = group["body"][str(position)]
            element, count = _get(stored, where), int(stored.attrs["columns"])
            if element.encoding == "array":
                yield pd.DataFrame(element.arrays["values"].T, index=index)
            else:
                array = decode(element)
                # Without the dtype, pandas would infer that objects are strings.
                yield pd.Series(array, index, array.dtype)
        start += count


def _get(group: h5py.Group, where: str) -> Element:
    _check_version(group, where)
    about = {key: _plain(value) for key, value in group.attrs.items()}
    stored = ((key, item) for key, item in group.items() if isinstance(item, h5py.Dataset))
    arrays = {key: read_whole(item) for key, item in stored}
    parts = {key: _get(item, where) for key, item in group.items() if isinstance(item, h5py.Group)}
    return Element(str(about[ENCODING]), arrays, about, parts)


def _plain(value: object) -> str | int | bool:
    return value.item() if isinstance(value, np.generic) else value  # type: ignore[return-value]


def _check_version(group: h5py.Group, where: str) -> None:
    version = int(group.attrs[ENCODING_VERSION])
    if version > VERSION:
        raise StoreError(
            f"{where}: {group.name} has version {version} of encoding {group.attrs[ENCODING]!r}, "
            f"and this MLaut reads up to {VERSION}; update MLaut"
        )


@contextlib.contextmanager
def _damage_explained(where: str, what: str) -> Iterator[None]:
    try:
        yield
    except (AttributeError, KeyError, OSError, RuntimeError, TypeError, ValueError) as error:
        raise StoreError(
            f"{where}, {what}: cannot be read ({' '.join(str(error).split())}); "
            "restore the file from a copy, or store the dataset again"
        ) from error
