"""Reader of any table of results; the columns show which kind of table it is."""

import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis.importers import automlbenchmark, tabarena
from mlaut.analysis.importers.by_plugin import (
    boards_named,
    check_program,
    read_by_plugin,
    tables_of_plugins,
)
from mlaut.analysis.importers.grids.building import results_of_reading
from mlaut.analysis.importers.grids.columns import measure_in
from mlaut.analysis.importers.grids.forms import (
    Grid,
    grid_of_frame,
    grid_of_object,
    grids_of,
)
from mlaut.analysis.importers.grids.names import role_of, same_metric, without_unit
from mlaut.analysis.importers.grids.readings import answers_to, read_grid
from mlaut.analysis.importers.grids.sheet import ROLES, Asked, QuestionError, Reading
from mlaut.analysis.importers.reading import in_one_line
from mlaut.analysis.results.results import Results
from mlaut.analysis.results.tables import source_column
from mlaut.errors import AnalysisError, DataError, MlautError, nearest
from mlaut.markup import counted

_ALL, _HEADING = "all", "heading"  # tables of a file, and the column with their headings
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
        ``fold``, ``source``, ``unused``; of ``last``, as an epoch, each run's last row counts.
        ``"rows"`` and ``"columns"`` say which way a wide table lies, and ``table`` is the number
        or heading of one of several tables, or ``"all"``: their headings are then a column.
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
    grid = _one_of(grids_of(path, trust), asked)
    if path.is_file() and not asked.columns:
        check_program(path, set(grid.table))
    for required, read in {**_READERS, **tables_of_plugins()}.items():
        if set(required) <= set(grid.table) and path.is_file() and not asked.columns:
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
        if role not in (*ROLES, "table"):
            raise AnalysisError(
                f"{role!r} is no role of a column{nearest(role, ROLES)}: {', '.join(ROLES)}, table"
            )
    where = str(source) if isinstance(source, str | os.PathLike) else "the table"
    each = {k: (x,) if isinstance(x, str) else tuple(x) for k, x in columns.items() if k != "table"}
    return Asked(where, metric or "", each, clusters, str(columns.get("table", "")))


def _one_of(grids: Sequence[Grid], asked: Asked) -> Grid:
    """Return the only table, or the one that its number or heading names."""
    if len(grids) > 1 and asked.table == _ALL:
        return _together(grids, asked)
    if chosen := asked.table:
        named = [x for i, x in enumerate(grids, 1) if chosen == str(i) or chosen == x.name]
        named = named or [x for x in grids if chosen.lower() in x.name.lower()]
        if len(named) != 1:
            raise AnalysisError(f"{asked.where}: {len(named)} tables are called {chosen!r}")
        return named[0]
    if len(grids) == 1:
        return grids[0]
    wanted = {n for n, x in enumerate(grids, 1) if asked.metric and _names(x, asked.metric)}
    readable: dict[int, Reading] = {}
    answers: list[tuple[Asked, Reading]] = []
    why = ""
    for number, grid in sorted(enumerate(grids, 1), key=lambda x: x[0] not in wanted):
        try:
            reading = read_grid(grid, replace(asked, table=str(number)))
            if len(set(reading.strategy)) > 1:
                readable[number] = reading
        except AnalysisError as error:
            found = answers_to(grid, error) if isinstance(error, QuestionError) else []
            found = [x for x in found if asked.metric in ("", x[0].metric)]
            answers = answers or found[:2]
            why = why or str(error).removeprefix(f"{asked.where}: ").partition(": mlaut report")[0]
    many = {n: x for n, x in readable.items() if len({*x.dataset}) > 1}
    readable = many if len(many) == 1 else readable  # those of one dataset count after it
    alike = [n for n in readable if n in wanted]
    ones = alike or ([] if wanted else list(readable))
    names = [list(map(str, grid.table)) for grid in grids]
    single = [n for n in ones if n not in many]  # of one dataset, as others may be for their own
    alone = [names.count(names[n - 1]) for n in ones] == [1] and not (single and len(wanted) > 1)
    alone = alone or len(wanted) == 1
    if len(ones) == 1 and alone:  # no luck of one of several sheets of one form
        number = ones[0]
        grid = grids[number - 1]
        this = f"{grid.name!r}" if grid.name else f"number {number}"
        others = f"tables of the file other than {this} ({len(grids) - 1})"
        return Grid(grid.name, grid.table, grid.unnamed, (*grid.left, others))
    kinds = [
        f"{i}: {(x.name or 'without heading')[:40]!r} ({len(x.table)} x {x.table.shape[1]})"
        for i, x in enumerate(grids, 1)
    ]
    chooses = _of_all(grids, asked)
    chooses += [(asked.with_columns(table=str(i)), x) for i, x in list(readable.items())[:2]]
    answers = chooses or answers
    more = f" and {len(kinds) - 12} more" if len(kinds) > 12 else ""
    text = f"{asked.where}: it has {len(grids)} tables ({'; '.join(kinds[:12])}{more})"
    text += "" if readable else f", and none is read at once ({why})"
    raise _asking(text + ": choose one" * bool(answers), answers)


