"""Grids of cells from any form: files, texts, frames, and folders of files."""

import csv
import math
import re
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis.importers.grids.cells import WORDS, plain
from mlaut.analysis.importers.grids.columns import measure_in
from mlaut.analysis.importers.grids.markup import (
    Rows,
    html_tables,
    latex_tables,
    markdown_tables,
    rst_tables,
)
from mlaut.analysis.importers.grids.names import MEANS, role_of
from mlaut.analysis.scores.usual_names import usual_name
from mlaut.errors import AnalysisError, DataError, some_of
from mlaut.files_io.kinds import EXCEL, JSON, MARKUP, NOTEBOOK, PICKLES, TEXTS
from mlaut.files_io.safe_files.plain_files import (
    MOST_JSON,
    check_plain,
    read_plain,
    read_text,
    strict_json,
)
from mlaut.files_io.tables.tables import ending_of, read_table, stem_of
from mlaut.optional import need

_MARKUP: dict[str, Callable[[str], Iterator[tuple[str, Rows]]]] = {
    **dict.fromkeys((".md", ".markdown", ".qmd", ".org"), markdown_tables),
    **dict.fromkeys((".html", ".htm"), html_tables),
    ".rst": rst_tables,
    ".tex": latex_tables,
}
_NUMBER = re.compile(r"[+-]?[\d.,]+(?:[eE][+-]?\d+)?%?|nan|NaN|")
_AVERAGES = {"macro avg": "f1_macro", "weighted avg": "f1_weighted", "micro avg": "f1_micro"}
_OF_CLASSES = ("numbers of each class",)
_STATISTICS = {"values", "scores", "runs", "all", "n", *MEANS, *WORDS["spreads"], "median"}
_METRICS = ("metric", "metrics", "measure", "measures")
_DECIMALS = re.compile(r"(\s*[+-]?\d*,\d+\s*\n?)+")  # a column of numbers with decimal commas
_PAIR = re.compile(r"\s*(.*\S)\s*[:=]\s+([+-]?\d[^\s:=]*)\s*")  # of a name and a number
_LOGS = ("", ".log", ".out", ".rout")  # what programs print
_RUNS = ("repeat", "fold")
_EMPTY = re.compile(r"\s*\(\s*\)")  # what brackets with an arrow leave
_TITLES = 2  # lines above a table
FILE = "file"  # column with the names of the files of a folder


@dataclass(frozen=True, eq=False)
class Grid:
    """Table of cells as they are printed.

    Attributes
    ----------
    name : str
        Heading or caption above it, name of a sheet, or empty.
    table : DataFrame
        Its columns have one or several levels of names; those of an unnamed column are empty.
    unnamed : tuple of str
        Levels whose names the form does not tell, as those of nested JSON.
    left : tuple of str
        What was left out while reading, with the reason.
    """

    name: str
    table: pd.DataFrame
    unnamed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def is_form(path: Path) -> bool:
    """Return whether the name of a file is that of a table of some form."""
    suffix = path.suffix.lower()
    return bool(ending_of(path.name)) or suffix in (*MARKUP, *EXCEL, *JSON, *PICKLES, *TEXTS)


def grids_of(path: Path, trust: bool = False) -> list[Grid]:
    """Return the tables of a file, of a folder of files, or of the standard input (``-``).

    Raises
    ------
    AnalysisError
        There is no table, or a pickle is not trusted.
    DataError
        A file cannot be read.
    """
    if str(path) == "-":
        return _of_text(sys.stdin.read(), "the standard input")
    if path.is_dir():
        return _of_folder(path, trust)
    check_plain(path)  # a pipe or a device may never end
    suffix = path.suffix.lower()
    if suffix in EXCEL:
        return _of_excel(path)
    if suffix in PICKLES:
        return [_of_pickle(path, trust)]
    if suffix in JSON:
        return _of_json(_text_of(path), path)
    if suffix == NOTEBOOK:
        return _of_text(_outputs(_text_of(path)), str(path))
    if suffix in (*_MARKUP, *TEXTS, *_LOGS):
        return _of_text(_text_of(path), str(path), _MARKUP.get(suffix))
    return [_of_delimited(path)]


def _text_of(path: Path) -> str:
    try:
        return read_text(path, MOST_JSON).removeprefix("\ufeff")
    except (OSError, UnicodeError) as error:
        raise DataError(f"{path}: cannot be read ({error}); save it in UTF-8") from error


