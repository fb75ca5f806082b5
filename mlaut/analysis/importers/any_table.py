"""Reader of any table of results; the columns show which kind of table it is."""

import os
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from mlaut.analysis.importers import automlbenchmark, cells, openml, sktime_results, tabarena
from mlaut.analysis.importers.by_plugin import boards_named, read_by_plugin
from mlaut.analysis.importers.json_files import objects
from mlaut.analysis.importers.reading import choose, in_one_line, read_without_twins
from mlaut.analysis.results.results import Results
from mlaut.analysis.results.sources import FOLDS, REPEATS, source_column
from mlaut.errors import AnalysisError, DataError
from mlaut.files_io.kinds import EXCEL, JSON, NO_TABLES
from mlaut.files_io.safe_files.plain_files import check_plain
from mlaut.files_io.tables.tables import read_table

# 0.79 +- 0.01, 0.79 ± 0.01, 0.79 (0.01), $0.79 \\pm 0.01$, 0.79_{0.01}
_MEAN_AND_SPREAD = re.compile(
    r"[\s$*]*-?[\d.,]+\s*%?\s*(\+-|\+/-|±|\(|\\pm|_)[\s{]*[\d.,]+[\s%)}$*]*"
)

_READERS: dict[tuple[str, ...], Callable[..., Results]] = {
    automlbenchmark.FORMAT.required: automlbenchmark.read_automlbenchmark,
    openml.EVALUATIONS.required: openml.read_openml_evaluations,
    sktime_results.BENCHMARK.required: sktime_results.read_sktime,
    tabarena.FORMAT.required: tabarena.read_tabarena,
}


@in_one_line
def read_results(
    source: str | os.PathLike[str],
    metric: str | None = None,
    *,
    greater_is_better: bool | None = None,
    clusters: str = "",
) -> Results:
    r"""Read a table of results, of a program that MLaut recognises by its columns or of any other.

    Parameters
    ----------
    source : path-like
        CSV, TSV, ARFF, parquet, JSON or Excel file, or files of a leaderboard, which a plug-in
        reads. Other tables have one of three forms. A wide
        table has a column with the names of datasets (``dataset``, ``task``, ``problem``), a column
        of scores for each strategy, and columns ``fold`` and ``repeat`` if there are several rows
        for a dataset. In a turned table, rows are strategies (named by a column ``strategy``,
        ``model``, ``method``, ``algorithm``, ``classifier`` or ``learner``) and columns are
        datasets. A long table has columns of datasets and of strategies, ``fold`` and ``repeat`` if
        needed, and a column of scores with the name of the metric, or ``score``. Marks of the best
        and percent signs are read, and words such as ``failed`` are missing scores. Rows and
        columns of averages and of ranks are left out, as notes say.
    metric : str, optional
        Metric of the scores; required unless the program's tables name their metric.
    greater_is_better : bool, optional
        Direction of a metric that is not known by its name.
    clusters : str, optional
        Column with the source of each dataset; default ``source``, ``cluster`` or ``group``, if it
        has texts.

    Raises
    ------
    AnalysisError
        The metric is missing, or no column is known to name the datasets.
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
    path = Path(os.path.expanduser(source))
    results = read_by_plugin(path, metric, greater_is_better)
    if results is not None and clusters:
        raise AnalysisError(f"{source}: a board has its own sources: leave clusters out")
    if results is None:
        with boards_named(path):
            results = _of_table(source, path, metric, greater_is_better, clusters)
    return results


@in_one_line
def _of_table(
    source: str | os.PathLike[str],
    path: Path,
    metric: str | None,
    greater_is_better: bool | None,
    clusters: str,
) -> Results:
    """Return the results of a table of a known program, or of any other."""
    check_plain(path)
    table = _table_of(path)
    if table.empty:
        raise AnalysisError(f"{source}: a table without rows; check the file")
    for required, read in _READERS.items():
        if set(required) <= set(table):
            given: dict[str, Any] = {} if metric is None else {"metric": metric}
            if greater_is_better is not None:
                given["greater_is_better"] = greater_is_better
            results = read(source, **given)
            return _with_sources(results, table, required, clusters)
    label = source_column(table, clusters)
    table, dataset, strategy, metric, notes = _usual(source, table, label, metric or "")
    names = {cells.word_of(name): str(name) for name in table}
    fold, repeat = (
        next((names[name] for name in names if name in known), None) for known in (FOLDS, REPEATS)
    )
    how: Any = {"metric": metric, "greater_is_better": greater_is_better, "clusters": clusters}
    if strategy:
        keys: Any = {"dataset": dataset, "strategy": strategy, "repeat": repeat, "fold": fold}
        value = _score_column(source, table, [label, *keys.values()], metric)
        make = partial(Results.from_long, table, value=value, **keys, **how)
    else:
        table = table.set_index([name for name in (dataset, repeat, fold) if name is not None])
        table, others = cells.of_metric(table, metric)
        table, averages = cells.without_averages(table)
        notes, make = [*notes, *others, *averages], partial(Results.from_table, table, **how)
    results = _named(source, make)
    return replace(results, notes=(*results.notes, *notes))


def _table_of(path: Path) -> pd.DataFrame:
    """Return the table in a file of any kind: those of `read_table`, JSON, or Excel."""
    if path.suffix.lower() in NO_TABLES:
        raise AnalysisError(f"{path}: not a form of table that is read: save it as CSV")
    if path.suffix.lower() in EXCEL:
        read_excel: Any = partial(pd.read_excel, path)
        try:
            plain = partial(read_excel, keep_default_na=False, na_values=[""])
            return _with_labels(read_excel(), plain)
        except Exception as error:  # parsers raise many types of errors on a damaged file
            raise DataError(
                f"{path}: cannot be read as Excel ({' '.join(str(error).split())}); check the "
                "file, or save the table as CSV"
            ) from error
    if path.suffix.lower() not in JSON:
        table = read_without_twins(path)
        return _with_names(_with_labels(table, partial(read_table, path, missing=("",))))
    rows = list(objects(path))
    content = rows[0] if path.suffix.lower() == ".json" else rows
    if isinstance(content, dict) and isinstance(content.get("data"), list):  # "split", "table"
        content = pd.DataFrame(content["data"], content.get("index"), content.get("columns"))
    return _with_names(pd.DataFrame(content))


def _with_labels(table: pd.DataFrame, plain: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """Return a table with the labels of ``plain``: a dataset or strategy may be called NA or null.

    In other columns these words stand for a missing score.
    """
    known = {*cells.WORDS["datasets"], *cells.WORDS["strategies"]}
    labels = [
        name
        for name, column in table.items()
        if column.isna().any()
        and (cells.word_of(name) in known or pd.to_numeric(column, errors="coerce").isna().all())
        and column.notna().any()
    ]
    return table.assign(**plain()[labels]) if labels else table


def _with_names(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose index, if it names the rows, is a column."""
    if any(table.index.names):
        return table.reset_index()
    if pd.api.types.is_numeric_dtype(table.index) or "dataset" in table:
        return table.reset_index(drop=True)
    return table.rename_axis("dataset").reset_index()  # {strategy: {dataset: score}}


