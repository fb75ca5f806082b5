"""Loader of folders of tables."""

from __future__ import annotations

import csv
import io
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from mlaut.data.tables.frames import Unread, from_frame, read_chosen, roles_of, with_roles
from mlaut.data.tables.parts import Parts, read_parts, tables_of_folder
from mlaut.errors import (
    DataError,
    OptionalPackageError,
    UnusableWarning,
    nearest,
    nearest_of,
    refuse_unknown,
    some_of,
)
from mlaut.files_io.safe_files.plain_files import read_text
from mlaut.files_io.tables.pairs import HDF5
from mlaut.files_io.tables.tables import IN_FOLDERS, MISSING, ending_of, gaps_in, read_rows, stem_of
from mlaut.helpers.former_names import if_installed, without_plugin
from mlaut.helpers.lazy import pd
from mlaut.plugins.finding import found
from mlaut.records import ROLES, Dataset

MANIFEST = "manifest.csv"
SETTINGS = ("name", "file", "target", "task", "categorical", "missing", "roles", "fingerprint",
            "X", "y")  # fmt: skip
FACTS = ("rows", "features", "classes")
TARGETS = ("target", "class")
# The similarity (difflib) from which a column counts as a misspelt setting: "categorial" has .95,
# "traget" .83; "task_type" (.62) and "data_file" (.62) are the user's own columns.
_MISSPELT = 0.8


def load_folder(
    folder: str | os.PathLike[str],
    *,
    names: Iterable[str] | None = None,
    task: str | None = None,
    roles: Mapping[str, Any] | None = None,
    missing: Mapping[str, Sequence[str]] | None = None,
    unusable: list[DataError] | None = None,
) -> tuple[Dataset, ...]:
    r"""Return the datasets of a folder of tables.

    A ``manifest.csv`` in the folder has a row for each table, with these columns; all but ``file``
    may be missing or empty:

    ``file``
        Path below the folder, without ``..``: ``.csv`` or ``.tsv`` (also ``.gz``), ``.arff``,
        ``.parquet`` (needs the extra ``parquet``), or an array: ``.ts``, ``.npz``, ``.npy``,
        ``.svm``, ``.h5``.
    ``name``
        Name of the dataset; default the name of the file without its extension.
    ``target``
        Name of the target column; default the column called ``target`` or ``class``, else the
        last column.
    ``task``
        ``Classification`` or ``Regression``; default inferred from the target.
    ``categorical``
        Columns to read as categories, separated by semicolons; ``ALL`` means every feature. A
        column of a CSV is otherwise numeric if all its values are numbers, and text if not.
    ``missing``
        Texts that mean a missing value in a CSV, in addition to the empty field, separated by
        semicolons; default ``?;NA;NaN;nan;NULL;null``. In quotes they are texts like any other,
        except in a column of numbers.
    ``roles``
        Columns that are no features, by role, separated by semicolons:
        ``group=patient;weight=w;ignore=a;ignore=b`` (also ``time`` and ``id``).
    ``X``, ``y``
        Paths of rows and labels in an HDF5 file; ``y``, the labels' file beside an npy file.
    ``fingerprint``
        Fingerprint of the dataset. A table with another fingerprint is refused.
    any other
        Becomes metadata (``source``, ``licence``, ``dataset_id``, ...), except ``rows``,
        ``features`` and ``classes``, which are for human readers.

    Without a manifest, every table of the folder is read with the defaults. Files such as
    ``wine_train.csv`` and ``wine_test.csv`` are one dataset with its own split. A copy of a
    repository of Hugging Face, a problem of the archives of sktime and aeon, and a partitioned
    parquet table are one dataset too (`mlaut.data.tables.parts`). A folder with a folder of images
    for each class is read as an array by the plug-in mlaut-extras, a copy of the archive of
    Fernandez-Delgado et al. (2014) with its splits by mlaut-boards.

    Parameters
    ----------
    folder : path-like
    names : iterable of str, optional
        Read only these datasets.
    task : str, optional
        Return only the datasets of this task.
    roles : mapping, optional
        Columns that are no features, by role; ``target`` is a role too (`mlaut.data.with_roles`).
        They replace those of the manifest.
    missing : mapping of str to sequence of str, optional
        Texts that mean a missing value, besides the empty field, by dataset. They replace those of
        the manifest.
    unusable : list, optional
        Errors of tables that cannot be used are appended here, and the others are read. If there
        are no others, the error is raised.

    Raises
    ------
    DataError
        A table cannot be read or used; the message names file, dataset and column.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "tiny.csv").write_text("x,colour,class\n1,red,a\n,blue,b\n")
    ...     tiny, = load_folder(folder)
    >>> tiny.name, tiny.target, tiny.frame["x"].tolist()
    ('tiny', 'class', [1.0, nan])
    """
    folder = Path(os.path.expanduser(folder))
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder; check the path")
    known = known_layout(folder)
    tables = known or folder_tables(folder, roles, missing)
    if unknown := [name for name in missing or () if name not in tables]:
        hint = nearest_of(unknown[0], tables)
        raise DataError(f"{folder}: missing values for no dataset {unknown[0]!r}{hint}")
    chosen = read_chosen(folder, tables, names, task, unusable)
    return tuple(with_roles(dataset, roles) for dataset in chosen) if known else chosen


