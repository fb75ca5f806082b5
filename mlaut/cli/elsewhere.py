"""The command that stores predictions of other programs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from mlaut import files_io
from mlaut.cli.inputs import PATH, database_and_options
from mlaut.cli.output import Answer, show
from mlaut.markup import counted


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

    from mlaut.analysis import read_predictions

    store = files_io.StudyStore(database_and_options(study)[0])
    folds = store.load_splits()
    table = pd.concat([read_predictions(path, folds, **how) for path in sources], ignore_index=True)
    stored = files_io.import_predictions(store, table, strategy=strategy, source=source)
    show(f"{counted(stored, 'cell')} of {strategy} stored in {study}")
    return {"study": study, "strategy": strategy, "cells": stored}
