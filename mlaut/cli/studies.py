"""Commands that read, check, join and compact studies."""

import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mlaut import experiments, files_io
from mlaut.cli.inputs import (
    PATH,
    database_and_options,
    options_given,
    race_of,
    read_pairs,
    the_bundles,
    with_settings,
)
from mlaut.cli.output import (
    Answer,
    as_json,
    in_own_words,
    one_line,
    show,
    show_rows,
    show_table,
)
from mlaut.errors import (
    AnalysisError,
    OptionalPackageError,
    StudyError,
    nearest,
    one_value_each,
)
from mlaut.files_io.kinds import Kind, kind_of
from mlaut.helpers.markup import counted
from mlaut.helpers.optional import need
from mlaut.plugins.finding import queued_tasks, the_plugin

if TYPE_CHECKING:
    from mlaut.analysis import QuestionError

_DIRECTION = click.option(
    "--greater-is-better/--less-is-better",
    default=None,
    help="Direction of a table's metric that MLaut does not know.",
)
_CHOOSE = "no verdict: the output lists the readings, each with its command, and the columns"


@click.command()
@click.argument("studies", nargs=-1, required=True, type=PATH)
@click.option("--why", is_flag=True, help="Show why cells have no predictions, and all warnings.")
@click.option(
    "--alive",
    is_flag=True,
    help="Health check: print one line, and exit with 0 if a run is making progress or the study "
    "is finished, else with 1.",
)
@click.option(
    "--within",
    default="5m",
    show_default=True,
    help="With --alive: time without progress after which a run counts as stalled.",
)
@click.option(
    "--follow",
    is_flag=True,
    help="Follow a run in the terminal until Ctrl-C or its end; of the plug-in mlaut-extras.",
)
def status(studies: Sequence[Path], why: bool, alive: bool, within: str, follow: bool) -> Answer:
    """Show how many cells are done, failed or missing.

    The study may be running. STUDIES are study databases or study files. A study that runs as
    shards has a row for each, with what runs it or waits for it; so have several studies. --why
    adds the reasons for cells without predictions, with one traceback per reason, and the warnings
    of the fits.
    --follow shows progress, pace, time left and the last failures: each row is a strategy, each
    square a dataset, or several where the terminal is narrow, and a red square has failures.

    \b
    mlaut status study.h5
    mlaut status study.h5 --json
    mlaut status study.h5 --alive
    mlaut status study.toml --follow
    mlaut status first.h5 second.h5
    """
    from mlaut.experiments.following import status as progress

    study = studies[0]
    parts, title = _parts_of(studies)
    if parts:
        if why or alive or follow:
            raise click.UsageError("--why, --alive and --follow are for one database: name a shard")
        summed = progress.sum_of_studies(title, parts)
        show(summed)
        show_rows(summed.rows())
        return summed.to_dict(), 0
    database, options = database_and_options(study, begun=not alive)
    if follow and as_json():
        raise click.UsageError("--follow draws, and --json prints: give one of them")
    if follow:
        extras = the_plugin("extras", "runs are followed in the terminal")
        need("rich", extra="watch", purpose="The live view")
        extras.follow_study(database, options.get("title", ""))
        return {}, 0
    if alive:
        from mlaut.experiments.cells.memory import parse_seconds

        healthy, line = progress.check_alive(database, parse_seconds(within, "within") or 0.0)
        show(line)
        return {"healthy": healthy, "reason": line}, 0 if healthy else 1
    now = progress.study_status(database)
    reasons = progress.unfinished(database) if why else []
    warned = progress.warnings_of(database) if why else []
    answer = now.to_dict() | ({"why": reasons, "warnings": warned} if why else {})
    show(str(now))
    race = race_of(database)
    if race is not None:
        standing = race.now()
        answer |= {"race": standing.sentence(), "cost": standing.cost_sentence()}
        show(f"race: {answer['race']}\ncost: {answer['cost']}")
        for line in standing.decisions if why else ():
            show(line)
    show_rows(now.rows())
    if why:
        show_rows([{k: v for k, v in row.items() if k != "traceback"} for row in reasons])
        show_rows(warned)
        for row in reasons:
            if row["traceback"]:
                name = one_line(row["strategy"])
                show(f"\n{name}, {row['status']}, {counted(row['cells'], 'cell')}, the first:")
                show(row["traceback"].rstrip())
    return answer, 0


