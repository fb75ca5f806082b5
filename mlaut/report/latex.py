"""Reports as LaTeX: booktabs tables for a paper."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from mlaut.analysis.common.latex import escape
from mlaut.report.content import Report
from mlaut.report.records import LATEX, shown_in
from mlaut.report.shown import ShownTable
from mlaut.report.tables import TABLES


def as_latex(report: Report, figures: Sequence[Mapping[str, str]] = ()) -> str:
    """Return the tables for a paper, of each section; sentences and notes are comments.

    Parameters
    ----------
    report : Report
    figures : sequence of mapping of str to str, optional
        For each section the captions of its figures, by the names of their files.
    """
    lines = [
        f"% {' '.join(report.title.split())}: \\input this file; it needs "
        "\\usepackage[T1]{fontenc}, {textcomp}, {booktabs}, {longtable} and {graphicx}.",
        *_comments(report.state.lines),
    ]
    partial = f" {report.state.partial}" if report.state.partial else ""
    for place, section in enumerate(report.sections, start=1):
        sure = () if section.decision is None else section.decision.certainty()
        texts = [section.title, *section.headline, report.studied, *sure]
        texts += [*section.findings, *section.notes]
        lines += ["", *_comments(texts)]
        comparison = section.comparison
        if comparison is not None and section.decision and section.decision.decided:
            lines += ["", comparison.paper_table(label=f"tab:comparison-{place}")]
        for table, shown in shown_in(LATEX, TABLES, section):
            caption = table.caption.format(rows=len(shown.rows), **section.words)
            lines += ["", *_longtable(shown, f"{section.title}. {caption.rstrip('.')}.{partial}")]
        for file, caption in figures[place - 1].items() if figures else ():
            lines += ["", *_figure(file, f"{section.title}. {caption}{partial}")]
    return "\n".join(lines) + "\n"


def _comments(texts: Iterable[str]) -> Iterator[str]:
    return (f"% {' '.join(text.split())}" for text in texts)


def _longtable(table: ShownTable, caption: str) -> list[str]:
    columns = "l" * len(table.labels) + "r" * len(table.columns)
    return [
        f"\\begin{{longtable}}{{{columns}}}",
        f"\\caption{{{escape(caption)}}}\\\\",
        "\\toprule",
        _row(table.head),
        "\\midrule",
        "\\endhead",
        *map(_row, table.texts),
        "\\bottomrule",
        "\\end{longtable}",
    ]


def _figure(file: str, caption: str) -> list[str]:
    return [
        "\\begin{figure}[htbp]",
        "\\centering",
        f"\\includegraphics[width=\\linewidth,height=0.8\\textheight,keepaspectratio]{{{file}}}",
        f"\\caption{{{escape(caption)}}}",
        "\\end{figure}",
    ]


def _row(texts: Iterable[str]) -> str:
    return " & ".join(escape(text) for text in texts) + r" \\"
