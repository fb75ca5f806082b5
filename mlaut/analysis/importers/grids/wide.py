"""The reading of a table with a column for each strategy, or for each dataset."""

import re
from collections.abc import Callable, Sequence
from itertools import combinations, takewhile

import numpy as np
from pandas.api.types import is_object_dtype

from mlaut.analysis.importers.grids.cells import WORDS
from mlaut.analysis.importers.grids.columns import (
    average_columns,
    average_rows,
    best_marked,
    matrix_of,
    measure_in,
)
from mlaut.analysis.importers.grids.forms.grid import FILE
from mlaut.analysis.importers.grids.keys import Keys, sources_by_dataset
from mlaut.analysis.importers.grids.left_out import (
    BEST,
    YEAR,
    is_whole,
    leave_averages_out,
    leave_columns_out,
    leave_parts_out,
    of_several_metrics,
    of_the_metric,
    of_the_test,
    without_odd,
)
from mlaut.analysis.importers.grids.long import FOLDER, RUNS, UNNAMED, doubled_rows
from mlaut.analysis.importers.grids.names import (
    DURING,
    PARTS,
    are_numbered,
    bare_word,
    is_size,
    is_summary,
    part_by_name,
    role_of,
    same_metric,
    without_unit,
    word_of,
)
from mlaut.analysis.importers.grids.sheet import Reading, Sheet, Way, likes, quoted
from mlaut.analysis.importers.grids.single import check_corner, is_metric, may_score
from mlaut.analysis.importers.grids.two_in_one import NO_METRIC
from mlaut.analysis.scores.usual_names import usual_name
from mlaut.errors import AnalysisError, some_of
from mlaut.helpers.markup import counted

_STATISTICS = r"(?:^|\W)(?:min|max|median|mean|std|sd|count|\d+%|iqr|mode|var)\W*$"  # of a summary
_NAMES = 5  # of rows, from which as many rows of each are no accident
_CASES = 5  # times as many names as files, from which they may be cases
_CROSSED = 0.5  # share of the cells with a row, from which a column may name datasets
_DIFFER = "no column names its rows: if they differ by "
_NOUNS = {"dataset": "datasets", "strategy": "strategies", "": ""}
_MARKED = {"rows": "dataset", "columns": "strategy", "": ""}  # where the best is marked
_OF_MODELS = {  # their ids
    *("hf", "repo", "checkpoint", "config", "exp", "experiment", "deployment"),
    *("user", "team", "submission", "participant", "entry"),
}
_RATE = re.compile(
    r"\w[.)]?\s?/\s?(?:s|secs?|seconds?|op|iter|hash|map|bytes?|tokens?|items?|query)\b"
)


