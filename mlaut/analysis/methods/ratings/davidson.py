"""The Bayesian Bradley-Terry model of duels, with ties by Davidson's model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from mlaut.analysis.common.display import number
from mlaut.analysis.common.result_types import PairModel
from mlaut.analysis.methods.ratings.duels import duels, needed_cells
from mlaut.analysis.methods.ratings.sampling import draw_posterior, normal_approximation
from mlaut.analysis.pairwise.pairs import Pairs
from mlaut.analysis.pairwise.runner import PairStatistics, PairTest, even
from mlaut.analysis.results.given import of_results
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

_WINNING = "probability of winning"
_TEST = PairTest(
    name="Bradley-Terry-Davidson model",
    null="none: probabilities that, of the duels without a tie, the first strategy wins more than "
    "half + {rope:g}, a share within half +- {rope:g}, and less",
    source="Bradley & Terry 1952; Davidson 1970; Wainer 2023",
)
TIES = {
    "davidson": "a tie is an outcome of its own, with a parameter",
    "spread": "half a win for each, rounded up in the sum over datasets (Wainer 2023)",
    "forget": "ties are left out",
    "add": "a win for each",
}
# The spread of the strengths is lognormal(0, 1/2) (Wainer 2023, equation 2). It is integrated over
# this grid of its logarithm: from e^-4 to e^5 in steps that are a third of the narrowest peak there
# is, of 200 strategies.
_LOG_SPREAD = np.linspace(-4.0, 5.0, 541)
_ROUNDS = 5  # of the approximation that the chains start from; it need not be exact


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BradleyTerry(PairModel):
    """Posterior of a Bradley-Terry model.

    Attributes
    ----------
    strengths : DataFrame
        One row for each strategy, the best first: ``strength`` (posterior mean; a difference of
        strengths is the log odds of winning a duel), the ends ``low`` and ``high`` of its interval,
        and ``P(best)``, the probability of the largest strength.
    pairs : Pairwise
        All pairs: the tables ``"P(row better)"``, ``"P(equivalent)"``, ``"P(column better)"``,
        ``"wins"`` (duels won by the row), ``"ties"``, ``"Monte Carlo error"``, and the effect
        ``"probability of winning"``, a duel without a tie, with its interval.
    tie : float or None
        Posterior mean of Davidson's parameter; its exponential is the odds of a tie of equal
        strategies. None for the other treatments of ties.
    """

    strengths: pd.DataFrame
    tie: float | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return the strengths."""
        return self.strengths.copy()

    def sentence(self) -> str:  # noqa: D102 - inherited
        best = self.strengths["P(best)"]
        return (
            f"{self.title()}: {best.idxmax()} is the strongest with probability "
            f"{number(best.max(), 2)}, scenario {self.scenario}."
        )


