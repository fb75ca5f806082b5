"""Reports as text for a terminal, in which no line is longer than the terminal is wide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import Any

from mlaut.markup import printable
from mlaut.report.content import Report
from mlaut.report.records import MOST_ROWS, TEXT, ReportTable, shown_in
from mlaut.report.shown import ShownTable
from mlaut.report.state import STATE_TABLES
from mlaut.report.tables import TABLES

_WIDTH = 100  # characters of a line
_NAMES = 40  # characters of the labels of a row; longer ones take several lines
_HEADER = 10  # characters to which a header is broken, unless its cells are wider
_MOST_BLOCKS = 3  # parts of a table that stand one below the other; CSV files have all columns

_Lines = list[str]  # of a cell, all equally long


def as_text(report: Report) -> str:
    """Return the report as text for a terminal: decision, sentences, main tables, notes, state."""
    lines = [*_wrapped([report.title]), str(report.study), *_wrapped(report.state.sentences)]
    for section in report.sections:
        title = list(_wrapped([section.title]))
        lines += ["", *title, "=" * len(title[0]), "", *_wrapped(section.texts)]
        lines += [*_tables(TABLES, section), ""]
        lines += _wrapped(f"Note: {note}" for note in section.notes)
    return printable("\n".join([*lines, *_tables(STATE_TABLES, report.state)]))


def _wrapped(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from wrap(printable(text), _WIDTH) or [""]


def _tables(tables: Iterable[ReportTable], source: Any) -> Iterator[str]:
    for table, shown in shown_in(TEXT, tables, source):
        yield from ("", f"{table.name}:", *_lines_of(shown))


def _lines_of(table: ShownTable) -> Iterator[str]:
    """Yield the lines of a table; columns for which a line has no room stand below the others."""
    n_labels = len(table.labels)
    texts = zip(table.head, *table.texts[:MOST_ROWS], strict=True)
    columns = [
        _padded(column, _NAMES // n_labels if place < n_labels else _WIDTH // 2, kind == "number")
        for place, (column, (_, kind)) in enumerate(zip(texts, table.headers, strict=True))
    ]
    names, rest = columns[:n_labels], columns[n_labels:]
    room = _WIDTH - sum(map(_width, names))
    blocks = [*_split(rest, room)] or [[]]
    for place, block in enumerate(blocks[:_MOST_BLOCKS]):
        yield from [""] * (place > 0)
        yield from _side_by_side([*names, *block])
    for n, what in (
        (sum(map(len, blocks[_MOST_BLOCKS:])), "columns"),
        (len(table.rows) - MOST_ROWS, "rows"),
    ):
        if n > 0:
            yield f"... and {n} further {what}"


def _padded(texts: Sequence[str], most: int, right: bool) -> list[_Lines]:
    """Return the header and the cells of a column; its header makes it no wider than needed."""
    cells = [wrap(printable(text, ""), most) or [""] for text in texts[1:]]
    widest = max([_HEADER, *(len(line) for cell in cells for line in cell)])
    cells.insert(0, wrap(printable(texts[0], ""), widest) or [""])
    width = max(len(line) for cell in cells for line in cell)
    return [[line.rjust(width) if right else line.ljust(width) for line in cell] for cell in cells]


def _width(column: list[_Lines]) -> int:
    """Return the width of a column with the blanks between it and the next one."""
    return len(column[0][0]) + 2


def _split(columns: Sequence[list[_Lines]], room: int) -> Iterator[list[list[_Lines]]]:
    """Yield the columns in parts, each of which fits a room."""
    part: list[list[_Lines]] = []
    for column in columns:
        if part and sum(map(_width, part)) + _width(column) > room + 2:
            yield part
            part = []
        part.append(column)
    if part:
        yield part


def _side_by_side(columns: Sequence[list[_Lines]]) -> Iterator[str]:
    dashes = [["-" * (_width(column) - 2)] for column in columns]
    head, *rows = zip(*columns, strict=True)
    for row in (head, dashes, *rows):
        for line in zip_longest(*row, fillvalue=""):
            parts = (text.ljust(len(dash)) for text, (dash,) in zip(line, dashes, strict=True))
            yield "  ".join(parts).rstrip()