def read_wide(g: Sheet, keys: Keys) -> Reading:
    """Return the reading of a table with a column for each strategy, or for each dataset."""
    _check_metrics(g, keys)
    leave_parts_out(g)
    given = list(g.columns)
    rows, kind, why = _rows(g, keys)
    repeat, fold = list(keys.repeat), list(keys.fold)
    again = _repeats(g, [*rows, *repeat, *fold])
    g.keep(~again, f"{counted(int(again.sum()), 'row')} equal to another in all cells")
    leave_columns_out(g, rows, kind)
    if g.asked.columns.get("repeat") == ("rows",) or (not (repeat or fold) and _runs(g, rows)):
        repeat = g.number_rows(rows)
    if g.asked.columns.get("fold") == ("rows",):
        fold = g.number_rows(rows)
    sources, source = sources_by_dataset(g, rows if kind == "dataset" else [])
    others = {*rows, *repeat, *fold, *source}
    texts = g.least(g.texts_within([*rows, *repeat, *fold]), rows)
    g.drop([x for x in g.columns if x not in others and not g.columns[x].is_number])
    columns = [x for x in g.columns if x not in others]
    columns, renamed = of_the_metric(g, columns, kind)
    columns = of_the_test(g, without_odd(g, rows, columns, kind), kind)
    shown = [renamed.get(x, x) for x in columns]
    other = "strategy" if kind == "dataset" else "dataset"
    if not g.asked.columns.get("score"):
        _check_columns(g, columns, shown, kind, rows)
    _check_measures(g, columns if kind == "strategy" else g.label(rows).tolist(), kind, rows)
    if not columns:
        raise g.refuse(f"no column of scores is left; not used are {', '.join(g.unused)}")
    leave_averages_out(g, rows, columns)
    if strange := {x: [*odd.values()] for x in columns if (odd := g.columns[x].strange)}:
        cells = ", ".join(f"{name!r} has {strange[name][0]!r}" for name in [*strange][:4])
        ways = [{"unused": [*strange]}] * (len(columns) - len(strange) > 1)
        text = f"cells that are neither numbers nor known words: column {cells}: mend them"
        raise g.refuse(text + ", or leave columns out" * len(ways), *ways)
    g.check_units(columns)
    left = [x for x in g.unused if "by its name a summary" in x or "an average" in x]
    if len(columns) == 1 and left and kind == "strategy":
        said = " ".join(left) * same_metric(measure_in(columns[0], g.metric), g.metric)
        means = [x for x in given if f"`{x}` (an" in said and same_metric(x, g.metric)]
        text = f"only `{columns[0]}` is left as a dataset; not used are {', '.join(left)}"
        raise g.refuse(text, *({"strategy": rows, "score": x} for x in means[:1]))
    label = g.label(rows)
    if not (repeat or fold):
        empty = np.isnan(matrix_of([g.columns[x] for x in columns])).all(axis=1)
        empty[[i for x in columns for i in g.columns[x].words]] = False
        again = empty & np.isin(label, label[~empty])
        g.keep(~again, f"{counted(int(again.sum()), 'row')} without scores, named as others")
        label = g.label(rows)
    _check_rows(g, label, [*rows, *repeat, *fold], kind, texts)
    k = len(columns)
    scored = [g.columns[x] for x in columns]
    values, spreads = np.column_stack([x.numbers for x in scored]), [x.spreads for x in scored]
    none = np.full(g.n, np.nan)
    spread = np.column_stack([none if x is None else x for x in spreads]).ravel()
    words = {row * k + at: y for at, x in enumerate(scored) for row, y in x.words.items()}
    across = np.tile(np.array(shown, dtype=object), g.n)
    down = np.repeat(label, k)
    each = {"repeat": repeat, "fold": fold}
    levels = {part: np.repeat(g.label(x), k) for part, x in each.items() if x and g.n_of(*x) > 1}
    names = {
        kind: f"rows, named by {quoted(rows)}{why}" if rows else UNNAMED,
        other: "columns",
        "score": "",
        **{part: quoted(x) * (part in levels) for part, x in each.items()},
        "source": quoted(source),
        "spread": g.spreads_of(columns),
    }
    one, two = (down, across) if kind == "dataset" else (across, down)
    parts = (levels.get("repeat"), levels.get("fold"), spread, words, sources, tuple(g.unused))
    return Reading(one, two, values.ravel(), g.metric, names, *parts)


def _check_metrics(g: Sheet, keys: Keys) -> None:
    """Raise an error where columns are the metric, others and times."""
    if g.asked.columns.get("score"):
        return
    named = {*keys.dataset, *keys.strategy, *keys.repeat, *keys.fold}
    numbers = [x for x in g.columns if g.columns[x].is_number and x not in named]
    own, rest = _own(g, numbers), [x for x in numbers if may_score(g, x)]
    front = _front(g, own[0]) if own and not named else []
    if front and g.is_key(front):
        raise g.refuse(_DIFFER + quoted(front, ", "), {"strategy": front})
    if own and not rest:
        raise _of_one(g, own[0], numbers, "dataset" if keys.dataset else "strategy")


def _front(g: Sheet, metric: str) -> list[str]:
    """Return the settings in front of the metric, without what follows from others."""
    front = list(g.columns)[: list(g.columns).index(metric)]
    return g.least([x for x in front if 1 < g.n_of(x) <= g.n / 2 and g.columns[x].is_number])


def _own(g: Sheet, columns: Sequence[str]) -> list[str]:
    """Return the columns called as the metric, without a mean or best of several of it."""
    alike = [x for x in columns if same_metric(measure_in(x, g.metric), g.metric)]
    over = [x for x in columns if len(alike) > 1 and (is_summary(x) or BEST.match(x))]
    bare = [x for x in columns if same_metric(bare_word(x), g.metric) and x not in over]
    return [x for x in bare if len(bare) < 2 or same_metric(without_unit(x), g.metric)]


