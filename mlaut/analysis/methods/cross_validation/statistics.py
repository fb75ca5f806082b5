"""Statistics of Bouckaert's thirteen tests (2003) and of three others, for many tables at once.

A table has the differences of two strategies on the test sets of a (repeated) cross-validation,
shape (folds, runs), or of random splits, shape (splits, 1). Any number of leading axes may index
the tables.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from mlaut.analysis.common.arguments import one_of
from mlaut.analysis.common.numerics import RELATIVE_NOISE

Parts = Callable[[np.ndarray, float, float], tuple[np.ndarray, np.ndarray]]
Grouping = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class CvTest:
    """Test on the differences of two strategies.

    Attributes
    ----------
    name : str
    parts : callable
        Function of the differences (..., folds, runs), the degrees of freedom and the ratio of test
        to training rows. It returns the numerator of the statistic and its squared denominator,
        shape (...) each.
    units : str
        Units that the theory assumes to be independent: ``"folds"``, ``"runs"``, ``"all"``, or
        ``"two of each run"`` (of 5x2cv). The default degrees of freedom are the number of units
        minus 1; for ``"two of each run"`` they are 1 for each run.
    source : str
    calibrated : mapping of int to float
        Degrees of freedom at which the test was measured to hold the level 5 %. The key is the
        number of runs of 10 folds, or of random splits, in the measurement.
    calibratable : bool
        False if the measured degrees of freedom are erratic, 1 to 3: something other than the
        degrees of freedom is wrong with the test.
    resampling : bool
        Whether the differences come from random splits.
    null : str
        Distribution of the statistic under the null hypothesis: ``"t"`` or ``"F"``.
    of_mean : bool
        Whether the parts are the mean difference and its squared standard error. Only such a test
        has an interval of the mean difference.
    """

    name: str
    parts: Parts
    units: str
    source: str = "Bouckaert 2003, Table 1"
    calibrated: Mapping[int, float] = field(default_factory=dict)
    calibratable: bool = True
    resampling: bool = False
    null: str = "t"
    of_mean: bool = True

    def statistic(self, x: np.ndarray, df: float, ratio: float) -> np.ndarray:
        """Return the statistic, shape (...)."""
        return _ratio(*self.parts(x, df, ratio))

    def default_df(self, folds: int, runs: int) -> float:
        """Return the degrees of freedom for independent units."""
        units = {"folds": folds, "runs": runs, "all": folds * runs, "two of each run": runs + 1}
        return units[self.units] - 1.0


def variance(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Return the variance with divisor n - 1; 0 for numbers that are equal up to rounding."""
    spread = x.max(axis=axis) - x.min(axis=axis)
    same = spread <= RELATIVE_NOISE * np.abs(x).max(axis=axis)
    return np.where(same, 0.0, x.var(axis=axis, ddof=1))


def _ratio(mean: np.ndarray, of_variance: np.ndarray) -> np.ndarray:
    """Return ``mean / sqrt(variance)``: 0 if the mean is 0, infinite if only the variance is 0."""
    sure = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
    return np.divide(mean, np.sqrt(of_variance), out=sure, where=of_variance > 0)


def _flat(x: np.ndarray) -> np.ndarray:
    return x.reshape(*x.shape[:-2], -1)


def _all(x: np.ndarray, df: float, _: float) -> tuple[np.ndarray, np.ndarray]:
    return _flat(x).mean(axis=-1), variance(_flat(x)) / (df + 1)


def _first_run(x: np.ndarray, df: float, _: float) -> tuple[np.ndarray, np.ndarray]:
    return _all(x[..., :1], df, _)


def _corrected(x: np.ndarray, df: float, ratio: float) -> tuple[np.ndarray, np.ndarray]:
    return _flat(x).mean(axis=-1), variance(_flat(x)) * (1 / (df + 1) + ratio)


def _corrected_repeated(x: np.ndarray, _: float, ratio: float) -> tuple[np.ndarray, np.ndarray]:
    return _corrected(x, x.shape[-1] * x.shape[-2] - 1, ratio)


# Nine tests arrange the table in groups, shape (..., groups, members).


def _means(groups: Grouping) -> Parts:
    def parts(x: np.ndarray, df: float, _: float) -> tuple[np.ndarray, np.ndarray]:
        means = groups(x).mean(axis=-1)
        return means.mean(axis=-1), variance(means) / (df + 1)

    return parts


