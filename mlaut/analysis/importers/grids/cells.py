"""Cells as they are printed: a value, its spread, a mark of the best, or a word without a score.

The words are in ``tables/words.toml``.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd

_FILE = Path(__file__).parents[1] / "tables" / "words.toml"
WORDS: dict[str, list[str]] = tomllib.loads(_FILE.read_text("utf-8"))
_NO_RESULT, _FAILURES = frozenset(WORDS["no_result"]), frozenset(WORDS["failures"])

_LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*(?:\s\"[^\"]*\")?\)|\\href\{[^}]*\}")
_IMAGE_OR_NOTE = re.compile(
    r"<sup>.*?</sup>|\[\^[^\]]*\]|\\(?:cite|footnote|label|ref)\w*\{[^}]*\}"
)
_GONE = re.compile(
    r"</?[a-zA-Z][^<>]*>|\\(?:cell|row|text)?color(?:box)?(?:\[[^\]]*\])?\{[^}]*\}(?:\{(?=[^}]*$))?"
    r"|\\(?:text|math)(?:bf|it|rm|sc|tt|sf|normal|superscript|subscript)\b"
    r"|\\(?:underline|uline|emph|mathbf|boldsymbol|bm|bf|it|bfseries|itshape|makecell|scriptsize"
    r"|footnotesize|tiny|small|best|second|quad|,|;|!)(?![a-zA-Z])|\\(?![a-zA-Z\\])|[*`{}$†‡§¶♦♠★☆▲▼↑↓🥇🥈🥉✓¹²³⁴⁵]"
)
_EMPHASIS = re.compile(r"(?<![^\W_])_+|_+(?![^\W_])")  # underscores at the ends of words
_NUMBER = r"[+-]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?"
_PRINTED = re.compile(
    rf"(?P<value>{_NUMBER})\s*(?P<percent>%)?\s*"
    rf"(?:(?:±|\+/?-|_|\^?±)\s*\(?(?P<spread>{_NUMBER})\)?\s*%?)?\s*"
    r"(?P<more>(?:[(\[][^()\[\]]*[)\]]\s*)*)(?P<unit>[a-zA-Z]{1,4}|\u00d7)?[?!#^]*"
)
_SEVERAL = re.compile(rf"{_NUMBER}\s*%?(?:\s*±\s*{_NUMBER})?\s*(?:/|→|->|\||;|,)\s*(?:{_NUMBER}|-)")
_IN_BRACKETS = re.compile(rf"[(\[]\s*(?:±|\+/?-)?\s*(?P<spread>{_NUMBER})\s*[)\]]")
_UNITS = frozenset(WORDS["units"])
_BOLD = re.compile(r"\*\*|__|\\textbf|\\mathbf|\\bf\b|\\bfseries|<b>|<strong>|\\bm\b|\\best\b")


def plain(text: object) -> str:
    r"""Return a cell without the markup of Markdown, LaTeX and HTML.

    Examples
    --------
    >>> plain("**_.928±.002_**"), plain(r"$\mathbf{51.5} \pm 0.1$"), plain("[Adult](https://x)")
    ('.928±.002', '51.5 ± 0.1', 'Adult')
    """
    shown = str(text)
    if shown.isalnum():
        return shown
    shown = _IMAGE_OR_NOTE.sub("", _LINK.sub(lambda link: link[1] or "", unescape(shown)))
    shown = (
        shown.replace("\\pm", "±").replace("\u2212", "-").replace("\\_", "_").replace("\\&", "&")
    )
    shown = " ".join(_GONE.sub("", shown).replace("~", " ").replace("\xa0", " ").split())
    return _EMPHASIS.sub("", shown).strip().rstrip("^")


@dataclass(frozen=True, eq=False)
class Column:
    """Column of a grid: numbers (NaN where a cell has none), or texts without markup.

    Attributes
    ----------
    name : str
    texts : ndarray of str or None
        Cells without markup; None for a column of plain numbers.
    values, spreads, brackets : ndarray of float, or None
        Numbers of a column of numbers; what is printed behind them as spreads, and in brackets.
    words : mapping of int to str
        Row and word of each cell that says why there is no score.
    strange : mapping of int to str
        Row and text of each cell of a column of numbers that is neither a number nor a known word;
        or, of a column of texts, of each number with a comma that may divide thousands.
    bold : ndarray of bool, or None
    unit : bool
        Whether the numbers carry units, as times and sizes do.
    """

    name: str
    texts: np.ndarray | None = None
    values: np.ndarray | None = None
    spreads: np.ndarray | None = None
    brackets: np.ndarray | None = None
    words: dict[int, str] = field(default_factory=dict)
    strange: dict[int, str] = field(default_factory=dict)
    bold: np.ndarray | None = None
    unit: bool = False

    @property
    def is_number(self) -> bool:
        """Whether the column holds numbers."""
        return self.values is not None

    @property
    def numbers(self) -> np.ndarray:
        """The numbers of a column of numbers."""
        assert self.values is not None
        return self.values

    def labels(self) -> np.ndarray:
        """Return the cells as names: whole numbers without a point."""
        if self.texts is not None:
            return self.texts
        each = np.unique(self.numbers[~np.isnan(self.numbers)])
        short = {x: f"{x:.15g}" for x in each.tolist()}
        return np.array([short.get(x, "") for x in self.numbers.tolist()], dtype=object)


def columns_of(table: pd.DataFrame) -> list[Column]:
    """Return the columns of a table, with what is printed in their cells."""
    comma = _decimal_comma(table)
    columns = [_column(str(name), table.iloc[:, i], comma) for i, name in enumerate(table.columns)]
    return _without_ranks(columns)


def _decimal_comma(table: pd.DataFrame) -> bool | None:
    """Return whether commas are decimal points; None if that cannot be told."""
    texts = [table.iloc[:, i] for i in range(table.shape[1])]
    texts = [text.dropna() for text in texts if not pd.api.types.is_numeric_dtype(text)]
    cells = {plain(cell) for column in texts for cell in pd.unique(column.astype(str))[:2000]}
    numbers = [cell for cell in cells if _PRINTED.fullmatch(cell)]
    if any(re.search(r"\d\.\d|,\d{3},|,\d{3}\.", cell) for cell in numbers):
        return False
    if any(pd.api.types.is_float_dtype(kind) for kind in table.dtypes):
        return False
    commas = [cell for cell in numbers if "," in cell]
    decimal = any(re.match(r"[+-]?(?:0?,\d+|\d+,(?!\d{3}(?!\d))\d+)", cell) for cell in commas)
    return True if decimal else (None if commas else False)


def _column(name: str, cells: pd.Series, comma: bool | None) -> Column:
    if pd.api.types.is_bool_dtype(cells):
        cells = cells.astype(float)
    if pd.api.types.is_numeric_dtype(cells):
        return Column(name, values=cells.to_numpy(dtype=float, na_value=np.nan))
    cells = cells.astype(object).where(cells.notna(), "")
    try:
        codes, each = pd.factorize(cells)
    except TypeError:  # lists of JSON
        codes, each = pd.factorize(cells.astype(str))
    raw = [str(cell) for cell in each]
    texts = [plain(cell) for cell in raw]
    found = [_printed(text, comma) for text in texts]
    numbers = np.array([value for value, *_ in found], dtype=float)
    lower = [text.lower().strip("() .") or text.strip() for text in texts]
    known = [text in _NO_RESULT or text in _FAILURES or not text for text in lower]
    odd = {i: raw[i] for i, ok in enumerate(known) if not ok and np.isnan(numbers[i])}
    rows = np.bincount(codes, minlength=len(each))
    n_numbers = rows[~np.isnan(numbers)].sum()
    n_strange = sum(rows[i] for i in odd)
    names = texts if len(set(texts)) == len(set(raw)) else raw  # marks may tell names apart
    labels = np.array(names, dtype=object)[codes]
    strange = {row: odd[code] for row, code in enumerate(codes.tolist()) if code in odd}
    failed = all(known) and any(text in _FAILURES for text in lower)  # in every cell
    if not failed and (not n_numbers or n_strange >= n_numbers):
        unclear = comma is None and all(_PRINTED.fullmatch(texts[i]) for i in odd)
        unclear |= bool(odd) and all(_SEVERAL.match(texts[i]) for i in odd) and len(each) > 1
        return Column(name, texts=labels, strange=strange if unclear else {})
    of_word = {i: lower[i] for i, ok in enumerate(known) if ok and lower[i] in _FAILURES}
    spreads, brackets = (np.array([part[i] for part in found], dtype=float) for i in (1, 2))
    bold = np.array([bool(_BOLD.search(cell)) for cell in raw])
    return Column(
        name,
        texts=labels,
        values=numbers[codes],
        spreads=None if np.isnan(spreads).all() else spreads[codes],
        brackets=None if np.isnan(brackets).all() else brackets[codes],
        words={row: of_word[code] for row, code in enumerate(codes.tolist()) if code in of_word},
        strange=strange,
        bold=bold[codes] if bold.any() else None,
        unit=any(unit for *_, unit in found),
    )


def _printed(text: str, comma: bool | None) -> tuple[float, float, float, bool]:
    """Return value, spread and number in brackets of a cell, and whether it has a unit."""
    none = (np.nan, np.nan, np.nan, False)
    match = _PRINTED.fullmatch(text)
    if match is None or (match["unit"] and match["unit"].lower() not in _UNITS):
        return none
    value = _float(match["value"], comma)
    if value is None:
        return none
    percent = 100.0 if match["percent"] else 1.0
    spread = _float(match["spread"], comma) if match["spread"] else None
    inside = _IN_BRACKETS.search(match["more"])
    bracket = _float(inside["spread"], comma) if inside and "%" not in inside[0] else None
    signed = inside is not None and inside["spread"][0] in "+-"  # a change, and no spread
    if spread is None and inside and re.match(r"[(\[]\s*(?:±|\+/?-\s)", inside[0]):
        spread, bracket = bracket, None
    scaled = [np.nan if x is None else round(x / percent, 15) for x in (value, spread, bracket)]
    return scaled[0], scaled[1], np.nan if signed else scaled[2], bool(match["unit"])


def _float(text: str, comma: bool | None) -> float | None:
    if "," in text:
        if comma is None:
            return None
        text = text.replace(",", "." if comma else "")
    return float(text)


def _without_ranks(columns: Sequence[Column]) -> list[Column]:
    """Return columns whose numbers in brackets are spreads, unless they are ranks in each row."""
    inside = [column.brackets for column in columns if column.brackets is not None]
    n = len(inside)
    ranks = n > 1 and np.allclose(np.sum(inside, axis=0), n * (n + 1) / 2, rtol=0, atol=0.1)
    kept = []
    for column in columns:
        if column.brackets is not None and not ranks and column.spreads is None:
            column = replace(column, spreads=column.brackets)
        kept.append(column)
    return kept
