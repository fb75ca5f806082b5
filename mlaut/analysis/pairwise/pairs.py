"""Losses of all pairs of strategies, prepared once for all tests of the same results."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple, Self
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import the_results
from mlaut.analysis.common.blocks import blocks
from mlaut.analysis.common.numerics import RELATIVE_NOISE, equalised, rank_losses, snap
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

MOST_STRATEGIES = 2000  # in one comparison: its tables have the square of their number

EQUAL = "equal on every dataset"  # note on a pair


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
    def of(cls, strategies: tuple[str, ...]) -> Self:
        """Return all pairs in the order of the strategies; raise an error for too many."""
        if (k := len(strategies)) > MOST_STRATEGIES:
            raise AnalysisError(
                f"{k} strategies have {k * (k - 1) // 2:,} pairs, and at most {MOST_STRATEGIES} "
                "strategies are compared at once: choose them (--only, Results.select), or check "
                "which column has their names"
            )
        return cls(strategies, *np.triu_indices(len(strategies), 1))

    @property
    def labels(self) -> pd.MultiIndex:
        """Names of the two strategies of each pair, as labels of rows."""
        names = np.array(self.strategies, dtype=object)
        return pd.MultiIndex.from_arrays([names[self.first], names[self.second]])

    def notes(self, where: np.ndarray, text: str) -> dict[tuple[str, str], str]:
        """Return the note ``text`` by pair, for the pairs selected by ``where``."""
        names, chosen = self.strategies, (x[where].tolist() for x in (self.first, self.second))
        return {(names[a], names[b]): text for a, b in zip(*chosen, strict=True)}

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


@dataclass(frozen=True, eq=False)
class PairedLosses:
    """Losses of complete results, and what the tests compute from them. All arrays are read-only.

    Attributes
    ----------
    pairs : Pairs
    losses : ndarray, shape (N, K)
        Mean losses; N is the number of datasets.
    scale : ndarray, shape (N, K)
        Size of the numbers that each loss was computed from: see `Results.noise_scale`.
    """

    pairs: Pairs
    losses: np.ndarray
    scale: np.ndarray

    @cached_property
    def differences(self) -> np.ndarray:
        """Loss of the first minus loss of the second strategy of each pair, shape (N, P).

        Rounding noise is removed, because the tests compare exactly. Noise is relative to the two
        losses of each difference, so ties do not depend on other datasets or strategies.
        """
        differences = np.empty((len(self.losses), len(self.pairs.first)))
        for block in blocks(differences):
            raw = self.losses[:, self.pairs.first[block]] - self.losses[:, self.pairs.second[block]]
            differences[:, block] = snap(raw, self._pair_scale(block))
        return _read_only(differences)

    @cached_property
    def snapped(self) -> np.ndarray:
        """Return the losses (N, K); within a dataset, rounding noise no longer separates them."""
        return _read_only(equalised(self.losses.T, RELATIVE_NOISE * self.scale.T).T)

    @cached_property
    def ranks(self) -> np.ndarray:
        """Ranks within each dataset, shape (N, K): 1 is the best, ties share their mean rank.

        Average ranks, rank tests and rank models use these ranks. Their variances assume that ties
        have mean ranks.
        """
        return _read_only(rank_losses(self.losses, self.scale))

    def _pair_scale(self, block: slice) -> np.ndarray:
        first, second = self.pairs.first[block], self.pairs.second[block]
        return np.maximum(self.scale[:, first], self.scale[:, second])

    def with_margin(self, rope: float) -> np.ndarray:
        """Return the differences; sizes within noise of ``rope`` become exactly ``rope``."""
        d = self.differences
        if not rope:
            return d
        d = d.copy()
        for part, block in ((d[:, block], block) for block in blocks(d)):
            noise = RELATIVE_NOISE * self._pair_scale(block)
            on_margin = (np.abs(np.abs(part) - rope) <= noise) & (part != 0)
            part[on_margin] = np.copysign(rope, part[on_margin])
        return d


def _read_only(values: np.ndarray) -> np.ndarray:
    values.flags.writeable = False
    return values


# Results are immutable, so what is prepared from them stays valid; it ends with the results.
_PREPARED: WeakKeyDictionary[Results, PairedLosses] = WeakKeyDictionary()


def paired_losses(results: Results) -> PairedLosses:
    """Return the losses of all pairs, prepared at the first call for these results.

    Raises
    ------
    MissingCellsError
        Some cells are missing; see `mlaut.analysis.treat_missing`.
    AnalysisError
        There are fewer than two datasets or strategies.
    """
    results = the_results("results", results)
    paired = _PREPARED.get(results)
    if paired is None:
        losses = results.complete(datasets=2, strategies=2).to_numpy()
        pairs, scale = Pairs.of(results.strategies), results.noise_scale
        paired = PairedLosses(pairs, _read_only(losses), _read_only(scale))
        _PREPARED[results] = paired
    return paired
