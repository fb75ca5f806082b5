"""Paired differences of all pairs of strategies, and how their results are laid out as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import check
from mlaut.analysis.common.numerics import RELATIVE_NOISE, snap
from mlaut.analysis.common.result_types import Pairwise
from mlaut.analysis.pairwise.effects import Effect
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

__all__ = ["Pairs", "complete_losses", "even", "lay_out", "odd", "paired_differences"]

_SIDES = {"two-sided": "two-sided", "better": "less", "worse": "greater"}
_OTHER_SIDE = {"two-sided": "two-sided", "less": "greater", "greater": "less"}

Both = tuple[np.ndarray, np.ndarray]


class Pairs(NamedTuple):
    """All pairs of strategies, each once.

    Attributes
    ----------
    strategies : tuple of str, length K
    first, second : ndarray of int, shape (P,)
        Positions of the two strategies of each pair.
    """

    strategies: tuple[str, ...]
    first: np.ndarray
    second: np.ndarray

    @classmethod
    def of(cls, strategies: tuple[str, ...]) -> Pairs:
        """Return all pairs in the order of the strategies."""
        return cls(strategies, *np.triu_indices(len(strategies), 1))

    def notes(self, where: np.ndarray, text: str) -> dict[tuple[str, str], str]:
        """Return a note for some of the pairs."""
        at = zip(self.first[where], self.second[where], strict=True)
        return {(self.strategies[i], self.strategies[j]): text for i, j in at}

    def square(self, above: np.ndarray, below: np.ndarray) -> pd.DataFrame:
        """Lay values of pairs out as a table with the strategies as labels; the diagonal is NaN."""
        k = len(self.strategies)
        table = np.full((k, k), np.nan)
        table[self.first, self.second], table[self.second, self.first] = above, below
        labels = _labels(self.strategies)
        return pd.DataFrame(table, index=labels, columns=labels)


@lru_cache(maxsize=8)
def _labels(strategies: tuple[str, ...]) -> pd.Index:
    """Make an index once: all tables of a comparison share it."""
    return pd.Index(strategies)


def paired_differences(results: Results, rope: float = 0.0) -> tuple[np.ndarray, Pairs]:
    """Return the loss of the first minus that of the second, for all pairs, without rounding noise.

    Noise is taken relative to the two losses of each difference, so that no other dataset and no
    other strategy decides what counts as a tie; the tests compare exactly.

    Parameters
    ----------
    results : Results
    rope : float, default 0
        Differences that have this size but for noise are given it exactly.

    Returns
    -------
    differences : ndarray, shape (N, P)
        A row a dataset, a column a pair.
    pairs : Pairs

    Raises
    ------
    MissingCellsError
        Some cells are missing; see `mlaut.analysis.treat_missing`.
    AnalysisError
        There are fewer than two datasets or strategies.
    """
    complete_losses(results)
    pairs, d = Pairs.of(results.strategies), _differences(results)
    if rope:
        on_margin = np.abs(np.abs(d) - rope) <= RELATIVE_NOISE * _sizes(results, pairs)
        d = np.where(on_margin & (d != 0), np.copysign(rope, d), d)
    return d, pairs


def _sizes(results: Results, pairs: Pairs) -> np.ndarray:
    """Return the size of the larger of the two losses of each difference."""
    size = results.noise_scale
    return np.maximum(size[:, pairs.first], size[:, pairs.second])


@lru_cache(maxsize=1)
def _differences(results: Results) -> np.ndarray:
    """Take the differences once for all tests of the same results."""
    losses, pairs = results.losses.to_numpy(), Pairs.of(results.strategies)
    differences = snap(losses[:, pairs.first] - losses[:, pairs.second], _sizes(results, pairs))
    differences.flags.writeable = False
    return differences


def complete_losses(results: Results) -> pd.DataFrame:
    """Return the losses of two strategies or more on two datasets or more, or say why not."""
    check(results=results)
    return results.complete(datasets=2, strategies=2)


def odd(values: np.ndarray) -> Both:
    """Return values that change their sign when a pair is seen from its other side."""
    return values, -values


def even(values: np.ndarray) -> Both:
    """Return values that are the same from both sides."""
    return values, values


def lay_out(
    results: Results,
    pairs: Pairs,
    p_of: Callable[[str], np.ndarray],
    alternative: str,
    *,
    tables: Mapping[str, Both],
    effects: Mapping[str, Effect],
    notes: tuple[str, ...] = (),
    **about: Any,
) -> Pairwise:
    """Lay the numbers of the pairs out as tables.

    Parameters
    ----------
    results : Results
    pairs : Pairs
    p_of : callable
        Gives the p-values for ``"two-sided"``, ``"less"`` or ``"greater"`` differences.
    alternative : {"two-sided", "better", "worse"}
    tables : mapping of str to pair of ndarray, shape (P,)
        Values of the first against the second, and the other way round.
    effects : mapping of str to Effect
        The first says which of a pair is better.
    notes : tuple of str
    **about
        What else `Pairwise` takes.
    """
    if alternative not in _SIDES:
        raise AnalysisError(
            f"alternative {alternative!r} is not known; one of 'two-sided', 'better', 'worse'"
        )
    side = _SIDES[alternative]
    p = p_of(side)
    both = {
        "statistic": tables["statistic"],
        "p_value": (p, p if side == "two-sided" else p_of(_OTHER_SIDE[side])),
        **tables,
    }
    better = -np.sign(next(iter(effects.values())).towards_worse)
    both["better"] = better, -better
    for name, effect in effects.items():
        turned = effect.turned()
        for end, part in (("", "value"), (" low", "low"), (" high", "high")):
            both[name + end] = getattr(effect, part), getattr(turned, part)
    return Pairwise(
        strategies=results.strategies,
        metric=results.metric.loss_name,
        tables={name: pairs.square(*values) for name, values in both.items()},
        alternative=alternative if side == "two-sided" else f"the first is {alternative}",
        effects={name: effect.method for name, effect in effects.items()},
        notes=(*results.notes_text(), *notes),
        **({"n": len(results.datasets)} | about),
    )
