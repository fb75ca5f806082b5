"""Reasons and warnings of cells, counted: one row for all that differ only in their numbers."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from mlaut.errors import some_of

_NUMBER = re.compile(r"-?\d[\d.,]*(?:e[+-]?\d+)?")
_TIMES = re.compile(r" \(\d+ times\)$")  # end of a warning that one cell raised repeatedly


def without_numbers(reason: str) -> str:
    """Return a reason with a sign for each number, which tells reasons of one kind."""
    return _NUMBER.sub("#", reason)


def raised_once(warning: str) -> str:
    """Return the text of a warning without how often it came in a cell."""
    return _TIMES.sub("", warning.strip())


def rows_by_kind(
    column: str, cells: Iterable[tuple[Mapping[str, str], str, str, int]]
) -> list[dict[str, Any]]:
    """Return one row for each kind of text, most cells first, with the first text as last column.

    Parameters
    ----------
    column : str
        Name of the texts.
    cells : iterable of (mapping, str, str, int)
        Whose text it is (other columns), the text, the dataset, and the number of cells.

    Examples
    --------
    >>> of_a = {"strategy": "a"}
    >>> rows_by_kind("reason", [(of_a, "3 rows", "iris", 1), (of_a, "9 rows", "wine", 4)])
    [{'strategy': 'a', 'cells': 5, 'datasets': 'iris, wine', 'reason': '3 rows'}]
    """
    first: dict[tuple[str, ...], str] = {}
    told = []
    for whose, text, dataset, n in cells:
        kind = {**whose, column: without_numbers(text)}
        first.setdefault(tuple(kind.values()), text)
        told.append((kind, dataset, {"cells": n}))
    rows = zip(rows_by_reason(told), first.values(), strict=True)
    found = ({**{k: x for k, x in row.items() if k != column}, column: text} for row, text in rows)
    return sorted(found, key=lambda row: -row["cells"])


def rows_by_reason(
    cells: Iterable[tuple[Mapping[str, Any], str, Mapping[str, int]]],
) -> list[dict[str, Any]]:
    """Return one row for each reason, in the order in which the reasons come first.

    Parameters
    ----------
    cells : iterable of (mapping, str, mapping of str to int)
        Reason (columns of the row that tell rows apart), dataset, and numbers that are added up
        over the datasets, such as ``{"cells": 3}``. A row without dataset has an empty text.

    Examples
    --------
    >>> cells = [({"why": "slow"}, "a", {"cells": 1}), ({"why": "slow"}, "b", {"cells": 2})]
    >>> rows_by_reason(cells)
    [{'why': 'slow', 'cells': 3, 'datasets': 'a, b'}]
    """
    groups: dict[tuple[Any, ...], tuple[Mapping[str, Any], Counter[str], dict[str, None]]] = {}
    for reason, dataset, numbers in cells:
        key = tuple(reason.values())
        _, counts, datasets = groups.setdefault(key, (reason, Counter(), {}))
        counts.update(numbers)
        if dataset:
            datasets[dataset] = None
    return [
        {**reason, **counts, "datasets": some_of(datasets, 3) if datasets else ""}
        for reason, counts, datasets in groups.values()
    ]
