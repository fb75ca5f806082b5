"""Measures of tests on cross-validation: type I error, power and replicability.

Bouckaert (2003), sections 4 and 5. The input is always the differences of two strategies on
simulated datasets: null datasets, on which neither strategy is better, or datasets on which one is.
This module does not run the strategies.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from mlaut.analysis.common.arguments import Share, Size, checked, shown
from mlaut.analysis.common.display import Shown, number
from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.methods.cross_validation.repeated_cv import (
    cv_p_values,
    cv_statistic,
    difference_table,
)
from mlaut.analysis.methods.cross_validation.statistics import CV_TESTS, find_cv_test
from mlaut.analysis.plots.canvas import FONT, legend_below, line_axes, line_style, log_scale
from mlaut.errors import AnalysisError

LEVELS = (0.01, 0.05, 0.10)  # the usual levels


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Calibration(Shown):
    """Measured type I error of tests by degrees of freedom, and the df that hold each level.

    Attributes
    ----------
    rates : DataFrame
        Share of null datasets on which the test rejects; rows are (test, df), columns are levels.
    n_datasets : int
        Number of null datasets on which the rates were measured.
    folds, runs : int
        Scheme of the cross-validation.
    """

    rates: pd.DataFrame
    n_datasets: int
    folds: int
    runs: int

    def standard_error(self, rate: float) -> float:
        """Return the standard error of a measured rate."""
        return float(np.sqrt(rate * (1 - rate) / self.n_datasets))

    def best(self) -> pd.DataFrame:
        """Return the degrees of freedom whose type I error is nearest to each level.

        Returns
        -------
        DataFrame
            One row for each test and level: the nearest ``df``, its ``type I error``, the
            ``standard error`` of a measured rate at the level, ``default df``,
            ``default type I error``, and ``calibratable``: whether the type I error is within two
            standard errors of the level at more than 3 degrees of freedom. If it takes 3 or fewer,
            something other than the degrees of freedom is wrong with the test.
        """
        rows = []
        for test in self.rates.index.unique(level=0):
            default = CV_TESTS[str(test)].default_df(self.folds, self.runs)
            for level in self.rates.columns.to_numpy(dtype=float):
                rates = self.rates.loc[test, level]
                df = float((rates - level).abs().idxmin())
                error = self.standard_error(level)
                holds = abs(rates[df] - level) <= 2 * error and df > 3
                usual = rates.get(default, np.nan)
                rows.append((test, level, df, rates[df], error, default, usual, holds))
        columns = ["test", "level", "df", "type I error", "standard error", "default df"]
        columns += ["default type I error", "calibratable"]
        return pd.DataFrame(rows, columns=columns).set_index(["test", "level"])

    def title(self) -> str:  # noqa: D102 - inherited
        scheme = f"{self.folds} folds x {self.runs} runs"
        return f"Calibrated degrees of freedom, {scheme}, {self.n_datasets} null datasets"

    def to_frame(self) -> pd.DataFrame:
        """Return the table of `best`."""
        return self.best()

    def notes_text(self) -> tuple[str, ...]:
        """Return notes on the precision and the limits of the calibration."""
        error = 100 * self.standard_error(0.05)
        return (
            f"a rate of 5 % has a standard error of {error:.1f} points",
            "it holds for these strategies on such datasets and for this scheme",
        )

    def sentence(self) -> str:  # noqa: D102 - inherited
        level = self.rates.columns[0]
        best = self.best().xs(level, level="level")
        parts = [
            f"{test} {number(df)} ({100 * rate:.1f} %)"
            for test, df, rate in zip(best.index, best["df"], best["type I error"], strict=True)
        ]
        return f"{self.title()}, at level {number(level)} (reached): {', '.join(parts)}."


@checked
def calibrate(
    null_differences: ArrayLike,
    tests: Sequence[str] | None = None,
    levels: Sequence[Share] = LEVELS,
    df: Sequence[float] = tuple(range(1, 121)),
    test_to_train: float | None = None,
) -> Calibration:
    """Measure the type I error of tests over degrees of freedom, from differences on null datasets.

    Scenario (b).

    Parameters
    ----------
    null_differences : array_like of float, shape (n_datasets, folds, runs), or (n_datasets, splits)
        Difference of the two strategies on each test set of each simulated dataset, on which
        neither strategy is better. Two dimensions mean random splits, for the resampling tests.
    tests : sequence of str, optional
        Keys of `CV_TESTS`; default Bouckaert's tests that suit the shape.
    levels : sequence of float, default (0.01, 0.05, 0.10)
        Significance levels.
    df : sequence of float, default 1 to 120
        Degrees of freedom to try.
    test_to_train : float, optional
        Ratio of test to training rows, needed for corrected resampling.

    Returns
    -------
    Calibration

    Raises
    ------
    AnalysisError
        There are fewer than two datasets, a difference is missing, or a test does not suit the
        shape.

    Notes
    -----
    Bouckaert (2003), section 4, uses 1,000 datasets of 300 rows with ten independent binary
    attributes and an independent class, and chooses the degrees of freedom whose type I error is
    nearest to the level.

    Examples
    --------
    Independent differences need no calibration:

    >>> null = np.random.default_rng(0).normal(size=(4000, 10, 1))
    >>> float(calibrate(null, ["k-fold"], levels=[0.05]).best()["df"].iloc[0])
    9.0
    """
    x = np.asarray(null_differences, dtype=float)
    if x.ndim not in (2, 3) or len(x) < 2:
        raise AnalysisError(
            f"null_differences of shape {x.shape}: expected (datasets, folds, runs) or "
            "(datasets, splits), two datasets or more"
        )
    if not all(0 < level < 1 for level in levels):
        raise AnalysisError(f"levels = {tuple(levels)} must be between 0 and 1, for example 0.05")
    names = _suitable(x) if tests is None else list(tests)
    if not (names and len(levels) and len(df)):
        raise AnalysisError("there is no test, no level or no df to calibrate")
    parts = {name: _rates(x, name, levels, df, test_to_train) for name in names}
    folds, runs = (*x.shape[1:], 1)[:2]
    return Calibration(
        rates=pd.concat(parts, names=["test", "df"]), n_datasets=len(x), folds=folds, runs=runs
    )


def _suitable(x: np.ndarray) -> list[str]:
    """Return the names of Bouckaert's tests that can be computed from differences of this shape."""
    return [
        test.name
        for test in CV_TESTS.values()
        if test.resampling == (x.ndim == 2)
        and test.source.startswith("Bouckaert")
        and test.default_df(*(*x.shape[1:], 1)[:2]) >= 1
    ]


