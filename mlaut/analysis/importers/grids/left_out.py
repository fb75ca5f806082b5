"""Columns and rows of a wide table that are no scores: averages, sizes, ranks, other measures."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import permutations

import numpy as np

from mlaut.analysis.importers.grids.cells import WORDS
from mlaut.analysis.importers.grids.columns import (
    average_columns,
    average_rows,
    block_averages,
    matrix_of,
    measure_in,
    measures_of,
    odd_columns,
    scales_apart,
    step_of,
)
from mlaut.analysis.importers.grids.names import (
    MEAN,
    PARTS,
    is_size,
    is_summary,
    part_by_name,
    role_of,
    same_metric,
    without_unit,
    word_of,
)
from mlaut.analysis.importers.grids.sheet import Sheet, likes, quoted
from mlaut.analysis.importers.grids.single import OF_MODELS, is_metric
from mlaut.analysis.results.tables import likely_meant, usual_metric
from mlaut.analysis.scores.metric_names import metric as find_metric
from mlaut.analysis.scores.usual_names import usual_name
from mlaut.errors import AnalysisError, some_of

_LAST_ROWS = 3  # without a name, from which they are no averages
_ROWS = 5  # from which the best of the others in each is no accident
_FEW = 2  # times as many columns without the metric in their names
_COMPARED = 12  # columns of which one may be the ratio
_EXACT = 1e-6
_WHOLE = {"var", *WORDS["sizes"]} - {*WORDS["measured"]}  # VAR is a model, too
_DESCRIBE = {"mean", "n", "prop", "frac", "fraction", "share", "num", "size", *WORDS["spreads"]}
_OF_DATA = {"mad", "mean_absolute_deviation"}  # what the mean as a prediction is wrong by
_BEYOND = 0.1  # share of errors above it, at most
BEST = re.compile(r"(?:best|oracle)(?![a-z])", re.I)
_COUNTS = re.compile(r"(?:[nN]|#|[nN]o\.?|[nN]umber)(?:\s+of\b|\s*\(|\s*=|\s*$)")
_OTHER_SUMMARY = re.compile(r"[^a-z](?:median|min|max|best|worst)$")
_CLAIMED = {"origin", "original", "paper", "reported", "published"}  # beside an average
YEAR = re.compile(r"(?:19|20)\d\d").fullmatch


def leave_parts_out(g: Sheet) -> None:
    """Leave out columns such as ``mean_train`` and ``prop_test``, which describe parts of data."""
    numbers = [x for x in g.columns if g.columns[x].is_number]
    words = {x: {*word_of(x).split("_")} for x in numbers}
    parts = [x for x in numbers if len(words[x]) > 1 and words[x] <= {*PARTS, *_DESCRIBE}]
    parts = [x for x in parts if words[x] & {*PARTS} and x not in g.asked.columns.get("score", ())]
    several = {w for x in parts for w in words[x]} & {*PARTS}
    if len(several) > 1 and len(numbers) - len(parts) > 2 and not same_metric("mean", g.metric):
        g.drop(parts, "describes a part of the data by its name")


def leave_columns_out(g: Sheet, rows: list[str], kind: str) -> None:
    """Leave out the columns that are no strategies, or datasets, by their names or values."""
    leave_averages_out(g, rows, [])
    keys = {*rows, *g.named("repeat", "fold", "source")}
    numbers = [x for x in g.columns if g.columns[x].is_number and x not in keys]
    varied = [x for x in numbers if 2 * g.n_of(x) > g.n]  # as settings are not
    whole = [x for x in varied if word_of(x).split("_")[-1] in _WHOLE and _is_among(g, x, numbers)]
    g.roles |= dict.fromkeys(whole, "")
    if chosen := g.asked.columns.get("score", ()):
        g.drop([x for x in numbers if x not in chosen])
        return
    nameless = [x for x in numbers if x.startswith("unnamed")]
    if 0 < len(nameless) < len(numbers):
        text = f"columns with numbers have no name ({', '.join(nameless)}): name them in the table"
        raise g.refuse(text, *[{"unused": nameless}] * (len(nameless) == 1))
    sizes = [x for x in numbers if g.roles[x] == "size" or g.columns[x].unit or g.columns[x].kind]
    sizes = [x for x in sizes if not same_metric(measure_in(x), g.metric)]
    few = len(sizes) < len(numbers)
    doubtful = [x for x in sizes if word_of(x) in WORDS["doubtful"] or not is_size(x)]
    doubtful = [x for x in doubtful if few and _is_among(g, x, numbers)]
    liked = likes([x for x in numbers if x not in sizes])
    if kind == "strategy" and liked == "dataset":
        sizes = [x for x in sizes if x not in doubtful]  # as energy among concrete, wine, yacht
    if doubtful := [x for x in doubtful if x in sizes and not g.columns[x].kind]:
        scored = [x for x in numbers if x not in {*sizes} - {*doubtful}]
        ways = [{"unused": doubtful}, {"score": scored}]
        text = f"{quoted(doubtful)} may be no scores by the name, and look like the others"
        raise g.refuse(text, *(ways[::-1] if liked == "strategy" else ways))
    every = all(g.columns[x].unit or g.columns[x].kind for x in numbers)  # a table of times
    if few or (kind == "strategy" and not every):
        g.drop(sizes)
    numbers = g.without(numbers, [x for x in numbers if g.roles[x] == "spread"], "a spread")
    numbers = g.without(numbers, [x for x in numbers if g.roles[x] == "flag"], "a flag")
    if kind == "strategy":
        bits = [
            x for x in numbers if x not in varied and part_by_name(x) == kind and is_whole(g, x)
        ]
        numbers = g.without(numbers, bits if 2 * len(bits) < len(numbers) else [], "a setting")
    logs = [f"log{n}({x})" for n in ("", 2, 10) for x in (*rows, *numbers)]
    logs = [x for x in numbers if x in logs]
    numbers = g.without(numbers, logs, "a logarithm of another")
    steps = [step_of(g.columns[x].numbers) for x in numbers]
    others = [x for x in numbers[2:] if not same_metric(x, g.metric)]
    derived = [x for x in others if _is_derived(g, x, numbers, steps)]
    numbers = g.without(numbers, derived, "a ratio or a difference of two others")
    means = tuple(x[: -len("mean")] for x in numbers if re.search(r"[^a-z]mean$", x))
    beside = [x for x in numbers if _OTHER_SUMMARY.search(x) and x.startswith(means)]
    numbers = g.without(numbers, beside, "another summary than the mean")
    mad = [x for x in numbers if kind == "dataset" and _is_of_data(g, x, numbers)]
    g.others += [g.asked.with_columns(score=numbers)] * bool(mad)
    numbers = g.without(numbers, mad, "the deviation of the data by its name")
    best = [x for x in numbers[-1:] if _is_best(matrix_of([g.columns[x] for x in numbers]))]
    numbers = g.without(numbers, best, "the best of the others in each row")
    alike = [x for x in numbers if same_metric(measure_in(x, g.metric), g.metric)]
    best = [x for x in (alike or numbers[2:]) if BEST.match(x)]
    if best and kind == "dataset" and not g.asked.chosen:
        text = f"{quoted(best)} may be the best of several strategies"
        raise g.refuse(text, {"unused": best}, {"score": alike or numbers})
    top = {x: np.fmax.reduce(g.columns[x].numbers) for x in numbers}
    sums = [x for x in numbers if word_of(x) in ("sum", "total")]  # or names of tasks
    some = [x for x in numbers if x not in sums or sum(top[x] < y for y in top.values()) < 2]
    averages = average_columns([g.columns[x] for x in some], named=True, strict=kind == "dataset")
    called = () if kind == "strategy" else ("mean", "median", "average", "avg")
    last = {x: without_unit(x.split(" / ")[-1]) for x in some}
    composed = [x for x in some if is_summary(last[x]) and word_of(last[x]) not in called]
    composed += [x for x in numbers if _is_rank(g, x)]
    claimed = [x for x in numbers if word_of(x) in _CLAIMED and x not in averages]
    g.drop(claimed if averages or composed else [], "an average that others claim, by its name")
    if kind == "strategy":
        composed += [x for x in numbers if re.match(r"(?:avg|average)\b", x.lower())]
    for name in dict.fromkeys([*averages, *composed]):
        over = name in averages and not re.search(r"rank|best|win", name, re.I)
        g.drop([name], "an average of the others" if over else "by its name a summary")
    numbers = [x for x in numbers if x in g.columns]
    others = [x for x in numbers if not YEAR(x)]
    numbers = g.without(numbers, others if 2 * len(others) < len(numbers) else [], "no year")
    for at in block_averages(numbers, matrix_of([g.columns[x] for x in numbers]).T):
        g.drop([numbers[at]], "an average of some others")


def _is_derived(g: Sheet, name: str, numbers: Sequence[str], steps: Sequence[float]) -> bool:
    """Return whether a column is a ratio or difference of two columns before it, or of both.

    ``steps`` are the units of the last printed digit of the columns.
    """
    own, at = g.columns[name].numbers, numbers.index(name)
    has = ~np.isnan(own)
    own, before = own[has], [g.columns[x].numbers[has] for x in numbers[: min(at, _COMPARED)]]
    few = len(own) < 4  # then only numbers with more digits than people print tell
    if len(own) < 2 or np.ptp(own) == 0 or (few and steps[at] > _EXACT):
        return False
    pairs = [*permutations(before, 2)]
    digits = np.array([max(x) for x in permutations(steps[: len(before)], 2)])
    digits = np.maximum(digits, steps[at])[:, None]
    with np.errstate(all="ignore"):
        ratios = np.reshape([a / b for a, b in pairs], (-1, len(own)))
        differences = np.reshape([a - b for a, b in pairs], (-1, len(own)))
    if few:
        return bool((np.abs(differences - own) <= _EXACT * np.abs(own)).all(axis=1).any())
    near = np.maximum(0.01 * np.abs(own), 0.006)
    found = [np.abs(x - own) <= near for x in (ratios, 100 * ratios - 100)]
    if np.ptp(own) > 20 * near.min() and any(x.all(axis=1).any() for x in found):
        return True
    near = np.abs(differences - own) <= 1.6 * digits * (digits < 1)
    return bool(((np.ptp(own) > 20 * digits) & near).all(axis=1).any())


def _is_of_data(g: Sheet, name: str, numbers: Sequence[str]) -> bool:
    """Return whether a column is called a deviation of the data, and most errors are below it."""
    values = matrix_of([g.columns[x] for x in numbers])
    above = values > g.columns[name].numbers[:, None]
    return word_of(name) in _OF_DATA and same_metric(g.metric, "mae") and above.mean() < _BEYOND


def is_whole(g: Sheet, name: str) -> bool:
    """Return whether a column holds whole numbers."""
    column = g.columns[name]
    return column.is_number and bool((column.numbers % 1 == 0).all())


def _is_rank(g: Sheet, name: str) -> bool:
    """Return whether a column is called a rank, and has whole numbers of places."""
    if not re.search(r"(?i)\brank\b", name):
        return False
    values = g.columns[name].numbers
    values = values[~np.isnan(values)]
    return bool(np.isin(values, range(1, g.n + 1)).all())


def _is_best(values: np.ndarray) -> bool:
    """Return whether the last column is the best of the others in each row, and none of them."""
    values = values[~np.isnan(values[:, -1])]  # but for the rows of averages
    own, others = values[:, -1], values[:, :-1]
    if len(own) < _ROWS or others.shape[1] < 3:
        return False
    best = [fold(others, axis=1) for fold in (np.fmax.reduce, np.fmin.reduce)]
    near = 0.51 * step_of(own)  # the best may be rounded
    of_one = (np.abs(others.T - own) <= near).all(axis=1).any()
    return any((np.abs(x - own) <= near).all() for x in best) and not of_one


def _is_among(g: Sheet, name: str, numbers: Sequence[str]) -> bool:
    """Return whether the values of a column are fractions about as large as those of the others."""
    own = g.columns[name].numbers
    own = own[~np.isnan(own)]
    others = [g.columns[x].numbers for x in numbers if g.roles[x] == ""]
    middles = [float(np.nanmedian(x)) for x in others if (np.nan_to_num(x) % 1 != 0).any()]
    if not len(own) or not middles or (own % 1 == 0).all():
        return False
    return bool(min(middles) / 2 <= np.median(own) <= 2 * max(middles))


def of_several_metrics(columns: list[str]) -> bool:
    """Return whether each name has one of several metrics, as those of datasets have."""
    of = [usual.metric if (usual := usual_name(measure_in(x))) else "" for x in columns]
    return all(of) and len({*of}) > 1 and likes(columns) != "strategy"


def without_odd(g: Sheet, rows: list[str], numbers: list[str], kind: str) -> list[str]:
    """Return the columns without those that are no scores by their values; ask where unclear."""
    if g.asked.columns.get("score") or not numbers or of_several_metrics(numbers):
        return numbers
    odd, unclear = odd_columns([g.columns[x] for x in numbers], kind)
    apart = scales_apart([g.columns[x] for x in numbers if x not in odd])
    if apart and _bounded(g.metric):
        column, other = g.columns[apart[0]].numbers, next(x for x in numbers if x not in apart)
        at, most = int(np.argmax(np.abs(column) > 1)), np.nanmax(g.columns[other].numbers)
        has = f"`{apart[0]}` has {column[at]:g} on {g.label(rows)[at]!r}"
        inside = f"`{other}` is within 0 and {1 if most <= 1 else 100}, as {g.metric} is"
        if most <= 1 and 2 * np.sum(np.abs(column) > 1) < np.isfinite(column).sum():
            likely = likely_meant(column[at], matrix_of([g.columns[x] for x in numbers]))
            inside += f": mend the cell{likely} or empty it, or leave out the whole column"
        raise g.refuse(f"{has}, and {inside}", {"unused": apart})
    for name, why in odd.items():
        g.drop([name], why)
    if unclear and not all(map(is_metric, numbers)):
        noun = "strategies" if kind == "dataset" else "datasets"
        text = f"{quoted([*unclear])} may be no {noun} ({next(iter(unclear.values()))})"
        left = [x for x in numbers if x in g.columns]
        raise g.refuse(text, {"unused": [*unclear]}, {"score": left})
    numbers = [x for x in numbers if x in g.columns]
    g.drop(average_columns([g.columns[x] for x in numbers]), "an average of the others")
    return [x for x in numbers if x in g.columns]


def _bounded(metric: str) -> bool:
    """Return whether a metric is known to have two ends."""
    usual = usual_name(metric) if metric else None
    known = usual_metric(metric, usual.greater) if usual else None
    with suppress(AnalysisError):
        known = known or find_metric(usual.metric if usual else metric)
    return known is not None and bool(np.isfinite(known.bounds).all())


def of_the_test(g: Sheet, columns: list[str], kind: str) -> list[str]:
    """Return the columns of the test part where all are of parts of the data."""
    words = {x: re.findall(r"[^\W_]+", x.lower()) for x in columns if not x[0].isdigit()}
    words = {x: words.get(x, []) for x in columns}  # 16_train is a size
    part = {x: min((PARTS[w] for w in words[x] if w in PARTS), default=9) for x in columns}
    others = [x for x in columns if part[x] > min(part.values(), default=9)]
    if 9 in part.values() or g.asked.columns.get("score"):
        return columns
    bare = {x: tuple(w for w in words[x] if w not in PARTS) for x in columns}
    left = {bare[x] for x in columns if x not in others}
    if kind == "dataset" and {bare[x] for x in others} - left:
        text = f"its columns ({some_of(columns)}) are of parts of the data, and no strategies"
        raise g.refuse(f"{text}; if they are", {"score": columns})
    return g.without(columns, others, "of another part of the data")


def of_the_metric(g: Sheet, columns: list[str], kind: str) -> tuple[list[str], dict[str, str]]:
    """Return the columns of the wanted metric, where columns are of several, and their names."""
    if g.asked.columns.get("score") or word_of(g.metric) in map(word_of, columns):
        return columns, {}
    short = {MEAN.sub("", x): x for x in columns}
    if len(short) < len(columns) or any(x == name for x, name in short.items()):
        short = {x: x for x in columns}
    found = measures_of(list(short), g.metric)
    of = {name: measure_in(x, g.metric) for x, name in short.items() if g.metric}
    exact = [x for x in of if word_of(of[x]) == word_of(g.metric)]
    own = exact if len(exact) > 1 else [x for x in of if same_metric(of[x], g.metric)]
    own = [x for x in own if not np.isin(g.columns[x].numbers, (0, 1)).all()]
    inner = {x: x.rpartition(" / ") for x in columns if g.metric}
    inner = {x: part for x, part in inner.items() if word_of(part[2]) == word_of(g.metric)}
    if found is None and g.levels is not None and len(inner) > 1:  # with columns beside them
        g.drop([x for x in columns if x not in inner], f"not of {g.metric}")
        return list(inner), {x: part[0] for x, part in inner.items()}
    rest = [x for x in columns if x not in own]
    if found is None and rest and len(own) > 1:
        if any(x.startswith(y) for x in rest for y in own):  # as its least and its most
            text = f"only {quoted(own[:4], ', ')} have {g.metric} in their names"
            raise g.refuse(text, {"score": own})
        bases = [re.sub(re.escape(g.metric), "", x, flags=re.I).strip(" _-") for x in own]
        beside = any(base and base in x for base in bases for x in rest)
        if len(rest) > _FEW * len(own) and not beside:  # names of strategies have it, perhaps
            text = f"only {quoted(own[:4], ', ')} have {g.metric} in their names"
            raise g.refuse(text, {"score": [*own, *rest]}, {"score": own})
        g.drop(rest, f"not of {g.metric}")
        found = measures_of(own, g.metric)
        if found is None or g.levels is not None:
            return own, {short[x]: base for x, base in found[0].items()} if found else {}
    if found is None:
        return columns, {name: x for x, name in short.items()}
    kept, others, metric, ask = found
    if ask:
        none = f", and none is of {g.metric}" if g.metric else ""
        text = f"its columns are of several metrics ({some_of(ask)}){none}, so say which one"
        raise g.refuse(text, *({"metric": x} for x in ask[:3]))
    for what, names in others.items():
        g.drop([short[x] for x in names], f"of {what}")
    if more := _with_a_further_word(kept, -1 if kind == "strategy" else 0):
        base = [short[x] for x in kept if x not in more and not is_summary(kept[x])]
        text = f"`{short[more[0]]}` may be of another measure than `{base[0]}`"
        raise g.refuse(text, {"score": base}, {"score": [*base, *(short[x] for x in more)]})
    over = [short[x] for x, base in kept.items() if is_summary(base) and short[x] in g.columns]
    g.drop(over if len(over) < len(kept) else [], "by its name a summary")
    kept = {x: base for x, base in kept.items() if short[x] in g.columns}
    g.metric = g.metric or metric
    renamed = {short[x]: base for x, base in kept.items()}
    return list(renamed), renamed


def _with_a_further_word(kept: Mapping[str, str], at: int) -> list[str]:
    """Return the columns named as another with one more word, as ``ami_rare``, if half are so.

    The word stands in front, as in ``root_svm``, or behind, if it is ``at`` 0 or -1.
    """
    parts = {x: (name.rpartition if at else name.partition)("_") for x, name in kept.items()}
    words = Counter(x[at] for x in parts.values() if x[-1 - at] in kept.values())
    more = [word for word, n in words.items() if n > 2 and 2 * (n + 1) >= len(kept)]
    return [x for x in kept if parts[x][at] in more]


def leave_averages_out(g: Sheet, rows: list[str], columns: list[str]) -> None:
    """Leave out the rows that are averages, ranks or wins, or sizes of models."""
    label = [str(x) for x in g.label(rows)]
    sizes = [x for x in label if role_of(x) == "size" and OF_MODELS.search(x)]
    sizes += [label[i] for i in _rows_of_counts(g, label)]
    if 0 < len(sizes) < len(label):
        g.keep(~np.isin(label, sizes), f"row `{'`, `'.join(sizes)}` (a size)")
        label = [x for x in label if x not in sizes]
    if "" in label[-2:] and label.count("") < _LAST_ROWS:
        g.keep(np.array([bool(x) for x in label]), "rows without a name")
        label = [x for x in label if x]
    by_value = set(average_rows([g.columns[x] for x in columns])) if columns else set()
    numbers = matrix_of([x for x in g.columns.values() if x.is_number])
    by_value |= set(block_averages(label, numbers))
    versus = [role_of(x) == "relative" and " vs" in x for x in label]
    by_value |= {i for i, x in enumerate(label) if x[:1] == "#" and i >= len(label) - 2}  # of wins
    small = [x.lower() in ("sum", "total") and _is_small(numbers, i) for i, x in enumerate(label)]
    named = [is_summary(x) and not small[i] for i, x in enumerate(label)]
    out = np.array([named[i] or i in by_value or versus[i] for i in range(len(label))])
    if out.any() and not out.all():
        names = quoted([*dict.fromkeys(label[i] for i in np.flatnonzero(out))], ", ")
        rows_are = f"row{'s' * (int(out.sum()) > 1)} {names}"
        g.keep(~out, f"{rows_are} (no more than a summary of the others)")


def _rows_of_counts(g: Sheet, label: Sequence[str]) -> list[int]:
    """Return the rows that are called numbers of something, and alone have whole numbers."""
    called = [i for i, x in enumerate(label) if _COUNTS.match(x) or role_of(x) == "size"]
    values = matrix_of([x for x in g.columns.values() if x.is_number])
    if not called or 2 * len(called) > len(label) or not values.size:
        return []
    none = np.isnan(values)
    whole = (none | (values % 1 == 0)).all(axis=1) & ~none.all(axis=1)
    wins = [i for i, x in enumerate(label) if is_summary(x)]
    rest = np.delete(whole, [*called, *wins])
    filled = np.abs(values - (~np.delete(none, [*called, *wins], axis=0)).sum(axis=0)) <= 1
    of_cells = (filled | none).all(axis=1)  # how many numbers each column has
    return [i for i in called if whole[i] and (of_cells[i] or not rest.any())]


def _is_small(values: np.ndarray, row: int) -> bool:
    """Return whether a row is below others in most columns, as no sum is."""
    rest = np.delete(values, row, axis=0)
    return bool(rest.size and np.mean(values[row] < np.fmax.reduce(rest)) > 0.5)
