"""Layout of a study file: its format, runs, strategies and splits."""

import contextlib
import json
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from mlaut.errors import MlautError, StoreError, StudyError, nearest
from mlaut.files_io.outcomes.study_records import SplitEntry, StrategyEntry, prediction_type
from mlaut.files_io.safe_files.names import from_h5, note_names, plain_names, to_h5
from mlaut.files_io.safe_files.old_files import check_not_old
from mlaut.files_io.safe_files.plain_files import MEMORY, TEXT
from mlaut.files_io.safe_files.seal import LIST, read_once
from mlaut.files_io.safe_files.system_errors import explain, system_error_of
from mlaut.files_io.safe_files.texts import (
    append_log,
    get_json,
    get_labels,
    get_log,
    new_group,
    put_attributes,
    put_json,
    put_labels,
    put_values,
)
from mlaut.files_io.safe_files.untrusted import check_together, opened, read_json
from mlaut.files_io.studies.study_arrays import StudyArrays
from mlaut.identity import without_rooms
from mlaut.records import CLASSIFICATION, TASKS, Split

FORMAT_VERSION = 2
SPLITS = "splits"
EXPERIMENTS = "experiments"
PREDICTIONS = f"{EXPERIMENTS}/predictions"
STRATEGIES = f"{EXPERIMENTS}/strategies"
RUNS = f"{EXPERIMENTS}/runs"
_OF_ROWS = ("folds", "truth", "weights")  # arrays of a split
ANALYSIS = "analysis"  # key of the records of runs that are not of a run but of an analysis


def mark(file: h5py.File) -> None:
    """Mark a file as a study, with a new identifier unless it has one."""
    if "study_id" not in file.attrs:
        file.attrs.update({"study_id": uuid.uuid4().hex, "study_format": FORMAT_VERSION})
    file.require_group(SPLITS)
    file.require_group(PREDICTIONS)


def check_format(file: h5py.File, path: Path) -> None:
    """Check that a file holds a study, in a format that this version can read.

    Raises
    ------
    StudyError
        The file holds no study, or a study of a newer format.
    """
    check_not_old(file, path)
    if "study_id" not in file.attrs:
        raise StudyError(f"{path}: no study in this file; make splits first, or check the path")
    with damage_explained(path):
        version = file.attrs["study_format"]
        if not isinstance(version, int | np.integer) or version < 1:
            raise ValueError(f"the format {version!r}")
    if version > FORMAT_VERSION:
        raise StudyError(
            f"{path}: study format {version}, and this MLaut reads up to {FORMAT_VERSION}; "
            "update MLaut"
        )


def put_strategies(file: h5py.File, entries: Sequence[StrategyEntry]) -> None:
    """Store the strategies of a study; only while its structure changes."""
    if STRATEGIES in file:
        del file[STRATEGIES]
    group = file.create_group(STRATEGIES)
    group.attrs.update({"encoding-type": "mlaut-strategies", "encoding-version": 2})
    for name in ("name", "fingerprint"):
        put_labels(group, name, [getattr(entry, name) for entry in entries])
    for name in ("identity", "metadata"):
        put_labels(group, name, [json.dumps(getattr(entry, name)) for entry in entries])


def strategies_of(file: h5py.File) -> tuple[StrategyEntry, ...]:
    """Return the strategies of a study."""
    if STRATEGIES not in file:
        return ()
    group = file[STRATEGIES]
    check_together(group, TEXT)
    columns = {name: get_labels(group, name) for name in group}
    for name in ("identity", "metadata"):
        columns[name] = [read_json(text.encode()) for text in columns[name]]
    rows = zip(*columns.values(), strict=True)
    entries = [StrategyEntry(**dict(zip(columns, row, strict=True))) for row in rows]
    for entry in entries:
        texts, tables = (entry.name, entry.fingerprint), (entry.identity, entry.metadata)
        if not (_all(texts, str) and _all(tables, dict) and _all(entry.named, str)):
            raise ValueError("a strategy has no name, fingerprint, identity or metadata")
    return tuple(map(_today, entries))


def _today(entry: StrategyEntry) -> StrategyEntry:
    """Return an entry whose identity names MLaut's classes as this version does."""
    identity = without_rooms(entry.identity)
    if identity == entry.identity:
        return entry
    from mlaut.identity.digests import digest

    return replace(entry, identity=identity, fingerprint=digest(identity))


def runs_of(file: h5py.File) -> tuple[dict[str, Any], ...]:
    """Return the records of the runs that ended."""
    runs = get_log(file, RUNS)
    for run in runs:
        datetime.fromisoformat(run.get("started", "2000-01-01"))
        texts, tables = (run["id"], run.get("input", "")), [run.get("versions", {})]
        numbers = run.get("seed", 0), run.get("threads", 1)
        if not (_all(texts, str) and _all(tables, dict) and _all(numbers, int)):
            raise ValueError("the record of a run has a value of another type")
    return tuple(runs)


