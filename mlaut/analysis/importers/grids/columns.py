"""Meanings of columns of numbers by their values: averages, counts, flags, other measures."""

import re
from collections.abc import Collection, Sequence
from itertools import combinations, islice

import numpy as np

from mlaut.analysis.importers.grids.cells import WORDS, Column
from mlaut.analysis.importers.grids.names import (
    MEANS,
    PERCENT,
    is_summary,
    same_metric,
    without_unit,
    word_of,
)
from mlaut.analysis.scores.usual_names import part_of, usual_name

_MANY = 5  # rows from which whole numbers among fractions are no accident
_FEWEST = 2  # rows with all cells, if the digits are fine
_LEAST = 3  # rows, and columns, from which a mean over them is no accident
_ROUNDED = 0.005  # of the largest score: printed averages have two or three digits
_MOST_AGREE = 0.9  # share of rows in which a printed mean must be one: authors mistype
_TELLING = 0.2  # of the spread of numbers, above which the last digit says nothing
_LARGEST = 1e150
_SMALL, _PERCENT_STEP = 5.0, 0.01  # of scores in percent: no score, and their printed digits
_SIGNS = " _./:()|~-@"  # between the parts of a name
_ENDING, _SMALLER = 5, 3  # letters of an ending, and times by which spreads are smaller
_MOST_COLUMNS = 100  # of which some may have another as their mean
_EXACT = 1e-6  # of numbers with more digits than people print
_CHANCE = 0.001  # that a column is the mean of others by chance
_OUTSIDE = 10.0  # times the range of all others


def matrix_of(columns: Sequence[Column]) -> np.ndarray:
    """Return the numbers of columns, without those that are infinite or have no squares."""
    if not columns:
        return np.zeros((0, 0))
    values = np.column_stack([x.numbers for x in columns])
    return np.where(np.abs(values) < _LARGEST, values, np.nan)


def step_of(values: np.ndarray) -> float:
    """Return one unit of the last printed digit of numbers, at most six digits."""
    known = values[~np.isnan(values)][:200]
    for digits in range(7):
        if np.allclose(known, np.round(known, digits), rtol=0, atol=1e-9):
            return float(10.0**-digits)
    return 1e-6


def is_mean(one: np.ndarray, others: np.ndarray) -> bool:
    """Return whether numbers are the means of rows of others, to their printed digits."""
    whole = ~np.isnan(others).any(axis=1)
    has = ~np.isnan(one) & (whole if whole.sum() >= _FEWEST else True)
    least = _LEAST if has.sum() < 2 * _LEAST else 2
    counted = (~np.isnan(others)).sum(axis=1) >= least
    if has.sum() < _FEWEST or not counted[has].all() or np.ptp(one[has]) == 0:
        return False
    near = 1.01 * step_of(one[has])
    telling = _TELLING if has.sum() >= _LEAST else _TELLING / 4
    if near > telling * np.nanstd(others[has]):  # digits too coarse to prove anything
        return False
    apart = np.abs(np.nanmean(others[has], axis=1) - one[has])
    return bool(np.mean(apart <= near) >= _MOST_AGREE and apart.max() <= 10 * near)


def average_columns(
    columns: Sequence[Column], named: bool = False, strict: bool = False
) -> list[str]:
    """Return the columns at the ends that are the mean of the others to their digits.

    With ``named``, also those that are called so and are near the mean, median or spread; unless
    ``strict``, all that are called so and nothing else.
    """
    members = [x for x in columns if not is_summary(x.name)]
    found = []
    for at, column in enumerate(members):
        if len(members) >= _LEAST and (at < 2 or at > len(members) - 3):
            others = matrix_of([x for x in members if x is not column])
            if len(column.numbers) >= _LEAST and is_mean(column.numbers, others):
                found.append(column.name)
    found = found if 2 * len(found) < len(members) else []  # or columns are nearly equal
    if named:
        members = [x for x in members if x.name not in found]
        named_so = [x for x in columns if is_summary(x.name)]
        found += [x.name for x in named_so if not strict or near_middle(x.numbers, members)]
    return found


