"""What a study knows of its datasets and strategies, and the checks that both stores share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mlaut.errors import StudyError
from mlaut.records import CLASSIFICATION, Cell, Outcome, Split, Status

__all__ = ["USAGE", "SplitEntry", "StrategyEntry"]

USAGE = ("started", "elapsed", "peak_memory")  # POSIX seconds, wall seconds of all, bytes
_TOLD: Mapping[str, type] = {
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
}
_IN_ARRAYS = ("dataset", "status", "seconds", "seed", *USAGE)


@dataclass(frozen=True, eq=False)
class SplitEntry:
    """A dataset as a study knows it: its identity, its truth and its split.

    Attributes
    ----------
    name : str
    path : str
        Of the dataset in its input database.
    task : str
    fingerprint : str
        Of the dataset's content.
    classes : tuple
        Sorted class labels, plain Python values; empty for regression.
    truth : ndarray, shape (n_rows,)
        Class positions (int32) or numbers (float64).
    split : Split
    """

    name: str
    path: str
    task: str
    fingerprint: str
    classes: tuple[Any, ...]
    truth: np.ndarray
    split: Split


@dataclass(frozen=True)
class StrategyEntry:
    """A strategy as a study knows it.

    Attributes
    ----------
    name : str
    fingerprint : str
        Of ``identity``; two strategies of one fingerprint are fitted in the same way.
    identity : mapping
        Class and parameters, plain JSON values, to say later what has changed.
    metadata : mapping
        What identity does not depend on: family, tasks; ``unseen``, where a change of its code
        would not be noticed; ``formerly``, the fingerprints that it was known by in older versions
        of MLaut, and how each was recognised.
    """

    name: str
    fingerprint: str
    identity: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def formerly(self) -> Mapping[str, str]:
        """Fingerprints that it was known by before, and how each was recognised."""
        known = self.metadata.get("formerly")
        return known if isinstance(known, Mapping) else {}

    def is_same(self, other: StrategyEntry) -> bool:
        """Return whether another entry is of the same strategy, be it by an older fingerprint."""
        return (
            self.fingerprint == other.fingerprint
            or self.fingerprint in other.formerly
            or other.fingerprint in self.formerly
        )


def extends(old: SplitEntry, new: SplitEntry) -> bool:
    """Return whether a dataset has the same rows, and a split that begins with the old repeats."""
    known, wanted = old.split, new.split
    return (
        old.fingerprint == new.fingerprint
        and known.folds.shape[1:] == wanted.folds.shape[1:]
        and known.n_folds == wanted.n_folds
        and np.array_equal(known.folds, wanted.folds[: known.n_repeats])
    )


def merged_entry(old: SplitEntry, new: SplitEntry, replace: bool = False) -> SplitEntry:
    """Return the entry to keep when a dataset that has a split comes again.

    The same split is kept; one with further repeats extends it; another one replaces it only if
    that is asked for.

    Raises
    ------
    StudyError
        The rows or the split differ from what is stored, and ``replace`` is False.
    """
    if extends(old, new):
        return new if new.split.n_repeats > old.split.n_repeats else old
    if replace:
        return new
    if old.fingerprint != new.fingerprint:
        raise StudyError(
            f"dataset {old.name!r}: its content is not the one that this study was split on "
            f"(stored {old.fingerprint[:12]}, now {new.fingerprint[:12]}); give it another name, "
            "or pass overwrite=True to split it anew and give up its outcomes"
        )
    raise StudyError(
        f"dataset {old.name!r}: it is split already, as {old.split.scheme}, and not as "
        f"{new.split.scheme}; keep the stored split, write to a new study, "
        "or pass overwrite=True to split it anew and give up its outcomes"
    )


def merged_strategies(
    old: Sequence[StrategyEntry], new: Iterable[StrategyEntry], replace: bool
) -> list[StrategyEntry]:
    """Return the strategies of a study after others are added, in order of arrival.

    Of two entries of one strategy the one counts that knows the other by its former fingerprint.

    Raises
    ------
    StudyError
        A strategy of that name is stored with another fingerprint, and ``replace`` is False.
    """
    entries = {entry.name: entry for entry in old}
    for entry in new:
        known = entries.setdefault(entry.name, entry)
        if not known.is_same(entry) and not replace:
            raise StudyError(
                f"strategy {entry.name!r}: its parameters are not those it was run with "
                f"(stored {known.fingerprint[:12]}, now {entry.fingerprint[:12]}); give it a new "
                "name, or pass overwrite_predictions=True to run it again"
            )
        entries[entry.name] = known if entry.fingerprint in known.formerly else entry
    return list(entries.values())


def check_outcome(outcome: Outcome, entry: SplitEntry, strategies: Sequence[str]) -> None:
    """Refuse an outcome that does not fit the arrays.

    Raises
    ------
    StudyError
        Unknown strategy, repeat or fold; predictions of the wrong length.
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
    n_test = len(split.rows(cell.repeat, cell.fold)[1])
    expected: list[tuple[np.ndarray, tuple[int, ...]]] = [(outcome.predictions, (n_test,))]
    if outcome.probabilities is not None:
        expected.append((outcome.probabilities, (n_test, len(entry.classes))))
    for array, shape in expected:
        if array.shape != shape:
            raise StudyError(f"{cell}: shape {array.shape} where the split needs {shape}")


