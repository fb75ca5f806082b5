"""Records of datasets, strategies and outcomes, and checks that both kinds of studies share."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mlaut.errors import StudyError
from mlaut.records import CLASSIFICATION, Outcome, Split, Status, TooLarge

# To store one more number of each cell, add its name at the end, and its value in
# `experiments.cells.cell.run_cell`.
USAGE = ("started", "elapsed", "peak_memory")  # POSIX seconds, wall seconds of a cell, bytes
_WHOLE = {"peak_memory"}  # fields of USAGE that are whole numbers
UNNAMED = USAGE[:3]  # fields of packs that do not name them
_TYPES: Mapping[str, Any] = {
    **dict.fromkeys(USAGE, int | float),
    "dataset": str,
    "strategy": str,
    "repeat": int,
    "fold": int,
    "status": str,
    "reason": str,
    "seconds": list,
    "seed": int,
    "traceback": str,
    "warnings": list,
    "best_params": dict,
    "model": dict,
    "trace": str,
    "too_large": dict,
}
DETAILS, TRACES = LOGS = ("details", "traces")
"""Logs of a dataset: what the arrays cannot hold of its cells, and the traces of searches."""
# Keys of a record that are attributes of an outcome; all others are its details.
OF_OUTCOME = ("dataset", "strategy", "repeat", "fold", "status", "reason", "seconds", "seed")


@dataclass(frozen=True, eq=False)
class SplitEntry:
    """Entry of a dataset in a study: its identity, truth and split.

    Attributes
    ----------
    name : str
    path : str
        Path of the dataset in its input database.
    task : str
        ``"Classification"`` or ``"Regression"``.
    fingerprint : str
        Fingerprint of the content of the dataset.
    classes : tuple
        Sorted class labels, plain Python values; empty for regression.
    truth : ndarray, shape (n_rows,) or (n_rows, k)
        Class positions (int32) or numbers (float64); of several targets k columns.
    split : Split
    weights : ndarray of float64, shape (n_rows,), or None
        Weight of each row in fits and metrics; None where all rows count the same.
    named : tuple of str
        Former names, the first one first.
    shape : tuple of int
        Shape of a row of features that are no table; empty for a table.
    shortest : int or None
        Points of the shortest of series of different lengths; ``shape`` has those of the longest.
    targets : tuple
        Names of several targets, the columns of ``truth``; empty for one target.
    """

    name: str
    path: str
    task: str
    fingerprint: str
    classes: tuple[Any, ...]
    truth: np.ndarray
    split: Split
    weights: np.ndarray | None = None
    named: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()
    targets: tuple[Any, ...] = ()
    shortest: int | None = None

    @property
    def first_name(self) -> str:
        """First name, from which the seeds of its cells are derived: renaming changes none."""
        return (*self.named, self.name)[0]

    def known_as(self, *names: str) -> SplitEntry:
        """Return the entry with these former names beside its own, each once."""
        named = tuple(dict.fromkeys((*self.named, *names)))
        return self if named == self.named else dataclasses.replace(self, named=named)


@dataclass(frozen=True)
class StrategyEntry:
    """Entry of a strategy in a study.

    Attributes
    ----------
    name : str
    fingerprint : str
        SHA-256 of ``identity``; strategies with the same fingerprint are fitted in the same way.
    identity : mapping
        Class and parameters as plain JSON values, from which later changes can be described.
    metadata : mapping
        Values that are not part of the identity: family and tasks; ``unseen``, the parts of its
        code where a change would not be noticed; ``named``, its former names.
    """

    name: str
    fingerprint: str
    identity: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def named(self) -> tuple[str, ...]:
        """Former names, the first one first."""
        return tuple(self.metadata.get("named", ()))

    @property
    def first_name(self) -> str:
        """First name, from which the seeds of its cells are derived: renaming changes none."""
        return (*self.named, self.name)[0]

    def known_as(self, *names: str) -> StrategyEntry:
        """Return the entry with these former names beside its own, each once."""
        if not set(names) - set(self.named):
            return self
        named = list(dict.fromkeys((*self.named, *names)))
        return dataclasses.replace(self, metadata={**self.metadata, "named": named})

    def is_same(self, other: StrategyEntry) -> bool:
        """Return whether two entries are of the same strategy."""
        return self.fingerprint == other.fingerprint


def foreign_sources(strategies: Sequence[StrategyEntry]) -> dict[str, str]:
    """Return the source of each strategy whose predictions come from another program, by name."""
    return {s.name: str(s.metadata["foreign"]) for s in strategies if s.metadata.get("foreign")}


def extends(old: SplitEntry, new: SplitEntry) -> bool:
    """Return whether two entries have the same rows, and the new split begins with the old one."""
    old_split, new_split = old.split, new.split
    return (
        old.fingerprint == new.fingerprint
        and old_split.folds.shape[1:] == new_split.folds.shape[1:]
        and old_split.n_folds == new_split.n_folds
        and np.array_equal(old_split.folds, new_split.folds[: old_split.n_repeats])
    )


def merged_entry(old: SplitEntry, new: SplitEntry, replace: bool = False) -> SplitEntry:
    """Return the entry to store for a dataset that already has a split.

    The same split is kept, a split with further repeats extends it, and any other split replaces
    it only with ``replace``.

    Raises
    ------
    StudyError
        The rows or the split differ from the stored ones, and ``replace`` is False.
    """
    if extends(old, new):
        longer = new.split.n_repeats > old.split.n_repeats
        return dataclasses.replace(new, named=old.named) if longer else old
    if replace:
        return new
    if old.fingerprint != new.fingerprint:
        raise StudyError(
            f"dataset {old.name!r}: its content is not the one that this study was split on "
            f"(stored {old.fingerprint[:12]}, now {new.fingerprint[:12]}); give it another name, "
            "or give up its outcomes: Data.split_datasets(..., overwrite=True)"
        )
    raise StudyError(
        f"dataset {old.name!r}: it is split already, and otherwise "
        f"({split_change(old.split, new.split)}); keep the stored split, write to a new study, or "
        "give up its outcomes: Data.split_datasets(..., overwrite=True)"
    )


def split_change(old: Split, new: Split) -> str:
    """Return what differs between two splits, in words: the scheme, else the seed, else rows."""
    if old.scheme != new.scheme:
        return f"{old.scheme} -> {new.scheme}"
    if old.seed != new.seed:
        return f"{old.scheme}, seed {old.seed} -> {new.seed}"
    return f"{old.scheme}, rows in other folds"


def merged_strategies(
    old: Sequence[StrategyEntry], new: Iterable[StrategyEntry], replace: bool
) -> list[StrategyEntry]:
    """Return the strategies of a study with new ones behind those that it has.

    Raises
    ------
    StudyError
        A strategy of the same name is stored with another fingerprint, and ``replace`` is False.
    """
    entries = {entry.name: entry for entry in old}
    for entry in new:
        stored = entries.setdefault(entry.name, entry)
        if not stored.is_same(entry) and not replace:
            raise StudyError(
                f"strategy {entry.name!r}: its parameters are not those it was run with "
                f"(stored {stored.fingerprint[:12]}, now {entry.fingerprint[:12]}); give it a new "
                "name, or pass overwrite_predictions=True to run it again"
            )
        entries[entry.name] = entry.known_as(*stored.named)
    return list(entries.values())


def check_outcome(outcome: Outcome, entry: SplitEntry, strategies: Collection[str]) -> None:
    """Check that an outcome fits the arrays of its dataset.

    Raises
    ------
    StudyError
        The strategy, repeat or fold is unknown, the status does not fit the predictions, or an
        array has the wrong shape.
    """
    cell, split = outcome.cell, entry.split
    if cell.strategy not in strategies:
        raise StudyError(
            f"{cell}: the study has no such strategy for this dataset; allocate it first"
        )
    if not (0 <= cell.repeat < split.n_repeats and 0 <= cell.fold < split.n_folds):
        raise StudyError(
            f"{cell}: the split has {split.n_repeats} repeats of {split.n_folds} folds; "
            "allocate further repeats first"
        )
    if outcome.status is Status.MISSING:
        raise StudyError(f"{cell}: an outcome needs a status; use forget() to clear a cell")
    if (outcome.predictions is not None) != (outcome.status is Status.DONE):
        raise StudyError(f"{cell}: predictions belong to a cell that is done, and only to it")
    if outcome.predictions is None:
        return
    n_test = split.test_sizes[cell.repeat][cell.fold]
    of_row = entry.truth.shape[1:]
    shapes = {"predictions": (n_test, *of_row), "probabilities": (n_test, len(entry.classes))}
    for name, shape in shapes.items():
        array = getattr(outcome, name)
        if array is not None and array.shape != shape:
            raise StudyError(f"{cell}: shape {array.shape} where the split needs {shape}")


def prediction_type(task: str) -> tuple[np.dtype, Any]:
    """Return the dtype of the predictions of a task, and the value of a missing prediction."""
    return (np.dtype("<i4"), -1) if task == CLASSIFICATION else (np.dtype("<f8"), np.nan)


def outcome_record(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome without its predictions, as plain JSON values."""
    cell = outcome.cell
    return {
        "dataset": cell.dataset,
        "strategy": cell.strategy,
        "repeat": cell.repeat,
        "fold": cell.fold,
        "status": outcome.status.word,
        "reason": outcome.reason,
        "seconds": list(outcome.seconds),
        "seed": outcome.seed,
        **outcome.details,
    }


