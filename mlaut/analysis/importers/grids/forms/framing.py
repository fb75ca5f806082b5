"""Tables of rows of cells: which rows have names, where blocks begin, and what is filled down."""

import csv
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise, product, zip_longest

import numpy as np
import pandas as pd

from mlaut.analysis.importers.grids.cells import WORDS, plain
from mlaut.analysis.importers.grids.forms.grid import Grid
from mlaut.analysis.importers.grids.forms.markup import Printed, Rows
from mlaut.analysis.scores.usual_names import usual_name

_METRICS = ("metric", "metrics", "measure", "measures")
_PAIR = re.compile(r"\s*(.*\S)\s*[:=]\s+([+-]?\d[^\s:=]*)\s*")  # of a name and a number
_EMPTY = re.compile(r"\s*\(\s*\)")  # what brackets with an arrow leave
_TITLES = 2  # lines above a table


def framed_all(tables: Iterable[Printed]) -> list[Grid]:
    """Return the tables with at least two rows, and two columns that are not empty."""
    whole = (x._replace(rows=[row for row in x.rows if any(row)]) for x in tables)
    sized = [part for x in whole for part in _by_titles(_side_by_side(x))]
    sized = [x for x in sized if len(x.rows) > 1 and sum(map(any, zip_longest(*x.rows))) > 1]
    names = [plain(x.name) for x in sized]
    corners = [plain(x.rows[0][0]) for x in sized]  # which may tell tables of one heading apart
    pairs = zip(names, corners, strict=True)
    twins = [names.count(name) > 1 and corners.count(corner) == 1 for name, corner in pairs]
    each = zip(sized, names, corners, twins, strict=True)
    called = [(x, f"{n}: {c}".strip(": ") if twin else n) for x, n, c, twin in each]
    return [
        Grid(n, framed(_with_corner(x.rows)), above=(*map(plain, x.above),), around=x.around)
        for x, n in called
    ]


def _side_by_side(table: Printed) -> Printed:
    """Return a table with the columns that a second row of names begins, for the same rows."""
    rows = table.rows
    again = [i for i, row in enumerate(rows) if i and row[0] and row[:1] == rows[0][:1]]
    again = [i for i in again if not any(is_score(plain(x)) for x in rows[i][1:])]
    parts = [rows[start:end] for start, end in pairwise([0, *again, len(rows)])]
    names = {tuple(row[0] for row in part) for part in parts}
    twice = len({*map(tuple, (part[0] for part in parts if part))}) < len(parts)
    if len(parts) < 2 or len(names) > 1 or twice:
        return table
    each = zip(*parts, strict=True)
    return table._replace(rows=[[x[0][0], *(cell for row in x for cell in row[1:])] for x in each])


def _by_titles(table: Printed) -> list[Printed]:
    """Return the parts of a table below titles across all columns, if they have the same rows."""
    rows = [*enumerate(table.rows)][1:]
    at = [i for i, row in rows if _is_title(row) or (len(row) > 2 and row[0] and not any(row[1:]))]
    ends = pairwise([*at, len(table.rows)])
    parts = [(table.rows[start][0], table.rows[start + 1 : end]) for start, end in ends]
    names = {tuple(row[0] for row in rows) for _, rows in parts}
    if len(parts) < 2 or len(names) > 1 or not all(rows for _, rows in parts):
        return [table]
    head = table.rows[: at[0]]
    called = [f"{table.name}: {title}".removeprefix(": ") for title, _ in parts]
    return [Printed(x, [*head, *rows]) for x, (_, rows) in zip(called, parts, strict=True)]


def separated(text: str) -> Rows:
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


