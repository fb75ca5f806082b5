"""The course of a race: who is dropped after which dataset, as a function of the losses in order.

The decisions after a round depend on the losses of it and of earlier rounds alone. So a race that
was interrupted, or is followed again from the stored losses, decides the same.

Strategies may lag: one with lag 20 is run on a dataset while the others are run on 20. Each lag has
an evidence of its own, that of a race among the strategies whose lag is at most that large, all of
which have been run on the datasets that it uses. It grows dataset by dataset, and who takes part in
a dataset depends on earlier datasets alone, so it is valid at all datasets at once, whenever they
are run. Each evidence against a strategy has the same part of alpha; that of the largest lag is the
only one against a strategy of that lag. Evidence of a pair uses the datasets that both have, and
needs no such correction: it is the same number whenever it is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mlaut.analysis.common.numerics import RELATIVE_NOISE
from mlaut.analysis.common.result_types import SMALLEST_P
from mlaut.analysis.pairwise.corrections import adjust
from mlaut.analysis.racing.evidence import BETS, Steps, grow, log_mean, p_of

__all__ = ["Course", "Decision", "Following", "Round", "Terms", "follow", "rounds_of"]

Question = Literal["best", "control", "all pairs"]


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Terms of a race, which are fixed before its first dataset.

    Attributes
    ----------
    question : {"best", "control", "all pairs"}
    control : int
        Position of the control.
    kind : {"sign", "signed rank", "mean"}
    alpha : float
    rope : float
        Half width of the region of practical equivalence; 0 for none.
    span : float
        Width of the range of the loss; infinite if it has no ends.
    drop : bool
        Whether strategies leave the race, and the race ends when the question is answered.
    lag : tuple of int
        By strategy, the number of datasets on which those without a lag are run while it is run on
        one; empty if none lags.
    """

    question: Question = "best"
    control: int = 0
    kind: str = "sign"
    alpha: float = 0.05
    rope: float = 0.0
    span: float = np.inf
    drop: bool = True
    lag: tuple[int, ...] = ()


@dataclass(frozen=True)
class Round:
    """Round of a race: the strategies of one lag are run on one dataset.

    Attributes
    ----------
    dataset : int
    lag : int
    """

    dataset: int
    lag: int


def rounds_of(lags: Sequence[int], batches: Sequence[int]) -> list[Round]:
    """Return the rounds of a race in their order.

    Parameters
    ----------
    lags : sequence of int
        Lags of the strategies.
    batches : sequence of int
        Numbers of datasets: all rounds of a batch come before those of the next one.

    Examples
    --------
    >>> [(one.dataset, one.lag) for one in rounds_of([1, 1, 2], [3])]
    [(0, 1), (0, 2), (1, 1), (2, 1), (1, 2), (2, 2)]
    """
    found, first = [], 0
    for n in batches:
        places = [(lag * place, lag, place) for lag in set(lags) for place in range(n)]
        found += [Round(first + place, lag) for _, lag, place in sorted(places)]
        first += n
    return found


