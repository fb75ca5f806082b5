"""Tests of all strategies together, and the tests of pairs that follow them: scenario (c)."""

from dataclasses import replace
from math import lgamma

import numpy as np

from mlaut.analysis.common.arguments import Share, one_of
from mlaut.analysis.common.display import SMALLEST_P
from mlaut.analysis.common.numerics import ranked, snap, student_quantile
from mlaut.analysis.common.result_types import Estimate, TestResult
from mlaut.analysis.methods.frequentist.ranks import rank_differences, standard_error
from mlaut.analysis.pairwise.effects import Effect
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.pairwise.runner import PairStatistics, odd, pair_test
from mlaut.analysis.results.given import of_results
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError
from mlaut.helpers.markup import counted

_AGREE = (
    "all datasets agree on the order: F is infinite, and p is the probability of this agreement "
    "among all permutations"
)
_TIED = "all strategies are equal on every dataset"
_CONOVER_TOO_OFTEN = (
    "where other strategies differ, Conover's test rejects too often (8 to 13 % at 5 % were seen)"
)
_SAME_RANK = "the two strategies have the same mean rank"


@of_results
def friedman_test(
    results: Results, *, statistic: str = "F", ties: bool = True, confidence: Share = 0.95
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
    w = kendalls_w(results, confidence=confidence)
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
        effects=(w,),
        n=n,
        ties=tied,
        notes=(*results.notes_text(), *notes, *w.notes),
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
def kendalls_w(results: Results, *, confidence: Share = 0.95) -> Estimate:
    """Compute Kendall's coefficient of concordance between datasets, corrected for ties.

    W is Friedman's chi-square over N (K - 1): 0 if the datasets do not agree at all on the order of
    the strategies, 1 if they all agree.

    Parameters
    ----------
    results : Results
    confidence : float, default 0.95
        Confidence level of a jackknife interval with Student's t. Its ends are NaN, and a note
        says why, with two datasets, if all strategies are equal on every dataset, or if the
        jackknife sees no variation: each dataset changes W alike, as where all agree.
    """
    table = paired_losses(results).ranks
    n = len(table)
    value = _w(table)
    plain = Estimate(name="Kendall's W", value=value, confidence=confidence, n=n)
    if n < 3 or not np.ptp(table):
        why = "fewer than three datasets" if n < 3 else "strategies that are all equal"
        return replace(plain, notes=(f"{why}: W has no interval",))
    # The jackknife needs a quantity that does not depend on N. W does; the mean correlation
    # between two datasets does not.
    concordance = (n * value - 1) / (n - 1)
    without = _w_without_each(table)
    without = ((n - 1) * without - 1) / (n - 2)
    pseudo = n * concordance - (n - 1) * without
    error = pseudo.std(ddof=1) / np.sqrt(n)
    half = student_quantile(n - 1, confidence) * error
    low, high = ((1 + (n - 1) * c) / n for c in (pseudo.mean() - half, pseudo.mean() + half))
    if error < 1e-9:  # rounding
        return replace(
            plain, notes=("leaving out any dataset changes W alike: it has no interval",)
        )
    return replace(
        plain,
        standard_error=error * (n - 1) / n,
        low=max(low, 0.0),
        high=min(high, 1.0),
        method="jackknife",
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
    of = paired_losses(results)
    size = results.noise_scale.max(axis=1, keepdims=True)
    n, k = of.ranks.shape
    ranges = snap(np.ptp(of.losses, axis=1, keepdims=True), size)
    weighted = ranked(ranges) * (of.ranks - (k + 1) / 2)
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


@pair_test(
    name="Rank comparison after the Friedman test",
    null=_SAME_RANK,
    source="Garcia and Herrera 2008; Garcia et al. 2010",
    statistic_name="z",
    alone=False,
)
def post_hoc_test(results: Results, *, confidence: Share = 0.95) -> PairStatistics:
    """Compare all pairs of strategies by the ranks of Friedman's test.

    The p-values are those of Siegel and Castellan: normal, and not
    corrected for the number of pairs.

    Parameters
    ----------
    results : Results
    confidence : float, default 0.95
        Confidence level of the interval of each single rank difference.

    Returns
    -------
    Pairwise
        Pass it to `mlaut.analysis.adjust_pairs` to correct the p-values.

    Notes
    -----
    Null hypothesis: the two strategies have the same mean rank. ``z`` is the difference of their
    mean ranks over its standard error, ``sqrt(K (K + 1) / (6 N))``. Source: Garcia and Herrera
    2008, section 2.
    """
    from scipy.special import ndtr, ndtri

    of = paired_losses(results)
    n, k = of.ranks.shape
    difference, error = rank_differences(of), standard_error(k, n)
    z = difference / error
    half = ndtri(0.5 + confidence / 2) * error
    effect = Effect.around(difference, half, "normal").within(k - 1)
    return PairStatistics(
        tables={"statistic": odd(z)},
        p=lambda _: 2 * ndtr(-np.abs(z)),
        effects={"rank difference": effect},
    )


def _some_disagree(results: Results) -> bool:
    """Return whether variance of ranks is left beside that of the strategies."""
    ranks = paired_losses(results).ranks
    chi2, correction = _friedman_chi2(ranks)
    n, k = ranks.shape
    # At its maximum N (K - 1), up to rounding, chi-square leaves no variance for t.
    return correction > 0 and chi2 / correction < n * (k - 1) * (1 - 1e-12)


def _conover_p(ranks: np.ndarray, differences: np.ndarray) -> np.ndarray:
    """Return the p-values of differences of mean ranks; scikit-posthocs would load pictures too."""
    from scipy.special import stdtr

    n, k = ranks.shape
    centred = ranks - (k + 1) / 2
    degrees, total = (n - 1) * (k - 1), np.square(centred).sum()
    between = n * np.square(centred.mean(axis=0)).sum()
    t = np.abs(differences) / np.sqrt(2 / n * (total - between) / degrees)
    return 2 * np.asarray(stdtr(degrees, -t))


@pair_test(
    name="Conover test",
    null=_SAME_RANK,
    source="Conover 1999",
    statistic_name="rank difference",
    alone=False,
    applies=_some_disagree,
)
def conover_test(results: Results) -> PairStatistics:
    """Compute Conover's comparison of all pairs after Friedman's test.

    The p-values are not corrected for the number of pairs. They are those of Student's t, with
    the variance of the ranks that Friedman's statistic does not explain.

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
    if not _some_disagree(results):
        raise AnalysisError(
            "Conover's test is not defined if all datasets agree on the order, or all strategies "
            "are equal: choose nemenyi_test"
        )
    of = paired_losses(results)
    difference = rank_differences(of)
    p = _conover_p(of.ranks, difference)
    return PairStatistics(
        tables={"statistic": odd(difference)},
        p=lambda _: p,
        effects={"rank difference": Effect.point(difference)},
        notes=(_CONOVER_TOO_OFTEN,) if len(results.strategies) > 2 else (),
    )
