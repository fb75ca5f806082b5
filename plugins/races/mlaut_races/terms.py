"""Terms of a race."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

RACE_RULE = 1
"""Rule by which races decide; raise it with each change of a bet, a step or a decision."""


@dataclass(frozen=True, kw_only=True)
class RaceTerms:
    """Terms of a race: the section ``[race]``, which a study stores before its first result.

    Attributes
    ----------
    question : str, default "best"
        ``"best"``, ``"all best"``, ``"control: NAME"`` or ``"all pairs"``.
    kind : str, default "sign"
        ``"sign"``, ``"signed rank"`` or ``"mean"``; see `mlaut.analysis.race`.
    alpha : float, default 0.05
    rope : float, default 0
        Half width of the region of practical equivalence, in units of the metric; 0 is no region.
    metric : str
        Default: accuracy for classification, R2 for regression.
    failures : str, default "last"
        Treatment of failures; ``"last"``: a failure is worse than any loss.
    ahead : int, default 1
        Number of rounds that may begin before a round has ended, so that no worker waits.
    ahead_cells : int, default 0
        A round may also begin while at most this number of cells of earlier rounds is open. About
        twice the number of workers keeps all of them busy if few strategies are left.
    seed : int, default 0
        Seed with which the order of the datasets is drawn.
    rule : int
        Version of the rule that decides.
    max_cost : str
        Time of all cells together, for example ``"20 h"``, after which no round begins. It is not
        sealed: it may be changed at any time.
    """

    question: str = "best"
    kind: str = "sign"
    alpha: float = 0.05
    rope: float = 0.0
    metric: str = ""
    failures: str = "last"
    ahead: int = 1
    ahead_cells: int = 0
    seed: int = 0
    rule: int = RACE_RULE
    max_cost: str = ""

    def sealed(self) -> dict[str, Any]:
        """Return the terms that no run may change."""
        return {k: v for k, v in vars(self).items() if k != "max_cost"}

    @property
    def of_best(self) -> bool:
        """Return whether the race is about the best, and not about pairs."""
        return self.question in ("best", "all best")