@dataclass(frozen=True)
class Decision:
    """Decision of a race.

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
    """Course of a race over its first rounds, which use T datasets.

    Attributes
    ----------
    against : ndarray, shape (T, K)
        Log evidence after each dataset against each strategy being as good as all others.
    runs : ndarray of int, shape (K,)
        Number of datasets on which each strategy was run.
    rounds : int
        Number of rounds.
    left : ndarray of bool, shape (K,)
        Whether each strategy may still be the best; for other questions, whether a pair with it is
        undecided.
    worse, worse_sup : ndarray, shape (K, K)
        Log evidence that the row is worse than the column: now, and its largest so far.
    equal_sup : ndarray, shape (K, K)
        Largest log evidence so far that row and column are practically equal.
    worse_p, equal_p : ndarray, shape (K, K)
        Anytime-valid p-values after Holm's correction; 1 for pairs that the question leaves out.
    decisions : tuple of Decision
    answered : bool
        Whether the question is answered.
    """

    against: np.ndarray
    runs: np.ndarray
    rounds: int
    left: np.ndarray
    worse: np.ndarray
    worse_sup: np.ndarray
    equal_sup: np.ndarray
    worse_p: np.ndarray
    equal_p: np.ndarray
    decisions: tuple[Decision, ...]
    answered: bool


def follow(
    losses: np.ndarray, scale: np.ndarray, terms: Terms, rounds: Sequence[Round] | None = None
) -> Course:
    """Follow a race over its rounds.

    Parameters
    ----------
    losses : ndarray, shape (N, K)
        One loss for each dataset and strategy. NaN is a cell that was not run yet: the race stands
        before the first round in which a strategy that still races has one. Infinity is a failure,
        which is worse than any loss.
    scale : ndarray, shape (N, K)
        Size of the numbers behind each loss; smaller differences than their noise are ties.
    terms : Terms
    rounds : sequence of Round, optional
        Default those of `rounds_of` for one batch.

    Examples
    --------
    >>> losses = np.tile([0.1, 0.2, 0.3], (12, 1))
    >>> course = follow(losses, losses, Terms())
    >>> course.runs.tolist(), course.left.tolist(), course.answered
    ([8, 8, 7], [True, False, False], True)
    """
    n, k = losses.shape
    race = Following(k, n, terms)
    for one in rounds_of(race.lags.tolist(), [n]) if rounds is None else rounds:
        if not race.take(one, losses[one.dataset], scale[one.dataset]):
            break
    return race.course()


class Following:
    """Race that is followed round by round.

    Parameters
    ----------
    k : int
        Number of strategies.
    n : int
        Number of datasets.
    terms : Terms
    """

    def __init__(self, k: int, n: int, terms: Terms) -> None:
        self.terms = terms
        self.lags = np.array(terms.lag or (1,) * k)
        self.left: np.ndarray = np.ones(k, dtype=bool)
        self.racing = self.left
        self.runs = np.zeros(k, dtype=int)
        self.rounds = 0
        self.decisions: list[Decision] = []
        self.worse, self.worse_sup, self.equal_sup = np.zeros((3, k, k))
        self.worse_p, self.equal_p = np.ones((2, k, k))
        self.pairs = self._pairs_of_question()
        self._against = np.full((n, k), np.nan)
        slower = np.maximum(self.lags[:, None], self.lags)
        self._levels = {
            lag: _Level(self.lags <= lag, slower == lag, n, terms)
            for lag in np.unique(self.lags).tolist()
        }
        more = [level.members for level in self._levels.values() if level.members.sum() > 1]
        self._n_evidences = np.maximum(np.sum(more, axis=0), 1)  # by strategy

    def _pairs_of_question(self) -> np.ndarray:
        """Return which ordered pairs the question is about."""
        k = len(self.lags)
        pairs = ~np.eye(k, dtype=bool)
        if self.terms.question == "control":
            rest = np.arange(k) != self.terms.control
            pairs[np.ix_(rest, rest)] = False
        return pairs

    def take(self, one: Round, losses: np.ndarray, scale: np.ndarray) -> bool:
        """Take in the next round; return False, and change nothing, where the race stands.

        Parameters
        ----------
        one : Round
        losses, scale : ndarray, shape (K,)
            Losses of the dataset and their sizes, as for `follow`. Strategies of a larger lag, and
            those that left before this dataset, are not looked at.
        """
        turn = self.racing & (self.lags == one.lag)
        if np.isnan(losses[turn]).any() or (self.terms.drop and self.answered()):
            return False
        self.rounds += 1
        if turn.any():
            self.runs[turn] += 1
            level = self._levels[one.lag]
            present = level.members & (self.runs > one.dataset)
            level.see(_differences(losses, scale, present), present)
            self._gather(level, one.dataset, present)
            self._decide(level, one.dataset)
        if self.terms.drop:
            self.racing = self.left
        return True

    def copy(self) -> Following:
        """Return a race that stands where this one stands."""
        return deepcopy(self, {id(self.terms): self.terms})

    def _gather(self, level: _Level, dataset: int, present: np.ndarray) -> None:
        """Gather the evidence of a level that has seen one more dataset."""
        here = level.pairs
        self.worse[here] = level.worse[here]
        self.worse_sup = np.maximum(self.worse_sup, np.where(here, level.worse, 0.0))
        self.equal_sup = np.maximum(self.equal_sup, np.where(here, level.equal, 0.0))
        seen = np.where(present, level.against() - np.log(self._n_evidences), np.nan)
        self._against[dataset] = np.fmax(self._against[dataset], seen)

    def _decide(self, level: _Level, dataset: int) -> None:
        if self.terms.question == "best":
            evidence = self._against[dataset]
            out = self.left & (evidence >= -np.log(self.terms.alpha))
            rivals = np.where(level.rivals, level.worse, -np.inf)
            self.decisions += [
                Decision(dataset + 1, i, int(rivals[i].argmax()), False, float(evidence[i]))
                for i in np.flatnonzero(out).tolist()
            ]
            self.left = self.left & ~out
        else:
            self.worse_p = self._holm(self.worse_sup, self.pairs)
            self._note(self.worse_p, self.worse_sup, self.pairs, equal=False)
        if self.terms.rope:
            upper = np.triu(self.pairs)
            self.equal_p = self._holm(self.equal_sup, upper)
            self._note(self.equal_p, self.equal_sup, upper, equal=True)
        if self.terms.question != "best":
            self.left = np.asarray(self._open().any(axis=1))

    def _holm(self, log_sup: np.ndarray, family: np.ndarray) -> np.ndarray:
        adjusted = np.ones(log_sup.shape)
        p = np.maximum(p_of(log_sup[family]), SMALLEST_P)
        adjusted[family] = adjust(p, "holm")
        return adjusted

    def _note(self, p: np.ndarray, log_sup: np.ndarray, family: np.ndarray, equal: bool) -> None:
        """Note the pairs that are decided now and were not before."""
        before = {(d.first, d.second) for d in self.decisions if d.equal == equal}
        for i, j in np.argwhere((p <= self.terms.alpha) & family).tolist():
            if (i, j) not in before:
                after = int(min(self.runs[i], self.runs[j]))
                self.decisions.append(Decision(after, i, j, equal, float(log_sup[i, j])))

    def _equal(self) -> np.ndarray:
        return np.minimum(self.equal_p, self.equal_p.T) <= self.terms.alpha

    def _open(self) -> np.ndarray:
        """Return the pairs of the question that are not decided."""
        worse = self.worse_p <= self.terms.alpha
        return self.pairs & ~worse & ~worse.T & ~self._equal()

    def answered(self) -> bool:
        """Return whether the question is answered."""
        if self.terms.question != "best":
            return not self._open().any()
        left = np.flatnonzero(self.left)
        equal = self._equal()[np.ix_(left, left)] | np.eye(len(left), dtype=bool)
        return len(left) <= 1 or bool(equal.all())

    def course(self) -> Course:
        """Return what happened so far."""
        if self.terms.question == "best":
            self.worse_p = self._holm(self.worse_sup, self.pairs)
        return Course(
            against=_filled(self._against[: self.runs.max()]),
            runs=self.runs.copy(),
            rounds=self.rounds,
            left=self.left,
            worse=self.worse.copy(),
            worse_sup=self.worse_sup,
            equal_sup=self.equal_sup,
            worse_p=self.worse_p,
            equal_p=np.minimum(self.equal_p, self.equal_p.T),
            decisions=tuple(self.decisions),
            answered=self.answered(),
        )


def _filled(against: np.ndarray) -> np.ndarray:
    """Return the evidence with that of the dataset before where there is none; at first it is 1."""
    found = np.concatenate([np.zeros((1, against.shape[1])), against])
    rows = np.where(np.isnan(found), 0, np.arange(len(found))[:, None])
    return np.take_along_axis(found, np.maximum.accumulate(rows, axis=0), axis=0)[1:]


def _differences(row: np.ndarray, size: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Return the differences of all ordered pairs; NaN where one does not take part."""
    shown = np.where(present, row, np.nan)
    with np.errstate(invalid="ignore"):
        d = shown[:, None] - shown
    noise = RELATIVE_NOISE * np.maximum(size[:, None], size)
    tie = (np.abs(d) <= noise) | (np.isinf(shown[:, None]) & np.isinf(shown))
    return np.where(tie, 0.0, d)


