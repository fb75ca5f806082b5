"""Output of commands: text and tables on the terminal, or the same as JSON.

No content of a study can control the terminal.
"""

import json
import math
import re
import shlex
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import click

from mlaut.helpers.markup import printable

# What a command returns: its result, or a pair of it and the exit code.
_Result = dict[str, Any] | Sequence[dict[str, Any]]
Answer = _Result | tuple[_Result, int]
_ADVICE = re.compile(
    r"\b(?:(pass|load it with) )?([a-z]+(?:_[a-z]+)*)=(True or False|True|False|'[^']*'|\[[^]]*\])"
)
_IN_ITS_PLACE = {
    "greater_is_better=True or False": "--greater-is-better or --less-is-better",
    "greater_is_better=True": "--greater-is-better",
    "greater_is_better=False": "--less-is-better",
    "overwrite=True": "remove it first ('mlaut study remove')",
}


def show(text: object, err: bool = False) -> None:
    """Print text; control characters in names or messages of a study cannot reach the terminal.

    If ``--json`` is set, only the error stream shows texts.
    """
    if err or not as_json():
        click.echo(printable(str(text)), err=err)


def as_json() -> bool:
    """Return whether the running command has the option ``--json``."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(__name__))


def with_json(command: click.Command, path: str = "", package: str = "mlaut.cli") -> None:
    """Add ``--json`` to each command of a group; it prints the returned value, and no text.

    The function returns an `Answer`. The schema of `mlaut list metrics` is
    ``schemas/list-metrics.json`` of the package, which ``--json-schema`` prints.
    """
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            with_json(below, f"{path}-{name}", package)
        return
    function: Callable[..., Answer] = command.callback or dict

    def call(json_asked: bool, **given: Any) -> None:
        context = click.get_current_context()
        context.meta[__name__] = json_asked
        value = function(**given)
        result, code = value if isinstance(value, tuple) else (value, 0)
        if json_asked:
            click.echo(json.dumps(_plain(result), allow_nan=False))
        if code:
            sys.exit(code)

    def print_schema(context: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted:
            from importlib.resources import files

            name = f"schemas/{path[1:]}.json"
            try:
                schema = files(package).joinpath(name).read_text(encoding="utf-8")
            except (TypeError, FileNotFoundError):  # a TypeError: a module, which has no files
                where = f"its plug-in {package!r} has no file {name}"
                raise click.UsageError(f"no schema of the result: {where}", context) from None
            click.echo(schema, nl=False)
            context.exit()

    command.callback = call
    schema_of = "Print the JSON schema of the result of --json, and do nothing else."
    now: dict[str, Any] = {"is_eager": True, "expose_value": False, "callback": print_schema}
    command.params += [
        click.Option(["--json", "json_asked"], is_flag=True, help="Print the result as JSON."),
        click.Option(["--json-schema"], is_flag=True, help=schema_of, **now),
    ]


def records(frame: Any) -> list[dict[str, Any]]:
    """Return the rows of a table as dictionaries, with its index as the first column."""
    return list(frame.reset_index().to_dict(orient="records"))


def _plain(value: Any) -> Any:
    """Return a value in the types of JSON; numbers that are not finite become null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    value = value.item() if hasattr(value, "item") else value  # a number of NumPy
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def in_own_words(text: object) -> str:
    """Return a message in which options of the command line replace arguments of Python.

    An argument that no command has does not change: it belongs into the user's own Python file.

    Examples
    --------
    >>> in_own_words("rename it, or pass overwrite_predictions=True to run it again")
    'rename it, or pass --set overwrite_predictions=true to run it again'
    >>> in_own_words("use engine='local'")
    'use --set engine=local'
    """
    return _ADVICE.sub(_option, str(text))


def _option(advice: re.Match[str]) -> str:
    from mlaut.cli import cli

    verb, name, value = advice.groups()
    if f"{name}={value}" in _IN_ITS_PLACE:
        other = _IN_ITS_PLACE[f"{name}={value}"]
        return f"{verb} {other}" if verb and other.startswith("--") else other
    flag = f"--{'no-' * (value == 'False')}{name.replace('_', '-')}"
    words = re.findall("'([^']*)'", value) or [value.lower()]
    if flag not in _flags(cli):
        setting = setting_of(flag)
        words = [f"--set {shlex.quote(f'{name}={word}')}" for word in words if setting]
    else:
        words = [flag if word in ("true", "false") else f"{flag} {word}" for word in words]
    advised = " ".join(words) or advice[0]
    return f"{verb} {advised}" if verb and words else advised


def _flags(command: click.Command) -> set[str]:
    below = command.commands.values() if isinstance(command, click.Group) else ()
    own = {flag for option in command.params for flag in option.opts}
    return own.union(*map(_flags, below))


def setting_of(flag: str, command: click.Command | None = None) -> str:
    """Return the setting of ``--set`` that equals a flag; empty if a command lacks it."""
    from mlaut.experiments.options import RunOptions
    from mlaut.records import Analysis

    name = flag.lstrip("-").replace("-", "_")
    key = name.removeprefix("no_")
    takes = {option.name for option in command.params} if command else {"settings", "shard"}
    records = [RunOptions] * ("shard" in takes) + [Analysis] * ("settings" in takes)
    known = {item.name: item for record in records for item in fields(record)}
    if key not in known:
        return ""
    value = str(name == key).lower() if isinstance(known[key].default, bool) else "VALUE"
    return f"{key}={value}"


def one_line(text: object) -> str:
    """Return text as one line that cannot control the terminal."""
    return printable(str(text), "")


def show_rows(rows: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    """Print dictionaries with the same keys as a table, and return them."""
    if rows:
        show_table([list(row.values()) for row in rows], list(rows[0]))
    return rows


def show_table(rows: Sequence[Sequence[Any]], headers: Sequence[str]) -> None:
    """Print a table, if it has rows."""
    if not rows or as_json():
        return
    columns = []
    for column in zip(headers, *rows, strict=True):
        texts = [one_line(cell).strip() for cell in column]
        width = max(_width(texts[0]) + 2, *map(_width, texts))  # as wide as reports' tables
        texts.insert(1, "-" * width)
        columns.append([text + " " * (width - _width(text)) for text in texts])
    show("\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True)))


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes: wide characters two, accents none."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return len(text) + wide - sum(unicodedata.category(sign) in ("Mn", "Me") for sign in text)