def means_of_others(values: np.ndarray) -> dict[int, list[int]]:
    """Return the columns that are means of others, and of which, whatever they are called.

    A mean of all others is one to its printed digits. That of some must be exact, as programs
    write it: few printed digits agree with some subset by chance. No other column can be one by
    chance, as far as the columns' own differences tell.
    """
    found, left = dict[int, list[int]](), [*range(values.shape[1])]
    while len(left) > _LEAST <= len(values) and (new := _mean_of_others(values[:, left])):
        found[left[new[0]]] = [left[x] for x in new[1]]
        del left[new[0]]
    return found


def _mean_of_others(values: np.ndarray) -> tuple[int, list[int]] | None:
    """Return the first column that is a mean of others, and these."""
    known = ~np.isnan(values)
    sums, counts = np.nansum(values, axis=1, keepdims=True), known.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.abs((sums - values) / (counts - known) - values)
    near = np.nanmedian(np.where(known, apart, np.inf), axis=0)
    perhaps = near <= max(step_of(values.T[[0]]), step_of(values.T[[-1]]))
    some = values.shape[1] <= _MOST_COLUMNS
    for i in np.flatnonzero(known.any(axis=0) & (perhaps | some)):
        others = [x for x in range(values.shape[1]) if x != i]
        every = perhaps[i] and is_mean(values[:, i], values[:, others])
        members = others if every else _exact_members(values[:, i], values[:, others], others)
        if members and _is_no_chance(values[:, i], values[:, members], values.shape[1]):
            return int(i), members
    return None


def _exact_members(one: np.ndarray, others: np.ndarray, names: Sequence[int]) -> list[int]:
    """Return which of others numbers are the mean of, all digits of it; none if they are not."""
    whole = ~np.isnan(others).any(axis=1) & ~np.isnan(one)
    if whole.sum() < _MANY or len(names) > _MOST_COLUMNS or step_of(one[whole]) > _EXACT:
        return []
    from scipy.optimize import nnls  # imported late: few tables need it

    one, others = one[whole], others[whole]
    try:
        weights, apart = nnls(others, one)
    except RuntimeError:  # it does not converge
        return []
    members = np.flatnonzero(weights > _EXACT)
    near = apart <= _EXACT * np.linalg.norm(one) and len(members) > 1
    alike = near and np.ptp(weights[members]) < _EXACT
    return [names[x] for x in members.tolist()] if alike else []


def _is_no_chance(one: np.ndarray, members: np.ndarray, n_columns: int) -> bool:
    """Return whether numbers near the means of others in each row are hardly so by chance."""
    whole = ~np.isnan(members).any(axis=1) & ~np.isnan(one)
    values = members[whole]
    if len(values) < _LEAST:
        return False
    own = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
    near = step_of(one[whole])
    first, each = (min(1.0, near / max(x.std(), 1e-12)) for x in (values.mean(axis=0), own))
    return bool(n_columns * first * each ** (len(values) - 1) < _CHANCE)


def near_middle(values: np.ndarray, members: Sequence[Column]) -> bool:
    """Return whether numbers are near the mean, median or spread of others, in complete rows."""
    others = matrix_of(members)
    whole = ~np.isnan(others).any(axis=1) & ~np.isnan(values) if others.size else np.zeros(0, bool)
    if not whole.any():
        return False
    own, others = values[whole], others[whole]
    near = _ROUNDED * np.max(np.abs(others))
    middles = [np.mean(others, axis=1), np.median(others, axis=1)]
    if others.shape[1] > 1:
        middles.append(np.std(others, axis=1, ddof=1))
    return any(np.allclose(own, middle, 0, near) for middle in middles)


def average_rows(columns: Sequence[Column]) -> list[int]:
    """Return the first or last row, if it is the mean of the others in every column."""
    values = matrix_of(columns)
    n = len(values)
    whole = [i for i in (n - 1, 0) if n > _LEAST and not np.isnan(values[i]).any()]
    found = (i for i in whole if is_mean(values[i], np.delete(values, i, axis=0).T))
    return [*islice(found, 1)]


