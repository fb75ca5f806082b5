"""Candidates of search spaces, drawn at random or made from the suggestions of Optuna."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.utils import check_random_state

from mlaut.errors import StrategyError
from mlaut.sharing.spaces import Floats, Integers

Space = Mapping[str, Any]


def with_ranges(space: Any) -> Any:
    """Return a space in which mappings such as ``{"low": 1, "high": 64, "log": True}`` are ranges.

    Study files write ranges in this form. A range between whole numbers is a range of integers.

    Raises
    ------
    StrategyError
        A mapping is no range.

    Examples
    --------
    >>> with_ranges({"C": {"low": 0.1, "high": 10, "log": True}, "degree": [2, 3]})
    {'C': Floats(low=0.1, high=10, log=True), 'degree': [2, 3]}
    """
    if space and not isinstance(space, Mapping):
        if isinstance(space, str) or not isinstance(space, Sequence):
            raise StrategyError(
                f"search space: {space!r} is no table of parameters with lists of values; write "
                "for example {C = [1, 10]}"
            )
        return [with_ranges(part) for part in space]
    return {name: _range(name, values) for name, values in (space or {}).items()}


def _range(name: str, values: Any) -> Any:
    if not isinstance(values, Mapping):
        return values
    whole = all(type(values.get(end)) is int for end in ("low", "high"))
    try:
        return (Integers if whole else Floats)(**values)
    except TypeError as error:
        raise StrategyError(
            f"search space: {name} = {dict(values)!r} is no range; write for example "
            "{low = 0.1, high = 10.0, log = true}"
        ) from error


def spaces_of(space: Any) -> list[Space]:
    """Return a space, or several, as a list; each parameter has a list of values or a range.

    Raises
    ------
    StrategyError
        A value is neither a list of values, nor a range or distribution that can be drawn from.
    """
    spaces = [space] if isinstance(space, Mapping) else list(space)
    for part in spaces:
        for name, values in part.items():
            listed = isinstance(values, Sequence | np.ndarray) and not isinstance(values, str)
            if not (hasattr(values, "rvs") or (listed and len(values))):
                raise StrategyError(
                    f"search space: {name} = {values!r} is neither a list of values nor a range; "
                    "write for example [1, 10] or mlaut.sharing.Floats(0.1, 10, log=True)"
                )
    return spaces


def is_finite(space: Any) -> bool:
    """Return whether a space consists of lists only."""
    return not any(hasattr(v, "rvs") for part in spaces_of(space) for v in part.values())


def draw(space: Any, n: int | None, random_state: Any) -> list[dict[str, Any]]:
    """Return candidates of a space, in random order, with plain Python numbers as values.

    Parameters
    ----------
    space : mapping, or list of mappings
        For each parameter a list of values, a range, or a distribution of SciPy.
    n : int or None
        Number of candidates. Lists are drawn from without replacement, so there are never more
        than the grid has; None returns all of it.
    random_state : int, RandomState or None

    Examples
    --------
    >>> sorted(point["C"] for point in draw({"C": [1, 2, 3]}, 2, random_state=0))
    [2, 3]
    """
    spaces = spaces_of(space)
    if is_finite(space):
        size = len(ParameterGrid(spaces))
        n = size if n is None else min(n, size)
    if n is None:
        raise StrategyError(
            "search: the grid of a space with ranges has no end; use a random search, for example "
            "search='random(50)'"
        )
    sampler = ParameterSampler(spaces, n, random_state=check_random_state(random_state))
    return [{name: _plain(value) for name, value in point.items()} for point in sampler]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def suggest(space: Any, trial: Any) -> dict[str, Any]:
    """Return the candidate that a trial of Optuna suggests.

    Ranges and distributions are suggested by their quantiles, so that Optuna begins with the same
    distribution from which a random search draws. Lists of increasing numbers keep their order.
    """
    spaces = spaces_of(space)
    number = 0 if len(spaces) == 1 else trial.suggest_categorical("space", [*range(len(spaces))])
    return {
        name: _suggested(f"{number} {name}", values, trial)
        for name, values in sorted(spaces[number].items())
    }


def _suggested(name: str, values: Any, trial: Any) -> Any:
    if hasattr(values, "rvs"):
        return _quantile(name, values)(trial.suggest_float(name, 0.0, 1.0))
    if _increasing(values):
        return _plain(values[trial.suggest_int(name, 0, len(values) - 1)])
    return _plain(values[trial.suggest_categorical(name, [*range(len(values))])])


def _quantile(name: str, values: Any) -> Callable[[float], Any]:
    if not hasattr(values, "ppf"):
        raise StrategyError(
            f"search space: {name} can be drawn from, but has no quantiles (ppf), which optuna "
            "needs; use a random search, or a distribution of SciPy"
        )
    kind = int if isinstance(values.rvs(random_state=0), int | np.integer) else float
    # the ends of a normal distribution are infinite
    return lambda q: kind(values.ppf(min(max(q, _END), 1 - _END)))


_END = 1e-9


def _increasing(values: Iterable[Any]) -> bool:
    listed = list(values)
    numbers = all(
        isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in listed
    )
    return numbers and all(a < b for a, b in pairwise(listed))
