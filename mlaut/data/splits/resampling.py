"""Assignment of rows to folds: hold-out, k-fold, by group or time, or any scikit-learn splitter.

Hold-out and k-fold work with classes of any size. To stratify, they order the rows by class, in
random order within each class, and deal them to the folds in turn. So every fold gets its share of
each class to within one row; a class with fewer rows than folds is dealt together with its
neighbours. Each row is tested with the same probability, whatever its class. If a class has only
one row, that row can be a test row; then no strategy can learn the class.
"""

import copy
import hashlib
import re
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from mlaut.data.splits.by_role import (
    GroupFolds,
    GroupTimeSeries,
    LeaveOneGroupOut,
    TimeSeries,
    check_count,
)
from mlaut.errors import DataError, nearest
from mlaut.helpers.markup import counted
from mlaut.records import CLASSIFICATION, TRAIN_ONLY, UNUSED, Split


@dataclass(frozen=True)
class HoldOut:
    """Hold-out scheme: in each repeat, a random share of the rows tests and all others train.

    Attributes
    ----------
    test_size : float, default 1/3
        Share of the rows that test.
    n_repeats : int, default 1
        Number of independent draws.
    stratify : bool, default True
        Whether training and test rows have the same share of each class (classification only).
        ``False`` draws rows regardless of their class, as the published MLaut did.

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
        check_count("n_repeats", self.n_repeats, 1)

    def __str__(self) -> str:
        return _named("holdout", f"test_size={_share(self.test_size)}", self)

    def folds(self, order: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Return the fold of each row in one repeat; rows are dealt in the order ``order``."""
        n = len(order)
        n_test = min(max(round(n * self.test_size), 1), n - 1)
        if n < 2:
            raise DataError("one row cannot both train and test; a hold-out needs two")
        # Takes every (n / n_test)-th row of the order from a random start: exactly n_test rows.
        dealt = (np.arange(n) * n_test + generator.integers(n)) % n < n_test
        folds = np.full(n, TRAIN_ONLY, dtype=np.int16)
        folds[order[dealt]] = 0
        return folds


