"""Display: text that is safe for a terminal, and HTML tables for notebooks."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["Displayed", "counted", "printable", "table_html"]

_MAX_ROWS = 20  # rows of a table in a notebook
# Unicode categories: control characters, format characters (such as those that change the direction
# of writing), line and paragraph separators, and surrogates.
_UNSEEN = ("Cc", "Cf", "Zl", "Zp", "Cs")


def counted(n: int, noun: str, many: str = "") -> str:
    """Return a number and its noun, in the plural unless the number is one.

    Examples
    --------
    >>> counted(1, "dataset"), counted(0, "cell"), counted(2, "strategy", "strategies")
    ('1 dataset', '0 cells', '2 strategies')
    """
    return f"{n} {noun if n == 1 else many or noun + 's'}"


def printable(text: str, kept: str = "\n\t") -> str:
    r"""Return text with control and invisible characters as visible escape sequences.

    A terminal would obey these characters, or could not show them.

    Parameters
    ----------
    text : str
        Untrusted text, such as names, reasons and tracebacks of a study.
    kept : str, default newline and tabulator
        Characters to leave as they are.

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
    """Return HTML of a text and a table: the first line, the table, then the other lines.

    Parameters
    ----------
    text : str
        The first line becomes the title.
    rows : sequence of mapping
        Rows of the table. The keys of the first row name the columns, and all rows have them. At
        most 20 rows are shown.

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


class Displayed:
    """Base of records that display themselves: as text, and in a notebook as HTML."""

    def _lines(self) -> list[str]:
        """Return the lines of the text; the first is the title."""
        raise NotImplementedError

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        """Return the rows of the table that a notebook shows below the title."""
        return ()

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return table_html(str(self), self._rows())
