"""Datasets and strategies of a study and of its input database, removed or renamed."""

from collections.abc import Mapping
from pathlib import Path

from mlaut.errors import StudyError, nearest
from mlaut.estimators.names import check_name
from mlaut.experiments.study_files.study_file import read_study_file
from mlaut.files_io import FilesIO, StudyStore
from mlaut.files_io.safe_files.hdf5 import write_in_place
from mlaut.files_io.safe_files.names import to_h5
from mlaut.markup import counted

Changes = Mapping[str, str | None]
"""The new name of each, or None for what is removed."""


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
    for name in filter(None, (*datasets.values(), *strategies.values())):
        check_name(name)
    for file_path in dict.fromkeys(paths):
        if file_path.exists():
            with write_in_place(file_path):  # what a killed command had decided is completed
                pass
    study = StudyStore(paths[0])
    in_study = study.datasets if study.exists else ()
    io = FilesIO(paths[1], "a") if paths[1].exists() or not paths[0].exists() else None
    stored = [*zip(*io.list_datasets(), strict=True)] if io else []
    known = dict.fromkeys([*in_study, *(name for name, _ in stored)])
    here = {entry.name for entry in study.strategies} if in_study else set()
    files = [FilesIO(path) for path in dict.fromkeys(paths) if path.exists()]
    given = {"dataset": datasets, "strategy": strategies}
    done: dict[str, set[str]] = {}  # by an interrupted call, which may have done a part
    for what, present in (("dataset", {*known}), ("strategy", here)):
        earlier = {old: new for file in files for old, new in file.names_changed(what).items()}
        gone = given[what].keys() - present
        done[what] = {old for old in gone if earlier.get(old, "") == given[what][old]}
    datasets, strategies = (
        {old: new for old, new in names.items() if old not in done[what]}
        for what, names in given.items()
    )
    for old, new in datasets.items():
        if new in known and old not in in_study and new in in_study:
            continue  # an interrupted call has renamed it in the study
        if old not in known:
            raise StudyError(f"{place}: no dataset {old!r}{nearest(old, known)}")
        if new in known:
            raise StudyError(f"{place}: dataset {new!r} exists; use another name")
    mine = {old: new for old, new in datasets.items() if old in in_study}
    counts = dict.fromkeys(datasets, 0)
    if mine or strategies:
        to = {
            name: f"{at.rpartition('/')[0]}/{to_h5(renamed)}"
            for name, at in stored
            if (renamed := datasets.get(name))
        }
        counts |= study.restructure(mine, strategies, to)
    for name, at in stored:
        if io and name in datasets:
            renamed = datasets[name]
            io.delete_dataset(at) if renamed is None else io.rename_dataset(at, renamed)
    lines = []
    for what, names in given.items():
        for old, new in names.items():
            by = "by an earlier call"
            if old not in done[what]:
                by = f"({counted(counts[old], 'cell')} with an outcome)"
            lines.append(f"{place}: {what} {old} {f'is now {new}' if new else 'removed'} {by}")
    return lines
