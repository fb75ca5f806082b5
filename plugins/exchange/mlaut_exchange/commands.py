"""Commands that publish a study, or store predictions of other programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from mlaut.errors import some_of
from mlaut.helpers.markup import counted
from mlaut.plugins import PATH, Answer, Kind, database_and_options, kind_of, show


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
    from mlaut_exchange.publishing import publish_study, study_file_beside

    bundle = publish_study(study, output, authors=authors, **options)
    show(f"{output}: {bundle}")
    outside = [dataset.name for dataset in bundle.datasets if not dataset.included]
    nowhere = [d.name for d in bundle.datasets if not (d.included or d.reference)]
    if outside:
        show(f"{len(outside)} of {len(bundle.datasets)} tables are named by digest, not included")
    if kind_of(study) is Kind.STUDY and (file := study_file_beside(study)):
        show(f"{file} is not in it: 'mlaut publish {file}' lets others fit its strategies again")
    if nowhere:
        show(f"nobody can load {some_of(nowhere)}: --include all puts tables into the bundle")
    answer = {"folder": output, "title": bundle.title, "digest": bundle.digest}
    return answer | {"files": list(bundle.files), "outside": outside, "nowhere": nowhere}


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
    predicting_seconds. Or, with the plug-in mlaut-boards, they are files of other programs:
    predictions.arff or a folder of OpenML runs, and folders of predictions of the AutoML benchmark,
    TabArena or sktime. The rows and the truth are compared with those of the study, and nothing is
    stored if they differ.

    \b
    mlaut import study.h5 ranger.csv --strategy ranger --source "ranger 0.16, R 4.3"
    mlaut import study.h5 run/ --strategy forest --source "OpenML run 10437"
    """
    import pandas as pd

    from mlaut.files_io import StudyStore
    from mlaut_exchange import import_predictions, read_predictions

    store = StudyStore(database_and_options(study)[0])
    folds = store.load_splits()
    table = pd.concat([read_predictions(path, folds, **how) for path in sources], ignore_index=True)
    stored = import_predictions(store, table, strategy=strategy, source=source)
    show(f"{counted(stored, 'cell')} of {strategy} stored in {study}")
    return {"study": study, "strategy": strategy, "cells": stored}
