"""Estimates of losses by dataset and over datasets, with standard errors and intervals."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from mlaut.analysis.common.arguments import Seed, Share, one_of
from mlaut.analysis.common.numerics import bounded_ends, wilson
from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.results.given import check_independent, check_sources, of_results, takes_sources
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError, MissingCellsError

_OF_SHARES = ("wilson", "jeffreys", "uniform")
_PRIOR = {"jeffreys": 0.5, "uniform": 1.0}
# Below these numbers an estimate gets a note. The first is the textbooks' bound for the normal
# distribution; below the second, docs/measured-levels.md has intervals that are too narrow; the
# third is the usual least count for a normal interval of a share.
FEW_DATASETS, FEW_FOR_T, FEW_ERRORS = 30, 10, 5
_OF_FEW = (
    "an interval on {n} datasets is right for normal losses, and too narrow for very skewed ones"
)
METHODS = ("bounded", "normal", "t")
_OF_TEST_SETS = (
    "scenario (a) from the losses of whole test sets, each with its own fitted model: an upper "
    "bound of the standard error"
)


class Interval(NamedTuple):
    """Estimates, standard errors and ends of intervals: arrays of one shape."""

    value: np.ndarray
    standard_error: np.ndarray
    low: np.ndarray
    high: np.ndarray


@of_results
@takes_sources
def dataset_estimates(
    results: Results,
    *,
    method: str = "bounded",
    confidence: Share = 0.95,
    as_scores: bool = False,
    seed: Seed = 0,
) -> ResultTable:
    """Estimate the loss of each fitted strategy on each dataset: scenario (a).

    Parameters
    ----------
    results : Results
        A strategy with a missing cell on a dataset has no estimate there. The bootstrap requires
        complete results.
    method : str, default "bounded"
        Method of the interval. ``"bounded"`` stays within the range of the metric: for point losses
        of 0 and 1 (accuracy) it is Wilson's interval (``"wilson"``), for other losses Student's t
        as in `mean_estimates`. ``"normal"`` is the paper's interval and ``"t"`` is Student's. Both
        are poor for few test points or few errors, and are cut at the ends of the range.
        ``"jeffreys"`` and ``"uniform"`` are intervals of the Beta posterior with that prior, for
        point losses of 0 and 1. ``"bootstrap"`` draws test points with replacement. It is the only
        interval of an aggregate on a single test set.
    confidence : float, default 0.95
        Confidence of the intervals.
    as_scores : bool, default False
        Whether to return scores as the metric defines them, in place of losses.
    seed : int, default 0
        Seed of the bootstrap.

    Returns
    -------
    ResultTable
        One row for each dataset and strategy: value, standard_error, low, high, and n_test,
        the test points of one repeat; in its place test_sets where whole test sets alone have
        losses.

    Notes
    -----
    This is the estimate of Table 3, row 1, of MLaut 2019: the standard error is ``sqrt(v / M)``,
    where v is the variance of the point losses with divisor M - 1. Its central limit theorem is in
    M, the number of test points. An aggregate, or a table without ``n_test``, has losses of whole
    test sets only. For them v is the variance of the losses of the M test sets (folds) of a repeat,
    as section 3.2 suggests for test sets of the same size. For the Beta posterior see Lacoste et
    al. 2012, section 3.

    Examples
    --------
    >>> table = pd.DataFrame({"tree": [0.96]}, index=["iris"])
    >>> results = Results.from_table(table, metric="accuracy", n_test=50)
    >>> dataset_estimates(results).frame.round(4)
                      value  standard_error    low    high  n_test
    dataset strategy
    iris    tree       0.04           0.028  0.011  0.1346      50
    """
    if method == "bounded" and results.metric.zero_one and results.n_test is not None:
        method = "wilson"
    notes: list[str] = []
    if method == "bootstrap":
        from mlaut.analysis.estimates.bootstrap import bootstrap_datasets

        results.complete()
        interval = Interval(*bootstrap_datasets(results, confidence, seed))
        n_test, by_sets = _test_points(results), False
    else:
        interval, n_test, by_sets = _dataset_intervals(results, method, confidence)
        notes += [_OF_TEST_SETS] if by_sets else []
    if method not in _OF_SHARES:
        notes += _too_narrow(interval, n_test, results.metric.zero_one)
    frame = pd.DataFrame(
        {key: part.ravel() for key, part in turned(interval, results, as_scores)._asdict().items()},
        index=pd.MultiIndex.from_product(
            [results.datasets, results.strategies], names=["dataset", "strategy"]
        ),
    )
    frame["test_sets" if by_sets else "n_test"] = np.repeat(n_test, len(results.strategies))
    return _table("Estimates by dataset", frame, results, "(a)", method, as_scores, notes)


def _too_narrow(interval: Interval, n_test: np.ndarray, zero_one: bool) -> list[str]:
    """Return notes with the number of intervals over test points that are too narrow, and why."""
    instead = ": choose 'wilson' or 'jeffreys'" if zero_one else ""
    notes = _single_points(interval, "among their test points", instead)
    errors = np.minimum(interval.value, 1 - interval.value) * n_test[:, None]
    few = int(((errors < FEW_ERRORS) & (interval.standard_error > 0)).sum()) if zero_one else 0
    if few:
        notes.append(
            f"{few} estimates rest on fewer than {FEW_ERRORS} errors, or on fewer right answers, "
            f"where this interval is too narrow{instead}"
        )
    return notes


def _test_points(results: Results) -> np.ndarray:
    """Return the number of test points in one repeat of each dataset."""
    if results.n_test is None:
        raise AnalysisError("the numbers of test points are not known: give n_test")
    return _in_one_repeat(results.n_test)


def _in_one_repeat(counts: np.ndarray) -> np.ndarray:
    """Return the sum of counts (N, R, F) over the folds of one repeat of each dataset."""
    repeats = (counts > 0).any(axis=2).sum(axis=1)
    return np.asarray((counts.sum(axis=(1, 2)) / repeats).round().astype(int))


def _of_seen(results: Results) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return standard errors of scenario (a), and the number of values in each mean.

    The third part of the result says whether the values are test points or whole test sets.
    Standard errors of repeats are averaged, as in `Results.standard_errors`.
    """
    folds = results.expected.sum(axis=2)
    by_points = results.variances is not None and results.n_test is not None
    if by_points or (folds[folds > 0] < 2).any():
        return results.standard_errors.to_numpy(), _test_points(results), False
    errors = results.errors_of_sets.to_numpy()
    return errors, _in_one_repeat(results.expected.astype(int)), True


