"""Objects in files, by joblib: written whole or not at all, read only where trusted."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import joblib

from mlaut.errors import StrategyError

__all__ = ["read_object", "write_object"]


def write_object(value: Any, path: Path) -> Path:
    """Write to a temporary file that then replaces the one of that name."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        joblib.dump(value, temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def read_object(path: Path, *, trusted: bool) -> Any:
    """Read what `write_object` wrote.

    Raises
    ------
    StrategyError
        It is not trusted, not there, or cannot be read.
    """
    if not trusted:
        raise StrategyError(
            f"{path}: reading a strategy runs code that is in the file; "
            "if you trust where it comes from, pass trusted=True"
        )
    try:
        return joblib.load(path)
    except FileNotFoundError as error:
        raise StrategyError(f"{path}: no such file; check the path") from error
    except Exception as error:
        raise StrategyError(f"{path}: cannot be read as a strategy ({error})") from error
