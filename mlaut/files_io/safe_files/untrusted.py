"""Checks of files from untrusted sources, before they are read.

HDF5 follows links to other files, reads data from outside a file, and allocates arrays of any size
that a file declares: a file of a few kilobytes can point to every file of its reader, or ask for a
terabyte of memory. MLaut never writes such files, so it refuses all of them.
"""

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from mlaut.errors import StoreError
from mlaut.files_io.safe_files.system_errors import damage_told

_DEFLATED = 1100  # above the largest ratio of deflate, 1,032 bytes from one
_SMALL = 2**20  # bytes that a file may declare without storing them: HDF5 fills them in
_MEMORY = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2  # half: tables are copied
_checked: dict[Path, tuple[int, int, int]] = {}


def check_plain(path: Path) -> None:
    """Check that a path is a plain file, if it exists: reading a pipe or a device may never end.

    Raises
    ------
    StoreError
        The path is a folder, a pipe or a device.
    """
    if path.exists() and not path.is_file():
        if path.is_dir():
            raise StoreError(f"{path}: is a folder, not an HDF5 file; name a file in it")
        raise StoreError(f"{path}: a pipe or a device, and must be a file; name another")


def open_plain(path: Path, flags: int, mode: int = 0o666) -> int:
    """Open a file that MLaut keeps beside a database, and return its descriptor.

    MLaut never makes these files as links, pipes or devices, nor with a second name. Somebody may
    have put such a file there to have another file changed, so it is refused.

    Raises
    ------
    StoreError
        The file is not a plain file, or is opened for writing and has several names.
    OSError
        The file cannot be opened.
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
    """Check that a folder that MLaut writes into is not a link.

    Raises
    ------
    StoreError
        The folder is a link.
    """
    if folder.is_symlink():
        raise _led_away(folder)


def _led_away(path: Path) -> StoreError:
    return StoreError(
        f"{path}: a link, a pipe or a device, and MLaut writes only to plain files and folders of "
        "its own beside a study; do not trust this folder, or remove the link"
    )


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


def check_size(item: h5py.Dataset) -> h5py.Dataset:
    """Return an array of a file, after a check of the memory that reading it needs.

    Raises
    ------
    StoreError
        Its values lie in other files or have variable length, or it declares more bytes than are
        stored, or more than half of the memory of this machine.
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
    """Check that the arrays of a group together fit into half of the memory.

    Raises
    ------
    StoreError
        The arrays are larger.
    """
    sizes: list[int] = []
    group.visititems(lambda _, item: sizes.append(getattr(item, "nbytes", 0)))
    if sum(sizes) > _MEMORY:
        raise StoreError(
            f"{group.file.filename}: {group.name} needs {sum(sizes):,} bytes, more than half of "
            "the memory of this machine; read it on a larger one"
        )


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


def read_whole(item: h5py.Dataset) -> np.ndarray:
    """Return the values of an array, after `check_size`."""
    return np.asarray(check_size(item)[...])