def _of_one(
    g: Sheet, own: str, columns: Sequence[str], kind: str, rows: Sequence[str] = ()
) -> AnalysisError:
    """Return the error about a table whose columns are metrics of one dataset, or strategy."""
    few = "dataset" if kind == "strategy" else "strategy"
    rest = [x for x in columns if x != own and may_score(g, x)]
    if kind == "strategy" and rest:
        text = f"`{own}` is the metric of one dataset, if {quoted(rest[:3], ', ')} are no datasets"
        return g.refuse(text, {kind: rows or "rows", "score": own})
    return g.refuse(f"`{own}` is the metric and its rows are of one {few}, {FOLDER}")


def _rows(g: Sheet, keys: Keys) -> tuple[list[str], str, str]:
    """Return the columns that name the rows, what rows are, and the evidence if no name says so."""
    said, more = g.asked.columns, [*keys.repeat, *keys.fold]
    texts = [x for x in g.columns if g.roles[x] in ("", "property", "alias")]
    texts = [x for x in texts if not g.columns[x].is_number]
    if keys.dataset or keys.strategy:
        kind = "dataset" if keys.dataset else "strategy"
        rows = list(keys.dataset or keys.strategy)
        if not g.is_key([*rows, *more]):  # those of each file, perhaps
            leave_averages_out(g, rows, [])
        rows = _finer(g, rows, kind, texts, more)
        scored = [x for x in g.columns if g.columns[x].is_number and g.roles[x] == ""]
        corner = kind == "dataset" and rows == [next(iter(g.columns))] and not said
        if corner and g.metric in NO_METRIC and of_several_metrics(scored):
            return rows, "strategy", " (each column has a metric of its own)"
        if not said:
            check_corner(g, rows, kind)
            _check_mean(g, rows, kind)
            _check_files(g, rows, kind)
        return rows, kind, ""
    if (levels := [*keys.repeat, *keys.fold]) and not texts and g.is_key(levels):
        liked = likes([x for x in g.columns if x not in levels])
        if liked == "strategy" or said.get("strategy") == ("columns",):
            return [], "dataset", ""
        text = (
            f"its rows are repeats ({quoted(levels)}) of strategies, its columns, on one dataset,"
        )
        raise g.refuse(f"{text} or of one strategy, {FOLDER}", {"strategy": "columns"})
    first = next(iter(g.columns))
    ids = [x for x in g.named("size") if "date" in word_of(first) and "date" not in word_of(x)]
    ids = [x for x in ids if not g.columns[x].is_number and g.is_key([x, *more])]  # as versions
    if not g.columns[first].is_number or word_of(first) in ("unnamed", "name", "id"):
        texts = texts or [*ids, first][:1]
    if not texts and said.get("dataset") == ("rows",):
        return g.number_rows([]), "dataset", ""
    if not texts and ("rows",) in (said.get("repeat"), said.get("fold")):
        return [], "dataset", ""
    if not texts and DURING.search(word_of(first)) and g.is_key([first]):
        text = f"its rows are times of a training (`{first}`), and no datasets or repeats"
        raise g.refuse(f"{text}: give the last row of each alone")
    if not texts and likes(list(g.columns)) == "dataset":
        text = f"its columns ({some_of(g.columns)}) look like datasets of one strategy"
        raise g.refuse(f"{text}, so there is nothing to compare")
    if not texts:
        counts = g.columns[first].numbers.tolist() == list(range(g.n))  # such as trials
        metric = next((x for x in g.columns if same_metric(x, g.metric)), first)
        setting = not counts and g.is_key([first]) and not word_of(first).endswith("_id")
        if metric != first and setting and may_score(g, first):  # in front of several metrics
            text = f"no column of texts names its rows; if strategies differ by `{first}`"
            raise g.refuse(text, {"strategy": first})
        own = same_metric(metric, g.metric)  # or columns are strategies at some conditions
        varied = next((x for x in g.columns if g.n_of(x) > g.n / 2), first)
        front = _front(g, metric if own else varied)
        runs = {} if g.is_key(front) else {"repeat": "rows"}
        crossed = [{"strategy" if own else "dataset": front, **runs}] * (len(front) > 1)
        if crossed and (own or not runs):
            raise g.refuse(_DIFFER + quoted(front, ", "), *crossed)
        may = [x for x in g.columns if may_score(g, x)]
        if len(may) < 2 and not crossed:
            text = "no column names rows or strategies, so there is none to compare"
            raise g.refuse(f"{text}: it has {some_of(g.columns)}")
        if g.n == 1 and not crossed:
            text = "no column names its rows, of which there is one: columns are strategies, or"
            raise g.refuse(f"{text} datasets of one strategy", {"dataset": "rows"})
        whole = len(g.columns) > 2 and g.is_key([first]) and is_whole(g, first) and not counts
        text = "no column names its rows: are they folds or repeats of one dataset, or datasets"
        rest: Way = {"dataset": first if whole else "rows"}
        ways: list[Way] = [{part: "rows"} for part in ("fold", "repeat")]
        ways = [rest, *ways] if whole else [*ways, rest]
        raise g.refuse(f"{text}? It has {some_of(g.columns)}", *crossed, *ways)
    sizes = [x for x in g.named("size") if not g.columns[x].is_number]  # such as the name of a GPU
    each = (texts[:5], [*sizes, *texts][:5])
    sets = [list(c) for names in each for n in (1, 2, 3) for c in combinations(names, n)]
    rows = next((c for c in sets if g.is_key([*c, *more])), [])
    rows = rows or next((c for c in sets if _repeats(g, [*c, *more]).any()), texts[:1])
    for kind, other in (("dataset", "strategy"), ("strategy", "dataset")):
        if said.get(kind) == ("rows",) or said.get(other) == ("columns",):
            return rows, kind, ""
    kind, why = _way_round(g, rows)
    _check_cases(g, rows, kind)
    return _finer(g, rows, kind, texts, more), kind, f" ({why})"


