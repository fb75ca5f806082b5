"""The figure of a decision: how far each strategy is from the leader, dataset by dataset."""

from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import Locator, LogLocator, MaxNLocator

from mlaut.analysis.common.arguments import checked
from mlaut.analysis.common.display import number
from mlaut.analysis.deciding.decision import Decision
from mlaut.analysis.deciding.margins import gaps, own_scores
from mlaut.analysis.deciding.verdicts import AVOID, EQUAL, LIKELY, OPEN, UNDECIDED, USE, YARDSTICK
from mlaut.analysis.methods.frequentist.ranks import rank_table
from mlaut.analysis.plots.canvas import (
    BLUE,
    GAP,
    GREEN,
    GREY,
    ORANGE,
    Size,
    canvas,
    label_plainly,
    log_scale,
    row_size,
    style,
    text_width,
    write_beside,
)
from mlaut.analysis.plots.edges import beyond, robust_ends, write_edges
from mlaut.analysis.plots.look import PLAIN, Look
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

MARKS = {
    USE: ("D", BLUE, "blue diamond"),
    EQUAL: ("s", GREEN, "green square"),
    OPEN: ("o", BLUE, "hollow blue circle"),
    UNDECIDED: ("o", GREY, "hollow grey circle"),
    LIKELY: ("v", ORANGE, "hollow orange triangle"),
    AVOID: ("v", ORANGE, "orange triangle"),
    YARDSTICK: ("D", GREY, "grey diamond"),
}
"""Mark and colour of each verdict, and words for both; what is hollow is not clear."""
FEWEST_FOR_BANDS = 8  # dots; fewer are seen one by one, and quartiles would lie between them
JOINED = 2  # datasets whose dots are joined; more lines could not be followed
_LETTERS = 14  # of a line below the axes, for each inch of them
_LABELS = 1.7  # numbers at most below an inch of the axis, each of up to seven characters
_WIDTH = 5.4  # inches of the figure, if its names allow it: a phone shows them at 8 points then
_AXIS = (2.4, 3.6)  # inches of the axis
_DOT = (4.5, 12.0)  # points; dots are larger where a row has few of them
_POINTS = 28.0  # points of a row's only dot, if it had no limit; the area of all stays the same
_PALE, _CLEAR = 0.5, 0.7  # opacity of many dots, which overlap, and of few
_MOST = 0.9  # share of the datasets below which a name tells their number; the table tells all
_NARROW, _SHORT = 10, 2  # ratios of a logarithmic axis' ends below which its labels are closer
_TICKS = (1, 1.2, 1.5, 2, 3, 4, 6, 8)  # of a narrow axis; 1 must be among them


@dataclass(frozen=True)
class _Drawn:
    frame: pd.DataFrame  # of each strategy on each dataset; of ratios the logarithms
    label: str
    leader: str = ""  # strategy for which 0 stands, if there is one
    better: str = ""  # side of 0 on which a strategy is better than the leader
    ratios: bool = False

    def shown(self, values: Any) -> Any:
        """Return values as the axis shows them."""
        return np.exp(values) if self.ratios else values


@checked
def decision_plot(
    decision: Decision,
    results: Results,
    *,
    top: int = 20,
    ax: Axes | None = None,
    figsize: Size | None = None,
    look: Look = PLAIN,
) -> Figure:
    """Draw how far each strategy is from the leader on each dataset, the best average rank on top.

    Parameters
    ----------
    decision : Decision
        The value of `Comparison.decision`.
    results : Results
        The compared results, ``comparison.results``.
    top : int, default 20
        Number of strategies, the best first; the leader is always among them. A last row has the
        average ranks of the others.
    ax, figsize, look : optional
        Axes, inches, names and colours: see `mlaut.analysis.Look`.

    Returns
    -------
    Figure
        A dot for each dataset on which the strategy and the leader have a result; their number
        stands in brackets behind the name where many are missing. A mark at the median, whose
        colour and form are the verdict, and a band from quartile to quartile where there are
        enough dots. Errors in units of the targets are divided by the leader's, on a logarithmic
        axis. Where nothing is decided, the dots are scores, or else ranks. Two datasets are joined
        dot by dot. No far strategy or dataset sets the axis: what is beyond it stands at its edge
        as a number.
    """
    if set(decision.frame.index) != set(results.strategies):
        raise AnalysisError("the decision is about other strategies than the results")
    drawn = _drawn(decision, results, look)
    order = look.shown([str(name) for name in decision.frame.index])
    order = order if look.top else order[:top]
    if decision.leader and decision.leader not in order:
        order = [*order[:-1], decision.leader]
    others = [name for name in order if name != drawn.leader]
    ends = robust_ends(drawn.frame[others], 0.0 if drawn.leader else None)
    far = [beyond(drawn.frame[name], ends, drawn.shown) for name in order]
    rest = decision.frame["average rank"].drop(order)
    labels = [_label(name, drawn.frame, look) for name in order]
    labels += [f"{len(rest)} more"] if len(rest) else []
    row, font = row_size(len(labels))
    left, right = (text_width(texts, font) for texts in zip(*far, strict=True))
    beside = text_width(labels, font) + left + right
    axis = float(np.clip(_WIDTH - beside, *_AXIS))
    figure, axes = canvas(ax, figsize, (beside + axis, 0.9 + 1.25 * row * len(labels)))
    verdicts = decision.frame["verdict"] if decision.leader else pd.Series("", order)
    for place, name in enumerate(order):
        mark = MARKS.get(verdicts[name], ("", GREY, ""))
        _row(axes, drawn, name, place, mark, ends)
        write_edges(axes, place, far[place], color=mark[1], fontsize=font)
    below = [drawn.label, _join(axes, drawn.frame[order].apply(drawn.shown))]
    if drawn.leader:
        axes.vlines(drawn.shown(0.0), -0.6, len(order) - 0.5, color=BLUE, linewidth=0.8)
        below.append(f"{drawn.better} of the line: better")
    if len(rest):
        ranks = f"average ranks {number(rest.min(), 3)} to {number(rest.max(), 3)}"
        where = {"xycoords": axes.get_yaxis_transform(), "color": GREY, "fontsize": font}
        write_beside(axes, ranks, (0.0, len(order)), "right", **where)
    _limit(axes, drawn, ends, MaxNLocator(int(_LABELS * axis)))
    axes.set_yticks(range(len(labels)), labels, fontsize=font)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    lines = [line for text in below for line in wrap(text, int(_LETTERS * axis))]
    style(axes, "\n".join(lines), grid="x", left=False)
    axes.tick_params(axis="y", pad=2 * GAP + 72 * left)
    look.finish(axes, order)
    return figure


