"""Difficulty and discrimination of datasets, as of the items of an examination."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mlaut.analysis.common.display import number
from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.explaining.correlations import rank_correlations
from mlaut.analysis.pairwise.corrections import adjust
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.results.given import of_results
from mlaut.analysis.results.results import Results

__all__ = ["dataset_difficulty"]


@of_results
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
        no correlation, and ``adjusted`` for the number of datasets (Benjamini-Hochberg).

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        There are fewer than two datasets or strategies.

    Notes
    -----
    The discrimination is the item-rest correlation of classical test theory: up to the error of the
    average ranks, it is the loading of the dataset in a model with one ability for each strategy. A
    note has the reliability of the average ranks (Cronbach's alpha). With few strategies a single
    discrimination is mostly noise, which its p-value shows; strategies that are alike count as
    independent there. p-values are those of `explain_differences`. Source: Spearman 1904; Cronbach
    1951; Lord & Novick 1968.

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
    both = [rank_correlations(row[:, None], (total - row)[:, None]) for row in ranks]
    rho, p = np.array(both)[:, :, 0, 0].T
    columns = {"discrimination": rho, "p_value": p, "adjusted": adjust(p, "benjamini-hochberg")}
    if not results.incomparable:
        losses = prepared.losses
        columns = {"difficulty": losses.mean(axis=1), "best loss": losses.min(axis=1)} | columns
    constant = int(np.isnan(rho).sum())
    equal = f"{constant} datasets have no discrimination: all ranks there, or elsewhere, are equal"
    return ResultTable(
        name="Difficulty and discrimination",
        frame=pd.DataFrame(columns, index=pd.Index(results.datasets, name="dataset")),
        source="Cronbach 1951; Lord & Novick 1968",
        metric=results.metric.loss_name,
        notes=(
            *results.notes_text(),
            f"reliability of the average ranks (Cronbach's alpha) {number(_alpha(ranks), 2)}",
            *((equal,) if constant else ()),
        ),
    )


def _alpha(ranks: np.ndarray) -> float:
    """Return Cronbach's alpha of the sum of the rows, 0 where all sums are equal."""
    n, of_sum = len(ranks), float(ranks.sum(axis=0).var())
    shares = float(ranks.var(axis=1).sum()) / of_sum if of_sum > 0 else 1.0
    return n / (n - 1) * (1 - shares)