def _rates(
    x: np.ndarray,
    name: str,
    levels: Sequence[float],
    df: Sequence[float],
    test_to_train: float | None,
) -> pd.DataFrame:
    """Return the rejection rates of one test: one row for each df, one column for each level."""
    from scipy.special import stdtrit

    test = find_cv_test(name)
    if test.null != "t":
        raise AnalysisError(f"{name} has no degrees of freedom to calibrate")
    difference_table(x, test)
    if test.resampling != (x.ndim == 2):
        raise AnalysisError(
            f"{name!r} needs differences of shape "
            f"({'datasets, splits' if test.resampling else 'datasets, folds, runs'}), not {x.shape}"
        )
    if not all(np.isfinite(d) and d > 0 for d in df):
        raise AnalysisError(f"df = {shown(df)} are not positive numbers of degrees of freedom")
    critical = {d: stdtrit(d, 1 - np.asarray(levels) / 2) for d in df}
    rows = [
        (np.abs(cv_statistic(x, name, d, test_to_train)[0])[:, None] >= critical[d]).mean(axis=0)
        for d in df
    ]
    return pd.DataFrame(rows, index=pd.Index(df, dtype=float), columns=list(levels))


@checked
def rejection_rates(
    differences: ArrayLike,
    tests: Sequence[str] | None = None,
    df: float | str = "calibrated",
    levels: Sequence[Share] = LEVELS,
    test_to_train: float | None = None,
) -> ResultTable:
    """Compute the share of datasets on which each test rejects.

    The share is the type I error on null datasets, and the power on other datasets.

    Parameters
    ----------
    differences : array_like of float, shape (n_datasets, folds, runs), or (n_datasets, splits)
        Difference of the two strategies on each test set of each dataset.
    tests : sequence of str, optional
        Keys of `CV_TESTS`; default Bouckaert's tests that suit the shape.
    df : {"calibrated", "default"} or float, default "calibrated"
        Degrees of freedom, see `cv_statistic`. With ``"calibrated"``, tests that cannot be
        calibrated use their default degrees of freedom.
    levels : sequence of float, default (0.01, 0.05, 0.10)
        Significance levels.
    test_to_train : float, optional
        Ratio of test to training rows, needed for corrected resampling.

    Returns
    -------
    ResultTable
        One row for each test, one column for each level.

    Notes
    -----
    Bouckaert (2003), section 5.

    Examples
    --------
    >>> better = np.random.default_rng(0).normal(1, 1, size=(500, 10, 10))
    >>> rejection_rates(better, ["use all data"], levels=[0.05]).frame.loc["use all data"].tolist()
    [0.998]
    """
    x = np.asarray(differences, dtype=float)
    names = _suitable(x) if tests is None else list(tests)
    rows = {}
    for name in names:
        choice = "default" if df == "calibrated" and not find_cv_test(name).calibratable else df
        p = cv_p_values(x, name, choice, test_to_train)
        rows[name] = [float((p <= level).mean()) for level in levels]
    return ResultTable(
        name=f"Rejection rates on {len(x)} datasets",
        frame=pd.DataFrame.from_dict(rows, orient="index", columns=list(levels)),
        source="Bouckaert 2003, section 5",
        scenario="(b)",
    )


