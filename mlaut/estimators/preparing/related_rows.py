"""Groups and times of rows, which tuning and early stopping respect like the split."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    StratifiedGroupKFold,
    TimeSeriesSplit,
)

from mlaut.estimators.looking import has

Pair = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class RelatedRows:
    """Group or time of each training row.

    Attributes
    ----------
    kind : {"group", "time"}
    values : ndarray, shape (n_rows,)
        Codes of groups, or numbers in the order of time.
    """

    kind: str
    values: np.ndarray

    def n_folds(self, n_splits: int) -> int:
        """Return the number of folds that can be made, at most ``n_splits``."""
        several = len(np.unique(self.values)) if self.kind == "group" else len(self.values) - 1
        return min(n_splits, several)

    def folds(self, labels: np.ndarray, n_splits: int, stratify: bool, seed: Any) -> list[Pair]:
        """Return the positions of the training and the test rows of each fold.

        Folds of groups are those of scikit-learn's ``StratifiedGroupKFold`` (with classes) or
        ``GroupKFold``, folds of times those of ``TimeSeriesSplit`` on the rows in order of time.
        """
        n_splits, rows = self.n_folds(n_splits), np.zeros((len(labels), 1))
        if self.kind == "group":
            if stratify:
                folds = StratifiedGroupKFold(n_splits, shuffle=True, random_state=seed)
                return list(folds.split(rows, labels, self.values))
            return list(GroupKFold(n_splits).split(rows, labels, self.values))
        order = np.argsort(self.values, kind="stable")
        pairs = TimeSeriesSplit(n_splits).split(rows)
        return [(np.sort(order[train]), np.sort(order[test])) for train, test in pairs]

    def held_back(self, size: float, seed: Any) -> Pair:
        """Return the positions of rows to fit, and of whole groups or the last rows to validate.

        Raises
        ------
        ValueError
            One of the two parts would have no rows.
        """
        if self.kind == "group":
            parts = GroupShuffleSplit(1, test_size=size, random_state=seed)
            fitted, held = next(parts.split(self.values, groups=self.values))
        else:
            order = np.argsort(self.values, kind="stable")
            n_fitted = len(order) - max(1, round(size * len(order)))
            fitted, held = order[:n_fitted], order[n_fitted:]
        if not len(fitted):
            raise ValueError(f"size {size} leaves no rows to fit")
        return np.sort(fitted), np.sort(held)


def relation_of_fold(
    groups: np.ndarray | None, times: np.ndarray | None, train: np.ndarray, test: np.ndarray
) -> RelatedRows | None:
    """Return the relation of the training rows of a fold that the fold itself respects.

    Parameters
    ----------
    groups, times : ndarray, shape (n_rows,), or None
        Group and time of all rows of the dataset, if it has these roles.
    train, test : ndarray of int
        Positions of the rows of the fold.

    Returns
    -------
    RelatedRows or None
        The times if no training row is later than a test row; the groups if none is on both
        sides of the fold; else None.

    Examples
    --------
    >>> groups = np.array([0, 0, 1, 1, 2, 2])
    >>> relation_of_fold(groups, None, np.arange(4), np.arange(4, 6)).values.tolist()
    [0, 0, 1, 1]
    >>> relation_of_fold(groups, None, np.array([0, 2, 4]), np.array([1, 3, 5])) is None
    True
    """
    if not len(train) or not len(test):
        return None
    if times is not None and times[train].max() <= times[test].min():
        return RelatedRows("time", times[train])
    if groups is not None and not np.isin(groups[test], groups[train]).any():
        return RelatedRows("group", groups[train])
    return None


def relate(model: Any, related: RelatedRows) -> None:
    """Make the folds and the early stopping in a model keep related rows apart."""
    for part in (model, *model.get_params(deep=True).values()):
        if has(part, "related_rows"):
            part.related_rows = related
