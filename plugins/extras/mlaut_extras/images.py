"""Folders of images: a folder for each class, also below one for training and one for test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mlaut.data import from_frame
from mlaut.errors import DataError
from mlaut.plugins import (
    MEMORY,
    PARTS,
    Unread,
    check_plain,
    need,
    refuse_error_of_machine,
    split_of_parts,
)
from mlaut.records import CLASSIFICATION, Dataset

_ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm")
_DEEP = ("I;16", "I;16B", "I", "F")  # modes of Pillow for grey of more than eight bits


def image_folders(folder: Path) -> dict[str, Unread]:
    """Return the datasets of images in a folder by name; empty if it has another layout.

    A dataset is a folder with a folder for each class, or with two or three such folders called
    ``train``, ``validation`` and ``test``, which are its split. The folder is one, or has several.
    """
    places = [folder] if _parts(folder) else [path for path in _below(folder) if _parts(path)]
    return {path.resolve().name: Unread(partial(_load, path), CLASSIFICATION) for path in places}


def _below(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.iterdir()) if path.is_dir() and path.name[0] != "."]


def _parts(folder: Path) -> dict[str, dict[str, list[Path]]]:
    """Return the images of each class by part; a folder without parts has the one part ``""``."""
    whole = _classes(folder)
    named = {PARTS.get(path.name.lower(), ""): _classes(path) for path in _below(folder)}
    parts = {part: named[part] for part in dict.fromkeys(PARTS.values()) if named.get(part)}
    return parts or ({"": whole} if whole else {})


def _classes(folder: Path) -> dict[str, list[Path]]:
    found = {
        path.name: [file for file in sorted(path.iterdir()) if file.suffix.lower() in _ENDINGS]
        for path in _below(folder)
    }
    return {name: files for name, files in found.items() if files}


def _load(folder: Path) -> Dataset:
    files, labels, sizes = list[Path](), list[str](), dict[str, int]()
    for part, classes in _parts(folder).items():
        files += chain.from_iterable(classes.values())
        labels += chain.from_iterable([name] * len(some) for name, some in classes.items())
        sizes[part] = len(files) - sum(sizes.values())
    frame = pd.DataFrame({"target": labels})
    array = _stacked(folder, files)
    made = from_frame(frame, "target", name=folder.resolve().name, task=CLASSIFICATION, array=array)
    return replace(made, split=split_of_parts(sizes))


def _stacked(folder: Path, files: Sequence[Path]) -> np.ndarray:
    """Return images of one size: (n, height, width) if all are grey, else with three channels."""
    need("PIL", extra="images", purpose="Reading images")
    heads = [_opened(file, lambda image: (image.size, image.mode)) for file in files]
    sizes = {size: file for file, (size, _) in zip(files, heads, strict=True)}
    deep = {mode: file for file, (_, mode) in zip(files, heads, strict=True) if mode in _DEEP}
    modes = {mode for _, mode in heads}
    for what, found in (("size", sizes), ("kind", deep if len(modes) > 1 else {})):
        if len(found) > 1 or (found and what == "kind"):
            some = ", ".join(f"{file.relative_to(folder)} is {of}" for of, file in found.items())
            raise DataError(
                f"{folder}: its images are not of one {what} ({some[:200]}); make them so, as "
                "Pillow's Image.resize and Image.convert do"
            )
    mode = modes.pop() if deep else "L" if modes <= {"1", "L"} else "RGB"
    first = _opened(files[0], partial(_values, mode=mode))
    if len(files) * first.nbytes > MEMORY:
        raise DataError(
            f"{folder}: {len(files):,} images need more than half of the memory that may be used "
            "here; save them as an array, X.npy beside y.npy"
        )
    images = np.empty((len(files), *first.shape), first.dtype)
    for n, file in enumerate(files):
        images[n] = _opened(file, partial(_values, mode=mode))
    return images


def _values(image: Any, mode: str) -> np.ndarray:
    if getattr(image, "n_frames", 1) > 1:
        raise ValueError("it has several frames; save one of them")
    if image.has_transparency_data and image.convert("RGBA").getextrema()[3][0] < 255:
        raise ValueError("it is transparent in part; put it on a background")
    return np.asarray(image if image.mode == mode else image.convert(mode))


def _opened(file: Path, read: Callable[[Any], Any]) -> Any:
    from PIL import Image

    check_plain(file)
    try:
        with Image.open(file) as image:
            return read(image)
    except Exception as error:  # parsers raise many types of errors on a damaged file
        refuse_error_of_machine(error, file, "reading an image")
        reason = " ".join(str(error).split())
        raise DataError(f"{file}: no image that can be read ({reason})") from error
