"""Costs of predicting one class if another is true."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mlaut.errors import DataError

_PAIR = re.compile(r"\s*(?P<truth>[^>=,]+?)\s*>\s*(?P<predicted>[^>=,]+?)\s*=\s*(?P<cost>\S+)\s*")


@dataclass(frozen=True)
class Costs:
    """Cost of each prediction: a cost matrix, by the names of the classes.

    A right prediction costs 0 and a wrong one 1, unless the matrix says otherwise.

    Attributes
    ----------
    pairs : tuple of (truth, predicted, cost)
        Classes as text, as they print.

    Examples
    --------
    >>> costs = Costs.of({("bad", "good"): 5})
    >>> costs.each(np.array(["bad", "good", "bad"]), np.array(["good", "bad", "bad"]))
    array([5., 1., 0.])
    >>> str(costs), Costs.of("bad>good=5") == costs
    ('bad>good=5', True)
    """

    pairs: tuple[tuple[str, str, float], ...]

    @classmethod
    def of(cls, given: Self | Mapping[tuple[Any, Any], float] | str) -> Self:
        """Return costs from a mapping of (truth, predicted) pairs, or from text.

        Raises
        ------
        DataError
            There is no pair, a pair occurs twice, or a cost is not a finite number from 0 on.
        """
        if isinstance(given, Costs):
            return given
        pairs = _of_text(given) if isinstance(given, str) else _of_mapping(given)
        for truth, predicted, cost in pairs:
            if not 0 <= cost < np.inf:
                raise DataError(
                    f"the cost of {predicted!r} where {truth!r} is true is {cost}; give a finite "
                    "number, 0 or more"
                )
        if not pairs or len({pair[:2] for pair in pairs}) < len(pairs):
            raise DataError(
                f"costs {given!r} name {'a pair twice' if pairs else 'no pair'}; write each pair "
                "once, as in bad>good=5 (bad is true, good is predicted)"
            )
        return cls(tuple(sorted(pairs)))

    @property
    def classes(self) -> frozenset[str]:
        """Classes that the costs name."""
        return frozenset(name for pair in self.pairs for name in pair[:2])

    def each(self, truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """Return the cost of each prediction: float64, in the broadcast shape of both arrays."""
        truths, predictions = (np.asarray(labels).astype(str) for labels in (truth, predicted))
        costs = np.asarray(truths != predictions, dtype=np.float64)
        for true, other, cost in self.pairs:
            costs[(truths == true) & (predictions == other)] = cost
        return costs

    def gain(self, truth: np.ndarray, predicted: np.ndarray) -> float:
        """Return minus the mean cost, which a search maximises."""
        return -float(self.each(truth, predicted).mean())

    def __str__(self) -> str:
        return ", ".join(f"{truth}>{predicted}={cost:g}" for truth, predicted, cost in self.pairs)


def _of_mapping(given: Mapping[tuple[Any, Any], float]) -> list[tuple[str, str, float]]:
    return [(str(truth), str(predicted), float(c)) for (truth, predicted), c in given.items()]


def _of_text(text: str) -> list[tuple[str, str, float]]:
    pairs = [_PAIR.fullmatch(part) for part in text.split(",")]
    try:
        return [(f["truth"], f["predicted"], float(f["cost"])) for f in pairs]  # type: ignore[index]
    except (TypeError, ValueError):
        raise DataError(
            f"costs {text!r} cannot be read; write pairs as in bad>good=5, good>bad=1 (bad is "
            "true, good is predicted)"
        ) from None
