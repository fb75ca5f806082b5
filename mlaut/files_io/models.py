"""Fitted models in a folder beside a study, each with the digest that it must have.

What is in a file, and how it becomes a model again, is `mlaut.experiments.saved_models`'s concern.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import Any

from mlaut.errors import StoreError
from mlaut.files_io.hdf5 import fsync_folder, is_held
from mlaut.files_io.names import beside, to_h5
from mlaut.files_io.system_errors import explain, explained
from mlaut.files_io.untrusted import refuse_link
from mlaut.records import Cell

__all__ = [
    "copy_model",
    "is_recorded",
    "model_path",
    "models_folder",
    "prepare_models",
    "read_model",
    "write_model",
]

_DIGEST = re.compile("[0-9a-f]{64}")
_UNFINISHED = re.compile(r"\.[0-9a-f]{16}\.tmp")


def models_folder(study_path: Path) -> Path:
    """Where the fitted models of a study lie."""
    return beside(study_path, ".models")


def prepare_models(folder: Path) -> None:
    """Make a folder of models ready for a run that saves some; only for who holds the study's lock.

    What killed writers have left half written in it is removed.

    Raises
    ------
    StoreError
        The folder is a link, or cannot be made.
    """
    refuse_link(folder)
    with explained(folder, "making the folder of models"):
        folder.mkdir(exist_ok=True)
    for file in folder.rglob(".*.tmp"):
        if _UNFINISHED.fullmatch(file.name) and not is_held(file):
            with suppress(OSError):
                file.unlink()


def write_model(folder: Path, cell: Cell, content: bytes, suffix: str) -> dict[str, str]:
    """Write the file of a fitted model, whole or not at all.

    Parameters
    ----------
    folder : Path
        As `models_folder` gives it.
    cell : Cell
    content : bytes
    suffix : str
        Of the file's name.

    Returns
    -------
    dict
        ``file`` (relative to ``folder``) and ``sha256``: what `read_model` needs.

    Raises
    ------
    StoreError
        The disk is full, or a folder that it would be written to is a link.
    """
    name = Path(to_h5(cell.dataset), to_h5(cell.strategy), f"r{cell.repeat}-f{cell.fold}{suffix}")
    for inner in (folder, *(folder / above for above in name.parents)):
        refuse_link(inner)
    try:
        _write_whole(folder / name, content)
    except OSError as error:
        raise explain(error, folder / name, "saving a model") from error
    return {"file": name.as_posix(), "sha256": hashlib.sha256(content).hexdigest()}


def model_path(folder: Path, record: Mapping[str, Any]) -> Path:
    """Return where a recorded model lies; a study names files below its own folder only.

    Parameters
    ----------
    folder : Path
        As `models_folder` gives it.
    record : mapping
        ``file`` and ``sha256``, as a study has them. The study may come from anywhere.

    Raises
    ------
    StoreError
        The record makes no sense, or its file lies outside of the folder, also by a link.
    """
    name = record.get("file") if isinstance(record, Mapping) else None
    sound = isinstance(name, str) and _DIGEST.fullmatch(str(record.get("sha256")))
    if not sound or not name or "\0" in name:
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
    """Read a file that `write_model` wrote.

    Raises
    ------
    StoreError
        Not there, outside of the folder, or not the file that the study recorded.
    """
    with _opened(folder, record, "loading a model") as file:
        content = file.read()
    if hashlib.sha256(content).hexdigest() != record["sha256"]:
        raise _another(model_path(folder, record))
    return content


def is_recorded(folder: Path, record: Mapping[str, Any]) -> bool:
    """Say whether a model is there, and is the one that the study recorded."""
    try:
        with _opened(folder, record, "reading a model") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == record["sha256"]
    except StoreError:
        return False


def copy_model(folder: Path, record: Mapping[str, Any], target: Path) -> Path:
    """Copy a recorded model into another folder, below the same name, and sync it.

    Raises
    ------
    StoreError
        Not there, outside of the folder, or not the file that the study recorded.
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
                raise _another(model_path(folder, record))
    return copied


@contextmanager
def _opened(folder: Path, record: Mapping[str, Any], doing: str) -> Iterator[BufferedReader]:
    """Open a recorded model; what is no plain file (a pipe, a device) is never waited for."""
    path = model_path(folder, record)
    with explained(path, doing):
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise StoreError(f"{path}: no plain file, so no model; do not trust this study")
            yield file


def _below(path: Path, folder: Path) -> bool:
    """Say whether a path lies in a folder after all links are followed."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # a link that leads to itself
        return False


def _another(path: Path) -> StoreError:
    return StoreError(
        f"{path}: not the model that the study recorded (its digest differs); "
        "run the cell again with save_models=True"
    )


def _write_whole(path: Path, content: bytes) -> None:
    _make_folder(path.parent)
    # By `open`, and not as a temporary file of the user alone: who may read the study may read it.
    unfinished = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with unfinished.open("xb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # while its writer lives
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            unfinished.replace(path)
        fsync_folder(path.parent)  # the study will name it: it must not outlive its model
    finally:
        unfinished.unlink(missing_ok=True)


def _make_folder(folder: Path) -> None:
    """Make a folder and those above it, so that their names survive a power cut."""
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        fsync_folder(folder.parent)
