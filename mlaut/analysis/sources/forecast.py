"""Forecast: how probably more sources (or datasets) would tell two strategies apart."""

import numpy as np

from mlaut.analysis.sources.chances import Chances


def decided_with(
    rows: np.ndarray, drawn: Chances, leader: int, rival: int, more: int, bar: float
) -> float:
    """Return the probability that ``more`` rows like these tell two strategies apart.

    Parameters
    ----------
    rows : ndarray, shape (G, K)
        What was compared, a row a source or dataset.
    drawn : Chances
        `chances` of the rows: its draws include that the two are equal.
    leader, rival : int
        Positions of the strategies.
    more : int
        Number of rows to come.
    bar : float
        The statistic (mean / standard error) from which on they are told apart.

    Notes
    -----
    Posterior predictive probability: for each draw of the true difference, the mean of all rows is
    normal around what the rows so far and the draw say. The standard deviation is the observed one.

    Examples
    --------
    >>> from mlaut.analysis.sources.chances import chances
    >>> rows = np.random.default_rng(1).normal([0, 0.4], 1, size=(20, 2))
    >>> [round(decided_with(rows, chances(rows), 0, 1, n, 2.0), 1) for n in (10, 1000)]
    [0.1, 0.3]
    """
    from scipy.special import ndtr

    n = len(rows)
    d = rows[:, rival] - rows[:, leader]
    sd = d.std(ddof=1)
    true = drawn.draws[:, rival] - drawn.draws[:, leader]
    if sd == 0:
        return float((true != 0).mean())
    mean = (n * d.mean() + more * true) / (n + more)
    spread, bar = sd * np.sqrt(more) / (n + more), bar * sd / np.sqrt(n + more)
    return float((ndtr((mean - bar) / spread) + ndtr((-mean - bar) / spread)).mean())
