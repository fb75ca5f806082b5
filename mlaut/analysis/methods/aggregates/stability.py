"""Stability of a ranking under other datasets, folds and results; means over runs."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import Positive, Seed, Share
from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.results.given import of_results, takes_sources
from mlaut.analysis.results.results import Results
from mlaut.analysis.results.scales import ranks_by_fold
from mlaut.errors import AnalysisError


@of_results
def ranking_stability(
    results: Results,
    others: Mapping[str, Results] | None = None,
    *,
    n_samples: Positive = 1000,
    confidence: Share = 0.95,
    seed: Seed = 0,
) -> ResultTable:
    """Compute how much the ranking of the strategies depends on datasets, folds and other choices.

    Scenario (c).

    Parameters
    ----------
    results : Results or DataFrame
    others : mapping of str to Results, optional
        Results of the same strategies by other metrics, or under other treatments of missing cells,
        by name.
    n_samples : int, default 1000
        Number of splits into halves.
    confidence : float, default 0.95
        Share of the splits between ``low`` and ``high``.
    seed : int, default 0

    Returns
    -------
    ResultTable
        Kendall's tau-b between two rankings by average rank: 1 for the same order, 0 for unrelated
        orders, -1 for the reverse. The rows are ``half of the datasets`` (mean and quantiles over
        two random disjoint halves), ``half of the folds`` (the same for folds, if there are two or
        more), and the names of ``others`` (one number, on all datasets).

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        There are fewer than two strategies or four datasets, or ``others`` have other strategies.

    Notes
    -----
    Halves have less data than the whole, so the ranking by all datasets is more stable than these
    numbers. Tau-b is 0 if all strategies of a ranking are tied. Source: Kendall 1945.

    Examples
    --------
    >>> table = pd.DataFrame({"A": [1.0, 2, 1, 2], "B": [2.0, 3, 2, 3], "C": [3.0, 1, 3, 4]})
    >>> ranking_stability(table, metric="loss", greater_is_better=False).frame.round(2)
                          tau-b   low  high
    half of the datasets   0.33  0.33  0.33
    """
    results = results.in_order
    ranks = paired_losses(results).ranks
    if len(ranks) < 4:
        raise AnalysisError(
            f"halves of {len(ranks)} datasets decide nothing: it needs four datasets"
        )
    rng = np.random.default_rng(seed)
    rows = {"half of the datasets": _of_halves(ranks, n_samples, confidence, rng)}
    of_folds = _ranks_by_fold(results)
    if of_folds is not None and len(of_folds) > 1:
        rows["half of the folds"] = _of_halves(of_folds, n_samples, confidence, rng)
    for name, other in (others or {}).items():
        if set(other.strategies) != set(results.strategies):
            raise AnalysisError(f"the results {name!r} are of other strategies")
        theirs = paired_losses(other.select(strategies=results.strategies)).ranks.mean(axis=0)
        tau = float(_tau_b(ranks.mean(axis=0)[None], theirs[None])[0])
        rows[name] = (tau, np.nan, np.nan)
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=["tau-b", "low", "high"])
    notes = [f"{n_samples} splits into halves, seed {seed}"]
    return results.table("Kendall's tau-b of rankings", frame, "Kendall 1945", notes=notes)


def _ranks_by_fold(results: Results) -> np.ndarray | None:
    """Return the mean over datasets of the ranks in each fold, shape (folds, K)."""
    if not results.expected.all() or results.expected[0].size < 2:
        return None  # datasets with different folds have no halves in common
    return ranks_by_fold(results).mean(axis=0)


def _of_halves(
    ranks: np.ndarray, n_samples: int, confidence: float, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return mean and quantiles of tau-b between the mean ranks of two halves of the rows."""
    order = rng.permuted(np.tile(np.arange(len(ranks)), (n_samples, 1)), axis=1)
    half = len(ranks) // 2
    first = np.zeros((n_samples, len(ranks)))
    np.put_along_axis(first, order[:, :half], 1.0 / half, axis=1)
    second = np.zeros_like(first)
    np.put_along_axis(second, order[:, half : 2 * half], 1.0 / half, axis=1)
    tau = _tau_b(first @ ranks, second @ ranks)
    tail = (1 - confidence) / 2
    low, high = np.quantile(tau, [tail, 1 - tail])
    return float(tau.mean()), float(low), float(high)


def _tau_b(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return Kendall's tau-b of the rows of two arrays, 0 where a row has only ties."""
    upper = np.triu_indices(first.shape[1], 1)
    signs = [np.sign((x[:, upper[0]] - x[:, upper[1]]).round(9)) for x in (first, second)]
    agree = (signs[0] * signs[1]).sum(axis=1)
    untied = np.sqrt(np.prod([np.abs(sign).sum(axis=1) for sign in signs], axis=0))
    return np.divide(agree, untied, out=np.zeros(len(agree)), where=untied > 0)


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