def _dataset_intervals(
    results: Results, method: str, confidence: float
) -> tuple[Interval, np.ndarray, bool]:
    error, n_test, by_sets = _of_seen(results)
    value, n = results.losses.to_numpy(), n_test[:, None]
    if method in METHODS:
        df = n - (1 if by_sets else results.expected.any(axis=1).sum(axis=1)[:, None])
        ends = mean_ends(value, error, method, df, confidence, results.metric.loss_bounds, n)
        return Interval(value, error, *ends), n_test, by_sets
    one_of("method", method, (*METHODS, *_OF_SHARES, "bootstrap"))
    if not results.metric.zero_one or by_sets:
        raise AnalysisError(
            f"{method!r} is for metrics whose point losses are 0 or 1, and {results.metric.name} "
            "is not one: choose 't' or 'bootstrap'"
        )
    if method == "wilson":
        ends = wilson(value, n, confidence)
    else:
        ends = _beta(value, n, _PRIOR[method], confidence)
    return Interval(value, error, *ends), n_test, by_sets


def _beta(
    share: np.ndarray, n: np.ndarray, prior: float, confidence: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the central interval of the Beta posterior; it ends at 0 for 0 errors, at 1 for n."""
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    a, b = share * n + prior, (1 - share) * n + prior
    low = np.where(share <= 0, 0.0, betaincinv(a, b, tail))
    return low, np.where(share >= 1, 1.0, betaincinv(a, b, 1 - tail))


@of_results
@takes_sources
def mean_estimates(
    results: Results,
    *,
    scenario: str = "(c)",
    method: str = "bounded",
    confidence: Share = 0.95,
    as_scores: bool = False,
    seed: Seed = 0,
) -> ResultTable:
    """Estimate the mean loss of each strategy over datasets: scenario (c) or (a).

    Parameters
    ----------
    results : Results
    scenario : {"(c)", "(a)"}, default "(c)"
        ``"(c)"``: strategies trained anew on a new dataset of the same kind. ``"(a)"``: the fitted
        models used again on these datasets; for an aggregate on a single test set it needs the
        bootstrap.
    method : {"bounded", "t", "normal", "bootstrap"}, default "bounded"
        Method of the interval. ``"bounded"`` is Student's t, adapted to the range of the metric:
        see the notes. ``"t"`` is Student's interval, which is right for normal losses. ``"normal"``
        is the paper's interval, which is too narrow for scenario (c) with few datasets. Both are
        cut at the ends of the range. ``"bootstrap"`` draws datasets with replacement for (c)
        (bias-corrected and accelerated), and test points within each dataset for (a) (percentile).
    confidence : float, default 0.95
        Confidence of the intervals.
    as_scores : bool, default False
        Whether to return scores as the metric defines them, in place of losses.
    seed : int, default 0
        Seed of the bootstrap.

    Returns
    -------
    ResultTable
        One row for each strategy: value, standard_error, low, high.

    Notes
    -----
    Source: MLaut 2019, Table 3, rows 2 and 3, and Table 4. The standard error is ``sqrt(sum v_k /
    M_k) / N`` for (a), and ``sqrt(sum (e_k - e)^2 / (N (N - 1)))`` for (c). The estimate is the
    same for both. For aggregates M_k is the number of test sets (folds) of dataset k, and v_k the
    variance of their losses: section 3.2; see `dataset_estimates`. For scenario (b) see
    `mlaut.analysis.retrained_estimates`.

    Cutting an interval at the ends of the metric's range loses no coverage, since the truth is
    within that range too. The bounded interval does more. It assumes that the standard error of a
    mean m is proportional to the square root of ``(m - lower) (upper - m)``, as for a share, or of
    the distance from the only end. It then holds each m that the estimate does not reject (a score
    interval). Losses near an end are skewed; there it covers more than Student's interval
    (docs/measured-levels.md has both). Without bounds it is Student's interval.

    Examples
    --------
    >>> table = pd.DataFrame({"tree": [0.25, 0.4, 1 / 6]})
    >>> results = Results.from_table(table, metric="error", n_test=[4, 5, 6])
    >>> mean_estimates(results, method="normal").frame.round(6)
                 value  standard_error      low      high
    strategy
    tree      0.272222        0.068268  0.13842  0.406025
    >>> mean_estimates(results).frame.round(6)
                 value  standard_error       low      high
    strategy
    tree      0.272222        0.068268  0.086611  0.596038
    """
    if scenario not in ("(a)", "(c)"):
        raise AnalysisError(
            f"scenario {scenario!r} is not one of '(a)', '(c)'; for '(b)' see "
            "mlaut.analysis.retrained_estimates"
        )
    one_of("method", method, (*METHODS, "bootstrap"))
    results.complete(datasets=2 if scenario == "(c)" else 1)
    if scenario == "(c)":
        check_sources(results)
    if method == "bootstrap":
        from mlaut.analysis.estimates.bootstrap import bootstrap_means

        check_independent(results, "the bootstrap of means")
        interval = Interval(*bootstrap_means(results, scenario, confidence, seed))
    else:
        estimate = _mean_of_unseen if scenario == "(c)" else _mean_of_seen
        interval = estimate(results, method, confidence)
    by_sets = scenario == "(a)" and method != "bootstrap" and _of_seen(results)[2]
    notes = [
        *results.notes_on_means(),
        *((_OF_TEST_SETS,) if by_sets else ()),
        *_small_sample_notes(interval, scenario, method, results.n_sources),
    ]
    frame = pd.DataFrame(
        turned(interval, results, as_scores)._asdict(),
        index=pd.Index(results.strategies, name="strategy"),
    )
    return _table("Mean over datasets", frame, results, scenario, method, as_scores, notes)


def _small_sample_notes(interval: Interval, scenario: str, method: str, n: int) -> list[str]:
    """Return notes on which intervals of means over datasets are too narrow, and why."""
    notes = _single_points(interval, "at all")
    if scenario == "(c)" and method == "normal" and n < FEW_DATASETS:
        notes.append(too_few_for_normal(n))
    elif scenario == "(c)" and method == "bootstrap" and n < FEW_DATASETS:
        notes.append(f"a bootstrap of {n} datasets is too narrow: choose method='bounded'")
    elif scenario == "(c)" and n < FEW_FOR_T:
        notes.append(_OF_FEW.format(n=n))
    return notes


def _single_points(interval: Interval, where: str, instead: str = "") -> list[str]:
    """Return a note on how many intervals have equal ends but for rounding, if there is one."""
    alike = np.isclose(interval.low, interval.high, rtol=1e-12, atol=0)
    points = int(((interval.standard_error == 0) & alike).sum())
    note = f"{points} estimates have no variation {where}, so their interval is a single point, "
    return [f"{note}which is too narrow{instead}"] if points else []


def mean_ends(
    value: np.ndarray,
    error: np.ndarray,
    method: str,
    df: ArrayLike,
    confidence: float,
    bounds: tuple[float, float],
    n: ArrayLike,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the interval of a mean, within the range of the averaged values.

    Parameters
    ----------
    value, error : ndarray of the same shape
        Means and their standard errors.
    method : {"bounded", "normal", "t"}
    df : array_like
        Degrees of freedom of the standard errors; not used by ``"normal"``.
    confidence : float
    bounds : (float, float)
        Range of the averaged values.
    n : array_like
        Number of independent values in each mean. It is used if all values are at the same end of
        the range: the variance of zeros and ones is divided by it.
    """
    quantile = upper_point(method, df, confidence)
    half = quantile * error
    if method == "bounded":
        return bounded_ends(value, half, bounds, quantile**2 / np.asarray(n, dtype=float))
    return np.clip(value - half, *bounds), np.clip(value + half, *bounds)


def _mean_of_unseen(results: Results, method: str, confidence: float) -> Interval:
    losses = results.by_source(results.losses.to_numpy())
    n = len(losses)
    value, error = losses.mean(axis=0), losses.std(axis=0, ddof=1) / np.sqrt(n)
    # where all losses are equal, their mean can differ by rounding, which is no variation
    error = np.where(losses.max(axis=0) == losses.min(axis=0), 0.0, error)
    value = np.where(error == 0, losses[0], value)
    bounds = results.metric.loss_bounds
    return Interval(value, error, *mean_ends(value, error, method, n - 1, confidence, bounds, n))


def _mean_of_seen(results: Results, method: str, confidence: float) -> Interval:
    losses, (errors, values, _) = results.losses.to_numpy(), _of_seen(results)
    if np.isnan(errors).any():
        raise MissingCellsError(
            "some cells have no variance of point losses (they were filled in, or have one test "
            "point), so scenario (a) has no standard error: leave their datasets out"
        )
    n = len(losses)
    value, error = losses.mean(axis=0), np.sqrt(np.square(errors).sum(axis=0)) / n
    worth, bounds = n**2 / (1 / values).sum(), results.metric.loss_bounds
    df = freedom_of_sum(errors, np.maximum(values - 1, 1))
    return Interval(value, error, *mean_ends(value, error, method, df, confidence, bounds, worth))


def freedom_of_sum(errors: np.ndarray, df: ArrayLike) -> np.ndarray:
    """Return the degrees of freedom of the standard error of sums of independent estimates.

    Satterthwaite (1946), as Welch (1947) has it for two means: the squared sum of the variances by
    the sum of their squares, each divided by its degrees of freedom. For one estimate it is ``df``.

    Parameters
    ----------
    errors : ndarray of float, shape (n, ...)
        Standard errors of the n estimates of each sum. If all are 0, they count alike.
    df : array_like of float, shape (n,)
        Degrees of freedom of each.

    Examples
    --------
    >>> freedom_of_sum(np.array([3.0, 4.0]), [4, 9]).round(4).tolist()
    12.8351
    """
    largest = errors.max(axis=0)
    squares = np.square(np.where(largest > 0, errors / np.where(largest > 0, largest, 1.0), 1.0))
    fourth = np.square(squares).T / np.asarray(df, dtype=float)
    return np.square(squares.sum(axis=0)) / fourth.T.sum(axis=0)


def upper_point(method: str, df: ArrayLike, confidence: float) -> np.ndarray:
    """Return the quantile of a two-sided interval, of the normal distribution or Student's t."""
    from scipy.special import ndtri, stdtrit

    one_of("method", method, METHODS)
    level = 0.5 + confidence / 2
    df = np.maximum(np.asarray(df, dtype=float), 1)
    return ndtri(np.full_like(df, level)) if method == "normal" else stdtrit(df, level)


def too_few_for_normal(n: int) -> str:
    """Return the note on normal intervals over too few datasets."""
    return f"a normal interval on {n} datasets is too narrow: choose method='bounded'"


def turned(interval: Interval, results: Results, as_scores: bool) -> Interval:
    """Return the interval of losses, or the interval of scores with its ends swapped."""
    if not as_scores or not results.metric.greater_is_better:
        return interval
    turn = results.metric.loss  # its own inverse
    value, low, high = turn(interval.value), turn(interval.high), turn(interval.low)
    return Interval(value, interval.standard_error, low, high)


def _table(
    name: str,
    frame: pd.DataFrame,
    results: Results,
    scenario: str,
    method: str,
    as_scores: bool,
    notes: list[str],
) -> ResultTable:
    kind = "3" if results.metric.average else "4"
    if method == "bounded" and not np.isfinite(results.metric.bounds).any():
        method = "t"
    name, source = f"{name} ({method} intervals)", f"MLaut 2019, Table {kind}"
    return results.table(name, frame, source, scenario=scenario, notes=notes, as_scores=as_scores)
