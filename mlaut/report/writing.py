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
from mlaut.analysis.comparing.one_comparison import methods_of_one
from mlaut.analysis.deciding.one_decision import OneDecision
from mlaut.errors import AnalysisError
from mlaut.files_io.safe_files.plain_files import write_file, write_files
from mlaut.helpers.markup import csv_text, json_text, marked, printable
from mlaut.report.content import Report
from mlaut.report.latex import as_latex
from mlaut.report.records import MOST_ROWS, TEXT, shown_in
from mlaut.report.shown import COST, ShownTable, decision_table, reading
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
            lines += ["", *in_markdown(decision_table(section.decision))]
            lines += ["", marked(reading(section.decision))]
            if sure := section.decision.certainty():
                lines += ["", "### How sure", *_paragraphs(sure)]
        lines += ["", "### Findings", *_paragraphs(section.findings)]
        for table, shown in shown_in(TEXT, TABLES, section):
            lines += ["", f"### {table.name}", "", *in_markdown(shown)]
        lines += ["", *(f"- {marked(note)}" for note in section.notes)]
    lines += _paragraphs(report.state.lines)
    for table, shown in shown_in(TEXT, STATE_TABLES, report.state):
        lines += ["", f"## {table.name}", "", *in_markdown(shown)]
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
            table, bounds = section.decision.frame.reset_index(), section.decision.bounds
            if costs := {name: bounds[name] for name in section.decision.best if name in bounds}:
                table[COST] = table["strategy"].map(costs)
            rows = json.loads(table.to_json(orient="records", double_precision=15))
            shown |= {"what next": [step.text for step in section.decision.steps()]}
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
    if isinstance(first.decision, OneDecision):
        return methods_of_one(first.decision)
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
        The file has another ending.
    StoreError
        The report cannot be written; what was there before is as it was.
    """
    path = Path(os.path.expanduser(path))
    if not path.suffix or path.is_dir():
        return write_files(path, _files_of_folder(report))
    if path.suffix not in _ENDINGS:
        raise AnalysisError(
            f"{path}: reports are written to {', '.join(_ENDINGS)} or a folder; "
            "change the name's ending"
        )
    return (write_file(path, _shown(path.name, _ENDINGS[path.suffix](report))),)


def _files_of_folder(report: Report) -> Iterator[tuple[str, str | bytes]]:
    from mlaut.report.drawing import figures, file_of  # matplotlib is slow to load

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
            yield from ((f"{stem}.{form}", file_of(figure, form)) for form in ("svg", "pdf"))
    texts |= {f"{name}.csv": csv_text(table) for name, table in report.state.tables.items()}
    texts |= {"report.html": _as_html(report), "report.md": as_markdown(report)}
    texts["report.tex"] = as_latex(report, captions)
    if report.sections[0].decision is not None:
        methods = methods_of_report(report)
        texts |= {"methods.tex": methods.to_latex() + "\n", "references.bib": methods.to_bibtex()}
    yield from ((name, _shown(name, text)) for name, text in texts.items())


def _shown(name: str, text: str) -> str:
    """Return a text without control characters; a page has its own escapes."""
    return text if name.endswith(".html") else printable(text)


def in_markdown(table: ShownTable) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    rows = [[marked(text) for text in row] for row in (table.head, *table.texts[:MOST_ROWS])]
    aligned = ["---:" if kind == "number" else "---" for _, kind in table.headers]
    for row in (rows[0], aligned, *rows[1:]):
        yield f"| {' | '.join(row)} |"
    if len(table.rows) > MOST_ROWS:
        yield from ("", f"... and {len(table.rows) - MOST_ROWS} further rows")