def _outputs(text: str) -> str:
    """Return what the cells of a notebook show: HTML, if a cell has it, or text, and Markdown."""
    shown: list[str | list[str]] = []
    for cell in strict_json(text)["cells"]:
        if cell["cell_type"] == "markdown":
            shown.append(cell["source"])
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            shown.append(data.get("text/html") or data.get("text/plain") or output.get("text", ""))
    return "\n\n".join("".join(each) for each in shown)


def _of_text(text: str, where: str, reader: Any = None) -> list[Grid]:
    """Return the tables in a text, whose first signs show its form unless ``reader`` is given."""
    start = text.lstrip()[:1]
    if reader is None and start in ("{", "[") and text.lstrip()[:2] != "[!":
        return _of_json(text, Path(where))
    every = list(dict.fromkeys(_MARKUP.values()))
    within = [html_tables] if reader is not html_tables and "<table" in text else []
    readers = [reader, *within] if reader else every  # a page of Markdown may have tables of HTML
    grids = _framed_all(found for read in readers for found in read(text))
    if reader is not None and not grids:
        grids = _framed_all(found for read in every for found in read(text))
    if reader is None and not grids:
        grids = _framed_all([("", _separated(text))]) or _framed_all(_paragraphs(text))
    if not grids:
        raise AnalysisError(f"{where}: no table in it: save the table as CSV")
    return grids


def _framed_all(tables: Iterable[tuple[str, Rows]]) -> list[Grid]:
    """Return the tables with at least two rows, and those with one column only if there is none."""
    sized = [(name, [row for row in rows if any(row)]) for name, rows in tables]
    sized = [(name, rows) for name, rows in sized if len(rows) > 1 and max(map(len, rows)) > 1]
    names = [plain(name) for name, _ in sized]
    corners = [plain(rows[0][0]) for _, rows in sized]  # which may tell tables of one heading apart
    twins = [
        names.count(name) > 1 and corners.count(x) == 1
        for name, x in zip(names, corners, strict=True)
    ]
    names = [
        f"{n}: {x}".strip(": ") if twin else n
        for n, x, twin in zip(names, corners, twins, strict=True)
    ]
    return [
        Grid(name, framed(_with_corner(rows))) for name, (_, rows) in zip(names, sized, strict=True)
    ]


def _separated(text: str) -> Rows:
    """Return the rows of a text that is separated by commas, tabs, semicolons, bars or blanks."""
    lines = [x for x in text.splitlines() if x.strip() and not re.fullmatch(r"[\s|+=-]+", x)]
    lines = _without_comments(lines)
    for start, sign in product(range(_TITLES + 1), "\t;,|"):  # names in the first line count most
        if len(lines) > start + 1 and all(sign in x for x in lines[start:]):
            cells = csv.reader(lines[start:], delimiter=sign)
            return _with_corner([[cell.strip() for cell in row] for row in cells])
    each = [re.split(r"\s{2,}|\t", line.strip()) for line in lines]
    words = [
        [*filter(None, row)] for row in csv.reader(lines, delimiter=" ", skipinitialspace=True)
    ]
    for rows in (_with_corner(each), _with_corner(words)):
        if rows and len(rows[0]) > 1 and len({len(row) for row in rows}) == 1:
            return rows
    return []


def _paragraphs(text: str) -> Iterator[tuple[str, Rows]]:
    """Yield the title and the rows of each paragraph of a text that is a table, as programs print.

    Its title is the line above it, in the same paragraph or in one of its own.
    """
    above = ""
    for block in re.split(r"\n\s*\n", text):
        lines = block.strip("\n").splitlines()
        for n in (0, 1):
            title, rows = lines[:n], _separated("\n".join(lines[n:]))
            pairs = [*map(_PAIR.fullmatch, lines[n:])]
            if len(pairs) > 1 and all(pairs):  # such as "svm: 0.9" in each line
                rows = [["", "score"], *([x[1], x[2]] for x in pairs if x)]
            if len(rows) > 1 and len(rows[0]) > 1 and any(map(_is_score, rows[1][1:])):
                yield (title[0] if title else above).strip(" -=#:*"), rows
                break
        above = lines[-1] if len(lines) == 1 else ""


def _with_corner(rows: Rows) -> Rows:
    """Return rows whose first row names the names of rows too, which R and pandas leave out."""
    alone = len(rows) > 2 and len([*filter(None, rows[1])]) == 1
    below = rows[1 + alone :]
    longer = below and {len(row) for row in below} == {len(rows[0]) + 1}
    if not longer or not any(row[-1] for row in below):  # lines may end with two bars
        return rows
    return [[rows[1][0] if alone else "", *rows[0]], *below]