@of_results
def bradley_terry(
    results: Results,
    *,
    rope: float = 0.0,
    ties: str = "davidson",
    local_rope: float = 0.0,
    paired: bool = True,
    weight: float | None = None,
    missing: str = "raise",
    n_samples: int = 4000,
    confidence: float = 0.95,
    seed: int = 0,
) -> BradleyTerry:
    """Compute the Bayesian Bradley-Terry-Davidson model of the duels of all strategies.

    Scenario (c). On each dataset every two strategies meet, and the one with the smaller loss wins.
    The log odds of winning are the difference of two strengths. There is no null hypothesis.

    Parameters
    ----------
    results : Results or DataFrame
    rope : float, default 0
        Half width of the region of practical equivalence: two strategies are equivalent if the
        probability of winning is in .5 +- rope. Wainer proposes .05, for any metric.
    ties : {"davidson", "spread", "forget", "add"}, default "davidson"
        Treatment of ties. ``"spread"`` counts half of them, rounded up, as wins of either strategy.
    local_rope : float, default 0
        A difference of mean losses of at most this many standard deviations over the folds of a
        dataset is a tie. Wainer proposes .4.
    paired : bool, default True
        Whether that is the standard deviation of the differences of folds, or of the folds of each.
    weight : float, optional
        Weight of a duel. The default 3 / (K + 1) accounts for the duels of one dataset not being
        independent; with 1 they count as independent, as Wainer does.
    missing : {"raise", "left out"}, default "raise"
        ``"left out"`` leaves out the duels that need a missing cell. To count failures as losses,
        use `treat_missing` with ``"worst rank"`` first.
    n_samples : int, default 4000
        Number of draws, at least.
    confidence : float, default 0.95
        Probability of the intervals, which are those of highest density.
    seed : int, default 0

    Returns
    -------
    BradleyTerry

    Raises
    ------
    MissingCellsError
        Cells are missing, and ``missing`` is ``"raise"``.
    AnalysisError
        There are fewer than two datasets or strategies, or an option is out of range.

    Notes
    -----
    ``P(i wins) = e^b_i / D``, ``P(tie) = e^(v + (b_i + b_j) / 2) / D``, and ``D`` is the sum of
    these for both. Strengths are normal(0, s), v is normal(0, t), s and t are lognormal(0, 1/2) and
    integrated out. (Wainer's program pairs Davidson's probabilities with other counts; his tables
    use ``"spread"``.)

    K (K - 1) / 2 duels on one dataset hold only K - 1 independent comparisons. If all strategies
    are equal and nothing ties, the variance of a sum of wins is (K + 1) / 3 times that of
    independent duels, as in Friedman's test. With weight 1 the model is too sure of itself, and the
    more strategies there are the more: see measured levels in the documentation.

    Examples
    --------
    >>> table = pd.DataFrame({"A": [1, 2, 1, 3, 1, 2], "B": [2, 1, 3, 4, 3, 3], "C": [5.0] * 6})
    >>> found = bradley_terry(Results.from_table(table, greater_is_better=False))
    >>> found.pairs.table("wins").loc["A"].to_list()
    [nan, 5.0, 6.0]
    >>> found.strengths["P(best)"].round(1).to_list()
    [0.9, 0.1, 0.0]
    """
    needed_cells(results, missing)
    if not (0 <= rope < 0.5 and 0 <= local_rope < np.inf and n_samples > 0):
        raise AnalysisError(
            "rope must be from 0 to less than .5, local_rope 0 or more, n_samples 1 or more"
        )
    if ties not in TIES:
        raise AnalysisError(f"ties = {ties!r} is not known; one of {', '.join(map(repr, TIES))}")
    k = len(results.strategies)
    weight = 3 / (k + 1) if weight is None else weight
    if not 0 < weight <= 1:
        raise AnalysisError(f"weight = {weight:g} is not above 0 and at most 1, a duel")
    pairs = Pairs.of(results.strategies)
    outcomes = duels(results, local_rope, paired=paired)[:, pairs.first, pairs.second]
    won, lost, tied = ((outcomes == outcome).sum(axis=0) for outcome in (1, -1, 0))
    counts = weight * np.stack(_without_ties(won, lost, tied, ties))
    posterior = _Posterior(pairs, *counts)
    draws = draw_posterior(posterior, *posterior.approximation(), n_samples, seed)
    notes = (
        f"weight of a duel {weight:.4g}; ties: {TIES[ties]}",
        f"{draws[..., 0].size} draws, seed {seed}",
    )
    return BradleyTerry(
        strengths=_strengths(results, draws[..., :k], confidence),
        pairs=_TEST.lay_out(
            results,
            _of_pairs(pairs, (won, lost, tied), draws, rope, confidence, notes),
            {"rope": rope, "confidence": confidence},
        ),
        tie=float(draws[..., k].mean()) if draws.shape[-1] > k else None,
    )


