"""`VerdictTable`: the facts on each strategy, from which the texts of a decision are made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd

from mlaut.analysis.deciding.outlook import Outlook
from mlaut.analysis.deciding.terms import Chosen
from mlaut.analysis.deciding.verdicts import AVOID, OPEN, USE
from mlaut.analysis.methods.aggregates.best import RankProbabilities
from mlaut.analysis.scores.base import MLautScore

MOST_CHOSEN = 4  # names in a part of a sentence; of more, their number
NOTICED = 0.5  # seconds; nobody chooses by a shorter time
TREATED = {
    "failures last": "counting failures as last",
    "drop datasets": "on the {} complete datasets",
}  # treatments of missing cells, which are checks; a phrase for each, with the number of datasets
MARK = "*"  # of a verdict that depends on how missing results are treated
OFTEN = 0.1  # share of the datasets from which the failures of a strategy are a reason


class Way(NamedTuple):
    """Another way to ask the question: a phrase for it, and whether it treats missing cells."""

    words: str
    treats: bool = False

    @classmethod
    def treated(cls, treatment: str, n: int) -> "Way":
        """Return the way by a key of `TREATED`, which leaves n datasets."""
        return cls(TREATED[treatment].format(n), True)


RELATED = Way("taking datasets with related names as one source")


@dataclass(frozen=True)
class Check:
    """The question asked in another way.

    Attributes
    ----------
    how : Way
        The other test, treatment or metric.
    also, without : tuple of str
        ``also``: strategies that are to be avoided, but that this check does not show to be worse
        (for a control: to differ). ``without``: strategies that may be the best, but that this
        check shows to be worse. An undecided strategy is in neither.
    than : tuple of str
        Strategies to be avoided that a treatment of missing cells does not show to be worse than
        the leader, as the primary test does, but than others.
    faint : tuple of str
        Strategies to be avoided that fewer datasets do not show to be worse; that they are worse
        does not depend on a missing result, or so few datasets show nothing.
    """

    how: Way
    also: tuple[str, ...]
    without: tuple[str, ...]
    than: tuple[str, ...] = ()
    faint: tuple[str, ...] = ()


class Step(NamedTuple):
    """Record of what to do next and why, in sentences, and whether it may change the choice."""

    to_do: str
    why: str = ""
    of_choice: bool = False

    @property
    def text(self) -> str:
        """Both sentences."""
        return f"{self.to_do} {self.why}".rstrip()


class Alone(NamedTuple):
    """Record of what one of few datasets shows for itself, as a sentence and as cells of a row."""

    text: str
    cells: tuple[str, str, str, str]  # its name, what to use, what may be best too, what to avoid


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class VerdictTable:
    """Verdicts on strategies, with the facts behind them.

    Attributes
    ----------
    chosen : Chosen
        The analysis, when it was chosen, and what was changed later.
    scorer : MLautScore
        The metric.
    frame : DataFrame
        One row for each strategy, the best average rank first. ``verdict`` is a key of `VERDICTS`.
        ``average rank`` is followed by the mean of the metric in its own direction (not for errors
        in the units of each target). If ``first`` is one strategy, there are ``won``, ``tied``,
        ``lost`` and ``difference`` or ``ratio`` against it (`margins`). With a leader there is
        ``reason``: a sentence if these numbers seem to contradict the verdict, else empty.
        ``training seconds``, if known, is the mean over datasets of the seconds to tune and fit
        once. ``failures`` is the number of datasets on which a cell was run and failed,
        ``datasets`` the number with a result. With enough datasets there are ``P(best)``, and
        ``groups`` or ``ranks``. In ``groups``, strategies that share a letter are not shown to
        differ. With more than 12 strategies, ``ranks`` has the lowest and the highest rank that
        each can have.
    leader : str
        The strategy with the best average rank of those that may be the best; or the control.
        Empty where nothing is decided.
    first : tuple of str
        The leader, and those that have the same average rank and mean; where nothing is decided,
        the strategies that are first in this way among all.
    n_first : int
        Number of datasets (or sources) on which no strategy is better than ``first``.
    by_mean : tuple of str
        Strategies whose mean is shown to differ from the leader's by the t-test.
    n, n_sources, least : int
        Number of datasets; number of their sources, 0 if no sources are known; and the number of
        sources (or of datasets without sources) that a decision needs.
    n_pairs, n_shown : int
        Number of pairs that the question is about, and of those that are shown to differ.
    time_shares : mapping of str to float
        Training time of each other strategy divided by the leader's, on datasets on which both
        have a time; empty if none is known.
    bounds : mapping of str to float
        Upper bound, with probability ``1 - alpha``, of how much worse each strategy is than the
        best on average, in units of the metric; empty if means are not comparable.
    checks : tuple of Check
        The question asked by other tests, treatments of missing cells and metrics.
    copies : tuple of tuple of str
        Strategies with the same scores on every dataset, group by group.
    outlook : Outlook or None
        What more datasets would decide; None if nothing is open.
    chances : RankProbabilities or None
        Probabilities of the ranks.
    without, then : tuple of str, str
        The fewest datasets (or sources) without which another strategy has the best average rank,
        and this strategy. Empty if the leader does not have the best average rank, or if no other
        can have it.
    hint, related : str
        Sentences on datasets with the same rows or scores, and on those with related names,
        although no source says so.
    each : tuple of Alone
        What each of few datasets shows for itself.
    gaps : tuple of str
        Phrases on what was left out or filled in for cells without a result.
    cautions : tuple of Step
        What to do about unequal tuning, and fits that warned; the most important first.
    scenario : str
    """

    chosen: Chosen
    scorer: MLautScore
    frame: pd.DataFrame
    leader: str
    first: tuple[str, ...]
    n: int
    least: int
    n_sources: int = 0
    n_pairs: int = 0
    n_shown: int = 0
    n_first: int = 0
    by_mean: tuple[str, ...] = ()
    time_shares: Mapping[str, float] = field(default_factory=dict)
    bounds: Mapping[str, float] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()
    copies: tuple[tuple[str, ...], ...] = ()
    outlook: Outlook | None = None
    chances: RankProbabilities | None = None
    without: tuple[str, ...] = ()
    then: str = ""
    hint: str = ""
    related: str = ""
    each: tuple[Alone, ...] = ()
    gaps: tuple[str, ...] = ()
    cautions: tuple[Step, ...] = ()
    scenario: str = "(c)"

    @property
    def sets(self) -> pd.DataFrame | None:
        """Scores of the test sets of the only dataset; None for a decision on several datasets."""
        return None

    @property
    def metric(self) -> str:
        """Name of the metric."""
        return self.scorer.name

    @property
    def where(self) -> str:
        """Return what the answer is about."""
        return "On datasets like these"

    @property
    def alone(self) -> bool:
        """Return whether there is one score of each strategy, which shows an order and no more."""
        return False

    @property
    def decided(self) -> bool:
        """Return whether there are enough datasets to decide."""
        return (self.n_sources or self.n) >= self.least

    @property
    def control(self) -> bool:
        """Return whether the question is how strategies compare with a control."""
        return self.chosen.analysis.question.startswith("control")

    @property
    def complete(self) -> bool:
        """Return whether every strategy has a result on every dataset."""
        return bool((self.frame["datasets"] == self.n).all())

    @property
    def last(self) -> bool:
        """Return whether a failure counts as last place in the rank."""
        last = self.chosen.analysis.missing == "failures last" and self.sets is None
        return last and not self.complete

    @property
    def size(self) -> str:
        """Column of the distances from the leader: "ratio" or "difference"."""
        return "ratio" if "ratio" in self.frame else "difference"

    @property
    def distances(self) -> pd.Series:
        """Distances from the leader, where both have a result; NaN if not known."""
        return self.frame.get(self.size, self.frame["failures"] * np.nan)

    @property
    def losses(self) -> pd.Series:
        """How much worse than the leader each strategy is; for ratios, the logarithm."""
        size = np.log(self.distances) if self.size == "ratio" else self.distances
        return -size if self.scorer.greater_is_better else size

    def chance(self, names: Sequence[str]) -> float:
        """Return the probability that one of these is the best; NaN where it is not known."""
        known = self.frame.get("P(best)", self.frame["failures"] * np.nan)
        return float(known[list(names)].sum(skipna=False))

    @property
    def slow(self) -> bool:
        """Return whether a strategy takes so long to train that the table has a column of times."""
        seconds = self.frame.get("training seconds", 0 * self.frame["datasets"])
        return bool((seconds >= NOTICED).any())

    @property
    def doubt(self) -> str:
        """Return what speaks against the leader; empty if nothing does.

        One dataset (or source) less makes a strategy lead that is not among the best, or another
        analysis, such as that of datasets with related names as one source, has a better one.
        """
        if len(self.without) == 1 and self.then not in self.best:
            return f"Without {self.without[0]} {self.then} leads"
        worse = any(self.leader in check.without for check in self.checks)
        return f"Another analysis shows {self.leader} to be worse" * worse

    @property
    def provisional(self) -> bool:
        """Return whether there is something to do before the choice, since it may change it."""
        return bool(self.decided and self.leader) and any(x.of_choice for x in self.cautions)

    @property
    def fragile(self) -> tuple[str, ...]:
        """Strategies to be avoided that another treatment of missing results does not show so."""
        found = [check for check in self.checks if check.how.treats]
        lacking = {name for check in found for name in (*check.also, *check.than)}
        return tuple(name for name in self.named(AVOID) if name in lacking)

    def copies_of(self, name: str) -> tuple[str, ...]:
        """Return the strategies with the same scores as the named one, which is included."""
        return next((group for group in self.copies if name in group), (name,))

    def named(self, verdict: str) -> tuple[str, ...]:
        """Return the strategies with a verdict, the best average rank first."""
        return tuple(map(str, self.frame.index[self.frame["verdict"] == verdict]))

    @property
    def ahead(self) -> tuple[str, ...]:
        """The leader with its copies, and those that are first with it."""
        return tuple(dict.fromkeys(x for name in self.first for x in self.copies_of(name)))

    @property
    def best(self) -> tuple[str, ...]:
        """Strategies that may be the best, with the leader first."""
        if self.control or not self.leader:
            return ()
        near = {*self.named(USE), *self.named(OPEN)} - {*self.ahead}
        return (*self.ahead, *(name for name in map(str, self.frame.index) if name in near))
