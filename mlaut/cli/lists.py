"""Commands that list datasets, metrics and strategies, load datasets, and convert old files."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from mlaut.cli.inputs import PATH, TASKS
from mlaut.cli.output import Answer, one_line, show, show_rows


@click.group("list")
def list_() -> None:
    """List datasets, metrics or strategies.

    \b
    mlaut list strategies Ensemble_methods
    """


@list_.command()
@click.argument("criterion", default="all")
@click.option("--task", type=TASKS, help="List only strategies for this task.")
def strategies(criterion: str, task: str | None) -> Answer:
    """List the strategies that come with MLaut.

    All are listed, or those of a name, family or task. For a single strategy, the list also shows
    the wrapped estimator, the tuned parameters, the stopping rule of a fit, and the largest dataset
    on which it is run.

    \b
    mlaut list strategies
    mlaut list strategies Ensemble_methods --task classification
    mlaut list strategies SVC
    """
    from mlaut.estimators import REGISTRY

    specs = REGISTRY.search(criterion, **({"tasks": task} if task else {}))
    rows = [spec.row() for spec in specs]
    about: dict[str, Any] = {}
    if len(specs) == 1 and criterion in specs[0].names:
        listed = (*rows[0], "estimator_family", "tasks")
        about = {k: v for k, v in specs[0].load()().describe().items() if k not in listed}
    show_rows(rows)
    for key, value in about.items():
        show(one_line(f"{key}: {value if isinstance(value, str) else json.dumps(value)}"))
    return [{**rows[0], **about}] if about else rows


@list_.command()
@click.option("--task", type=TASKS, help="List only metrics for this task.")
def metrics(task: str | None) -> Answer:
    """List the metrics: direction, range, and what each needs.

    \b
    mlaut list metrics
    mlaut list metrics --task regression
    """
    from mlaut.analysis import describe_metrics

    wanted = {"any", task.capitalize()} if task else ()
    return show_rows([row for row in describe_metrics() if not wanted or row["task"] in wanted])


@list_.command()
@click.argument("database", required=False, type=PATH)
def datasets(database: Path | None) -> Answer:
    """List the datasets of MLaut, or of an input database.

    \b
    mlaut list datasets
    mlaut list datasets input.h5
    """
    from mlaut.data import list_datasets

    return show_rows(list_datasets(database))


@click.command()
@click.argument("database", type=PATH)
@click.argument("references", nargs=-1, required=True)
@click.option("--task", type=TASKS, help="Load only datasets for this task.")
def load(database: Path, references: Sequence[str], task: str | None) -> Answer:
    """Load datasets into an input database.

    A run then needs no network. Datasets that are already there, or in a cache of this machine, are
    not downloaded again. REFERENCES are starter/NAME, sklearn/NAME, openml/d/NUMBER (a dataset),
    openml/t/NUMBER (a task with its split), openml/s/NUMBER (a suite), uci/NUMBER or uci/NAME,
    pmlb/NAME, and files and folders of tables.

    \b
    mlaut load input.h5 openml/s/99
    mlaut load input.h5 'visits.csv?target=better'
    mlaut load input.h5 starter/iris uci/53 'openml/d/61?name=iris-2'
    """
    from mlaut.data import Data
    from mlaut.data.adding import add_datasets

    paths = add_datasets(Data().open_hdf5(database, mode="a"), references, task=task)
    for path in paths:
        show(path)
    return {"database": database, "datasets": paths}
