"""Interquartile means of runs."""

import numpy as np
import pandas as pd

from mlaut.analysis import Results, ResultTable
from mlaut.errors import AnalysisError
from mlaut.plugins import Positive, Seed, Share, of_results, paired_losses, takes_sources

_SOURCE = "Agarwal et al. 2021; Rao & Wu 1988"
_FOLDS = (
    "the folds of one split share rows and are no independent runs: the intervals are too narrow "
    "unless each is a run of its own"
)


@of_results
@takes_sources
def interquartile_means(
    results: Results, *, n_samples: Positive = 2000, confidence: Share = 0.95, seed: Seed = 0
) -> ResultTable:
    """Compute the mean of the middle half of all runs on all datasets.

    Scenario (b): the datasets are fixed, and the runs on them vary.

    Parameters
    ----------
    results : Results or DataFrame
        Results with two or more folds or repeats on every dataset; each of these is a run.
    n_samples : int, default 2000
        Number of samples of the runs of every dataset.
    confidence : float, default 0.95
        Confidence of the intervals.
    seed : int, default 0

    Returns
    -------
    ResultTable
        One row for each strategy, the best first: ``interquartile mean`` of its scores, and the
        ends ``low`` and ``high`` of its interval.

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        The metric has no means over datasets, datasets differ in their folds, or have only one.

    Notes
    -----
    A quarter of the scores (rounded down) is cut off at either end. From R runs of a dataset, a
    sample draws R - 1 with replacement, since samples of R vary too little by the factor
    sqrt(1 - 1 / R). The intervals of Agarwal et al. and of rliable draw R and are narrower. Source:
    Agarwal et al. 2021, section 4.3; Rao & Wu 1988.

    Examples
    --------
    >>> index = pd.MultiIndex.from_product([["iris", "wine"], [0, 1]])
    >>> table = pd.DataFrame({"A": [0.9, 0.8, 0.7, 0.2], "B": [0.6, 0.5, 0.4, 0.9]}, index)
    >>> interquartile_means(table, metric="accuracy").frame["interquartile mean"].to_dict()
    {'A': 0.75, 'B': 0.55}
    """
    results = results.in_order.select(strategies=sorted(results.strategies))
    runs = _runs(results)
    if results.incomparable:
        raise AnalysisError(f"means do not compare ({results.incomparable}): see scale_free_table")
    rng = np.random.default_rng(seed)
    drawn = [_middle(_drawn(runs, rng)) for _ in range(n_samples)]
    tail = (1 - confidence) / 2
    ends = np.sort(results.metric.loss(np.quantile(drawn, [tail, 1 - tail], axis=0)), axis=0)
    frame = pd.DataFrame(
        {"interquartile mean": results.metric.loss(_middle(runs)), "low": ends[0], "high": ends[1]},
        index=pd.Index(results.strategies, name="strategy"),
    )
    ascending = not results.metric.greater_is_better
    return results.table(
        "Interquartile means of runs",
        frame.sort_values("interquartile mean", ascending=ascending, kind="stable"),
        _SOURCE,
        scenario="(b)",
        notes=(f"{n_samples} samples, seed {seed}", _FOLDS),
        as_scores=True,
    )


def _runs(results: Results) -> np.ndarray:
    """Return the losses of all runs, shape (N, K, runs)."""
    paired_losses(results)
    if not results.expected.all() or results.expected[0].size < 2:
        raise AnalysisError(
            "runs are the folds and repeats of a dataset: each dataset must have as many as the "
            "others, and two or more"
        )
    return results.cell_losses.reshape(*results.cell_losses.shape[:2], -1)


def _drawn(runs: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw R - 1 of the R runs of every dataset and strategy, with replacement."""
    n, k, r = runs.shape
    return np.take_along_axis(runs, rng.integers(r, size=(n, k, r - 1)), axis=2)


def _middle(runs: np.ndarray) -> np.ndarray:
    """Return the interquartile mean of each strategy, shape (K,)."""
    ordered = np.sort(runs.swapaxes(0, 1).reshape(runs.shape[1], -1), axis=1)
    cut = ordered.shape[1] // 4
    return ordered[:, cut : ordered.shape[1] - cut].mean(axis=1)