def block_averages(names: Sequence[str], values: np.ndarray) -> list[int]:
    """Return the rows that are called an average, and are that of rows above or below them."""
    called = [bool(re.search(r"(?<![a-z])(?:avg|average|mean)(?![a-z])", x.lower())) for x in names]
    if not any(called) or sum(called) > len(called) / 2 or not values.size:
        return []
    found = []
    rows = [i for i, summary in enumerate(called) if not summary]
    for at in np.flatnonzero(called).tolist():
        own = values[at]
        above, below = [i for i in rows if i < at], [i for i in rows if i > at]
        blocks = [above[-n:] for n in range(2, len(above) + 1)]
        blocks += [below[:n] for n in range(2, len(below) + 1)]
        near = 1.01 * step_of(own)
        if near > _TELLING * np.nanstd(values):
            continue
        if any(np.all(np.abs(values[block].mean(axis=0) - own) <= near) for block in blocks):
            found.append(at)
    return found


def best_marked(columns: Sequence[Column]) -> str:
    """Return "rows" or "columns": in which the best is marked, as bold; empty if neither."""
    marked = [
        x.bold if x.bold is not None else np.zeros(len(x.numbers), dtype=np.bool_) for x in columns
    ]
    if len(columns) < 2 or not any(x.any() for x in marked):
        return ""
    values, bold = matrix_of(columns), np.column_stack(marked)
    answers = []
    for name, table, mark in (("rows", values, bold), ("columns", values.T, bold.T)):
        share = [0.0]
        for best in (np.fmax.reduce, np.fmin.reduce):
            top = table == best(table, axis=1)[:, None]
            share.append(float(np.mean((top & mark).any(axis=1) & ~(mark & ~top).any(axis=1))))
        if max(share) >= 0.8 and len(table) >= 2:
            answers.append(name)
    return answers[0] if len(answers) == 1 else ""


