"""Write a DataFrame to an HDF5 group and read it back without loss.

The group of a table, of encoding ``mlaut-table``, holds::

    columns      the names of the columns, an element (`mlaut.files_io.tables.encodings`)
    index        the index of the rows, an element
    body/0, 1    the columns in their order, one element each

Neighbouring columns of one numeric type are joined to one element with an array (column, row), so
that a table of thousands of columns is read quickly; its attribute ``columns`` is their number. An
element is a group with its encoding and version as attributes. It holds only arrays of fixed type:
no pickles, and no strings of variable length. Texts are stored as ``values``, an array of UTF-8
strings, and ``missing``; those with a NUL or half of a character as ``bytes`` and ``offsets``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Any

import h5py
import numpy as np
from numpy.lib.stride_tricks import as_strided

from mlaut.errors import DataError, StoreError
from mlaut.files_io.safe_files.names import plain_names
from mlaut.files_io.safe_files.texts import get_attributes, new_group, put_attributes, put_values
from mlaut.files_io.safe_files.untrusted import Held, check_size, check_together
from mlaut.files_io.tables import encodings
from mlaut.helpers.lazy import pd

VERSION = 1  # of the form of a table in HDF5; a newer one is refused
STRINGS = 2  # version of the encoding of texts with an array of strings in place of bytes, offsets
COMPRESS_ABOVE = 2**16  # bytes of an array of strings
_PADDED = 8  # times the bytes of all texts that an array of strings may have
ENCODING, ENCODING_VERSION = "encoding-type", "encoding-version"


def write_frame(
    parent: h5py.Group,
    name: str,
    frame: pd.DataFrame,
    elements: Sequence[encodings.Element] | None = None,
) -> None:
    """Store a table as a new group.

    Parameters
    ----------
    parent : h5py.Group
        Group in a file that is being rebuilt (`mlaut.files_io.safe_files.hdf5.rewrite_h5`).
    name : str
        Name of the new group.
    frame : DataFrame
        Columns of numbers, truth values, strings, categories, dates or durations, also with
        missing values, of NumPy's types or of pandas' nullable types.
    elements : sequence of Element, optional
        Its columns in storable form, if they are known.

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
    ...     read_frame(file["table"])[0].equals(table)
    True
    """
    columns, index = _encode_labels(frame.columns, "columns"), _encode_labels(frame.index, "rows")
    body = _merged(encodings.encode_columns(frame) if elements is None else elements)
    group = new_group(parent, name)
    about = {ENCODING: "mlaut-table", ENCODING_VERSION: VERSION, "rows": len(frame)}
    put_attributes(group, about)
    _put(group, "columns", columns)
    _put(group, "index", index)
    inner = new_group(group, "body")
    for position, (count, element) in enumerate(body):
        _put(inner, str(position), element, columns=count)


def _encode_labels(index: pd.Index, what: str) -> encodings.Element:
    try:
        return encodings.encode_index(index)
    except DataError as error:
        raise DataError(f"the index of the {what}: {error}") from None


def _merged(elements: Sequence[encodings.Element]) -> list[tuple[int, encodings.Element]]:
    """Join neighbouring columns of one numeric type; return (number of columns, element) pairs."""
    merged = []
    for _, run in groupby(enumerate(elements), key=_kind):
        of_run = [element for _, element in run]
        if of_run[0].encoding == "array":
            values = _stacked([element.arrays["values"] for element in of_run])
            merged.append((len(of_run), replace(of_run[0], arrays={"values": values})))
        else:
            merged.append((1, of_run[0]))
    return merged


def _stacked(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Return columns as the rows of an array: without a copy where they lie one after the other."""
    first = arrays[0]
    places = [array.__array_interface__["data"][0] for array in arrays]
    ends = [places[0] + first.nbytes * number for number in range(len(arrays))]
    of_one = all(array.base is first.base and array.flags.c_contiguous for array in arrays)
    if of_one and first.base is not None and places == ends:
        return as_strided(first, (len(arrays), len(first)), (first.nbytes, first.itemsize))
    return np.stack(arrays, dtype=first.dtype)  # with the dtype, keeps the byte order


def _kind(numbered: tuple[int, encodings.Element]) -> object:
    position, element = numbered
    return element.arrays["values"].dtype.str if element.encoding == "array" else position


def _put(parent: h5py.Group, name: str, element: encodings.Element, **more: int) -> None:
    group, version, arrays = new_group(parent, name), VERSION, dict(element.arrays)
    if element.encoding == "text" and (strings := _as_strings(arrays)) is not None:
        arrays = {"values": strings, "missing": arrays["missing"]}
        version = STRINGS
    about = {ENCODING: element.encoding, ENCODING_VERSION: version, **element.about, **more}
    put_attributes(group, about)
    for key, array in arrays.items():
        # Numbers are not compressed: that took 40 times as long, and saved a tenth of them.
        packed = array.dtype.kind == "S" and array.nbytes > COMPRESS_ABOVE
        options = {"compression": "gzip", "compression_opts": 1} if packed else {}
        put_values(group, key, array, **options)
    for key, part in element.parts.items():
        _put(group, key, part)


