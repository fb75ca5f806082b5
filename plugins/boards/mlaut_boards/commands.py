"""Commands: `mlaut leaderboard ...`, and `place` and `same` below `mlaut study`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mlaut.errors import StudyError, one_value_each
from mlaut.helpers.markup import csv_text
from mlaut.plugins import (
    PATH,
    Answer,
    Kind,
    database_and_options,
    kind_of,
    read_pairs,
    records,
    show,
    show_rows,
    write_file,
    write_files,
)

if TYPE_CHECKING:
    from mlaut_boards.board import Board

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
    from mlaut_boards.board import init_board

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
    from mlaut_boards.board import add_entry

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
    from mlaut_boards.board import Board
    from mlaut_boards.refits import refit_entry

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
    from mlaut_boards.board import Board
    from mlaut_boards.judging import judge_entry
    from mlaut_boards.refits import refit_entry
    from mlaut_boards.verdict import REFUSED, read_bounded

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
    from mlaut.plugins import parse_bytes
    from mlaut_boards.board import TERMS, Board
    from mlaut_boards.pages import build_leaderboard

    if len(places) < 2 and Path(*places, TERMS).exists():
        index = Board.open(Path(*places)).build_pages(output)
    else:
        index = build_leaderboard(places, output, title=title, limit=parse_bytes(limit) or 0)
    show(index)
    return {"page": index}


@leaderboard.command()
@click.argument("study", type=PATH)
@click.option("--every-eval-ever", "logs", type=PATH, help="Folder for Every Eval Ever.")
@click.option("--organisation", default="", help="With --every-eval-ever: who ran the strategies.")
@click.option("--hugging-face", "models", type=PATH, help="Folder for repositories of the Hub.")
@click.option("--benchmark", default="", help="With --hugging-face: the Hub's dataset, OWNER/NAME.")
@click.option("--source", default="", help="With --hugging-face: address of the results.")
@click.option("--metric", default="", help="Default: that of the study.")
def export(study: Path, logs: Path | None, models: Path | None, metric: str, **how: str) -> Answer:
    """Write results in the form of a public board.

    STUDY is what 'mlaut report' takes, for example a table of scores with --metric.

    \b
    Every Eval Ever  a JSON file a strategy, with the interval of each score
    Hugging Face     STRATEGY/.eval_results/TITLE.yaml for the repository of each strategy; the
                     notes name the intervals, for which the form has no field

    \b
    mlaut leaderboard export study.h5 --every-eval-ever logs --organisation "Ada Lovelace"
    mlaut leaderboard export study.h5 --hugging-face models --benchmark ada/bench
    """
    from mlaut.report import make_report
    from mlaut_boards.exchange import to_every_eval_ever, to_hugging_face

    database, options = database_and_options(study)
    if (logs is None) == (models is None):
        raise click.UsageError("name one of --every-eval-ever, --hugging-face")
    report = make_report(database, **options | ({"metric": metric} if metric else {}))
    if logs is not None:
        written = to_every_eval_ever(report, logs, how["organisation"])
    else:
        written = to_hugging_face(report, models or Path(), how["benchmark"], how["source"])
    for path in written:
        show(path)
    return {"files": written}


@leaderboard.command("records")
@click.argument("results", type=PATH)
@click.option("--since", metavar="DATE or STRATEGY", help="Judge strategies from this one on.")
@click.option(
    "--submitted",
    type=PATH,
    help="CSV file of strategies and their dates; default: the dates with which names begin, or "
    "the order of the table.",
)
@click.option("--metric", help="Metric of the scores; default: that of the board or the study.")
@click.option(
    "--greater-is-better/--less-is-better",
    default=None,
    help="Direction of a table's metric that MLaut does not know.",
)
@click.option(
    "--contaminated", help="Treatment of strategies that were trained on a dataset, as in a report."
)
@click.option("--alpha", default=0.05, show_default=True, help="Level of all claims together.")
def new(
    results: Path, since: str | None, submitted: Path | None, alpha: float, **how: Any
) -> Answer:
    """Tell which strategies of a board were new records when they came.

    RESULTS are what 'mlaut report' takes: a study, a table of scores, or files of a leaderboard.

    \b
    mlaut leaderboard records swe-bench/verified --since 2026-01-01
    """
    from mlaut.report import make_report
    from mlaut_boards.growing import new_records

    database, options = database_and_options(results)
    report = make_report(database, **options | {k: x for k, x in how.items() if x is not None})
    dates = read_pairs(submitted, "strategies and their dates") if submitted else None
    found = new_records(report.sections[0].results, dates, since=since, alpha=alpha)
    show(found)
    return records(found.frame)


@click.command()
@click.argument("study", type=PATH)
@click.option("--against", required=True, help="Published benchmark, for example delgado2014.")
@click.option("--strategy", "strategies", multiple=True, help="Strategy to place (repeatable).")
@click.option("--same", multiple=True, metavar="HERE=PUBLISHED", help="One that was run again.")
@click.option("--missing", default="row mean", show_default=True, help="For unpublished cells.")
@click.option("--budget", default="", help="Place by few datasets: 10, or '2h cpu' with --costs.")
@click.option("--arm", type=click.Choice(["designed", "random"]), help="Choice of datasets.")
@click.option("--rival", help="Published strategy; end when it is separated.")
@click.option("--audit", is_flag=True, help="Run 5 random datasets besides a designed list.")
@click.option("--costs", type=PATH, help="CSV of datasets and seconds.")
@click.option("--seed", type=int, help="Of a draw: drawn by the board's maker after the entry.")
@click.option("-j", "--n-jobs", type=int, help="Worker processes, if the study is run.")
@click.option("-o", "--output", type=PATH, help="Folder for the tables (CSV), also of all pairs.")
def place(study: Path, same: Sequence[str], output: Path | None, **given: Any) -> Answer:
    """Show where your strategies stand among published ones.

    A study file is run by the protocol of the benchmark first, if that can be run: for delgado2014,
    [data] folder is a copy of its archive, each strategy is tuned on the halves of the archive, and
    then fitted on its folds. Published strategies are not run, but for one as a check. Of a study
    database the results are taken as they are; its datasets have the benchmark's names.

    \b
    mlaut study place study.toml --against delgado2014 -o place/
    mlaut study place study.h5 --against delgado2014 --same RandomForestClassifier=rf_caret
    mlaut study place study.toml --against delgado2014 --budget 40 --rival rf_caret
    """
    from mlaut.data import read_table
    from mlaut_boards.placing.placement import place_study

    given_pairs = (pair.partition("=")[::2] for pair in same)
    pairs = one_value_each(given_pairs, StudyError, "--same: the published name")
    few = {k: x for k in ("arm", "rival", "audit", "costs", "seed") if (x := given.pop(k))}
    if few.get("costs"):
        costs = read_table(few["costs"])
        few["costs"] = dict(costs.iloc[:, :2].itertuples(index=False, name=None))
    changes = {name: value for name, value in given.items() if value is not None}
    placed = place_study(study, same=pairs, few=few, **changes)
    for text in filter(None, (placed.check, placed, placed.sentence())):
        show(f"{text}\n")
    files = ({"check": placed.check.frame} if placed.check else {}) | {"place": placed.frame}
    if output is not None:
        tables = {**files, "pairs": placed.pairs}
        write_files(output, ((f"{name}.csv", csv_text(table)) for name, table in tables.items()))
    rows = {name: records(frame) for name, frame in files.items()}
    return {"sentence": placed.sentence(), "check": None, **rows}


@click.command()
@click.argument("old", type=PATH)
@click.argument("new", type=PATH)
@click.option("--metric", help="Metric of the scores; default: that of the studies.")
@click.option(
    "--greater-is-better/--less-is-better",
    default=None,
    help="Direction of a table's metric that MLaut does not know.",
)
@click.option("--rope", type=float, help="Largest mean difference that counts as none; default .01")
@click.option("--alpha", default=0.05, show_default=True, help="Level of all claims of a kind.")
def same(old: Path, new: Path, metric: str | None, **given: Any) -> Answer:
    """Tell whether a new run has the same scores as an old one.

    OLD and NEW are studies, bundles, tables of scores or folders of a leaderboard, also mixed. The
    answer for each strategy and for all is same (within the region of --rope), differs, or cannot
    tell. What differs in versions, machines and options of two studies is listed.

    \b
    mlaut study same old.h5 new.h5
    mlaut study same published.csv mine.h5 --metric accuracy --rope 0.005
    """
    from mlaut import Study
    from mlaut.analysis import read_results
    from mlaut.files_io import StudyStore
    from mlaut_boards.rerun import environment_differences, same_results

    paths = [database_and_options(path)[0] for path in (old, new)]
    stores = [StudyStore(path) for path in paths if kind_of(path) is Kind.STUDY]
    runs = [
        read_results(path, metric, greater_is_better=given["greater_is_better"])
        if kind_of(path) is Kind.RESULTS
        else Study(path).results(metric or "")
        for path in paths
    ]
    answers = same_results(*runs, rope=given["rope"], alpha=given["alpha"])
    differing = environment_differences(*stores) if len(stores) == 2 else []
    show(f"{answers.sentence()}\n\n{answers}")
    show_rows(differing)
    about = {name: getattr(answers, name) for name in ("answer", "metric", "rope", "notes")}
    return {**about, "strategies": records(answers.frame), "environments": differing}
