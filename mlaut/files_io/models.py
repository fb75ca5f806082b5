"""Fitted models in a folder beside a study, each with the digest that it must have."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mlaut.errors import StoreError
from mlaut.files_io.names import to_h5
from mlaut.files_io.system_errors import explain
from mlaut.records import Cell

__all__ = ["load_model", "models_folder", "save_model"]


def models_folder(study_path: Path) -> Path:
    """Where the fitted models of a study lie."""
    return study_path.with_name(study_path.name + ".models")


def save_model(folder: Path, cell: Cell, model: Any) -> dict[str, str]:
    """Save a fitted model, whole or not at all.

    Parameters
    ----------
    folder : Path
        As `models_folder` gives it.
    cell : Cell
    model : object
        Anything that can be pickled.

    Returns
    -------
    dict
        ``file`` (relative to ``folder``), ``format`` and ``sha256``: what `load_model` needs.
    """
    import joblib

    name = Path(to_h5(cell.dataset), to_h5(cell.strategy), f"r{cell.repeat}-f{cell.fold}.joblib")
    buffer = io.BytesIO()
    joblib.dump(model, buffer, compress=3)
    content = buffer.getvalue()
    try:
        _write_whole(folder / name, content)
    except OSError as error:
        raise explain(error, folder / name, "saving a model") from error
    return {
        "file": name.as_posix(),
        "format": "joblib",
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def load_model(folder: Path, record: Mapping[str, str], *, trusted: bool = False) -> Any:
    """Load a model that `save_model` saved.

    Loading a pickle runs whatever code it names, so the caller has to say that the file is
    trusted, and it must have the digest that the study recorded.

    Raises
    ------
    StoreError
        Not trusted, not there, or not the file that the study recorded.
    """
    import joblib

    path = folder / record["file"]
    if not trusted:
        raise StoreError(
            f"{path}: a pickled model can run any code when it is loaded; "
            "pass trusted=True if the study is your own"
        )
    try:
        content = path.read_bytes()
    except OSError as error:
        raise explain(error, path, "loading a model") from error
    if hashlib.sha256(content).hexdigest() != record["sha256"]:
        raise StoreError(
            f"{path}: not the model that the study recorded (its digest differs); "
            "run the cell again with save_models=True"
        )
    return joblib.load(io.BytesIO(content))


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
