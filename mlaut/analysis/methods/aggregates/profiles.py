"""Performance profiles: how often a strategy is good enough."""

import numpy as np
import pandas as pd

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
    steps = np.unique(factor[np.isfinite(factor)])
    ordered = np.sort(factor, axis=0)
    shares = [np.searchsorted(column, steps, side="right") / len(ordered) for column in ordered.T]
    return ResultTable(
        name="Performance profile",
        frame=pd.DataFrame(
            np.stack(shares, axis=1),
            index=pd.Index(steps, name="factor"),
            columns=pd.Index(results.strategies, name="strategy"),
        ),
        source="Dolan & More 2002",
        metric=results.metric.loss_name,
        notes=results.notes_text(),
    )
