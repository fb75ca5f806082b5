"""Removal and renaming of datasets and strategies, in a study and in its input database."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from mlaut.data.sources.references import parse_reference
from mlaut.data.tables.collections import collection_entries
from mlaut.data.tables.folders import folder_tables, name_of_file
from mlaut.errors import MlautError, StoreError, StudyError, nearest
from mlaut.experiments.study_files.choices import files_of, references_of
from mlaut.experiments.study_files.study_file import StudyFile, read_study_file
from mlaut.files_io import FilesIO, StudyStore
from mlaut.files_io.kinds import Kind, kind_of
from mlaut.files_io.safe_files.hdf5 import write_in_place
from mlaut.files_io.safe_files.names import to_h5
from mlaut.helpers.markup import counted
from mlaut.records import check_name

Changes = Mapping[str, str | None]
"""New name of each dataset or strategy, or None if it is removed."""


def _places(
    place: Path,
    given: Iterable[str],
    in_study: Mapping[str, str],
    stored: Sequence[tuple[str, str]],
) -> dict[str, tuple[str, str]]:
    """Return name and path in the database of each dataset; without a path if it has none there.

    Of several that are called the same, the one of the study is meant.
    """
    places = {}
    for text in given:
        named = [(name, at) for name, at in stored if text in (name, at)]
        ours = [one for one in named if in_study.get(text) == one[1]]
        if len(ours or named) > 1:
            raise StudyError(
                f"{place}: {len(named)} datasets are called {text!r}; name one by its path: "
                f"{' or '.join(at for _, at in named)}"
            )
        places[text] = (ours or named or [(text, "")])[0]
    return places


def restructure(place: Path, datasets: Changes, strategies: Changes) -> list[str]:
    """Remove or rename datasets and strategies, and return a line for each.

    After an interruption, the same call does the rest.

    Parameters
    ----------
    place : Path
        A study, a database of datasets, or a study file, which stands for both. Datasets are also
        renamed in the database that `Study` made for a study.
    datasets, strategies : mapping of str to (str or None)
        The new name of each; None removes it. A dataset may be given by its path in the database.

    Raises
    ------
    StudyError
        A name is unknown, several datasets have it, or the new name is taken; nothing is changed.
    StoreError
        There is no such file.
    """
    paths, file = (place, place), None
    if kind_of(place) is Kind.STUDY_FILE:
        file = read_study_file(place)
        paths = file.output, file.input
        if not file.output.exists() and not file.input.exists():
            raise StudyError(
                f"{place}: nothing of this study file is stored yet, since it was not run; change "
                "the names in the study file itself"
            )
    own = place.with_name(f"{place.stem}.datasets.h5")
    if not file and own.exists() and any(datasets.values()):
        paths = place, own
    if not any(path.exists() for path in paths):
        raise StoreError(f"{place}: no such file; check the path")
    for name in (*datasets.values(), *strategies.values()):
        if name is not None:
            check_name(name)
    for file_path in dict.fromkeys(paths):
        if file_path.exists():
            with write_in_place(file_path):  # completes what a killed command had decided
                pass
    study = StudyStore(paths[0])
    in_study = {n: e.path for n, e in study.load_splits().items()} if study.exists else {}
    io = FilesIO(paths[1], "a") if paths[1].exists() else None
    stored = [*zip(*io.list_datasets(), strict=True)] if io else []
    places = _places(place, datasets, in_study, stored)
    datasets = {places.get(old, (old, ""))[0]: new for old, new in datasets.items()}
    chosen = dict(places.values())
    others = {name for text, (name, at) in places.items() if text == at != in_study.get(name, at)}
    in_study = {name: at for name, at in in_study.items() if name not in others}
    dataset_names = dict.fromkeys([*in_study, *(name for name, _ in stored)])
    here = {entry.name for entry in study.strategies} if study.exists else set()
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
            if (renamed := datasets.get(name)) and in_study.get(name) == at
        }
        counts |= study.restructure(study_changes, strategies, new_paths)
    for name, at in stored:
        if io and name in datasets and at == chosen[name]:
            renamed = datasets[name]
            io.delete_dataset(at) if renamed is None else io.rename_dataset(at, renamed)
    lines = []
    added_again = FilesIO(own).list_datasets()[0] if own.exists() and not file else ()
    for what, names in changes.items():
        for old, new in names.items():
            remark = "by an earlier call"
            if old not in done[what]:
                remark = f"({counted(counts[old], 'cell')} with an outcome)"
            if file:
                remark += _still_named(file, what, old)
            elif what == "dataset" and not new and study.exists and old in added_again:
                call = f"'mlaut study remove {own} --dataset {old}'"
                remark += f"; {own} has it, so the next run will add it again: {call} removes it"
            elif new and study.exists:
                remark += "; change it in the study file, too, or the next run will add the old one"
            lines.append(f"{place}: {what} {old} {f'is now {new}' if new else 'removed'} {remark}")
    return lines


def _still_named(file: StudyFile, what: str, name: str) -> str:
    """Return a clause if a study file will find a dataset or a strategy again; else nothing."""
    data, strategies = file.data, file.strategies
    if name in (data.datasets if what == "dataset" else strategies.names):
        return f"; {file.path} still names it: change that"
    if what == "strategy":
        return f"; change {strategies.file}, too" if strategies.file else ""
    where = ""
    with suppress(MlautError):  # a folder that cannot be read now
        if data.folder and not data.datasets:
            where = data.folder if name in folder_tables(file.path.parent / data.folder) else ""
        if data.collection and not data.datasets:
            entries = collection_entries(data.collection)
            where = data.collection if any(entry.name == name for entry in entries) else ""
        files = files_of(file)
        where = next((text for text in files if name == name_of_file(text)), where)
        for reference in map(parse_reference, (t for t in references_of(file) if t not in files)):
            where = where or (str(reference) if name in (reference.name, reference.key) else "")
    return f"; {name} is still in {where}: the next run will add it again" if where else ""
