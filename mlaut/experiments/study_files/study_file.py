"""Study files (TOML): read, check and run them, as ``mlaut run study.toml`` does.

The sections and keys are the fields of `StudyFile` and of its sections. Paths are relative to the
study file.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import sys
import time
import tomllib
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlaut.errors import (
    DataError,
    MlautError,
    StudyError,
    StudyLockedError,
    UnusableWarning,
    nearest,
    refuse_unknown,
    some_of,
)
from mlaut.experiments.options import TUNING, RunOptions, SlurmOptions
from mlaut.experiments.plans.shards import Shard
from mlaut.files_io.safe_files.plain_files import read_plain, read_toml
from mlaut.markup import printable
from mlaut.records import Analysis, RaceTerms

if TYPE_CHECKING:
    from mlaut.estimators import MlautEstimator
    from mlaut.experiments.plans.rounds import MakeRace
    from mlaut.experiments.runs.summary import RunSummary
    from mlaut.files_io import FilesIO, StudyStore

Seal = Callable[["StudyStore", Sequence[str], Collection[str], Mapping[str, str]], object]

_OF_DATASET = re.compile(r"dataset ('[^']*')")
_PATIENCE = 600.0  # seconds to wait for another shard that loads the datasets, as it may download
_PAUSE = 0.5  # seconds between two tries


@dataclass(frozen=True)
class StudySection:
    """Section ``[study]``: database of the outcomes, seed of the cells, title of the reports."""

    output: str = "study.h5"
    seed: int = 0
    title: str = ""


@dataclass(frozen=True)
class DataSection:
    """Section ``[data]``: a database, collection or folder of tables, and the chosen datasets.

    A collection, a folder, or ``datasets`` that are references, such as ``openml/t/59``
    (`mlaut.data.parse_reference`), or files, such as ``visits.csv?target=better``, are first loaded
    into the database ``input``.

    ``[data.roles]`` names columns that are no features, as in ``group = "patient"``, and another
    ``target``; ``[data.roles.NAME]`` does so for one dataset (`mlaut.data.with_roles`).
    ``[data.missing]`` names the texts that are gaps in a CSV of the folder, as in
    ``countries = ["?"]``; the empty field always is one. ``load`` is the command that makes the
    folder or the database. It is not run; the error names it where they are missing.
    """

    input: str = "input.h5"
    load: str = ""
    collection: str = ""
    folder: str = ""
    group: str = ""
    datasets: tuple[str, ...] = ()
    task: str = ""
    roles: Mapping[str, Any] = field(default_factory=dict)
    missing: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SplitSection:
    """Section ``[split]``: the arguments of ``Data.split_datasets``, which assigns rows to folds.

    Without a ``scheme``, a dataset that came with a split keeps that; others get a hold-out.
    ``[split.datasets]`` names the schemes of single datasets, as in ``iris = "kfold(3)"``.
    """

    scheme: str = ""
    stratify: bool = True
    seed: int = 0
    datasets: Mapping[str, str] = field(default_factory=dict)

    @property
    def schemes(self) -> str | dict[str, str]:
        """Scheme of all datasets, or those of each with that of all others as ``"*"``."""
        return {"*": self.scheme, **self.datasets} if self.datasets else self.scheme

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of ``Data.split_datasets``."""
        return {"scheme": self.schemes, "stratify": self.stratify, "seed": self.seed}


@dataclass(frozen=True)
class StrategiesSection:
    """Section ``[strategies]``: names, families or tasks; parameters by strategy; a Python file.

    The Python file ``file`` defines ``strategies``: anything that ``Orchestrator.run`` takes.
    """

    names: tuple[str, ...] = ()
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    file: str = ""


@dataclass(frozen=True)
class ReportSection:
    """Section ``[report]``: default options of ``mlaut report``.

    ``missing`` is a treatment of cells without a result (default: failures rank last), or the name
    of a fallback strategy whose scores replace theirs. The report flags such scores as imputed;
    the study keeps the status of the cells. ``only`` and ``datasets`` name what a report covers,
    ``without`` the strategies that it leaves out.
    """

    metric: str = ""
    missing: str = ""
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()


