"""Reader of any table of results; the columns show which kind of table it is."""

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis.importers import automlbenchmark, tabarena
from mlaut.analysis.importers.asked import PLACES, ROLES, Asked, QuestionError
from mlaut.analysis.importers.asking import asking, both_ways, followed
from mlaut.analysis.importers.by_plugin import (
    boards_named,
    check_program,
    read_by_plugin,
    tables_of_plugins,
)
from mlaut.analysis.importers.grids.building import results_of_reading
from mlaut.analysis.importers.grids.columns import measure_in
from mlaut.analysis.importers.grids.forms.files import grids_of
from mlaut.analysis.importers.grids.forms.grid import Grid, grid_of_frame
from mlaut.analysis.importers.grids.forms.nested import grid_of_object
from mlaut.analysis.importers.grids.names import role_of
from mlaut.analysis.importers.grids.readings import read_grid
from mlaut.analysis.importers.grids.sheet import Reading
from mlaut.analysis.importers.reading import in_one_line
from mlaut.analysis.importers.several_tables import one_of
from mlaut.analysis.results.results import Results
from mlaut.analysis.results.tables import source_column
from mlaut.errors import AnalysisError, DataError, DirectionError, nearest

_FOLLOWED = 20_000  # rows of a table up to which the answers to a question are tried
_CASES = 30  # rows from which a table of no known column may hold cases, and no results
_OF_RESULTS = ("dataset", "strategy", "repeat", "fold", "source")
_READERS: dict[tuple[str, ...], Callable[..., Results]] = {
    automlbenchmark.FORMAT.required: automlbenchmark.read_automlbenchmark,
    tabarena.FORMAT.required: tabarena.read_tabarena,
}


@in_one_line
def read_results(
    source: str | os.PathLike[str] | pd.DataFrame | pd.Series | Mapping[Any, Any] | Sequence[Any],
    metric: str | None = None,
    *,
    greater_is_better: bool | None = None,
    clusters: str = "",
    columns: Mapping[str, str | Sequence[str]] | None = None,
    trust: bool = False,
) -> Results:
    r"""Read a table of results, of a program that MLaut recognises by its columns or of any other.

    Parameters
    ----------
    source : path-like, DataFrame, Series, dict or list
        Nested dictionaries and lists of scores, as ``{"iris": {"svm": [0.9, 0.8]}}``; or a file
        with a table: CSV, TSV, ARFF, parquet, JSON, Excel, Markdown, Org, LaTeX, HTML, text, or a
        notebook that shows one; ``-`` for the standard input; the files of a leaderboard which a
        plug-in reads; or a folder with a file for each dataset, strategy, or both. A table is wide
        (a row for each dataset and a column for each strategy), turned, or long (a row for each
        score). Its columns are known by their names and values, as docs/other-results.md says;
        `Results.how_read` says how it was read.
    metric : str, optional
        Metric of the scores; required unless the table names it.
    greater_is_better : bool, optional
        Direction of a metric that is not known by its name.
    clusters : str, optional
        Column with the source of each dataset; default ``source``, ``cluster`` or ``group``, if it
        has texts.
    columns : mapping of str to str or sequence of str, optional
        Column, or columns, of each role: ``dataset``, ``strategy``, ``score``, ``repeat``,
        ``fold``, ``source``, ``unused``; of ``last``, as an epoch, each run's last row counts. In a
        name ``*`` stands for any letters.
        ``"rows"`` and ``"columns"`` say which way a wide table lies, and ``table`` is the number
        or heading of one of several tables, a heading above some, or ``"all"``. ``number`` is the
        place, 1, 2 or 3, of what counts in cells with several numbers.
    trust : bool, default False
        Whether a pickle may be read, which can run code of its maker.

    Raises
    ------
    AnalysisError
        The metric is missing, for example.
    QuestionError
        The table can be read in several ways: the message has the commands that choose, and
        ``readings`` the results of each (`QuestionError` is an `AnalysisError`).
    DataError
        The file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "mine.md")
    ...     text = "|Model|iris|wine|Avg|\n|-|-|-|-|\n|a|.9±.1|**.8**|.85|\n|b|.8|.7|-|"
    ...     _ = path.write_text(text, encoding="utf-8")
    ...     results = read_results(path, "accuracy")
    >>> print(results.how_read.partition("; accuracy")[0])
    Read: 2 datasets (columns); 2 strategies (rows, named by `Model`)
    >>> results.scores
    strategy    a    b
    dataset
    iris      0.9  0.8
    wine      0.8  0.7
    """
    asked = replace(_asked(source, metric, clusters, columns or {}), greater=greater_is_better)
    if isinstance(source, pd.Series):
        source = source.to_frame("score" if source.name is None else str(source.name))
    if isinstance(source, pd.DataFrame):
        return _read(grid_of_frame(source), asked, greater_is_better)
    if not isinstance(source, str | os.PathLike):
        return _read(grid_of_object(source), asked, greater_is_better)
    path = Path(os.path.expanduser(source))
    results = None
    if not columns and str(path) != "-":
        results = read_by_plugin(path, metric, greater_is_better)
    if results is not None and clusters:
        raise AnalysisError(f"{source}: a board has its own sources: leave clusters out")
    if results is None:
        with boards_named(path):
            results = _of_file(path, asked, greater_is_better, trust)
    return results


