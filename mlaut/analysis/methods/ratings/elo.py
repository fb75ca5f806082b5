"""Elo ratings of strategies from their duels on datasets."""

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import Positive, Seed, Share, one_of
from mlaut.analysis.common.numerics import RELATIVE_NOISE, equalised
from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.results.given import of_results
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

NOT_FOUGHT = 2  # the mark of a duel in which a loss is missing


def duels(results: Results) -> np.ndarray:
    """Return the outcome of every duel.

    Parameters
    ----------
    results : Results

    Returns
    -------
    ndarray of int8, shape (N, K, K)
        1 where the row strategy wins, -1 where it loses, 0 for a tie, `NOT_FOUGHT` where a loss is
        missing.
    """
    losses = equalised(results.losses.to_numpy().T, RELATIVE_NOISE * results.noise_scale.T).T
    outcomes = np.empty((*losses.shape, losses.shape[1]), dtype=np.int8)
    for place, row in enumerate(losses):
        ahead = row - row[:, None]
        outcomes[place] = np.where(np.isnan(ahead), NOT_FOUGHT, np.sign(np.nan_to_num(ahead)))
    return outcomes


_PER_LOG_ODDS = 400 / np.log(10)  # the usual scale: 400 points are odds of 10 to 1
_MIDDLE = 1000.0  # mean rating of all strategies
# TabArena's ridge, a precision of strengths in units of log odds. It is far below what one duel
# says, and keeps the rating of a strategy that wins every duel finite.
_RIDGE = 1e-6 / np.log(10) ** 2
_STEPS = 100  # of Newton's method, which needs 5 to 30
_DONE = 1e-9  # change of log odds, 2e-7 points
_EASY = 20  # steps with the curvature of all datasets; samples that are far then get their own
_NEAR = 1e-6  # change of log odds of such a step: what is left is below 0.0001 points
_BLOCK = 1 << 18  # numbers held in memory at a time: those of a sample stay in a cache
_FEW = 10  # datasets: with 5, 95 % intervals cover 82 %, with 10 they cover 92 % (measured levels)


