"""The Plackett-Luce model of whole rankings."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.results.given import of_results
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

__all__ = ["plackett_luce"]

_STEPS = 100  # of Newton's method, which needs 5 to 30
_DONE = 1e-9  # change of log worths
_LONGEST = 2.0  # step of a log worth: a longer one can miss the peak


@of_results
def plackett_luce(
    results: Results,
    *,
    prior: float = 0.01,
    confidence: float = 0.95,
) -> ResultTable:
    """Fit the Plackett-Luce model to the rankings of the strategies on all datasets.

    Scenario (c). On a new dataset the best strategy is drawn with probabilities proportional to the
    worths, then the second of the others, and so on. The worths are therefore the probabilities of
    being the best on a new dataset; those of two strategies do not depend on the others, if the
    model is right.

    Parameters
    ----------
    results : Results or DataFrame
    prior : float, default 0.01
        Precision of a normal prior of the log worths, which keeps the worth of a strategy that is
        first, or last, everywhere finite.
    confidence : float, default 0.95
        Confidence of the intervals.

    Returns
    -------
    ResultTable
        One row for each strategy, the best first: ``log worth`` (their mean is 0), the ``worth``
        (their sum is 1) and the ends ``low`` and ``high`` of its interval.

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        There are fewer than two datasets or strategies, or an option is out of range.

    Notes
    -----
    A ranking has the likelihood of Cox's regression without censoring, with one stratum for each
    dataset; ties have Efron's likelihood. The intervals rest on the variance of the scores over
    datasets (the "sandwich"), which is right where the model is not, and on Student's t. Source:
    Luce 1959; Plackett 1975; Efron 1977.

    Examples
    --------
    >>> table = pd.DataFrame({"A": [1, 2, 1, 1], "B": [2, 1, 3, 4], "C": [3, 3, 2, 3]})
    >>> found = plackett_luce(Results.from_table(table, greater_is_better=False))
    >>> found.frame["worth"].round(2).to_list()
    [0.78, 0.11, 0.11]
    """
    from scipy.special import stdtrit

    if not 0 < prior < np.inf:
        raise AnalysisError(f"prior = {prior:g} is not a positive number")
    ranks = paired_losses(results).ranks
    logs, covariance = _fitted(ranks, prior)
    quantile = float(stdtrit(len(ranks) - 1, 0.5 + confidence / 2))
    worth, low, high = _worths(logs, covariance, quantile)
    columns = {"log worth": logs, "worth": worth, "low": low, "high": high}
    index = pd.Index(results.strategies, name="strategy")
    frame = pd.DataFrame(columns, index=index)
    return ResultTable(
        name="Plackett-Luce worths",
        frame=frame.sort_values("worth", ascending=False, kind="stable"),
        source="Luce 1959; Plackett 1975",
        metric=results.metric.loss_name,
        notes=(*results.notes_text(), f"prior precision of the log worths {prior:g}"),
    )


def _stages(ranks: np.ndarray) -> np.ndarray:
    """Return the weight of each strategy at each stage of each dataset, shape (N, K, K).

    At a stage one strategy is chosen from those that are left. A group of t tied strategies takes t
    stages; at the j-th of them, from 0, each of the group is left with weight 1 - j / t.
    """
    ordered = np.sort(ranks, axis=1)
    first = np.stack([np.searchsorted(row, row) for row in ordered])
    # the mean rank of a group of t, of which the first has place f (from 0), is f + (t + 1) / 2
    size = 2 * (ordered - first) - 1
    gone = (np.arange(ranks.shape[1]) - first) / size
    behind = ranks[:, None] > ordered[..., None]
    return np.where(ranks[:, None] == ordered[..., None], 1 - gone[..., None], behind)


def _fitted(ranks: np.ndarray, prior: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the log worths with the largest posterior density, and their robust covariance."""
    left = _stages(ranks)
    n, k = ranks.shape
    logs = np.zeros(k)
    for _ in range(_STEPS):
        share = left * np.exp(logs - logs.max())
        share /= share.sum(axis=2, keepdims=True)
        scores = 1 - share.sum(axis=1)  # every strategy is chosen once on each dataset
        flat = share.reshape(-1, k)
        curvature = np.diag(n - scores.sum(axis=0) + prior) - flat.T @ flat
        step = np.linalg.solve(curvature, scores.sum(axis=0) - prior * logs)
        logs = logs + step / max(np.abs(step).max() / _LONGEST, 1.0)
        if np.abs(step).max() < _DONE:
            break
    bread = np.linalg.inv(curvature)
    return logs - logs.mean(), bread @ (scores.T @ scores) @ bread * n / (n - 1)


def _worths(
    logs: np.ndarray, covariance: np.ndarray, quantile: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the worths and the ends of their intervals, which are symmetric on the log odds."""
    from scipy.special import expit

    worth = np.exp(logs - np.logaddexp.reduce(logs))
    others = np.logaddexp.reduce(np.where(np.eye(len(logs), dtype=bool), -np.inf, logs), axis=1)
    slopes = (np.eye(len(logs)) - worth) / -np.expm1(logs - np.logaddexp.reduce(logs))[:, None]
    variance = np.einsum("ij,jk,ik->i", slopes, covariance, slopes)
    error = np.sqrt(np.maximum(variance, 0.0))  # equal strategies have -1e-17
    return worth, expit(logs - others - quantile * error), expit(logs - others + quantile * error)
