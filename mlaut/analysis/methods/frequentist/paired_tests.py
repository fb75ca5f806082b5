"""Tests of paired differences over datasets, for all pairs of strategies at once: scenario (c).

A difference is the loss of the first strategy of a pair minus the loss of the second, so a negative
difference means that the first is better. ``alternative="better"`` is the alternative hypothesis
that the first is better than the second.
"""

from functools import partial
from typing import Any

import numpy as np

from mlaut.analysis.common.arguments import Share, one_of
from mlaut.analysis.common.blocks import MANY, in_blocks
from mlaut.analysis.common.numerics import student_quantile, trinomial_sf
from mlaut.analysis.pairwise.effects import (
    NONCENTRAL,
    Effect,
    LateEffect,
    cohens_d,
    cohens_value,
    mean_difference,
    share_better,
)
from mlaut.analysis.pairwise.pairs import EQUAL, paired_losses
from mlaut.analysis.pairwise.runner import PairStatistics, even, odd, pair_test, sizes_compare
from mlaut.analysis.pairwise.signed_rank import (
    INVERTED,
    ZERO_RULES,
    SignedRanks,
    hodges_lehmann,
    rank_biserial,
    signed_rank_p,
)
from mlaut.analysis.results.given import takes_sources
from mlaut.analysis.results.results import Results

_CONSTANT = (
    "the difference is the same on every dataset, so its variance is 0: t is infinite, and p is "
    "only the limit for a variance of 0; see the sign test"
)
_SIDES = {"two-sided": 2, "less": 1, "greater": 1}
_UNPAIRED = "unpaired: it does not use that the datasets are the same; see {}"
_UNCORRECTED = (
    "the p-values are not corrected for the number of pairs, so that a pair does not depend on the "
    "others: among many pairs without a difference, one in twenty has p of at most .05"
)
_EQUALLY_LIKELY = "each strategy is equally likely to be better on a new dataset"


@pair_test(
    name="Paired t-test",
    null="the expected difference of the losses on a new dataset is 0",
    source="MLaut 2019, Table 6; Demsar 2006, section 3.1.2",
    statistic_name="t",
    one_sided=True,
    of_means=True,
)
@takes_sources
def t_test(results: Results, *, confidence: Share = 0.95) -> PairStatistics:
    """Compute Student's paired t-test for all pairs of strategies.

    Parameters
    ----------
    results : Results
    confidence : float, default 0.95
        Confidence level of the two-sided intervals of the effects.

    Returns
    -------
    Pairwise
        The effects are the mean difference (Student's interval) and Cohen's d for paired samples
        (interval from the noncentral t distribution).

    Notes
    -----
    Null hypothesis: the expected difference on a new dataset is 0. If datasets have sources, the
    differences are means of sources. The test is exact for normal differences. For others it is
    approximate, by the central limit theorem in the number of datasets. Equal strategies have t = 0
    and p = 1. A difference other than 0 that is the same on all datasets has an infinite t, and a
    note says so.
    Source: MLaut 2019, Table 6; Demsar 2006, section 3.1.2.

    Examples
    --------
    >>> import pandas as pd
    >>> losses = pd.DataFrame({"A": [0.1, 0.2, 0.3, 0.2], "B": [0.2, 0.4, 0.35, 0.3]})
    >>> results = Results.from_table(losses, greater_is_better=False)
    >>> t_test(results).pair("A", "B").sentence()
    'Paired t-test of A against B on loss (4 datasets): t(3) = -3.576, p = 0.0374, \
mean difference -0.1125, 95 % interval [-0.2126, -0.01239], scenario (c).'
    """
    losses = paired_losses(results)
    d, pairs = results.by_source(losses.differences), losses.pairs
    n = len(d)
    t, constant = _t_statistic(d)

    return PairStatistics(
        tables={"statistic": odd(t)},
        p=lambda side: _p_of_t(t, n - 1, side),
        effects={
            "mean difference": mean_difference(d, confidence).within(results.metric.span),
            "Cohen's d (paired)": LateEffect(
                lambda: cohens_d(d, confidence), NONCENTRAL, lambda: cohens_value(d)[0]
            ),
        },
        df=float(n - 1),
        n=n,
        notes=results.notes_on_means(),
        pair_notes=pairs.notes(constant & (t != 0), _CONSTANT) | pairs.notes(t == 0, EQUAL),
    )


def _p_of_t(t: np.ndarray, df: int, side: str) -> np.ndarray:
    from scipy.special import stdtr

    if side == "two-sided":
        return np.minimum(2 * stdtr(df, -np.abs(t)), 1.0)
    return stdtr(df, t if side == "less" else -t)


