"""Tests of all strategies together, and the tests of pairs that follow them: scenario (c)."""

from math import lgamma

import numpy as np

from mlaut.analysis.common.arguments import one_of
from mlaut.analysis.common.display import SMALLEST_P
from mlaut.analysis.common.numerics import (
    RELATIVE_NOISE,
    equalised,
    places,
    ranked,
    snap,
    student_quantile,
)
from mlaut.analysis.common.result_types import Estimate, TestResult
from mlaut.analysis.methods.frequentist.ranks import post_hoc_p, rank_differences
from mlaut.analysis.pairwise.effects import Effect
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.pairwise.runner import PairStatistics, odd, pair_test
from mlaut.analysis.results.given import of_results
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError
from mlaut.markup import counted

_AGREE = (
    "all datasets agree on the order: F is infinite, and p is the probability of this agreement "
    "among all permutations"
)
_TIED = "all strategies are equal on every dataset"
_CONOVER_TOO_OFTEN = (
    "where other strategies differ, Conover's test rejects too often (8 to 13 % at 5 % were seen)"
)
_NEGLIGIBLE = 1e-9  # an eigenvalue that is 0 but for rounding; the others are above .1
_RANDOM = "cells are supposed to be missing at random: one that failed because it is hard is not"
_SAME_RANK = "the two strategies have the same mean rank"


@of_results
def friedman_test(
    results: Results, *, statistic: str = "F", ties: bool = True, confidence: float = 0.95
) -> TestResult:
    """Compute Friedman's test that all strategies have the same average rank.

    Parameters
    ----------
    results : Results
    statistic : {"F", "chi2"}, default "F"
        ``"F"`` is Iman and Davenport's statistic, which the MLaut paper uses; ``"chi2"`` is
        Friedman's chi-square.
    ties : bool, default True
        Whether the variance of the ranks is corrected for ties. Demsar 2006 and some packages do
        not correct it. Without ties the result is the same.
    confidence : float, default 0.95
        Confidence level of the interval of Kendall's W, the effect.

    Returns
    -------
    TestResult

    Notes
    -----
    Null hypothesis: all strategies have the same distribution of ranks. ``chi2 = 12 N / (K (K + 1))
    (sum r_i^2 - K (K + 1)^2 / 4)``, divided by ``1 - sum (t^3 - t) / (N K (K^2 - 1))`` for ties;
    ``F = (N - 1) chi2 / (N (K - 1) - chi2)`` with K - 1 and (K - 1) (N - 1) degrees of freedom.
    If all datasets agree on the order, F is infinite and p is ``(1 / K!)^(N - 1)``, the probability
    of this agreement among all permutations. Source: MLaut 2019, Table 7; Demsar 2006, section
    3.2.2; Iman and Davenport 1980.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"A": [72, 96, 88, 92, 74, 76, 82],
    ...                       "B": [120, 120, 132, 120, 101, 96, 112],
    ...                       "C": [76, 95, 104, 96, 84, 72, 76]})
    >>> results = Results.from_table(table, greater_is_better=False)
    >>> friedman_test(results, statistic="chi2").sentence()
    "Friedman test of 3 strategies on loss (7 datasets): chi2(2) = 10.57, p = 0.00506, \
Kendall's W 0.7551, 95 % interval [0.6704, 0.8398], scenario (c)."
    """
    from scipy.special import chdtrc

    one_of("statistic", statistic, ("F", "chi2"))
    table = paired_losses(results).ranks
    n, k = table.shape
    chi2, correction = _friedman_chi2(table)
    chi2 = chi2 / correction if ties and correction > 0 else chi2
    if statistic == "chi2":
        value, p, notes = chi2, float(chdtrc(k - 1, chi2)), list[str]()
    else:
        value, p, notes = _f_statistic(chi2, n * (k - 1) - chi2, n, k)
    tied = int((np.diff(np.sort(table, axis=1), axis=1) == 0).any(axis=1).sum())
    if correction == 0:
        notes = [_TIED]
    elif tied:
        on = f"ties on {counted(tied, 'dataset')}"
        notes.append(f"{on}, {'corrected' if ties else 'not corrected'} for")
    return TestResult(
        name="Friedman test",
        strategies=results.strategies,
        metric=results.metric.loss_name,
        null="all strategies have the same distribution of ranks",
        source="MLaut 2019, Table 7; Demsar 2006, section 3.2.2",
        statistic=value,
        statistic_name=statistic,
        df=float(k - 1) if statistic == "chi2" else (float(k - 1), float((k - 1) * (n - 1))),
        p_value=p,
        effects=(kendalls_w(results, confidence=confidence),),
        n=n,
        ties=tied,
        notes=(*results.notes_text(), *notes),
    )