def put_runs(file: h5py.File, runs: Iterable[Mapping[str, Any]]) -> None:
    """Append the records of runs that the study does not have; only while its structure changes."""
    ids = {run.get("id") for run in get_log(file, RUNS)}
    append_log(file, RUNS, [json.dumps(run) for run in runs if run["id"] not in ids])


def _all(values: Iterable[Any], kind: type) -> bool:
    return all(isinstance(value, kind) for value in values)


def arrays_of(file: h5py.File, dataset: str) -> StudyArrays:
    """Return the arrays of a dataset, open for reading."""
    entry = entry_of(file, dataset)  # tells that there is no such dataset
    return StudyArrays(group_of(file, dataset), entry)


def group_of(file: h5py.File, dataset: str) -> h5py.Group:
    """Return the group of the arrays of a dataset."""
    return h5py.Group(h5py.h5g.open(file.id, f"{PREDICTIONS}/{to_h5(dataset)}".encode()))


def put_entry(file: h5py.File, entry: SplitEntry) -> None:
    """Store a dataset's identity, truth and split; only while a file is rebuilt."""
    splits, name = file[SPLITS], to_h5(entry.name)
    if name in splits:
        del splits[name]
    group = new_group(splits, name)
    put_attributes(group, {"encoding-type": "mlaut-split", "encoding-version": 2})
    put_values(group, "folds", entry.split.folds.astype("<i2"))
    put_values(group, "truth", entry.truth)
    if entry.weights is not None:
        put_values(group, "weights", entry.weights)
    put_labels(group, "classes", entry.classes)
    about = {"path": entry.path, "task": entry.task, "fingerprint": entry.fingerprint}
    more: dict[str, Any] = {"named": list(entry.named), "shape": list(entry.shape)}
    more |= {"shortest": entry.shortest, "targets": plain_names(list(entry.targets))}
    about |= {key: value for key, value in more.items() if value}
    put_json(group, "about", {**about, "scheme": entry.split.scheme, "seed": entry.split.seed})


def entry_of(file: h5py.File, dataset: str) -> SplitEntry:
    """Return a dataset's identity, truth and split.

    Raises
    ------
    StudyError
        The study has no split of that dataset.
    """
    return read_once(file, (SPLITS, dataset), lambda: _entry_of(file, dataset), _size_of)


def _size_of(entry: SplitEntry) -> int:
    """Return the bytes in memory of an entry."""
    arrays = (entry.truth, entry.split.folds, entry.weights)
    return sum(array.nbytes for array in arrays if array is not None) + sum(
        map(sys.getsizeof, entry.classes)
    )


def _entry_of(file: h5py.File, dataset: str) -> SplitEntry:
    splits, name = file[SPLITS], to_h5(dataset)
    if name not in splits:
        near = nearest(dataset, map(from_h5, splits))
        raise StudyError(
            f"dataset {dataset!r}: no split of it in {file.filename}"
            f"{near or '; run the study on it first, or call Data.split_datasets'}"
        )
    group = splits[name]
    about = get_json(group, "about", {})
    stored = {n: opened(group, n, plain=True) for n in _OF_ROWS if n.encode() in group.id}
    _check_form(dataset, about["task"], stored)
    values = {name: item.read() for name, item in stored.items()}
    for array in values.values():
        array.flags.writeable = False  # all who read the file share them
    entry = SplitEntry(
        name=dataset,
        path=about["path"],
        task=about["task"],
        fingerprint=about["fingerprint"],
        classes=tuple(get_labels(group, "classes")),
        truth=values["truth"],
        split=Split(values["folds"], about["scheme"], about["seed"]),
        weights=values.get("weights"),
        named=tuple(about.get("named", ())),
        shape=tuple(map(int, about.get("shape", ()))),
        targets=tuple(about.get("targets", ())),
        shortest=int(about.get("shortest", 0)) or None,
    )
    _check_entry(entry)
    return entry


def entries_of(file: h5py.File) -> dict[str, SplitEntry]:
    """Return the identity, truth and split of every dataset, by name.

    Raises
    ------
    StoreError
        Together they need more than half of the memory.
    """

    def size(entries: dict[str, SplitEntry]) -> int:
        return sum(map(_size_of, entries.values()))

    return read_once(file, (SPLITS,), lambda: _entries_of(file), size)


def _entries_of(file: h5py.File) -> dict[str, SplitEntry]:
    entries, left = dict[str, SplitEntry](), MEMORY
    for name in map(from_h5, file[SPLITS]):
        entries[name] = entry = entry_of(file, name)
        left -= _size_of(entry)
        if left < 0:
            raise StoreError(
                f"{file.filename}: its splits need more than half of the memory that may be used "
                "here; read it on a larger machine"
            )
    return entries


def _check_form(dataset: str, task: str, stored: Mapping[str, Any]) -> None:
    """Check types and shapes of arrays of rows, before their values are read."""
    folds, truth = stored["folds"], stored["truth"]
    weights = stored.get("weights", truth)
    valid = (
        task in TASKS
        and folds.dtype == np.int16
        and truth.dtype == prediction_type(task)[0]
        and (weights is truth or weights.dtype == np.float64)
        and len(folds.shape) == 2
        and truth.shape[:1] == weights.shape[:1] == folds.shape[1:]
        and len(truth.shape) <= 2
        and (weights is truth or len(weights.shape) == 1)
    )
    if not valid:
        raise _contradicts(dataset)


