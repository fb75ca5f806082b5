"""Names and cells that hold two things, or half of one: metrics behind names, ``+ mixup``."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from mlaut.analysis.importers.asked import Asked
from mlaut.analysis.importers.grids.cells import WORDS, Column, columns_of, is_number, plain
from mlaut.analysis.importers.grids.columns import measure_in, near_middle
from mlaut.analysis.importers.grids.forms.grid import Grid
from mlaut.analysis.importers.grids.names import is_summary, role_of, same_metric, word_of
from mlaut.analysis.importers.grids.sheet import Sheet
from mlaut.analysis.scores.usual_names import usual_name

_MORE = re.compile(r"[+↳⤷→]|w/|with ")  # begins what is added to the row above
_BETWEEN = ("+", "__", "@", "|", " / ", "/", ":")  # two names in one
_CROSSED = 0.6  # share of pairs of names with a row
_MOST = 0.8  # of the names or cells of a column

_LONG = 200  # letters, from which a cell is a text
NO_METRIC = ("", *WORDS["scores"])  # words of a user for no metric
_CONDITION = re.compile(r"([^()]+?)\s*\(([^()]+)\)")  # behind a metric
_LIST = re.compile(r"[\w@+.-]+(?:\W{0,3}[/|]\W{0,3}[\w@+.-]+)+")

Cells = dict[int, dict[int, list[str]]]  # numbers of the cells of columns, by row
Places = dict[tuple[int, int], int]  # of the number that counts, by column and row


class _Listed(NamedTuple):
    """Metrics that a text lists, with the letters that do."""

    text: str = ""
    letters: str = ""
    metrics: tuple[str, ...] = ()


Names = dict[tuple[int, int], _Listed]  # of the numbers of each cell


def split_crossed(table: pd.DataFrame, metric: str, said: Collection[str]) -> pd.DataFrame:
    """Return a table of metrics whose only names, as ``iris+svm``, are two columns, if they cross.

    Columns that a user names stay as they are.
    """
    name = table.columns[0] if table.columns.nlevels == 1 and table.shape[1] > 1 else ""
    others = [str(x) for x in table.columns[1:]]
    inner = map(str, table.iloc[:, 1].unique()) if others[:1] == ["level 2"] else ()  # of JSON
    scored = any(same_metric(measure_in(x, metric) or x, metric) for x in (*others, *inner))
    if not (isinstance(name, str) and name and scored) or name in said:
        return table
    if role_of(name) or any(role_of(x) in ("dataset", "strategy") for x in others):
        return table
    labels = {str(x): i for i, x in enumerate(table.iloc[:, 0].unique())}
    if others[0] != "level 2" and len(labels) < len(table):
        return table
    for sign in _BETWEEN:
        parts = [x.split(sign) for x in labels]
        if len({*map(len, parts)}) > 1 or len(parts[0]) not in (2, 3) or not all(map(all, parts)):
            continue
        levels = [[x.strip() for x in level] for level in zip(*parts, strict=True)]
        sizes = [len({*x}) for x in levels]
        numbers = [any(re.fullmatch(r"[\d.,]+", x) for x in level) for level in levels]
        few = min(sizes) > 1 and max(sizes) < len(labels)  # names of three may have a size in them
        if sum(numbers) <= len(levels) - 2 and few and len(labels) > _CROSSED * np.prod(sizes):
            ends = [f"{name} before {sign}", f"{name} behind {sign}"]
            names = ends if len(levels) == 2 else [f"{name} part {i}" for i in (1, 2, 3)]
            rows = [labels[str(x)] for x in table.iloc[:, 0]]
            both = {x: np.array(y, dtype=object)[rows] for x, y in zip(names, levels, strict=True)}
            return pd.concat([pd.DataFrame(both, index=table.index), table.iloc[:, 1:]], axis=1)
    return table


def with_conditions(table: pd.DataFrame, metric: str, said: Collection[str]) -> pd.DataFrame:
    """Return a table of one metric whose first name alone has it, with conditions as names.

    So are ``Time (5k rows)``, ``20k rows`` and ``60k rows``, which differ in their numbers.
    """
    names = [str(x) for x in table.columns] if table.columns.nlevels == 1 else []
    own = [x for x in names if (way := _CONDITION.fullmatch(x)) and same_metric(way[1], metric)]
    inside = _CONDITION.sub(r"\2", own[0]) if len(own) == 1 and metric else ""
    kind = [x for x in names if re.sub(r"\d+", "", x) == re.sub(r"\d+", "", inside)]
    if len(kind) < 2 or not re.search(r"\d.*[a-zA-Z]{2}", inside) or {inside, *own} & {*said}:
        return table
    return table.rename(columns={own[0]: inside})


def split_names(g: Sheet) -> None:
    """Put the metric behind the names of rows, as in ``Higgs AUC``, into a column of its own.

    Names that have other metrics than others are those of datasets.
    """
    roles = ("", "dataset", "strategy")
    texts = [x for x in g.columns if not g.columns[x].is_number and g.roles[x] in roles]
    if not g.metric or g.named("metric") or not texts or g.asked.columns.get("score"):
        return
    labels = [str(x) for x in g.columns[texts[0]].labels()]
    both = [(x[0].strip(" -,:"), x[2].strip("()")) for x in (y.rpartition(" ") for y in labels)]
    both = [(x, y) if x and usual_name(y) else (x, "") for x, y in both]
    metrics = {y for _, y in both}
    wanted = any(same_metric(x, g.metric) for x in metrics)
    if np.mean([bool(y) for _, y in both]) < _MOST or len(metrics) < 2 or not wanted:
        return
    names = [x if y else label for (x, y), label in zip(both, labels, strict=True)]
    of = {x: frozenset(y for z, y in both if z == x) for x in names}
    if g.roles[texts[0]] == "" and len({*of.values()}) > 1:
        g.roles[texts[0]] = "dataset"
    g.columns[texts[0]] = Column(texts[0], texts=np.array(names, dtype=object))
    g.columns["metric"] = Column("metric", texts=np.array([y for _, y in both], dtype=object))
    g.roles["metric"] = "metric"


def complete_names(g: Sheet) -> None:
    """Put the name above before names like ``+ mixup``, where those repeat."""
    texts = [x for x in g.columns if not g.columns[x].is_number and g.roles[x] != "dataset"]
    labels = [str(x) for x in g.columns[texts[0]].labels()] if texts else []
    again = {x for x, n in Counter(labels).items() if n > 1}
    if not again or not all(map(_MORE.match, again)) or _MORE.match(labels[0]):
        return
    whole, above = list[str](), ""
    for label in labels:
        more = _MORE.match(label)
        above = above if more else label
        whole.append(f"{above} {label}" if more else label)
    g.columns[texts[0]] = Column(texts[0], texts=np.array(whole, dtype=object))


def split_cells(grid: Grid, asked: Asked) -> tuple[Grid, list[Asked]]:
    """Return a table with one number in each cell like ``68.1 / 78.9``, and other ways to read it.

    It is that of the wanted metric, of those that the name of the column or row lists, or a text
    around the table; or that of the place which a user names. Without a metric the first counts,
    if datasets have metrics of their own. A cell with one number is of the first metric.
    """
    cells = {i: x for i in range(1, grid.table.shape[1]) if (x := _several(grid.table.iloc[:, i]))}
    point = {i for i in cells if any("." in part for x in cells[i].values() for part in x)}
    cells = {i: x for i, x in cells.items() if i in point or not point}  # 4/8 is a setting
    if not cells:
        return grid, []
    names, first = _names(grid, cells), not asked.number and word_of(asked.metric) in NO_METRIC
    if asked.number:
        at = dict.fromkeys(names, int(asked.number) - 1)
    elif first:
        at = _first(grid, asked, names)
    else:
        each = {x: _own(listed.metrics, asked.metric) for x, listed in names.items()}
        at = {x: own[0] for x, own in each.items() if len(own) == 1}
    chosen = {i: [at.get((i, r), len(y)) < len(y) for r, y in x.items()] for i, x in cells.items()}
    cells = {i: x for i, x in cells.items() if all(chosen[i])}
    if not cells:
        return grid, []
    one = _with_one(grid, asked, cells, names, at)
    if not (first or asked.number):
        lists = [i for i, x in enumerate(_heads(grid)) if i in cells or (i and listed_metrics(x))]
        _check_rest(one, asked, [x for i, x in enumerate(_heads(one)) if i in lists])
    return one, [asked.with_columns(number="2")] * first


def listed_metrics(text: str) -> tuple[str, ...]:
    """Return the metrics that a text lists, as R@1 and R@5 of ``R@1/5``.

    Examples
    --------
    >>> listed_metrics("QA (EM/F1)"), listed_metrics("Values are `PSNR / SSIM`, of 12/20 images.")
    (('EM', 'F1'), ('PSNR', 'SSIM'))
    """
    return _listed(text).metrics


def _listed(text: str) -> _Listed:
    whole = text.rpartition("(")[2].rstrip(" )")
    for part in (*[whole] * (":" not in whole), *_LIST.findall(text)):
        each = [x.strip(" `") for x in re.split("[/|]", part)]
        ends = [re.sub(r"[^\W_]+$", "", each[0]) + x for x in each]
        found = tuple(x if usual_name(x) else y for x, y in zip(each, ends, strict=True))
        if len(found) > 1 and all(map(usual_name, found)):
            return _Listed(text, part, found)
    return _Listed(text)


def _own(metrics: Sequence[str], wanted: str) -> list[int]:
    """Return the places of the wanted metric, by that name if one has it."""
    exact = [i for i, x in enumerate(metrics) if word_of(x) == word_of(wanted)]
    return exact or [i for i, x in enumerate(metrics) if same_metric(x, wanted)]


def _heads(grid: Grid) -> list[str]:
    """Return the last level of the name of each column."""
    return [str(x[-1] if isinstance(x, tuple) else x) for x in grid.table.columns]


def _several(column: pd.Series) -> dict[int, list[str]]:
    """Return the numbers of the cells that have several, two to four in each, by row."""
    found = dict[int, list[str]]()
    for row, cell in enumerate([] if is_numeric_dtype(column) else column.tolist()):
        if isinstance(cell, str) and re.search("[/|]", cell) and re.search(r"\d", cell):
            found[row] = numbers_in(cell)
            if not found[row]:
                return {}
    sizes = {*map(len, found.values())}
    return found if len(sizes) == 1 and sizes <= {2, 3, 4} else {}


def numbers_in(cell: str) -> list[str]:
    """Return the numbers of a cell that has several, with their marks; none of any other cell."""
    if len(cell) > _LONG:
        return []
    shown, marked = re.split("[/|]", plain(cell)), re.split("(?<!<)[/|]", cell)
    if len(shown) < 2 or not all(map(is_number, shown)):
        return []
    return marked if len(marked) == len(shown) else shown


def _names(grid: Grid, cells: Cells) -> Names:
    """Return the metrics of the numbers of each cell, from names of columns or rows, or around."""
    heads = [_listed(x) for x in _heads(grid)]
    labels = [_listed(plain(x)) for x in grid.table.iloc[:, 0]]
    around = [heads[0], *map(_listed, (grid.name, *reversed(grid.above), *grid.around))]
    found = {}
    for i, rows in cells.items():
        for row, parts in rows.items():
            each = (heads[i], labels[row], *around)
            found[i, row] = next((x for x in each if len(x.metrics) == len(parts)), _Listed())
    return found


def _first(grid: Grid, asked: Asked, names: Names) -> Places:
    """Return the first place of each cell, if metrics are listed that datasets do not share.

    Raises
    ------
    QuestionError
        All cells have the same metrics.
    """
    kinds = {x.metrics for x in names.values()}
    flat = grid.table.columns.nlevels == 1
    if () in kinds or any(x.text == x.letters and flat for x in names.values()):
        return {}
    sides = _heads(grid)[1:], [*map(plain, grid.table.iloc[:, 0])]
    texts = [y for x in sides for y in x if {z.text for z in names.values()} & {*x}]
    single = [x for x in texts if not _listed(x).metrics]
    if len(kinds) == 1 and not any(usual_name(x) or measure_in(x) for x in single):
        [metrics] = kinds
        text = f"each cell has {len(metrics)} numbers ({' / '.join(metrics)}), so say which one"
        raise Sheet(grid, asked).refuse(text, *({"metric": x} for x in metrics))
    return dict.fromkeys(names, 0)


def _with_one(grid: Grid, asked: Asked, cells: Cells, names: Names, at: Places) -> Grid:
    """Return a table with the number of each cell that counts, without a mean of all numbers."""
    table, heads, left = grid.table.copy(), _heads(grid), dict[str, None]()
    rows = [*map(plain, table.iloc[:, 0])]
    places = {x.metrics: at[key] for key, x in names.items() if key[0] in cells and x.metrics}
    for i, head in enumerate(heads[1:], 1):
        parts, column = cells.get(i, {}), table.iloc[:, i].tolist()
        of_rows = {names[i, row].text for row in parts} & {*rows}
        if not of_rows and (at[i, min(parts)] if parts else places.get(listed_metrics(head))):
            column = [""] * len(column)  # single numbers are of the first metric
        for row, each in parts.items():
            column[row] = each[at[i, row]]
            rest = ", ".join(x for n, x in enumerate(names[i, row].metrics) if n != at[i, row])
            left[f"{rest or 'other numbers'} in `{head}`"] = None
        if table.iloc[:, i].tolist() != column:
            table.isetitem(i, column)
    means = _means(grid, cells)
    table = _renamed(table, {x for y in asked.columns.values() for x in y}, places)
    left |= dict.fromkeys(f"`{heads[i]}` (an average of the others)" for i in means)
    table = table.iloc[:, [i for i in range(len(heads)) if i not in means]]
    return replace(grid, table=table, left=(*grid.left, *left))


def _renamed(
    table: pd.DataFrame, said: Collection[str], places: Mapping[tuple[str, ...], int]
) -> pd.DataFrame:
    """Return a table with the metric that counts in names of columns and rows that list some."""

    def alone(text: str, other: str = "") -> str:
        listed = _listed(text)
        if listed.metrics not in places or any(x.endswith(text) for x in said):
            return other or text
        return text.replace(listed.letters, listed.metrics[places[listed.metrics]], 1)

    table.isetitem(0, [alone(plain(x), x) if isinstance(x, str) else x for x in table.iloc[:, 0]])
    if table.columns.nlevels == 1:
        return table.set_axis([table.columns[0], *map(alone, map(str, table.columns[1:]))], axis=1)
    return table.set_axis(
        pd.MultiIndex.from_tuples([(*x[:-1], alone(str(x[-1]))) for x in table.columns]), axis=1
    )


def _means(grid: Grid, cells: Cells) -> list[int]:
    """Return the only column without a metric in its name, if it is near the mean of all numbers.

    Authors mistype some.
    """
    heads, n = _heads(grid), len(grid.table)
    every = {str(i): grid.table.iloc[:, i].tolist() for i in range(1, len(heads)) if i not in cells}
    for i, rows in cells.items():
        for k in range(len(rows[min(rows)])):
            every[f"{i} {k}"] = [rows[r][k] if r in rows else "" for r in range(n)]
    sizes = [str(i) for i, x in enumerate(heads) if role_of(x) == "size"]
    columns = [x for x in columns_of(pd.DataFrame(every)) if x.is_number and not x.unit]
    columns = [x for x in columns if x.name not in sizes]
    rest = [x for x in columns if x.name.isdigit() and not measure_in(heads[int(x.name)])]
    others = [x for x in columns if x not in rest]
    return [int(x.name) for x in rest if len(rest) == 1 and near_middle(x.numbers, others)]


def _check_rest(grid: Grid, asked: Asked, split: Sequence[str]) -> None:
    """Raise an error where columns beside those of several metrics do not say which is theirs."""
    g = Sheet(grid, asked)
    split = [x for x in g.columns if x in split or x.rpartition(" / ")[2] in split]
    told = {x: measure_in(x, g.metric) for x in g.columns if x not in split and not is_summary(x)}
    told = {x: m for x, m in told.items() if g.columns[x].is_number and g.roles[x] == ""}
    rest = [x for x, m in told.items() if not same_metric(m, g.metric)]
    if not all(told[x] for x in rest) and not asked.chosen:
        unsaid = next(x for x in rest if not told[x])
        text = f"`{unsaid}` may be of another metric than {g.metric}: others name several each"
        raise g.refuse(text, {"unused": rest}, {"score": [*told, *split]})