def _usual(
    source: object, table: pd.DataFrame, label: Any, metric: str
) -> tuple[pd.DataFrame, str, str, str, list[str]]:
    """Return a table, its columns of datasets and of strategies if it is long, metric, and notes.

    A table whose rows are strategies is transposed.
    """
    table = table.rename(columns=lambda name: str(name).strip()).dropna(how="all")
    filled, words = table.notna().any(), cells.WORDS
    table = table.loc[:, filled | ~table.columns.str.startswith("Unnamed: ")]
    first, guessed = table.columns[0], ""
    if first.startswith("Unnamed: ") or first == "index":  # an index saved without its name
        counts = table[first].tolist() in (list(range(len(table))), list(range(1, len(table) + 1)))
        named = {*map(cells.word_of, table)} & {*words["datasets"], *words["strategies"]}
        table = table.drop(columns=first) if counts else table
        if not counts and not named:
            table, guessed = table.rename(columns={first: "dataset"}), "the first column"
    names = {cells.word_of(name): name for name in reversed(table.columns)}
    dataset, strategy, measure = (
        next((names[name] for name in known if name in names), "")
        for known in (words["datasets"], words["strategies"], ("metric", "measure", "scorer"))
    )
    if measure in cells.texts_of(table, ()):
        table = choose(table, measure, metric or None, f"{source}: the table")
        metric, table = str(table[measure].iloc[0]), table.drop(columns=measure)
    place = dataset or ("" if strategy else next(iter(cells.texts_of(table, {label})), ""))
    table, notes = cells.without_summaries(table, place) if place else (table, [])
    table, missing = cells.in_numbers(table, {label, place, strategy})
    texts = cells.texts_of(table, {label})
    _check_numbers(source, table, texts)
    if strategy and not dataset and texts == [strategy]:
        turned = table.set_index(strategy).drop(columns=[] if label is None else label).T
        turned = turned.rename_axis("dataset").rename_axis(None, axis=1).reset_index()
        turned, notes = cells.without_summaries(turned, "dataset")
        return turned, "dataset", "", metric, [*missing, *notes]
    if guessed or (not dataset and len(texts) == 1):
        dataset = dataset or texts[0]
        column = guessed or f"column {dataset!r}"
        notes.append(f"rows are taken as datasets; if they are strategies, call {column} 'model'")
    if not dataset:
        raise AnalysisError(
            f"{source}: {', '.join(map(repr, texts)) or 'no'} columns of texts, so it is unclear "
            "which has the names of the datasets: call that column 'dataset'"
        )
    return table, dataset, strategy, metric, [*missing, *notes]


def _check_numbers(source: object, table: pd.DataFrame, texts: list[str]) -> None:
    """Raise `AnalysisError` for cells with a mean and its spread."""
    for name in texts:
        pairs = table[name].dropna().astype(str)
        pairs = pairs[pairs.str.fullmatch(_MEAN_AND_SPREAD)]
        if len(pairs):
            raise AnalysisError(
                f"{source}: column {name!r} has {pairs.iloc[0]!r}, a mean and its spread, which do "
                "not tell how strategies differ on the same data: save the scores of all folds, a "
                "row for each, or the means alone"
            )


def _named(source: object, read: Callable[[], Results]) -> Results:
    """Return the results that ``read`` returns; an error about their table names the file."""
    try:
        return read()
    except AnalysisError as error:
        raise AnalysisError(f"{source}: {error}") from error


def _with_sources(
    results: Results, table: pd.DataFrame, required: tuple[str, ...], clusters: str
) -> Results:
    """Return results of a known program with sources from the column that a user names."""
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
    left = {cells.word_of(name): str(name) for name in table if name not in others}
    wanted = (cells.word_of(metric), "score", "value", "loss")
    column = next((left[name] for name in wanted if name in left), None)
    if column is None and len(left) != 1:
        names = ", ".join(left.values())
        raise AnalysisError(
            f"{source}: it is unclear which of {names} has the scores: call it 'score'"
        )
    return column or next(iter(left.values()))
