"""Loader of datasets, tasks and suites of OpenML, through the package ``openml`` and its cache.

A table is the same whether OpenML sends ARFF or parquet: numbers are floats, nominal attributes
are categories in alphabetical order.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from mlaut.data.splits.resampling import split_of_pairs
from mlaut.data.tables.frames import from_frame
from mlaut.errors import DataError
from mlaut.files_io.tables.tables import read_table
from mlaut.helpers.downloads import explained
from mlaut.helpers.lazy import pd
from mlaut.helpers.optional import need
from mlaut.records import CLASSIFICATION, REGRESSION, Dataset, Split


def load_openml(key: str, *, target: str = "") -> Dataset:
    """Return a dataset or a task of OpenML.

    Parameters
    ----------
    key : str
        ``"d/61"`` is a dataset. ``"t/59"`` is a task, which is a dataset with a target and a split.
    target : str, optional
        Target column of a dataset; default the target that OpenML names. A task fixes its target.

    Raises
    ------
    DataError
        There is no such dataset or task, it cannot be reached and is not in the cache, or the
        task is neither supervised classification nor supervised regression.
    OptionalPackageError
        The package openml is not installed.
    """
    kind, _, number = key.partition("/")
    if kind not in ("d", "t") or not number.isdigit():
        raise DataError(
            f"openml/{key}: neither a dataset, a task nor a suite; "
            "write for example 'openml/d/61', 'openml/t/59' or 'openml/s/99'"
        )
    if kind == "d":
        return _load_dataset(int(number), target)
    if target:
        raise DataError(f"openml/{key}: a task has its target; load its dataset to choose another")
    return _load_task(int(number))


def openml_members(key: str) -> Iterator[str] | None:
    """Return the keys of the tasks of a suite; None if the key is of another kind.

    Parameters
    ----------
    key : str
        ``"s/"`` and the number or alias of the suite, for example ``"s/99"``.

    Raises
    ------
    DataError
        There is no such suite, or it cannot be reached and is not in the cache.
    """
    return _tasks(key[2:]) if key.startswith("s/") else None


def _tasks(suite: str) -> Iterator[str]:
    """Yield the keys of the tasks of a suite, and cache them in openml's cache folder."""
    openml = _openml()
    path = _cache(openml) / "suites" / f"{suite}.json"
    if not path.exists():
        with _explained(openml, f"openml/s/{suite}"):
            tasks = openml.study.get_suite(suite).tasks
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(sorted(tasks or [])))
    try:
        yield from [f"t/{task}" for task in json.loads(path.read_text())]
    except ValueError:
        raise DataError(f"{path}: a damaged copy; delete it, and load it again") from None


def _openml() -> Any:
    return need("openml", extra="openml", purpose="Loading from OpenML")


def _cache(openml: Any) -> Path:
    return Path(openml.config.get_cache_directory())


@contextlib.contextmanager
def _explained(openml: Any, reference: str) -> Iterator[None]:
    server = openml.config.get_server_base_url()
    with explained(reference, server, _cache(openml)), _no_noise():
        try:
            yield
        except openml.exceptions.OpenMLServerException as error:
            raise DataError(
                f"{reference}: {server} says {' '.join(str(error.message).split())!r} "
                f"(code {error.code}); check the number"
            ) from error


@contextlib.contextmanager
def _no_noise() -> Iterator[None]:
    """Suppress openml's warnings and log messages, unless the user has set up logging.

    The package openml leaves files open (ResourceWarning). It also warns through the root logger
    about responses that are not compressed.
    """
    quiet, root = logging.NullHandler(), logging.getLogger()
    root.addHandler(quiet)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            yield
    finally:
        root.removeHandler(quiet)


# ------------------------------------------------------------------- datasets


def _load_dataset(number: int, target: str) -> Dataset:
    openml, reference = _openml(), f"openml/d/{number}"
    with _explained(openml, reference):
        entry = openml.datasets.get_dataset(number, download_data=True)
    frame = _table(entry)
    target = target or entry.default_target_attribute or ""
    if not target or ("," in target and target not in frame):
        what = f"several targets ({target})" if target else "no target"
        raise DataError(
            f"{reference}: OpenML names {what}; name one, as in "
            f"'{reference}?target={frame.columns[-1]}'"
        )
    return _dataset(entry, frame, target, "")


