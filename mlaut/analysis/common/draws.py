"""Random numbers that are functions of a seed, a stream, a draw and a place.

The same input has the same numbers, on every machine.
"""

import numpy as np

# Multipliers of the mixing of 32 bits with the least bias that Wellons (2018, "lowbias32") found.
_FIRST, _SECOND = np.uint32(0x7FEB352D), np.uint32(0x846CA68B)


def hashed(seed: int, stream: int, draws: np.ndarray, width: int) -> np.ndarray:
    """Return random 32-bit numbers: shape (draws, width).

    Parameters
    ----------
    seed, stream : int
        Whole numbers, of which the lowest 32 bits count. Streams of one seed are independent.
    draws : ndarray of int, shape (draws,)
        Numbers of the draws.
    width : int
        Number of places of each draw.

    Examples
    --------
    >>> hashed(0, 0, np.arange(2), 2).tolist()
    [[243300066, 641633281], [928665678, 2722439288]]
    """
    start = _mixed(np.array([seed & 0xFFFFFFFF], dtype=np.uint32)) + np.uint32(stream + 1)
    of_draw = _mixed(_mixed(start) ^ draws.astype(np.uint32))
    return _mixed(_mixed(of_draw[:, None] + np.arange(1, width + 1, dtype=np.uint32)))


def exponentials(seed: int, stream: int, draws: np.ndarray, width: int) -> np.ndarray:
    """Return random numbers of the standard exponential distribution: shape (draws, width)."""
    return -np.log((hashed(seed, stream, draws, width) + 0.5) / 2**32)


def _mixed(bits: np.ndarray) -> np.ndarray:
    bits = (bits ^ (bits >> np.uint32(16))) * _FIRST
    bits = (bits ^ (bits >> np.uint32(15))) * _SECOND
    return bits ^ (bits >> np.uint32(16))