def _runs(g: Sheet, rows: Sequence[str]) -> bool:
    """Return whether each name has as many rows as any other, which are its runs.

    So are rows without a name of their own of a file, however many.
    """
    if len(rows) != 1 or g.is_key(rows) or g.texts_within(rows):
        return False
    sizes = np.bincount(g.columns[rows[0]].coded[0])
    alone = rows == [FILE] and all(x.is_number for x in g.columns.values() if x.name != FILE)
    balanced = len(sizes) >= _NAMES and sizes.min() == sizes.max() >= RUNS
    return len(sizes) > 1 and bool(balanced or alone)


def _repeats(g: Sheet, names: Sequence[str]) -> np.ndarray:
    """Return the few rows equal to another in all cells, if all others differ in some columns."""
    doubled = doubled_rows(g, names) if names else np.zeros(g.n, dtype=bool)
    same = doubled_rows(g, list(g.columns)) if doubled.any() else doubled
    few = 2 * same.sum() < g.n  # else they may be runs
    return same if few and (doubled <= same).all() else np.zeros(g.n, dtype=bool)


def _check_mean(g: Sheet, rows: list[str], kind: str) -> None:
    """Raise an error where rows are called datasets, and a column is a mean over others.

    Or they are called strategies, and a row is one. In the corner of a printed table, all cells of
    which are texts, the name may be that of the columns.
    """
    columns = [x for x in g.columns.values() if x.is_number]
    corner = rows == [next(iter(g.columns))] and bool(all(map(is_object_dtype, g.table.dtypes)))
    means = corner * average_columns(columns, named=True, strict=True)
    over = [str(g.label(rows)[i]) for i in corner * average_rows(columns)]
    if bool(means) != bool(over) and kind == ("dataset" if means else "strategy"):
        text = f"`{rows[0]}` stands above the rows, and `{[*means, *over][0]}` is a mean over the "
        right, across = ("strategy", "columns") if means else ("dataset", "rows")
        raise g.refuse(text + across, {right: rows}, {kind: rows})


def _check_cases(g: Sheet, rows: list[str], kind: str) -> None:
    """Raise an error where rows of each file, of one strategy, have names of their own."""
    files = [x for x in rows if x.startswith(FILE)]
    cases = [x for x in rows if x not in files and g.n_of(x) > _CASES * g.n_of(*files)]
    if kind == "strategy" and files and cases:
        text = f"{quoted(cases)} may name cases ({g.n_of(*cases)}) of each {quoted(files)}"
        raise g.refuse(text, {"strategy": files, "repeat": cases}, {"strategy": rows})


