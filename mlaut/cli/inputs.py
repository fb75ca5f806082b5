"""Arguments that several commands share: a study or its study file, a race, settings."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from mlaut import experiments, files_io
from mlaut.errors import AnalysisError, MlautError, StoreError, one_value_each
from mlaut.experiments.options import RunOptions
from mlaut.files_io.kinds import Kind, kind_of
from mlaut.plugins import finding
from mlaut.records import Analysis

PATH = click.Path(path_type=Path)
TASKS = click.Choice(["Classification", "Regression"], case_sensitive=False)


Command = Callable[..., Any]


def with_settings(*sections: str) -> Callable[[Command], Command]:
    """Return a decorator that adds ``--set``, for the keys of these sections of a study file."""
    text = f"A key of {', '.join(sections)} of a study file (repeatable)."
    return click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help=text)


def options_given(besides: Collection[str]) -> list[str]:
    """Return the options of the running command as words; of several metrics, not the first."""
    context, words = click.get_current_context(), list[str]()
    for option in context.command.params:
        source = context.get_parameter_source(name := option.name or "")
        if isinstance(option, click.Option) and source == ParameterSource.COMMANDLINE:
            value = context.params[name]
            values = value if option.multiple else [value]
            for one in values[1:] if name == "metric" else values * (name not in besides):
                words += [option.opts[-1]] if option.is_flag else [option.opts[-1], str(one)]
    return words


def with_options_of_a_run(command: Command) -> Command:
    """Add the flags of `RunOptions`, and ``--set``, to a command."""
    command = with_settings("[run]", "[tuning]", "[analysis]")(command)
    for item in reversed([item for item in fields(RunOptions) if item.metadata["flags"]]):
        flags, kinds, text = (item.metadata[key] for key in ("flags", "kinds", "text"))
        kind, several = int if kinds == (int,) else str, list in kinds
        command = click.option(*flags, type=kind, multiple=several, help=text)(command)
    return command


def changes_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a run that ``--set`` and flags change; flags take precedence."""
    from mlaut.experiments.study_files.study_file import read_settings

    changes = read_settings(given["settings"], "run", "tuning", "analysis")
    terms = {"analysis": terms} if (terms := changes["analysis"]) else {}
    flags = {k: x for k, x in given.items() if k != "settings" and x not in (None, ())}
    return changes["run"] | changes["tuning"] | terms | flags


def the_bundles() -> Any:
    """Return the plug-in that opens bundles; a StudyError says that it is missing."""
    return finding.the_plugin("exchange", "bundles are opened, verified and extended")


def database_and_options(
    path: Path, begun: bool = True, dropped: bool = False
) -> tuple[Path, dict[str, Any]]:
    """Return the path of the study's database, and the report options of its study file.

    Unless `begun` is false, a study file that was not run yet is refused, with the way out. With
    ``dropped``, the strategies that the file no longer names are among the options, as ``without``.
    """
    kind = kind_of(path)
    if kind is Kind.BUNDLE:
        return the_bundles().open_bundle(path).study, {}
    if kind is not Kind.STUDY_FILE:
        return path, {}
    file = experiments.read_study_file(path)
    report = {name: value for name, value in vars(file.report).items() if value}
    terms = {} if file.analysis is None else vars(analysis_of(file))
    title = {"title": file.study.title} if file.study.title else {}
    if begun and not file.output.exists():
        shards = f"{file.output.stem}.shard-*{file.output.suffix}"
        way = f"begin it: mlaut run {path}"
        if any(file.output.parent.glob(shards)):
            way = f"join its shards: mlaut merge {file.output.with_name(shards)} -o {file.output}"
        raise StoreError(f"{file.output}: there is no study yet; {way}")
    without = {"without": _dropped_from(file)} if dropped else {}
    return file.output, report | terms | title | without


def analysis_of(file: experiments.StudyFile) -> Analysis:
    """Return the analysis of a study file; terms that are missing are taken from ``[report]``."""
    report = {name: value for name, value in vars(file.report).items() if value}
    given: Analysis = file.analysis or Analysis()
    default = vars(Analysis())
    return replace(
        given, **{k: x for k, x in report.items() if k in default and vars(given)[k] == default[k]}
    )


def _dropped_from(file: experiments.StudyFile) -> dict[str, str]:
    """Return the strategies of a study that its study file no longer names, with that reason.

    No code of the study file is executed: if it has a Python file of strategies, none is returned.
    """
    from mlaut.experiments.study_files.choices import choose_strategies

    if file.strategies.file or not file.strategies.names:
        return {}
    try:
        named = {strategy.name for strategy in choose_strategies(file)}
    except MlautError:  # a library is missing on this machine
        return {}
    stored = (
        entry
        for entry in files_io.StudyStore(file.output).strategies
        if "foreign" not in entry.metadata
    )
    reason = f"{file.path.name} does not name it"
    return {entry.name: reason for entry in stored if entry.name not in named}


def race_of(database: Path) -> Any:
    """Return the race of a study; None if the study is not a race, or does not exist yet."""
    study = files_io.StudyStore(database)
    return finding.race_of(study) if database.exists() and study.exists else None


def read_pairs(file: Path, what: str) -> dict[str, str]:
    """Return the second column of a CSV file by the first one, without the row of names."""
    from mlaut.files_io.safe_files.plain_files import read_text

    try:
        rows = [row for row in csv.reader(io.StringIO(read_text(file), newline="")) if row]
    except (OSError, ValueError, csv.Error) as error:
        raise AnalysisError(f"{file}: cannot be read ({error}); check the file") from error
    if not rows or {len(row) for row in rows} != {2}:
        raise AnalysisError(f"{file}: two columns are needed, {what}")
    pairs = ((name.strip(), value.strip()) for name, value in rows[1:])
    return one_value_each(pairs, AnalysisError, f"{file}: the value")
