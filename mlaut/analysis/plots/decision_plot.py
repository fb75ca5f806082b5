"""The figure of a decision: how far each strategy is from the leader, dataset by dataset."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from mlaut.analysis.common.arguments import checked
from mlaut.analysis.deciding.decision import Decision
from mlaut.analysis.deciding.margins import gaps, own_scores
from mlaut.analysis.deciding.verdicts import (
    AVOID,
    EQUAL,
    OPEN,
    UNDECIDED,
    USE,
    YARDSTICK,
)
from mlaut.analysis.methods.frequentist.ranks import rank_table
from mlaut.analysis.plots.canvas import (
    BLUE,
    FONT,
    GREEN,
    GREY,
    ORANGE,
    Size,
    canvas,
    log_scale,
    row_size,
    style,
)
from mlaut.analysis.plots.look import PLAIN, Look
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

MARKS = {
    USE: ("D", BLUE, "blue diamond"),
    EQUAL: ("s", GREEN, "green square"),
    OPEN: ("o", BLUE, "hollow blue circle"),
    UNDECIDED: ("o", GREY, "hollow grey circle"),
    AVOID: ("v", ORANGE, "orange triangle"),
    YARDSTICK: ("D", GREY, "grey diamond"),
}
"""Mark and colour of each verdict, and words for both; what is hollow is not clear."""
FEWEST_FOR_BARS = 8  # dots; fewer are seen one by one, and quartiles would lie between them
_LABEL = 56  # characters of a line below the axes
_MOST_DOTS = 4000  # dots; with more, a figure is slow to show, and the quartiles say as much
_DOT = (4.5, 12.0)  # points; dots are larger where a row has few of them
_POINTS = 28.0  # points of a row's only dot, if it had no limit; the area of all stays the same
_PALE, _CLEAR = 0.5, 0.7  # opacity of many dots, which overlap, and of few
_MOST = 0.9  # share of the datasets below which a name tells their number; the table tells all
_FAR = [0.02, 0.98]  # quantiles of each strategy that are seen: far dots must not squeeze the rest
_NARROW = 10  # ratio of the ends of a logarithmic axis below which 1, 2, 5, 10 are too few labels
_TICKS = (1, 1.2, 1.5, 2, 3, 4, 6, 8)  # of such an axis; 1 must be among them


@dataclass(frozen=True)
class _Drawn:
    frame: pd.DataFrame  # of each strategy on each dataset; of ratios the logarithms
    label: str
    centred: bool = False  # whether 0 stands for the leader
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
        Number of strategies, the best first; the leader is always among them.
    ax, figsize, look : optional
        Axes, inches, names and colours: see `mlaut.analysis.Look`.

    Returns
    -------
    Figure
        A dot for each dataset on which the strategy and the leader have a result; their number
        stands in brackets behind the name where many are missing. A mark at the mean, whose
        colour and form are the verdict, and a bar from quartile to quartile where there are
        enough dots. Errors in units of the targets are divided by the leader's, and their mean is
        the geometric one. Where nothing is decided, the dots are scores, or else ranks.
    """
    if set(decision.frame.index) != set(results.strategies):
        raise AnalysisError("the decision is about other strategies than the results")
    drawn = _drawn(decision, results, look)
    order = look.shown([str(name) for name in decision.frame.index])
    order = order if look.top else order[:top]
    if decision.leader and decision.leader not in order:
        order = [*order[:-1], decision.leader]
    labels = [_label(name, drawn.frame, look) for name in order]
    row, font = row_size(len(order))
    figure, axes = canvas(ax, figsize, (6.0, 0.9 + 1.25 * row * len(order)), names=labels)
    verdicts = decision.frame["verdict"] if decision.leader else pd.Series("", order)
    with_dots = len(drawn.frame) * len(order) <= _MOST_DOTS
    for place, name in enumerate(order):
        _, colour, _ = MARKS.get(verdicts[name], ("", GREY, ""))
        if not (drawn.centred and name == decision.leader):
            _spread(axes, drawn, name, place, colour, with_dots)
        if decision.leader:
            _mark(axes, drawn, name, place, verdicts[name])
    if drawn.centred:
        axes.axvline(drawn.shown(0.0), color=BLUE, linewidth=0.8)
        _limit(axes, drawn, order)
    axes.set_yticks(range(len(order)), labels, fontsize=font)
    axes.set_ylim(len(order) - 0.4, -0.6)
    lines = [fill(drawn.label, _LABEL), *([f"{drawn.better} of the line: better"] * drawn.centred)]
    axes.set_xlabel("\n".join(lines), fontsize=FONT)
    style(axes, grid="x", left=False)
    look.finish(axes, order)
    return figure


def _label(name: str, values: pd.DataFrame, look: Look) -> str:
    """Return the name, with the number of datasets where that is much less than all."""
    n, of = values[name].notna().sum(), len(values)
    return look.label(name) + (f" ({n} of {of} datasets)" if n < _MOST * of else "")


def _spread(axes: Axes, drawn: _Drawn, name: str, place: int, colour: str, with_dots: bool) -> None:
    """Draw the dots of a strategy, and its bar from quartile to quartile."""
    x = drawn.frame[name].dropna().to_numpy()
    if with_dots and len(x):
        heights = place + np.random.default_rng(place).uniform(-0.2, 0.2, len(x))  # dots apart
        n = len(drawn.frame)
        size = np.clip(_POINTS / np.sqrt(n), *_DOT)
        alpha = _PALE if n >= FEWEST_FOR_BARS else _CLEAR
        dots: dict[str, Any] = {"markersize": size, "alpha": alpha, "markeredgewidth": 0}
        axes.plot(drawn.shown(x), heights, ".", color=colour, **dots)
    if len(x) >= FEWEST_FOR_BARS:
        ends = drawn.shown(np.quantile(x, [0.25, 0.75]))
        axes.plot(ends, [place, place], color=colour, linewidth=1.6)


def _mark(axes: Axes, drawn: _Drawn, name: str, place: int, verdict: str) -> None:
    """Draw the verdict on a strategy at the mean of its values, if it has any."""
    mark, colour, words = MARKS[verdict]
    face = "white" if words.startswith("hollow") else colour
    mean = drawn.frame[name].mean()
    if not np.isnan(mean):
        how: dict[str, Any] = {"color": colour, "markerfacecolor": face, "markersize": 6}
        axes.plot(drawn.shown(mean), place, mark, **how)


def _limit(axes: Axes, drawn: _Drawn, order: list[str]) -> None:
    """Set the ends of the axis, and its labels if it is a logarithmic one."""
    spread = drawn.frame[order].quantile(_FAR).to_numpy()
    low, high = min(np.nanmin(spread), 0.0), max(np.nanmax(spread), 0.0)
    margin = 0.06 * (high - low or 1.0)
    ends = drawn.shown(np.array([low - margin, high + margin]))
    if drawn.ratios:
        log_scale(axes, ends[1] / ends[0])
        if ends[1] / ends[0] < _NARROW:
            axes.xaxis.set_major_locator(LogLocator(subs=_TICKS))
    axes.set_xlim(*ends)


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
    how = "divided by" if ratios else "minus"
    label = f"{name} {how} that of {look.label(leader)}, on each dataset"
    return _Drawn(values.apply(np.log) if ratios else values, label, True, side, ratios)
