"""A table in a notebook, for all that is not a result of the analysis."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["table_html"]

_MAX_ROWS = 20


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
