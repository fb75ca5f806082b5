"""Publication of a study as a bundle, without texts that reveal its machine and its user."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mlaut.errors import MlautError, StoreError, StudyError, with_checked_options
from mlaut.experiments import read_study_file
from mlaut.files_io import DatasetInfo, FilesIO, SplitEntry, StudyStore
from mlaut.helpers.markup import csv_text
from mlaut.plugins import (
    MANIFEST,
    Kind,
    checking,
    explained,
    fsync_folder,
    holder_of,
    kind_of,
    unfinished,
)
from mlaut.records import Dataset, Status
from mlaut.report import Report
from mlaut_exchange import metadata
from mlaut_exchange.manifest import (
    DATASETS,
    KINDS,
    STRATEGIES,
    STUDY,
    STUDY_FILE,
    Bundle,
    BundledDataset,
    file_record,
    put_tables,
)
from mlaut_exchange.opening import open_bundle

INCLUDE = ("licensed", "all", "none")
_SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
# Beginnings of licences that let one pass a table on, in lower case, without blanks and dashes.
_OPEN = ("cc0", "ccby", "publicdomain", "pddl", "odbl", "odcby", "mit", "bsd", "apache")
_CLOSED = re.compile(r"\b(nc|nd)\b")  # forbids sale (nc) or changes (nd): its users must decide


@with_checked_options(StudyError)
def publish_study(
    study: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    datasets: str | os.PathLike[str] | None = None,
    title: str = "",
    authors: Sequence[str] = (),
    licence: str = "CC-BY-4.0",
    include: str = "licensed",
    date: str = "",
    code: str | os.PathLike[str] | None = None,
) -> Bundle:
    """Publish a study as a folder of plain files that anyone can verify and extend.

    The same study, datasets and arguments always make the same bytes.

    Parameters
    ----------
    study : path-like
        A study (``.h5``), or a study file (``.toml``), which is published too, with the Python file
        of strategies that it names.
    output : path-like
        Folder of the bundle, which must not exist, or be empty.
    datasets : path-like, optional
        Database of the datasets; default that of the last run, or that in the study's folder.
    title : str
        Default: the title of the study, or the name of its file.
    authors : sequence of str
        Default: ``"The authors of <title>"``.
    licence : str, default "CC-BY-4.0"
        SPDX identifier of the licence of the results. The tables keep their own licences.
    include : {"licensed", "all", "none"}
        Which tables the bundle has: those whose metadata name a licence that allows it, all, or
        none. The bundle has reference and digest of the others.
    date : str
        Day of the publication, such as ``"2026-11-22"``; default that of the last run.
    code : path-like, optional
        Python file of the strategies, to publish with a study that has no study file.

    Returns
    -------
    Bundle

    Raises
    ------
    StudyError
        The study is damaged or empty; the datasets are missing or differ; an argument cannot be
        used; the output exists; or a text would reveal a path or the name of this machine.

    Examples
    --------
    >>> import tempfile
    >>> from mlaut import Study
    >>> from mlaut_exchange import extend_bundle, verify_bundle
    >>> from mlaut.files_io import merge_studies
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name)
    >>> study = Study(path / "study.h5")
    >>> study.add_datasets(["starter/iris", "starter/zoo"])
    ['iris', 'zoo']
    >>> _ = study.run("BaselineClassifier", engine="inline", verbose=0)
    >>> bundle = publish_study(study.path, path / "bundle", title="Small", authors=["Ada"])
    >>> verify_bundle(path / "bundle", refit="100%", engine="inline")[1].refitted
    2
    >>> mine = path / "mine.h5"
    >>> _ = extend_bundle(path / "bundle", "GaussianNaiveBayes", mine, engine="inline", verbose=0)
    >>> merged = merge_studies([bundle.study, mine], path / "all.h5")
    >>> [strategy.name for strategy in merged.strategies]
    ['BaselineClassifier', 'GaussianNaiveBayes']
    >>> folder.cleanup()
    """
    source = _ToPublish.of(Path(os.path.expanduser(study)), datasets, code)
    target = Path(os.path.expanduser(output))
    _check(licence, include, date, target)
    with explained(target, "publishing"):
        target.parent.mkdir(parents=True, exist_ok=True)
        with unfinished(target, folder=True) as (work, _):
            bundle = _fill(work, source, title, tuple(authors), licence, include, date)
            if not _is_published(target, bundle):
                for path in (*work.iterdir(), work):
                    fsync_folder(path)
                work.rename(target)
                fsync_folder(target.parent)
    return replace(bundle, folder=target)


def _check(licence: str, include: str, date: str, target: Path) -> None:
    if not _SPDX.fullmatch(licence):
        raise StudyError(
            f"licence {licence!r}: no SPDX identifier; write for example CC-BY-4.0 or CC0-1.0"
        )
    if include not in INCLUDE:
        raise StudyError(f"include {include!r}: there are {', '.join(INCLUDE)}")
    if date and not _DAY.fullmatch(date):
        raise StudyError(f"date {date!r}: no day; write for example 2026-11-22")
    if not (target / MANIFEST).exists():
        _refuse_content(target)


def _refuse_content(target: Path) -> None:
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise StudyError(f"{target}: exists, and a bundle is a new folder; name another output")


def _is_published(target: Path, bundle: Bundle) -> bool:
    """Return whether the output already is this bundle, because an earlier call was killed late."""
    with suppress(MlautError):
        if (target / MANIFEST).exists() and open_bundle(target).digest == bundle.digest:
            return True
    _refuse_content(target)
    return False


# --------------------------------------------------------------------- the source


@dataclass(frozen=True)
class _ToPublish:
    """Study to publish, with its database of datasets, its study file and its strategies."""

    study: StudyStore
    datasets: FilesIO
    texts: Mapping[str, Path]
    title: str = ""

    @classmethod
    def of(cls, path: Path, datasets: Any, code: Any = None) -> _ToPublish:
        texts = {} if code is None else {STRATEGIES: Path(os.path.expanduser(code))}
        title = ""
        if kind_of(path) is Kind.STUDY_FILE:
            file = read_study_file(path)
            texts = {STUDY_FILE: path}
            if file.strategies.file:
                texts[STRATEGIES] = path.parent / file.strategies.file
            title, path, datasets = file.study.title, file.output, datasets or file.input
        study = StudyStore(path)
        if not study.exists:
            raise StudyError(f"{path}: no study in this file; run it first, or check the path")
        if study.journal_path.exists() or holder_of(path):  # else its folder may be read-only
            study.settle()
        if not any((study.status(name) == Status.DONE).any() for name in study.datasets):
            raise StudyError(f"{path}: none of its cells is done; run the study first")
        return cls(study, _database(study, datasets), texts, title)


def _database(study: StudyStore, path: str | os.PathLike[str] | None) -> FilesIO:
    from mlaut.plugins import recorded_input

    if path is None:
        beside = study.path.with_name(f"{study.path.stem}.datasets.h5")
        path = beside if beside.exists() else recorded_input(study)[0]
    if path is None or not Path(path).exists():
        raise StudyError(
            f"{study.path}: the database of its datasets was not found"
            f"{'' if path is None else f' at {path}'}; name it (--input, datasets=)"
        )
    return FilesIO(path)


def study_file_beside(path: Path) -> Path | None:
    """Return the study file in the folder of a study that makes this study, or None."""
    for file in sorted(path.parent.glob("*.toml")):
        with suppress(MlautError):
            if read_study_file(file).output.resolve() == path.resolve():
                return file
    return None


# --------------------------------------------------------------------- the bundle


def _fill(
    folder: Path,
    source: _ToPublish,
    title: str,
    authors: tuple[str, ...],
    licence: str,
    include: str,
    date: str,
) -> Bundle:
    """Write the files of a bundle into a folder."""
    from mlaut.plugins import as_html

    entries = source.study.load_splits()
    datasets = _datasets(source, entries, include)
    inside = [entries[dataset.name] for dataset in datasets if dataset.included]
    if inside:
        with source.datasets.loading() as read:

            def load(entry: SplitEntry) -> Dataset:
                table = read(entry.path)
                return replace(table, metadata=without_paths(table.metadata))

            put_tables(FilesIO(folder / DATASETS, "a"), inside, load)
    recorded = DATASETS if len(inside) == len(datasets) else ""
    plain = partial(_plain, recorded=recorded)
    check = checking(source.study, partial(_refuse, source.study.path))
    study = source.study.copy_to(folder / STUDY, plain, check)
    report = _report(study, title or source.title, source.study.path.stem)
    date = date or max(str(run.get("started", ""))[:10] for run in study.runs)
    authors = authors or (f"The authors of {report.title}",)
    for name, path in source.texts.items():
        shutil.copyfile(path, folder / name)
    frame = _scores(report)
    _write(folder, "scores.csv", csv_text(frame, index=False))
    _write(folder, "report.html", as_html(report, made=date))
    _write(folder, "requirements.txt", _lock(study))
    bundle = Bundle(folder, report.title, authors, licence, date, datasets, {}, "")
    counts = {"strategies": len(study.strategies), "cells": sum(report.state.cells.values())}
    for name, text in metadata.texts(bundle, counts).items():
        _write(folder, name, text)
    bundle = _with_files(bundle)
    _write(folder, "croissant.json", metadata.croissant(bundle, frame))
    bundle = _with_files(bundle)
    _write(folder, "ro-crate-metadata.json", metadata.ro_crate(bundle))
    private = {path.name: path for path in folder.iterdir() if path.suffix != ".h5"}
    check_private(report.source or study, private)
    return _sealed(_with_files(bundle))


def _refuse(path: Path, where: str, what: str) -> None:
    raise StudyError(f"{path}: {where}: {what}; mend the study before you publish it")


def _with_files(bundle: Bundle) -> Bundle:
    paths, known = sorted(bundle.folder.iterdir()), bundle.files
    files = {path.name: known.get(path.name) or file_record(path) for path in paths}
    if strays := sorted(files.keys() - KINDS.keys()):  # such as a lock that cannot be removed
        raise StoreError(f"{bundle.folder / strays[0]}: cannot be removed; make the call again")
    return replace(bundle, files=files)


def _sealed(bundle: Bundle) -> Bundle:
    content = bundle.to_json()
    (bundle.folder / MANIFEST).write_bytes(content)
    return replace(bundle, digest=hashlib.sha256(content).hexdigest())


def _write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8", errors="backslashreplace")


def _plain(record: Mapping[str, Any], recorded: str) -> dict[str, Any]:
    """Return the record of a run or a cell without paths, and without its model."""
    cleaned = without_paths({key: value for key, value in record.items() if key != "model"})
    return {**cleaned, "input": recorded} if "input" in record else cleaned


# ------------------------------------------------------------------- the datasets


def _datasets(
    source: _ToPublish, entries: Mapping[str, SplitEntry], include: str
) -> tuple[BundledDataset, ...]:
    infos = {info.path: info for info in source.datasets.dataset_infos()}
    return tuple(
        _dataset(source, entry, infos.get(entry.path), include) for entry in entries.values()
    )


def _dataset(
    source: _ToPublish, entry: SplitEntry, info: DatasetInfo | None, include: str
) -> BundledDataset:
    if info is None or info.fingerprint != entry.fingerprint:
        what = "is not in" if info is None else "has another content in"
        raise StudyError(
            f"{source.study.path}: dataset {entry.name!r} {what} {source.datasets.path}; name the "
            "database that the study was run on (--input, datasets=)"
        )
    licence = str(info.metadata.get("licence") or "")
    included = include == "all" or (include == "licensed" and allows_passing_on(licence))
    return BundledDataset(
        name=entry.name,
        fingerprint=entry.fingerprint,
        reference=_reference(info),
        licence=licence,
        source=without_paths(str(info.metadata.get("source") or "")),
        included=included,
    )


def allows_passing_on(licence: str) -> bool:
    """Return whether a licence, as metadata name it, allows one to pass a table on.

    Examples
    --------
    >>> [allows_passing_on(x) for x in ("CC BY 4.0", "CC0", "CC BY-NC 4.0", "Public", "")]
    [True, True, False, False, False]
    """
    text = licence.lower()
    if _CLOSED.search(text):
        return False
    return text.replace(" ", "").replace("-", "").startswith(_OPEN)


def _reference(info: DatasetInfo) -> str:
    """Return the reference that loads a dataset; empty if none is known."""
    from mlaut.data import fetch, parse_reference
    from mlaut.plugins import SOURCES, checked_dataset

    if "reference" in info.metadata:
        return str(info.metadata["reference"])
    text = info.path.strip("/")
    with suppress(MlautError):
        if SOURCES[parse_reference(text).source].local:
            (dataset,) = fetch(text)
            return text if checked_dataset(dataset).fingerprint == info.fingerprint else ""
    return ""


# --------------------------------------------------------------------- the report


def _report(study: StudyStore, title: str, otherwise: str) -> Report:
    """Return the report of a published study; ``otherwise`` is the title if it has none."""
    from mlaut.report import make_report

    report = make_report(study, title=title)
    title = report.title if report.title != study.path.stem else otherwise
    return replace(report, study=Path(STUDY), title=title)


def _scores(report: Report) -> pd.DataFrame:
    """Return one row for each cell: its score by the primary metric of its task, and seconds."""
    import pandas as pd

    rows = [
        row
        for section in report.sections
        if not section.secondary
        for row in _cells(section.scored)
    ]
    columns = ["dataset", "strategy", "repeat", "fold", "metric", "score", *_SECONDS]
    return pd.DataFrame(rows, columns=columns)


_SECONDS = ("tuning_seconds", "fitting_seconds", "predicting_seconds")


def _cells(scored: Any) -> Iterable[tuple[Any, ...]]:
    for d, s, r, f in np.ndindex(scored.cells.shape):
        if scored.expected[d, r, f]:
            key = scored.datasets[d], scored.strategies[s], r, f
            score = scored.cells[d, s, r, f]
            yield (*key, scored.metric.name, score, *scored.seconds[d, s, r, f])


def _lock(study: StudyStore) -> str:
    """Return the exact versions of the packages of the runs, as pip reads them."""
    versions: dict[str, dict[str, None]] = {}
    pythons: dict[str, None] = {}
    for run in study.runs:
        if run.get("versions"):
            pythons[str(run.get("python", "unknown"))] = None
        for name, version in run.get("versions", {}).items():
            versions.setdefault(str(name), {})[str(version)] = None
    lines = [f"# Python {', '.join(pythons)}"]
    for name in sorted(versions):
        *others, last = versions[name]
        also = f"  # also {', '.join(others)}" if others else ""
        lines.append(f"{name}=={last}{also}")
    return "\n".join(lines) + "\n"


# An absolute path of three parts or more. Paths in a database, such as /starter/iris, have two.
_PATH = re.compile(r"""(?<![\w.:/-])(?:/[^\s/'"<>:,;]+){2,}/([^\s/'"<>:,;]+)""")
_SHORT = 4  # characters; shorter names of machines are found in ordinary words
_ORDINARY = ("localhost", "debian", "ubuntu", "fedora")  # names of machines that name nobody


def without_paths(value: Any) -> Any:
    """Return plain JSON values with each absolute path in a text cut to its last part.

    Examples
    --------
    >>> without_paths({"traceback": ['File "/home/ada/lib/python3.11/tree.py", line 3']})
    {'traceback': ['File ".../tree.py", line 3']}
    >>> without_paths("/starter/iris, https://archive.ics.uci.edu/dataset/53/iris")
    '/starter/iris, https://archive.ics.uci.edu/dataset/53/iris'
    """
    if isinstance(value, str):
        return _PATH.sub(r".../\1", value)
    if isinstance(value, Mapping):
        return {key: without_paths(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_paths(inner) for inner in value]
    return value


def check_private(study: StudyStore, files: Mapping[str, Path]) -> None:
    """Check that no text names the home folder, the folder of the study, or this machine.

    Parameters
    ----------
    study : StudyStore
        The study that will be published.
    files : mapping of str to Path
        Its text files, by name. Python code and study files are not changed, only checked.

    Raises
    ------
    StudyError
        A text names one of them; the message states the place.
    """
    private = tuple(_private(study.path))
    for where, text in _texts(study, files):
        for pattern, what in private:
            if match := re.search(pattern, text):
                raise StudyError(
                    f"{where} names {what} ({match.group()!r}), which would be published; take it "
                    "out (a parameter that is a path: make it relative, and run under a new name)"
                )


def _private(path: Path) -> Iterator[tuple[str, str]]:
    """Yield a pattern and a description of each private text."""
    if Path.home().parts[1:]:
        yield rf"(?<![\w.]){re.escape(str(Path.home()))}(?=/|\b)", "your home folder"
    for folder in {path.parent.absolute(), path.parent.resolve()}:
        if folder.parts[2:]:
            yield rf"(?<![\w.]){re.escape(str(folder))}(?=/|\b)", "the folder of the study"
    machine = socket.gethostname()
    if len(machine) >= _SHORT and machine.lower() not in _ORDINARY:
        yield rf"\b{re.escape(machine)}\b", "this machine"


def _texts(study: StudyStore, files: Mapping[str, Path]) -> Iterator[tuple[str, str]]:
    for entry in study.strategies:
        about = {"identity": entry.identity, "metadata": entry.metadata}
        yield f"strategy {entry.name!r}", json.dumps(about, ensure_ascii=False)
    for run in (*study.runs, *study.analyses):
        yield "the record of a run", json.dumps(run, ensure_ascii=False)
    for dataset, records in study.all_details():
        yield f"a cell of dataset {dataset!r}", json.dumps(records, ensure_ascii=False)
    for name, path in files.items():
        yield name, path.read_text(encoding="utf-8", errors="replace")
