"""`VerdictTable`: what is known of each strategy, from which the words of a decision are made."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from mlaut.analysis.deciding.outlook import Outlook
from mlaut.analysis.deciding.terms import Chosen
from mlaut.analysis.deciding.verdicts import OPEN, USE
from mlaut.analysis.methods.aggregates.best import RankProbabilities
from mlaut.analysis.scores.base import MLautScore

MOST_CHOSEN = 4  # strategies of which one is advised; of more, there is no single choice
NOTICED = 0.5  # seconds; nobody chooses by a shorter time
OFTEN = 0.1  # share of the datasets from which the failures of a strategy are a reason


@dataclass(frozen=True)
class Check:
    """The question asked in another way.

    Attributes
    ----------
    how : str
        The other test, treatment or metric.
    also, without : tuple of str
        Strategies that are to be avoided, which it does not show to be worse (for a control, those
        that it does not show to differ); and those that may be the best, which it shows to be
        worse. An undecided strategy is in neither.
    leads : bool
        Whether it shows no strategy to be better than the leader.
    control : bool, default False
        Whether the question is which strategies differ from a control.
    """

    how: str
    also: tuple[str, ...]
    without: tuple[str, ...]
    leads: bool
    control: bool = False

    @property
    def same(self) -> bool:
        """Return whether it contradicts no verdict."""
        return not self.also and not self.without


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class VerdictTable:
    """Verdicts on strategies, and what is known of them.

    Attributes
    ----------
    chosen : Chosen
        The analysis, when it was chosen, and what was changed later.
    scorer : MLautScore
        The metric.
    frame : DataFrame
        One row a strategy, the best average rank first: ``verdict``, a key of `VERDICTS`;
        ``average rank``; the mean of the metric in its own direction (not for errors in the units
        of each target); where there is a leader, ``won``, ``tied``, ``lost`` and ``difference`` or
        ``ratio`` against it (`margins`), and ``reason``, a sentence where these numbers seem to
        contradict the verdict, else empty; ``training seconds``, where known, the mean over
        datasets of the seconds to tune and fit once; ``failures``, the number of datasets on which
        a cell was run and failed; ``datasets``, the number with a result; and ``P(best)``,
        ``groups`` or ``ranks`` (not with too few datasets). In ``groups``, strategies that share a
        letter are not shown to differ. Above 12 strategies, ``ranks`` has the lowest and the
        highest rank that each can have.
    leader : str
        Strategy that leads: the best average rank of those that may be the best; or the control.
        Empty where nothing is decided.
    n, n_sources, least : int
        Number of datasets; of sources, where datasets have them, else 0; and the number of sources
        (or else of datasets) that a decision needs.
    n_pairs, n_shown : int
        Number of pairs that the question is about, and of those that are shown to differ.
    time_shares : mapping of str to float
        Training time of each other strategy divided by the leader's, on datasets on which both
        have a time; empty if none is known.
    bounds : mapping of str to float
        How much worse than the best strategy each one is at most on average, in units of the
        metric, with probability ``1 - alpha``; empty where means do not compare.
    checks : tuple of Check
        The question asked by other tests, treatments of missing cells and metrics.
    copies : tuple of tuple of str
        Strategies with the same scores on every dataset, group by group.
    outlook : Outlook or None
        What more datasets would tell; None where nothing is open.
    chances : RankProbabilities or None
        Probabilities of the ranks.
    without, then : tuple of str, str
        The fewest datasets (or sources) without which another strategy has the best average rank,
        and this strategy; empty where the leader has not the best one, or none could.
    hint : str
        Sentence on datasets that look related, by their names or scores, and are not known as such.
    gaps : tuple of str
        Phrases on what was left out or filled in for cells without a result.
    scenario : str
    """

    chosen: Chosen
    scorer: MLautScore
    frame: pd.DataFrame
    leader: str
    n: int
    least: int
    n_sources: int = 0
    n_pairs: int = 0
    n_shown: int = 0
    time_shares: Mapping[str, float] = field(default_factory=dict)
    bounds: Mapping[str, float] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()
    copies: tuple[tuple[str, ...], ...] = ()
    outlook: Outlook | None = None
    chances: RankProbabilities | None = None
    without: tuple[str, ...] = ()
    then: str = ""
    hint: str = ""
    gaps: tuple[str, ...] = ()
    scenario: str = "(c)"

    @property
    def metric(self) -> str:
        """Name of the metric."""
        return self.scorer.name

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
    def slow(self) -> bool:
        """Return whether a strategy takes so long to train that times are worth a column."""
        return bool(
            (self.frame.get("training seconds", 0 * self.frame["datasets"]) >= NOTICED).any()
        )

    @property
    def agreed(self) -> bool:
        """Return whether one strategy is the best on every dataset."""
        return bool((self.frame["average rank"] == 1).any())

    @property
    def firm(self) -> bool:
        """Return whether nothing speaks against the leader.

        Other analyses have it among the best, half of them or more have the same answer, and no
        single dataset (or source) makes one lead that is not among the best.
        """
        same = sum(check.same for check in self.checks)
        turned = len(self.without) == 1 and self.then not in self.best
        agree = all(check.leads for check in self.checks) and 2 * same >= len(self.checks)
        return agree and not turned

    def copies_of(self, name: str) -> tuple[str, ...]:
        """Return the strategies with the same scores as one, itself among them."""
        return next((group for group in self.copies if name in group), (name,))

    def named(self, verdict: str) -> tuple[str, ...]:
        """Return the strategies with a verdict, the best average rank first."""
        return tuple(map(str, self.frame.index[self.frame["verdict"] == verdict]))

    @property
    def best(self) -> tuple[str, ...]:
        """Strategies that may be the best, the leader first: the top set."""
        return () if self.control else (*self.named(USE), *self.named(OPEN))
