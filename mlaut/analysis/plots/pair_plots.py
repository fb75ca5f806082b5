"""Figures of pairs, intervals and times."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from mlaut.analysis.common.arguments import Share, Size, checked, positions
from mlaut.analysis.common.display import SCENARIOS, number
from mlaut.analysis.common.result_types import Pairwise, ResultTable
from mlaut.analysis.plots.canvas import (
    BLUE,
    FONT,
    GREEN,
    GREY,
    ORANGE,
    canvas,
    log_scale,
    row_size,
    style,
    text_width,
)
from mlaut.analysis.plots.look import PLAIN, Look
from mlaut.analysis.scores.metric_names import metric
from mlaut.errors import AnalysisError

_MOST_NUMBERS = 16  # strategies; with more, numbers in the squares of a matrix are too small
_CELL, _SIDE = 0.62, 12.0  # inches of a square with numbers, and of the largest matrix
_MARKS = {"(a)": ("o", BLUE), "(b)": ("s", GREEN), "(c)": ("D", ORANGE)}
# No plus and minus: beside an effect size they would be read as its sign.
_UP, _DOWN = "\u25b2", "\u25bc"


# ------------------------------------------------------------------------ pairs


@checked
def pairwise_matrix(
    pairs: Pairwise,
    *,
    alpha: Share = 0.05,
    order: Sequence[str] | None = None,
    ax: Axes | None = None,
    figsize: Size | None = None,
    look: Look = PLAIN,
) -> Figure:
    r"""Draw a matrix of all pairs that shows which strategy is better, with the main effect size.

    Parameters
    ----------
    pairs : Pairwise
        Result with p-values and a table ``"better"``. Adjust the p-values first if there are many
        pairs.
    alpha : float, default 0.05
        Level: a pair with p at or below it has a strong colour and a triangle.
    order : sequence of str, optional
        Strategies from top to bottom, best first; default the order of ``pairs``.
    ax, figsize, look : optional
        Axes, inches, names and colours: see `mlaut.analysis.Look`.

    Returns
    -------
    Figure
        A blue square with a triangle that points up means that the row is better, an orange one
        with a triangle that points down that it is worse. Pale squares show no difference at this
        level. With up to 16 strategies, squares that are large enough contain effect size and p.

    Raises
    ------
    AnalysisError
        The test has no p-values, or ``order`` has other strategies.

    Examples
    --------
    >>> from mlaut.analysis import Results, t_test
    >>> table = pd.DataFrame({"A": [0.1, 0.2, 0.3, 0.2], "B": [0.2, 0.4, 0.35, 0.3]})
    >>> pairs = t_test(Results.from_table(table, greater_is_better=False))
    >>> [text.get_text() for text in pairwise_matrix(pairs).axes[0].texts]
    ['▲\n-0.11\np .037', '▼\n0.11\np .037']
    """
    names = list(pairs.strategies if order is None else order)
    if sorted(names) != sorted(pairs.strategies):
        raise AnalysisError(f"order has to name these strategies: {', '.join(pairs.strategies)}")
    names = look.shown(names)
    look = look.apart(names)
    texts = look.labels(names)
    p = pairs.p_values.loc[names, names].to_numpy()
    better = np.sign(pairs.table("better").loc[names, names].to_numpy())
    n = len(names)
    default = min(_CELL if n <= _MOST_NUMBERS else _CELL / 2, _SIDE / n)
    labels = text_width(texts, min(FONT, 60 * default))  # as they are drawn below
    on = f", {pairs.metric}" if pairs.metric else ""
    legend = f"{_UP} row better, {_DOWN} row worse (p at most {alpha:g})\n{pairs.name}{on}"
    width = max(default * n + 0.6 * labels, text_width(legend.split("\n")) + 0.3)
    size = max(width + labels + 0.7, 4.5), default * n + labels + 1.0
    figure, axes = canvas(ax, figsize, size)
    if ax is not None:
        size = axes.get_window_extent().width / figure.dpi, axes.get_window_extent().height
        default = size[0] / n
    elif figsize is not None:
        default *= min(1.0, figsize[0] / size[0], figsize[1] / size[1])
    axes.imshow(_pair_colours(p, better, alpha), aspect="equal", interpolation="none")
    axes.set_anchor("W")  # on the left of its room, so that the text below has the rest
    _mark_pairs(axes, p, np.where(p <= alpha, better, 0), _main_effect(pairs, names), default)
    label_matrix(axes, names, names, legend, look, min(FONT, 60 * default))
    for edge in np.arange(len(names) - 1) + 0.5:
        axes.axhline(edge, color="white", linewidth=min(1.0, 16 / len(names)))
        axes.axvline(edge, color="white", linewidth=min(1.0, 16 / len(names)))
    return figure


def _mark_pairs(
    axes: Axes, p: np.ndarray, shown: np.ndarray, effect: np.ndarray | None, cell: float
) -> None:
    """Mark which strategy of each pair is better, with numbers where ``cell`` inches suffice.

    ``shown`` is 1 where the row is better, -1 where it is worse, and 0 where neither is shown.
    """
    font = min(8.0, 72 * cell / 5.5)  # points, for three lines in a square
    if len(p) > _MOST_NUMBERS or font < 5:
        for sign, mark in ((1, "^"), (-1, "v")):
            rows, columns = np.nonzero(shown == sign)
            axes.scatter(columns, rows, marker=mark, c="white", s=(30 * cell) ** 2, linewidths=0)
        return
    for row, column in np.argwhere(~np.isnan(p)).tolist():
        mark = {1: _UP, -1: _DOWN}.get(int(shown[row, column]), "")
        axes.text(
            column,
            row,
            "\n".join([mark] * bool(mark) + _numbers(effect, p, row, column)),
            ha="center",
            va="center",
            fontsize=font,
            color="white" if mark else "black",
            linespacing=1.1,
        )


def _pair_colours(p: np.ndarray, better: np.ndarray, alpha: float) -> np.ndarray:
    """Return the colour of each pair by direction: strong up to alpha, else paler for larger p."""
    picture = np.ones((*p.shape, 3))
    for sign, colour in ((1, BLUE), (-1, ORANGE)):
        here = better == sign
        with np.errstate(invalid="ignore"):
            strength = np.where(p <= alpha, 1.0, 0.3 * (1 - p))
        mixed = 1 - strength[..., None] * (1 - np.array(to_rgb(colour)))
        picture[here] = mixed[here]
    np.einsum("iij->ij", picture)[:] = 0.85
    return picture


def _main_effect(pairs: Pairwise, names: Sequence[str]) -> np.ndarray | None:
    """Return the main effect size of each pair, or None if there is no effect."""
    if not pairs.effects:
        return None
    return pairs.table(next(iter(pairs.effects))).loc[list(names), list(names)].to_numpy()


def _numbers(effect: np.ndarray | None, p: np.ndarray, row: int, column: int) -> list[str]:
    """Return the lines of text in a square: effect size and p."""
    value = p[row, column]
    text = "p <.001" if value < 0.001 else f"p {value:.3f}".replace("0.", ".")
    return [text] if effect is None else [number(effect[row, column], 2), text]


def label_matrix(
    axes: Axes, down: Sequence[str], across: Sequence[str], legend: str, look: Look, font: float
) -> None:
    """Name the rows of a matrix on the left and its columns above, and write the legend below."""
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(across)), look.labels(across), rotation=60, ha="left", fontsize=font)
    axes.set_yticks(range(len(down)), look.labels(down), fontsize=font)
    look.finish(axes, down, legend="below")
    look.finish(axes, across, "x", legend="below")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(legend, fontsize=FONT, loc="left")


# -------------------------------------------------------------------- intervals


@checked
def forest_plot(
    tables: Mapping[str, ResultTable] | ResultTable,
    *,
    order: Sequence[str] | None = None,
    ax: Axes | None = None,
    figsize: Size | None = None,
    look: Look = PLAIN,
) -> Figure:
    """Draw estimates with their intervals: a line for each strategy, a marker for each scenario.

    Parameters
    ----------
    tables : ResultTable, or mapping of str to ResultTable
        Estimates of one quantity, for example ``Comparison.estimates``, `elo_ratings` or
        `average_ranks`. Each table has the columns low and high, the estimate as ``value`` or in
        the first column, and one row for each strategy.
    order : sequence of str, optional
        Strategies from top to bottom; default by the values in the first table, the best on top.
    ax, figsize, look : optional
        Axes, inches, names and colours: see `mlaut.analysis.Look`.

    Examples
    --------
    >>> from mlaut.analysis import Results, mean_estimates
    >>> table = pd.DataFrame({"A": [0.1, 0.2, 0.3, 0.2], "B": [0.2, 0.4, 0.35, 0.3]})
    >>> figure = forest_plot(mean_estimates(Results.from_table(table, greater_is_better=False)))
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['A', 'B']
    """
    drawn = [tables] if isinstance(tables, ResultTable) else list(tables.values())
    if not drawn:
        raise AnalysisError("there are no estimates to draw")
    for table in drawn:
        lacks = {"low", "high"} - set(table.frame.columns)
        if lacks:
            raise AnalysisError(f"{table.name!r} has no column {', '.join(sorted(lacks))}")
    what = _value_of(drawn[0].frame)
    best_first = drawn[0].frame[what].sort_values(ascending=not _falls(drawn[0], what))
    names = look.shown(list(best_first.index if order is None else order))
    look = look.apart(names)
    labels = look.labels(names)
    for table in drawn:
        positions("strategy", names, [str(name) for name in table.frame.index])
    gap = 0.62 / len(drawn)
    row, font = row_size(len(names))
    height = row * len(names) * max(1.0, 0.62 * len(drawn)) + 1.2
    figure, axes = canvas(ax, figsize, (7.5, height), names=labels)
    for place, table in enumerate(drawn):
        frame = table.frame.loc[names]
        rows = np.arange(len(names)) + (place - (len(drawn) - 1) / 2) * gap
        mark, colour = _MARKS[table.scenario]
        colours = [look.colour(name, colour) for name in names]
        axes.hlines(rows, frame["low"], frame["high"], colors=colours, linewidth=1.6)
        label = f"{table.scenario} {SCENARIOS[table.scenario]}"
        value = frame[_value_of(frame)]
        axes.scatter(value, rows, s=20, marker=mark, c=colours, label=label, zorder=3)
    axes.set_yticks(range(len(names)), labels, fontsize=font)
    axes.set_ylim(len(names) - 0.4, -0.6)
    label = drawn[0].metric or "value" if what == "value" else what.replace("_", " ")
    style(axes, label, grid="x", left=False)
    # Above the axes, where it covers no interval.
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), fontsize=FONT, frameon=False)
    look.finish(axes, names)
    return figure


def _value_of(frame: pd.DataFrame) -> str:
    """Return the column of the estimates: ``value``, or the first, such as ``Elo``."""
    return "value" if "value" in frame else str(frame.columns[0])


def _falls(table: ResultTable, what: str) -> bool:
    """Return whether the largest value is the best one, as far as the metric is known."""
    if what != "value":
        return what == "Elo"
    try:
        return metric(table.metric).greater_is_better
    except AnalysisError:
        return False


# ------------------------------------------------------------------------ times


@checked
def pareto_front(scores: pd.Series, seconds: pd.Series, *, greater_is_better: bool) -> list[str]:
    """Return the strategies that no other beats in both score and time, the fastest first.

    Examples
    --------
    >>> scores, seconds = pd.Series({"A": 0.9, "B": 0.8, "C": 0.7}), pd.Series([9.0, 2, 3])
    >>> pareto_front(scores, seconds.set_axis(scores.index), greater_is_better=True)
    ['B', 'A']
    """
    gain = scores if greater_is_better else -scores
    table = pd.DataFrame({"gain": gain, "seconds": seconds}).dropna()
    table = table.sort_values(["seconds", "gain"], ascending=[True, False], kind="stable")
    ahead = table["gain"] > table["gain"].cummax().shift(fill_value=-np.inf)
    return [str(name) for name in table.index[ahead]]


@checked
def time_plot(
    scores: pd.Series,
    seconds: pd.Series,
    *,
    greater_is_better: bool,
    score_name: str = "score",
    ax: Axes | None = None,
    figsize: Size | None = None,
    look: Look = PLAIN,
) -> Figure:
    """Draw scores against times, and mark the strategies that no other beats in both.

    Parameters
    ----------
    scores, seconds : Series
        Score and seconds (above 0) by strategy. A strategy without both has no point.
    greater_is_better : bool
        Direction of the scores.
    score_name : str
        Label of the axis of scores.
    ax, figsize, look : optional
        Axes, inches, names and colours: see `mlaut.analysis.Look`.

    Returns
    -------
    Figure
        Times are on a logarithmic scale. The names never overlap: they are in a column on the
        right, each with a line to its point. Strategies that no other beats in both score and time
        have bold names and filled points.
    """
    table = pd.DataFrame({"score": scores, "seconds": seconds}).dropna()
    table = table[table["seconds"] > 0].sort_values("score", ascending=False, kind="stable")
    if table.empty:
        raise AnalysisError("no strategy has both a score and a time above 0")
    front = pareto_front(table["score"], table["seconds"], greater_is_better=greater_is_better)
    best_first = table.index if greater_is_better else table.index[::-1]
    named = table[table.index.isin(look.shown(list(best_first)))]
    look = look.apart(named.index)
    height = max(3.2, row_size(len(named))[0] * len(named) + 1)
    figure, axes = canvas(ax, figsize, (7.5, height), names=look.labels(named.index))
    on_front = table.loc[front]
    if len(front) > 1:
        axes.step(on_front["seconds"], on_front["score"], where="post", color=ORANGE, linewidth=1.2)
    edges = [
        look.colour(name, ORANGE) if name in named.index else "#BBBBBB" for name in table.index
    ]
    fills = [
        edge if name in front else "white" for name, edge in zip(table.index, edges, strict=True)
    ]
    axes.scatter(
        table["seconds"], table["score"], s=30, c=fills, edgecolors=edges, linewidths=1.2, zorder=3
    )
    name_points(axes, named, front, look)
    style(axes, "training seconds", score_name)
    log_scale(axes, float(table["seconds"].max() / table["seconds"].min()))
    look.finish(axes, list(named.index), "")
    return figure


def name_points(axes: Axes, table: pd.DataFrame, bold: Sequence[str], look: Look = PLAIN) -> None:
    """Write the names in a column beside the axes, in the order of the heights of their points.

    ``table`` has one row for each name, with the vertical and horizontal position of its point.
    """
    heights = np.linspace(1, 0, len(table) + 2)[1:-1]
    for (name, (score, second)), height in zip(table.iterrows(), heights, strict=True):
        axes.annotate(
            look.label(name),
            (second, score),
            xytext=(1.04, height),
            textcoords="axes fraction",
            ha="left",
            va="center",
            color=look.colour(name, "black"),
            fontsize=row_size(len(table))[1],
            fontweight="bold" if name in bold else "normal",
            arrowprops={
                "arrowstyle": "-",
                "color": GREY,
                "linewidth": 0.5,
                "alpha": 0.6,
                "relpos": (0, 0.5),
                "shrinkB": 4,
            },
        )
