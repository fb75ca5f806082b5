"""Plots of one dataset: differences from the leader, and what lies behind the leader's score."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mlaut.analysis.common.arguments import checked
from mlaut.analysis.common.display import number
from mlaut.analysis.common.numerics import wilson
from mlaut.analysis.deciding.one_decision import OneDecision
from mlaut.analysis.deciding.strips import robust_ends
from mlaut.analysis.estimates.behind import calibration_table
from mlaut.analysis.plots.canvas import (
    BLUE,
    GREY,
    Size,
    beyond,
    canvas,
    row_size,
    style,
    text_width,
    write_edges,
)
from mlaut.analysis.plots.decision_plot import MARKS
from mlaut.analysis.plots.look import PLAIN, Look
from mlaut.errors import AnalysisError
from mlaut.records import Block

_WIDTH, _AXIS = 5.4, (2.4, 3.6)  # inches, as in the plot of a decision on many datasets
_MOST_ROWS = 3000  # dots of residuals
_SPREAD = 0.2  # of random heights, which only separate the dots


@checked
def one_plot(
    decision: OneDecision,
    *,
    top: int = 20,
    ax: Axes | None = None,
    figsize: Size | None = None,
    look: Look = PLAIN,
) -> Figure:
    """Draw the difference of each strategy from the leader on one dataset, the best on top.

    Parameters
    ----------
    decision : OneDecision
        The value of ``compare(results).decision()`` for results on one dataset.
    top : int, default 20
        Number of strategies that are drawn, the best first.
    ax, figsize, look : optional
        Axes, inches, names and colours: see `mlaut.analysis.Look`.

    Returns
    -------
    Figure
        The mark at the difference shows the verdict; the line is its interval; dots are test sets.
        Without a valid test the dots are scores.
    """
    frame = decision.frame
    order = [str(name) for name in frame.index][:top]
    look = look.apart(frame.index)
    leader = decision.first[0] if decision.leader else ""
    scores = decision.sets
    drawn = scores.sub(scores[leader], axis=0) if leader else scores
    known = frame.reindex(columns=["difference", "difference low", "difference high"])
    both = pd.concat([drawn[order], known.loc[order].T], ignore_index=True)
    others = [name for name in order if name != leader]
    ends = robust_ends(both[others], 0.0 if leader else None)
    far = [beyond(drawn[name], ends) for name in order]
    row, font = row_size(len(order))
    left, right = (text_width(texts, font) for texts in zip(*far, strict=True))
    beside = text_width(look.labels(order), font) + left + right
    axis = float(np.clip(_WIDTH - beside, *_AXIS))
    figure, axes = canvas(ax, figsize, (beside + axis, 0.9 + 1.25 * row * len(order)))
    for place, name in enumerate(order):
        shape, colour, words = MARKS.get(frame["verdict"][name] if leader else "", ("", GREY, ""))
        if name != leader:
            within = drawn[name][drawn[name].between(*ends)].to_numpy()
            heights = place + np.random.default_rng(place).uniform(-_SPREAD, _SPREAD, len(within))
            how: dict[str, Any] = {"markersize": 7, "alpha": 0.4, "markeredgewidth": 0}
            axes.plot(within, heights, ".", color=colour, zorder=1.9, **how)
            value, low, high = map(float, known.loc[name].to_numpy())
            if low == low:
                axes.plot(np.clip([low, high], *ends), [place] * 2, color=colour, linewidth=1.6)
        else:
            value = 0.0
        if shape and ends[0] <= value <= ends[1]:
            face = "white" if words.startswith("hollow") else colour
            axes.plot(value, place, shape, color=colour, markerfacecolor=face, markersize=6)
        write_edges(axes, place, far[place], color=colour, fontsize=font)
    below = f"{decision.metric} on each test set"
    if leader:
        side = "right" if decision.scorer.greater_is_better else "left"
        below = f"{decision.metric} minus that of {look.label(leader)}\n{side} of the line: better"
        axes.vlines(0.0, -0.6, len(order) - 0.5, color=BLUE, linewidth=0.8)
    axes.set_xlim(*ends)
    axes.locator_params(axis="x", nbins=max(int(1.7 * axis), 2))
    axes.set_yticks(range(len(order)), look.labels(order), fontsize=font)
    axes.set_ylim(len(order) - 0.4, -0.6)
    style(axes, below, grid="x", left=False)
    axes.tick_params(axis="y", pad=4 + 72 * left)
    look.finish(axes, order)
    return figure


def about_one(decision: OneDecision) -> tuple[str, str]:
    """Return the caption of `one_plot` and its text for readers who cannot see it."""
    shown = set(decision.frame["verdict"]) if decision.leader else set()
    legend = "; ".join(f"{words}: {name}" for name, (*_, words) in MARKS.items() if name in shown)
    dots = "one dot per test set" if decision.one.n_sets > 1 else "no dots: there is one test set"
    caption = f"The mark is the difference and the line its interval; {dots}. {legend}".strip()
    means = decision.frame[f"mean {decision.metric}"]
    listed = ", ".join(f"{name} {number(value)}" for name, value in means.items())
    return caption, f"{decision.answer()} {decision.metric}: {listed}."


@checked
def calibration_plot(
    block: Block,
    strategy: str,
    *,
    ax: Axes | None = None,
    figsize: Size | None = None,
    look: Look = PLAIN,
) -> Figure:
    """Draw how often the positive class came, against the probability that was predicted for it.

    Parameters
    ----------
    block : Block
        Predictions on a dataset of two classes; the second one is positive.
    strategy : str
        A strategy that predicts probabilities.
    ax, figsize, look : optional
        Axes, inches, names and colours: see `mlaut.analysis.Look`.

    Returns
    -------
    Figure
        Each dot is a tenth of the test rows; on the diagonal, probabilities are right. The line at
        each dot is the 95 % interval of the share (Wilson).
    """
    bins = calibration_table(block, strategy)
    if bins is None:
        raise AnalysisError(f"{strategy} has no probabilities of two classes")
    figure, axes = canvas(ax, figsize, (3.6, 3.4))
    low, high = wilson(bins["share"].to_numpy(), bins["rows"].to_numpy(), 0.95)
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8)
    axes.vlines(bins["predicted"], low, high, color=BLUE, linewidth=1.2)
    axes.plot(bins["predicted"], bins["share"], "o-", color=BLUE, markersize=4, linewidth=0.8)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    positive = str(block.classes[1])
    style(axes, f"predicted probability of {positive}", f"share that was {positive}")
    look.finish(axes, [strategy])
    return figure


@checked
def residual_plot(
    block: Block,
    strategy: str,
    *,
    ax: Axes | None = None,
    figsize: Size | None = None,
    look: Look = PLAIN,
) -> Figure:
    """Draw prediction minus truth against the prediction, one dot per test row.

    Parameters
    ----------
    block : Block
        Predictions of numbers.
    strategy : str
    ax, figsize, look : optional
        Axes, inches, names and colours: see `mlaut.analysis.Look`.
    """
    if block.classes:
        raise AnalysisError(f"{block.dataset} has classes, which have no residuals")
    given = block.predictions[block.strategies.index(strategy), 0]
    rows = np.flatnonzero(~np.isnan(given))
    if len(rows) > _MOST_ROWS:
        rows = np.random.default_rng(0).choice(rows, _MOST_ROWS, replace=False)
    figure, axes = canvas(ax, figsize, (4.6, 3.2))
    axes.axhline(0.0, color=GREY, linewidth=0.8)
    how: dict[str, Any] = {"markersize": 4, "alpha": 0.5, "markeredgewidth": 0}
    axes.plot(given[rows], given[rows] - block.truth[rows], ".", color=BLUE, **how)
    style(axes, "prediction", "prediction minus truth")
    look.finish(axes, [strategy])
    return figure
