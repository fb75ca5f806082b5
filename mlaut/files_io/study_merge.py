"""Merge studies whose cells were run separately, for example on several machines."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from mlaut.errors import StudyError
from mlaut.files_io.hdf5 import fsync_folder, read_h5, rewrite_h5
from mlaut.files_io.lock import holder_of
from mlaut.files_io.models import copy_model, is_recorded, model_path, models_folder
from mlaut.files_io.names import to_h5
from mlaut.files_io.study import Study
from mlaut.files_io.study_arrays import ROWS, StudyArrays, array_layout, tested_rows
from mlaut.files_io.study_layout import (
    PREDICTIONS,
    arrays_of,
    damage_explained,
    mark,
    put_entry,
    put_runs,
    put_strategies,
)
from mlaut.files_io.study_records import (
    USAGE,
    SplitEntry,
    StrategyEntry,
    extends,
    merged_entry,
    merged_strategies,
    ragged,
)
from mlaut.files_io.system_errors import explained
from mlaut.records import Block, Cell, Status

__all__ = ["merge_studies"]

Model = tuple[Path, Mapping[str, Any]]  # the folder and the record of a saved model


def merge_studies(
    sources: Sequence[str | os.PathLike[str]], output: str | os.PathLike[str]
) -> Study:
    """Merge studies into a new one, with all their datasets, strategies, repeats and outcomes.

    Parameters
    ----------
    sources : sequence of path-like
        Paths of two or more studies. A dataset that several studies have must be the same table,
        split in the same way; one may have further repeats. A strategy that several have must have
        the same parameters. If several have an outcome of a cell, a done one is taken before
        others, and otherwise that of the first study.
    output : path-like
        Path of the new study, which must not exist.

    Returns
    -------
    Study

    Raises
    ------
    StudyError
        The studies contradict each other, one is being written to, or the output exists.
    StoreError
        A saved model is not the one that its study recorded, or lies outside of its folder.

    Notes
    -----
    Saved models are copied, too, and are complete and synced to disk before the new study appears.
    A merge that was killed leaves no study; the same call removes what it left.
    """
    target, studies = Path(output), [Study(path) for path in sources]
    if len(studies) < 2:
        raise StudyError(f"{target}: nothing to merge; name two studies or more")
    if target.exists():
        raise StudyError(f"{target}: exists, and merging makes a new study; name another output")
    for study in studies:
        if holder := holder_of(study.path):
            raise StudyError(
                f"{study.path}: process {holder.get('pid', '?')} is writing to it; "
                "merge when it has ended"
            )
    entries, strategies = _entries(studies), _strategies(studies)
    models: list[Model] = []
    with ExitStack() as stack:
        placed = stack.enter_context(_models_beside(target))
        new = stack.enter_context(rewrite_h5(target, fresh=True))
        old = [stack.enter_context(read_h5(study.path)) for study in studies]
        mark(new)
        put_strategies(new, strategies)
        runs = {run["id"]: run for study in studies for run in (*study.analyses, *study.runs)}
        put_runs(new, runs.values())
        for entry in entries.values():
            put_entry(new, entry)
            models += _merge_dataset(new, entry, strategies, list(zip(studies, old, strict=True)))
        placed += _copy_models(models, target)
    return Study(target)


def _entries(studies: Sequence[Study]) -> dict[str, SplitEntry]:
    entries: dict[str, SplitEntry] = {}
    home: dict[str, Path] = {}
    for study in studies:
        for name, entry in study.load_splits().items():
            known = entries.setdefault(name, entry)
            first = home.setdefault(name, study.path)
            if extends(entry, known):
                continue
            try:
                entries[name] = merged_entry(known, entry)
            except StudyError:
                what = "split" if known.fingerprint == entry.fingerprint else "content"
                raise StudyError(
                    f"{first} and {study.path}: dataset {name!r} has another {what} in each; "
                    "only studies of one split can be merged"
                ) from None
    return entries


def _strategies(studies: Sequence[Study]) -> list[StrategyEntry]:
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
    sources: Sequence[tuple[Study, h5py.File]],
) -> list[Model]:
    """Write the cells of one dataset into a new study, and return their saved models."""
    present = [pair for pair in sources if _has(*pair, entry.name)]
    blocks = [study.block(entry.name) for study, _ in present]
    some = {name for block in blocks for name in block.strategies}
    names = [strategy.name for strategy in strategies if strategy.name in some]
    group = new[PREDICTIONS].create_group(to_h5(entry.name))
    merged = StudyArrays.create(group, entry, names)
    layout = array_layout(entry, len(names)).items()
    arrays = {name: np.full(shape, nothing, dtype) for name, (shape, dtype, nothing) in layout}
    told: list[dict[str, Any]] = []
    models: list[Model] = []
    for (study, file), block in zip(present, blocks, strict=True):
        with damage_explained(study.path):
            at = [names.index(name) for name in block.strategies]
            taken = _taken(study, entry, arrays, at, block)
            _copy(arrays_of(file, entry.name), arrays, at, taken)
            position = {name: s for s, name in enumerate(block.strategies)}
            for record in study.details(entry.name):
                if taken[position[record["strategy"]], record["repeat"], record["fold"]]:
                    told += [rest] if (rest := ragged(record)) else []
                    if "model" in record:
                        models.append((models_folder(study.path), record["model"]))
    for name, values in arrays.items():
        merged.put(name, values)
    merged.append_details(told)
    return models


def _has(study: Study, file: h5py.File, dataset: str) -> bool:
    with damage_explained(study.path):
        return to_h5(dataset) in file[PREDICTIONS]


def _taken(
    study: Study, entry: SplitEntry, arrays: dict[str, np.ndarray], at: list[int], block: Block
) -> np.ndarray:
    """Return which cells of a study go into the merged one: bool, shape (S, R, F).

    Raises
    ------
    StudyError
        A cell is done in both, with different predictions.
    """
    folds = block.split.folds
    there = arrays["status"][at, : len(folds)]
    both = tested_rows(folds, block.done & (there == Status.DONE))
    differ = _differ(arrays["predictions"][at, : len(folds)], block.predictions) & both
    if block.probabilities is not None:
        known = arrays["probabilities"][at, : len(folds)]
        differ |= _differ(known, block.probabilities).any(axis=3) & both
    if differ.any():
        s, repeat, row = np.argwhere(differ)[0].tolist()
        cell = Cell(entry.name, block.strategies[s], repeat, int(folds[repeat, row]))
        of_cell = folds[repeat] == cell.fold
        raise StudyError(
            f"{study.path}: {cell} is done with other predictions than in the studies before "
            f"({int(differ[s, repeat, of_cell].sum())} of {int(of_cell.sum())} rows); leave one "
            "study out, or run the strategy under another name in one"
        )
    return np.where(block.done, there != Status.DONE, (block.status > 0) & (there == 0))


def _differ(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return where the bits of two arrays differ; NaN equals NaN here."""
    kind = f"u{one.dtype.itemsize}"
    return one.view(kind) != other.view(kind)