def _averaged_variance(groups: Grouping) -> Parts:
    def parts(x: np.ndarray, df: float, _: float) -> tuple[np.ndarray, np.ndarray]:
        return x.mean(axis=(-1, -2)), variance(groups(x)).mean(axis=-1) / (df + 1)

    return parts


def _averaged_t(groups: Grouping) -> Parts:
    """Return the parts of the statistic that averages mean / sd over the groups.

    A group without variance counts as 0 if its mean is 0, and is left out otherwise. If all groups
    are left out, the statistic is infinite.
    """

    def parts(x: np.ndarray, df: float, _: float) -> tuple[np.ndarray, np.ndarray]:
        means = groups(x).mean(axis=-1)
        ratios = _ratio(means, variance(groups(x)))
        kept = np.isfinite(ratios)
        total = np.where(kept, ratios, 0.0).sum(axis=-1)
        none_left = _ratio(means.mean(axis=-1), np.zeros(means.shape[:-1]))
        averaged = np.divide(total, kept.sum(axis=-1), out=none_left, where=kept.any(axis=-1))
        return averaged, np.full(averaged.shape, 1 / (df + 1))

    return parts


def _five_by_two_t(x: np.ndarray, _: float, __: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the first difference and the mean variance of the five runs."""
    return x[..., 0, 0], variance(x, -2).mean(axis=-1)


def _five_by_two_f(x: np.ndarray, _: float, __: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the sum of the ten squares, and the square of twice the sum of the five variances."""
    return (x**2).sum(axis=(-1, -2)), (2 * variance(x, -2).sum(axis=-1)) ** 2


_RUNS = 10  # runs of 10 folds with which the calibrated degrees of freedom were measured

_GROUPS: dict[str, Grouping] = {
    "folds": lambda x: np.swapaxes(x, -1, -2),  # a group for each run, which has its folds
    "runs": lambda x: x,  # a group for each fold, which has its runs
    "sorted runs": lambda x: np.sort(x, axis=-2),  # a group of the smallest of each run, and so on
}


def _grouped(groups: str, kind: str, units: str, df: float | None) -> CvTest:
    """Return a test of the means of groups, or one averaged over groups; ``df`` is calibrated."""
    parts, ending, of_mean = {
        "means": (_means, "", True),
        "var": (_averaged_variance, ", averaged var", True),
        "T": (_averaged_t, ", averaged T", False),
    }[kind]
    return CvTest(
        groups + ending,
        parts(_GROUPS[groups]),
        units,
        calibrated={} if df is None else {_RUNS: df},
        calibratable=df is not None,
        of_mean=of_mean,
    )


_TESTS = (
    CvTest("resampling", _all, "all", calibrated={10: 5, 100: 11}, resampling=True),
    CvTest(
        "corrected resampling",
        _corrected,
        "all",
        source="Bouckaert 2003, Table 1; Nadeau & Bengio 2003",
        calibrated={10: 10, 100: 99},
        resampling=True,
    ),
    CvTest("k-fold", _first_run, "folds", calibrated={_RUNS: 6}),
    CvTest("use all data", _all, "all", calibrated={_RUNS: 10}),
    _grouped("folds", "means", "runs", None),
    _grouped("folds", "var", "folds", 11),
    _grouped("folds", "T", "folds", 9),
    _grouped("runs", "means", "folds", None),
    _grouped("runs", "var", "runs", 10),
    _grouped("runs", "T", "runs", 9),
    _grouped("sorted runs", "means", "folds", 10),
    _grouped("sorted runs", "var", "runs", None),
    _grouped("sorted runs", "T", "runs", None),
    CvTest(
        "corrected repeated k-fold",
        _corrected_repeated,
        "all",
        source="Nadeau & Bengio 2003; Bouckaert & Frank 2004",
    ),
    CvTest("5x2cv t", _five_by_two_t, "two of each run", source="Dietterich 1998", of_mean=False),
    CvTest(
        "5x2cv F",
        _five_by_two_f,
        "two of each run",
        source="Alpaydin 1999",
        null="F",
        of_mean=False,
    ),
)

CV_TESTS: dict[str, CvTest] = {test.name: test for test in _TESTS}
"""Tests by name."""


def find_cv_test(name: str) -> CvTest:
    """Return a test of `CV_TESTS` by name, or raise an AnalysisError with the nearest name."""
    return CV_TESTS[one_of("test", name, CV_TESTS)]
