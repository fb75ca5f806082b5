"""Shared parts of the loaders of remote datasets: a local cache, and errors in one line."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote

from mlaut.errors import DataError, MlautError, StoreError
from mlaut.files_io import FilesIO
from mlaut.records import Dataset

__all__ = ["cache_folder", "cached_dataset", "explained"]

VARIABLE = "MLAUT_CACHE"


def cache_folder() -> Path:
    """Return the cache folder of the datasets that were loaded from UCI and PMLB.

    The environment variable ``MLAUT_CACHE`` overrides the default, ``~/.cache/mlaut``.

    Examples
    --------
    >>> cache_folder().is_absolute()
    True
    """
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "mlaut")
    return Path(os.environ.get(VARIABLE) or default).absolute()


def cached_dataset(source: str, key: str, make: Callable[[], Dataset]) -> Dataset:
    """Return a dataset from the cache; make and store it first where the cache lacks it.

    Each dataset has its own database, because reading a database checks its content.
    """
    path = cache_folder() / source / f"{quote(key, safe='')}.h5"
    if not path.exists():
        _put(path, make())
    try:
        (info,) = FilesIO(path).dataset_infos()
        return replace(FilesIO(path).load_dataset(info.path), path="")
    except (StoreError, ValueError) as error:
        raise DataError(f"{path}: a damaged copy ({error}); delete it, and load it again") from None


def _put(path: Path, dataset: Dataset) -> None:
    """Store a dataset under a temporary name, and rename the file when it is complete."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            whole = Path(folder, path.name)
            FilesIO(whole, "a").save_datasets([dataset])
            whole.replace(path)
    except OSError as error:
        raise DataError(
            f"{path.parent}: the cache cannot be written ({error.strerror}); make it writable, or "
            f"name another folder in the environment variable {VARIABLE}"
        ) from error


@contextmanager
def explained(reference: str, server: str, cache: str | os.PathLike[str]) -> Iterator[None]:
    """Turn any error of a third-party package into a `DataError` of one line with a way out."""
    try:
        yield
    except MlautError:
        raise
    except Exception as error:
        status = _status(error)
        if isinstance(error, OSError) and status is None:
            raise DataError(
                f"{reference}: {server} cannot be reached ({_reason(error)}), and it is not in the "
                f"cache {cache}; load it once where there is a network, or copy that folder from "
                "a machine that has it"
            ) from error
        answer = f"{server} answered {status}" if status else _reason(error)
        raise DataError(
            f"{reference}: {answer}; check that it exists there, and try again later"
        ) from error


def _status(error: BaseException | None) -> int | None:
    """Return the HTTP status of the answer in a chain of errors, or None."""
    for one in _chain(error):
        if isinstance(one, HTTPError):
            one.close()  # an HTTPError holds an open connection
            return one.code
        status = getattr(getattr(one, "response", None), "status_code", None)
        if status:
            return int(status)
    return None


def _reason(error: BaseException) -> str:
    """Return the text of the system error in a chain of errors, else the outer error's text."""
    texts = [str(one) for one in _chain(error)]
    named = [
        found for text in texts for found in re.findall(r"\[Errno -?\d+\] ([^'\")>\]]+)", text)
    ]
    return named[0].strip() if named else " ".join(texts[0].split()) or type(error).__name__


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
