"""Limits of the searches in the cells of a study."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from mlaut.estimators import MlautEstimator
from mlaut.plugins import CPU_WAITS, cpu_seconds, parse_budget


class TuningBudget:
    """Time budget of a search, in CPU seconds, so that a busy machine does not shorten it.

    A search that waits (for an accelerator, for a service) uses few CPU seconds. So it also ends
    after ten times the seconds of wall time, measured by a monotonic clock.

    Parameters
    ----------
    seconds : float
        CPU seconds of all threads together.
    cpu, clock : callable, optional
        Functions that return the CPU seconds and the wall seconds; default `cpu_seconds` and
        `time.monotonic`.

    Examples
    --------
    >>> TuningBudget(3600).over()
    False
    """

    def __init__(
        self,
        seconds: float,
        cpu: Callable[[], float] = cpu_seconds,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limits = [(cpu, cpu() + seconds), (clock, clock() + CPU_WAITS * seconds)]

    def over(self) -> bool:
        """Return whether the budget is used up."""
        return any(now() >= end for now, end in self._limits)


def told_limits(strategies: Sequence[MlautEstimator], timeout: Any) -> str:
    """Return a sentence on the strategies whose search has a time limit; empty without any."""
    timed = ", ".join(strategy.name for strategy in strategies if _is_timed(strategy, timeout))
    sentence = (
        "the time limit of a search ends neither a fit under way (forests, bagging and gradient "
        "boosting that share work stop between two trees) nor the final fit, as timeout does: "
    )
    return sentence + timed if timed else ""


def _is_timed(strategy: MlautEstimator, timeout: Any) -> bool:
    """Return whether a time limits the search of a strategy, or of one inside it."""
    parts = [strategy, *strategy.get_params(deep=True).values()]
    tuned = [part for part in parts if isinstance(part, MlautEstimator) and part.tunes_by()]
    units = {budget.unit for part in tuned if (budget := parse_budget(part.budget))}
    return bool((tuned and timeout) or units & {"cpu", "wall"})
