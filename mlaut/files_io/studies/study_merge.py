"""Merge studies whose cells were run separately, for example on several machines."""

import filecmp
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from mlaut.errors import MlautError, StudyError
from mlaut.files_io.outcomes.study_records import (
    DETAILS,
    LOGS,
    SplitEntry,
    StrategyEntry,
    extends,
    latest_of,
    merged_entry,
    merged_strategies,
)
from mlaut.files_io.safe_files.hdf5 import fsync_folder, read_h5, rewrite_h5
from mlaut.files_io.safe_files.lock import holder_of, locked
from mlaut.files_io.safe_files.names import to_h5
from mlaut.files_io.safe_files.system_errors import explained
from mlaut.files_io.safe_files.texts import new_group
from mlaut.files_io.studies import study_layout as layout
from mlaut.files_io.studies.models import copy_model, is_recorded, model_path, models_folder
from mlaut.files_io.studies.study import StudyStore
from mlaut.files_io.studies.study_arrays import PART, ROWS, StudyArrays, tested_rows
from mlaut.helpers.held import remove_leftovers, unfinished
from mlaut.records import Cell, Status

Model = tuple[Path, Mapping[str, Any]]  # the folder and the record of a saved model


def merge_studies(
    sources: Sequence[str | os.PathLike[str]], output: str | os.PathLike[str]
) -> StudyStore:
    """Merge studies into a new one, with all their datasets, strategies, repeats and outcomes.

    Parameters
    ----------
    sources : sequence of path-like
        Paths of two or more studies. A dataset that several studies have must be the same table,
        split in the same way; one may have further repeats. A strategy that several have must have
        the same parameters. If several have an outcome of a cell, one that is done is taken; of
        several such ones, the one with more details (its warnings, its model), else that of the
        study that stores more numbers for each cell, else that of the first study. A study whose
        run was interrupted first takes in its journal.
    output : path-like
        Path of the new study, which must not exist.

    Returns
    -------
    StudyStore

    Raises
    ------
    StudyError
        The studies contradict each other, one is being written to, they are shards of different
        divisions, or the output exists.
    StoreError
        A saved model is not the one that its study recorded, or lies outside of its folder.

    Notes
    -----
    Saved models are copied, too, and are complete and synced to disk before the new study appears.
    A merge that was killed leaves no study; the same call removes what it left, and changes
    nothing where the output is what it would make (with HDF5 before 2.0, which stores times, it may
    refuse such an output). Each value is read once, checked, and written once; memory is that of
    some strategies on one dataset.
    """
    target, studies = Path(os.path.expanduser(output)), [StudyStore(path) for path in sources]
    if len(studies) < 2:
        raise StudyError(f"{target}: nothing to merge; name two studies or more")
    for study in studies:
        if holder := holder_of(study.path):
            raise StudyError(
                f"{study.path}: process {holder.get('pid', '?')} is writing to it; "
                "merge when it has ended"
            )
        if study.journal_path.exists():
            study.settle()
    _check_shards(studies)
    entries, strategies = _entries(studies), _strategies(studies)
    if not target.exists():
        return _merge(studies, entries, strategies, target, "")
    with locked(target), unfinished(target, folder=True) as (folder, _):  # removes its lock, too
        if _is_like(target, entries, strategies):  # a merge that was killed when it had ended
            again = _merge(studies, entries, strategies, folder / "again.h5", StudyStore(target).id)
            if filecmp.cmp(again.path, target, shallow=False):
                return StudyStore(target)
    raise StudyError(f"{target}: exists, and merging makes a new study; name another output")


def _is_like(
    path: Path, entries: Mapping[str, SplitEntry], strategies: Sequence[StrategyEntry]
) -> bool:
    with suppress(MlautError):
        study = StudyStore(path)
        return study.strategies == tuple(strategies) and set(study.datasets) == set(entries)
    return False


def _merge(
    studies: Sequence[StudyStore],
    entries: Mapping[str, SplitEntry],
    strategies: Sequence[StrategyEntry],
    target: Path,
    study_id: str,
) -> StudyStore:
    """Write the merged study, with a new identifier if it is given none."""
    models: list[Model] = []
    with ExitStack() as stack:
        placed = stack.enter_context(_models_beside(target))
        new = stack.enter_context(rewrite_h5(target, fresh=True))
        old = [stack.enter_context(read_h5(study.path)) for study in studies]
        if study_id:
            new.attrs.update({"study_id": study_id, "study_format": layout.FORMAT_VERSION})
        layout.mark(new)
        layout.put_strategies(new, strategies)
        runs = {run["id"]: run for study in studies for run in (*study.analyses, *study.runs)}
        layout.put_runs(new, runs.values())
        for entry in entries.values():
            layout.put_entry(new, entry)
            models += _merge_dataset(new, entry, strategies, list(zip(studies, old, strict=True)))
        placed += _copy_models(models, target)
    return StudyStore(target)