def framed(rows: Rows) -> pd.DataFrame:
    """Return rows of cells as a table; the first row, or two, or three, have its names."""
    width = max(map(len, rows))
    rows = [[*row, *[""] * (width - len(row))] for row in rows if any(row)]
    rows = _in_blocks(rows)
    width = len(rows[0])
    used = [i for i in range(width) if any(row[i] for row in rows)]
    rows, width = [[row[i] for i in used] for row in rows], len(used)
    while len(rows) > 2 and width > 1 and rows[0][0] and not any(rows[0][1:]):  # a title
        rows = rows[1:]
    rows[0] = _spanning(rows)
    n = _header_rows(rows)
    signs = [(_EMPTY.sub("", plain(cell)), re.search("[↑↓]", cell)) for x in rows[:n] for cell in x]
    arrows = {name: sign[0] for name, sign in signs if sign}
    if n > 1 and rows[n][0] and not any(rows[n][1:]):  # pandas names the index in a row below
        rows[0][0], rows[n] = rows[n][0], [""] * width
    rows[n:] = [row for row in rows[n:] if len({*row} - {""}) > 1 or _is_of_scores(row)]
    head = [[_EMPTY.sub("", plain(cell)) for cell in row] for row in rows[:n]]
    for k, level in enumerate(head[:-1], 1):  # a name above several columns is above the first
        for at in range(2, width):
            level[at] = level[at] or level[at - 1] * any(row[at] for row in head[k:])
    if n > 1:  # the corner may say that the rows below it name metrics
        corner = [row[0] for row in head if row[0] and row[0].lower() not in _METRICS]
        if len(set(head[0][1:])) == 1 and corner and corner[0] == head[0][0]:  # all of one metric
            corner = corner[:1]
        for row in head:
            row[0] = corner[-1] if corner else ""
    names = [
        tuple(dict.fromkeys(name for name in column if name)) for column in zip(*head, strict=True)
    ]
    body = pd.DataFrame(rows[n:], dtype=object)
    body = body.replace(r"^\s*$", None, regex=True)
    if n > 1:
        body.columns = pd.MultiIndex.from_tuples(
            [(*name, *[""] * (n - len(name))) for name in names]
        )
    else:
        body.columns = pd.Index([name[0] if name else "" for name in names])
    filled = body.notna().any().to_numpy() if len(body) else [True] * width
    body = _filled_down(body.loc[:, filled].dropna(how="all").reset_index(drop=True))
    body.attrs["arrows"] = arrows  # which say whether more is better
    return body


def _in_blocks(rows: Rows) -> Rows:
    """Return rows without those that repeat the first, or title those below; titles are a column.

    A title alone in its row counts where names come again below another.
    """
    named = re.search("[a-zA-Z]{2}", " ".join(rows[0][1:]))
    again = [i for i, row in enumerate(rows) if named and row[1:] == rows[0][1:]]
    alone = [i for i, row in enumerate(rows) if row[0] and not any(row[1:])]
    names = [row[0] for i, row in enumerate(rows) if row[0] and i not in alone]
    heads = sorted({0, *again, *(alone if len(set(names)) < len(names) else ())})
    titles = [plain(rows[i][0]) for i in heads]
    left = sorted({*range(len(rows))} - {*heads})
    below = [(rows[i], bisect_right(heads, i) - 1) for i in left]
    if len(set(titles)) == 1:
        return [rows[0], *(row for row, _ in below)]
    name = "metric" if any(map(usual_name, titles)) else ""
    corner = "" if len(again) > 1 else rows[0][0]
    return [[corner, name, *rows[0][1:]], *([row[0], titles[k], *row[1:]] for row, k in below)]


