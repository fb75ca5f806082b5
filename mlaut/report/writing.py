"""Reports as text, Markdown, CSV, LaTeX and HTML.

They are rounded where they are read, never where they are stored.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from mlaut.analysis.shown import number
from mlaut.errors import AnalysisError
from mlaut.report.content import Report, Section
from mlaut.report.latex import as_latex

__all__ = ["as_markdown", "as_text", "write_report"]

_READ = ("summary", "losses", "missing cells")
_MOST_ROWS = 60


def as_text(report: Report) -> str:
    """Give what one reads first, with tables for a terminal."""
    lines = [str(report.study), *_state(report)]
    for name, table in _failures(report):
        lines += ["", f"{name}:", _tabulate(table, "simple")]
    for section in report.sections:
        lines += ["", section.title, "=" * len(section.title), "", *section.sentences]
        for name, table in _read_tables(section):
            lines += ["", f"{name}:", _tabulate(table, "simple")]
        lines += ["", *(f"Note: {note}" for note in section.notes)]
    return "\n".join(lines)


def as_markdown(report: Report) -> str:
    """Give the same as Markdown."""
    lines = [f"# {report.study.name}", "", *_state(report)]
    for name, table in _failures(report):
        lines += ["", f"## {name}", "", _tabulate(table, "github")]
    for section in report.sections:
        lines += ["", f"## {section.title}", "", *section.sentences]
        for name, table in _read_tables(section):
            lines += ["", f"### {name}", "", _tabulate(table, "github")]
        lines += ["", *(f"- {note}" for note in section.notes)]
    return "\n".join(lines) + "\n"


def as_csv(report: Report) -> str:
    """Give the summary of the first section as CSV, unrounded."""
    return report.sections[0].tables["summary"].to_csv()


def _as_html(report: Report) -> str:
    from mlaut.report.page import as_html  # matplotlib and jinja2 are slow to load

    return as_html(report)


FORMATS = {"text": as_text, "markdown": as_markdown, "csv": as_csv}
_ENDINGS = {
    ".html": _as_html,
    ".md": as_markdown,
    ".tex": as_latex,
    ".csv": as_csv,
    ".txt": as_text,
}
_IN_A_FOLDER = ("report.html", "report.md", "report.tex")


def write_report(report: Report, path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write a report.

    Parameters
    ----------
    report : Report
    path : path-like
        A file that ends in ``.html`` (one page that needs nothing else), ``.md``, ``.tex``
        (booktabs tables for a paper), ``.csv`` (the summary) or ``.txt``; or a folder, which gets
        every table as CSV, unrounded, and the report as HTML, Markdown and LaTeX.

    Returns
    -------
    tuple of Path
        What was written.

    Raises
    ------
    AnalysisError
        The file has another ending, or cannot be written.
    """
    path = Path(path)
    try:
        if not path.suffix or path.is_dir():
            return tuple(_write_folder(report, path))
        if path.suffix not in _ENDINGS:
            raise AnalysisError(
                f"{path}: reports are written to {', '.join(_ENDINGS)} or a folder; "
                "change the name's ending"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_ENDINGS[path.suffix](report), encoding="utf-8")
    except OSError as error:
        raise AnalysisError(
            f"{path}: cannot be written ({error.strerror}); name another place"
        ) from error
    return (path,)


def _write_folder(report: Report, folder: Path) -> Iterator[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for section in report.sections:
        prefix = "" if len(report.sections) == 1 else section.title.split()[0] + "-"
        for name, table in section.tables.items():
            path = folder / f"{prefix}{name.replace(' ', '-')}.csv"
            table.to_csv(path)
            yield path
    for name, table in report.state.tables.items():
        path = folder / f"{name}.csv"
        table.to_csv(path)
        yield path
    for name in _IN_A_FOLDER:
        path = folder / name
        path.write_text(_ENDINGS[path.suffix](report), encoding="utf-8")
        yield path


def _state(report: Report) -> tuple[str, ...]:
    return (*report.state.lines, *([report.state.partial] if report.state.partial else []))


def _failures(report: Report) -> Iterator[tuple[str, pd.DataFrame]]:
    if "failures" in report.state.tables:
        yield "failures", report.state.tables["failures"]


def _read_tables(section: Section) -> Iterator[tuple[str, pd.DataFrame]]:
    for name in _READ:
        if name in section.tables:
            yield name, section.tables[name]


def _tabulate(table: pd.DataFrame, form: str) -> str:
    from tabulate import tabulate

    shown = table.iloc[:_MOST_ROWS].map(number).astype(str)
    text = tabulate(
        shown.reset_index().to_numpy().tolist(),
        headers=[str(name or "") for name in [*table.index.names, *table.columns]],
        tablefmt=form,
        disable_numparse=True,
    )
    more = len(table) - _MOST_ROWS
    return text + (f"\n... and {more} further rows" if more > 0 else "")
