"""Shared ensembles: with equal seeds, the first members of a large one are the smaller one.

`Ensembles` lets scikit-learn fit the largest ensemble and cuts it down. This works for all
ensembles here. Forests, bagging and gradient boosting of plain trees have faster methods in
`forests` and `boosting`, which fall back on this one.

An ensemble without a seed is not shared: scikit-learn would draw new members for each size.
"""

import copy
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from mlaut_sharing.interface import Candidate, Fold, Shared, Sharer
from mlaut_sharing.stand_ins import per_table

FORESTS = (
    RandomForestClassifier,
    RandomForestRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
)
BAGS = (BaggingClassifier, BaggingRegressor)
BOOSTED = (GradientBoostingClassifier, GradientBoostingRegressor)
WEIGHTED = (AdaBoostClassifier, AdaBoostRegressor)
HISTOGRAMS = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)

EARLY_STOPPING_ROWS = 10_000
"""Rows above which histogram boosting with ``early_stopping="auto"`` stops early."""

_SMALL_SHARE = 0.1
"""Members of the smallest ensemble, for one of the largest, up to which they come first."""


class Ensembles(Sharer):
    """Sharer among numbers of members."""

    kinds: tuple[type, ...] = (*FORESTS, *BAGS, *BOOSTED, *WEIGHTED, *HISTOGRAMS)
    also_shared: tuple[str, ...] = ()

    def key(self, candidate: Candidate) -> Hashable | None:
        """Return all parameters except the number of members."""
        kind = type(candidate.base)
        if kind not in self.kinds or candidate.setting("random_state") is None:
            return None
        if not is_size(candidate.setting(size_name(kind))):
            return None
        settings = candidate.base.get_params(deep=False) | dict(candidate.params)
        names = ["warm_start", "oob_score"] + ["n_iter_no_change"] * (kind not in HISTOGRAMS)
        if any(settings.get(name) for name in names):
            return None
        return kind.__name__, candidate.rest(size_name(kind), *self.also_shared)

    def parts(self, candidates: list[Candidate]) -> list[list[Candidate]]:
        """Return the smallest ensembles first if they are a small part of the work."""
        name = size_name(type(candidates[0].base))
        sizes = [candidate.setting(name) for candidate in candidates]
        if min(sizes) > _SMALL_SHARE * max(sizes):
            return [candidates]
        small = [c for c, size in zip(candidates, sizes, strict=True) if size == min(sizes)]
        return [small, [c for c in candidates if c not in small]]

    def models(self, candidates: list[Candidate], fold: Fold) -> Iterator[Shared]:
        """Fit the largest ensemble, and yield it cut down to each size."""
        size = size_name(type(candidates[0].base))
        if may_stop_early(candidates[0], fold):
            return
        fold.check_time()
        largest = max(candidates, key=lambda c: c.setting(size))
        fitted = largest.estimator().fit(fold.X_train, fold.y_train)
        cut = _cutter(fitted)
        for candidate in candidates:
            model = copy.copy(fitted)
            setattr(model, size, candidate.setting(size))
            cut(model, candidate.setting(size))
            yield Shared((candidate.index,), model, fold)


def size_name(kind: type) -> str:
    """Return the name of the parameter that is the number of members."""
    return "max_iter" if kind in HISTOGRAMS else "n_estimators"


def is_size(value: Any) -> bool:
    """Return whether a value is a valid number of members."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= 1)


def may_stop_early(candidate: Candidate, fold: Fold) -> bool:
    """Return whether a histogram ensemble may stop early, so that sizes are not its prefixes."""
    if type(candidate.base) not in HISTOGRAMS:
        return False
    stopping = candidate.setting("early_stopping")
    return stopping is True or (stopping == "auto" and len(fold.y_train) > EARLY_STOPPING_ROWS)


def _cutter(fitted: Any) -> Callable[[Any, int], None]:
    """Return a function that cuts a copy of a fitted ensemble down to its first members."""
    if type(fitted) in HISTOGRAMS:
        return lambda model, n: _keep(model, n, "_predictors")
    if type(fitted) in BAGS:
        return lambda model, n: _keep(model, n, "estimators_", "estimators_features_")
    if type(fitted) in WEIGHTED:
        # Ensembles of all sizes contain the same members, so their predictions are cached.
        fitted.estimators_ = [_Remembering(member) for member in fitted.estimators_]
        names = ("estimators_", "estimator_weights_", "estimator_errors_")
        return lambda model, n: _keep(model, n, *names)
    return lambda model, n: _keep(model, n, "estimators_")


def _keep(model: Any, n: int, *names: str) -> None:
    for name in names:
        setattr(model, name, getattr(model, name)[:n])


class _Remembering:
    """Member of an ensemble that caches its predictions for each table."""

    def __init__(self, member: Any) -> None:
        self.predict = per_table(member.predict)
