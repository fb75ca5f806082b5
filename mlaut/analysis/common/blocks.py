"""Computation of some pairs at a time, which saves memory where there are many."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

_BLOCK = 2**21  # differences at a time: 16 MB, and several times that for what is computed of them
Parts = TypeVar("Parts", bound=tuple[Any, ...])


def blocks(d: np.ndarray) -> list[slice]:
    """Return slices of the pairs of differences (N, P), so many as are computed at a time."""
    step = max(1, _BLOCK // max(1, len(d)))
    return [slice(start, start + step) for start in range(0, max(1, d.shape[1]), step)]


def in_blocks(compute: Callable[..., Parts]) -> Callable[..., Parts]:
    """Make a function of differences (N, P) compute some pairs at a time, which saves memory.

    It returns a tuple, whose arrays have one row for each pair.
    """

    @wraps(compute)
    def joined(d: np.ndarray, *args: Any, **options: Any) -> Parts:
        parts = [compute(d[:, block], *args, **options) for block in blocks(d)]
        whole = [
            np.concatenate(values) if isinstance(values[0], np.ndarray) else values[0]
            for values in zip(*parts, strict=True)
        ]
        make: Any = getattr(type(parts[0]), "_make", tuple)
        return make(whole) if len(parts) > 1 else parts[0]

    return joined
