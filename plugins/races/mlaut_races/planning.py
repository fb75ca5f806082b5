"""Power of paired tests over datasets, the differences they detect, the datasets they need.

Scenario (c). The differences on new datasets are assumed to be normal. The powers of the t-test and
of the sign test are then exact. The power of the signed rank test is estimated from 10,000 fixed
draws up to 100 datasets (standard error at most 0.5 points), and for more datasets by a normal
approximation.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from mlaut.analysis import Results, ResultTable
from mlaut.errors import AnalysisError
from mlaut.plugins import (
    Share,
    checked,
    cohens_d,
    noise_of_folds,
    number,
    paired_losses,
    range_ppf,
    signed_rank_ppf,
)

_MOST_DATASETS = 1_000_000  # where the search for the number of datasets stops
_SIMULATED_UP_TO = 100  # datasets; with more, the signed rank test uses the normal approximation
_DRAWS = 10_000  # standard error of a simulated power at most 0.5 points


def _t_power(effect: float, n: int, alpha: float) -> float:
    """Return the power of the two-sided t-test."""
    from scipy.special import nctdtr, stdtrit

    critical, centre = stdtrit(n - 1, 1 - alpha / 2), abs(effect) * np.sqrt(n)
    # Above 6 the wrong side has a probability below 1e-9, and scipy may return NaN.
    wrong_side = nctdtr(n - 1, centre, -critical) if centre < 6 else 0.0
    return float(1 - nctdtr(n - 1, centre, critical) + wrong_side)


def _sign_power(effect: float, n: int, alpha: float) -> float:
    """Return the power of the two-sided sign test."""
    from scipy.special import bdtr, ndtr

    wins = np.arange(n // 2 + 1)
    within = wins[2 * bdtr(wins, n, 0.5) <= alpha]
    if not within.size:
        return 0.0
    most, p = int(within[-1]), ndtr(effect)
    return float(bdtr(most, n, p) + bdtr(most, n, 1 - p))


def _signed_rank_power(effect: float, n: int, alpha: float) -> float:
    """Return the power of the two-sided signed rank test, simulated or approximated."""
    critical = signed_rank_ppf(n, alpha / 2)
    if critical < 0:
        return 0.0
    power = _simulated_power if n <= _SIMULATED_UP_TO else _normal_power
    return power(effect, n, critical)


def _simulated_power(effect: float, n: int, critical: int) -> float:
    """Return the share of fixed draws in which the signed rank test rejects.

    The draws are the same for every effect, so that the power increases with the effect.
    """
    d = effect + np.random.default_rng(0).normal(size=(n, _DRAWS))
    positive = np.take_along_axis(d > 0, np.argsort(np.abs(d), axis=0), axis=0)
    plus = np.arange(1, n + 1) @ positive
    return float(((plus <= critical) | (plus >= n * (n + 1) // 2 - critical)).mean())


def _normal_power(effect: float, n: int, critical: int) -> float:
    """Return the power by a normal approximation with the moments of W+ for normal differences.

    Lehmann (1975), section 4.2.
    """
    from scipy.special import ndtr

    u = np.linspace(-9, 9, 400)  # ten times as many points up to +-12 change the integral by 2e-16
    weight = np.exp(-0.5 * u * u)
    own, both = ndtr(effect), ndtr(np.sqrt(2) * effect)
    shared = float((weight * ndtr(2 * effect + u) ** 2).sum() / weight.sum())
    pairs = n * (n - 1) / 2
    mean = n * own + pairs * both
    variance = n * own * (1 - own) + pairs * (2 * (own - both) ** 2 + 3 * both * (1 - both))
    variance += n * (n - 1) * (n - 2) * (shared - both**2)
    sd, top = np.sqrt(max(variance, 1e-12)), n * (n + 1) / 2
    ends = (critical + 0.5 - mean) / sd, (mean - (top - critical - 0.5)) / sd
    return float(min(ndtr(ends[0]) + ndtr(ends[1]), 1.0))


POWER_TESTS: dict[str, Callable[[float, int, float], float]] = {
    "t": _t_power,
    "signed rank": _signed_rank_power,
    "sign": _sign_power,
}
"""Power functions of two-sided tests by name, of (difference / sd, number of datasets, level)."""


@checked
def dataset_sd(between: float, within: float, folds: int = 10, repeats: int = 1) -> float:
    """Return the standard deviation over datasets of a difference measured by cross-validation.

    Parameters
    ----------
    between : float
        Standard deviation of the true differences over datasets.
    within : float
        Standard deviation of the difference over the folds of one dataset.
    folds, repeats : int, default 10 and 1
        Scheme of the cross-validation.

    Returns
    -------
    float
        The standard deviation. More repeats reduce it little, because folds share training rows.

    Notes
    -----
    Its square is ``between^2 + within^2 (1 / (k r) + 1 / (k - 1))``: Nadeau & Bengio (2003).

    Examples
    --------
    >>> round(dataset_sd(0.03, 0.05, folds=10), 4), round(dataset_sd(0.03, 0.05, 10, 10), 4)
    (0.0378, 0.0347)
    """
    if folds < 2 or repeats < 1 or min(between, within) < 0:
        raise AnalysisError("it takes 2 folds, a repeat, and deviations that are not negative")
    return float(np.sqrt(between**2 + within**2 * (1 / (folds * repeats) + 1 / (folds - 1))))


def _checked(sd: float, alpha: float, test: str, power: float = 0.5) -> Callable[..., float]:
    if test not in POWER_TESTS:
        raise AnalysisError(f"test {test!r} is not known, only {', '.join(POWER_TESTS)}")
    if not (np.isfinite(sd) and sd > 0):
        raise AnalysisError(f"sd = {sd} must be positive: without variation two datasets suffice")
    if not (0 < alpha < 1 and alpha < power < 1):
        raise AnalysisError(f"alpha = {alpha} and power = {power}: expected 0 < alpha < power < 1")
    return POWER_TESTS[test]


@checked
def power_of_test(
    difference: float, sd: float, n_datasets: int, test: str = "t", alpha: Share = 0.05
) -> float:
    """Compute the probability that a two-sided test over datasets detects a difference.

    Parameters
    ----------
    difference : float
        Expected difference of the losses on a new dataset.
    sd : float
        Standard deviation of the differences over datasets, see `dataset_sd`.
    n_datasets : int
    test : {"t", "signed rank", "sign"}, default "t"
        Test over datasets.
    alpha : float, default 0.05
        Level of the test.

    Returns
    -------
    float

    Examples
    --------
    >>> round(power_of_test(0.01, 0.03, 30), 3), round(power_of_test(0.01, 0.03, 30, "sign"), 3)
    (0.423, 0.279)
    """
    power = _checked(sd, alpha, test, power=np.nextafter(1, 0))
    return power(difference / sd, _checked_n(n_datasets), alpha)


def _checked_n(n_datasets: int) -> int:
    if n_datasets < 2:
        raise AnalysisError(f"n_datasets = {n_datasets}: two or more are needed")
    return int(n_datasets)


@checked
def smallest_difference(
    n_datasets: int, sd: float, test: str = "t", power: Share = 0.8, alpha: Share = 0.05
) -> float:
    """Compute the smallest expected difference that a test over N datasets detects with a power.

    Parameters
    ----------
    n_datasets : int
    sd : float
        Standard deviation of the differences over datasets, see `dataset_sd`.
    test : {"t", "signed rank", "sign"}, default "t"
        Test over datasets.
    power : float, default 0.8
        Probability with which the test detects the difference.
    alpha : float, default 0.05
        Level of the test.

    Returns
    -------
    float
        Smallest difference; infinite if the test cannot reject with so few datasets.

    Examples
    --------
    >>> round(smallest_difference(30, sd=0.03), 4)
    0.0159
    """
    from scipy.optimize import brentq

    of_effect, n = _checked(sd, alpha, test, power), _checked_n(n_datasets)
    high = 1.0
    while of_effect(high, n, alpha) < power:
        high *= 2
        if high > 1e6:  # no effect is large enough: the test cannot reject with so few datasets
            return float("inf")
    return float(sd * brentq(lambda e: of_effect(e, n, alpha) - power, 0, high, xtol=1e-12))


@checked
def datasets_needed(
    difference: float, sd: float, test: str = "t", power: Share = 0.8, alpha: Share = 0.05
) -> int:
    """Compute the fewest datasets on which a test detects an expected difference with a power.

    Parameters
    ----------
    difference : float
        Expected difference of the losses on a new dataset; not 0.
    sd : float
        Standard deviation of the differences over datasets, see `dataset_sd`.
    test : {"t", "signed rank", "sign"}, default "t"
        Test over datasets.
    power : float, default 0.8
        Probability with which the test detects the difference.
    alpha : float, default 0.05
        Level of the test.

    Returns
    -------
    int

    Raises
    ------
    AnalysisError
        The difference is 0, or so small that more than a million datasets are needed.

    Examples
    --------
    >>> datasets_needed(0.01, 0.03), datasets_needed(0.01, 0.03, "sign")
    (73, 114)
    """
    of_n, effect = _checked(sd, alpha, test, power), difference / sd
    if difference == 0 or not np.isfinite(effect):
        raise AnalysisError(f"difference = {difference} must be a finite number other than 0")
    high = 2
    while of_n(effect, high, alpha) < power:
        high *= 2
        if high > _MOST_DATASETS:
            raise AnalysisError(
                f"a difference of {difference:g} with sd {sd:g} takes more than a million datasets"
            )
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if of_n(effect, middle, alpha) >= power else (middle, high)
    # The power of a discrete test is not monotone in N, so a few smaller numbers are checked too.
    fewest = range(max(2, high - 12), high)
    return next((n for n in fewest if of_n(effect, n, alpha) >= power), high)


_SOURCE = "power of the noncentral t, binomial and signed rank distributions"


@checked
def resolution(
    n_datasets: Sequence[int],
    folds: Sequence[int],
    between: float,
    within: float,
    repeats: int = 1,
    test: str = "t",
    power: Share = 0.8,
    alpha: Share = 0.05,
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
    results: Results, *, power: Share = 0.8, alpha: Share = 0.05, confidence: Share = 0.95
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
    return results.table(
        f"Datasets needed to find the difference with probability {number(power)}",
        pd.DataFrame(columns, index=pairs.labels),
        _SOURCE,
        notes=(
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


@checked
def datasets_needed_for_ranks(n_strategies: int, difference: float, alpha: Share = 0.05) -> int:
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