def prediction_type(task: str) -> tuple[np.dtype, Any]:
    """Dtype of the predictions of a task, and what stands where there is none."""
    return (np.dtype("<i4"), -1) if task == CLASSIFICATION else (np.dtype("<f8"), np.nan)


def outcome_record(outcome: Outcome) -> dict[str, Any]:
    """Return what is told of an outcome beside its predictions, as plain JSON values."""
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


def record_outcome(record: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Outcome:
    """Make an outcome of its record, as far as it goes into arrays."""
    return Outcome(
        cell=Cell(record["dataset"], record["strategy"], record["repeat"], record["fold"]),
        status=Status[record["status"].upper()],
        predictions=arrays.get("predictions"),
        probabilities=arrays.get("probabilities"),
        seconds=tuple(record["seconds"]),
        seed=record["seed"],
        details={key: record[key] for key in USAGE if key in record},
    )


def ragged(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a record tells beyond the arrays: empty where that is nothing but its key."""
    told = {key: value for key, value in record.items() if key not in _IN_ARRAYS and value != ""}
    if not told.get("warnings", True):
        del told["warnings"]
    return told if len(told) > 3 else {}


def _check_told(record: Mapping[str, Any]) -> None:
    """Refuse what no run tells of a cell, so that who reads it need not ask again."""
    for key, kind in _TOLD.items():
        if key in record and not isinstance(record[key], kind):
            raise ValueError(f"{key} of a cell is of type {type(record[key]).__name__}")
    if not all(isinstance(text, str) for text in record.get("warnings", ())):
        raise ValueError("a warning of a cell is no text")


def latest_of(
    told: Iterable[Mapping[str, Any]],
) -> dict[tuple[str, int, int], Mapping[str, Any]]:
    """Return the last record of each cell, by strategy, repeat and fold; all are checked."""
    latest = {}
    for record in told:
        _check_told(record)
        latest[record["strategy"], record["repeat"], record["fold"]] = record
    return latest


def told_of_cells(
    dataset: str,
    names: Sequence[str],
    status: np.ndarray,
    numbers: Mapping[str, np.ndarray],
    told: Iterable[Mapping[str, Any]],
) -> Iterator[dict[str, Any]]:
    """Join what arrays and ragged records tell of each cell that was tried.

    Parameters
    ----------
    dataset : str
    names : sequence of str, length S
    status : ndarray of uint8, shape (S, R, F)
    numbers : mapping
        ``seed`` (S, R, F), ``seconds`` and ``usage`` (S, R, F, 3).
    told : iterable of mapping
        Records; of several on one cell the last counts.
    """
    latest = latest_of(told)
    words = [one.word for one in Status]
    for s, repeat, fold in np.argwhere(status != Status.MISSING).tolist():
        at = s, repeat, fold
        usage = dict(zip(USAGE, numbers["usage"][at].tolist(), strict=True))
        yield {
            "dataset": dataset,
            "strategy": names[s],
            "repeat": repeat,
            "fold": fold,
            "status": words[status[at]],
            "reason": "",
            "seconds": numbers["seconds"][at].tolist(),
            "seed": int(numbers["seed"][at]),
            **{k: int(v) if k == "peak_memory" else v for k, v in usage.items() if v == v},
            **latest.get((names[s], repeat, fold), {}),
        }
