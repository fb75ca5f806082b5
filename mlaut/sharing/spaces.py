"""Ranges of parameters for searches that draw their candidates."""

import math
from dataclasses import dataclass
from typing import Any

from sklearn.utils import check_random_state

from mlaut.errors import StrategyError


@dataclass(frozen=True)
class Floats:
    """Range of floats; draws are uniform on its scale.

    Attributes
    ----------
    low, high : float
        Ends of the range; both may be drawn.
    log : bool, default False
        Whether the logarithm is drawn evenly. ``low`` must then be positive.

    Raises
    ------
    StrategyError
        The range is empty, infinite, or has no logarithm.

    Examples
    --------
    >>> round(Floats(0.01, 1, log=True).ppf(0.5), 12)
    0.1
    """

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise StrategyError(f"{self} is no range; give finite ends with low below high")
        if self.log and self.low <= 0:
            raise StrategyError(
                f"{self} has no logarithm at low; give a positive low, or log=False"
            )

    def ppf(self, q: float) -> float:
        """Return the value below which the share ``q`` (from 0 to 1) of all draws lie."""
        if not self.log:
            return float(self.low + q * (self.high - self.low))
        return float(min(self.low * (self.high / self.low) ** q, self.high))

    def rvs(self, random_state: Any = None) -> float:
        """Draw a value; scikit-learn's samplers call it."""
        return self.ppf(check_random_state(random_state).random_sample())


@dataclass(frozen=True)
class Integers(Floats):
    """Range of integers; draws are uniform on its scale.

    On the logarithmic scale, an integer n stands for the reals from n - 0.5 to n + 0.5, so all
    integers from ``low`` to ``high`` can be drawn, and small ones more often than large ones.

    Attributes
    ----------
    low, high : int
        Smallest and largest integer.
    log : bool, default False
        Whether the logarithm is drawn evenly. ``low`` must then be positive.

    Raises
    ------
    StrategyError
        The range is empty, infinite, or has no logarithm.

    Examples
    --------
    >>> [Integers(1, 64, log=True).ppf(q) for q in (0, 0.5, 1)]
    [1, 6, 64]
    """

    low: int
    high: int

    def ppf(self, q: float) -> int:
        """Return the value below which the share ``q`` (from 0 to 1) of all draws lie."""
        reals = Floats(self.low - 0.5, self.high + 0.5, self.log)
        return min(max(math.floor(reals.ppf(q) + 0.5), self.low), self.high)