def _check_files(g: Sheet, rows: list[str], kind: str) -> None:
    """Raise an error where names of files tell the rows of datasets apart, as of strategies."""
    _check_cases(g, rows, kind)
    named = [x for x in rows if x != FILE]
    scored = [x for x in g.columns if may_score(g, x)]
    if kind == "dataset" and FILE in rows and named and scored and likes(scored) != "strategy":
        text = f"`{FILE}` may name strategies, and each column of scores be of its own"
        each: list[Way] = [{"score": x} for x in scored[:2]]
        if are_numbered(scored):
            text, each = f"{text}, or repeats", [{"repeat": scored}, *each[:1]]
        ways = [{"strategy": FILE, "dataset": named, **x} for x in each]
        raise g.refuse(f"{text} ({some_of(scored)})", *ways, {"dataset": rows})


def _finer(
    g: Sheet, rows: list[str], kind: str, texts: list[str], more: Sequence[str]
) -> list[str]:
    """Return the columns that name rows with those that tell rows of one name apart."""
    if g.is_key([*rows, *more]):
        return rows
    whole = [x for x in g.columns if x not in rows and is_whole(g, x)]
    if kind == "strategy":  # a size may be part of its name, and a horizon of that of a dataset
        texts = texts + [x for x in g.columns if g.columns[x].unit or g.roles[x] == "size"]
    else:  # and sizes that stand in front with a number
        front = takewhile(lambda x: x in (*rows, *whole, *texts), g.columns)
        sizes = [x for x in front if g.roles[x] == "size" and g.columns[rows[0]].is_number]
        texts = texts + sizes + [x for x in whole if g.roles[x] == ""]
        texts = [x for x in texts if not g.columns[x].is_number or g.n_of(x) <= g.n / 2]
    texts = [x for x in dict.fromkeys(texts) if x not in rows]
    texts.sort(key=lambda x: x.startswith("unnamed"))  # titles between rows
    sets = [[*rows, *c] for n in (1, 2, 3) for c in combinations(texts[:6], n)]
    if found := [c for c in sets if g.is_key([*c, *more])]:
        return found[0]
    names = [x for x in g.columns if x not in (*rows, *more) and not g.columns[x].is_number]
    if role_of(rows[0]) != kind and g.is_key([*names, *more]):  # they may name the rows alone
        names = []
    each = [*([x] for x in whole), sorted(names, key=lambda x: g.n_of(x))]  # as of sources
    if apart := next((x for x in each if x and g.is_key([*rows, *x, *more])), []):
        apart = g.least(apart, [*rows, *more])
        runs = apart[0] in whole or 2 * g.n_of(*rows, *more) <= g.n
        ways: list[Way] = [{kind: [*rows, *apart]}, *[{kind: rows, "repeat": apart}] * runs]
        for x in apart if kind == "strategy" else ():
            several = [*rows, *(y for y in apart if y != x)]
            crossed = g.n >= _CROSSED * g.n_of(*several) * g.n_of(x)
            ways += [{"dataset": x, "strategy": several}] * crossed
        tell = f"tell{'s' * (len(apart) == 1)} apart"
        raise g.refuse(f"{quoted(rows)} names several rows, which {quoted(apart)} {tell}", *ways)
    return rows


