"""What keeps a file of unknown source in its place, and within the memory of the machine.

HDF5 follows links to other files, reads data that lie outside of its file, and makes an array of
whatever size a file declares: a file of a few kilobytes can name every file of its reader, or ask
for a terabyte. MLaut writes nothing of that kind, so that it can refuse all of it.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from mlaut.errors import StoreError

__all__ = [
    "check_links",
    "check_plain",
    "check_size",
    "check_together",
    "open_plain",
    "read_json",
    "read_whole",
    "refuse_link",
]

_DEFLATED = 1100  # deflate makes at most 1,032 bytes of one
_SMALL = 2**20  # bytes that may be declared without being stored: HDF5 fills them in
_MEMORY = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2  # a table is copied once
_checked: dict[Path, tuple[int, int, int]] = {}


def check_plain(path: Path) -> None:
    """Refuse what is no plain file: a pipe or a device would be waited for, without end.

    Raises
    ------
    StoreError
    """
    if path.exists() and not path.is_file():
        if path.is_dir():
            raise StoreError(f"{path}: is a folder, not an HDF5 file; name a file in it")
        raise StoreError(f"{path}: a pipe or a device, and must be a file; name another")


def open_plain(path: Path, flags: int, mode: int = 0o666) -> int:
    """Open a file that MLaut keeps beside a database, and return its descriptor.

    MLaut makes none of these files as a link, with a second name, or as a pipe or a device. Such a
    one was put there to have another file changed.

    Raises
    ------
    StoreError
        It is no plain file, or is to be written to and has several names.
    OSError
    """
    try:
        handle = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, mode)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            raise _led_away(path) from None
        raise
    about = os.fstat(handle)
    writes = flags & (os.O_RDWR | os.O_WRONLY)
    if not stat.S_ISREG(about.st_mode) or (writes and about.st_nlink > 1):
        os.close(handle)
        raise _led_away(path)
    return handle


def refuse_link(folder: Path) -> None:
    """Refuse a link where MLaut writes into a folder of its own.

    Raises
    ------
    StoreError
    """
    if folder.is_symlink():
        raise _led_away(folder)


def _led_away(path: Path) -> StoreError:
    return StoreError(
        f"{path}: a link, a pipe or a device, and MLaut writes only to plain files and folders of "
        "its own beside a study; do not trust this folder, or remove the link"
    )


def check_links(file: h5py.File, path: Path) -> None:
    """Refuse a file that leads to other files, or in which a group has two names.

    A second name of a group can make a circle, or as many ways as a machine can never walk.

    Raises
    ------
    StoreError
    """
    about = path.stat()
    now = (about.st_ino, about.st_size, about.st_mtime_ns)
    if _checked.get(path) == now:
        return
    known: dict[int, bytes] = {}

    def look(name: bytes, link: h5py.h5l.LinkInfo) -> str | None:
        if link.type != h5py.h5l.TYPE_HARD:
            return f"{name.decode(errors='replace')!r} is a link to somewhere else"
        if known.setdefault(link.u, name) == name:
            return None
        if h5py.h5o.get_info(file.id, name).type != h5py.h5o.TYPE_GROUP:
            return None
        return f"{name.decode(errors='replace')!r} is a second name of a group"

    try:
        known[h5py.h5o.get_info(file.id).addr] = b"/"
        found = file.id.links.visit(look, info=True)
    except (KeyError, RuntimeError, ValueError) as error:
        raise StoreError(
            f"{path}: damaged, for its groups cannot be listed ({' '.join(str(error).split())}); "
            "restore it from a copy, or write to a new file"
        ) from error
    if found:
        raise StoreError(
            f"{path}: {found}, which MLaut does not follow; do not trust this file, or copy what "
            "it leads to into a file of its own (h5repack, h5copy)"
        )
    _checked[path] = now


def check_size(item: h5py.Dataset) -> h5py.Dataset:
    """Return an array of a file if reading it takes no more memory than it can have to say.

    Raises
    ------
    StoreError
        It lies outside of its file, has parts of any length, or declares more than is stored.
    """
    if not isinstance(item, h5py.Dataset):
        raise ValueError(f"{item.name} is no array")
    what = ""
    stored, size = item.id.get_storage_size(), item.nbytes
    if item.is_virtual or item.external:
        what = "its values lie in other files"
    elif item.dtype.hasobject:
        what = "its values are of any length"
    elif size > _DEFLATED * stored + _SMALL:
        what = f"it declares {size:,} bytes, and {stored:,} are stored"
    elif size > _MEMORY:
        what = f"it needs {size:,} bytes, more than half of the memory of this machine"
    if what:
        raise StoreError(
            f"{item.file.filename}: {item.name}: {what}; it is not read: do not trust this file, "
            "or restore it from a copy"
        )
    return item


def check_together(group: h5py.Group) -> None:
    """Refuse a group whose arrays are together too large to be read.

    Raises
    ------
    StoreError
    """
    sizes: list[int] = []
    group.visititems(lambda _, item: sizes.append(getattr(item, "nbytes", 0)))
    if sum(sizes) > _MEMORY:
        raise StoreError(
            f"{group.file.filename}: {group.name} needs {sum(sizes):,} bytes, more than half of "
            "the memory of this machine; read it on a larger one"
        )


def read_json(content: bytes) -> Any:
    r"""Read JSON; halves of characters, which no file and no table can hold, become ``?``.

    Examples
    --------
    >>> read_json(b'["\\ud800", "a"]')
    ['?', 'a']
    """
    value = json.loads(content)
    if rb"\ud" not in content.lower():
        return value
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def read_whole(item: h5py.Dataset) -> np.ndarray:
    """Read an array that `check_size` accepts."""
    return np.asarray(check_size(item)[...])