def paragraphs(text: str) -> Iterator[Printed]:
    """Yield the title and the rows of each paragraph of a text that is a table, as programs print.

    Its title is the line above it, in the same paragraph or in one of its own.
    """
    above = ""
    for block in re.split(r"\n\s*\n", text):
        lines = block.strip("\n").splitlines()
        for n in (0, 1):
            title, rows = lines[:n], separated("\n".join(lines[n:]))
            pairs = [*map(_PAIR.fullmatch, lines[n:])]
            if len(pairs) > 1 and all(pairs):  # such as "svm: 0.9" in each line
                rows = [["", "score"], *([x[1], x[2]] for x in pairs if x)]
            if len(rows) > 1 and len(rows[0]) > 1 and any(map(is_score, rows[1][1:])):
                yield Printed((title[0] if title else above).strip(" -=#:*"), rows)
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
    over = [i > 0 and _is_title(row) for i, row in enumerate(rows)]
    rows = [row[: 1 if title else None] for row, title in zip(rows, over, strict=True)]
    rows = [[*row, *[""] * (width - len(row))] for row in rows if any(row)]
    rows = _in_blocks(_stacked(rows))
    width = len(rows[0])
    used = [i for i in range(width) if any(row[i] for row in rows)]
    rows, width = [[row[i] for i in used] for row in rows], len(used)
    while len(rows) > 2 and width > 1 and rows[0][0] and not any(rows[0][1:]):  # a title
        rows = rows[1:]
    rows[0] = _spanning(rows)
    n = header_rows(rows)
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
    body = pd.DataFrame(rows[n:], columns=range(width), dtype=object)
    body = body.replace(r"^\s*$", None, regex=True)
    if n > 1:
        body.columns = pd.MultiIndex.from_tuples(
            [(*name, *[""] * (n - len(name))) for name in names]
        )
    else:
        body.columns = pd.Index([name[0] if name else "" for name in names])
    filled = body.notna().any().to_numpy() if len(body) else [True] * width
    body = filled_down(body.loc[:, filled].dropna(how="all").reset_index(drop=True))
    body.attrs["arrows"] = arrows  # which say whether more is better
    return body


def _is_title(row: list[str]) -> bool:
    """Return whether a row has one text in all of its cells."""
    return len(row) > 2 and len({*row}) == 1 and not is_score(plain(row[0]))


def _stacked(rows: Rows) -> Rows:
    """Return rows with the right half of columns below the left half, if names are the same."""
    used = [i for i in range(len(rows[0])) if any(row[i] for row in rows[1:])]
    for head in (0, 1):
        names = [plain(rows[head][i]) for i in used] if len(rows) > head + 2 else []
        n = len(names) // 2
        below = [[row[i] for i in used] for row in rows[head + 1 :]]
        numbers = any(is_score(plain(x)) for row in below for x in row[n : n + 1])
        if n > 1 and names[:n] == names[n:] and names[0] and not numbers:
            above = [[*row[:1], *[""] * (n - 1)] for row in rows[:head] if not any(row[1:])]
            parts = [row[:n] for row in below] + [row[n:] for row in below if row[n]]
            return [*above, names[:n], *parts] if len(above) == head else rows
    return rows


def _in_blocks(rows: Rows) -> Rows:
    """Return rows without those that repeat the first, or title those below; titles are a column.

    A title alone in its row counts where names come again below another.
    """
    titled = len(rows) > 2 and rows[0][0] and not any(rows[0][1:])
    if titled and any(rows[1][1:]) and rows[1][1:] in [row[1:] for row in rows[2:]]:
        rows = rows[1:]
    named = re.search("[a-zA-Z]{2}", " ".join(rows[0][1:]))
    again = [i for i, row in enumerate(rows) if named and row[1:] == rows[0][1:]]
    alone = [i for i, row in enumerate(rows) if row[0] and not any(row[1:])]
    names = [row[0] for i, row in enumerate(rows) if row[0] and i not in alone]
    heads = sorted({0, *again, *(alone if len(set(names)) < len(names) else ())})
    titles = [plain(rows[i][0]) for i in heads]
    n = header_rows(rows) if len(again) > 1 else 1
    same = all([x[1:] for x in rows[i : i + n]] == [x[1:] for x in rows[:n]] for i in again)
    n = n if same else 1  # rows of names, which come again
    left = sorted({*range(len(rows))} - {*heads} - {i + k for i in again for k in range(1, n)})
    below = [(rows[i], bisect_right(heads, i) - 1) for i in left]
    if len(set(titles)) == 1:
        return [*rows[:n], *(row for row, _ in below)]
    name = "metric" if any(map(usual_name, titles)) else ""
    two_heads = len(again) < 2 and rows[0][0] and len(rows) > 1 and not rows[1][0]
    name = name or "section" * bool(two_heads)  # else it would be called as the corner
    corner = "" if len(again) > 1 else rows[0][0]
    top = [[corner, name, *rows[0][1:]], *([row[0], "", *row[1:]] for row in rows[1:n])]
    return [*top, *([row[0], titles[k], *row[1:]] for row, k in below)]


