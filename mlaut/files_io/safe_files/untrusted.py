"""Checks of files from untrusted sources, before they are read.

HDF5 follows links to other files, reads data from outside a file, and allocates arrays of any size
that a file declares: a file of a few kilobytes can point to every file of its reader, or ask for a
terabyte of memory. MLaut never writes such files, so it refuses all of them.
"""

import json
import math
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np

from mlaut.errors import StoreError
from mlaut.files_io.safe_files.plain_files import DEFLATED, MEMORY
from mlaut.files_io.safe_files.system_errors import damage_told

_SMALL = 2**20  # bytes that a file may declare without storing them: HDF5 fills them in
_checked: dict[Path, tuple[int, int, int]] = {}


def check_links(file: h5py.File, path: Path) -> None:
    """Check that a file has no links to other files, and no group with two names.

    A second name of a group can make a cycle, or more paths than can ever be followed.

    Raises
    ------
    StoreError
        The file has such a link or group, or is damaged.
    """
    about = path.stat()
    now = (about.st_ino, about.st_size, about.st_mtime_ns)
    if _checked.get(path) == now:
        return
    names: dict[int, bytes] = {}

    def look(name: bytes, link: h5py.h5l.LinkInfo) -> str | None:
        if link.type != h5py.h5l.TYPE_HARD:
            return f"{name.decode(errors='replace')!r} is a link to somewhere else"
        if names.setdefault(link.u, name) == name:
            return None
        if h5py.h5o.get_info(file.id, name).type != h5py.h5o.TYPE_GROUP:
            return None
        return f"{name.decode(errors='replace')!r} is a second name of a group"

    with damage_told(path, "its groups cannot be listed"):
        names[h5py.h5o.get_info(file.id).addr] = b"/"
        problem = file.id.links.visit(look, info=True)
    if problem:
        raise StoreError(
            f"{path}: {problem}, which MLaut does not follow; do not trust this file, or copy what "
            "it leads to into a file of its own (h5repack, h5copy)"
        )
    _checked[path] = now


def check_size(item: Any, *, largest: int | None = None) -> Any:
    """Return an array of a file after a check of the memory that it needs.

    ``largest`` is for an array that is read in pieces.

    Raises
    ------
    StoreError
        Its values lie in other files or have variable length, or it declares more bytes than are
        stored, or more than half of the memory that this process may use.
    """
    stored_array(item.id if isinstance(item, h5py.HLObject) else item, largest=largest)
    return item


class StoredArray(NamedTuple):
    """Array of a file whose size has been checked, with what its identifier tells slowly."""

    identity: h5py.h5d.DatasetID
    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def nbytes(self) -> int:
        """Bytes of its values in memory."""
        return math.prod(self.shape) * self.dtype.itemsize

    def read(self, part: slice = slice(None)) -> np.ndarray:
        """Return its values, or a part of its first axis."""
        if part != slice(None) and range(*self.shape[:1])[part] != range(*self.shape[:1]):
            return np.asarray(h5py.Dataset(self.identity)[part])
        values = np.zeros(self.shape, self.dtype)
        if values.size:
            self.identity.read(h5py.h5s.ALL, h5py.h5s.ALL, values, type_of(self.dtype))
        return values


_of_numbers = cache(h5py.h5t.py_create)


@lru_cache(maxsize=256)
def _of_texts(encoding: str, width: int) -> h5py.h5t.TypeID:
    return h5py.h5t.py_create(h5py.string_dtype(encoding, width), logical=True)


def type_of(dtype: np.dtype) -> h5py.h5t.TypeID | None:
    """Return HDF5's type of numbers or texts; without it, h5py takes as long as to read them.

    It is None for another dtype. Texts of two encodings are equal as dtypes, so their type is told
    by their encoding.
    """
    if dtype.kind in "iuf":
        return _of_numbers(dtype)
    about = h5py.check_string_dtype(dtype)
    return _of_texts(*about) if about and about.length else None


