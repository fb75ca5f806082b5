"""Read names and cells of a table of scores: marks, percent signs, failures, averages.

The words are in ``tables/words.toml``.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Collection
from pathlib import Path

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import shown
from mlaut.analysis.scores.catalogue import metric_names
from mlaut.errors import AnalysisError

_FILE = Path(__file__).parent / "tables" / "words.toml"
WORDS: dict[str, list[str]] = tomllib.loads(_FILE.read_text("utf-8"))
_MARKS = r"\\(?:(?:text|math)(?:bf|it)|underline|emph|bf(?:series)?)\b|[*${}\\]|^\s*_+|_+\s*$"
_ROUNDED = 0.005  # of the largest score: printed averages have two or three digits
_RANK = r"^(.*?)\s*\((\d+(?:\.\d+)?)\)\s*$"
_DECIMAL_COMMA = r"[+-]?\d*,\d+"
_NO_THOUSANDS = r"[+-]?(?:0?,\d+|\d+,(?!\d{3}$)\d+)"  # 1,234 may be more than a thousand


def word_of(name: object) -> str:
    """Return the name of a column in small letters: ``Data set`` as ``data_set``."""
    return re.sub(r"[\s-]+", "_", str(name).strip().lower())


def texts_of(table: pd.DataFrame, kept: Collection[str]) -> list[str]:
    """Return the names of the columns that hold texts, without those in ``kept``."""
    return [x for x in map(str, table.select_dtypes(exclude="number")) if x not in kept]


def in_numbers(table: pd.DataFrame, kept: Collection[str]) -> tuple[pd.DataFrame, list[str]]:
    """Return a table whose scores with marks are numbers, and a note on words that are missing.

    Columns in ``kept``, and those with a cell that is neither a number nor a known word, stay.
    """
    table, words = _without_ranks(table, texts_of(table, kept)), Counter[str]()
    for name in texts_of(table, kept):
        texts = table[name].dropna().map(str).str.replace(_MARKS, "", regex=True).str.strip()
        failed = texts.str.lower().isin(WORDS["failures"])
        plain = texts[~failed].str.replace("\u2212", "-").str.rstrip("% ")
        commas = plain[plain.str.contains(",")]
        if commas.str.fullmatch(_DECIMAL_COMMA).all() and commas.str.fullmatch(_NO_THOUSANDS).any():
            plain = plain.str.replace(",", ".")
        values = pd.to_numeric(plain, errors="coerce").astype(float)
        if values.notna().all():
            values = values.where(~texts[~failed].str.endswith("%"), (values / 100).round(15))
            table = table.assign(**{name: values.reindex(table.index)})
            words.update(texts[failed])
    said = ", ".join(f"{word!r} ({count})" for word, count in words.items())
    return table, [f"cells with a word count as missing: {said}"] if words else []


def _without_ranks(table: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Return a table of cells like ``0.763 (4)`` without the ranks, if the numbers are ranks."""
    parts = [table[name].map(str).str.extract(_RANK) for name in names]
    ranks = pd.DataFrame([part[1] for part in parts], dtype=float).sum(skipna=False)
    n = len(parts)
    if n < 2 or not np.allclose(ranks, n * (n + 1) / 2, rtol=0, atol=0.1):
        return table
    return table.assign(**{name: part[0] for name, part in zip(names, parts, strict=True)})


def without_summaries(table: pd.DataFrame, dataset: str) -> tuple[pd.DataFrame, list[str]]:
    """Return a table without rows of averages or ranks and columns of sizes, and notes on them."""
    names = table[dataset].map(str)
    rows, counts = names.map(_is_summary).astype(bool), table.select_dtypes("number")
    sizes = [name for name in counts if name != dataset and word_of(name) in WORDS["sizes"]]
    sizes = [name for name in sizes if (counts[name].dropna() % 1 == 0).all()]
    notes = [
        f"{what} {', '.join(map(repr, dict.fromkeys(out)))} left out: by its name it is no {no}"
        for what, out, no in (("row", names[rows], "dataset"), ("column", sizes, "strategy"))
        if len(out)
    ]
    return table[~rows].drop(columns=sizes), notes


def of_metric(table: pd.DataFrame, metric: str) -> tuple[pd.DataFrame, list[str]]:
    """Return a table without columns of other metrics, like ``f1_svc`` beside ``mcc_svc``; notes.

    Tables stay as they are unless all metrics, named by all columns, have the same strategies.
    """
    columns = [str(name) for name in table.select_dtypes("number")]
    words = [re.findall(r"[^\s_./:()-]+", name.lower()) or [""] for name in columns]
    starts, ends = (Counter(parts[at] for parts in words) for at in (0, -1))
    crossed = all(starts[parts[0]] > 1 and ends[parts[-1]] > 1 for parts in words)
    several = len(starts) == 1 and not "".join(ends).isdigit()  # metrics of one strategy
    if not (crossed or several or len(ends) == 1):
        return table, []  # before scikit-learn is loaded for the names of its metrics
    names = sorted((*metric_names(), "time", "seconds"), key=len, reverse=True)
    known = "|".join(names).replace("_", r"[\s_-]")
    form = rf"({known})[\s_./:-]+(.+)|(.+?)[\s_./:(-]+({known})\)?"
    found: dict[str, dict[str, str]] = {}
    for name in columns:
        if not (parts := re.fullmatch(form, name, re.IGNORECASE)):
            return table, []
        of, strategy = (parts[1], parts[2]) if parts[1] else (parts[4], parts[3])
        found.setdefault(word_of(of), {})[strategy] = name
    if not metric or len(found) < 2 or len({frozenset(columns) for columns in found.values()}) > 1:
        return table, []
    mine = found.pop(word_of(metric), None)
    if mine is None:
        raise AnalysisError(f"no column is of {metric}: choose {' or '.join(found)}")
    gone = [name for other in found.values() for name in other.values()]
    kept = table.drop(columns=gone).rename(columns={name: short for short, name in mine.items()})
    return kept, [f"columns left out: {shown(gone)}, which are of other metrics"]


def without_averages(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return a table of strategies without columns that are averages of the others, and notes."""
    named = [str(name) for name in table if _is_summary(str(name))]
    others = table.drop(columns=named).select_dtypes("number")
    if not named or np.isinf(others.to_numpy(dtype=float)).any():  # `Results` refuses infinity
        return table, []
    with np.errstate(over="ignore"):
        middles = others.agg(["mean", "median", "std"], axis=1)
    near = _ROUNDED * others.abs().max().max()
    gone = [n for n in named if any(np.allclose(table[n], middles[m], 0, near) for m in middles)]
    notes = [f"column {name!r} left out: it is an average of the others" for name in gone]
    return table.drop(columns=gone), notes


def _is_summary(name: str) -> bool:
    """Return whether a name is that of an average, of ranks or of wins, as ``Avg. rank`` is."""
    words, main = set(re.findall(r"[a-z]+", name.lower())), WORDS["averages"]
    return bool(words & {*main}) and words <= {*main, *WORDS["beside"]}