def _spanning(rows: Rows) -> list[str]:
    """Return the first row, with names that stand in the middle of their columns above each."""
    row, n = rows[0], len(rows[0]) - 1
    at = [i - 1 for i, name in enumerate(row) if i and name]
    of = n // max(len(at), 1)  # columns of each
    numbers = any(is_score(plain(x[1])) for x in rows[2:])
    if len(at) < 2 or row[1] or not numbers or [i // of for i in at] != [*range(len(at))]:
        return row
    return [row[0], *(row[at[i // of] + 1] for i in range(n))] if n == of * len(at) else row


def header_rows(rows: Rows) -> int:
    """Return how many rows have names: the first, and those below it without any number."""
    first = rows[0][1:]
    several = len(set(first)) < len(first) or "" in first
    n = 1 + _is_second_head(rows)
    while n < min(3, len(rows) - 1):
        cells = [cell for cell in rows[n][1:] if cell]
        corner = plain(rows[n][0]).lower() in ("", *_METRICS, rows[0][0].lower())
        if not (several or (corner and len(cells) > 1)):
            break
        numbers = any(re.search(r"\d", plain(x)) and is_score(plain(x)) for x in cells)
        if not cells or (numbers and not (n == 1 and _tells_apart(rows))):
            break
        n += 1
    return n


def _is_second_head(rows: Rows) -> bool:
    """Return whether the second row has words, and no known one for a missing score, alone."""
    words = [plain(x).lower() for x in rows[1][1:] if x]
    known = {*WORDS["no_result"], *WORDS["failures"]}
    named = len(words) > 1 and not any(is_score(x) or x in known for x in words)
    below = all(any(is_score(plain(x)) for x in row[1:]) for row in rows[2:])
    return named and len(rows) > 3 and below


def _tells_apart(rows: Rows) -> bool:
    """Return whether whole numbers in the second row tell the repeated names of the first apart."""
    (one, *first), (two, *second), (_, *third) = rows[:3]
    pairs = set(zip(first, second, strict=True))
    whole = all(x.isdigit() for x in second) and not all(x.isdigit() for x in third)
    return one == two == "" and whole and len(set(first)) < len(pairs) == len(first)


def is_score(text: str) -> bool:
    """Return whether a cell begins with a number and has no word."""
    return bool(re.match(r"[+-]?[\d.,]*\d", text)) and not re.search(r"[a-zA-Z][a-zA-Z_]", text)


def _is_of_scores(row: list[str]) -> bool:
    """Return whether a row without a name has scores, as a title over all columns has not."""
    cells = [plain(x) for x in row if x]
    return any(map(is_score, cells)) and (row[0] == "" or (len(cells) > 1 and is_score(cells[0])))


def filled_down(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with names that stand for several rows, in its first columns, in each.

    The first has no name twice in a row, and a column after it gaps only where that before it has,
    and then numbers, as of settings, in blocks of one size.
    """
    before, names = pd.Series(data=True, index=table.index), list[str]()
    for i in range(table.shape[1] - 1 if table.shape[1] > 2 else 0):
        cells, after = table.iloc[:, i], table.iloc[:, i + 1]
        ditto = cells.isin(('"', "''", ".", "〃"))
        gaps = cells.isna() | ditto
        if not gaps.any() or gaps.iloc[0] or (gaps & ~before).any():
            break
        sizes = {*np.diff(np.flatnonzero([*~gaps, True]))}
        again = i == 0 and not ditto.any() and (cells == cells.shift()).any()
        few = again or cells.nunique() < 2 if i == 0 else _are_numbers(cells) and len(sizes) > 1
        if few or (_are_numbers(after, of=len(after)) and not ditto.any()):
            break
        table.isetitem(i, cells.mask(gaps).ffill().to_numpy())
        levels = filter(None, map(str, np.atleast_1d(np.array(table.columns[i]))))
        names, before = [*names, " / ".join(levels)], gaps
    table.attrs["filled"] = names
    return table


def _are_numbers(cells: pd.Series, of: int = 0) -> bool:
    """Return whether most cells, of those that are not empty or of a number, are scores."""
    return sum(is_score(plain(x)) for x in cells.dropna()) > (of or cells.count()) / 2


def _without_comments(lines: list[str]) -> list[str]:
    """Return lines without those on top that begin with # and are no row of names."""
    n = 0
    while n + 1 < len(lines) and lines[n].startswith(("#", "%")):
        n += 1
    if n == 1 and any(s in lines[0] and lines[0].count(s) == lines[1].count(s) for s in ",;\t"):
        return lines
    return lines[n:]
