"""Reading of tables (CSV, TSV, ARFF, parquet) and of arrays (ts, npz, npy, svmlight, HDF5)."""

from __future__ import annotations

import gzip
import io
import os
import re
import warnings
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from mlaut.arrays import Series
from mlaut.errors import DataError, MlautError, OptionalPackageError
from mlaut.files_io.safe_files.plain_files import DEFLATED, MEMORY, check_plain
from mlaut.files_io.safe_files.system_errors import refuse_error_of_machine
from mlaut.files_io.tables.pairs import HDF5, read_hdf5, read_npy, without_x
from mlaut.files_io.tables.tables_of_others import of_pair
from mlaut.helpers.lazy import pd
from mlaut.helpers.optional import need

MISSING = ("", "?", "NA", "NaN", "nan", "NULL", "null")


def read_table(path: str | os.PathLike[str], *, missing: Sequence[str] = MISSING) -> pd.DataFrame:
    """Read a CSV, TSV, ARFF or parquet file; the format follows from the ending of its name.

    Parameters
    ----------
    path : path-like
        Path of the file.
    missing : sequence of str
        Texts that stand for a missing value in a CSV or TSV file. In quotes they are texts like
        any other, except in a column of numbers.

    Returns
    -------
    DataFrame
        Table of the file. Nominal attributes of an ARFF file are categories in their declared
        order; its other attributes are numbers or texts.

    Raises
    ------
    DataError
        The file does not exist, cannot be read, or holds an array (`read_rows`).
    StoreError
        The machine cannot read it now (too many open files, an error of the disk): a folder is not
        read without it.
    OptionalPackageError
        The file is a parquet file, and pyarrow is not installed.
    """
    frame, array = read_rows(path, missing=missing)
    if array is not None:
        raise DataError(
            f"{path}: holds an array of shape {array.shape}, and a table is needed here; as a "
            "dataset, load its folder"
        )
    return frame


def read_rows(
    path: str | os.PathLike[str],
    *,
    missing: Sequence[str] = MISSING,
    apart: Mapping[str, str] | None = None,
) -> tuple[pd.DataFrame, Any]:
    """Read a file as `read_table` does, or the labels of one of an array, and the array or None.

    A ts file (sktime, aeon) holds series: (rows, channels, points). An npz file holds ``X`` and
    ``y``, or what `scipy.sparse.save_npz` writes and ``y``; a file of svmlight is sparse. ``apart``
    may name the file of the labels of an npy file (``y``), else ``a_y.npy`` beside ``a_X.npy``, and
    the paths in an HDF5 file (``X``, ``y``). Labels are the column ``target``; names of several
    columns of labels are ``attrs["target"]`` of the table.
    """
    path = Path(os.path.expanduser(path))
    ending = path.suffix.lower() if path.suffix.lower() in _APART else ending_of(path.name)
    if not ending:
        raise DataError(f"{path}: not a table that can be read ({', '.join(IN_FOLDERS)})")
    check_plain(path)
    if not path.exists():
        raise DataError(f"{path}: no such file; check the path")
    try:
        _check_unpacked(path)
        if ending in _APART:
            frame, array = _with_targets(*_APART[ending](path, apart or {}))
        else:
            read = READERS[ending](path, missing)
            frame, array = read if isinstance(read, tuple) else (read, None)
    except MlautError:
        raise
    except Exception as error:  # parsers raise many types of errors on a damaged file
        refuse_error_of_machine(error, path, "reading a table")
        reason = " ".join(str(error).split()) or type(error).__name__
        utf8 = "save it in UTF-8, or check" if isinstance(error, UnicodeError) else "check"
        raise DataError(
            f"{path}: cannot be read as {ending.strip('.').upper()} ({reason}); {utf8} the file"
        ) from error
    if not frame.shape[1]:
        raise DataError(f"{path}: a table without columns; check the file")
    return frame, array


def _check_unpacked(path: Path) -> None:
    """Raise ValueError for a table of more bytes than a quarter of the memory, also unpacked."""
    most, size = MEMORY // 2, path.stat().st_size
    if path.suffix.lower() in _APART:  # read by rows
        return
    if path.suffix.lower() == ".gz" and size * DEFLATED > most:
        with gzip.open(path) as file:
            size = 0
            while size <= most and (piece := file.read(2**20)):
                size += len(piece)
    if path.suffix.lower() == ".npz":
        with zipfile.ZipFile(path) as archive:
            size = sum(part.file_size for part in archive.infolist())
    if size > most:
        raise ValueError(
            f"it has more than {most:,} bytes, a quarter of the memory that may be used here"
        )


