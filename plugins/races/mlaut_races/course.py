"""The course of a race: who is dropped after which dataset, as a function of the losses in order.

The decisions after a round depend only on the losses of this round and of earlier rounds. So a race
that was interrupted, or is followed again from the stored losses, makes the same decisions.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass

import numpy as np

from mlaut.errors import AnalysisError
from mlaut.plugins import RELATIVE_NOISE, SMALLEST_P, adjust, control_of
from mlaut_races.evidence import BETS, KINDS, grow, log_mean, p_of
from mlaut_races.terms import RaceTerms


@dataclass(frozen=True)
class RaceDecision:
    """Decision of a race: a strategy is worse than another one, or practically equal to it.

    Attributes
    ----------
    after : int
        Number of datasets on which the evidence rests.
    first, second : int
        Positions of the strategies. ``first`` is worse than ``second``, or practically equal to it;
        for the question ``"best"``, ``second`` is the rival with the largest evidence.
    equal : bool
        Whether they are practically equal.
    log_evidence : float
        Natural logarithm of the evidence.
    """

    after: int
    first: int
    second: int
    equal: bool
    log_evidence: float


@dataclass(frozen=True, eq=False)
class Course:
    """Course of a race over its first T datasets.

    Attributes
    ----------
    against : ndarray, shape (T, K)
        Log evidence after each dataset against each strategy being as good as all others.
    runs : ndarray of int, shape (K,)
        Number of datasets on which each strategy was run.
    left : ndarray of bool, shape (K,)
        Whether each strategy may still be the best; for other questions, whether a pair with it is
        undecided.
    worse, worse_sup : ndarray, shape (K, K)
        Natural logarithm of the evidence that the row is worse than the column: now, and its
        largest so far.
    equal_sup : ndarray, shape (K, K)
        Largest log evidence so far that row and column are practically equal.
    worse_p, equal_p : ndarray, shape (K, K)
        Anytime-valid p-values after Holm's correction; 1 for pairs that the question leaves out.
    decisions : tuple of RaceDecision
    answered : bool
        Whether the question is answered.
    """

    against: np.ndarray
    runs: np.ndarray
    left: np.ndarray
    worse: np.ndarray
    worse_sup: np.ndarray
    equal_sup: np.ndarray
    worse_p: np.ndarray
    equal_p: np.ndarray
    decisions: tuple[RaceDecision, ...]
    answered: bool


def follow(
    losses: np.ndarray,
    scale: np.ndarray,
    terms: RaceTerms,
    strategies: Sequence[str] = (),
    span: float = np.inf,
    drop: bool = True,
    sources: Sequence[object] | None = None,
) -> Course:
    """Follow a race over datasets in their order.

    Parameters
    ----------
    losses : ndarray, shape (N, K)
        One loss for each dataset and strategy. NaN is a cell that was not run yet: the race stops
        before the first dataset on which a strategy that still races has such a cell. Infinity is a
        failure, which is worse than any loss. Minus infinity means that the strategy takes no part
        in the dataset.
    scale : ndarray, shape (N, K)
        Size of the numbers behind each loss; smaller differences than their noise are ties.
    terms : RaceTerms
    strategies : sequence of str, optional
        Names that the terms use; default ``"0"``, ``"1"`` and so on.
    span, drop, sources
        As for `Following`.

    Examples
    --------
    >>> losses = np.tile([0.1, 0.2, 0.3], (12, 1))
    >>> course = follow(losses, losses, RaceTerms())
    >>> course.runs.tolist(), course.left.tolist(), course.answered
    ([8, 8, 7], [True, False, False], True)
    """
    n, k = losses.shape
    names = strategies or [str(i) for i in range(k)]
    race = Following(names, n, terms, span=span, drop=drop, sources=sources)
    for row, size in zip(losses, scale, strict=True):
        if not race.take(row, size):
            break
    return race.course()


class Following:
    """Race that is followed dataset by dataset.

    Parameters
    ----------
    strategies : sequence of str, length K
    n : int
        Number of datasets.
    terms : RaceTerms
    span : float
        Width of the range of the loss; infinite if it has no ends.
    drop : bool
        Whether strategies leave the race, and the race ends when the question is answered.
    sources : sequence, length n, optional
        Source of each dataset; datasets of one source are neighbours. There is one bet on a source:
        the steps of its datasets are averaged, and strategies leave after the last of them.
    """

    def __init__(
        self,
        strategies: Sequence[str],
        n: int,
        terms: RaceTerms,
        *,
        span: float = np.inf,
        drop: bool = True,
        sources: Sequence[object] | None = None,
    ) -> None:
        k = len(strategies)
        of = range(n) if sources is None else sources
        self._ends = [at + 1 == n or of[at] != of[at + 1] for at in range(n)]  # a source
        self.terms, self.drop = terms, drop
        self.control = control_of(terms.question, strategies)
        self.left: np.ndarray = np.ones(k, dtype=bool)
        self.racing = self.left
        self.runs = np.zeros(k, dtype=int)
        self.n_taken = 0  # datasets
        self.decisions: list[RaceDecision] = []
        self.worse_sup, self.equal_sup = np.zeros((2, k, k))  # log evidence
        self.worse_p, self.equal_p = np.ones((2, k, k))
        self.pairs = self._pairs_of_question(k)
        self._against = np.full((n, k), np.nan)
        self._wealth = _Wealth(n, k, terms, span)

    def _pairs_of_question(self, k: int) -> np.ndarray:
        """Return a mask of the ordered pairs that the question is about."""
        pairs = ~np.eye(k, dtype=bool)
        if self.control is not None:
            rest = np.arange(k) != self.control
            pairs[np.ix_(rest, rest)] = False
        return pairs

    def take(self, losses: np.ndarray, scale: np.ndarray) -> bool:
        """Take in the next dataset; if it has an open cell, change nothing and return False.

        Parameters
        ----------
        losses, scale : ndarray, shape (K,)
            Losses of the dataset and their sizes, as for `follow`. Strategies that left before are
            not looked at.
        """
        turn = self.racing
        if np.isnan(losses[turn]).any() or (self.drop and self.answered()):
            return False
        dataset, self.n_taken = self.n_taken, self.n_taken + 1
        if turn.any():
            self.runs[turn] += 1
            present = turn & (losses > -np.inf)
            self._wealth.see(_differences(losses, scale, present), present)
            if self._ends[dataset]:
                self._gather(dataset, self._wealth.bet())
                self._decide(dataset)
        if self.drop:
            self.racing = self.left
        return True

    def copy(self) -> Following:
        """Return a copy of the race in its present state."""
        return deepcopy(self, {id(self.terms): self.terms})

    def _gather(self, dataset: int, present: np.ndarray) -> None:
        """Gather the evidence after one more dataset."""
        wealth = self._wealth
        self.worse_sup = np.maximum(self.worse_sup, wealth.worse)
        self.equal_sup = np.maximum(self.equal_sup, wealth.equal)
        many = self.left.sum() if self.terms.question == "all best" else 1  # Holm's correction
        self._against[dataset] = np.where(present, wealth.against() - np.log(many), np.nan)

    def _decide(self, dataset: int) -> None:
        if self.terms.of_best:
            evidence = self._against[dataset]
            out = self.left & (evidence >= -np.log(self.terms.alpha))
            rivals = np.where(self._wealth.rivals, self._wealth.worse, -np.inf)
            self.decisions += [
                RaceDecision(dataset + 1, i, int(rivals[i].argmax()), False, float(evidence[i]))
                for i in np.flatnonzero(out).tolist()
            ]
            self.left = self.left & ~out  # a new array: copies of the race keep theirs
        else:
            self.worse_p = self._holm(self.worse_sup, self.pairs)
            self._note(self.worse_p, self.worse_sup, self.pairs, equal=False)
        if self.terms.rope:
            upper = np.triu(self.pairs)
            self.equal_p = self._holm(self.equal_sup, upper)
            self._note(self.equal_p, self.equal_sup, upper, equal=True)
        if not self.terms.of_best:
            self.left = np.asarray(self._open().any(axis=1))

    def _holm(self, log_sup: np.ndarray, family: np.ndarray) -> np.ndarray:
        adjusted = np.ones(log_sup.shape)
        adjusted[family] = adjust(np.maximum(p_of(log_sup[family]), SMALLEST_P), "holm")
        return adjusted

    def _note(self, p: np.ndarray, log_sup: np.ndarray, family: np.ndarray, equal: bool) -> None:
        """Note the pairs that are decided now and were not before."""
        before = {(d.first, d.second) for d in self.decisions if d.equal == equal}
        for i, j in np.argwhere((p <= self.terms.alpha) & family).tolist():
            if (i, j) not in before:
                after = int(min(self.runs[i], self.runs[j]))
                self.decisions.append(RaceDecision(after, i, j, equal, float(log_sup[i, j])))

    def _equal(self) -> np.ndarray:
        return np.minimum(self.equal_p, self.equal_p.T) <= self.terms.alpha

    def _open(self) -> np.ndarray:
        """Return the pairs of the question that are not decided."""
        worse = self.worse_p <= self.terms.alpha
        return self.pairs & ~worse & ~worse.T & ~self._equal()

    def answered(self) -> bool:
        """Return whether the question is answered."""
        if not self.terms.of_best:
            return not self._open().any()
        left = np.flatnonzero(self.left)
        equal = self._equal()[np.ix_(left, left)] | np.eye(len(left), dtype=bool)
        return len(left) <= 1 or bool(equal.all())

    def course(self) -> Course:
        """Return the course of the race so far."""
        if self.terms.of_best:
            self.worse_p = self._holm(self.worse_sup, self.pairs)
        return Course(
            against=_filled(self._against[: self.runs.max()]),
            runs=self.runs.copy(),
            left=self.left,
            worse=self._wealth.worse.copy(),
            worse_sup=self.worse_sup,
            equal_sup=self.equal_sup,
            worse_p=self.worse_p,
            equal_p=np.minimum(self.equal_p, self.equal_p.T),
            decisions=tuple(self.decisions),
            answered=self.answered(),
        )


def _filled(against: np.ndarray) -> np.ndarray:
    """Return the evidence, with gaps filled by that of the dataset before; at first it is 1."""
    padded = np.concatenate([np.zeros((1, against.shape[1])), against])
    rows = np.where(np.isnan(padded), 0, np.arange(len(padded))[:, None])
    return np.take_along_axis(padded, np.maximum.accumulate(rows, axis=0), axis=0)[1:]


def _differences(row: np.ndarray, size: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Return the differences of all ordered pairs; NaN if a strategy does not take part."""
    shown = np.where(present, row, np.nan)
    with np.errstate(invalid="ignore"):
        d = shown[:, None] - shown
    noise = RELATIVE_NOISE * np.maximum(size[:, None], size)
    tie = (np.abs(d) <= noise) | (np.isinf(shown[:, None]) & np.isinf(shown))
    return np.where(tie, 0.0, d)


