"""Removal and renaming of datasets and strategies, in a study and in its input database."""

from collections.abc import Mapping
from pathlib import Path

from mlaut.errors import StudyError, nearest
from mlaut.experiments.study_files.study_file import read_study_file
from mlaut.files_io import FilesIO, StudyStore
from mlaut.files_io.safe_files.hdf5 import write_in_place
from mlaut.files_io.safe_files.names import to_h5
from mlaut.markup import counted
from mlaut.records import check_name

Changes = Mapping[str, str | None]
"""New name of each dataset or strategy, or None if it is removed."""


def restructure(place: Path, datasets: Changes, strategies: Changes) -> list[str]:
    """Remove or rename datasets and strategies, and return a line for each.

    After an interruption, the same call does the rest.

    Parameters
    ----------
    place : Path
        A study, a database of datasets, or a study file, which stands for both.
    datasets, strategies : mapping of str to (str or None)
        The new name of each; None removes it.

    Raises
    ------
    StudyError
        A name is unknown, or the new name is taken; nothing is changed.
    """
    paths = (place, place)
    if place.suffix == ".toml":
        file = read_study_file(place)
        paths = file.output, file.input
    for name in (*datasets.values(), *strategies.values()):
        if name is not None:
            check_name(name)
    for file_path in dict.fromkeys(paths):
        if file_path.exists():
            with write_in_place(file_path):  # completes what a killed command had decided
                pass
    study = StudyStore(paths[0])
    in_study = study.datasets if study.exists else ()
    io = FilesIO(paths[1], "a") if paths[1].exists() or not paths[0].exists() else None
    stored = [*zip(*io.list_datasets(), strict=True)] if io else []
    dataset_names = dict.fromkeys([*in_study, *(name for name, _ in stored)])
    here = {entry.name for entry in study.strategies} if in_study else set()
    files = [FilesIO(path) for path in dict.fromkeys(paths) if path.exists()]
    changes = {"dataset": datasets, "strategy": strategies}
    done: dict[str, set[str]] = {}  # names that an interrupted call has changed
    for what, present in (("dataset", {*dataset_names}), ("strategy", here)):
        earlier = {old: new for file in files for old, new in file.names_changed(what).items()}
        absent = changes[what].keys() - present
        done[what] = {old for old in absent if earlier.get(old, "") == changes[what][old]}
    datasets, strategies = (
        {old: new for old, new in names.items() if old not in done[what]}
        for what, names in changes.items()
    )
    for old, new in datasets.items():
        if new in dataset_names and old not in in_study and new in in_study:
            continue  # an interrupted call has renamed it in the study
        if old not in dataset_names:
            raise StudyError(f"{place}: no dataset {old!r}{nearest(old, dataset_names)}")
        if new in dataset_names:
            raise StudyError(f"{place}: dataset {new!r} exists; use another name")
    study_changes = {old: new for old, new in datasets.items() if old in in_study}
    counts = dict.fromkeys(datasets, 0)
    if study_changes or strategies:
        new_paths = {
            name: f"{at.rpartition('/')[0]}/{to_h5(renamed)}"
            for name, at in stored
            if (renamed := datasets.get(name))
        }
        counts |= study.restructure(study_changes, strategies, new_paths)
    for name, at in stored:
        if io and name in datasets:
            renamed = datasets[name]
            io.delete_dataset(at) if renamed is None else io.rename_dataset(at, renamed)
    lines = []
    for what, names in changes.items():
        for old, new in names.items():
            remark = "by an earlier call"
            if old not in done[what]:
                remark = f"({counted(counts[old], 'cell')} with an outcome)"
            lines.append(f"{place}: {what} {old} {f'is now {new}' if new else 'removed'} {remark}")
    return lines
