"""Difficulty and discrimination of datasets, as of the items of an examination."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import one_of
from mlaut.analysis.common.display import number
from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.explaining.correlations import rank_correlations
from mlaut.analysis.explaining.item_response import item_response
from mlaut.analysis.pairwise.corrections import adjust
from mlaut.analysis.pairwise.pairs import PairedLosses, paired_losses
from mlaut.analysis.results.given import of_results
from mlaut.analysis.results.results import Results
from mlaut.analysis.results.scales import on_scale
from mlaut.errors import AnalysisError

__all__ = ["dataset_difficulty"]


_ALIKE = "strategies count as independent: where some are alike, the intervals cover too little"
_LEAST = 3  # datasets and strategies of the model: fewer do not bound its spreads


@of_results
def dataset_difficulty(
    results: Results,
    *,
    model: str = "classical",
    n_samples: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> ResultTable:
    """Compute how difficult each dataset is, and how well it tells the strategies apart.

    Scenario (c). The datasets are the items of an examination that the strategies sit. A dataset
    that ranks them as the other datasets do discriminates; one that ranks them at random measures
    something else, or noise.

    Parameters
    ----------
    results : Results or DataFrame
    model : {"classical", "item response"}, default "classical"
        Classical test theory; or Samejima's item response model for continuous responses, of three
        datasets and three strategies or more, whose numbers have intervals.
    n_samples : int, default 2000
        Number of draws from the posterior of the item response model, at least.
    confidence : float, default 0.95
        Probability of its intervals, which have equal tails.
    seed : int, default 0

    Returns
    -------
    ResultTable
        One row for each dataset. ``"classical"``: ``difficulty``, the mean loss of the strategies,
        and ``best loss`` (both are left out for losses in different units); ``discrimination``,
        Spearman's correlation of its ranks with the average ranks on all other datasets; its
        ``p_value`` for no correlation, and ``adjusted`` for the number of datasets
        (Benjamini-Hochberg). ``"item response"``: ``difficulty``, the loss of a strategy of average
        ability, and ``discrimination``, by how many standard deviations of the noise a strategy
        gains whose ability is higher by one standard deviation of the strategies; each with the
        ends ``... low`` and ``... high`` of its interval. A dataset without differences has none.

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        There are too few datasets or strategies, or the model is not known.

    Notes
    -----
    The classical discrimination is the item-rest correlation: up to the error of the average ranks,
    it is the loading of the dataset in a model with one ability for each strategy. A note has the
    reliability of the average ranks (Cronbach's alpha). With few strategies a single discrimination
    is mostly noise, which its p-value shows; strategies that are alike count as independent there.
    p-values are those of `explain_differences`.

    In the item response model the log odds of a loss are ``mu - a sigma theta`` plus normal noise
    with the standard deviation sigma: theta is the ability of the strategy, ``mu`` the difficulty,
    ``a`` the discrimination, and mu, a and sigma belong to the dataset. The ``a`` are normal around
    their mean with a spread that is estimated. Losses without log odds (in different units, or 0 or
    1 without ``n_test``) are replaced by normal scores of their ranks, which have no difficulty.
    The model takes strategies that are alike as independent, so its intervals are then too narrow.
    Source: Spearman 1904; Cronbach 1951; Lord & Novick 1968; Samejima 1973; Wang & Zeng 1998.

    Examples
    --------
    >>> table = pd.DataFrame({"A": [0.1, 0.2, 0.4], "B": [0.2, 0.3, 0.3], "C": [0.3, 0.4, 0.2]})
    >>> found = dataset_difficulty(table, metric="error")
    >>> found.frame.round(2)
             difficulty  best loss  discrimination  p_value  adjusted
    dataset
    0               0.2        0.1             NaN     1.00       1.0
    1               0.3        0.2             NaN     1.00       1.0
    2               0.3        0.2            -1.0     0.33       1.0
    >>> dataset_difficulty(table, metric="error", model="item response").frame.columns.to_list()
    ['difficulty', 'difficulty low', 'difficulty high', 'discrimination', 'discrimination low', \
'discrimination high']
    """
    one_of("model", model, ("classical", "item response"))
    prepared = paired_losses(results)
    if model == "classical":
        columns, notes = _classical(prepared, bool(results.incomparable))
    else:
        columns, notes = _item_response(results, prepared, n_samples, confidence, seed)
    nothing = int(np.isnan(columns["discrimination"]).sum())
    equal = f"{nothing} datasets have no discrimination: all ranks there, or elsewhere, are equal"
    return ResultTable(
        name="Difficulty and discrimination" + (", item response" if model != "classical" else ""),
        frame=pd.DataFrame(columns, index=pd.Index(results.datasets, name="dataset")),
        source=_SOURCES[model],
        metric=results.metric.loss_name,
        notes=(*results.notes_text(), *notes, *((equal,) if nothing else ())),
    )


_SOURCES = {
    "classical": "Cronbach 1951; Lord & Novick 1968",
    "item response": "Samejima 1973; Wang & Zeng 1998",
}
_Columns = tuple[dict[str, np.ndarray], tuple[str, ...]]


def _classical(prepared: PairedLosses, only_ranks: bool) -> _Columns:
    """Return the columns of classical test theory, and notes."""
    ranks = prepared.ranks
    total = ranks.sum(axis=0)
    both = [rank_correlations(row[:, None], (total - row)[:, None]) for row in ranks]
    rho, p = np.array(both)[:, :, 0, 0].T
    columns = {"discrimination": rho, "p_value": p, "adjusted": adjust(p, "benjamini-hochberg")}
    if not only_ranks:
        losses = prepared.losses
        columns = {"difficulty": losses.mean(axis=1), "best loss": losses.min(axis=1)} | columns
    reliability = number(_alpha(ranks), 2)
    return columns, (f"reliability of the average ranks (Cronbach's alpha) {reliability}",)


def _item_response(
    results: Results, prepared: PairedLosses, n_samples: int, confidence: float, seed: int
) -> _Columns:
    """Return the columns of the item response model, and notes."""
    from scipy.special import ndtri

    ranks = prepared.ranks
    differs = np.ptp(ranks, axis=1) > 0
    n, k = int(differs.sum()), ranks.shape[1]
    if min(n, k) < _LEAST:
        raise AnalysisError(
            f"the item response model needs {_LEAST} strategies and {_LEAST} datasets on which "
            f"they differ, and there are {k} and {n}"
        )
    try:
        odds, words = _mean_log_odds(results), "as log odds"
    except AnalysisError:
        odds, words = None, "as normal scores of their ranks on each dataset"
    worse = ndtri((ranks - 0.5) / k) if odds is None else odds
    mu, a, _ = item_response(-worse[differs], n_samples, seed)
    tail = (1 - confidence) / 2
    columns = {}
    if odds is not None:
        low, high = results.metric.loss_bounds
        columns = _with_ends("difficulty", low + (high - low) / (1 + np.exp(mu)), tail)
    columns |= _with_ends("discrimination", a, tail)
    placed = {name: np.full(len(ranks), np.nan) for name in columns}
    for name, values in columns.items():
        placed[name][differs] = values
    return placed, (f"losses {words}; {len(a)} draws, seed {seed}", _ALIKE)


def _mean_log_odds(results: Results) -> np.ndarray:
    """Return the mean log odds over the folds, shape (N, K)."""
    if results.incomparable:
        raise AnalysisError(results.incomparable)
    odds: np.ndarray = np.nanmean(on_scale(results, "logit"), axis=2)
    return odds


def _with_ends(name: str, draws: np.ndarray, tail: float) -> dict[str, np.ndarray]:
    """Return the posterior means of draws, shape (draws, N), and the ends of their intervals."""
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
    return {name: draws.mean(axis=0), f"{name} low": low, f"{name} high": high}


def _alpha(ranks: np.ndarray) -> float:
    """Return Cronbach's alpha of the sum of the rows, 0 where all sums are equal."""
    n, of_sum = len(ranks), float(ranks.sum(axis=0).var())
    shares = float(ranks.var(axis=1).sum()) / of_sum if of_sum > 0 else 1.0
    return n / (n - 1) * (1 - shares)
