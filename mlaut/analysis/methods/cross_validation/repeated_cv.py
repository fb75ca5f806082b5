"""Tests of two strategies on one dataset, from (repeated) cross-validation or random splits.

The folds of a repeated cross-validation share their rows, so their differences are far from
independent. Bouckaert (2003) keeps the usual statistics and lowers their degrees of freedom until
the tests hold their level; Nadeau & Bengio (2003) increase the variance instead. All tests are
scenario (b): the strategies are trained again on the same source. So are the estimates of losses
here, which MLaut 2019 leaves open: every fold trains the strategy once more.
"""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from mlaut.analysis.common.arguments import Share, checked, floats, one_of
from mlaut.analysis.common.display import SMALLEST_P
from mlaut.analysis.common.numerics import student_quantile
from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.estimates.error_intervals import corrected_error
from mlaut.analysis.estimates.intervals import Interval, freedom_of_sum, mean_ends, turned
from mlaut.analysis.methods.cross_validation.statistics import CV_TESTS, CvTest, find_cv_test
from mlaut.analysis.results.given import of_results, takes_sources
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError
from mlaut.helpers.markup import counted


def degrees_of_freedom(test: CvTest, df: float | str, folds: int, runs: int) -> float:
    """Return the degrees of freedom that ``df`` selects: a number, "default" or "calibrated"."""
    if not isinstance(df, str):
        if not (np.isfinite(df) and df > 0):
            raise AnalysisError(f"df = {df} is not a positive number of degrees of freedom")
        return float(df)
    if df not in ("default", "calibrated"):
        raise AnalysisError(f"df = {df!r} is not known: 'default', 'calibrated' or a number")
    if not test.calibratable and df == "calibrated":
        raise AnalysisError(
            f"test {test.name!r} cannot be calibrated: its error does not come from the degrees of "
            "freedom; choose test='use all data', or pass df as a number"
        )
    if df == "default" or not test.calibrated:
        return test.default_df(folds, runs)
    splits = folds * runs if test.resampling else min(test.calibrated)
    if splits not in test.calibrated:
        known = " and ".join(map(str, test.calibrated))
        raise AnalysisError(
            f"{test.name!r} was calibrated for {known} splits, not for {splits}: give df, or "
            "measure it with calibrate()"
        )
    return float(test.calibrated[splits])


def difference_table(differences: ArrayLike, test: CvTest) -> np.ndarray:
    """Return finite differences of shape (..., folds, runs), or raise an AnalysisError."""
    x = floats("differences", differences)
    x = x[..., None] if test.resampling or x.ndim == 1 else x
    if x.ndim < 2 or 0 in x.shape:
        raise AnalysisError(f"differences of shape {x.shape}: expected (..., folds, runs)")
    if not np.isfinite(x).all():
        raise AnalysisError(
            "a difference is missing or infinite: the test needs every fold of every run"
        )
    folds, runs = x.shape[-2:]
    if test.name.startswith("5x2cv") and (folds, runs) != (2, 5):
        raise AnalysisError(f"{test.name} needs 2 folds x 5 runs, not {folds} x {runs}")
    if test.default_df(folds, runs) < 1 or folds < 2:
        splits = "; of random splits, cv_test computes 'corrected resampling'" * (runs > 1)
        raise AnalysisError(
            f"{test.name!r} cannot be computed from {counted(folds, 'fold')} x "
            f"{counted(runs, 'run')}: split with 'kfold(10)' or 'repeated_kfold(10, 10)'{splits}"
        )
    return x


def train_ratio(test: CvTest, folds: int, given: float | None) -> float:
    """Return the ratio of test to training rows: the given one, or 1 / (folds - 1)."""
    if given is not None and not (np.isfinite(given) and given > 0):
        raise AnalysisError(f"test_to_train = {given} is not a positive ratio, such as 1 / 9")
    if given is None and test.name == "corrected resampling":
        raise AnalysisError(
            "corrected resampling needs test_to_train, the ratio of test to training rows"
        )
    return 1 / (folds - 1) if given is None else float(given)


