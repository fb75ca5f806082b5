"""Figures of scores and average ranks."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from mlaut.analysis.common.arguments import Share, Size, checked, one_of, positions
from mlaut.analysis.common.result_types import Pairwise
from mlaut.analysis.deciding.strips import robust_ends
from mlaut.analysis.methods.frequentist.ranks import (
    average_ranks,
    critical_difference,
    nemenyi_test,
    pair_groups,
)
from mlaut.analysis.plots.canvas import (
    BLUE,
    FONT,
    GAP,
    GREY,
    ORANGE,
    beyond,
    canvas,
    row_size,
    style,
    text_width,
    write_beside,
    write_edges,
)
from mlaut.analysis.plots.look import PLAIN, Look
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

_MOST_DOTS = 4000  # with more, a figure is slow to show, and the boxes say as much
_LINE = 5.0  # inches of the axis of ranks
_SHORTEST_LINE = 1.5  # inches; on a shorter one no two ranks can be distinguished


@checked
def box_plot(
    results: Results,
    *,
    as_scores: bool = True,
    order: str = "median",
    ax: Axes | None = None,
    figsize: Size | None = None,
    look: Look = PLAIN,
) -> Figure:
    """Draw the scores of each strategy over datasets, the best median or mean on top.

    Strategies that lack datasets are below the strategies that have all datasets, because their
    medians are not comparable.

    Parameters
    ----------
    results : Results
        Results to draw. Missing values are left out of a strategy's box, and its label has their
        number.
    as_scores : bool, default True
        Whether to draw scores, as the metric defines them, or losses.
    order : {"median", "mean"}, default "median"
        What orders the strategies; ``"mean"`` as in Figure 5 of the MLaut paper.
    ax, figsize, look : optional
        Axes, inches, names and colours: see `mlaut.analysis.Look`.

    Returns
    -------
    Figure
        A box shows quartiles and median; whiskers end at the last value within 1.5 times the length
        of the box. There is a dot for every dataset; with more than 4,000 results, only for those
        beyond the whiskers. Far datasets do not stretch the axis: values beyond it are numbers at
        its edge.
    """
    one_of("order", order, ("median", "mean"))
    table = results.scores if as_scores else results.losses
    names = look.shown(best_first(results, order))[::-1]
    look = look.apart(names)
    table = table[names]
    gaps = table.isna().sum()
    labels = [look.label(s) + f" ({n} missing)" * (n > 0) for s, n in gaps.items()]
    row, font = row_size(len(names))
    ends = robust_ends(table)
    far = [beyond(table[name], ends) for name in names]
    left, right = (text_width(texts, font) for texts in zip(*far, strict=True))
    wide = 7.5 + left + right, 1.0 + 1.4 * row * len(names)
    figure, axes = canvas(ax, figsize, wide, names=labels)
    low, high = _draw_boxes(axes, table, [look.colour(name, BLUE) for name in names])
    every = table.size - gaps.sum() <= _MOST_DOTS
    dots = (table if every else table.where((table < low) | (table > high))).to_numpy().T
    places, datasets = np.nonzero(~np.isnan(dots))
    heights = places + 1 + np.random.default_rng(0).uniform(-0.2, 0.2, len(places))  # to see each
    axes.plot(dots[places, datasets], heights, ".", color=GREY, markersize=3, alpha=0.6)
    for place, texts in enumerate(far, start=1):
        write_edges(axes, place, texts, color=GREY, fontsize=font)
    axes.set_yticks(range(1, len(names) + 1), labels)
    axes.set_ylim(0.5, len(names) + 0.5)
    axes.set_xlim(ends)
    what = results.metric.name if as_scores else results.metric.loss_name
    style(axes, f"{what} on {len(table)} datasets", grid="x", left=False)
    axes.tick_params(axis="y", labelsize=font, pad=2 * GAP + 72 * left)
    look.finish(axes, names)
    return figure


def _draw_boxes(
    axes: Axes, table: pd.DataFrame, colours: Sequence[str]
) -> tuple[pd.Series, pd.Series]:
    """Draw a box for each column, from below; return the ends of the whiskers."""
    first, middle, third = (table.quantile(share) for share in (0.25, 0.5, 0.75))
    reach = 1.5 * (third - first)
    near = table.where((table >= first - reach) & (table <= third + reach))
    low, high = near.min().clip(upper=first), near.max().clip(lower=third)
    places = np.arange(1, len(colours) + 1)
    how: dict[str, Any] = {"linewidth": 1.0, "capstyle": "projecting"}
    faces = [to_rgba(colour, 0.16) for colour in colours]
    axes.barh(places, third - first, 0.62, first, color=faces, edgecolor=colours, linewidth=1.0)
    for end, quartile in ((low, first), (high, third)):
        axes.hlines(places, end, quartile, colours, **how)
        axes.vlines(end, places - 0.155, places + 0.155, colours, **how)
    how |= {"linewidth": 2.0, "zorder": 2.1}
    axes.vlines(middle, places - 0.31, places + 0.31, ORANGE, **how)
    return low, high


def best_first(results: Results, order: str = "median") -> list[str]:
    """Return the strategies by median or mean loss; strategies that lack datasets are last."""
    losses = results.losses
    middle = losses.agg(order)
    keys = pd.DataFrame({"lacks": losses.isna().any(), "middle": middle})
    return list(keys.sort_values(["lacks", "middle"], kind="stable").index)


@checked
def critical_difference_diagram(
    results: Results,
    *,
    pairs: Pairwise | None = None,
    alpha: Share = 0.05,
    ax: Axes | None = None,
    figsize: Size | None = None,
    look: Look = PLAIN,
) -> Figure:
    """Draw average ranks, with bars over strategies that a test does not separate.

    Parameters
    ----------
    results : Results
    pairs : Pairwise, optional
        Result of a test of all pairs of these strategies. By default it is `nemenyi_test`, and the
        diagram is that of Demsar, with the critical difference. Without one are the bars of other
        tests, such as ``adjust_pairs(wilcoxon_test(results), "holm")``, whose result for a pair
        does not depend on the other strategies. With a Bayesian test a bar joins strategies of
        which none is better than another with a probability of ``1 - alpha``.
    alpha : float, default 0.05
        Level of the test.
    ax, figsize, look : optional
        Axes, inches, names and colours: see `mlaut.analysis.Look`.

    Returns
    -------
    Figure
        Diagram after Demsar 2006, Figure 1, and Benavoli, Corani & Mangili 2016; rank 1, the best,
        is on the left. A bar joins strategies of which no two differ; if it passes over other
        strategies, dots mark the strategies of the bar.

    Raises
    ------
    AnalysisError
        ``pairs`` are of other strategies.
    """
    ranks = average_ranks(results).frame["average_rank"]
    if pairs is None:
        pairs = nemenyi_test(results)
    if set(pairs.strategies) != set(results.strategies):
        raise AnalysisError("pairs are of other strategies than these results")
    groups, cd = pair_groups(pairs, [str(name) for name in ranks.index], alpha=alpha), 0.0
    label = f"{pairs.name}, level {alpha:g}"
    if pairs.name == nemenyi_test.test.name:
        cd = critical_difference(len(ranks), len(results.datasets), alpha=alpha)
        label = f"CD = {cd:.3g} at {alpha:g}"
    return draw_ranks(ranks, cd, groups, label=label, ax=ax, figsize=figsize, look=look)


@checked
def draw_ranks(
    ranks: pd.Series,
    difference: float,
    groups: Sequence[Sequence[str]],
    *,
    label: str = "CD",
    ax: Axes | None = None,
    figsize: Size | None = None,
    look: Look = PLAIN,
) -> Figure:
    """Draw average ranks on a line with a bar for each group.

    Parameters
    ----------
    ranks : Series
        Average rank by strategy.
    difference : float
        Critical difference, drawn as a scale; 0 for none.
    groups : sequence of sequence of str
        Groups of strategies that a test does not separate. The test need not be Nemenyi's. If a bar
        passes over strategies of another group, dots mark its own strategies.
    label : str
        Label of the scale, or of the test.
    ax, figsize, look : optional
        Axes, inches, names and colours: see `mlaut.analysis.Look`.

    Raises
    ------
    AnalysisError
        There are fewer than two ranks, or the figure is too narrow for the names.
    """
    if len(ranks) < 2:
        raise AnalysisError("a diagram of ranks needs two strategies")
    if not 0 <= difference < np.inf:
        raise AnalysisError(f"difference = {difference} is not a number of 0 or more")
    for group in groups:
        positions("strategy", group, [str(name) for name in ranks.index])
    ranks = ranks.sort_values(kind="stable")
    names = look.shown(list(ranks.index))
    look = look.apart(names)
    if len(names) < len(ranks):
        ranks, groups = ranks[names], _among(groups, names)
    low, high = float(np.floor(ranks.iloc[0])), float(np.ceil(ranks.iloc[-1]))
    high = max(high, low + 1, low + difference)
    bars = _stacked(ranks, groups)
    first_row = 0.55 * (max((row for *_, row in bars), default=-1) + 1) + 1.0
    n_rows = first_row + (len(ranks) + 1) // 2 + 0.5
    labels = [f"{look.label(name)}  {rank:.2f}" for name, rank in ranks.items()]
    row, font = row_size(int(n_rows))
    margin = 1.03 * text_width(labels, font) + 0.35  # inches; hinted fonts are a little wider
    figure, axes = canvas(ax, figsize, (_LINE + 2 * margin, (n_rows + 3.2) * row), layout=None)
    if ax is None:
        axes.set_position((0.0, 0.0, 1.0, 1.0))
    line = axes.get_position().width * figure.get_figwidth() - 2 * margin
    if line < _SHORTEST_LINE:
        raise AnalysisError(
            f"the names need {2 * margin:.1f} inches beside the ranks: make the figure "
            f"{2 * margin + _LINE:.1f} inches wide, or the names shorter with Look(longest=...)"
        )
    inch = (high - low) / line
    axes.set_xlim(low - margin * inch, high + margin * inch)
    axes.set_ylim(n_rows, -3.2)
    axes.set_axis_off()
    _draw_axis(axes, low, high, difference, label)
    for (left, right, row), group in zip(bars, groups, strict=True):
        height, pad = 0.55 * (row + 1), 0.03 * inch
        if ranks.between(left, right).sum() > len(group):  # the bar passes over others
            at = ranks[list(group)]
            axes.plot(at, [height] * len(at), "o", color=ORANGE, markersize=6)
        axes.plot(
            [left - pad, right + pad],
            [height] * 2,
            color=ORANGE,
            linewidth=3.2,
            solid_capstyle="butt",
        )
    ends = low - 0.1 * inch, high + 0.1 * inch
    _draw_labels(axes, ranks, labels, first_row, ends, font, look)
    look.finish(axes, names, "", legend="inside")
    return figure


def _among(groups: Sequence[Sequence[str]], names: Sequence[str]) -> list[list[str]]:
    """Return the groups with two or more of these strategies, without subsets of other groups."""
    parts = dict.fromkeys(tuple(name for name in group if name in names) for group in groups)
    most = [p for p in parts if len(p) > 1 and not any(set(p) < set(other) for other in parts)]
    return [list(part) for part in sorted(most, key=lambda part: names.index(part[0]))]


def _draw_labels(
    axes: Axes,
    ranks: pd.Series,
    labels: Sequence[str],
    first_row: float,
    ends: tuple[float, float],
    font: float,
    look: Look,
) -> None:
    """Draw a line from each rank to its label; the better half of the labels is on the left."""
    n_left = (len(ranks) + 1) // 2
    for place, ((name, rank), text) in enumerate(zip(ranks.items(), labels, strict=True)):
        left = place < n_left
        row = first_row + (place if left else len(ranks) - 1 - place)
        end = ends[0] if left else ends[1]
        axes.plot([rank, rank, end], [0, row, row], color=look.colour(name, BLUE), linewidth=0.8)
        how = {"fontsize": font, "color": look.colour(name, "black")}
        write_beside(axes, text, (end, row), "left" if left else "right", **how)


def _stacked(ranks: pd.Series, groups: Sequence[Sequence[str]]) -> list[tuple[float, float, int]]:
    """Return the ends of each bar, and a row in which it does not overlap another bar."""
    ends: list[float] = []
    bars = []
    for group in groups:
        left, right = ranks[list(group)].min(), ranks[list(group)].max()
        row = next((i for i, end in enumerate(ends) if end < left), len(ends))
        ends[row : row + 1] = [right]
        bars.append((float(left), float(right), row))
    return bars


def _draw_axis(axes: Axes, low: float, high: float, difference: float, label: str) -> None:
    """Draw the axis of ranks, and the critical difference as a scale above it."""
    axes.plot([low, high], [0, 0], color="black", linewidth=1)
    step = max(1, round((high - low) / 12))
    for tick in np.arange(low, high + 1e-9, step):
        axes.plot([tick, tick], [0, -0.3], color="black", linewidth=1)
        axes.text(tick, -0.4, f"{tick:g}", ha="center", va="bottom", fontsize=FONT)
    if difference:
        axes.plot([low, low + difference], [-1.9, -1.9], color="black", linewidth=1.2)
        for end in (low, low + difference):
            axes.plot([end, end], [-2.1, -1.7], color="black", linewidth=1.2)
    axes.text(low, -2.25, label, ha="left", va="bottom", fontsize=FONT)
    axes.text(high, -1.5, "average rank", ha="right", va="bottom", fontsize=FONT)
