"""Figures of a decision (distances to the leader on each dataset) and of a race (its evidence)."""

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
from mlaut.analysis.deciding.strips import robust_ends
from mlaut.analysis.deciding.verdicts import AVOID, EQUAL, LIKELY, OPEN, UNDECIDED, USE, YARDSTICK
from mlaut.analysis.methods.frequentist.ranks import rank_table
from mlaut.analysis.plots.canvas import (
    BLUE,
    FONT,
    GAP,
    GREEN,
    GREY,
    ORANGE,
    Size,
    beyond,
    canvas,
    label_plainly,
    log_scale,
    row_size,
    style,
    text_width,
    write_beside,
    write_edges,
)
from mlaut.analysis.plots.look import PLAIN, Look
from mlaut.analysis.plots.pair_plots import name_points
from mlaut.analysis.racing.race import Race
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
_LEADER = "\x00"  # place of the leader's name, which no name can hold
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
    label: str  # below the axis, without the name of the leader
    leader: str = ""  # strategy for which 0 stands, if there is one
    better: str = ""  # side of 0 on which a strategy is better than the leader
    ratios: bool = False

    def shown(self, values: Any) -> Any:
        """Return values in the units of the axis."""
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
    """Draw the distance of each strategy from the leader on each dataset, best average rank on top.

    Parameters
    ----------
    decision : Decision
        The value of `Comparison.decision`.
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
        There is a dot for each dataset on which the strategy and the leader have a result. If many
        are missing, their number is in brackets after the name. The colour and form of the mark at
        the median show the verdict; a band shows the quartiles if there are enough dots. Errors in
        units of the targets are divided by the leader's, on a logarithmic axis. If nothing is
        decided, the dots are scores or ranks. If there are two datasets, lines join the dots of
        each. Far strategies or datasets do not stretch the axis: values beyond it are numbers at
        its edge.
    """
    if set(decision.frame.index) != set(results.strategies):
        raise AnalysisError("the decision is about other strategies than the results")
    order = look.shown([str(name) for name in decision.frame.index])
    look = look.apart(decision.frame.index)
    drawn = _drawn(decision, results)
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
        who, line = look.label(drawn.leader), int(_LETTERS * axis)
        below[0] = drawn.label.replace(_LEADER, who if len(who) <= line else "the one on the line")
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
    """Return the name, with the number of datasets if many are missing."""
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
        how["zorder"] = 1.9  # below all else, so that a file has one picture of all dots
        axes.plot(drawn.shown(within), heights, ".", color=colour, **how)
        if len(dots) >= FEWEST_FOR_BANDS:  # broad, unlike the line of an error bar
            how = {"linewidth": 9.0, "alpha": 0.25, "solid_capstyle": "butt"}
            axes.plot(drawn.shown(dots.quantile([0.25, 0.75])), [place] * 2, color=colour, **how)
    if shape and ends[0] <= dots.median() <= ends[1]:
        face = "white" if words.startswith("hollow") else colour
        how = {"color": colour, "markerfacecolor": face, "markersize": 6}
        axes.plot(drawn.shown(dots.median()), place, shape, **how)


def _join(axes: Axes, values: pd.DataFrame) -> str:
    """Join the dots of each dataset if there are two datasets; return a text on the lines."""
    if len(values) != JOINED:
        return ""
    for row, line in zip(values.to_numpy(), ("-", "--"), strict=True):
        axes.plot(row, range(len(row)), line, color=GREY, linewidth=0.8)
    return "solid line: {}; dashed line: {}".format(*values.index)


def _limit(axes: Axes, drawn: _Drawn, ends: tuple[float, float], even: Locator) -> None:
    """Set the ends and the labels of the axis; a long logarithmic axis has uneven labels."""
    low, high = map(drawn.shown, ends)
    if drawn.ratios:
        log_scale(axes, high / low)
        if high / low < _NARROW:
            label_plainly(axes, LogLocator(subs=_TICKS) if high / low > _SHORT else even)
    else:
        axes.xaxis.set_major_locator(even)
    axes.set_xlim(low, high)


def _drawn(decision: Decision, results: Results) -> _Drawn:
    """Return the values that are drawn for each strategy on each dataset, and their name."""
    name, leader, frame = results.metric.name, decision.leader, decision.frame
    ratios = bool(leader) and "ratio" in frame
    known = ratios and bool(frame["ratio"].drop(leader).notna().all())
    if results.metric.incomparable and not known:
        return _Drawn(rank_table(results), "rank on each dataset (1 is best)")
    if not leader:
        return _Drawn(own_scores(results), f"{name} on each dataset")
    values = gaps(results, leader)
    side = "right" if results.metric.greater_is_better else "left"
    label = f"{name} {'divided by' if ratios else 'minus'} that of {_LEADER}"
    label += f", on each dataset{' (logarithmic axis)' if ratios else ''}"
    return _Drawn(values.apply(np.log) if ratios else values, label, leader, side, ratios)