def _check_shards(studies: Sequence[StudyStore]) -> None:
    """Check that all shards divide the study into the same number of shares.

    Raises
    ------
    StudyError
        Two studies hold shards of different numbers: together they may lack cells.
    """
    shards = [(study.path, study.shard) for study in studies if study.shard]
    for path, shard in shards[1:]:
        if shard.partition("/")[2] != shards[0][1].partition("/")[2]:
            raise StudyError(
                f"{shards[0][0]} holds shard {shards[0][1]}, and {path} shard {shard}: the "
                "numbers of shards differ; merge the shards of one number first"
            )


def _entries(studies: Sequence[StudyStore]) -> dict[str, SplitEntry]:
    entries: dict[str, SplitEntry] = {}
    home: dict[str, Path] = {}
    for study in studies:
        for name, entry in study.load_splits().items():
            merged = entries.setdefault(name, entry)
            first = home.setdefault(name, study.path)
            try:
                longer = merged if extends(entry, merged) else merged_entry(merged, entry)
                entries[name] = longer.known_as(*merged.named, *entry.named)
            except StudyError:
                what = "split" if merged.fingerprint == entry.fingerprint else "content"
                raise StudyError(
                    f"{first} and {study.path}: dataset {name!r} has another {what} in each; "
                    "only studies of one split can be merged"
                ) from None
    return entries


def _strategies(studies: Sequence[StudyStore]) -> list[StrategyEntry]:
    merged: list[StrategyEntry] = []
    for study in studies:
        try:
            merged = merged_strategies(merged, study.strategies, replace=False)
        except StudyError as error:
            raise StudyError(f"{study.path}: {error}") from None
    return merged


def _merge_dataset(
    new: h5py.File,
    entry: SplitEntry,
    strategies: Sequence[StrategyEntry],
    sources: Sequence[tuple[StudyStore, h5py.File]],
) -> list[Model]:
    """Write the cells of one dataset into a new study, and return their saved models."""
    found = []
    for study, file in sources:
        with layout.damage_explained(study.path):
            if to_h5(entry.name) in file[layout.PREDICTIONS]:
                arrays = layout.arrays_of(file, entry.name)
                found.append((len(arrays.fields), _Part(study, arrays)))
    # Later versions come first: all numbers of a cell are of one run, and they store more of them.
    parts = [part for _, part in sorted(found, key=lambda one: -one[0])]
    present = {name for source in parts for name in source.arrays.names}
    names = [strategy.name for strategy in strategies if strategy.name in present]
    group = new_group(new[layout.PREDICTIONS], to_h5(entry.name))
    fields = tuple(dict.fromkeys(name for source in parts for name in source.arrays.fields))
    merged = StudyArrays.create(group, entry, names, fields)
    giver = np.full(merged.layout["status"][0], -1)  # of each cell, the position in `parts`
    for part in merged.parts(PART):
        values = merged.empty(names[part])
        given = {name: np.full_like(giver[part], -1) for name in ("giver", "told")}
        for k, source in enumerate(parts):
            source.give(k, names[part], {**values, **given}, fields)
        giver[part] = given["giver"]
        merged.put(part, values)
    records = {
        log: [(s, r) for k, s in enumerate(parts) for r in s.records(log, names, giver == k)]
        for log in LOGS
    }
    for log, of_log in records.items():
        merged.append_records(log, (record for _, record in of_log))
    return [(models_folder(s.study.path), r["model"]) for s, r in records[DETAILS] if "model" in r]


