"""Frozen records that the packages of MLaut exchange.

A *dataset* is split into folds. A *strategy* is fitted on the training rows of one fold of one
repeat of a dataset: this is a *cell*. The result of a cell is its *outcome*.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from mlaut.errors import StrategyError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

CLASSIFICATION = "Classification"
REGRESSION = "Regression"
TASKS = (CLASSIFICATION, REGRESSION)
ROLES = ("weight", "group", "time", "id", "ignore")  # of columns that are no features

NO_RESULT = "no result"  # the reason where a table of others has no row, or an empty cell
NOT_PLANNED = "not planned"  # the stored reason where a strategy has no cells on a dataset

TRAIN_ONLY = -1  # fold of a row that is never tested in its repeat
UNUSED = -2  # fold of a row that neither trains nor tests in its repeat

OUTSIDE = 1e-6
"""How far a probability may lie below 0 or above 1: several rounding errors of float32 (6e-8)."""
SUM_MISSES_ONE = 1e-3
"""How far a row of probabilities may miss the sum 1: rounding of a network in half precision."""


class Status(enum.IntEnum):
    """Status of a cell, with the numbers that the study file stores."""

    MISSING = 0
    DONE = 1
    ERROR = 2
    TIMEOUT = 3
    MEMORY = 4
    CRASHED = 5
    SKIPPED = 6
    RACED_OUT = 7
    DIVERGED = 8

    @property
    def word(self) -> str:
        """Lower-case name for tables, study files and the command line."""
        return self.name.lower().replace("_", " ")

    @classmethod
    def of_word(cls, word: str) -> Status:
        """Return the status with this word."""
        return cls[word.upper().replace(" ", "_")]

    @property
    def failed(self) -> bool:
        """Return whether the cell was run and has no predictions."""
        return self is not Status.DONE and self.word not in NOT_RUN


# Detail of an outcome that ends the run, and is not stored: the model of the cell was not written.
UNSAVED = "unsaved"

# Reasons of cells that no run tried: they are no failures of their strategies.
NOT_RUN = (Status.MISSING.word, Status.SKIPPED.word, Status.RACED_OUT.word, NOT_PLANNED, NO_RESULT)


@dataclass(frozen=True)
class TooLarge:
    """Reason why a run does not try a strategy: the training part is above its size limit.

    Attributes
    ----------
    kind : {"rows", "values"}
        Unit of the limit.
    size, limit : int
        Number of rows or values in the training part, and the largest number that is allowed.
    factors : tuple of int
        Factors of a number of values: rows, columns and, if each class costs time, classes.

    Examples
    --------
    >>> str(TooLarge("rows", 500_000, 20_000))
    '500,000 training rows, more than its limit of 20,000 (size_limit=None lifts it)'
    >>> TooLarge("rows", 500_000, 20_000).rule
    'more training rows than its limit of 20,000 (size_limit=None lifts it)'
    """

    kind: str
    size: int
    limit: int
    factors: tuple[int, ...] = ()

    def __str__(self) -> str:
        words = ("rows", "columns", "classes")
        named = " x ".join(f"{n:,} {word}" for n, word in zip(self.factors, words, strict=False))
        shape = f" ({named})" if named else ""
        return f"{self.size:,} training {self.kind}{shape}, more than {self._limit}"

    @property
    def rule(self) -> str:
        """Reason in words that are the same for all datasets."""
        return f"more training {self.kind} than {self._limit}"

    @property
    def _limit(self) -> str:
        return f"its limit of {self.limit:,} (size_limit=None lifts it)"


@dataclass(frozen=True)
class Analysis:
    """The analysis of a study, chosen before its first result: the section ``[analysis]``.

    Attributes
    ----------
    question : str, default "best"
        ``"best"`` (which strategies may be the best), ``"control: NAME"`` (which strategies differ
        from NAME), or ``"all pairs"``.
    metric : str
        The primary metric. Default: accuracy for classification, R2 for regression.
    secondary : tuple of str
        Metrics that are also reported, but decide nothing.
    test : str
        The primary test: ``"signed rank"``, ``"sign"``, ``"trinomial"``, ``"t"``, ``"Nemenyi"``,
        ``"Bayesian sign"`` or ``"Bayesian signed rank"``. Default: the signed rank test, and the
        trinomial test for a metric in the unit of each target.
    alpha : float, default 0.05
        Probability of any false claim on all pairs together.
    rope : float, default 0
        Strategies whose scores differ by less are practically equal; with 0 there are no such
        claims.
    missing : str, default "failures last"
        Treatment of cells without a result (`mlaut.analysis.treat_missing`).
    least : int, default 0
        Number of datasets below which nothing is decided. It is at least the number with which the
        test can show a difference at all, which is the default.
    clusters : mapping of str to str
        Source of each dataset that is related to others, by the name of the dataset; any other
        dataset is its own source. The source is then the unit of all claims. Default: the metadata
        ``cluster`` of the datasets; without any, datasets are independent.
    """

    question: str = "best"
    metric: str = ""
    secondary: tuple[str, ...] = ()
    test: str = ""
    alpha: float = 0.05
    rope: float = 0.0
    missing: str = "failures last"
    least: int = 0
    clusters: Mapping[str, str] = field(default_factory=dict)


def as_list(target: Any) -> list[Any]:
    """Return the names of the target columns of a dataset: of one, or of a list."""
    return target if isinstance(target, list) else [target]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Table, or array of rows, with a target column and metadata.

    Attributes
    ----------
    name : str
    frame : DataFrame
        All columns, including the target; beside an array, the target and columns with a role.
    target : str or list of str
        Name of the target column (``class_name`` in MLaut's metadata), or names of several: numbers
        for regression, labels that a row has (1) or has not (0) for classification.
    task : str
        ``"Classification"`` or ``"Regression"``.
    metadata : mapping
        Plain JSON values: ``source``, ``licence``, ``dataset_id`` and further entries.
    fingerprint : str
        Digest of the content: table, target and task. Filled in when the dataset is stored or
        loaded.
    path : str
        Path in the database; empty for a dataset that is only in memory.
    split : Split or None
        Split that the source provides, for example the split of an OpenML task.
    roles : mapping of str to tuple
        Columns that are no features, by their role (`ROLES`): ``weight``, ``group`` and ``time``
        have one column each.
    array : ndarray of 3 and more dimensions, sparse matrix, or None
        Features that are no table: shape (n_rows, ...). None where they are columns of ``frame``.
    """

    name: str
    frame: pd.DataFrame
    target: str
    task: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    fingerprint: str = ""
    path: str = ""
    split: Split | None = None
    roles: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    array: Any = None

    @property
    def features(self) -> Any:
        """Array, or table without the target column and without columns that have a role."""
        if self.array is not None:
            return self.array
        return self.frame.drop(columns=[*self.targets, *chain.from_iterable(self.roles.values())])

    @property
    def targets(self) -> list[Any]:
        """Names of the target columns."""
        return as_list(self.target)

    @property
    def labels(self) -> Any:
        """Target column, or the table of several."""
        return self.frame[self.target]