class _Level:
    """Evidence of a race among the strategies whose lag is at most that of the level.

    Parameters
    ----------
    members : ndarray of bool, shape (K,)
    pairs : ndarray of bool, shape (K, K)
        Pairs that no level of a smaller lag has.
    n : int
        Number of datasets.
    terms : Terms
    """

    def __init__(self, members: np.ndarray, pairs: np.ndarray, n: int, terms: Terms) -> None:
        k = len(members)
        self.members, self.pairs, self.terms = members, pairs, terms
        self.rivals = members[:, None] & members & ~np.eye(k, dtype=bool)
        self.steps = Steps(terms.kind, terms.span, (n, k, k))
        self.logs, self.equal_logs = np.zeros((2, len(BETS), k, k))
        self.leader_logs = np.zeros((len(BETS), k))
        self.worse, self.equal, self.points = np.zeros((3, k, k))

    def see(self, d: np.ndarray, present: np.ndarray) -> None:
        """Take in the differences of the next dataset."""
        steps = self.steps.of(np.nan_to_num(d, nan=0.0, posinf=np.inf, neginf=-np.inf))
        self._follow_leader(steps, np.flatnonzero(present))
        grow(self.logs, steps)
        self.worse = log_mean(self.logs)
        if self.terms.rope:
            self._compare_equal(d)

    def _follow_leader(self, steps: np.ndarray, at: np.ndarray) -> None:
        """Bet that the rival which led before this dataset beats each strategy; evenly if tied."""
        if len(at) > 1:
            lost = np.tile(self.points[np.ix_(at, at)].sum(axis=1), (len(at), 1))
            np.fill_diagonal(lost, np.inf)
            leads = lost <= lost.min(axis=1, keepdims=True) + RELATIVE_NOISE
            follows = np.zeros(len(self.members))
            follows[at] = (steps[np.ix_(at, at)] * leads).sum(axis=1) / leads.sum(axis=1)
            grow(self.leader_logs, follows)
        self.points += steps

    def _compare_equal(self, d: np.ndarray) -> None:
        """Gather the evidence for practical equality, with ties in rounding inside the region."""
        rope, span = self.terms.rope, self.terms.span
        edge = rope * (1 + RELATIVE_NOISE)
        if self.terms.kind == "mean":  # against a mean difference of the rope or more
            inside = (rope - np.clip(d, -span, span)) / (span + rope)
        else:
            inside = np.where(np.abs(d) <= edge, 1.0, -1.0)
        grow(self.equal_logs, np.where(np.isnan(d), 0.0, inside))
        evidence = log_mean(self.equal_logs)
        self.equal = np.minimum(evidence, evidence.T)

    def against(self) -> np.ndarray:
        """Return the log evidence against each strategy being as good as all other members.

        If it is, then each of its wealths against a rival is a supermartingale, and so is their
        mean. Half of the capital follows the leader instead, which needs no mean over rivals.
        """
        k, found = self.members.sum(), log_mean(self.leader_logs)
        if k > 1:
            mean = log_mean(self.worse[self.rivals].reshape(k, k - 1), axis=1)
            found[self.members] = np.logaddexp(mean, found[self.members]) - np.log(2)
        return found
