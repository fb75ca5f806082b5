"""Power of paired tests over datasets, the differences they detect, the datasets they need.

Scenario (c). The differences on new datasets are assumed to be normal. The powers of the t-test and
of the sign test are then exact. The power of the signed rank test is estimated from 10,000 fixed
draws up to 100 datasets (standard error at most 0.5 points), and for more datasets by a normal
approximation.
"""

from collections.abc import Callable

import numpy as np

from mlaut.analysis.common.arguments import checked
from mlaut.analysis.common.numerics import signed_rank_ppf
from mlaut.errors import AnalysisError

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
    one, two = ndtr(effect), ndtr(np.sqrt(2) * effect)
    three = float((weight * ndtr(2 * effect + u) ** 2).sum() / weight.sum())
    pairs = n * (n - 1) / 2
    mean = n * one + pairs * two
    variance = n * one * (1 - one) + pairs * (2 * (one - two) ** 2 + 3 * two * (1 - two))
    variance += n * (n - 1) * (n - 2) * (three - two**2)
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
        More repeats reduce it little, because the folds share training rows.

    Notes
    -----
    ``between^2 + within^2 (1 / (k r) + 1 / (k - 1))``, after Nadeau & Bengio (2003).

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
    difference: float, sd: float, n_datasets: int, test: str = "t", alpha: float = 0.05
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
    n_datasets: int, sd: float, test: str = "t", power: float = 0.8, alpha: float = 0.05
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
    difference: float, sd: float, test: str = "t", power: float = 0.8, alpha: float = 0.05
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
