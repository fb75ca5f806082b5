"""The smallest flip: the fewest rows (datasets or sources) without which a conclusion changes."""

from typing import NamedTuple

import numpy as np

from mlaut.analysis.common.numerics import RELATIVE_NOISE


class Flip(NamedTuple):
    """The smallest removal of rows that changes a conclusion.

    Attributes
    ----------
    rows : tuple of int
        Rows without which the conclusion changes; empty if no removal changes it.
    leader : int
        Position of the strategy that leads then; -1 if there is none.
    """

    rows: tuple[int, ...]
    leader: int


def smallest_flip(rows: np.ndarray) -> Flip:
    """Return the fewest rows without which another strategy leads, exactly.

    Parameters
    ----------
    rows : ndarray, shape (G, K)
        Values whose sum over rows is compared, lower is better: ranks, losses, or shares of wins
        times -1. The row of a source has sums if each dataset counts once, and means if each source
        counts once.

    Notes
    -----
    Against one rival, it is best to remove the rows with the largest advantages over it. So the
    smallest number over all rivals is exact.

    Examples
    --------
    >>> smallest_flip(np.array([[1, 2], [1, 2], [2, 1], [1, 2]]))
    Flip(rows=(0, 1, 3), leader=1)
    """
    ahead = rows - rows[:, [int(rows.sum(axis=0).argmin())]]
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
