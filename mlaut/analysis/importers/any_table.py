"""Reader of any table of results; the columns show which kind of table it is."""

import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
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
from mlaut.analysis.importers.grids.cells import WORDS, plain
from mlaut.analysis.importers.grids.columns import measure_in
from mlaut.analysis.importers.grids.forms.files import grids_of
from mlaut.analysis.importers.grids.forms.framing import is_score
from mlaut.analysis.importers.grids.forms.grid import Grid, grid_of_frame
from mlaut.analysis.importers.grids.forms.markup import OF_MEASURE
from mlaut.analysis.importers.grids.forms.nested import grid_of_object
from mlaut.analysis.importers.grids.names import (
    bare_word,
    is_summary,
    role_of,
    same_metric,
    word_of,
)
from mlaut.analysis.importers.grids.readings import answers_to, read_grid
from mlaut.analysis.importers.grids.several import (
    joined,
    joined_across,
    measures_of,
    tells_datasets,
    tells_strategies,
    without_shared,
)
from mlaut.analysis.importers.grids.sheet import PLACES, ROLES, Asked, QuestionError, Reading, Sheet
from mlaut.analysis.importers.reading import in_one_line
from mlaut.analysis.results.results import Results
from mlaut.analysis.results.tables import source_column
from mlaut.analysis.scores.usual_names import usual_name
from mlaut.errors import AnalysisError, DataError, DirectionError, MlautError, nearest, some_of
from mlaut.markup import counted

_ONE = "one strategy"
_ALL, _HEADING = "all", "heading"  # tables of a file, and the column with their headings
_ANSWERS = 4  # shown of a question which of several tables counts
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
    grid = _one_of(grids_of(path, trust), asked)
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


def _one_of(grids: Sequence[Grid], asked: Asked) -> Grid | Reading:
    """Return the only table, the one that its number or heading names, or what several say."""
    if (chosen := asked.table) and chosen != _ALL:
        named = _called(grids, chosen)
        found, _, failed = _tried(grids, asked, named) if len(named) > 1 else ({}, {}, {})
        found = {n: x for n, x in found.items() if n in named}
        together = joined(found, [grids[n - 1].name for n in found]) if len(found) > 1 else None
        if together:
            why = [f"{grids[n - 1].name!r} ({x})" for n, x in failed.items() if n in named]
            return _left_out(together, len(grids) - len(found) - len(why), asked, 0, why)
        if len(named) != 1:
            raise AnalysisError(f"{asked.where}: {len(named)} tables are called {chosen!r}")
        return grids[named.pop() - 1]
    if len(grids) == 1 and not chosen:
        return grids[0]
    wanted = {n for n, x in enumerate(grids, 1) if asked.metric and _names(x, asked.metric)}
    readable, answers, failed = _tried(grids, asked, wanted)
    if chosen:
        return _of_all(grids, readable, asked)
    many = {n: x for n, x in readable.items() if len({*x.dataset}) > 1}
    told = many if len(many) == 1 else readable  # those of one dataset count after it
    ones = {n: x for n, x in told.items() if n in wanted}
    if not wanted & {*answers, *readable}:
        ones = told
    exact = {n for n in wanted if _names(grids[n - 1], asked.metric, exact=True)}
    if len(exact) == 1 and exact <= {*readable} and "_" in word_of(asked.metric):  # of one column
        wanted, ones = exact, {n: x for n, x in readable.items() if n in exact}
    heads = without_shared([grids[n - 1].name for n in ones])
    few = 2 * len(wanted - {*ones}) > len(ones)  # of those that name the metric
    if not few and tells_datasets(heads, asked.metric) and (together := joined(ones, heads)):
        return _left_out(together, len(grids) - len(ones), asked, next(iter(ones)))
    if together := _of_methods(grids, asked, wanted):
        return _left_out(together, len(grids) - len(wanted), asked, min(wanted))
    titled = {n for n in many if n in wanted and _is_title(grids[n - 1].name, asked.metric)}
    if len(titled) == 1 and len(many) > 1:  # of nothing else than the metric
        wanted, ones = titled, {n: readable[n] for n in titled}
    others = [[*map(str, x.table)] for x in grids if not _other_measure(x, asked.metric)]
    doubted = {*answers} & wanted if wanted else {*answers}  # tables that may be meant as well
    sizes = {n: grids[n - 1].table.size for n in wanted}
    for number in ones if len(ones) == 1 and not doubted else ():
        grid = grids[number - 1]
        if any(sizes[n] > grid.table.size for n in wanted if n not in readable):
            continue  # a larger one, which is of the metric, too, is not read
        single = number not in many and len(wanted) > 1  # as others may be for their own
        alone = others.count([*map(str, grid.table)]) == 1 and not single
        if alone or wanted == {number}:  # no luck of one of several sheets of one form
            this = f"{grid.name!r}" if grid.name else f"number {number}"
            left = f"tables of the file other than {this} ({len(grids) - 1})"
            return replace(grid, left=(*grid.left, left))
    last = {n for n in readable if is_summary(grids[n - 1].name)}
    largest = sorted(readable, key=lambda n: (n in last, -len(readable[n].score)))
    shown = [n for n in largest if n in wanted][:2] + [n for n in largest if n not in wanted]
    shown.sort(key=lambda n: not (n == largest[0] and n in many and not {*many} & wanted))
    chooses = [(asked.with_columns(table=str(n)), readable[n]) for n in shown[:3]]
    parts = _of_headings(grids, ones or readable, asked)
    with suppress(AnalysisError):
        words = asked.with_columns(table=_ALL)
        chooses[:0] = parts or [(words, _of_all(grids, ones, words))]
    chooses[:0] = _same_rows(grids, answers, asked)
    whole = any(x.table == _ALL for x, _ in chooses)
    if not (wanted or whole) and (of_methods := _of_methods(grids, asked, {*readable})):
        chooses[:0] = [(asked.with_columns(table=_ALL), of_methods)]
    more = [x for n in answers if n in doubted or not chooses for x in answers[n]]
    answered = [*chooses, *more][:_ANSWERS]
    shown_too = {int(x.table) for x, _ in answered if x.table.isdigit()}
    unread = [f"table {n} ({failed[n]})" for n in sorted(wanted & {*failed} - shown_too)]
    text = _listed(grids, asked)
    if not readable:
        first = next((x for x in failed.values() if x != _ONE), f"each has {_ONE}")
        text += f", and none is read at once ({first})"
    elif unread:
        text += f", but {some_of(unread, 2)} {'is' if len(unread) == 1 else 'are'} not read"
    sheet = None
    with suppress(AnalysisError):
        number = next(iter([*shown, *sorted(wanted)]), 1)
        sheet = Sheet(grids[number - 1], asked.with_columns(table=str(number)))
    raise _asking(text + ": choose one" * bool(answered), answered, sheet)