def _parts_of(studies: Sequence[Path]) -> tuple[dict[Path, str], str]:
    """Return the files to sum, each with its task in a queue; none for one study in one file."""
    if len(studies) > 1:
        paths = {database_and_options(study, begun=False)[0]: "" for study in studies}
        return paths, counted(len(paths), "file")
    if kind_of(studies[0]) is not Kind.STUDY_FILE:
        return {}, ""
    from mlaut.experiments.plans.shards import open_shards

    output = experiments.read_study_file(studies[0]).output
    about, tasks = str(output), dict[Path, str]()
    try:
        tasks = queued_tasks(output)
    except (StudyError, OptionalPackageError) as error:
        # the files say what is done, whether or not the queue answers
        about += f" (jobs are not shown: {error})"
    return {path: tasks.get(path, "") for path in open_shards(output, tasks)}, about


@click.command()
@click.argument("study", type=PATH)
@click.option(
    "-o",
    "--output",
    type=PATH,
    help="A page (report.html), a file (.md, .tex, .csv, .json, .txt), or a folder for all formats "
    "and every table; default: print on the screen.",
)
@click.option(
    "--format",
    "style",
    default="text",
    show_default=True,
    type=click.Choice(["text", "full", "markdown", "csv", "json"]),
    help="What to print: text is the first screen, full has every table below it.",
)
@click.option(
    "--metric",
    multiple=True,
    help="accuracy, mcc, r2, ... (repeatable; the first is the primary one); default: set by the "
    "study file or task. 'mlaut list metrics' lists them.",
)
@_DIRECTION
@click.option(
    "--columns",
    multiple=True,
    metavar="ROLE=COLUMN,...",
    help="Columns of a table: dataset, strategy, score, repeat, fold, source, unused; '+' joins "
    "several, '*' stands for any letters; 'rows' and 'columns' say which way it lies; table=2 (or "
    "its heading) chooses, and number=2 of several in a cell.",
)
@click.option("--trust", is_flag=True, help="Read a pickle, which can run code of its maker.")
@click.option("--only", multiple=True, metavar="STRATEGY", help="Report on it (repeatable).")
@click.option("--without", multiple=True, metavar="STRATEGY", help="Leave it out (repeatable).")
@click.option("--datasets", multiple=True, metavar="DATASET", help="Report on it (repeatable).")
@click.option(
    "--clusters",
    metavar="COLUMN or FILE.csv",
    help="Source of each dataset, the unit of all claims: the column of a table (default: source, "
    "cluster or group), or a CSV file with a column of datasets and one of their sources.",
)
@click.option(
    "--contaminated",
    help="Treatment of strategies that were trained on a dataset, as a leaderboard declares it: "
    "'keep' (default), 'drop strategies', 'drop datasets', or the name of a strategy whose scores "
    "replace theirs.",
)
@click.option("--title", help="Title of the report; default: that of the study file.")
@click.option(
    "--missing",
    help="Treatment of cells without a result: 'failures last' (default), 'drop datasets', "
    "'drop strategies', 'worst', 'worst rank', 'row mean', 'row median', or the name of a strategy "
    "whose scores replace theirs; the report flags replaced scores.",
)
@with_settings("[analysis]")
@click.option(
    "--methods", is_flag=True, help="Print the paragraph on methods for a paper, and its BibTeX."
)
def report(study: Path, output: Path | None, style: str, methods: bool, **given: Any) -> Answer:
    """Report what a study decides, and its numbers.

    The numbers are scores, intervals, ranks and tests. STUDY is a study database, a study file, a
    table of scores as people publish them (CSV, TSV, Excel, JSON, Markdown, LaTeX, HTML, a folder
    of such files, or - for the standard input) with its metric, or files of a leaderboard, which
    the plug-in mlaut-boards recognises. The report says how a table was read; --columns chooses
    where that is unclear. The question, test, level, metric and treatment of a study are chosen
    before its first result; options that differ are named in the report, and so is what is left
    out: by --only, --without, --datasets, or since the study file no longer names a strategy.

    \b
    mlaut report study.h5
    mlaut report study.h5 -o report.html
    mlaut report study.h5 --metric balanced_accuracy -o tables/
    mlaut report study.h5 --methods
    mlaut report README.md --metric rmse --columns dataset=env_id,strategy=algo+size,table=2
    mlaut report results.csv --metric accuracy --set question='control: baseline'
    mlaut report gift-eval/results --contaminated 'drop strategies'
    """
    from mlaut.analysis import QuestionError
    from mlaut.analysis.importers.asked import commands_with
    from mlaut.report import make_report, write_report
    from mlaut.report.questions import QUESTIONS, question_content
    from mlaut.report.writing import FORMATS, methods_of_report, report_content

    database, options = database_and_options(study, dropped=True)
    dropped = options.pop("without", {})
    if settings := given.pop("settings"):
        from mlaut.experiments.study_files.study_file import read_settings

        options |= read_settings(settings, "analysis")["analysis"]
    options |= {name: value for name, value in given.items() if value not in (None, ())}
    if given["columns"]:
        options["columns"] = _read_columns(given["columns"])
    if (given["clusters"] or "").endswith(".csv"):
        options["clusters"] = _read_clusters(Path(given["clusters"]), database)
    dropped = {k: x for k, x in dropped.items() if k not in options.get("only", ())}
    options["without"] = dropped | dict.fromkeys(options.get("without", ()), "")
    repeated = options_given(besides=("greater_is_better", "columns"))
    while True:
        try:
            with commands_with(repeated):
                result = make_report(database, **options)
            break
        except QuestionError as question:
            unread = not (question.readings or question.sheet)
            asks = _at_a_terminal() and question.readings and style in ("text", "full")
            if unread or (not asks and (methods or output or style not in QUESTIONS)):
                raise
            question.text = in_own_words(question.text)
            if not as_json():
                show(QUESTIONS[style](question))
            if asks and (chosen := _chosen(question, given["metric"])):
                options |= chosen
                continue
            show(f"mlaut: error: {question.text}; {_CHOOSE}", err=True)
            return question_content(question), question.exit_code
    answer = report_content(result) if as_json() else {}  # some of it takes time
    if methods:
        words = methods_of_report(result)
        answer |= {"methods": str(words), "bibtex": words.to_bibtex()}
        show(f"{words}\n\n{answer['bibtex']}".rstrip())
    elif output is not None:
        answer["files"] = write_report(result, output)
        for path in answer["files"]:
            show(path)
    elif not as_json():
        show(FORMATS[style](result))
    return answer


