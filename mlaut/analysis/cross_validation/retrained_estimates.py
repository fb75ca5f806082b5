"""Losses of strategies that are trained again on the seen datasets: scenario (b).

MLaut 2019 leaves this scenario open. Repeated cross-validation says something of it, because every
fold is one more training; the variance that it shows is corrected for shared rows.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import checked
from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.cross_validation.repeated_cv import cv_interval
from mlaut.analysis.estimates.intervals import mean_ends
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

__all__ = ["fold_table", "retrained_estimates", "retrained_mean_estimates", "train_ratio_of"]

_SOURCE = "Nadeau & Bengio 2003; Bouckaert & Frank 2004"
_NOTE = (
    "approximate: no unbiased estimator of the variance of cross-validation exists (Bengio & "
    "Grandvalet 2004)"
)


def fold_table(values: np.ndarray, results: Results, place: int) -> np.ndarray:
    """Return the cells of one dataset that it has, shape (..., folds, repeats).

    Parameters
    ----------
    values : ndarray, shape (..., repeats, folds)
        In the shape of ``results.cells[place]``.

    Raises
    ------
    AnalysisError
        Its repeats have different numbers of folds.
    """
    expected = results.expected[place]
    repeats, folds = expected.any(axis=1), expected.any(axis=0)
    if not expected[np.ix_(repeats, folds)].all():
        raise AnalysisError(
            f"dataset {results.datasets[place]!r} has repeats with different numbers of folds"
        )
    return np.swapaxes(values[..., repeats, :][..., folds], -1, -2)


def train_ratio_of(results: Results, place: int) -> float | None:
    """Return the mean ratio of test to training rows of a dataset, where the results know it."""
    if results.n_test is None or results.n_train is None:
        return None
    here = results.expected[place]
    trained = np.maximum(results.n_train[place][here], 1)
    return float((results.n_test[place][here] / trained).mean())


def _on_each(results: Results, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Return mean, standard error, low and high, shape (4, N, K), and what each dataset is worth.

    A dataset is worth that many independent test sets, shape (N,).
    """
    results.complete()
    rows, worth = [], []
    for place, dataset in enumerate(results.datasets):
        losses = fold_table(results.cell_losses[place], results, place)
        ratio = train_ratio_of(results, place)
        if losses.shape[-2] < 2 and ratio is None:
            raise AnalysisError(
                f"dataset {dataset!r} has random splits of unknown size: give n_test and n_train"
            )
        if losses.shape[-2] < 2:  # random splits: each repeat is a split
            losses = np.swapaxes(losses, -1, -2)
        try:
            mean, error, _, _ = cv_interval(losses, confidence, ratio)
        except AnalysisError as wrong:
            raise AnalysisError(f"dataset {dataset!r}: {wrong}") from None
        n = losses.shape[-1] * losses.shape[-2]
        worth.append(1 / (1 / n + (1 / (losses.shape[-2] - 1) if ratio is None else ratio)))
        bounds = results.metric.loss_bounds
        ends = mean_ends(mean, error, "bounded", n - 1, confidence, bounds, worth[-1])
        rows.append((mean, error, *ends))
    return np.moveaxis(np.array(rows), 1, 0), np.array(worth)


@checked
def retrained_estimates(results: Results, *, confidence: float = 0.95) -> ResultTable:
    """Estimate the loss of each strategy, trained again, on each dataset: scenario (b).

    Parameters
    ----------
    results : Results
        With two or more folds or random splits on every dataset, repeated or not.
    confidence : float, default 0.95

    Returns
    -------
    ResultTable
        Rows by dataset and strategy: value, standard_error, low, high.

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        A dataset has a single test set.

    Notes
    -----
    See `mlaut.analysis.cv_interval`; within the range of the metric the interval is the bounded one
    of `mlaut.analysis.mean_estimates`.

    Examples
    --------
    >>> folds = pd.MultiIndex.from_product([["iris"], range(2), range(3)])
    >>> losses = pd.DataFrame({"tree": [0.1, 0.2, 0.1, 0.2, 0.1, 0.1]}, index=folds)
    >>> retrained_estimates(Results.from_table(losses, greater_is_better=False)).frame.round(4)
                       value  standard_error     low    high
    dataset strategy
    iris    tree      0.1333          0.0422  0.0249  0.2417
    """
    index = pd.MultiIndex.from_product(
        [results.datasets, results.strategies], names=["dataset", "strategy"]
    )
    parts = _on_each(results, confidence)[0].reshape(4, -1)
    return _table("Estimates by dataset, re-trained", parts, index, results)


@checked
def retrained_mean_estimates(results: Results, *, confidence: float = 0.95) -> ResultTable:
    """Estimate the mean loss over the seen datasets, of strategies trained again: scenario (b).

    Parameters
    ----------
    results : Results
        As for `retrained_estimates`.
    confidence : float, default 0.95

    Returns
    -------
    ResultTable
        A row a strategy: value, standard_error, low, high.

    Raises
    ------
    MissingCellsError, AnalysisError
        As `retrained_estimates`.

    Notes
    -----
    The datasets are independent of each other given that they are these: their variances add up, as
    in Table 3 of MLaut 2019 for scenario (a). Normal interval, within the range of the metric the
    bounded one of `mlaut.analysis.mean_estimates`.

    Examples
    --------
    >>> folds = pd.MultiIndex.from_product([["iris", "wine"], range(5)])
    >>> losses = pd.DataFrame({"tree": [0.1, 0.2, 0.1, 0.2, 0.1, 0.3, 0.4, 0.3, 0.2, 0.3]}, folds)
    >>> retrained_mean_estimates(Results.from_table(losses, greater_is_better=False)).frame.round(4)
              value  standard_error     low    high
    strategy
    tree       0.22            0.03  0.1612  0.2788
    """
    (mean, error, _, _), worth = _on_each(results, confidence)
    value = mean.mean(axis=0)
    total = np.sqrt((error**2).sum(axis=0)) / len(mean)
    n, bounds = len(mean) ** 2 / (1 / worth).sum(), results.metric.loss_bounds
    low, high = mean_ends(value, total, "bounded", np.inf, confidence, bounds, n)
    parts = np.stack([value, total, low, high])
    index = pd.Index(results.strategies, name="strategy")
    return _table("Mean over these datasets, re-trained", parts, index, results)


def _table(name: str, parts: np.ndarray, index: pd.Index, results: Results) -> ResultTable:
    columns = ["value", "standard_error", "low", "high"]
    return ResultTable(
        name=name,
        frame=pd.DataFrame(parts.T, index=index, columns=columns),
        source=_SOURCE,
        metric=results.metric.loss_name,
        scenario="(b)",
        notes=(*results.notes_text(), _NOTE),
    )
