"""Ranks of strategies within datasets, their averages, critical differences, groups, joint tests.

Rank 1 is the best; tied strategies share the mean of their ranks. `PairedLosses.ranks` computes
ranks and decides which losses are tied. The rank of a strategy depends on the other strategies that
are compared. Scenario (c).
"""

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import Seed, Share, checked, one_of, position, positions
from mlaut.analysis.common.display import SMALLEST_P
from mlaut.analysis.common.letters import letter_groups
from mlaut.analysis.common.numerics import range_ppf, range_sf
from mlaut.analysis.common.result_types import Pairwise, ResultTable
from mlaut.analysis.estimates.intervals import FEW_DATASETS, mean_ends, too_few_for_normal
from mlaut.analysis.pairwise.effects import Effect
from mlaut.analysis.pairwise.pairs import PairedLosses, paired_losses
from mlaut.analysis.pairwise.runner import PairStatistics, even, odd, pair_test, sizes_compare
from mlaut.analysis.results.given import check_sources, of_results, takes_sources
from mlaut.analysis.results.results import Results
from mlaut.analysis.sources.flips import FEWEST, Joint, joint_test
from mlaut.errors import AnalysisError
from mlaut.helpers.optional import load_matplotlib

_LEAST = 1e-12  # error of a p-value of Nemenyi's test, from a distribution function near 1
_LEAST_NOTE = f"a p-value of {_LEAST:g} is an upper bound: twelve decimals are computed"


@of_results
@takes_sources
def rank_table(results: Results) -> pd.DataFrame:
    """Rank the strategies on each dataset: 1 is the best, ties share the mean of their ranks.

    Losses that differ only by rounding noise are ties.

    Examples
    --------
    >>> table = pd.DataFrame({"A": [0.9, 0.8], "B": [0.7, 0.8], "C": [0.8, 0.7]})
    >>> rank_table(Results.from_table(table, metric="accuracy")).to_numpy().tolist()
    [[1.0, 3.0, 2.0], [1.5, 1.5, 3.0]]
    """
    ranks = paired_losses(results).ranks
    return pd.DataFrame(ranks, index=results.losses.index, columns=results.losses.columns)


def rank_differences(of: PairedLosses) -> np.ndarray:
    """Return the average rank of the first strategy minus that of the second, shape (P,)."""
    mean = of.ranks.mean(axis=0)
    return mean[of.pairs.first] - mean[of.pairs.second]


@of_results
@takes_sources
def average_ranks(
    results: Results, *, method: str = "bounded", confidence: Share = 0.95
) -> ResultTable:
    """Compute average ranks with standard errors and intervals (MLaut 2019, Table 5).

    Parameters
    ----------
    results : Results
    method : {"bounded", "t", "normal"}, default "bounded"
        Method of the intervals, as in `mlaut.analysis.mean_estimates`; ranks are between 1 and the
        number of strategies. ``"normal"`` is the method of the paper, too narrow with few datasets.
    confidence : float, default 0.95
        Confidence level of the intervals.

    Returns
    -------
    ResultTable
        One row for each strategy, the best first: average_rank, standard_error, low, high. The
        intervals rest on the central limit theorem in the number of datasets.
    """
    check_sources(results)
    ranks = paired_losses(results).ranks
    table = pd.DataFrame(results.by_source(ranks), columns=results.losses.columns)
    mean, error = table.mean(), table.sem(ddof=1)
    n, bounds = len(table), (1.0, float(len(mean)))
    ends = mean_ends(mean.to_numpy(), error.to_numpy(), method, n - 1, confidence, bounds, n)
    columns = {"average_rank": mean, "standard_error": error}
    columns |= {end: pd.Series(x, mean.index) for end, x in zip(("low", "high"), ends, strict=True)}
    few = method == "normal" and n < FEW_DATASETS
    return results.table(
        f"Average ranks ({method} intervals)",
        pd.DataFrame(columns).sort_values("average_rank", kind="stable"),
        "MLaut 2019, Table 5",
        notes=[too_few_for_normal(n)] * few,
    )


