"""Commands that publish and export a study, or combine it with results of other programs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from mlaut.cli.inputs import PATH, database_and_options
from mlaut.cli.output import Answer, records, show
from mlaut.markup import counted, csv_text


@click.command()
@click.argument("study", type=PATH)
@click.option("-o", "--output", required=True, type=PATH, help="Folder of the bundle.")
@click.option("--title", default="", help="Title; default: that of the study.")
@click.option("--author", "authors", multiple=True, help="Name of an author (repeatable).")
@click.option(
    "--licence",
    required=True,
    help="SPDX identifier of the licence of the results, as CC-BY-4.0; tables keep their own.",
)
@click.option(
    "--include",
    default="licensed",
    show_default=True,
    type=click.Choice(["licensed", "all", "none"]),
    help="Tables to put into the bundle: those whose licence allows it, all, or none. Others are "
    "named by reference and digest.",
)
@click.option("--input", "datasets", type=PATH, help="Database of the datasets.")
def publish(study: Path, output: Path, authors: Sequence[str], **options: str) -> Answer:
    """Publish a study as a bundle of plain files.

    Anyone can verify and extend the bundle, which is a folder. STUDY is a study database, or a
    study file, which is published too with the Python file that it names. No absolute path and no
    name of this machine is published.

    \b
    mlaut publish study.h5 -o bundle --licence CC-BY-4.0 --author "Ada Lovelace"
    mlaut verify bundle --refit 1%
    mlaut run bundle --add mine.py -o mine.h5
    mlaut merge bundle mine.h5 -o all.h5
    """
    from mlaut.bundles import publish_study
    from mlaut.bundles.publishing import study_file_beside

    bundle = publish_study(study, output, authors=authors, **options)
    show(f"{output}: {bundle}")
    outside = [dataset.name for dataset in bundle.datasets if not dataset.included]
    nowhere = [d.name for d in bundle.datasets if not (d.included or d.reference)]
    if outside:
        show(f"{len(outside)} of {len(bundle.datasets)} tables are named by digest, not included")
    if study.suffix != ".toml" and (file := study_file_beside(study)):
        show(f"{file} is not in it: 'mlaut publish {file}' lets others fit its strategies again")
    if nowhere:
        show(f"nobody can load {', '.join(nowhere)}: --include all puts tables into the bundle")
    answer = {"folder": output, "title": bundle.title, "digest": bundle.digest}
    return answer | {"files": list(bundle.files), "outside": outside, "nowhere": nowhere}


@click.command()
@click.argument("study", type=PATH)
@click.option("--mlflow", "store", help="Database (.db), folder or server of MLflow.")
@click.option("--every-eval-ever", "logs", type=PATH, help="Folder for Every Eval Ever.")
@click.option("--organisation", default="", help="With --every-eval-ever: who ran the strategies.")
@click.option("--hugging-face", "models", type=PATH, help="Folder for repositories of the Hub.")
@click.option("--benchmark", default="", help="With --hugging-face: the Hub's dataset, OWNER/NAME.")
@click.option("--source", default="", help="With --hugging-face: address of the results.")
@click.option("--metric", default="", help="Default: that of the study.")
def export(
    study: Path, store: str | None, logs: Path | None, models: Path | None, metric: str, **how: str
) -> Answer:
    """Write results in the form of another program.

    \b
    MLflow           a run for each strategy on each dataset; a repeated export adds what is new;
                     it needs the extra 'mlflow'
    Every Eval Ever  a JSON file a strategy, with the interval of each score
    Hugging Face     STRATEGY/.eval_results/TITLE.yaml for the repository of each strategy; the
                     notes name the intervals, for which the form has no field

    The last two also take what 'mlaut report' takes, for example a table of scores with --metric.

    \b
    mlaut study export study.h5 --mlflow mlflow.db
    mlaut study export study.h5 --every-eval-ever logs --organisation "Ada Lovelace"
    mlaut study export study.h5 --hugging-face models --benchmark ada/bench
    """
    from mlaut.files_io import StudyStore
    from mlaut.report import make_report
    from mlaut.report.exchange import to_every_eval_ever, to_hugging_face
    from mlaut.report.tracking import to_mlflow

    database, options = database_and_options(study)
    if [store, logs, models].count(None) != 2:
        raise click.UsageError("name one of --mlflow, --every-eval-ever, --hugging-face")
    if store is not None:
        title = options.get("title", "")
        runs = to_mlflow(StudyStore(database), store, metric=metric, experiment=title)
        show(f"{runs} new runs in {store}")
        return {"runs": runs, "files": []}
    report = make_report(database, **options | ({"metric": metric} if metric else {}))
    if logs is not None:
        written = to_every_eval_ever(report, logs, how["organisation"])
    else:
        written = to_hugging_face(report, models or Path(), how["benchmark"], how["source"])
    for path in written:
        show(path)
    return {"runs": 0, "files": written}


@click.command("import")
@click.argument("study", type=PATH)
@click.argument("sources", nargs=-1, required=True, type=PATH)
@click.option("--strategy", required=True, help="Name of the strategy in the study.")
@click.option(
    "--source", required=True, help="Origin of the predictions, which every report shows."
)
@click.option("--model", default="", help="Flow, model or estimator, if SOURCES have several.")
@click.option("--dataset", default="", help="Name of the dataset in the study, if it is another.")
@click.option(
    "--splits",
    type=PATH,
    help="datasplits.arff of the OpenML task: the order of the rows of the AutoML benchmark.",
)
def import_(study: Path, sources: Sequence[Path], strategy: str, source: str, **how: Any) -> Answer:
    """Store predictions of another program in a study.

    They become a strategy that is marked as foreign. SOURCES are tables (CSV, TSV, parquet) with
    one row for each test row of each fold: dataset, repeat, fold, row (from 0, in the dataset),
    prediction, and where they are known truth, confidence.LABEL for each class, fitting_seconds and
    predicting_seconds. Or they are files of other programs: predictions.arff or a folder of OpenML
    runs, and folders of predictions of the AutoML benchmark, TabArena or sktime. The rows and the
    truth are compared with those of the study, and nothing is stored if they differ.

    \b
    mlaut import study.h5 ranger.csv --strategy ranger --source "ranger 0.16, R 4.3"
    mlaut import study.h5 run/ --strategy forest --source "OpenML run 10437"
    """
    import pandas as pd

    from mlaut.analysis import read_predictions
    from mlaut.files_io import StudyStore, import_predictions

    store = StudyStore(database_and_options(study)[0])
    folds = store.load_splits()
    table = pd.concat([read_predictions(path, folds, **how) for path in sources], ignore_index=True)
    stored = import_predictions(store, table, strategy=strategy, source=source)
    show(f"{counted(stored, 'cell')} of {strategy} stored in {study}")
    return {"study": study, "strategy": strategy, "cells": stored}


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
    from mlaut.files_io.safe_files.plain_files import write_files
    from mlaut.files_io.tables.tables import read_table
    from mlaut.placing.placement import place_study

    pairs = dict(pair.partition("=")[::2] for pair in same)
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
