"""Schemes that split by the group or the time of rows; they equal scikit-learn's splitters."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mlaut.errors import DataError
from mlaut.records import TRAIN_ONLY, UNUSED, Split

_BY_ROLE = "'kfold_by_role(5)', which keeps to the roles of columns"
MOST_FOLDS = np.iinfo(np.int16).max  # the type of `Split.folds`


class LeakWarning(UserWarning):
    """Warning about a split whose training rows reveal something about its test rows."""


@dataclass(frozen=True)
class GroupFolds:
    """K-fold scheme that keeps the rows of a group together, as scikit-learn's ``GroupKFold``.

    Attributes
    ----------
    n_folds : int, default 5
        Number of folds.
    stratify : bool, default False
        Whether the folds have about the same shares of the classes (``StratifiedGroupKFold``).

    Examples
    --------
    >>> str(GroupFolds()), str(GroupFolds(3, stratify=True))
    ('group_kfold(n_folds=5)', 'stratified_group_kfold(n_folds=3)')
    """

    n_folds: int = 5
    stratify: bool = False
    roles: ClassVar[tuple[str, ...]] = ("group",)

    def __post_init__(self) -> None:
        check_count("n_folds", self.n_folds, 2)

    def __str__(self) -> str:
        return f"{'stratified_' if self.stratify else ''}group_kfold(n_folds={self.n_folds})"

    def folds(self, truth: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """Return the fold of each row: shape (1, n_rows), int16."""
        from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

        kind = StratifiedGroupKFold if self.stratify else GroupKFold
        folds = np.full((1, len(truth)), TRAIN_ONLY, dtype=np.int16)
        with warnings.catch_warnings():  # a class with fewer rows than folds is dealt all the same
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            pairs = kind(self.n_folds).split(np.zeros((len(truth), 1)), truth, groups)
            for fold, (_, test) in enumerate(pairs):
                folds[0, test] = fold
        if len(np.unique(folds)) < self.n_folds:
            raise DataError(f"{self}: a fold has no rows; ask for fewer folds")
        return folds


@dataclass(frozen=True)
class LeaveOneGroupOut:
    """Scheme that tests each group once and trains on all others.

    Examples
    --------
    >>> LeaveOneGroupOut().folds(np.zeros(4), np.array(["b", "a", "b", "c"])).tolist()
    [[1, 0, 1, 2]]
    """

    roles: ClassVar[tuple[str, ...]] = ("group",)

    def __str__(self) -> str:
        return "leave_one_group_out"

    def folds(self, truth: np.ndarray, groups: np.ndarray) -> np.ndarray:  # noqa: ARG002
        """Return the fold of each row: shape (1, n_rows), int16."""
        labels, folds = np.unique(groups, return_inverse=True)
        if not 2 <= len(labels) <= MOST_FOLDS:
            raise DataError(f"{self}: {len(labels)} groups; from 2 to {MOST_FOLDS} can be left out")
        return folds[None].astype(np.int16)


@dataclass(frozen=True)
class TimeSeries:
    """Scheme that trains on the past and tests on the rows that follow (``TimeSeriesSplit``).

    The rows are sorted by their times, whatever their order in the table. Each fold is stored as a
    repeat with one fold, because each fold uses different rows.

    Attributes
    ----------
    n_folds : int, default 5
        Number of successive test sets.
    gap : int, default 0
        Number of rows between the training and the test rows that are left out.

    Examples
    --------
    >>> str(TimeSeries(3))
    'time_series(n_folds=3)'
    >>> TimeSeries(2).folds(np.zeros(3), np.array([30, 10, 20])).tolist()
    [[-2, -1, 0], [0, -1, -1]]
    """

    n_folds: int = 5
    gap: int = 0
    roles: ClassVar[tuple[str, ...]] = ("time",)
    name: ClassVar[str] = "time_series"

    def __post_init__(self) -> None:
        check_count("n_folds", self.n_folds, 2)
        check_count("gap", self.gap, 0)

    def __str__(self) -> str:
        gap = f", gap={self.gap}" if self.gap else ""
        return f"{self.name}(n_folds={self.n_folds}{gap})"

    def folds(self, truth: np.ndarray, *values: np.ndarray) -> np.ndarray:
        """Return the code of each row in each pair: shape (n_folds, n_rows), int16."""
        from sklearn.model_selection import TimeSeriesSplit

        (times,) = values
        order = np.argsort(times, kind="stable")
        folds = np.full((self.n_folds, len(truth)), UNUSED, dtype=np.int16)
        for pair, (train, test) in enumerate(
            TimeSeriesSplit(self.n_folds, gap=self.gap).split(order)
        ):
            folds[pair, order[train]] = TRAIN_ONLY
            folds[pair, order[test]] = 0
        return folds


@dataclass(frozen=True)
class GroupTimeSeries(TimeSeries):
    """Time series scheme that trains on no row of the groups that it tests.

    Each fold tests the same rows as `TimeSeries`. Of the rows that it trains on, those of the
    tested groups are left out, and those of the time of the first test row.

    Examples
    --------
    >>> str(GroupTimeSeries(3))
    'group_time_series(n_folds=3)'
    >>> groups, times = np.array(["a", "b", "c", "a"]), np.array([1, 2, 3, 4])
    >>> GroupTimeSeries(2).folds(np.zeros(4), groups, times).tolist()
    [[-1, -1, 0, -2], [-2, -1, -1, 0]]
    """

    roles: ClassVar[tuple[str, ...]] = ("group", "time")
    name: ClassVar[str] = "group_time_series"

    def folds(self, truth: np.ndarray, *values: np.ndarray) -> np.ndarray:
        """Return the code of each row in each pair: shape (n_folds, n_rows), int16."""
        groups, times = values
        folds = super().folds(truth, times)
        for number, codes in enumerate(folds, start=1):
            tested = codes == 0
            known = np.isin(groups, groups[tested]) | (times >= times[tested].min())
            codes[(codes == TRAIN_ONLY) & known] = UNUSED
            if not (codes == TRAIN_ONLY).any():
                raise DataError(
                    f"{self}: fold {number} has no earlier row of other groups than it tests; ask "
                    "for fewer folds, or use 'group_kfold(5)' or 'time_series(5)'"
                )
        return folds


def check_count(name: str, value: object, least: int) -> None:
    """Check that a parameter of a scheme is a whole number from ``least`` on."""
    if not isinstance(value, int) or not least <= value <= MOST_FOLDS:
        raise DataError(f"{name} {value!r}: a whole number from {least} is needed")


def leaks(split: Split, values: dict[str, np.ndarray]) -> Iterator[str]:
    """Yield a line for each way in which the training rows of a split reveal its test rows.

    Parameters
    ----------
    split : Split
    values : dict of str to ndarray, shape (n_rows,)
        Values of the columns of a dataset by role; ``group``, ``id`` and ``time`` are used.

    Examples
    --------
    >>> split = Split(np.array([[0, 1, 0, 1]], dtype=np.int16), "kfold(n_folds=2)")
    >>> list(leaks(split, {"group": np.array(["a", "a", "b", "c"])}))
    ["1 of 3 groups has rows among the training and the test rows of a fold of kfold(n_folds=2); \
use scheme 'kfold_by_role(5)', which keeps to the roles of columns"]
    """
    for role, instead in (
        ("group", f"use scheme {_BY_ROLE}"),
        ("id", f"drop the repeated rows, or make it the group and use scheme {_BY_ROLE}"),
    ):
        if role in values:
            labels, codes = np.unique(values[role], return_inverse=True)
            n = max(_on_both_sides(folds, codes, len(labels)) for folds in split.folds)
            if n:
                yield (
                    f"{n} of {len(labels)} {role}s {'have' if n > 1 else 'has'} rows among the "
                    f"training and the test rows of a fold of {split.scheme}; {instead}"
                )
    if "time" in values:
        yield from _leaks_of_time(split, values["time"])


def _on_both_sides(folds: np.ndarray, codes: np.ndarray, n: int) -> int:
    """Return the number of groups with rows in a test part and in its training part."""
    used = folds != UNUSED
    pairs = np.unique(np.stack([codes[used], folds[used]]), axis=1)
    several = np.bincount(pairs[0], minlength=n) > 1
    tested = np.bincount(pairs[0][pairs[1] >= 0], minlength=n) > 0
    return int((several & tested).sum())


def _leaks_of_time(split: Split, times: np.ndarray) -> Iterator[str]:
    pairs = ((train, test) for train, test in split if len(train) and len(test))
    parts = [(times[train].max(), times[test].min()) for train, test in pairs]
    later = sum(int(last > first) for last, first in parts)
    same = sum(int(last == first) for last, first in parts)
    if later:
        yield (
            f"{later} of {len(parts)} folds of {split.scheme} train on rows of a later time than "
            f"some that they test; use scheme {_BY_ROLE}"
        )
    elif same:
        yield (
            f"{same} of {len(parts)} folds of {split.scheme} train and test on rows of one time; "
            "give the scheme a gap, as in 'time_series(5, gap=10)'"
        )
