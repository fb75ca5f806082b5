"""Fitted models in a folder beside a study, each with the digest that it must have.

What is in a file, and how it becomes a model again, is `mlaut.experiments.saved_models`'s concern.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from mlaut.errors import StoreError
from mlaut.files_io.names import to_h5
from mlaut.files_io.system_errors import explain
from mlaut.records import Cell

__all__ = ["models_folder", "read_model", "write_model"]


def models_folder(study_path: Path) -> Path:
    """Where the fitted models of a study lie."""
    return study_path.with_name(study_path.name + ".models")


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
    """
    name = Path(to_h5(cell.dataset), to_h5(cell.strategy), f"r{cell.repeat}-f{cell.fold}{suffix}")
    try:
        _write_whole(folder / name, content)
    except OSError as error:
        raise explain(error, folder / name, "saving a model") from error
    return {"file": name.as_posix(), "sha256": hashlib.sha256(content).hexdigest()}


def read_model(folder: Path, record: Mapping[str, str]) -> bytes:
    """Read a file that `write_model` wrote.

    Raises
    ------
    StoreError
        Not there, or not the file that the study recorded.
    """
    path = folder / record["file"]
    try:
        content = path.read_bytes()
    except OSError as error:
        raise explain(error, path, "loading a model") from error
    if hashlib.sha256(content).hexdigest() != record["sha256"]:
        raise StoreError(
            f"{path}: not the model that the study recorded (its digest differs); "
            "run the cell again with save_models=True"
        )
    return content


def _write_whole(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)
