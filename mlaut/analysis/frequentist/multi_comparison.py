"""The numbers of the multi-comparison matrix: mean difference, wins, ties and losses, and p."""

from __future__ import annotations

import numpy as np

from mlaut.analysis.frequentist.paired_tests import trinomial_test, wilcoxon_test, win_tables
from mlaut.analysis.pairwise.effects import mean_difference, share_better
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.pairwise.runner import PairStatistics, pair_test
from mlaut.analysis.results.results import Results

__all__ = ["multi_comparison"]

_UNCORRECTED = (
    "the p-values are not corrected for the number of pairs, so that a pair does not depend on the "
    "others: among many pairs without a difference, one in twenty has p of at most .05"
)


@pair_test(
    name="Multi-comparison matrix",
    null="the differences are symmetric about 0, or either strategy is as likely to be better",
    source="Ismail-Fawaz et al. 2023",
    statistic_name="wins",
)
def multi_comparison(
    results: Results, *, zeros: str = "pratt", confidence: float = 0.95
) -> PairStatistics:
    """Compute mean difference, wins, ties, losses and a p-value for all pairs of strategies.

    Scenario (c). All numbers of a pair come from its two strategies alone: they stay the same when
    strategies are added or removed. `mlaut.analysis.multi_comparison_matrix` draws them.

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
        The statistic is the number of wins, beside the tables ``"ties"`` and ``"losses"``. The
        p-values are those of the signed rank test, two-sided and without a correction. The effect
        is the mean difference of the losses. Losses in different units have no mean: for them the
        effect is the share of datasets on which the first strategy is better, and the p-values are
        those of the trinomial test.

    Notes
    -----
    A correction for the number of pairs would make each p-value depend on which strategies are
    compared; therefore the source has none. To bound the probability of any false claim, apply
    `adjust_pairs` to the result. Source: Ismail-Fawaz et al. 2023, An approach to multiple
    comparison benchmark evaluations that is stable under manipulation of the comparate set.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"A": [0.1, 0.2, 0.3, 0.2, 0.1], "B": [0.2, 0.4, 0.35, 0.3, 0.1]})
    >>> found = multi_comparison(table, metric="error", pair=("A", "B"))
    >>> found.statistic, found.ties, round(found.p_value, 4), round(found.effect.value, 4)
    (4.0, 1, 0.125, -0.09)
    """
    prepared = paired_losses(results)
    d, pairs = prepared.differences, prepared.pairs
    if results.incomparable:
        found = trinomial_test(results)
        effects = {"share better": share_better(d, confidence)}
    else:
        found = wilcoxon_test(results, zeros=zeros)
        effects = {"mean difference": mean_difference(d, confidence).within(results.metric.span)}
    p = found.p_values.to_numpy()[pairs.first, pairs.second]

    def p_of(_: str) -> np.ndarray:
        return p

    own = [note for note in found.notes if note not in results.notes_text()]
    return PairStatistics(
        tables=win_tables(d),
        effects=effects,
        p=p_of,
        notes=(f"p-values of the {found.name}", *own, _UNCORRECTED),
        pair_notes=found.pair_notes,
    )
