"""Decisions from the probabilities of many pairs of strategies, and cycles among the winners.

For one pair that was chosen beforehand, a posterior probability of 0.95 means what it says, if one
believes the prior. But the largest probability of many pairs is often above 0.95 even if no
strategies differ. So claims about many pairs need a bound on false claims. Pairwise winners need
not form an order.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import checked
from mlaut.analysis.common.display import Shown, number
from mlaut.analysis.common.result_types import Pairwise
from mlaut.analysis.pairwise.corrections import given_pairs
from mlaut.errors import AnalysisError


def many_pairs(n_pairs: int) -> tuple[str, ...]:
    """Return the note on uncorrected probabilities, if there is more than one pair."""
    note = (
        f"probabilities are not corrected for {n_pairs} pairs: where no strategies differ, some "
        "pair is often above 0.95 (docs/measured-levels.md)"
    )
    return (note,) if n_pairs > 1 else ()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Decisions(Shown):
    """Claims from the probabilities of many pairs.

    Attributes
    ----------
    frame : DataFrame
        One row for each pair, the most probable first: ``better``, ``worse``, ``probability`` that
        this is right, ``claimed``, and ``expected false share`` among the claims down to this row.
    expected_false : float
        Expected number of false claims among the claims.
    rule : str
        The rule of the decision, in words.
    """

    frame: pd.DataFrame
    expected_false: float
    rule: str

    @property
    def claims(self) -> tuple[tuple[str, str], ...]:
        """Claimed pairs (better, worse), the most probable first."""
        claimed = self.frame[self.frame["claimed"]]
        return tuple(zip(claimed["better"], claimed["worse"], strict=True))

    def title(self) -> str:  # noqa: D102 - inherited
        return f"Claims ({self.rule})"

    def to_frame(self) -> pd.DataFrame:  # noqa: D102 - inherited
        return self.frame.copy()

    def sentence(self) -> str:  # noqa: D102 - inherited
        return (
            f"{len(self.claims)} of {len(self.frame)} pairs are claimed ({self.rule}); "
            f"{number(self.expected_false, 2)} of these claims are expected to be false under the "
            "posterior. This does not bound the chance of a claim where no strategies differ."
        )


def _probabilities(better: Any) -> pd.DataFrame:
    """Return the probabilities that the row is better, also of a Bayesian test of all pairs."""
    pairs = given_pairs(better)
    table = pairs.tables.get("P(row better)") if isinstance(pairs, Pairwise) else pairs
    if not isinstance(table, pd.DataFrame):
        raise AnalysisError(
            "better must be a DataFrame of probabilities, or what a Bayesian test of all pairs "
            f"returns, not {getattr(pairs, 'name', type(pairs).__name__)}"
        )
    return table


@checked
def decide(
    better: pd.DataFrame | Any,
    false_share: float | None = None,
    false_number: float | None = None,
    *,
    threshold: float | None = None,
) -> Decisions:
    """Claim as many pairs as a bound on the posterior expected false claims allows.

    Each pair is claimed for the strategy that is more probably better, the most probable pair
    first. A claim is false with 1 minus that probability. Expected numbers of false claims add up
    under any dependence between the pairs.

    The bound holds under the posterior, on average over strategies that differ as the prior says.
    It is no bound of the type I error: if no strategies differ, something is claimed in more than
    half of studies with five strategies, and in nearly all with twenty (docs/measured-levels.md).
    To bound the probability of any false claim, use a test with p-values and `adjust_pairs`.

    Parameters
    ----------
    better : DataFrame, shape (K, K)
        Probability that the row is better than the column, as in the table ``"P(row better)"`` of
        `poisson_binomial_test`; or what a Bayesian test of all pairs returns, also as a method of
        `AnalyseResults`. A claim also counts as false if the two are
        practically equivalent.
    false_share : float, optional
        Bound on the expected share of false claims among the claims (a Bayesian false discovery
        rate). Default: 0.05, unless ``false_number`` is given.
    false_number : float, optional
        Bound on the expected number of false claims, in place of ``false_share``.
    threshold : float, optional
        Smallest probability of a claim, in place of both: Lacoste et al. (2012), section 7, claim
        what is above 0.85. It bounds nothing.

    Returns
    -------
    Decisions

    Raises
    ------
    AnalysisError
        Two of the bounds are given, one is out of range, or the table is not square or has gaps.

    Notes
    -----
    Mueller, Parmigiani & Rice (2006): the posterior expected false discovery rate of the claims is
    the mean of their probabilities of being false. Lacoste et al. (2012), section 8, leave this
    question open.

    Examples
    --------
    >>> names = ["A", "B", "C"]
    >>> p = pd.DataFrame([[0.5, 0.99, 0.94], [0.01, 0.5, 0.3], [0.06, 0.7, 0.5]], names, names)
    >>> decisions = decide(p, false_share=0.05)
    >>> decisions.claims
    (('A', 'B'), ('A', 'C'))
    >>> round(decisions.expected_false, 3)
    0.07
    """
    better = _probabilities(better)
    if sum(given is not None for given in (false_share, false_number, threshold)) > 1:
        raise AnalysisError("give one of false_share, false_number and threshold")
    frame = _surest_first(better)
    false = 1 - frame["probability"].to_numpy()
    share = np.cumsum(false) / np.arange(1, len(false) + 1)
    if threshold is not None:
        bound, allowed = threshold, frame["probability"].to_numpy() >= threshold
        rule = f"probability of at least {number(bound)}"
    elif false_number is None:
        bound = 0.05 if false_share is None else false_share
        allowed, rule = share <= bound, f"expected share of false ones at most {number(bound)}"
    else:
        bound = false_number
        allowed = np.cumsum(false) <= bound
        rule = f"expected number of false ones at most {number(bound)}"
    if not (np.isfinite(bound) and bound > 0):
        raise AnalysisError(f"the bound {bound} is not a positive number, for example 0.05")
    frame = frame.assign(claimed=allowed)
    frame["expected false share"] = share
    return Decisions(frame=frame, expected_false=float(false[allowed].sum()), rule=rule)


def _surest_first(better: pd.DataFrame) -> pd.DataFrame:
    p = _checked_square(better)
    rows, columns = np.triu_indices(len(p), 1)
    first, second = p[rows, columns], p[columns, rows]
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise AnalysisError("the table has gaps: leave out the strategies that were not compared")
    names = np.asarray([str(name) for name in better.index], dtype=object)
    wins = first >= second
    frame = pd.DataFrame(
        {
            "better": np.where(wins, names[rows], names[columns]),
            "worse": np.where(wins, names[columns], names[rows]),
            "probability": np.maximum(first, second),
        }
    )
    return frame.sort_values("probability", ascending=False, kind="stable", ignore_index=True)


def _checked_square(better: pd.DataFrame) -> np.ndarray:
    if list(better.index) != list(better.columns) or len(better) < 2:
        raise AnalysisError(
            "the rows and the columns of the table must be the same strategies, two or more"
        )
    return better.to_numpy(dtype=float)


@dataclass(frozen=True)
class Cycle:
    """Cycle of strategies: each is better than the next, and the last is better than the first.

    Attributes
    ----------
    strategies : tuple of str
    weakest : float
        Smallest probability in the cycle.
    """

    strategies: tuple[str, ...]
    weakest: float

    def __str__(self) -> str:
        around = " > ".join((*self.strategies, self.strategies[0]))
        return f"{around} (weakest link {self.weakest:.2f})"


@checked
def non_transitive_cycles(better: pd.DataFrame, threshold: float = 0.5) -> tuple[Cycle, ...]:
    """Find the cycles of "is better than", a relation that need not be an order.

    Parameters
    ----------
    better : DataFrame, shape (K, K)
        Probability that the row is better than the column; the diagonal is not read.
    threshold : float, default 0.5
        Probability above which the row counts as better; at least 0.5.

    Returns
    -------
    tuple of Cycle
        All cycles of three strategies, and one shortest cycle of each strongly connected group that
        has only longer ones; the largest weakest link first. Empty for ordered strategies.

    Notes
    -----
    Lacoste, Laviolette & Marchand (2012), section 5.1 and Figure 2.

    Examples
    --------
    >>> names = ["A", "B", "C"]
    >>> p = pd.DataFrame([[0.5, 0.7, 0.2], [0.3, 0.5, 0.9], [0.8, 0.1, 0.5]], names, names)
    >>> print(*non_transitive_cycles(p))
    A > B > C > A (weakest link 0.70)
    """
    better = _probabilities(better)
    p = _checked_square(better)
    if not 0.5 <= threshold < 1:
        raise AnalysisError(f"threshold = {threshold} is not in [0.5, 1)")
    edge = p > threshold
    np.fill_diagonal(edge, False)
    turns = [tuple(map(int, c)) for c in np.argwhere(edge[:, :, None] & edge & edge.T[:, None, :])]
    loops = [c for c in turns if c[0] == min(c)] + _long_loops(edge, {i for c in turns for i in c})
    names = [str(name) for name in better.index]
    cycles = [Cycle(tuple(names[i] for i in c), _weakest(p, c)) for c in loops]
    return tuple(sorted(cycles, key=lambda cycle: -cycle.weakest))


def _weakest(p: np.ndarray, loop: tuple[int, ...]) -> float:
    return float(min(p[a, b] for a, b in zip(loop, loop[1:] + loop[:1], strict=True)))


def _long_loops(edge: np.ndarray, known: set[int]) -> list[tuple[int, ...]]:
    """Return a shortest cycle of each strongly connected group that has no cycle of three."""
    left = edge
    while len(left) and not (kept := left.any(axis=0) & left.any(axis=1)).all():
        left = left[np.ix_(kept, kept)]  # what nothing leads to, or from, is in no cycle
    if not len(left):
        return []
    from scipy.sparse.csgraph import connected_components

    count, group = connected_components(edge, directed=True, connection="strong")
    members = [np.flatnonzero(group == g) for g in range(count)]
    knotted = [m for m in members if len(m) > 1 and known.isdisjoint(m.tolist())]
    return [tuple(int(m[i]) for i in _shortest_loop(edge[np.ix_(m, m)])) for m in knotted]


def _shortest_loop(edge: np.ndarray) -> list[int]:
    from scipy.sparse.csgraph import shortest_path

    length, before = shortest_path(edge, unweighted=True, return_predecessors=True)
    back = np.where(edge.T, length, np.inf)  # from i to j, then the edge from j to i closes it
    i, j = np.unravel_index(np.argmin(back), back.shape)
    loop = [int(j)]
    while loop[-1] != i:
        loop.append(int(before[i, loop[-1]]))
    return loop[::-1]
