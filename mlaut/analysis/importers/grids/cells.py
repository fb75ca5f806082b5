"""Cells as they are printed: a value, its spread, a mark of the best, or a word without a score.

The words are in ``tables/words.toml``.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis.scores.usual_names import usual_name

_FILE = Path(__file__).parents[1] / "tables" / "words.toml"
_TABLES: dict[str, Any] = tomllib.loads(_FILE.read_text("utf-8"))
WORDS: dict[str, list[str]] = _TABLES["words"]
TAKEN: dict[str, str] = _TABLES["taken"]  # what columns of each role are called
_NO_RESULT, _FAILURES = frozenset(WORDS["no_result"]), frozenset(WORDS["failures"])

_LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*(?:\s\"[^\"]*\")?\)|\\href\{[^}]*\}")
_IMAGE_OR_NOTE = re.compile(
    r"(?<!br>)<sup>.*?</sup>|\[\^[^\]]*\]|\\(?:cite|footnote|label|ref)\w*\{[^}]*\}"
)
_GONE = re.compile(
    r"</?[a-zA-Z][^<>]*>|\\(?:[vh]space\*?|[vh]?phantom)\{[^}]*\}|\\rotatebox\{[^}]*\}|\\font-weight\w+|\\(?:cell|row|text)?color(?:box)?(?:\[[^\]]*\])?\{[^}]*\}(?:\{(?=[^}]*$))?"
    r"|\\(?:up|down)arrow(?![a-zA-Z])|\\(?:(?:text)?d?dag(?:ger)?|[SP]|ast|star)(?![a-zA-Z])"
    r"|\\(?:text|math)(?:bf|it|rm|sc|tt|sf|normal|subscript)?\b"
    r"|\\(?:underline|uline|emph|mathbf|boldsymbol|bm|bf|it|bfseries|itshape|makecell|scriptsize"
    r"|footnotesize|tiny|small|best|second|quad|,|;|!)(?![a-zA-Z])|\\(?![a-zA-Z\\])|[*`{}$†‡§¶♦♠★☆▲▼↑↓🥇🥈🥉✓¹²³⁴⁵]"
)
_EMPHASIS = re.compile(r"(?<![\w-])(_+)(?=\S)(.*?\S)\1(?!\w)|^_+|_+$")  # underscores around words
_MACRO = re.compile(  # of an author beside a number, as for space
    r"^(?:\\(?!approx|sim|l|g)[a-zA-Z]{2,})+(?=\d)|(?<=\d)(?:\\(?!times|cdot)[a-zA-Z]{2,})+$"
)
_FOOTNOTE = re.compile(  # a superscript without digits, behind a number
    r"(?<=[\d)%])\s?\^[^\s\d^_±+/,-]*(?:,\s?[a-z])*(?=[\s_±/,]|$)"
)
_NUMBER = r"[+-]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?"
_PRINTED = re.compile(
    rf"(?P<bound>[<>≤≥≈]\s*)?(?P<value>{_NUMBER})\s*(?P<percent>%)?\s*"
    rf"(?:(?:±|\+/?-|_|\^?±|\+(?=\d*\.\d))\s*\(?(?P<spread>{_NUMBER})\)?\s*%?)?\s*(?:±\s*{_NUMBER}\s*)?"
    r"(?P<more>(?:[(\[][^()\[\]]*[)\]]\s*)*)(?P<unit>[a-zA-Zµ\u03bc]{1,4}(?:/(?:s|op))?|\u00d7)?[?!#^]*"
)
_SEVERAL = re.compile(
    rf"{_NUMBER}\s*%?(?:\s*±\s*{_NUMBER})?\s*(?:/|→|->|\||;|,|\s-\s)\s*(?:{_NUMBER}|-)"
)
_PICTURES = re.compile(
    r"(?<=\d)\s*(?:\s*:[a-z_]+:)+$|(?<=\d)\s*[\u2600-\u2712\u2719-\u27bf\ufe0f\U0001f300-\U0001faff]+$"
)
_NAMED = re.compile(r"([a-z][\w@]*)\s*=\s*(?=[+-]?\.?\d)", re.I)  # as ACC=0.88
_CLOCK = re.compile(
    r"(?:(?P<h>\d+)\s*[h:]\s*)?(?P<m>\d+)\s*(?:m(?:in)?|:)\s*(?P<s>\d+(?:\.\d+)?)s?"
)
_GROUPED = re.compile(r"\d{1,3}(?:(['_])\d{3})(?:\1\d{3})*(?:\.\d+)?(?!\d)")
_CITED = re.compile(
    r"(?<=[^\s_])\s*\[(?!(\d+), ?\1\b)\d{1,3}(?:,\s*\d{1,3})*\]$"
)  # a reference behind a number
_FAILING = re.compile(r"\b(?:failure|failed|crash(?:ed)?|\w*error|\w*exception|timeout|oom)\b")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?!\d)")
_IN_BRACKETS = re.compile(rf"[(\[]\s*(?:±|\+/?-)?\s*(?P<spread>{_NUMBER})\s*[)\]]")
_NOTED = re.compile(r"[\d%]\s*[(\[]\s*[a-zA-Z][^()\[\]]*[)\]]$")  # as 14.7 (Pro)
_RANGE = re.compile(r"(\d*\.\d+)\s?[-\u2013]\s?(\d*\.\d+)")
_WHOLE = 0.2  # of whole numbers beside those with commas, from which these divide thousands
_UNIT = re.compile(r"\s*[a-zA-Zµ\u03bc%]+$")
_RARE = 5  # cells, of which at most one may be a range
_NONE = (np.nan, np.nan, np.nan, "", "")  # of a cell without a number
_UNITS = frozenset(WORDS["units"])
_SENTENCE = 30  # letters of a cell from which it tells more than that a run failed
_NEAR = 0.1  # share of a score within which a number in brackets is another score
_SCALES: dict[str, tuple[str, float]] = {  # the unit of a kind of measure, and how many of it
    x: (kind, n) for kind, each in _TABLES["scales"].items() for x, n in each.items()
}
_BOLD = re.compile(r"\*\*|__|\\textbf|\\mathbf|\\bf\b|\\bfseries|<b>|<strong>|\\bm\b|\\best\b")


_STRUCK = re.compile(  # what its author took back
    r"(?:~~.+?~~|<(s|del|strike)\b[^>]*>.*?</\1>|\\(?:st|sout)\{(?:[^{}]|\{[^{}]*\})*\})"
    r"(?:\s*(?:→|->))?"
)


def plain(text: object) -> str:
    r"""Return a cell without the markup of Markdown, LaTeX and HTML.

    Examples
    --------
    >>> plain("**_.928±.002_**"), plain(r"$\mathbf{51.5} \pm 0.1$"), plain("[Adult](https://x)")
    ('.928±.002', '51.5 ± 0.1', 'Adult')
    """
    shown = str(text)
    if shown.isalnum() or shown.replace(".", "", 1).isdigit():
        return shown
    shown = shown.replace("\\textsuperscript", "^")
    shown = re.sub(r"<br\s*/?>|(?<=[a-zA-Z])<sup>(?!.*</sup>)", " ", shown)
    shown = re.sub(r"(?<!\S)~(?=\d)", "≈", shown)
    shown = _IMAGE_OR_NOTE.sub("", _LINK.sub(lambda link: link[1] or "", unescape(shown)))
    shown = re.sub(r"\\(?:sim|approx)\b", "≈", shown)
    shown = (
        shown.replace("\\pm", "±").replace("\u2212", "-").replace("\\_", "_").replace("\\&", "&")
    )
    shown = " ".join(_GONE.sub("", shown).replace("~", " ").replace("\xa0", " ").split())
    shown = _FOOTNOTE.sub("", _EMPHASIS.sub(r"\2", shown).strip())
    return _MACRO.sub("", shown).rstrip("^")


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
    units : ndarray of str or None
        Units behind the numbers, as times and sizes have them.
    unified : str
        Unit to which the numbers are converted, where a table has several of one kind.
    bound : str
        A cell that has a bound, as "< 5%", for its number.
    struck : str
        A cell with a number that is struck out, and so is none.
    noted : str
        A cell with words in brackets behind its number, as ``14.7 (Pro)``.
    named : str
        The metric that stands in front of the numbers, as in ``ACC=0.88``.
    """

    name: str
    texts: np.ndarray | None = None
    values: np.ndarray | None = None
    spreads: np.ndarray | None = None
    brackets: np.ndarray | None = None
    words: dict[int, str] = field(default_factory=dict)
    strange: dict[int, str] = field(default_factory=dict)
    bold: np.ndarray | None = None
    units: np.ndarray | None = None
    unified: str = ""
    bound: str = ""
    struck: str = ""
    noted: str = ""
    named: str = ""

    @property
    def unit(self) -> bool:
        """Whether the numbers carry units."""
        return self.units is not None and any(self.units)

    @property
    def told_unit(self) -> str:
        """The unit of all numbers, in words; empty without one."""
        each = {*self.units.tolist()} - {""} if self.units is not None else set()
        plain_one = f"in {min(each)}" if len(each) == 1 and each <= {*_SCALES} else ""
        return f"units converted to {self.unified}" if self.unified else plain_one

    @property
    def is_number(self) -> bool:
        """Whether the column holds numbers."""
        return self.values is not None

    @property
    def kind(self) -> str:
        """The kind of measure of the units in the name or behind the numbers; empty without."""
        each = re.findall(r"[(\[]([a-zµ/]+)[)\]]$", self.name.lower())
        each += [] if self.units is None else self.units.tolist()
        return next((_SCALES[x][0] for x in each if x in _SCALES), "")

    @property
    def numbers(self) -> np.ndarray:
        """The numbers of a column of numbers."""
        assert self.values is not None
        return self.values

    @cached_property
    def coded(self) -> tuple[np.ndarray, list[str]]:
        """Each cell's place among the different labels, and these in their order."""
        codes, each = pd.factorize(self.labels())
        return codes, each.tolist()

    def labels(self) -> np.ndarray:
        """Return the cells as names: whole numbers without a point."""
        if self.texts is not None:
            return self.texts
        places, each = pd.factorize(self.numbers)
        names = [*(f"{x:.15g}" for x in each.tolist()), ""]  # the last one is that of gaps
        return np.array(names, dtype=object)[places]


