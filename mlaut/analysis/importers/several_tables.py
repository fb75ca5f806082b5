"""The table of a file that is meant, of several ones, or what some of them say together.

Each table is described, tables that belong together are candidates as well as each alone, and
evidence ranks them. The first is taken if it is sure; else the best are shown in a question.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from mlaut.analysis.importers.asked import Asked, QuestionError
from mlaut.analysis.importers.asking import ANSWERS, asking, followed
from mlaut.analysis.importers.grids.cells import WORDS, plain
from mlaut.analysis.importers.grids.columns import measure_in
from mlaut.analysis.importers.grids.forms.framing import is_score
from mlaut.analysis.importers.grids.forms.grid import Grid
from mlaut.analysis.importers.grids.forms.markup import OF_MEASURE
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
    parts_of,
    stacked,
    tells_datasets,
    tells_strategies,
    without_shared,
)
from mlaut.analysis.importers.grids.sheet import Reading, Sheet
from mlaut.analysis.scores.usual_names import usual_name
from mlaut.errors import AnalysisError, some_of
from mlaut.helpers.markup import counted

_ONE = "one strategy"
_ALL, _HEADING = "all", "heading"  # tables of a file, and the column with their headings
_AVERAGE = re.compile(r"`([^`]+)` \((?:an average|by its name a summary)")  # that is left out
_FIRST = 30  # rows in which a table has scores
_LISTED = 12  # tables that a question lists
_TRIED = 8  # candidates of which the results are tried, for those that are shown


@dataclass(frozen=True, eq=False)
class Table:
    """Table of a file: whether it names the metric, what it reads, and else why it reads nothing.

    It is read at once, as ``reading``, or with the ``answers`` to its question.
    """

    number: int
    grid: Grid
    named: bool = False
    reading: Reading | None = None
    answers: Sequence[tuple[Asked, Reading]] = ()
    why: str = ""

    @property
    def read(self) -> Reading | None:
        """The reading at once, if it compares strategies, else None."""
        return None if self.why else self.reading

    @property
    def wide(self) -> bool:
        """Whether it is read at once and has several datasets."""
        return self.read is not None and len({*self.read.dataset}) > 1

    @property
    def open(self) -> bool:
        """Whether it is read at once or with an answer."""
        return bool(self.read or self.answers)

    @property
    def head(self) -> tuple[str, ...]:
        """The names of its columns."""
        return (*map(str, self.grid.table),)


class Candidate(NamedTuple):
    """One way to read a file: some of its tables, and what they say.

    It is ``loose`` if tables may measure the same twice, or share few strategies.
    """

    asked: Asked
    reading: Reading
    tables: Sequence[Table]
    loose: bool = False


def one_of(grids: Sequence[Grid], asked: Asked) -> Grid | Reading:
    """Return the only table, the one that a user names, or what several say together."""
    if len(grids) == 1 and not asked.table:
        return grids[0]
    if asked.table:
        numbers = _called(grids, asked.table)
        if len(numbers) == 1:
            return grids[numbers[0] - 1]
        return _of_group(_described(grids, asked), asked).reading
    tables = _described(grids, asked)
    counting = _counting(tables, asked.metric)
    if sure := _sure(tables, counting, asked):
        return sure
    found = _groups(tables, counting, asked)
    for x in tables:
        words = asked.with_columns(table=str(x.number))
        found += [Candidate(words, x.read, [x])] if x.read else []
        found += [Candidate(*way, [x]) for way in x.answers]
    raise _question(tables, counting, found, asked)


def _called(grids: Sequence[Grid], chosen: str) -> list[int]:
    """Return the numbers of the tables that a number or a heading names, or a part of one."""
    if chosen == _ALL:
        return []
    each, word = dict(enumerate(grids, 1)), chosen.lower()
    exact = [n for n, x in each.items() if chosen in (str(n), x.name)]
    parts = [n for n, x in each.items() if word in x.name.lower()]
    return exact or parts or [n for n, x in each.items() if chosen in x.above]


def _of_group(tables: Sequence[Table], asked: Asked) -> Candidate:
    """Return what the tables say together that a user names by a heading, or as all."""
    numbers = _called([x.grid for x in tables], asked.table)
    group = [x for x in tables if x.number in numbers]
    if asked.table == _ALL:
        group = _counting(tables, asked.metric) or [*tables]
    if not group:
        raise AnalysisError(f"{asked.where}: no tables are called {asked.table!r}")
    read = _with_single([x for x in group if x.read], group)
    found = strict = _joined(read) or _of_methods(read, asked)
    found = found or _joined(read, strict=False)
    if found is None:
        return Candidate(asked, _of_one_form(group, asked), group)
    if 2 * len(read) <= len(group):
        with suppress(AnalysisError):
            return Candidate(asked, _of_one_form(group, asked), group)
    told = _told(found, read, group, len(tables), asked)
    return Candidate(asked, told, group, loose=strict is None)


def _of_one_form(group: Sequence[Table], asked: Asked) -> Reading:
    """Return what tables of the same columns say, whose headings tell their rows apart."""
    grid = stacked([x.grid for x in group], asked.where, _HEADING)
    if grid.table.iloc[:, -1].nunique() == 1:
        text = f"{asked.where}: its tables have one heading, so nothing tells their rows apart"
        raise AnalysisError(f"{text}: choose one, such as table={group[0].number}")
    try:
        reading = read_grid(grid, asked)
    except QuestionError as question:
        raise followed(grid, question) from None
    if any(x.startswith(f"`{_HEADING}") for x in reading.unused):
        raise AnalysisError(f"{asked.where}: the headings of its tables tell no rows apart")
    return reading


def _described(grids: Sequence[Grid], asked: Asked, below: bool = True) -> list[Table]:
    """Return what each table reads.

    Those ``below`` a heading of another measure count if no others do, and answers on another
    metric if nothing else is read.
    """
    tables = _as_siblings([_table(n, x, asked, below) for n, x in enumerate(grids, 1)], asked)
    if below and not any(x.open for x in tables):
        return _described(grids, asked, below=False)
    own = [[y for y in x.answers if asked.metric in ("", y[0].metric)] for x in tables]
    kept = [replace(x, answers=y[:2]) for x, y in zip(tables, own, strict=True)]
    return kept if any(x.open or x.named for x in kept) else tables


def _table(number: int, grid: Grid, asked: Asked, below: bool) -> Table:
    """Return what a table reads, if its heading does not tell another measure."""
    named = bool(asked.metric) and _names(grid, asked.metric)
    if not named and (other := _other_measure(grid, asked.metric, below)):
        return Table(number, grid, why=f"{grid.name!r} is of {other}")
    try:
        reading = read_grid(grid, replace(asked, table=str(number)))
    except AnalysisError as error:
        found = answers_to(grid, error) if isinstance(error, QuestionError) else []
        said = str(error).removeprefix(f"{asked.where}: ").partition(": mlaut report")[0]
        return Table(number, grid, named, None, found, said)
    return Table(number, grid, named, reading, why=_ONE * (len({*reading.strategy}) < 2))


def _as_siblings(tables: Sequence[Table], asked: Asked) -> list[Table]:
    """Return tables of which those that are not read name strategies as most others do."""
    ways = Counter(x.read.names["strategy"] for x in tables if x.read)
    most, n = ways.most_common(1)[0] if ways else ("", 0)
    column = most.rpartition("named by ")[2].strip("`")
    if n < 2 or "strategy" in asked.columns or "`" in column:
        return [*tables]
    words = asked.with_columns(strategy=column)
    unread = [_table(x.number, x.grid, words, below=True) for x in tables if x.why and x.named]
    found = {x.number: x for x in unread if x.reading}
    return [found.get(x.number, x) for x in tables]


def _counting(tables: Sequence[Table], metric: str) -> list[Table]:
    """Return the tables that are meant by a metric: those that name it, unless none is read."""
    named = [x for x in tables if x.named]
    exact = [x for x in named if "_" in word_of(metric) and _names(x.grid, metric, exact=True)]
    if len(exact) == 1 and exact[0].read:  # of one column
        return exact
    return named if any(x.open for x in named) else [x for x in tables if x.open]


def _sure(
    tables: Sequence[Table], counting: Sequence[Table], asked: Asked
) -> Grid | Reading | None:
    """Return what the tables that count say together, or the only one; None if it is unclear."""
    wide = [x for x in tables if x.wide]
    read = [x for x in counting if x.read and (len(wide) != 1 or x in wide)]
    both = _with_single(read, counting)
    unread = sum(x.named and x not in both for x in counting)
    together = _joined(both) if 2 * unread <= len(read) and _tell(both, asked) else None
    if together:
        return _told(together, both, both, len(tables), asked)
    named = [x for x in counting if x.named] or [x for x in tables if x.named]
    if together := _of_methods(named, asked):
        return _told(together, named, named, len(tables), asked)
    titled = [x for x in wide if x.named and _is_title(x.grid.name, asked.metric)]
    if len(titled) == 1 and len(wide) > 1:  # of nothing else than the metric
        read = named = titled
    others = [x for x in tables if x not in read and not _other_measure(x.grid, asked.metric)]
    if len(read) != 1 or not _is_alone(read[0], named, named or counting, others):
        return None
    grid = read[0].grid
    this = f"{grid.name!r}" if grid.name else f"number {read[0].number}"
    left = f"tables of the file other than {this} ({len(tables) - 1})"
    return replace(grid, left=(*grid.left, left))


def _is_alone(
    table: Table, named: Sequence[Table], rivals: Sequence[Table], others: Sequence[Table]
) -> bool:
    """Return whether no other table may be meant as well as the only one that is read."""
    size, rest = table.grid.table.size, [x for x in rivals if x is not table]
    larger = any(x.named and not x.read and x.grid.table.size > size for x in rest)
    if larger or any(x.answers for x in rest):
        return False
    alike = any(x.head == table.head for x in others)  # one of several sheets of one form
    single = not table.wide and len(named) > 1  # as others may be for their own
    return [*named] == [table] or not (alike or single)


def _with_single(read: Sequence[Table], tables: Sequence[Table]) -> list[Table]:
    """Return tables that are read, and those of one strategy that two of them compare as well."""
    known = {name for x in read if x.read for name in x.read.strategy}
    single = [x for x in tables if x.why == _ONE and x.reading and {*x.reading.strategy} <= known]
    return sorted([*read, *single], key=lambda x: x.number) if len(read) > 1 else [*read]


def _joined(tables: Sequence[Table], strict: bool = True) -> Reading | None:
    """Return what tables of the same strategies say."""
    each = [(x.grid.name, x.reading) for x in tables if x.reading]
    return joined([x for _, x in each], [x for x, _ in each], strict)


def _tell(tables: Sequence[Table], asked: Asked) -> bool:
    """Return whether headings may name datasets."""
    return tells_datasets(without_shared([x.grid.name for x in tables]), asked.metric)


def _averages(tables: Sequence[Table]) -> set[str]:
    """Return the names of averages that all tables have, and that are left out."""
    left = [" ".join(x.read.unused) for x in tables if x.read]
    return set.intersection(*({*_AVERAGE.findall(x)} for x in left)) if left else set()


def _of_methods(tables: Sequence[Table], asked: Asked) -> Reading | None:
    """Return what tables say together, each of strategies of its own on the same datasets.

    A heading names the strategy of a table of one.
    """
    each = [x.reading or _of_one(x, asked) for x in tables] if len(tables) > 1 else []
    found = [x for x in each if x]
    heads = without_shared([x.grid.name for x in tables])
    whole = found and len(found) == len(tables) and _tell(tables, asked)
    return joined_across(found, heads) if whole and tells_strategies(heads) else None


def _of_one(table: Table, asked: Asked) -> Reading | None:
    """Return what a table whose rows are called datasets reads, with its heading as strategy."""
    frame = table.grid.table
    rows = word_of(table.head[0]).startswith(("dataset", "data_set"))
    if frame.columns.nlevels > 1 or _HEADING in frame or not rows:
        return None
    named = replace(table.grid, table=frame.assign(**{_HEADING: table.grid.name}))
    words = replace(asked, table=str(table.number)).with_columns(strategy=_HEADING)
    return _table(table.number, named, words, below=True).reading


def _is_title(heading: str, metric: str) -> bool:
    """Return whether a heading has the metric and no other word than such as "comparison"."""
    words = [x for x in re.split(r"[\W_]+", heading.lower()) if x not in WORDS["titles"]]
    return bool(metric) and same_metric(" ".join(words), metric)


def _told(
    reading: Reading, tables: Sequence[Table], group: Sequence[Table], n: int, asked: Asked
) -> Reading:
    """Return a reading of several tables that tells which are left out, and another reading."""
    left = [f"{x.grid.name!r} ({x.why})" for x in group if x not in tables]
    rest = n - len(group)
    others = [*left, *[f"{counted(rest, 'other table')} of the file"] * (rest > 0)]
    alone = (asked.with_columns(table=str(tables[0].number)),) * (not asked.table)
    return replace(reading, unused=(*others, *reading.unused), others=(*alone, *reading.others))


def _question(
    tables: Sequence[Table], counting: Sequence[Table], found: list[Candidate], asked: Asked
) -> QuestionError:
    """Return the question which of several tables counts, with the best candidates."""
    headings = {x.grid.name.rpartition(": ")[2].lower() for x in tables}
    best = sorted(found, key=lambda x: -_weight(x, counting, headings, asked.metric))
    shown = {int(x.asked.table) for x in best[:ANSWERS] if x.asked.table.isdigit()}
    unread = [x for x in tables if x.named and not x.read and x.number not in shown]
    each = [f"table {x.number} ({x.why})" for x in unread]
    text = _listed(tables, asked)
    if not any(x.read for x in tables):
        first = next((x.why for x in tables if x.why != _ONE), f"each has {_ONE}")
        text += f", and none is read at once ({first})"
    elif each:
        text += f", but {some_of(each, 2)} {'is' if len(each) == 1 else 'are'} not read"
    text += "; table=all reads them together" * any(x.asked.table == _ALL for x in best[ANSWERS:])
    sheet, one = None, (best[0].tables if best else counting or tables)[0]
    with suppress(AnalysisError):
        sheet = Sheet(one.grid, asked.with_columns(table=str(one.number)))
    ways = [(x.asked, x.reading) for x in best[:_TRIED]]
    return asking(text + ": choose one" * bool(ways), ways, sheet, ANSWERS)


def _groups(tables: Sequence[Table], counting: Sequence[Table], asked: Asked) -> list[Candidate]:
    """Return tables that belong together: all that count, and those below a heading.

    They are read at once, or with an answer to the questions of several.
    """
    found = list[Candidate]()
    for label, group in _labels(counting):
        apart = label == _ALL and len({x.asked.table for x in found}) > 1
        for words in [asked, *_shared_answers(group, asked)]:
            with suppress(AnalysisError):
                again = tables if words is asked else _described([x.grid for x in tables], words)
                candidate = _of_group(again, words.with_columns(table=label))
                mixed = apart and candidate.loose and words is asked
                if len({*candidate.reading.strategy}) > 1 and not mixed:
                    found.append(candidate)
    return found


def _labels(tables: Sequence[Table]) -> Iterable[tuple[str, list[Table]]]:
    """Yield the tables below each heading that some, and not all, have above them; and all."""
    grids = [x.grid for x in tables]
    for heading in dict.fromkeys(x for grid in grids for x in grid.above[:-1]):
        group = [tables[n - 1] for n in _called(grids, heading)]
        names = without_shared([x.grid.name for x in group])
        some = 1 < len(group) < len(tables) and tells_datasets(names, "")
        if some and not re.search("[,+=]", heading):
            yield heading, group
    if len(tables) > 1:
        yield _ALL, [*tables]


def _shared_answers(tables: Sequence[Table], asked: Asked) -> list[Asked]:
    """Return the words that answer the questions of several tables, the most frequent first."""
    each = [way.columns for x in tables for way, _ in x.answers]
    each = [x for x in each if {*x} & {"strategy", "dataset"}]
    kinds = [x for i, x in enumerate(each) if each.count(x) > 1 and x not in each[:i]]
    kinds.sort(key=lambda x: (-each.count(x), "strategy" not in x))
    kinds += [{**asked.columns, "score": (x,)} for x in sorted(_averages(tables))]
    return [replace(asked, columns=x) for x in kinds[:2]]


def _weight(
    candidate: Candidate, counting: Sequence[Table], headings: set[str], metric: str
) -> float:
    """Return how much speaks for a candidate."""
    reading, tables = candidate.reading, candidate.tables
    heads, several = [x.grid.name for x in tables], len(tables) > 1
    part = min(min(parts_of(x), default=0) for x in heads)
    counts = {x.number for x in tables} <= {x.number for x in counting}
    counts |= not any(x.named for x in counting)
    counts |= all(x.wide for x in tables) and not any(x.wide for x in counting)
    datasets, last = {*reading.dataset}, heads[0].rpartition(": ")[2]
    listed = [x for x in datasets if any(y.startswith(x.lower()) for y in headings if len(x) > 1)]
    overview = not several and len(listed) > 1
    evidence = {
        "counts for the metric": 3 * counts,
        "compares on several datasets": 2 * (len(datasets) > 1),
        "belongs together": 2 * several,
        "is read at once": 1 * all(x.read for x in tables),
        "names its datasets": 1 * all("dataset" in map(role_of, map(str, x.head)) for x in tables),
        "has many scores": min(np.log10(max(len(reading.score), 1)), 3),
        "its datasets are other tables": 3 * overview,
        "is joined with doubt": -3 * candidate.loose,
        "is a summary": -3 * (is_summary(last) and not overview),
        "is of averages": -2 * any(map(is_summary, candidate.asked.columns.get("score", ()))),
        "is of another part than the test": -2 * (part > 0),
        "mixes parts or measures": -4 * (several and not tells_datasets(heads, metric)),
    }
    return sum(evidence.values())


def _listed(tables: Sequence[Table], asked: Asked) -> str:
    names = [x.grid.name or "without heading" for x in tables]
    cuts = [len({x[:n] for x in names}) == len({*names}) for n in (40, 60)]
    heads = [repr(x[: 40 if cuts[0] else 60 if cuts[1] else 80]) for x in names]
    sizes = [f"({len(x.grid.table)} x {x.grid.table.shape[1]})" for x in tables]
    kinds = [f"{i}: {a} {b}" for i, (a, b) in enumerate(zip(heads, sizes, strict=True), 1)]
    more = f" and {len(kinds) - _LISTED} more" if len(kinds) > _LISTED else ""
    return f"{asked.where}: it has {len(tables)} tables ({'; '.join(kinds[:_LISTED])}{more})"


def _other_measure(grid: Grid, metric: str, below: bool = True) -> str:
    """Return the measure that the nearest heading or line above names, if it is another one."""
    above = [x for x in reversed(grid.above) if below or OF_MEASURE.match(x)]
    each = filter(None, map(measures_of, (grid.name, *above)))
    named = next(each, []) if metric else []
    return "" if any(same_metric(x, metric) for x in named) else "".join(named[:1])


def _names(grid: Grid, metric: str, exact: bool = False) -> bool:
    """Return whether a heading, a column or a cell of those of metrics, and of scores, names one.

    With ``exact``, by that name and no other of its names.
    """
    if not grid.table.head(_FIRST).map(lambda x: is_score(plain(str(x)))).any(axis=None):
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
