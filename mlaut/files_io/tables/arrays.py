"""Features that are no table: arrays of three and more dimensions, and sparse matrices.

In HDF5, an array is the item ``X``, cut into chunks of whole rows; a sparse matrix is the group
``X`` of encoding ``csr_matrix`` (that of AnnData) with ``data``, ``indices``, ``indptr`` and the
attribute ``shape``; series of different lengths are the group ``X`` of encoding ``mlaut-series``
with ``values`` (point, channel), one series below the other, and ``lengths``. All are compressed by
gzip, and each chunk has a checksum of HDF5 (Fletcher's).
"""

import contextlib
import hashlib
import json
import os
import sys
import tempfile
import weakref
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from mlaut.arrays import Series, is_array, is_list_of_arrays, is_sparse
from mlaut.errors import DataError
from mlaut.files_io.safe_files.hdf5_output import write_all
from mlaut.files_io.safe_files.plain_files import MEMORY
from mlaut.files_io.safe_files.system_errors import explained
from mlaut.files_io.safe_files.untrusted import check_size

ON_DISK = 2**30
"""Bytes above which an array is read into a file without a name, from which rows are mapped."""

_CHUNK = 2**20  # bytes of a chunk
_AT_ONCE = 2**24  # bytes that are written, read or hashed at once
_PARTS = ("data", "indices", "indptr")  # arrays of a sparse matrix
_SERIES = ("values", "lengths")  # of series of different lengths
_ENCODINGS = {"csr_matrix": _PARTS, "mlaut-series": _SERIES}