def _way_round(g: Sheet, rows: list[str]) -> tuple[str, str]:
    """Return whether rows are datasets or strategies, with the evidence; ask if there is none."""
    label = [str(x) for x in g.label(rows)]
    no_scores = ("size", "spread", "repeat", "fold")
    numbers = [x for x in g.columns if g.columns[x].is_number and g.roles[x] not in no_scores]
    means = [x for x in numbers if is_summary(x.rpartition(" / ")[2])]
    means += average_columns([g.columns[x] for x in numbers])
    members = [x for x in numbers if x not in means]
    if not members:
        raise g.refuse(f"no column of scores is in it; it has {some_of(g.columns)}")
    plain = [x for x in label if not is_summary(x)]
    columns = [g.columns[x] for x in members]
    over = [x for x in label if is_summary(x)] or [label[i] for i in average_rows(columns)]
    if over and means:  # a mean over both says nothing
        over, means = [], []
    last = f"row `{over[0]}`" if over and over[0] else "a row without a name"
    marked = best_marked(columns)
    other = {"dataset": "strategy", "strategy": "dataset", "": ""}
    n, k = len(plain), len(members)
    rules = (  # what rows are, what shows it, and how that is told
        ("strategy" if means else "", f"column `{''.join(means[:1])}` is a mean over the others"),
        ("dataset" if over else "", f"{last} is one over the others"),
        (other[likes(members)], f"columns are {_NOUNS[likes(members)]} by their names"),
        (likes(plain), f"rows are {_NOUNS[likes(plain)]} by their names"),
        (part_by_name(rows[0]).replace("strategy", ""), f"`{rows[0]}` names a condition"),
        (_MARKED[marked], f"the best of each {marked[:-1]} is marked"),
        ("dataset" if _is_identifier(rows[0]) else "", f"`{rows[0]}` is an identifier"),
        ("dataset" if all(map(YEAR, label)) else "", "rows are years"),
        ("strategy" if 2 * sum(map(bool, map(YEAR, members))) > k else "", "columns are years"),
        ("dataset" if _are_numbered(plain, rows[0]) else "", "rows are numbered by their names"),
        ("strategy" if _are_numbered(members) else "", "columns are numbered by their names"),
    )
    evidence = {kind: why for kind, why in reversed(rules) if kind}
    if len(evidence) == 1:
        return next(iter(evidence.items()))
    both = f" ({evidence['dataset']}, but {evidence['strategy']})" if evidence else ""
    text = (
        f"it is unclear whether rows are datasets ({n} datasets, {k} strategies) or strategies "
        f"({k} datasets, {n} strategies){both}"
    )
    ways: list[Way] = [{"dataset": rows}, {"strategy": rows}]
    files = [x for x in rows if x.startswith(FILE)]
    cases = [x for x in rows if x not in files]
    shared = bool(files and cases) and g.n >= _CROSSED * g.n_of(*files) * g.n_of(*cases)
    of_files: list[Way] = [{"strategy": files, "repeat": cases}] * shared
    ways = ways[::-1] if k > 2 * n else ways  # datasets are mostly more
    raise g.refuse(text, *of_files, *ways)


def _are_numbered(names: Sequence[str], column: str = "") -> bool:
    """Return whether names count, as those of instances do: ``server_001``, ``server_002``, ..."""
    if _OF_MODELS & {*word_of(column).split("_")}:
        return False
    parts = [re.fullmatch(r"(\D{2,}|[fF])(\d+)", x) for x in names]
    numbers: dict[str, set[int]] = {}
    for stem, number in (part.groups() for part in parts if part):
        numbers.setdefault(word_of(stem).strip("_"), set()).add(int(number))
    if not names or not all(parts) or _OF_MODELS & {*numbers}:
        return False
    if any(role_of(x) not in ("", "dataset") or part_by_name(x) == "strategy" for x in numbers):
        return False
    return all(len(n) >= _NAMES and max(n) - min(n) < 2 * len(n) for n in numbers.values())


def _is_identifier(name: str) -> bool:
    """Return whether a name is that of identifiers of cases, as ``RefSeq ID``, not of models."""
    *before, last = word_of(name).split("_")
    if last in ("hash", "md5", "sha1", "sha256", "uuid", "guid"):
        return True
    return last == "id" and bool(before) and before[-1] not in _OF_MODELS


def _is_part(name: str) -> bool:
    words = re.findall(r"[^\W_]+", name.lower())
    return word_of(name) in PARTS or {*words} <= {*PARTS}


_METRICS = "are metrics of one {0}, " + FOLDER
_ALL_ARE: tuple[tuple[Callable[[str], object], str], ...] = (  # if the names of all columns are so
    (lambda x: _RATE.search(x) or is_size(x) or usual_name(x), _METRICS),
    (_is_part, "are parts of one dataset, not datasets"),
    (lambda x: re.search(_STATISTICS, word_of(x)), "summarise scores that are not in it"),
)


