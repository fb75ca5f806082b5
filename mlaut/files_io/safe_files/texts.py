"""Texts and JSON values as plain HDF5 strings, which every program reads.

All strings are arrays of fixed length, UTF-8, without a NUL at their end. An array that is larger
than some kilobytes is compressed. Older files hold JSON as arrays of bytes (uint8); they are read,
too.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import h5py
import numpy as np

from mlaut.files_io.safe_files.plain_files import MOST_JSON
from mlaut.files_io.safe_files.untrusted import StoredArray, dtype_of, opened, read_json, type_of

_COMPRESS_ABOVE = 4096  # bytes; HDF5 needs about 2,000 for the index of a compressed array
_SCALAR = h5py.h5s.create(h5py.h5s.SCALAR)
_DTYPES: dict[type, np.dtype[Any]] = {str: h5py.string_dtype(), int: np.dtype(np.int64)}
_KINDS = {kind: h5py.h5t.py_create(dtype, logical=True) for kind, dtype in _DTYPES.items()}
_IN_MEMORY = {kind: h5py.h5t.py_create(dtype) for kind, dtype in _DTYPES.items()}
_TEXT = 16  # bytes of a text of any length in an attribute: its length and its place
_PLAIN = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
_PLAIN.set_obj_track_times(False)  # the same content always has the same bytes
_GROUP = h5py.h5p.create(h5py.h5p.GROUP_CREATE)
_GROUP.set_obj_track_times(False)
_UTF8 = h5py.h5p.create(h5py.h5p.LINK_CREATE)
_UTF8.set_char_encoding(h5py.h5t.CSET_UTF8)
_SMALL_PIECE = 2**16  # bytes of the last piece of a log up to which the next is joined to it


def new_group(parent: h5py.Group, name: str) -> h5py.Group:
    """Make a group, whose name has no slash, in a fifth of the time of h5py."""
    links = None if name.isascii() else _UTF8
    return h5py.Group(h5py.h5g.create(parent.id, name.encode(), links, _GROUP))


def put_texts(group: h5py.Group, name: str, texts: Sequence[bytes], about: str) -> h5py.Dataset:
    """Store texts as an array of strings, which replaces what has this name."""
    if name.encode() in group.id:
        del group[name]
    width = max(1, *map(len, texts)) if texts else 1
    values = np.array(texts, h5py.string_dtype("utf-8", width))
    options = {"compression": "gzip", "chunks": True} if values.nbytes > _COMPRESS_ABOVE else {}
    item = put_values(group, name, values, **options)
    put_attributes(item, {"encoding-type": about, "encoding-version": 2})
    return item


def put_values(group: h5py.Group, name: str, values: np.ndarray, **options: Any) -> h5py.Dataset:
    """Store values as a new array; one without options in a third of the time of h5py."""
    if options:
        return group.create_dataset(name, data=values, **options)
    kind = type_of(values.dtype) or h5py.h5t.py_create(values.dtype, logical=True)
    space = h5py.h5s.create_simple(values.shape)
    item = h5py.h5d.create(group.id, name.encode(), kind, space, dcpl=_PLAIN)
    item.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ascontiguousarray(values), type_of(values.dtype))
    return h5py.Dataset(item)


def put_attributes(item: h5py.Group | h5py.Dataset, values: Mapping[str, Any]) -> None:
    """Store new attributes of a group or an array.

    Texts and integers, of which a dataset has thirty, go to HDF5 directly: in half of the time.
    """
    for name, value in values.items():
        if (kind := _KINDS.get(type(value))) is None:
            item.attrs[name] = value
        else:
            attribute = h5py.h5a.create(item.id, name.encode(), kind, _SCALAR)
            attribute.write(np.array(value, dtype=_DTYPES[type(value)]), _IN_MEMORY[type(value)])


def get_attributes(item: Any) -> dict[str, Any]:
    """Return the attributes of a group or an array (or its identifier): texts, numbers, arrays.

    They come from HDF5 directly, as `put_attributes` stores them: in half of the time.
    """
    identity = _identity(item)
    found = (h5py.h5a.open(identity, index=k) for k in range(h5py.h5a.get_num_attrs(identity)))
    return {one.name.decode(): _value(one) for one in found}


def get_attribute(item: h5py.Group | h5py.h5d.DatasetID, name: bytes, default: Any = None) -> Any:
    """Return an attribute of a group or an array; ``default`` if it has none of this name."""
    identity = _identity(item)
    return _value(h5py.h5a.open(identity, name)) if h5py.h5a.exists(identity, name) else default


def encoding_of(item: h5py.Group | h5py.h5d.DatasetID) -> Any:
    """Return the attribute ``encoding-type`` of a group or an array; empty if it has none."""
    return get_attribute(item, b"encoding-type", "")


def _identity(item: Any) -> Any:
    return item.id if isinstance(item, h5py.HLObject) else item


def _value(attribute: h5py.h5a.AttrID) -> Any:
    kind = attribute.get_type()
    dtype = dtype_of(kind)
    if dtype.hasobject:
        if not h5py.check_string_dtype(dtype):  # h5py would write beyond the memory of the value
            raise ValueError(f"its attribute {attribute.name.decode()!r} is no text and no number")
        kind = _IN_MEMORY[str]  # without a type, h5py takes as long to find it
    try:
        single = attribute.get_storage_size() == (_TEXT if dtype.hasobject else dtype.itemsize)
    except RuntimeError:  # it has no value
        single = False
    value = np.empty(() if single else attribute.shape, dtype)  # the shape takes as long to find
    attribute.read(value, kind)
    one = value[()]
    return one.decode() if isinstance(one, bytes) else one


def put_json(group: h5py.Group, name: str, value: Any) -> None:
    """Store plain JSON values as one string; only while the structure of a file changes."""
    put_texts(group, name, [json.dumps(value).encode()], "json")


def get_json(group: h5py.Group, name: str, default: Any) -> Any:
    """Return stored plain JSON values; ``default`` if there are none."""
    return read_json(_content(group, name)) if name.encode() in group.id else default


def _content(group: h5py.Group, name: str) -> bytes:
    return _small(group, name, "JSON").read().tobytes().rstrip(b"\0")


def _small(group: h5py.Group, name: str, what: str) -> StoredArray:
    item = opened(group, name)
    if item.nbytes > MOST_JSON:
        raise ValueError(
            f"{group.name}/{name} has {item.nbytes:,} bytes of {what}, which nothing needs"
        )
    return item


# --------------------------------------------------------------------- labels


def put_labels(group: h5py.Group, name: str, labels: Sequence[Any]) -> None:
    """Store labels of one type as an array of strings or numbers, and others as JSON."""
    kinds = {type(label) for label in labels}
    encoded = [label.encode("utf-8", "replace") for label in labels if isinstance(label, str)]
    whole = [text.decode() for text in encoded] == list(labels)  # no unpaired surrogate
    if kinds == {str} and whole and not any(b"\0" in text for text in encoded):
        put_texts(group, name, encoded, "labels")
    elif kinds in ({int}, {float}) and all(abs(label) < 2**63 for label in labels):
        item = put_values(group, name, np.array(labels, f"<{kinds.pop().__name__[0]}8"))
        put_attributes(item, {"encoding-type": "labels", "encoding-version": 2})
    else:
        put_json(group, name, list(labels))


def get_labels(group: h5py.Group, name: str) -> list[Any]:
    """Return stored labels; an empty list if there are none."""
    if name.encode() not in group.id:
        return []
    item = _small(group, name, "labels")
    kind = encoding_of(item.identity)
    if kind != "labels" or item.dtype.kind not in "Sif":
        return list(get_json(group, name, []))
    values = item.read().tolist()
    return [text.decode() for text in values] if item.dtype.kind == "S" else values


# ----------------------------------------------------------------------- logs


def append_log(group: h5py.Group, name: str, records: Sequence[str]) -> None:
    """Append records, each a JSON text, to a log.

    A log is a group of pieces ``0``, ``1``, ..., each a JSON list. A small last piece is replaced
    by one with the new records, so that the number of pieces stays small, and so does what an
    addition writes.
    """
    if not records:
        return
    log = group.require_group(name)
    log.attrs.update({"encoding-type": "log", "encoding-version": 2})
    text, last = "[" + ",\n".join(records) + "]", str(len(log) - 1)
    if last in log and log[last].nbytes <= _SMALL_PIECE:
        piece = _content(log, last).decode()
        text, last = piece[:-1] + ",\n" + text[1:], str(len(log) - 2)
    put_texts(log, str(int(last) + 1), [text.encode()], "json")


def get_log(group: h5py.Group, name: str) -> list[Any]:
    """Return the records of a log."""
    log = group[name] if name.encode() in group.id else None
    if not isinstance(log, h5py.Group):
        return list(get_json(group, name, []))
    if sum(piece.nbytes for piece in log.values()) > MOST_JSON:
        raise ValueError(f"{log.name} has more JSON than anything needs")
    return [record for k in range(len(log)) for record in get_json(log, str(k), [])]
