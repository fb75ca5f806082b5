"""Shared pipelines: leading steps are fitted once per fold, and last steps share their work."""

from collections.abc import Hashable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any

from sklearn.pipeline import Pipeline

from mlaut.plugins import found
from mlaut_sharing.interface import Candidate, Fold, Shared, Sharer
from mlaut_sharing.search.candidate_groups import draws_anew


class Pipelines(Sharer):
    """Sharer among candidates with the same leading steps; all families share the last one."""

    @cached_property
    def _families(self) -> tuple[Sharer, ...]:
        """Families of all plug-ins, which are known when the first search begins."""
        every = chain.from_iterable(found("sharers").values())
        return (*(family for family in every if not isinstance(family, Pipelines)), _Alone())

    def key(self, candidate: Candidate) -> Hashable | None:
        """Return the parameters of the leading steps, and the key of the last step."""
        pipeline = candidate.base
        if type(pipeline) is not Pipeline or pipeline.memory is not None or pipeline.verbose:
            return None
        names = [name for name, _ in pipeline.steps]
        if any(name.partition("__")[0] not in names for name in candidate.params):
            return None
        if getattr(pipeline, "transform_input", None) or _leading_draws_anew(candidate):
            return None
        number, key = self._last_family(candidate)
        return None if key is None else (_leading_key(candidate), number, key)

    def parts(self, candidates: list[Candidate]) -> list[list[Candidate]]:
        """Return the parts of the last step."""
        number, _ = self._last_family(candidates[0])
        whole = {candidate.index: candidate for candidate in candidates}
        parts = self._families[number].parts([_last(candidate) for candidate in candidates])
        return [[whole[candidate.index] for candidate in part] for part in parts]

    def keeps(self, candidate: Candidate) -> bool:
        """Return the answer of the last step."""
        number, _ = self._last_family(candidate)
        return self._families[number].keeps(_last(candidate))

    def models(self, candidates: list[Candidate], fold: Fold) -> Iterator[Shared]:
        """Transform the rows once, and yield the models of the last step."""
        first = candidates[0]
        transformed = fold.once(("leading", _leading_key(first)), lambda: _transformed(first, fold))
        transformed.deadline = fold.deadline  # that of an earlier part may have been another
        number, _ = self._last_family(first)
        yield from self._families[number].models([_last(c) for c in candidates], transformed)

    def _last_family(self, candidate: Candidate) -> tuple[int, Hashable]:
        """Return the number of the family that can share the last step, and the step's key."""
        for number, family in enumerate(self._families):
            key = family.usable_key(_last(candidate))
            if key is not None:
                return number, key
        return -1, None


class _Alone(Sharer):
    """Sharer that fits each candidate separately, on the shared leading steps."""

    def key(self, candidate: Candidate) -> Hashable | None:
        if not hasattr(candidate.base, "fit") or draws_anew(candidate.base, candidate.params):
            return None
        return ("alone",)

    def models(self, candidates: list[Candidate], fold: Fold) -> Iterator[Shared]:
        for candidate in candidates:
            fold.check_time()
            fitted = candidate.estimator().fit(fold.X_train, fold.y_train)
            yield Shared((candidate.index,), fitted, fold)


def _split(candidate: Candidate) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters of the leading steps, and those of the last step."""
    last = candidate.base.steps[-1][0]
    own = {n: v for n, v in candidate.params.items() if n.partition("__")[0] == last}
    return {n: v for n, v in candidate.params.items() if n not in own}, own


def _leading_key(candidate: Candidate) -> Hashable:
    leading, _ = _split(candidate)
    return replace(candidate, params=leading).rest()


def _leading_draws_anew(candidate: Candidate) -> bool:
    leading, _ = _split(candidate)
    steps = {name: leading.get(name, step) for name, step in candidate.base.steps[:-1]}
    for name, step in steps.items():
        inner = {n.partition("__")[2]: v for n, v in leading.items() if n.startswith(f"{name}__")}
        if draws_anew(step, inner):
            return True
    return False


def _last(candidate: Candidate) -> Candidate:
    name, step = candidate.base.steps[-1]
    _, own = _split(candidate)
    params = {n.partition("__")[2]: v for n, v in own.items() if n != name}
    return Candidate(candidate.index, own.get(name, step), params)


def _transformed(candidate: Candidate, fold: Fold) -> Fold:
    steps = candidate.estimator().steps[:-1]
    if not steps:
        return fold
    leading = Pipeline(steps)
    X_train = leading.fit_transform(fold.X_train, fold.y_train)
    return replace(fold, X_train=X_train, X_test=leading.transform(fold.X_test), memo={})
