"""Reports as text for a terminal: the first screen, and all of it."""

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from textwrap import wrap
from typing import Any

from tabulate import tabulate

from mlaut.analysis.deciding.decision import Decision
from mlaut.analysis.deciding.verdicts import VERDICTS
from mlaut.helpers.markup import counted, printable
from mlaut.report.contents import Contents
from mlaut.report.records import MOST_ROWS, TEXT, ReportTable, Section, shown_in
from mlaut.report.shown import ShownTable, decision_table, in_words_of, reading
from mlaut.report.state import STATE_TABLES
from mlaut.report.tables import TABLES

_WIDTH = 100  # characters of a line
_NAMES = 40  # characters of the labels of a row; longer ones take several lines
_HEADER = 10  # characters to which a header is broken, unless its cells are wider
_SCREEN = 40  # lines of the first screen
_MORE = 4  # names of columns for which there is no room; of more, only the number is told
_COLUMNS = "What the columns mean: --format full."
_PARTS = re.compile(r".+?(?:(?<=[a-z\d])(?=[A-Z])|(?<=[\s_/-])|$)")  # of a name: Random Forest
_FEWEST = 3  # rows of its table, however long the sentences are


def first_screen(report: Contents, most: int = _SCREEN) -> str:
    """Return the answer, its table and how sure it is, in as few lines as a screen has.

    Parameters
    ----------
    report : Contents
    most : int, default 40
        Number of lines. Rows of the table are left out where it would have more.
    """
    sections = [section for section in report.sections if not section.secondary]
    lines = [*wrapped([report.title, *report.state.warnings])]
    end = ["", "Every table and test: --format full; a page with figures: -o report.html"]
    room = (most - len(lines) - len(end)) // len(sections)
    for section in sections:
        say = in_words_of(section.results)
        lines += ["", *map(say, _of_section(report, section, room))]
    return printable("\n".join([*lines, *end]))


def _of_section(report: Contents, section: Section, room: int) -> list[str]:
    """Return the lines of one section on the first screen, no more than there is room for."""
    lines = [*wrapped(section.headline), *wrapped([report.studied])]
    decision = section.decision
    if decision is None:
        return lines
    n, table, below = len(decision.frame), list[str](), list[str]()
    for columns in (True, False):  # rows count more than what their columns mean
        legend = [reading(decision, columns=columns), *[_COLUMNS] * (not columns)]
        below = [*wrapped([" ".join(filter(None, legend))])]
        if sure := decision.certainty():
            below += ["", "How sure", *wrapped(sure)]
        space = room - len(lines) - len(below) - 2  # two blank lines
        if not columns or n < space:
            table, shown = _rows_within(section, decision, space)
            if len(table) <= space and shown == n:
                break
    return [*lines, "", *table, *below]


def _rows_within(section: Section, decision: Decision, space: int) -> tuple[list[str], int]:
    """Return the lines of the table with as many rows as have room, and their number."""
    n, table, rows = len(decision.frame), list[str](), 0
    for rows in range(min(n, max(space, _FEWEST)), 0, -1):
        shown = decision_table(decision, most=rows)
        shown = replace(shown, labels=tuple(map(in_words_of(section.results), shown.labels)))
        hidden = decision.frame["verdict"].drop([labels[0] for labels, _ in shown.rows])
        counts = [f"{sum(hidden == word)} {word}" for word in VERDICTS if word in set(hidden)]
        table = [*lines_of(shown)]
        table += [f"... and {len(hidden)} more: {', '.join(counts)}"] * (rows < n)
        if len(table) <= space or rows <= _FEWEST:
            break
    return table, rows


def as_text(report: Contents) -> str:
    """Return the first screen, and below it the sentences, main tables, notes and state."""
    lines = [first_screen(report, MOST_ROWS + _SCREEN), "", str(report.study)]
    lines += wrapped(report.state.lines)
    for section in report.sections:
        title = list(wrapped([section.title]))
        lines += ["", *title, "=" * len(title[0]), "", *wrapped(section.findings)]
        lines += [*_tables(TABLES, section), ""]
        lines += wrapped(f"Note: {note}" for note in section.notes)
    return printable("\n".join([*lines, *_tables(STATE_TABLES, report.state)]))


def wrapped(texts: Iterable[str]) -> Iterator[str]:
    """Yield the lines of texts, no longer than a terminal is wide."""
    for text in texts:
        yield from wrap(printable(text), _WIDTH, break_on_hyphens=False) or [""]


def _tables(tables: Iterable[ReportTable], source: Any) -> Iterator[str]:
    for table, shown in shown_in(TEXT, tables, source):
        yield from ("", f"{table.name}:", *lines_of(shown))


def lines_of(table: ShownTable) -> Iterator[str]:
    """Yield the lines of a table, and the names of the columns for which there is no room."""
    for labels in (_NAMES, _NAMES // 2):
        columns = _columns_of(table, labels // len(table.labels))
        ends = list(itertools.accumulate(len(column[1]) + 2 for column in columns))
        if ends[-1] - 2 <= _WIDTH:
            break
    fit = max(sum(end - 2 <= _WIDTH for end in ends), len(table.labels))
    sides = ["right" if kind == "number" else "left" for _, kind in table.headers[:fit]]
    rows = zip(*columns[:fit], strict=True)
    lines = tabulate(rows, tablefmt="plain", colalign=sides, disable_numparse=True).splitlines()
    yield from (line.rstrip() for line in lines)
    if more := table.head[fit:]:
        names = f": {', '.join(more)}" if len(more) <= _MORE else ""
        yield from wrapped([f"... and {counted(len(more), 'further column')}{names}"])
    if (n := len(table.rows) - MOST_ROWS) > 0:
        yield f"... and {counted(n, 'further row')}"


def _columns_of(table: ShownTable, most: int) -> list[list[str]]:
    """Return the cells of each column, broken into lines; labels have at most ``most`` letters."""
    columns = []
    for place, texts in enumerate(zip(table.head, *table.texts[:MOST_ROWS], strict=True)):
        wide = most if place < len(table.labels) else _WIDTH // 2
        cells = ["\n".join(_broken(printable(text, ""), wide)) for text in texts[1:]]
        widest = max([_HEADER, *(len(line) for cell in cells for line in cell.split("\n"))])
        header = printable(texts[0], "")
        cells.insert(0, "\n".join(wrap(header, widest, break_long_words=len(header) > _NAMES)))
        width = max(len(line) for cell in cells for line in cell.split("\n"))
        columns.append([cells[0], "-" * width, *cells[1:]])
    return columns


def _broken(text: str, most: int) -> Iterator[str]:
    """Yield the lines of a cell: a long name breaks where a part of it ends, if it has some."""
    line = ""
    for part in _PARTS.findall(text):
        if len(line + part.rstrip()) > most:
            yield from wrap(line, most)
            line = ""
        line += part
    yield from wrap(line, most)
