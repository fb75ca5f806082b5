"""Distances of each strategy from the leader, on the datasets on which both have a result."""

import numpy as np
import pandas as pd

from mlaut.analysis.common.numerics import RELATIVE_NOISE
from mlaut.analysis.results.results import Results
from mlaut.analysis.scores.base import IN_TARGET_UNITS


def margins(scored: Results, leader: str) -> pd.DataFrame:
    """Return how often, and by how much, each strategy is better or worse than the leader.

    Parameters
    ----------
    scored : Results
        Results in which a cell that failed is missing. Only datasets on which both strategies have
        a result count.
    leader : str

    Returns
    -------
    DataFrame
        One row for each strategy. ``won``, ``tied`` and ``lost`` are numbers of datasets with a
        better, the same and a worse score than the leader's; or of sources, if they are known, each
        by most of its datasets. ``difference`` is the mean score minus
        the leader's. A metric whose unit differs between datasets has ``ratio`` instead, if it can
        be computed: the geometric mean of the score divided by the leader's. Metrics that differ
        between datasets have neither. With sources, each source counts once in these means. NaN for
        the leader itself, and where a number cannot be computed.

    Examples
    --------
    >>> table = pd.DataFrame({"A": [0.9, 0.8, 0.7], "B": [0.8, 0.8, np.nan]})
    >>> margins(Results.from_table(table, metric="accuracy"), "A").loc["B"].round(3).tolist()
    [0.0, 1.0, 1.0, -0.05]
    """
    difference = _differences(scored, leader)
    gain = difference if scored.metric.greater_is_better else -difference
    better = by_source(scored, gain.map(np.sign)).map(np.sign)
    counts = {"won": better > 0, "tied": better == 0, "lost": better < 0}
    table = pd.DataFrame({name: count.sum() for name, count in counts.items()}, dtype=float)
    sizes = gaps(scored, leader)
    if _is_ratio(scored):
        whole = sizes.notna().sum() == difference.notna().sum()  # a score of 0 has no ratio
        if whole.drop(leader).any():
            table["ratio"] = np.exp(_mean(by_source(scored, sizes.map(np.log)))).where(whole)
    elif not scored.metric.mixed:
        table["difference"] = _mean(by_source(scored, sizes))
    table.loc[leader] = np.nan
    return table


def _mean(values: pd.DataFrame) -> pd.Series:
    """Return the means of columns; 0 for those that are rounding noise of their values."""
    return values.mean().mask(values.mean().abs() <= RELATIVE_NOISE * values.abs().mean(), 0.0)


def by_source(scored: Results, values: pd.DataFrame) -> pd.DataFrame:
    """Return the mean of each source, or the values of datasets without sources."""
    return values if scored.clusters is None else values.groupby(scored.source).mean()


def gaps(scored: Results, leader: str) -> pd.DataFrame:
    """Return how far each strategy is from the leader on each dataset.

    Parameters
    ----------
    scored : Results
    leader : str

    Returns
    -------
    DataFrame
        Datasets in rows, strategies in columns: the score minus the leader's. For a metric whose
        unit differs between datasets, it is the score divided by the leader's. NaN if one of the
        two has no result, and for a ratio if one of the scores is not positive.
    """
    if not _is_ratio(scored):
        return _differences(scored, leader)
    scores = own_scores(scored)
    positive = scores.where(scores > 0)
    return positive.div(positive[leader], axis=0)


def _is_ratio(scored: Results) -> bool:
    return scored.metric.incomparable == IN_TARGET_UNITS and len(scored.datasets) > 1


def own_scores(scored: Results) -> pd.DataFrame:
    """Return the scores without those that a treatment filled in."""
    scores = scored.scores
    if scored.imputed is None:
        return scores
    return scores.mask(np.asarray(scored.imputed.any(axis=(2, 3))))


def _differences(scored: Results, leader: str) -> pd.DataFrame:
    """Return the differences from the leader; 0 for one that is rounding noise."""
    scores = own_scores(scored)
    gap = scores.sub(scores[leader], axis=0)
    size = np.maximum(scores.abs(), scores[[leader]].abs().to_numpy())
    return gap.where(gap.abs() > scored.noise * size, gap * 0.0)
