"""Objects in joblib files: written atomically, and read only from trusted files."""

import secrets
from pathlib import Path
from typing import Any

import joblib

from mlaut.errors import StrategyError


def write_object(value: Any, path: Path) -> Path:
    """Write an object to a temporary file, which then replaces ``path``; return ``path``."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        joblib.dump(value, temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def read_object(path: Path, *, trusted: bool) -> Any:
    """Return the object of a file that `write_object` wrote.

    Raises
    ------
    StrategyError
        The file is not trusted, does not exist, or cannot be read.
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
