"""Parser of searches and budgets in words, such as ``"random(50)"`` and ``"10m cpu"``."""

import re
from dataclasses import dataclass

from mlaut.errors import StrategyError, refuse_unknown

KINDS = ("grid", "random", "halving", "optuna")
SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
"""Seconds of a unit of time."""
_BUDGET = re.compile(r"(\d+(?:\.\d*)?)\s*(s|m|min|h|d)?\s*(cpu|evaluations?)?")
FACTOR = 3  # of halving: each rung keeps a third of the candidates, as in scikit-learn


@dataclass(frozen=True)
class Wanted:
    """Kind and size of a search.

    Attributes
    ----------
    kind : {"grid", "random", "halving", "optuna"}
    n : int or None
        Number of candidates; None if the budget determines it.
    factor : int
        For halving: each rung keeps one candidate in ``factor``, on ``factor`` times as many rows.
    """

    kind: str = "grid"
    n: int | None = None
    factor: int = FACTOR


@dataclass(frozen=True)
class Budget:
    """Budget of a search.

    Attributes
    ----------
    amount : float
    unit : {"evaluations", "cpu", "wall"}
        Evaluations of a candidate on all folds and all training rows (an evaluation on a part
        counts as that part), seconds of CPU time, or seconds of wall time.
    """

    amount: float
    unit: str


def parse_search(text: str) -> Wanted:
    """Return a search from its words.

    Raises
    ------
    StrategyError
        The text names no search, or its number is not a whole one above 0.

    Examples
    --------
    >>> parse_search("halving(81)")
    Wanted(kind='halving', n=81, factor=3)
    >>> parse_search("radom(50)")
    Traceback (most recent call last):
    mlaut.errors.StrategyError: no search is called 'radom'; did you mean 'random'?
    """
    match = re.fullmatch(r"(\w+)(?:\(([^()]*)\))?", str(text).strip())
    kind, inside = (match[1], match[2]) if match else (str(text), None)
    refuse_unknown([kind], KINDS, StrategyError, "no search is called")
    numbers = [part.strip() for part in inside.split(",")] if inside else []
    values = [int(part.removeprefix("factor=")) if _is_whole(part) else 0 for part in numbers]
    if len(values) > (2 if kind == "halving" else 1) or not all(values) or values[1:] == [1]:
        raise StrategyError(
            f"search {text!r}: in parentheses stands a number of candidates above 0, for halving "
            "also a factor of 2 or more; write for example 'random(50)' or 'halving(81, factor=3)'"
        )
    if kind == "grid" and values:
        raise StrategyError(
            f"search {text!r}: a grid is searched as a whole; write 'random({values[0]})' for "
            "so many of its candidates"
        )
    return Wanted(kind, *values)


def _is_whole(part: str) -> bool:
    return re.fullmatch(r"(factor=)?[1-9]\d*", part) is not None


def parse_budget(text: str | float | None) -> Budget | None:
    """Return a budget from its words, or from a number of evaluations; None for None.

    Raises
    ------
    StrategyError
        The text is no budget above 0.

    Examples
    --------
    >>> parse_budget("50 evaluations"), parse_budget("10m cpu")
    (Budget(amount=50.0, unit='evaluations'), Budget(amount=600.0, unit='cpu'))
    >>> parse_budget(50) == parse_budget("50"), parse_budget("90s")
    (True, Budget(amount=90.0, unit='wall'))
    """
    if text is None:
        return None
    match = _BUDGET.fullmatch(str(text).strip().lower())
    number, unit, kind = match.groups() if match else ("0", None, None)
    evaluations = kind != "cpu" and (kind or not unit)
    if not float(number) or (evaluations and unit):
        raise StrategyError(
            f"budget {text!r}: not a budget above 0; write for example '50 evaluations', "
            "'10m cpu' (CPU time) or '10m' (wall time)"
        )
    if evaluations:
        return Budget(float(number), "evaluations")
    return Budget(float(number) * SECONDS[unit or ""], kind or "wall")
