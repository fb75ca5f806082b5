"""Reader of a table whose kind follows from its columns."""

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd

from mlaut.analysis.importers import (
    automlbenchmark,
    benchopt,
    openml,
    sktime_results,
    tabarena,
    weka,
)
from mlaut.analysis.importers.reading import in_one_line
from mlaut.analysis.results.results import Results
from mlaut.analysis.results.sources import FOLDS, REPEATS, source_column
from mlaut.errors import AnalysisError
from mlaut.files_io.tables.tables import read_table

_READERS: dict[tuple[str, ...], Callable[..., Results]] = {
    automlbenchmark.FORMAT.required: automlbenchmark.read_automlbenchmark,
    benchopt.FORMAT.required: benchopt.read_benchopt,
    openml.EVALUATIONS.required: openml.read_openml_evaluations,
    sktime_results.BENCHMARK.required: sktime_results.read_sktime,
    tabarena.FORMAT.required: tabarena.read_tabarena,
    weka.FORMAT.required: weka.read_weka,
}


@in_one_line
def read_results(
    source: str | os.PathLike[str],
    metric: str | None = None,
    *,
    greater_is_better: bool | None = None,
    clusters: str = "",
) -> Results:
    r"""Read a table of results: of a program that MLaut knows by its columns, or any other.

    Parameters
    ----------
    source : path-like
        CSV, TSV, ARFF or parquet file. A table of no known program is either wide: one column of
        names of datasets, columns of scores by strategy, and columns ``fold`` and ``repeat`` if
        there are several rows for a dataset. Or it is long: columns ``dataset``, ``strategy``,
        ``fold`` and ``repeat`` if needed, and one with the name of the metric, or ``score``.
    metric : str, optional
        Metric of the scores; required unless the program's tables name theirs.
    greater_is_better : bool, optional
        Direction of a metric that is not known by its name.
    clusters : str, optional
        Column with the source of each dataset; default ``source``, ``cluster`` or ``group``, if it
        has texts.

    Raises
    ------
    AnalysisError
        The metric is missing, or the columns do not say what is a dataset.
    DataError
        The file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "mine.csv")
    ...     _ = path.write_text("dataset,tree,forest\niris,0.9,0.95\nwine,0.8,0.85\n")
    ...     read_results(path, "accuracy").scores
    strategy  tree  forest
    dataset
    iris       0.9    0.95
    wine       0.8    0.85
    """
    table = read_table(source)
    if table.empty:
        raise AnalysisError(f"{source}: a table without rows; check the file")
    for required, read in _READERS.items():
        if set(required) <= set(table):
            given: dict[str, Any] = {} if metric is None else {"metric": metric}
            if greater_is_better is not None:
                given["greater_is_better"] = greater_is_better
            results = read(source, **given)
            return _with_sources(results, table, required, clusters)
    metric = metric or ""
    names = {str(name).strip().lower(): str(name) for name in table}
    fold, repeat = (
        next((names[name] for name in names if name in known), None) for known in (FOLDS, REPEATS)
    )
    how: dict[str, Any] = {"metric": metric, "greater_is_better": greater_is_better}
    how["clusters"] = clusters
    label = [name for name in [source_column(table, clusters)] if name is not None]
    if {"dataset", "strategy"} <= set(names):
        keys: dict[str, Any] = {"dataset": names["dataset"], "strategy": names["strategy"]}
        keys |= {"repeat": repeat, "fold": fold}
        value = _score_column(source, table.drop(columns=label), list(keys.values()), metric)
        return _named(source, partial(Results.from_long, table, value=value, **keys, **how))
    texts = [
        name for name in table.drop(columns=label) if not pd.api.types.is_numeric_dtype(table[name])
    ]
    dataset = names.get("dataset", texts[0] if len(texts) == 1 else None)
    if dataset is None:
        raise AnalysisError(
            f"{source}: {len(texts) or 'no'} columns of texts, so it is unclear which has the "
            "names of the datasets: call that column 'dataset'"
        )
    index = [name for name in (dataset, repeat, fold) if name is not None]
    return _named(source, partial(Results.from_table, table.set_index(index), **how))


def _named(source: object, read: Callable[[], Results]) -> Results:
    """Return results; an error about their table names the file."""
    try:
        return read()
    except AnalysisError as error:
        raise AnalysisError(f"{source}: {error}") from error


def _with_sources(
    results: Results, table: pd.DataFrame, required: tuple[str, ...], clusters: str
) -> Results:
    """Return results of a known program with the column of sources that a user names."""
    if not clusters:
        return results
    column, known = source_column(table, clusters), set(results.datasets)
    for name in required:  # the column with the names of the datasets
        if known <= set(table[name].astype(str)):
            return results.with_clusters(
                dict(zip(table[name].astype(str), table[column], strict=True))
            )
    raise AnalysisError("no column of the table has the names of the datasets: give a mapping")


def _score_column(
    source: object, table: pd.DataFrame, others: list[str | None], metric: str
) -> str:
    """Return the column of a long table that has the scores."""
    left = [str(name) for name in table if name not in others]
    found = next((name for name in (metric, "score", "value", "loss") if name in left), None)
    if found is None and len(left) != 1:
        raise AnalysisError(f"{source}: it is unclear which of {', '.join(left)} has the scores")
    return left[0] if found is None else found
