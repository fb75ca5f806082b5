"""The families of estimators that share work, and the grouping of candidates by them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

from mlaut.plugins.finding import found
from mlaut.sharing.interface import Candidate, Sharer


@cache
def families() -> tuple[Sharer, ...]:
    """Return the families that share, which plug-ins have."""
    return tuple(chain.from_iterable(found("sharers").values()))


@dataclass(frozen=True, eq=False)
class Group:
    """Candidates that share work, or a single one that does not (with ``sharer`` None)."""

    sharer: Sharer | None
    candidates: tuple[Candidate, ...]

    def without(self, indices: set[int]) -> Group:
        """Return the group without some candidates."""
        return Group(self.sharer, tuple(c for c in self.candidates if c.index not in indices))


def groups_of(
    base: Any, points: Sequence[Mapping[str, Any]], indices: Sequence[int] | None = None
) -> list[Group]:
    """Return points in groups, ordered by the first point of each group.

    The numbers of the candidates are ``indices``, by default the positions of the points.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> grid = [{"var_smoothing": least} for least in (1e-9, 1e-6)]
    >>> [[c.index for c in group.candidates] for group in groups_of(GaussianNB(), grid)]
    [[0], [1]]
    """
    groups: dict[Hashable, tuple[Sharer | None, list[Candidate]]] = {}
    numbers = range(len(points)) if indices is None else indices
    for index, params in zip(numbers, points, strict=True):
        candidate = Candidate(index, base, params)
        sharer, key = _recognise(candidate)
        groups.setdefault(key, (sharer, []))[1].append(candidate)
    return [Group(sharer, tuple(members)) for sharer, members in groups.values()]


def _recognise(candidate: Candidate) -> tuple[Sharer | None, Hashable]:
    for family in families():
        try:
            key = family.usable_key(candidate)
        except (AttributeError, TypeError):  # scikit-learn will refuse this grid later
            key = None
        if key is not None:
            return family, (type(family).__name__, key)
    return None, candidate.index