def _friedman_chi2(table: np.ndarray) -> tuple[float, float]:
    """Return uncorrected chi-square, and the divisor for ties, of ranks (N, K)."""
    n, k = table.shape
    spread = np.square(table.mean(axis=0) - (k + 1) / 2).sum()
    chi2 = 12 * n / (k * (k + 1)) * spread
    # Variance of the ranks over their variance without ties: 1 - sum(t^3 - t) / (N K (K^2 - 1)).
    correction = np.square(table - (k + 1) / 2).sum() * 12 / (n * k * (k**2 - 1))
    return float(chi2), float(correction)


def _f_statistic(between: float, within: float, n: int, k: int) -> tuple[float, float, list[str]]:
    """Return F = (N - 1) between / within, its p-value, and a note if F is infinite."""
    from scipy.special import fdtrc

    # Both cut-offs treat rounding noise of sums of squared ranks as 0.
    if between <= 1e-12:
        return 0.0, 1.0, []
    if within <= 1e-9 * between:
        return np.inf, max(float(np.exp(-(n - 1) * lgamma(k + 1))), SMALLEST_P), [_AGREE]
    value = (n - 1) * between / within
    return value, float(fdtrc(k - 1, (k - 1) * (n - 1), value)), []


@of_results
def kendalls_w(results: Results, *, confidence: float = 0.95) -> Estimate:
    """Compute Kendall's coefficient of concordance between datasets, corrected for ties.

    W is Friedman's chi-square over N (K - 1): 0 if the datasets do not agree at all on the order of
    the strategies, 1 if they all agree.

    Parameters
    ----------
    results : Results
    confidence : float, default 0.95
        Confidence level of a jackknife interval with Student's t; its ends are NaN with two
        datasets, or if all strategies are equal on every dataset.
    """
    table = paired_losses(results).ranks
    n = len(table)
    value = _w(table)
    if n < 3 or not np.ptp(table):
        why = "fewer than three datasets" if n < 3 else "strategies that are all equal"
        notes = (f"{why}: W has no interval",)
        return Estimate(name="Kendall's W", value=value, confidence=confidence, n=n, notes=notes)
    # The jackknife needs a quantity that does not depend on N. W does; the mean correlation
    # between two datasets does not.
    concordance = (n * value - 1) / (n - 1)
    without = _w_without_each(table)
    without = ((n - 1) * without - 1) / (n - 2)
    pseudo = n * concordance - (n - 1) * without
    error = pseudo.std(ddof=1) / np.sqrt(n)
    half = student_quantile(n - 1, confidence) * error
    low, high = ((1 + (n - 1) * c) / n for c in (pseudo.mean() - half, pseudo.mean() + half))
    return Estimate(
        name="Kendall's W",
        value=value,
        standard_error=error * (n - 1) / n,
        low=max(low, 0.0),
        high=min(high, 1.0),
        confidence=confidence,
        method="jackknife",
        n=n,
    )


def _w(table: np.ndarray) -> float:
    n, k = table.shape
    chi2, correction = _friedman_chi2(table)
    return min(chi2 / correction / (n * (k - 1)), 1.0) if correction > 0 else 0.0


