"""Several tables of a file that compare the same strategies, each on datasets of its own."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations, takewhile

import numpy as np
import pandas as pd

from mlaut.analysis.importers.grids.cells import WORDS, plain
from mlaut.analysis.importers.grids.columns import is_mean, step_of
from mlaut.analysis.importers.grids.forms.framing import is_score
from mlaut.analysis.importers.grids.forms.grid import Grid
from mlaut.analysis.importers.grids.forms.markup import OF_MEASURE
from mlaut.analysis.importers.grids.names import PARTS, is_summary, role_of, same_metric
from mlaut.analysis.importers.grids.sheet import Reading, likes
from mlaut.analysis.scores.usual_names import usual_name
from mlaut.errors import AnalysisError
from mlaut.helpers.markup import counted

_CONDITION = re.compile(  # under which strategies are compared
    r"(?i)\b(?:at|under|with|without|before|after|during|noise|noisy|shift|shots?|labels?)\b|\d\s*%|="
)
_APART = 5.0  # times, from which scores of the same datasets are not of one measure
_SPARED = 4  # tables of one dataset, of which one may be left out
_NEAR = 2  # rows in which numbers are near the means of others that they may be
_LEAST = 4  # strategies from which equal means are no accident


def joined(
    readings: Sequence[Reading], headings: Sequence[str], strict: bool = True
) -> Reading | None:
    """Return readings of tables that compare the same strategies as one; None for any others.

    Headings name the datasets of tables of one, and tell apart those of the same name in others,
    which are of one source. Tables of one dataset each are joined if they share a strategy, and up
    to a quarter of them may be left out. Two parts of headings that cross, as "Last: Maze", "Best:
    Maze" and "Last: Ants", are no datasets there: tables may measure the same ones twice. Unless
    ``strict``, tables that share few strategies with the largest are left out, and told.
    """
    headings, kept = without_shared(headings), _without_totals(readings)
    over = [f"{x!r} (all of it is in others)" for i, x in enumerate(headings) if i not in kept]
    each, headings = [readings[i] for i in kept], [headings[i] for i in kept]
    means = _means_of_others(each)
    over += [f"{x!r} (a mean of another table)" for x in dict.fromkeys(x for x, _ in means)]
    each = [x.without({name for name, i in means if i == n}) for n, x in enumerate(each)]
    headings = [x for x, reading in zip(headings, each, strict=True) if len(reading.score)]
    each = [x for x in each if len(x.score)]
    if _measure_twice(each):
        return None
    plain = all(x.repeat is None and x.fold is None and not x.sources for x in each)
    most = max(({*x.strategy} for x in each), key=len, default=set())
    of_tables = Counter(name for x in each for name in {*x.strategy})
    shared = sum(n > 1 for n in of_tables.values()) > 1
    single = shared and all(len({*x.dataset}) == 1 for x in each)  # headings are datasets then
    single &= len({*headings}) == len(each)
    least = 1 if single else max(2, len(most) / 2)
    apart = [i for i, x in enumerate(each) if len(most & {*x.strategy}) < least]
    same = not (strict and len(apart) > (len(each) / _SPARED if single else 0))
    over += [f"{headings[i]!r} (few of the strategies)" for i in apart]
    each = [x for i, x in enumerate(each) if i not in apart]
    headings = [x for i, x in enumerate(headings) if i not in apart]
    if len(each) < 2 or not plain or not same or len({x.metric for x in each}) > 1:
        return None
    called = {x.names["dataset"].strip("`") for x in each if x.names["dataset"][:1] == "`"}
    if len(called) > 1 and {*map(role_of, called)} != {"dataset"}:  # as settings, and datasets
        return None
    rows = {(*x.dataset, *x.strategy, x.score.tobytes()) for x in each}
    names = [name for x in each for name in {*x.dataset}]
    twins = len({*names}) < len(names)
    if twins and "own" in each[0].names and any({*x.strategy} != most for x in each):
        return None
    alone = twins and len(names) == len(each)
    if len(rows) < len(each) or (twins and (not all(headings) or len({*headings}) < len(headings))):
        return None
    sizes = [float(np.nanmedian(np.abs(x.score))) for x in each if not np.isnan(x.score).all()]
    other = bool(sizes) and max(sizes) > _APART * min(sizes)  # of other measures
    crossed = 1 < len({x.rpartition(": ")[2] for x in headings}) < len(headings)
    if strict and twins and not alone and (other or crossed):
        return None
    before = np.concatenate([x.dataset for x in each])
    above = np.repeat(np.array(headings, dtype=object), [len(x.dataset) for x in each])
    datasets = above if alone else above + ": " + before if twins else before
    starts = np.cumsum([0, *(len(x.score) for x in each)])
    words = {at + row: w for at, x in zip(starts, each, strict=False) for row, w in x.words.items()}
    spreads = [np.full(len(x.score), np.nan) if x.spread is None else x.spread for x in each]
    said = "headings" if alone else each[0].names["dataset"] + ", with their headings" * twins
    scored = " or ".join(dict.fromkeys(x.names["score"] for x in each))
    told = {"dataset": f"{said} of {len(each)} tables", "source": "names in each", "score": scored}
    return replace(
        each[0],
        dataset=datasets,
        strategy=np.concatenate([x.strategy for x in each]),
        score=np.concatenate([x.score for x in each]),
        spread=None if all(x.spread is None for x in each) else np.concatenate(spreads),
        words=words,
        names={**each[0].names, **told},
        sources=dict(zip(datasets, before, strict=True)) if twins and not alone else {},
        unused=tuple(dict.fromkeys([*over, *(y for x in each for y in x.unused)])),
        others=(),
    )


def joined_across(each: Sequence[Reading], headings: Sequence[str]) -> Reading | None:
    """Return readings of tables of the same datasets, each with strategies of its own, as one.

    Headings name the strategies of tables of one, and are a part of the names of others.
    """
    shared = set.intersection(*({*x.dataset} for x in each)) if each else set()
    if 2 * len(shared) < max((len({*x.dataset}) for x in each), default=1):
        return None
    together = joined([_turned(x) for x in each], headings)
    if together is None:
        return None
    own = [{*x.strategy} for x in each]
    above = dict(zip(map(frozenset, own), headings, strict=True))
    if any(len(x) > 1 for x in own) and not together.sources:  # as headings tell conditions
        of = {name: heading for names, heading in above.items() for name in names}
        names = np.array([f"{of[x]}: {x}" for x in together.dataset], dtype=object)
        said = together.names["dataset"].replace(" of ", ", behind their headings, of ", 1)
        together = replace(together, dataset=names, names={**together.names, "dataset": said})
    return _turned(together)


def _turned(reading: Reading) -> Reading:
    """Return a reading with strategies in place of datasets, and datasets in that of strategies."""
    names = dict(reading.names)
    names["dataset"], names["strategy"] = names["strategy"], names["dataset"]
    one, two = reading.strategy, reading.dataset
    return replace(reading, dataset=one, strategy=two, names=names, sources={})


def _without_totals(readings: Sequence[Reading]) -> list[int]:
    """Return the places of readings without those whose cells all stand in several others."""
    parts = [(x.dataset, x.strategy, np.nan_to_num(x.score)) for x in readings]
    cells = [{*zip(*(part.tolist() for part in x), strict=True)} for x in parts]
    kept = [*range(len(cells))]
    for n in sorted(kept, key=lambda n: -len(cells[n])):
        rest = [cells[i] for i in kept if i != n]
        if cells[n] <= set().union(*rest) and not any(cells[n] <= x for x in rest):
            kept.remove(n)
    return kept


def _means_of_others(each: Sequence[Reading]) -> list[tuple[str, int]]:
    """Return the datasets whose scores are means of those of another table, and their readings.

    They are means over the first or the last datasets of that table, to their digits; or equal one
    of it, where others of their own table are means.
    """
    tables = [x.table() for x in each]
    means, equal = list[tuple[str, int]](), list[tuple[str, int, int]]()
    for i, j in permutations(range(len(tables)), 2):
        own, others = tables[i].align(tables[j], join="inner", axis=0)
        for name in map(str, own if len(own) >= _LEAST else ()):
            one, rest = own[name].to_numpy(), others.to_numpy()
            both = [x[:, :k] for x in (rest, rest[:, ::-1]) for k in _near_starts(one, x)]
            means += [(name, i)] * any(is_mean(one, x) for x in both)
            same = np.ptp(one) > 0 and any(np.array_equal(one, x) for x in rest.T)
            equal += [(name, i, j)] * bool(same)
    counts = Counter(i for _, i in dict.fromkeys(means))
    means += [(name, i) for name, i, j in equal if counts[i] > counts[j]]
    counts = Counter(i for _, i in dict.fromkeys(means))
    totals = {i for i, n in counts.items() if 2 * n >= tables[i].shape[1]}  # else by chance
    return list(dict.fromkeys(x for x in means if x[1] in totals))


def _near_starts(one: np.ndarray, others: np.ndarray) -> list[int]:
    """Return of how many first columns the mean is near numbers in some rows."""
    counts = np.maximum(np.cumsum(~np.isnan(others), axis=1), 1)
    apart = np.abs(np.nancumsum(others, axis=1) / counts - one[:, None])
    near = (apart <= 1.01 * step_of(one)).sum(axis=0) >= _NEAR
    return [k for k in range(2, others.shape[1] + 1) if near[k - 1]]


def _measure_twice(each: Sequence[Reading]) -> bool:
    """Return whether two tables have a dataset with the same scores of all strategies."""
    seen = set[tuple[object, ...]]()
    for reading in each:
        table = reading.table().sort_index().dropna()
        columns = {(*table.index, x.tobytes()) for x in table.to_numpy().T if len({*x}) > 1}
        if len(table) >= _LEAST and columns & seen:
            return True
        seen |= columns
    return False


def stacked(grids: Sequence[Grid], where: str, column: str) -> Grid:
    """Return the tables with the columns of most as one, with a column of their headings."""
    flat = [x for x in grids if x.table.columns.nlevels == 1 and x.name]
    heads = [[*map(str, x.table)] for x in flat]
    first = Counter(map(tuple, heads)).most_common(1)[0][0] if heads else ()
    most = [x for x in first if 2 * sum(x in head for head in heads) > len(heads)]
    alike = [x for x, head in zip(flat, heads, strict=True) if most and {*most} <= {*head}]
    if len(alike) < 2:
        raise AnalysisError(f"{where}: no two tables with headings have the same columns")
    column = f"{column} of the table" if column in most else column
    names = without_shared([grid.name for grid in alike])
    pairs = zip(alike, names, strict=True)
    tables = [x.table[most].assign(**{column: name}) for x, name in pairs]
    whole = pd.concat(tables, ignore_index=True)
    texts = [x for x in most[1:] if not whole[x].map(lambda y: is_score(plain(str(y)))).any()]
    own = [x for x in texts if whole[x].is_unique and not whole[most[0]].is_unique]
    n = len(grids) - len(alike)
    others = [f"{counted(n, 'table')} with other columns or no heading"] * (n > 0)
    others += [f"`{x}` (another text in each row)" for x in own]
    left = dict.fromkeys(x for grid in alike for x in grid.left)
    return Grid("", whole.drop(columns=own), left=(*others, *left))


def without_shared(headings: Sequence[str]) -> list[str]:
    """Return headings without the parts that all begin or end with, unless nothing is left.

    Two and more words with which all begin are such a part: "Time and memory on".
    """
    parts = [x.split(": ") for x in headings]
    for end in (0, -1):
        while min(map(len, parts), default=0) > 1 and len({x[end] for x in parts}) == 1:
            parts = [x[1:] if end == 0 else x[:-1] for x in parts]
    headings = [": ".join(x) for x in parts]
    ends = [re.sub(r" datasets?$", "", x) for x in headings]
    shared = all(x != y for x, y in zip(ends, headings, strict=True))
    words = [x.split(" ") for x in (ends if shared else headings)]
    n = len([*takewhile(lambda x: len({*x}) == 1, zip(*words, strict=False))])
    left = [" ".join(x[n:]) for x in words]
    return left if n > 1 and all(re.search("[a-zA-Z]{2}", x) for x in left) else headings


def parts_of(heading: str) -> set[int]:
    """Return the ranks of the parts of data in a heading; in "From scratch training" is none."""
    words = re.findall(r"[\w@-]+", re.sub(r"(?<=\w )training$", "", heading.lower()))
    return {PARTS[x] for x in words if x in PARTS and x != "all"}


def tells_datasets(headings: Sequence[str], metric: str) -> bool:
    """Return whether headings may name datasets: no parts of data, other measures or summaries."""
    each = [re.findall(r"[\w@-]+", x.lower()) for x in headings]
    parts = {frozenset(parts_of(x)) for x in headings}
    others = [x for words in each for x in words if is_other(x, metric)]
    return len(parts) <= 1 and not others and not any(map(is_summary, headings))


def tells_strategies(headings: Sequence[str]) -> bool:
    """Return whether headings may name strategies: no datasets, conditions, numbers or titles."""
    words = [re.findall(r"[^\W\d_]+", x.lower()) for x in headings]
    plain = [{*x} <= {*WORDS["titles"], *WORDS["repeats"], *WORDS["folds"]} for x in words]
    conditions = any(_CONDITION.search(x) for x in headings)
    return likes(list(headings)) != "dataset" and not any(plain) and not conditions


def measures_of(text: str) -> list[str]:
    """Return the measures that a line names behind "Metric:", or a heading by its last word."""
    line = OF_MEASURE.match(text)
    words = re.findall(r"[\w@-]+", text[line.end() :]) if line else []
    words = words if line else re.split(r"[\s,(]+", text.rstrip(") "))[-1:]
    return [x for x in words if usual_name(x) or x.lower() in WORDS["measures"]]


def is_other(word: str, metric: str) -> bool:
    """Return whether a word is that of a measure other than a metric."""
    return bool(measures_of(word)) and not same_metric(word, metric)