def logged(outcome: Outcome, checksum: int) -> Iterator[tuple[str, str]]:
    """Yield each log of a dataset to which an outcome adds, and what it adds, as JSON text.

    Parameters
    ----------
    outcome : Outcome
    checksum : int
        Checksum of its cell, by which readers recognise that the cell was replaced since.
    """
    cell = outcome.cell
    at = {"strategy": cell.strategy, "repeat": cell.repeat, "fold": cell.fold}
    texts = {"reason": outcome.reason, **outcome.details}
    details = {k: v for k, v in texts.items() if k not in USAGE and v not in ("", [])}
    if details:
        yield DETAILS, json.dumps({**at, **details, "checksum": checksum})
    if outcome.trace:
        text = base64.b64encode(outcome.trace).decode()
        yield TRACES, json.dumps({**at, "trace": text, "checksum": checksum})


# A reason of studies whose skipped cells have it as a text alone.
_TOO_LARGE = re.compile(
    r"[\d,]+ training (rows|values)(?: \([^)]*\))?, more than its limit of ([\d,]+)"
)


def general_reason(record: Mapping[str, Any]) -> str:
    """Return the reason of a record without the size of its dataset.

    Examples
    --------
    >>> general_reason({"reason": "40 training rows, more than its limit of 30"})
    'more training rows than its limit of 30 (size_limit=None lifts it)'
    >>> general_reason({"reason": "no memory"})
    'no memory'
    """
    above = record.get("too_large", {})
    kind, limit = above.get("kind"), above.get("limit")
    if not above and (text := _TOO_LARGE.match(record["reason"])):
        kind, limit = text[1], int(text[2].replace(",", ""))
    has_limit = isinstance(kind, str) and isinstance(limit, int)
    return TooLarge(str(kind), 0, limit).rule if has_limit else str(record["reason"])