def _w_without_each(table: np.ndarray) -> np.ndarray:
    """Return Kendall's W with each dataset left out in turn: shape (N,)."""
    n, k = table.shape
    centred = table - (k + 1) / 2
    between = np.square(centred.sum(axis=0) - centred).sum(axis=1)
    squares = np.square(centred)
    within = squares.sum() - squares.sum(axis=1)
    return np.where(within > 0, between / np.where(within > 0, within, 1) / (n - 1), 0.0)


@of_results
def skillings_mack_test(results: Results) -> TestResult:
    """Compute Skillings and Mack's test that all strategies have the same average rank.

    Scenario (c). It is Friedman's test for results with missing cells: each dataset ranks the
    strategies that it has.

    Parameters
    ----------
    results : Results or DataFrame
        Results that may have missing cells.

    Returns
    -------
    TestResult

    Raises
    ------
    AnalysisError
        There are fewer than two strategies, or two datasets with two results or more.

    Notes
    -----
    Null hypothesis: all strategies have the same distribution of ranks, and cells are missing at
    random. On a dataset with k results the deviations of the ranks from (k + 1) / 2 have the weight
    ``sqrt(12 / (k + 1))``; the statistic is the quadratic form of their sums with the inverse of
    their covariance, which is corrected for ties. Without missing cells it is Friedman's chi-square
    with ties. Source: Skillings & Mack 1981.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"A": [72, 96, 88, None], "B": [99, 98, 132, 120],
    ...                       "C": [76, 95, None, 96]})
    >>> skillings_mack_test(table, metric="seconds", greater_is_better=False).sentence()
    'Skillings-Mack test of 3 strategies on seconds (4 datasets): ...'
    """
    from scipy.special import chdtrc

    losses = results.losses.to_numpy()
    there = ~np.isnan(losses)
    usable = there.sum(axis=1) > 1
    if usable.sum() < 2 or losses.shape[1] < 2:
        raise AnalysisError("it needs two datasets with results of two strategies or more on each")
    placed = places(losses, results.noise_scale)
    sums, covariance = np.zeros(losses.shape[1]), np.zeros((losses.shape[1],) * 2)
    tied = 0
    for row, has in zip(placed[usable], there[usable], strict=True):
        at, k = np.flatnonzero(has), int(has.sum())
        ranks = row[at]
        away = np.sqrt(12 / (k + 1)) * (ranks - (k + 1) / 2)
        sums[at] += away
        covariance[np.ix_(at, at)] += away @ away / (k - 1) * (np.eye(k) - 1 / k)
        tied += len(np.unique(ranks)) < k
    df = int(np.linalg.matrix_rank(covariance, tol=_NEGLIGIBLE, hermitian=True))
    statistic = float(sums @ np.linalg.pinv(covariance, rcond=_NEGLIGIBLE, hermitian=True) @ sums)
    holes = int((~there).sum())
    notes = [_RANDOM] if holes else []
    if not usable.all():
        names = [name for name, ok in zip(results.datasets, usable, strict=True) if not ok]
        notes.append(f"datasets with fewer than two results are left out: {', '.join(names)}")
    if df < losses.shape[1] - 1:
        notes.append(
            f"the strategies have {df} comparisons in place of {losses.shape[1] - 1}: "
            "they are tied, or fall into groups that share no dataset"
        )
    return TestResult(
        name="Skillings-Mack test",
        strategies=results.strategies,
        null="all strategies have the same average rank",
        source="Skillings & Mack 1981",
        metric=results.metric.loss_name,
        statistic=max(statistic, 0.0),
        statistic_name="chi2",
        df=df,
        p_value=float(chdtrc(df, max(statistic, 0.0))) if df else 1.0,
        n=int(usable.sum()),
        ties=tied,
        notes=(*results.notes_text(), *notes),
    )


