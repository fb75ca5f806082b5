"""Design of a study: the smallest difference that N datasets and k folds detect, and the N needed.

The input is a pilot study or a synthetic context. Scenario (c).
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import checked
from mlaut.analysis.common.display import number
from mlaut.analysis.common.numerics import range_ppf
from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.methods.cross_validation.retrained_estimates import fold_table, train_ratio_of
from mlaut.analysis.methods.planning.power import (
    POWER_TESTS,
    dataset_sd,
    datasets_needed,
    smallest_difference,
)
from mlaut.analysis.pairwise.effects import cohens_d
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

_SOURCE = "power of the noncentral t, binomial and signed rank distributions"


@checked
def resolution(
    n_datasets: Sequence[int],
    folds: Sequence[int],
    between: float,
    within: float,
    repeats: int = 1,
    test: str = "t",
    power: float = 0.8,
    alpha: float = 0.05,
) -> ResultTable:
    """Compute the smallest difference that a study of N datasets and k folds can detect.

    Scenario (c), two-sided test of two strategies.

    Parameters
    ----------
    n_datasets, folds : sequence of int
        Numbers of datasets and of folds; all combinations are computed.
    between : float
        Standard deviation of the true differences over datasets; `pilot_design` estimates it.
    within : float
        Standard deviation of the difference over the folds of one dataset.
    repeats : int, default 1
        Repeats of the cross-validation.
    test : {"t", "signed rank", "sign"}, default "t"
        Test over datasets.
    power : float, default 0.8
        Probability with which the test detects a difference of this size.
    alpha : float, default 0.05
        Level of the test.

    Returns
    -------
    ResultTable
        One row for each number of datasets, one column for each number of folds. The difference is
        infinite if the test cannot reject with so few datasets.

    Examples
    --------
    >>> resolution([10, 50], [5, 10], between=0.03, within=0.05).frame.round(4)
    folds         5       10
    datasets
    10        0.0448  0.0376
    50        0.0182  0.0153
    """
    rows = [
        [
            smallest_difference(n, dataset_sd(between, within, k, repeats), test, power, alpha)
            for k in folds
        ]
        for n in n_datasets
    ]
    index = pd.Index(n_datasets, name="datasets")
    return ResultTable(
        name=f"Smallest difference that the {test} test finds with probability {number(power)}",
        frame=pd.DataFrame(rows, index=index, columns=pd.Index(folds, name="folds")),
        source=_SOURCE,
        notes=(f"two-sided at {number(alpha)}, {repeats} repeats, differences taken as normal",),
    )


@checked
def pilot_design(
    results: Results, *, power: float = 0.8, alpha: float = 0.05, confidence: float = 0.95
) -> ResultTable:
    """Compute from a pilot study the number of datasets needed to separate each pair of strategies.

    Scenario (c), two-sided tests of single pairs, not corrected for the number of pairs.

    Parameters
    ----------
    results : Results
        Results of the pilot study.
    power : float, default 0.8
        Probability with which a test detects the difference.
    alpha : float, default 0.05
        Level of the tests.
    confidence : float, default 0.95
        Confidence level of the interval of the number of datasets.

    Returns
    -------
    ResultTable
        One row for each pair: the mean difference; its standard deviation over datasets; the
        components of the standard deviation between and within datasets (within is NaN without
        folds); the smallest difference that a t-test on the same number of datasets detects; the
        number of datasets with which each test detects the observed difference; and, for the
        t-test, the range of this number over the interval of the effect, infinite if the interval
        contains 0.

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        There are fewer than two datasets or strategies.

    Notes
    -----
    A difference in a small pilot study is uncertain, and a difference that looks large is often so
    by chance. Read the range before the number.

    Examples
    --------
    >>> losses = pd.DataFrame({"A": [0.1, 0.21, 0.3, 0.18, 0.2], "B": [0.2, 0.25, 0.35, 0.3, 0.2]})
    >>> plan = pilot_design(Results.from_table(losses, greater_is_better=False))
    >>> plan.frame[["needed (t)", "at least", "at most"]].iloc[0].tolist()
    [7.0, 4.0, 12701.0]
    """
    losses = paired_losses(results)
    d, pairs = losses.differences, losses.pairs
    within, noise = noise_of_folds(results, pairs.first, pairs.second)
    mean, sd = d.mean(axis=0), d.std(axis=0, ddof=1)
    effect = cohens_d(d, confidence)
    low, high = np.asarray(effect.low), np.asarray(effect.high)
    near = np.where(low * high > 0, np.minimum(np.abs(low), np.abs(high)), 0.0)
    far = np.maximum(np.abs(low), np.abs(high))
    seen = np.divide(mean, sd, out=np.where(mean == 0, 0.0, np.inf), where=sd > 0)
    columns = {
        "mean difference": mean,
        "sd": sd,
        "sd between": np.sqrt(np.maximum(sd**2 - noise, 0)),
        "sd within": within,
        "smallest difference": sd * smallest_difference(len(d), 1.0, "t", power, alpha),
    }
    for test in POWER_TESTS:
        columns[f"needed ({test})"] = [_needed(e, test, power, alpha) for e in seen]
    columns["at least"] = [_needed(e, "t", power, alpha) for e in far]
    columns["at most"] = [_needed(e, "t", power, alpha) for e in near]
    return ResultTable(
        name=f"Datasets needed to find the difference with probability {number(power)}",
        frame=pd.DataFrame(columns, index=pairs.labels),
        source=_SOURCE,
        metric=results.metric.loss_name,
        notes=(
            *results.notes_text(),
            f"two-sided at {number(alpha)}, not corrected for the number of pairs",
            "'at least' and 'at most' are the t-test's, over the interval of the paired d",
        ),
    )


def _needed(effect: float, test: str, power: float, alpha: float) -> float:
    """Return the number of datasets needed for an effect, infinite if no number is enough."""
    if not np.isfinite(effect):  # the difference does not vary, so the fewest datasets are enough
        return 2.0
    if effect == 0:
        return np.inf
    try:
        return float(datasets_needed(abs(effect), 1.0, test, power, alpha))
    except AnalysisError:
        return np.inf


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


@checked
def datasets_needed_for_ranks(n_strategies: int, difference: float, alpha: float = 0.05) -> int:
    """Compute the fewest datasets on which a rank difference is significant in Nemenyi's test.

    Scenario (c).

    Parameters
    ----------
    n_strategies : int
    difference : float
        Difference of average ranks, between 0 and ``n_strategies - 1``.
    alpha : float, default 0.05
        Level of the test.

    Returns
    -------
    int

    Raises
    ------
    AnalysisError
        No such difference of ranks is possible.

    Notes
    -----
    ``N = q^2 K (K + 1) / (6 difference^2)``: Demsar (2006), section 3.2.2, solved for N. With this
    N the test detects a true difference of this size with a probability of about one half.

    Examples
    --------
    >>> datasets_needed_for_ranks(4, 1.25356), datasets_needed_for_ranks(27, 3.78)
    (14, 121)
    """
    if n_strategies < 2 or not 0 < difference <= n_strategies - 1 or not 0 < alpha < 1:
        raise AnalysisError(
            f"average ranks of {n_strategies} strategies cannot differ by {difference} at level "
            f"{alpha}"
        )
    q = range_ppf(alpha, n_strategies) / np.sqrt(2)
    needed = q**2 * n_strategies * (n_strategies + 1) / (6 * difference**2)
    return int(np.ceil(needed * (1 - 1e-9)))  # rounding noise must not add a dataset
