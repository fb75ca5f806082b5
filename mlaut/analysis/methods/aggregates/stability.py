"""Stability of a ranking under other datasets, other folds, and other results."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.results.given import of_results
from mlaut.analysis.results.results import Results
from mlaut.analysis.results.scales import ranks_by_fold
from mlaut.errors import AnalysisError


@of_results
def ranking_stability(
    results: Results,
    others: Mapping[str, Results] | None = None,
    *,
    n_samples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> ResultTable:
    """Compute how much the ranking of the strategies depends on datasets, folds and other choices.

    Scenario (c).

    Parameters
    ----------
    results : Results or DataFrame
    others : mapping of str to Results, optional
        Results of the same strategies by other metrics, or under other treatments of missing cells.
        Rankings are compared by their names.
    n_samples : int, default 1000
        Number of splits into halves.
    confidence : float, default 0.95
        Share of the splits between ``low`` and ``high``.
    seed : int, default 0

    Returns
    -------
    ResultTable
        Kendall's tau-b between two rankings by average rank: 1 for the same order, 0 for none in
        common, -1 for the reverse. Rows: ``half of the datasets`` (two disjoint halves at random:
        mean and quantiles), ``half of the folds`` (likewise, where there are two folds or more),
        and the names of ``others`` (one number, on all datasets).

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        There are fewer than two strategies or four datasets, or ``others`` have other strategies.

    Notes
    -----
    Halves have less data than the whole, so the ranking by all datasets is more stable than the
    table says. Tau-b is 0 where a ranking has all strategies tied. Source: Kendall 1945.

    Examples
    --------
    >>> table = pd.DataFrame({"A": [1.0, 2, 1, 2], "B": [2.0, 3, 2, 3], "C": [3.0, 1, 3, 4]})
    >>> found = ranking_stability(table, metric="loss", greater_is_better=False)
    >>> found.frame.round(2)
                          tau-b   low  high
    half of the datasets   0.33  0.33  0.33
    """
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
    return ResultTable(
        name="Kendall's tau-b of rankings",
        frame=pd.DataFrame.from_dict(rows, orient="index", columns=["tau-b", "low", "high"]),
        source="Kendall 1945",
        metric=results.metric.loss_name,
        notes=(*results.notes_text(), f"{n_samples} splits into halves, seed {seed}"),
    )


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
