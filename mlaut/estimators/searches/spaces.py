"""Search spaces: lists of values and ranges, from which candidates are drawn."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

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
