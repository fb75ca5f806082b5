"""Reports as one self-contained page of HTML, which needs no network and no other file."""

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup, escape

from mlaut import __version__
from mlaut.helpers.markup import printable
from mlaut.report.contents import Contents
from mlaut.report.drawing import Picture, pictures
from mlaut.report.explorer.payload import payload
from mlaut.report.records import PAGE, ReportTable, Section, shown_in
from mlaut.report.screen import Screen, screen_of
from mlaut.report.shown import ShownTable
from mlaut.report.state import STATE_TABLES, State
from mlaut.report.tables import TABLES

_LATE = 2_000  # cells; a larger table is made when its part of the page is opened
_BETWEEN_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[_/])|(?<=\.)(?=[A-Za-z_])")
_WHOLE = re.compile(r"mlaut \w+ --\w+|\d{4}-\d\d-\d\d|[\d.]+ %")  # which no line breaks
_SCRIPTS = ("statistics", "data", "state", "table", "charts", "explorer")  # in this order


@dataclass(frozen=True)
class _Late:
    """Long table, whose cells stand in the data of the page."""

    id: str
    texts: dict[str, Any]


@dataclass(frozen=True)
class _PageBlock:
    """Table with its texts, and the pictures that follow it; the table may be missing."""

    table: ShownTable | _Late | None
    heading: str
    caption: str
    fold: str
    part: str
    pictures: Sequence[Picture]


@dataclass(frozen=True)
class _PagePart:
    section: Section
    screen: Screen | None
    links: Mapping[str, str]  # from each strategy to its comparison with another
    checks: ShownTable | None
    blocks: Sequence[_PageBlock]


def as_html(report: Contents, *, made: str = "") -> str:
    """Return the report as one page of HTML.

    Parameters
    ----------
    report : Contents
    made : str
        Time at which the page was made, as the page states it; default now.

    Returns
    -------
    str
        HTML that contains its styles, script and figures.
    """
    environment = environment_of("mlaut.report")
    environment.filters |= {"breakable": _breakable, "whole": _whole}
    decided = [x for x in report.sections if x.decision is not None and x.one is None]
    views = {id(section): place for place, section in enumerate(decided)}
    parts = [
        _part(section, f"s{place}", views.get(id(section), 0))
        for place, section in enumerate(report.sections, start=1)
    ]
    of_parts = [block for part in parts for block in part.blocks]
    state = _blocks(STATE_TABLES, report.state)
    late = {x.table.id: x.table.texts for x in of_parts if isinstance(x.table, _Late)}
    explored = bool(decided)
    scripts = _scripts(explored or bool(late), explored)
    return environment.get_template("page.html").render(
        report=report,
        parts=parts,
        state=state,
        told=[line for line in report.state.lines if line not in report.studied],
        failed=any(block.part == "failures" for block in (*state, *of_parts)),
        version=__version__,
        made=made or datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        explored=explored,
        data=payload(report, late),
        scripts=scripts,
        hashes=" ".join(map(source_of, scripts)),
        vendor_style=Markup(_template("vendor/uPlot.min.css")) if explored else "",
    )


def as_notebook(report: Contents) -> str:
    """Return the first screen for a notebook; empty if a section has no decision."""
    sections = [section for section in report.sections if not section.secondary]
    if any(section.decision is None for section in sections):
        return ""
    environment = environment_of("mlaut.report")
    environment.filters |= {"breakable": _breakable, "whole": _whole}
    shown = [(section, screen_of(section)) for section in sections]
    return environment.get_template("notebook.html").render(report=report, shown=shown)


def environment_of(*packages: str) -> jinja2.Environment:
    """Return an environment with the templates of packages, in which texts are never markup."""
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package) for package in packages]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda x: printable(x) if type(x) is str else x,
    )


def _breakable(name: str) -> Markup:
    """Return a name that a narrow page breaks between its words and not within one.

    Examples
    --------
    >>> print(_breakable("RandomForest_a<b"))
    Random<wbr>Forest_<wbr>a&lt;b
    """
    return _whole(Markup(_BETWEEN_WORDS.sub("<wbr>", str(escape(printable(name))))))


