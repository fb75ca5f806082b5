"""The command line: one sub-command per public function.

Heavy packages are imported inside the commands, so that ``mlaut --help`` is fast.
"""

from __future__ import annotations

import json
import signal
import sys
import traceback
import warnings
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mlaut import __version__
from mlaut.errors import AnalysisError, MlautError, RunInterrupted, nearest
from mlaut.markup import printable

if TYPE_CHECKING:
    import pandas as pd

    from mlaut.analysis.racing.study_race import StudyRace
    from mlaut.experiments import RunSummary, StudyFile

__all__ = ["main"]

_FAILED = 9  # the exit code of a strict run; those of errors end at 8
_TASKS = click.Choice(["Classification", "Regression"], case_sensitive=False)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="mlaut")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def cli(debug: bool) -> None:
    """Compare machine learning strategies over many datasets, with statistical tests.

    \b
    mlaut demo                      run a small study on real data
    mlaut run study.toml            run a study, or resume it
    mlaut status study.h5           show the progress of a study
    mlaut report study.h5           show its results: scores, ranks and tests
    """


@cli.command()
@click.option(
    "-o",
    "--output",
    default="demo",
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder of the study and its results.",
)
@click.option(
    "-j", "--n-jobs", default=-1, show_default=True, help="Worker processes; -1: one per core."
)
def demo(output: Path, n_jobs: int) -> None:
    """Run a small study on real datasets that come with MLaut, and show its report.

    An interrupted demo resumes where it stopped when it is called again.

    \b
    mlaut demo
    mlaut demo -o /tmp/demo -j 1
    """
    from importlib.resources import files

    from mlaut.report import make_report, write_report

    output.mkdir(parents=True, exist_ok=True)
    study_file = output / "study.toml"
    if not study_file.exists():
        study_file.write_text(files("mlaut").joinpath("demo.toml").read_text(encoding="utf-8"))
    _run(study_file, n_jobs=n_jobs)
    database, options = _study(study_file)
    made = make_report(database, **options)
    write_report(made, output / "report")
    _print(f"\n{made}\n")
    _print(f"Study file:     {study_file}  (change it, and run it: mlaut run {study_file})")
    _print(f"Study database: {database}")
    _print(f"All tables:     {output / 'report'}")
    _print(f"The report:     {output / 'report' / 'report.html'}  (open it in a browser)")


@cli.command()
@click.argument("study_file", type=click.Path(path_type=Path))
@click.option("-j", "--n-jobs", type=int, help="Worker processes; -1: one per core.")
@click.option("--timeout", help="Wall time limit of a cell, for example 10m.")
@click.option(
    "--tuning-timeout",
    help="CPU time after which tuning in a cell chooses among the candidates scored so far.",
)
@click.option("--memory", help="Memory limit of a cell, for example 4GiB.")
@click.option("--retry", multiple=True, help="Try failed cells of this status again (repeatable).")
@click.option(
    "--overwrite-predictions",
    is_flag=True,
    default=None,
    help="Run strategies whose parameters changed again, and replace their predictions.",
)
@click.option("--save-models", is_flag=True, default=None, help="Save the fitted models.")
@click.option(
    "--no-limits",
    "limits",
    flag_value=False,
    default=None,
    help="Also run datasets that are above the size limit of a strategy.",
)
@click.option(
    "--engine",
    type=click.Choice(["local", "inline", "dask"]),
    help="Where cells run: processes of this machine, this process, or a Dask cluster.",
)
@click.option("--scheduler", help="Address of the Dask scheduler, for example tcp://10.0.0.1:8786.")
@click.option(
    "--complete", is_flag=True, default=None, help="Run all cells that a race has left out."
)
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@click.option("--strict", is_flag=True, help=f"Exit with code {_FAILED} if any cell has failed.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary of the run as JSON.")
def run(study_file: Path, quiet: bool, strict: bool, as_json: bool, **changes: Any) -> None:
    """Run a study file, or resume it.

    A failed cell is a result: the exit code of a run that reached its end is 0, unless --strict
    is set. The Python file that [strategies] names is executed.

    \b
    mlaut run study.toml
    mlaut run study.toml -j 4 --timeout 10m --retry timeout
    mlaut run study.toml --engine dask --scheduler tcp://10.0.0.1:8786
    """
    given = {name: value for name, value in changes.items() if value not in (None, ())}
    done = _run(study_file, as_json, verbose=0 if quiet else 1, **given)
    if strict and done.n_failed:
        sys.exit(_FAILED)


