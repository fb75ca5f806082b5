"""Performance profiles and data profiles: how often a strategy is good enough."""

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import position
from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.results.given import of_results
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError


@of_results
def performance_profile(results: Results) -> ResultTable:
    """Compute on which share of datasets each strategy is within a factor of the best loss.

    Scenario (c), without intervals.

    Parameters
    ----------
    results : Results or DataFrame
        Results with losses of 0 or more.

    Returns
    -------
    ResultTable
        One row for each factor at which a share changes, from 1 up, and one column for each
        strategy: the share of datasets on which its loss is at most this factor times the best.
        Where the best loss is 0 and another is not, no factor is enough.

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        A loss is below 0, or there are fewer than two datasets or strategies.

    Notes
    -----
    The shares of two strategies depend on the others, through the best: a profile compares each
    strategy with the best, and no two with each other. Source: Dolan & More 2002.

    Examples
    --------
    >>> table = pd.DataFrame({"A": [1.0, 4.0], "B": [2.0, 1.0]})
    >>> performance_profile(table, metric="loss", greater_is_better=False).frame
    strategy    A    B
    factor
    1.0       0.5  0.5
    2.0       0.5  1.0
    4.0       1.0  1.0
    """
    losses = paired_losses(results).snapped
    if (losses < 0).any():
        raise AnalysisError(
            f"a factor of the best needs losses of 0 or more, and {results.metric.loss_name} has "
            "others: see scale_free_table"
        )
    best = losses.min(axis=1, keepdims=True)
    factor = np.where(losses == best, 1.0, np.inf)
    with np.errstate(over="ignore"):  # a factor beyond the largest number is infinite
        np.divide(losses, best, out=factor, where=(best > 0) & (losses > best))
    return _profile(results, factor, "factor", "Performance profile", "Dolan & More 2002")


@of_results
def data_profile(results: Results, baseline: str, *, tolerance: float = 0.1) -> ResultTable:
    """Compute which share of datasets each strategy has solved within a time.

    Scenario (c), without intervals. A dataset is solved if the loss is at most ``best + tolerance
    (loss of the baseline - best)``.

    Parameters
    ----------
    results : Results
        Results of a study, which has times.
    baseline : str
        The strategy whose improvement counts, for example the baseline.
    tolerance : float, default 0.1
        Part of the largest improvement that may be lacking.

    Returns
    -------
    ResultTable
        One row for each time at which a share changes, in seconds for one fold (tuning, fitting and
        predicting, mean over folds), and one column for each strategy: the share of datasets that
        it has solved.

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        The results have no times, or the baseline is not known.

    Notes
    -----
    The times are those of whole fits, so a strategy solves a dataset at one time or never. Source:
    More & Wild 2009.
    """
    losses = paired_losses(results).snapped
    at = position("strategy", baseline, results.strategies)
    if results.seconds is None:
        raise AnalysisError(
            "a data profile needs times, and these results come without: use those "
            "of a study, or performance_profile"
        )
    if not 0 <= tolerance < 1:
        raise AnalysisError(f"tolerance = {tolerance:g} is not from 0 to less than 1")
    best = losses.min(axis=1, keepdims=True)
    solved = losses <= best + tolerance * (losses[:, [at]] - best)
    expected = results.expected[:, None]
    seconds = np.where(expected, results.seconds.sum(axis=-1), 0).sum(axis=(2, 3))
    seconds = np.where(solved, seconds / expected.sum(axis=(2, 3)), np.inf)
    name = f"Data profile against {baseline}, tolerance {tolerance:g}"
    return _profile(results, seconds, "seconds", name, "More & Wild 2009")


def _profile(
    results: Results, needed: np.ndarray, what: str, name: str, source: str
) -> ResultTable:
    """Return the shares of datasets with at most each of the needed values, shape (N, K)."""
    steps = np.unique(needed[np.isfinite(needed)])
    ordered = np.sort(needed, axis=0)
    shares = [np.searchsorted(column, steps, side="right") / len(ordered) for column in ordered.T]
    frame = pd.DataFrame(
        np.stack(shares, axis=1),
        index=pd.Index(steps, name=what),
        columns=pd.Index(results.strategies, name="strategy"),
    )
    return ResultTable(
        name=name,
        frame=frame,
        source=source,
        metric=results.metric.loss_name,
        notes=results.notes_text(),
    )
