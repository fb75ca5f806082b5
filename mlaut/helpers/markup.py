"""Text that is safe for terminals, Markdown and spreadsheets, in notebooks, or beside a module."""

from __future__ import annotations

import html
import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_MAX_ROWS = 20  # rows of a table in a notebook
# Unicode categories: control characters, format characters (such as those that change the direction
# of writing), line and paragraph separators, and surrogates.
_UNSEEN = ("Cc", "Cf", "Zl", "Zp", "Cs")
_MARKS = "\\`[<|"  # characters that Markdown would interpret
# First characters of a formula in a spreadsheet; the last four are the full-width forms of =+-@.
_FORMULA = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"


def counted(n: int, noun: str, many: str = "") -> str:
    """Return a number and its noun, in the plural unless the number is one.

    Examples
    --------
    >>> counted(1, "dataset"), counted(0, "cell"), counted(2, "strategy", "strategies")
    ('1 dataset', '0 cells', '2 strategies')
    """
    return f"{n} {noun if n == 1 else many or noun + 's'}"


def beside(module: str) -> dict[str, Any]:
    """Return the content of the TOML file that has the texts of a module, given its file."""
    import tomllib  # not at `import mlaut`, which is to be quick

    return tomllib.loads(Path(module).with_suffix(".toml").read_text("utf-8"))


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
    return text if text.isprintable() else _escaped(text, kept, repr)


def _escaped(text: str, kept: str, written: Callable[[str], str]) -> str:
    """Return text with its unseen characters as escapes, as ``written`` quotes them."""
    unseen = {sign for sign in set(text).difference(kept) if unicodedata.category(sign) in _UNSEEN}
    return text.translate({ord(sign): written(sign)[1:-1] for sign in unseen}) if unseen else text


def marked(text: str) -> str:
    r"""Return text that Markdown shows literally, in one line.

    Examples
    --------
    >>> print(marked("<b> [a](b) | p < 0.05\x1b"))
    \<b> \[a](b) \| p \< 0.05\\x1b
    """
    shown = printable(" ".join(text.split()))
    return "".join("\\" + sign if sign in _MARKS else sign for sign in shown)


def csv_text(table: pd.DataFrame, *, index: bool = True) -> str:
    r"""Return a table as CSV with unchanged numbers and with texts that control no program.

    A text that a spreadsheet would evaluate, like ``=HYPERLINK(...)``, gets an apostrophe before
    it, and texts are `printable`.

    Examples
    --------
    >>> import pandas as pd
    >>> print(csv_text(pd.DataFrame({"=a": ["=1+1", "-0.5", "\x1b[2J"], "b": [-0.5, 1, 2]})))
    ,'=a,b
    0,'=1+1,-0.5
    1,-0.5,1.0
    2,\x1b[2J,2.0
    <BLANKLINE>
    """
    safe = table.apply(lambda x: x if x.dtype.kind in "iufb" else x.map(_no_formula))
    safe.columns, safe.index = map(_labels_without_formula, (table.columns, table.index))
    return str(safe.to_csv(index=index, lineterminator="\n"))


def _labels_without_formula(labels: pd.Index) -> pd.Index:
    named = labels.set_names([_no_formula(name) for name in labels.names])
    if not len(labels):
        return named
    return labels.map(
        lambda label: (
            tuple(map(_no_formula, label)) if isinstance(label, tuple) else _no_formula(label)
        )
    ).set_names(named.names)


def _no_formula(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = printable(value)
    if value[:1] not in tuple(_FORMULA):
        return text
    try:
        float(value)
    except ValueError:
        return "'" + text
    return text


def json_text(content: Any, indent: int | None = None) -> str:
    r"""Return JSON with letters of any alphabet, and invisible characters as escapes.

    Examples
    --------
    >>> print(json_text("ü\x7f\u202e"))
    "ü\u007f\u202e"
    """
    return _escaped(json.dumps(content, indent=indent, ensure_ascii=False), "\n", json.dumps)


def table_html(text: str, rows: Sequence[Mapping[str, Any]] = ()) -> str:
    """Return HTML of a text and a table: the first line, the table, then the other lines.

    Parameters
    ----------
    text : str
        The first line becomes the title.
    rows : sequence of mapping
        Rows of the table. The keys of the first row name the columns; all rows have the same keys.
        At most 20 rows are shown.

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
    return printable("".join(parts))


class Displayed:
    """Base of records that display themselves: as text, and in a notebook as HTML."""

    def _lines(self) -> list[str]:
        """Return the lines of the text; the first is the title."""
        raise NotImplementedError

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        """Return the rows of the table that a notebook shows below the title, those of `rows`."""
        return tuple(getattr(self, "rows", tuple)())

    def __str__(self) -> str:
        return printable("\n".join(self._lines()))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return table_html(str(self), self._rows())
