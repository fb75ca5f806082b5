"""Paired differences of all pairs of strategies, and tables of the results of pairs."""

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
        """Return the note ``text`` by pair, for the pairs selected by ``where``."""
        at = zip(self.first[where], self.second[where], strict=True)
        return {(self.strategies[i], self.strategies[j]): text for i, j in at}

    def square(self, above: np.ndarray, below: np.ndarray) -> pd.DataFrame:
        """Return the values of pairs as a table by strategy; the diagonal is NaN.

        ``above`` compares first against second, ``below`` second against first: shape (P,) each.
        """
        k = len(self.strategies)
        table = np.full((k, k), np.nan)
        table[self.first, self.second], table[self.second, self.first] = above, below
        labels = _labels(self.strategies)
        return pd.DataFrame(table, index=labels, columns=labels)


@lru_cache(maxsize=8)
def _labels(strategies: tuple[str, ...]) -> pd.Index:
    """Return the labels as an index, cached because all tables of a comparison share it."""
    return pd.Index(strategies)


def paired_differences(results: Results, rope: float = 0.0) -> tuple[np.ndarray, Pairs]:
    """Return the loss of the first minus the loss of the second strategy, for all pairs.

    Rounding noise is removed, because the tests compare exactly. Noise is relative to the two
    losses of each difference, so ties do not depend on other datasets or strategies.

    Parameters
    ----------
    results : Results
    rope : float, default 0
        Half width of the region of practical equivalence. Differences that have this size but for
        noise get it exactly.

    Returns
    -------
    differences : ndarray, shape (N, P)
        One row for each dataset, one column for each pair.
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
    """Return the differences of all pairs, cached for the tests of the same results."""
    losses, pairs = results.losses.to_numpy(), Pairs.of(results.strategies)
    differences = snap(losses[:, pairs.first] - losses[:, pairs.second], _sizes(results, pairs))
    differences.flags.writeable = False
    return differences


def complete_losses(results: Results) -> pd.DataFrame:
    """Return the losses; raise an error for missing cells or below two datasets or strategies."""
    check(results=results)
    return results.complete(datasets=2, strategies=2)


def odd(values: np.ndarray) -> Both:
    """Return the values of both orders of a pair, with opposite signs."""
    return values, -values


def even(values: np.ndarray) -> Both:
    """Return the values of both orders of a pair, which are equal."""
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
    """Return the numbers of all pairs as a `Pairwise`.

    Parameters
    ----------
    results : Results
    pairs : Pairs
    p_of : callable
        Function that returns the p-values for ``"two-sided"``, ``"less"`` or ``"greater"``
        differences.
    alternative : {"two-sided", "better", "worse"}
    tables : mapping of str to pair of ndarray, shape (P,)
        Values of the first strategy against the second, and of the second against the first.
    effects : mapping of str to Effect
        Effect sizes by name. The first of them decides which strategy of a pair is better.
    notes : tuple of str
    **about
        Further arguments of `Pairwise`.
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
