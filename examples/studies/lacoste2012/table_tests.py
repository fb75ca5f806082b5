"""Sign test and signed rank test over datasets in the form of Lacoste et al. (2012).

The paper compares the Poisson binomial test with these two tests. `sign_tail` and
`signed_rank_tail` compute many tests at once, so that 100,000 draws from a synthetic context take a
fraction of a second.
"""

import numpy as np
from numpy.typing import ArrayLike

from mlaut.analysis.common.arguments import Pair, checked
from mlaut.analysis.common.numerics import signed_rank_cdf
from mlaut.analysis.common.result_types import Estimate, TestResult
from mlaut.analysis.methods.lacoste import risk
from mlaut.analysis.methods.lacoste.pair_probabilities import poisson_binomial_from_probabilities
from mlaut.analysis.pairwise.signed_rank import SignedRanks
from mlaut.errors import AnalysisError

_SOURCE = "Lacoste, Laviolette & Marchand 2012"


@checked
def lacoste_sign_test(
    wins: float, losses: float, strategies: Pair = ("A", "B"), ties: float = 0
) -> TestResult:
    """Compute Lacoste's sign test over datasets, two-sided; ties are dropped.

    Scenario (c). The null hypothesis is that both strategies are equally likely to yield the better
    classifier on a dataset of the context.

    Parameters
    ----------
    wins, losses : int
        Numbers of datasets on which the first, or the second, strategy has fewer errors.
    strategies : pair of str
        Names of the two strategies in the result.
    ties : int, default 0
        Number of datasets on which both have the same number of errors; reported, but not used.

    Returns
    -------
    TestResult

    Notes
    -----
    Lacoste, Laviolette & Marchand (2012), section 6.1. The formula exceeds 1 if there are as many
    wins as losses; p is capped at 1.

    Examples
    --------
    >>> round(1 - lacoste_sign_test(17, 3).p_value, 6)
    0.997423
    """
    wins, losses, ties = (int(v) for v in risk.checked_counts(wins=wins, losses=losses, ties=ties))
    p = float(sign_tail(np.array(wins), np.array(losses)))
    low, high = risk.risk_posterior(wins, wins + losses).interval()
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


@checked
def lacoste_comparison(
    only_first_wrong: ArrayLike,
    only_second_wrong: ArrayLike,
    n: ArrayLike,
    strategies: Pair = ("A", "B"),
) -> tuple[TestResult, TestResult, TestResult]:
    """Compare two strategies by their errors on several datasets with the three tests of the paper.

    Scenario (c).

    Parameters
    ----------
    only_first_wrong, only_second_wrong : array_like of int, shape (N,)
        Numbers of test points of each dataset that only the first, or only the second, strategy
        gets wrong (k_h and k_g).
    n : array_like of int, shape (N,)
        Number of test points of each dataset.
    strategies : pair of str
        Names of the two strategies in the results.

    Returns
    -------
    poisson_binomial, sign, signed_rank : TestResult

    Raises
    ------
    AnalysisError
        A number is not a count, or there are more errors than points.

    Notes
    -----
    Lacoste, Laviolette & Marchand (2012), sections 5, 6.1 and 6.2.

    Examples
    --------
    >>> results = lacoste_comparison([3, 5, 0, 1], [8, 6, 2, 7], [100, 80, 120, 90])
    >>> round(results[0].probabilities["P(A better)"], 3), results[1].p_value, results[2].p_value
    (0.86, 0.125, 0.125)
    """
    h, g, n = risk.checked_counts(
        only_first_wrong=only_first_wrong, only_second_wrong=only_second_wrong, n=n
    )
    if h.ndim != 1 or h.size == 0 or (h + g > n).any() or (n < 1).any():
        raise AnalysisError("give one pair of counts for each dataset, together at most n, n >= 1")
    wins, losses = int((h < g).sum()), int((h > g).sum())
    return (
        poisson_binomial_from_probabilities(risk.prob_better_classifier(h, g)[0], strategies),
        lacoste_sign_test(wins, losses, strategies, ties=h.size - wins - losses),
        lacoste_signed_rank_test((g - h) / n, strategies),
    )


def sign_tail(wins: np.ndarray, losses: np.ndarray) -> np.ndarray:
    """Return two-sided p-values of the sign test for arrays of wins and losses, capped at 1."""
    from scipy.special import bdtr

    n = wins + losses
    p = 2 * bdtr(np.minimum(wins, losses).astype(float), np.maximum(n, 1).astype(np.int64), 0.5)
    return np.where(n == 0, 1.0, np.minimum(p, 1.0))


@checked
def lacoste_signed_rank_test(differences: ArrayLike, strategies: Pair = ("A", "B")) -> TestResult:
    """Compute Lacoste's form of the Wilcoxon signed rank test over datasets, two-sided.

    Scenario (c). The null hypothesis is that the differences of the risks are distributed
    symmetrically about 0. As in the paper, differences of 0 are dropped, ties have average ranks,
    and the distribution is the one without ties. `mlaut.analysis.wilcoxon_test` uses the exact
    conditional distribution with ties.

    Parameters
    ----------
    differences : array_like of float, shape (N,)
        ``(k_g - k_h) / m`` of each dataset: risk of the second strategy minus risk of the first. A
        positive difference favours the first.
    strategies : pair of str
        Names of the two strategies in the result.

    Returns
    -------
    TestResult

    Raises
    ------
    AnalysisError
        A difference is missing or infinite, or there is none.

    Notes
    -----
    Lacoste, Laviolette & Marchand (2012), section 6.2. The recursion starts at ``w_0(0) = 1``,
    because the distribution adds up to 2 as printed. p is capped at 1.

    Examples
    --------
    >>> d = [6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75]
    >>> lacoste_signed_rank_test(d).p_value
    0.041259765625
    """
    d = np.atleast_1d(np.asarray(differences, dtype=float))
    if d.ndim != 1 or d.size == 0 or not np.isfinite(d).all():
        raise AnalysisError("the differences must be one finite number for each dataset")
    signed = SignedRanks.of(d[:, None])
    plus, minus, n = signed.plus, signed.minus, (signed.ranks > 0).sum(axis=0)
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


def signed_rank_tail(smaller: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return two-sided p-values of smaller rank sums, capped at 1.

    The distribution is the one without ties.

    Parameters
    ----------
    smaller : ndarray of float, shape (M,)
        Smaller rank sum of each test.
    n : ndarray of int, shape (M,)
        Number of ranks of each test.
    """
    cases, place = np.unique(n + 1j * np.floor(smaller), return_inverse=True)
    p = [signed_rank_cdf(np.arange(1.0, case.real + 1), case.imag) for case in cases]
    return np.minimum(2 * np.array(p), 1.0)[place]