@of_results
def elo_ratings(
    results: Results,
    *,
    missing: str = "raise",
    n_samples: Positive = 500,
    confidence: Share = 0.95,
    seed: Seed = 0,
) -> ResultTable:
    """Compute the Elo rating of every strategy from its duels on all datasets.

    Scenario (c). On each dataset all pairs of strategies meet, and the strategy with the smaller
    loss wins; a tie is half a win for each. A strategy that is 400 points ahead is expected to win
    10 of 11 duels, one that is 100 points ahead 64 % of them.

    Parameters
    ----------
    results : Results or DataFrame
    missing : {"raise", "left out"}, default "raise"
        ``"left out"`` leaves out the duels that need a missing cell. To count failures as losses,
        use `treat_missing` with ``"worst rank"`` first.
    n_samples : int, default 500
        Number of samples of the datasets, drawn with replacement, for the intervals.
    confidence : float, default 0.95
        Confidence of the intervals.
    seed : int, default 0

    Returns
    -------
    ResultTable
        One row for each strategy, the best first: ``Elo`` (the mean of all is 1000), the ends
        ``low`` and ``high`` of its interval, and ``wins`` (the share of its duels that it wins;
        ties count half).

    Raises
    ------
    MissingCellsError
        Cells are missing, and ``missing`` is ``"raise"``.
    AnalysisError
        There are fewer than two datasets or strategies.

    Notes
    -----
    The ratings are the maximum of the Bradley-Terry likelihood with TabArena's ridge of 1e-6. The
    ridge matters only if some strategies win every duel against the others; a note then says so.
    The order of strategies that meet all others on all datasets is that of their average ranks.
    The ends of the intervals are quantiles of the bootstrap; those of TabArena are the quantiles
    (1 - confidence) / 2, which are too near to each other on few datasets. Here the quantiles are
    farther out, as Student's t with N - 1 degrees of freedom requires. Source: TabArena
    (Erickson et al. 2025), bencheval 2025; Elo 1978; Hesterberg 2015 (expanded percentiles).

    Examples
    --------
    >>> table = pd.DataFrame({"A": [1, 2, 1, 1], "B": [2, 1, 3, 4], "C": [3, 3, 2, 3]})
    >>> elo_ratings(Results.from_table(table, greater_is_better=False)).frame.round(1)
                 Elo     low    high  wins
    strategy
    A         1227.2  1000.0  3469.5   0.9
    B          922.5 -1469.5  3469.5   0.4
    C          850.3 -1469.5  1000.0   0.2
    """
    if one_of("missing", missing, ("raise", "left out")) == "raise":
        results.complete(datasets=2, strategies=2)
    elif min(len(results.datasets), len(results.strategies)) < 2:
        raise AnalysisError("duels need at least two datasets and two strategies")
    outcomes = duels(results.in_order)
    n = len(outcomes)
    rng = np.random.default_rng(seed)
    weights = np.vstack([np.ones(n), rng.multinomial(n, np.full(n, 1 / n), size=n_samples)])
    fought = (outcomes != NOT_FOUGHT) & ~np.eye(outcomes.shape[1], dtype=bool)
    points = (fought * (outcomes + np.int8(1))).sum(axis=2) / 2
    strengths = _strengths(weights @ points, fought, weights)
    ratings = _MIDDLE + _PER_LOG_ODDS * strengths
    tail = _expanded_tail(confidence, n)
    ends = np.quantile(ratings[1:], [tail, 1 - tail], axis=0)
    columns = {"Elo": ratings[0], "low": ends[0], "high": ends[1]}
    columns |= {"wins": points.sum(axis=0) / np.maximum(fought.sum(axis=(0, 2)), 1)}
    index = pd.Index(results.strategies, name="strategy")
    frame = pd.DataFrame(columns, index=index).sort_values("Elo", ascending=False, kind="stable")
    source = "Erickson et al. 2025 (TabArena); Elo 1978; Hesterberg 2015"
    notes = _notes(results, _groups(outcomes, fought, points, weights), seed)
    return results.table("Elo ratings", frame, source, notes=notes)


def _expanded_tail(confidence: float, n: int) -> float:
    """Return the share of bootstrap samples beyond either end of an interval."""
    from scipy.special import ndtr, stdtrit

    wider = np.sqrt(n / (n - 1)) * stdtrit(n - 1, 0.5 + confidence / 2)
    return float(ndtr(-wider))


