"""Figures of a decision (distances to the leader on each dataset) and of a race (its evidence)."""

from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mlaut.analysis.common.arguments import Positive, Size, checked
from mlaut.analysis.common.display import number
from mlaut.analysis.deciding.strips import FEWEST_FOR_BANDS, Strips
from mlaut.analysis.deciding.verdict_table import VerdictTable
from mlaut.analysis.deciding.verdicts import VERDICTS
from mlaut.analysis.plots.canvas import (
    BLUE,
    GAP,
    GREEN,
    GREY,
    ORANGE,
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

_MARKS = (
    ("D", BLUE, "blue diamond"),
    ("s", GREEN, "green square"),
    ("o", BLUE, "hollow blue circle"),
    ("o", GREY, "hollow grey circle"),
    ("v", ORANGE, "hollow orange triangle"),
    ("X", ORANGE, "orange cross"),
    ("v", ORANGE, "orange triangle"),
    ("D", GREY, "grey diamond"),
)
MARKS = dict(zip(VERDICTS, _MARKS, strict=True))
"""Mark and colour of each verdict, and words for both; what is hollow is not clear."""
_LETTERS = 14  # of a line below the axes, for each inch of them
_WIDTH = 5.4  # inches of the figure, if its names allow it: a phone shows them at 8 points then
_AXIS = (2.4, 3.6)  # inches of the axis
_DOT = (4.5, 12.0)  # points; dots are larger where a row has few of them
_POINTS = 28.0  # points of a row's only dot, if it had no limit; the area of all stays the same
_PALE, _CLEAR = 0.5, 0.7  # opacity of many dots, which overlap, and of few
_MOST = 0.9  # share of the datasets below which a name tells their number; the table tells all


@checked
def decision_plot(
    decision: VerdictTable,
    results: Results,
    *,
    top: Positive = 20,
    ax: Axes | None = None,
    figsize: Size | None = None,
    look: Look = PLAIN,
) -> Figure:
    """Draw the distance of each strategy from the leader, the best on top, as a page does.

    Parameters
    ----------
    decision : Decision
        The value of `Comparison.decision`, also for one dataset.
    results : Results
        The compared results, ``comparison.results``.
    top : int, default 20
        Number of strategies that are drawn, the best first; the leader is always among them. The
        last row has the average ranks of the others.
    ax, figsize, look : optional
        Axes, inches, names and colours: see `mlaut.analysis.Look`.

    Returns
    -------
    Figure
        Right is better. There is a dot for each dataset on which the strategy and the leader have
        a result (a letter, if there are up to three; a dot for each test set of one dataset). If
        many are missing, their number is in brackets after the name. The mark is the average of
        the decision's table; its colour and form show the verdict. A band shows the quartiles if
        there are enough dots, or the interval on one dataset. Errors in units of the targets are
        divided by the leader's, on a logarithmic axis. If nothing is decided, the dots are scores
        or ranks. Far strategies or datasets do not stretch the axis: values beyond it are numbers
        at its edge.
    """
    if decision.sets is None and set(decision.frame.index) != set(results.strategies):
        raise AnalysisError("the decision is about other strategies than the results")
    order = look.shown([str(name) for name in decision.frame.index])
    look = look.apart(decision.frame.index)
    strips = Strips.of(decision, results)
    order = order if look.top else order[:top]
    if decision.leader and decision.leader not in order:
        order = [*order[:-1], decision.leader]
    sides = [strips.edges(name) for name in order]
    far = [(a.replace("; ", "\n"), b.replace("; ", "\n")) for a, b in sides]
    rest = decision.frame["average rank"].drop(order)
    labels = [_label(name, strips, look) for name in order]
    labels += [f"{len(rest)} more"] if len(rest) else []
    row, font = row_size(len(labels))
    left, right = (text_width(texts, font) for texts in zip(*far, strict=True))
    beside = text_width(labels, font) + left + right
    axis = float(np.clip(_WIDTH - beside, *_AXIS))
    figure, axes = canvas(ax, figsize, (beside + axis, 0.9 + 1.25 * row * len(labels)))
    verdicts = decision.frame["verdict"] if decision.leader else pd.Series("", order)
    for place, name in enumerate(order):
        mark = MARKS.get(verdicts[name], ("", GREY, ""))
        _row(axes, strips, name, place, mark)
        write_edges(axes, place, far[place], color=mark[1], fontsize=font)
    if strips.reference:
        axes.vlines(strips.zero, -0.6, len(order) - 0.5, color=BLUE, linewidth=0.8)
    if len(rest):
        ranks = f"average ranks {number(rest.min(), 3)} to {number(rest.max(), 3)}"
        where = {"xycoords": axes.get_yaxis_transform(), "color": GREY, "fontsize": font}
        write_beside(axes, ranks, (0.0, len(order)), "right", **where)
    ends, line = strips.sides(look.labels([strips.reference])[0]), int(_LETTERS * axis)
    below = ["    ".join(ends)] if sum(map(len, ends)) < line - 3 else [*ends]
    below += [f"{x}: {name}" for x, name in zip("ABC", strips.dots.index, strict=False)] * (
        strips.named
    )
    lines = [part for text in below for part in wrap(text, line)]
    style(axes, "\n".join(lines), grid="x", left=False)
    low, high = strips.ends
    shares, texts = zip(*strips.ticks, strict=True) if strips.ticks else ((), ())
    axes.set_xticks([low + share * (high - low) for share in shares], texts)
    axes.set_xlim(low, high)
    axes.set_yticks(range(len(labels)), labels, fontsize=font)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", pad=2 * GAP + 72 * left)
    look.finish(axes, order)
    return figure


def _label(name: str, strips: Strips, look: Look) -> str:
    """Return the name, with the number of datasets if many are missing."""
    n, of = strips.dots[name].notna().sum(), len(strips.dots)
    few = strips.intervals is None and n < _MOST * of
    return look.label(name) + (f" ({n} of {of} datasets)" if few else "")


def _row(axes: Axes, strips: Strips, name: str, at: int, mark: tuple[str, str, str]) -> None:
    """Draw the dots of a strategy, their band, and the verdict at their average."""
    shape, colour, words = mark
    low, high = strips.ends
    places = strips.place(strips.dots[name]).dropna()
    within = places[places.between(low, high)]
    n, value = len(strips.dots), float(strips.place(strips.marks[name]))
    if name == strips.reference:
        value = strips.zero
    elif strips.named:
        letters = dict(zip(strips.dots.index, "ABC", strict=False))
        for dataset, place in within.items():
            how: dict[str, Any] = {"markersize": 6, "markeredgewidth": 0}
            axes.plot(place, at, marker=f"${letters[dataset]}$", color=colour, **how)
    else:
        heights = at + np.random.default_rng(at).uniform(-0.2, 0.2, len(within))
        size = np.clip(_POINTS / np.sqrt(n or 1), *_DOT)
        alpha = _PALE if n >= FEWEST_FOR_BANDS else _CLEAR
        how = {"markersize": size, "alpha": alpha, "markeredgewidth": 0}
        how["zorder"] = 1.9  # below all else, so that a file has one picture of all dots
        axes.plot(within, heights, ".", color=colour, **how)
    if name != strips.reference and (band := strips.band(name)) is not None:
        ends = low + np.clip(band, 0, 1) * (high - low)  # a broad band: a thin line is an error bar
        how = {"linewidth": 9.0, "alpha": 0.25, "solid_capstyle": "butt"}
        axes.plot(ends, [at] * 2, color=colour, **how)
    if shape and low <= value <= high:
        face = "white" if words.startswith("hollow") else colour
        how = {"color": colour, "markerfacecolor": face, "markersize": 6}
        axes.plot(value, at, shape, **how)
