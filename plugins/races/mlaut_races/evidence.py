"""E-processes: evidence that grows dataset by dataset and is valid at every look.

A bet ``b`` below 1 is fixed before a dataset is seen, and the dataset shows a step ``x`` between -1
and 1. The wealth ``prod(1 + b x)`` starts at 1. If the expected step is at most 0, given all
earlier datasets, then the wealth reaches ``1 / alpha`` at any time with probability at most
``alpha`` (Ville 1939). Wealth is stored as its natural logarithm, so that it neither overflows nor
vanishes.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Step = Callable[[np.ndarray], np.ndarray]
_SOURCE = "Ville 1939; Waudby-Smith & Ramdas 2024; Arnold et al. 2026 (sequential confidence sets)"

BETS = (0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
"""Bets of the mixture.

The best single bet on a strategy that wins a share q of the datasets is 2 q - 1; these six are near
the best one for each q from 0.55 to 0.95. The mixture loses at most log 6 against the best of them.
Other bets are another rule: raise `mlaut.records.RACE_RULE` with them.
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


def _means(span: float, _shape: tuple[int, ...]) -> Step:
    return lambda differences: np.clip(differences / span, -1.0, 1.0)


class _RankedSteps:
    """Steps whose weight is the share of the sizes seen so far that are no larger.

    The share includes the present difference, and ties count half. The weight is twice the share,
    but at most 1: a small difference counts less, and one above the median counts in full.
    """

    def __init__(self, _span: float, shape: tuple[int, ...]) -> None:
        self._sizes, self._n = np.zeros(shape), 0

    def __call__(self, differences: np.ndarray) -> np.ndarray:
        sizes = np.abs(differences)
        self._sizes[self._n] = sizes
        self._n += 1
        seen = self._sizes[: self._n]
        smaller = ((seen < sizes) & (seen > 0)).sum(axis=0)
        equal = (seen == sizes).sum(axis=0)
        rank = smaller + (equal + 1) / 2
        share = rank / np.maximum((seen > 0).sum(axis=0), 1)
        return np.sign(differences) * np.minimum(2 * share, 1.0)


@dataclass(frozen=True)
class Kind:
    """Kind of a race: the meaning of "worse", and the bet on it.

    Each kind is a bet: its evidence is an e-value at every look, which all texts, tables and
    decisions of a race assume. A test at fixed looks is no kind of race.

    Attributes
    ----------
    name : str
    steps : callable
        A function of the width of the range of the loss, and of the tuple ``(n, *shape)``: the
        number of datasets, and the shape of the differences of one dataset. It returns another
        function, which is called with the differences of one dataset after the other and returns
        steps between -1 and 1. A positive step is evidence against the first strategy of a pair. If
        that strategy is no worse, the expected step, given all earlier datasets, is at most 0.
    null : str
        Null hypothesis of a pair.
    test : str
        Test of `mlaut.analysis.common.tests.TESTS` that reports use once the race is completed.
    mean : bool, default False
        Whether the kind is about expected differences, and so needs a metric with a known range.
    source : str
        Publications of the method.

    Examples
    --------
    >>> step = KINDS["signed rank"].steps(1.0, (3, 1))
    >>> [float(step(np.array([d]))[0]) for d in (0.3, -0.1, 0.2)]
    [1.0, -1.0, 1.0]
    >>> float(KINDS["mean"].steps(2.0, (1, 1))(np.array([0.5]))[0])
    0.25
    """

    name: str
    steps: Callable[[float, tuple[int, ...]], Step]
    null: str
    test: str
    mean: bool = False
    source: str = _SOURCE


_KINDS = (
    Kind("sign", lambda *_: np.sign, "neither strategy is more often better", "sign"),
    Kind(
        "signed rank",
        _RankedSteps,
        "whatever the size of the difference, neither strategy is more often better",
        "signed rank",
    ),
    Kind("mean", _means, "the expected difference of the losses is 0", "t", mean=True),
)
KINDS = {kind.name: kind for kind in _KINDS}