def _dataset(entry: Any, frame: pd.DataFrame, target: str, task: str, **more: Any) -> Dataset:
    if not task and target in frame:
        task = REGRESSION if pd.api.types.is_numeric_dtype(frame[target]) else CLASSIFICATION
    left_out = {name for name in _left_out(entry) if name != target}
    kept = frame[[name for name in frame if name not in left_out]]
    return from_frame(kept, target, name=entry.name, task=task, **_metadata(entry), **more)


def _left_out(entry: Any) -> Iterator[str]:
    """Yield the columns that OpenML marks as row identifiers or as ignored."""
    for given in (entry.row_id_attribute, entry.ignore_attribute):
        for text in [given] if isinstance(given, str) else given or []:
            yield text
            yield from text.split(",")


def _table(entry: Any) -> pd.DataFrame:
    file = Path(entry.parquet_file or entry.data_file)
    if not entry.parquet_file and entry.md5_checksum:
        digest = hashlib.md5(file.read_bytes(), usedforsecurity=False).hexdigest()
        if digest != entry.md5_checksum:
            raise DataError(
                f"{file}: a damaged copy of openml/d/{entry.dataset_id}; delete its folder, and "
                "load it again"
            )
    frame = read_table(file)
    return pd.DataFrame({name: _plain(column) for name, column in frame.items()})


def _plain(column: pd.Series) -> pd.Series:
    """Return a column with the type that it has both from ARFF and from parquet."""
    if pd.api.types.is_bool_dtype(column):
        column = column.astype(object).map(str, na_action="ignore").astype("category")
    if isinstance(column.dtype, pd.CategoricalDtype):
        categories = {value: str(value) for value in column.cat.categories}
        named = column.cat.rename_categories(categories)
        return named.cat.set_categories(sorted(categories.values()), ordered=False)
    if pd.api.types.is_numeric_dtype(column):
        return column.astype(float)
    return column


def _metadata(entry: Any) -> dict[str, Any]:
    creators = [entry.creator] if isinstance(entry.creator, str) else entry.creator or []
    known = {
        "source": "OpenML",
        "dataset_id": entry.dataset_id,
        "version": entry.version,
        "url": f"https://www.openml.org/d/{entry.dataset_id}",
        "licence": entry.licence,
        "creators": "; ".join(creators),
        "citation": entry.citation,
    }
    return {key: value for key, value in known.items() if value}


# ---------------------------------------------------------------------- tasks


def _load_task(number: int) -> Dataset:
    openml, reference = _openml(), f"openml/t/{number}"
    with _explained(openml, reference):
        task = openml.tasks.get_task(number, download_splits=False, download_data=True)
        kind = _kind(openml, task, reference)
        entry = openml.datasets.get_dataset(task.dataset_id, download_data=True)
        split = task.download_split()
    frame = _table(entry)
    procedure = task.estimation_procedure["type"]
    dataset = _dataset(entry, frame, task.target_name, kind, openml_task=number)
    scheme = f"{reference} ({procedure})"
    return replace(dataset, split=_split(split, len(frame), scheme, reference))


def _kind(openml: Any, task: Any, reference: str) -> str:
    kinds = openml.tasks.TaskType
    by_kind = {
        kinds.SUPERVISED_CLASSIFICATION: CLASSIFICATION,
        kinds.SUPERVISED_REGRESSION: REGRESSION,
    }
    if task.task_type_id not in by_kind:
        raise DataError(
            f"{reference}: a task of kind {task.task_type!r}; MLaut takes supervised "
            "classification and regression, and any dataset by 'openml/d/...'"
        )
    return by_kind[task.task_type_id]


def _split(given: Any, n_rows: int, scheme: str, reference: str) -> Split:
    pairs = [
        samples[0]
        for _, folds in sorted(given.split.items())
        for _, samples in sorted(folds.items())
    ]
    try:
        return split_of_pairs(pairs, n_rows, scheme)
    except DataError as error:
        raise DataError(f"{reference}: its split cannot be used: {error}") from None
