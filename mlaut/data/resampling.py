"""Assigning rows to folds: hold-out, k-fold, both repeated, or any scikit-learn splitter.

The two schemes here need no class to have a certain number of rows. Stratified, they order the
rows by class, in random order within each, and deal them out in turn: of each class every fold
gets its share, to within one row; a class of one or two rows is dealt on with its neighbours. Each
row is tested with the same probability, whatever its class. The only row of a class can fall to
the test rows; then no strategy can know that class, and all are judged alike.
"""

from __future__ import annotations

import copy
import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np

from mlaut.errors import DataError, nearest
from mlaut.records import CLASSIFICATION, TRAIN_ONLY, UNUSED, Split

__all__ = ["HoldOut", "KFold", "make_split", "parse_scheme", "split_of_pairs"]

MOST_FOLDS = np.iinfo(np.int16).max


@dataclass(frozen=True)
class HoldOut:
    """Some rows test, all others train; repeated, each time anew.

    Attributes
    ----------
    test_size : float, default 1/3
        Share of the rows that test.
    n_repeats : int, default 1
    stratify : bool, default True
        Give train and test the same share of each class (classification only). ``False`` draws
        among all rows alike, as the published MLaut did.

    Examples
    --------
    >>> str(HoldOut()), str(HoldOut(0.25, n_repeats=10, stratify=False))
    ('holdout(test_size=1/3)', 'repeated_holdout(test_size=1/4, n_repeats=10, stratify=False)')
    """

    test_size: float = 1 / 3
    n_repeats: int = 1
    stratify: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.test_size < 1:
            raise DataError(f"test_size {self.test_size!r}: a share between 0 and 1 is needed")
        _check_count("n_repeats", self.n_repeats, 1)

    def __str__(self) -> str:
        return _named("holdout", f"test_size={_share(self.test_size)}", self)

    def folds(self, order: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Fold of each row of one repeat; ``order`` is that in which rows are dealt."""
        n = len(order)
        n_test = min(max(round(n * self.test_size), 1), n - 1)
        if n < 2:
            raise DataError("one row cannot both train and test; a hold-out needs two")
        # Every (n / n_test)-th row in that order, from a random start: exactly n_test rows.
        dealt = (np.arange(n) * n_test + generator.integers(n)) % n < n_test
        folds = np.full(n, TRAIN_ONLY, dtype=np.int16)
        folds[order[dealt]] = 0
        return folds


@dataclass(frozen=True)
class KFold:
    """Each row tests once, in one of k folds of the same size; repeated, each time anew.

    Attributes
    ----------
    n_folds : int, default 10
    n_repeats : int, default 1
    stratify : bool, default True
        Give each fold the same share of each class (classification only).

    Examples
    --------
    >>> str(KFold()), str(KFold(5, n_repeats=2))
    ('kfold(n_folds=10)', 'repeated_kfold(n_folds=5, n_repeats=2)')
    """

    n_folds: int = 10
    n_repeats: int = 1
    stratify: bool = True

    def __post_init__(self) -> None:
        _check_count("n_folds", self.n_folds, 2)
        _check_count("n_repeats", self.n_repeats, 1)

    def __str__(self) -> str:
        return _named("kfold", f"n_folds={self.n_folds}", self)

    def folds(self, order: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Fold of each row of one repeat; ``order`` is that in which rows are dealt."""
        n = len(order)
        if n < self.n_folds:
            raise DataError(f"{n} rows cannot make {self.n_folds} folds; ask for fewer folds")
        folds = np.empty(n, dtype=np.int16)
        folds[order] = generator.permutation(self.n_folds)[np.arange(n) % self.n_folds]
        return folds


def _check_count(name: str, value: Any, least: int) -> None:
    if not isinstance(value, int) or not least <= value <= MOST_FOLDS:
        raise DataError(f"{name} {value!r}: a whole number from {least} is needed")


def _share(value: float) -> str:
    fraction = Fraction(value).limit_denominator(100)
    return str(fraction) if float(fraction) == value else repr(value)


def _named(name: str, first: str, scheme: HoldOut | KFold) -> str:
    repeats = f", n_repeats={scheme.n_repeats}" if scheme.n_repeats > 1 else ""
    prefix = "repeated_" if scheme.n_repeats > 1 else ""
    return f"{prefix}{name}({first}{repeats}{'' if scheme.stratify else ', stratify=False'})"


# ---------------------------------------------------------------- from a text

SCHEMES: dict[str, HoldOut | KFold] = {
    "holdout": HoldOut(),
    "repeated_holdout": HoldOut(n_repeats=10),
    "kfold": KFold(),
    "repeated_kfold": KFold(n_repeats=10),
}


def parse_scheme(text: str) -> HoldOut | KFold:
    """Return the scheme that a text names.

    Parameters
    ----------
    text : str
        ``"holdout"``, ``"repeated_holdout"``, ``"kfold"`` or ``"repeated_kfold"``; in brackets
        may follow ``test_size`` or ``n_folds``, then ``n_repeats`` and ``stratify``, with or
        without their names. The repeated ones have 10 repeats unless they say otherwise.

    Raises
    ------
    DataError
        The text names no scheme, or a scheme has no such parameter.

    Examples
    --------
    >>> parse_scheme("holdout(1/4)"), parse_scheme("repeated_kfold(10, n_repeats=5)")
    (HoldOut(test_size=0.25, n_repeats=1, stratify=True), KFold(n_folds=10, n_repeats=5, stratify=True))
    >>> parse_scheme("k_fold(10)")
    Traceback (most recent call last):
    mlaut.errors.DataError: no split scheme 'k_fold(10)'; did you mean 'kfold'?
    """  # noqa: E501
    match = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", text)
    if not match or match[1] not in SCHEMES:
        name = match[1] if match else text
        hint = nearest(name, SCHEMES) or f"; there are {', '.join(SCHEMES)}"
        raise DataError(f"no split scheme {text!r}{hint}")
    default = SCHEMES[match[1]]
    known = [field.name for field in fields(default)]
    given: dict[str, Any] = {}
    for position, part in enumerate(filter(str.strip, (match[2] or "").split(","))):
        name, _, value = part.rpartition("=")
        name = name.strip() or (known[position] if position < len(known) else part.strip())
        if name not in known or name in given:
            hint = nearest(name, known) or f"; it takes {', '.join(known)}"
            raise DataError(f"split scheme {text!r} cannot take {part.strip()!r}{hint}")
        given[name] = _value(text, value.strip())
    try:
        return replace(default, **given)
    except DataError as error:
        raise DataError(f"split scheme {text!r}: {error}") from None


def _value(text: str, value: str) -> float | int | bool:
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    try:
        return int(value) if value.isdigit() else float(Fraction(value))
    except (ValueError, ZeroDivisionError):
        raise DataError(f"split scheme {text!r}: {value!r} is no number") from None


# ------------------------------------------------------------------- a split


def make_split(
    truth: np.ndarray,
    task: str,
    scheme: str | HoldOut | KFold | Any = "holdout",
    *,
    seed: int = 0,
    key: str = "",
    groups: Sequence[Any] | np.ndarray | None = None,
) -> Split:
    """Assign the rows of a dataset to folds.

    Parameters
    ----------
    truth : ndarray, shape (n_rows,)
        Class positions or numbers (`mlaut.data.targets.encode_target`).
    task : str
        Regression is never stratified.
    scheme : str, HoldOut, KFold or scikit-learn splitter, default "holdout"
        A text is read by `parse_scheme`. A splitter that shuffles and has no ``random_state`` is
        given one. Its rows are taken in ascending order, as `split_of_pairs` does.
    seed : int, default 0
    key : str, default ""
        What the draw depends on beside the seed, for example the fingerprint of the dataset, so
        that it does not depend on what was drawn before. The first repeats of a scheme are the
        same however many repeats there are.
    groups : sequence, shape (n_rows,), optional
        For a splitter that keeps groups together, such as ``GroupKFold``.

    Raises
    ------
    DataError
        The scheme does not suit the rows.

    Examples
    --------
    >>> truth = np.array([0] * 6 + [1] * 3)
    >>> split = make_split(truth, "Classification")
    >>> train, test = split.rows(0, 0)
    >>> np.bincount(truth[train]).tolist(), np.bincount(truth[test]).tolist()
    ([4, 2], [2, 1])
    """
    if isinstance(scheme, str):
        scheme = parse_scheme(scheme)
    if not isinstance(scheme, HoldOut | KFold):
        return _split_by_splitter(truth, scheme, seed, key, groups)
    if groups is not None:
        raise DataError(
            f"{scheme} knows no groups; pass a scikit-learn splitter, for example GroupKFold(5)"
        )
    stratified = scheme.stratify and task == CLASSIFICATION
    repeats = []
    for repeat in range(scheme.n_repeats):
        generator = np.random.default_rng(_entropy(seed, key, repeat))
        order = generator.permutation(len(truth))
        if stratified:
            order = order[np.argsort(truth[order], kind="stable")]
        repeats.append(scheme.folds(order, generator))
    return Split(np.stack(repeats), str(scheme), seed)


def _entropy(seed: int, *key: Any) -> int:
    text = "\0".join(map(str, (seed, *key)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "little")


def _split_by_splitter(truth: np.ndarray, splitter: Any, seed: int, key: str, groups: Any) -> Split:
    name = " ".join(str(splitter).split())
    if not callable(getattr(splitter, "split", None)):
        raise DataError(
            f"no split scheme {name:.60}; pass a text such as 'kfold(10)', "
            "or a scikit-learn splitter"
        )
    seeded = copy.copy(splitter)
    shuffles = getattr(seeded, "shuffle", True) and hasattr(seeded, "random_state")
    if shuffles and seeded.random_state is None:
        seeded.random_state = _entropy(seed, key) % 2**32
    rows = np.zeros((len(truth), 1))
    try:
        return split_of_pairs(seeded.split(rows, truth, groups), len(truth), name, seed)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name}: {' '.join(str(error).split())}") from error


def split_of_pairs(
    pairs: Iterable[tuple[Any, Any]], n_rows: int, scheme: str = "pairs", seed: int | None = None
) -> Split:
    """Make a split of (train, test) pairs of row positions, as scikit-learn's ``cv`` has them.

    Where the first k pairs test every row once and train on all others, and so do the next k, and
    so on, they are the folds of one repeat each. Otherwise each pair is a repeat with one fold.

    A split says which rows train and test, not in which order: `Split.rows` gives both ascending.
    Scikit-learn's k-fold splitters do so too, and results on them equal those of
    ``cross_val_score(estimator, X, y, cv=splitter)``. `ShuffleSplit` and its kin give rows in the
    order in which they drew them, and an estimator that draws rows itself, such as a forest, then
    draws others with the same seed. ``cv=list(split)`` is the same rows in the same order for both.

    Parameters
    ----------
    pairs : iterable of (train, test)
        Integer positions.
    n_rows : int
    scheme : str
        In words.
    seed : int, optional

    Raises
    ------
    DataError
        A row is in both parts of a pair or twice in one, a part is empty, or no row.

    Examples
    --------
    >>> split_of_pairs([([0, 1], [2, 3]), ([2, 3], [0, 1])], 4).folds.tolist()
    [[1, 1, 0, 0]]
    >>> split_of_pairs([([0], [1]), ([0, 1], [2])], 4).folds.tolist()
    [[-1, 0, -2, -2], [-1, -1, 0, -2]]
    """
    rows = [_coded(train, test, n_rows, number) for number, (train, test) in enumerate(pairs)]
    if not rows:
        raise DataError(f"{scheme}: it makes no split of {n_rows} rows")
    size = _size_of_partition(rows)
    if not size:
        return Split(np.stack(rows), scheme, seed)
    if size > MOST_FOLDS:
        raise DataError(f"{scheme}: {size} folds, and a study holds up to {MOST_FOLDS}")
    tested = np.stack(rows).reshape(-1, size, n_rows) == 0
    return Split(tested.argmax(axis=1).astype(np.int16), scheme, seed)


def _coded(train: Any, test: Any, n_rows: int, number: int) -> np.ndarray:
    """One pair as codes of rows: 0 where it tests."""
    codes = np.full(n_rows, UNUSED, dtype=np.int8)
    for name, part, code in (("train", train, TRAIN_ONLY), ("test", test, 0)):
        positions = np.asarray(part, dtype=np.intp)
        if not len(positions):
            raise DataError(f"pair {number}: no row to {name}; each pair needs both")
        if positions.min() < 0 or positions.max() >= n_rows:
            raise DataError(f"pair {number}: a {name} row is outside 0 to {n_rows - 1}")
        if len(np.unique(positions)) != len(positions):
            raise DataError(f"pair {number}: a row is there twice to {name}; name each row once")
        if (codes[positions] != UNUSED).any():
            raise DataError(f"pair {number}: a row both trains and tests; keep them apart")
        codes[positions] = code
    return codes


def _size_of_partition(rows: Sequence[np.ndarray]) -> int:
    """How many neighbouring pairs test every row once between them; 0 where they do not."""
    if any((row == UNUSED).any() for row in rows):
        return 0
    tested = np.cumsum([np.count_nonzero(row == 0) for row in rows])
    size = int(np.searchsorted(tested, len(rows[0]))) + 1
    if size < 2 or len(rows) % size:
        return 0
    for start in range(0, len(rows), size):
        times = sum((row == 0).astype(np.int32) for row in rows[start : start + size])
        if np.any(times != 1):
            return 0
    return size
