"""Means that have no unit: ranks, normalised scores, shares."""

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import Share
from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.estimates.intervals import mean_ends
from mlaut.analysis.methods.aggregates.per_dataset import values_of
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.results.given import of_results
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

_SHARES = ("won duels", "share best", "normalised score", "improvability")


@of_results
def scale_free_table(
    results: Results, *, baseline: str | None = None, confidence: Share = 0.95
) -> ResultTable:
    """Compute means over datasets that do not depend on the units of the losses.

    Scenario (c).

    Parameters
    ----------
    results : Results or DataFrame
    baseline : str, optional
        A strategy whose normalised score is 0, instead of the median of the strategies.
    confidence : float, default 0.95
        Confidence of the intervals, by the method ``"bounded"`` of `mean_estimates`.

    Returns
    -------
    ResultTable
        One row for each strategy, the best average rank first. Each number has its interval in the
        columns ``... low`` and ``... high``:

        - ``average rank``: 1 is the best.
        - ``won duels``: share of the other strategies that the strategy beats; a tie counts half.
        - ``share best``: share of datasets on which it is best, divided between equally good ones.
        - ``normalised score``: 1 for the best loss of a dataset, 0 for the median and above, linear
          between them (Salinas & Erickson 2024).
        - ``improvability``: share of its loss that the best strategy avoids, 0 is the best
          (Erickson et al. 2025). It is left out if losses can be below 0.

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        There are fewer than two datasets or strategies, or the baseline is not known.

    Notes
    -----
    All these numbers depend on which strategies are compared. The comparison of two strategies by
    the mean loss does not.

    Examples
    --------
    >>> table = pd.DataFrame({"A": [10.0, 0.2], "B": [20.0, 0.1], "C": [40.0, 0.4]})
    >>> frame = scale_free_table(Results.from_table(table, greater_is_better=False)).frame
    >>> frame[["average rank", "won duels", "normalised score", "improvability"]]
              average rank  won duels  normalised score  improvability
    strategy
    A                  1.5       0.75               0.5           0.25
    B                  1.5       0.75               0.5           0.25
    C                  3.0       0.00               0.0           0.75
    """
    ranks, k = paired_losses(results).ranks, len(results.strategies)
    values = {"average rank": ranks, "won duels": (k - ranks) / (k - 1)}
    values["share best"] = -values_of(results, "wins")
    values["normalised score"] = 1 - values_of(results, "normalised", baseline)
    notes: list[str] = []
    try:
        values["improvability"] = values_of(results, "improvability")
    except AnalysisError as error:
        notes.append(str(error))
    bounds = {"average rank": (1.0, float(k)), **dict.fromkeys(_SHARES, (0.0, 1.0))}
    frame = pd.concat(
        [_means(name, x, bounds[name], confidence) for name, x in values.items()], axis=1
    )
    frame.index = pd.Index(results.strategies, name="strategy")
    name = "Scale-free means" + (f" (against {baseline})" if baseline else "")
    frame = frame.sort_values("average rank", kind="stable")
    return results.table(name, frame, "Salinas & Erickson 2024; Erickson et al. 2025", notes=notes)


def _means(
    name: str, values: np.ndarray, bounds: tuple[float, float], confidence: float
) -> pd.DataFrame:
    """Return means over datasets and their intervals, one row for each strategy."""
    n, mean = len(values), values.mean(axis=0)
    error = values.std(axis=0, ddof=1) / np.sqrt(n)
    low, high = mean_ends(mean, error, "bounded", n - 1, confidence, bounds, n)
    return pd.DataFrame({name: mean, f"{name} low": low, f"{name} high": high})
