"""What is shown: tables in a notebook, for all that is no result; and text for a terminal."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["printable", "table_html"]

_MAX_ROWS = 20
# Control characters, those that change the direction of writing, separators of lines, and halves of
# characters (categories of Unicode).
_UNSEEN = ("Cc", "Cf", "Zl", "Zp", "Cs")


def printable(text: str, kept: str = "\n\t") -> str:
    r"""Write what a terminal would obey, or could not show, as an escape sequence that is read.

    Parameters
    ----------
    text : str
        Names, reasons and tracebacks of a study may hold anything.
    kept : str, default newline and tabulator

    Examples
    --------
    >>> print(printable("a\x1b[2Jb \u202e ü"))
    a\x1b[2Jb \u202e ü
    """
    if text.isprintable():
        return text
    return "".join(
        repr(sign)[1:-1] if sign not in kept and unicodedata.category(sign) in _UNSEEN else sign
        for sign in text
    )


def table_html(text: str, rows: Sequence[Mapping[str, Any]] = ()) -> str:
    """Write rows as an HTML table below the first line of a text, and its other lines below.

    Parameters
    ----------
    text : str
    rows : sequence of mapping
        All with the keys of the first, which name the columns; at most 20 are shown.

    Examples
    --------
    >>> print(table_html("a <row>", [{"a": 1}]))
    <p><b>a &lt;row&gt;</b></p><table><tr><th>a</th></tr><tr><td>1</td></tr></table>
    """
    title, *notes = text.splitlines()
    parts = [f"<p><b>{html.escape(title)}</b></p>"]
    if rows:
        head = "".join(f"<th>{html.escape(str(name))}</th>" for name in rows[0])
        body = "".join(
            "<tr>"
            + "".join(f"<td>{html.escape(str(row[name]))}</td>" for name in rows[0])
            + "</tr>"
            for row in rows[:_MAX_ROWS]
        )
        parts.append(f"<table><tr>{head}</tr>{body}</table>")
    if len(rows) > _MAX_ROWS:
        parts.append(f"<p>and {len(rows) - _MAX_ROWS} more</p>")
    parts += [f"<p>{html.escape(note)}</p>" for note in notes]
    return "".join(parts)
