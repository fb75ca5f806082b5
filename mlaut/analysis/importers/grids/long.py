"""The reading of a table with one score in a row."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, islice

import numpy as np
import pandas as pd

from mlaut.analysis.importers.grids.cells import WORDS
from mlaut.analysis.importers.grids.columns import measure_in
from mlaut.analysis.importers.grids.forms.grid import FILE
from mlaut.analysis.importers.grids.keys import (
    FLAGS,
    Keys,
    is_prose,
    not_applicable,
    sources_by_dataset,
)
from mlaut.analysis.importers.grids.names import (
    DURING,
    is_summary,
    part_by_name,
    role_of,
    same_metric,
    word_of,
)
from mlaut.analysis.importers.grids.sheet import Reading, Sheet, Way, likes, quoted
from mlaut.analysis.importers.grids.single import P_VALUE, strategies_in
from mlaut.analysis.scores.usual_names import usual_name
from mlaut.errors import some_of
from mlaut.helpers.markup import counted

Names = list[str]
_MOST_OPTIONS = 6  # columns in a message
FOLDER = "so there is nothing to compare: give a folder with such a table for each"
_FULL = 0.5  # share of the cells with a row, from which a column without a name is of datasets
_NEAR = 0.01  # share within which a rounded average is one
_PATH = re.compile(r"(?:[a-zA-Z]:)?[/\\]").match  # of a folder or a file
_NEW = 1.1  # times the rows' names that a setting makes of them
_SPARSE = 0.8  # share of rows with a name of their own, from which nothing is compared
_CROSSED, _FILLED = 0.95, 0.8  # shares of the cells with a row: of both keys, and nearly so
_EMPTY = 0.95  # share of rows without a name, above which a column names nothing
RUNS = 3  # rows of each cell, as many of all, from which they are repeats
_NAMED = 1000  # rows, of which a question names strategies, or differences are looked for
_APART, _MOST_WAYS = 3, 4  # settings that are of either key by themselves; ways in a question
_ALONE = "has hardly more than one row, so nothing can be compared"
_STATISTIC = re.compile(r"[._](?:min|max|med|median|mode|mean|avg|sd|std)$")  # of what was measured
_LONG_TEXT = 60  # letters of a text, above which it is no setting
UNNAMED = "no column names it"


def read_long(g: Sheet, keys: Keys) -> Reading:
    """Return the reading of a table with one score in a row."""
    score = _score(g, keys)
    column = g.columns[score]
    if not column.is_number or column.strange:
        odd = next(iter(column.strange.values()), next((x for x in column.labels() if x), ""))
        raise g.refuse(f"column {score!r} has {odd!r}, neither a number nor a word for none")
    values = column.numbers
    g.check_units([score])
    has = ~np.isnan(values) | np.isin(np.arange(g.n), list(g.columns[score].words))
    if not has.any():
        raise g.refuse(f"no row has a score in {score!r}")
    filled = _filled(g, keys, has)
    has = _of_this_metric(g, keys, has) if filled == keys else has
    keys = filled
    g.keep(has, f"{counted(int((~has).sum()), 'row')} without `{score}`")
    dataset, strategy = list(keys.dataset), list(keys.strategy)
    _without_summaries(g, dataset, strategy)
    _without_differences(g, strategy, score)
    repeat, fold = list(keys.repeat), list(keys.fold)
    if not keys.single:
        dataset, strategy = _other_key(g, dataset, strategy, [*repeat, *fold], score)
        _without_summaries(g, [] if keys.dataset else dataset, [])
    strategy, dataset, repeat = _tell_apart(g, dataset, strategy, repeat, fold, score)
    if len(keys.strategy) > 1 and not g.asked.columns.get("strategy"):  # with settings
        strategy.sort(key=lambda x: (x != keys.strategy[0], [*g.columns].index(x)))
    _without_means(g, dataset, strategy, score)
    for key, other in ((dataset, strategy), (strategy, dataset)):
        sparse = not (keys.dataset or g.asked.chosen) and g.n_of(*key) > _SPARSE * g.n
        if (sparse or g.n_of(*key) == g.n) and g.n > 2 and g.n_of(*other) > 1:
            ways = [{"strategy": sorted({*key, *keys.strategy}, key=list(g.columns).index)}]
            raise g.refuse(f"each {quoted(key)} {_ALONE}", *ways)
    column = g.columns[score]
    numbered = {x: g.n_of(x) for x in (*repeat, *fold)}
    repeat = [x for x in repeat if numbered.get(x, 2) > 1]
    fold = [x for x in fold if numbered[x] > 1]
    if g.n_of(*dataset) * g.n_of(*strategy) >= g.n and g.is_key([*dataset, *strategy]):
        repeat = []  # the number of each row
    repeat = g.least(repeat, [*dataset, *strategy, *fold])  # numbers may be measured
    sources, source = sources_by_dataset(g, dataset)
    used = {*dataset, *strategy, *repeat, *fold, score, *source}
    spread, paired = column.spreads, g.spreads_of([score])
    alone = [x for x in g.columns if word_of(x) in WORDS["spreads"][:12] and x not in used]
    if spread is None and len(alone) == 1 and g.columns[alone[0]].is_number:
        spread, paired = g.columns[alone[0]].numbers, quoted(alone)
        used |= {*alone}
    each = {"dataset": dataset, "strategy": strategy, "score": [score], "repeat": repeat}
    each |= {"fold": fold, "source": source}
    names = {part: quoted(x) for part, x in each.items()} | {"spread": paired}
    names["dataset"] = names["dataset"] or UNNAMED
    spreads = g.named("spread")
    g.unused += [f"`{x}`" + " (a spread)" * (x in spreads) for x in g.columns if x not in used]
    one, two = (g.label(x) if x else None for x in (repeat, fold))
    parts = (one, two, spread, column.words, sources, tuple(g.unused))
    return Reading(g.label(dataset), g.label(strategy), column.numbers, g.metric, names, *parts)


def _filled(g: Sheet, keys: Keys, has: np.ndarray) -> Keys:
    """Return keys without the columns that hardly name a row that has a score."""
    names = [x for x in (*keys.dataset, *keys.strategy) if not g.asked.chosen]
    empty = [x for x in names if np.mean(g.columns[x].labels()[has] == "") > _EMPTY]
    g.drop(empty, "empty where scores are")
    one, two = (tuple(x for x in key if x not in empty) for key in (keys.dataset, keys.strategy))
    return replace(keys, dataset=one, strategy=two)


def _without_summaries(g: Sheet, dataset: Names, strategy: Names) -> None:
    """Leave out the rows that are called averages; raise an error where one has no name."""
    for key, what in ((dataset, "dataset"), (strategy, "strategy")):
        if key:
            methods = ("mean", "median") if what == "strategy" else ()  # as predictions
            codes, own = pd.factorize(g.label(key))
            over = np.array([is_summary(str(x)) and str(x).lower() not in methods for x in own])
            summary, empty = over[codes], np.array([not str(x) for x in own])[codes]
            out = sorted(map(str, own[over]))
            if out and (~summary).any():
                g.keep(~summary, f"rows {', '.join(f'`{x}`' for x in out)} (by name no {what})")
                empty = empty[~summary]
            if empty.any():
                rows = counted(int(empty.sum()), "row")
                raise g.refuse(f"{rows} without a {what} in {key[0]!r}: name it, or drop it")


def _without_means(g: Sheet, dataset: Names, strategy: Names, score: str) -> None:
    """Leave out rows that one of several names calls averages, if they are those of the others."""
    names = [*dataset, *strategy]
    for name in [x for key in (dataset, strategy) if len(key) > 1 for x in key]:
        labels, values = g.columns[name].labels(), g.columns[score].numbers
        over = np.array([is_summary(str(x)) for x in labels])
        others = g.label([x for x in names if x != name])
        rest = pd.Series(values[~over]).groupby(others[~over]).agg(["mean", "count"])
        rest = rest.reindex(others[over])
        equal = np.isclose(rest["mean"], values[over], _NEAR)
        if over.any() and (equal & (rest["count"] > 1)).all():
            out = quoted(sorted({*labels[over]}), ", ")
            g.keep(~over, f"rows {out} in `{name}` (averages of the others)")


def _without_differences(g: Sheet, strategy: Names, score: str) -> None:
    """Leave out the row of each strategy that is called a difference of two others, and is one."""
    if not strategy or g.n > _NAMED:  # all pairs of rows are compared
        return
    label, values = g.label(strategy), g.columns[score].numbers
    for name in [x for x in {*label.tolist()} if role_of(x) == "relative"]:
        own, others = values[label == name], values[label != name]
        if len(own) == 1 and np.isclose(np.subtract.outer(others, others), own[0], 1e-3).any():
            g.keep(label != name, f"row `{name}` (a difference of two others)")
            label, values = g.label(strategy), g.columns[score].numbers


def _score(g: Sheet, keys: Keys) -> str:
    if len(keys.scores) > 1:
        few = keys.scores[:_MOST_OPTIONS]
        text = f"it has several metrics ({', '.join(keys.scores)}), so say which one"
        role = "score" if g.asked.columns.get("score") else "metric"
        raise g.refuse(text, *({role: x} for x in few[:3]))
    score = keys.scores[0]
    if score not in g.columns:
        raise g.refuse(f"no column {score!r}")
    other = usual_name(score)
    if g.metric and other and not g.asked.columns.get("score") and not same_metric(score, g.metric):
        wanted = usual_name(g.metric)
        if word_of(score) != "loss" or wanted is None or wanted.greater:
            raise g.refuse(
                f"no column is of {g.metric}, and `{score}` is of {other.metric}", {"metric": score}
            )
    return score


def _of_this_metric(g: Sheet, keys: Keys, has: np.ndarray) -> np.ndarray:
    """Return which rows count: those with a score, and others of datasets that have any.

    Where each cell has a score, an empty row is of another metric, as that of a training.
    """
    if has.all() or not keys.dataset:
        return has
    label = g.label(keys.dataset)
    cell = g.label([*keys.dataset, *keys.strategy])
    if keys.strategy and not set(cell) - set(cell[has]):
        return has
    scored = set(label[has])
    return np.array([x in scored for x in label])


def _other_key(
    g: Sheet, dataset: list[str], strategy: list[str], more: list[str], score: str
) -> tuple[list[str], list[str]]:
    """Return both keys: where one is known, the other is the column of texts that is left."""
    if dataset and strategy:
        return dataset, strategy
    known = dataset or strategy
    if strategy and g.is_key([*strategy, *more]):
        return [], strategy
    texts = [x for x in g.named("", "source") if not g.columns[x].is_number and x not in known]
    texts = [x for x in g.columns if x in texts and not (known and g.fixes(known, x))]
    texts = [x for x in texts if not {y.lower() for y in g.columns[x].coded[1]} <= FLAGS]
    texts = [x for x in texts if not (known and _has_lists(g, x))]
    texts = [x for x in texts if all(g.columns[x].coded[1])] or texts  # names are in each row
    texts = [x for x in texts if not is_prose(g, x)] or texts
    like: dict[str, list[str]] = {}  # columns with the same things by other names
    for x in texts:
        twin = next((y for y in like if g.fixes([x], y) and g.fixes([y], x)), x)
        like.setdefault(twin, []).append(x)
    texts = list(like)
    if not known and len(texts) > 2:  # what follows from another describes it
        free = [x for x in texts if not any(g.fixes([y], x) for y in texts if y != x)]
        texts = free if len(free) > 1 else texts
    files = [x for x in texts if x.startswith(FILE)]
    kinds = [likes(g.columns[x].coded[1]) for x in files]
    if not known and len(files) == 2 and [*filter(None, kinds)] in (["dataset"], ["strategy"]):
        one, two = files if kinds in (["dataset", ""], ["", "strategy"]) else files[::-1]
        return [one], [two]
    if not known:  # what names each row by itself leaves nothing to compare
        named = [x for x in g.columns if not g.columns[x].is_number and g.is_key([x, *more])]
        texts = named[:1] if {*named} & {*texts} else texts
    if known:
        free = [x for x in texts if g.roles[x] == ""] or texts
        finest = [x for x in free if strategy and all(g.fixes([x], y) for y in free)]
        if len(finest) == 1 < len(free):  # what follows from it describes it
            g.others.append(g.asked.with_columns(dataset=next(x for x in free if x not in finest)))
            free = finest
        side = "strategy" if strategy else "dataset"
        free = [x for x in free if part_by_name(x) != side] if len(free) > 1 else free
        keyed = [x for x in free if g.is_key([*known, x, *more])]
        found = (keyed or free)[:1] if len(keyed) == 1 or len(free) == 1 else []
        files = [x for x in free if x.startswith(FILE)]  # who named these named what differs
        found = files if len(files) == 1 else found
        if not found:
            if not free and strategy:
                return [], strategy
            if not free:
                left = [x for x in g.columns if x not in (*known, *more) and not g.fixes(known, x)]
                texts = [x for x in left if not g.columns[x].is_number and g.n_of(x) > 2]
                keyed_by = [[x] for x in texts][:2]
                left = [x for x in left if g.columns[x].is_number and _may_tell(g, x)]
                keyed_by = keyed_by or [[x] for x in left if g.is_key([*known, x, *more])][:1]
                text = f"no column names the strategies: rows are of one strategy, {FOLDER}"
                every = bool(left) and g.is_key([*known, *left, *more])
                keyed_by = keyed_by or [[*known, *g.least(left, known)]] * every
                raise g.refuse(text, *({"strategy": x} for x in keyed_by))
            need, role = ("strategies", "strategy") if dataset else ("datasets", "dataset")
            ways: list[Way] = [{role: x} for x in (keyed or free)[:3]]
            needed = g.least(free, known)
            if not keyed and len(needed) > 1:  # together, or the rest is of the other side
                rest = {x: [*known, *(y for y in needed if y != x)] for x in needed[:3]}
                around = {side: needed, role: known}  # the known one was taken by a loose word
                ways = [{role: needed}, around, *({side: rest[x], role: x} for x in rest)]
            rivals = [x for x in texts if role_of(x) == "strategy"] if strategy else []
            for x in rivals:  # as the method beside a model that makes the data
                settings = [y for y in g.columns if y not in (x, score) and _may_tell(g, y)]
                if g.is_key([x, *settings, *more]):
                    ways.insert(0, {"dataset": g.least(settings, [x, *more]), "strategy": x})
            text = f"several columns may name the {need} ({', '.join(keyed or free)})"
            raise g.refuse(text, *[{"strategy": [*strategy, *free]}] * bool(strategy), *ways)
        names = [x for x in g.columns if x in (*strategy, *found)]
        setting = bool(strategy) and part_by_name(found[0]) == "strategy"
        key = setting and g.is_key([*names, *more])  # both are settings, and none names a dataset
        if setting and not key and role_of(found[0]) == "strategy":
            text = f"{quoted(names, ' and ')} may both name strategies, or one the datasets"
            swapped = (_told(x) for x in ((found, strategy), (strategy, found)))
            raise g.refuse(text, *swapped, {"strategy": names})
        sparse = found != files and g.n < _FULL * g.n_of(*strategy) * g.n_of(*found)
        if strategy and (key or sparse):
            text = f"{quoted(found)} may name the datasets, or be a part of the strategies"
            free = [x for x in g.named("") if x not in names and not g.columns[x].is_number]
            crossed = [x for x in free if g.n == g.n_of(x) * g.n_of(*found) == g.n_of(x, *found)]
            everywhere = all(g.columns[found[0]].coded[1])  # a name
            known_as: list[Way] = [{"strategy": names}, *[{"dataset": found}] * everywhere]
            known_as += [{"dataset": found, "strategy": x} for x in crossed]  # of another name
            case = word_of(found[0]).startswith("config")  # of a problem, if all are at all others
            case &= g.n_of(*strategy) * g.n_of(*found) == g.n
            g.choose(text, known_as if key else known_as[::-1], sure=key and not case)
            return [], names
        told = part_by_name(found[0]) or likes(g.columns[found[0]].coded[1]) or found == files
        if strategy and not told:  # another part of a method, perhaps
            g.others.append(g.asked.with_columns(strategy=names))
        return (dataset, found) if dataset else (found, strategy)
    if len(texts) == 1:
        if strategies_in(g, texts):
            return [], texts
        raise g.refuse(f"only {quoted(texts)} names rows: rows are of one strategy, {FOLDER}")
    pairs = [p for p in combinations(texts, 2) if len(texts) == 2 or g.is_key([*p, *more])]
    if len(pairs) != 1:
        parts = [([x for x in texts if x != one], [one]) for one in texts[::-1]]
        if len(texts) != 3 or not g.is_key([*texts, *more]):
            parts = [(texts[:1], texts[1:2])] if len(texts) > 1 else []
        both = [way for a, b in parts for way in ((a, b), (b, a))]
        full = [g.n / (g.n_of(*a) * g.n_of(*b)) for a, b in both]
        both = [both[i] for i in sorted(range(len(both)), key=lambda i: -full[i])]
        text = f"{', '.join(map(repr, texts)) or 'no'} columns of texts, so it is unclear which has"
        raise g.refuse(f"{text} the names of the datasets and strategies", *map(_told, both[:3]))
    one, two = pairs[0]
    for x, y in ((one, two), (two, one)):
        if g.n_of(x) > _SPARSE * g.n and g.n < _FULL * g.n_of(x) * g.n_of(y):
            raise g.refuse(f"each `{x}` {_ALONE}")
    sides = [(a, b) for a, b in ((one, two), (two, one)) if _has_mean(g, a, b, score)]
    if len(sides) == 1:  # a mean over datasets
        return [sides[0][0]], [sides[0][1]]
    own = {x: [g.columns[y].coded[1] for y in like[x]] for x in pairs[0]}
    liked = {x: next(filter(None, map(likes, names)), "") for x, names in own.items()}
    by_name = not any(liked.values())
    liked = {x: part_by_name(x) for x in own} if by_name else liked
    if liked[one] == "strategy" or liked[two] == "dataset":
        one, two = two, one
    sure = any(liked.values()) and liked[one] != "strategy" and liked[two] != "dataset"
    sure &= not not_applicable(g, [two], one).any()  # else a setting, perhaps
    both_ways: list[Way] = [{"dataset": a, "strategy": b} for a, b in ((one, two), (two, one))]
    both_ways.append({"strategy": [one, two]})
    text = f"it is unclear which of `{one}` and `{two}` names the datasets"
    g.choose(text, both_ways if by_name or not sure else both_ways[:1], sure)
    return [one], [two]


def _has_mean(g: Sheet, name: str, other: str, score: str) -> bool:
    """Return whether rows of a column are called a mean and are that over its other names."""
    table = pd.DataFrame({x: g.columns[x].labels() for x in (name, other)})
    wide = table.assign(score=g.columns[score].numbers).pivot_table("score", other, name)
    means = [x for x in wide if is_summary(str(x))]
    rest = wide.drop(columns=means)
    if len(means) != 1 or rest.shape[1] < 2:
        return False
    return bool(np.isclose(rest.mean(axis=1), wide[means[0]], rtol=1e-3).all())


def _tell_apart(
    g: Sheet, dataset: Names, strategy: Names, repeat: Names, fold: Names, score: str
) -> tuple[Names, Names, Names]:
    """Return the keys with the columns that tell rows of one cell apart."""
    for last in g.asked.columns.get("last", ()):
        if last in g.columns:
            named = [*dataset, *strategy, *(x for x in repeat if x in g.columns), *fold]
            _keep_last(g, named, last, score)
    if g.asked.columns.get("repeat") == ("rows",):
        return strategy, dataset, g.number_rows([*dataset, *strategy])
    keys = [*dataset, *strategy, *repeat, *fold]
    runs = [x for x in repeat if g.n_of(x) == g.n and not g.asked.columns.get("repeat")]
    if not runs and repeat:
        _check_runs(g, dataset, strategy, repeat)
    if not runs and g.is_key(keys):
        return strategy, dataset, repeat
    others = [x for x in g.columns if x not in keys and x != score and _may_tell(g, x)]
    varied = [x for x in others if not g.fixes([*dataset, *strategy], x)]
    runs = runs if varied else []  # the seed of each row tells nothing of its settings
    keys, repeat = [x for x in keys if x not in runs], [x for x in repeat if x not in runs]
    if g.is_key(keys):
        return strategy, dataset, repeat
    aliases = [x for x in g.columns if g.roles[x] in ("alias", "strategy") and x not in strategy]
    others = sorted(others, key=lambda x: g.roles[x] == "size")
    others.sort(key=lambda x: (x not in aliases, _has_lists(g, x), g.columns[x].is_number))
    for size in (1, 2, 3):
        found = [c for c in combinations(others[:12], size) if g.is_key([*keys, *c])]
        if found:
            found.sort(key=lambda c: not _is_crossed(g, dataset, strategy, c))
            found.sort(key=lambda c: not all(DURING.search(word_of(x)) for x in c))
            return _as_part(g, dataset, strategy, repeat, score, found)
    doubled = doubled_rows(g, keys)
    same = doubled_rows(g, [*keys, score])
    if (doubled == same).all():
        rows = counted(int(doubled.sum()), "row")
        g.keep(~doubled, f"{rows} that repeat another with the same score")
        return strategy, dataset, repeat
    others = [x for x in g.columns if x not in (*keys, score) and not g.fixes(keys, x)]
    others = [x for x in others if g.n_of(x) <= g.n / 2 and not _measures(g, x)]
    if others and g.is_key([*keys, *others]):  # many settings, without what follows from them
        return _as_part(g, dataset, strategy, repeat, score, [tuple(g.least(others, keys))])
    before = [x for x in varied if list(g.columns).index(x) < list(g.columns).index(score)]
    settings = [x for x in before or varied if word_of(x) not in ("id", "index", "idx")]
    settings = [x for x in settings if g.columns[x].is_number or not _tells_much(g, x)]
    settings = [x for x in settings if not _is_measured(g, dataset, strategy, x)]
    settings = _telling(g, [*dataset, *strategy], settings)
    crossed = bool(settings) and _is_crossed(g, dataset, strategy, settings)
    own = bool(settings) and all(part_by_name(x) == "strategy" for x in settings)
    texts = [x for x in g.texts_within([*keys, *settings]) if not _tells_much(g, x)]
    if not texts and (crossed or (dataset and strategy and not settings)):
        sizes = np.bincount(pd.factorize(g.label([*keys, *settings]))[0])
        if sizes.min() == sizes.max() >= RUNS:
            parts = [([*dataset, *settings], strategy), (dataset, [*strategy, *settings])]
            parts = parts[::-1] if own else parts
            ways = [_told(x) | {"repeat": "rows"} for x in parts[: 1 + crossed]]
            g.choose("", ways, sure=True)
            return parts[0][1], parts[0][0], g.number_rows([*parts[0][0], *parts[0][1]])
    at = np.flatnonzero(doubled)[0]
    first = ", ".join(str(g.label([x])[at]) for x in keys)
    text = (
        f"{counted(int(doubled.sum()), 'repeated row')}, the first: {first}; no column tells them "
        "apart (a repeat, a seed, a setting); if they are repeats"
    )
    settings = settings or texts
    if settings:  # which mostly stand in front of their results
        text = text.partition("; no column")[0] + f"; they differ in {some_of(settings)}: if these "
        text += "are settings of strategies, and the rest are repeats"
    during = [x for x in settings if DURING.search(word_of(x))]
    if len(during) == 1:
        raise g.refuse(f"rows of each run differ in `{during[0]}`", {"last": during})
    known = {"strategy": [*strategy, *settings]} if settings else {}
    known |= {"dataset": dataset} if dataset and settings else {}
    other = {"dataset": [*dataset, *settings], "strategy": strategy, "repeat": "rows"}
    alone = strategy and (crossed or len(settings) == 1)  # perhaps a condition
    told: list[Way] = [{**known, "repeat": "rows"}, *[other] * bool(alone)]
    means = [_told((dataset, strategy)) | {"repeat": "rows"}] * bool(settings and strategy)
    raise g.refuse(text, *(told[::-1] if crossed and not own else told), *means)


def _telling(g: Sheet, keys: Names, settings: Names) -> Names:
    """Return settings without those that hardly tell rows apart beside others.

    Those that occur with nearly all of their values in each row's name come first.
    """
    kept = list[str]()
    for x in sorted(settings, key=lambda x: -g.n_of(*keys, x) / g.n_of(x)):
        if g.n_of(*keys, *kept, x) > _NEW * g.n_of(*keys, *kept):
            kept.append(x)
    return [x for x in settings if x in kept]


def _tells_much(g: Sheet, name: str) -> bool:
    """Return whether a column holds what a run did, as commands or paths, and no short setting."""
    cells = g.columns[name].coded[1]
    return all(map(_PATH, cells)) or float(np.median([len(x) for x in cells])) > _LONG_TEXT


def _check_runs(g: Sheet, dataset: Names, strategy: Names, repeat: Names) -> None:
    """Raise an error where each run is of one strategy with settings that differ between runs.

    Or where texts differ between runs as if each strategy had each of them.
    """
    own = 1 < g.n_of(*strategy) < g.n_of(*repeat) and all(g.fixes(repeat, x) for x in strategy)
    free = [x for x in g.named("") if own and x not in (*dataset, *strategy) and _may_tell(g, x)]
    free = [x for x in free if g.fixes(repeat, x) and not g.fixes([*dataset, *strategy], x)]
    whole = g.is_key([*dataset, *strategy, *repeat, *g.named("fold")])  # nothing else is asked
    texts = [x for x in g.named("") if whole and x in g.texts_within([*dataset, *strategy])]
    texts = [x for x in texts if _is_crossed(g, dataset, strategy, [x])]
    free = free or [x for x in texts if g.n_of(x) < g.n_of(*repeat) or not g.fixes(repeat, x)]
    if free and not g.asked.columns.get("repeat"):
        parts = [(dataset, [*strategy, *free]), ([*dataset, *free], strategy)]
        text = f"runs of one {quoted(strategy)} differ in {quoted(free, ', ')}"
        raise g.refuse(text, *(_told(way) | {"repeat": repeat} for way in parts))


def _keep_last(g: Sheet, keys: Names, name: str, score: str) -> None:
    """Keep the row of each run in which a column is largest, such as its last epoch.

    Runs of equal keys differ in further columns, of which no more count than are needed.
    """
    rest = [x for x in g.columns if x not in (*keys, name, score) and _may_tell(g, x)]
    runs = [*keys, *(g.least(rest, [*keys, name]) if g.is_key([*keys, *rest, name]) else rest)]
    at = pd.Series(g.columns[name].numbers)
    last = at.groupby(g.label(runs)).transform("max")
    g.keep((at == last).to_numpy(), f"rows before the last `{name}` of each run")
    del g.columns[name]


def doubled_rows(g: Sheet, names: Sequence[str]) -> np.ndarray:
    """Return which rows repeat an earlier one in some columns."""
    codes = [g.columns[name].coded[0] for name in names]
    return np.asarray(pd.MultiIndex.from_arrays(codes).duplicated())


def _has_lists(g: Sheet, name: str) -> bool:
    """Return whether cells are lists or dictionaries, which are no names."""
    return all(x[:1] in ("[", "{") for x in g.columns[name].coded[1])


def _measures(g: Sheet, name: str) -> bool:
    """Return whether numbers, or texts of a time, are called a measure; a loss may be a text."""
    called = usual_name(name) is not None or _STATISTIC.search(word_of(name)) is not None
    return called and (g.columns[name].is_number or g.roles[name] == "size")


def _may_tell(g: Sheet, name: str) -> bool:
    """Return whether a column may tell rows apart: texts and whole numbers, and no scores."""
    column = g.columns[name]
    if g.roles[name] in ("spread", "average", "score") and column.is_number:
        return False
    if _measures(g, name) or (column.is_number and P_VALUE.search(name)):
        return False
    if g.n_of(name) > (_SPARSE if g.n > 10 else 0.99) * g.n:  # the number or the name of a run
        return False
    if not column.is_number or part_by_name(name):
        return True
    values = column.numbers[~np.isnan(column.numbers)]
    return len(np.unique(values)) <= max(2, g.n // 4)


def _as_part(
    g: Sheet,
    dataset: Names,
    strategy: Names,
    repeat: Names,
    score: str,
    found: list[tuple[str, ...]],
) -> tuple[Names, Names, Names]:
    """Return the keys with columns that tell rows apart as parts of strategies or of datasets."""
    of_strategy = [c for c in found if all(g.roles[x] in ("alias", "strategy") for x in c)]
    chosen = (of_strategy or found)[0]
    if during := [x for x in chosen if DURING.search(word_of(x))]:
        n = g.n_of(*during)
        text = f"rows of each {quoted(strategy)} differ in {quoted(during)} ({n}): they are of "
        text += "one training at several times: keep one row of each, such as the last"
        last: list[Way] = [{"last": during}] * (len(during) == 1)
        if dataset and g.n_of(*dataset) > 1 and all(g.fixes(during, x) for x in dataset):
            last.append(_told(([*dataset, *during], strategy)))
        raise g.refuse(text, *last)
    steps = g.n_of(*strategy) == 1 and any(g.columns[x].is_number for x in chosen)
    steps |= len(chosen) > 3  # many settings are of either
    whole = {"dataset", "strategy"} <= {*g.asked.columns}  # what a user names is not added to
    shared = g.n_of(*chosen) < g.n and not whole  # else they name rows, and fix all that is in them
    if (
        shared
        and not steps
        and g.n_of(*strategy) > 1
        and all(g.fixes(chosen, name) for name in strategy)
    ):
        return _finer(g, strategy, chosen), dataset, repeat
    several = shared and bool(dataset) and g.n_of(*dataset) > 1
    of_data = [x for x in chosen if several and all(g.fixes([x], y) for y in dataset)]
    if len(of_data) == 1 < len(chosen):  # the others are of either
        finer = _finer(g, dataset, of_data)
        return _tell_apart(g, finer, strategy, repeat, g.named("fold"), score)
    if several and len(chosen) <= 3 and all(g.fixes(chosen, name) for name in dataset):
        return strategy, _finer(g, dataset, chosen), repeat
    crossed = _is_crossed(g, dataset, strategy, chosen)
    sized = not crossed and all(g.columns[x].unit and not g.columns[x].kind for x in chosen)
    if sized and not dataset:  # as 3x
        return [*strategy, *chosen], dataset, repeat
    ways = _assignments(g, dataset, strategy, chosen)
    (first, (own, others)), (second, _) = ways[:2]
    counts = [x for x in chosen if _counts(g, x)]  # perhaps repeats
    full = first >= _CROSSED and second < _FILLED and not whole
    minimised = {x for x in chosen if usual_name(x) and not g.columns[x].is_number}  # as a loss
    kinds = {x: "strategy" if x in minimised else part_by_name(x) for x in chosen}
    full &= all(x in (own, others)[kinds[x] != "dataset"] for x in chosen if kinds[x])
    if full and not steps and not counts:  # which are as many as each dataset has, perhaps
        return others, own, repeat
    free = [x for x in chosen if not kinds[x] and g.columns[x].is_number]
    if crossed and not (dataset and len(free) > 1):  # strategies are compared at the same values
        kinds = {x: kind or "dataset" for x, kind in kinds.items()}
    each = [way for _, way in ways]
    named = [way for way in each if all(x in way[kinds[x] != "dataset"] for x in chosen)]
    methods = WORDS["strategies"][:14]
    called = [x for x in chosen if word_of(x) in methods]  # beside methods of noise, perhaps
    sure = bool(named) and all(kinds.values()) and (crossed or not steps)
    sure &= not called and not whole
    each = sorted(each, key=lambda way: way != named[0]) if sure else each
    names = [*strategy, *chosen]
    rows = islice(zip(*(g.columns[x].labels() for x in names), strict=True), _NAMED)
    pairs = list(islice(dict.fromkeys(" ".join(filter(None, row)) for row in rows), 2))
    text = (
        f"rows repeat {quoted([*dataset[:1], strategy[0]], ' and ')}, and differ in "
        f"{quoted(chosen)}: are the strategies {' and '.join(map(repr, pairs))}, or does it belong "
        "to the datasets, or are they repeats"
    )
    alike = [x for x in g.columns if same_metric(measure_in(x, g.metric) or x, g.metric)]
    kept = {"score": [score]} if {*alike} - {score} else {}  # which the question is about
    turned = [([*dataset, *strategy, *(y for y in chosen if y != x)], [x]) for x in called]
    told: list[Way] = [_told(way) | kept for way in [*each[: _MOST_WAYS - len(turned)], *turned]]
    for means in dict.fromkeys((tuple(counts if len(chosen) > 1 else ()), chosen)):
        own = [*strategy, *(x for x in chosen if x not in means)]
        told += [_told((dataset, own)) | kept | {"repeat": [*repeat, *means]}] * bool(means)
    g.choose(text, told, sure)
    return each[0][1], each[0][0], repeat


def _is_crossed(g: Sheet, dataset: Names, strategy: Names, chosen: Sequence[str]) -> bool:
    """Return whether several strategies have a row at nearly each value of columns, as designed.

    Numbers 0, 1, 2, ..., and flags may be of repeats or of strategies all the same.
    """
    if not strategy or g.n_of(*strategy) < 2 or any(_counts(g, x) for x in chosen):
        return False
    conditions = [*dataset, *chosen]
    cells = g.n_of(*conditions) * g.n_of(*strategy)
    return g.n_of(*conditions, *strategy) >= _CROSSED * cells


def _is_measured(g: Sheet, dataset: Names, strategy: Names, name: str) -> bool:
    """Return whether a column has numbers that differ by row, as no setting or condition does."""
    if not g.columns[name].is_number or g.n_of(name) > g.n / 2:
        return g.columns[name].is_number
    told = part_by_name(name) or _counts(g, name)
    return not told and not _is_crossed(g, dataset, strategy, [name])


def _counts(g: Sheet, name: str) -> bool:
    """Return whether a column is constant, a flag, or numbers its values 0, 1, ... or 1, 2, ..."""
    names = {x.lower() for x in g.columns[name].coded[1]}
    n = len(names)
    return n < 2 or names <= FLAGS or any(names == {*map(str, range(i, n + i))} for i in (0, 1))


def _assignments(
    g: Sheet, dataset: Names, strategy: Names, chosen: Sequence[str]
) -> list[tuple[float, tuple[Names, Names]]]:
    """Return the ways to add columns to both keys, each with the share of its cells with a row.

    Columns beyond three go together. What fills most of its cells comes first; the datasets take
    what fills as many. Without datasets, crossed numbers may be their conditions first, and texts
    settings.
    """
    rows = g.n_of(*dataset, *strategy, *chosen)
    sizes = range(len(chosen), -1, -1) if len(chosen) <= _APART else (len(chosen), 0)
    ways = []
    for part in (c for size in sizes for c in combinations(chosen, size)):
        both = [*dataset, *part], [*strategy, *(x for x in chosen if x not in part)]
        ways.append((rows / (g.n_of(*both[0]) * g.n_of(*both[1])), both))
    sign = -1 if all(g.columns[x].is_number for x in chosen) else 1
    if dataset:
        ways.sort(key=lambda way: -way[0])
    else:
        ways.sort(key=lambda way: (way[0] < _CROSSED, sign * len(way[1][0])))
    least = ways[0][0] * _FILLED
    own = [way for i, way in enumerate(ways) if i < 2 or way[0] >= least]
    return own + [way for way in ways if way not in own and way[1][1] == strategy]


def _told(way: tuple[Names, Names]) -> dict[str, Names]:
    return {role: x for role, x in zip(("dataset", "strategy"), way, strict=True) if x}


def _finer(g: Sheet, names: list[str], finer: Sequence[str]) -> list[str]:
    """Return columns with finer names: these alone, if they contain the others or these are one."""
    if g.n_of(*names) == 1:
        return list(finer)
    pairs = zip(g.label(names).tolist(), g.label(finer).tolist(), strict=True)
    return list(finer) if all(str(a) in str(b) for a, b in pairs) else [*names, *finer]