def _of_methods(grids: Sequence[Grid], asked: Asked, wanted: set[int]) -> Reading | None:
    """Return what tables say together, each of strategies of its own on the same datasets.

    A heading names the strategy of a table of one.
    """
    found: dict[int, Reading] = {}
    for n in sorted(wanted) if len(wanted) > 1 else ():
        grid, own = grids[n - 1], replace(asked, table=str(n))
        with suppress(AnalysisError):
            found[n] = read_grid(grid, own)
        if n not in found and _may_be_of_one(grid):
            named = replace(grid, table=grid.table.assign(**{_HEADING: grid.name}))
            with suppress(AnalysisError):
                found[n] = read_grid(named, own.with_columns(strategy=_HEADING))
    heads = without_shared([grids[n - 1].name for n in found])
    whole = len(found) == len(wanted) and tells_datasets(heads, asked.metric)
    return joined_across(found, heads) if whole and tells_strategies(heads) else None


def _may_be_of_one(grid: Grid) -> bool:
    """Return whether rows are called datasets, so that a heading may name their strategy."""
    flat = grid.table.columns.nlevels == 1 and _HEADING not in grid.table
    return flat and word_of(str(grid.table.columns[0])).startswith(("dataset", "data_set"))


def _is_title(heading: str, metric: str) -> bool:
    """Return whether a heading has the metric and no other word than such as "comparison"."""
    words = [x for x in re.split(r"[\W_]+", heading.lower()) if x not in WORDS["titles"]]
    return bool(metric) and same_metric(" ".join(words), metric)


def _called(grids: Sequence[Grid], chosen: str) -> set[int]:
    """Return the numbers of the tables that a number or a heading names, or a part of one."""
    each, word = dict(enumerate(grids, 1)), chosen.lower()
    exact = {n for n, x in each.items() if chosen in (str(n), x.name)}
    parts = {n for n, x in each.items() if word in x.name.lower()}
    return exact or parts or {n for n, x in each.items() if chosen in x.above}


def _of_headings(
    grids: Sequence[Grid], readable: Mapping[int, Reading], asked: Asked
) -> list[tuple[Asked, Reading]]:
    """Return what the tables below each heading say together, at most of two headings."""
    found = list[tuple[Asked, Reading]]()
    for heading in dict.fromkeys(x for n in readable for x in grids[n - 1].above[:-1]):
        numbers = _called(grids, heading)
        ones = {n: x for n, x in readable.items() if n in numbers}
        if 1 < len(ones) < len(readable) and not re.search("[,+=]", heading):
            heads = without_shared([grids[n - 1].name for n in ones])
            together = joined(ones, heads) if tells_datasets(heads, asked.metric) else None
            found += [(asked.with_columns(table=heading), together)] if together else []
    return found[:2]


