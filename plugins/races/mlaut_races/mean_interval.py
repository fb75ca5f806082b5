"""Intervals of mean differences of bounded losses that are valid at every look."""

import numpy as np

from mlaut_races.evidence import BETS, log_mean

_HALVINGS = 30  # the ends are then exact to 1e-9 of the range, below any difference of interest


def mean_interval(
    losses: np.ndarray, runs: np.ndarray, span: float, confidence: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the mean difference of each pair and its interval, valid at all looks at once.

    Each pair uses the datasets before one of its strategies left.

    Parameters
    ----------
    losses : ndarray, shape (T, K)
        Losses in the order of the datasets; infinity is the largest loss.
    runs : ndarray of int, shape (K,)
        Number of datasets on which each strategy was run.
    span : float
        Width of the range of the loss.
    confidence : float

    Returns
    -------
    value, low, high : ndarray, shape (K, K)
        Loss of the row minus loss of the column. NaN without a dataset.

    Notes
    -----
    The interval holds each mean difference m that no bet against ``D <= m`` or ``D >= m`` has
    refuted with half of the error each (Waudby-Smith & Ramdas 2024, hedged capital).

    Examples
    --------
    >>> losses = np.tile([0.1, 0.2], (50, 1))
    >>> value, low, high = mean_interval(losses, np.array([50, 50]), 1.0, 0.95)
    >>> [round(float(x[1, 0]), 3) for x in (value, low, high)]
    [0.1, -0.016, 0.195]
    """
    k = losses.shape[1]
    first, second = np.triu_indices(k, 1)
    with np.errstate(invalid="ignore"):
        d = np.clip(losses[:, first] - losses[:, second], -span, span)
    d[np.isinf(losses[:, first]) & np.isinf(losses[:, second])] = 0.0
    used = np.arange(len(losses))[:, None] < np.minimum(runs[first], runs[second])
    used &= np.minimum(losses[:, first], losses[:, second]) > -np.inf
    n = used.sum(axis=0)
    total = np.where(used, d, 0.0).sum(axis=0)
    mean = np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)
    need = np.log(2 / (1 - confidence))
    ends = [_lowest(sign * d, used, span, need) for sign in (1.0, -1.0)]
    low, high = ends[0], -ends[1]
    tables = []
    for above, below in ((mean, -mean), (low, -high), (high, -low)):
        table = np.full((k, k), np.nan)
        table[first, second], table[second, first] = above, below
        tables.append(table)
    return tables[0], tables[1], tables[2]


def _lowest(d: np.ndarray, used: np.ndarray, span: float, need: float) -> np.ndarray:
    """Return the largest m for which the wealth against ``mean <= m`` once reached ``need``.

    The wealth falls with m, so the end is found by halving.
    """
    low, high = np.full((2, d.shape[1]), -span)
    high = np.full(d.shape[1], span)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        refuted = _sup(d, used, span, middle) >= need
        low, high = np.where(refuted, middle, low), np.where(refuted, high, middle)
    return low


def _sup(d: np.ndarray, used: np.ndarray, span: float, m: np.ndarray) -> np.ndarray:
    """Return the largest log wealth against ``mean <= m`` over all looks, for each pair."""
    steps = np.where(used, (d - m) / (span + m), 0.0)
    logs = np.cumsum([np.log1p(bet * steps) for bet in BETS], axis=1)
    return log_mean(logs).max(axis=0, initial=0.0)