def _without_ties(
    won: np.ndarray, lost: np.ndarray, tied: np.ndarray, ties: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the wins of either strategy and the ties that the model counts."""
    if ties == "davidson":
        return won, lost, tied
    more = {"spread": -(-tied // 2), "forget": 0 * tied, "add": tied}[ties]
    return won + more, lost + more, 0 * tied


class _Posterior:
    """Log density of the strengths, and of Davidson's parameter after them if there are ties."""

    def __init__(self, pairs: Pairs, won: np.ndarray, lost: np.ndarray, tied: np.ndarray) -> None:
        from scipy.sparse import csr_array

        n_pairs, k = len(pairs.first), len(pairs.strategies)
        at = np.repeat(np.arange(n_pairs), 2), np.stack([pairs.first, pairs.second], 1).ravel()
        # half the difference of two strengths is a row times the strengths
        self.halves = csr_array((np.tile([0.5, -0.5], n_pairs), at), shape=(n_pairs, k))
        self.net, self.total, self.tied = won - lost, won + lost + tied, float(tied.sum())
        self.k = k
        # those that share a spread: the strengths, and Davidson's parameter
        self.parts = (slice(k), slice(k, k + 1)) if self.tied else (slice(k),)

    def __call__(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return log densities, shape (C,), and gradients, of points, shape (C, D)."""
        value, slope = self._likelihood(points)
        for part in self.parts:
            density, precision = _spread(points[:, part] ** 2)
            value += density
            slope[:, part] -= precision[:, None] * points[:, part]
        return value, slope

    def _likelihood(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        strengths, tie = points[:, : self.k], points[:, self.k :]
        half = (self.halves @ strengths.T).T
        top = np.abs(half) if not tie.size else np.maximum(np.abs(half), tie)
        first, second = np.exp(half - top), np.exp(-half - top)
        both = np.exp(tie - top) if tie.size else 0.0
        total = first + second + both
        value = half @ self.net - (self.total * (top + np.log(total))).sum(axis=1)
        slope = (self.halves.T @ (self.net - self.total * (first - second) / total).T).T
        if not tie.size:
            return value, slope
        by_tie = self.tied - (self.total * both / total).sum(axis=1, keepdims=True)
        return value + self.tied * tie[:, 0], np.hstack([slope, by_tie])

    def approximation(self) -> tuple[np.ndarray, np.ndarray]:
        """Return centre and root of a normal approximation, by variational Bayes.

        The mode is no good centre: the density has its peak where all strengths are almost equal,
        and next to no mass there.
        """
        centre = np.zeros(self.k + (self.tied > 0))
        precision = np.ones_like(centre)
        for _ in range(_ROUNDS):

            def density(x: np.ndarray, by: np.ndarray = precision) -> tuple[np.ndarray, np.ndarray]:
                value, slope = self._likelihood(x)
                return value - 0.5 * (by * x**2).sum(axis=1), slope - by * x

            centre, root = normal_approximation(density, centre)
            squares = centre**2 + (root**2).sum(axis=1)
            precision = precision.copy()
            for part in self.parts:
                precision[part] = _spread(squares[None, part])[1]
        return centre, root


def _spread(squares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Integrate out the spread s of n normal(0, s) variables, s lognormal(0, 1/2).

    Parameters
    ----------
    squares : ndarray, shape (C, n)
        Squares of the variables.

    Returns
    -------
    log_density : ndarray, shape (C,)
    precision : ndarray, shape (C,)
        Expectation of s^-2 given the variables.
    """
    precision = np.exp(-2 * _LOG_SPREAD)
    half = 0.5 * squares.sum(axis=1, keepdims=True)
    terms = -2 * _LOG_SPREAD**2 - squares.shape[1] * _LOG_SPREAD - half * precision
    top = terms.max(axis=1, keepdims=True)
    weights = np.exp(terms - top)
    total = weights.sum(axis=1)
    return np.log(total) + top[:, 0], weights @ precision / total


def _strengths(results: Results, draws: np.ndarray, confidence: float) -> pd.DataFrame:
    flat = draws.reshape(-1, draws.shape[-1])
    flat = flat - flat.mean(axis=1, keepdims=True)
    low, high = densest(flat, confidence)
    best = np.bincount(flat.argmax(axis=1), minlength=flat.shape[1]) / len(flat)
    columns = {"strength": flat.mean(axis=0), "low": low, "high": high, "P(best)": best}
    frame = pd.DataFrame(columns, index=pd.Index(results.strategies, name="strategy"))
    return frame.sort_values("strength", ascending=False, kind="stable")


def densest(draws: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the shortest intervals that hold a share of the draws, by column.

    Examples
    --------
    >>> densest(np.array([[0.0], [1.0], [1.5], [2.0], [9.0]]), 0.6)
    (array([1.]), array([2.]))
    """
    ordered = np.sort(draws, axis=0)
    inside = min(int(np.ceil(confidence * len(ordered))), len(ordered))
    widths = ordered[inside - 1 :] - ordered[: len(ordered) - inside + 1]
    at = widths.argmin(axis=0)[None]
    low, high = (np.take_along_axis(ordered, place, 0)[0] for place in (at, at + inside - 1))
    return low, high


def _of_pairs(
    pairs: Pairs,
    counts: tuple[np.ndarray, np.ndarray, np.ndarray],
    draws: np.ndarray,
    rope: float,
    confidence: float,
    notes: tuple[str, ...],
) -> PairStatistics:
    """Return the posterior of the probability of winning of all pairs."""
    p, error, mean, ends = (np.empty((n, len(pairs.first))) for n in (3, 1, 1, 2))
    for first in range(len(pairs.strategies) - 1):  # a row of pairs at a time, to save memory
        at = np.flatnonzero(pairs.first == first)
        wins = 1 / (1 + np.exp(draws[..., pairs.second[at]] - draws[..., [first]]))
        sides = np.stack([wins > 0.5 + rope, wins < 0.5 - rope]).mean(axis=2)
        p[0, at], p[2, at] = sides.mean(axis=1)
        error[0, at] = sides.std(axis=1, ddof=1).max(axis=0) / np.sqrt(len(wins))
        flat = wins.reshape(-1, len(at))
        mean[0, at], ends[:, at] = flat.mean(axis=0), densest(flat, confidence)
    p[1] = np.clip(1 - p[0] - p[2], 0, 1)
    won, lost, tied = (count.astype(float) for count in counts)
    tables = {
        "P(row better)": (p[0], p[2]),
        "P(equivalent)": even(p[1]),
        "P(column better)": (p[2], p[0]),
        _WINNING: (mean[0], 1 - mean[0]),
        f"{_WINNING} low": (ends[0], 1 - ends[1]),
        f"{_WINNING} high": (ends[1], 1 - ends[0]),
        "wins": (won, lost),
        "ties": even(tied),
        "Monte Carlo error": even(error[0]),
    }
    return PairStatistics(tables=tables, effects={_WINNING: "highest density"}, notes=notes)
