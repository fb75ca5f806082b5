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
        whole: list[Any] = []
        for block in blocks(d):
            part = compute(d[:, block], *args, **options)
            whole = whole or [
                np.empty((d.shape[1], *x.shape[1:]), x.dtype) if isinstance(x, np.ndarray) else x
                for x in part
            ]
            for values, own in zip(whole, part, strict=True):
                if isinstance(own, np.ndarray):
                    values[block] = own
        make: Any = getattr(type(part), "_make", tuple)
        return make(whole)

    return joined