@checked
def replicability(
    differences: ArrayLike,
    test: str = "use all data",
    df: float | str = "calibrated",
    level: Share = 0.05,
    test_to_train: float | None = None,
) -> tuple[float, float]:
    """Compute how often a test decides the same if the experiment is repeated with other splits.

    Parameters
    ----------
    differences : array_like of float, shape (n_datasets, n_repetitions, folds, runs)
        Difference of the two strategies on each test set; for resampling, an array of shape
        (n_datasets, n_repetitions, splits).
    test, df, test_to_train
        As in `cv_statistic`.
    level : float, default 0.05
        Significance level.

    Returns
    -------
    all_alike : float
        Share of datasets on which either all repetitions reject or none does.
    pairs_alike : float
        Share of pairs of repetitions on the same dataset that make the same decision.

    Raises
    ------
    AnalysisError
        There are fewer than two repetitions.

    Notes
    -----
    The first share is that of Bouckaert (2003), section 5.4 (ten repetitions); the share of pairs
    is that of Bouckaert & Frank (2004).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 1, 1, 1)) + rng.normal(size=(200, 10, 10, 10))
    >>> all_alike, pairs_alike = replicability(x)
    >>> round(all_alike, 3), round(pairs_alike, 3)
    (0.77, 0.911)
    """
    p = cv_p_values(differences, test, df, test_to_train)
    if p.ndim != 2 or p.shape[1] < 2:
        raise AnalysisError("differences must have an axis of two or more repetitions")
    rejected, n = (p <= level).sum(axis=1), p.shape[1]
    alike = rejected * (rejected - 1) + (n - rejected) * (n - rejected - 1)
    return (float(np.isin(rejected, (0, n)).mean()), float((alike / (n * (n - 1))).mean()))


@checked
def calibration_plot(
    calibration: Calibration,
    *,
    level: Share = 0.05,
    tests: Sequence[str] | None = None,
    ax: Axes | None = None,
    figsize: Size | None = None,
) -> Figure:
    """Draw the type I error of tests on cross-validation against their degrees of freedom.

    Parameters
    ----------
    calibration : Calibration
    level : float, default 0.05
        One of the measured levels.
    tests : sequence of str, optional
        Tests to draw; default all measured tests.
    ax, figsize : optional
        Axes of the caller, or width and height of a new figure in inches.

    Returns
    -------
    Figure
        One line for each test; the band is the level plus and minus two standard errors. A marker
        is at the degrees of freedom whose type I error is nearest to the level. It is filled if the
        test can be calibrated, and hollow otherwise.

    Raises
    ------
    AnalysisError
        The level or a test was not measured.

    Notes
    -----
    Bouckaert (2003), section 4.

    Examples
    --------
    >>> null = np.random.default_rng(0).normal(size=(1000, 10, 1))
    >>> calibration_plot(calibrate(null, ["k-fold"])).axes[0].get_xlabel()
    'degrees of freedom (logarithmic axis)'
    """
    rates, best = _select_level(calibration, level, tests)
    label = f"type I error at level {number(level)}"
    figure, axes = line_axes(ax, figsize, (7.5, 5.6), "degrees of freedom", label)
    band = 2 * calibration.standard_error(level)
    axes.axhspan(level - band, level + band, color="#DDDDDD", zorder=0)
    for place, name in enumerate(rates.columns):
        look = line_style(place)
        line = rates[name].dropna()
        point = best.loc[name]
        df_text = f"df {number(point['df'])}" if point["calibratable"] else "not calibratable"
        axes.plot(line.index, line, linewidth=1.5, **(look | {"marker": ""}))
        axes.plot(
            point["df"],
            point["type I error"],
            label=f"{name}: {df_text}",
            markersize=7,
            markerfacecolor=look["color"] if point["calibratable"] else "white",
            **look,
        )
    _df_axis(axes, rates)
    axes.set_title(
        f"{calibration.folds} folds x {calibration.runs} runs, {calibration.n_datasets} null "
        "datasets",
        fontsize=FONT,
    )
    legend_below(axes, 2)
    return figure


def _select_level(
    calibration: Calibration, level: float, tests: Sequence[str] | None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rates at one level by df and test, and the best df of each test."""
    if level not in calibration.rates.columns:
        known = ", ".join(map(number, calibration.rates.columns))
        raise AnalysisError(f"level {level} was not measured, only {known}")
    rates = calibration.rates[level]
    measured = list(rates.index.unique("test"))
    names = measured if tests is None else list(tests)
    for name in names:
        if name not in measured:
            raise AnalysisError(f"test {name!r} was not measured, only {', '.join(measured)}")
    best = calibration.best().reset_index("level")
    table = pd.DataFrame({name: rates.xs(name, level="test") for name in names})
    return table, best[best["level"] == level]


def _df_axis(axes: Axes, rates: pd.DataFrame) -> None:
    """Set a logarithmic axis with labels 1, 2, 5, 10 and so on, if the range of df is wide."""
    low, high = float(rates.index.min()), float(rates.index.max())
    axes.set_ylim(0, None)
    if low <= 0 or high / max(low, 1e-9) <= 20:
        return
    log_scale(axes, high / low)