@cli.command()
@click.argument("study", type=click.Path(path_type=Path))
@click.option("--why", is_flag=True, help="Show why cells have no predictions, and all warnings.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
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
def status(study: Path, why: bool, as_json: bool, alive: bool, within: str) -> None:
    """Show how many cells of a study are done, failed or missing, also while it runs.

    STUDY is a study database or a study file. --why adds the reasons for cells without
    predictions, with one traceback per reason, and the warnings of the fits.

    \b
    mlaut status study.h5
    mlaut status study.h5 --json
    mlaut status study.h5 --alive
    """
    from mlaut.experiments.status import check_alive, study_status, unfinished, warnings_of

    database, _ = _study(study)
    if alive:
        from mlaut.experiments.cells.memory import parse_seconds

        healthy, line = check_alive(database, parse_seconds(within, "within") or 0.0)
        _print(line)
        sys.exit(0 if healthy else 1)
    now = study_status(database)
    reasons, warned = (unfinished(database), warnings_of(database)) if why else ([], [])
    if as_json:
        more = {"why": reasons, "warnings": warned} if why else {}
        _print(json.dumps({**now.to_dict(), **more}))
        return
    _print(str(now))
    race = _race(database)
    if race is not None:
        standing = race.now()
        for line in (f"race: {standing.sentence()}", *(standing.decisions if why else ())):
            _print(line)
    _rows(now.rows())
    if why:
        _rows([{k: v for k, v in row.items() if k != "traceback"} for row in reasons])
        _rows(warned)
        for row in reasons:
            if row["traceback"]:
                _print(
                    f"\n{_line(row['strategy'])}, {row['status']}, {row['cells']} cells, the first:"
                )
                _print(row["traceback"].rstrip())


@cli.command()
@click.argument("criterion", default="all")
@click.option("--task", type=_TASKS, help="List only strategies for this task.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def strategies(criterion: str, task: str | None, as_json: bool) -> None:
    """List the strategies that come with MLaut: all, or by name, family or task.

    For a single strategy, the list also shows the wrapped estimator, the tuned parameters, the
    stopping rule of a fit, and the largest dataset on which it is run.

    \b
    mlaut strategies
    mlaut strategies Ensemble_methods --task classification
    mlaut strategies SVC
    """
    from mlaut.estimators import REGISTRY

    found = REGISTRY.search(criterion, **({"tasks": task} if task else {}))
    rows = [
        {
            "name": spec.name,
            "family": ", ".join(spec.estimator_family),
            "task": ", ".join(spec.tasks),
            "collection": spec.collection,
            "package": spec.package,
        }
        for spec in found
    ]
    about: dict[str, Any] = {}
    if len(found) == 1 and criterion in (found[0].name, found[0].class_name):
        listed = (*rows[0], "estimator_family", "tasks")
        about = {k: v for k, v in found[0].load()().describe().items() if k not in listed}
    _rows([{**rows[0], **about}] if as_json and about else rows, as_json)
    if not as_json:
        for key, value in about.items():
            _print(_line(f"{key}: {value if isinstance(value, str) else json.dumps(value)}"))


@cli.command()
@click.option("--task", type=_TASKS, help="List only metrics for this task.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def metrics(task: str | None, as_json: bool) -> None:
    """List the metrics: names, direction, range, and what each needs.

    \b
    mlaut metrics
    mlaut metrics --task regression
    """
    from mlaut.analysis import describe_metrics

    wanted = {"any", task.capitalize()} if task else ()
    _rows([row for row in describe_metrics() if not wanted or row["task"] in wanted], as_json)


@cli.command()
@click.argument("database", required=False, type=click.Path(path_type=Path))
@click.option("--group", default="/", show_default=True, help="Group of the database to list.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def datasets(database: Path | None, group: str, as_json: bool) -> None:
    """List the datasets of an input database, or those that come with MLaut.

    \b
    mlaut datasets
    mlaut datasets input.h5 --group openml/
    """
    from mlaut.data import list_datasets

    _rows(list_datasets(database, group), as_json)


@cli.command()
@click.argument("database", type=click.Path(path_type=Path))
@click.argument("references", nargs=-1, required=True)
@click.option("--task", type=_TASKS, help="Load only datasets for this task.")
@click.option("--group", help="Group of the database; default: the source of each dataset.")
@click.option("--overwrite", is_flag=True, help="Replace stored datasets whose content differs.")
def load(
    database: Path, references: Sequence[str], task: str | None, group: str | None, overwrite: bool
) -> None:
    """Load datasets into an input database, for example before a run without a network.

    Datasets that are already there, or in a cache of this machine, are not downloaded again.
    REFERENCES are starter/NAME, sklearn/NAME, openml/d/NUMBER (a dataset), openml/t/NUMBER (a task
    with its split), openml/s/NUMBER (a suite), uci/NUMBER or uci/NAME, and pmlb/NAME.

    \b
    mlaut load input.h5 openml/s/99
    mlaut load input.h5 starter/iris uci/53 'openml/d/61?name=iris-2'
    """
    from mlaut.data import Data

    data = Data()
    paths = data.load(
        references,
        hdf5_io=data.open_hdf5(database, mode="a"),
        task=task,
        hdf5_group=group,
        overwrite=overwrite,
    )
    for path in paths:
        _print(path)


@cli.command()
@click.argument("study", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="A page (report.html), a file (.md, .tex, .csv, .txt), or a folder for all formats and "
    "every table; default: print on the screen.",
)
@click.option(
    "--format",
    "style",
    default="text",
    show_default=True,
    type=click.Choice(["text", "markdown", "csv"]),
    help="Format of the tables on the screen.",
)
@click.option(
    "--metric",
    multiple=True,
    help="accuracy, mcc, r2, ... (repeatable; the first is the primary one); default: set by the "
    "study file or task. 'mlaut metrics' lists them.",
)
@click.option(
    "--greater-is-better/--less-is-better",
    default=None,
    help="Direction of a table's metric that MLaut does not know.",
)
@click.option(
    "--missing",
    help="Treatment of cells without a result: 'failures last' (default), 'drop datasets', "
    "'drop strategies', 'worst', 'worst rank', or the name of a strategy whose scores replace "
    "theirs; the report flags replaced scores.",
)
def report(study: Path, output: Path | None, style: str, **given: Any) -> None:
    """Report the results of a study: scores with confidence intervals, ranks and tests.

    STUDY is a study database, a study file, or a table of scores of another program (CSV, TSV,
    ARFF, parquet) with its metric.

    \b
    mlaut report study.h5
    mlaut report study.h5 -o report.html
    mlaut report study.h5 --metric balanced_accuracy -o tables/
    mlaut report results.csv --metric accuracy
    """
    from mlaut.report import make_report, write_report
    from mlaut.report.writing import FORMATS

    database, options = _study(study)
    options |= {name: value for name, value in given.items() if value not in (None, ())}
    made = make_report(database, **options)
    if output is None:
        _print(FORMATS[style](made))
    else:
        for path in write_report(made, output):
            _print(path)


@cli.command()
@click.argument("study_file", type=click.Path(path_type=Path))
@click.option("-j", "--n-jobs", type=int, help="Worker processes; -1: one per core.")
@click.option("--retry", multiple=True, help="As for 'mlaut run'.")
@click.option("--overwrite-predictions", is_flag=True, default=None, help="As for 'mlaut run'.")
@click.option("--save-models", is_flag=True, default=None, help="As for 'mlaut run'.")
@click.option("--no-limits", "limits", flag_value=False, default=None, help="As for 'mlaut run'.")
@click.option(
    "--why", is_flag=True, expose_value=False, help="Changes nothing: the reasons are always shown."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def plan(study_file: Path, as_json: bool, **changes: Any) -> None:
    """Show which cells a run would do and why, its expected time and disk space; change nothing.

    All mistakes of the study file are listed at once. The Python file that [strategies] names is
    executed: plan only study files that you trust.

    \b
    mlaut plan study.toml
    mlaut plan study.toml --retry timeout -j 8
    """
    from mlaut.experiments import plan_study

    given = {name: value for name, value in changes.items() if value not in (None, ())}
    preview = plan_study(study_file, check=_check_report, **given)
    if as_json:
        _print(json.dumps(preview.to_dict()))
        return
    _print(str(preview))
    race = _race(preview.study)
    if race is not None:
        from mlaut.racing import forecast_race

        _print(forecast_race(race) or "race: no dataset is complete yet, so nothing is forecast")
    _rows(preview.plan.why())


@cli.command()
@click.argument("study", type=click.Path(path_type=Path))
@click.option(
    "--input", "database", type=click.Path(path_type=Path), help="Database of the datasets."
)
@click.option(
    "-j", "--n-jobs", default=-1, show_default=True, help="Worker processes; -1: one per core."
)
@click.option("--timeout", help="Wall time limit of a cell, for example 10m.")
def models(study: Path, database: Path | None, **options: Any) -> None:
    """Save the fitted models of the cells that are done and have none yet.

    Each cell is fitted again from its stored seed. Its model is saved only if its predictions equal
    the stored ones to the last bit. With a study file, the Python file that [strategies] names is
    executed; with a study database alone (study.h5), only strategies that come with MLaut are
    fitted.

    \b
    mlaut models study.h5
    mlaut models study.toml -j 4
    """
    from mlaut import Study
    from mlaut.experiments import read_study_file
    from mlaut.experiments.study_file import choose_strategies
    from mlaut.files_io.models import models_folder

    strategies, path = None, study
    if study.suffix == ".toml":
        file = read_study_file(study)
        strategies, path, database = choose_strategies(file), file.output, database or file.input
    saved = Study(path, database).save_models(strategies, **options)
    _print(f"{saved} models saved in {models_folder(path)}")


@cli.command()
@click.argument("database", type=click.Path(path_type=Path))
def compact(database: Path) -> None:
    """Free the unused space of a study or of a database of datasets.

    The file is made anew, which needs room for a second one.

    \b
    mlaut compact study.h5
    """
    from mlaut.files_io import Study

    before, after = Study(database).compact()
    _print(f"{database}: {before} bytes on the disk before, {after} now")


@cli.command()
@click.argument("studies", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), help="Path of the new study."
)
def merge(studies: Sequence[Path], output: Path) -> None:
    """Merge studies with the same splits, for example from several machines, into a new study.

    \b
    mlaut merge a.h5 b.h5 -o all.h5
    """
    from mlaut.experiments import study_status
    from mlaut.files_io import merge_studies

    _print(str(study_status(merge_studies(studies, output).path)))


@cli.command()
@click.argument("study", type=click.Path(path_type=Path))
@click.option("--refit", default="0", help="Share of the cells to fit again, for example 1%.")
@click.option("--seed", default=0, help="Random seed of the sample of cells to fit again.")
@click.option(
    "--input", "database", type=click.Path(path_type=Path), help="Database of the datasets."
)
@click.option("-j", "--n-jobs", default=-1, show_default=True, help="Worker processes.")
@click.option(
    "--mend", is_flag=True, help="Clear damaged cells, so that the next run repeats them."
)
@click.option("--seal", is_flag=True, help="First accept the changes that another program made.")
@click.option("--metric", help="Also recompute this score of each dataset.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify(
    study: Path,
    database: Path | None,
    mend: bool,
    seal: bool,
    metric: str | None,
    as_json: bool,
    **arguments: Any,
) -> None:
    """Check a study, a study file or an input database; optionally fit some cells again.

    The exit code is 1 if a problem was found. With a study file, the Python file that [strategies]
    names is executed; a study database alone (study.h5) runs no code that came with it.

    \b
    mlaut verify study.h5
    mlaut verify study.toml --refit 1%
    """
    from mlaut.experiments import verify_study
    from mlaut.files_io import FilesIO, Study, accept_changes

    path = _study(study)[0]
    if seal:
        accept_changes(path)
    cleared = sum(Study(path).mend().values()) if mend else 0
    input_io = FilesIO(database) if database else None
    found = verify_study(study, hdf5_input_io=input_io, **arguments)
    scores = _scores(path, metric) if metric and found.ok else None
    if as_json:
        recomputed = {} if scores is None else json.loads(scores.to_json(double_precision=15))
        _print(json.dumps({**found.to_dict(), "cleared": cleared, "scores": recomputed}))
    else:
        _print(str(found) + (f"\n  {cleared} damaged cells cleared" if cleared else ""))
        if scores is not None:
            rows = [[name, *(f"{x:.6g}" for x in row)] for name, *row in scores.itertuples()]
            _table(rows, [f"{metric} on", *scores.columns])
    if not found.ok:
        sys.exit(1)


def _run(study_file: Path, as_json: bool = False, **changes: Any) -> RunSummary:
    from mlaut.experiments import read_study_file, run_study

    file = read_study_file(study_file)
    _check_report(file)
    if file.race is None:
        done = run_study(study_file, **changes)
    else:
        from mlaut.racing import run_race

        done = run_race(study_file, **changes)
    _print(json.dumps(done.to_dict()) if as_json else str(done))
    return done


def _check_report(
    file: StudyFile, strategies: Sequence[str] = (), tasks: Collection[str] = ()
) -> None:
    """Check the ``[report]`` section of a study file before anything runs.

    Raises
    ------
    AnalysisError
        The metric is not known, or suits none of the tasks; or ``missing`` is neither a treatment
        nor one of the strategies. Without strategies or tasks, the check that needs them is
        skipped.
    """
    wanted = file.report
    if not wanted.metric and not (wanted.missing and strategies):
        return
    from mlaut.analysis import TREATMENTS, metric

    mistakes = []
    try:
        found = metric(wanted.metric) if wanted.metric else None
        if found is not None and tasks and found.task not in (None, *tasks):
            mistakes.append(
                f"metric {wanted.metric!r} suits no dataset ({', '.join(sorted(tasks))})"
            )
    except AnalysisError as error:
        mistakes.append(str(error))
    known = [*TREATMENTS, *strategies]
    if wanted.missing and strategies and wanted.missing not in known:
        hint = nearest(wanted.missing, known) or f"; use one of {', '.join(TREATMENTS)}"
        mistakes.append(f"missing {wanted.missing!r} is neither a treatment nor a strategy{hint}")
    if mistakes:
        raise AnalysisError(f"{file.path}: [report]: {'; '.join(mistakes)}")


def _race(database: Path) -> StudyRace | None:
    """Return the race of a study; None if it is none, or does not exist yet."""
    from mlaut.experiments.plans.rounds import sealed_terms
    from mlaut.files_io import Study

    study = Study(database)
    if not database.exists() or not study.exists or sealed_terms(study) is None:
        return None
    from mlaut.analysis.racing.study_race import StudyRace

    return StudyRace.of(study)


def _scores(study: Path, metric: str) -> pd.DataFrame:
    """Return the score of each strategy on each dataset; units may differ, so there is no mean."""
    from mlaut.analysis import Results

    scores: pd.DataFrame = Results.from_study(study, metric).scores
    return scores


def _study(path: Path) -> tuple[Path, dict[str, Any]]:
    """Return the path of the study's database, and the report options of its study file."""
    if path.suffix != ".toml":
        return path, {}
    from mlaut.experiments import read_study_file

    file = read_study_file(path)
    return file.output, {name: value for name, value in vars(file.report).items() if value}


def _print(text: object, err: bool = False) -> None:
    """Print text; control characters in names or messages of a study cannot reach the terminal."""
    click.echo(printable(str(text)), err=err)


def _line(text: object) -> str:
    return printable(str(text), "")


def _rows(rows: Sequence[dict[str, Any]], as_json: bool = False) -> None:
    if as_json:
        _print(json.dumps(list(rows)))
    elif rows:
        _table([list(row.values()) for row in rows], list(rows[0]))


def _table(rows: Sequence[Sequence[Any]], headers: Sequence[str]) -> None:
    from tabulate import tabulate

    if rows:
        lines = [[_line(cell) for cell in row] for row in rows]
        _print(tabulate(lines, headers=headers, disable_numparse=True))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; an error ends it with one line and an exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    # A process with id 1 (in a container) ignores SIGTERM unless it has a handler.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    show = warnings.showwarning
    warnings.showwarning = _show_warning
    try:
        _main(given)
    finally:
        warnings.showwarning = show
        signal.signal(signal.SIGTERM, before)


def _show_warning(message: Warning | str, category: type[Warning], *where: Any, **_: Any) -> None:
    _print(warnings.formatwarning(message, category, *where[:2]).rstrip(), err=True)


def _main(given: list[str]) -> None:
    try:
        cli.main(given, prog_name="mlaut", standalone_mode=False)
    except click.exceptions.Exit as leave:
        sys.exit(leave.exit_code)
    except click.Abort as stopped:  # click turns every KeyboardInterrupt into Abort
        reason = str(stopped.__cause__ or stopped.__context__ or "")
        _print(f"mlaut: {reason or 'stopped; make the same call again to go on'}", err=True)
        sys.exit(RunInterrupted.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        _fail(error, debug="--debug" in given)


def _fail(error: Exception, debug: bool) -> None:
    if debug:
        _print(traceback.format_exc(), err=True)
    if isinstance(error, MlautError):
        _print(f"mlaut: error: {error}", err=True)
        sys.exit(error.exit_code)
    text = " ".join(str(error).split())
    _print(
        f"mlaut: a bug in MLaut: {type(error).__name__}: {text}; "
        "please report it with the output of 'mlaut --debug ...'",
        err=True,
    )
    sys.exit(70)