def _whole(text: str) -> Markup:
    """Return a text in which a number stays with its sign of percent.

    Examples
    --------
    >>> print(_whole("at most 5 % of a_b"))
    at most <span class="whole">5 %</span> of a_b
    """
    escaped = text if isinstance(text, Markup) else escape(printable(text))
    return Markup(_WHOLE.sub(r'<span class="whole">\g<0></span>', str(escaped)))


def _scripts(data: bool, explored: bool) -> list[Markup]:
    """Return the scripts of a page: the library of charts unchanged, and MLaut's own."""
    own = ["page.js", *(f"explorer/{name}.js" for name in _SCRIPTS if data)]
    texts = ["\n".join(map(_template, own))]
    if explored:
        licence = _template("vendor/uPlot.LICENSE").strip()
        texts = [f"/*\n{licence}\n*/\n{_template('vendor/uPlot.iife.min.js')}", *texts]
    return [Markup(text) for text in texts]


def _template(name: str) -> str:
    return (files("mlaut.report") / "templates" / name).read_text(encoding="utf-8")


def source_of(text: str) -> str:
    """Return the source of a Content-Security-Policy that allows a script or style and no other."""
    digest = hashlib.sha256(f"\n{text}\n".encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _part(section: Section, prefix: str, view: int) -> _PagePart:
    drawn, decision = pictures(section, prefix), section.decision
    raced = section.race.screen(section) if section.race is not None else None
    words = section.words | {"reading": ""}  # the first screen has it
    return _PagePart(
        section,
        screen_of(section) if decision else raced,
        _links(section, view) if decision and section.one is None else {},
        ShownTable.of(decision.checks_frame()) if decision and decision.checks else None,
        _blocks(TABLES, section, drawn.values(), prefix=prefix, **words),
    )


def _links(section: Section, view: int) -> dict[str, str]:
    """Return a link of each strategy that compares it with the first; of the first, the next."""
    assert section.decision is not None
    order = list(map(str, section.decision.frame.index))
    places = {name: place for place, name in enumerate(section.scored.in_order.strategies)}
    first = section.decision.first[0]
    second = next((name for name in order if name != first), first)
    pairs = {name: (name, first) if name != first else (first, second) for name in order}
    asked = f"{f'view={view}&' if view else ''}tab=compare"
    return {
        name: f"#explore?{asked}&first={places[one]}&second={places[other]}"
        for name, (one, other) in pairs.items()
    }


def _blocks(
    tables: Iterable[ReportTable],
    source: Section | State,
    drawn: Iterable[Picture] = (),
    prefix: str = "state",
    **words: str,
) -> list[_PageBlock]:
    """Return the blocks of a page in the order of the tables; ``words`` fill the texts."""
    on_page = {table.name: shown for table, shown in shown_in(PAGE, tables, source)}
    blocks = []
    for table in tables:
        shown: ShownTable | _Late | None = on_page.get(table.name)
        words["rows"] = str(len(shown.rows) if isinstance(shown, ShownTable) else 0)
        caption = table.caption.format(**words).strip()
        if isinstance(shown, ShownTable) and shown.size > _LATE:
            shown = _late(shown, f"{prefix}-{table.name}", caption)
        blocks.append(
            _PageBlock(
                table=shown,
                heading=table.heading.format(**words),
                caption=caption,
                fold=table.fold.format(**words),
                part=table.part,
                pictures=[picture for picture in drawn if picture.after == table.name],
            )
        )
    return [block for block in blocks if block.table or block.pictures]


def _late(table: ShownTable, name: str, caption: str) -> _Late:
    texts = [list(column) for column in zip(*table.texts, strict=True)]
    columns = [column.header for column in table.columns]
    data = {"caption": caption, "labels": table.labels, "columns": columns, "texts": texts}
    return _Late(name, data)
