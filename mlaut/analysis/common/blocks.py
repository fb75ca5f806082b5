"""Computation of some pairs at a time, which saves memory where there are many."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

_BLOCK = 2**17  # differences at a time: 1 MB, so that what is computed of them stays in the cache
MANY = 16  # times as many, for what costs less a pair the more pairs there are
Parts = TypeVar("Parts", bound=tuple[Any, ...])


def blocks(d: np.ndarray, times: int = 1) -> list[slice]:
    """Return slices of the pairs of differences (N, P), so many as are computed at a time."""
    n_pairs = max(1, d.shape[1])
    step = max(2, times * _BLOCK // max(1, len(d)))  # as numpy adds a single column otherwise
    count = max(1, n_pairs // step)
    return [slice(n_pairs * k // count, n_pairs * (k + 1) // count) for k in range(count)]


def in_blocks(compute: Callable[..., Parts], times: int = 1) -> Callable[..., Parts]:
    """Make a function of differences (N, P) compute some pairs at a time, which saves memory.

    It returns a tuple, whose arrays have one row for each pair. ``times`` makes blocks larger.
    """

    @wraps(compute)
    def joined(d: np.ndarray, *args: Any, **options: Any) -> Parts:
        whole: list[Any] = []
        for block in blocks(d, times):
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