def _same_rows(
    grids: Sequence[Grid], answers: Mapping[int, list[tuple[Asked, Reading]]], asked: Asked
) -> list[tuple[Asked, Reading]]:
    """Return what tables of single datasets say together, if their rows have the same names."""
    ways = [x for found in answers.values() for x in found[:1]]
    alone = [(x, {*y.strategy}) for x, y in ways if [*x.columns] == ["strategy"]]
    alike = [x for x, names in alone if sum(len(names & y) > 1 for _, y in alone) > 1]
    if not alike:
        return []
    words = asked.with_columns(table=_ALL, strategy=alike[0].columns["strategy"])
    readable, _, _ = _tried(grids, words, {*answers})
    try:
        return [(words, _of_all(grids, readable, words))]
    except AnalysisError:
        return []


def _listed(grids: Sequence[Grid], asked: Asked) -> str:
    names = [x.name or "without heading" for x in grids]
    cuts = [len({x[:n] for x in names}) == len({*names}) for n in (40, 60)]
    heads = [repr(x[: 40 if cuts[0] else 60 if cuts[1] else 80]) for x in names]
    sizes = [f"({len(x.table)} x {x.table.shape[1]})" for x in grids]
    kinds = [f"{i}: {a} {b}" for i, (a, b) in enumerate(zip(heads, sizes, strict=True), 1)]
    more = f" and {len(kinds) - 12} more" if len(kinds) > 12 else ""
    return f"{asked.where}: it has {len(grids)} tables ({'; '.join(kinds[:12])}{more})"


def _tried(
    grids: Sequence[Grid], asked: Asked, wanted: set[int], below: bool = True
) -> tuple[dict[int, Reading], dict[int, list[tuple[Asked, Reading]]], dict[int, str]]:
    """Return what each table reads by its number, answers to questions on others, and reasons.

    Those ``below`` a heading of another measure count if no others do.
    """
    readable: dict[int, Reading] = {}
    answers, others = (dict[int, list[tuple[Asked, Reading]]]() for _ in range(2))
    failed: dict[int, str] = {}
    for number, grid in sorted(enumerate(grids, 1), key=lambda x: x[0] not in wanted):
        if number not in wanted and (other := _other_measure(grid, asked.metric, below)):
            failed[number] = f"{grid.name!r} is of {other}"
            continue
        try:
            reading = read_grid(grid, replace(asked, table=str(number)))
            if len({*reading.strategy}) > 1:
                readable[number] = reading
            else:
                failed[number] = _ONE
        except AnalysisError as error:
            found = answers_to(grid, error) if isinstance(error, QuestionError) else []
            own = [x for x in found if asked.metric in ("", x[0].metric)]
            (answers if own else others)[number] = (own or found)[:2]
            said = str(error).removeprefix(f"{asked.where}: ")
            failed[number] = said.partition(": mlaut report")[0]
    if not readable and not answers and below:
        return _tried(grids, asked, wanted, below=False)
    if not (readable or answers or wanted):  # those of other metrics
        answers = {number: found for number, found in others.items() if found}
    return readable, answers, failed


def _together(grids: Sequence[Grid], asked: Asked) -> Grid:
    """Return the tables with the columns of most as one, with a column of their headings."""
    heads = [tuple(map(str, x.table)) if x.table.columns.nlevels == 1 else () for x in grids]
    most = Counter(heads).most_common(1)[0][0]
    alike = [x for x, head in zip(grids, heads, strict=True) if head and head == most and x.name]
    if len(alike) < 2:
        raise AnalysisError(f"{asked.where}: no two tables with headings have the same columns")
    column = _HEADING if _HEADING not in most else f"{_HEADING} of the table"
    names = without_shared([grid.name for grid in alike])
    tables = [x.table.assign(**{column: name}) for x, name in zip(alike, names, strict=True)]
    n = len(grids) - len(alike)
    others = [f"{counted(n, 'table')} with other columns or no heading"] * (n > 0)
    left = dict.fromkeys(x for grid in alike for x in grid.left)
    return Grid("", pd.concat(tables, ignore_index=True), left=(*others, *left))


