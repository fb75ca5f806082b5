"""Comparisons of two strategies by tests on cross-validation, on one dataset or on every dataset.

All are scenario (b). `mlaut.analysis.methods.cross_validation.repeated_cv` computes the statistics.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from mlaut.analysis.common.arguments import Pair, checked
from mlaut.analysis.common.display import number
from mlaut.analysis.common.numerics import snap, student_quantile
from mlaut.analysis.common.result_types import Estimate, ResultTable, TestResult
from mlaut.analysis.methods.cross_validation.repeated_cv import (
    cv_statistic,
    difference_table,
    fold_table,
    interval_of,
    p_of,
    train_ratio_of,
)
from mlaut.analysis.methods.cross_validation.statistics import CvTest, find_cv_test
from mlaut.analysis.pairwise.corrections import adjust
from mlaut.analysis.pairwise.pairs import Pairs
from mlaut.analysis.results.given import of_results
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

_NULL = "the expected difference, re-trained on this dataset, is 0"
_SIDES = {"better": "the first is better", "worse": "the first is worse"}
_LIMITS = (
    "the calibration is not universal: {df} held the level 5 % for naive Bayes against unpruned "
    "trees on binary data (Bouckaert 2003), and 'use all data' with its 10 df rejected 16.5 % "
    "against pruned ones; calibrate() measures it for other strategies"
)
_DEFAULT = "the default df assume independent test sets, but they are dependent: p is too small"
_FIVE_BY_TWO = (
    "it rejected 7.3 % at level 5 % for naive Bayes against unpruned trees where neither is better "
    "(docs/measured-levels.md)"
)
_GIVEN = (
    "the degrees of freedom were given: they hold the level for strategies, datasets and a scheme "
    "like those that they were measured on"
)


@checked
def cv_test(
    differences: ArrayLike,
    test: str = "use all data",
    df: float | str = "calibrated",
    strategies: Pair = ("A", "B"),
    metric: str = "",
    test_to_train: float | None = None,
    alternative: str = "two-sided",
) -> TestResult:
    """Compare two strategies on one dataset by one of the tests of `CV_TESTS`.

    Scenario (b). The null hypothesis is that the expected difference of the two
    strategies, trained again on this source, is 0.

    Parameters
    ----------
    differences : array_like of float, shape (folds, runs), (folds,), or (splits,) for resampling
        Loss of the first strategy minus loss of the second on each test set.
    test : str, default "use all data"
        A key of `CV_TESTS`; Bouckaert recommends the default, with 10 folds x 10 runs.
    df : {"calibrated", "default"} or float, default "calibrated"
        Degrees of freedom, see `cv_statistic`.
    strategies : pair of str
        Names of the two strategies in the result.
    metric : str
        Name of the loss in the result.
    test_to_train : float, optional
        Ratio of test to training rows; needed for corrected resampling.
    alternative : {"two-sided", "better", "worse"}, default "two-sided"
        ``"better"``: the first strategy is better, its losses are smaller.

    Returns
    -------
    TestResult
        The effect is the mean difference with the interval of this test: its own standard error
        times the quantile of t with its own df. The averaged T and the 5x2cv tests have no
        interval. The notes state the limits of the calibration.

    Raises
    ------
    AnalysisError
        As in `cv_statistic`.

    Examples
    --------
    The ten folds of "Comparing Learning Algorithms", example 2:

    >>> a = [0.305, 0.322, 0.207, 0.206, 0.31, 0.41, 0.277, 0.26, 0.215, 0.26]
    >>> b = [0.224, 0.145, 0.224, 0.196, 0.207, 0.204, 0.221, 0.194, 0.162, 0.35]
    >>> d = [x - y for x, y in zip(a, b)]
    >>> naive = cv_test(d, "k-fold", df="default")
    >>> round(naive.statistic, 4), naive.df, round(naive.p_value, 4)
    (2.3444, 9.0, 0.0437)
    >>> naive.effect.words()
    'mean difference 0.0645, 95 % interval [0.002263, 0.1267] (k-fold test, 9 df, quantile 2.262)'
    >>> round(cv_test(d, "corrected repeated k-fold").p_value, 4)
    0.1411
    """
    row = find_cv_test(test)
    x = difference_table(differences, row)
    if x.ndim != 2:
        raise AnalysisError(f"one table of differences is expected, not shape {x.shape}")
    first, second = strategies
    statistic, used = cv_statistic(x[:, 0] if row.resampling else x, test, df, test_to_train)
    return TestResult(
        name=f"{test[:1].upper()}{test[1:]} test",
        strategies=(first, second),
        metric=metric,
        null=_NULL,
        source=row.source,
        scenario="(b)",
        statistic=float(statistic),
        statistic_name="F" if row.null == "F" else "Z" if row.calibrated else "t",
        df=(10.0, used) if row.null == "F" else used,
        p_value=float(p_of(row, statistic, used, alternative)),
        alternative=_SIDES.get(alternative, "two-sided"),
        effects=(_mean_difference(x, row, used, test_to_train),),
        n=x.size,
        unit="test sets",
        ties=int((x == 0).sum()),
        notes=tuple(_notes(row, df, used, x, float(statistic))),
    )


def _mean_difference(
    x: np.ndarray, test: CvTest, df: float, test_to_train: float | None
) -> Estimate:
    """Return the mean of one table with the interval of the test, if it has one."""
    mean, error, low, high = (float(v) for v in interval_of(test, x, df, test_to_train))
    return Estimate(
        name="mean difference",
        value=mean,
        standard_error=error,
        low=low,
        high=high,
        method=f"{test.name} test, {number(df)} df" if test.of_mean else "",
        quantile=student_quantile(df, 0.95) if test.of_mean else np.nan,
        scenario="(b)",
        n=x.size,
        unit="test sets",
    )


def _limit_notes(test: CvTest, df: float | str, used: str) -> list[str]:
    """Return a note on the limits of the degrees of freedom, if there is one."""
    if test.name.startswith("5x2cv"):
        return [_FIVE_BY_TWO]
    if not isinstance(df, str):
        return [_GIVEN]
    note = {"calibrated": _LIMITS.format(df=used), "default": _DEFAULT}[df]
    return [note] if test.calibrated else []


def _scheme_notes(test: CvTest, df: float | str, schemes: set[tuple[int, ...]]) -> list[str]:
    """Return a note that names the schemes on which the degrees of freedom were not measured."""
    if df != "calibrated" or not test.calibrated or test.resampling:
        return []
    used = ", ".join(f"{folds} x {runs}" for folds, runs in sorted(schemes - {(10, 10)}))
    return [f"measured with 10 folds x 10 runs, and used for {used}"] if used else []


def _notes(
    test: CvTest, df: float | str, used: float, x: np.ndarray, statistic: float
) -> list[str]:
    notes = []
    if test.name == "k-fold" and x.shape[1] > 1:
        notes.append(f"only the first of {x.shape[1]} runs is used")
    notes += [*_limit_notes(test, df, f"{used:g} df"), *_scheme_notes(test, df, {x.shape})]
    if not test.calibratable:
        notes.append("this test is known to be wrong in ways that no df can put right")
    if np.isinf(statistic):
        notes.append("the differences do not vary: p is only the limit for a variance of 0")
    return notes


@of_results
def cv_test_datasets(
    results: Results,
    *,
    pair: Pair | None = None,
    test: str = "use all data",
    df: float | str = "calibrated",
    alternative: str = "two-sided",
    correction: str = "none",
) -> ResultTable:
    """Compare all pairs of strategies on every dataset of a study by a test on cross-validation.

    Scenario (b): each dataset is tested separately; see `cv_test` for the null hypothesis.

    Parameters
    ----------
    results : Results
        Results with folds, and with repeats if the test needs them.
    pair : (str, str), optional
        Names of two strategies; default all pairs.
    test, df
        As in `cv_statistic`; the ratio of test to training rows comes from the study.
    alternative : {"two-sided", "better", "worse"}, default "two-sided"
        ``"better"``: the first strategy of a pair is better.
    correction : str, default "none"
        Correction for the number of rows, see `mlaut.analysis.pairwise.adjust`.

    Returns
    -------
    ResultTable
        One row for each dataset and pair: mean difference of the losses (first minus second) with
        the interval of the test, statistic, df and p-value.

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        A dataset has too few folds or repeats for the test.

    Examples
    --------
    >>> from mlaut.analysis.results.results import Results
    >>> folds = pd.MultiIndex.from_product([["iris"], range(2), range(3)])
    >>> losses = pd.DataFrame({"A": [1, 2, 3, 1, 2, 3.5], "B": [2, 2, 5, 3, 1, 4]}, index=folds)
    >>> table = cv_test_datasets(Results.from_table(losses, greater_is_better=False))
    >>> table.frame["mean difference"].round(3).to_dict()
    {('iris', 'A', 'B'): -0.75}
    """
    results, row = selected(results, pair), find_cv_test(test)
    folds = fold_differences(results)

    def columns(x: np.ndarray, ratio: float | None) -> dict[str, Any]:
        if row.resampling:
            x = x.reshape(len(x), -1, 1)
        statistic, used = cv_statistic(x[..., 0] if row.resampling else x, test, df, ratio)
        mean, _, low, high = interval_of(row, x, used, ratio, span=results.metric.span)
        values = {"mean difference": mean, "low": low, "high": high, "statistic": statistic}
        return values | {"df": used, "p_value": p_of(row, statistic, used, alternative)}

    schemes = {own.differences.shape[1:] for own in folds}
    frame = frame_by_dataset(results, folds, columns)
    frame["p_value"] = adjust(frame["p_value"].to_numpy(), correction)
    used = " or ".join(f"{value:g}" for value in frame["df"].unique()) + " df"
    notes = [*_limit_notes(row, df, used), *_scheme_notes(row, df, schemes)]
    notes += [] if correction == "none" else [f"{correction} correction of {len(frame)} rows"]
    name = f"{test[:1].upper()}{test[1:]} test on each dataset"
    return results.table(name, frame, row.source, scenario="(b)", notes=notes)


@of_results
def cv_differences(results: Results, *, pair: Pair | None = None) -> np.ndarray:
    """Return the differences of two strategies on every test set of every dataset.

    Parameters
    ----------
    results : Results
        Results with folds or random splits, repeated or not; the same number on each dataset.
    pair : (str, str), optional
        Names of the strategies; they may be omitted if there are only two.

    Returns
    -------
    ndarray of float, shape (datasets, folds, runs), or (datasets, splits) for random splits
        Loss of the first strategy minus loss of the second, as `calibrate`, `rejection_rates` and
        `cv_p_values` expect it.

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        There are not exactly two strategies, or the datasets differ in their numbers of test sets.

    Examples
    --------
    >>> from mlaut.analysis.results.results import Results
    >>> folds = pd.MultiIndex.from_product([["iris", "wine"], range(5), range(2)])
    >>> losses = pd.DataFrame({"A": np.arange(20.0), "B": np.arange(20.0) + 1}, index=folds)
    >>> cv_differences(Results.from_table(losses, greater_is_better=False)).shape
    (2, 2, 5)
    """
    results = selected(results, pair)
    if len(results.strategies) != 2:
        raise AnalysisError(
            f"differences need two strategies, and there are {len(results.strategies)}: "
            "give pair=('A', 'B')"
        )
    tables = [own.differences[0] for own in fold_differences(results)]
    shapes = {table.shape for table in tables}
    if len(shapes) > 1:
        raise AnalysisError(
            f"datasets differ in their folds and runs ({', '.join(map(str, sorted(shapes)))}): "
            "choose those that are alike with Results.select"
        )
    x = np.array(tables)
    return x[:, 0] if x.shape[1] == 1 else x


class FoldDifferences(NamedTuple):
    """Differences of all pairs on one dataset, shape (P, folds, repeats), and its ratio of rows."""

    dataset: str
    differences: np.ndarray
    test_to_train: float | None


def selected(results: Results, pair: Sequence[str] | None) -> Results:
    """Return the results of the two strategies of a pair, or of all strategies for None."""
    return results if pair is None else results.select(strategies=pair)


def fold_differences(results: Results) -> list[FoldDifferences]:
    """Return the differences on the folds of each dataset, with rounding noise removed.

    Raises
    ------
    MissingCellsError
        Cells are missing.
    """
    results.complete(strategies=2)
    pairs, of_folds = Pairs.of(results.strategies), []
    for place, dataset in enumerate(results.datasets):
        losses = fold_table(results.cell_losses[place], results, place)
        a, b = losses[pairs.first], losses[pairs.second]
        flat = (len(a), -1)
        size = np.maximum(np.abs(a), np.abs(b)).reshape(flat)
        d = snap((a - b).reshape(flat).T, size.T).T.reshape(a.shape)
        of_folds.append(FoldDifferences(dataset, d, train_ratio_of(results, place)))
    return of_folds


def frame_by_dataset(
    results: Results,
    folds: Sequence[FoldDifferences],
    columns: Callable[[np.ndarray, float | None], Mapping[str, Any]],
) -> pd.DataFrame:
    """Return one row for each dataset and pair, with the columns of each dataset's differences."""
    labels, parts = Pairs.of(results.strategies).labels, {}
    for dataset, x, ratio in folds:
        try:
            parts[dataset] = pd.DataFrame(columns(x, ratio), index=labels)
        except AnalysisError as error:
            raise AnalysisError(f"dataset {dataset!r}: {error}") from None
    return pd.concat(parts, names=["dataset", "first", "second"])
