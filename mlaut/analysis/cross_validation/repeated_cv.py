"""Tests of two strategies on one dataset, from cross-validation, repeated or not, and resampling.

The folds of a repeated cross-validation share their rows, so their differences are far from
independent. Bouckaert (2003) keeps the usual statistics and lowers their degrees of freedom until
the tests hold their level; Nadeau & Bengio (2003) raise the variance instead. All of it is scenario
(b): what would happen if the strategies were trained again on the same source.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mlaut.analysis.common.arguments import checked, floats
from mlaut.analysis.common.display import SMALLEST_P
from mlaut.analysis.cross_validation.statistics import CV_TESTS, CvTest, find_cv_test, variance
from mlaut.errors import AnalysisError

__all__ = ["cv_interval", "cv_p_values", "cv_statistic"]


def degrees_of_freedom(test: CvTest, df: float | str, folds: int, runs: int) -> float:
    """Return the degrees of freedom that are asked for: a number, "default" or "calibrated"."""
    if not isinstance(df, str):
        if not (np.isfinite(df) and df > 0):
            raise AnalysisError(f"df = {df} is not a positive number of degrees of freedom")
        return float(df)
    if df not in ("default", "calibrated"):
        raise AnalysisError(f"df = {df!r} is not known: 'default', 'calibrated' or a number")
    if not test.calibratable and df == "calibrated":
        raise AnalysisError(
            f"test {test.name!r} cannot be calibrated: degrees of freedom are not what is wrong "
            "with it; take 'use all data', or give df"
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
    """Return the differences as floats of shape (..., folds, runs), or say what is wrong."""
    x = floats("differences", differences)
    x = x[..., None] if test.resampling or x.ndim == 1 else x
    if x.ndim < 2 or 0 in x.shape:
        raise AnalysisError(f"differences of shape {x.shape}: expected (..., folds, runs)")
    if not np.isfinite(x).all():
        raise AnalysisError("a difference is missing or infinite: every fold of every run counts")
    folds, runs = x.shape[-2:]
    if test.name.startswith("5x2cv") and (folds, runs) != (2, 5):
        raise AnalysisError(f"{test.name} needs 2 folds x 5 runs, not {folds} x {runs}")
    if test.default_df(folds, runs) < 1 or folds < 2:
        raise AnalysisError(
            f"{test.name!r} cannot be made from {folds} folds x {runs} runs; random splits have "
            "'corrected resampling'"
        )
    return x


def train_ratio(test: CvTest, folds: int, given: float | None) -> float:
    """Return the ratio of test to training rows."""
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
    """Statistic of a test on cross-validation, for many tables of differences at once.

    Parameters
    ----------
    differences : array_like of float, shape (..., folds, runs), or (..., splits) for resampling
        Difference of two strategies on each test set, of any score.
    test : str, default "use all data"
        A key of `CV_TESTS`.
    df : {"calibrated", "default"} or float, default "calibrated"
        Degrees of freedom: those at which the test was measured to hold its level, those of the
        theory that takes the folds for independent, or given. The corrected repeated k-fold and
        the 5x2cv tests have the default ones only.
    test_to_train : float, optional
        Ratio of test to training rows, for the corrected tests; for k folds it is 1 / (k - 1).

    Returns
    -------
    statistic : ndarray of float, shape (...)
        ``m sqrt(df + 1) / sd`` with the mean and the variance of the test, save for the corrected,
        the averaged T and the 5x2cv tests. Infinite where the differences are constant and not 0.
    df : float

    Raises
    ------
    AnalysisError
        A name is not known, a difference is missing, the table is too small, or there are no such
        degrees of freedom.

    Notes
    -----
    Bouckaert (2003), Table 1. The degrees of freedom are part of the statistic: df + 1 is an
    effective number of independent differences.

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
    """Two-sided p-values of a test on cross-validation, for many tables at once.

    Scenario (b). The null hypothesis is that the expected difference is 0.

    Parameters
    ----------
    differences, test, df, test_to_train
        As in `cv_statistic`.

    Returns
    -------
    ndarray of float, shape (...)
        Of constant differences that are not 0 the smallest number of the machine.

    Examples
    --------
    >>> x = [[0.10, 0.02, 0.06], [0.00, 0.08, 0.04], [0.06, -0.02, 0.10], [0.04, 0.08, -0.01]]
    >>> round(float(cv_p_values(x)), 6)
    0.004331
    """
    statistic, used = cv_statistic(differences, test, df, test_to_train)
    return two_sided_p(CV_TESTS[test], statistic, used)


def two_sided_p(test: CvTest, statistic: np.ndarray, df: float) -> np.ndarray:
    """Return the p-value of a statistic; never 0, the smallest number of the machine at least."""
    from scipy.special import fdtrc, stdtr

    if test.null == "F":
        return np.clip(fdtrc(10, df, statistic), SMALLEST_P, 1.0)
    return np.clip(2 * stdtr(df, -np.abs(statistic)), SMALLEST_P, 1.0)


@checked
def cv_interval(
    values: ArrayLike,
    confidence: float = 0.95,
    test_to_train: float | None = None,
    span: float = np.inf,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Mean over a repeated cross-validation with its standard error and interval, scenario (b).

    Approximate: no unbiased estimator of this variance exists (Bengio & Grandvalet 2004).

    Parameters
    ----------
    values : array_like of float, shape (..., folds, runs)
        Losses of one strategy, or differences of two, on each test set.
    confidence : float, default 0.95
    test_to_train : float, optional
        Ratio of test to training rows; by default 1 / (folds - 1).
    span : float, default infinity
        The largest size that a value can have, where the interval ends: 1 for differences of error
        rates.

    Returns
    -------
    mean, standard_error, low, high : ndarray of float, shape (...)

    Notes
    -----
    Nadeau & Bengio (2003): ``s^2 (1 / (k r) + n_test / n_train)``, t distribution with k r - 1
    degrees of freedom; Bouckaert & Frank (2004) for the repeated cross-validation.

    Examples
    --------
    >>> x = [[0.10, 0.02, 0.06], [0.00, 0.08, 0.04], [0.06, -0.02, 0.10], [0.04, 0.08, -0.01]]
    >>> mean, error, low, high = cv_interval(x)
    >>> round(float(mean), 4), round(float(error), 4), round(float(low), 4), round(float(high), 4)
    (0.0458, 0.0268, -0.013, 0.1047)
    """
    from scipy.special import stdtrit

    row = CV_TESTS["corrected repeated k-fold"]
    x = difference_table(values, row)
    n, ratio = x.shape[-1] * x.shape[-2], train_ratio(row, x.shape[-2], test_to_train)
    flat = x.reshape(*x.shape[:-2], n)
    mean, error = flat.mean(axis=-1), np.sqrt(variance(flat) * (1 / n + ratio))
    half = stdtrit(n - 1, 0.5 + confidence / 2) * error
    return mean, error, np.maximum(mean - half, -span), np.minimum(mean + half, span)