@of_results
def quade_test(results: Results) -> TestResult:
    """Compute Quade's test: Friedman's test with datasets weighted by their ranges of losses.

    The weight of a dataset is the rank of its range of losses among all datasets.

    Notes
    -----
    Null hypothesis: all strategies have the same distribution of losses on each dataset. The sizes
    of losses must be comparable between datasets. ``F = (N - 1) B / (A - B)`` is computed from the
    observed weighted ranks, so ties are taken into account. Source: Quade 1979; Garcia, Fernandez,
    Luengo and Herrera 2010.
    """
    weighted, _ = _quade(results)
    n, k = weighted.shape
    between = float(np.square(weighted.sum(axis=0)).sum() / n)
    within = float(np.square(weighted).sum()) - between
    value, p, notes = _f_statistic(between, within, n, k)
    return TestResult(
        name="Quade test",
        strategies=results.strategies,
        metric=results.metric.loss_name,
        null="all strategies have the same distribution of losses on each dataset",
        source="Quade 1979; Garcia et al. 2010",
        statistic=value,
        statistic_name="F",
        df=(float(k - 1), float((k - 1) * (n - 1))),
        p_value=p,
        n=n,
        notes=(*results.notes_text(), *notes),
    )


def _quade(results: Results) -> tuple[np.ndarray, np.ndarray]:
    """Return weighted centred ranks, shape (N, K), and the weights of datasets, shape (N, 1)."""
    losses = paired_losses(results).losses
    size = results.noise_scale.max(axis=1, keepdims=True)
    ranges = snap(losses.max(axis=1, keepdims=True) - losses.min(axis=1, keepdims=True), size)
    weight = ranked(ranges)
    return weight * (paired_losses(results).ranks - (losses.shape[1] + 1) / 2), weight


@of_results
def aligned_ranks_test(results: Results) -> TestResult:
    """Compute Friedman's test with aligned ranks.

    The mean loss of a dataset is subtracted from its losses, and all N K differences are ranked
    together.

    Notes
    -----
    Null hypothesis: all strategies have the same distribution of losses on each dataset. The sizes
    of losses must be comparable between datasets. The statistic is approximately chi-square with
    K - 1 degrees of freedom. Source: Hodges and Lehmann 1962; Garcia, Fernandez, Luengo and Herrera
    2010.
    """
    from scipy.special import chdtrc

    table = _aligned(results)
    n, k = table.shape
    by_dataset, by_strategy = table.sum(axis=1), table.sum(axis=0)
    between = np.square(by_strategy).sum() - k * n**2 / 4 * (k * n + 1) ** 2
    within = np.square(table).sum() - np.square(by_dataset).sum() / k
    value = float((k - 1) * between / within) if within > 0 else 0.0
    return TestResult(
        name="Friedman test with aligned ranks",
        strategies=results.strategies,
        metric=results.metric.loss_name,
        null="all strategies have the same distribution of losses on each dataset",
        source="Hodges and Lehmann 1962; Garcia et al. 2010",
        statistic=value,
        statistic_name="T",
        df=float(k - 1),
        p_value=float(chdtrc(k - 1, value)),
        n=n,
        notes=(*results.notes_text(), *((_TIED,) if within == 0 else ())),
    )


def _aligned(results: Results) -> np.ndarray:
    """Return the ranks of all losses minus the mean loss of their dataset: shape (N, K)."""
    losses = paired_losses(results).snapped
    aligned = losses - losses.mean(axis=1, keepdims=True)
    size = results.noise_scale
    noise = RELATIVE_NOISE * np.maximum(size, size.mean(axis=1, keepdims=True))
    return ranked(equalised(aligned.reshape(-1, 1), noise.reshape(-1, 1))).reshape(aligned.shape)


# Known errors of the levels of post_hoc_test, by the test that it follows.
_LEVELS = {
    "aligned": (
        "the published error leaves out that the ranks of a dataset depend on each other, by a "
        "factor sqrt(K / (K - 1)): p is too small (docs/measured-levels.md); see nemenyi_test",
    ),
    "quade": (
        "the published error grows with the number of strategies, and is too large for more than "
        "three: p is too large then (docs/measured-levels.md)",
    ),
}


