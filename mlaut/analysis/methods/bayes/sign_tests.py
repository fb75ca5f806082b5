"""Bayesian tests with a region of practical equivalence, for all pairs of strategies at once.

Each test returns three probabilities: the first strategy is better by more than ``rope``, the two
are equivalent, the second is better. Benavoli, Corani, Demsar & Zaffalon (2017). The sign test is
exact (closed form or quadrature); only the signed rank test is sampled, with a seed, and reports
its sampling error.

Without a region (``rope=0``) two strategies cannot be equivalent: a dataset on which both are equal
counts half for each strategy, and so does the prior.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from mlaut.analysis.common.arguments import NotNegative, Positive, Prior, Seed, checked
from mlaut.analysis.common.blocks import MANY, in_blocks
from mlaut.analysis.common.display import SMALLEST_P
from mlaut.analysis.common.numerics import RELATIVE_NOISE
from mlaut.analysis.methods.bayes import dirichlet
from mlaut.analysis.methods.bayes.dirichlet import DRAWS
from mlaut.analysis.methods.lacoste.pair_probabilities import BETTER
from mlaut.analysis.pairwise.decisions import many_pairs
from mlaut.analysis.pairwise.pairs import EQUAL, PairedLosses, Pairs, paired_losses
from mlaut.analysis.pairwise.runner import PairStatistics, even, pair_test, sizes_compare
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

EQUIVALENT = "P(equivalent)"
WORSE = "P(column better)"
_OF_BOTH = {
    "null": "none is tested: which is better on most new datasets, by more than {rope:g}?",
    "source": "Benavoli, Corani, Demsar & Zaffalon 2017",
}


def _columns(differences: ArrayLike) -> np.ndarray:
    """Return finite differences of shape (N, P), or raise an AnalysisError."""
    d = np.asarray(differences, dtype=float)
    d = d[:, None] if d.ndim == 1 else d
    if d.ndim != 2 or 0 in d.shape or not np.isfinite(d).all():
        raise AnalysisError(
            f"differences of shape {d.shape} must be finite numbers with one row for each dataset"
        )
    return d


@checked
def sign_probabilities(
    differences: ArrayLike, rope: NotNegative = 0.0, prior: Prior = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the Bayesian sign test of many pairs, exactly.

    Scenario (c).

    Parameters
    ----------
    differences : array_like of float, shape (N, P), or (N,)
        Loss of the first strategy minus loss of the second on each of N datasets; one column for
        each pair.
    rope : float, default 0
        Half width of the region of practical equivalence: differences up to this size are
        equivalent.
    prior : float, default 1
        Weight of the prior, as a number of datasets on which both are equivalent; half for each
        strategy if ``rope`` is 0.

    Returns
    -------
    probabilities : ndarray of float, shape (P, 3)
        Probabilities that on most new datasets the first strategy is better, both are equivalent,
        the second is better. "Most" means a larger share than each of the other two.
    shares : ndarray of float, shape (P, 3)
        Expected shares of datasets of these three kinds.

    Raises
    ------
    AnalysisError
        A difference is not finite, or ``rope`` or ``prior`` is out of range.

    Notes
    -----
    Benavoli et al. (2014, 2017): the shares have a Dirichlet posterior.

    Examples
    --------
    >>> d = [-2.0] * 18 + [0.0] * 15 + [2.0] * 21
    >>> sign_probabilities(d, rope=1)[0].round(6)
    array([[0.264768, 0.133839, 0.601393]])
    """
    from scipy.special import betainc

    alphas = _sign_alphas(_columns(differences), rope, prior)
    shares = alphas / alphas.sum(axis=1, keepdims=True)
    if rope > 0:
        return dirichlet.largest_component(alphas), shares
    # betainc needs positive parameters; without wins, ties and a prior a parameter is 0.
    first, second = (np.maximum(alphas[:, i], 1e-300) for i in (0, 2))
    better = np.stack([betainc(second, first, 0.5), betainc(first, second, 0.5)], axis=1)
    return np.insert(better, 1, 0.0, axis=1), shares