def _check_columns(
    g: Sheet, columns: list[str], shown: list[str], kind: str, rows: Sequence[str]
) -> None:
    """Raise an error where columns are neither strategies nor datasets, as their names show."""
    other, several = "strategy" if kind == "dataset" else "dataset", len(columns) > 1
    if own := _own(g, columns):
        raise _of_one(g, own[0], columns, kind, rows)
    if kind == "dataset" and of_several_metrics(columns):
        text = f"its columns ({some_of(columns)}) are of several metrics, and no strategies"
        own = [x for x in columns if same_metric(measure_in(x), g.metric)][:1]
        raise g.refuse(text, *({"strategy": rows, "score": x} for x in own))
    told = [text for test, text in _ALL_ARE if several and all(map(test, columns))]
    alike = several and all(same_metric(measure_in(x, g.metric), g.metric) for x in columns)
    if columns and (several or kind == "strategy") and not alike and all(map(is_metric, shown)):
        told.append(_METRICS)
    known = [x for x in columns if usual_name(without_unit(x)) is not None]
    if told and told[0] == _METRICS and kind == "strategy" and g.metric and known:
        text = f"its columns ({some_of(columns)}) are metrics of one dataset, and none is of "
        raise g.refuse(text + g.metric, *({"metric": word_of(x)} for x in known[:3]))
    if told:
        named = told[0] == _METRICS and rows and all(g.roles[x] == "strategy" for x in rows)
        ways = [{"strategy": rows, "score": x} for x in columns[:2] if named]
        raise g.refuse(f"its columns ({some_of(columns)}) {told[0].format(other)}", *ways)
    if kind == "strategy" and several and {*map(word_of, shown)} & {*WORDS["protocols"]}:
        text = f"its columns ({some_of(columns)}) may be ways to measure on one dataset"
        raise g.refuse(text, *({"strategy": rows, "score": x} for x in columns[:3]))
    if several and all(x.isdigit() for x in columns) and not all(map(YEAR, columns)):
        ends = f"columns {columns[0]} to {columns[-1]}"
        raise g.refuse(
            f"{ends} look like runs of one strategy; if they are not", {"score": columns}
        )
    parts = [x.split(" / ") for x in columns] if g.levels is not None else [[]]
    if len({len(x) for x in parts}) == 1 and len(parts[0]) > 1:
        each = [set(level) for level in zip(*parts, strict=True)]
        sizes = [len(level) for level in each if len(level) > 1]
        numbered = kind == "strategy" and all(str(x).isdigit() for x in each[-1])  # severities
        if len(sizes) > 1 and np.prod(sizes) == len(columns) and not numbered:
            names = sorted(map(str, set.union(*each)), key=lambda x: not same_metric(x, g.metric))
            inner = names[0] if same_metric(names[0], g.metric) else sorted(map(str, each[-1]))[0]
            chosen = [x for x in columns if inner in x.split(" / ")]
            raise g.refuse(
                f"its names have two levels, such as `{columns[0]}`, and only one is of "
                f"{_NOUNS[other]}: choose columns",
                *({"score": x} for x in (chosen, columns)),
            )


def _check_measures(g: Sheet, names: Sequence[str], kind: str, rows: list[str]) -> None:
    """Raise an error where the names of some datasets have another metric than the wanted one."""
    if not g.metric or g.asked.columns.get("score"):
        return
    last = {x: x.split()[-1] if len(x.split()) > 1 else "" for x in names}
    ends = any(x and same_metric(x, g.metric) for x in last.values())  # then others' ends tell too
    ends &= kind == "strategy"
    told = [x for x in names if kind == "strategy" or x[-1:] == ")"]  # a file may be SMAPE-1.out
    each = {x: m for x in told if (m := measure_in(x) or last[x] * ends)}
    shared = any(same_metric(m, g.metric) for m in each.values())
    greater = {m: getattr(usual_name(m), "greater", None) for m in (*each.values(), g.metric)}
    against = {x for x, m in each.items() if {greater[m], greater[g.metric]} == {0, 1}}
    other = {x for x, m in each.items() if shared and not same_metric(m, g.metric)}
    if odd := [x for x in each if x in against | other]:
        own = [x for x in each if x not in odd]
        way: Way = {"strategy": rows, "score": own} if own else {"unused": odd}
        way = way if kind == "strategy" else {"metric": ""}  # each by its own
        raise g.refuse(f"`{odd[0]}` is of {each[odd[0]]} by its name, not of {g.metric}", way)


def _check_rows(
    g: Sheet, label: np.ndarray, names: list[str], kind: str, texts: Sequence[str]
) -> None:
    if empty := [i for i, x in enumerate(label) if not x]:
        raise g.refuse(f"row {empty[0]} of the table has no {kind}: name it, or drop it")
    if not g.is_key(names):
        doubled = label[np.flatnonzero(doubled_rows(g, names))[0]]
        runs = 2 * g.n_of(*names) <= g.n
        differ = f", which differ in {quoted(texts, ', ')}" * bool(texts)
        end = "; if they are repeats" if runs else f": names of {kind} rows must differ"
        finer = [{kind: [*names, *texts], "repeat": "rows"}] * (runs and bool(texts))
        ways = [*finer, {kind: names, "repeat": "rows"}] if runs else []
        raise g.refuse(f"the table has several rows for {doubled}{differ}{end}", *ways)
