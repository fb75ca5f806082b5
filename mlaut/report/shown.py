"""Tables as text: headers and rounded numbers that are the same in every form of a report."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mlaut.analysis import Decision
from mlaut.analysis.common.display import SMALLEST_P, number
from mlaut.analysis.deciding.strips import MANY
from mlaut.analysis.deciding.verdict_table import MARK, VerdictTable
from mlaut.analysis.deciding.verdicts import AVOID, BASELINE, CONSIDERED, EQUAL, OPEN, USE, VERDICTS
from mlaut.analysis.deciding.words import probability, sizes, unit
from mlaut.analysis.results.results import Results
from mlaut.helpers.markup import beside

_FAILED = 1000.0  # times the median: no digits of the others are left beside such a number
_LARGE = 1e6  # numbers from here on have a power of ten in place of decimals
_LONG = 30  # characters; a cell with a longer text has the kind "long"
_MANY = 8  # columns; the headers of a wider table of numbers are vertical
_NUMBERS, _TRUTHS = (int, float, np.number), (bool, np.bool_)  # unions of types would be slow
COST = "costs at most"
_OPEN = 10  # rows of a group of the best, half of another; the others are folded
_SHORT = 16  # letters of a name in a header
_BELOW = ("groups", "ranks", "reason", "datasets")  # not on the first screen


@dataclass(frozen=True)
class TableColumn:
    """Column of a table: its key stays the same, whatever readers see.

    Attributes
    ----------
    key : str
        Name of the column in the table and in its CSV file.
    header : str
        What readers see above it.
    unit : str, default ""
        ``"P"`` for a probability, ``"s"`` for seconds, ``"+"`` for a difference, else empty.
    decimals : int, optional
        Decimals of all its numbers; default four significant digits of each. Of seconds, smaller
        ones are said to be smaller.
    title : str, default ""
        What the column is, where the header is too short to say it.
    long : str, default ""
        Header where there is room for several lines: on a page. Default the header.
    """

    key: str
    header: str
    unit: str = ""
    decimals: int | None = None
    title: str = ""
    long: str = ""

    def text(self, value: Any) -> str:
        """Return a value as text.

        Examples
        --------
        >>> column = TableColumn("a", "a", decimals=3)
        >>> column.text(0.5), column.text(-1e-17)
        ('0.500', '0.000')
        >>> TableColumn("P", "P", "P").text(0.002), TableColumn("s", "s", "s").text(2.0)
        ('< 0.01', '2.00')
        >>> TableColumn("s", "s", "s", 1).text(0.02), TableColumn("s", "s", "s", 1).text(12.0)
        ('< 0.1', '12.0')
        """
        as_it_is = not self.unit and self.decimals is None and type(value) is float
        if (as_it_is and value != SMALLEST_P) or not _is_number(value) or value != value:
            return number(value)  # most, of a page's hundred thousand cells
        if self.unit == "P":
            return "< 0.01" if value < 0.01 else probability(value)
        if self.unit == "s" and self.decimals is None:
            return f"{value:#.3g}" if value < 100 else number(value, 3)
        least = 10.0 ** -(self.decimals or 0)
        if self.unit == "s" and 0 < value < least / 2:
            return f"< {least:g}"
        if self.decimals is not None and abs(value) < _LARGE:
            plain = round(value, self.decimals) + 0.0  # 0 has no sign
            return f"{'+' * (self.unit == '+' and plain > 0)}{plain:.{self.decimals}f}"
        return f"< {SMALLEST_P:.1e}" if value == SMALLEST_P else number(value)


class ShownCell(NamedTuple):
    """Value of a table, and its text."""

    value: Any
    text: str

    @property
    def kind(self) -> str:
        """Kind of the cell: ``"number"``, ``"text"`` or ``"long"``."""
        if _is_number(self.value):
            return "number"
        return "long" if len(self.text) > _LONG else "text"

    @property
    def shown(self) -> str:
        """Text with a minus sign in place of a hyphen; empty where there is no number."""
        if self.kind != "number":
            return self.text
        return "" if self.text == "-" else self.text.replace("-", "\u2212")


@dataclass(frozen=True)
class ShownTable:
    """Table as text.

    Attributes
    ----------
    labels : tuple of str
        Headers of the columns that name the rows.
    columns : tuple of TableColumn
    rows : tuple of (tuple of str, tuple of ShownCell)
        Labels and cells of each row.
    """

    labels: tuple[str, ...]
    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[tuple[str, ...], tuple[ShownCell, ...]], ...]

    @classmethod
    def of(cls, frame: pd.DataFrame, known: Iterable[TableColumn] = ()) -> ShownTable:
        """Return a table as text; columns that are not known have their names as headers."""
        by_key = {column.key: column for column in known}
        names = [name if isinstance(name, str) else str(name) for name in frame.columns]
        columns = tuple(by_key.get(name) or TableColumn(name, name) for name in names)
        labels = (x if isinstance(x, tuple) else (x,) for x in frame.index)
        values = frame.to_numpy(dtype=object).T.tolist()
        made = ((x, map(c.text, x)) for c, x in zip(columns, values, strict=True))
        cells = [[*map(ShownCell._make, zip(x, texts, strict=True))] for x, texts in made]
        by_row = zip(*cells, strict=True) if cells else ((),) * len(frame)
        named = (tuple(map(str, label)) for label in labels)
        rows = tuple(zip(named, by_row, strict=True))
        return cls(tuple(str(name or "") for name in frame.index.names), columns, rows)

    def joined(self, frame: pd.DataFrame) -> ShownTable:
        """Return the table with more columns of numbers, each with its own decimals."""
        kinds = [TableColumn(str(x), str(x), "", decimals_of(frame[x])) for x in frame]
        more = ShownTable.of(frame.loc[[labels[0] for labels, _ in self.rows]], kinds)
        rows = zip(self.rows, more.rows, strict=True)
        both = tuple((labels, (*cells, *own)) for (labels, cells), (_, own) in rows)
        return ShownTable(self.labels, (*self.columns, *more.columns), both)

    @property
    def head(self) -> tuple[str, ...]:
        """Headers of all columns."""
        return (*self.labels, *(column.header for column in self.columns))

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.rows) * len(self.columns)

    @property
    def texts(self) -> list[tuple[str, ...]]:
        """Texts of each row."""
        return [(*labels, *(cell.text for cell in cells)) for labels, cells in self.rows]

    @property
    def headers(self) -> list[tuple[str, str]]:
        """Header and kind of each column, to which a page aligns the header."""
        kinds = [cell.kind for cell in self.rows[-1][1]] if self.rows else [""] * len(self.columns)
        return list(zip(self.head, [*("" for _ in self.labels), *kinds], strict=True))

    @property
    def wide(self) -> bool:
        """Return whether all cells are numbers in so many columns that the headers are vertical."""
        numbers = all(cell.kind == "number" for _, cells in self.rows for cell in cells)
        return len(self.columns) > _MANY and numbers


def _is_number(value: Any) -> bool:
    plain = type(value) is float  # most are
    return plain or (isinstance(value, _NUMBERS) and not isinstance(value, _TRUTHS))


_OWN_WORD = re.compile(r"\d+ strategies \((?:\w+, named by )?`(\w+?)s?`\)").search
_BY_TASK = {"Classification": "classifier", "Regression": "regressor"}
_OWN_WORDS = ("model", "method", "algorithm", "classifier", "regressor", "learner", "estimator")


def in_words_of(results: Results) -> Callable[[str], str]:
    """Return a function that says "strategy" as the table of the results does, if it has a word.

    Examples
    --------
    >>> from mlaut.analysis import read_results
    >>> table = pd.DataFrame({"Model": ["a", "b"], "iris": [0.9, 0.8], "wine": [0.7, 0.9]})
    >>> in_words_of(read_results(table, "accuracy"))("Strategy a is one of 2 strategies")
    'Model a is one of 2 models'
    """
    own = _OWN_WORD(results.how_read.lower())
    of_study = results.metric.task if results.load_block else None
    word = own[1] if own else _BY_TASK.get(of_study or "", "")
    if word not in _OWN_WORDS or "strateg" in " ".join(results.strategies).lower():
        return str  # names stay as they are

    def one(found: re.Match[str]) -> str:
        return (word.capitalize() if found[1] == "S" else word) + "s" * (found[2] == "ies")

    return lambda text: re.sub(r"\b([Ss])trateg(y|ies)\b(?!=)", one, text)  # `=`: a command


def decision_groups(decision: VerdictTable) -> list[tuple[str, list[str], bool]]:
    """Return title, strategies and whether to fold them, of each group of the first screen.

    Few strategies are one group, the best average rank first. Many stand by their verdicts; what is
    to be avoided is folded, and so is the rest of a long group.
    """
    verdicts = decision.frame["verdict"]
    if len(verdicts) <= MANY or decision.alone:
        return [("", list(verdicts.index), False)]
    groups = []
    for word in dict.fromkeys([*VERDICTS, *verdicts]):
        names = list(verdicts.index[verdicts == word])
        few = 0 if word == AVOID else _OPEN if word in (USE, EQUAL, OPEN) else _OPEN // 2
        open_ = few if len(names) > few + 2 or word == AVOID else len(names)
        shown, folded = names[:open_], names[open_:]
        groups += [(f"{word} ({len(names)})", shown, False)] * bool(shown)
        title = f"{word} ({len(names)})" if not shown else f"{len(folded)} more {word}"
        marked = len({*decision.fragile}.intersection(folded))
        title += f", {marked} of them {MARK}" * bool(marked)
        size = sizes(decision, folded) if folded and word != BASELINE else ""
        groups += [(title + f": {size}" * bool(size), folded, True)] * bool(folded)
    return groups


COLUMNS = tuple(TableColumn(key, **about) for key, about in beside(__file__).items())
"""Columns of a decision; words in braces are those of the decision."""


def decision_table(
    decision: VerdictTable, *, most: int = 0, below: bool = False, strips: bool = False
) -> ShownTable:
    """Return the table of a decision, as the first screen of every form shows it.

    Parameters
    ----------
    decision : VerdictTable
    most : int, optional
        Number of rows; the leader is one of them. Default: all.
    below : bool, default False
        Whether to show what stands below the first screen: reasons, P(best), letters or ranks.
    strips : bool, default False
        Whether each row has its strip, which shows the intervals of differences.
    """
    leader = decision.first[0]
    order = [name for _, names, _ in decision_groups(decision) for name in names]
    frame: Any = decision.frame.loc[order]  # its columns have several types
    frame, mean = frame.dropna(axis=1, how="all"), f"mean {decision.metric}"
    known = pd.Series(decision.bounds, dtype=float).reindex(list(decision.best)).reindex(order)
    if known.count() > 1 and known.any():
        at = next((frame.columns.get_loc(x) + 1 for x in ("difference", "ratio") if x in frame), 3)
        frame.insert(at, COST, known)
    hidden = {"tied", "lost", *(() if below else _BELOW)}
    hidden |= set() if frame["failures"].any() else {"failures"}
    hidden |= {"verdict", "average rank"} if decision.alone else set()
    hidden |= set() if below or decision.slow else {"training seconds"}
    near = frame[frame["verdict"].isin([USE, *CONSIDERED])]
    if mean in near and near[mean].isna().any():
        hidden.add(mean)  # of other datasets than those of the others
    marks = pd.Series(f" {MARK}", decision.fragile, dtype=object).reindex(order, fill_value="")
    frame["verdict"] += marks
    decimals = {name: decimals_of(frame[name]) for name in frame}
    decimals["average rank"] = max(decimals.get("average rank") or 0, 1)
    if mean in frame and "difference" in frame:
        most_decimals = max(decimals[mean] or 0, decimals["difference"] or 0)
        decimals[mean] = decimals["difference"] = most_decimals
    for low in ("low", "difference low"):
        if low in frame:
            ends = [low, low.replace("low", "high")]
            places = max(decimals.get(mean) or 0, 2)
            frame[low] = [_interval(pair, places) for pair in frame[ends].to_numpy().tolist()]
            hidden |= {ends[1], "average rank", *(() if below else ("p",))}
            hidden |= {"difference low"} if strips else set()  # the strip has it
            decimals[low], decimals["p"] = None, None
    if "won" in frame:
        counts = frame[["won", "tied", "lost"]].map("{:.0f}".format).agg("/".join, axis=1)
        frame["won"] = counts.where(frame["won"].notna(), "")
    if COST in frame:
        decimals[COST] = decimals.get("difference", decimals[COST])
    known_columns = {column.key: column for column in _columns(decision)}
    columns = [
        replace(known_columns.get(x) or TableColumn(x, x), decimals=decimals[x]) for x in frame
    ]
    frame = frame.drop(columns=list(hidden), errors="ignore")
    if most and leader and leader in frame.index[most:]:
        frame = pd.concat([frame.iloc[: most - 1], frame.loc[[leader]]])
    return ShownTable.of(frame.iloc[: most or None], columns)


def _columns(decision: VerdictTable) -> Iterator[TableColumn]:
    """Yield the columns of a decision in its words."""
    level = 1 - decision.chosen.analysis.alpha
    k = len({decision.copies_of(name) for name in decision.frame.index})
    mean = decision.frame.get(f"mean {decision.metric}", level * np.nan)
    stand_in = "with what stands in for missing results"
    partly = "blank without all results" if np.isnan(mean).any() else stand_in
    words = {
        "metric": decision.metric,
        "first": decision.first[0],
        "who": decision.first[0] if len(decision.first[0]) <= _SHORT else "the first",
        "units": unit(decision),
        "each": ", each source once" * (decision.n_sources > 0),
        "most": ": of a source, on most of its datasets" * (decision.n_sources > 0),
        "side": "higher" if decision.scorer.greater_is_better else "lower",
        "k": k,
        "copies": " (copies count as one)" * (k < len(decision.frame)),
        "ran": " of the datasets on which it ran"
        if "ran" in decision.frame
        else ""
        if decision.complete
        else f" over {unit(decision)} on which both have a result",
        "both": "" if decision.complete or "ran" in decision.frame else "; both have a result",
        "partly": "" if decision.complete else f"; {partly}",
        "last": "; each counts as last place" * decision.last,
        "chance": "to have the best average rank on more such datasets"
        if decision.sets is None
        else f"to have the best {decision.metric} on such data",
        "sure": f"{number(100 * level)} %",
    }
    for x in COLUMNS:
        texts = (text.format(**words) for text in (x.key, x.header, x.title, x.long))
        key, header, title, long = texts
        yield replace(x, key=key, header=header, title=title, long=long)


def legend(
    table: ShownTable, verdicts: Mapping[str, str]
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the verdicts and the columns of the table of a decision, each with its meaning.

    One verdict of all rows has no meaning.
    """
    told = list(verdicts.items()) if len(verdicts) > 1 else []
    return told, [(x.header, x.title) for x in table.columns if x.title]


