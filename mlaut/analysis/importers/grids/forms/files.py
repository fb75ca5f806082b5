"""Grids of cells from any form: files, texts, frames, and folders of files."""

import ast
import csv
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis.importers.grids.cells import WORDS, plain
from mlaut.analysis.importers.grids.forms.framing import (
    filled_down,
    framed,
    framed_all,
    header_rows,
    is_score,
    paragraphs,
    separated,
)
from mlaut.analysis.importers.grids.forms.grid import Grid, grid_of_frame, text_of, tidy
from mlaut.analysis.importers.grids.forms.markup import (
    Printed,
    Rows,
    html_tables,
    latex_tables,
    markdown_tables,
    rst_tables,
)
from mlaut.analysis.importers.grids.forms.nested import grid_of_object, named_rows
from mlaut.analysis.importers.grids.forms.result_folders import (
    SecondHeaderError,
    tables_of_folder,
)
from mlaut.analysis.importers.grids.names import role_of
from mlaut.errors import AnalysisError, DataError
from mlaut.files_io.kinds import EXCEL, JSON, MARKUP, NOTEBOOK, PICKLES, TEXTS
from mlaut.files_io.safe_files.plain_files import MOST_JSON, check_plain, read_plain, strict_json
from mlaut.files_io.tables.tables import ending_of, read_table
from mlaut.helpers.markup import counted
from mlaut.helpers.optional import need

_TABLES_IN: dict[str, Callable[[str], Iterator[Printed]]] = {
    **dict.fromkeys((".html", ".htm"), html_tables),
    ".rst": rst_tables,
    ".tex": latex_tables,
}
_MARKUP = {ending: _TABLES_IN.get(ending, markdown_tables) for ending in MARKUP}
_KEYS = ("dataset", "strategy")
_NO_SCORES = {*WORDS["no_result"], *WORDS["failures"]}
_NAMES = 10_000  # of rows, among which a name of their column is looked for
_NUMBER = re.compile(r"[+-]?[\d.,]+(?:[eE][+-]?\d+)?%?|nan|NaN|")
_DECIMALS = re.compile(r"(\s*[+-]?\d*,\d+\s*\n?)+")  # a column of numbers with decimal commas
_JSON = re.compile(r"\s*(?:\{|\[\s*[^\sa-zA-Z!])")  # neither "[Info]" of a log nor "[![" of a badge
_LOGS = ("", ".log", ".out", ".rout")  # what programs print


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
        return tables_of_folder(path, lambda file: grids_of(file, trust))
    check_plain(path)  # a pipe or a device may never end
    suffix = path.suffix.lower()
    if suffix in EXCEL:
        return _of_excel(path)
    if suffix in PICKLES:
        return [_of_pickle(path, trust)]
    if suffix in JSON:
        return _of_json(text_of(path), path)
    if suffix == NOTEBOOK:
        return _of_text(_outputs(text_of(path)), str(path))
    if suffix in (*_MARKUP, *TEXTS, *_LOGS):
        return _of_text(text_of(path), str(path), _MARKUP.get(suffix))
    return [_of_delimited(path)]


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
    if reader is None and _JSON.match(text):
        return _of_json(text, Path(where))
    every = list(dict.fromkeys(_MARKUP.values()))
    within = [html_tables] if reader is not html_tables and "<table" in text else []
    readers = [reader, *within] if reader else every  # a page of Markdown may have tables of HTML
    grids = framed_all(found for read in readers for found in read(text))
    if reader is not None and not grids:
        grids = framed_all(found for read in every for found in read(text))
    if reader is None and not grids:
        grids = framed_all([Printed("", separated(text))]) or framed_all(paragraphs(text))
    if not grids:
        raise AnalysisError(f"{where}: no table in it: save the table as CSV")
    return grids


