"""Reports as one self-contained page of HTML, which needs no network and no other file."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

import jinja2
import numpy as np
import pandas as pd
from markupsafe import Markup, escape

from mlaut import __version__
from mlaut.analysis import Decision
from mlaut.analysis.common.display import SMALLEST_P, number
from mlaut.analysis.deciding.words import probability
from mlaut.report.content import Content
from mlaut.report.drawing import MOST_ROWS, Picture, pictures
from mlaut.report.explorer.payload import payload
from mlaut.report.records import PAGE, Section, Table, shown_in
from mlaut.report.state import STATE_TABLES, State
from mlaut.report.tables import TABLES

__all__ = ["as_html"]


_SHORT_NAMES = {"groups": "group", "failures": "failed"}
_DUELS = "won : lost"
_COVERAGE = ("failures", "datasets")  # columns that say nothing if every cell has a result
_LONG = 30  # characters; a cell with a longer text has the kind "long"
_MANY = 8  # columns; the headers of a wider table of numbers are vertical
_LATE = 200  # rows; a longer table in a fold is made when the fold is opened
_BETWEEN_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=_)")
_PARTS = ("statistics", "data", "state", "table", "charts", "explorer")  # in this order


@dataclass(frozen=True)
class _Cell:
    text: str
    value: str  # sort key of the column
    kind: str  # "number", "text" or "long"


@dataclass(frozen=True)
class _Table:
    labels: tuple[str, ...]  # headers of the columns that name the rows
    columns: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], tuple[_Cell, ...]], ...]

    @property
    def headers(self) -> list[tuple[str, str]]:
        """Text of each header, and the kind of its column, to which it is aligned."""
        last = [cell.kind for cell in self.rows[-1][1]] if self.rows else [""] * len(self.columns)
        return [*((name, "") for name in self.labels), *zip(self.columns, last, strict=True)]

    @property
    def wide(self) -> bool:
        """Whether all cells are numbers in so many columns that the headers are vertical."""
        numbers = all(cell.kind == "number" for _, cells in self.rows for cell in cells)
        return len(self.columns) > _MANY and numbers


@dataclass(frozen=True)
class _Late:
    """Long table, whose cells stand in the data of the page."""

    id: str
    texts: dict[str, Any]


@dataclass(frozen=True)
class _Block:
    """Table with its texts, and the pictures that follow it; the table may be missing."""

    table: _Table | _Late | None
    heading: str
    caption: str
    fold: str
    of_failures: bool
    pictures: Sequence[Picture]


@dataclass(frozen=True)
class _Part:
    section: Section
    caption: str  # of the first table
    first: Sequence[_Table]  # the short table of the decision, and the whole one if it is longer
    checks: _Table | None
    picture: Picture | None
    blocks: Sequence[_Block]


def as_html(report: Content, *, made: str = "") -> str:
    """Return the report as one page of HTML.

    Parameters
    ----------
    report : Report
    made : str
        When the page was made, as it says itself; default now.

    Returns
    -------
    str
        HTML that contains its styles, script and figures.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("mlaut.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["breakable"] = _breakable
    parts = [_part(section, f"s{place}") for place, section in enumerate(report.sections, start=1)]
    blocks = [block.table for part in parts for block in part.blocks]
    late = {table.id: table.texts for table in blocks if isinstance(table, _Late)}
    explored = any(section.decision is not None for section in report.sections)
    scripts = _scripts(explored or bool(late), explored)
    return environment.get_template("page.html").render(
        report=report,
        parts=parts,
        state=_blocks(STATE_TABLES, report.state),
        version=__version__,
        made=made or datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        explored=explored,
        data=payload(report, late),
        scripts=scripts,
        hashes=" ".join(map(_hash, scripts)),
        vendor_style=Markup(_template("vendor/uPlot.min.css")) if explored else "",
    )


def _breakable(name: str) -> Markup:
    """Return a name that a narrow page breaks between its words and not within one.

    Examples
    --------
    >>> print(_breakable("RandomForest_a<b"))
    Random<wbr>Forest_<wbr>a&lt;b
    """
    return Markup(_BETWEEN_WORDS.sub("<wbr>", str(escape(name))))


def _scripts(data: bool, explored: bool) -> list[Markup]:
    """Return the scripts of a page: the library of charts unchanged, and MLaut's own."""
    own = ["page.js", *(f"explorer/{name}.js" for name in _PARTS if data)]
    texts = ["\n".join(map(_template, own))]
    if explored:
        licence = _template("vendor/uPlot.LICENSE").strip()
        texts = [f"/*\n{licence}\n*/\n{_template('vendor/uPlot.iife.min.js')}", *texts]
    return [Markup(text) for text in texts]


def _template(name: str) -> str:
    return (files("mlaut.report") / "templates" / name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    """Return the source of a Content-Security-Policy that allows a script and no other."""
    digest = hashlib.sha256(f"\n{script}\n".encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _part(section: Section, prefix: str) -> _Part:
    comparison = section.comparison
    correction = "" if comparison is None else comparison.correction
    drawn = pictures(section, prefix)
    words = {"metric": section.scored.metric.name, "correction": correction}
    return _Part(
        section,
        "" if section.decision is None else _caption(section.decision),
        _first(section.decision),
        _checks(section.decision),
        drawn.get("decision"),
        _blocks(TABLES, section, drawn.values(), prefix=prefix, **words),
    )


def _first(decision: Decision | None) -> list[_Table]:
    """Return the table of a decision with its first rows, and with all if there are more."""
    if decision is None:
        return []
    mean = f"mean {decision.metric}"
    hidden = ["verdict", "won", "lost", *(_COVERAGE if _complete(decision) else ())]
    frame = decision.frame
    if decision.leader and mean in frame and np.isnan(frame.loc[decision.leader, mean]):
        hidden.append(mean)  # other means beside none of the leader would look best
    if "won" in frame:
        at = list(frame.columns).index("won")
        frame = frame.copy()
        frame.insert(at, _DUELS, [_duels(*pair) for pair in frame[["won", "lost"]].to_numpy()])
    frame = frame.drop(columns=hidden, errors="ignore")
    sizes = {
        "difference": f"minus {decision.leader}",
        "ratio": f"{decision.metric} / {decision.leader}",
    }
    frame = frame.rename(columns={mean: decision.metric, **_SHORT_NAMES, **sizes})
    some = frame.iloc[:MOST_ROWS]
    if decision.leader and decision.leader not in some.index:
        some = pd.concat([some.iloc[:-1], frame.loc[[decision.leader]]])
    decimals = {str(name): _decimals(frame[name]) for name in frame}

    def short(column: str, value: Any) -> str:
        """Return P(best) with two decimals, seconds with three digits, others aligned."""
        if column == "P(best)":
            return "< 0.01" if value < 0.01 else probability(value)
        places = decimals[column]
        if places is None or np.isnan(value):
            return number(value, 3)
        if column == "training seconds":
            return f"{value:#.3g}" if value < 100 else number(value, 3)
        return _aligned(value, places)

    return [_table(one, short) for one in (some, frame)[: 1 + (len(frame) > len(some))]]


def _aligned(value: float, decimals: int) -> str:
    """Return a number with so many decimals; one that is 0 with them has no sign.

    Examples
    --------
    >>> _aligned(0.5, 3), _aligned(-1e-17, 3)
    ('0.500', '0.000')
    """
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def _decimals(values: pd.Series) -> int | None:
    """Return the decimals with which the largest number has three digits; None of texts.

    Examples
    --------
    >>> [_decimals(pd.Series(x)) for x in ([0.912, 0.1], [8.52, 2.0], [15.0, 1.5], [3.0, 2.0])]
    [3, 2, 1, 0]
    """
    if not pd.api.types.is_numeric_dtype(values):
        return None
    largest = float(values.abs().max())
    whole = not (values.dropna() % 1).any()
    return 0 if whole else int(np.clip(2 - np.floor(np.log10(largest)), 0, 6))


def _duels(won: float, lost: float) -> str:
    return "" if np.isnan(won) else f"{won:.0f} : {lost:.0f}"


def _complete(decision: Decision) -> bool:
    """Return whether every strategy has a result on every dataset."""
    return bool(
        (decision.frame["failures"] == 0).all() & (decision.frame["datasets"] == decision.n).all()
    )


def _caption(decision: Decision) -> str:
    """Return the caption of the first table."""
    every = f" Each has a result on all {decision.n} datasets." if _complete(decision) else ""
    if not decision.decided:
        return f"The order is that of these datasets only.{every}"
    tied = decision.frame["average rank"].duplicated().any()
    ties = " Equal ranks are in the order of the study." if tied else ""
    return (
        "Best average rank first. Strategies that share a letter are not shown to differ: their "
        f"order may be chance.{ties}{every}"
    )


def _checks(decision: Decision | None) -> _Table | None:
    return _table(decision.checks_frame()) if decision is not None and decision.checks else None


def _blocks(
    tables: Iterable[Table],
    source: Section | State,
    drawn: Iterable[Picture] = (),
    prefix: str = "state",
    **words: str,
) -> list[_Block]:
    """Return the blocks of a page in the order of the tables; ``words`` fill the texts."""
    frames = {table.name: frame for table, frame in shown_in(PAGE, tables, source)}
    blocks = []
    for table in tables:
        frame = frames.get(table.name)
        words["rows"] = str(0 if frame is None else len(frame))
        caption = table.caption.format(**words)
        shown: _Table | _Late | None = None
        if frame is not None and table.fold and len(frame) > _LATE:
            shown = _late(frame, f"{prefix}-{table.name}", caption)
        elif frame is not None:
            shown = _table(frame)
        blocks.append(
            _Block(
                table=shown,
                heading=table.heading.format(**words),
                caption=caption,
                fold=table.fold.format(**words),
                of_failures=table.of_failures,
                pictures=[picture for picture in drawn if picture.after == table.name],
            )
        )
    return [block for block in blocks if block.table or block.pictures]


def _exact(_: str, value: Any) -> str:
    return f"< {SMALLEST_P:.1e}" if value == SMALLEST_P else number(value)


def _table(frame: pd.DataFrame, shown: Callable[[str, Any], str] = _exact) -> _Table:
    labels = tuple(str(name or "") for name in frame.index.names)
    columns = tuple(str(name) for name in frame.columns)
    rows = tuple(
        (
            _labels(label),
            tuple(_cell(x, shown(name, x)) for name, x in zip(columns, row, strict=True)),
        )
        for label, row in zip(frame.index, frame.to_numpy(dtype=object), strict=True)
    )
    return _Table(labels, columns, rows)


def _late(frame: pd.DataFrame, name: str, caption: str) -> _Late:
    labels = [str(label or "") for label in frame.index.names]
    flat = frame.reset_index(names=labels)
    texts = [[_exact("", value) for value in flat[column]] for column in flat]
    columns = [str(column) for column in frame.columns]
    return _Late(name, {"caption": caption, "labels": labels, "columns": columns, "texts": texts})


def _labels(label: Any) -> tuple[str, ...]:
    return tuple(str(part) for part in label) if isinstance(label, tuple) else (str(label),)


def _cell(value: Any, text: str) -> _Cell:
    numeric = isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)
    if numeric:
        return _Cell(text, repr(float(value)), "number")
    return _Cell(text, text, "long" if len(text) > _LONG else "text")
