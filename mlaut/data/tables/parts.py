"""Datasets of several files: training and test parts, and the files of a partitioned table.

These layouts are known:

- parts beside each other, ``wine_train.csv`` and ``wine_test.csv``, or ``GunPoint_TRAIN.ts`` and
  ``GunPoint_TEST.ts`` as in the archives of sktime and aeon;
- a copy of a repository of Hugging Face, ``data/train-00000-of-00002.parquet``, and its parquet
  branch, ``default/train/0000.parquet``;
- a partitioned table, ``part-00000.parquet`` or ``year=2024/0.parquet``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from mlaut.arrays import Series, is_sparse, row_shape
from mlaut.errors import DataError
from mlaut.files_io.tables.pairs import labels_of
from mlaut.files_io.tables.tables import MISSING, ending_of, read_rows, stem_of
from mlaut.helpers.lazy import pd
from mlaut.records import TRAIN_ONLY, Split

TRAIN, VALIDATION, TEST = "train", "validation", "test"
PARTS = {TRAIN: TRAIN, "validation": VALIDATION, "valid": VALIDATION, "val": VALIDATION,
          "dev": VALIDATION, TEST: TEST}  # fmt: skip
_WORD = re.compile(rf"(?:^|(?<=[\W_]))({'|'.join(PARTS)})(?=[\W_]|$)", re.IGNORECASE)
# What stands behind the name of a part: the number of a file, its count, and a hash.
_NUMBER = re.compile(r"[-._]?\d+[-._]of[-._]\d+([-._][0-9a-f]{8,})?$")
_PARTITION = re.compile(r"part[-._]?\d+", re.IGNORECASE)  # as Spark, Dask and polars write it
_REPOSITORY = ("data", "default")  # folders that say nothing about the dataset
_PREFERRED = (".ts", ".npz", ".npy", ".svm", ".svmlight", ".parquet", ".pq", ".arff", ".csv",
              ".tsv")  # fmt: skip


@dataclass(frozen=True)
class Parts:
    """Files of one dataset.

    Attributes
    ----------
    name : str
        Name of the dataset.
    folder : Path
        Folder of the files.
    files : mapping of str to tuple of Path
        Files of the parts ``"train"``, ``"validation"`` and ``"test"``; those of a table without
        parts have the key ``""``.
    """

    name: str
    folder: Path
    files: Mapping[str, Sequence[Path]]


def tables_of_folder(folder: Path) -> tuple[dict[str, Parts], list[Path]]:
    """Return the datasets of several files, by name, and the files that are datasets by themselves.

    Without tables in the folder itself, those of its subfolders are returned.

    Raises
    ------
    DataError
        A subfolder has parts of several tables, so that it is not clear what belongs together.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for file in ("wine_train.csv", "wine_test.csv", "iris.csv"):
    ...         _ = Path(folder, file).write_text("x,class")
    ...     parted, alone = tables_of_folder(Path(folder))
    >>> {name: sorted(parts.files) for name, parts in parted.items()}, [one.name for one in alone]
    ({'wine': ['test', 'train']}, ['iris.csv'])
    """
    direct = _tables(folder.iterdir())
    if direct and all(_PARTITION.match(file.name) for file in direct):
        return {folder.name: Parts(folder.name, folder, {"": direct})}, []
    tables = {parts.name: parts for parts in _by_name(direct, folder)}
    if direct:
        return tables, [file for file in direct if not _is_part(file, tables)]
    below = [path for path in sorted(folder.iterdir()) if path.is_dir() and path.name[0] != "."]
    if any("=" in path.name for path in below):
        below = [folder]
    for path in below:
        parts = _of_subfolder(path, folder)
        if parts is not None:
            tables[parts.name] = parts
    return tables, []


def _is_part(file: Path, parted: Mapping[str, Parts]) -> bool:
    """Return whether a file belongs to one of these datasets, even in a format that is not read.

    An archive may hold the same table in several formats.
    """
    files = {path for parts in parted.values() for some in parts.files.values() for path in some}
    part, name = _part_of(file)
    return file in files or (bool(part) and (name or _name_of(file.parent)) in parted)


def _tables(paths: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(
        path
        for path in sorted(paths)
        if path.is_file() and ending_of(path.name) and (path.suffix != ".npy" or labels_of(path))
    )


def _by_name(files: Iterable[Path], folder: Path) -> list[Parts]:
    """Return the datasets in a folder that have a training part and another part."""
    groups: dict[str, dict[str, list[Path]]] = {}
    for file in files:
        part, name = _part_of(file)
        if part:
            groups.setdefault(name, {}).setdefault(part, []).append(file)
    return [
        Parts(name or _name_of(folder), folder, {part: _one_form(some[part]) for part in some})
        for name, some in groups.items()
        if TRAIN in some and (len(some) > 1 or not name)
    ]


def _part_of(file: Path) -> tuple[str, str]:
    """Return the part and the dataset that the name of a file states.

    Examples
    --------
    >>> _part_of(Path("wine_train.csv")), _part_of(Path("test-00000-of-00002.parquet"))
    (('train', 'wine'), ('test', ''))
    """
    stem = _NUMBER.sub("", stem_of(file.name))
    words = list(_WORD.finditer(stem))
    if not words:
        return "", stem
    word = words[-1]
    rest = (stem[: word.start()] + stem[word.end() :]).strip("-_. ")
    return PARTS[word[1].lower()], rest


def _one_form(files: Sequence[Path]) -> tuple[Path, ...]:
    """Return the files of the preferred format (see `_is_part`)."""
    forms = {_ending(file) for file in files}
    best = min(forms, key=_PREFERRED.index)
    return tuple(file for file in files if _ending(file) == best)


def _ending(file: Path) -> str:
    return ending_of(file.name).removesuffix(".gz")


def _name_of(folder: Path) -> str:
    folder = folder.resolve()
    return folder.parent.name if folder.name in _REPOSITORY else folder.name


def _of_subfolder(path: Path, folder: Path) -> Parts | None:
    """Return the dataset of all tables below a folder; None if they are several."""
    # The client of Hugging Face keeps a folder .cache in a copy, which may itself lie below one.
    files = _tables(
        file for file in path.rglob("*") if ".cache" not in file.relative_to(path).parts
    )
    by_part: dict[str, list[Path]] = {}
    homes = set()
    for file in files:
        part = _part_of(file)[0] or PARTS.get(file.parent.name.lower(), "")
        homes.add(file.parent.parent if file.parent.name.lower() in PARTS else file.parent)
        by_part.setdefault(part, []).append(file)
    name = _name_of(path) if path.parent == folder else path.resolve().name
    if set(by_part) == {""}:
        whole = all(_ending(file) in (".parquet", ".pq") for file in files)
        return Parts(name, path, {"": files}) if whole else None
    if TRAIN not in by_part or "" in by_part:
        return None
    if len(homes) > 1:
        some = ", ".join(sorted(str(home.relative_to(path)) for home in homes)[:3])
        raise DataError(f"{path}: it has parts of several tables ({some}); name one of its folders")
    return Parts(name, path, {part: _one_form(by_part[part]) for part in by_part})


def read_parts(parts: Parts) -> tuple[pd.DataFrame, Any, Split | None, str]:
    """Return table and array of a dataset, its split, and the target that its files name, else "".

    The rows are in the order training, validation, test. The test part is tested, or without one
    the validation part; all other rows train.

    Raises
    ------
    DataError
        A file cannot be read, or two parts have different columns or rows of different shapes.
    """
    if set(parts.files) == {""}:
        return _partitions(parts), None, None, ""
    order = [part for part in (TRAIN, VALIDATION, TEST) if part in parts.files]
    read = [[_named(file) for file in parts.files[part]] for part in order]
    frames = [_joined([frame for frame, _ in pairs], parts) for pairs in read]
    frame = _joined(frames, parts)
    array = _stacked([array for pairs in read for _, array in pairs], parts)
    split = split_of_parts({part: len(one) for part, one in zip(order, frames, strict=True)})
    classes = frames[0].attrs.get("classes", [])
    return frame, array, split, classes[0] if len(classes) == 1 else ""


def split_of_parts(sizes: Mapping[str, int]) -> Split | None:
    """Return the split of which the last part is tested; None if there is only one.

    Examples
    --------
    >>> split_of_parts({"train": 2, "test": 1}).folds.tolist()
    [[-1, -1, 0]]
    """
    if len(sizes) < 2:
        return None
    *_, (last, rows) = sizes.items()
    folds = np.repeat([TRAIN_ONLY, 0], [sum(sizes.values()) - rows, rows]).astype(np.int16)
    return Split(folds[None], f"the {last} part of its files")


def _stacked(arrays: list[Any], parts: Parts) -> Any:
    if any(isinstance(array, Series) for array in arrays):
        return Series.of(list(chain.from_iterable(array[:] for array in arrays)))
    shapes = {None if array is None else row_shape(array) for array in arrays}
    if len(shapes) > 1:
        told = " and ".join(sorted(map(str, shapes)))
        raise DataError(f"{parts.folder}: the parts of {parts.name!r} have rows of shapes {told}")
    if len(arrays) == 1 or arrays[0] is None:
        return arrays[0]
    if not is_sparse(arrays[0]):
        return np.concatenate(arrays)
    from scipy.sparse import vstack

    return vstack(arrays)


def _joined(frames: list[pd.DataFrame], parts: Parts) -> pd.DataFrame:
    for frame in frames[1:]:
        if list(frame.columns) != list(frames[0].columns):
            different = {*frame.columns} ^ {*frames[0].columns}
            what = ", ".join(sorted(map(repr, different))[:3]) or "their order"
            raise DataError(
                f"{parts.folder}: the parts of {parts.name!r} have different columns ({what}); "
                "mend one"
            )
    joined = pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]
    joined.attrs = frames[0].attrs
    return joined


def _partitions(parts: Parts) -> pd.DataFrame:
    """Return a partitioned table with the columns that its folders name (``year=2024``)."""
    frames = []
    for file in parts.files[""]:
        keys = [path.partition("=") for path in file.relative_to(parts.folder).parts[:-1]]
        named = {key: value for key, equal, value in keys if equal}
        frames.append(_named(file)[0].assign(**named))
    frame = _joined(frames, parts)
    for key in named:
        numbers = pd.to_numeric(frame[key], errors="coerce")
        frame[key] = frame[key].astype("category") if numbers.isna().any() else numbers
    return frame


def _named(file: Path) -> tuple[pd.DataFrame, Any]:
    """Return the table of a file, and its array or None.

    Class numbers that Hugging Face has names for are categories.
    """
    frame, array = read_rows(file, missing=MISSING)
    if _ending(file) not in (".parquet", ".pq"):
        return frame, array
    import pyarrow.parquet as pq

    about = (pq.read_schema(file).metadata or {}).get(b"huggingface", b"{}")
    try:
        features = json.loads(about).get("info", {}).get("features", {})
        labels = {k: f["names"] for k, f in features.items() if f.get("_type") == "ClassLabel"}
        for column, names in labels.items():
            codes = frame[column].fillna(-1).astype(int)  # -1 is a missing label there too
            frame[column] = pd.Categorical.from_codes(codes, categories=names)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{file}: its description of classes does not fit its columns "
            f"({' '.join(str(error).split())}); write the file again"
        ) from error
    frame.attrs = {"classes": list(labels)}
    return frame, None