@checked
def cv_statistic(
    differences: ArrayLike,
    test: str = "use all data",
    df: float | str = "calibrated",
    test_to_train: float | None = None,
) -> tuple[np.ndarray, float]:
    """Compute the statistic of a test on cross-validation, for many tables of differences at once.

    Parameters
    ----------
    differences : array_like of float, shape (..., folds, runs), or (..., splits) for resampling
        Difference of two strategies on each test set, in any score or loss.
    test : str, default "use all data"
        A key of `CV_TESTS`.
    df : {"calibrated", "default"} or float, default "calibrated"
        Degrees of freedom. ``"calibrated"``: the number at which the test was measured to hold its
        level. ``"default"``: the number in theory, which assumes independent folds. The corrected
        repeated k-fold and the 5x2cv tests only have default degrees of freedom.
    test_to_train : float, optional
        Ratio of test to training rows, for the corrected tests; for k folds it is 1 / (k - 1).

    Returns
    -------
    statistic : ndarray of float, shape (...)
        ``m sqrt(df + 1) / sd`` with the mean and the variance of the test, except for the
        corrected, the averaged T and the 5x2cv tests. It is infinite if the differences are
        constant and not 0.
    df : float
        Degrees of freedom that were used.

    Raises
    ------
    AnalysisError
        A name is not known, a difference is missing, the table is too small, or the test has no
        such degrees of freedom.

    Notes
    -----
    Bouckaert (2003), Table 1. The degrees of freedom are part of the statistic, because df + 1 is
    the effective number of independent differences.

    Examples
    --------
    Four folds, three runs:

    >>> x = [[0.10, 0.02, 0.06], [0.00, 0.08, 0.04], [0.06, -0.02, 0.10], [0.04, 0.08, -0.01]]
    >>> z, df = cv_statistic(x, "use all data")
    >>> round(float(z), 6), df
    (3.668082, 10.0)
    """
    row = find_cv_test(test)
    x = difference_table(differences, row)
    used = degrees_of_freedom(row, df, *x.shape[-2:])
    return row.statistic(x, used, train_ratio(row, x.shape[-2], test_to_train)), used


@checked
def cv_p_values(
    differences: ArrayLike,
    test: str = "use all data",
    df: float | str = "calibrated",
    test_to_train: float | None = None,
) -> np.ndarray:
    """Compute two-sided p-values of a test on cross-validation, for many tables at once.

    Scenario (b). The null hypothesis is that the expected difference is 0.

    Parameters
    ----------
    differences, test, df, test_to_train
        As in `cv_statistic`.

    Returns
    -------
    ndarray of float, shape (...)
        The p-value of constant differences that are not 0 is the smallest positive float.

    Examples
    --------
    >>> x = [[0.10, 0.02, 0.06], [0.00, 0.08, 0.04], [0.06, -0.02, 0.10], [0.04, 0.08, -0.01]]
    >>> round(float(cv_p_values(x)), 6)
    0.004331
    """
    statistic, used = cv_statistic(differences, test, df, test_to_train)
    return p_of(CV_TESTS[test], statistic, used)


def p_of(
    test: CvTest, statistic: np.ndarray, df: float, alternative: str = "two-sided"
) -> np.ndarray:
    """Return the p-value of a statistic: never 0, but at least the smallest positive float."""
    from scipy.special import fdtrc, stdtr

    one_of("alternative", alternative, ("two-sided", "better", "worse"))
    if test.null == "F":
        if alternative != "two-sided":
            raise AnalysisError(f"{test.name} has no direction: choose alternative='two-sided'")
        return np.clip(fdtrc(10, df, statistic), SMALLEST_P, 1.0)
    if alternative == "two-sided":
        return np.clip(2 * stdtr(df, -np.abs(statistic)), SMALLEST_P, 1.0)
    return np.clip(stdtr(df, statistic if alternative == "better" else -statistic), SMALLEST_P, 1.0)


