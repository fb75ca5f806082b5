"""Shared decision trees: grown without repeated checks, once for all depths that do not bind.

A tree that is pruned at a depth is not the tree of that depth, because growth is depth first and
draws random numbers at each node. But if a tree ends above its allowed depth, every larger depth
grows the same tree. Settings of ``max_features`` that mean the same number are one setting.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Hashable, Iterator
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from sklearn.utils import check_array, check_random_state

from mlaut_sharing.interface import Candidate, CannotShareError, Fold, Shared, Sharer
from mlaut_sharing.private import (
    CRITERIA_CLF,
    CRITERIA_REG,
    DENSE_SPLITTERS,
    DepthFirstTreeBuilder,
    Tree,
)
from mlaut_sharing.private import TREES as TREE_NAMES
from mlaut_sharing.stand_ins import per_table, same_parts, stand_in_of_means

TREES = (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
UNLIMITED = np.iinfo(np.int32).max  # scikit-learn's depth for ``max_depth=None``


class Grower:
    """Grower of trees that equal those of a scikit-learn decision tree.

    Parameters
    ----------
    tree : estimator
        One of `TREES`, for which `can_grow` holds; its parameters are used.
    n_rows, n_features : int
        Shape of the tables on which trees are grown.
    n_classes : int
        Number of classes; 1 for regression.
    weight : float
        Sum of the weights of the rows.
    random_state : RandomState
        Generator from which each tree draws once.
    """

    def __init__(
        self,
        tree: Any,
        *,
        n_rows: int,
        n_features: int,
        n_classes: int,
        weight: float,
        random_state: np.random.RandomState,
    ) -> None:
        leaf = _count(tree.min_samples_leaf, n_rows)
        split = _count(tree.min_samples_split, n_rows)
        if not isinstance(tree.min_samples_split, Integral):
            split = max(2, split)
        self._n_features = n_features
        self._n_classes = np.array([n_classes], dtype=np.intp)
        if is_classifier(tree):
            criterion = CRITERIA_CLF[tree.criterion](1, self._n_classes)
        else:
            criterion = CRITERIA_REG[tree.criterion](1, n_rows)
        smallest = tree.min_weight_fraction_leaf * weight
        n_drawn = n_drawn_features(tree.max_features, n_features)
        splitter = DENSE_SPLITTERS[tree.splitter](
            criterion, n_drawn, leaf, smallest, random_state, None
        )
        self._rules = (splitter, max(split, 2 * leaf), leaf, smallest)
        self._least_gain = tree.min_impurity_decrease
        self._builders: dict[int | None, Any] = {}

    def grow(
        self, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None, depth: int | None
    ) -> Tree:
        """Return a tree grown on float32 rows and float64 targets of shape (n_rows, 1)."""
        if depth not in self._builders:
            limit = UNLIMITED if depth is None else depth
            self._builders[depth] = DepthFirstTreeBuilder(*self._rules, limit, self._least_gain)
        tree = Tree(self._n_features, self._n_classes, 1)
        self._builders[depth].build(tree, X, y, weights, None)
        return tree


def _count(value: Any, n_rows: int) -> int:
    return int(value) if isinstance(value, Integral) else math.ceil(value * n_rows)


def n_drawn_features(max_features: Any, n_features: int) -> int:
    """Return the number of features that each split considers."""
    if max_features is None:
        return n_features
    if isinstance(max_features, str):
        root = {"sqrt": np.sqrt, "log2": np.log2}[max_features](n_features)
        return max(1, int(root))
    if isinstance(max_features, Integral):
        return int(max_features)
    return max(1, int(max_features * n_features))


def by_drawn_features(candidates: list[Candidate], fold: Fold) -> list[list[Candidate]]:
    """Return the candidates in groups whose splits consider the same number of features."""
    groups: dict[int, list[Candidate]] = {}
    for candidate in candidates:
        drawn = n_drawn_features(candidate.setting("max_features"), np.shape(fold.X_train)[1])
        groups.setdefault(drawn, []).append(candidate)
    return list(groups.values())


def can_grow(tree: Any) -> bool:
    """Return whether `Grower` supports all settings of a tree."""
    return (
        type(tree) in TREES
        and isinstance(tree.criterion, str)
        and isinstance(tree.splitter, str)
        and tree.max_leaf_nodes is None
        and tree.ccp_alpha == 0
        and tree.monotonic_cst is None
        and getattr(tree, "class_weight", None) is None
    )


def plain_numbers(X: Any) -> np.ndarray:
    """Return a table in float32; raise `CannotShareError` for gaps and sparse tables."""
    if issparse(X):
        raise CannotShareError("sparse tables are grown by scikit-learn")
    numbers = check_array(X, dtype=np.float32, order="C", ensure_all_finite="allow-nan")
    if np.isnan(numbers).any():
        raise CannotShareError("tables with gaps are grown by scikit-learn")
    return numbers


def codes(classes: np.ndarray | None, y: Any) -> np.ndarray:
    """Return targets for a tree: positions of classes, or numbers; shape (n_rows, 1)."""
    target = np.asarray(y)
    numbers = target if classes is None else np.searchsorted(classes, target)
    return np.ascontiguousarray(numbers, dtype=np.float64).reshape(-1, 1)


def seeded(random_state: Any) -> np.random.RandomState:
    """Return a generator in the initial state of a clone with this ``random_state``."""
    return check_random_state(copy.deepcopy(random_state))


def same_tree(one: Any, other: Any) -> bool:
    """Return whether two trees are equal in every node."""
    parts = ("children_left", "feature", "threshold", "value", "n_node_samples")
    return same_parts(one, other, *parts)


def depth_order(depth: int | None) -> float:
    """Return a key that orders depths; None is the largest."""
    return math.inf if depth is None else depth


class Trees(Sharer):
    """Sharer of checked data among all candidates, and of trees among values of ``max_depth``."""

    private = (TREE_NAMES,)

    def key(self, candidate: Candidate) -> Hashable | None:
        """Return all parameters except those that may make no difference."""
        if type(candidate.base) not in TREES or candidate.setting("random_state") is None:
            return None
        return type(candidate.base).__name__, candidate.rest("max_depth", "max_features")

    def models(self, candidates: list[Candidate], fold: Fold) -> Iterator[Shared]:
        """Yield trees from the largest depth down, grown only where the depth binds."""
        for group in by_drawn_features(candidates, fold):
            yield from _by_falling_depth(group, fold)


def _by_falling_depth(group: list[Candidate], fold: Fold) -> Iterator[Shared]:
    group = sorted(group, key=_depth, reverse=True)
    grower = _LoneTrees(group[0], fold)
    for members, tree in _distinct(group, grower, fold):
        yield Shared(tuple(c.index for c in members), grower.model(tree), fold)


def _distinct(
    group: list[Candidate], grower: _LoneTrees, fold: Fold
) -> Iterator[tuple[list[Candidate], Tree]]:
    tree: Any = None
    members: list[Candidate] = []
    for candidate in group:
        if tree is None or _depth(candidate) <= tree.max_depth:
            if tree is not None:
                yield members, tree
            fold.check_time()
            tree, members = grower.grow(candidate.setting("max_depth")), []
        members.append(candidate)
    yield members, tree


def _depth(candidate: Candidate) -> float:
    return depth_order(candidate.setting("max_depth"))


class _LoneTrees:
    """Trees of one fold that differ only in depth, each grown from the same seed."""

    def __init__(self, candidate: Candidate, fold: Fold) -> None:
        self._base = candidate.base
        tree = candidate.estimator()
        if not can_grow(tree):
            raise CannotShareError("trees that scikit-learn grows")
        fitted = fold.once(("tree", type(tree)), lambda: tree.fit(fold.X_train, fold.y_train))
        self._classes = getattr(fitted, "classes_", None)
        self._numbers = fold.once("tree numbers", lambda: per_table(plain_numbers))
        self._X, self._y = self._numbers(fold.X_train), codes(self._classes, fold.y_train)
        self._random = seeded(candidate.setting("random_state"))
        self._start = self._random.get_state()
        self._grower = Grower(
            tree,
            n_rows=len(self._y),
            n_features=self._X.shape[1],
            n_classes=1 if self._classes is None else len(self._classes),
            weight=len(self._y),
            random_state=self._random,
        )
        if fitted is tree and not same_tree(fitted.tree_, self.grow(tree.max_depth)):
            raise CannotShareError("trees that grow otherwise than scikit-learn's")

    def grow(self, depth: int | None) -> Tree:
        self._random.set_state(self._start)
        return self._grower.grow(self._X, self._y, None, depth)

    def model(self, tree: Tree) -> Any:
        means = per_table(lambda X: tree.predict(self._numbers(X)))
        return stand_in_of_means(self._base, self._classes, means)