def reading(decision: Decision, *, below: bool = False, columns: bool = True) -> str:
    """Return the legend of the table of a decision as sentences: verdicts, and its columns."""
    pairs = legend(decision_table(decision, below=below), decision.meanings())[: 1 + columns]
    return " ".join(f"{word[:1].upper()}{word[1:]}: {text}." for x in pairs for word, text in x)


def _interval(ends: list[float], places: int) -> str:
    """Return an interval as a cell: with the decimals of the means, empty where it is not known."""
    return "" if ends[0] != ends[0] else f"[{ends[0]:.{places}f}, {ends[1]:.{places}f}]"


def decimals_of(values: pd.Series) -> int | None:
    """Return the decimals with which the largest number has three digits; None for texts.

    A number above 1,000 times the median has failed: the median has three digits then.

    Examples
    --------
    >>> columns = [0.912, 0.1], [8.52, 2.0], [15.0, 1.5], [3.0, 2.0], [0.912, 0.1, 2.7e22]
    >>> [decimals_of(pd.Series(column)) for column in columns]
    [3, 2, 1, 0, 3]
    """
    if not pd.api.types.is_numeric_dtype(values):
        return None
    if not (values.dropna() % 1).any():
        return 0
    sizes = values.abs()
    typical = sizes[sizes > 0].median()
    largest = sizes.max() if sizes.max() <= _FAILED * typical else typical
    return int(np.clip(2 - np.floor(np.log10(largest)), 0, 6))
