"""The sign test and the signed rank test over datasets in the form of Lacoste et al. (2012).

They are what the Poisson binomial test was compared with. The cores take one row a test, so that
100,000 draws from a synthetic context take a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mlaut.analysis.lacoste import checked_counts, risk_posterior
from mlaut.analysis.result_types import Estimate, TestResult
from mlaut.errors import AnalysisError

__all__ = [
    "lacoste_sign_test",
    "lacoste_signed_rank_test",
    "sign_tail",
    "signed_rank_sums",
    "signed_rank_tail",
]

_SOURCE = "Lacoste, Laviolette & Marchand 2012"


def lacoste_sign_test(
    wins: int, losses: int, strategies: Sequence[str] = ("A", "B"), ties: int = 0
) -> TestResult:
    """Lacoste's sign test over datasets, two-sided; ties are dropped.

    Scenario (c). The null hypothesis is that either strategy is as likely to give the better
    classifier on a dataset of the context.

    Parameters
    ----------
    wins, losses : int
        Numbers of datasets on which the first, and the second, has fewer errors.
    strategies : pair of str
    ties : int, default 0
        Only reported.

    Returns
    -------
    TestResult

    Notes
    -----
    Lacoste, Laviolette & Marchand (2012), section 6.1. The formula exceeds 1 for as many wins as
    losses: it is capped there.

    Examples
    --------
    >>> round(1 - lacoste_sign_test(17, 3).p_value, 6)
    0.997423
    """
    wins, losses, ties = (int(v) for v in checked_counts(wins=wins, losses=losses, ties=ties))
    p = float(sign_tail(np.array(wins), np.array(losses)))
    share = risk_posterior(wins, wins + losses)
    low, high = share.interval()
    return TestResult(
        name="Sign test (Lacoste)",
        strategies=tuple(strategies),
        null="both are equally likely to give the better classifier on a dataset",
        source=f"{_SOURCE}, section 6.1",
        statistic=wins,
        statistic_name="wins",
        p_value=p,
        effects=(
            Estimate(
                name="share of wins",
                value=wins / max(wins + losses, 1),
                low=float(low),
                high=float(high),
                method="Beta posterior",
                n=wins + losses,
            ),
        ),
        n=wins + losses + ties,
        ties=ties,
        notes=("no dataset decides: p = 1",) if wins + losses == 0 else (),
    )


def sign_tail(wins: np.ndarray, losses: np.ndarray) -> np.ndarray:
    """Two-sided p-value of the sign test for arrays of wins and losses, capped at 1."""
    from scipy.special import bdtr

    n = wins + losses
    p = 2 * bdtr(np.minimum(wins, losses).astype(float), np.maximum(n, 1).astype(np.int64), 0.5)
    return np.where(n == 0, 1.0, np.minimum(p, 1.0))


def lacoste_signed_rank_test(
    differences: ArrayLike, strategies: Sequence[str] = ("A", "B")
) -> TestResult:
    """Lacoste's form of the Wilcoxon signed rank test over datasets, two-sided.

    Scenario (c). The null hypothesis is that the differences of the risks are distributed
    symmetrically about 0. Differences of 0 are dropped, ties have average ranks, and the
    distribution is that without ties, as in the paper. `mlaut.analysis.wilcoxon` has the exact
    conditional distribution with ties.

    Parameters
    ----------
    differences : array_like of float, shape (N,)
        ``(k_g - k_h) / m`` of each dataset: risk of the second minus risk of the first, so that
        positive ones speak for the first.
    strategies : pair of str

    Returns
    -------
    TestResult

    Raises
    ------
    AnalysisError
        A difference is missing or infinite, or there is none.

    Notes
    -----
    Lacoste, Laviolette & Marchand (2012), section 6.2, with the recursion started at
    ``w_0(0) = 1``: as printed, it adds up to 2. Capped at 1.

    Examples
    --------
    >>> d = [6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75]
    >>> lacoste_signed_rank_test(d).p_value
    0.041259765625
    """
    d = np.atleast_1d(np.asarray(differences, dtype=float))
    if d.ndim != 1 or d.size == 0 or not np.isfinite(d).all():
        raise AnalysisError("the differences must be one finite number for each dataset")
    plus, minus, n = signed_rank_sums(d[None])
    total = float(plus[0] + minus[0])
    return TestResult(
        name="Signed rank test (Lacoste)",
        strategies=tuple(strategies),
        null="the risk differences are symmetric about 0",
        source=f"{_SOURCE}, section 6.2",
        statistic=float(plus[0]),
        statistic_name="c+",
        p_value=float(signed_rank_tail(np.minimum(plus, minus), n)[0]),
        effects=(
            Estimate(
                name="rank-biserial correlation",
                value=float(plus[0] - minus[0]) / total if total else 0.0,
                n=int(n[0]),
            ),
        ),
        n=d.size,
        ties=int(d.size - n[0]),
        notes=("no dataset decides: p = 1",) if n[0] == 0 else (),
    )


def signed_rank_sums(d: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rank sums of positive and negative differences and the number of those that are not 0.

    Parameters
    ----------
    d : ndarray of float, shape (M, N)
        One row a test.

    Returns
    -------
    plus, minus : ndarray of float, shape (M,)
    n : ndarray of int, shape (M,)
    """
    from scipy.stats import rankdata

    zero = d == 0
    n = d.shape[1] - zero.sum(axis=1)
    ranks = rankdata(np.abs(d), axis=1)
    ranks -= (d.shape[1] - n)[:, None]  # the zeros have the lowest ranks of all
    plus = np.where(d > 0, ranks, 0.0).sum(axis=1)
    return plus, n * (n + 1) / 2 - plus, n


def signed_rank_tail(smaller: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Two-sided p-value of the smaller rank sum under the distribution without ties, capped at 1.

    Parameters
    ----------
    smaller : ndarray of float, shape (M,)
    n : ndarray of int, shape (M,)
        Number of ranks of each.
    """
    p = np.ones(len(n))
    for size in np.unique(n[n > 0]):
        here = n == size
        cumulated = np.cumsum(_signed_rank_distribution(int(size), int(smaller[here].max())))
        p[here] = 2 * cumulated[np.floor(smaller[here]).astype(np.int64)]
    return np.minimum(p, 1.0)


def _signed_rank_distribution(n: int, largest: int) -> np.ndarray:
    """Probability of each rank sum from 0 to ``largest`` (section 6.2, started at w_0(0) = 1)."""
    w = np.zeros(largest + 1)
    w[0] = 1.0
    for rank in range(1, n + 1):
        w *= 0.5
        if rank <= largest:
            w[rank:] += w[:-rank].copy()
    return w
