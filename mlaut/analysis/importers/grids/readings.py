"""The reading of a grid: which columns name datasets and strategies, which has the scores."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from mlaut.analysis.importers.asked import Asked, QuestionError
from mlaut.analysis.importers.grids.cells import WORDS, plain
from mlaut.analysis.importers.grids.columns import measure_in
from mlaut.analysis.importers.grids.forms.framing import is_score
from mlaut.analysis.importers.grids.forms.grid import FILE, ROW, Grid
from mlaut.analysis.importers.grids.forms.headless import NUMBERED, with_names
from mlaut.analysis.importers.grids.forms.markup import OF_MEASURE
from mlaut.analysis.importers.grids.keys import keys_of
from mlaut.analysis.importers.grids.long import read_long
from mlaut.analysis.importers.grids.names import (
    MEANS,
    PARTS,
    PER_TIME,
    bare_word,
    part_in,
    same_metric,
    without_unit,
    word_of,
)
from mlaut.analysis.importers.grids.sheet import Reading, Sheet, Way, likes, quoted
from mlaut.analysis.importers.grids.single import of_one_dataset, turned
from mlaut.analysis.importers.grids.two_in_one import (
    NO_METRIC,
    complete_names,
    numbers_in,
    split_cells,
    split_crossed,
    split_names,
    with_conditions,
)
from mlaut.analysis.importers.grids.unfolding import by_run
from mlaut.analysis.importers.grids.wide import read_wide
from mlaut.analysis.results.tables import usual_metric
from mlaut.analysis.scores.usual_names import usual_name
from mlaut.errors import AnalysisError

_SMALL_P = 1e-4  # below which half of the numbers are no scores of which more is better
_LOOSE = {*WORDS["loose"], *WORDS["measures"]}
_SHORT = re.compile(r"[A-Z]\d|\w[A-Z]{2}|[A-Z]\w[A-Z]")  # F1, mAP and IoU, and no SR
_NOTE = re.compile(r"\[[^\]\d]*\]\([^)]*\)|[\d.]+\s*(?:<br ?/?>|[/ ])\s*[\d.]+")  # no score
_SPREADS = re.compile("std|stdev|stddev|stderr")  # at the end of a file's name
_PRINTED = 200  # rows up to which a table may have one for notes
_COMMA = re.compile(r"[\W_]*[\d,]+\W*")  # a number with a comma


def read_grid(grid: Grid, asked: Asked) -> Reading:
    """Return the reading of a grid.

    Raises
    ------
    AnalysisError
        The grid can be read in several ways, or in none; the message has the commands that choose.
    """
    said = {x for names in asked.columns.values() for x in names}
    named = with_names(grid.table, said)
    named = with_conditions(named, asked.metric, said)
    crossed = split_crossed(named, asked.metric, said)
    grid = replace(grid, table=crossed, unnamed=tuple(x for x in grid.unnamed if x in crossed))
    grid, others = split_cells(_without_notes(grid), asked)
    g = Sheet(grid, asked)
    asked, g.others = g.asked, others
    g.drop(g.named("unused"))
    g.drop([x for x, c in g.columns.items() if c.struck and not c.is_number], "struck out")
    complete_names(g)
    if unfolded := by_run(g, grid):
        table, words, names = unfolded
        reading = read_grid(table, words)
        return replace(reading, names={**reading.names, **names})
    _drop_index(g)
    relative = [x for x in g.named("relative") if not same_metric(x, g.metric)]
    relative = [x for x in relative if (bare_word(x) or x) not in word_of(g.metric)]
    g.drop([x for x in relative if x not in said], "a comparison with another by its name")
    rates = [x for x in g.columns if usual_name(g.metric) and PER_TIME.search(word_of(x))]
    g.drop([x for x in rates if x not in said], "a rate by its name")
    _choose_part(g)
    if around := turned(g, grid):
        reading = read_grid(*around)
        row = f"row {reading.names['score']}"
        return replace(reading, names={**reading.names, "strategy": "columns", "score": row})
    _check_name_of_file(g)
    split_names(g)
    _choose_metric_rows(g)
    keys = of_one_dataset(g, keys_of(g))
    _check_headless(g)
    if texts := [x for x in g.named("last") if not g.columns[x].is_number]:
        raise g.refuse(f"`{texts[0]}` has texts, so no row is the last by it: name a number")
    if g.named("last") and not keys.scores:
        raise g.refuse("a last row of each run needs a table with one score in a row: name `score`")
    reading = read_long(g, keys) if keys.scores else read_wide(g, keys)
    if not asked.columns.get("score"):
        _check_p_values(g, reading.score, keys.scores)
    scored = [g.columns[x] for x in keys.scores or g.columns]
    if other := [x for x in scored if x.named and g.metric and not same_metric(x.named, g.metric)]:
        text = f"cells of `{other[0].name}` are of {other[0].named}, not of {g.metric}"
        raise g.refuse(text, {"metric": other[0].named})
    told = {x.told_unit for x in scored if x.told_unit}
    units = ", ".join(sorted(x for x in told if len(told) == 1 or not x.startswith("in ")))
    bound = next((x.bound for x in g.columns.values() if x.is_number and x.bound), "")
    names = {**reading.names, "unit": units, "bound": bound, "arrow": _arrow(g, keys.scores)}
    filled = [x for x in g.table.attrs.get("filled", ()) if x in g.given]
    forms = ["no header"] * (f"{NUMBERED} 1" in g.given)
    forms += [f"{quoted(filled, ', ')} filled down"] * bool(filled)
    struck = next((x.struck for x in scored if x.is_number and x.struck), "")
    forms += [f"what is struck out is no result, as in {struck!r}"] * bool(struck)
    noted = next((x.noted for x in scored if x.is_number and x.noted), "")
    forms += [f"words behind numbers are not used, as in {noted!r}"] * bool(noted)
    spelt = g.table.attrs.get("spelt", {}).items()
    names["form"] = "; ".join([*forms, *(f"`{x}` of some files as `{y}`" for x, y in spelt)])
    reading = replace(reading, names=names, others=(*reading.others, *g.others))
    if word_of(g.metric) in NO_METRIC:
        reading = _by_own_metrics(g, reading)
    known = reading.metric or "own" in reading.names
    return reading if known else _by_text(grid, asked, reading)


def _by_own_metrics(g: Sheet, reading: Reading) -> Reading:
    """Return a reading that tells which metrics its datasets have, if these are several.

    Raises
    ------
    QuestionError
        More is better of some, and less of others.
    """
    each = {x: measure_in(x) for x in dict.fromkeys(reading.dataset)}
    named = g.own or [x for x in each.values() if x]
    usual = {x: metric for x in named if (metric := usual_name(x))}
    greater = {x: metric.greater for x, metric in usual.items()}
    whole = len(usual) == len({*named}) and (g.own or len(named) == len(each))
    if len({x.metric for x in usual.values()}) < 2:
        sure = whole and named and all(x.endswith(")") for x in each)
        return replace(reading, metric=named[0]) if sure else reading
    if not g.own and 2 * len(named) < len(each):
        return reading
    told = f"by its own metric ({', '.join(dict.fromkeys(named))})"
    signs = {*greater.values()} | ({g.asked.greater} - {None})
    if len(signs) > 1:
        parts = [[x for x, m in each.items() if greater.get(m) is sign] for sign in (True, False)]
        ways: list[Way] = [{"score": x} for x in parts if x and {*x} <= {*g.columns}]
        text = f"each dataset is {told}, and of some more is better, of others less"
        raise g.refuse(text, *(ways or [{"metric": x} for x in greater]))
    names = {**reading.names, "own": f"each dataset {told}"}
    if whole:
        reading = replace(reading, metric="score" if signs.pop() else "loss")
    return replace(reading, names=names)


def _check_name_of_file(g: Sheet) -> None:
    """Raise an error for a file that is called as one of spreads, as ``scores_std.csv``."""
    words = re.split(r"[\W_]+", Path(g.where).stem.lower())
    if _SPREADS.fullmatch(words[-1]) and not {*words} & {*MEANS}:
        text = f"by its name it has spreads ({words[-1]}), of which none is better"
        raise g.refuse(f"{text}: take the file of the scores; if it is one, rename it")


def _by_text(grid: Grid, asked: Asked, reading: Reading) -> Reading:
    """Return a reading with the metric that a line above, the heading or the file alone names."""
    lines = [x for x in reversed(grid.above) if OF_MEASURE.match(x)]
    file = "" if asked.where == "the table" else re.sub("[_.-]+", " ", Path(asked.where).stem)
    for text in (*lines, grid.name, file):
        usual = filter(None, map(usual_name, _words_of_metrics(text)))
        found = {x.metric: x.greater for x in usual}
        if len(found) > 1:
            break
        if not found:
            continue
        [(metric, greater)] = found.items()
        known, scores = usual_metric(metric, greater), reading.score
        low, high = known.bounds if known else (-np.inf, np.inf)
        inside = not ((scores < 100 * low) | (scores > 100 * high)).any()
        if inside and asked.greater in (None, greater):
            names = {**reading.names, "score": f"{reading.names['score'] or 'scores'} of {text!r}"}
            return replace(reading, metric=metric, names=names)
    return reading


def _words_of_metrics(text: str) -> list[str]:
    """Return the words of a text that name metrics, up to three for one, the longest first.

    Examples
    --------
    >>> _words_of_metrics("Top-1 accuracy (mAP) of a road map"), _words_of_metrics("Error analysis")
    (['Top-1 accuracy', 'mAP'], [])
    """
    words, found = re.findall(r"[\w@.-]+", text), list[str]()
    for n in (3, 2, 1):
        for run in [" ".join(words[i : i + n]) for i in range(len(words) - n + 1)]:
            usual = usual_name(run)
            long = len(run) > 3 and usual is not None and usual.metric not in _LOOSE
            if usual and (long or _SHORT.fullmatch(run)) and not any(run in x for x in found):
                found.append(run)
    return found


def _check_headless(g: Sheet) -> None:
    """Raise an error where no header tells which of several columns have the scores."""
    numbers = [x for x in g.columns if g.columns[x].is_number and x.startswith(NUMBERED)]
    texts = [x for x in g.columns if not g.columns[x].is_number]
    wide = len(texts) == 1 and g.is_key(texts)  # a column of each strategy, or dataset, perhaps
    chosen = g.asked.chosen if wide else g.asked.columns.get("score")
    if f"{NUMBERED} 1" in g.given and len(numbers) > 1 and not chosen:
        across: list[Way] = [{"strategy": texts}, {"dataset": texts}] * wide
        ways: list[Way] = [*across, *({"score": x} for x in numbers[::-1])]
        raise g.refuse(
            f"no header says which columns have the scores: {quoted(numbers, ', ')}", *ways
        )


def _without_notes(grid: Grid) -> Grid:
    """Return a grid without the only row of links, or of two numbers in each cell."""
    if not 2 < len(grid.table) < _PRINTED:
        return grid
    cells = grid.table.iloc[:, 1:].map(str)
    scores = cells.map(lambda x: is_score(plain(x))).mean(axis=1)
    notes = cells.map(lambda x: _NOTE.fullmatch(x.strip()) is not None).all(axis=1)
    if notes.sum() != 1 or (scores[~notes] < 1 / 2).any():
        return grid
    name = plain(str(grid.table.iloc[:, 0][notes].iloc[0]))
    left = (*grid.left, f"row {name!r} (links, or several numbers in a cell)")
    return replace(grid, table=grid.table[~notes].reset_index(drop=True), left=left)


def _arrow(g: Sheet, scores: Sequence[str]) -> str:
    """Return the arrow beside the name of the scores, or beside those of all columns."""
    arrows = {x: sign for x in map(str, g.table) for sign in "↑↓" if sign in x}
    arrows |= g.table.attrs.get("arrows", {})
    names = [x for x in scores or g.columns if g.columns[x].is_number]
    found = {arrows.get(x, arrows.get(x.partition(" / ")[0], "")) for x in names}
    return found.pop() if len(found) == 1 else ""


def _check_p_values(g: Sheet, scores: np.ndarray, names: Sequence[str]) -> None:
    """Raise an error where numbers of a metric of which more is better are like p-values."""
    usual, known = usual_name(g.metric), scores[~np.isnan(scores)]
    share = usual is not None and usual.greater and ((known >= 0) & (known <= 1)).all()
    if share and len(known) and 0 < (middle := np.median(known)) < _SMALL_P:
        text = f"half of its numbers are below {middle:.2g}, as p-values of tests are"
        raise g.refuse(f"{text}, and no {g.metric}", *[{"score": names}] * bool(names))


def answers_to(grid: Grid, question: QuestionError, depth: int = 3) -> list[tuple[Asked, Reading]]:
    """Return the answers to a question and those that would follow, each with what it reads."""
    ends = []
    for way in question.ways:
        if {*way.columns.get("score", ())} & {*way.columns.get("unused", ())}:
            continue
        try:
            reading = read_grid(grid, way)
            ends += [(way, reading)] * (len({*reading.strategy}) > 1)
        except QuestionError as further:
            ends += answers_to(grid, further, depth - 1)[:2] if depth else []
        except AnalysisError:
            continue
    return ends


def _drop_index(g: Sheet) -> None:
    """Leave out an index that only counts the rows, and texts that are the same in all rows."""
    texts = any(not x.is_number for x in g.columns.values())
    for at, name in enumerate(list(g.columns)):
        named = word_of(name) in ("unnamed", "index", "level_0", "#", "no.", "unnamed:_0")
        if named and (numbers := g.columns[name].values) is not None:
            steps = np.diff(numbers)  # of rows that were chosen, in front of names
            again = (numbers[1:] == numbers[0]) & (FILE in g.columns)
            if numbers[0] in (0, 1) and ((steps == 1) | again).all():
                del g.columns[name]
            elif at == 0 and texts and ((steps > 0) & (steps % 1 == 0)).all():
                g.drop([name])
    if g.n < 2:
        return
    _number_runs(g)
    _check_single(g)
    _drop_composed(g)
    for name in list(g.columns):
        column = g.columns[name]
        chosen = any(name in names for names in g.asked.columns.values())
        if g.roles[name] == "metric" or chosen:
            continue
        if not column.is_number and len(column.coded[1]) == 1:
            label = column.labels()[0]
            if not label or g.roles[name] not in ("dataset", "strategy"):
                g.drop([name], f"{label} throughout" if label else "empty")


def _number_runs(g: Sheet) -> None:
    """Call a level without a name repeats, if it counts 0, 1, ... within what texts name."""
    texts = [x for x in g.columns if not g.columns[x].is_number]
    levels = [x for x in g.columns if (x == ROW or x.startswith("unnamed")) and x not in texts]
    chosen = {x for names in g.asked.columns.values() for x in names}
    for name in levels[:1] if texts and levels and levels[0] not in chosen else []:
        runs = sorted({*g.columns[name].numbers.tolist()})
        if runs == [*range(len(runs))] and g.is_key([*texts, name]) and not g.is_key(texts):
            g.roles[name] = "repeat"


def _drop_composed(g: Sheet) -> None:
    """Leave out names of rows that consist of what other columns hold, which name them too."""
    texts = [x for x in g.columns if not g.columns[x].is_number]
    for name in [x for x in texts if g.roles[x] == "" and g.n_of(x) == g.n]:
        own, parts = g.columns[name].labels(), [x for x in g.columns if 1 < g.n_of(x) <= g.n / 2]
        each = {x: zip(g.columns[x].labels(), own, strict=True) for x in parts}
        inside = [x for x in parts if all(part and part in label for part, label in each[x])]
        if len({*inside} & {*texts}) > 1 and g.is_key(inside):
            g.drop([name], f"made of {quoted(inside, ', ')}")


def _check_single(g: Sheet) -> None:
    """Raise an error where cells have several numbers, or one that may be 1.2 or 1200."""
    texts = {x: c.strange for x, c in g.columns.items() if not c.is_number and c.strange}
    odd = {x: cells[min(cells)] for x, cells in texts.items()}
    if commas := {name: cell for name, cell in odd.items() if _COMMA.fullmatch(cell)}:
        name, cell = next(iter(commas.items()))
        raise g.refuse(f"{cell!r} in column {name!r} may be 1.2 or 1200: write a point")
    numbers = [x for x in g.columns if g.columns[x].is_number]
    own = [x for x in numbers if same_metric(measure_in(x) or without_unit(x), g.metric)]
    if own and not any(g.metric.lower() in name.lower() for name in odd):
        g.drop(odd, "several numbers in a cell")
        return
    for name, cell in odd.items():
        rest = any(x.is_number for x in [*g.columns.values()][1:])  # the first names rows
        n = 0 if g.asked.number else min(len(numbers_in(x)) for x in odd.values())
        end = ", and no other column has any: keep one number in each cell" * (not rest)
        is_what = f"{n} numbers, and nothing says of what" if n else f"no single number{end}"
        text = f"{cell!r} in column {name!r} is {is_what}"
        ways: list[Way] = [{"number": str(i + 1)} for i in range(n)]
        raise g.refuse(text, *ways, *[{"unused": [*odd]}] * rest)


def _choose_part(g: Sheet) -> None:
    """Keep the rows of the test part where rows are of parts of the data."""
    for name in g.named("part"):
        codes, names = g.columns[name].coded
        labels = np.array([part_in(x) for x in names])[codes]
        kinds = sorted({*labels} - {""}, key=lambda x: PARTS[x])
        if len(kinds) > 1 and PARTS[kinds[0]] == PARTS[kinds[1]]:
            continue
        rows = labels == kinds[0]
        others = ", ".join(kinds[1:])
        if len({*g.columns[name].labels()[rows]}) > 1:  # several sets to test on
            g.roles[name] = "" if g.named("dataset") else "dataset"
        else:
            why = f"{kinds[0]} throughout" if len(kinds) == 1 else f"its {kinds[0]} rows are"
            g.drop([name], why)
        g.keep(rows, f"rows of {others}")


def _names_metrics(labels: Sequence[str], wanted: str) -> bool:
    """Return whether labels are those of metrics, or one is the wanted metric as it is written."""
    usual = len(labels) > 1 and all(usual_name(x) is not None for x in labels)
    return labels.count(wanted) == 1 or (usual and any(same_metric(x, wanted) for x in labels))


def _tells_of_datasets(g: Sheet, name: str) -> bool:
    """Return whether a column names the one metric of each dataset, of which there are several."""
    texts = [x for x in g.columns if not g.columns[x].is_number and x != name]
    known = {usual.greater for x in g.columns[name].coded[1] if (usual := usual_name(x))}
    of = [x for x in texts if g.roles[x] != "strategy" and g.n_of(x) > 1 and g.fixes([x], name)]
    of = [x for x in of if likes(g.columns[x].coded[1]) != "strategy"]
    whole = g.is_key([*texts, *g.named("repeat", "fold")])
    return bool(of) and whole and len(known) == 1 and len(g.columns[name].coded[1]) > 1


def _choose_metric_rows(g: Sheet) -> None:
    """Keep the rows of the wanted metric where a column names the metric of each row."""
    numbers = [x for x in g.columns if g.columns[x].is_number]
    texts = [x for x in g.columns if not (g.metric in numbers or x in numbers)]
    named = [x for x in texts if g.roles[x] == "metric"]
    scored = any(same_metric(x, g.metric) for x in numbers)
    each = {x: map(without_unit, {*g.columns[x].labels()}) for x in texts if g.metric}
    each = {} if scored else each  # by which settings were chosen, perhaps
    named = named or [x for x in each if _names_metrics([*each[x]], g.metric)]
    for name in named[:1]:
        labels = g.columns[name].labels()
        kinds = list(dict.fromkeys(x for x in labels.tolist() if x))
        wanted = [x for x in kinds if g.metric and g.metric in (x, without_unit(x))]
        wanted = wanted or [x for x in kinds if g.metric and same_metric(x, g.metric)]
        if not wanted and word_of(g.metric) in NO_METRIC and _tells_of_datasets(g, name):
            g.own = kinds
            del g.columns[name]
            return
        if not wanted and not g.metric and len(kinds) > 1:
            text = f"the table has several: {', '.join(kinds[:8])}; choose by metric="
            raise g.refuse(text, *({"metric": x} for x in kinds[:2]))
        known = [x for x in kinds if usual_name(x)]
        if not wanted and len(known) > 1 and usual_name(g.metric):
            text = f"`{name}` has no {g.metric} for a row: there are {', '.join(kinds[:8])}"
            raise g.refuse(text, *({"metric": x} for x in kinds if (labels == x).sum() > 1))
        if g.metric and not wanted:
            text = f"the table has no metric {g.metric!r}"
            raise g.refuse(f"{text}; there are {', '.join(kinds[:8])}")
        ending = re.sub("_?(?:metric|measure|name)_?", "", word_of(name))  # as metric_primary
        own = [x for x in numbers if ending and word_of(x).endswith(f"_{ending}")]
        g.roles |= dict.fromkeys(own if len(own) == 1 else [], "score")
        kept = wanted[0] if wanted else kinds[0]
        g.metric = g.metric or kept
        del g.columns[name]
        across = [x for x in numbers if g.roles[x] == "" or usual_name(x)]
        named_so = [x for x in across if usual_name(x)]
        if name.startswith(FILE) and named_so and len(across) > 2 and not g.asked.chosen:
            text = f"files are of one metric each, and {quoted(named_so[:3], ', ')} may be others"
            raise g.refuse(text, {"score": across}, {"unused": named_so})
        g.keep(labels == kept, f"rows of {', '.join(x for x in kinds if x != kept)}")
