"""Commands of boards: `mlaut leaderboard ...`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mlaut.cli.inputs import PATH
from mlaut.cli.output import Answer, show

if TYPE_CHECKING:
    from mlaut.leaderboard import Board

_BOARD = click.option(
    "--board", "folder", default=".", type=PATH, help="Folder of the board; default: this one."
)
_ENTRIES = click.argument("entries", nargs=-1, type=PATH)
_AUTHORS = click.option("--author", "authors", multiple=True, help="An author (repeatable).")
_SEED = click.option("--seed", required=True, help="A text that was fixed after the entry.")
_TRUST = click.option("--trust", "trusted", is_flag=True, help="Run the Python file of the entry.")
_LICENCE = click.option("--licence", required=True, help="SPDX identifier, as CC-BY-4.0.")
_JOBS = click.option("-j", "--n-jobs", default=-1, show_default=True, help="Worker processes.")


@click.group()
def leaderboard() -> None:
    """Make a board that fits its entries again.

    \b
    mlaut leaderboard init board --study study.toml --licence CC-BY-4.0
    mlaut leaderboard add mine.py --name mine --licence CC-BY-4.0
    mlaut leaderboard judge entries/mine --seed 8f14e45f --claim 1 --trust
    mlaut leaderboard page -o site
    """


@leaderboard.command()
@click.argument("folder", type=PATH)
@click.option("--study", required=True, type=PATH, help="A study that was run, or its file.")
@click.option("--title", default="", help="Title; default: that of the study.")
@_AUTHORS
@_LICENCE
@click.option("--input", "datasets", type=PATH, help="Database of the datasets.")
@click.option("--include", default="licensed", help="Tables to include, as of 'mlaut publish'.")
def init(folder: Path, study: Path, **about: Any) -> Answer:
    """Make the repository of a board.

    It has the published study, folders of entries and verdicts, workflows for a code host, and a
    README. FOLDER must be new, or have hidden files only, as a new Git repository does.

    \b
    mlaut leaderboard init board --study study.toml --licence CC-BY-4.0
    """
    from mlaut.leaderboard import init_board

    board = init_board(folder, study, **about)
    show(f"{board.folder}: {board.bundle}\n  README.md says how entries are made and judged")
    return {"board": board.folder, "digest": board.bundle.digest}


@leaderboard.command()
@click.argument("strategy")
@click.option("--name", required=True, help="Folder of the entry: letters, digits, '_', '-'.")
@click.option("--title", default="", help="Title; default: the name of the strategy.")
@_AUTHORS
@_LICENCE
@_JOBS
@_BOARD
def add(folder: Path, strategy: str, name: str, **about: Any) -> Answer:
    """Run a strategy on the board, and make it an entry.

    STRATEGY is a strategy that comes with MLaut, or a Python file of your own with one strategy,
    which is published with the entry. Call it again to resume.

    \b
    mlaut leaderboard add mine.py --name mine --author "Ada Lovelace" --licence CC-BY-4.0
    """
    from mlaut.leaderboard import add_entry

    bundle = add_entry(folder, strategy, name, **about)
    show(bundle)
    return {"entry": bundle.folder, "digest": bundle.digest}


@leaderboard.command()
@_ENTRIES
@_SEED
@click.option("-o", "--output", required=True, type=PATH, help="Folder of what is measured.")
@_TRUST
@_JOBS
@_BOARD
def fit(entries: Sequence[Path], seed: str, output: Path, folder: Path, **how: Any) -> Answer:
    """Fit cells of entries again, and write what is measured.

    This runs code of the entries: do it where there is nothing to take. ENTRIES are folders;
    default: those of the board without a verdict.

    \b
    mlaut leaderboard fit entries/mine --seed 8f14e45f -o fits --trust
    """
    from mlaut.files_io.safe_files.plain_files import write_file
    from mlaut.leaderboard import Board, refit_entry

    board, fitted = Board.open(folder), []
    for entry in _wanted(board, entries):
        fits = refit_entry(board, entry, seed, **how)
        fitted.append({"entry": entry.name, "cells": len(fits["cells"]), "error": fits["error"]})
        write_file(output / f"{entry.name}.json", json.dumps(fits))
        show(f"{entry.name}: {fits['error'] or str(len(fits['cells'])) + ' cells fitted again'}")
    return fitted


@leaderboard.command()
@_ENTRIES
@_SEED
@click.option("--claim", required=True, type=int, help="Number of this claim, from 1.")
@click.option("--fits", type=PATH, help="Folder of what 'fit' wrote; default: fit now.")
@_TRUST
@_JOBS
@click.option("-o", "--output", type=PATH, help="Folder of the verdicts (.json and .md).")
@_BOARD
def judge(
    entries: Sequence[Path],
    folder: Path,
    seed: str,
    claim: int,
    fits: Path | None,
    output: Path | None,
    **how: Any,
) -> Answer:
    """Judge entries, and exit with 1 if one is refused.

    With --fits, no code of an entry is run. ENTRIES are folders; default: those of the board
    without a verdict, whose claims are numbered from --claim.

    \b
    mlaut leaderboard judge entries/mine --seed 8f14e45f --claim 7 --fits fits -o verdicts
    """
    from mlaut.files_io.safe_files.plain_files import write_file
    from mlaut.leaderboard import Board, judge_entry, refit_entry
    from mlaut.leaderboard.verdict import REFUSED, read_bounded

    board, verdicts = Board.open(folder), []
    for number, entry in enumerate(_wanted(board, entries), start=claim):
        name = f"{entry.name}.json"
        measured = read_bounded(fits / name) if fits else refit_entry(board, entry, seed, **how)
        verdict = judge_entry(board, entry, measured, seed=seed, claim=number)
        if output:
            write_file(output / name, verdict.to_json())
            write_file(output / f"{entry.name}.md", verdict.to_markdown())
        show(verdict.to_markdown())
        verdicts.append(json.loads(verdict.to_json()))
    return verdicts, int(any(verdict["verdict"] == REFUSED for verdict in verdicts))


def _wanted(board: Board, entries: Sequence[Path]) -> Sequence[Path]:
    return entries or [entry for entry in board.entries if board.verdict_on(entry) is None]


@leaderboard.command()
@click.argument("places", nargs=-1)
@click.option("-o", "--output", required=True, type=PATH, help="Folder of the pages.")
@click.option("--title", default="", help="Title; default: that of the oldest bundle.")
@click.option("--limit", default="4GiB", show_default=True, help="Largest bundle to download.")
def page(places: Sequence[str], output: Path, title: str, limit: str) -> Answer:
    """Write static pages of a board, or of bundles.

    PLACES are a board (default: this folder), whose pages have its history, or bundles (folders,
    .zip files, addresses) that share their splits, or folders of bundles. The pages show ranks,
    P(best) and groups of all strategies, each strategy, each dataset, and who added what. A
    leaderboard that is in the output already is replaced.

    \b
    mlaut leaderboard page -o site
    mlaut leaderboard page bundles -o site
    """
    from mlaut.bundles import build_leaderboard
    from mlaut.experiments.cells.memory import parse_bytes
    from mlaut.leaderboard.board import TERMS, Board

    if len(places) < 2 and Path(*places, TERMS).exists():
        index = Board.open(Path(*places)).build_pages(output)
    else:
        index = build_leaderboard(places, output, title=title, limit=parse_bytes(limit) or 0)
    show(index)
    return {"page": index}
