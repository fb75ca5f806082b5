"""McNemar's test of two fitted classifiers on the test points of one dataset: scenario (a)."""

import numpy as np
from numpy.typing import ArrayLike

from mlaut.analysis.common.arguments import checked, one_of, position
from mlaut.analysis.common.display import SMALLEST_P
from mlaut.analysis.methods.lacoste.risk import checked_counts
from mlaut.analysis.pairwise.effects import Effect
from mlaut.analysis.pairwise.pairs import Pairs
from mlaut.analysis.pairwise.runner import PairStatistics, even, pair_test
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

_METHODS = ("mid-p", "exact", "corrected", "uncorrected")


@checked
def mcnemar_p(
    only_first: ArrayLike,
    only_second: ArrayLike,
    method: str = "mid-p",
    *,
    alternative: str = "two-sided",
) -> np.ndarray:
    """Return McNemar's p-values from the counts of points on which only one model errs.

    Parameters
    ----------
    only_first, only_second : array of int
        Numbers of test points that only the first classifier, or only the second, gets wrong.
    method : {"mid-p", "exact", "corrected", "uncorrected"}, default "mid-p"
        ``"mid-p"``: the binomial test that counts the observed value half, which holds its level
        better than the exact test (Fagerland, Lydersen and Laake 2013). ``"exact"``: the exact
        binomial test. ``"corrected"`` and ``"uncorrected"``: the chi-square test with and without
        Edwards' correction.
    alternative : {"two-sided", "better", "worse"}, default "two-sided"
        ``"better"``: the first classifier is better, it errs alone less often.

    Raises
    ------
    AnalysisError
        A number is not a count, or the method is not known.

    Examples
    --------
    >>> float(mcnemar_p(59, 121, "exact").round(11))
    4.43445e-06
    """
    from scipy.special import bdtr, gammaln, ndtr

    one_of("method", method, _METHODS)
    b, c = checked_counts(only_first=only_first, only_second=only_second)
    n, times = b + c, 1
    if one_of("alternative", alternative, ("two-sided", "better", "worse")) == "two-sided":
        fewer, times = np.minimum(b, c), 2
    else:
        fewer = b if alternative == "better" else c
    if method in ("corrected", "uncorrected"):
        away = np.minimum(2 * fewer - n + (method == "corrected"), 0.0 if times == 2 else np.inf)
        p = times * ndtr(away / np.sqrt(np.maximum(n, 1)))
        return np.where(n > 0, np.clip(p, SMALLEST_P, 1.0), 1.0)
    p = times * bdtr(fewer, n.astype(int), 0.5)
    if method == "mid-p":
        log_here = gammaln(n + 1) - gammaln(fewer + 1) - gammaln(n - fewer + 1) - n * np.log(2)
        p = p - times / 2 * np.exp(log_here)
    return np.clip(p, SMALLEST_P, 1.0)


@pair_test(
    name="McNemar test ({method}) on {dataset}",
    null="both fitted models have the same error rate on this source",
    source="McNemar 1947; Fagerland, Lydersen and Laake 2013",
    scenario="(a)",
    statistic_name="wrong alone",
    unit="test points",
    one_sided=True,
)
def mcnemar_test(results: Results, dataset: str, *, method: str = "mid-p") -> PairStatistics:
    """Compute McNemar's test for all pairs of fitted classifiers on one dataset: scenario (a).

    Parameters
    ----------
    results : Results
        Results of a study, with a metric of zeros and ones (accuracy, misclassification) and a
        single test set, so that each strategy predicts each point once, with one fitted model.
    dataset : str
        Name of the dataset.
    method : {"mid-p", "exact", "corrected", "uncorrected"}, default "mid-p"
        Method of the p-values, see `mcnemar_p`.

    Returns
    -------
    Pairwise
        The statistic is the number of points that only the row strategy gets wrong. The effect is
        the difference of the error rates.

    Raises
    ------
    MissingCellsError
        A strategy has no predictions on the dataset.
    AnalysisError
        There are several test sets, one strategy, or losses other than 0 and 1.

    Notes
    -----
    Null hypothesis: both fitted models have the same error rate on the source of this dataset.
    `mlaut.analysis.methods.lacoste.prob_better_classifier` returns 1 minus the one-sided mid-p
    value. Source: McNemar 1947.
    """
    if not results.metric.zero_one:
        raise AnalysisError(
            "McNemar's test needs a metric whose losses are 0 and 1, such as accuracy, and this is "
            f"{results.metric.name}"
        )
    if results.expected[position("dataset", dataset, results.datasets)].sum() > 1:
        raise AnalysisError(
            f"McNemar's test needs a single test set, and {dataset!r} was tested repeatedly: "
            "see mlaut.analysis.methods.cross_validation.cv_test_datasets"
        )
    results.select(datasets=[dataset]).complete(strategies=2)
    points = results.points(dataset)
    kept = ~np.isnan(points[:, 0]).any(axis=0)  # points that were tested
    wrong = points[:, 0, kept]
    pairs = Pairs.of(results.strategies)
    first, second = wrong[pairs.first], wrong[pairs.second]
    only_first = (first > second).sum(axis=1)
    only_second = (second > first).sum(axis=1)
    sides = {"two-sided": "two-sided", "less": "better", "greater": "worse"}
    return PairStatistics(
        tables={
            "statistic": (only_first, only_second),
            "ties": even((first == second).sum(axis=1)),
        },
        p=lambda side: mcnemar_p(only_first, only_second, method, alternative=sides[side]),
        effects={"difference of error rates": Effect.point((first - second).mean(axis=1))},
        n=int(kept.sum()),
    )