def _at_a_terminal() -> bool:
    """Return whether a person reads the output, and can answer."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not as_json()


def _chosen(question: "QuestionError", metrics: Sequence[str]) -> dict[str, Any]:
    """Return the options that read a table in the way whose number a person enters, if any."""
    answers = list(zip(question.readings, question.ways, strict=True))
    text = f"\nNumber of the right reading, 1 to {len(answers)}, or 0 for none"
    number = 0  # as at the end of the input
    with suppress(click.Abort):
        number = click.prompt(text, type=click.IntRange(0, len(answers)), default=0)
    if not number:
        return {}
    command, way = answers[number - 1]
    show(f"\nThe command of this reading:\n   {command}\n")
    metric = (way.metric, *metrics[1:]) if way.metric else ()
    given = {"columns": way.given, "metric": metric, "greater_is_better": way.greater}
    return {name: value for name, value in given.items() if value not in (None, ())}


def _read_columns(given: Sequence[str]) -> dict[str, list[str] | str]:
    """Return the columns of each role from texts like ``dataset=env_id,strategy=algo+size``.

    Examples
    --------
    >>> _read_columns(["dataset=env_id,strategy=algo+size", "score=a, b"])
    {'dataset': ['env_id'], 'strategy': ['algo', 'size'], 'score': ['a, b']}
    """
    columns: list[tuple[str, list[str] | str]] = []
    for text in given:
        for part in re.split(r",(?=\s*[a-z]+=)", text):
            role, sign, names = part.strip().partition("=")
            if not sign:
                raise click.UsageError(f"--columns {text!r}: ROLE=COLUMN is needed, joined by ','")
            columns.append((role, names if role == "table" else names.split("+")))
    return one_value_each(columns, click.UsageError, "--columns: the column")


def _read_clusters(file: Path, database: Path) -> dict[str, str]:
    """Return the source of each dataset, from a CSV file of datasets and their sources.

    Raises
    ------
    AnalysisError
        The file has other columns than these two, or names no source of a dataset of the study.
    """
    sources = read_pairs(file, "datasets and their sources")
    named = [] if kind_of(database) is Kind.RESULTS else files_io.StudyStore(database).datasets
    if lacking := [name for name in named if not sources.get(name)]:
        hint = nearest(lacking[0], sources)
        raise AnalysisError(f"{file}: no source for the dataset {lacking[0]!r}{hint}")
    return sources


@click.command()
@click.argument("study")
@click.option("--refit", default="0", help="Share of the cells to fit again, for example 1%.")
@click.option("--seed", default=0, help="Random seed of the sample of cells to fit again.")
@click.option("--input", "database", type=PATH, help="Database of the datasets.")
@click.option("-j", "--n-jobs", default=-1, show_default=True, help="Worker processes.")
@click.option(
    "--mend", is_flag=True, help="Clear damaged cells, so that the next run repeats them."
)
@click.option("--seal", is_flag=True, help="First accept the changes that another program made.")
@click.option(
    "--trust", is_flag=True, help="Run the Python file of strategies of a bundle, for --refit."
)
@click.option("--limit", default="4GiB", show_default=True, help="Largest bundle to download.")
@click.option("--metric", help="Also recompute this score of each dataset.")
def verify(
    study: str,
    database: Path | None,
    mend: bool,
    seal: bool,
    trust: bool,
    limit: str,
    metric: str | None,
    **arguments: Any,
) -> Answer:
    """Check a study, a study file, a database or a bundle.

    With --refit, some cells are fitted again. A bundle is a folder, a .zip or an address (http,
    https); each file must have the digest that the bundle names. The exit code is 1 if a problem
    was found. With a study file, the Python file that [strategies] names is executed; a study
    database alone (study.h5) runs no code that came with it, and a bundle does so only with
    --trust.

    \b
    mlaut verify study.h5
    mlaut verify study.toml --refit 1%
    mlaut verify https://example.org/bundle/ --refit 1%
    """
    arguments["hdf5_input_io"] = files_io.FilesIO(database) if database else None
    cleared, about = 0, ""
    if kind_of(study) is Kind.BUNDLE:
        if mend or seal:
            raise StudyError(f"{study}: a bundle is not changed; mend a copy of its study")
        from mlaut.experiments.cells.memory import parse_bytes

        arguments |= {"limit": parse_bytes(limit) or 0, "trusted": trust}
        bundle, checked = the_bundles().verify_bundle(study, **arguments)
        path, about = bundle.study, f"{bundle}\n"
    else:
        path = database_and_options(Path(study))[0]
        if seal:
            files_io.accept_changes(path)
        cleared = sum(files_io.StudyStore(path).mend().values()) if mend else 0
        checked = experiments.verify_study(study, **arguments)
    scores = None
    if metric and checked.ok:
        from mlaut.analysis import Results

        scores = Results.from_study(path, metric).scores
    show(about + str(checked) + (f"\n  {cleared} damaged cells cleared" if cleared else ""))
    answer: dict[str, Any] = {**checked.to_dict(), "cleared": cleared, "scores": {}}
    if scores is not None:
        answer["scores"] = scores.to_dict()
        rows = [[name, *(f"{x:.6g}" for x in row)] for name, *row in scores.itertuples()]
        show_table(rows, [f"{metric} on", *scores.columns])
    return answer, 0 if checked.ok else 1


@click.command()
@click.argument("studies", nargs=-1, required=True)
@click.option("-o", "--output", required=True, type=PATH, help="Path of the new study.")
def merge(studies: Sequence[str], output: Path) -> Answer:
    """Merge studies with the same splits into a new study.

    They may come from several machines. STUDIES are study databases and bundles (folders, .zip
    files, addresses).

    \b
    mlaut merge a.h5 b.h5 -o all.h5
    mlaut merge bundle mine.h5 -o all.h5
    """
    from mlaut.experiments.following.status import study_status

    databases = [
        the_bundles().open_bundle(study).study
        if kind_of(study) is Kind.BUNDLE
        else Path(study).expanduser()
        for study in studies
    ]
    now = study_status(files_io.merge_studies(databases, output).path)
    show(now)
    return now.to_dict()


@click.command()
@click.argument("database", type=PATH)
def compact(database: Path) -> Answer:
    """Free the unused space of a study or a database.

    The file is made anew, which needs room for a second one.

    \b
    mlaut study compact study.h5
    """
    before, after = files_io.StudyStore(database).compact()
    show(f"{database}: {before} bytes on the disk before, {after} now")
    return {"database": database, "bytes_before": before, "bytes_now": after}


@click.command()
@click.argument("place", type=PATH)
@click.option("--strategy", "strategies", multiple=True, help="Its name (repeatable).")
@click.option("--dataset", "datasets", multiple=True, help="Its name (repeatable).")
def remove(place: Path, strategies: Sequence[str], datasets: Sequence[str]) -> Answer:
    """Remove strategies and datasets, with their outcomes.

    PLACE is a study database, a database of datasets, or a study file, which stands for both. A
    strategy or a table that the study file still names is run again by the next run.

    \b
    mlaut study remove study.toml --dataset iris
    mlaut study remove study.h5 --strategy SVC --strategy 'my forest'
    """
    return _restructure(place, dict.fromkeys(datasets), dict.fromkeys(strategies))


@click.command()
@click.argument("place", type=PATH)
@click.option("--strategy", "strategies", multiple=True, nargs=2, help="Old and new name.")
@click.option("--dataset", "datasets", multiple=True, nargs=2, help="Old and new name.")
def rename(
    place: Path, strategies: Sequence[tuple[str, str]], datasets: Sequence[tuple[str, str]]
) -> Answer:
    """Rename strategies and datasets; their outcomes stay.

    PLACE is a study database, a database of datasets, or a study file, which stands for both. Also
    change the name in the study file, or that of the table in its folder.

    \b
    mlaut study rename study.toml --dataset iris iris-2026
    mlaut study rename study.h5 --strategy SVC 'SVC, scaled'
    """
    pairs = (datasets, strategies)
    return _restructure(place, *(one_value_each(x, StudyError, "the new name") for x in pairs))


def _restructure(
    place: Path, datasets: Mapping[str, str | None], strategies: Mapping[str, str | None]
) -> Answer:
    from mlaut.experiments.restructure import restructure

    if not datasets and not strategies:
        raise click.UsageError("name a --strategy or a --dataset")
    lines = list(restructure(place, datasets, strategies))
    for line in lines:
        show(line)
    return {"changes": lines}
