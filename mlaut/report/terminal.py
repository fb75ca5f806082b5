"""Reports as text for a terminal, and the first screen, which a notebook shows too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import Any

from mlaut.markup import counted, printable, table_html
from mlaut.report.content import Report
from mlaut.report.records import MOST_ROWS, TEXT, ReportTable, Section, shown_in
from mlaut.report.shown import ShownTable, decision_caption, decision_table
from mlaut.report.state import STATE_TABLES
from mlaut.report.tables import TABLES

_WIDTH = 100  # characters of a line
_NAMES = 40  # characters of the labels of a row; longer ones take several lines
_HEADER = 10  # characters to which a header is broken, unless its cells are wider
_SCREEN = 40  # lines of the first screen
_FEWEST = 3  # rows of its table, however long the sentences are
_MOST_BLOCKS = 3  # parts of a table that stand one below the other; CSV files have all columns

_Lines = list[str]  # of a cell, all equally long


def first_screen(report: Report, most: int = _SCREEN) -> str:
    """Return the answer, its table and how sure it is, in as few lines as a screen has.

    Parameters
    ----------
    report : Report
    most : int, default 40
        Number of lines. Rows of the table are left out where it would have more.
    """
    sections = [section for section in report.sections if not section.secondary]
    lines = [*_wrapped([report.title, *report.state.warnings])]
    end = ["", "Every table and test: --format full; a page with figures: -o report.html"]
    room = (most - len(lines) - len(end)) // len(sections)
    for section in sections:
        lines += ["", *_of_section(report, section, room)]
    return printable("\n".join([*lines, *end]))


def _of_section(report: Report, section: Section, room: int) -> list[str]:
    """Return the lines of one section on the first screen, no more than there is room for."""
    lines = [*_wrapped(section.headline), *_wrapped([report.studied(section)])]
    decision = section.decision
    if decision is None:
        return lines
    below = [*_wrapped([decision_caption(decision)]), "", "How sure"]
    below += _wrapped(decision.certainty())
    n, left = len(decision.frame), room - len(lines) - len(below) - 2  # two blank lines
    table: list[str] = []
    for rows in range(min(n, max(left, _FEWEST)), 0, -1):
        table = [*_lines_of(decision_table(decision, most=rows), blocks=1)]
        table += [f"... and {n - rows} more"] * (rows < n)
        if len(table) <= left or rows <= _FEWEST:
            break
    return [*lines, "", *table, *below]


def as_notebook(report: Report) -> str:
    """Return the first screen as HTML."""
    parts = []
    for section in report.sections:
        decision, texts = section.decision, [*section.headline, report.studied(section)]
        if section.secondary:
            continue
        rows = []
        if decision is not None:
            table = decision_table(decision)
            rows = [dict(zip(table.head, row, strict=True)) for row in table.texts]
            sure = f"How sure: {' '.join(decision.certainty())}"
            texts += [decision_caption(decision), sure]
        title, *others = (" ".join(text.split()) for text in (*report.state.warnings, *texts))
        parts.append(table_html("\n".join([title, *others]), rows))
    return "".join(parts)


def as_text(report: Report) -> str:
    """Return the first screen, and below it the sentences, main tables, notes and state."""
    lines = [first_screen(report, MOST_ROWS + _SCREEN), "", str(report.study)]
    lines += _wrapped(report.state.lines)
    for section in report.sections:
        title = list(_wrapped([section.title]))
        lines += ["", *title, "=" * len(title[0]), "", *_wrapped(section.findings)]
        lines += [*_tables(TABLES, section), ""]
        lines += _wrapped(f"Note: {note}" for note in section.notes)
    return printable("\n".join([*lines, *_tables(STATE_TABLES, report.state)]))


def _wrapped(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from wrap(printable(text), _WIDTH) or [""]


def _tables(tables: Iterable[ReportTable], source: Any) -> Iterator[str]:
    for table, shown in shown_in(TEXT, tables, source):
        yield from ("", f"{table.name}:", *_lines_of(shown))


def _lines_of(table: ShownTable, blocks: int = _MOST_BLOCKS) -> Iterator[str]:
    """Yield the lines of a table; columns for which a line has no room stand below the others."""
    n_labels = len(table.labels)
    texts = zip(table.head, *table.texts[:MOST_ROWS], strict=True)
    columns = [
        _padded(column, _NAMES // n_labels if place < n_labels else _WIDTH // 2, kind == "number")
        for place, (column, (_, kind)) in enumerate(zip(texts, table.headers, strict=True))
    ]
    names, rest = columns[:n_labels], columns[n_labels:]
    room = _WIDTH - sum(map(_width, names))
    parts = [*_split(rest, room)] or [[]]
    for place, part in enumerate(parts[:blocks]):
        yield from [""] * (place > 0)
        yield from _side_by_side([*names, *part])
    lacking = sum(map(len, parts[blocks:])) if blocks > 1 else 0  # a screen has the first ones
    for n, what in ((lacking, "column"), (len(table.rows) - MOST_ROWS, "row")):
        if n > 0:
            yield f"... and {counted(n, f'further {what}')}"


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