def _read_csv(path: Path, missing: Sequence[str], separator: str = ",") -> pd.DataFrame:
    options: dict[str, Any] = {"keep_default_na": False, "low_memory": False, "encoding": "utf-8"}
    header = pd.read_csv(path, sep=separator, nrows=0, **options).columns
    marks = [mark for mark in ";\t" if len(header) == 1 and mark in header[0]]
    separator, semicolons = (*marks, separator)[0], ";" in marks
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # more values than names
            # index_col: pandas would shift the names of columns where rows end with a separator
            options |= {"sep": separator, "na_values": list(missing), "index_col": False}
            frame = pd.read_csv(path, **options)
            texts = [c for c in frame if frame[c].isna().any() and _is_of_texts(frame[c])]
            if texts and (marked := _with_marked_quotes(path, missing, separator)):
                places = [frame.columns.get_loc(name) for name in texts]
                read = pd.read_csv(io.BytesIO(marked), usecols=places, **options)
                quoted = {_QUOTED + text: text for text in missing}
                frame[texts] = read.replace(quoted).set_axis(texts, axis=1)
    except pd.errors.ParserWarning as error:
        raise ValueError(
            "its rows have more values than its header has names; name every column, or in R "
            "leave out the row names: write.table(..., row.names = FALSE)"
        ) from error
    _check_names(path, separator, frame)
    return frame.apply(_without_decimal_commas) if semicolons else frame


def _check_names(path: Path, separator: str, frame: pd.DataFrame) -> None:
    """Raise an error where a header has a name twice: pandas calls the second ``age.1``."""
    parts = [x.rpartition(".") for x in frame.columns.astype(str)]
    if any(end.isdigit() and start in frame for start, _, end in parts):
        options: dict[str, Any] = {"sep": separator, "encoding": "utf-8", "index_col": False}
        line = pd.read_csv(path, nrows=1, header=None, dtype=str, na_filter=False, **options)
        names = line.iloc[0].tolist()
        if twice := [x for i, x in enumerate(names) if x and x in names[:i]]:
            raise ValueError(f"two columns are called {twice[0]!r}; rename one of them")


def _is_of_texts(column: pd.Series) -> bool:
    return pd.api.types.is_string_dtype(column.dropna())


def _with_marked_quotes(path: Path, missing: Sequence[str], separator: str) -> bytes:
    """Return a file with a mark in fields like ``"NA"``; pandas reads them without their quotes.

    Empty if there are none.
    """
    with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
        content = file.read()
    fields = [text.encode() for text in missing if text]
    if not any(b'"%s"' % field in content for field in fields):
        return b""
    # A quote inside a quoted field is doubled, so only a whole field is found between separators.
    ends = re.escape(separator.encode()) + rb"\r\n"
    words = b"|".join(map(re.escape, fields))
    pattern = rb'(?<=[%s])"(%s)"(?=[%s]|\Z)' % (ends, words, ends)
    marked, n = re.subn(pattern, rb'"%s\1"' % _QUOTED.encode(), content)
    return marked if n else b""


_QUOTED = "\ue000"  # of the private use area: no text of a table begins with it


def gaps_in(path: Path, column: Any, missing: Sequence[str]) -> str:
    """Return which texts of a column of a CSV file were read as gaps, in words; else empty."""
    if ending_of(path.name) not in (".csv", ".tsv"):
        return ""
    texts = read_table(path, missing=("",))[column]
    found = texts[read_table(path, missing=missing)[column].isna()].fillna("").astype(str)
    return ", ".join(f"{text!r} ({n})" for text, n in found.value_counts().items())


def _without_decimal_commas(column: pd.Series) -> pd.Series:
    """Return a column of texts like ``0,9`` as numbers, and any other as it is."""
    values = column.dropna()
    if pd.api.types.is_numeric_dtype(column) or values.empty:
        return column
    texts = values.astype(str)
    if not texts.str.fullmatch(r"\s*[+-]?(\d+|\d*,\d+)([eE][+-]?\d+)?\s*").all():
        return column
    return texts.str.replace(",", ".").astype(float).reindex(column.index)


def _read_arff(path: Path, _missing: Sequence[str]) -> pd.DataFrame:
    _arff = _arff_reader()
    with path.open(encoding="utf-8") as file:
        text = file.read()
    sparse = any(
        line.lstrip().startswith("{") for line in text.lower().partition("@data")[2].splitlines()
    )
    try:
        content = _arff.loads(text, return_type=_arff.LOD if sparse else _arff.DENSE)
    except _arff.BadAttributeType as error:
        raise ValueError(f"{error} An attribute of dates or relations; save it as CSV") from error
    except _arff.ArffException as error:
        raise ValueError(str(error)) from error
    return pd.DataFrame(
        {
            name: _arff_column(kind, position, content["data"], sparse)
            for position, (name, kind) in enumerate(content["attributes"])
        }
    )