def known_layout(folder: Path) -> Mapping[str, Unread]:
    """Return the datasets of a folder by name, if a plug-in knows its layout; empty if none does.

    A manifest has precedence.

    Raises
    ------
    OptionalPackageError
        It has the layout of a published archive, and no plug-in is there to read it.
    """
    if (folder / MANIFEST).exists():
        return {}
    readers = found("folders").values()
    if not readers and any(folder.glob("*/*_R.dat")):  # beside files that would be read otherwise
        what = f"{folder}: the archive of Fernandez-Delgado et al. (2014) is read by"
        raise OptionalPackageError(without_plugin(what, "boards"))
    return next(filter(None, (read(folder) for read in readers)), {})


def load_file(text: str, roles: Mapping[str, Any] | None = None) -> Dataset:
    """Return the dataset of a file, whose path settings of a manifest may follow.

    Parameters
    ----------
    text : str
        For example ``"scans.h5?X=images&y=labels&name=scans"``, or
        ``"visits.csv?target=better&group=patient&ignore=note"``.
    roles : mapping, optional
        As in `load_folder`.

    Raises
    ------
    DataError
        There is no such file, setting or array, or the table cannot be used.
    """
    file, row = _described(text)
    if not file.is_file():
        raise DataError(f"{file}: no such file; check the path")
    return _load(file.parent, row, roles, None)


def is_file_of_table(text: str) -> bool:
    """Return whether a text names a file of a table by its ending.

    Examples
    --------
    >>> is_file_of_table("tables/cars.csv?target=price"), is_file_of_table("openml/d/61")
    (True, False)
    """
    place = Path(text.partition("?")[0])
    return bool(ending_of(place.name) or place.suffix in HDF5) and not place.is_dir()


def name_of_file(text: str) -> str:
    """Return the name of the dataset of a file.

    Examples
    --------
    >>> name_of_file("tables/cars.csv"), name_of_file("a.npy?y=b.npy&name=c")
    ('cars', 'c')
    """
    return _described(text)[1]["name"]


def _described(text: str) -> tuple[Path, dict[str, str]]:
    """Return the path of a file, and what a row of a manifest would say of it."""
    path, _, settings = text.partition("?")
    given = parse_qsl(settings, keep_blank_values=True)
    refuse_unknown(dict(given), (*SETTINGS, *ROLES), DataError, f"{text!r}: unknown option")
    file = Path(path)
    row = {"name": stem_of(file.name) or file.resolve().parent.name, "file": file.name}
    row |= {word: value for word, value in given if word in SETTINGS}
    roles = [row.pop("roles", ""), *(f"{word}={to}" for word, to in given if word in ROLES)]
    return file, {**row, "roles": ";".join(roles)}


def folder_tables(
    folder: Path,
    roles: Mapping[str, Any] | None = None,
    missing: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Unread]:
    """Return the datasets of a folder by name: those of its manifest, or all its tables."""
    described = (folder / MANIFEST).exists()
    parted: dict[str, Parts] = {}
    if described:
        rows = read_manifest(folder)
    else:
        parted, files = tables_of_folder(folder)
        own = folder.resolve().name  # of X.npy
        rows = [{"name": stem_of(file.name) or own, "file": file.name} for file in files]
        if not parted and not rows:
            return _images(folder)
    given = missing or {}
    alone = {
        name: Unread(partial(_load, folder, row, roles, given.get(name)), row.get("task", ""))
        for name, row in ((row["name"], row) for row in rows)
    }
    together = {name: Unread(partial(_load_parts, parts, roles)) for name, parts in parted.items()}
    if twice := [row["file"] for row in rows if row["name"] in together]:
        warnings.warn(
            f"{folder}: left out: {some_of(twice)}, since there are training and test parts of "
            f"that name; {MANIFEST} chooses other files",
            UnusableWarning,
            stacklevel=3,
        )
    return dict(sorted({**alone, **together}.items())) if together else alone


def read_manifest(folder: Path) -> list[dict[str, str]]:
    """Return the rows of a folder's ``manifest.csv``, without their empty fields.

    The tables are not read. Columns that MLaut does not know are metadata.

    Raises
    ------
    DataError
        A row has no file, or one outside of the folder; two rows have the same name; or the name
        of a column is misspelt.
    """
    path = folder / MANIFEST
    rows = list(csv.DictReader(io.StringIO(read_text(path), newline="")))
    absent = [word for word in SETTINGS if rows and word not in rows[0]]
    for column in rows[0] if rows else ():
        word = str(column).lower()
        meant = get_close_matches(word, absent, 1, _MISSPELT)
        # a setting with a word beside it, as in "has_categorical", is spelt right and another name
        if column not in SETTINGS and meant and meant[0] not in word.split("_"):
            raise DataError(f"{path}: unknown column {column!r}; did you mean {meant[0]!r}?")
    seen: set[str] = set()
    for number, row in enumerate(rows, start=2):
        if not row.get("file"):
            raise DataError(f"{path}, line {number}: no file is named; fill the column 'file'")
        if Path(row["file"]).is_absolute() or ".." in Path(row["file"]).parts:
            raise DataError(
                f"{path}, line {number}: the file {row['file']!r} is outside of the folder of the "
                "manifest; move the table into it, or do not trust the manifest"
            )
        row["name"] = row.get("name") or stem_of(row["file"]) or "X"
        if row["name"] in seen:
            raise DataError(f"{path}, line {number}: a second dataset {row['name']!r}; rename it")
        seen.add(row["name"])
    # csv.DictReader puts fields beyond the header under the key None.
    return [{key: value for key, value in row.items() if value and key} for row in rows]


