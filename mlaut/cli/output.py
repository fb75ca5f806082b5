"""Print text and tables on the terminal; nothing that a study holds can control the terminal."""

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import click

from mlaut.markup import printable

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
    """Print text; control characters in names or messages of a study cannot reach the terminal."""
    click.echo(printable(str(text)), err=err)


def in_own_words(text: object) -> str:
    """Return a message with options of the command line where it advises arguments of Python.

    An argument that no command has stays: it belongs into the user's own Python file.

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
    own = {flag for one in command.params for flag in one.opts}
    return own.union(*map(_flags, below))


def setting_of(flag: str, command: click.Command | None = None) -> str:
    """Return the setting of ``--set`` that a flag is; empty if a command has not that setting."""
    from mlaut.experiments.options import RunOptions
    from mlaut.records import Analysis

    name = flag.lstrip("-").replace("-", "_")
    key = name.removeprefix("no_")
    takes = {one.name for one in command.params} if command else {"settings", "shard"}
    records = [RunOptions] * ("shard" in takes) + [Analysis] * ("settings" in takes)
    known = {item.name: item for record in records for item in fields(record)}
    if key not in known:
        return ""
    value = str(name == key).lower() if isinstance(known[key].default, bool) else "VALUE"
    return f"{key}={value}"


def one_line(text: object) -> str:
    """Return text as one line that cannot control the terminal."""
    return printable(str(text), "")


def show_rows(rows: Sequence[dict[str, Any]], as_json: bool = False) -> None:
    """Print dictionaries with the same keys as a table, or as JSON."""
    if as_json:
        show(json.dumps(list(rows)))
    elif rows:
        show_table([list(row.values()) for row in rows], list(rows[0]))


def show_table(rows: Sequence[Sequence[Any]], headers: Sequence[str]) -> None:
    """Print a table, if it has rows."""
    from tabulate import tabulate

    if rows:
        lines = [[one_line(cell) for cell in row] for row in rows]
        show(tabulate(lines, headers=headers, disable_numparse=True))