@dataclass(frozen=True, order=True)
class Cell:
    """One strategy on one fold of one dataset: the unit that is run, resumed and can fail."""

    dataset: str
    strategy: str
    repeat: int = 0
    fold: int = 0

    def __str__(self) -> str:
        return f"{self.strategy} on {self.dataset} (repeat {self.repeat}, fold {self.fold})"


@dataclass(frozen=True, eq=False)
class Split:
    """Assignment of the rows of one dataset to (repeat, fold).

    Attributes
    ----------
    folds : ndarray of int16, shape (n_repeats, n_rows)
        The fold in which a row is tested, from 0; ``-1`` if the row only trains, ``-2`` if the row
        is not used in that repeat. Within a repeat no row is tested twice.
    scheme : str
        Text of the scheme with its parameters, for example
        ``"holdout(test_size=1/3, stratify=True)"``.
    seed : int or None
        Seed with which the split was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> split = Split(np.array([[0, 1, -1, -2]], dtype=np.int16), scheme="by hand")
    >>> split.n_repeats, split.n_folds
    (1, 2)
    >>> train, test = split.rows(repeat=0, fold=1)
    >>> train.tolist(), test.tolist()
    ([0, 2], [1])
    """

    folds: np.ndarray
    scheme: str = ""
    seed: int | None = None

    @property
    def n_repeats(self) -> int:
        """Number of repeats."""
        return int(self.folds.shape[0])

    @property
    def n_rows(self) -> int:
        """Number of rows of the dataset."""
        return int(self.folds.shape[1])

    @property
    def n_main(self) -> int:
        """Number of leading repeats that estimate losses; only intervals use the others."""
        form = r"(?:nested_cv\(n_folds=(\d+)|paired_subsampling\(.*?), n_repeats=(\d+)"
        match = re.match(form, self.scheme)
        return int(match[1] or 1) * int(match[2]) if match else self.n_repeats

    @property
    def kind(self) -> str:
        """The kind of split that its scheme and its folds make.

        ``"hold-out"`` or ``"k-fold"``, also with ``"repeated "`` before it; ``"folds of groups"``;
        ``"time series"``; ``"nested_cv"`` or ``"paired_subsampling"``, which have repeats that
        serve intervals only; empty for any other. It decides which intervals and tests are valid.

        Examples
        --------
        >>> import numpy as np
        >>> Split(np.array([[0, 1, 0, 1]], dtype=np.int16), "kfold(n_folds=2)").kind
        'k-fold'
        """
        scheme = self.scheme.lower()
        if self.n_main < self.n_repeats:
            return scheme.partition("(")[0]
        if re.search("time_?series", scheme):
            return "time series"
        if "group" in scheme or " by " in scheme:
            return "folds of groups" if self.n_folds * self.n_repeats > 1 else ""
        repeated = "repeated " if self.n_repeats > 1 else ""
        if self.n_folds > 1:
            return f"{repeated}k-fold" if (self.folds >= 0).all() else ""
        return f"{repeated}hold-out"

    @property
    def is_stratified(self) -> bool:
        """Whether its scheme gives all parts the same shares of the classes, if there are some."""
        by_class = "stratif" in self.scheme or "group" not in self.scheme
        return by_class and "stratify=False" not in self.scheme

    @cached_property
    def n_folds(self) -> int:
        """Number of folds of each repeat."""
        return int(self.folds.max(initial=-1)) + 1

    @cached_property
    def test_sizes(self) -> tuple[tuple[int, ...], ...]:
        """Number of test rows of each fold, by repeat."""
        import numpy as np

        counts = (np.bincount(folds[folds >= 0], minlength=self.n_folds) for folds in self.folds)
        return tuple(tuple(of_repeat.tolist()) for of_repeat in counts)

    def rows(self, repeat: int, fold: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the positions of the training and the test rows of one fold, both ascending."""
        of_repeat = self.folds[repeat]
        test = of_repeat == fold
        return (~test & (of_repeat != UNUSED)).nonzero()[0], test.nonzero()[0]

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield (train, test) of every fold of every repeat, as scikit-learn's ``cv`` expects."""
        for repeat in range(self.n_repeats):
            for fold in range(self.n_folds):
                yield self.rows(repeat, fold)


_IN_WORDS = {
    r"^repeated_holdout\(test_size=([\d./]+), n_repeats=(\d+).*": (
        r"holding out \1 of the rows \2 times"
    ),
    r"^repeated_kfold\(n_folds=(\d+), n_repeats=(\d+).*": r"\1 folds \2 times",
    r"^holdout\(test_size=([\d./]+).*": r"holding out \1 of the rows",
    r"^kfold\(n_folds=(\d+).*": r"\1 folds",
    r"^(?:stratified_)?group_kfold\(n_folds=(\d+).*": r"\1 folds of groups",
}  # the usual schemes; the table of datasets has each in full


def scheme_in_words(scheme: str) -> str:
    """Return the text of the scheme of a split in words, if it is a usual one.

    Examples
    --------
    >>> scheme_in_words("kfold(n_folds=10)")
    '10 folds'
    """
    for pattern, words in _IN_WORDS.items():
        scheme = re.sub(pattern, words, scheme)
    return scheme


@dataclass(frozen=True, eq=False)
class Outcome:
    """Result of a cell.

    Attributes
    ----------
    cell : Cell
    status : Status
    predictions : ndarray, shape (n_test,) or (n_test, k), or None
        Positions in the sorted classes of the dataset (int32), or numbers (float64); of several
        targets k columns, of labels 0 and 1.
    probabilities : ndarray of float32, shape (n_test, n_classes), or None
        Probabilities of the sorted classes, or of each label; a class that the strategy did not see
        has 0.
    seconds : tuple of 3 float
        Wall seconds of tuning, of the final fit, and of prediction.
    seed : int
        Seed of everything random in the cell.
    reason : str
        One line that states why the status is not ``DONE``; empty if it is.
    details : mapping
        Values of varying length: ``best_params``, ``tuning_score``, ``warnings``, ``traceback``,
        ``peak_memory`` (bytes), ``model`` (file and digest). Plain JSON values only.
    trace : bytes
        Trace of the search, as `mlaut.files_io.outcomes.traces.pack_trace` returns it; empty if
        nothing was searched.
    """

    cell: Cell
    status: Status
    predictions: np.ndarray | None = None
    probabilities: np.ndarray | None = None
    seconds: tuple[float, float, float] = (math.nan, math.nan, math.nan)
    seed: int = 0
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    trace: bytes = b""


@dataclass(frozen=True, eq=False)
class Trace:
    """Trace of a search: its candidates in the order in which a smaller budget would take them.

    Attributes
    ----------
    search : str
        The search, for example ``"grid"`` or ``"random(50)"``.
    params : tuple of dict, length n
        Parameters of each candidate, plain JSON values.
    scores : ndarray of float64, shape (n, folds)
        Inner scores, greater is better; NaN where a candidate was not scored.
    seconds : ndarray of float32, shape (n,)
        Seconds that the candidate added to the search, on all folds; NaN if unknown.
    shares : ndarray of float32, shape (n,)
        Share of the training rows that the candidate was fitted on.
    order : ndarray of int32, shape (n,)
        Row of the candidate in the search's own table; among equal scores, the smallest is chosen.
    budget : str, default ""
        Budget of the search, for example ``"50 evaluations"``.
    clock : {"cpu", "wall"}
        Kind of the seconds.
    allowed, spent : mapping of str to float
        The budget, and the use of the whole search, in ``"evaluations"``, ``"cpu"`` or ``"wall"``
        seconds; empty if there was no budget, or if the use is not known.
    incumbents : mapping of int to tuple of ndarray
        Predictions of test rows, and probabilities or None, by the candidate that would have been
        chosen with a smaller budget. The candidate of the whole search is left out: its
        predictions are those of the cell.
    """

    search: str
    params: tuple[Mapping[str, Any], ...]
    scores: np.ndarray
    seconds: np.ndarray
    shares: np.ndarray
    order: np.ndarray
    budget: str = ""
    clock: str = "cpu"
    allowed: Mapping[str, float] = field(default_factory=dict)
    spent: Mapping[str, float] = field(default_factory=dict)
    incumbents: Mapping[int, tuple[np.ndarray, np.ndarray | None]] = field(default_factory=dict)

    @property
    def means(self) -> np.ndarray:
        """Mean score of each candidate: shape (n,); NaN where a fold was not scored."""
        means: np.ndarray = self.scores.mean(axis=1)
        return means

    def best(self, n: int) -> int | None:
        """Return the candidate that is chosen among the first ``n``; None if none is scored.

        Candidates on most rows come before others, whatever their scores.

        Examples
        --------
        >>> import numpy as np
        >>> scores, ones = np.array([[0.5, 0.7], [0.9, 0.7], [0.8, 0.8]]), np.ones(3)
        >>> trace = Trace("grid", ({}, {}, {}), scores, ones, ones, order=np.array([2, 1, 0]))
        >>> [trace.best(n) for n in (1, 2, 3)]
        [0, 1, 2]
        """
        import numpy as np

        means = self.means[:n]
        able = np.flatnonzero(np.isfinite(means))
        if not able.size:
            return None
        able = able[self.shares[able] == self.shares[able].max()]
        able = able[means[able] == means[able].max()]
        return int(able[np.argmin(self.order[able])])


@dataclass(frozen=True, eq=False)
class Block:
    """Numeric contents of a study for one dataset; the input of the analysis.

    Attributes
    ----------
    dataset : str
    task : str
        ``"Classification"`` or ``"Regression"``.
    fingerprint : str
        Digest of the dataset's content: datasets with equal fingerprints are the same table.
    strategies : tuple of str, length S
    classes : tuple, length C
        The sorted class labels; empty for regression. Of several labels in a row their names.
    truth : ndarray, shape (n_rows,) or (n_rows, k)
        Class positions (int32) or numbers (float64); of several targets k columns.
    split : Split
        R repeats with F folds each.
    status : ndarray of uint8, shape (S, R, F)
        Values of `Status`.
    predictions : ndarray, shape (S, R, n_rows) or (S, R, n_rows, k)
        Class positions (int32, -1 where missing) or numbers (float64, NaN where missing).
    probabilities : ndarray of float32, shape (S, R, n_rows, C), or None
        NaN where a strategy predicts no probabilities; None for regression.
    seconds : ndarray of float64, shape (S, R, F, 3)
        Wall seconds of tuning, fitting and predicting; NaN where a cell has none.
    weights : ndarray of float64, shape (n_rows,), or None
        Weight of each row in fits and metrics; None if all rows count the same.
    targets : tuple
        Names of the columns of ``truth``, if the dataset has several targets; else empty.
    whole : Block or None
        The block with the repeats that only intervals use; None if this block has them.
    """

    dataset: str
    task: str
    fingerprint: str
    strategies: tuple[str, ...]
    classes: tuple[Any, ...]
    truth: np.ndarray
    split: Split
    status: np.ndarray
    predictions: np.ndarray
    probabilities: np.ndarray | None
    seconds: np.ndarray
    weights: np.ndarray | None = None
    targets: tuple[Any, ...] = ()
    whole: Block | None = None

    @property
    def main(self) -> Block:
        """The block without the repeats that only intervals use (`Split.n_main`)."""
        n = self.split.n_main
        if n == self.split.n_repeats:
            return self
        main = Split(self.split.folds[:n], f"main part of {self.split.scheme}", self.split.seed)
        parts: dict[str, Any] = {
            name: None if (values := getattr(self, name)) is None else values[:, :n]
            for name in ("status", "predictions", "probabilities", "seconds")
        }
        return replace(self, split=main, whole=self, **parts)

    @property
    def done(self) -> np.ndarray:
        """Mask of the cells that have predictions: bool, shape (S, R, F)."""
        done: np.ndarray = self.status == Status.DONE
        return done


def not_distributions(probabilities: np.ndarray, several: bool = False) -> np.ndarray:
    """Return which rows are not a probability distribution over the classes.

    Parameters
    ----------
    probabilities : ndarray of float, shape (n_rows, n_classes)
    several : bool, default False
        Whether a row may have several labels, so that the sum may be any.

    Returns
    -------
    ndarray of bool, shape (n_rows,)
        True if a value is NaN or lies outside [0, 1], or if the row does not sum to 1. Deviations
        that rounding explains are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> not_distributions(np.array([[0.2, 0.8], [7.5, 7.5], [-1.0, 2.0]])).tolist()
    [False, True, True]
    """
    inside = (probabilities >= -OUTSIDE) & (probabilities <= 1 + OUTSIDE)
    sums = probabilities.sum(axis=1, dtype=float)
    wrong: np.ndarray = ~(inside.all(axis=1) & (several | (abs(sums - 1) <= SUM_MISSES_ONE)))
    return wrong


def check_name(name: str) -> str:
    """Return a name after a check that it can name a strategy in files and tables.

    Raises
    ------
    StrategyError
        The name is empty, contains a slash, is not text, or cannot be printed.

    Examples
    --------
    >>> check_name("a/b")
    Traceback (most recent call last):
    mlaut.errors.StrategyError: 'a/b' cannot name a strategy: it has a slash; use another name
    """
    if not isinstance(name, str):
        raise StrategyError(f"{name!r} cannot name a strategy: it is not text; use a string")
    if not name.strip() or not name.isprintable():
        raise StrategyError(f"{name!r} cannot name a strategy: it cannot be read; use letters")
    if "/" in name:
        raise StrategyError(f"{name!r} cannot name a strategy: it has a slash; use another name")
    return name
