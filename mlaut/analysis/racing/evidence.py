"""E-processes: evidence that grows dataset by dataset and is valid at every look.

A bet ``b`` below 1 is fixed before a dataset is seen, and the dataset shows a step ``x`` between -1
and 1. The wealth ``prod(1 + b x)`` starts at 1. If the expected step is at most 0, given all
earlier datasets, then the wealth reaches ``1 / alpha`` at any time with probability at most
``alpha`` (Ville 1939). Wealth is stored as its natural logarithm, so that it neither overflows nor
vanishes.
"""

from __future__ import annotations

import numpy as np

__all__ = ["BETS", "KINDS", "Steps", "grow", "log_mean", "p_of"]

KINDS = {
    "sign": "neither strategy is more often better",
    "signed rank": "whatever the size of the difference, neither strategy is more often better",
    "mean": "the expected difference of the losses is 0",
}
BETS = (0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
"""Bets of the mixture.

The best single bet on a strategy that wins a share q of the datasets is 2 q - 1; these six are near
the best one for each q from 0.55 to 0.95. The mixture loses at most log 6 against the best of them.
"""


def log_mean(logs: np.ndarray, axis: int = 0) -> np.ndarray:
    """Return the logarithm of the mean of ``exp(logs)`` along an axis, without overflow.

    Examples
    --------
    >>> float(log_mean(np.array([1000.0, 1000.0])))
    1000.0
    """
    top = logs.max(axis=axis, keepdims=True)
    return (top + np.log(np.exp(logs - top).mean(axis=axis, keepdims=True))).squeeze(axis)


def grow(logs: np.ndarray, steps: np.ndarray) -> None:
    """Add a step to the log wealth of every bet, in place.

    Parameters
    ----------
    logs : ndarray, shape (len(BETS), ...)
    steps : ndarray, shape (...)
        Steps between -1 and 1.

    Examples
    --------
    >>> logs = np.zeros((len(BETS), 1))
    >>> for _ in range(7):
    ...     grow(logs, np.array([1.0]))
    >>> np.exp(log_mean(logs)).round(2).tolist()  # seven wins are enough at level 0.05
    [26.87]
    """
    bets = np.reshape(BETS, (-1, *(1,) * steps.ndim))
    logs += np.log1p(bets * steps)


def p_of(log_sup: np.ndarray) -> np.ndarray:
    """Return the anytime-valid p-value of the largest log wealth so far: ``1 / wealth``, up to 1.

    Examples
    --------
    >>> p_of(np.log([20.0, 0.5])).round(12).tolist()
    [0.05, 1.0]
    """
    return np.exp(-np.maximum(log_sup, 0.0))


class Steps:
    """Steps of all ordered pairs of strategies, one dataset after the other.

    Parameters
    ----------
    kind : {"sign", "signed rank", "mean"}
    span : float
        Width of the range of the loss; used by ``"mean"`` alone.
    shape : tuple of int
        Number of datasets, and the shape of the differences of one dataset.

    Examples
    --------
    >>> steps = Steps("signed rank", 1.0, (3, 1))
    >>> [float(steps.of(np.array([d]))[0]) for d in (0.3, -0.1, 0.2)]
    [1.0, -1.0, 1.0]
    >>> float(Steps("mean", 2.0, (1, 1)).of(np.array([0.5]))[0])
    0.25
    """

    def __init__(self, kind: str, span: float, shape: tuple[int, ...]) -> None:
        self.kind, self.span, self._n = kind, span, 0
        self._sizes = np.zeros(shape if kind == "signed rank" else 0)

    def of(self, differences: np.ndarray) -> np.ndarray:
        """Return the steps of the next dataset; a positive step speaks against the first strategy.

        The step of a signed rank is weighted by the share of the sizes seen so far, this one
        included, that are no larger (ties count half). Twice that share is cut at 1: a small
        difference counts less, and one above the median counts in full.
        """
        if self.kind == "mean":
            return np.clip(differences / self.span, -1.0, 1.0)
        if self.kind == "sign":
            return np.sign(differences)
        sizes = np.abs(differences)
        self._sizes[self._n] = sizes
        self._n += 1
        seen = self._sizes[: self._n]
        smaller = ((seen < sizes) & (seen > 0)).sum(axis=0)
        equal = (seen == sizes).sum(axis=0)
        rank = smaller + (equal + 1) / 2
        share = rank / np.maximum((seen > 0).sum(axis=0), 1)
        return np.sign(differences) * np.minimum(2 * share, 1.0)