@checked
def critical_difference(
    n_strategies: int, n_datasets: int, *, alpha: Share = 0.05, test: str = "nemenyi"
) -> float:
    """Return the difference of average ranks that is significant at level ``alpha``.

    Parameters
    ----------
    n_strategies, n_datasets : int
    alpha : float, default 0.05
    test : {"nemenyi", "bonferroni-dunn"}, default "nemenyi"
        ``"nemenyi"`` compares all pairs; ``"bonferroni-dunn"`` compares all with one control.

    Notes
    -----
    It is ``q sqrt(K (K + 1) / (6 N))``. For Nemenyi's test, q is the upper ``alpha`` quantile of
    the studentized range with infinite degrees of freedom, divided by the square root of 2. For
    Dunn's test, q is the upper quantile of the normal distribution at alpha / (2 (K - 1)). Source:
    Demsar 2006, section 3.2.2; MLaut 2019, Table 5.

    Examples
    --------
    >>> round(critical_difference(9, 121), 4)
    1.0921
    """
    from scipy.special import ndtri

    if n_strategies < 2 or n_datasets < 1 or not 0 < alpha < 1:
        raise AnalysisError(
            "a critical difference needs two strategies or more, one dataset or more, and an alpha "
            "between 0 and 1"
        )
    if one_of("test", test, ("nemenyi", "bonferroni-dunn")) == "nemenyi":
        q = range_ppf(alpha, n_strategies) / np.sqrt(2)
    else:
        q = -float(ndtri(alpha / (2 * (n_strategies - 1))))
    return float(q * standard_error(n_strategies, n_datasets))


def _difference_note(k: int, n: int, alpha: float | None, confidence: float, test: str) -> str:
    """Return the note that states the critical difference and its level."""
    level = 1 - confidence if alpha is None else alpha
    cd = critical_difference(k, n, alpha=level, test=test)
    return f"critical difference {cd:.6g} at level {level:.4g}"


def standard_error(k: int, n: int) -> float:
    """Return the standard error of a difference of average ranks without ties."""
    return float(np.sqrt(k * (k + 1) / (6 * n)))


def post_hoc_p(of: PairedLosses, test: str) -> np.ndarray:
    """Return the p-values of all pairs, shape (P,), of a test that scikit-posthocs computes."""
    load_matplotlib()  # scikit-posthocs imports it
    import scikit_posthocs

    compute = getattr(scikit_posthocs, f"posthoc_{test}_friedman")
    return np.asarray(compute(of.ranks).to_numpy()[of.pairs.first, of.pairs.second])


@pair_test(
    name="Nemenyi test",
    null="all strategies have the same average rank",
    source="Nemenyi 1963; Demsar 2006, section 3.2.2",
    statistic_name="z",
    alone=False,
    simultaneous=True,
)
def nemenyi_test(
    results: Results, *, alpha: Share | None = None, confidence: Share = 0.95
) -> PairStatistics:
    """Compute Nemenyi's test of average ranks for all pairs of strategies.

    Parameters
    ----------
    results : Results
    alpha : float, optional
        Level of the critical difference in the notes; default 1 - ``confidence``.
    confidence : float, default 0.95
        Confidence level of the simultaneous intervals: the rank difference plus and minus the
        critical difference at level 1 - ``confidence``.

    Returns
    -------
    Pairwise
        The p-values already account for all pairs; do not correct them again.

    Notes
    -----
    Null hypothesis: all strategies have the same average rank. The test uses the variance of ranks
    without ties, so it is conservative with ties. A p-value below 1e-12 is returned as that number.
    `AnalyseResults.nemenyi` has them from scikit-posthocs. Source: Demsar 2006, section 3.2.2.

    Examples
    --------
    >>> table = pd.DataFrame([[1.0, 2, 3], [2, 1, 3], [1, 2, 3], [1, 2, 3]], columns=list("ABC"))
    >>> nemenyi_test(Results.from_table(table, greater_is_better=False)).pair("A", "C").p_value
    0.035557...
    """
    of = paired_losses(results)
    n, k = of.ranks.shape
    difference, cd = rank_differences(of), critical_difference(k, n, alpha=1 - confidence)
    z = difference / standard_error(k, n)
    p = range_sf(np.abs(z) * np.sqrt(2), k)
    few = (_LEAST_NOTE,) if (p < _LEAST).any() else ()
    return PairStatistics(
        tables={"statistic": odd(z)},
        p=lambda _: np.maximum(p, _LEAST),
        effects={"rank difference": Effect.around(difference, cd, "simultaneous").within(k - 1)},
        notes=(_difference_note(k, n, alpha, confidence, "nemenyi"), *few),
    )


