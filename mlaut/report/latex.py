"""Reports as LaTeX: booktabs tables for a paper."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from mlaut.analysis.common.display import number
from mlaut.report.content import Content
from mlaut.report.tables import pair_table

__all__ = ["as_latex", "escape"]

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
}


def escape(text: str) -> str:
    r"""Escape text so that LaTeX prints it literally.

    Examples
    --------
    >>> print(escape("K_Neighbours: 50 % of $x^2$"))
    K\_Neighbours: 50 \% of \$x\textasciicircum{}2\$
    """
    return "".join(_SPECIAL.get(sign, sign) for sign in " ".join(text.split()))


def as_latex(report: Content) -> str:
    """Return each section's summary and table of pairs; sentences and notes are comments."""
    lines = [
        f"% {' '.join(report.study.name.split())}: \\input this file; it needs "
        "\\usepackage[T1]{fontenc}, {textcomp}, {booktabs} and {longtable}.",
        *_comments(report.state.lines),
    ]
    for section in report.sections:
        lines += ["", *_comments([section.title, *section.sentences, *section.notes])]
        lines += _longtable(
            section.tables["summary"], f"{section.title}: summary, best first.{_partial(report)}"
        )
        if section.comparison is not None:
            correction = section.comparison.correction
            caption = (
                f"{section.title}: all pairs, p-values after the {correction} correction, except "
                f"Nemenyi's, scenario (c).{_partial(report)}"
            )
            lines += ["", *_longtable(pair_table(section.comparison), caption)]
    return "\n".join(lines) + "\n"


def _partial(report: Content) -> str:
    return f" {report.state.partial}" if report.state.partial else ""


def _comments(texts: list[str] | tuple[str, ...]) -> Iterator[str]:
    return (f"% {' '.join(text.split())}" for text in texts)


def _longtable(table: pd.DataFrame, caption: str) -> list[str]:
    labels = [str(name or "") for name in table.index.names]
    head = [*labels, *map(str, table.columns)]
    body = [
        [*(label if isinstance(label, tuple) else (label,)), *row]
        for label, row in zip(table.index, table.to_numpy(dtype=object), strict=True)
    ]
    columns = "l" * len(labels) + "r" * table.shape[1]
    return [
        f"\\begin{{longtable}}{{{columns}}}",
        f"\\caption{{{escape(caption)}}}\\\\",
        "\\toprule",
        _row(head),
        "\\midrule",
        "\\endhead",
        *(_row([number(value) for value in row]) for row in body),
        "\\bottomrule",
        "\\end{longtable}",
    ]


def _row(texts: list[str]) -> str:
    return " & ".join(escape(text) for text in texts) + r" \\"