def dtype_of(kind: h5py.h5t.TypeID) -> np.dtype:
    """Return the dtype of a type of HDF5: h5py takes ten times as long for one that is known."""
    return _dtype_of(kind.encode())


@lru_cache(maxsize=1000)
def _dtype_of(code: bytes) -> np.dtype:
    return h5py.h5t.decode(code).dtype


def stored_array(identity: Any, plain: bool = False, largest: int | None = None) -> StoredArray:
    """Return an array of a file by its identifier, after the checks of `check_size`."""
    if not isinstance(identity, h5py.h5d.DatasetID):
        raise ValueError(f"{h5py.h5i.get_name(identity).decode()} is no array")
    what, dtype, space = "", dtype_of(identity.get_type()), identity.get_space()
    # Values at a place of the file are in it; else the slow list of properties tells.
    creation = identity.get_create_plist() if identity.get_offset() is None else None
    size, stored = dtype.itemsize * space.get_simple_extent_npoints(), 0
    if size > _SMALL:
        stored = identity.get_storage_size()
        if plain:
            stored = min(stored, h5py.h5i.get_file_id(identity).get_filesize())
    if creation and (creation.get_layout() == h5py.h5d.VIRTUAL or creation.get_external_count()):
        what = "its values lie in other files"
    elif dtype.hasobject:
        what = "its values are of any length"
    elif size > (stored if plain else DEFLATED * stored) + _SMALL:
        what = f"it declares {size:,} bytes, and {stored:,} are stored"
    elif size > (MEMORY if largest is None else largest):
        what = f"it needs {size:,} bytes, more than half of the memory that may be used here"
    if what:
        raise StoreError(
            f"{h5py.h5f.get_name(identity).decode()}: {h5py.h5i.get_name(identity).decode()}: "
            f"{what}; it is not read: do not trust this file, or restore it from a copy"
        )
    return StoredArray(identity, space.shape, dtype)


_DEEPEST = 32  # levels of groups, far more than those of any table


class Held(NamedTuple):
    """Group or array of a file, open, with what it holds by name."""

    identity: Any
    inside: dict[str, "Held"]
    array: StoredArray | None = None


def check_together(group: h5py.Group, text: int = 1) -> Held:
    """Open all that a group holds, after a check that its arrays together fit into half the memory.

    ``text`` is the bytes in memory of a byte of texts.

    Raises
    ------
    StoreError
        The arrays are larger, or one is refused by `check_size`.
    """
    sizes = list[int]()

    def held(item: Any, depth: int = 0) -> Held:
        if isinstance(item, h5py.h5g.GroupID):  # none has a second name (`check_links`)
            if depth > _DEEPEST:
                raise StoreError(f"{group.file.filename}: {group.name}: groups lie too deep in it")
            each = ((x.decode(), h5py.h5o.open(item, x)) for x in item)
            return Held(item, {name: held(inner, depth + 1) for name, inner in each})
        array = stored_array(item) if isinstance(item, h5py.h5d.DatasetID) else None
        if array:
            sizes.append(array.nbytes * (text if array.dtype.kind == "S" else 1))
        return Held(item, {}, array)

    found = held(group.id)
    if sum(sizes) > MEMORY:
        raise StoreError(
            f"{group.file.filename}: {group.name} needs {sum(sizes):,} bytes, more than half of "
            "the memory that may be used here; read it on a larger machine"
        )
    return found


def read_json(content: bytes) -> Any:
    r"""Return the value of a JSON text; unpaired surrogates, which UTF-8 cannot hold, become ``?``.

    Examples
    --------
    >>> read_json(b'["\\ud800", "a"]')
    ['?', 'a']
    """
    value = json.loads(content)
    if rb"\ud" not in content.lower():
        return value
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def opened(group: h5py.Group, name: str, **how: Any) -> StoredArray:
    """Return an array of a group after the checks of `check_size`.

    Raises
    ------
    KeyError
        The group has nothing of this name.
    """
    return stored_array(h5py.h5o.open(group.id, name.encode()), **how)