def odd_columns(columns: Sequence[Column], kind: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the columns that are surely no scores beside the others, and those that may be none.

    Parameters
    ----------
    columns : sequence of Column
    kind : {"dataset", "strategy"}
        What the rows are; if they are strategies, columns may have different scales.
    """
    printed = [x for x in columns if x.spreads is not None and x.texts is not None]
    bare = [x for x in columns if x.spreads is None] if len(printed) >= _LEAST else []
    odd, unclear = dict[str, str](), dict[str, str]()
    for x in bare if 2 * len(bare) <= len(printed) else []:
        own, rest = x.numbers, matrix_of(printed)
        beyond = np.nanmin(own) < min(0, np.nanmin(rest)) or np.nanmax(own) > 2 * np.nanmax(rest)
        (odd if beyond else unclear)[x.name] = "no spreads beside the others'"
    columns = [x for x in columns if x.name not in {*odd, *unclear}]
    known = {x.name: x.numbers[np.abs(x.numbers) < _LARGEST] for x in columns}
    known = {name: values for name, values in known.items() if len(values)}
    whole = [name for name, values in known.items() if (values % 1 == 0).all()]
    parts = [name for name in known if name not in whole]
    if len(parts) < 2 or len(parts) < 0.5 * len(known):
        return odd, unclear
    top = max(known[name].max() for name in parts)
    low = min(known[name].min() for name in parts)
    for name in whole:
        values = known[name]
        if set(values) == {0.0, 1.0} and len(values) >= _LEAST:
            (odd if len(values) >= _MANY else unclear)[name] = "only 0 and 1"
        elif name in {x.name for x in printed}:
            continue  # with spreads, as scores are
        elif kind == "dataset" and len(values) >= _MANY and set(values) in ({0.0}, {1.0}):
            sure = word_of(name).split("_")[-1] in WORDS["sizes"]  # as seq_anomaly
            (odd if sure else unclear)[name] = f"{values[0]:g} throughout"  # a flag, or perfect
        elif kind == "strategy" and values.max() < min(known[x].min() for x in parts) / _OUTSIDE:
            odd[name] = "whole numbers below the others"
        elif (values.max() > 1.5 * top and (kind == "dataset" or _shares(known, parts))) or (
            len(values) >= 5
            and np.ptp(values) > 0
            and top <= 1
            and (values.max() > 1 or values.min() < low)
        ):
            odd[name] = "whole numbers beyond the others"
    if kind == "strategy" and not _shares(known, parts, 1.0):
        return odd, unclear
    for name in parts:
        others = max(np.abs(known[x]).max() for x in parts if x != name)
        if known[name].min() > _OUTSIDE * others:
            unclear[name] = "beyond ten times the others"
    return odd, unclear


def scales_apart(columns: Sequence[Column]) -> list[str]:
    """Return the few columns that are on another scale than the others, of a metric up to 1.

    They are beyond 1 where the others are not; or the others are in percent, and these have one
    digit more and stay below 5.
    """
    top = {x.name: np.fmax.reduce(np.abs(x.numbers)) for x in columns}
    beyond = [name for name in top if top[name] > 1]
    if len(beyond) < len(columns) / 2:
        return beyond
    step = {x.name: step_of(x.numbers) for x in columns}
    small = [name for name in top if top[name] < _SMALL]
    usual = min((step[name] for name in top if name not in small), default=0.0)
    few = [name for name in small if step[name] < usual]
    return few if 2 * len(few) < len(columns) and usual >= _PERCENT_STEP else []


def _shares(known: dict[str, np.ndarray], parts: Sequence[str], most: float = 100.0) -> bool:
    """Return whether most columns are on one scale, from 0 to 1 or to 100."""
    tops = np.array([known[name].max() for name in parts])
    lows = np.array([known[name].min() for name in parts])
    return bool(np.mean((tops <= 1.001 * most) & (lows >= -most)) >= 0.7)


Measures = tuple[dict[str, str], dict[str, list[str]], str, list[str]]


def measures_of(names: Sequence[str], wanted: str) -> Measures | None:
    """Return the columns of the wanted measure, where each name has a measure and a strategy.

    Returns
    -------
    tuple, str or None
        The strategy of each column that is kept; the columns of each other measure; the metric, if
        the names tell it; and the metrics from which one must be chosen. None says that columns are
        of one measure.
    """
    found: dict[str, dict[str, str]] = {}
    split = [{name: _split(name, side, wanted) for name in names} for side in (0, 1, 2)]
    told = [any(x and same_metric(x[0], wanted) for x in each.values()) for each in split]
    for side in sorted((0, 1, 2), key=lambda side: not told[side]):  # MS-COCO FID is no ms
        each = split[side]
        known = {x[1] for x in each.values() if x}
        found = {}
        for name in names:
            parts = each[name] or (_with_base(name, known, side) if side < 2 else None)
            if parts is None:
                found = {}
                break
            found.setdefault(parts[0], {})[parts[1]] = name
        bases = [base for each in found.values() for base in each]
        if len(set(bases)) < len(bases) if len(found) > 1 else len(bases) > 1:
            break
    else:
        return None
    scored = [x for x in found if usual_name(x) is not None or same_metric(x, wanted)]
    mine = [x for x in scored if wanted and same_metric(x, wanted)]
    exact = [x for x in mine if word_of(x) == word_of(wanted)]
    tested = [x for x in mine if part_of(x) == "test"]
    for what in tested if exact and not part_of(exact[0]) else ():  # of a name, as isic_test
        if not {*found[what]} & {*found[exact[0]]}:
            found[exact[0]] |= {f"{base} test": name for base, name in found.pop(what).items()}
    mine = exact or tested or mine
    if not mine and wanted:
        near = usual_name(wanted)
        alike = [x for x in scored if near and re.match(rf"{near.metric}@", _metric_of(x))]
        return {}, {}, "", [*map(word_of, dict.fromkeys([*alike, *(scored or found)]))]
    if not mine and len(scored) > 1:
        return {}, {}, "", scored
    if not mine and not scored:
        return None
    mine = mine or scored
    kept = {name: base for base, name in found.pop(mine[0]).items()}
    return kept, {what: list(each.values()) for what, each in found.items()}, word_of(mine[0]), []


def _metric_of(name: str) -> str:
    usual = usual_name(name)
    return usual.metric if usual else name


def measure_in(name: str, wanted: str = "") -> str:
    """Return the metric at an end of a name, as ``"ppl"`` of ``"chat (ppl)"``; empty without."""
    parts = [part[0] for side in (1, 0) if (part := _split(name, side, wanted))]
    return next((x for x in parts if usual_name(x) or same_metric(x, wanted)), "")


def _split(name: str, side: int, wanted: str = "") -> tuple[str, str] | None:
    """Return the measure and the strategy in a name, with the measure in front or behind.

    With a ``side`` of 2 it stands between two parts, as in ``XTD recall@1 de``.
    """
    signs = [x.start() for x in re.finditer(r"[\s_./:(|~-]+|@(?=[a-zA-Z]{2})", name)]
    for start, end in combinations(signs, 2) if side == 2 else ():
        if usual_name(measure := name[start:end].strip(_SIGNS)) or same_metric(measure, wanted):
            return word_of(measure), f"{name[:start]} {name[end:].strip(_SIGNS)}"
    if side == 2:
        return None
    cuts = signs if side == 0 else signs[::-1]
    best = None
    for cut in cuts:
        left, right = name[:cut].strip(_SIGNS), name[cut:].strip(_SIGNS)
        left += ")" * (left.count("(") - left.count(")"))  # as "Clips (noisy) WER"
        right += ")" * (right.count("(") - right.count(")"))  # as "Leeds AUC (95% CI)"
        measure, base = (left, right) if side == 0 else (right, left)
        if measure and base and (_is_measure(measure) or same_metric(measure, wanted)):
            best = (word_of(measure), base)  # the longest name of a measure counts
    return best


def _with_base(name: str, bases: Collection[str], side: int) -> tuple[str, str] | None:
    """Return the measure and the strategy in a name with a known strategy beside some measure."""
    for base in sorted(bases, key=lambda x: (-len(x), x)):  # the longest name of a strategy counts
        ends = name.endswith(base) if side == 0 else name.startswith(base)
        measure = (name.removesuffix(base) if side == 0 else name.removeprefix(base)).strip(_SIGNS)
        if ends and measure:
            return word_of(measure), base
    return None


def _is_measure(word: str) -> bool:
    word = without_unit(word)
    return usual_name(word) is not None or word_of(word) in WORDS["measures"]


def _is_mean_of(word: str) -> bool:
    return word.lower() in MEANS or usual_name(word) is not None


def spreads_with_ending(columns: Sequence[Column]) -> dict[str, list[str]]:
    """Return the column of spreads of each column, behind it and with one ending, as ``svm_d``.

    All are far smaller than what they are the spreads of.
    """
    means, spreads = columns[::2], columns[1::2]
    ends = {b.name.removeprefix(a.name) for a, b in zip(means, spreads, strict=False)}
    alike = [b.name.startswith(a.name) for a, b in zip(means, spreads, strict=False)]
    if len(means) != len(spreads) or len(means) < 2 or not all(alike) or len(ends) > 1:
        return {}
    sizes = [[np.nanmedian(np.abs(x.numbers)) for x in of] for of in (means, spreads)]
    small = len(ends.pop()) < _ENDING and np.all(_SMALLER * np.array(sizes[1]) < sizes[0])
    least = all(np.nanmin(x.numbers) >= 0 for x in spreads)
    pairs = zip(means, spreads, strict=True) if small and least else ()
    return {a.name: [b.name] for a, b in pairs}


def spreads_of(names: Sequence[str]) -> dict[str, list[str]]:
    """Return the columns of spreads of each column of means, if all spreads have one.

    Examples
    --------
    >>> spreads_of(["a_mean", "a_std", "b_mean", "b_std"]), spreads_of(["a", "b", "c_std"])
    ({'a_mean': ['a_std'], 'b_mean': ['b_std']}, {})
    """
    means: dict[str, str] = {name: name for name in names}
    spreads: dict[str, str] = {}
    for name in names:
        bare = PERCENT.sub("", name.strip(" ()"))
        means[name] = bare if means[name] == name else means[name]
        parts = re.split(r"[\s_./|()-]+", bare)
        for at in (-1, 0):
            rest = (bare[: -len(parts[at])] if at else bare[len(parts[0]) :]).strip(" _./|()-")
            if len(parts) > 1 and rest and parts[at].lower() in WORDS["spreads"]:
                spreads.setdefault(name, rest)
            elif len(parts) > 1 and rest and means[name] == name and _is_mean_of(parts[at]):
                means[name] = rest
    of_base = {base: name for name, base in means.items() if name not in spreads}
    if len(of_base) + len(spreads) < len(names):  # several measures of one strategy
        means = {name: name for name in names}
        of_base = {name: name for name in names if name not in spreads}
    of_base = {name: name for name in means if name not in spreads} | of_base
    found: dict[str, list[str]] = {}
    for name, base in spreads.items():
        if base not in of_base:
            return {}
        found.setdefault(of_base[base], []).append(name)
    return found
