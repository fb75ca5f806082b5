"""Tables without a line of names: what stands where names would be is like the cells below it."""

import re
from collections.abc import Collection

import numpy as np
import pandas as pd

from mlaut.analysis.importers.grids.cells import plain
from mlaut.analysis.importers.grids.forms.framing import is_score
from mlaut.analysis.importers.grids.names import role_of

NUMBERED = "column"  # 1, 2, ...: names of columns that have none
_NAMES = ("dataset", "strategy", "metric", "repeat", "fold", "source", "part", "score")
_LOOKED_AT = 300  # rows
_LONG = re.compile(r"\.\d{4,}")  # decimals, more than thresholds have


def with_names(table: pd.DataFrame, said: Collection[str] = ()) -> pd.DataFrame:
    """Return a table whose first line, if it has no names, is its first row.

    The names that a user says tell, else the cells.
    """
    own = {*map(str, table)}
    asked = any(re.fullmatch(rf"{NUMBERED} \d+", x) for x in {*said} - own)
    if table.columns.nlevels > 1 or own & {*said} or not (asked or _is_headless(table)):
        return table
    each: dict[str, pd.Series] = {}
    for i, name in enumerate(map(str, table), 1):
        cells = table.iloc[:, i - 1]
        first = pd.Series([name or None], dtype=object)
        if pd.api.types.is_numeric_dtype(cells):
            first = pd.to_numeric(first, errors="coerce")
        each[f"{NUMBERED} {i}"] = pd.concat([first, cells], ignore_index=True)
    return pd.DataFrame(each)


def _is_headless(table: pd.DataFrame) -> bool:
    """Return whether names are numbers above numbers alone, and values for sure.

    A word comes again in its column, a number goes on counting there, or numbers have decimals, and
    more of them, or in another order, than thresholds.
    """
    names, head = [plain(x) for x in table], table.head(_LOOKED_AT)
    columns = [head.iloc[:, i].dropna() for i in range(len(names))]
    numeric = [not x.empty and _is_numeric(x) for x in columns]
    both = [*zip(names, columns, strict=True)]
    numbers = [x for x, number in zip(both, numeric, strict=True) if number]
    texts = [x for x, number in zip(both, numeric, strict=True) if not number]
    alike = (
        "" not in names and [is_score(x) for x in names] == numeric and len(head) > (len(names) > 1)
    )
    counted = [x for x, _ in numbers] == [str(i) for i in range(len(numbers))]  # as by pandas
    if not numbers or not alike or counted or any(role_of(x) in _NAMES for x, _ in texts):
        return False
    values = [_value(x) for x, _ in numbers]
    ordered = sorted(values) in (values, values[::-1]) and len(values) > 1
    decimals = [x for x, _ in numbers if "." in x]
    return (
        any(x in {*map(str, cells)} for x, cells in texts)
        or any(map(_LONG.search, decimals))
        or (bool(decimals) and not ordered)
        or any(_goes_on(x, cells) for x, (_, cells) in zip(values, numbers, strict=True))
    )


def _is_numeric(cells: pd.Series) -> bool:
    return cells.dtype.kind in "iuf" or cells.map(lambda x: is_score(plain(x))).mean() > 1 / 2


def _value(text: str) -> float:
    found = re.match(r"[+-]?[\d,]*\.?\d*(?:[eE][+-]?\d+)?", text)
    return float(found[0].replace(",", "") or "nan") if found else np.nan


def _goes_on(first: float, cells: pd.Series) -> bool:
    """Return whether whole numbers go on counting below the first, as those of epochs."""
    steps = np.diff([first, *map(_value, map(str, cells))])
    return len(steps) > 1 and steps[0] != 0 and first % 1 == 0 and bool((steps == steps[0]).all())