def check_types(record: Mapping[str, Any]) -> None:
    """Raise ValueError for a record with values of wrong types, so that readers can rely on it."""
    for key, kind in _TYPES.items():
        if key in record and not isinstance(record[key], kind):
            raise ValueError(f"{key} of a cell is of type {type(record[key]).__name__}")
    if not all(isinstance(text, str) for text in record.get("warnings", ())):
        raise ValueError("a warning of a cell is no text")


def latest_of(told: Iterable[Mapping[str, Any]]) -> dict[tuple[str, int, int], Mapping[str, Any]]:
    """Check records, and return the last one of each cell, by strategy, repeat and fold."""
    latest = {}
    for record in told:
        check_types(record)
        latest[record["strategy"], record["repeat"], record["fold"]] = record
    return latest


def usage_of(fields: Iterable[str], numbers: Iterable[float]) -> dict[str, int | float]:
    """Return the numbers of a cell by their fields, without those that are NaN."""
    return {
        name: int(x) if name in _WHOLE and abs(x) < np.inf else x
        for name, x in zip(fields, numbers, strict=True)
        if x == x
    }


def cell_details(
    dataset: str,
    names: Sequence[str],
    status: np.ndarray,
    numbers: Mapping[str, np.ndarray],
    told: Iterable[Mapping[str, Any]],
) -> Iterator[dict[str, Any]]:
    """Yield the details of each cell that was tried, joined from arrays and records.

    Parameters
    ----------
    dataset : str
        Name of the dataset.
    names : sequence of str, length S
        Names of the strategies.
    status : ndarray of uint8, shape (S, R, F)
    numbers : mapping
        ``seed`` (S, R, F), ``seconds`` (S, R, F, 3), ``usage`` (S, R, F, fields of ``USAGE``).
    told : iterable of mapping
        Records; the last one of a cell is used.
    """
    latest = latest_of(told)
    words = [member.word for member in Status]
    for s, repeat, fold in np.argwhere(status != Status.MISSING).tolist():
        at = s, repeat, fold
        record = latest.get((names[s], repeat, fold), {})
        yield {
            "dataset": dataset,
            "strategy": names[s],
            "repeat": repeat,
            "fold": fold,
            "status": words[status[at]],
            "reason": "",
            "seconds": numbers["seconds"][at].tolist(),
            "seed": int(numbers["seed"][at]),
            **usage_of(USAGE, numbers["usage"][at].tolist()),
            **{key: value for key, value in record.items() if key != "checksum"},
        }