@dataclass(frozen=True)
class StudyFile:
    """Content of a study file, checked.

    Attributes
    ----------
    path : Path
        Path of the file.
    study, data, split, strategies, run, report : records
        Sections of the file; a section that the file lacks has its defaults. ``run`` also has the
        keys of ``[tuning]``.
    analysis : Analysis or None
        The analysis, chosen before the first result; None if the file has no such section.
    race : record or None
        Terms of the race; None for a study that is none.
    slurm : record
        What is asked of Slurm.
    """

    path: Path
    study: StudySection = StudySection()
    data: DataSection = DataSection()
    split: SplitSection = SplitSection()
    strategies: StrategiesSection = field(default_factory=StrategiesSection)
    run: RunOptions = field(default_factory=RunOptions)
    report: ReportSection = ReportSection()
    analysis: Analysis | None = None
    race: RaceTerms | None = None
    slurm: SlurmOptions = field(default_factory=SlurmOptions)

    @property
    def output(self) -> Path:
        """Path of the study's database; with a shard, of the shard's."""
        path = self.path.parent / self.study.output
        return Shard.parse(self.run.shard).path(path) if self.run.shard else path

    @property
    def input(self) -> Path:
        """Path of the database of the datasets."""
        return self.path.parent / self.data.input

    def changed(self, changes: Mapping[str, Any]) -> StudyFile:
        """Return the file with other options of a run, and other terms in ``analysis``."""
        options = dict(changes)
        analysis = self.analysis
        if terms := options.pop("analysis", None):
            analysis = dataclasses.replace(analysis or Analysis(), **terms)
        return dataclasses.replace(self, run=self.run.replaced(options), analysis=analysis)


_SECTIONS: dict[str, Any] = {
    "study": StudySection,
    "data": DataSection,
    "split": SplitSection,
    "strategies": StrategiesSection,
    "run": RunOptions,
    "tuning": RunOptions,
    "report": ReportSection,
    "analysis": Analysis,
    "race": RaceTerms,
    "slurm": SlurmOptions,
}
_KINDS: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "str | None": (str,),
    "int": (int,),
    "int | None": (int,),
    "float": (int, float),
    "bool": (bool,),
    "str | float | None": (str, int, float),
    "tuple[str, ...]": (list,),
    "Mapping[str, Mapping[str, Any]]": (dict,),
    "Mapping[str, int]": (dict,),
    "Mapping[str, str]": (dict,),
    "Mapping[str, Any]": (dict,),
}
_WORDS = {
    str: "text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    list: "a list of texts",
    dict: "a table",
}


def read_study_file(path: str | os.PathLike[str]) -> StudyFile:
    r"""Read and check a study file.

    Raises
    ------
    StudyError
        The file does not exist or is not TOML, a section or key is unknown, or a value has the
        wrong type. The message suggests the nearest known key.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "study.toml")
    ...     _ = path.write_text('[split]\nshceme = "kfold(5)"')
    ...     read_study_file(path)
    Traceback (most recent call last):
    mlaut.errors.StudyError: ...study.toml: unknown key 'shceme' in [split]; did you mean 'scheme'?
    """
    path = Path(os.path.expanduser(path))
    try:
        content = read_toml(path)
    except FileNotFoundError as error:
        raise StudyError(
            f"{path}: no such file; check the path, or write a study file: mlaut init {path}"
        ) from error
    except OSError as error:
        raise StudyError(f"{path}: cannot be read ({error.strerror}); check the path") from error
    except ValueError as error:  # of TOML, its numbers, or UTF-8
        what = f"not a TOML file: {error}"
        if path.suffix in (".h5", ".hdf5"):
            what = "a study or a database; give the study file, which 'mlaut init' writes"
        raise StudyError(f"{path}: {what}") from error
    sections = _sections(path, content)
    run, tuning = (sections.pop(name, RunOptions()) for name in ("run", "tuning"))
    run = dataclasses.replace(run, **{name: getattr(tuning, name) for name in TUNING})
    return StudyFile(path, run=run, **sections)


def read_race(content: Mapping[str, Any]) -> RaceTerms:
    """Return the terms of a race from the keys of ``[race]``, checked as in a study file."""
    terms: RaceTerms = _sections(Path("race"), {"race": dict(content)})["race"]
    return terms