def _label(name: str, values: pd.DataFrame, look: Look) -> str:
    """Return the name, with the number of datasets where that is much less than all."""
    n, of = values[name].notna().sum(), len(values)
    return look.label(name) + (f" ({n} of {of} datasets)" if n < _MOST * of else "")


def _row(
    axes: Axes,
    drawn: _Drawn,
    name: str,
    place: int,
    mark: tuple[str, str, str],
    ends: tuple[float, float],
) -> None:
    """Draw the dots of a strategy, their middle half, and the verdict at their median."""
    shape, colour, words = mark
    dots = drawn.frame[name].dropna()
    within = dots[dots.between(*ends)].to_numpy()
    n = len(drawn.frame)
    if name != drawn.leader:
        spread = 0.2 if n > JOINED else 0.0  # random heights only separate the dots
        heights = place + np.random.default_rng(place).uniform(-spread, spread, len(within))
        size = np.clip(_POINTS / np.sqrt(n), *_DOT)
        alpha = _PALE if n >= FEWEST_FOR_BANDS else _CLEAR
        how: dict[str, Any] = {"markersize": size, "alpha": alpha, "markeredgewidth": 0}
        axes.plot(drawn.shown(within), heights, ".", color=colour, **how)
        if len(dots) >= FEWEST_FOR_BANDS:  # broad, unlike the line of an error bar
            how = {"linewidth": 9.0, "alpha": 0.25, "solid_capstyle": "butt"}
            axes.plot(drawn.shown(dots.quantile([0.25, 0.75])), [place] * 2, color=colour, **how)
    if shape and ends[0] <= dots.median() <= ends[1]:
        face = "white" if words.startswith("hollow") else colour
        how = {"color": colour, "markerfacecolor": face, "markersize": 6}
        axes.plot(drawn.shown(dots.median()), place, shape, **how)


def _join(axes: Axes, values: pd.DataFrame) -> str:
    """Join the dots of each dataset if there are two, and return the lines' names."""
    if len(values) != JOINED:
        return ""
    for row, line in zip(values.to_numpy(), ("-", "--"), strict=True):
        axes.plot(row, range(len(row)), line, color=GREY, linewidth=0.8)
    return "solid line: {}; dashed line: {}".format(*values.index)


def _limit(axes: Axes, drawn: _Drawn, ends: tuple[float, float], even: Locator) -> None:
    """Set the ends of the axis and its labels, which are uneven on a long logarithmic one."""
    low, high = map(drawn.shown, ends)
    if drawn.ratios:
        log_scale(axes, high / low)
        if high / low < _NARROW:
            label_plainly(axes, LogLocator(subs=_TICKS) if high / low > _SHORT else even)
    else:
        axes.xaxis.set_major_locator(even)
    axes.set_xlim(low, high)


def _drawn(decision: Decision, results: Results, look: Look) -> _Drawn:
    """Return what is drawn of each strategy on each dataset, and its name."""
    name, leader, frame = results.metric.name, decision.leader, decision.frame
    ratios = bool(leader) and "ratio" in frame
    known = ratios and bool(frame["ratio"].drop(leader).notna().all())
    if results.metric.incomparable and not known:
        return _Drawn(rank_table(results), "rank on each dataset (1 is best)")
    if not leader:
        return _Drawn(own_scores(results), f"{name} on each dataset")
    values = gaps(results, leader)
    side = "right" if results.metric.greater_is_better else "left"
    label = f"{name} {'divided by' if ratios else 'minus'} that of {look.label(leader)}"
    label += f", on each dataset{' (logarithmic axis)' if ratios else ''}"
    return _Drawn(values.apply(np.log) if ratios else values, label, leader, side, ratios)