@in_one_line
def _of_file(path: Path, asked: Asked, greater_is_better: bool | None, trust: bool) -> Results:
    """Return the results of a table of a known program, or of any other."""
    if str(path) != "-" and not path.exists():
        raise DataError(f"{path}: no such file; check the path")
    grid = one_of(grids_of(path, trust), asked)
    if isinstance(grid, Reading):
        return _results(grid, asked, greater_is_better)
    if path.is_file() and not asked.columns:
        check_program(path, set(grid.table))
        for required, read in (_READERS | tables_of_plugins()).items():
            if set(required) <= set(grid.table):
                given: dict[str, Any] = {"metric": asked.metric} if asked.metric else {}
                if greater_is_better is not None:
                    given["greater_is_better"] = greater_is_better
                return _with_sources(read(path, **given), grid.table, required, asked.clusters)
    return _read(grid, asked, greater_is_better)


def _asked(
    source: Any, metric: str | None, clusters: str, columns: Mapping[str, str | Sequence[str]]
) -> Asked:
    """Return what a user said about a table; raise `AnalysisError` for an unknown role."""
    for role in columns:
        if role not in (*ROLES, *PLACES):
            known = ", ".join((*ROLES, *PLACES))
            raise AnalysisError(f"{role!r} is no role of a column{nearest(role, ROLES)}: {known}")
    where = str(source) if isinstance(source, str | os.PathLike) else "the table"
    each = {k: tuple(map(str, [x] if isinstance(x, str | int) else x)) for k, x in columns.items()}
    table, number = ("+".join(each.pop(x, ())) for x in PLACES)
    if number and not re.fullmatch("[1-9]", number):
        raise AnalysisError(f"{where}: number={number} is no place in a cell: give 1 or 2")
    return Asked(where, metric or "", each, clusters, table, number)


def _may_be_cases(grid: Grid, asked: Asked) -> bool:
    """Return whether a table may be no results: it is long, and no name of a column says so."""
    names = [str(x) for name in grid.table for x in np.atleast_1d(np.array(name))]
    told = [x for x in names if measure_in(x) or role_of(x) in _OF_RESULTS]
    own = asked.metric or asked.columns or asked.where == "the table"
    return len(grid.table) >= _CASES and not own and not [x for x in told if x.lower() != "target"]


def _read(grid: Grid, asked: Asked, greater_is_better: bool | None) -> Results:
    """Return the results of a grid."""
    try:
        return _results(read_grid(grid, asked), asked, greater_is_better)
    except QuestionError as question:
        told = question if len(grid.table) > _FOLLOWED else followed(grid, question)
        if not _may_be_cases(grid, asked):
            raise told from None
        init = f"mlaut init {shlex.quote(asked.where)}"
        raise AnalysisError(f"{told}; or if rows are cases to learn from: {init}") from None


def _results(reading: Reading, asked: Asked, greater_is_better: bool | None) -> Results:
    """Return the results of a reading; an error about their values names the file."""
    try:
        return results_of_reading(reading, greater_is_better)
    except DirectionError as error:
        text, _, hint = str(error).partition(": give ")
        hint = hint.partition("the name of a metric")[2]  # such as one that is spelt nearly so
        text += f"{hint} Or" if hint else ": name a metric, or"
        text += " choose whether more or less is better"
        raise asking(f"{asked.where}: {text}", both_ways([(asked, reading)])) from None
    except AnalysisError as error:
        text = str(error)
        if asked.where != "the table" and (way := re.search("better=(.*) to keep", text)):
            sign = "greater" if way[1] == "True" else "less"
            text += f": {asked.command()} --{sign}-is-better"
        raise AnalysisError(f"{asked.where}: {text}") from error


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
