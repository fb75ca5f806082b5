"""How results show themselves: numbers are kept unrounded, and rounded only for display."""

from __future__ import annotations

import html
import sys
from typing import Any

import numpy as np
import pandas as pd

from mlaut.errors import AnalysisError

__all__ = ["SCENARIOS", "SMALLEST_P", "Shown", "check_scenario", "number", "p_text"]

SCENARIOS = {
    "(a)": "the fitted models re-used on the seen sources",
    "(b)": "re-trained on the seen sources",
    "(c)": "re-trained on an unseen source",
}

_MAX_ROWS = 60

SMALLEST_P = float(np.finfo(float).tiny)


def number(value: Any, digits: int = 4) -> str:
    """Write a number for display: whole numbers whole, others to some significant digits.

    Examples
    --------
    >>> number(12.0), number(0.000123456), number(float("nan")), number((8, 960.0))
    ('12', '0.0001235', '-', '8, 960')
    """
    if isinstance(value, tuple | list):
        return ", ".join(number(v, digits) for v in value)
    if value is None or (isinstance(value, float | np.floating) and np.isnan(value)):
        return "-"
    if isinstance(value, str | bool | np.bool_):
        return str(value)
    if float(value).is_integer() and abs(value) < 1e9:
        return f"{int(value)}"
    return f"{float(value):.{digits}g}"


def p_text(p: float) -> str:
    """Write a p-value for a sentence.

    Examples
    --------
    >>> p_text(0.0412345), p_text(1.7e-18), p_text(1.0)
    ('p = 0.0412', 'p = 1.7e-18', 'p = 1')
    """
    sign = "<" if p <= SMALLEST_P else "="
    return f"p {sign} {number(p, 3 if p >= 1e-4 else 2)}"


def check_scenario(scenario: str) -> None:
    """Raise `AnalysisError` for one that is not a key of `SCENARIOS`."""
    if scenario not in SCENARIOS:
        raise AnalysisError(
            f"scenario {scenario!r} is not known; one of {', '.join(map(repr, SCENARIOS))}"
        )


class Shown:
    """What every result can do: a table in a notebook, a DataFrame, LaTeX, one sentence."""

    def title(self) -> str:
        """Return the first line of what is shown."""
        raise NotImplementedError

    def to_frame(self) -> pd.DataFrame:
        """Return all numbers, unrounded."""
        raise NotImplementedError

    def sentence(self) -> str:
        """Say the result in one sentence."""
        raise NotImplementedError

    def notes_text(self) -> tuple[str, ...]:
        """Return what must be said beside the numbers."""
        return tuple(getattr(self, "notes", ()))

    def display_frame(self) -> pd.DataFrame:
        """Return the table that is shown: every cell is text, rounded."""
        return self.to_frame().map(number)

    def show(self) -> None:
        """Print what was found and its table; in a notebook, show the tables."""
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        if shell is None:
            sys.stdout.write(f"{self.sentence()}\n\n{self!r}\n")
        else:
            sys.modules["IPython.display"].display(self)

    def to_latex(self) -> str:
        """Return the table in LaTeX (booktabs), rounded as it is shown."""
        return self._tabulate("latex_booktabs")

    def to_markdown(self) -> str:
        """Return the table in Markdown, rounded as it is shown."""
        return self._tabulate("github")

    def __repr__(self) -> str:
        lines = [self.title(), self._tabulate("simple")]
        return "\n".join(lines + [f"Note: {note}" for note in self.notes_text()])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p><small>{html.escape(note)}</small></p>" for note in self.notes_text())
        frame = self.display_frame()
        table = frame.to_html(border=0, header=any(frame.columns), max_rows=_MAX_ROWS)
        return f"<p><b>{html.escape(self.title())}</b></p>{table}{notes}"

    def _tabulate(self, form: str) -> str:
        from tabulate import tabulate

        frame = self.display_frame()
        columns = [" ".join(c) if isinstance(c, tuple) else str(c) for c in frame.columns]
        body = [[*_flat(label), *row] for label, row in zip(frame.index, frame.values, strict=True)]
        if form == "simple" and len(body) > _MAX_ROWS:
            half = _MAX_ROWS // 2
            body = [*body[:half], ["..."] * len(body[0]), *body[-half:]]
        head = [str(name or "") for name in frame.index.names] + columns
        return tabulate(body, headers=head, tablefmt=form, disable_numparse=True)


def _flat(label: Any) -> list[str]:
    return [str(part) for part in label] if isinstance(label, tuple) else [str(label)]