_MOST_NAMED = 12  # strategies; the lines to more names cover each other
_FLOOR = -2.0  # evidence below a hundredth is drawn there: how small it is does not matter


@checked
def race_plot(
    race: Race, *, ax: Axes | None = None, figsize: Size | None = None, look: Look = PLAIN
) -> Figure:
    """Draw the evidence against each strategy after each dataset.

    Parameters
    ----------
    race : Race
        Result of `race`.
    ax, figsize, look : optional
        Axes, inches, names and colours: see `mlaut.analysis.Look`.

    Returns
    -------
    Figure
        For questions about the best, there is one line for each strategy, which leaves the race
        where its line crosses the level 1 / alpha. Strategies that are left have bold names; among
        many strategies only these are named, with the number of the others. For other questions,
        the line is the number of undecided pairs.

    Examples
    --------
    >>> from mlaut.analysis import Results, race
    >>> table = pd.DataFrame({"A": [0.1] * 9, "B": [0.2] * 9, "C": [0.3] * 9})
    >>> figure = race_plot(race(Results.from_table(table, greater_is_better=False)))
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['C', 'B', 'A']
    """
    if not race.datasets:
        raise AnalysisError("the race has no complete dataset yet, so there is nothing to draw")
    names = _named(race, look) if race.terms.of_best else []
    look = look.apart(names)
    height = max(3.2, row_size(len(names))[0] * len(names) + 1)
    figure, axes = canvas(ax, figsize, (7.5, height), names=look.labels(names))
    if race.terms.of_best:
        _draw_evidence(axes, race, look)
    else:
        _draw_open_pairs(axes, race)
    label = "log10 evidence against" if race.terms.of_best else "undecided pairs"
    style(axes, "datasets in their drawn order", label, grid=None)
    return figure


def _draw_evidence(axes: Axes, race: Race, look: Look) -> None:
    log10 = np.maximum(race.course.against / np.log(10), _FLOOR)
    ends = []
    for place, name in enumerate(race.strategies):
        n = int(race.course.runs[place])
        left = name in race.left
        colour, width = (BLUE, 1.6) if left else (GREY, 0.9)
        colour = look.colour(name, colour)
        line = np.concatenate([[0.0], log10[:n, place]])
        axes.plot(np.arange(n + 1), line, color=colour, linewidth=width)
        axes.plot(n, line[-1], "o" if left else "x", color=colour, markersize=4)
        ends.append((line[-1], float(n)))
    axes.axhline(-np.log10(race.terms.alpha), color=ORANGE, linewidth=1.2, linestyle="--")
    table = pd.DataFrame(ends, index=list(race.strategies), columns=["evidence", "datasets"])
    table["left"] = table.index.isin(race.left)
    height = table["evidence"].where(table["left"], -table["datasets"])  # fewer crossing lines
    table = table.assign(height=height).sort_values(
        ["left", "height"], ascending=[True, False], kind="stable"
    )
    named = table.loc[table.index.isin(_named(race, look)), ["evidence", "datasets"]]
    name_points(axes, named, race.left, look)
    look.finish(axes, list(named.index), "")
    if n_others := len(table) - len(named):
        gone = table.loc[~table["left"], "datasets"]
        text = f"{n_others} strategies left after {gone.min():.0f} to {gone.max():.0f} datasets"
        axes.set_title(text, fontsize=FONT, loc="left", color=GREY)


def _named(race: Race, look: Look) -> list[str]:
    """Return the strategies that the figure names: all, or of many those that are left."""
    runs = dict(zip(race.strategies, race.course.runs, strict=True))
    order = look.shown(sorted(runs, key=lambda name: (name not in race.left, -runs[name])))
    return order if look.top or len(order) <= _MOST_NAMED else list(race.left)


def _draw_open_pairs(axes: Axes, race: Race) -> None:
    total = len(race.decided_pairs(True)) + len(race.decided_pairs(False))
    decided = {
        frozenset((d.first, d.second)): d.after for d in reversed(race.course.decisions)
    }.values()
    after = np.arange(len(race.datasets) + 1)
    still = [total - sum(1 for n in decided if n <= t) for t in after]
    axes.step(after, still, where="post", color=BLUE, linewidth=1.6)
    axes.set_ylim(bottom=0)