def _images(folder: Path) -> dict[str, Unread]:
    """Return the datasets of images in a folder without tables."""
    read = if_installed("image_folders")
    images: dict[str, Unread] = read(folder) if read else {}
    if not images:
        text = f"{folder}: no table in it ({', '.join(IN_FOLDERS)}); check the path"
        more = "" if read else f" ({without_plugin('folders of images are read by', 'extras')})"
        raise DataError(text + more)
    return images


def _load(
    folder: Path, row: dict[str, str], given: Mapping[str, Any] | None, gaps: Sequence[str] | None
) -> Dataset:
    path = folder / row["file"]
    if gaps is None:
        gaps = row["missing"].split(";") if "missing" in row else MISSING
    if not isinstance(gaps, list | tuple) or not all(isinstance(text, str) for text in gaps):
        raise DataError(f"{path}: its texts for gaps are no list, as ['?', 'NA'] is, but {gaps!r}")
    gaps = ("", *gaps)
    dataset = _made(*read_rows(path, missing=gaps, apart=row), path, row, given, gaps)
    if row.get("fingerprint", dataset.fingerprint) != dataset.fingerprint:
        raise DataError(
            f"{path}: dataset {row['name']!r} is not the table that its manifest describes "
            f"(fingerprint {dataset.fingerprint[:12]}, not {row['fingerprint'][:12]}); "
            "restore the file, or correct the manifest"
        )
    return dataset


def _load_parts(parts: Parts, given: Mapping[str, Any] | None) -> Dataset:
    frame, array, split, target = read_parts(parts)
    row = {"name": parts.name, **({"target": target} if target else {})}
    return replace(_made(frame, array, parts.folder, row, given, MISSING), split=split)


def _made(
    frame: pd.DataFrame,
    array: Any,
    path: Path,
    row: dict[str, str],
    given: Mapping[str, Any] | None,
    gaps: Sequence[str],
) -> Dataset:
    """Return the dataset of a table that a row of a manifest describes."""
    target: Any = None
    metadata: dict[str, Any] = {
        key: value for key, value in row.items() if key not in (*SETTINGS, *FACTS)
    }
    try:
        roles = {**roles_in(row.get("roles", "")), **roles_of(given, row["name"])}
        several = frame.attrs.pop("target", None)
        target = roles.pop("target", None) or row.get("target") or several or _default_target(frame)
        task = row.get("task", "") if target == row.get("target", target) else ""
        frame = _with_categories(frame, row.get("categorical", ""), target)
        how: dict[str, Any] = {"task": task, "roles": roles, "array": array, **metadata}
        return from_frame(frame, target, name=row["name"], **how)
    except DataError as error:
        prefix = "" if str(error).startswith("dataset ") else f"dataset {row['name']!r}: "
        read_as_gaps = ""
        if (
            target in [*frame]
            and frame[target].isna().any()
            and (texts := gaps_in(path, target, gaps))
        ):
            read_as_gaps = (
                f"; read as gaps were {texts}: a text in quotes is a value, or name those that are "
                f"none, as in [data.missing] {row['name']} = ['?'] of a study file"
            )
        raise DataError(f"{path}: {prefix}{error}{read_as_gaps}") from None


def roles_in(text: str) -> dict[str, list[str]]:
    """Return the roles that a text names.

    Examples
    --------
    >>> roles_in("group=patient;ignore=a;ignore=b")
    {'group': ['patient'], 'ignore': ['a', 'b']}
    """
    roles: dict[str, list[str]] = {}
    for part in filter(None, text.split(";")):
        role, _, column = part.partition("=")
        roles.setdefault(role.strip(), []).append(column)
    return roles


def _default_target(frame: pd.DataFrame) -> Any:
    by_word = {str(column).lower(): column for column in frame.columns}
    return next((by_word[word] for word in TARGETS if word in by_word), frame.columns[-1])


def _with_categories(frame: pd.DataFrame, categorical: str, target: Any) -> pd.DataFrame:
    if categorical == "ALL":
        columns = [column for column in frame.columns if column != target]
    else:
        columns = [column for column in categorical.split(";") if column]
    for column in columns:
        if column not in frame.columns:
            raise DataError(
                f"no column {column!r} to be categorical{nearest(column, frame.columns)}"
            )
    return frame.astype(dict.fromkeys(columns, "category"))