def _of_all(grids: Sequence[Grid], readable: Mapping[int, Reading], asked: Asked) -> Reading:
    """Return what all tables say: those of the same strategies, or those of the same columns."""
    together = joined(readable, [grids[n - 1].name for n in readable], strict=False)
    if together := together or _of_methods(grids, asked, {*readable}):
        return _left_out(together, len(grids) - len(readable), asked, next(iter(readable)))
    reading = read_grid(_together(grids, asked), asked)
    if any(x.startswith(f"`{_HEADING}") for x in reading.unused):
        raise AnalysisError(f"{asked.where}: the headings of its tables tell no rows apart")
    return reading


def _other_measure(grid: Grid, metric: str, below: bool = True) -> str:
    """Return the measure that the nearest heading or line above names, if it is another one."""
    above = [x for x in reversed(grid.above) if below or OF_MEASURE.match(x)]
    each = filter(None, map(measures_of, (grid.name, *above)))
    named = next(each, []) if metric else []
    return "" if any(same_metric(x, metric) for x in named) else "".join(named[:1])


def _left_out(
    reading: Reading, n: int, asked: Asked, first: int, left: Sequence[str] = ()
) -> Reading:
    """Return a reading of several tables that tells how many others there are, and another one."""
    others = [*left, *[f"{counted(n, 'other table')} of the file"] * (n > 0)]
    alone = (asked.with_columns(table=str(first)),) * (not asked.table)
    return replace(reading, unused=(*others, *reading.unused), others=(*alone, *reading.others))


def _names(grid: Grid, metric: str, exact: bool = False) -> bool:
    """Return whether a heading, a column or a cell of those of metrics, and of scores, names one.

    With ``exact``, by that name and no other of its names.
    """
    if not grid.table.head(_CASES).map(lambda x: is_score(plain(str(x)))).any(axis=None):
        return False  # no scores
    heading = re.split(r"[\s(),:_-]+", grid.name)
    columns = [str(x) for name in grid.table for x in np.atleast_1d(np.array(name))]
    named = [x for x in columns if grid.table.columns.nlevels == 1 and role_of(x) == "metric"]
    cells = [str(y) for x in named for y in grid.table[x].unique()]
    first = [plain(x) for x in grid.table.iloc[:, 0].dropna().astype(str)]
    cells += first if sum(usual_name(x) is not None for x in first) > 1 else []
    lines = [y for x in grid.above if OF_MEASURE.match(x) for y in measures_of(x)]
    texts = [grid.name, *heading, *columns, *cells, *lines]
    if exact:
        return word_of(metric) in {y for x in texts for y in (word_of(x), bare_word(x))}
    bare = [y for x in texts if x for y in (measure_in(x) or x, x, bare_word(x))]
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
    return _asking(question.text, answers, question.sheet)


def _asking(
    text: str, answers: Sequence[tuple[Asked, Reading]], sheet: Sheet | None = None
) -> QuestionError:
    """Return a question with its answers, and the results of each unless some have none yet.

    Of answers with the same scores, which only name the strategies in other words, the first stays.
    Those that leave most cells empty come last.
    """
    read, errors = list[tuple[Asked, Results]](), list[Exception]()
    for asked, reading in answers:
        try:
            read.append((asked, results_of_reading(reading, asked.greater)))
        except (MlautError, ValueError) as error:
            errors.append(error)
    if not read:
        why = f"; either way {errors[0]}" if errors else ""
        if errors and all(isinstance(x, DirectionError) for x in errors):
            return _asking(text + why, _both_ways(answers), sheet)
        return QuestionError(text + why, [x for x, _ in answers], sheet=sheet)
    first: dict[tuple[object, ...], tuple[Asked, Results]] = {}
    for answer in read:
        first.setdefault(_content(answer[1]), answer)
    kept = sorted(first.values(), key=lambda x: bool(x[1].scores.isna().to_numpy().mean() > 1 / 2))
    return QuestionError(text, [x for x, _ in kept], {x.command(): y for x, y in kept}, sheet)


def _both_ways(answers: Sequence[tuple[Asked, Reading]]) -> list[tuple[Asked, Reading]]:
    """Return answers with more as better, and the first with less as better."""
    signs = [(True, x) for x in answers[: _ANSWERS - 1]] + [(False, x) for x in answers[:1]]
    return [(replace(asked, greater=sign), reading) for sign, (asked, reading) in signs]


def _content(results: Results) -> tuple[object, ...]:
    """Return what results say, whatever the strategies are called and in which order they stand."""
    scores = results.scores.sort_index()
    columns = sorted(scores[name].to_numpy().tobytes() for name in scores)
    metric = results.metric
    return (metric.name, metric.greater_is_better, *scores.index, *columns)


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
        told = question if len(grid.table) > _FOLLOWED else _followed(grid, question)
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
        raise _asking(f"{asked.where}: {text}", _both_ways([(asked, reading)])) from None
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