def _strengths(won: np.ndarray, fought: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the strengths, in log odds, with the largest penalised likelihood: (samples, K).

    Only how often each strategy wins, ``won`` (samples, K), and who met whom on each dataset,
    ``fought`` (N, K, K), tell them. The first sample is of all datasets: its curvature serves the
    others, which are near.
    """
    from threadpoolctl import threadpool_limits

    k, n = won.shape[1], len(fought)
    step = max(1, _BLOCK // k**2)
    # nearly always all have met on all datasets, and then of every sample too
    met = fought.sum(axis=0, dtype=float)[None] if fought.sum() == n * k * (k - 1) else None
    known = fought.reshape(n, -1).astype(float) if met is None else fought

    def met_in(part: slice) -> np.ndarray:
        return (weights[part] @ known).reshape(-1, k, k) if met is None else met

    with threadpool_limits(1, user_api="blas"):  # threads only wait for each other: small systems
        whole = _fitted(won[:1], met_in(slice(1)), np.zeros((1, k)))
        inverse = np.linalg.inv(_newton(won[:1], met_in(slice(1)), whole)[1][0])
        parts = [slice(at, at + step) for at in range(1, len(won), step)]
        return np.concatenate(
            [whole, *(_near(won[part], met_in(part), whole, inverse) for part in parts)]
        )


def _near(
    won: np.ndarray, fought: np.ndarray, start: np.ndarray, inverse: np.ndarray
) -> np.ndarray:
    """Return the strengths of samples from a start and its inverse curvature: (samples, K)."""
    strengths = np.repeat(start, len(won), axis=0)
    size = np.full(len(won), np.inf)
    for _ in range(_EASY):
        odds = np.exp(strengths)[:, :, None]
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            both = odds + odds.swapaxes(1, 2)
            lost = odds[:, :, 0] * np.divide(fought, both, out=both).sum(axis=2)
            step = (won - lost - _RIDGE * strengths) @ inverse
        step -= step.mean(axis=1, keepdims=True)
        size = np.abs(step).max(axis=1)
        strengths += step / np.maximum(size, 1.0)[:, None]
        if (size < _NEAR).all():
            return strengths
    far = ~(size < _NEAR)
    of_far = fought[far] if len(fought) > 1 else fought
    strengths[far] = _fitted(won[far], of_far, np.repeat(start, far.sum(), axis=0))
    return strengths


def _newton(won: np.ndarray, fought: np.ndarray, now: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return slope and curvature of the penalised likelihood at strengths of some samples."""
    p = 1 / (1 + np.exp(now[:, None] - now[:, :, None]))
    bend = fought * p * (1 - p)
    slope = won - (fought * p).sum(axis=2) - _RIDGE * now
    return slope, np.eye(won.shape[1]) * (bend.sum(axis=2) + _RIDGE)[:, :, None] - bend


def _fitted(won: np.ndarray, fought: np.ndarray, strengths: np.ndarray) -> np.ndarray:
    """Return the strengths by Newton's method, from a start: (samples, K)."""
    left = np.arange(len(won))  # samples to improve: those that bound nothing take many steps
    for _ in range(_STEPS):
        of_left = fought[left] if len(fought) > 1 else fought
        slope, curvature = _newton(won[left], of_left, strengths[left])
        step = np.linalg.solve(curvature, slope[..., None])[..., 0]
        # Their sum is 0 at the maximum; only the ridge bounds it, so that rounding would move it.
        step -= step.mean(axis=1, keepdims=True)
        size = np.abs(step).max(axis=1)
        strengths[left] += step / np.maximum(size, 1.0)[:, None]
        left = left[size >= _DONE]
        if not len(left):
            break
    return strengths


def _groups(
    outcomes: np.ndarray, fought: np.ndarray, points: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Return the number of groups of each sample, each of which wins every duel against the next.

    Where all have met on all datasets, the k strategies with most wins are such a group, or some,
    if they have all the wins that k strategies can have (Landau 1953).
    """
    n, k = points.shape
    if fought.sum() == n * k * (k - 1):
        best, size = np.sort(weights @ points)[:, :0:-1].cumsum(axis=1), np.arange(1, k)
        return 1 + (best == n * (size * (size - 1) / 2 + size * (k - size))).sum(axis=1)
    from scipy.sparse.csgraph import connected_components

    won = fought & (outcomes >= 0)
    seen = (won[of_sample].any(axis=0) for of_sample in weights > 0)
    return np.array([connected_components(x, connection="strong")[0] for x in seen])


def _notes(results: Results, groups: np.ndarray, seed: int) -> list[str]:
    """Return notes on the samples, and on ratings that the likelihood does not bound."""
    n_samples = len(groups) - 1
    notes = [f"{n_samples} samples of {len(results.datasets)} datasets, seed {seed}"]
    if groups[0] > 1:
        notes.append(
            f"the strategies fall into {groups[0]} groups, and each wins every duel against the "
            "next: the likelihood bounds no difference between groups, and the one shown only says "
            "that it is large"
        )
    elif loose := sum(count > 1 for count in groups[1:]):
        notes.append(
            f"in {loose} of {n_samples} samples some strategies win every duel against the others, "
            "so an end of an interval that is far away only says that it is far"
        )
    if len(results.datasets) < _FEW:
        notes.append(f"on fewer than {_FEW} datasets the intervals cover less than they say")
    return notes