class _Wealth:
    """Wealth of all bets of a race.

    Parameters
    ----------
    n : int
        Number of datasets.
    k : int
        Number of strategies.
    terms : RaceTerms
    span : float
    """

    def __init__(self, n: int, k: int, terms: RaceTerms, span: float) -> None:
        self.rope, self.span = terms.rope, span
        self.kind = KINDS[terms.kind]
        self.rivals = ~np.eye(k, dtype=bool)
        self.step = self.kind.steps(span, (n, k, k))
        self.logs, self.equal_logs = np.zeros((2, len(BETS), k, k))
        self.leader_logs = np.zeros((len(BETS), k))
        self.worse, self.equal, self.points = np.zeros((3, k, k))  # log evidence twice, and steps
        self._seen: list[tuple[np.ndarray, ...]] = []  # datasets of the source

    def see(self, d: np.ndarray, present: np.ndarray) -> None:
        """Take in the differences of the next dataset."""
        steps = self.step(np.nan_to_num(d, nan=0.0, posinf=np.inf, neginf=-np.inf))
        if not (far := np.abs(steps).max()) <= 1:
            raise AnalysisError(f"kind {self.kind.name!r} is no bet: it took a step of {far:g} > 1")
        self._seen.append((steps, self._inside(d) if self.rope else steps, present))

    def bet(self) -> np.ndarray:
        """Bet on the source that was seen; return which strategies took part."""
        all_steps, all_inside, taking_part = zip(*self._seen, strict=True)
        steps, present = np.mean(all_steps, axis=0), np.any(taking_part, axis=0)
        self._seen = []
        self._follow_leader(steps, np.flatnonzero(present))
        grow(self.logs, steps)
        self.worse = log_mean(self.logs)
        if self.rope:
            grow(self.equal_logs, np.mean(all_inside, axis=0))
            evidence = log_mean(self.equal_logs)
            self.equal = np.minimum(evidence, evidence.T)
        return np.asarray(present)

    def _follow_leader(self, steps: np.ndarray, at: np.ndarray) -> None:
        """Bet that the rival that led before this source beats each strategy; ties share it."""
        if len(at) > 1:
            lost = np.tile(self.points[np.ix_(at, at)].sum(axis=1), (len(at), 1))
            np.fill_diagonal(lost, np.inf)
            leads = lost <= lost.min(axis=1, keepdims=True) + RELATIVE_NOISE
            follows = np.zeros(len(steps))
            follows[at] = (steps[np.ix_(at, at)] * leads).sum(axis=1) / leads.sum(axis=1)
            grow(self.leader_logs, follows)
        self.points += steps

    def _inside(self, d: np.ndarray) -> np.ndarray:
        """Return the steps for practical equality, with ties in rounding inside the region."""
        rope, span = self.rope, self.span
        edge = rope * (1 + RELATIVE_NOISE)
        if self.kind.mean:  # against a mean difference of the rope or more
            inside = (rope - np.clip(d, -span, span)) / (span + rope)
        else:
            inside = np.where(np.abs(d) <= edge, 1.0, -1.0)
        return np.where(np.isnan(d), 0.0, inside)

    def against(self) -> np.ndarray:
        """Return the log evidence against each strategy being as good as all others.

        If the strategy is as good, then each wealth of a rival against it is a supermartingale, and
        so is their mean. Half of the capital bets on the leader only and needs no mean over rivals.
        """
        k = len(self.rivals)
        mean = log_mean(self.worse[self.rivals].reshape(k, k - 1), axis=1)
        return np.asarray(np.logaddexp(mean, log_mean(self.leader_logs)) - np.log(2))
