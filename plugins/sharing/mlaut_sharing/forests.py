"""Shared forests and bags of trees: one forest serves all sizes, and all depths that do not bind.

Trees are grown as in `trees`. Each tree has its own seed, so it can be reused in a forest of
another depth if it ends above that depth. The first two trees are compared with scikit-learn's in
every group of candidates and fold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.random import sample_without_replacement

from mlaut_sharing.ensembles import BAGS, FORESTS, Ensembles
from mlaut_sharing.interface import Candidate, CannotShareError, Fold, Shared
from mlaut_sharing.private import TREES
from mlaut_sharing.stand_ins import per_table, stand_in_of_means
from mlaut_sharing.trees import (
    Grower,
    by_drawn_features,
    can_grow,
    codes,
    depth_order,
    plain_numbers,
    same_tree,
    seeded,
)

LARGEST_SEED = np.iinfo(np.int32).max  # bound of the seeds that scikit-learn draws for members
_MOST_NODES = 10**6  # of trees that wait for a larger forest, on each fold: about 80 MB
N_COMPARED = 2  # trees that are compared with scikit-learn's


class Forests(Ensembles):
    """Sharer among sizes, depths, and settings of ``max_features`` with the same effect."""

    kinds = FORESTS
    private = (TREES,)
    also_shared = ("max_depth", "max_features")

    def keeps(self, candidate: Candidate) -> bool:  # noqa: ARG002
        """Return True: a larger forest continues the trees of a smaller one."""
        return True

    def models(self, candidates: list[Candidate], fold: Fold) -> Iterator[Shared]:
        """Yield models, growing the forest of the largest depth first."""
        for group in by_drawn_features(candidates, fold):
            yield from self._width_models(group, fold)

    def _width_models(self, group: list[Candidate], fold: Fold) -> Iterator[Shared]:
        depths: dict[Any, list[Candidate]] = {}
        for candidate in group:
            depths.setdefault(candidate.setting("max_depth"), []).append(candidate)
        order = sorted(depths, key=depth_order, reverse=True)
        sizes, first = {c.setting("n_estimators") for c in group}, depths[order[0]][0]
        try:
            key = first.rest("n_estimators", "max_depth")
            grower = fold.begun(key, lambda: _Forest(first, fold))
        except CannotShareError:
            for depth in order:
                yield from super().models(depths[depth], fold)
            return
        grower.seed_trees(max(sizes))
        means = None
        for depth in order:
            largest = max(c.setting("n_estimators") for c in depths[depth])
            means = _forest_at_depth(grower, depth, largest, sizes, means)
            for candidate in depths[depth]:
                model = means.model(candidate.setting("n_estimators"))
                yield Shared((candidate.index,), model, fold)
        if sum(tree.node_count for _, tree in grower.grown.values()) > _MOST_NODES:
            fold.memo.pop("begun")


class Bags(Ensembles):
    """Sharer among sizes of bagged trees."""

    kinds = BAGS
    private = (TREES,)

    def models(self, candidates: list[Candidate], fold: Fold) -> Iterator[Shared]:
        """Grow the trees of the largest ensemble, and yield a model for each size."""
        sizes = {c.setting("n_estimators") for c in candidates}
        try:
            grower = _Bag(candidates[0], fold, max(sizes))
        except CannotShareError:
            yield from super().models(candidates, fold)
            return
        means = _Means(grower, [grower.grow(i) for i in range(max(sizes))], sizes)
        for candidate in candidates:
            yield Shared((candidate.index,), means.model(candidate.setting("n_estimators")), fold)


def _forest_at_depth(
    grower: _Forest, depth: int | None, n_trees: int, sizes: set[int], deeper: _Means | None
) -> _Means:
    """Return a forest that reuses the trees of a deeper forest that end above this depth."""
    trees = [grower.grow(i, depth) for i in range(n_trees)]
    if deeper and trees == deeper.members:
        return deeper
    return _Means(grower, trees, sizes)


class _Means:
    """Averages of the predictions of the first members, for each size."""

    def __init__(self, grower: _Forest | _Bag, members: list[Any], sizes: set[int]) -> None:
        self._grower, self.members, self._sizes = grower, members, sizes
        self._at = per_table(self._compute)

    def _compute(self, X: Any) -> dict[int, np.ndarray]:
        rows = self._grower.numbers(X)
        total = np.zeros((len(rows), self._grower.n_outputs))
        means = {}
        for n, member in enumerate(self.members, 1):
            total += self._grower.answer(member, rows)
            if n in self._sizes:
                means[n] = total / n
        return means

    def model(self, size: int) -> Any:
        grower = self._grower
        return stand_in_of_means(grower.base, grower.classes, lambda X: self._at(X)[size])


class _Grown:
    """Members of an ensemble of trees, grown one at a time as scikit-learn grows them."""

    def __init__(self, candidate: Candidate, fold: Fold) -> None:
        ensemble = candidate.estimator(n_estimators=N_COMPARED)
        if effective_n_jobs(ensemble.n_jobs) != 1:
            raise CannotShareError("an ensemble that is grown in parallel")
        self.numbers = fold.once("tree numbers", lambda: per_table(plain_numbers))
        self._X = self.numbers(fold.X_train)
        self._ensemble = ensemble.fit(fold.X_train, fold.y_train)
        self._fold = fold
        self.base = candidate.base
        self.classes = getattr(ensemble, "classes_", None)
        self.n_outputs = 1 if self.classes is None else len(self.classes)
        self._y = codes(self.classes, fold.y_train)
        self._random = np.random.RandomState(0)  # seeded anew for each tree

    def _grower(self, n_features: int, weight: float) -> Grower:
        tree = self._ensemble.estimators_[0]
        if not can_grow(tree):
            raise CannotShareError("trees that scikit-learn grows")
        return Grower(
            tree,
            n_rows=len(self._y),
            n_features=n_features,
            n_classes=self.n_outputs,
            weight=weight,
            random_state=self._random,
        )

    def _weights(self, rows: np.ndarray) -> np.ndarray:
        return np.bincount(rows, minlength=len(self._y)).astype(np.float64)


class _Forest(_Grown):
    def __init__(self, candidate: Candidate, fold: Fold) -> None:
        super().__init__(candidate, fold)
        forest = self._ensemble
        if getattr(forest, "class_weight", None) or forest.max_samples is not None:
            raise CannotShareError("samples that scikit-learn draws")
        self._random_state = candidate.setting("random_state")
        self.grown: dict[int, tuple[float, Any]] = {}
        self.seed_trees(N_COMPARED)
        self._trees = self._grower(self._X.shape[1], len(self._y))
        for i, tree in enumerate(forest.estimators_):
            if not same_tree(tree.tree_, self.grow(i, forest.max_depth)):
                raise CannotShareError("trees that grow otherwise than scikit-learn's")

    def seed_trees(self, n_trees: int) -> None:
        """Draw the seeds of ``n_trees`` trees; the first seeds are those of fewer trees."""
        self._seeds = seeded(self._random_state).randint(LARGEST_SEED, size=n_trees)

    def grow(self, i: int, depth: int | None) -> Any:
        """Return tree ``i``; it is grown unless the last tree with this number is the same."""
        most, tree = self.grown.get(i, (-1, None))
        bound = depth_order(depth)
        if tree is None or (bound != most and tree.max_depth >= min(bound, most)):
            tree = self._new_tree(i, depth)
            self.grown[i] = bound, tree
        return tree

    def _new_tree(self, i: int, depth: int | None) -> Any:
        self._fold.check_time()
        self._random.seed(self._seeds[i])
        weights = None
        if self._ensemble.bootstrap:
            n_rows = len(self._y)
            weights = self._weights(self._random.randint(0, n_rows, n_rows, dtype=np.int32))
            self._random.seed(self._seeds[i])
        return self._trees.grow(self._X, self._y, weights, depth)

    def answer(self, tree: Any, rows: np.ndarray) -> np.ndarray:
        return tree.predict(rows)


class _Bag(_Grown):
    def __init__(self, candidate: Candidate, fold: Fold, n_trees: int) -> None:
        super().__init__(candidate, fold)
        bag = self._ensemble
        self._seeds = seeded(candidate.setting("random_state")).randint(LARGEST_SEED, size=n_trees)
        self._depth = bag.estimators_[0].get_params().get("max_depth")
        self._trees = self._grower(bag._max_features, bag._max_samples)
        pairs = zip(bag.estimators_features_, bag.estimators_, strict=True)
        for i, (features, tree) in enumerate([*pairs][:n_trees]):
            own_features, own_tree = self.grow(i)
            if not (np.array_equal(features, own_features) and same_tree(tree.tree_, own_tree)):
                raise CannotShareError("trees that grow otherwise than scikit-learn's")

    def grow(self, i: int) -> tuple[np.ndarray, Any]:
        self._fold.check_time()
        bag, random, (n_rows, n_features) = self._ensemble, self._random, self._X.shape
        random.seed(self._seeds[i])
        features = _drawn(random, bag.bootstrap_features, n_features, bag._max_features)
        rows = _drawn(random, bag.bootstrap, n_rows, bag._max_samples)
        random.seed(self._seeds[i])
        random.seed(random.randint(LARGEST_SEED))
        some = bag.bootstrap_features or bag._max_features != n_features
        X = self._X[:, features] if some else self._X
        return features, self._trees.grow(X, self._y, self._weights(rows), self._depth)

    def answer(self, member: tuple[np.ndarray, Any], rows: np.ndarray) -> np.ndarray:
        features, tree = member
        return tree.predict(rows[:, features])


def _drawn(random: np.random.RandomState, again: bool, n: int, n_drawn: int) -> np.ndarray:
    if again:
        return random.randint(0, n, n_drawn)
    return sample_without_replacement(n, n_drawn, random_state=random)
