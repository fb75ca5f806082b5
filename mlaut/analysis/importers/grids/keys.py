"""The columns that name datasets, strategies, repeats and sources, and those with scores."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlaut.analysis.importers.grids.cells import WORDS, Column
from mlaut.analysis.importers.grids.columns import average_columns, measure_in
from mlaut.analysis.importers.grids.forms.grid import FILE
from mlaut.analysis.importers.grids.names import (
    DURING,
    MEAN,
    MEANS,
    PARTS,
    are_numbered,
    bare_word,
    is_summary,
    role_of,
    same_metric,
    word_of,
)
from mlaut.analysis.importers.grids.sheet import Sheet, likes, quoted
from mlaut.analysis.scores.usual_names import part_of, usual_name
from mlaut.errors import AnalysisError

_GROUPS = ("dataset", "benchmark", "dataset_name", "corpus", "suite")
_STATISTIC = re.compile(r"(^|_)(?:mean|avg|average|median|min|max)(?=_|$)")
_OVER_CLASSES = re.compile(r"(?:^|_)(?:macro|micro|weighted)(?=_|$)")  # as f1_macro


_SCALED = re.compile(r"(?<!un)(?:scaled|normali[sz]ed)|relative", re.I)  # beside scores as they are
_PROSE = re.compile(r"(?:\S+\s+){9}\S|\S*/\S*\.\w+$")  # ten words, or the path of a file
_NUMBERED = re.compile(r"\D*\d+").fullmatch  # the name of a run that only counts
_VALUE = re.compile(r"\.(?:value|score)$", re.I)  # of a measure, beside its date, for example
_PLACES = re.compile(r"rank|win|tie|loss|std|dev", re.I)  # in names of averages, no scores
FLAGS = {"true", "false", "yes", "no", ""}
_FEWEST = 2  # sources
_LONGEST = 60  # letters of a setting
_NOT_APPLICABLE = {x for x in WORDS["no_result"] if not re.fullmatch("[a-z]", x)}
_OWN = 0.8  # share of rows with a text of their own


@dataclass
class Keys:
    """Columns that name datasets, strategies, repeats, and those that may have the scores."""

    dataset: tuple[str, ...]
    strategy: tuple[str, ...]
    repeat: tuple[str, ...]
    fold: tuple[str, ...]
    scores: tuple[str, ...]
    single: bool = False  # whether all rows are of one dataset, which no column names


def keys_of(g: Sheet) -> Keys:
    """Return the keys of a grid by the names of its columns; the others follow from its rows."""
    for name in () if g.named("strategy") or g.asked.chosen else g.named("dataset"):
        loose = word_of(name) not in WORDS["datasets"][:14]  # as Language, of programs
        if loose and likes(g.columns[name].coded[1]) == "strategy":
            g.roles[name] = "strategy"
        files = [x for x in g.columns if x.startswith(FILE) and len(x) > len(FILE)]
        if loose and any(g.fixes([x], name) for x in files) and g.n_of(*files) > g.n_of(name):
            g.roles[name] = "property"  # as the program of each folder
    _without_one(g)
    dataset, strategy = _named(g, "dataset"), _named(g, "strategy")
    if strategy and g.n > 1 and not g.asked.chosen and all(g.n_of(x) == g.n for x in strategy):
        links = [x for x in dataset if g.n_of(x) == g.n and _has_links(g, x)]
        g.roles |= dict.fromkeys(links, "property")
        dataset = [x for x in dataset if x not in links]
    repeat, fold = g.named("repeat"), g.named("fold")
    strategy += _settings(g, [*dataset, *strategy], strategy, [*repeat, *fold])
    texts = [x for x in g.columns if not g.columns[x].is_number and g.roles[x] == ""]
    texts += [x for x in g.columns if g.roles[x] == "source" and not g.columns[x].is_number]
    numbers = [x for x in g.columns if g.columns[x].is_number and x not in (*dataset, *strategy)]
    said = g.asked.columns
    only = [x for x in numbers if g.roles[x] not in ("spread", "size", "repeat", "fold")]
    mean = len(only) == 1 and g.roles[only[0]] == "average" and not _PLACES.search(only[0])
    if mean:  # as "Average Score", over runs
        g.roles[only[0]] = "score"
    scores = said.get("score") or tuple(scores_of(g, numbers))
    runs = [x for x in repeat if not g.columns[x].is_number and g.n_of(x) == g.n]
    if strategy and runs and not (dataset or scores or g.asked.chosen or g.is_key(strategy)):
        strategy, repeat = runs[:1], [x for x in repeat if x not in runs]  # names of runs
    names = [x for x in runs if not all(map(_NUMBERED, g.columns[x].coded[1]))][:1]
    if names and not (strategy or dataset or g.asked.chosen):
        sizes = {*Counter(g.label(texts).tolist()).values()}  # 1 where texts name the rows
        if texts and not scores and len(sizes) > 1:
            text = f"`{names[0]}` may name strategies, or repeats of {quoted(texts)}"
            raise g.refuse(text, {"strategy": names}, {"strategy": texts, "repeat": names})
        strategy = [] if texts else names  # each run is of its own settings
        repeat = [x for x in repeat if x not in strategy]
    if dataset and strategy and not scores and not g.asked.chosen:
        dataset, strategy = _one_of_both(g, dataset, strategy, [*repeat, *fold], numbers)
    rows = [*dataset, *strategy]
    shared = [x for x in repeat if g.n_of(x) < g.n]  # as seeds, beside the names of runs
    if shared and g.is_key([*rows, *shared, *fold]):
        repeat = shared
    levels = [*repeat, *fold]
    unkeyed = len(rows) == 1 and not g.is_key([*rows, *levels])
    first = [x for x in texts if x == next(iter(g.columns)) and not is_prose(g, x)]
    key = any(g.is_key([x, *levels]) for x in (first if scores else texts))
    role = "dataset" if dataset else "strategy"
    parts = [x for x in texts if role_of(x) == role and unkeyed and g.is_key([*rows, x, *levels])]
    of_one = bool(dataset) and g.n_of(*dataset) == 1
    if unkeyed and key and not (g.asked.chosen or parts or of_one):  # it describes the rows
        g.roles[rows[0]] = "property"
        dataset, strategy = [], []
    columns_are = [k for k in ("dataset", "strategy") if said.get(k) == ("columns",)]
    one = len(said.get("score", ())) == 1  # several are columns of a wide table
    if g.metric and scores and word_of(scores[0]) == word_of(g.metric) and (texts or rows):
        one |= scores[0] not in average_columns([g.columns[x] for x in numbers])
    long = bool(dataset and strategy) or (one and not columns_are)
    rows = [*dataset, *strategy]
    if scores and not long and not (rows and columns_are):
        named = bool(g.metric) and len(scores) == 1  # beside settings that are numbers
        several = bool(texts or g.unnamed or named) and not g.is_key([*rows, *levels])
        long = several if rows else len(texts) > 1
    if not long:
        scores = ()
    elif not scores:
        left = [x for x in numbers if g.roles[x] == ""]
        left = [x for x in left if _may_differ(g, x) and not DURING.search(word_of(x))] or left
        if len(left) != 1:
            what = g.metric or "scores"
            text = f"no column is of {what}; it has {', '.join(g.columns)}"
            known = [x for x in numbers if usual_name(x) is not None]
            if g.metric and known:  # a setting beside other metrics is no score
                raise g.refuse(text, *({"metric": word_of(x)} for x in known[:2]))
            left = [x for x in left if same_metric(measure_in(x, g.metric) or x, g.metric)] or left
            if left:
                text = f"it is unclear which of {', '.join(left[:8])} has the {what}: name it"
            ways: list[dict[str, Any]] = [{"score": x} for x in left[:2]]
            if are_numbered(left):
                ways.insert(0, {"repeat": left})
            elif len(left) > 2 and not g.is_key([*rows, *levels]):
                ways = [{"strategy": rows}]
            raise g.refuse(text, *ways)
        scores = (left[0],)
    return Keys(tuple(dataset), tuple(strategy), tuple(repeat), tuple(fold), scores)


def _has_links(g: Sheet, name: str) -> bool:
    """Return whether most cells are links, as those to the data of each run."""
    return bool(g.table[name].astype(str).str.contains("://").mean() > 1 / 2)


def _without_one(g: Sheet) -> None:
    """Leave out a collection that is the same in all rows, of which each column is a dataset."""
    whole = [x for x in g.named("dataset") if g.n_of(x) == 1 < g.n]
    models, said = g.named("strategy"), {*g.asked.columns} - {"score", "unused"}
    alike = [x for x in g.columns if same_metric(measure_in(x, g.metric), g.metric)]
    alike = [x for x in alike if g.columns[x].is_number and not is_summary(x)]
    alone = bool(whole) and whole == g.named("dataset") and bool(models) and g.is_key(models)
    if alone and len(alike) > _FEWEST and g.metric not in g.columns and not said:
        g.drop(whole, f"{g.columns[whole[0]].labels()[0]} throughout")


def _may_differ(g: Sheet, name: str) -> bool:
    """Return whether a column neither is constant nor counts the rows."""
    values = g.columns[name].numbers
    return g.n_of(name) > 1 and not np.array_equal(values - values[0], np.arange(g.n))


def _one_of_both(
    g: Sheet, dataset: list[str], strategy: list[str], levels: Sequence[str], numbers: list[str]
) -> tuple[list[str], list[str]]:
    """Return what names the rows of a wide table that has columns of both; the other describes."""
    alone = [x for x in (dataset, strategy) if g.is_key([*x, *levels])]
    means = [x for x in numbers if is_summary(x) and word_of(x) not in ("mean", "median")]
    means += average_columns([g.columns[x] for x in numbers])
    if means and len(numbers) > 2:  # over the columns, which are datasets
        alone = [strategy]
    if len(alone) != 1:
        return dataset, strategy
    other = strategy if alone[0] == dataset else dataset
    if other == strategy and g.n_of(*strategy) == 1 < g.n and likes(numbers) != "strategy":
        text = f"all rows are of one strategy, {g.label(strategy)[0]!r} in `{strategy[0]}`"
        raise g.refuse(f"{text}, so there is nothing to compare, unless it is `unused`")
    g.roles |= dict.fromkeys(other, "property")
    return ([], strategy) if other == dataset else (dataset, [])


def _named(g: Sheet, role: str) -> list[str]:
    """Return the column, or columns, that name datasets or strategies; others are properties."""
    chosen = [name for name in g.asked.columns.get(role, ()) if name not in ("columns", "rows")]
    if chosen:
        return chosen
    other = "strategy" if role == "dataset" else "dataset"
    if g.asked.columns.get(role) or (
        role in ("dataset", "strategy") and g.asked.columns.get(other) == ("rows",)
    ):
        return []
    names = g.named(role)
    runs = [x for x in names if any(g.n_of(y) > 1 and g.fixes([x], y) for y in g.named("repeat"))]
    if role == "strategy" and 0 < len(runs) < len(names):  # names of single runs
        g.roles |= dict.fromkeys(runs, "property")
        names = [x for x in names if x not in runs]
    if len(names) < 2:
        return names
    names = sorted(names, key=lambda x: (-g.n_of(x), list(g.columns).index(x)))
    called = [x for x in names if word_of(x) == role and not g.fixes(names[:1], x)]
    finest = (called or names)[0]  # a dataset beside a function is the dataset
    for name in [x for x in names if x != finest]:
        if g.n_of(name) == g.n_of(finest) and g.fixes([finest], name):
            g.roles[name] = "alias"
        elif g.fixes([finest], name):
            group = role == "dataset" and word_of(name) in _GROUPS
            g.roles[name] = "source" if group and 2 < g.n_of(name) < g.n_of(finest) else "property"
        else:
            g.roles[name] = ""
    same = [x for x in names if g.roles[x] == "alias"]
    best = min([finest, *same], key=lambda x: list(g.columns).index(x))
    if best != finest:
        g.roles[finest], g.roles[best] = "alias", role
    return [best]


def _settings(g: Sheet, keys: list[str], strategy: list[str], levels: list[str]) -> list[str]:
    """Return the columns of settings that some strategies have, if these tell rows apart.

    Others have a word for none there in all of their rows, which is no part of their names.
    """
    texts = [x for x in g.named("", "source") if not g.columns[x].is_number]
    texts = [x for x in texts if x != g.asked.clusters and g.n_of(x) <= _OWN * g.n]
    texts = [x for x in texts if max(map(len, g.columns[x].coded[1])) < _LONGEST]
    texts = [x for x in texts if not {y.lower() for y in g.columns[x].coded[1]} <= FLAGS]
    none = {x: found for x in texts if (found := not_applicable(g, strategy, x)).any()}
    keys = [*keys, *(x for x in texts if x not in none)]
    some = [x for x in none if not g.fixes(keys, x)]
    if not some or g.is_key([*keys, *(x for x in levels if g.n_of(x) < g.n)]):
        return []
    for x in (some := g.least(some, keys)):
        g.columns[x] = Column(x, texts=np.where(none[x], "", g.columns[x].labels()))
        g.roles[x] = "strategy"
    return some


def not_applicable(g: Sheet, strategy: Sequence[str], name: str) -> np.ndarray:
    """Return which rows have a word for none, if all rows of their strategies do, not of others."""
    of, labels = g.label(strategy), g.columns[name].labels()
    none = np.array([x.lower() in _NOT_APPLICABLE for x in labels])
    return none & (len({*labels[none]}) == 1 and not {*of[none]} & {*of[~none]})


def is_prose(g: Sheet, name: str) -> bool:
    """Return whether a column has sentences, or paths, of which most rows have their own."""
    if g.n_of(name) <= _OWN * g.n:
        return False
    return float(np.mean([bool(_PROSE.match(x)) for x in g.columns[name].labels()])) > _OWN


def scores_of(g: Sheet, numbers: Sequence[str]) -> list[str]:
    """Return the columns that may have the scores in a table with one score in a row."""
    usual = {x: usual_name(x) for x in numbers if g.roles[x] not in ("spread", "average", "size")}
    wanted = g.metric
    if wanted:
        if exact := [x for x in numbers if word_of(x) == word_of(wanted)]:
            plain = part_of(exact[0]) == ""  # of training, beside that of a test
            same = [x for x in usual if plain and same_metric(x, wanted)]
            tested = [x for x in same if part_of(x) == "test"]
            return tested if len(tested) == 1 else exact[:1]
        least = ("spread", "average")
        each = {x: (bare_word(x), word_of(_VALUE.sub("", x))) for x in numbers}
        bare = [x for x in numbers if g.roles[x] not in least and word_of(wanted) in each[x]]
        levels = {x: map(word_of, x.split(" / ")) for x in numbers if g.levels is not None}
        bare = bare or [x for x, names in levels.items() if word_of(wanted) in names]
        if len(bare) > 1 and g.named("dataset") and g.named("strategy"):
            raw = [x for x in bare if not _SCALED.search(x)]
            bare = raw if len(raw) == 1 else bare
        if len(bare) == 1:
            return bare
        ends = [role_of(x.rpartition(" / ")[2]) for x in bare if g.levels is not None]
        if ends.count("") > 2 and {*ends} <= {"", "dataset", "average"}:  # of many datasets
            return []
        each = {x: (x, MEAN.sub("", x)) for x in numbers if g.roles[x] not in least}
        same = [x for x, names in each.items() if any(same_metric(y, wanted) for y in names)]
        for part in ("test", "", "val", "train"):
            if found := [x for x in same if part_of(x) == part]:
                return _one_of(g, found, wanted)
        one = {x: _OVER_CLASSES.sub("_", word_of(x)).strip("_") for x in numbers if x not in same}
        own = [x for x in one if g.roles[x] not in least and same_metric(one[x], wanted)]
        own = [x for x in own if part_of(one[x]) in ("test", "")] or own
        if len(own) > 1:  # averages over classes, such as macro
            raise g.refuse(f"several columns are of {wanted}", *({"metric": x} for x in own[:3]))
        if own:
            g.metric = getattr(usual_name(own[0]), "metric", wanted)
            return own
        ends = [x for x in one if word_of(x).endswith(f"_{word_of(wanted)}")]
        if len(ends) == 1 and g.roles[ends[0]] not in least:
            return ends
    general = [x for x in numbers if g.roles[x] == "score"]
    longer = [x for x in usual if g.roles[x] == "" and same_metric(measure_in(x), wanted)]
    longer = [x for x in longer if not np.isin(g.columns[x].numbers, (0, 1)).all()]
    only = len([x for x in usual if g.roles[x] == ""]) == 1
    if len(longer) == 1 and g.named("dataset") and g.named("strategy") and not (general or only):
        raise g.refuse(f"`{longer[0]}` is more than {wanted} by its name", {"score": longer})
    general = sorted(
        general, key=lambda x: max(PARTS.get(y, 0) for y in re.split(r"[\W_]+", word_of(x)))
    )
    if wanted:
        greater = usual_name(wanted)
        left = [x for x in usual if usual[x] is None and g.roles[x] == ""]
        if general:
            return general[:1]
        losses = [x for x in usual if word_of(x) == "loss" and greater and not greater.greater]
        others = [x for x in usual if usual[x] is not None and x not in losses]
        over = [x for x in numbers if g.roles[x] == "average" and bare_word(x) == word_of(wanted)]
        means = [x for x in numbers if word_of(x) in MEANS and not (left or others or losses)]
        if len(found := over or means) == 1:  # over runs, or of pandas, beside std and count
            return found
        return [] if others else losses[:1] or left * (len(left) == 1)
    known = [x for x in usual if usual[x] is not None and part_of(x) not in ("val", "train")]
    tested = [x for x in known if part_of(x) == "test"]
    known = tested or known or [x for x in usual if usual[x] is not None]
    if len(known) == 1:
        g.metric = word_of(known[0])
        return known
    if len(known) > 1 and not general:
        return known
    return general[:1]


def _one_of(g: Sheet, found: list[str], wanted: str) -> list[str]:
    if len(found) == 1:
        return found
    short = {x: re.sub(r"\W|_", "", x.lower()) for x in (*found, wanted)}
    plain_ones = [x for x in found if short[x] == short[wanted]]
    averaged = [x for x in found if {*word_of(x).split("_")} & {*MEANS}]
    if len(averaged) == 1 and len({_STATISTIC.sub("", word_of(x)) for x in found}) == 1:
        plain_ones = averaged  # beside the median of the same runs
    if plain_ones:
        return plain_ones[:1]
    ways: list[dict[str, Any]] = [{"score": x} for x in found[:3]]
    if not {*re.findall(r"\w+", " ".join(found).lower())} & {*PARTS}:
        ways.append({"score": found, "strategy": "rows"})
    raise g.refuse(f"several columns are of {wanted}", *ways)


def sources_by_dataset(g: Sheet, dataset: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return the source of each dataset, and the columns that name it.

    A column of texts has sources; or the datasets are those of a column at several conditions.
    """
    names = [x for x in g.named("source") if not g.columns[x].is_number or x == g.asked.clusters]
    names = [x for x in names if x not in dataset][:1]
    if not names:
        own = [x for x in dataset if role_of(x) == "dataset"]
        names = own if _FEWEST <= g.n_of(*own) < g.n_of(*dataset) else []
    if not names:
        return {}, []
    label, source = g.label(dataset), g.label(names)
    chosen = bool(g.asked.clusters or g.asked.columns.get("source"))
    of: dict[str, str] = {}
    for name, where in zip(label.tolist(), source.tolist(), strict=True):
        if not where or of.setdefault(name, where) != where:
            if not chosen:
                g.roles[names[0]] = ""
                return {}, []
            has = f"has {'two' if where else 'no'} sources in the column {names[0]!r}"
            raise AnalysisError(f"dataset {name!r} {has}: each needs one")
    return of, names
