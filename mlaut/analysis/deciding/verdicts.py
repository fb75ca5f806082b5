"""Verdicts on strategies, from tests that show which strategies are better than others."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from mlaut.analysis.common.numerics import RELATIVE_NOISE
from mlaut.analysis.common.result_types import Pairwise
from mlaut.analysis.methods.bayes.sign_tests import signed_rank_probabilities
from mlaut.analysis.pairwise.corrections import adjust
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.results.results import Results

USE, EQUAL, OPEN, UNDECIDED = "use", "as good", "may be best", "undecided"
LIKELY, FAILS, AVOID, BASELINE = "probably worse", "fails", "avoid", "baseline"
VERDICTS = {
    USE: f"the only one that {OPEN}, or its chance to be the best is above 0.5",
    EQUAL: "practically equal to the first",
    OPEN: "not ruled out as the best, however small its chance",
    UNDECIDED: "worse than another on many datasets, but not on average",
    LIKELY: "ruled out as the best, each for itself, but not shown to be worse by most tests; rank "
    "and chance do not decide",
    FAILS: "worse only by its failures: not shown to be worse where it has results",
    AVOID: "shown to be worse than another by most tests",
    BASELINE: "for comparison only",
}
"""The verdicts on a strategy, each with its meaning: every form of a report has these words."""
CONSIDERED = (EQUAL, OPEN, UNDECIDED)  # words of what one may prefer to the leader
DOUBTED, WORSE = (UNDECIDED, LIKELY), (LIKELY, FAILS, AVOID, BASELINE)
BASELINES = ("baseline", "dummy", "zeror")  # parts of the names of strategies that learn nothing

_EQUAL = 1e-9  # average ranks are multiples of 1 / (2 N), so a smaller gap is rounding
_ROW_BETTER = "P(row better)"


def shown_better(
    pairs: Pairwise, names: Sequence[str], alpha: float, control: str | None = None
) -> np.ndarray:
    """Return whether the row is shown to be better than the column: bool, shape (K, K).

    Parameters
    ----------
    pairs : Pairwise
        A test of all pairs with corrected p-values, or a test with probabilities. Of the latter,
        the most probable pairs are claimed, so many that at most ``alpha`` false claims are
        expected in all.
    names : sequence of str, length K
        Strategies; a pair that the test leaves out is not shown to differ.
    alpha : float
    control : str, optional
        Only the pairs with this strategy are tested, corrected by Holm's method.
    """
    chosen = _asked(names, control)
    if "p_value" not in pairs.tables:
        return surest(np.where(chosen, _table(pairs, _ROW_BETTER, names), np.nan), alpha)
    p = _table(pairs, "p_value", names)
    if control is not None and "p (unadjusted)" in pairs.tables:
        place = list(names).index(control)
        alone = _table(pairs, "p (unadjusted)", names)[place]
        known = ~np.isnan(alone)
        alone[known] = adjust(alone[known], "holm")
        p = np.full_like(p, np.nan)
        p[place], p[:, place] = alone, alone
    with np.errstate(invalid="ignore"):  # NaN: the pair is not compared
        shown: np.ndarray = (p <= alpha) & (_table(pairs, "better", names) > 0) & chosen
    return shown


def worse_by(
    pairs: Pairwise, names: Sequence[str], alpha: float, control: str | None = None
) -> np.ndarray:
    """Return which are shown to be worse than another, or to differ from the control: (K,)."""
    better = shown_better(pairs, names, alpha, control)
    place = None if control is None else list(names).index(control)
    return np.asarray(better.any(axis=0) if place is None else better[place] | better[:, place])


def shown_equal(results: Results, leader: str, rope: float, alpha: float) -> np.ndarray:
    """Return which strategies are practically equal to the leader: bool, shape (K,).

    The most probable ones by the Bayesian signed rank test are claimed, so many that at most
    ``alpha`` false claims are expected in all.
    """
    losses, at = paired_losses(results).losses, results.strategies.index(leader)
    p = signed_rank_probabilities(losses - losses[:, [at]], rope)[0][:, 1]
    return surest(np.where(np.arange(len(p)) == at, np.nan, p), alpha)


def _asked(names: Sequence[str], control: str | None) -> np.ndarray:
    """Return the ordered pairs that the question is about: bool, shape (K, K)."""
    pairs = ~np.eye(len(names), dtype=bool)
    if control is not None:
        is_control = np.array([name == control for name in names])
        pairs &= is_control[:, None] | is_control
    return pairs


def surest(p: np.ndarray, alpha: float) -> np.ndarray:
    """Return the most probable claims, so many that at most alpha are expected to be false.

    A probability that is NaN is of no claim.
    """
    places = np.argwhere(~np.isnan(p))
    sure = p[tuple(places.T)]
    order = np.argsort(-sure, kind="stable")
    claimed = np.zeros(p.shape, dtype=bool)
    claimed[tuple(places[order[np.cumsum(1 - sure[order]) <= alpha]].T)] = True
    return claimed


def _table(pairs: Pairwise, key: str, names: Sequence[str]) -> np.ndarray:
    """Return a table of the test for these strategies; NaN for those that it leaves out."""
    labels = pd.Index(names)
    return pairs.table(key).reindex(index=labels, columns=labels).to_numpy(dtype=float, copy=True)


def leading(ranks: pd.Series, means: pd.Series) -> tuple[str, ...]:
    """Return the strategies with the best average rank, of equal ones those with the best mean.

    A mean loss that is NaN decides nothing. Those that are equal in both come in the order of their
    names.

    Examples
    --------
    >>> leading(pd.Series([1.5, 1.5, 3.0], [*"abc"]), pd.Series([0.3, 0.2, 0.1], [*"abc"]))
    ('b',)
    """
    first = ranks.index[ranks - ranks.min() <= _EQUAL]
    least = means[first].min(skipna=False)
    if least == least:
        first = first[means[first] - least <= RELATIVE_NOISE * abs(least)]
    return tuple(sorted(map(str, first)))


def baselines(verdicts: pd.Series) -> pd.Series:
    """Return the verdicts, with baselines that are clearly worse as baselines."""
    baseline = np.array([is_baseline(name) for name in map(str, verdicts.index)], dtype=bool)
    return verdicts.mask(baseline & verdicts.isin([AVOID, LIKELY]), BASELINE)


def is_baseline(name: str) -> bool:
    """Return whether a strategy learns nothing, by its name."""
    return any(part in name.lower() for part in BASELINES)


def verdicts_against(better: np.ndarray, control: int) -> np.ndarray:
    """Return the verdict on each strategy for the question of how it compares with a control."""
    words = np.full(len(better), UNDECIDED, dtype=object)
    words[better[:, control]] = USE
    words[better[control]] = AVOID
    words[control] = BASELINE
    return words


def rank_sets(better: np.ndarray, top: np.ndarray | None = None) -> np.ndarray:
    """Return the lowest and highest rank that each strategy can have, shape (2, K).

    The ends count the strategies that are shown to be better and worse. All true ranks are within
    them if no claim of ``better`` is false (Mogstad, Romano, Shaikh and Wilhelm 2024). With
    ``top``, those that may be the best, rank 1 is in the sets of these alone.

    Examples
    --------
    >>> rank_sets(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)).tolist()
    [[1, 1, 3], [2, 2, 3]]
    """
    low, high = 1 + better.sum(axis=0), len(better) - better.sum(axis=1)
    if top is not None:
        low = np.where(top, 1, np.maximum(low, 2))
        high = np.where(top & (top.sum() == 1), 1, high)
    return np.array([low, high])


def copies_in(losses: np.ndarray, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of two or more strategies with the same column of losses.

    Examples
    --------
    >>> copies_in(np.array([[0.1, 0.2, 0.1], [0.3, 0.3, 0.3]]), ["A", "B", "C"])
    (('A', 'C'),)
    """
    groups: dict[bytes, list[str]] = {}
    for name, column in zip(names, losses.T, strict=True):
        groups.setdefault(column.tobytes(), []).append(name)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)
