"""Figures of pairs, intervals and times.

The functions return a figure and do not show it. The colours are those of Okabe and Ito, which
colour-blind readers can distinguish; signs and shapes repeat what the colours show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from mlaut.analysis.common.arguments import checked, positions
from mlaut.analysis.common.display import SCENARIOS, number
from mlaut.analysis.common.result_types import Pairwise, ResultTable
from mlaut.analysis.plots.rank_plots import BLUE, GREY, ORANGE, NotebookFigure
from mlaut.analysis.plots.rank_plots import _text_width as text_width
from mlaut.errors import AnalysisError

__all__ = ["forest_plot", "pairwise_matrix", "pareto_front", "time_plot"]

_FONT = 9
_ROW = 0.24  # inches for each line of text
_MOST_NUMBERS = 16  # strategies; with more, numbers in the squares of a matrix are too small
_MARKS = {"(a)": ("o", BLUE), "(b)": ("s", "#009E73"), "(c)": ("D", ORANGE)}


# ------------------------------------------------------------------------ pairs


@checked
def pairwise_matrix(
    pairs: Pairwise, *, alpha: float = 0.05, order: Sequence[str] | None = None
) -> Figure:
    r"""Draw a matrix of all pairs that shows which strategy is better, with the main effect size.

    Parameters
    ----------
    pairs : Pairwise
        Result with p-values and a table ``"better"``. Adjust the p-values first if there are many
        pairs.
    alpha : float, default 0.05
        Level: a pair with p at or below it has a strong colour and a sign.
    order : sequence of str, optional
        Strategies from top to bottom, best first; default the order of ``pairs``.

    Returns
    -------
    Figure
        Blue with ``+``: the row is better; orange with a minus sign: the row is worse; pale: no
        difference was shown at this level. Up to 16 strategies, the squares contain the effect size
        and p.

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
    ['+\n-0.11\np .037', '−\n0.11\np .037']
    """
    names = list(pairs.strategies if order is None else order)
    if sorted(names) != sorted(pairs.strategies):
        raise AnalysisError(f"order has to name these strategies: {', '.join(pairs.strategies)}")
    p = pairs.p_values.loc[names, names].to_numpy()
    better = np.sign(pairs.table("better").loc[names, names].to_numpy())
    large = len(names) > _MOST_NUMBERS
    cell = 0.3 if large else 0.62  # inches
    side, labels = cell * len(names), text_width(names)
    size = max(side + 1.5 * labels + 0.4, 4.5), side + labels + 1.0
    figure = NotebookFigure(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    axes.imshow(_pair_colours(p, better, alpha), aspect="equal", interpolation="none")
    effect = None if large else _main_effect(pairs, names)
    for row, column in np.argwhere(~np.isnan(p)).tolist():
        sign = _sign(better[row, column]) if p[row, column] <= alpha else ""
        lines = [sign] if large else [sign, *_numbers(effect, p, row, column)]
        if any(lines):
            axes.text(
                column,
                row,
                "\n".join(line for line in lines if line),
                ha="center",
                va="center",
                fontsize=_FONT if large else 8,
                color="white" if sign else "black",
                linespacing=1.1,
            )
    _label_matrix(axes, names)
    on = f", {pairs.metric}" if pairs.metric else ""
    told = f"+ row better, − row worse (p at most {alpha:g})\n{pairs.name}{on}"  # noqa: RUF001
    figure.supxlabel(told, fontsize=_FONT, x=0.02, ha="left")
    return figure


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


def _sign(better: float) -> str:
    return {1.0: "+", -1.0: "−"}.get(float(better), "")  # noqa: RUF001 - the sign, not a hyphen


def _main_effect(pairs: Pairwise, names: Sequence[str]) -> np.ndarray | None:
    """Return the main effect size of each pair, or None if there is no effect."""
    if not pairs.effects:
        return None
    return pairs.table(next(iter(pairs.effects))).loc[list(names), list(names)].to_numpy()


def _numbers(effect: np.ndarray | None, p: np.ndarray, row: int, column: int) -> list[str]:
    """Return the lines of text in a square: effect size and p."""
    value = p[row, column]
    told = "p <.001" if value < 0.001 else f"p {value:.3f}".replace("0.", ".")
    return [number(effect[row, column], 2), told] if effect is not None else [told]


def _label_matrix(axes: Axes, names: Sequence[str]) -> None:
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(names)), names, rotation=60, ha="left", fontsize=_FONT)
    axes.set_yticks(range(len(names)), names, fontsize=_FONT)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for edge in np.arange(len(names) - 1) + 0.5:
        axes.axhline(edge, color="white", linewidth=1)
        axes.axvline(edge, color="white", linewidth=1)


# -------------------------------------------------------------------- intervals


@checked
def forest_plot(
    tables: Mapping[str, ResultTable] | ResultTable, *, order: Sequence[str] | None = None
) -> Figure:
    """Draw estimates with their intervals: a line for each strategy, a marker for each scenario.

    Parameters
    ----------
    tables : ResultTable, or mapping of str to ResultTable
        Estimates of one quantity, for example ``Comparison.estimates``. Each table has the columns
        value, low and high, and one row for each strategy.
    order : sequence of str, optional
        Strategies from top to bottom; default the order of the values in the first table.

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
        lacks = {"value", "low", "high"} - set(table.frame.columns)
        if lacks:
            raise AnalysisError(f"{table.name!r} has no column {', '.join(sorted(lacks))}")
    names = list(drawn[0].frame["value"].sort_values(kind="stable").index)
    names = names if order is None else list(order)
    for table in drawn:
        positions("strategy", names, [str(name) for name in table.frame.index])
    gap = 0.62 / len(drawn)
    height = _ROW * len(names) * max(1.0, 0.62 * len(drawn)) + 1.2
    figure = NotebookFigure(figsize=(7.5, height), layout="constrained")
    axes = figure.add_subplot()
    for place, table in enumerate(drawn):
        frame = table.frame.loc[names]
        rows = np.arange(len(names)) + (place - (len(drawn) - 1) / 2) * gap
        mark, colour = _MARKS[table.scenario]
        axes.hlines(rows, frame["low"], frame["high"], color=colour, linewidth=1.6)
        label = f"{table.scenario} {SCENARIOS[table.scenario]}"
        axes.plot(frame["value"], rows, mark, color=colour, markersize=4.5, label=label)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlabel(drawn[0].metric or "value", fontsize=_FONT)
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(labelsize=_FONT, left=False)
    figure.legend(
        loc="outside upper left", fontsize=_FONT, frameon=False, ncols=1, title_fontsize=_FONT
    )
    return figure


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
    time_name: str = "training seconds",
) -> Figure:
    """Draw scores against times, and mark the strategies that no other beats in both.

    Parameters
    ----------
    scores, seconds : Series
        Score and seconds (above 0) by strategy. A strategy without both has no point.
    greater_is_better : bool
        Direction of the scores.
    score_name, time_name : str
        Labels of the axes.

    Returns
    -------
    Figure
        Times are on a logarithmic scale. The names are in a column on the right, each with a line
        to its point, so that they never overlap. Strategies that no other beats in both have bold
        names and filled points.
    """
    table = pd.DataFrame({"score": scores, "seconds": seconds}).dropna()
    table = table[table["seconds"] > 0].sort_values("score", ascending=False, kind="stable")
    if table.empty:
        raise AnalysisError("no strategy has both a score and a time above 0")
    front = pareto_front(table["score"], table["seconds"], greater_is_better=greater_is_better)
    figure = NotebookFigure(figsize=(7.5, max(3.2, _ROW * len(table) + 1)), layout="constrained")
    axes = figure.add_subplot()
    _log_scale(axes, float(table["seconds"].max() / table["seconds"].min()))
    on_front = table.loc[front]
    if len(front) > 1:
        axes.step(on_front["seconds"], on_front["score"], where="post", color=ORANGE, linewidth=1.2)
    fills = [ORANGE if name in front else "white" for name in table.index]
    axes.scatter(
        table["seconds"], table["score"], s=30, c=fills, edgecolors=ORANGE, linewidths=1.2, zorder=3
    )
    _name_points(axes, table, front)
    axes.set_xlabel(f"{time_name} (logarithmic)", fontsize=_FONT)
    axes.set_ylabel(score_name, fontsize=_FONT)
    axes.grid(color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=_FONT)
    return figure


def _log_scale(axes: Axes, ratio: float) -> None:
    """Set a logarithmic axis with plain numbers as labels.

    It labels 1, 2 and 5 times each power of ten, or only the powers if the range is wide.
    """
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if ratio < 500 else (1,)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _name_points(axes: Axes, table: pd.DataFrame, front: Sequence[str]) -> None:
    """Write the names in a column beside the axes, in the order of the heights of their points."""
    heights = np.linspace(1, 0, len(table) + 2)[1:-1]
    for (name, (score, second)), height in zip(table.iterrows(), heights, strict=True):
        axes.annotate(
            str(name),
            (second, score),
            xytext=(1.04, height),
            textcoords="axes fraction",
            ha="left",
            va="center",
            fontsize=_FONT,
            fontweight="bold" if name in front else "normal",
            arrowprops={
                "arrowstyle": "-",
                "color": GREY,
                "linewidth": 0.5,
                "alpha": 0.6,
                "relpos": (0, 0.5),
                "shrinkB": 4,
            },
        )
