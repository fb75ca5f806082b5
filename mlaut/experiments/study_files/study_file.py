"""Study files (TOML): their sections, and how they are read and checked.

The sections and keys are the fields of `StudyFile` and of its sections. Paths are relative to the
study file.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mlaut.errors import MlautError, StudyError, nearest, one_value_each
from mlaut.experiments.options import TUNING, RunOptions, SlurmOptions
from mlaut.experiments.plans.shards import Shard
from mlaut.files_io.safe_files.plain_files import read_toml
from mlaut.plugins.finding import found
from mlaut.records import Analysis


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
    race : mlaut_races.RaceTerms, mapping or None
        Terms of the race, unchecked without the plug-in of races; None for a study that is none.
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
    race: Any = None
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
    "race": Mapping,  # a record of the plug-in of races, if that is installed
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


def read_race(content: Mapping[str, Any]) -> Any:
    """Return the terms of a race from the keys of ``[race]``, checked as in a study file."""
    return _sections(Path("race"), {"race": dict(content)})["race"]


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
        elif (record := _record_of(name)) is Mapping:
            sections[name] = keys
        else:
            sections[name] = record(**_values(path, name, keys, mistakes))
    if mistakes:
        raise together(path, mistakes)
    return sections


def _record_of(name: str) -> Any:
    """Return the record of a section's keys; that of a race is in a plug-in."""
    if name == "race" and "races" in (offered := found("races")):
        return offered["races"].RaceTerms
    return _SECTIONS[name]


def _keys(name: str) -> dict[str, tuple[type, ...]]:
    """Return the keys of a section, each with the types that its value may have."""
    kind = _record_of(name)
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
    given = (pair.partition("=")[::2] for pair in pairs)
    for key, text in one_value_each(given, StudyError, "--set: the value").items():
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
