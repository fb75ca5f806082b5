"""Reports as LaTeX: booktabs tables for a paper."""

from collections.abc import Mapping, Sequence
from typing import Any

from mlaut.analysis.common.latex import escape
from mlaut.report.content import Report
from mlaut.report.records import LATEX, Section, shown_in
from mlaut.report.tables import TABLES

# LaTeX has braces and signs of percent of its own.
_MARKS: dict[str, Any] = {"block_start_string": "<%", "block_end_string": "%>"}
_MARKS |= {"variable_start_string": "<<", "variable_end_string": ">>"}
_MARKS |= {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}


def as_latex(report: Report, figures: Sequence[Mapping[str, str]] = ()) -> str:
    """Return the tables for a paper, of each section; sentences and notes are comments.

    Parameters
    ----------
    report : Report
    figures : sequence of mapping of str to str, optional
        For each section the captions of its figures, by the names of their files.
    """
    import jinja2  # slow to load

    environment = jinja2.Environment(loader=jinja2.PackageLoader("mlaut.report"), **_MARKS)
    environment.filters |= {"tex": escape, "line": lambda text: " ".join(text.split())}
    parts = [
        _part(report, section, f"tab:comparison-{place}", figures[place - 1] if figures else {})
        for place, section in enumerate(report.sections, start=1)
    ]
    template = environment.get_template("report.tex")
    return template.render(title=report.title, lines=report.state.lines, parts=parts)


def _part(
    report: Report, section: Section, label: str, figures: Mapping[str, str]
) -> dict[str, Any]:
    decision, comparison = section.decision, section.comparison
    partial = f" {report.state.partial}" if report.state.partial else ""
    sure = () if decision is None else decision.certainty()
    texts = [section.title, *section.headline, report.studied, *sure]
    decided = comparison is not None and decision is not None and decision.decided
    tables = []
    for table, shown in shown_in(LATEX, TABLES, section):
        caption = table.caption.format(rows=len(shown.rows), **section.words).rstrip(".")
        tables.append((f"{section.title}. {caption}.{partial}", shown))
    return {
        "texts": [*texts, *section.findings, *section.notes],
        "paper": comparison.paper_table(label=label) if comparison and decided else "",
        "tables": tables,
        "figures": [(x, f"{section.title}. {text}{partial}") for x, text in figures.items()],
    }
