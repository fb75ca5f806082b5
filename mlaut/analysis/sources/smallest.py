"""The smallest flip: the fewest rows (datasets or sources) that a conclusion rests on."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mlaut.analysis.common.numerics import RELATIVE_NOISE


class Flip(NamedTuple):
    """The smallest change that turns a conclusion.

    Attributes
    ----------
    rows : tuple of int
        Rows without which the conclusion is another; empty where no removal changes it.
    leader : int
        Position of the strategy that leads then; -1 where none does.
    """

    rows: tuple[int, ...]
    leader: int


def smallest_flip(rows: np.ndarray, leader: int | None = None) -> Flip:
    """Return the fewest rows without which another strategy leads, exactly.

    Parameters
    ----------
    rows : ndarray, shape (G, K)
        What is summed over rows, lower is better: ranks, losses, or shares of wins times -1.
        A source is a row of sums where each dataset counts once, and of means where each source
        does.
    leader : int, optional
        Default the strategy with the smallest sum.

    Notes
    -----
    Against one rival the best rows to take away are those with the largest advantages, so the
    smallest number over all rivals is exact.

    Examples
    --------
    >>> smallest_flip(np.array([[1, 2], [1, 2], [2, 1], [1, 2]]))
    Flip(rows=(0, 1, 3), leader=1)
    """
    at = int(rows.sum(axis=0).argmin()) if leader is None else leader
    ahead = rows - rows[:, [at]]
    order = np.argsort(-ahead, axis=0, kind="stable")
    left = ahead.sum(axis=0) - np.take_along_axis(ahead, order, axis=0).cumsum(axis=0)
    noise = RELATIVE_NOISE * np.abs(rows).sum(axis=0).max()
    flips = left[:-1] < -noise
    needed = np.where(flips.any(axis=0), flips.argmax(axis=0) + 1, len(rows))
    if needed.min() == len(rows):
        return Flip((), -1)
    least = np.flatnonzero(needed == needed.min())
    rival = int(least[np.argmin(left[needed.min() - 1, least])])
    return Flip(tuple(sorted(order[: needed[rival], rival].tolist())), rival)


def leaders_without(rows: np.ndarray) -> np.ndarray:
    """Return the leader without each row in turn, shape (G,).

    Examples
    --------
    >>> leaders_without(np.array([[0.0, 3.0], [2.0, 1.0], [2.0, 1.0]])).tolist()
    [1, 0, 0]
    """
    return np.argmin(rows.sum(axis=0) - rows, axis=1)


def fewest_without(
    gains: np.ndarray, holds: Callable[[np.ndarray], bool], most: int | None = None
) -> tuple[int, ...]:
    """Return few rows without which a conclusion does not hold, checked; empty if none was found.

    Parameters
    ----------
    gains : ndarray, shape (G,)
        How much each row speaks for the conclusion. Rows are taken away in this order, so fewer
        rows might do: the number is a bound.
    holds : callable
        Function of the remaining rows (bool, shape (G,)) that says whether the conclusion holds.
    most : int, optional
        Largest number of rows to take away; default half of them.

    Examples
    --------
    >>> gains = np.array([3.0, 1.0, 2.0, -1.0])
    >>> fewest_without(gains, lambda stays: gains[stays].sum() > 1)
    (0, 2)
    """
    order = np.argsort(-gains, kind="stable")
    stays = np.ones(len(gains), dtype=bool)
    for count, row in enumerate(order[: len(gains) // 2 if most is None else most], start=1):
        stays[row] = False
        if not holds(stays):
            return tuple(sorted(order[:count].tolist()))
    return ()
