"""Rows and labels that lie apart: in two npy files, or in two arrays of an HDF5 file."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from mlaut.errors import DataError, nearest
from mlaut.files_io.tables.arrays import read_item

HDF5 = (".h5", ".hdf5", ".he5", ".hdf")
"""Endings of files that are datasets if somebody names them, not by lying in a folder."""

_X = re.compile(r"(?:^|(?<=[\W_]))X(?=[\W_]|$)", re.IGNORECASE)


def labels_of(file: Path) -> Path | None:
    """Return the file of labels beside one of rows: ``a_y.npy`` for ``a_X.npy``; None without one.

    Examples
    --------
    >>> labels_of(Path("no_such_X.npy"))
    """
    name = _X.sub("y", file.stem)
    path = file.with_name(name + file.suffix)
    return path if name != file.stem and path.is_file() else None


def without_x(stem: str) -> str:
    """Return the name of a file of rows without the word ``X``.

    Examples
    --------
    >>> without_x("digits_X"), without_x("X_train"), without_x("Xenon")
    ('digits', 'train', 'Xenon')
    """
    return _X.sub("", stem).strip("-_. ")


def read_npy(path: Path, named: Mapping[str, str]) -> tuple[Any, np.ndarray]:
    """Return the rows of an npy file, which are mapped, and their labels.

    Parameters
    ----------
    path : Path
        File of the rows.
    named : mapping
        ``y``: file of the labels, in the folder of the rows; default the one that the name tells.

    Raises
    ------
    DataError
        No file of labels is named, or beside it.
    """
    labels = path.parent / named["y"] if named.get("y") else labels_of(path)
    if labels is None:
        raise DataError(
            f"{path}: no labels beside it; name their file, as in '{path.name}?y=labels.npy', or "
            "call the two X.npy and y.npy"
        )
    if not labels.is_file():
        raise DataError(f"{labels}: no such file of labels; check the path")
    values = np.load(labels, allow_pickle=False)
    return np.load(path, mmap_mode="r", allow_pickle=False), _texts(values)


def read_hdf5(path: Path, named: Mapping[str, str]) -> tuple[Any, np.ndarray]:
    """Return two arrays of an HDF5 file: rows, and labels.

    Parameters
    ----------
    path : Path
    named : mapping
        Path of the rows (``X``) and of the labels (``y``) in the file; without them, its items
        ``X`` and ``y``.

    Raises
    ------
    DataError
        The file has no array of such a path; the message lists those that it has.
    """
    with h5py.File(path) as file:
        found: dict[str, tuple[int, ...]] = {}
        file.visititems(
            lambda name, item: found.update({name: item.shape} if hasattr(item, "shape") else {})
        )
        arrays = {word: (named.get(word) or word).strip("/") for word in ("X", "y")}
        for name in arrays.values():
            if name not in found:
                shapes = ", ".join(f"{one} {shape}" for one, shape in list(found.items())[:9])
                hint = nearest(name, found) or f"; it has {shapes or 'none'}"
                raise DataError(
                    f"{path}: no array {name!r}{hint}; name rows and labels, as in "
                    f"'{path.name}?X=images&y=labels'"
                )
        labels = file[arrays["y"]]
        text = h5py.check_string_dtype(labels.dtype)
        return read_item(file[arrays["X"]]), _texts((labels.asstr() if text else labels)[...])


def _texts(labels: np.ndarray) -> np.ndarray:
    return np.char.decode(labels, "utf-8") if labels.dtype.kind == "S" else labels
