"""The table of a comparison as papers print it."""

import pandas as pd

from mlaut.analysis.common.display import number
from mlaut.analysis.common.latex import escape, table_environment
from mlaut.analysis.common.numerics import RELATIVE_NOISE
from mlaut.analysis.deciding.numbers import Numbers


def paper_table(stats: Numbers, caption: str, label: str) -> str:
    """Return the table of `Comparison.grouped` as a float; see `Comparison.paper_table`."""
    frame, metric = stats.grouped(), stats.results.metric
    columns: dict[str, list[str]] = {}
    if "mean" in frame:
        means, up = frame["mean"], metric.greater_is_better
        # Where failures leave some without a mean, the best of the others is not the best.
        known = list(map(number, means)) if means.isna().any() else _bold(means, up)
        columns[f"mean {escape(metric.name)}"] = known
        ends = zip(frame["low"], frame["high"], frame["mean"].isna(), strict=True)
        columns[f"{number(100 * stats.confidence)}\\,\\% interval"] = [
            "-" if none else f"[{number(low)}, {number(high)}]" for low, high, none in ends
        ]
    columns["average rank"] = _bold(frame["average rank"], False)
    if "failures" in frame:
        columns["failures"] = [str(n) for n in frame["failures"]]
    columns["group"] = [escape(letters) for letters in frame["groups"]]
    rows = list(zip(map(escape, map(str, frame.index)), *columns.values(), strict=True))
    texts = [caption.strip(), *_explained(stats, frame)]
    return table_environment(["strategy", *columns], rows, " ".join(filter(None, texts)), label)


def _bold(values: pd.Series, greatest: bool) -> list[str]:
    """Return numbers as text, the best ones in bold; a difference of rounding noise is a tie."""
    best = values.max() if greatest else values.min()
    tie = RELATIVE_NOISE * max(abs(best), 1e-300)
    return [
        f"\\textbf{{{number(value)}}}" if abs(value - best) <= tie else number(value)
        for value in values
    ]


def _explained(stats: Numbers, frame: pd.DataFrame) -> list[str]:
    """Return the sentences of the caption on what was computed."""
    results, pairs = stats.results, stats.leading_pairs
    direction = "higher" if results.metric.greater_is_better else "lower"
    texts = [
        f"{len(frame)} strategies on N = {len(results.datasets)} datasets, by average rank (1 is "
        f"best); {results.metric.name}: {direction} is better; bold: the best.",
        f"Strategies that share a letter are not shown to differ ({pairs.name}, level "
        f"{stats.alpha:g}).",
    ]
    if "failures" in frame:
        texts.append("Failures: datasets without a result of the strategy, which count as last.")
    if results.gaps:
        texts.append(f"Missing cells: {'; '.join(results.gaps)}.")
    return texts
