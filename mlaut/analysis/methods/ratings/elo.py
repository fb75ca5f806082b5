"""Elo ratings of strategies from their duels on datasets."""

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import position
from mlaut.analysis.common.numerics import RELATIVE_NOISE, equalised
from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.results.given import of_results
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

NOT_FOUGHT = 2  # the mark of a duel in which a loss is missing


def needed_cells(results: Results, missing: str) -> None:
    """Raise an error for too few datasets or strategies, or for missing cells if not allowed."""
    if missing not in ("raise", "left out"):
        raise AnalysisError(f"missing = {missing!r} is not known; one of 'raise', 'left out'")
    if missing == "raise":
        results.complete(datasets=2, strategies=2)
    elif min(len(results.datasets), len(results.strategies)) < 2:
        raise AnalysisError("duels need at least two datasets and two strategies")


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
_MIDDLE = 1000.0  # mean rating where no strategy is the anchor, as in TabArena
# TabArena's ridge, a precision of strengths in units of log odds. It is far below what one duel
# says, and keeps the rating of a strategy that wins every duel finite.
_RIDGE = 1e-6 / np.log(10) ** 2
_STEPS = 100  # of Newton's method, which needs 5 to 30
_DONE = 1e-9  # change of log odds, 2e-7 points
_WORTH = 0.7  # share of samples that are left, below which the others are dropped by a copy
_BLOCK = 1 << 18  # numbers held in memory at a time: those of a sample stay in a cache
_FEW = 10  # datasets: with 5, 95 % intervals cover 82 %, with 10 they cover 92 % (measured levels)


@of_results
def elo_ratings(
    results: Results,
    *,
    anchor: str | None = None,
    anchor_rating: float = 1000.0,
    missing: str = "raise",
    n_samples: int = 500,
    confidence: float = 0.95,
    seed: int = 0,
) -> ResultTable:
    """Compute the Elo rating of every strategy from its duels on all datasets.

    Scenario (c). On each dataset all pairs of strategies meet, and the strategy with the smaller
    loss wins; a tie is half a win for each. A strategy that is 400 points ahead is expected to win
    10 of 11 duels, one that is 100 points ahead 64 % of them.

    Parameters
    ----------
    results : Results or DataFrame
    anchor : str, optional
        Strategy whose rating is ``anchor_rating``, for example a baseline. Default: the mean of all
        ratings is 1000.
    anchor_rating : float, default 1000
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
        One row for each strategy, the best first: ``Elo``, the ends ``low`` and ``high`` of its
        interval, and ``wins`` (the share of its duels that it wins; ties count half). The width of
        the intervals does not depend on the anchor, since they are computed about the mean rating.

    Raises
    ------
    MissingCellsError
        Cells are missing, and ``missing`` is ``"raise"``.
    AnalysisError
        There are fewer than two datasets or strategies, or the anchor is not known.

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
    >>> elo_ratings(Results.from_table(table, greater_is_better=False), anchor="C").frame.round(1)
                 Elo     low    high  wins
    strategy
    A         1377.0  1149.7  3619.2   0.9
    B         1072.2 -1319.8  3619.2   0.4
    C         1000.0 -1319.8  1149.7   0.2
    """
    needed_cells(results, missing)
    if not np.isfinite(anchor_rating):
        raise AnalysisError(f"anchor_rating = {anchor_rating} is not finite")
    at = None if anchor is None else position("strategy", anchor, results.strategies)
    outcomes = duels(results.in_order)
    n = len(outcomes)
    rng = np.random.default_rng(seed)
    weights = np.vstack([np.ones(n), rng.multinomial(n, np.full(n, 1 / n), size=n_samples)])
    wins = _weighted_wins(outcomes, weights)
    ratings = _MIDDLE + _PER_LOG_ODDS * _strengths(wins)
    tail = _expanded_tail(confidence, n)
    ends = np.quantile(ratings[1:], [tail, 1 - tail], axis=0)
    shift = 0.0 if at is None else anchor_rating - ratings[0, at]
    won, lost = wins[0].sum(axis=1), wins[0].sum(axis=0)
    columns = {"Elo": ratings[0] + shift, "low": ends[0] + shift, "high": ends[1] + shift}
    columns |= {"wins": won / np.maximum(won + lost, 1)}
    index = pd.Index(results.strategies, name="strategy")
    frame = pd.DataFrame(columns, index=index).sort_values("Elo", ascending=False, kind="stable")
    name = "Elo ratings" + (f" ({anchor} = {anchor_rating:g})" if anchor else "")
    source = "Erickson et al. 2025 (TabArena); Elo 1978; Hesterberg 2015"
    return results.table(name, frame, source, notes=_notes(results, wins, seed))