@in_blocks
def _t_statistic(d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return t of each pair, and whether its differences are the same on all datasets."""
    mean, sd = d.mean(axis=0), d.std(axis=0, ddof=1)
    constant = d.max(axis=0) == d.min(axis=0)
    t = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
    np.divide(mean * np.sqrt(len(d)), sd, out=t, where=~constant)
    return t, constant


@pair_test(
    name="Wilcoxon signed rank test",
    null="the differences of the losses are symmetric about 0",
    source="MLaut 2019, Table 6; Demsar 2006, section 3.1.3",
    statistic_name="W+ - W-",
    one_sided=True,
    applies=sizes_compare,
)
def wilcoxon_test(
    results: Results, *, zeros: str = "wilcox", method: str = "auto", confidence: Share = 0.95
) -> PairStatistics:
    """Compute Wilcoxon's signed rank test for all pairs of strategies.

    Parameters
    ----------
    results : Results
    zeros : {"wilcox", "pratt", "zsplit"}, default "wilcox"
        Treatment of differences of 0. ``"wilcox"`` drops them before ranking; ``"pratt"`` ranks
        them and then drops them; ``"zsplit"`` ranks them and splits their ranks between both sides
        (Demsar's rule).
    method : {"auto", "exact", "normal"}, default "auto"
        ``"exact"`` uses the distribution conditional on the observed ranks, with their ties and
        zeros; ``"normal"`` approximates it. ``"auto"`` is exact up to 300 datasets.
    confidence : float, default 0.95
        Confidence level of the two-sided intervals of the effects.

    Returns
    -------
    Pairwise
        The statistic is W+ - W-, the sum of signed ranks; ``tables`` also has W+ and W-. The
        effects are the rank-biserial correlation (with the same rule for zeros) and the
        Hodges-Lehmann shift.

    Notes
    -----
    Null hypothesis: the differences are symmetric about 0. Source: MLaut 2019, Table 6; Demsar
    2006, section 3.1.3; Pratt 1959 for the zeros.

    Examples
    --------
    >>> import pandas as pd
    >>> losses = pd.DataFrame({"A": [0.1, 0.2, 0.3, 0.2], "B": [0.2, 0.4, 0.35, 0.3]})
    >>> results = Results.from_table(losses, greater_is_better=False)
    >>> float(wilcoxon_test(results, alternative="better").p_values.loc["A", "B"])
    0.0625
    """
    losses = paired_losses(results)
    d = losses.differences
    plus, minus, zero, *biserial = _ranked_once(d, zeros, confidence)
    return PairStatistics(
        tables={
            "statistic": odd(plus - minus),
            "W+": (plus, minus),
            "W-": (minus, plus),
            "ties": even(zero),
        },
        p=lambda side: _signed_rank_p(d, zeros, side, method)[0],
        effects={
            "rank-biserial correlation": Effect(*biserial),
            "Hodges-Lehmann shift": LateEffect(lambda: hodges_lehmann(d, confidence), INVERTED),
        },
        notes=(f"differences of 0: {ZERO_RULES[zeros]}",) if zero.any() else (),
        pair_notes=losses.pairs.notes(zero == len(d), EQUAL),
    )


@in_blocks
def _ranked_once(d: np.ndarray, zeros: str, confidence: float) -> tuple[Any, ...]:
    """Return W+, W-, the number of zeros and the rank-biserial correlation of each pair."""
    signed = SignedRanks.of(d, zeros)
    zero = (d == 0).sum(axis=0)
    return signed.plus, signed.minus, zero, *rank_biserial(d, signed, confidence)


@partial(in_blocks, times=MANY)
def _signed_rank_p(d: np.ndarray, zeros: str, side: str, method: str) -> tuple[np.ndarray]:
    return (signed_rank_p(SignedRanks.of(d, zeros), side, method),)


@pair_test(
    name="Sign test",
    null=_EQUALLY_LIKELY,
    source="MLaut 2019, Table 7; Demsar 2006, section 3.1.4",
    statistic_name="wins",
    one_sided=True,
)
def sign_test(results: Results, *, ties: str = "drop", confidence: Share = 0.95) -> PairStatistics:
    """Compute the sign test of wins and losses for all pairs of strategies.

    Parameters
    ----------
    results : Results
    ties : {"drop", "split"}, default "drop"
        Treatment of datasets on which both strategies are equal. ``"drop"`` leaves them out;
        ``"split"`` counts half of them for each strategy, after dropping one if their number is
        odd (Demsar's rule). `trinomial_test` does neither: it has a probability of ties.
    confidence : float, default 0.95
        Confidence level of the two-sided interval of the effect.

    Returns
    -------
    Pairwise
        The statistic is the number of wins. The effect is the share of datasets on which the first
        strategy is better, with ties counted half.

    Notes
    -----
    Null hypothesis: each strategy is equally likely to be better on a new dataset. The p-values are
    exact (binomial). Source: MLaut 2019, Table 7; Demsar 2006, section 3.1.4.

    Examples
    --------
    >>> import pandas as pd
    >>> losses = pd.DataFrame({"A": [0.1, 0.2, 0.3, 0.2], "B": [0.2, 0.4, 0.35, 0.2]})
    >>> results = Results.from_table(losses, greater_is_better=False)
    >>> float(sign_test(results).p_values.loc["A", "B"])
    0.25
    """
    from scipy.special import bdtr

    one_of("the tie rule", ties, ("drop", "split"))
    d = paired_losses(results).differences
    tables = win_tables(d)
    (wins, losses), (tied, _) = tables["statistic"], tables["ties"]
    shared = tied // 2 if ties == "split" else 0
    n = wins + losses + 2 * shared

    def p_of(side: str) -> np.ndarray:
        fewer = {"two-sided": np.minimum(wins, losses), "less": losses, "greater": wins}[side]
        return np.minimum(_SIDES[side] * bdtr(fewer + shared, n, 0.5), 1.0)

    rule = "dropped" if ties == "drop" else "shared by both, one dropped if their number is odd"
    return PairStatistics(
        tables=tables,
        p=p_of,
        effects={"share better": share_better(d, confidence)},
        notes=(f"ties {rule}",) if tied.any() else (),
    )


@pair_test(
    name="Trinomial test",
    null=_EQUALLY_LIKELY,
    source="Bian, McAleer and Wong 2011; MLaut 2019, section 3.4.2",
    statistic_name="wins",
    one_sided=True,
)
def trinomial_test(results: Results, *, confidence: Share = 0.95) -> PairStatistics:
    """Compute the trinomial test of wins, losses and ties for all pairs of strategies.

    Parameters
    ----------
    results : Results
    confidence : float, default 0.95
        Confidence level of the two-sided interval of the effect.

    Returns
    -------
    Pairwise
        The same tables and effect as `sign_test`. Without ties both tests are equal.

    Notes
    -----
    Null hypothesis: each strategy is equally likely to be better on a new dataset; the probability
    of a tie is estimated by the share of ties. Source: Bian, McAleer and Wong 2011, which MLaut
    2019, section 3.4.2, names for ties.
    """
    d = paired_losses(results).differences
    tables = win_tables(d)
    (wins, losses), (tied, _) = tables["statistic"], tables["ties"]
    n = len(d)

    def p_of(side: str) -> np.ndarray:
        net = {"two-sided": np.abs(wins - losses), "less": wins - losses, "greater": losses - wins}
        return np.minimum(_SIDES[side] * trinomial_sf(net[side], n, tied / n), 1.0)

    return PairStatistics(
        tables=tables, p=p_of, effects={"share better": share_better(d, confidence)}
    )


def win_tables(d: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the numbers of wins (the statistic), losses and ties of both orders of each pair."""
    wins, losses = (np.count_nonzero(x, axis=0) for x in (d < 0, d > 0))
    tied = even(len(d) - wins - losses)
    return {"statistic": (wins, losses), "losses": (losses, wins), "ties": tied}


@pair_test(
    name="Student's t-test (unpaired)",
    null="the expected losses of the two strategies are equal",
    source="MLaut 2019, Appendix A.1",
    statistic_name="t",
    one_sided=True,
    of_means=True,
)
def unpaired_t_test(results: Results, *, confidence: Share = 0.95) -> PairStatistics:
    """Compute Student's t-test for strategies that ran on *different* datasets.

    The test is here because Appendix A.1 of the MLaut paper printed it under the name of the paired
    test. It treats the losses of two strategies as independent samples. If both strategies ran on
    the same datasets, their losses are not independent: differences between datasets then hide
    differences between strategies; use `mlaut.analysis.t_test`.

    Parameters
    ----------
    results : Results
    confidence : float, default 0.95
        Confidence level of the interval of the mean difference.

    Notes
    -----
    Null hypothesis: the expected losses of both strategies are equal. ``t = (e_1 - e_2) / sqrt((v_1
    + v_2) / N)`` with 2 N - 2 degrees of freedom. Source: MLaut 2019, Appendix A.1, whose p-values
    on 121 datasets have 240 degrees of freedom.
    """
    of = paired_losses(results)
    n, mean, variance = len(of.losses), of.losses.mean(axis=0), of.losses.var(axis=0, ddof=1)
    first, second = of.pairs.first, of.pairs.second
    difference = mean[first] - mean[second]
    error = np.sqrt((variance[first] + variance[second]) / n)
    t = np.where(of.differences.any(axis=0), np.copysign(np.inf, difference), 0.0)
    np.divide(difference, error, out=t, where=error > 0)
    half = student_quantile(2 * n - 2, confidence) * error
    effect = Effect.around(difference, half, "Student's t, unpaired")
    return PairStatistics(
        tables={"statistic": odd(t)},
        p=lambda side: _p_of_t(t, 2 * n - 2, side),
        effects={"mean difference": effect.within(results.metric.span)},
        df=2.0 * n - 2,
        notes=(*results.notes_on_means(), _UNPAIRED.format("t_test")),
    )


@pair_test(
    name="Rank-sum test (unpaired)",
    null="the two strategies have the same distribution of losses",
    source="Mann and Whitney 1947",
    statistic_name="U",
    one_sided=True,
)
def ranksum_test(results: Results) -> PairStatistics:
    """Compute Wilcoxon's rank-sum test for strategies that ran on *different* datasets.

    The test is here because MLaut offered it. It treats the losses of two strategies as independent
    samples. If both strategies ran on the same datasets, their losses are not independent:
    differences between datasets then hide differences between strategies; use `wilcoxon_test`.

    Parameters
    ----------
    results : Results

    Returns
    -------
    Pairwise
        The statistic is Mann and Whitney's U of the first strategy. The effect is the probability
        that the first has the smaller loss when each strategy runs on a different random dataset.

    Notes
    -----
    Null hypothesis: both strategies have the same distribution of losses. The p-values are exact
    for up to 8 datasets without ties, otherwise normal with a correction for ties. Source: Mann and
    Whitney 1947.
    """
    from scipy.stats import mannwhitneyu

    of = paired_losses(results)
    a, b = of.losses[:, of.pairs.first], of.losses[:, of.pairs.second]
    u = np.asarray(mannwhitneyu(a, b, axis=0).statistic)
    pairs = len(a) ** 2  # of a loss of the first and a loss of the second
    return PairStatistics(
        tables={"statistic": (u, pairs - u)},
        p=lambda side: np.asarray(mannwhitneyu(a, b, alternative=side, axis=0).pvalue),
        effects={"P(smaller loss), unpaired": Effect.point(1 - u / pairs, neutral=0.5)},
        notes=(_UNPAIRED.format("wilcoxon_test"),),
    )


@pair_test(
    name="Multi-comparison matrix",
    null="the differences are symmetric about 0, or either strategy is as likely to be better",
    source="Ismail-Fawaz et al. 2023",
    statistic_name="wins",
)
def multi_comparison(
    results: Results, *, zeros: str = "pratt", confidence: Share = 0.95
) -> PairStatistics:
    """Compute mean difference, wins, ties, losses and a p-value for all pairs of strategies.

    Scenario (c). All numbers of a pair come from its two strategies alone: they stay the same when
    strategies are added or removed. `mlaut.analysis.plots.multi_comparison_matrix` draws them.

    Parameters
    ----------
    results : Results
    zeros : {"pratt", "wilcox", "zsplit"}, default "pratt"
        Treatment of differences of 0 in the signed rank test; see `wilcoxon_test`.
    confidence : float, default 0.95
        Confidence of the interval of the mean difference.

    Returns
    -------
    Pairwise
        The statistic is the number of wins; other tables are ``"ties"`` and ``"losses"``. The
        p-values are those of the signed rank test, two-sided and without a correction. The effect
        is the mean difference of the losses. Losses in different units have no mean: for them the
        effect is the share of datasets on which the first strategy is better, and the p-values are
        those of the trinomial test.

    Notes
    -----
    A correction for the number of pairs would make each p-value depend on which strategies are
    compared, so the source makes none. To bound the probability of any false claim, apply
    `adjust_pairs` to the result. Source: Ismail-Fawaz et al. 2023, An approach to multiple
    comparison benchmark evaluations that is stable under manipulation of the comparate set.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"A": [0.1, 0.2, 0.3, 0.2, 0.1], "B": [0.2, 0.4, 0.35, 0.3, 0.1]})
    >>> pair = multi_comparison(table, metric="error", pair=("A", "B"))
    >>> pair.statistic, pair.ties, round(pair.p_value, 4), round(pair.effect.value, 4)
    (4.0, 1, 0.125, -0.09)
    """
    prepared = paired_losses(results)
    d, pairs = prepared.differences, prepared.pairs
    if results.incomparable:
        tests = trinomial_test(results)
        effects = {"share better": share_better(d, confidence)}
    else:
        tests = wilcoxon_test(results, zeros=zeros)
        effects = {"mean difference": mean_difference(d, confidence).within(results.metric.span)}
    p = tests.p_values.to_numpy()[pairs.first, pairs.second]
    own = [note for note in tests.notes if note not in results.notes_text()]
    return PairStatistics(
        tables=win_tables(d),
        effects=effects,
        p=lambda _: p,
        notes=(f"p-values of the {tests.name}", *own, _UNCORRECTED),
        pair_notes=tests.pair_notes,
    )