def _as_strings(arrays: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Return texts as an array of UTF-8 strings of one length.

    It is None for texts that such an array cannot hold (with a NUL, or half of a character), and
    for those that it would make much larger: a few long ones among many.
    """
    joined, offsets = arrays["bytes"].tobytes(), arrays["offsets"]
    width, count = max(1, int(np.diff(offsets).max(initial=1))), len(offsets) - 1
    if b"\0" in joined or width * count > _PADDED * len(joined) + COMPRESS_ABOVE:
        return None
    try:
        joined.decode()
    except UnicodeDecodeError:
        return None
    texts = [joined[start:end] for start, end in pairwise(offsets.tolist())]
    return np.array(texts, dtype=h5py.string_dtype("utf-8", width))


def _from_strings(strings: np.ndarray) -> dict[str, np.ndarray]:
    """Return texts as their bytes and offsets."""
    padded = strings.view(np.uint8).reshape(len(strings), strings.dtype.itemsize)
    offsets = np.zeros(len(strings) + 1, dtype=np.int64)
    np.cumsum(np.count_nonzero(padded, axis=1), out=offsets[1:])  # no text has a NUL
    return {"bytes": padded[padded > 0], "offsets": offsets}


def read_columns(group: h5py.Group, names: Collection[Any], dataset: str = "") -> pd.DataFrame:
    """Read some columns of a table; names that it does not have are left out.

    Parameters
    ----------
    group : h5py.Group
        Group that `write_frame` wrote.
    names : collection
        Names of columns.
    dataset : str, default the name of the group
        Name of the table in error messages.

    Raises
    ------
    StoreError
        The group is damaged, or was written by a newer version.
    """
    where = f"{group.file.filename}: dataset {dataset or group.name!r}"
    with _damage_explained(where, "its layout"):
        _check_version(group.id, where, group.attrs)
        columns = list(encodings.decode_index(_get(check_together(group["columns"]), where)))
        index = encodings.decode_index(_get(check_together(group["index"]), where))
        counts = [int(group["body"][str(k)].attrs["columns"]) for k in range(len(group["body"]))]
    starts = np.cumsum([0, *counts]).tolist()
    series = {}
    for name in names:
        if name in columns:
            with _damage_explained(where, f"column {name!r}"):
                at = columns.index(name)
                k = int(np.searchsorted(starts, at, side="right")) - 1
                stored = group["body"][str(k)]
                if stored.attrs[ENCODING] == "array":
                    values = check_size(stored["values"])[at - starts[k]]
                else:
                    values = encodings.decode(_get(check_together(stored), where))
                series[name] = pd.Series(values, index, values.dtype)
    return pd.DataFrame(series, index=index)


def read_frame(
    group: h5py.Group, dataset: str = ""
) -> tuple[pd.DataFrame, list[encodings.Element]]:
    """Read a table; return it, and its columns as they are stored.

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
        about = get_attributes(group)
        if about[ENCODING] != "mlaut-table":
            raise ValueError(f"encoding {about[ENCODING]!r}")
        _check_version(group.id, where, about)
        held = check_together(group).inside
    with _damage_explained(where, "the index of its columns"):
        columns = encodings.decode_index(_get(held["columns"], where))
    with _damage_explained(where, "the index of its rows"):
        index = encodings.decode_index(_get(held["index"], where))
    elements: list[encodings.Element] = []
    parts = list(_read_body(held, columns, index, where, elements))
    with _damage_explained(where, "its columns together"):
        if len(parts) == 1 and isinstance(parts[0], pd.DataFrame):
            frame = parts[0]  # pandas 2 would copy it
        else:
            frame = pd.concat(parts, axis=1) if parts else pd.DataFrame(index=index)
        frame.columns = columns
    return frame, elements


def _read_body(
    held: Mapping[str, Held],
    columns: pd.Index,
    index: pd.Index,
    where: str,
    elements: list[encodings.Element],
) -> Iterator[pd.DataFrame | pd.Series]:
    """Yield the parts of a table, and add the columns to ``elements``."""
    names = list(columns)
    with _damage_explained(where, "its columns"):
        body = held["body"].inside
    start = 0
    for position in range(len(body)):
        what = f"column {names[start]!r}" if start < len(names) else "a column without a name"
        with _damage_explained(where, what):
            element = _get(body[str(position)], where)
            count = int(element.about["columns"])
            if element.encoding == "array":
                values = element.arrays["values"]
                elements += (replace(element, arrays={"values": column}) for column in values)
                yield pd.DataFrame(values.T, index=index, copy=False)
            else:
                elements.append(element)
                array = encodings.decode(element)
                # Without the dtype, pandas would infer that objects are strings.
                yield pd.Series(array, index, array.dtype)
        start += count


def _get(held: Held, where: str) -> encodings.Element:
    about = {key: plain_names(value) for key, value in get_attributes(held.identity).items()}
    _check_version(held.identity, where, about)
    arrays, parts = dict[str, np.ndarray](), dict[str, encodings.Element]()
    for key, item in held.inside.items():
        if item.array is None:
            parts[key] = _get(item, where)
        else:
            arrays[key] = item.array.read()
    if about[ENCODING] == "text" and "values" in arrays:
        arrays |= _from_strings(arrays.pop("values"))
    return encodings.Element(str(about[ENCODING]), arrays, about, parts)


def _check_version(identity: Any, where: str, about: Mapping[str, Any]) -> None:
    version = int(about[ENCODING_VERSION])
    newest = STRINGS if about[ENCODING] == "text" else VERSION
    if version > newest:
        raise StoreError(
            f"{where}: {h5py.h5i.get_name(identity).decode()} has version {version} of encoding "
            f"{about[ENCODING]!r}, "
            f"and this MLaut reads up to {newest}; update MLaut"
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