def _copy(
    source: StudyArrays, arrays: dict[str, np.ndarray], at: list[int], taken: np.ndarray
) -> None:
    if tuple(source.fields) != USAGE:
        raise StudyError(
            f"{source.group.file.filename}: written by another version of MLaut, which stores "
            f"other numbers of each cell ({', '.join(source.fields)}); merge with that version"
        )
    folds = source.entry.split.folds
    rows = tested_rows(folds, taken)
    for name, values in arrays.items():
        where = rows if name in ROWS else taken
        merged = values[at, : len(folds)]
        merged[where] = source.by_row(name)[where]
        values[at, : len(folds)] = merged


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

    They are copied into a temporary folder, synced, and the folder is renamed. The caller holds the
    lock of the target, so an existing temporary folder was left by a killed merge.

    Returns
    -------
    list of Path
        The folder that was made; empty if there is no model, or a killed merge had copied them.
    """
    unfinished, final = target.with_name(f".{target.name}.merging"), models_folder(target)
    with explained(unfinished, "copying the models"):
        if unfinished.exists():
            shutil.rmtree(unfinished)
        if not _named(models) or _there(models, final):
            return []
        unfinished.mkdir()
        try:
            for folder, record in _named(models).values():
                copy_model(folder, record, unfinished)
            for folder in [unfinished, *filter(Path.is_dir, unfinished.rglob("*"))]:
                fsync_folder(folder)
            unfinished.rename(final)
            fsync_folder(final.parent)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
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
        known = named.setdefault(name, (folder, record))
        if known[1]["sha256"] != record["sha256"]:
            raise StudyError(
                f"{known[0] / name} and {folder / name}: two cells have different models of one "
                "name; leave one study out"
            )
    return named


def _there(models: Sequence[Model], final: Path) -> bool:
    """Return whether a killed merge has already copied the same models.

    Raises
    ------
    StudyError
        The folder exists and holds other files.
    """
    if not final.exists():
        return False
    files = {path.relative_to(final) for path in final.rglob("*") if not path.is_dir()}
    named = _named(models)
    if files == set(named) and all(is_recorded(final, record) for _, record in named.values()):
        return True
    raise StudyError(
        f"{final}: exists, without a study, and holds other files than the models of this merge; "
        "move it away, or name another output"
    )