@of_results
def bonferroni_dunn_test(
    results: Results,
    control: str,
    *,
    correction: str = "bonferroni",
    alpha: Share | None = None,
    confidence: Share = 0.95,
) -> ResultTable:
    """Compare the average rank of every strategy with that of a control.

    Parameters
    ----------
    results : Results
    control : str
        Name of the strategy that all others are compared with.
    correction : str, default "bonferroni"
        Correction of the p-values: any of `mlaut.analysis.CORRECTIONS` except the corrections for
        all pairs. ``"bonferroni"`` is Dunn's.
    alpha : float, optional
        Level of the critical difference in the notes; default 1 - ``confidence``.
    confidence : float, default 0.95
        Confidence level of the simultaneous intervals: the rank difference plus and minus Dunn's
        critical difference at level 1 - ``confidence``.

    Returns
    -------
    ResultTable
        One row for each strategy except the control: average_rank, rank_difference (to the
        control), low, high, z, p (unadjusted), p_value (adjusted).

    Notes
    -----
    Null hypothesis: the strategy has the same average rank as the control. Source: Dunn 1961;
    Demsar 2006, section 3.2.2.
    """
    from scipy.special import ndtr

    from mlaut.analysis.pairwise.corrections import adjust

    k, n = len(results.strategies), len(results.datasets)
    at = position("strategy", control, results.strategies)
    mean = paired_losses(results).ranks.mean(axis=0)
    others = np.delete(np.arange(k), at)
    others = others[np.argsort(mean[others], kind="stable")]
    away = mean[others] - mean[at]
    cd = critical_difference(k, n, alpha=1 - confidence, test="bonferroni-dunn")
    z = away / standard_error(k, n)
    p = np.clip(2 * ndtr(-np.abs(z)), SMALLEST_P, 1.0)
    columns = {
        "average_rank": mean[others],
        "rank_difference": away,
        "low": np.maximum(away - cd, 1 - k),
        "high": np.minimum(away + cd, k - 1),
        "z": z,
        "p (unadjusted)": p,
        "p_value": adjust(p, correction),
    }
    return results.table(
        f"Average ranks against {control}, {correction}",
        pd.DataFrame(columns, index=results.losses.columns[others]),
        "Dunn 1961; Demsar 2006, section 3.2.2",
        notes=[_difference_note(k, n, alpha, confidence, "bonferroni-dunn")],
    )


@checked
def pair_groups(
    pairs: Pairwise, order: Sequence[str] | None = None, *, alpha: Share = 0.05
) -> tuple[tuple[str, ...], ...]:
    """Return groups of strategies of which no two differ by a test of pairs.

    Parameters
    ----------
    pairs : Pairwise
        Result of a test of all pairs, corrected for their number if it has p-values.
    order : sequence of str, optional
        All strategies, for example by average rank; default the order of the test.
    alpha : float, default 0.05
        Two strategies differ if the p-value is at most ``alpha``, or for a test without p-values
        if one is better with a probability of ``1 - alpha`` or more.

    Returns
    -------
    tuple of tuple of str
        Groups in the order of their first strategies. Two strategies that do not differ share at
        least one group; a strategy that differs from all others is in no group.

    Notes
    -----
    A test such as the signed rank test uses the losses of two strategies only. Then the others
    influence whether the two share a group only through the correction. For tests of ranks the
    groups are those of the critical difference diagram of scikit-posthocs. Source: Benavoli, Corani
    & Mangili 2016, Should we really use post-hoc tests based on mean-ranks?

    Examples
    --------
    >>> from mlaut.analysis import sign_test
    >>> table = pd.DataFrame({"A": [0.1] * 8, "B": [0.2] * 8, "C": [0.3] * 4 + [0.1] * 4})
    >>> pair_groups(sign_test(table, metric="error"))
    (('A', 'C'), ('B', 'C'))
    """
    names = list(pairs.strategies if order is None else order)
    at = positions("strategy", names, pairs.strategies)
    letters = letter_groups(~pairs.differ(alpha)[np.ix_(at, at)])
    members: dict[str, list[str]] = {}
    for name, text in zip(names, letters, strict=True):
        for letter in re.findall(r"[a-z]\d*", text):
            members.setdefault(letter, []).append(name)
    return tuple(tuple(group) for group in members.values() if len(group) > 1)


