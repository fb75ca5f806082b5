"""Display of results: numbers are stored unrounded and rounded only for display."""

from __future__ import annotations

import html
import sys
from typing import Any

import numpy as np

from mlaut.helpers.lazy import pd
from mlaut.helpers.markup import marked, printable

SCENARIOS = {
    "(a)": "the fitted models re-used on the seen sources",
    "(b)": "re-trained on the seen sources",
    "(c)": "re-trained on an unseen source",
}

_MAX_ROWS = 60  # rows of a table on the screen, as pandas shows

SMALLEST_P = float(np.finfo(float).tiny)


def number(value: Any, digits: int = 4) -> str:
    """Return a number as text: whole numbers whole, others with ``digits`` significant digits.

    Examples
    --------
    >>> number(12.0), number(0.000123456), number(float("nan")), number((8, 41001.5))
    ('12', '0.0001235', '-', '8, 41002')
    """
    if type(value) is not float:  # most are, of a page's hundred thousand numbers
        if isinstance(value, tuple | list):
            return ", ".join(number(v, digits) for v in value)
        if value is None:
            return "-"
        if isinstance(value, str | bool | np.bool_):
            return str(value)
    plain = float(value)
    if plain != plain:
        return "-"
    if plain.is_integer() and abs(plain) < 1e9:
        return f"{int(plain)}"
    large = 10**digits <= abs(plain) < 1e9  # no 4.1e+04 beside 41000
    return f"{plain:.0f}" if large else f"{plain:.{digits}g}"


def p_text(p: float) -> str:
    """Return a p-value as text for a sentence.

    Examples
    --------
    >>> p_text(0.0412345), p_text(1.7e-18), p_text(1.0)
    ('p = 0.0412', 'p = 1.7e-18', 'p = 1')
    """
    sign = "<" if p <= SMALLEST_P else "="
    return f"p {sign} {number(p, 3 if p >= 1e-4 else 2)}"


class Shown:
    """Base class of all results: notebook table, DataFrame, LaTeX, Markdown and one sentence."""

    def title(self) -> str:
        """Return the title above the displayed table."""
        raise NotImplementedError

    def to_frame(self) -> pd.DataFrame:
        """Return all numbers, unrounded."""
        raise NotImplementedError

    def sentence(self) -> str:
        """Return the result as one sentence."""
        raise NotImplementedError

    def notes_text(self) -> tuple[str, ...]:
        """Return the notes on how to read the numbers."""
        return tuple(getattr(self, "notes", ()))

    def display_frame(self) -> pd.DataFrame:
        """Return the displayed table, whose entries are rounded and text."""
        return self.to_frame().map(number)

    def show(self) -> None:
        """Print the sentence and the table; in a notebook, display the tables."""
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        if shell is None:
            sys.stdout.write(f"{printable(self.sentence())}\n\n{self!r}\n")
        else:
            sys.modules["IPython.display"].display(self)

    def to_latex(self) -> str:
        """Return the displayed table, with rounded numbers, in LaTeX (booktabs)."""
        return self._tabulate("latex_booktabs")

    def to_markdown(self) -> str:
        """Return the displayed table, with rounded numbers, in Markdown."""
        return self._tabulate("github")

    def __repr__(self) -> str:
        lines = [self.title(), self._tabulate("simple")]
        return printable("\n".join(lines + [f"Note: {note}" for note in self.notes_text()]))

    def _repr_html_(self) -> str:
        notes = "".join(f"<p><small>{html.escape(note)}</small></p>" for note in self.notes_text())
        frame = self.display_frame()
        table = frame.to_html(border=0, header=any(frame.columns), max_rows=_MAX_ROWS)
        return printable(f"<p><b>{html.escape(self.title())}</b></p>{table}{notes}")

    def _tabulate(self, form: str) -> str:
        return tabulated(self.display_frame(), form)


def tabulated(frame: pd.DataFrame, form: str) -> str:
    """Return a table of texts in a form of tabulate."""
    from tabulate import tabulate

    columns = [" ".join(c) if isinstance(c, tuple) else str(c) for c in frame.columns]
    body = [[*_flat(label), *row] for label, row in zip(frame.index, frame.values, strict=True)]
    if form == "simple" and len(body) > _MAX_ROWS:
        half = _MAX_ROWS // 2
        body = [*body[:half], ["..."] * len(body[0]), *body[-half:]]
    head = [str(name or "") for name in frame.index.names] + columns
    written = marked if form == "github" else printable
    safe = [[written(str(cell)) for cell in row] for row in (head, *body)]
    return tabulate(safe[1:], headers=safe[0], tablefmt=form, disable_numparse=True)


def _flat(label: Any) -> list[str]:
    return [str(part) for part in label] if isinstance(label, tuple) else [str(label)]