def _sign_alphas(d: np.ndarray, rope: float, prior: float) -> np.ndarray:
    """Return the parameters of the Dirichlet posterior of each pair: shape (P, 3)."""
    outside = rope * (1 + RELATIVE_NOISE)  # 0.31 - 0.3 is inside a region of 0.01
    first, second = (d < -outside).sum(axis=0), (d > outside).sum(axis=0)
    alphas = np.stack([first, len(d) - first - second + prior, second], axis=1).astype(float)
    if rope == 0:
        alphas[:, [0, 2]] += alphas[:, [1]] / 2
        alphas[:, 1] = 0.0
    return alphas


@checked
def signed_rank_probabilities(
    differences: ArrayLike,
    rope: NotNegative = 0.0,
    prior: Prior = 0.5,
    n_samples: Positive = DRAWS,
    seed: Seed = 0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the Bayesian signed rank test of many pairs by sampling.

    Scenario (c).

    Parameters
    ----------
    differences : array_like of float, shape (N, P), or (N,)
        Loss of the first strategy minus loss of the second on each of N datasets; one column for
        each pair.
    rope : float, default 0
        Half width of the region of practical equivalence.
    prior : float, default 0.5
        Weight of a pseudo-dataset on which both strategies are equal.
    n_samples : int, default 5000
        Number of draws of the weights of the datasets; all pairs use the same draws.
    seed : int, default 0
        Seed of the draws.

    Returns
    -------
    probabilities : ndarray of float, shape (P, 3)
        Probabilities that the first strategy is better, both are equivalent, the second is better.
        Each possible outcome counts a third of a draw more than it occurred, so its probability is
        never 0, except for strategies that are equal on all datasets, which are not sampled.
    shares : ndarray of float, shape (P, 3)
        Exact expected shares of pairs of datasets whose mean difference is of these three kinds.
    errors : ndarray of float, shape (P, 3)
        Monte Carlo standard errors of the probabilities.

    Raises
    ------
    AnalysisError
        A difference is not finite, or an option is out of range.

    Notes
    -----
    Benavoli et al. (2014, 2017): the differences have a Dirichlet process as their prior. The test
    compares the probabilities that the mean of two differences is below, in, or above the region.

    Examples
    --------
    >>> d = [-0.3, -0.1, 0.2, -0.5, -0.1, 0.1, -0.4, -0.2]
    >>> probabilities, shares, errors = signed_rank_probabilities(d, rope=0.05, n_samples=5000)
    >>> probabilities.round(2), shares.round(3)
    (array([[0.97, 0.  , 0.02]]), array([[0.731, 0.152, 0.118]]))
    """
    return _sampled(_columns(differences), rope, prior, n_samples, seed)


@partial(in_blocks, times=MANY)
def _sampled(
    d: np.ndarray, rope: float, prior: float, n_samples: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    sums = dirichlet.SignedRankSums(d, rope)
    counts = np.zeros((d.shape[1], 3))
    for block in dirichlet.weight_blocks(len(d), prior, n_samples, seed):
        weights = block.astype(np.float32)  # twice as fast; about one draw in 100,000 changes
        left, right = sums.sure(weights)
        counts += block.shape[1] * np.stack([left, np.zeros_like(left), right], axis=1)
        open_ = np.flatnonzero(~(left | right))
        for start in range(0, len(open_), dirichlet.TOGETHER):
            at = open_[start : start + dirichlet.TOGETHER]
            counts[at] += sums.largest(at, weights)
    possible = np.array([rope >= 0, rope > 0, True])
    p = np.where(possible, (counts + 1 / 3) / (n_samples + possible.sum() / 3), 0.0)
    errors = np.sqrt(p * (1 - p) / n_samples)
    equal = (d == 0).all(axis=0)
    p[equal] = [0.0, 1.0, 0.0] if rope > 0 else [0.5, 0.0, 0.5]
    errors[equal] = 0.0
    return p, sums.means(prior), errors


@checked
def signed_rank_posterior(
    differences: ArrayLike,
    rope: NotNegative = 0.0,
    prior: Prior = 0.5,
    n_samples: Positive = DRAWS,
    seed: Seed = 0,
) -> np.ndarray:
    """Draw from the posterior of the Bayesian signed rank test of one pair.

    Parameters
    ----------
    differences : array_like of float, shape (N,)
        Loss of the first strategy minus loss of the second on each of N datasets.
    rope, prior, n_samples, seed
        As in `signed_rank_probabilities`, which counts the largest entry of each draw.

    Returns
    -------
    ndarray of float, shape (n_samples, 3)
        Shares of pairs of datasets of the three kinds in each draw; each row adds up to 1.

    Examples
    --------
    >>> signed_rank_posterior([-0.3, -0.1, 0.2, -0.5], rope=0.05, n_samples=1000).shape
    (1000, 3)
    """
    d = _one_column(differences)
    sums = dirichlet.SignedRankSums(d, rope)
    blocks = dirichlet.weight_blocks(len(d), prior, n_samples, seed)
    one = np.array([0])
    draws = np.concatenate([np.concatenate(sums.of_pairs(one, x)).T for x in blocks])
    return draws / draws.sum(axis=1, keepdims=True)


@checked
def sign_posterior(
    differences: ArrayLike,
    rope: NotNegative = 0.0,
    prior: Prior = 1.0,
    n_samples: Positive = DRAWS,
    seed: Seed = 0,
) -> np.ndarray:
    """Draw from the posterior of the Bayesian sign test of one pair.

    Parameters
    ----------
    differences : array_like of float, shape (N,)
        Loss of the first strategy minus loss of the second on each of N datasets.
    rope, prior
        As in `sign_probabilities`, which needs no draws.
    n_samples : int, default 5000
        Number of draws.
    seed : int, default 0
        Seed of the draws.

    Returns
    -------
    ndarray of float, shape (n_samples, 3)
        Shares of datasets of the three kinds in each draw; each row adds up to 1.

    Examples
    --------
    >>> sign_posterior([-0.3, -0.1, 0.2, -0.5], rope=0.05, n_samples=1000).mean(axis=0).round(1)
    array([0.6, 0.2, 0.2])
    """
    alphas = _sign_alphas(_one_column(differences), rope, prior)[0]
    draws = np.random.default_rng(seed).standard_gamma(alphas, (n_samples, 3))
    return draws / draws.sum(axis=1, keepdims=True)


def _one_column(differences: ArrayLike) -> np.ndarray:
    d = _columns(differences)
    if d.shape[1] != 1:
        raise AnalysisError(f"{d.shape[1]} pairs are given; pass the differences of one pair")
    return d


@pair_test(name="Bayesian sign test", **_OF_BOTH)
def bayesian_sign_test(
    results: Results, *, rope: NotNegative = 0.0, prior: Prior = 1.0
) -> PairStatistics:
    """Compute the Bayesian sign test of all pairs of strategies over datasets, exactly.

    Scenario (c). There is no null hypothesis. The result is three probabilities: the first strategy
    is better by more than ``rope`` on most new datasets; both are equivalent on most; the second is
    better on most.

    Parameters
    ----------
    results : Results
    rope : float, default 0
        Half width of the region of practical equivalence, in units of the metric.
    prior : float, default 1
        Weight of the prior, as a number of datasets on which both are equivalent; half for each
        strategy if ``rope`` is 0.

    Returns
    -------
    Pairwise
        The tables are ``"P(row better)"``, ``"P(equivalent)"`` and ``"P(column better)"``. The
        effect ``"share of datasets"`` is the expected share of datasets on which the row strategy
        is better.

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        There are fewer than two datasets or strategies, or an option is out of range.

    Notes
    -----
    Benavoli, Corani, Demsar & Zaffalon (2017), section 4.2. The probabilities are computed by
    quadrature, not by sampling.

    Examples
    --------
    >>> import pandas as pd
    >>> from mlaut.analysis.results.results import Results
    >>> table = pd.DataFrame({"A": [0.1, 0.2, 0.3, 0.2], "B": [0.2, 0.4, 0.35, 0.2]})
    >>> pairs = bayesian_sign_test(Results.from_table(table, greater_is_better=False), rope=0.01)
    >>> round(float(pairs.table("P(row better)").loc["A", "B"]), 4)
    0.6875
    """
    losses = paired_losses(results)
    p, shares = sign_probabilities(losses.with_margin(rope), rope, prior)
    return _of_differences(losses, rope, p, shares, "share of datasets")


@pair_test(name="Bayesian signed rank test", applies=sizes_compare, **_OF_BOTH)
def bayesian_signed_rank_test(
    results: Results,
    *,
    rope: NotNegative = 0.0,
    prior: Prior = 0.5,
    n_samples: Positive = DRAWS,
    seed: Seed = 0,
) -> PairStatistics:
    """Compute the Bayesian signed rank test of all pairs of strategies over datasets by sampling.

    Scenario (c). There is no null hypothesis; see `bayesian_sign_test`. Unlike the sign test, this
    test also uses the size of the differences, through the means of pairs of differences.

    Parameters
    ----------
    results : Results
    rope : float, default 0
        Half width of the region of practical equivalence, in units of the metric.
    prior : float, default 0.5
        Weight of a pseudo-dataset on which both strategies are equal.
    n_samples : int, default 5000
        Number of draws of the weights of the datasets.
    seed : int, default 0
        Seed of the draws.

    Returns
    -------
    Pairwise
        The tables are ``"P(row better)"``, ``"P(equivalent)"``, ``"P(column better)"`` and
        ``"Monte Carlo error"`` (the largest of the three). The effect is
        ``"share of pairs of datasets"``.

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        There are fewer than two datasets or strategies, or an option is out of range.

    Notes
    -----
    Benavoli, Corani, Demsar & Zaffalon (2017), section 4.3.

    Examples
    --------
    >>> import pandas as pd
    >>> from mlaut.analysis.results.results import Results
    >>> table = pd.DataFrame({"A": [0.1, 0.2, 0.3, 0.2], "B": [0.2, 0.4, 0.35, 0.2]})
    >>> results = Results.from_table(table, greater_is_better=False)
    >>> pairs = bayesian_signed_rank_test(results, rope=0.01, n_samples=10_000)
    >>> round(float(pairs.table("P(row better)").loc["A", "B"]), 2)
    0.95
    """
    losses = paired_losses(results.in_order)
    d = losses.with_margin(rope)
    p, shares, errors = signed_rank_probabilities(d, rope, prior, n_samples, seed)
    tests = _of_differences(losses, rope, p, shares, "share of pairs of datasets")
    return replace(
        tests,
        tables={**tests.tables, "Monte Carlo error": even(errors.max(axis=1))},
        notes=(*tests.notes, f"{n_samples} draws, seed {seed}"),
    )


def region_statistics(
    pairs: Pairs,
    probabilities: np.ndarray,
    shares: np.ndarray,
    *,
    of: str,
    ties: np.ndarray,
    rope: float,
    pair_notes: Mapping[tuple[str, str], str],
) -> PairStatistics:
    """Return the tables of a test with three probabilities, of shape (P, 3), for each pair.

    The name of the effect is ``of``; its values are the expected ``shares``, shape (P, 3).
    """
    p = np.where(probabilities > 0, np.maximum(probabilities, SMALLEST_P), 0.0)
    return PairStatistics(
        tables={
            BETTER: (p[:, 0], p[:, 2]),
            EQUIVALENT: even(p[:, 1]),
            WORSE: (p[:, 2], p[:, 0]),
            "ties": even(ties),
            of: (shares[:, 0], shares[:, 2]),
        },
        effects={of: "posterior mean"},
        notes=(f"region of practical equivalence: +-{rope:g}", *many_pairs(len(pairs.first))),
        pair_notes=pair_notes,
    )


def _of_differences(
    losses: PairedLosses, rope: float, p: np.ndarray, shares: np.ndarray, of: str
) -> PairStatistics:
    equal, pairs = losses.differences == 0, losses.pairs
    notes, ties = pairs.notes(equal.all(axis=0), EQUAL), equal.sum(axis=0)
    return region_statistics(pairs, p, shares, of=of, ties=ties, rope=rope, pair_notes=notes)