def _of_delimited(path: Path) -> Grid:
    """Return the table of a CSV or TSV file, or of one with names that `read_table` knows."""
    ending = ending_of(path.name)
    if ending in (".csv", ".tsv") and not path.name.lower().endswith(".gz") and path.is_file():
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            top = [line for _, line in zip(range(30), file, strict=False)]
        if _quoted_whole(top):
            return Grid("", framed(separated("\n".join(_quoted_whole(text_of(path).splitlines())))))
        rows = separated("".join(top))
        n = len([x for x in top if x.strip()])
        shorter = len(rows) > 2 and rows[0][:1] == [""] and '""' not in top[0][:2]
        comments = 0 < len(rows) < n or (shorter and top[0][0] not in ",;\t ")
        column = len(top) > 1 and not re.search("[,;\t]", top[0])
        if column and _DECIMALS.fullmatch("".join(top[1:])):
            lines = [line for line in text_of(path).splitlines() if line.strip()]
            return Grid("", pd.DataFrame({lines[0].strip(): lines[1:]}, dtype=object))
        if comments or (rows and _header_rows_of_file(rows) > 1):
            text = text_of(path)
            return Grid("", framed(separated(text)))
        if _twins(rows[0] if rows else []):
            index = next((i for i, row in enumerate(rows[:5]) if row[0] and not any(row[1:])), 0)
            if index > 1 and all(row[0] for row in rows[:index]):  # levels of pandas, with names
                return grid_of_frame(pd.read_csv(path, header=list(range(index)), index_col=0))
            return Grid("", framed(separated(text_of(path))))
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
    table = tidy(table)
    again = _further_heads(table)
    equal = again & (table == [*table]).all(axis=1).to_numpy() if again.any() else again
    if (again & ~equal).any():
        raise _second_header(path, table.loc[again & ~equal].iloc[0].tolist())
    n = int(equal.sum())
    left = (f"{counted(n, 'row')} that repeat{'s' * (n == 1)} the names of columns",) * (n > 0)
    return Grid("", filled_down(table[~equal].reset_index(drop=True)), left=left)


def _further_heads(table: pd.DataFrame) -> np.ndarray:
    """Return which rows have names of columns again: the first's, and no number where others do."""
    none = np.zeros(len(table), dtype=bool)
    texts = (
        table.select_dtypes(exclude="number") if table.columns.nlevels == 1 else table.iloc[:, :0]
    )
    if len(texts.columns) < table.shape[1] or table.shape[1] < 2:  # a column of numbers alone
        return none
    first = table.iloc[:, 0].astype(str).str.strip()
    name = str(table.columns[0]).lower()
    known = [x for x in first.unique()[:_NAMES] if x.lower() == name or role_of(x) in _KEYS]
    at = np.flatnonzero(first.isin(known))
    scored = table.iloc[:_NAMES, 1:].map(lambda x: is_score(plain(str(x)))) if len(at) else none
    for i in at.tolist() if np.any(np.mean(scored, axis=0) > 1 / 2) else ():
        cells = [str(x) for x in table.iloc[i].tolist()[1:] if isinstance(x, str)]
        none[i] = len(cells) > 0 and not any(is_score(x) or x.lower() in _NO_SCORES for x in cells)
    return none


def _second_header(path: Path, names: Sequence[object]) -> SecondHeaderError:
    """Return the error about a file in which another table begins, with its line."""
    own = [str(x) for x in names if isinstance(x, str)]
    lines = enumerate(text_of(path).splitlines(), 1)
    line = next((n for n, x in lines if n > 1 and all(name in x for name in own)), 0)
    text = f"{path}: line {line} is a second header ({', '.join(own)}), so it has two tables"
    return SecondHeaderError(f"{text}: save each as a file of its own")


def _quoted_whole(lines: Sequence[str]) -> list[str]:
    """Return lines below names without the quotation marks around each of them; none of others."""
    rest = [line.strip() for line in lines[1:] if line.strip()]
    cells = [*csv.reader(rest)] if rest and "," in lines[0] and lines[0][:1] != '"' else []
    alone = bool(cells) and all(len(row) == 1 and "," in row[0] for row in cells)
    return [lines[0].strip(), *(row[0] for row in cells)] if alone else []