def _together(grids: Sequence[Grid], asked: Asked) -> Grid:
    """Return the tables with the columns of most as one, with a column of their headings."""
    heads = [tuple(map(str, x.table)) if x.table.columns.nlevels == 1 else () for x in grids]
    most = Counter(heads).most_common(1)[0][0]
    alike = [x for x, head in zip(grids, heads, strict=True) if head and head == most and x.name]
    if len(alike) < 2:
        raise AnalysisError(f"{asked.where}: no two tables with headings have the same columns")
    column = _HEADING if _HEADING not in most else f"{_HEADING} of the table"
    tables = [grid.table.assign(**{column: grid.name}) for grid in alike]
    n = len(grids) - len(alike)
    others = [f"{counted(n, 'table')} with other columns or no heading"] * (n > 0)
    left = dict.fromkeys(x for grid in alike for x in grid.left)
    return Grid("", pd.concat(tables, ignore_index=True), left=(*others, *left))


def _of_all(grids: Sequence[Grid], asked: Asked) -> list[tuple[Asked, Reading]]:
    """Return the answer that takes all tables together, if they can be read so."""
    all_of = asked.with_columns(table=_ALL)
    try:
        return [(all_of, read_grid(_together(grids, all_of), all_of))]
    except AnalysisError:
        return []


def _names(grid: Grid, metric: str) -> bool:
    """Return whether the heading or a column of a table names a metric."""
    texts = [grid.name, *(str(x) for name in grid.table for x in np.atleast_1d(np.array(name)))]
    bare = [y for x in texts if x for y in (measure_in(x) or x, without_unit(x))]
    return any(same_metric(x, metric) for x in bare)


def _followed(grid: Grid, question: QuestionError) -> QuestionError:
    """Return a question with answers that read the table; raise the error of an answer if none."""
    answers = answers_to(grid, question)
    if question.ways and not answers:
        try:
            read_grid(grid, question.ways[0])
        except QuestionError as further:
            if further.text != question.text:
                return _followed(grid, further)
    return _asking(question.text, answers)


def _asking(text: str, answers: Sequence[tuple[Asked, Reading]]) -> QuestionError:
    """Return a question with its answers, and the results of each unless some have none yet.

    Of answers with the same scores, which only name the strategies in other words, the first stays.
    Those that leave most cells empty come last.
    """
    try:
        read = [(x, results_of_reading(reading, x.greater)) for x, reading in answers]
    except (MlautError, ValueError):  # of a metric whose direction is not known, for example
        return QuestionError(text, [x for x, _ in answers])
    first: dict[tuple[object, ...], tuple[Asked, Results]] = {}
    for answer in read:
        first.setdefault(_content(answer[1]), answer)
    kept = sorted(first.values(), key=lambda x: bool(x[1].scores.isna().to_numpy().mean() > 1 / 2))
    return QuestionError(text, [x for x, _ in kept], {x.command(): y for x, y in kept})


def _content(results: Results) -> tuple[object, ...]:
    """Return what results say, whatever the strategies are called and in which order they stand."""
    scores = results.scores.sort_index()
    columns = sorted(scores[name].to_numpy().tobytes() for name in scores)
    return (results.metric.name, *scores.index, *columns)


def _may_be_cases(grid: Grid, asked: Asked) -> bool:
    """Return whether a table may be no results: it is long, and no name of a column says so."""
    names = [str(x) for name in grid.table for x in np.atleast_1d(np.array(name))]
    told = [x for x in names if measure_in(x) or role_of(x) in _OF_RESULTS]
    own = asked.metric or asked.columns or asked.where == "the table"
    return len(grid.table) >= _CASES and not own and not [x for x in told if x.lower() != "target"]


def _read(grid: Grid, asked: Asked, greater_is_better: bool | None) -> Results:
    """Return the results of a grid; an error about their values names the file."""
    try:
        reading = read_grid(grid, asked)
    except QuestionError as question:
        told = question if len(grid.table) > _FOLLOWED else _followed(grid, question)
        if not _may_be_cases(grid, asked):
            raise told from None
        init = f"mlaut init {shlex.quote(asked.where)}"
        raise AnalysisError(f"{told}; or if rows are cases to learn from: {init}") from None
    try:
        return results_of_reading(reading, greater_is_better)
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
