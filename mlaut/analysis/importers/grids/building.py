"""From a reading to `Results`, with the sentence on how the table was read."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd

from mlaut.analysis.importers.grids.cells import WORDS
from mlaut.analysis.importers.grids.columns import means_of_others, measure_in
from mlaut.analysis.importers.grids.names import MEAN, MEANS, PARTS
from mlaut.analysis.importers.grids.sheet import Reading
from mlaut.analysis.results.results import Results
from mlaut.analysis.results.tables import (
    TableMetric,
    check_cells,
    even_repeats,
    repeats_are_paired,
    shared_folds,
)
from mlaut.analysis.scores.metric_names import direction
from mlaut.analysis.scores.usual_names import usual_name
from mlaut.errors import AnalysisError, some_of
from mlaut.helpers.markup import counted
from mlaut.records import NO_RESULT

_RUNS = re.compile("run|trial|iter|exp|row", re.I)  # repeats whose numbers pair nothing
_APART, _FAR = "scores of several scales", 100.0  # times, from which scales are several
_MANY = 10  # datasets
_NORMALIZED = re.compile(r"(?<!un)normali[sz]ed|^n(?=rmse|mae|mse)", re.I)  # to one scale


def results_of_reading(reading: Reading, greater_is_better: bool | None) -> Results:
    """Return the results of a reading, with the sentence on how the table was read."""
    reading = _without_means(reading)
    rows, datasets = pd.factorize(reading.dataset)
    columns, strategies = pd.factorize(reading.strategy)
    levels = [_numbered(part) for part in (reading.repeat, reading.fold)]
    sizes = [1 if level is None else int(level.max(initial=0)) + 1 for level in levels]
    shape = (len(datasets), len(strategies), *sizes)
    check_cells(len(datasets), len(strategies))
    repeat, fold = (np.zeros(len(rows), int) if x is None else x for x in levels)
    cells, spreads = np.full(shape, np.nan), np.full(shape, np.nan)
    at = (rows, columns, repeat, fold)
    _check_places(reading, np.ravel_multi_index(at, shape))
    has = ~np.isnan(reading.score)
    cells[tuple(x[has] for x in at)] = reading.score[has]
    if reading.spread is not None:
        spreads[at] = reading.spread
    expected = np.zeros((shape[0], *shape[2:]), dtype=bool)
    expected[rows, repeat, fold] = True
    nobody = np.isnan(cells).all(axis=1)  # has a score: what all lack is no loss of one
    failing = [*reading.words]
    nobody[rows[failing], repeat[failing], fold[failing]] = False
    expected &= ~(nobody & ~nobody.all(axis=(1, 2))[:, None, None])
    failed = {(rows[i], columns[i], repeat[i], fold[i]): word for i, word in reading.words.items()}
    index = _index(expected, datasets)
    wide = pd.DataFrame(np.moveaxis(cells, 1, -1)[expected], index=index, columns=list(strategies))
    arrow = reading.names.get("arrow", "") or _sign_within(reading.metric)
    reading = replace(reading, names={**reading.names, "arrow": arrow})
    if greater_is_better is not None or not arrow or direction(reading.metric) is not None:
        reading = replace(reading, names={**reading.names, "arrow": ""})
    else:
        greater_is_better = arrow.startswith("↑")
    results = Results.from_table(wide, metric=reading.metric, greater_is_better=greater_is_better)
    if reading.sources:
        results = results.with_clusters(reading.sources)
    if levels[0] is not None and _RUNS.search(reading.names["repeat"]):
        # run 0 of one has nothing to do with run 0 of another
        results = replace(results, runs=results.cells)
    paired = repeats_are_paired(results)
    results, unshared = (
        shared_folds(results, frozenset(failed), "repeat") if paired else (results, "")
    )
    results, uneven = even_repeats(results, frozenset(failed))
    results, fewer = shared_folds(results, frozenset(failed))
    uneven = "; ".join(filter(None, (unshared, uneven, fewer)))
    empty = np.argwhere(np.isnan(results.cells) & results.expected[:, None])
    reasons = {(i, k, r, f): failed.get((i, k, r, f), NO_RESULT) for i, k, r, f in empty.tolist()}
    spread = np.abs(spreads) / (100 if results.percent else 1)
    kept = not uneven and not np.isnan(spread).all()
    results = replace(results, reasons=reasons, spreads=spread if kept else None)
    scales = reading.names.get("own") or _scales(results)
    if scales:
        scales += ", so means over datasets do not compare"
        metric = TableMetric(results.metric.name, results.metric.greater_is_better, scales)
        results = replace(results, metric=metric)
    said = _sentence(reading, results, shape, uneven, len(set(failed.values())) and failed)
    return replace(
        results, how_read=said, notes=tuple(n for n in results.notes if "percent" not in n)
    )


def _check_places(reading: Reading, at: np.ndarray) -> None:
    """Raise an error where rows with two scores have one place, as those of columns with gaps."""
    each = pd.Series(reading.score, index=at).dropna().reset_index().drop_duplicates()
    again = each["index"].duplicated()
    if again.any():
        row = int(np.flatnonzero(at == each["index"][again].iloc[0])[0])
        first = f"{reading.dataset[row]!r} and {reading.strategy[row]!r}"
        text = f"{counted(int(again.sum()), 'row')} of scores would go, as others have their names"
        raise AnalysisError(
            f"{text} (the first: {first}): give columns of the same things one name"
        )


def _without_means(reading: Reading) -> Reading:
    """Return a reading without the datasets whose scores are the means of those of others."""
    table = reading.table()
    means = {table.columns[i]: of for i, of in means_of_others(table.to_numpy()).items()}
    members = {x: some_of([f"`{y}`" for y in table.columns[of]], 2) for x, of in means.items()}
    told = [f"dataset `{x}` (the mean of {of})" for x, of in members.items()]
    return replace(reading.without(means), unused=(*reading.unused, *told))


def _sign_within(metric: str) -> str:
    """Return the arrow of the metric in a longer name, as of ``source_accuracy_mean``; or empty.

    A word that is not known to leave the direction as it is, such as "drop", tells nothing.
    """
    usual = usual_name(within := measure_in(MEAN.sub("", metric)))
    words = {*re.split(r"[\W_]+", metric.lower())} - {*re.split(r"[\W_]+", within.lower())}
    words = {x for x in words if not re.fullmatch(r"\d+[a-z]{0,2}", x)}  # as in precision_at_3px
    if usual is None or not words <= {*PARTS, *MEANS, *WORDS["neutral"]}:
        return ""
    return f"{'↑' if usual.greater else '↓'} as for {usual.metric}, which is in its name"


def _scales(results: Results) -> str:
    """Return why means over datasets do not compare, where their values show several scales."""
    one = np.isfinite(results.metric.bounds).all() or _NORMALIZED.search(results.metric.name)
    if results.incomparable or one:
        return ""
    scores = results.scores
    low, high = scores.min(axis=1), scores.max(axis=1)
    size = scores.abs().median(axis=1).replace(0, np.nan)
    least = size.sort_values().iloc[int(len(size) >= _MANY) :]  # one may be too hard for all
    inside, below = (low >= 0) & (high <= 1), high < 0
    if below.any() and (low >= 0).any():
        parts = f"{counted(int(below.sum()), 'dataset')} below 0, {(low >= 0).sum()} not"
    elif inside.any() and not inside.all() and (low[~inside] > 1).all() and high.max() > _FAR / 10:
        parts = f"{inside.sum()} within 0 and 1, {(~inside).sum()} up to {high.max():.3g}"
    elif size.max() > _FAR * least.min():
        parts = f"about {size.min():.2g} on {size.idxmin()}, {size.max():.2g} on {size.idxmax()}"
    else:
        return ""
    return f"{_APART} ({parts})"


def _numbered(level: np.ndarray | None) -> np.ndarray | None:
    """Return the number of each repeat or fold; numbers are in their order, and texts sorted."""
    if level is None:
        return None
    codes, each = pd.factorize(level)
    try:
        order = np.argsort(np.array(each, dtype=float))
    except ValueError:
        order = np.argsort(each.astype(str))
    return np.argsort(order)[codes]  # the place of each


def _index(expected: np.ndarray, datasets: np.ndarray) -> pd.Index:
    where = np.argwhere(expected)
    names = np.asarray(datasets, dtype=object)[where[:, 0]]
    levels = {"dataset": names}
    levels |= {"repeat": where[:, 1]} if expected.shape[1] > 1 else {}
    levels |= {"fold": where[:, 2]} if expected.shape[2] > 1 else {}
    if len(levels) == 1:
        return pd.Index(names, name="dataset")
    return pd.MultiIndex.from_arrays(list(levels.values()), names=list(levels))


def _sentence(
    reading: Reading, results: Results, shape: tuple[int, ...], uneven: str, failed: object
) -> str:
    """Return how the table was read: nothing is used or left out that it does not name."""
    names = reading.names
    of = f" of {results.n_sources} sources ({names['source']})" if reading.sources else ""
    n = counted(len(results.datasets), "dataset")
    k = counted(len(results.strategies), "strategy", "strategies")
    parts = [f"{n} ({names['dataset']}){of}", f"{k} ({names['strategy']})"]
    percent = any("percentages" in note for note in results.notes)
    shown = f"{names['score']} as {results.metric.name}" if names["score"] else results.metric.name
    if names["score"] == f"`{results.metric.name}`":
        shown = f"{names['score']} as it stands"
    unit = f", {names['unit']}" * bool(names.get("unit"))
    parts.append(shown + " in percent, divided by 100" * percent + unit)
    if arrow := names.get("arrow"):
        better = "more" if arrow.startswith("↑") else "less"
        parts[-1] += f", of which {better} is better ({arrow[1:].strip() or arrow})"
    if form := names.get("form"):
        parts.append(form)
    for what, n_levels in (("repeat", shape[2]), ("fold", shape[3])):
        if names.get(what):
            parts.append(f"means of {counted(n_levels, what)} ({names[what]})")
    if uneven:
        parts.append(uneven)
    if isinstance(failed, dict) and failed:
        words = pd.Series(list(failed.values())).value_counts()
        parts.append("failed: " + ", ".join(f"{count} {word!r}" for word, count in words.items()))
    if results.spreads is not None:
        of = names.get("spread") or "behind them"
        middle = np.nanmedian(results.spreads)
        parts.append(f"spreads ({of}, median {middle:.2g}) are shown and not used")
    none = sum(reason == NO_RESULT for reason in results.reasons.values())
    if none:
        parts.append(
            f"no result in {none} of {int(results.expected.sum()) * len(results.strategies)} cells"
        )
    told = (_APART, reading.names.get("own") or _APART)
    if isinstance(results.metric, TableMetric) and results.metric.incomparable.startswith(told):
        parts.append(results.metric.incomparable)
    if bound := names.get("bound"):
        what, count = ("ranges", "middles") if bound[0] in "0123456789." else ("bounds", "numbers")
        parts.append(f"{what} such as {bound!r} count as their {count}")
    if reading.unused:
        parts.append(f"not used: {', '.join(reading.unused)}")
    others = "".join(f" Another reading: `{x.command()}`." for x in reading.others[:1])
    return f"Read: {'; '.join(parts)}.{others}"
