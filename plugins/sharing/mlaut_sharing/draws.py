"""Candidates of search spaces, drawn at random or made from the suggestions of Optuna."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.utils import check_random_state

from mlaut.errors import StrategyError
from mlaut.plugins import is_finite, spaces_of


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
