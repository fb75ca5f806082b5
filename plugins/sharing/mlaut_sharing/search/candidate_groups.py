"""The grouping of candidates by the families of estimators that share work, which plug-ins have."""

from collections.abc import Hashable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

from mlaut.plugins import found
from mlaut_sharing.search.evaluation import Candidate, CandidateGroup


@cache
def families() -> tuple[Any, ...]:
    """Return the families that share, which plug-ins have."""
    return tuple(chain.from_iterable(found("sharers").values()))


def groups_of(
    base: Any,
    points: Sequence[Mapping[str, Any]],
    indices: Sequence[int] | None = None,
    share: bool = True,
) -> list[CandidateGroup]:
    """Return points in groups, ordered by the first point of each group.

    The numbers of the candidates are ``indices``, by default the positions of the points. Without
    ``share``, each is a group.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> grid = [{"var_smoothing": least} for least in (1e-9, 1e-6)]
    >>> [[c.index for c in group.candidates] for group in groups_of(GaussianNB(), grid)]
    [[0], [1]]
    """
    groups: dict[Hashable, tuple[Any, list[Candidate]]] = {}
    numbers = range(len(points)) if indices is None else indices
    for index, params in zip(numbers, points, strict=True):
        candidate = Candidate(index, base, params)
        family, key = _recognise(candidate) if share else (None, index)
        groups.setdefault(key, (family, []))[1].append(candidate)
    return [
        CandidateGroup(tuple(members)) if family is None else family.group(tuple(members))
        for family, members in groups.values()
    ]


def _recognise(candidate: Candidate) -> tuple[Any, Hashable]:
    for family in families():
        try:
            key = family.usable_key(candidate)
        except (AttributeError, TypeError):  # scikit-learn will refuse this grid later
            key = None
        if key is not None:
            return family, (type(family).__name__, key)
    return None, candidate.index


def draws_anew(estimator: Any, params: Any) -> bool:
    """Return whether fits of an estimator may differ because these parameters have no seed."""
    if not hasattr(estimator, "get_params"):
        return False
    settings = {**estimator.get_params(), **params}
    return any(
        value is None and name.rpartition("__")[2] == "random_state"
        for name, value in settings.items()
    )
