"""The course of a race: who is dropped after which dataset, as a function of the losses in order.

The decisions after a dataset depend on the losses of it and of earlier datasets alone. So a race
that was interrupted, or is followed again from the stored losses, decides the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from mlaut.analysis.common.numerics import RELATIVE_NOISE
from mlaut.analysis.common.result_types import SMALLEST_P
from mlaut.analysis.pairwise.corrections import adjust
from mlaut.analysis.racing.evidence import BETS, Steps, grow, log_mean, p_of

__all__ = ["Course", "Decision", "Terms", "follow"]

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
    """

    question: Question = "best"
    control: int = 0
    kind: str = "sign"
    alpha: float = 0.05
    rope: float = 0.0
    span: float = np.inf
    drop: bool = True


@dataclass(frozen=True)
class Decision:
    """Decision of a race.

    Attributes
    ----------
    after : int
        Number of datasets.
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
    left: np.ndarray
    worse: np.ndarray
    worse_sup: np.ndarray
    equal_sup: np.ndarray
    worse_p: np.ndarray
    equal_p: np.ndarray
    decisions: tuple[Decision, ...]
    answered: bool


def follow(losses: np.ndarray, scale: np.ndarray, terms: Terms) -> Course:
    """Follow a race over the datasets in their order.

    Parameters
    ----------
    losses : ndarray, shape (N, K)
        One loss for each dataset and strategy. NaN is a cell that was not run yet: the race stands
        before the first dataset on which a strategy that still races has one. Infinity is a
        failure, which is worse than any loss.
    scale : ndarray, shape (N, K)
        Size of the numbers behind each loss; smaller differences than their noise are ties.
    terms : Terms

    Examples
    --------
    >>> losses = np.tile([0.1, 0.2, 0.3], (12, 1))
    >>> course = follow(losses, losses, Terms())
    >>> course.runs.tolist(), course.left.tolist(), course.answered
    ([8, 8, 7], [True, False, False], True)
    """
    track = _Track(losses.shape, terms)
    for row, size in zip(losses, scale, strict=True):
        if np.isnan(row[track.racing]).any() or (terms.drop and track.answered()):
            break
        track.see(_differences(row, size, track.racing))
    return track.course()


def _differences(row: np.ndarray, size: np.ndarray, racing: np.ndarray) -> np.ndarray:
    """Return the differences of all ordered pairs; NaN where one is out of the race."""
    shown = np.where(racing, row, np.nan)
    with np.errstate(invalid="ignore"):
        d = shown[:, None] - shown
    noise = RELATIVE_NOISE * np.maximum(size[:, None], size)
    tie = (np.abs(d) <= noise) | (np.isinf(shown[:, None]) & np.isinf(shown))
    return np.where(tie, 0.0, d)


@dataclass
class _Track:
    """Evidence of a race that goes on."""

    shape: tuple[int, int]
    terms: Terms
    against: list[np.ndarray] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)

    def __post_init__(self) -> None:
        n, k = self.shape
        self.steps = Steps(self.terms.kind, self.terms.span, (n, k, k))
        self.left: np.ndarray = np.ones(k, dtype=bool)
        self.racing = self.left
        self.runs = np.zeros(k, dtype=int)
        self.logs, self.equal_logs = np.zeros((2, len(BETS), k, k))
        self.leader_logs = np.zeros((len(BETS), k))
        self.worse, self.worse_sup, self.equal_sup, self.points = np.zeros((4, k, k))
        self.worse_p, self.equal_p = np.ones((2, k, k))
        self.pairs = self._pairs_of_question()

    def _pairs_of_question(self) -> np.ndarray:
        """Return which ordered pairs the question is about."""
        k = self.shape[1]
        pairs = ~np.eye(k, dtype=bool)
        if self.terms.question == "control":
            rest = np.arange(k) != self.terms.control
            pairs[np.ix_(rest, rest)] = False
        return pairs

    def see(self, d: np.ndarray) -> None:
        """Take in the differences of the next dataset, and decide."""
        self.runs += self.racing
        steps = self.steps.of(np.nan_to_num(d, nan=0.0, posinf=np.inf, neginf=-np.inf))
        self._follow_leader(steps)
        grow(self.logs, steps)
        self.worse = log_mean(self.logs)
        self.worse_sup = np.maximum(self.worse_sup, self.worse)
        if self.terms.rope:
            self._compare_equal(d)
        self.against.append(self._against())
        self._decide()

    def _follow_leader(self, steps: np.ndarray) -> None:
        """Bet that the rival which led before this dataset beats each strategy; evenly if tied."""
        at = np.flatnonzero(self.racing)
        if len(at) > 1:
            lost = np.tile(self.points[np.ix_(at, at)].sum(axis=1), (len(at), 1))
            np.fill_diagonal(lost, np.inf)
            leads = lost <= lost.min(axis=1, keepdims=True) + RELATIVE_NOISE
            follows = np.zeros(self.shape[1])
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
        self.equal_sup = np.maximum(self.equal_sup, np.minimum(evidence, evidence.T))

    def _against(self) -> np.ndarray:
        """Return the log evidence against each strategy being as good as all others.

        If it is, then each of its wealths against a rival is a supermartingale, and so is their
        mean. Half of the capital follows the leader instead, which needs no mean over rivals.
        """
        k = self.shape[1]
        rivals = self.worse[~np.eye(k, dtype=bool)].reshape(k, k - 1)
        leader = log_mean(self.leader_logs)
        return np.asarray(np.logaddexp(log_mean(rivals, axis=1), leader) - np.log(2))

    def _decide(self) -> None:
        after = len(self.against)
        if self.terms.question == "best":
            evidence = self.against[-1]
            out = self.left & (evidence >= -np.log(self.terms.alpha))
            rival = np.argmax(np.where(self.pairs, self.worse, -np.inf), axis=1)
            self.decisions += [
                Decision(after, i, int(rival[i]), False, float(evidence[i]))
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
        if self.terms.drop:
            self.racing = self.left

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
                found = Decision(len(self.against), i, j, equal, float(log_sup[i, j]))
                self.decisions.append(found)

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
        """Return what happened."""
        k = self.shape[1]
        if self.terms.question == "best":
            self.worse_p = self._holm(self.worse_sup, self.pairs)
        return Course(
            against=np.reshape(self.against, (-1, k)),
            runs=self.runs,
            left=self.left,
            worse=self.worse,
            worse_sup=self.worse_sup,
            equal_sup=self.equal_sup,
            worse_p=self.worse_p,
            equal_p=np.minimum(self.equal_p, self.equal_p.T),
            decisions=tuple(self.decisions),
            answered=self.answered(),
        )