def _expanded_tail(confidence: float, n: int) -> float:
    """Return the share of bootstrap samples beyond either end of an interval."""
    from scipy.special import ndtr, stdtrit

    wider = np.sqrt(n / (n - 1)) * stdtrit(n - 1, 0.5 + confidence / 2)
    return float(ndtr(-wider))


def _weighted_wins(outcomes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return how often each strategy beats each other one; ties count half: (samples, K, K)."""
    wins = np.zeros((len(weights), *outcomes.shape[1:]))
    for row in range(outcomes.shape[1]):  # a strategy at a time, to save memory
        of_row = outcomes[:, row]
        wins[:, row] = weights @ ((of_row == 1) + 0.5 * (of_row == 0))
    return wins * ~np.eye(outcomes.shape[1], dtype=bool)  # nobody meets itself


def _strengths(wins: np.ndarray) -> np.ndarray:
    """Return the strengths, in log odds, with the largest penalised likelihood: (samples, K)."""
    from threadpoolctl import threadpool_limits

    step = max(1, _BLOCK // wins[0].size)
    with threadpool_limits(1, user_api="blas"):  # threads only wait for each other: small systems
        whole = _fitted(wins[:1], np.zeros(wins.shape[2]))
        parts = (wins[at : at + step] for at in range(1, len(wins), step))
        return np.concatenate([whole, *(_fitted(part, whole[0]) for part in parts)])


def _fitted(wins: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return the strengths by Newton's method, from a start for all samples: (samples, K)."""
    strengths = np.tile(start, (len(wins), 1))
    eye = np.eye(wins.shape[1])
    left = np.arange(len(wins))  # samples to improve: those that bound nothing take many steps
    fought = wins + wins.swapaxes(1, 2)
    for _ in range(_STEPS):
        now = strengths[left]
        p = 1 / (1 + np.exp(now[:, None] - now[:, :, None]))
        slope = (wins - fought * p).sum(axis=2) - _RIDGE * now
        bend = fought * p * (1 - p)
        curvature = eye * (bend.sum(axis=2) + _RIDGE)[:, :, None] - bend
        step = np.linalg.solve(curvature, slope[..., None])[..., 0]
        # Their sum is 0 at the maximum; only the ridge bounds it, so that rounding would move it.
        step -= step.mean(axis=1, keepdims=True)
        size = np.abs(step).max(axis=1)
        strengths[left] += step / np.maximum(size, 1.0)[:, None]
        more = size >= _DONE
        if not more.any():
            break
        if more.mean() < _WORTH:
            left, wins, fought = left[more], wins[more], fought[more]
    return strengths


def _notes(results: Results, wins: np.ndarray, seed: int) -> list[str]:
    """Return notes on the samples, and on ratings that the likelihood does not bound."""
    from scipy.sparse.csgraph import connected_components

    n_samples, won = len(wins) - 1, wins > 0
    # nearly always one strategy wins a duel against each other one, and loses one against each
    all_met = np.minimum(won.sum(axis=1), won.sum(axis=2)).max(axis=1) == wins.shape[1] - 1
    groups = np.ones(len(wins), dtype=int)
    for at in np.flatnonzero(~all_met):
        groups[at] = connected_components(won[at], connection="strong")[0]
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