@dataclass(frozen=True)
class KFold:
    """K-fold scheme: each row tests once per repeat, in one of k folds of about the same size.

    Attributes
    ----------
    n_folds : int, default 10
        Number of folds of each repeat.
    n_repeats : int, default 1
        Number of independent draws.
    stratify : bool, default True
        Whether each fold has the same share of each class (classification only).

    Examples
    --------
    >>> str(KFold()), str(KFold(5, n_repeats=2))
    ('kfold(n_folds=10)', 'repeated_kfold(n_folds=5, n_repeats=2)')
    """

    n_folds: int = 10
    n_repeats: int = 1
    stratify: bool = True

    def __post_init__(self) -> None:
        check_count("n_folds", self.n_folds, 2)
        check_count("n_repeats", self.n_repeats, 1)

    def __str__(self) -> str:
        return _named("kfold", f"n_folds={self.n_folds}", self)

    def folds(self, order: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Return the fold of each row in one repeat; rows are dealt in the order ``order``."""
        n = len(order)
        if n < self.n_folds:
            raise DataError(f"{n} rows cannot make {self.n_folds} folds; ask for fewer folds")
        folds = np.empty(n, dtype=np.int16)
        folds[order] = generator.permutation(self.n_folds)[np.arange(n) % self.n_folds]
        return folds


@dataclass(frozen=True)
class NestedCV(KFold):
    """Nested cross-validation (Bates, Hastie and Tibshirani 2024), for the interval of one learner.

    Each fit is stored as a repeat with one fold. The first ``n_repeats * n_folds`` are those of a
    repeated k-fold, which estimates losses. For the interval only, each pair of folds of each
    repeat has a further fit, which trains without both folds and tests on both. There are
    ``n_repeats * n_folds * (n_folds + 1) / 2`` fits.

    Attributes
    ----------
    n_folds : int, default 5
        Number of folds, at least 3.
    n_repeats : int, default 10
        Number of independent draws.
    stratify : bool, default True
        Whether each fold has the same share of each class (classification only).

    Examples
    --------
    >>> split = make_split(np.zeros(6), "Regression", NestedCV(3, 1))
    >>> split.scheme, split.n_main, split.n_repeats
    ('nested_cv(n_folds=3, n_repeats=1)', 3, 6)
    """

    n_folds: int = 5
    n_repeats: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("n_folds", self.n_folds, 3)

    def __str__(self) -> str:
        return _of_interval("nested_cv", f"n_folds={self.n_folds}", self)

    def extended(self, folds: np.ndarray, **_: Any) -> np.ndarray:
        """Return one row for each fit: those of a repeated k-fold, then those for the interval."""
        sets = [[(fold,) for fold in range(self.n_folds)], combinations(range(self.n_folds), 2)]
        codes = [
            np.where(np.isin(row, tested), 0, TRAIN_ONLY)
            for of_kind in map(list, sets)
            for row in folds
            for tested in of_kind
        ]
        return np.array(codes, dtype=folds.dtype)


@dataclass(frozen=True)
class PairedSubsampling(HoldOut):
    """Paired subsampling (Nadeau and Bengio 2003), for the conservative z interval of one learner.

    The first ``n_repeats`` repeats are hold-outs of all rows, which estimate losses. For the
    interval only, the rows are then halved ``n_pairs`` times, and each half has the same number of
    hold-outs with the same number of test rows. There are ``n_repeats * (2 * n_pairs + 1)`` fits.

    Attributes
    ----------
    test_size : float, default 1/10
        Share of the rows that test; below 1/2, so that the halves have rows to train on.
    n_repeats : int, default 15
        Number of hold-outs of all rows, and of each half.
    stratify : bool, default True
        Whether all parts have the same share of each class (classification only).
    n_pairs : int, default 10
        Number of independent draws of two halves.

    Examples
    --------
    >>> split = make_split(np.zeros(20), "Regression", PairedSubsampling(0.1, 2, n_pairs=3))
    >>> split.n_main, split.n_repeats, [len(rows) for rows in split.rows(2, 0)]
    (2, 14, [8, 2])
    """

    test_size: float = 1 / 10
    n_repeats: int = 15
    n_pairs: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("n_pairs", self.n_pairs, 1)
        if self.test_size >= 0.5:
            raise DataError(f"test_size {self.test_size!r}: a half of the rows cannot train")

    def __str__(self) -> str:
        return _of_interval("paired_subsampling", f"test_size={_share(self.test_size)}", self)

    def extended(self, folds: np.ndarray, truth: np.ndarray, task: str, key: str, seed: int) -> Any:
        """Return the hold-outs of all rows, and those of the halves, which the interval needs."""
        even = len(truth) - len(truth) % 2  # halves of one size
        n_test = int((folds[0] == 0).sum())
        halving = HoldOut(0.5, n_repeats=self.n_pairs, stratify=self.stratify)
        scheme = HoldOut(2 * n_test / even, n_repeats=self.n_repeats, stratify=self.stratify)
        halves = make_split(truth[:even], task, halving, seed=seed, key=f"{key} halves").folds
        codes = [folds]
        for pair, half in [(pair, half) for pair in halves for half in (0, TRAIN_ONLY)]:
            rows = np.flatnonzero(pair == half)
            part = make_split(truth[rows], task, scheme, seed=seed, key=f"{key} {len(codes)}")
            codes.append(np.full_like(folds, UNUSED))
            codes[-1][:, rows] = part.folds
        return np.concatenate(codes)


def _of_interval(name: str, first: str, scheme: NestedCV | PairedSubsampling) -> str:
    """Return the text of a scheme that always names its repeats (`mlaut.records.Split.n_main`)."""
    pairs = f", n_pairs={scheme.n_pairs}" if isinstance(scheme, PairedSubsampling) else ""
    stratify = "" if scheme.stratify else ", stratify=False"
    return f"{name}({first}, n_repeats={scheme.n_repeats}{pairs}{stratify})"


def _share(value: float) -> str:
    fraction = Fraction(value).limit_denominator(100)
    return str(fraction) if float(fraction) == value else repr(value)


def _named(name: str, first: str, scheme: HoldOut | KFold) -> str:
    repeats = f", n_repeats={scheme.n_repeats}" if scheme.n_repeats > 1 else ""
    prefix = "repeated_" if scheme.n_repeats > 1 else ""
    return f"{prefix}{name}({first}{repeats}{'' if scheme.stratify else ', stratify=False'})"


@dataclass(frozen=True)
class ByRole:
    """K-fold scheme that keeps to the roles of the columns of each dataset.

    With groups it is `GroupFolds`, with times `TimeSeries`, with both `GroupTimeSeries`, else
    `KFold`. The scheme that a dataset got is stored with its split.

    Attributes
    ----------
    n_folds : int, default 5
        Number of folds.
    stratify : bool, default True
        Whether folds by group or at random have about the same shares of the classes.

    Examples
    --------
    >>> str(ByRole()), str(ByRole().for_roles("Classification", {"group"}))
    ('kfold_by_role(n_folds=5)', 'stratified_group_kfold(n_folds=5)')
    """

    n_folds: int = 5
    stratify: bool = True

    def __post_init__(self) -> None:
        check_count("n_folds", self.n_folds, 2)

    def __str__(self) -> str:
        return f"kfold_by_role(n_folds={self.n_folds}{'' if self.stratify else ', stratify=False'})"

    def for_roles(self, task: str, roles: Collection[str]) -> Any:
        """Return the scheme of a dataset that has columns of these roles."""
        if "time" in roles:
            return (GroupTimeSeries if "group" in roles else TimeSeries)(self.n_folds)
        if "group" in roles:
            return GroupFolds(self.n_folds, stratify=self.stratify and task == CLASSIFICATION)
        return KFold(self.n_folds, stratify=self.stratify)


# ---------------------------------------------------------------- from a text

Roled = GroupFolds | LeaveOneGroupOut | TimeSeries | GroupTimeSeries
Scheme = HoldOut | KFold | Roled | ByRole

SCHEMES: dict[str, Scheme] = {
    "holdout": HoldOut(),
    "repeated_holdout": HoldOut(n_repeats=10),
    "kfold": KFold(),
    "repeated_kfold": KFold(n_repeats=10),
    "nested_cv": NestedCV(),
    "paired_subsampling": PairedSubsampling(),
    "group_kfold": GroupFolds(),
    "stratified_group_kfold": GroupFolds(stratify=True),
    "leave_one_group_out": LeaveOneGroupOut(),
    "time_series": TimeSeries(),
    "group_time_series": GroupTimeSeries(),
    "kfold_by_role": ByRole(),
}


def parse_scheme(text: str) -> Scheme:
    """Return the scheme that a text names.

    Parameters
    ----------
    text : str
        ``"holdout"``, ``"repeated_holdout"``, ``"kfold"`` or ``"repeated_kfold"``, optionally
        followed by parameters in brackets: ``test_size`` or ``n_folds``, then ``n_repeats`` and
        ``stratify``, with or without their names. Repeated schemes have 10 repeats by default.
        ``"nested_cv(5, 10)"`` and ``"paired_subsampling(1/10, 15, n_pairs=10)"`` have further
        repeats, which only serve the intervals of single learners.
        ``"group_kfold(5)"``, ``"stratified_group_kfold(5)"`` and ``"leave_one_group_out"`` keep
        the rows of a group together; ``"time_series(5)"``, also with ``gap``, tests later rows
        than it trains on; ``"group_time_series(5)"`` does both. These schemes need a dataset with a
        column of that role. ``"kfold_by_role(5)"`` chooses one of them by the roles of each
        dataset, and ``"kfold(5)"`` for a dataset without groups and times.

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
    match = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", str(text))
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
    except (ValueError, ArithmeticError):
        raise DataError(f"split scheme {text!r}: {value!r} is not a number") from None


# ------------------------------------------------------------------- a split


def make_split(
    truth: np.ndarray,
    task: str,
    scheme: str | Scheme | Any = "holdout",
    *,
    seed: int = 0,
    key: str = "",
    groups: Sequence[Any] | np.ndarray | None = None,
    times: Sequence[Any] | np.ndarray | None = None,
    table: tuple[Any, Any] | None = None,
) -> Split:
    """Assign the rows of a dataset to folds.

    Parameters
    ----------
    truth : ndarray, shape (n_rows,)
        Class positions or numbers (`mlaut.data.splits.targets.encode_target`).
    task : str
        ``"Classification"`` or ``"Regression"``. Regression is never stratified.
    scheme : str, scheme, scikit-learn splitter or list of pairs, default "holdout"
        A text is read by `parse_scheme`, pairs (train, test) by `split_of_pairs`. If a splitter
        shuffles and has no ``random_state``, it gets one that is derived from the seed and the
        key. The rows of a splitter are taken in ascending order, as in `split_of_pairs`.
    seed : int, default 0
        Seed of the draw.
    key : str, default ""
        Second input of the draw beside the seed, for example the fingerprint of the dataset. The
        draw then does not depend on earlier draws. The first repeats of a scheme are the same
        however many repeats it has.
    groups : sequence, shape (n_rows,), optional
        Group of each row, for a scheme that keeps groups together, such as ``"group_kfold(5)"``.
    times : sequence, shape (n_rows,), optional
        Time of each row, for ``"time_series(5)"``.
    table : pair of table and labels, optional
        Rows for a splitter that uses them; default zeros and the truth.

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
    values = {"group": groups, "time": times}
    if isinstance(scheme, ByRole):
        scheme = scheme.for_roles(task, [role for role, x in values.items() if x is not None])
    if isinstance(scheme, Roled):
        return _split_by_role(truth, scheme, seed, values)
    if not isinstance(scheme, HoldOut | KFold):
        return _split_by_splitter(truth, scheme, seed, key, groups, table)
    if groups is not None:
        raise DataError(
            f"{scheme} cannot keep groups together; use a scheme that does, for example "
            "'group_kfold(5)'"
        )
    stratified = scheme.stratify and task == CLASSIFICATION and truth.ndim == 1
    repeats = []
    for repeat in range(scheme.n_repeats):
        generator = np.random.default_rng(_entropy(seed, key, repeat))
        order = generator.permutation(len(truth))
        if stratified:
            order = order[np.argsort(truth[order], kind="stable")]
        repeats.append(scheme.folds(order, generator))
    folds = np.stack(repeats)
    if isinstance(scheme, NestedCV | PairedSubsampling):
        folds = scheme.extended(folds, truth=truth, task=task, key=key, seed=seed)
    return Split(folds, str(scheme), seed)


def _split_by_role(truth: np.ndarray, scheme: Roled, seed: int, values: Mapping[str, Any]) -> Split:
    for role in scheme.roles:
        if values[role] is None:
            raise DataError(
                f"{scheme} needs the {role} of each row; name its column in the roles of the "
                f"dataset, as in {{{role!r}: 'column'}}, or use 'kfold_by_role(5)', which takes "
                "what each dataset has"
            )
    try:
        folds = scheme.folds(truth, *(np.asarray(values[role]) for role in scheme.roles))
        return Split(folds, str(scheme), seed)
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"{scheme}: {' '.join(str(error).split())}") from error


def _entropy(seed: int, *key: Any) -> int:
    text = "\0".join(map(str, (seed, *key)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "little")


def text_of(scheme: Any) -> str:
    """Return a scheme, splitter or list of pairs as a text that is the same in every process.

    Examples
    --------
    >>> text_of([([0, 1], [2]), ([0, 2], [1])])
    '2 pairs, 7197c5f12523'
    """
    if isinstance(scheme, list | tuple):
        rows = [[np.asarray(part).tolist() for part in _parts(pair)] for pair in scheme]
        digest = hashlib.sha256(str(rows).encode()).hexdigest()[:12]
        return f"{counted(len(rows), 'pair')}, {digest}"
    text = " ".join(str(scheme).split())
    if _ADDRESS.search(text) and hasattr(scheme, "__dict__"):  # the text of any object in Python
        values = ", ".join(f"{name}={value!r}" for name, value in vars(scheme).items())
        text = f"{type(scheme).__name__}({' '.join(values.split())})"
    return _ADDRESS.sub("", text)


def _parts(pair: Any) -> Iterable[Any]:
    return pair if isinstance(pair, Iterable) else (pair,)


_ADDRESS = re.compile(r"( object)? at 0x[0-9a-f]+")


def _split_by_splitter(
    truth: np.ndarray, splitter: Any, seed: int, key: str, groups: Any, table: Any
) -> Split:
    name = text_of(splitter)
    if isinstance(splitter, list | tuple) and len(splitter):
        return split_of_pairs(splitter, len(truth), name, seed)
    if not callable(getattr(splitter, "split", None)):
        raise DataError(
            f"no split scheme {name:.60}; pass a text such as 'kfold(10)', a scikit-learn splitter "
            "or a list of (train, test) pairs of row positions"
        )
    seeded = copy.copy(splitter)
    shuffles = getattr(seeded, "shuffle", True) and hasattr(seeded, "random_state")
    if shuffles and seeded.random_state is None:
        seeded.random_state = _entropy(seed, key) % 2**32
    rows = (np.zeros((len(truth), 1)), truth) if table is None else table
    given = rows if groups is None else (*rows, groups)
    try:
        with warnings.catch_warnings():  # a dataset may have groups that the splitter does not use
            warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
            return split_of_pairs(seeded.split(*given), len(truth), name, seed)
    except DataError:
        raise
    except Exception as error:  # a splitter of the user may raise anything
        what = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        raise DataError(f"{name}: {what}{' '.join(str(error).split())}") from error


def split_of_pairs(
    pairs: Iterable[tuple[Any, Any]], n_rows: int, scheme: str = "pairs", seed: int | None = None
) -> Split:
    """Return a split from (train, test) pairs of row positions, as in scikit-learn's ``cv``.

    If each run of k successive pairs tests every row once and trains on all others, each run is
    one repeat with k folds. Otherwise each pair is a repeat with one fold.

    A split stores which rows train and test, but not their order: `Split.rows` returns both in
    ascending order. Scikit-learn's k-fold splitters return them in the same order, and results on
    them equal those of ``cross_val_score(estimator, X, y, cv=splitter)``. `ShuffleSplit` and
    similar splitters return rows in the order of the draw. An estimator that draws rows itself,
    such as a forest, then draws different rows with the same seed. Pass ``cv=list(split)`` to
    scikit-learn for the same rows in the same order.

    Parameters
    ----------
    pairs : iterable of (train, test)
        Integer row positions.
    n_rows : int
        Number of rows of the dataset.
    scheme : str
        Text of the scheme.
    seed : int, optional
        Seed with which the pairs were drawn.

    Raises
    ------
    DataError
        A row is in both parts of a pair or twice in one part, a part is empty, a position is
        outside the table, or there are no pairs.

    Examples
    --------
    >>> split_of_pairs([([0, 1], [2, 3]), ([2, 3], [0, 1])], 4).folds.tolist()
    [[1, 1, 0, 0]]
    >>> split_of_pairs([([0], [1]), ([0, 1], [2])], 4).folds.tolist()
    [[-1, 0, -2, -2], [-1, -1, 0, -2]]
    """
    rows = [_coded(pair, n_rows, number) for number, pair in enumerate(pairs)]
    if not rows:
        raise DataError(f"{scheme}: it makes no split of {n_rows} rows")
    codes = np.stack(rows)
    size = _size_of_partition(codes)
    if not size:
        return Split(codes, scheme, seed)
    if size > (most := np.iinfo(np.int16).max):  # the type of `Split.folds`
        raise DataError(f"{scheme}: {size} folds, and a study holds up to {most}")
    tested = codes.reshape(-1, size, n_rows) == 0
    return Split(tested.argmax(axis=1).astype(np.int16), scheme, seed)


def _coded(pair: Any, n_rows: int, number: int) -> np.ndarray:
    """Return the code of each row in one pair: 0 (tests), `TRAIN_ONLY` or `UNUSED`."""
    try:
        train, test = pair
    except (TypeError, ValueError):
        raise DataError(f"pair {number}: not a pair; give (rows to train, rows to test)") from None
    codes = np.full(n_rows, UNUSED, dtype=np.int8)
    for name, part, code in (("train", train, TRAIN_ONLY), ("test", test, 0)):
        positions = _positions(part, number)
        if not len(positions):
            raise DataError(f"pair {number}: no row to {name}; each pair needs rows for both")
        if positions.min() < 0 or positions.max() >= n_rows:
            raise DataError(f"pair {number}: a {name} row is outside 0 to {n_rows - 1}")
        if len(np.unique(positions)) != len(positions):
            raise DataError(f"pair {number}: a row is listed twice to {name}; list each row once")
        if (codes[positions] != UNUSED).any():
            raise DataError(f"pair {number}: a row both trains and tests; list it in one part")
        codes[positions] = code
    return codes


def _positions(part: Any, number: int) -> np.ndarray:
    given = np.asarray(part)
    if given.ndim != 1 or (len(given) and given.dtype.kind not in "iu"):
        raise DataError(
            f"pair {number}: rows are given as {given.dtype} of shape {given.shape}; give the "
            "positions of rows, counted from 0"
        )
    return given.astype(np.intp)


def _size_of_partition(codes: np.ndarray) -> int:
    """Return k if each run of k successive pairs tests every row once; otherwise 0."""
    if (codes == UNUSED).any():
        return 0
    tests = codes == 0
    size = int(np.searchsorted(np.cumsum(tests.sum(axis=1)), codes.shape[1])) + 1
    if size < 2 or len(codes) % size:
        return 0
    return size * bool((tests.reshape(-1, size, codes.shape[1]).sum(axis=1) == 1).all())
