"""Difficulty and discrimination of datasets, as of the items of an examination."""

from itertools import permutations
from math import factorial

import numpy as np
import pandas as pd

from mlaut.analysis.common.display import number
from mlaut.analysis.common.numerics import ranked
from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.pairwise.corrections import adjust
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.results.given import of_results, takes_sources
from mlaut.analysis.results.results import Results

_EXACT = 8  # strategies: up to here all 8! = 40320 orders are counted


@of_results
@takes_sources
def dataset_difficulty(results: Results) -> ResultTable:
    """Compute how difficult each dataset is, and how well it tells the strategies apart.

    Scenario (c). The datasets are the items of an examination that the strategies sit. A dataset
    that ranks them as the other datasets do discriminates; one that ranks them at random measures
    something else, or noise.

    Parameters
    ----------
    results : Results or DataFrame

    Returns
    -------
    ResultTable
        One row for each dataset: ``difficulty``, the mean loss of the strategies, and ``best loss``
        (both are left out for losses in different units); ``discrimination``, Spearman's
        correlation of its ranks with the average ranks on all other datasets; its ``p_value`` for
        no correlation, and ``adjusted`` for the number of datasets (Benjamini-Hochberg). A dataset
        without differences has no discrimination.

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        There are too few datasets or strategies.

    Notes
    -----
    The discrimination is the item-rest correlation: up to the error of the average ranks,
    it is the loading of the dataset in a model with one ability for each strategy. A note has the
    reliability of the average ranks (Cronbach's alpha). With few strategies a single discrimination
    is mostly noise, which its p-value shows; strategies that are alike count as independent there.
    p-values are exact up to 8 strategies. Source: Spearman 1904; Cronbach 1951; Lord & Novick 1968.

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
    """
    prepared = paired_losses(results)
    ranks = prepared.ranks
    total = ranks.sum(axis=0)
    rho, p = np.transpose([_rank_correlation(row, total - row) for row in ranks])
    columns = {"discrimination": rho, "p_value": p, "adjusted": adjust(p, "benjamini-hochberg")}
    if not results.incomparable:
        losses = prepared.losses
        columns = {"difficulty": losses.mean(axis=1), "best loss": losses.min(axis=1)} | columns
    reliability = number(_alpha(ranks), 2)
    notes = [f"reliability of the average ranks (Cronbach's alpha) {reliability}"]
    nothing = int(np.isnan(columns["discrimination"]).sum())
    equal = f"{nothing} datasets have no discrimination: all ranks there, or elsewhere, are equal"
    return ResultTable(
        name="Difficulty and discrimination",
        frame=pd.DataFrame(columns, index=pd.Index(results.datasets, name="dataset")),
        source="Cronbach 1951; Lord & Novick 1968",
        metric=results.metric.loss_name,
        notes=(*results.notes_text(), *notes, *((equal,) if nothing else ())),
    )


def _alpha(ranks: np.ndarray) -> float:
    """Return Cronbach's alpha of the sum of the rows, 0 where all sums are equal."""
    n, of_sum = len(ranks), float(ranks.sum(axis=0).var())
    shares = float(ranks.var(axis=1).sum()) / of_sum if of_sum > 0 else 1.0
    return n / (n - 1) * (1 - shares)


def _rank_correlation(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return Spearman's rho and its two-sided p-value; NaN and 1 for a constant.

    Up to 8 numbers all orders are counted. For more the p-value is Student's, with the larger one
    of the usual standard error and the jackknife's, which allows for unequal spread.
    """
    from scipy.special import stdtr

    if not (np.ptp(x) and np.ptp(y)):
        return np.nan, 1.0
    n, first, second = len(x), _centred_ranks(x), _centred_ranks(y)
    rho = float(np.clip(first @ second, -1, 1))
    if n <= _EXACT:
        orders = np.array(list(permutations(range(n))))
        return rho, float((np.abs(first[orders] @ second) >= abs(rho) - 1e-12).mean())
    left = [_centred_ranks(np.delete(x, i)) @ _centred_ranks(np.delete(y, i)) for i in range(n)]
    variance = max((1 - rho**2) / (n - 2), (n - 1) * np.var(left), 1e-300)
    p = 2 * stdtr(n - 2, -abs(rho) / np.sqrt(variance))
    return rho, float(np.clip(p, 2 / factorial(min(n, 170)), 1.0))


def _centred_ranks(values: np.ndarray) -> np.ndarray:
    """Return ranks with mean 0 and length 1; zeros for a constant."""
    ranks = ranked(values[:, None])[:, 0]
    ranks -= ranks.mean()
    return ranks / (np.linalg.norm(ranks) or 1.0)