def columns_of(table: pd.DataFrame) -> list[Column]:
    """Return the columns of a table, with what is printed in their cells."""
    comma = _decimal_comma(table)
    columns = [_column(str(name), table.iloc[:, i], comma) for i, name in enumerate(table.columns)]
    return _without_ranks(_in_one_unit(columns))


def _in_one_unit(columns: Sequence[Column]) -> list[Column]:
    """Return columns whose numbers of one kind of measure have one unit, if they had several."""
    each = [x.units.tolist() if x.units is not None else [] for x in columns]
    found = Counter(unit for units in each for unit in units if unit in _SCALES)
    usual = {_SCALES[x][0]: x for x, _ in reversed(found.most_common())}  # of each kind
    several = {kind for kind, n in Counter(_SCALES[x][0] for x in found).items() if n > 1}
    kept = []
    for column, units in zip(columns, each, strict=True):
        kinds = {_SCALES[x][0] for x in units if x in _SCALES}
        mixed = len(kinds) > 1 or (kinds & several and any(x not in _SCALES for x in units if x))
        if mixed:
            odd = {row: f"{column.numbers[row]:g} {x}" for row, x in enumerate(units) if x}
            column = replace(column, strange=column.strange | odd)
        elif kinds & several:
            one = usual[next(iter(kinds))]
            times = np.array([_SCALES.get(x, ("", np.nan))[1] / _SCALES[one][1] for x in units])
            parts = {part: getattr(column, part) for part in ("values", "spreads", "brackets")}
            scaled = {part: x * times for part, x in parts.items() if x is not None}
            column = replace(column, unified=one, **scaled)
        kept.append(column)
    return kept


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
    bare = [_UNIT.sub("", cell) for cell in numbers]
    commas = [cell for cell in bare if "," in cell]
    large = [cell for cell in bare if cell.isdigit() and len(cell) > 2]  # decimals are seldom whole
    if commas and len(large) >= _WHOLE * len(commas) and all(map(_THOUSANDS.fullmatch, commas)):
        return False
    ended = [x for x in commas if x[-1] == "0"]  # beside whole numbers: of no fixed digits
    each = ({*map(plain, column)} for column in texts)
    whole = any(cells & {*ended} and any(map(str.isdigit, cells)) for cells in each)
    if whole and all(map(_THOUSANDS.fullmatch, commas)):
        return False
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
    struck = {x for x in raw if _STRUCK.search(x) and re.match(r"\W*\d", plain(x))}  # no name
    texts = [_CITED.sub("", plain(_STRUCK.sub("", x) if x in struck else x)) for x in raw]
    in_front = {x[1].lower() for x in map(_NAMED.match, texts) if x and usual_name(x[1])}
    if len(in_front) == 1:
        texts = [_NAMED.sub("", x) for x in texts]
    lower = [text.lower().strip("() .") or text.strip() for text in texts]
    failing = [x in _FAILURES or bool(_FAILING.search(x)) for x in lower]  # as 3.1[ERROR]
    found = [_NONE if no else _printed(x, comma) for no, x in zip(failing, texts, strict=True)]
    parts = np.array([part[:3] for part in found], dtype=float)
    percent = np.array([bool(part[4]) for part in found])
    if percent.mean() > 0.5 or not (np.abs(parts[~percent, 0]) > 1).any():  # else without signs
        parts[percent] = np.round(parts[percent] / 100, 15)
    numbers, spreads, brackets = parts.T
    if not np.isnan(numbers).all():
        short = {x for x in lower if len(x) < _SENTENCE} - _FAILURES
        words = {x: match[0] for x in short if (match := _FAILING.search(x))}
        words = {x: word if word in ("timeout", "oom") else "failed" for x, word in words.items()}
        lower = [words.get(x, x) for x in lower]
    parts_of = [{*re.split(r"[\s()±+]+", text.strip("-\u2013\u2014"))} for text in lower]
    known = [x in _FAILURES or y <= _NO_RESULT for x, y in zip(lower, parts_of, strict=True)]
    odd = {i: raw[i] for i, ok in enumerate(known) if not ok and np.isnan(numbers[i])}
    rows = np.bincount(codes, minlength=len(each))
    few = [i for i in odd if _RARE * rows[i] < rows.sum() and np.isnan(numbers).mean() < 1 / 2]
    between = {i: ends for i in few if (ends := _RANGE.fullmatch(texts[i]))}
    for i, ends in between.items():
        numbers[i] = (float(ends[1]) + float(ends[2])) / 2
        del odd[i]
    n_numbers = rows[~np.isnan(numbers)].sum()
    n_strange = sum(rows[i] for i in odd)
    bare = [_BOLD.sub("", _LINK.sub(lambda link: link[1] or "", x)).strip("{} ") for x in raw]
    names = texts if len({*texts}) == len({*bare}) else bare  # marks may tell names apart
    labels = np.array(names, dtype=object)[codes]
    strange = {row: odd[code] for row, code in enumerate(codes.tolist()) if code in odd}
    failed = all(known) and any(x in _FAILURES and len(x) > 2 for x in lower)  # in every cell
    if not failed and (not n_numbers or n_strange >= n_numbers):
        unclear = comma is None and all(_PRINTED.fullmatch(texts[i]) for i in odd)
        several = len(each) > 1 and all(_SEVERAL.match(texts[i]) for i in odd)
        unclear |= several and any("." in x or "/" in x for x in odd.values())
        strange = strange if unclear else {}
        return Column(name, texts=labels, strange=strange, struck=min(struck, default=""))
    of_word = {i: lower[i] for i, ok in enumerate(known) if ok and lower[i] in _FAILURES}
    bold = np.array([bool(_BOLD.search(cell)) for cell in raw])
    units = np.array([part[3] for part in found], dtype=object)[codes]
    return Column(
        name,
        texts=labels,
        values=numbers[codes],
        spreads=None if np.isnan(spreads).all() else spreads[codes],
        brackets=None if np.isnan(brackets).all() else brackets[codes],
        words={row: of_word[code] for row, code in enumerate(codes.tolist()) if code in of_word},
        strange=strange,
        bold=bold[codes] if bold.any() else None,
        units=units if any(units) else None,
        named=min(in_front, default="") if len(in_front) == 1 else "",
        struck=min(struck, default=""),
        noted=next((x for x in texts if _NOTED.search(x) and _PRINTED.fullmatch(x)), ""),
        bound=next((x for i, x in enumerate(texts) if x[:1] in tuple("<>≤≥≈") or i in between), ""),
    )


