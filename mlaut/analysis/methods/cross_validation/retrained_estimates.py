"""Estimated losses of strategies that are trained again on the seen datasets: scenario (b).

MLaut 2019 leaves this scenario open. Cross-validation allows estimates of it, because every fold
trains the strategy once more. The variance over folds is corrected for the rows that they share.
"""

import numpy as np
import pandas as pd

from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.estimates.intervals import Interval, mean_ends, turned
from mlaut.analysis.methods.cross_validation.repeated_cv import cv_interval
from mlaut.analysis.results.given import of_results, takes_sources
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

_SOURCE = "Nadeau & Bengio 2003; Bouckaert & Frank 2004"
_NOTE = (
    "approximate: no unbiased estimator of the variance of cross-validation exists (Bengio & "
    "Grandvalet 2004)"
)


def fold_table(values: np.ndarray, results: Results, place: int) -> np.ndarray:
    """Return the values of the cells that one dataset has, shape (..., folds, repeats).

    Parameters
    ----------
    values : ndarray, shape (..., repeats, folds)
        One value for each cell, in the shape of ``results.cells[place]``.
    results : Results
    place : int
        Index of the dataset.

    Raises
    ------
    AnalysisError
        The repeats of the dataset have different numbers of folds.
    """
    expected = results.expected[place]
    repeats, folds = expected.any(axis=1), expected.any(axis=0)
    if not expected[np.ix_(repeats, folds)].all():
        raise AnalysisError(
            f"dataset {results.datasets[place]!r} has repeats with different numbers of folds"
        )
    return np.swapaxes(values[..., repeats, :][..., folds], -1, -2)


def train_ratio_of(results: Results, place: int) -> float | None:
    """Return the mean ratio of test to training rows of a dataset, or None if it is not known."""
    if results.n_test is None or results.n_train is None:
        return None
    here = results.expected[place]
    trained = np.maximum(results.n_train[place][here], 1)
    return float((results.n_test[place][here] / trained).mean())


def _dataset_estimates(results: Results, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the estimates of each dataset and its effective number of independent test sets.

    The estimates are mean, standard error, low and high, shape (4, N, K). The effective numbers
    have shape (N,).
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
        if losses.shape[-2] < 2:  # random splits are stored as repeats of one fold
            losses = np.swapaxes(losses, -1, -2)
        try:
            mean, error, _, _ = cv_interval(losses, confidence, ratio)
        except AnalysisError as wrong:
            raise AnalysisError(f"dataset {dataset!r}: {wrong}") from None
        n = losses.shape[-1] * losses.shape[-2]
        worth.append(1 / (1 / n + (1 / (losses.shape[-2] - 1) if ratio is None else ratio)))
        if results.variances is not None and results.n_test is not None:
            counts = np.maximum(results.n_test[place], 1)
            of_sets = fold_table(results.variances[place] / counts, results, place)
            least = np.nan_to_num(of_sets).mean(axis=(-1, -2)) / worth[-1]
            error = np.maximum(error, np.sqrt(least))
        bounds = results.metric.loss_bounds
        ends = mean_ends(mean, error, "bounded", n - 1, confidence, bounds, worth[-1])
        rows.append((mean, error, *ends))
    return np.moveaxis(np.array(rows), 1, 0), np.array(worth)


@of_results
@takes_sources
def retrained_estimates(results: Results, *, confidence: float = 0.95) -> ResultTable:
    """Estimate the loss of each strategy on each dataset if it is trained again: scenario (b).

    Parameters
    ----------
    results : Results
        Results with two or more folds or random splits on every dataset, repeated or not.
    confidence : float, default 0.95
        Confidence level of the intervals.

    Returns
    -------
    ResultTable
        One row for each dataset and strategy: value, standard_error, low, high.

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        A dataset has a single test set.

    Notes
    -----
    See `mlaut.analysis.methods.cross_validation.cv_interval` for the variance, whose part between
    test sets is at least that of independent test points where their losses are known: stratified
    test sets are too alike (docs/measured-levels.md), so that intervals are rather too wide. They
    are the bounded intervals of `mlaut.analysis.mean_estimates`. `mlaut.error_interval` and
    `error_intervals` have narrower ones from the losses of single rows.

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
    parts = _dataset_estimates(results, confidence)[0].reshape(4, -1)
    return _table("Estimates by dataset, re-trained", Interval(*parts), index, results)


@of_results
@takes_sources
def retrained_mean_estimates(
    results: Results, *, confidence: float = 0.95, as_scores: bool = False
) -> ResultTable:
    """Estimate the mean loss of strategies trained again, over the seen datasets: scenario (b).

    Parameters
    ----------
    results : Results
        Results as for `retrained_estimates`.
    confidence : float, default 0.95
        Confidence level of the intervals.
    as_scores : bool, default False
        Whether to return scores as the metric defines them, in place of losses.

    Returns
    -------
    ResultTable
        One row for each strategy: value, standard_error, low, high.

    Raises
    ------
    MissingCellsError, AnalysisError
        As in `retrained_estimates`.

    Notes
    -----
    The datasets are fixed, so the errors of their estimates are independent and their variances add
    up, as in Table 3 of MLaut 2019 for scenario (a). The interval is normal; for a metric with a
    finite range it is the bounded interval of `mlaut.analysis.mean_estimates`.

    Examples
    --------
    >>> folds = pd.MultiIndex.from_product([["iris", "wine"], range(5)])
    >>> losses = pd.DataFrame({"tree": [0.1, 0.2, 0.1, 0.2, 0.1, 0.3, 0.4, 0.3, 0.2, 0.3]}, folds)
    >>> retrained_mean_estimates(Results.from_table(losses, greater_is_better=False)).frame.round(4)
              value  standard_error     low    high
    strategy
    tree       0.22            0.03  0.1612  0.2788
    """
    (mean, error, _, _), worth = _dataset_estimates(results, confidence)
    value = mean.mean(axis=0)
    total = np.sqrt((error**2).sum(axis=0)) / len(mean)
    n, bounds = len(mean) ** 2 / (1 / worth).sum(), results.metric.loss_bounds
    low, high = mean_ends(value, total, "bounded", np.inf, confidence, bounds, n)
    found = turned(Interval(value, total, low, high), results, as_scores)
    index = pd.Index(results.strategies, name="strategy")
    return _table("Mean over these datasets, re-trained", found, index, results, as_scores)


def _table(
    name: str, found: Interval, index: pd.Index, results: Results, as_scores: bool = False
) -> ResultTable:
    return ResultTable(
        name=name,
        frame=pd.DataFrame(found._asdict(), index=index),
        source=_SOURCE,
        metric=results.metric.name if as_scores else results.metric.loss_name,
        scenario="(b)",
        notes=(*results.notes_text(), _NOTE),
    )
