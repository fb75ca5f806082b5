"""Verification of a bundle by fitting cells again, and its extension by further strategies."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlaut.errors import MlautError, StudyError
from mlaut.experiments import Verification, verify_study
from mlaut.files_io import FilesIO, SplitEntry, StudyStore
from mlaut.helpers.downloads import MOST_BYTES
from mlaut.records import Dataset
from mlaut_exchange.manifest import (
    DATASETS,
    STRATEGIES,
    STUDY_FILE,
    Bundle,
    BundledDataset,
    put_tables,
)
from mlaut_exchange.opening import open_bundle

if TYPE_CHECKING:
    from mlaut.experiments import RunSummary

_MOST_TOML = 2**20  # bytes of a study file that is read
_WORD = re.compile(r"\w[\w +-]{0,40}")
_FILE = re.compile(r"dir|file|path|folder|memory|cache", re.IGNORECASE)


def verify_bundle(
    place: str | os.PathLike[str],
    *,
    refit: str | float = 0.0,
    strategies: Any = None,
    trusted: bool = False,
    hdf5_input_io: FilesIO | None = None,
    limit: int = MOST_BYTES,
    **options: Any,
) -> tuple[Bundle, Verification]:
    """Check the digests of a bundle, then its study, then some cells by fitting them again.

    No code that came with the bundle is run, unless it is trusted.

    Parameters
    ----------
    place : str or path-like
        Folder, ``.zip`` or address of the bundle (`open_bundle`).
    refit : str or float, default 0
        Share of the done cells to fit again, drawn at random: ``"1%"`` or ``0.01``. Tables that are
        not in the bundle are then loaded by their references, for which a network may be needed.
    strategies : strategies, optional
        Strategies to fit cells with; default those that come with MLaut, with the parameters of the
        study file of the bundle.
    trusted : bool, default False
        Whether to run the Python file of strategies of the bundle. It can do anything: trust only
        authors whom you know.
    hdf5_input_io : FilesIO, optional
        Database of the datasets, which replaces those of the bundle.
    limit : int
        Bytes that the bundle may have; default 4 GiB.
    **options
        ``engine``, ``n_jobs`` and ``seed`` of `mlaut.experiments.verify_study`.

    Returns
    -------
    bundle : Bundle
    checked : Verification

    Raises
    ------
    StoreError
        There is no bundle, or a file of it has another digest.
    StudyError
        Cells are to be fitted again, and the strategies or a table are not available.
    """
    bundle = open_bundle(place, limit=limit)
    study = StudyStore(bundle.study)
    if strategies is None and _wanted(refit):
        strategies = strategies_of_bundle(bundle, trusted)
    unlike = tuple(disagreement(bundle, study))
    if not _wanted(refit) or unlike or hdf5_input_io is not None:
        io = hdf5_input_io or (FilesIO(bundle.folder / DATASETS) if bundle.complete else None)
        checked = verify_study(
            bundle.study, refit=refit, strategies=strategies, hdf5_input_io=io, **options
        )
        return bundle, replace(
            checked,
            problems=(*unlike, *checked.problems),
            unchecked=_absent_tables(bundle) if io is None else "",
        )
    with tempfile.TemporaryDirectory() as folder:
        io = datasets_io(bundle, study, Path(folder, DATASETS))
        options |= {"strategies": strategies, "hdf5_input_io": io}
        checked = verify_study(bundle.study, refit=refit, **options)
    return bundle, replace(checked, unchecked=_way_out(bundle, trusted) if checked.left_out else "")


def _absent_tables(bundle: Bundle) -> str:
    """Return how many tables are not in a bundle, and what checks them."""
    from mlaut.data import is_reference

    absent = [dataset for dataset in bundle.datasets if not dataset.included]
    nowhere = sum(not is_reference(dataset.reference) for dataset in absent)
    way = "loads and checks them"
    if nowhere:
        way = f"needs a database that has them (--input): {nowhere} have no place to load from"
    return f"{len(absent)} of {len(bundle.datasets)} datasets are not in the bundle; --refit {way}"


def _way_out(bundle: Bundle, trusted: bool) -> str:
    """Return advice on how to fit the strategies that were not fitted again."""
    if STRATEGIES in bundle.files and not trusted:
        return "--trust runs the Python file of the bundle, with which others can be fitted"
    if STUDY_FILE not in bundle.files:
        return "its authors published the study without its study file ('mlaut publish study.toml')"
    return ""


def _wanted(refit: str | float) -> bool:
    return bool(str(refit).strip("0.% "))


def disagreement(bundle: Bundle, study: StudyStore) -> Iterable[tuple[str, str]]:
    """Yield the datasets on which the manifest and the study disagree, with the reason."""
    stored = {name: entry.fingerprint for name, entry in study.load_splits().items()}
    named = {dataset.name: dataset.fingerprint for dataset in bundle.datasets}
    for name in sorted({*stored, *named}):
        if stored.get(name) != named.get(name):
            yield f"dataset {name!r}", "the manifest and the study do not name the same table"


# --------------------------------------------------------------------- extending


def extend_bundle(
    place: str | os.PathLike[str],
    strategies: Any,
    output: str | os.PathLike[str],
    *,
    hdf5_input_io: FilesIO | None = None,
    limit: int = MOST_BYTES,
    verbose: int = 1,
    **options: Any,
) -> RunSummary:
    """Run further strategies on the splits of a bundle; a second call resumes the run.

    No code that came with the bundle is run, and the bundle is not changed. `merge_studies` joins
    the study of the bundle with the new one; nothing is fitted again.

    Parameters
    ----------
    place : str or path-like
        Folder, ``.zip`` or address of the bundle (`open_bundle`).
    strategies : strategies or path-like
        Strategies as ``Orchestrator.run`` takes them, or a Python file of your own, which is run
        and defines ``strategies``.
    output : path-like
        Path of the study with the new strategies. Its datasets are stored beside it, in
        ``<name>.datasets.h5``.
    hdf5_input_io : FilesIO, optional
        Database with the tables that the bundle neither includes nor references.
    limit : int
        Bytes that the bundle may have; default 4 GiB.
    verbose : int, default 1
        0 shows nothing, 1 the progress, 2 also each failure.
    **options
        Options of ``Orchestrator.run``.

    Returns
    -------
    RunSummary

    Raises
    ------
    StudyError
        A strategy of the bundle has one of the names, the bundle is a race, or a table is not in
        the bundle and cannot be loaded.
    """
    from mlaut.estimators import as_strategies
    from mlaut.experiments import Orchestrator
    from mlaut.plugins import own_strategies

    bundle = open_bundle(place, limit=limit)
    study, target = StudyStore(bundle.study), StudyStore(output)
    if study.race is not None:
        raise StudyError(
            f"{place}: the study is a race, and a strategy cannot join a race that has begun; make "
            "a study of its datasets without [race]"
        )
    if isinstance(strategies, str | os.PathLike) and Path(strategies).suffix == ".py":
        strategies = own_strategies(Path(strategies))
    new = as_strategies(strategies)
    names = {entry.name for entry in study.strategies}
    if again := [strategy.name for strategy in new if strategy.name in names]:
        raise StudyError(
            f"{place}: has the strategy {again[0]!r} already; leave it out, or give yours another "
            "name"
        )
    target.path.parent.mkdir(parents=True, exist_ok=True)
    database = target.path.with_name(f"{target.path.stem}.datasets.h5")
    io = datasets_io(bundle, study, database, hdf5_input_io)
    target.save_splits(study.load_splits().values())
    seeds = [run["seed"] for run in study.runs if isinstance(run.get("seed"), int)]
    orchestrator = Orchestrator(io, FilesIO(target.path, "a"), seed=seeds[-1] if seeds else 0)
    return orchestrator.run(new, verbose=verbose, **options)


def strategies_of_bundle(bundle: Bundle, trusted: bool) -> Any:
    """Return the strategies of the study file of a bundle, or None if none can be used.

    Without a study file, the Python file has the strategies. Names and parameters are data; the
    Python file, and parameters that could name a file, are used only if the bundle is trusted.
    """
    from mlaut.experiments import read_study_file
    from mlaut.plugins import choose_strategies, own_strategies

    if trusted and STUDY_FILE not in bundle.files and STRATEGIES in bundle.files:
        return own_strategies(bundle.folder / STRATEGIES)
    if STUDY_FILE not in bundle.files or bundle.files[STUDY_FILE].size > _MOST_TOML:
        return None
    try:
        file = read_study_file(bundle.folder / STUDY_FILE)
        code = STRATEGIES if trusted and STRATEGIES in bundle.files else ""
        chosen = replace(file.strategies, file=code)
        if not trusted:
            bare = replace(chosen, parameters={})
            names = {item.name for item in choose_strategies(replace(file, strategies=bare))}
            items = chosen.parameters.items()
            chosen = replace(
                chosen, parameters={n: p for n, p in items if n in names and _is_plain(p)}
            )
        return choose_strategies(replace(file, strategies=chosen))
    except (MlautError, RecursionError):
        if trusted:
            raise
        return None


def _is_plain(value: Any, name: str = "") -> bool:
    """Return whether a parameter has only numbers and words that cannot name a file.

    Examples
    --------
    >>> _is_plain({"params": {"C": 2.0, "kernel": "rbf"}, "param_grid": {"gamma": [0.1, 1]}})
    True
    >>> _is_plain({"params": {"train_dir": "x"}}), _is_plain({"params": {"x": "/tmp/x"}})
    (False, False)
    """
    if isinstance(value, Mapping):
        return all(_is_plain(inner, key) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return all(_is_plain(inner, name) for inner in value)
    if isinstance(value, str):
        return bool(_WORD.fullmatch(value)) and not _FILE.search(name)
    return isinstance(value, int | float)


# ------------------------------------------------------------------- the datasets


def datasets_io(
    bundle: Bundle, study: StudyStore, path: Path, given: FilesIO | None = None
) -> FilesIO:
    """Store the datasets of a bundle in a database; tables that it lacks are loaded."""
    io, about = FilesIO(path, "a"), {dataset.name: dataset for dataset in bundle.datasets}
    stored, there = ({*x.list_datasets()[1]} if x else set() for x in (io, given))

    def load(entry: SplitEntry) -> Dataset:
        return _dataset(
            bundle, about.get(entry.name), entry, given if entry.path in there else None
        )

    put_tables(io, (x for x in study.load_splits().values() if x.path not in stored), load)
    return io


def _dataset(
    bundle: Bundle, about: BundledDataset | None, entry: SplitEntry, database: FilesIO | None
) -> Dataset:
    """Return a dataset of a database, or else of a bundle, checked to be that of the study."""
    from mlaut.data import is_reference, parse_reference
    from mlaut.plugins import checked_dataset, load_reference

    if database is not None:
        dataset = database.load_dataset(entry.path)
    elif about is not None and about.included:
        dataset = FilesIO(bundle.folder / DATASETS).load_dataset(entry.path)
    elif about is not None and is_reference(about.reference):
        dataset = load_reference(parse_reference(about.reference))  # of one dataset, not of a suite
        dataset = checked_dataset(replace(dataset, name=entry.name))
    else:
        raise StudyError(
            f"{bundle.folder}: the table of dataset {entry.name!r} is not in the bundle, and it "
            "names no place to load it from; name a database that has it (--input)"
        )
    if dataset.fingerprint != entry.fingerprint:
        raise StudyError(
            f"{bundle.folder}: dataset {entry.name!r} has another content now than the one that "
            f"was split (stored {entry.fingerprint[:12]}, now {dataset.fingerprint[:12]}); name a "
            "database that has the old one (--input)"
        )
    return dataset
