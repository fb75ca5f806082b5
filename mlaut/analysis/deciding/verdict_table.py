"""`VerdictTable`: what is known of each strategy, from which the words of a decision are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from mlaut.analysis.deciding.outlook import Outlook
from mlaut.analysis.deciding.terms import Chosen
from mlaut.analysis.deciding.verdicts import BEST, OPEN
from mlaut.analysis.methods.aggregates.best import RankProbabilities
from mlaut.analysis.scores.base import MLautScore


@dataclass(frozen=True)
class Check:
    """The question asked in another way.

    Attributes
    ----------
    how : str
        The other test, treatment or metric.
    also, without : tuple of str
        Strategies that the answer has more, and those that it lacks: of those that no other is
        shown to beat, or for a control of those that are shown to differ from it.
    leads : bool
        Whether the strategy that leads the decision is in the answer.
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
        """Return whether the answer has the same strategies."""
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
        One row a strategy, the best average rank first: ``average rank``; the mean of the metric
        in its own direction (not for errors in the units of each target); where there is a
        leader, ``won``, ``lost`` and ``difference`` or ``ratio`` against it (`margins`);
        ``P(best)``, ``groups`` or ``ranks``, and ``verdict`` (not with too few datasets);
        ``training seconds``, where known; ``failures``, the number of datasets on which a cell was
        run and failed; and ``datasets``, the number with a result. In ``groups``, strategies that
        share a letter are not shown to differ. Above 12 strategies, ``ranks`` has the lowest and
        the highest rank that each can have.
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

    def named(self, verdict: str) -> tuple[str, ...]:
        """Return the strategies with a verdict, the best average rank first."""
        if "verdict" not in self.frame:
            return ()
        return tuple(map(str, self.frame.index[self.frame["verdict"] == verdict]))

    @property
    def best(self) -> tuple[str, ...]:
        """Strategies that may be the best, the leader first: the top set."""
        return (*self.named(BEST), *self.named(OPEN))