def _spanning(rows: Rows) -> list[str]:
    """Return the first row, with names that stand in the middle of their columns above each."""
    row, n = rows[0], len(rows[0]) - 1
    at = [i - 1 for i, name in enumerate(row) if i and name]
    of = n // max(len(at), 1)  # columns of each
    numbers = any(_is_score(plain(x[1])) for x in rows[2:])
    if len(at) < 2 or row[1] or not numbers or [i // of for i in at] != [*range(len(at))]:
        return row
    return [row[0], *(row[at[i // of] + 1] for i in range(n))] if n == of * len(at) else row


def _header_rows(rows: Rows) -> int:
    """Return how many rows have names: the first, and those below it without any number."""
    first = rows[0][1:]
    several = len(set(first)) < len(first) or "" in first
    n = 1 + _is_second_head(rows)
    while n < min(3, len(rows) - 1):
        cells = [cell for cell in rows[n][1:] if cell]
        corner = plain(rows[n][0]).lower() in ("", *_METRICS, rows[0][0].lower())
        if not (several or (corner and len(cells) > 1)):
            break
        numbers = any(re.search(r"\d", plain(x)) and _is_score(plain(x)) for x in cells)
        if not cells or (numbers and not (n == 1 and _tells_apart(rows))):
            break
        n += 1
    return n


def _is_second_head(rows: Rows) -> bool:
    """Return whether the second row has words, and no known one for a missing score, alone."""
    words = [plain(x).lower() for x in rows[1][1:] if x]
    known = {*WORDS["no_result"], *WORDS["failures"]}
    named = len(words) > 1 and not any(_is_score(x) or x in known for x in words)
    below = all(any(_is_score(plain(x)) for x in row[1:]) for row in rows[2:])
    return named and len(rows) > 3 and below


def _tells_apart(rows: Rows) -> bool:
    """Return whether whole numbers in the second row tell the repeated names of the first apart."""
    (one, *first), (two, *second), (_, *third) = rows[:3]
    pairs = set(zip(first, second, strict=True))
    whole = all(x.isdigit() for x in second) and not all(x.isdigit() for x in third)
    return one == two == "" and whole and len(set(first)) < len(pairs) == len(first)


def _is_score(text: str) -> bool:
    return bool(re.match(r"[+-]?[\d.,]*\d", text)) and not re.search(r"[a-zA-Z]{2}", text)


def _is_of_scores(row: list[str]) -> bool:
    """Return whether a row without a name has scores, as a title over all columns has not."""
    return row[0] == "" and any(_is_score(plain(x)) for x in row)


def _filled_down(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose first column, if a name stands for several rows, has it in each."""
    first = table.iloc[:, 0] if table.shape[1] > 2 else pd.Series(dtype=object)
    second = table.iloc[:, 1] if table.shape[1] > 2 else first
    ditto = first.isin(('"', "''", ".", "〃"))
    gaps = first.isna() | ditto
    if not len(first) or not gaps.any() or gaps.iloc[0] or first.nunique() < 2:
        return table
    numbers = second.map(lambda cell: cell is not None and _is_score(plain(cell)))
    if numbers.mean() > 0.5 and not ditto.any():
        return table
    table.isetitem(0, first.mask(gaps).ffill().to_numpy())
    return table


def _without_comments(lines: list[str]) -> list[str]:
    """Return lines without those on top that begin with # and are no row of names."""
    n = 0
    while n + 1 < len(lines) and lines[n].startswith(("#", "%")):
        n += 1
    if n == 1 and any(s in lines[0] and lines[0].count(s) == lines[1].count(s) for s in ",;\t"):
        return lines
    return lines[n:]


def _of_delimited(path: Path) -> Grid:
    """Return the table of a CSV or TSV file, or of one with names that `read_table` knows."""
    ending = ending_of(path.name)
    if ending in (".csv", ".tsv") and not path.name.lower().endswith(".gz") and path.is_file():
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            top = [line for _, line in zip(range(30), file, strict=False)]
        rows = _separated("".join(top))
        n = len([x for x in top if x.strip()])
        shorter = len(rows) > 2 and rows[0][:1] == [""] and '""' not in top[0][:2]
        comments = 0 < len(rows) < n or (shorter and top[0][0] not in ",;\t ")
        column = len(top) > 1 and not re.search("[,;\t]", top[0])
        if column and _DECIMALS.fullmatch("".join(top[1:])):
            lines = [line for line in _text_of(path).splitlines() if line.strip()]
            return Grid("", pd.DataFrame({lines[0].strip(): lines[1:]}, dtype=object))
        if comments or (rows and _header_rows_of_file(rows) > 1):
            text = _text_of(path)
            return Grid("", framed(_separated(text)))
        if _twins(rows[0] if rows else []):
            index = next((i for i, row in enumerate(rows[:5]) if row[0] and not any(row[1:])), 0)
            if index > 1 and all(row[0] for row in rows[:index]):  # levels of pandas, with names
                return grid_of_frame(pd.read_csv(path, header=list(range(index)), index_col=0))
            return Grid("", framed(_separated(_text_of(path))))
    try:
        table = read_table(path, missing=("",))  # a dataset may be called NA
    except DataError as error:
        rows = _of_windows(path) if isinstance(error.__cause__, UnicodeError) else []
        if not rows:
            raise
        return Grid("", framed(rows), left=("signs that are no UTF-8 (read as Windows-1252)",))
    if any(table.index.names):
        table = table.reset_index()
    elif ending in (".parquet", ".pq") and not pd.api.types.is_numeric_dtype(table.index):
        table = table.rename_axis("").reset_index()
    return Grid("", _tidy(table))


def _of_windows(path: Path) -> Rows:
    """Return the rows of a table in the signs of Windows, or in 16 bits each, as Excel saves it."""
    content = read_plain(path, MOST_JSON)
    wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    if not wide and b"\0" in content:
        return []
    return _separated(content.decode("utf-16" if wide else "cp1252", errors="replace"))


def _header_rows_of_file(rows: Rows) -> int:
    """Return the number of rows of names of a file, 1 where the first row names each column."""
    several = _twins(rows[0]) or 2 * rows[0].count("") > len(rows[0])
    if len(rows) < 4 or len({len(row) for row in rows}) > 1 or not several:
        return 1
    return _header_rows(rows)


def _twins(names: Iterable[str]) -> list[str]:
    return [name for name, times in Counter(x.strip() for x in names).items() if name and times > 1]


def _tidy(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with names as texts, without empty rows and without unnamed empty columns."""
    if table.columns.nlevels == 1:
        names = [str(name).strip() for name in table.columns]
        table = table.set_axis(["" if x.startswith("Unnamed: ") else x for x in names], axis=1)
    table = table.dropna(how="all").reset_index(drop=True)
    named = [bool("".join(map(str, x if isinstance(x, tuple) else (x,)))) for x in table.columns]
    kept = [name or table.iloc[:, i].notna().any() for i, name in enumerate(named)]
    return table.loc[:, kept]


def grid_of_frame(table: pd.DataFrame) -> Grid:
    """Return a DataFrame as a grid: levels of its index that name rows are columns.

    So are levels of its columns that number repeats or folds.
    """
    runs = [x for x in table.columns.names if x and role_of(str(x)) in ("repeat", "fold")]
    if runs and len(runs) < table.columns.nlevels:
        table = pd.DataFrame(table.stack(runs, future_stack=True))  # noqa: PD013 - of levels
    whole = table.index.nlevels == 1 and pd.api.types.is_integer_dtype(table.index)
    if any(name is not None for name in table.index.names) or not whole:
        each = enumerate(table.index.names, 1)
        names = [f"unnamed {i}" * (i > 1) if x is None else x for i, x in each]
        table = table.rename_axis(names).reset_index()
    return Grid("", _tidy(table.reset_index(drop=True)))


def _of_excel(path: Path) -> list[Grid]:
    package = {".xlsx": "openpyxl", ".xls": "xlrd", ".ods": "odf"}[path.suffix.lower()]
    need(package, extra="excel", purpose=f"A table with the ending {path.suffix.lower()}")
    try:
        sheets = pd.read_excel(path, sheet_name=None, header=None, dtype=object, na_filter=False)
    except Exception as error:  # parsers raise many types of errors on a damaged file
        why = f"cannot be read as Excel ({' '.join(str(error).split())})"
        raise DataError(f"{path}: {why}; check the file, or save the table as CSV") from error
    texts = {str(k): x.astype(object).where(x.notna(), "").astype(str) for k, x in sheets.items()}
    grids = _framed_all(x for k, t in texts.items() for x in _blocks(k, t.to_numpy().tolist()))
    if not grids:
        raise AnalysisError(f"{path}: no table in it")
    return grids


def _blocks(name: str, rows: Rows) -> Iterator[tuple[str, Rows]]:
    """Yield the heading and the rows of each table of a sheet.

    Beside or below another stands one whose first row, behind an empty row or column, has no number
    where those below it have some.
    """
    for turn in (False, True):
        lines = [*map(list, zip(*rows, strict=True))] if turn else rows
        ends = [i for i, line in enumerate(lines) if not any(line)]
        parts = [lines[a + 1 : b] for a, b in pairwise([-1, *ends, len(lines)])]
        parts = [[*map(list, zip(*x, strict=True))] if turn else x for x in parts if x]
        if len(parts) > 1 and all(map(_is_headed, parts)):
            for part in parts:
                yield from _blocks(name, part)
            return
    yield name, rows


def _is_headed(rows: Rows) -> bool:
    """Return whether rows begin with names of columns of numbers, perhaps below a title."""
    rows = [x for x in rows if len([*filter(None, x)]) > 1]
    pairs = zip(*rows[:2], strict=True) if len(rows) > 1 else ()
    heads = [head for head, x in [*pairs][1:] if _is_score(x)]
    return bool(heads) and all(head and not _is_score(head) for head in heads)


def _of_pickle(path: Path, trust: bool) -> Grid:
    if not trust:
        raise AnalysisError(f"{path}: a pickle can run code of its maker: add --trust to read it")
    content = pd.read_pickle(path)
    if isinstance(content, pd.Series):
        content = content.to_frame(content.name or "score")
    return grid_of_frame(content) if isinstance(content, pd.DataFrame) else grid_of_object(content)


def _of_json(text: str, path: Path) -> list[Grid]:
    """Return the tables in JSON: rows, a form of pandas, or values nested by names.

    Several lists of rows are tables of their own, if their rows differ in form.
    """
    try:
        lines = path.suffix.lower() == ".jsonl" or re.match(r"\{.*\}\s*\n\{", text)
        content = [strict_json(x) for x in text.splitlines() if x] if lines else strict_json(text)
    except ValueError as error:
        raise DataError(f"{path}: cannot be read as JSON ({error}); check the file") from error
    lists = {x: y for x, y in content.items() if _named_rows(y)} if type(content) is dict else {}
    if len({frozenset(rows[0]) for rows in lists.values()}) > 1:
        left = tuple(f"`{x}`" for x in content if x not in lists)
        return [Grid(x, _tidy(pd.json_normalize(y)), left=left) for x, y in lists.items()]
    return [grid_of_object(content)]


def grid_of_object(content: Any) -> Grid:
    """Return nested dictionaries and lists as a table: a row for each way to a number.

    The place in the innermost lists, if two names lead to each beside a metric, is a repeat.
    """
    if isinstance(content, dict) and isinstance(content.get("data"), list):  # "split", "table"
        table = pd.DataFrame(content["data"], content.get("index"), content.get("columns"))
        return grid_of_frame(table)
    content = _over_statistics(content, runs := list[Any]())
    content, note = _over_classes(content, found := list[Any]()), _OF_CLASSES[: len(found)]
    content = _over_folds(content, tested := dict[str, None]())
    place = "fold" if tested else "repeat"
    note = (*note, *(f"`{x}`" for x in tested))
    named = (
        [x for x, inner in content.items() if _named_rows(inner)] if type(content) is dict else []
    )
    if named:  # beside a summary and settings, for example
        note = (*note, *(f"`{x}`" for x in content if x not in named))
        each = [{"level 1": x, **row} for x in named for row in content[x]]
        content = each if len(named) > 1 else content[named[0]]
    content = _in_rows(content)
    if isinstance(content, list) and all(isinstance(row, dict) for row in content):
        lists = {x for row in content for x in row if _named_rows(row[x])}
        if len(lists) == 1:  # of each dataset, beside what describes it
            (name,) = lists
            content = [{**row, **each} for row in content for each in row.get(name, ())]
            content = [{x: cell for x, cell in row.items() if x != name} for row in content]
        return Grid("", _tidy(pd.json_normalize(content)), left=note)
    leaves = list(_leaves(content, (), listed := set[tuple[str, ...]]()))
    if leaves and all(len(way) == 1 for way, _ in leaves):  # a file of a folder
        return Grid("", pd.DataFrame([{way[0]: value for way, value in leaves}]), left=note)
    depth = Counter(len(way) for way, _ in leaves).most_common(1)
    if not depth or depth[0][0] < 2:
        raise AnalysisError("no scores of strategies on datasets in it: save them as CSV")
    n = depth[0][0]
    left = sorted({"/".join(way) for way, _ in leaves if len(way) != n})
    rows = [(*way, value) for way, value in leaves if len(way) == n]
    levels = [f"level {i}" for i in range(1, n + 1)]
    names = [all(usual_name(x) for x in level) for level in [*zip(*rows, strict=True)][: n - 1]]
    if (tested or runs or names.count(False) > 1) and all(row[: n - 1] in listed for row in rows):
        levels[-1] = place  # of two keys; beside one, places in lists may be datasets
    table = pd.DataFrame(rows, columns=[*levels, "value"])
    inner = list(dict.fromkeys(table[levels[1]]))
    if n == 2 and inner == [str(i) for i in range(len(inner))]:  # numbers of rows, of pandas
        frame = pd.DataFrame(content)
        frame = frame.rename_axis(place).reset_index() if tested else frame
        return Grid("", _tidy(frame), left=note)
    return Grid("", table, tuple(levels), (*left, *note))


def _named_rows(content: Any) -> bool:
    """Return whether content is a list of rows, each of which has a name beside its numbers."""
    rows = content if isinstance(content, list) else []
    return len(rows) > 1 and all(
        isinstance(row, dict) and any(isinstance(x, str) for x in row.values()) for row in rows
    )


def _in_rows(content: Any) -> Any:
    """Return a dictionary of rows, each of which has numbers and texts, as a list with the names.

    A text beside numbers is what was chosen, or a word for a score that failed.
    """
    if not isinstance(content, dict) or not all(type(row) is dict for row in content.values()):
        return content
    cells = [(x, cell) for row in content.values() for x, cell in row.items()]
    texts = {x for x, cell in cells if isinstance(cell, str)}
    scored = {x for x, _ in cells} - texts
    metrics = [x for x in scored if measure_in(x) or usual_name(x)]  # beside other measures
    if not _named_rows([*content.values()]) and not 1 < len(metrics) < len(scored):
        return content
    rows = [{"level 1": name, **row} for name, row in content.items()]
    same = {*map(frozenset, content.values())}
    return rows if scored and (len(same) == 1 or frozenset.intersection(*same) & texts) else content


def _over_classes(content: Any, found: list[Any]) -> Any:
    """Return content with each report of classes, as scikit-learn makes it, as its averages."""
    if isinstance(content, list):
        return [_over_classes(inner, found) for inner in content]
    if not isinstance(content, dict):
        return content
    if not isinstance(content.get("macro avg"), dict):
        return {name: _over_classes(inner, found) for name, inner in content.items()}
    found.append(content)
    each = {name: content.get(key) for key, name in _AVERAGES.items()}
    f1 = {x: y["f1-score"] for x, y in each.items() if isinstance(y, dict) and "f1-score" in y}
    return {name: x for name, x in content.items() if name == "accuracy"} | f1


def _over_statistics(content: Any, found: list[Any]) -> Any:
    """Return content with the numbers of runs, beside their mean or spread, as the runs alone."""
    if not isinstance(content, dict):
        return content
    runs = [x for x in content.values() if isinstance(x, list) and len(x) > 1]
    if len(runs) == 1 and len(content) > 1 and {*map(str.lower, map(str, content))} <= _STATISTICS:
        found.append(runs[0])
        return runs[0]
    return {name: _over_statistics(inner, found) for name, inner in content.items()}


def _over_folds(content: Any, left: dict[str, None]) -> Any:
    """Return content with each result of scikit-learn's ``cross_validate`` as its test scores.

    What else these have, times of fits at least, is added to ``left``.
    """
    if not isinstance(content, dict):
        return content
    if not {"fit_time", "score_time"} <= {*content}:
        return {name: _over_folds(inner, left) for name, inner in content.items()}
    left |= dict.fromkeys(x for x in content if not x.startswith("test_"))
    tests = {x.removeprefix("test_"): y for x, y in content.items() if x.startswith("test_")}
    return tests.get("score", tests)


def _leaves(
    content: Any, way: tuple[str, ...], listed: set[tuple[str, ...]]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each number with the way to it; ``listed`` gets the ways to lists."""
    if isinstance(content, dict):
        sizes = [len(x) for x in content.values() if isinstance(x, list)]
        for name, inner in content.items():
            alike = isinstance(inner, list) and sizes.count(len(inner)) > 1
            if alike and role_of(str(name)) in _RUNS:
                continue  # the numbers of the runs whose scores another list has
            names = name if isinstance(name, tuple) else (name,)
            yield from _leaves(inner, (*way, *map(str, names)), listed)
    elif isinstance(content, list | tuple | np.ndarray | pd.Series):
        listed.add(way)
        for i, inner in enumerate(content):
            yield from _leaves(inner, (*way, str(i)), listed)
    else:
        yield way, content


# ------------------------------------------------------------------- folders


def _of_folder(folder: Path, trust: bool) -> list[Grid]:
    """Return the rows of all files of a folder, with columns of what the names of files tell.

    Files of one column each, beside others, are a table of their own. So are those of each name, as
    of metrics and of settings, that folders have.
    """
    files = sorted(x for x in folder.rglob("*") if x.is_file() and is_form(x))
    files = [x for x in files if not x.name.startswith(".") and x.suffix.lower() not in PICKLES]
    tables: dict[Path, pd.DataFrame] = {}
    left: list[str] = []
    for file in files:
        try:
            grids = _of_run(file) or grids_of(file, trust)
        except (AnalysisError, DataError, ValueError):
            grids = []
        if len(grids) == 1 and grids[0].table.columns.nlevels == 1:
            tables[file] = grids[0].table
        else:
            left.append(file.relative_to(folder).as_posix())
    if not tables:
        raise AnalysisError(f"{folder}: no file in it has one table of results")
    named = pd.Series([*tables]).groupby([stem_of(x.name) for x in tables], sort=False).agg(list)
    each: list[list[Path]] = [x for x in named if len(x) > 1]
    heads = [{name for file in x for name in tables[file].columns} for x in each]
    alone = [file for file, table in tables.items() if table.shape[1] == 1]
    both = 1 < len(alone) < len(tables) - 1
    kinds = [alone, [x for x in tables if x not in alone]] if both else [[*tables]]
    kinds = each if any(x != heads[0] for x in heads) else kinds
    left += [x.relative_to(folder).as_posix() for x in tables if not any(x in y for y in kinds)]
    note = (f"files {some_of(left)} (not one table)",) if left else ()
    return [_together({x: tables[x] for x in kind}, folder, note) for kind in kinds]


def _of_run(path: Path) -> list[Grid]:
    """Return the row of a file in JSON that describes one run; none of any other.

    It has texts, and numbers of a known metric, perhaps in parts; lists are of its insides.
    """
    content = strict_json(_text_of(path)) if path.suffix.lower() == ".json" else None
    if type(content) is not dict or not any(isinstance(x, str) for x in content.values()):
        return []
    table = pd.json_normalize({x: y for x, y in content.items() if not isinstance(y, list)})
    scored = [x for x in map(str, table) if measure_in(x) or usual_name(x)]
    return [Grid("", table)] * bool(scored and max(x.count(".") for x in map(str, table)) < 2)


def _together(tables: dict[Path, pd.DataFrame], folder: Path, note: tuple[str, ...]) -> Grid:
    """Return the rows of files as one table, called after the end that all their names have."""
    parts = _parts_of_names([file.relative_to(folder) for file in tables])
    stems = {stem_of(file.name) for file in tables}
    ends = stems if len(stems) == 1 else {re.split(r"[_.-]", x)[-1] for x in stems}
    heads = Counter(name for table in tables.values() for name in set(table.columns))
    alone = all(table.shape[1] == 1 for table in tables.values())
    rows = []
    for table, names in zip(tables.values(), parts, strict=True):
        if alone:  # a column of runs, called after its strategy or whatever else
            column = str(table.columns[0])
            table = table.set_axis(["score"], axis=1).assign(run=range(len(table)))
            table["name of the column"] = column
        elif len(tables) > 1:
            first = table.columns[0]
            if first == "" or (heads[first] == 1 and table.iloc[:, 0].dtype == object):
                table = table.rename(columns={first: "row"})
        rows.append(table.assign(**names))
    name = ends.pop() if len(ends) == 1 and len(tables) > 1 else ""
    return Grid(name, pd.concat(rows, ignore_index=True), left=note)


def _name_of_level(level: Iterable[str], i: int) -> str:
    """Return the word that all parts of names have before a number of a run; else their place."""
    words = {re.sub(r"[\W_]*\d+$", "", x) for x in level}
    return words.pop() if len(words) == 1 and role_of(*words) in _RUNS else f"{FILE} part {i}"


def _parts_of_names(paths: list[Path]) -> list[dict[str, str]]:
    """Return for each file the parts of its name that differ between files, by column."""
    ways = [[*path.parts[:-1], stem_of(path.name)] for path in paths]
    if len({len(way) for way in ways}) > 1:
        return [{FILE: "/".join(way)} for way in ways]
    split = [[*way[:-1], *re.split(r"__|_|--", way[-1])] for way in ways]
    for pieces in (split, ways):
        if len({len(piece) for piece in pieces}) > 1:
            continue
        levels = [level for level in zip(*pieces, strict=True) if len(set(level)) > 1]
        sizes = [len(set(level)) for level in levels]
        rows = list(zip(*levels, strict=True))
        cross = len(set(rows)) == len(rows) and 2 <= len(levels) <= 3
        if cross and math.prod(sizes) == len(rows):
            names = [_name_of_level(level, i) for i, level in enumerate(levels, 1)]
            return [dict(zip(names, row, strict=True)) for row in rows]
        if len(levels) == 1 and all(size == len(ways) for size in sizes):
            return [{FILE: row[0]} for row in rows]
    return [{FILE: "/".join(way)} for way in ways]
