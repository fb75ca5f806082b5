"""Print text and tables on the terminal; nothing that a study holds can control the terminal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from mlaut.markup import printable

__all__ = ["one_line", "show", "show_rows", "show_table"]


def show(text: object, err: bool = False) -> None:
    """Print text; control characters in names or messages of a study cannot reach the terminal."""
    click.echo(printable(str(text)), err=err)


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