@pair_test(
    name="Rank comparison after the {after} test",
    null=_SAME_RANK,
    source="Garcia and Herrera 2008; Garcia et al. 2010",
    statistic_name="z",
    alone=False,
)
def post_hoc_test(
    results: Results, *, after: str = "friedman", confidence: float = 0.95
) -> PairStatistics:
    """Compare all pairs of strategies by the ranks of a test of all strategies.

    The p-values are normal and not corrected for the number of pairs. After Friedman's test they
    are those of Siegel and Castellan, computed by scikit-posthocs.

    Parameters
    ----------
    results : Results
    after : {"friedman", "quade", "aligned"}, default "friedman"
        Test whose ranks are compared: `friedman_test`, `quade_test` or `aligned_ranks_test`.
    confidence : float, default 0.95
        Confidence level of the interval of each single rank difference.

    Returns
    -------
    Pairwise
        Pass it to `mlaut.analysis.adjust_pairs` to correct the p-values.

    Notes
    -----
    Null hypothesis: the two strategies have the same mean rank. ``z`` is the difference of their
    mean ranks over its standard error: ``sqrt(K (K + 1) / (6 N))`` for Friedman's test,
    ``sqrt(K (K N + 1) / 6)`` for aligned ranks, and
    ``sqrt(K (K + 1) (2 N + 1) (K - 1) / (18 N (N + 1)))`` for the weighted mean ranks of Quade's
    test. Source: Garcia and Herrera 2008, section 2; Garcia, Fernandez, Luengo and Herrera 2010.
    """
    from scipy.special import ndtr, ndtri

    one_of("after =", after, ("friedman", "quade", "aligned"))
    of = paired_losses(results)
    n, k = of.ranks.shape
    if after == "friedman":
        mean, error = of.ranks.mean(axis=0), np.sqrt(k * (k + 1) / (6 * n))
    elif after == "quade":
        weighted, weight = _quade(results)
        mean = weighted.sum(axis=0) / weight.sum() + (k + 1) / 2
        error = np.sqrt(k * (k + 1) * (2 * n + 1) * (k - 1) / (18 * n * (n + 1)))
    else:
        mean, error = _aligned(results).mean(axis=0), np.sqrt(k * (k * n + 1) / 6)
    difference = mean[of.pairs.first] - mean[of.pairs.second]
    z = difference / error
    half = ndtri(0.5 + confidence / 2) * error
    span = n * k - 1 if after == "aligned" else k - 1
    effect = Effect(difference, difference - half, difference + half, "normal").within(span)
    return PairStatistics(
        tables={"statistic": odd(z)},
        p=lambda _: post_hoc_p(of, "siegel") if after == "friedman" else 2 * ndtr(-np.abs(z)),
        effects={"rank difference": effect},
        notes=_LEVELS.get(after, ()) if k > 2 else (),
    )


@pair_test(
    name="Conover test",
    null=_SAME_RANK,
    source="Conover 1999; computed by scikit-posthocs",
    statistic_name="rank difference",
    alone=False,
)
def conover_test(results: Results) -> PairStatistics:
    """Compute Conover's comparison of all pairs after Friedman's test.

    The p-values are not corrected for the number of pairs. scikit-posthocs computes them from
    Student's t, with the variance of the ranks that Friedman's statistic does not explain.

    Raises
    ------
    AnalysisError
        All datasets agree, or all strategies are equal: no such variance remains.

    Notes
    -----
    Null hypothesis: the two strategies have the same mean rank. The test is more powerful than
    Nemenyi's test, but does not hold its level when some of the other strategies differ. Source:
    Conover 1999.
    """
    of = paired_losses(results)
    chi2, correction = _friedman_chi2(of.ranks)
    n, k = of.ranks.shape
    # At its maximum N (K - 1), up to rounding, chi-square leaves no variance for t.
    if correction == 0 or chi2 / correction >= n * (k - 1) * (1 - 1e-12):
        raise AnalysisError(
            "Conover's test is not defined if all datasets agree on the order, or all strategies "
            "are equal: choose nemenyi_test"
        )
    p = post_hoc_p(of, "conover")
    difference = rank_differences(of)
    return PairStatistics(
        tables={"statistic": odd(difference)},
        p=lambda _: p,
        effects={"rank difference": Effect.point(difference)},
        notes=(_CONOVER_TOO_OFTEN,) if k > 2 else (),
    )
