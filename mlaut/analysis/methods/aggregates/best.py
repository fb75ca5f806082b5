"""The probability that a strategy is the best, by a model in which strategies may be equal."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import Positive, Seed, Share
from mlaut.analysis.common.display import number
from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.methods.aggregates.per_dataset import AGGREGATES, values_of
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.results.given import check_sources, of_results, takes_sources
from mlaut.analysis.results.results import Results
from mlaut.analysis.sources.chances import DRAWS, chances

_FEW = 6  # datasets: with fewer, not even a signed rank test of two strategies can reach .05


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RankProbabilities(ResultTable):
    """Probabilities of the ranks of strategies by an aggregate over datasets.

    Attributes
    ----------
    name : str
        The aggregate, in words.
    frame : DataFrame
        One row for each strategy, the most probably best first: ``P(best)``, ``P(top k)``,
        ``expected rank``, and the ends ``low`` and ``high`` of its interval.
    rank_probabilities : DataFrame, shape (K, K)
        P(rank = r), with one row for each strategy and one column for each rank.
    confidence : float
        Probability of the interval of the rank.
    n : int
        Number of datasets.
    source, metric : str
    scenario : str, default "(c)"
    notes : tuple of str
    """

    rank_probabilities: pd.DataFrame
    confidence: float
    n: int

    def title(self) -> str:  # noqa: D102 - inherited
        return f"Probability of the best {self.name} of {self.metric}, {self.n} datasets"

    def to_frame(self) -> pd.DataFrame:
        """Return the summary, followed by a column ``P(rank r)`` for each rank."""
        ranks = self.rank_probabilities.add_prefix("P(rank ").rename(columns=lambda c: f"{c})")
        return self.frame.join(ranks)

    def display_frame(self) -> pd.DataFrame:
        """Return the displayed table: the summary."""
        return self.frame.map(number)

    def sentence(self) -> str:  # noqa: D102 - inherited
        best = self.frame["P(best)"]
        first = best.index[best == best.max()]
        leaders = " and ".join(map(str, first)) if len(first) < 4 else f"{len(first)} strategies"
        each = " each" if len(first) > 1 else ""
        return (
            f"{self.title()}: {leaders}{each} with probability {number(best.max(), 2)}, "
            f"scenario {self.scenario}."
        )


@of_results
@takes_sources
def probability_of_best(
    results: Results,
    *,
    aggregate: str = "rank",
    baseline: str | None = None,
    top: Positive = 3,
    n_samples: Positive = DRAWS,
    confidence: Share = 0.95,
    seed: Seed = 0,
) -> RankProbabilities:
    """Compute the probability that each strategy has the best aggregate over all datasets.

    Scenario (c). The probability is about the aggregate over the population of datasets. The share
    of new datasets on which a strategy is the best is another number, in `scale_free_table`.

    Parameters
    ----------
    results : Results or DataFrame
    aggregate : {"rank", "loss", "normalised", "improvability", "wins"}, default "rank"
        The mean over datasets that is compared: of the rank; of the loss; of the loss on a scale
        from the best (0) to the median (1) of each dataset; of the share of the loss that the best
        avoids; or the share of datasets on which the strategy is best. With ``"loss"`` the order of
        two strategies does not depend on the others; with the other aggregates it does.
    baseline : str, optional
        A strategy that replaces the median in ``"normalised"``.
    top : int, default 3
        The k of ``P(top k)``, the probability of being among the best k.
    n_samples : int, default 2048
        Number of draws, rounded up to a multiple of the 256 chains.
    confidence : float, default 0.95
        Probability of the interval of the rank.
    seed : int, default 0

    Returns
    -------
    RankProbabilities
        Strategies that are equal on every dataset share their probabilities.

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        There are fewer than two datasets or strategies, or an option does not suit these results.

    Notes
    -----
    The true means are drawn from their posterior under a Dirichlet process: strategies fall into
    groups of like ones, whose differences are learned and may be 0. Strategies that are far behind
    the leader, or behind several others on each of six or more datasets, are left out of the model,
    so that they change nothing for the others, and copies count as one. Where true means
    differ, the leader was the best about as often as its probability states, or more often. Of
    exactly equal ones it says too much: .51 of the first of three, .20 of the first of ten. The
    random numbers are hashes of seed, draw and place, so the page of a report draws the same
    numbers. Source: Ferguson (1973); Neal (2000), algorithm 3. The preselection and the model of
    the noise are MLaut's own; docs/measured-levels.md states how often claims are right.

    Examples
    --------
    >>> table = pd.DataFrame({"A": [1, 2, 1, 3, 1, 2], "B": [2, 1, 3, 4, 3, 3], "C": [5.0] * 6})
    >>> results = Results.from_table(table, greater_is_better=False)
    >>> probability_of_best(results, top=2).frame.round(2)
              P(best)  P(top 2)  expected rank  low  high
    strategy
    A            0.82       1.0           1.18  1.0   2.0
    B            0.18       1.0           1.82  1.0   2.0
    C            0.00       0.0           3.00  3.0   3.0
    """
    check_sources(results)
    results = results.in_order
    values = results.by_source(_without_copies(results, aggregate, baseline))
    n, k = values.shape
    top = min(top, k)
    drawn = chances(values, seed, n_samples)
    starts, sizes = _places(drawn.draws)
    p_rank = _rank_probabilities(starts, sizes)
    middle = starts + (sizes + 1) / 2
    tail = (1 - confidence) / 2
    low, high = np.quantile(middle, [tail, 1 - tail], axis=0, method="inverted_cdf")
    columns = {"P(best)": drawn.of_best(), f"P(top {top})": p_rank[:, :top].sum(axis=1).clip(max=1)}
    columns |= {"expected rank": middle.mean(axis=0), "low": low, "high": high}
    index = results.losses.columns
    frame = pd.DataFrame(columns, index=index).sort_values(
        ["P(best)", "expected rank"], ascending=[False, True], kind="stable"
    )
    ranks = pd.DataFrame(p_rank, index=index, columns=np.arange(1, k + 1)).loc[frame.index]
    units = "datasets" if results.clusters is None else "sources"
    few = f"{n} {units} decide little: with fewer than {_FEW} no test over them can show more"
    return RankProbabilities(
        name=AGGREGATES[aggregate] + (f" (against {baseline})" if baseline else ""),
        frame=frame,
        rank_probabilities=ranks,
        confidence=confidence,
        n=n,
        source="Neal 2000",
        metric=results.metric.loss_name,
        notes=(
            *results.notes_text(),
            f"{len(drawn.draws)} draws, seed {seed}",
            *((few,) if n < _FEW else ()),
        ),
    )


def _without_copies(results: Results, aggregate: str, baseline: str | None) -> np.ndarray:
    """Return the values among strategies of which no two are equal on every dataset."""
    ranks = paired_losses(results).ranks
    _, first, copy = np.unique(ranks, axis=1, return_index=True, return_inverse=True)
    if len(first) < 2 or baseline is not None:  # all are one, or copies change nothing
        return values_of(results, aggregate, baseline)
    among = results.select(strategies=[results.strategies[at] for at in first])
    return values_of(among, aggregate)[:, copy.reshape(-1)]


def _places(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of better and of equal strategies in each draw: shape (draws, K)."""
    starts, ends = np.empty((2, *draws.shape), dtype=int)
    for at, (x, own) in enumerate(zip(np.sort(draws, axis=1), draws, strict=True)):
        starts[at], ends[at] = np.searchsorted(x, own), np.searchsorted(x, own, "right")
    return starts, ends - starts


def _rank_probabilities(starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return P(rank = r) of each strategy, shape (K, K).

    Each of m equal strategies takes each of their m ranks with probability 1 / m.
    """
    draws, k = starts.shape
    row = np.broadcast_to(np.arange(k) * (k + 1), starts.shape).ravel()
    steps = np.zeros(k * (k + 1))
    for at, sign in ((starts, 1.0), (starts + sizes, -1.0)):
        steps += np.bincount(row + at.ravel(), sign / sizes.ravel(), minlength=k * (k + 1))
    return np.cumsum(steps.reshape(k, k + 1), axis=1)[:, :k] / draws