def is_number(text: str) -> bool:
    """Return whether a cell without markup is a number, perhaps with a spread, or has none."""
    return text.strip() in ("", "-", "\u2013", "\u2014") or bool(_PRINTED.fullmatch(text.strip()))


def _printed(text: str, comma: bool | None) -> tuple[float, float, float, str, str]:
    """Return value, spread and number in brackets of a cell, its unit and its sign of percent."""
    if _GROUPED.match(text.lstrip("<>≤≥≈ ")):
        text = re.sub(r"(?<=\d)['_](?=\d{3}(?!\d))", "", text)
    text = _PICTURES.sub("", text)
    if clock := _CLOCK.fullmatch(text):
        h, m, s = (float(x or 0) for x in clock.group("h", "m", "s"))
        return 3600 * h + 60 * m + s, np.nan, np.nan, "s", ""
    match = _PRINTED.fullmatch(text)
    unit = (match["unit"] or "").lower().removesuffix("/op").replace("\u03bc", "µ") if match else ""
    if match is None or (unit and unit not in _UNITS and unit not in _SCALES):
        return _NONE
    value = _float(match["value"], comma)
    if value is None:
        return _NONE
    spread = _float(match["spread"], comma) if match["spread"] else None
    inside = _IN_BRACKETS.search(match["more"])
    bracket = _float(inside["spread"], comma) if inside and "%" not in inside[0] else None
    signed = inside is not None and inside["spread"][0] in "+-"  # a change, and no spread
    if spread is None and inside and re.match(r"[(\[]\s*(?:±|\+/?-\s)", inside[0]):
        spread, bracket = bracket, None
    more = [np.nan if x is None else x for x in (spread, bracket)]
    return value, more[0], np.nan if signed else more[1], unit, match["percent"] or ""


