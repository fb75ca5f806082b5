"""Files of fitted models in a folder beside a study, each with a recorded digest.

The formats of the files are in `mlaut.experiments.cells.saved_models`.
"""

import hashlib
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import Any

from mlaut.errors import StoreError
from mlaut.files_io.safe_files.hdf5 import fsync_folder
from mlaut.files_io.safe_files.hdf5_output import write_all
from mlaut.files_io.safe_files.names import beside, to_h5
from mlaut.files_io.safe_files.plain_files import refuse_link
from mlaut.files_io.safe_files.system_errors import explained
from mlaut.helpers.held import is_held, unfinished
from mlaut.records import Cell

_DIGEST = re.compile("[0-9a-f]{64}")
_LONGEST = 240  # bytes of the name of a folder
_UNFINISHED = re.compile(r"\.(.*\.)?[0-9a-f]{8,16}\.tmp")


def models_folder(study_path: Path) -> Path:
    """Return the folder of the fitted models of a study."""
    return beside(study_path, ".models")


def prepare_models(folder: Path) -> None:
    """Create the folder of models for a run; the caller must hold the lock of the study.

    Half written files that killed writers left in it are removed.

    Raises
    ------
    StoreError
        The folder is a link, or cannot be made.
    """
    refuse_link(folder)
    with explained(folder, "making the folder of models"):
        _make_folder(folder)
    for file in folder.rglob(".*.tmp"):
        if _UNFINISHED.fullmatch(file.name) and not is_held(file):
            with suppress(OSError):
                file.unlink()


def write_model(folder: Path, cell: Cell, content: bytes, suffix: str) -> dict[str, str]:
    """Write the file of a fitted model; the file is complete or absent.

    Parameters
    ----------
    folder : Path
        Folder of the models, as `models_folder` returns it.
    cell : Cell
    content : bytes
    suffix : str
        Suffix of the file name.

    Returns
    -------
    dict
        Record of the model, for `read_model`: ``file`` (relative to ``folder``) and ``sha256``.

    Raises
    ------
    StoreError
        The disk is full, or a folder that it would be written to is a link.
    """
    digest = hashlib.sha256(content).hexdigest()
    stem = Path(_part(cell.dataset), _part(cell.strategy), f"r{cell.repeat}-f{cell.fold}")
    name = stem.with_name(stem.name + suffix)
    record = {"file": name.as_posix(), "sha256": digest}
    if (folder / name).exists() and not is_recorded(folder, record):
        name = stem.with_name(f"{stem.name}-{digest[:12]}{suffix}")  # that may be a renamed cell's
    for inner in (folder, *(folder / above for above in name.parents)):
        refuse_link(inner)
    path = folder / name
    with explained(path, "saving a model"):
        _make_folder(path.parent)
        with unfinished(path) as (temporary, handle):
            write_all(handle, content, 0)
            os.fsync(handle)
            temporary.replace(path)
            fsync_folder(path.parent)  # the study will record it, so it must survive a power cut
    return {**record, "file": name.as_posix()}


def _part(name: str) -> str:
    """Return the name of a folder for a dataset or a strategy; systems take at most 255 bytes."""
    part = to_h5(name)
    if len(part.encode()) <= _LONGEST:
        return part
    return f"{part[: _LONGEST // 6]}-{hashlib.sha256(part.encode()).hexdigest()}"


def model_path(folder: Path, record: Mapping[str, Any]) -> Path:
    """Return the path of a recorded model, which must lie inside the folder.

    Parameters
    ----------
    folder : Path
        Folder of the models, as `models_folder` returns it.
    record : mapping
        ``file`` and ``sha256``, as the study stores them. The study may come from an untrusted
        source.

    Raises
    ------
    StoreError
        The record is invalid, or its file lies outside the folder, possibly through a link.
    """
    name = record.get("file") if isinstance(record, Mapping) else None
    valid = isinstance(name, str) and _DIGEST.fullmatch(str(record.get("sha256")))
    if not valid or not name or "\0" in name:
        raise StoreError(
            f"{folder}: the study does not say which file a model is in, and its digest; "
            "run the cell again with save_models=True"
        )
    inner = PurePosixPath(name)
    path = folder / inner
    if ".." in inner.parts or inner.is_absolute() or not _below(path, folder):
        raise StoreError(
            f"{folder}: the study names {name!r} as a model, which lies outside of this folder; "
            "models are read from this folder only: do not trust this study"
        )
    return path


def read_model(folder: Path, record: Mapping[str, Any]) -> bytes:
    """Return the content of a file that `write_model` wrote.

    Raises
    ------
    StoreError
        The file does not exist, lies outside the folder, or is not the one that the study
        recorded.
    """
    with _opened(folder, record, "loading a model") as file:
        content = file.read()
    if hashlib.sha256(content).hexdigest() != record["sha256"]:
        raise _wrong_model(model_path(folder, record))
    return content


def is_recorded(folder: Path, record: Mapping[str, Any]) -> bool:
    """Return whether a model exists and is the one that the study recorded."""
    try:
        with _opened(folder, record, "reading a model") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == record["sha256"]
    except StoreError:
        return False


def copy_model(folder: Path, record: Mapping[str, Any], target: Path) -> Path:
    """Copy a recorded model into another folder, under the same name, and sync it to disk.

    Raises
    ------
    StoreError
        The file does not exist, lies outside the folder, or is not the one that the study
        recorded.
    """
    copied = target / model_path(folder, record).relative_to(folder)
    with _opened(folder, record, "copying a model") as file, explained(copied, "copying a model"):
        copied.parent.mkdir(parents=True, exist_ok=True)
        with copied.open("xb") as new:
            shutil.copyfileobj(file, new)
            new.flush()
            os.fsync(new.fileno())
        with copied.open("rb") as new:
            if hashlib.file_digest(new, "sha256").hexdigest() != record["sha256"]:
                raise _wrong_model(model_path(folder, record))
    return copied


@contextmanager
def _opened(folder: Path, record: Mapping[str, Any], doing: str) -> Iterator[BufferedReader]:
    """Open a recorded model; a pipe or a device is refused without waiting for it."""
    path = model_path(folder, record)
    with explained(path, doing):
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise StoreError(f"{path}: no plain file, so no model; do not trust this study")
            yield file


def _below(path: Path, folder: Path) -> bool:
    """Return whether a path lies in a folder, after all links are followed."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _wrong_model(path: Path) -> StoreError:
    return StoreError(
        f"{path}: not the model that the study recorded (its digest differs); "
        "run the cell again with save_models=True"
    )


def _make_folder(folder: Path) -> None:
    """Create a folder and its parents, and sync them, so that they survive a power cut."""
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        fsync_folder(folder.parent)