def _of_windows(path: Path) -> Rows:
    """Return the rows of a table in the signs of Windows, or in 16 bits each, as Excel saves it."""
    content = read_plain(path, MOST_JSON)
    wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    if not wide and b"\0" in content:
        return []
    return separated(content.decode("utf-16" if wide else "cp1252", errors="replace"))


def _header_rows_of_file(rows: Rows) -> int:
    """Return the number of rows of names of a file, 1 where the first row names each column."""
    several = _twins(rows[0]) or 2 * rows[0].count("") > len(rows[0])
    if len(rows) < 4 or len({len(row) for row in rows}) > 1 or not several:
        return 1
    return header_rows(rows)


def _twins(names: Iterable[str]) -> list[str]:
    return [name for name, times in Counter(x.strip() for x in names).items() if name and times > 1]


def _of_excel(path: Path) -> list[Grid]:
    package = {".xlsx": "openpyxl", ".xls": "xlrd", ".ods": "odf"}[path.suffix.lower()]
    need(package, extra="excel", purpose=f"A table with the ending {path.suffix.lower()}")
    try:
        sheets = pd.read_excel(path, sheet_name=None, header=None, dtype=object, na_filter=False)
    except Exception as error:  # parsers raise many types of errors on a damaged file
        why = f"cannot be read as Excel ({' '.join(str(error).split())})"
        raise DataError(f"{path}: {why}; check the file, or save the table as CSV") from error
    texts = {str(k): x.astype(object).where(x.notna(), "").astype(str) for k, x in sheets.items()}
    grids = framed_all(x for k, t in texts.items() for x in _blocks(k, t.to_numpy().tolist()))
    if not grids:
        raise AnalysisError(f"{path}: no table in it")
    return grids


def _blocks(name: str, rows: Rows) -> Iterator[Printed]:
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
    yield Printed(name, rows)


def _is_headed(rows: Rows) -> bool:
    """Return whether rows begin with names of columns of numbers, perhaps below a title."""
    rows = [x for x in rows if len([*filter(None, x)]) > 1]
    pairs = zip(*rows[:2], strict=True) if len(rows) > 1 else ()
    heads = [head for head, x in [*pairs][1:] if is_score(x)]
    return bool(heads) and all(head and not is_score(head) for head in heads)


def _of_pickle(path: Path, trust: bool) -> Grid:
    if not trust:
        raise AnalysisError(f"{path}: a pickle can run code of its maker: add --trust to read it")
    content = pd.read_pickle(path)
    if isinstance(content, pd.Series):
        content = content.to_frame(content.name or "score")
    return grid_of_frame(content) if isinstance(content, pd.DataFrame) else grid_of_object(content)


def _of_python(text: str) -> Any:
    """Return the value that Python has printed; raise an error if a key comes twice."""
    tree = ast.parse(text.strip(), mode="eval")
    for node in ast.walk(tree):
        keys = [ast.dump(x) for x in node.keys if x] if isinstance(node, ast.Dict) else []
        if len({*keys}) < len(keys):
            raise ValueError("a key comes twice")
    return ast.literal_eval(tree)


def _of_json(text: str, path: Path) -> list[Grid]:
    """Return the tables in JSON: rows, a form of pandas, or values nested by names.

    Several lists of rows are tables of their own, if their rows differ in form.
    """
    try:
        lines = path.suffix.lower() == ".jsonl" or re.match(r"\{.*\}\s*\n\{", text)
        content = [strict_json(x) for x in text.splitlines() if x] if lines else strict_json(text)
    except ValueError as error:
        try:
            content = _of_python(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            raise DataError(f"{path}: cannot be read as JSON ({error}); check the file") from error
    lists = {x: y for x, y in content.items() if named_rows(y)} if type(content) is dict else {}
    if len({frozenset(rows[0]) for rows in lists.values()}) > 1:
        left = tuple(f"`{x}`" for x in content if x not in lists)
        return [Grid(x, tidy(pd.json_normalize(y)), left=left) for x, y in lists.items()]
    return [grid_of_object(content)]