def _float(text: str, comma: bool | None) -> float | None:
    if "," in text:
        if comma is None:
            return None
        text = text.replace(",", "." if comma or not _THOUSANDS.match(text) else "")
    return float(text)


def _without_ranks(columns: Sequence[Column]) -> list[Column]:
    """Return columns whose numbers in brackets are spreads, if not ranks or other scores."""
    own = [x for x in columns if x.brackets is not None]
    inside = [x.brackets for x in own if x.brackets is not None]
    n = len(own)
    ranks = n > 1 and np.allclose(np.sum(inside, axis=0), n * (n + 1) / 2, rtol=0, atol=0.1)
    both = [(x.brackets, x.numbers) for x in own]
    near = [np.abs(a / b - 1)[np.isfinite(a / b)] < _NEAR for a, b in both if b.all()]
    alike = bool(near) and np.mean(np.concatenate(near)) > 0.5  # other scores, as means or best
    named = all(re.search(r"[a-z]\W*\([a-zA-Z]+\)$", x.name, re.I) for x in own)
    found = [] if ranks or named or alike else [x.name for x in own if x.spreads is None]
    return [_with_spreads(x) if x.name in found else x for x in columns]


def _with_spreads(column: Column) -> Column:
    """Return a column with spreads in brackets; whole ones may be of last digits: 0.925(08)."""
    if column.brackets is None or column.texts is None:
        return replace(column, spreads=column.brackets)
    digits = [re.search(r"\.(\d+)\s*\(\d+\)", x) for x in column.texts]
    step = np.array([10.0 ** -len(x[1]) if x else 1.0 for x in digits])
    spreads = column.brackets * np.where(column.brackets > np.abs(column.numbers), step, 1)
    return replace(column, spreads=spreads, brackets=spreads)