_ROW = {
    "null": "the differences of a source are symmetric about 0, jointly",
    "source": "Rosner, Glynn and Lee 2006; Westfall and Young 1993",
    "unit": "sources",
    "alone": False,
    "simultaneous": True,
}


@lru_cache(maxsize=4)
def joint_of_results(
    results: Results, weights: str = "learned", signs: bool = False, seed: int = 0
) -> Joint:
    """Return the joint test of all pairs of strategies, whose unit is the source.

    Parameters
    ----------
    results : Results
        Complete results; a dataset without known source is its own source.
    weights : {"learned", "source", "dataset"}, default "learned"
        See `mlaut.analysis.sources.flips.joint_test`.
    signs : bool, default False
        Whether to compare the signs of differences instead of their signed ranks.
    seed : int, default 0
    """
    results = results.in_order
    d = paired_losses(results).differences
    shift = 0.0 if results.clusters is None else 0.5
    if signs:  # in an eighth of the memory
        d = np.sign(d, out=np.empty(d.shape, np.int8), casting="unsafe")
    return joint_test(d, results.source, weights, seed, shift=shift)


@pair_test(name="Joint signed rank test of sources", applies=sizes_compare, **_ROW)
@takes_sources
def joint_signed_rank_test(
    results: Results, *, weights: str = "learned", seed: Seed = 0
) -> PairStatistics:
    """Compute joint tests, one for each pair, that differences of sources are symmetric about 0.

    Scenario (c). The signs of all differences of a source are flipped together, so datasets of one
    source may be related. The p-values account for all pairs.

    Parameters
    ----------
    results : Results
        Complete results; a dataset without known source is its own source.
    weights : {"learned", "source", "dataset"}, default "learned"
        Weights of the sources. ``"learned"``: best for the correlation within sources that the data
        show; ``"source"``: the same for each source; ``"dataset"``: the same for each dataset.
    seed : int, default 0
        Seed of the flips of more than 14 sources.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"A": [0.9, 0.8] * 6, "B": [0.7, 0.75] * 6})
    >>> results = Results.from_table(table, metric="accuracy")
    >>> results = results.with_clusters({str(i): str(i // 2) for i in range(12)})
    >>> joint_signed_rank_test(results, pair=("A", "B")).p_value
    0.03125
    """
    return _statistics(results, weights, False, seed)


@pair_test(name="Joint sign test of sources", **_ROW)
@takes_sources
def joint_sign_test(
    results: Results, *, weights: str = "learned", seed: Seed = 0
) -> PairStatistics:
    """Compute joint tests, one for each pair, that wins and losses of sources are symmetric.

    The test is `joint_signed_rank_test` with the signs of differences instead of signed ranks.

    Parameters
    ----------
    results, weights, seed
        As in `joint_signed_rank_test`.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"A": [0.9, 0.8] * 6, "B": [0.7, 0.75] * 6})
    >>> joint_sign_test(table, metric="accuracy", pair=("A", "B")).p_value
    0.00048828125
    """
    return _statistics(results, weights, True, seed)


def _statistics(results: Results, weights: str, signs: bool, seed: int) -> PairStatistics:
    joint = joint_of_results(results, weights, signs, seed)
    few = f"{results.n_sources} sources cannot show a difference by ranks: it takes {FEWEST}"
    return PairStatistics(
        tables={"statistic": odd(joint.statistic), "p (unadjusted)": even(joint.p)},
        effects={"signed ranks": Effect.point(joint.statistic)},
        p=lambda _: joint.adjusted,
        n=results.n_sources,
        notes=(*((few,) if results.n_sources < FEWEST else ()), *joint.notes()),
    )