def _check_entry(entry: SplitEntry) -> None:
    truth, weights = entry.truth, entry.weights
    valid = _all((entry.path, entry.fingerprint, entry.split.scheme, *entry.named), str) and all(
        isinstance(label, str | int | float | None) for label in entry.classes
    )
    if valid and weights is not None:
        valid = bool((np.isfinite(weights) & (weights >= 0)).all())
    columns = list(truth.shape[1:])
    valid = valid and columns == [len(entry.targets)] * len(columns)
    if valid and entry.targets:
        valid = _all(entry.targets, str | int | float)  # type: ignore[arg-type]
        valid = valid and entry.classes in ((), entry.targets)
    if valid and entry.task == CLASSIFICATION:
        below = 2 if entry.targets else len(entry.classes)
        valid = not truth.size or (truth.min() >= 0 and truth.max() < below)
    if not valid:
        raise _contradicts(entry.name)


def _contradicts(dataset: str) -> ValueError:
    return ValueError(f"the split of dataset {dataset!r} contradicts itself")


def copy_study(
    old: h5py.File,
    new: h5py.File,
    datasets: Mapping[str, str | None] | None = None,
    strategies: Mapping[str, str | None] | None = None,
    paths: Mapping[str, str] | None = None,
    plain: Callable[[Any], Any] | None = None,
    check: Callable[[StudyArrays], None] | None = None,
) -> None:
    """Copy a file into a new one.

    ``datasets`` and ``strategies`` have the new name of those that are renamed, and None for those
    that are left out; ``paths`` has new paths of datasets, by their old names. With ``plain``, the
    new file has the study alone, without room for more, and ``plain`` of each record. ``check`` is
    called with the arrays of each dataset before they are copied.
    """
    is_study = "study_id" in old.attrs
    if plain is None:
        new.attrs.update(old.attrs)
        for name in old:
            if name not in ((LIST, SPLITS, EXPERIMENTS) if is_study else (LIST,)):
                old.copy(old[name], new, name)
    else:
        new.attrs.update({"study_id": old.attrs["study_id"], "study_format": FORMAT_VERSION})
    if not is_study:
        return
    mark(new)
    changes = {"dataset": datasets or {}, "strategy": strategies or {}}
    entries = strategies_of(old)
    called = {entry.name: entry.name for entry in entries} | dict(changes["strategy"])
    put_strategies(new, [_renamed(entry, to) for entry in entries if (to := called[entry.name])])
    put_runs(new, map(plain or dict, (_following(run, called) for run in runs_of(old))))
    predictions = new[PREDICTIONS]
    for dataset in map(from_h5, old[SPLITS]):
        if (name := changes["dataset"].get(dataset, dataset)) is None:
            continue
        stored = entry_of(old, dataset)
        path = (paths or {}).get(dataset, stored.path)
        entry = replace(stored, name=name, path=path)
        entry = entry if name == dataset else entry.known_as(dataset)
        put_entry(new, entry)
        source = arrays_of(old, dataset)
        if check is not None:
            check(source.keeping())
        group = new_group(predictions, to_h5(name))
        kept = [to for old_name in source.names if (to := called[old_name])]
        arrays = StudyArrays.create(group, entry, kept, source.fields)
        arrays.copy_from(source, plain or dict, called)
    for what, names in changes.items():
        if names:
            note_names(new, what, names)


def _following(run: dict[str, Any], called: Mapping[str, str | None]) -> dict[str, Any]:
    """Return the record of a run or an analysis whose terms name strategies as they are now."""
    terms = run.get(ANALYSIS)
    if not isinstance(terms, dict):
        return run
    new = {
        f"{start}{name}": f"{start}{to}"
        for name, to in called.items()
        if to
        for start in ("", "control: ")
    }
    named = {key: terms[key] for key in ("question", "missing") if isinstance(terms.get(key), str)}
    return {**run, ANALYSIS: {**terms, **{key: new.get(x, x) for key, x in named.items()}}}


def _renamed(entry: StrategyEntry, name: str) -> StrategyEntry:
    if name == entry.name:
        return entry
    return replace(entry, name=name).known_as(entry.name)


@contextlib.contextmanager
def damage_explained(path: Path, expected: str = "a study was") -> Iterator[None]:
    """Turn the various errors of h5py and NumPy on a damaged file into one StoreError."""
    try:
        yield
    except MemoryError as error:
        raise StoreError(
            f"{path}: the memory does not suffice to read it ({error or 'no more'}); "
            "read it on a larger machine"
        ) from error
    except (KeyError, ValueError, TypeError, IndexError, RuntimeError, AttributeError) as error:
        if isinstance(error, MlautError):
            raise
        if (of_system := system_error_of(error)) is not None:
            raise explain(of_system, path, "reading") from error
        raise StoreError(
            f"{path}: damaged where {expected} expected ({' '.join(str(error).split())}); "
            "restore it from a copy, or write to a new file"
        ) from error