def _arff_reader() -> Any:
    """Return the module liac-arff: the copy inside scikit-learn, or the package itself.

    It reads quoted names, texts and sparse rows; the reader of SciPy does not.
    """
    for name in ("sklearn.externals._arff", "arff"):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise OptionalPackageError(
        "reading an ARFF file needs liac-arff, which this scikit-learn no longer brings: "
        "pip install liac-arff, or save the table as CSV"
    )


def _arff_column(kind: Any, position: int, rows: Iterable[Any], sparse: bool) -> pd.Series:
    nominal = not isinstance(kind, str)
    if sparse:  # a value that is left out is 0, or the first category
        values = [row.get(position, kind[0] if nominal else 0) for row in rows]
    else:
        values = [row[position] for row in rows]
    if nominal:
        return pd.Series(pd.Categorical(values, categories=kind))
    return pd.Series(values, dtype=None if kind == "STRING" else float)


def _read_parquet(path: Path, _missing: Sequence[str]) -> pd.DataFrame:
    need("pyarrow", extra="parquet", purpose="Reading a parquet file")
    return pd.read_parquet(path)


def _read_ts(path: Path, _missing: Sequence[str]) -> tuple[pd.DataFrame, Any]:
    """Return the labels of the time series of a ts file, and the series: (rows, channels, points).

    The format is that of sktime and aeon: a header of lines ``@name value``, and after ``@data`` a
    line for each series, with its channels and last its label between colons.
    """
    header: dict[str, str] = {}
    series: list[list[str]] = []
    with path.open(encoding="utf-8") as file:
        for line in map(str.strip, file):
            if not line or line.startswith("#"):
                continue
            if "@data" in header:
                series.append(line.split(":"))
            else:
                name, _, value = line.partition(" ")
                header[name.lower()] = value.strip()
    if header.get("@timestamps", "false").lower() == "true":
        raise ValueError("its series have time stamps; resample them to common times")
    if not any(header.get(word, "").lower().startswith("true") for word in _TS_LABELS):
        raise ValueError("its series have no label to be the target")
    *channels, labels = zip(*series, strict=True)  # ValueError: another number of channels
    values = [
        [[float(x) if x != "?" else np.nan for x in row.split(",")] for row in rows]
        for rows in channels
    ]
    if any(len({*map(len, rows)}) > 1 for rows in zip(*values, strict=True)):
        raise ValueError("the channels of a series differ in length; pad or cut them to one length")
    number = header.get("@targetlabel", "").lower().startswith("true")
    target = tuple(map(float, labels)) if number else labels
    return pd.DataFrame({"target": target}), Series.of([*map(np.array, zip(*values, strict=True))])


def _read_npz(path: Path, _missing: Sequence[str]) -> tuple[pd.DataFrame, Any]:
    with np.load(path, allow_pickle=False) as stored:
        arrays = dict(stored.items())
    if "y" not in arrays:
        raise ValueError(f"it has {', '.join(arrays) or 'no array'}, and no labels as 'y'")
    labels = arrays.pop("y")
    if "X" in arrays:
        return _with_targets(arrays["X"], labels)
    from scipy.sparse import load_npz

    return _with_targets(load_npz(path), labels)


def _read_svmlight(path: Path, _missing: Sequence[str]) -> tuple[pd.DataFrame, Any]:
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(path))[:2]
    return _with_targets(X, y)


def _with_targets(X: Any, y: Any) -> tuple[pd.DataFrame, Any]:
    frame, array, named = of_pair(X, y, "target", {})
    frame.attrs["target"] = named.get("target")  # names of several
    return frame, array


_TS_LABELS = ("@classlabel", "@targetlabel")  # of classification and of regression


READERS: dict[str, Callable[[Path, Sequence[str]], Any]] = {
    ".csv": _read_csv,
    ".tsv": lambda path, missing: _read_csv(path, missing, "\t"),
    ".arff": _read_arff,
    ".parquet": _read_parquet,
    ".pq": _read_parquet,
    ".ts": _read_ts,
    ".npz": _read_npz,
    ".svm": _read_svmlight,
    ".svmlight": _read_svmlight,
}
_APART = {".npy": read_npy, **dict.fromkeys(HDF5, read_hdf5)}
IN_FOLDERS = (*READERS, ".npy")
"""Endings of the files of a folder that are datasets."""


def ending_of(file: str) -> str:
    """Return the ending of a file that `read_table` can read; empty for other files."""
    plain = file.lower().removesuffix(".gz")
    packed = plain != file.lower()
    ending = Path(plain).suffix
    known = (".csv", ".tsv") if packed else IN_FOLDERS
    return ending if ending in known else ""


def stem_of(file: str) -> str:
    """Return the name of a file without its ending, and without the X of ``digits_X.npy``."""
    path = Path(Path(file).name.removesuffix(".gz"))
    return without_x(path.stem) if path.suffix.lower() == ".npy" else path.stem