def checked_array(X: Any, n_rows: int) -> Any:
    """Return features that are no table as they are stored, after a check of shape and type.

    Raises
    ------
    DataError
        The features have other rows than the labels, no values in a row, or no plain numbers.
    """
    if is_list_of_arrays(X):
        X = Series.of(X)
    if not is_array(X):
        raise DataError(f"a {type(X).__name__} is no array of rows; give one of NumPy, or sparse")
    if len(X.shape) < 2 or 0 in X.shape:
        raise DataError(f"an array of shape {X.shape} has no values; check where it was read")
    if X.shape[0] != n_rows:
        raise DataError(f"{X.shape[0]} rows and {n_rows} targets; each row needs one")
    if X.dtype.kind not in "biuf" or X.dtype.itemsize > 8:
        raise DataError(f"an array of {X.dtype} values; convert it with .astype('float64')")
    if not is_sparse(X):
        return X
    from scipy.sparse import csr_matrix

    # Whoever has one entry twice, or in another order, has the same matrix.
    rows = csr_matrix(X)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _blocks(values: Any) -> Iterator[slice]:
    """Yield the rows of an array in pieces of a few megabytes."""
    step = max(1, _AT_ONCE // max(1, values.nbytes // max(1, len(values))))
    yield from (slice(at, min(at + step, len(values))) for at in range(0, len(values), step))


def array_fingerprint(X: Any) -> str:
    """Return the SHA-256 of an array: of its shape, its type and its values.

    Examples
    --------
    >>> one = np.zeros((2, 3, 4))
    >>> array_fingerprint(one) == array_fingerprint(one.astype("float32"))
    False
    """
    kind = "sparse" if is_sparse(X) else "series" if isinstance(X, Series) else "array"
    about = [kind, _stored(X).str, [*map(int, X.shape)]]
    digest = hashlib.sha256(json.dumps(about).encode())
    for name, part in _parts(X).items():
        stored = _stored(part) if name in ("X", "data", "values") else np.dtype("<i8")
        for rows in _blocks(part):
            digest.update(np.ascontiguousarray(part[rows], stored).view(np.uint8).data)
    return digest.hexdigest()


def _stored(values: Any) -> np.dtype:
    kind: np.dtype = values.dtype.newbyteorder("<")
    return kind


def _parts(X: Any) -> dict[str, np.ndarray]:
    names = _PARTS if is_sparse(X) else _SERIES if isinstance(X, Series) else ()
    return {name: getattr(X, name) for name in names} or {"X": X}


def count_repeated(X: Any, beside: np.ndarray) -> int:
    """Return how many rows equal another row, in the array and in a column of codes."""
    parts = _parts(X)
    ends = getattr(X, "ends", parts.get("indptr", np.arange(X.shape[0] + 1))).tolist()
    values = [part for name, part in parts.items() if name not in ("indptr", "lengths")]
    hashes = [
        hash((code, *(part[start:end].tobytes() for part in values)))
        for code, (start, end) in zip(beside.tolist(), pairwise(ends), strict=True)
    ]
    counts = np.unique(hashes, return_counts=True)[1]
    return int(counts[counts > 1].sum())


# ---------------------------------------------------------------- in the file


def put_array(group: h5py.Group, X: Any) -> None:
    """Store checked features as the item or the group ``X``."""
    parts = _parts(X)
    if "X" in parts:
        _put(group, "X", X).attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
        return
    inner = group.create_group("X")
    kind = next(kind for kind, names in _ENCODINGS.items() if {*names} == {*parts})
    inner.attrs.update({"encoding-type": kind, "encoding-version": "0.1.0", "shape": X.shape})
    for name, values in parts.items():
        _put(inner, name, values)


def _put(group: h5py.Group, name: str, values: np.ndarray) -> h5py.Dataset:
    of_row = max(1, values.nbytes // max(1, len(values)))
    chunks = (max(1, min(len(values), _CHUNK // of_row)), *values.shape[1:])
    how: dict[str, Any] = {"chunks": chunks, "shuffle": True, "fletcher32": True}
    how |= {"compression": "gzip", "compression_opts": 1}
    item = group.create_dataset(name, values.shape, _stored(values), **how if values.size else {})
    for rows in _blocks(values):
        item[rows] = values[rows]
    return item


def get_array(group: h5py.Group) -> Any:
    """Read the features of a group: None for a table, an array, a matrix of SciPy (CSR), series.

    Raises
    ------
    ValueError, OSError
        They are damaged.
    """
    if "X" not in group:
        return None
    stored = group["X"]
    if isinstance(stored, h5py.Dataset):
        return read_item(stored)
    parts = [read_item(stored[name]) for name in _ENCODINGS[stored.attrs["encoding-type"]]]
    if len(parts) == len(_SERIES):
        return Series(*parts)
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(tuple(parts), shape=tuple(map(int, stored.attrs["shape"])))
    matrix.check_format(full_check=True)
    return matrix


def read_item(item: h5py.Dataset) -> np.ndarray:
    """Return an array of a file; one that is too large for memory is mapped (`Mapped`).

    Raises
    ------
    StoreError
        It declares more than is stored, or its values lie in other files.
    """
    if item.nbytes <= min(ON_DISK, MEMORY):
        return np.asarray(check_size(item)[...])
    handle, name = tempfile.mkstemp(prefix="mlaut-")
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, handle)
        readable = os.open(name, os.O_RDONLY)
        stack.callback(os.close, readable)
        Path(name).unlink()
        for rows in _blocks(check_size(item, largest=sys.maxsize)):
            values = item[rows].reshape(-1).view(np.uint8)
            with explained(Path(name), "reading an array that is too large for memory"):
                write_all(handle, values.data, rows.start * (item.nbytes // len(item)))
        with os.fdopen(readable, "rb", closefd=False) as file:
            mapped = Mapped(file, item.dtype, "r", shape=item.shape)
        mapped.handles = handle, readable
        weakref.finalize(mapped, stack.pop_all().close)
    return mapped


class Mapped(np.memmap):
    """Array in a file that has no name, and ends with it.

    Attributes
    ----------
    handles : tuple of two int
        Descriptors of the file, for writing and for reading; None for a part of the array.
    """

    handles: Any = None
