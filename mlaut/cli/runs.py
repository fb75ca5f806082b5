"""Commands that plan and run studies."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from mlaut import experiments
from mlaut.cli.inputs import (
    PATH,
    TASKS,
    analysis_of,
    changes_of,
    database_and_options,
    race_of,
    the_bundles,
    with_options_of_a_run,
)
from mlaut.cli.output import Answer, in_own_words, show, show_rows
from mlaut.errors import AnalysisError, StudyError
from mlaut.files_io.kinds import Kind, kind_of
from mlaut.plugins.finding import the_plugin

_FAILED = 9  # the exit code of a strict run; those of errors end at 8


@click.command()
@click.option(
    "-o",
    "--output",
    default="demo",
    show_default=True,
    type=PATH,
    help="Folder of the study and its results.",
)
@click.option(
    "-j", "--n-jobs", default=-1, show_default=True, help="Worker processes; -1: one per core."
)
def demo(output: Path, n_jobs: int) -> Answer:
    """Run a small study on real datasets, and show its report.

    The datasets come with MLaut. An interrupted demo resumes where it stopped when it is called
    again.

    \b
    mlaut demo
    mlaut demo -o /tmp/demo -j 1
    """
    from importlib.resources import files

    from mlaut.files_io.safe_files.plain_files import write_file
    from mlaut.report import make_report, write_report
    from mlaut.report.writing import report_content

    study_file = output / "study.toml"
    if not study_file.exists():
        write_file(study_file, files("mlaut").joinpath("demo.toml").read_bytes())
    done = run_file(study_file, n_jobs=n_jobs)
    database, options = database_and_options(study_file)
    result = make_report(database, **options)
    files_of_report = write_report(result, output / "report")
    show(f"\n{result}\n")
    show(f"Study file:     {study_file}  (change it, and run it: mlaut run {study_file})")
    show(f"Study database: {database}")
    show(f"All tables:     {output / 'report'}")
    show(f"The report:     {output / 'report' / 'report.html'}  (open it in a browser)")
    answer = {"study_file": study_file, "run": done.to_dict(), "report": report_content(result)}
    return answer | {"files": files_of_report}


@click.command()
@click.argument("study_file", default="study.toml", type=PATH)
@click.option("--folder", type=PATH, help="Folder of tables, or a table; default: MLaut's own.")
@click.option("--target", help="With a table: its target; default: as for a folder.")
@click.option("--task", type=TASKS, help="Task of the datasets; default: that of the first.")
@click.option(
    "--strategy",
    "strategies",
    multiple=True,
    help="Name or family of strategies (repeatable); default: a baseline and three usual ones.",
)
@click.option(
    "--question", default="best", show_default=True, help="Also 'control: NAME' or 'all pairs'."
)
@click.option("--metric", help="Primary metric; default: accuracy, or r2 for regression.")
@click.option("--title", default="", help="Title of the reports.")
def init(
    study_file: Path,
    folder: Path | None,
    target: str | None,
    task: str | None,
    strategies: Sequence[str],
    metric: str | None,
    **chosen: Any,
) -> Answer:
    """Write a study file with comments; it runs as it is.

    A table or a folder of tables in place of the file gets the study file NAME.toml. Nothing is
    overwritten.

    \b
    mlaut init
    mlaut init visits.csv --target better
    mlaut init trees.toml --folder tables --strategy Ensemble_methods --question 'all pairs'
    """
    from mlaut.analysis.deciding.terms import DEFAULT_METRICS, check_analysis
    from mlaut.data.tables.folders import is_file_of_table
    from mlaut.estimators import as_strategies
    from mlaut.experiments.study_files.new_study_file import USUAL, new_study_file, origin_of
    from mlaut.files_io.safe_files.plain_files import write_file
    from mlaut.files_io.tables.tables import IN_FOLDERS
    from mlaut.records import Analysis

    if folder is None and (study_file.is_dir() or is_file_of_table(str(study_file))):
        folder = study_file
        study_file = Path(f"{folder.resolve().name.partition('.')[0]}.toml")
    elif study_file.suffix != ".toml" and study_file.exists():
        endings = ", ".join(IN_FOLDERS)
        raise StudyError(f"{study_file}: no table that a study reads ({endings}); write it as one")
    if target and (folder is None or folder.is_dir()):
        raise StudyError(
            f"--target {target}: there is no table that it could be in; name one, as in "
            "'mlaut init visits.csv', or write target below [data.roles]"
        )
    origin = origin_of(study_file, folder, target=target or "", task=task or "")
    names = strategies or USUAL[origin.task]
    metric = metric or DEFAULT_METRICS[origin.task]
    terms = Analysis(question=chosen["question"], metric=metric)
    check_analysis(terms, [strategy.name for strategy in as_strategies(list(names))], {origin.task})
    text = new_study_file(study_file, origin, strategies=names, metric=metric, **chosen)
    write_file(study_file, text, new=True)
    if origin.told:
        show(f"{folder}: {origin.told}")
    show(f"{study_file} written; look at it, then: mlaut run {study_file}")
    return {"study_file": study_file}


@click.command()
@click.argument("study_file")
@with_options_of_a_run
@click.option(
    "--complete", is_flag=True, default=None, help="Run all cells that a race has left out."
)
@click.option(
    "--no-trial",
    "trial",
    flag_value=False,
    default=True,
    help="Do not first fit each strategy on a few rows, to name those that fail.",
)
@click.option("--add", "added", help="With a bundle: your strategies, a Python file or names.")
@click.option("-o", "--output", type=PATH, help="With --add: the study of the result.")
@click.option(
    "--input", "database", type=PATH, help="With --add: a database of tables that the bundle lacks."
)
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@click.option("--strict", is_flag=True, help=f"Exit with code {_FAILED} if any cell has failed.")
def run(
    study_file: str,
    added: str | None,
    output: Path | None,
    database: Path | None,
    quiet: bool,
    strict: bool,
    **changes: Any,
) -> Answer:
    """Run a study file, or resume it.

    With --add, strategies of yours run on the splits of a bundle. A failed cell is a result: the
    exit code of a run that reached its end is 0, unless --strict is set. The Python file that
    [strategies] names is executed, and so is that of --add; code that came with a bundle is not.
    'mlaut merge' joins the bundle and the result.

    \b
    mlaut run study.toml
    mlaut run study.toml -j 4 --timeout 10m --retry timeout
    mlaut run study.toml --shard 2/10
    mlaut run bundle --add mine.py -o mine.h5
    """
    given = changes_of(changes) | {"verbose": 0 if quiet else 1}
    if (added is None) != (output is None):
        raise StudyError("--add and -o belong together: mlaut run BUNDLE --add mine.py -o mine.h5")
    if added is not None and output is not None:
        from mlaut.files_io import FilesIO

        if kind_of(study_file) is not Kind.BUNDLE:
            raise StudyError(
                f"{study_file}: no bundle; 'mlaut publish', of mlaut-exchange, makes one of a study"
            )
        io = FilesIO(database) if database else None
        done = the_bundles().extend_bundle(study_file, added, output, hdf5_input_io=io, **given)
        show(in_own_words(done))
    else:
        done = run_file(Path(study_file), **given)
    return done.to_dict(), _FAILED if strict and done.n_failed else 0


@click.command()
@click.argument("study_file", type=PATH)
@with_options_of_a_run
@click.option("--no-trial", "trial", flag_value=False, default=True, help="As for 'mlaut run'.")
def plan(study_file: Path, **changes: Any) -> Answer:
    """Show what a run would do, and change nothing.

    It names the cells and why they run, the expected time, and the disk space. All mistakes of the
    study file are listed at once. Where the run would be refused, the exit code is that of the run.
    The Python file that [strategies] names is executed: plan only
    study files that you trust.

    \b
    mlaut plan study.toml
    mlaut plan study.toml --retry timeout -j 8
    """
    preview = experiments.plan_study(study_file, check=check_report, **changes_of(changes))
    show(in_own_words(preview))
    race = race_of(preview.study)
    answer: dict[str, Any] = preview.to_dict()
    if race is not None:
        answer["race"] = str(race.forecast(study_file))
        show(answer["race"])
    show_rows(preview.plan.why())
    return answer, next((error.exit_code for error in preview.plan.refusals), 0)


@click.command()
@click.argument("study", type=PATH)
@click.option("--input", "database", type=PATH, help="Database of the datasets.")
@click.option(
    "-j", "--n-jobs", default=-1, show_default=True, help="Worker processes; -1: one per core."
)
@click.option("--timeout", help="Limit of a cell: 10m (wall time), or '10m cpu' (CPU time).")
def models(study: Path, database: Path | None, **options: Any) -> Answer:
    """Save the fitted models of cells that are done.

    Each cell without a model is fitted again from its stored seed. Its model is saved only if its
    predictions equal the stored ones to the last bit. With a study file, the Python file that
    [strategies] names is executed; with a study database alone (study.h5), only strategies that
    come with MLaut are fitted.

    \b
    mlaut study models study.h5
    mlaut study models study.toml -j 4
    """
    from mlaut import Study
    from mlaut.experiments.study_files.choices import choose_strategies
    from mlaut.files_io.studies.models import models_folder

    strategies, path = None, study
    if kind_of(study) is Kind.STUDY_FILE:
        file = experiments.read_study_file(study)
        strategies, path, database = choose_strategies(file), file.output, database or file.input
    saved = Study(path, database).save_models(strategies, **options)
    show(f"{saved} models saved in {models_folder(path)}")
    return {"study": path, "saved": saved, "folder": models_folder(path)}


def run_file(study_file: Path, **changes: Any) -> experiments.RunSummary:
    """Run a study file with changed options, and return the summary of the run."""
    from mlaut.experiments.workers.server import start_server

    terms = {"analysis": changes.get("analysis")}
    file = experiments.read_study_file(study_file).changed(terms)
    start_server(file.output, changes.get("engine", file.run.engine))
    from mlaut.analysis.deciding.terms import store_analysis

    check_report(file)
    if file.race is None:
        keep: dict[str, Any] = {"title": file.study.title, "keep": file.analysis is None}
        seal = partial(store_analysis, analysis=analysis_of(file), **keep)
        done = experiments.run_study(file, seal=seal, **changes)
    else:
        done = the_plugin("races", f"{file.path}: [race] is run").run_race(file, **changes)
    show(in_own_words(done))
    return done


def check_report(
    file: experiments.StudyFile, strategies: Sequence[str] = (), tasks: Collection[str] = ()
) -> None:
    """Check the sections ``[analysis]`` and ``[report]`` before anything runs.

    Raises
    ------
    AnalysisError
        A term of the analysis is not possible, or the file has ``[race]`` too. If there are no
        strategies or tasks, the checks that need them are skipped.
    """
    from mlaut.analysis.deciding.terms import check_analysis

    try:
        check_analysis(analysis_of(file), strategies, tasks)
    except AnalysisError as error:
        place = "[report]" if file.analysis is None else "[analysis]"
        raise AnalysisError(f"{file.path}: {place}: {error}") from error
    if file.analysis is not None and file.race is not None:
        raise AnalysisError(
            f"{file.path}: the analysis of a race is its [race]; leave [analysis] out"
        )
