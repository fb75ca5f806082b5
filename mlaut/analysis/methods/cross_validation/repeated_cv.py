"""Tests of two strategies on one dataset, from (repeated) cross-validation or random splits.

The folds of a repeated cross-validation share their rows, so their differences are far from
independent. Bouckaert (2003) keeps the usual statistics and lowers their degrees of freedom until
the tests hold their level; Nadeau & Bengio (2003) increase the variance instead. All tests are
scenario (b): the strategies are trained again on the same source.
"""

import numpy as np
from numpy.typing import ArrayLike

from mlaut.analysis.common.arguments import checked, floats
from mlaut.analysis.common.display import SMALLEST_P
from mlaut.analysis.common.numerics import student_quantile
from mlaut.analysis.methods.cross_validation.statistics import (
    CV_TESTS,
    CvTest,
    find_cv_test,
)
from mlaut.errors import AnalysisError
from mlaut.markup import counted


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
    return two_sided_p(CV_TESTS[test], statistic, used)


def two_sided_p(test: CvTest, statistic: np.ndarray, df: float) -> np.ndarray:
    """Return the p-value of a statistic: never 0, but at least the smallest positive float."""
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
