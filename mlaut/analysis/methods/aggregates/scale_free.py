"""Means over datasets of numbers without a unit: ranks, normalised scores, shares of the best."""

import numpy as np
import pandas as pd

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
    results: Results, *, baseline: str | None = None, confidence: float = 0.95
) -> ResultTable:
    """Compute means over datasets that do not depend on the units of the losses.

    Scenario (c).

    Parameters
    ----------
    results : Results or DataFrame
    baseline : str, optional
        A strategy whose normalised score is 0, in place of the median of the strategies.
    confidence : float, default 0.95
        Confidence of the intervals, by the method ``"bounded"`` of `mean_estimates`.

    Returns
    -------
    ResultTable
        One row for each strategy, the best average rank first. Each number has its interval in the
        columns ``... low`` and ``... high``:

        - ``average rank``: 1 is the best.
        - ``won duels``: share of the other strategies that it beats; a tie counts half.
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
    All these numbers depend on which strategies are compared. By the mean loss two strategies
    compare alike whatever the others are.

    Examples
    --------
    >>> table = pd.DataFrame({"A": [10.0, 0.2], "B": [20.0, 0.1], "C": [40.0, 0.4]})
    >>> found = scale_free_table(Results.from_table(table, greater_is_better=False)).frame
    >>> found[["average rank", "won duels", "normalised score", "improvability"]]
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
    return ResultTable(
        name="Scale-free means" + (f" (against {baseline})" if baseline else ""),
        frame=frame.sort_values("average rank", kind="stable"),
        source="Salinas & Erickson 2024; Erickson et al. 2025",
        metric=results.metric.loss_name,
        notes=(*results.notes_text(), *notes),
    )


def _means(
    name: str, values: np.ndarray, bounds: tuple[float, float], confidence: float
) -> pd.DataFrame:
    """Return means over datasets and their intervals, with NaN left out: one row a strategy."""
    n = np.isfinite(values).sum(axis=0)
    mean = np.nansum(values, axis=0) / np.maximum(n, 1)
    df = np.maximum(n - 1, 1)
    error = np.sqrt(np.nansum((values - mean) ** 2, axis=0) / df / np.maximum(n, 1))
    ends = mean_ends(mean, error, "bounded", df, confidence, bounds, np.maximum(n, 1))
    mean, low, high = np.where(n > [[0], [1], [1]], [mean, *ends], np.nan)
    return pd.DataFrame({name: mean, f"{name} low": low, f"{name} high": high})


@of_results
def percent_of_best(
    results: Results, *, missing: str = "raise", threshold: float = 0.9, confidence: float = 0.95
) -> ResultTable:
    """Compute which part of the best score of each dataset the strategies reach.

    Scenario (c).

    Parameters
    ----------
    results : Results or DataFrame
        Results of a metric whose scores are 0 or more, and better if greater; or of a loss that has
        a largest value, such as an error rate: its score is the distance from there.
    missing : {"raise", "zero", "left out"}, default "raise"
        ``"zero"`` counts a missing cell as the score 0, as Fernandez-Delgado et al. (2014) do;
        ``"left out"`` averages over the datasets that the strategy has.
    threshold : float, default 0.9
        The last column counts datasets on which the strategy reaches more than this part.
    confidence : float, default 0.95
        Confidence of the intervals, by the method ``"bounded"`` of `mean_estimates`.

    Returns
    -------
    ResultTable
        One row for each strategy, the best first: ``per cent of best`` with its interval in ``...
        low`` and ``... high``, ``datasets`` (how many count), and ``per cent above threshold``.

    Raises
    ------
    MissingCellsError
        Cells are missing, and ``missing`` is ``"raise"``.
    AnalysisError
        The metric is no such metric, or no strategy has a result on a dataset.

    Notes
    -----
    Where the best score is 0, all strategies reach all of it. Source: Fernandez-Delgado et al.
    2014, section 3.

    Examples
    --------
    >>> table = pd.DataFrame({"A": [0.9, 0.8], "B": [0.6, None]})
    >>> found = percent_of_best(table, metric="accuracy", missing="zero")
    >>> found.frame["per cent of best"].round(1).to_dict()
    {'A': 100.0, 'B': 33.3}
    """
    if missing not in ("raise", "zero", "left out"):
        raise AnalysisError(f"missing = {missing!r} is not known; 'raise', 'zero', 'left out'")
    if missing == "raise":
        results.complete()
    metric, worst = results.metric, results.metric.loss_bounds[1]
    of_loss = not metric.greater_is_better and np.isfinite(worst)
    scores = (worst - results.losses if of_loss else results.scores).to_numpy()
    empty = np.isnan(scores).all(axis=1)
    if empty.any():
        names = [name for name, none in zip(results.datasets, empty, strict=True) if none]
        raise AnalysisError(f"no strategy has a result on {', '.join(names[:5])}: leave it out")
    if not (metric.greater_is_better or of_loss) or (scores < 0).any():
        raise AnalysisError(
            f"a part of the best needs scores of 0 or more that are better if greater, and "
            f"{metric.name} has others: see scale_free_table"
        )
    best = np.nanmax(scores, axis=1, keepdims=True)
    part = np.divide(scores, best, out=np.where(np.isnan(scores), np.nan, 1.0), where=best > 0)
    if missing == "zero":
        part = np.nan_to_num(part, nan=0.0)
    frame = _means("per cent of best", 100 * part, (0.0, 100.0), confidence)
    counts = np.isfinite(part).sum(axis=0)
    frame["datasets"] = counts
    above = (np.nan_to_num(part) > threshold).sum(axis=0)
    frame[f"per cent above {threshold:g}"] = 100 * above / np.maximum(counts, 1)
    frame.index = pd.Index(results.strategies, name="strategy")
    treatment = "counted as 0" if missing == "zero" else "left out"
    holes = int(np.isnan(scores).sum())
    return ResultTable(
        name="Per cent of the best score",
        frame=frame.sort_values("per cent of best", ascending=False, kind="stable"),
        source="Fernandez-Delgado et al. 2014, section 3",
        metric=f"{worst:g} - {metric.name}" if of_loss else metric.name,
        notes=(
            *results.notes_text(),
            *((f"{holes} missing results are {treatment}",) if holes else ()),
            *(("one dataset has no interval",) if len(part) == 1 else ()),
        ),
    )