def together(path: Path, errors: Sequence[MlautError]) -> MlautError:
    """Return one error whose message lists all mistakes of a study file.

    Examples
    --------
    >>> print(together(Path("s.toml"), [StudyError("s.toml: a"), StudyError("b")]))
    s.toml: 2 mistakes: (1) a; (2) b
    """
    if len(errors) == 1:
        return errors[0]
    texts = (str(error).removeprefix(f"{path}: ") for error in errors)
    listed = "; ".join(f"({number}) {text}" for number, text in enumerate(texts, start=1))
    return StudyError(f"{path}: {len(errors)} mistakes: {listed}")


def _sections(path: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return sections as records; all mistakes are named in one error."""
    mistakes: list[MlautError] = []
    sections = {}
    for name, keys in content.items():
        if name not in _SECTIONS:
            mistakes.append(_unknown(name, _SECTIONS, f"{path}: unknown section", ""))
        elif not isinstance(keys, dict):
            what = f"{path}: {name!r} is a section; write [{name}] above its keys"
            mistakes.append(StudyError(what))
        else:
            sections[name] = _SECTIONS[name](**_values(path, name, keys, mistakes))
    if mistakes:
        raise together(path, mistakes)
    return sections


def _keys(name: str) -> dict[str, tuple[type, ...]]:
    """Return the keys of a section, each with the types that its value may have."""
    kind = _SECTIONS[name]
    return {
        item.name: item.metadata.get("kinds") or _KINDS[str(item.type)]
        for item in dataclasses.fields(kind)
        if kind is not RunOptions or (item.name in TUNING) == (name == "tuning")
    }


def _values(
    path: Path, name: str, content: Mapping[str, Any], errors: list[MlautError]
) -> dict[str, Any]:
    """Return the values of a section by key; append its mistakes to ``errors``."""
    kinds, values = _keys(name), {}
    for key, value in content.items():
        if key not in kinds:
            errors.append(_unknown(key, kinds, f"{path}: unknown key", f" in [{name}]"))
            continue
        if not _is_one_of(value, kinds[key]):
            expected = " or ".join(dict.fromkeys(_WORDS[k] for k in kinds[key]))
            message = f"{path}: {key} in [{name}] is {value!r}, and must be {expected}"
            errors.append(StudyError(message))
        elif "\0" in str(value):
            errors.append(StudyError(f"{path}: {key} in [{name}] has a NUL, as no path can"))
        values[key] = tuple(value) if isinstance(value, list) else value
    return values


def read_settings(pairs: Iterable[str], *sections: str) -> dict[str, dict[str, Any]]:
    """Return the values of ``--set KEY=VALUE`` by section, checked as in a study file.

    Text needs no quotes.

    Raises
    ------
    StudyError
        A key is unknown in these sections, or a value has the wrong type.

    Examples
    --------
    >>> read_settings(["memory=4GiB", "limits=false"], "run")
    {'run': {'memory': '4GiB', 'limits': False}}
    >>> read_settings(["memroy=4GiB"], "run")
    Traceback (most recent call last):
    mlaut.errors.StudyError: --set: unknown key 'memroy'; did you mean 'memory'?
    """
    place, mistakes = Path("--set"), list[MlautError]()
    home = {key: name for name in sections for key in _keys(name)}
    content: dict[str, dict[str, Any]] = {name: {} for name in sections}
    for pair in pairs:
        key, _, text = pair.partition("=")
        if key not in home:
            mistakes.append(_unknown(key, home, f"{place}: unknown key", ""))
        else:
            name = home[key]
            content[name][key] = _read_value(text, _keys(name)[key])
    values = {name: _values(place, name, section, mistakes) for name, section in content.items()}
    if mistakes:
        raise together(place, mistakes)
    return values


def _read_value(text: str, expected: tuple[type, ...]) -> Any:
    """Return the value that a text has in TOML; any other text as it is."""
    with contextlib.suppress(ValueError, RecursionError):
        value = tomllib.loads(f"value = {text}")["value"]
        if _is_one_of(value, expected):
            return value
    return text


def _is_one_of(value: Any, expected: tuple[type, ...]) -> bool:
    if isinstance(value, bool):
        return bool in expected
    if isinstance(value, list):
        return list in expected and all(isinstance(item, str) for item in value)
    return isinstance(value, expected)


def _unknown(key: str, names: Mapping[str, Any], what: str, where: str) -> StudyError:
    hint = nearest(key, names) or f"; known are {', '.join(names)}"
    return StudyError(f"{what} {key!r}{where}{hint}")


def run_study(
    path: str | os.PathLike[str] | StudyFile,
    *,
    verbose: int = 1,
    race: MakeRace | None = None,
    complete: bool = False,
    seal: Seal | None = None,
    trial: bool = False,
    **changes: Any,
) -> RunSummary:
    """Run or resume a study file: prepare datasets and splits, then run the cells not yet done.

    Parameters
    ----------
    path : path-like or StudyFile
        Path of the study file, or what `read_study_file` returned.
    verbose : int, default 1
        0 shows nothing, 1 the progress, 2 also each failure.
    race : callable, optional
        Function that begins the race of ``[race]``, as `mlaut.racing.make_race` returns it.
    complete : bool, default False
        Whether to run all cells of a study that is a race.
    seal : callable, optional
        Function that stores the analysis of the study file. It is called before the run with the
        study, the names of the strategies, and the tasks and sources of the datasets.
    trial : bool, default False
        Whether each strategy is first fitted on a few rows (`Orchestrator.run`).
    **changes
        Keys of ``[run]`` and ``[tuning]`` that replace those of the file, for example ``n_jobs=2``;
        ``analysis`` is a mapping of those of ``[analysis]``.

    Returns
    -------
    RunSummary

    Raises
    ------
    MlautError
        The study cannot be run; no cell has run.
    RunInterrupted
        A signal stopped the run; the same call resumes it.
    """
    from mlaut.experiments.workers.start import start_server

    file = path if isinstance(path, StudyFile) else read_study_file(path)
    file = file.changed(changes)
    start_server(file.output, file.run.engine)
    from mlaut.experiments.runs.done_before import named_before, names_alone, nothing_to_do
    from mlaut.files_io import FilesIO, StudyStore
    from mlaut.files_io.tables.datasets import clusters_of

    if file.race is not None and race is None and not complete:
        raise StudyError(
            f"{file.path}: a study with [race] is run as a race; call mlaut.racing.run_race, or "
            "'mlaut run'"
        )
    special = race is not None or complete or file.strategies.parameters or file.strategies.file
    given = [] if special else names_alone(list(file.strategies.names))
    tasks = named_before(StudyStore(file.output), given, vars(file.run)) if given else {}
    strategies = () if tasks else choose_strategies(file)
    input_io, paths = _prepare_patiently(file) if file.run.shard else prepare_data(file)
    out_io = FilesIO(file.output, "a")
    names = split_told(input_io, out_io, paths, **file.split.arguments)
    if seal is not None:
        infos = input_io.infos_of(paths)
        of_data, clusters = {info.task for info in infos}, clusters_of(infos)
        own = list(tasks) or [strategy.name for strategy in strategies]
        seal(StudyStore(out_io.path), own, of_data, clusters)
    if tasks and (found := nothing_to_do(StudyStore(out_io.path), input_io, tasks, names)):
        return found
    from mlaut.experiments.runs.orchestrator import Orchestrator

    orchestrator = Orchestrator(input_io, out_io, names, seed=file.study.seed)
    options = {**vars(file.run), "trial": trial}
    with contextlib.ExitStack() as stack:
        if (file.run.engine, file.run.scheduler) == ("dask", "slurm"):
            from mlaut.experiments.engines.slurm_cluster import slurm_engine

            engine = stack.enter_context(slurm_engine(file.slurm, file.output))
            options |= {"engine": engine, "scheduler": None}
        how: dict[str, Any] = {"verbose": verbose, "race": race, "complete": complete}
        return orchestrator.run(given or strategies, **how, **options)


def _prepare_patiently(file: StudyFile) -> tuple[FilesIO, list[str]]:
    """Prepare the datasets; other shards, which begin at the same time, may be loading them."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return prepare_data(file)
        except StudyLockedError:
            if time.monotonic() > until:
                raise
            time.sleep(_PAUSE)


def prepare_data(file: StudyFile) -> tuple[FilesIO, list[str]]:
    """Load the datasets into the input database if needed; return it and the chosen paths."""
    from mlaut.data import Data
    from mlaut.data.adding import add_datasets

    data, section = Data(), file.data
    if section.collection and section.folder:
        raise StudyError(f"{file.path}: [data] names a collection and a folder; keep one of them")
    folder = file.path.parent / section.folder if section.folder else None
    is_here = folder.is_dir() if folder else fills_input(file) or file.input.exists()
    if section.load and not is_here:
        raise DataError(
            f"{folder or file.input}: not here, and the study needs it; make it in the folder of "
            f"{file.path}: {section.load}"
        )
    input_io = data.open_hdf5(file.input, mode="a" if fills_input(file) else "r")
    if references := references_of(file):
        files = files_of(file)
        given = [files.get(text, text) for text in references]
        add_datasets(input_io, given, roles=section.roles)
        return input_io, chosen_datasets(file, input_io)
    group = _group(file)
    if section.collection:
        data.load_collection(
            section.collection,
            hdf5_io=input_io,
            names=section.datasets or None,
            task=section.task or None,
            hdf5_group=group,
            roles=section.roles,
        )
    elif folder:
        unusable = list[DataError]()
        how: dict[str, Any] = {"roles": section.roles, "missing": section.missing}
        data.load_folder(folder, hdf5_io=input_io, hdf5_group=group, unusable=unusable, **how)
        warn_left_out(unusable)
    return input_io, chosen_datasets(file, input_io)


def fills_input(file: StudyFile) -> bool:
    """Return whether the file names a source (collection, folder, reference) for its datasets."""
    return bool(file.data.collection or file.data.folder or references_of(file))


def references_of(file: StudyFile) -> list[str]:
    """Return the datasets of the file that are references, or files of tables."""
    from mlaut.data import is_reference

    texts = file.data.datasets
    references = [text for text in texts if is_reference(text) or text in files_of(file)]
    if references and (file.data.collection or file.data.folder):
        raise StudyError(
            f"{file.path}: [data] names {references[0]!r} beside a collection or a folder; name "
            "all datasets by reference, as in 'starter/iris', or none"
        )
    return references


def files_of(file: StudyFile) -> dict[str, str]:
    """Return the datasets of the file that are files of tables, each with its whole path."""
    from mlaut.data.tables.folders import is_file_of_table

    texts = [text for text in file.data.datasets if is_file_of_table(text)]
    return {text: str(file.path.parent / text) for text in texts}


def _group(file: StudyFile) -> str:
    section = file.data
    filled_from = section.collection or Path(section.folder).name
    return section.group or (f"{filled_from}/" if filled_from else "/")


def chosen_datasets(file: StudyFile, input_io: FilesIO) -> list[str]:
    """Return the paths, in the input database, of the datasets that the file chooses."""
    from mlaut.data.sources.loading import check_roles, find_stored
    from mlaut.data.tables.folders import name_of_file

    names, paths = input_io.list_datasets(_group(file))
    paths_of = {name: [path] for name, path in zip(names, paths, strict=True)}
    files = files_of(file)
    for text in references_of(file):
        called = f"/{name_of_file(text)}" if text in files else ""
        paths_of[text] = [called] if called else find_stored(input_io, text)
    load = f" (to load what is missing: {file.data.load})" if file.data.load else ""
    more = f" in {file.input}{load}"
    what = f"{file.path}: no dataset"
    refuse_unknown(file.data.datasets, paths_of, StudyError, what, more, "known are")
    chosen = [path for name in file.data.datasets or names for path in paths_of[name]]
    if task := file.data.task:
        others = [path for path in chosen if input_io.dataset_info(path).task != task]
        chosen = [path for path in chosen if path not in others]
        if file.data.datasets:
            warn_left_out(DataError(f"{path}: [data] has task = {task!r}") for path in others)
    if not chosen:
        raise StudyError(
            f"{file.path}: [data] selects no dataset of {file.input}; check group, datasets, task"
        )
    check_roles(input_io, chosen, file.data.roles)
    return chosen


def split_told(input_io: FilesIO, out_io: FilesIO, paths: list[str], **how: Any) -> list[str]:
    """Split datasets, tell what was chosen and left out, and return the names of those of the run.

    ``how`` has the arguments of ``Data.split_datasets``.
    """
    from mlaut.data import Data
    from mlaut.files_io import StudyStore

    study, unusable = StudyStore(out_io.path), list[DataError]()
    anew = how.get("overwrite", False)
    before = study.load_splits() if study.exists else {}
    names = Data().split_datasets(input_io, out_io, paths, unusable=unusable, **how)
    warn_left_out(unusable)
    schemes: dict[str, list[str]] = {}
    for name, entry in study.load_splits().items():
        new, old = entry.split, before[name].split if name in before else None
        if name in names and old is None:
            schemes.setdefault(new.scheme, []).append(name)
        elif old is not None and anew and (new.scheme, new.seed) != (old.scheme, old.seed):
            gone = f"{new.scheme}, in place of {old.scheme}, with which nothing was run,"
            schemes.setdefault(gone, []).append(name)
    if len(schemes) > 1 or (schemes and anew):
        told = "; ".join(f"{scheme} for {some_of(of, 5)}" for scheme, of in schemes.items())
        sys.stderr.write(f"mlaut: split: {printable(told, '')}\n")
    return list(names)


def warn_left_out(unusable: Iterable[DataError]) -> None:
    """Warn of datasets that a run leaves out: once for each reason why they cannot be used."""
    reasons: dict[tuple[str, ...], list[str]] = {}
    for error in unusable:
        before, name, after = [*_OF_DATASET.split(str(error), maxsplit=1), "", ""][:3]
        reasons.setdefault((before, after), []).append(name)
    for (before, after), (first, *others) in reasons.items():
        same = f" (the same for {', '.join(others)})" if others else ""
        name = f"dataset {first}" if first else ""
        warnings.warn(f"left out: {before}{name}{same}{after}", UnusableWarning, stacklevel=3)


def choose_strategies(file: StudyFile) -> tuple[MlautEstimator, ...]:
    """Return the strategies that the file names, with its parameters."""
    from mlaut.estimators import as_strategies
    from mlaut.estimators.catalogue.strategies import tuned_as

    section = file.strategies
    chosen: list[Any] = list(section.names)
    if section.file:
        chosen += as_strategies(own_strategies(file.path.parent / section.file))
    if not chosen:
        raise StudyError(f"{file.path}: [strategies] has no names and no file; name a strategy")
    strategies: tuple[MlautEstimator, ...] = as_strategies(chosen)
    by_name = {strategy.name: strategy for strategy in strategies}
    what = f"{file.path}: no strategy"
    where = " of those in [strategies.parameters]"
    refuse_unknown(section.parameters, by_name, StudyError, what, where, "known are")
    for name, parameters in section.parameters.items():
        if not isinstance(parameters, dict):
            raise StudyError(
                f"{file.path}: parameters of {name} are {parameters!r}; write them below "
                f"[strategies.parameters.{name}]"
            )
        defaults = by_name[name].get_params()
        of = f" of {name} (params has those of its learner)"
        what = f"{file.path}: unknown parameter"
        refuse_unknown(parameters, defaults, StudyError, what, of, "known are")
        by_name[name].set_params(**parameters)
    return tuned_as(strategies, file.run.search, file.run.budget)


def own_strategies(path: Path) -> Any:
    """Execute a Python file of strategies, and return its ``strategies``."""
    import runpy
    import traceback

    from mlaut.identity.syntax import keep_space

    name = str(path)
    try:
        read_plain(path)  # a pipe or a device may never end
        defined = runpy.run_path(name)
        keep_space(defined)
    except OSError as error:
        raise StudyError(
            f"{path}: cannot be read ({error.strerror}); check [strategies] file"
        ) from error
    except MlautError:
        raise
    except Exception as error:  # the user's code may raise anything
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == name]
        at = f", line {lines[-1]}" if lines else ""
        hint = "correct it (it is run as a program)"
        if isinstance(error, ModuleNotFoundError):  # processes of the run import it as well
            hint = f"install it, or set PYTHONPATH={path.parent.resolve()} if it lies there"
        raise StudyError(
            f"{path}{at}: {type(error).__name__}: {' '.join(str(error).split())}; {hint}"
        ) from error
    if "strategies" not in defined:
        raise StudyError(f"{path}: does not define 'strategies'; end it with strategies = [...]")
    return defined["strategies"]