@checked
def cv_interval(
    values: ArrayLike,
    confidence: Share = 0.95,
    test_to_train: float | None = None,
    span: float = np.inf,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Compute the mean over a repeated cross-validation with its standard error and interval.

    Scenario (b). The interval is approximate: no unbiased estimator of this variance exists (Bengio
    & Grandvalet 2004).

    Parameters
    ----------
    values : array_like of float, shape (..., folds, runs)
        Losses of one strategy, or differences of two, on each test set.
    confidence : float, default 0.95
        Confidence level of the interval.
    test_to_train : float, optional
        Ratio of test to training rows; default 1 / (folds - 1).
    span : float, default infinity
        Largest absolute value that is possible, for example 1 for differences of error rates. The
        interval ends there.

    Returns
    -------
    mean, standard_error, low, high : ndarray of float, shape (...)

    Notes
    -----
    The variance is ``s^2 (1 / (k r) + n_test / n_train)``, and the interval uses the t distribution
    with k r - 1 degrees of freedom: Nadeau & Bengio (2003), and Bouckaert & Frank (2004) for
    repeated cross-validation.

    Examples
    --------
    >>> x = [[0.10, 0.02, 0.06], [0.00, 0.08, 0.04], [0.06, -0.02, 0.10], [0.04, 0.08, -0.01]]
    >>> mean, error, low, high = cv_interval(x)
    >>> round(float(mean), 4), round(float(error), 4), round(float(low), 4), round(float(high), 4)
    (0.0458, 0.0268, -0.013, 0.1047)
    """
    row = CV_TESTS["corrected repeated k-fold"]
    x = difference_table(values, row)
    df = row.default_df(*x.shape[-2:])
    return interval_of(row, x, df, test_to_train, confidence=confidence, span=span)


def interval_of(
    test: CvTest,
    x: np.ndarray,
    df: float,
    test_to_train: float | None,
    *,
    confidence: float = 0.95,
    span: float = np.inf,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the mean with the standard error and the interval of a test; NaN if it has none."""
    if not test.of_mean:
        none = np.full(x.shape[:-2], np.nan)
        return x.mean(axis=(-1, -2)), none, none, none
    mean, squared = test.parts(x, df, train_ratio(test, x.shape[-2], test_to_train))
    half = student_quantile(df, confidence) * np.sqrt(squared)
    return mean, np.sqrt(squared), np.maximum(mean - half, -span), np.minimum(mean + half, span)


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


def _dataset_estimates(
    results: Results, confidence: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the estimates of each dataset, its number of independent test sets, and its freedom.

    The estimates are mean, standard error, low and high, shape (4, N, K). The effective numbers
    and the degrees of freedom have shape (N,).
    """
    results.complete()
    rows, worth, freedom = [], [], []
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
            difference_table(losses, CV_TESTS["corrected repeated k-fold"])
        except AnalysisError as wrong:
            raise AnalysisError(f"dataset {dataset!r}: {wrong}") from None
        n, of_sets = losses.shape[-1] * losses.shape[-2], np.zeros(len(losses))
        if results.variances is not None and results.n_test is not None:
            counts = np.maximum(results.n_test[place], 1)
            by_rows = fold_table(results.variances[place] / counts, results, place)
            of_sets = np.nan_to_num(by_rows).mean(axis=(-1, -2))
        shared = 1 / (losses.shape[-2] - 1) if ratio is None else ratio
        mean = losses.mean(axis=(-1, -2))
        error, own = corrected_error(losses.reshape(len(losses), n), shared, of_sets)
        freedom.append(n - 1)
        worth.append(own)
        bounds = results.metric.loss_bounds
        ends = mean_ends(mean, error, "bounded", n - 1, confidence, bounds, worth[-1])
        rows.append((mean, error, *ends))
    return np.moveaxis(np.array(rows), 1, 0), np.array(worth), np.array(freedom)


@of_results
@takes_sources
def retrained_estimates(results: Results, *, confidence: Share = 0.95) -> ResultTable:
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
    See `mlaut.analysis.methods.cross_validation.cv_interval` for the variance. If the losses of
    test points are known, its part between test sets is at least that of independent test points,
    because stratified test sets are too alike (docs/measured-levels.md). So intervals are rather
    too wide. They are the bounded intervals of `mlaut.analysis.mean_estimates`.
    `mlaut.error_interval` and `error_intervals` have narrower ones from the losses of single rows.

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
    results: Results, *, confidence: Share = 0.95, as_scores: bool = False
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
    up, as in Table 3 of MLaut 2019 for scenario (a). The interval is that of
    `mlaut.analysis.mean_estimates` with the degrees of freedom of Satterthwaite (1946): for one
    dataset it is the interval of `retrained_estimates`.

    Examples
    --------
    >>> folds = pd.MultiIndex.from_product([["iris", "wine"], range(5)])
    >>> losses = pd.DataFrame({"tree": [0.1, 0.2, 0.1, 0.2, 0.1, 0.3, 0.4, 0.3, 0.2, 0.3]}, folds)
    >>> retrained_mean_estimates(Results.from_table(losses, greater_is_better=False)).frame.round(4)
              value  standard_error     low    high
    strategy
    tree       0.22            0.03  0.1501  0.2899
    """
    (mean, error, _, _), worth, freedom = _dataset_estimates(results, confidence)
    value = mean.mean(axis=0)
    total = np.sqrt((error**2).sum(axis=0)) / len(mean)
    n, bounds = len(mean) ** 2 / (1 / worth).sum(), results.metric.loss_bounds
    df = freedom_of_sum(error, freedom)
    low, high = mean_ends(value, total, "bounded", df, confidence, bounds, n)
    means = turned(Interval(value, total, low, high), results, as_scores)
    index = pd.Index(results.strategies, name="strategy")
    return _table("Mean over these datasets, re-trained", means, index, results, as_scores)


def _table(
    name: str, interval: Interval, index: pd.Index, results: Results, as_scores: bool = False
) -> ResultTable:
    frame = pd.DataFrame(interval._asdict(), index=index)
    return results.table(name, frame, _SOURCE, scenario="(b)", as_scores=as_scores, notes=[_NOTE])


def noise_of_folds(
    results: Results, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the standard deviation over folds, and the variance it adds to a dataset's mean.

    Both are averaged over datasets. They are NaN and 0 without folds.
    """
    unknown = np.full(len(first), np.nan), np.zeros(len(first))
    if (results.expected.sum(axis=(1, 2)) < 3).any():
        return unknown
    squares, noise = [], []
    for place in range(len(results.datasets)):
        losses = fold_table(results.cell_losses[place], results, place)
        x = (losses[first] - losses[second]).reshape(len(first), -1)
        folds, ratio = losses.shape[-2], train_ratio_of(results, place)
        if folds < 2 and ratio is None:
            return unknown
        squares.append(x.var(axis=1, ddof=1))
        noise.append(squares[-1] * (1 / x.shape[1] + (ratio or 1 / (folds - 1))))
    return np.sqrt(np.mean(squares, axis=0)), np.mean(noise, axis=0)
