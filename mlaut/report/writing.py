"""Reports as text, Markdown, CSV, LaTeX and HTML.

Formats for reading round the numbers; CSV files keep them unrounded.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mlaut.analysis.comparing.methods import Methods, methods_of
from mlaut.errors import AnalysisError
from mlaut.markup import csv_text, json_text, marked, printable
from mlaut.report.content import Report
from mlaut.report.latex import as_latex
from mlaut.report.records import MOST_ROWS, TEXT, shown_in
from mlaut.report.shown import ShownTable, decision_table
from mlaut.report.state import STATE_TABLES
from mlaut.report.tables import TABLES
from mlaut.report.terminal import as_text, first_screen


def as_markdown(report: Report) -> str:
    """Return the contents of `as_text` as Markdown."""
    lines = [f"# {marked(report.title)}", "", *map(marked, report.state.warnings)]
    for section in report.sections:
        texts = (*section.headline, report.studied)
        lines += ["", f"## {marked(section.title)}", *_paragraphs(texts)]
        if section.decision is not None:
            lines += ["", *_in_markdown(decision_table(section.decision))]
            lines += ["", marked(section.decision.reading())]
            lines += ["", "### How sure", *_paragraphs(section.decision.certainty())]
        lines += ["", "### Findings", *_paragraphs(section.findings)]
        for table, shown in shown_in(TEXT, TABLES, section):
            lines += ["", f"### {table.name}", "", *_in_markdown(shown)]
        lines += ["", *(f"- {marked(note)}" for note in section.notes)]
    lines += _paragraphs(report.state.lines)
    for table, shown in shown_in(TEXT, STATE_TABLES, report.state):
        lines += ["", f"## {table.name}", "", *_in_markdown(shown)]
    return "\n".join(lines) + "\n"


def _paragraphs(texts: Iterable[str]) -> Iterator[str]:
    return (line for text in texts for line in ("", marked(text)))


def report_content(report: Report) -> dict[str, Any]:
    """Return what is decided: the first screen, and the unrounded table of each section."""
    content: dict[str, Any] = {"title": report.title, "warnings": report.state.warnings}
    content |= {"studied": report.studied, "sections": []}
    if how := [x.results.how_read for x in report.sections if x.results.how_read]:
        content["how_read"] = list(dict.fromkeys(how))
    for section in report.sections:
        shown = {"title": section.title, "headline": section.headline, "findings": section.findings}
        if section.decision is not None:
            table = section.decision.frame.reset_index()
            rows = json.loads(table.to_json(orient="records", double_precision=15))
            shown |= {"how sure": section.decision.certainty(), "strategies": rows}
        content["sections"].append(shown)
    return content


def as_json(report: Report) -> str:
    """Return `report_content` as JSON."""
    return json_text(report_content(report), indent=1)


def methods_of_report(report: Report) -> Methods:
    """Return the paragraph on methods of the primary section, with its sources.

    Raises
    ------
    AnalysisError
        Nothing is compared.
    """
    first = report.sections[0]
    if first.comparison is None or first.decision is None:
        raise AnalysisError(
            f"{report.study}: {' '.join(first.sentences)} So there are no methods to describe"
        )
    return methods_of(first.comparison, first.decision)


def as_csv(report: Report) -> str:
    """Return the summary of the first section as CSV, unrounded."""
    return csv_text(report.sections[0].tables["summary"])


def _as_html(report: Report) -> str:
    from mlaut.report.page import as_html  # matplotlib and jinja2 are slow to load

    return as_html(report)


FORMATS = {
    "text": first_screen,
    "full": as_text,
    "markdown": as_markdown,
    "csv": as_csv,
    "json": as_json,
}
_ENDINGS = {
    ".html": _as_html,
    ".md": as_markdown,
    ".tex": as_latex,
    ".csv": as_csv,
    ".json": as_json,
    ".txt": as_text,
}
_NO_NAME = re.compile(r"[^\w.+-]+")  # what no file's name has, for LaTeX and folders


def write_report(report: Report, path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write a report to a file or a folder.

    Parameters
    ----------
    report : Report
    path : path-like
        A file that ends in ``.html`` (one self-contained page), ``.md``, ``.tex`` (booktabs tables
        for a paper), ``.csv`` (the summary), ``.json`` (what is decided) or ``.txt``; or a folder,
        which receives every table as unrounded CSV, every figure as SVG and PDF, the report as
        HTML, Markdown and LaTeX with the figures, and the paragraph on methods (``methods.tex``)
        with its sources (``references.bib``).

    Returns
    -------
    tuple of Path
        Files that were written.

    Raises
    ------
    AnalysisError
        The file has another ending, or cannot be written.
    """
    path = Path(os.path.expanduser(path))
    try:
        if not path.suffix or path.is_dir():
            return tuple(_write_folder(report, path))
        if path.suffix not in _ENDINGS:
            raise AnalysisError(
                f"{path}: reports are written to {', '.join(_ENDINGS)} or a folder; "
                "change the name's ending"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, _ENDINGS[path.suffix](report))
    except OSError as error:
        raise AnalysisError(
            f"{path}: cannot be written ({error.strerror}); name another place"
        ) from error
    return (path,)


def _write_folder(report: Report, folder: Path) -> Iterator[Path]:
    from mlaut.report.drawing import figures, file_of  # matplotlib is slow to load

    folder.mkdir(parents=True, exist_ok=True)
    texts: dict[str, str] = {}
    captions: list[dict[str, str]] = []
    for section in report.sections:
        prefix = "" if len(report.sections) == 1 else f"{section.scored.metric.name} "
        for name, table in section.tables.items():
            texts[f"{_NO_NAME.sub('-', f'{prefix}{name}')}.csv"] = csv_text(table)
        captions.append({})
        for name, (figure, caption, _) in figures(section).items():
            stem = _NO_NAME.sub("-", f"{prefix}{name}")
            captions[-1][f"{stem}.pdf"] = caption
            for path in (folder / f"{stem}.svg", folder / f"{stem}.pdf"):
                _own(path).write_bytes(file_of(figure, path.suffix[1:]))
                yield path
    texts |= {f"{name}.csv": csv_text(table) for name, table in report.state.tables.items()}
    texts |= {"report.html": _as_html(report), "report.md": as_markdown(report)}
    texts["report.tex"] = as_latex(report, captions)
    if report.sections[0].decision is not None:
        methods = methods_of_report(report)
        texts |= {"methods.tex": methods.to_latex() + "\n", "references.bib": methods.to_bibtex()}
    for name, text in texts.items():
        _write(_own(folder / name), text)
        yield folder / name


def _own(path: Path) -> Path:
    """Return a path whose name MLaut chose; remove a link there, which may lead anywhere."""
    if path.is_symlink():
        path.unlink()
    return path


def _write(path: Path, text: str) -> None:
    # Lone surrogates have no UTF-8 encoding; they are written as escapes. A page has its own.
    shown = text if path.suffix == ".html" else printable(text)
    path.write_text(shown, encoding="utf-8", errors="backslashreplace")


def _in_markdown(table: ShownTable) -> Iterator[str]:
    rows = [[marked(text) for text in row] for row in (table.head, *table.texts[:MOST_ROWS])]
    aligned = ["---:" if kind == "number" else "---" for _, kind in table.headers]
    for row in (rows[0], aligned, *rows[1:]):
        yield f"| {' | '.join(row)} |"
    if len(table.rows) > MOST_ROWS:
        yield from ("", f"... and {len(table.rows) - MOST_ROWS} further rows")