class _Part:
    """Cells of one dataset in one of the studies.

    Attributes
    ----------
    study : StudyStore
    arrays : StudyArrays
        Arrays of the dataset in the file of the study, open for reading.
    told : ndarray of int, shape (S, R, F)
        Number of details of each cell but numbers: a power cut may leave a cell without its own.
    """

    def __init__(self, study: StudyStore, arrays: StudyArrays) -> None:
        self.study, self.arrays = study, arrays
        self.told = np.zeros(arrays.layout["status"][0], dtype=int)
        for (name, repeat, fold), record in latest_of(arrays.records(DETAILS)).items():
            details = [value for value in record.values() if isinstance(value, list | dict)]
            self.told[arrays.names.index(name), repeat, fold] = len(details)

    def give(
        self, own: int, names: Sequence[str], values: dict[str, np.ndarray], fields: Sequence[str]
    ) -> None:
        """Add the cells of some strategies, with some fields, to a part of the merged study.

        ``own`` is the number of this study in ``values["giver"]`` of the cells that it gives.
        """
        folds = self.arrays.entry.split.folds
        for at, part in _stretches(names, self.arrays.names):
            with layout.damage_explained(self.study.path):
                read = partial(StudyArrays.read, part=part)
                cells = self.study.whole_cells(self.arrays, read)
                cells = self.arrays.with_fields(cells, fields)
            cells = {**cells, "giver": np.array(own), "told": self.told[part]}
            merged = {name: array[at, : len(folds)] for name, array in values.items()}
            self._compare(merged, cells, part)
            done, status = cells["status"] == Status.DONE, merged["status"]
            more = (status != Status.DONE) | (cells["told"] > merged["told"])
            taken = np.where(done, more, (cells["status"] > 0) & (status == Status.MISSING))
            rows = tested_rows(np.sort(folds, axis=1), taken)
            for name, array in merged.items():
                np.copyto(array, cells[name], where=_like(rows if name in ROWS else taken, array))

    def _compare(
        self, merged: Mapping[str, np.ndarray], cells: Mapping[str, np.ndarray], part: slice
    ) -> None:
        """Raise a StudyError if a cell is done in both with different predictions."""
        folds = np.sort(self.arrays.entry.split.folds, axis=1)
        both = (merged["status"] == Status.DONE) & (cells["status"] == Status.DONE)
        if not both.any():
            return
        differ = np.zeros((len(both), *folds.shape), dtype=bool)
        for name in (name for name in ROWS if name in cells):
            of_rows = _differ(merged[name], cells[name])
            differ |= of_rows.any(axis=3) if of_rows.ndim == 4 else of_rows
        differ &= tested_rows(folds, both)
        if differ.any():
            s, repeat, row = np.argwhere(differ)[0].tolist()
            name = self.arrays.names[part][s]
            cell = Cell(self.arrays.entry.name, name, repeat, int(folds[repeat, row]))
            of_cell = folds[repeat] == cell.fold
            raise StudyError(
                f"{self.study.path}: {cell} is done with other predictions than in the studies "
                f"before ({int(differ[s, repeat, of_cell].sum())} of {int(of_cell.sum())} rows); "
                "leave one study out, or run the strategy under another name in one"
            )

    def records(
        self, log: str, names: Sequence[str], given: np.ndarray
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the records of the cells that were given, an array over the merged strategies."""
        position = {name: s for s, name in enumerate(names)}
        with layout.damage_explained(self.study.path):
            for (name, repeat, fold), record in latest_of(self.arrays.records(log)).items():
                if given[position[name], repeat, fold]:
                    yield record


def _stretches(names: Sequence[str], stored: Sequence[str]) -> Iterator[tuple[slice, slice]]:
    """Yield the places, in both lists, of strategies that are neighbours in both."""
    position = {name: s for s, name in enumerate(stored)}
    places = [(k, position[name]) for k, name in enumerate(names) if name in position]
    for _, stretch in groupby(enumerate(places), lambda x: (x[1][0] - x[0], x[1][1] - x[0])):
        (_, (start, stored_start)), *more = stretch
        yield slice(start, start + 1 + len(more)), slice(stored_start, stored_start + 1 + len(more))


def _like(where: np.ndarray, array: np.ndarray) -> np.ndarray:
    return where.reshape(where.shape + (1,) * (array.ndim - where.ndim))


def _differ(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return where the bits of two arrays differ; NaN equals NaN here."""
    kind = f"u{first.dtype.itemsize}"
    return np.ascontiguousarray(first).view(kind) != np.ascontiguousarray(second).view(kind)


# ------------------------------------------------------------------- saved models


@contextmanager
def _models_beside(target: Path) -> Iterator[list[Path]]:
    """Yield a list of folders of models, which are removed if the merged study cannot be made."""
    placed: list[Path] = []
    try:
        yield placed
    except BaseException:
        if not target.exists():
            for folder in placed:
                shutil.rmtree(folder, ignore_errors=True)
        raise


def _copy_models(models: Sequence[Model], target: Path) -> list[Path]:
    """Copy the models of the merged study to their folder, all of them or none.

    They are copied into an unfinished folder, synced, and the folder is renamed.

    Returns
    -------
    list of Path
        The folder that was made; empty if there is no model, or a killed merge had copied them.
    """
    final, named = models_folder(target), _named(models)
    with explained(final, "copying the models"):
        if not named or _there(named, final):
            remove_leftovers(final)
            return []
        with unfinished(final, folder=True) as (folder, _):
            for source, record in named.values():
                copy_model(source, record, folder)
            for inner in [folder, *filter(Path.is_dir, folder.rglob("*"))]:
                fsync_folder(inner)
            folder.rename(final)
            fsync_folder(final.parent)
    return [final]


def _named(models: Sequence[Model]) -> dict[Path, Model]:
    """Return the models by their path in the merged study.

    Raises
    ------
    StudyError
        Two cells have different models of the same name.
    """
    named: dict[Path, Model] = {}
    for folder, record in models:
        name = model_path(folder, record).relative_to(folder)
        earlier = named.setdefault(name, (folder, record))
        if earlier[1]["sha256"] != record["sha256"]:
            raise StudyError(
                f"{earlier[0] / name} and {folder / name}: two cells have different models of one "
                "name; leave one study out"
            )
    return named


def _there(named: Mapping[Path, Model], final: Path) -> bool:
    """Return whether a killed merge has already copied the same models.

    Raises
    ------
    StudyError
        The folder exists and holds other files.
    """
    if not final.exists():
        return False
    files = {path.relative_to(final) for path in final.rglob("*") if not path.is_dir()}
    if files == set(named) and all(is_recorded(final, record) for _, record in named.values()):
        return True
    raise StudyError(
        f"{final}: exists, without a study, and holds other files than the models of this merge; "
        "move it away, or name another output"
    )
