"""Plots of one dataset: what lies behind the leader's score."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mlaut.analysis.common.arguments import Size, checked
from mlaut.analysis.common.numerics import wilson
from mlaut.analysis.estimates.behind import calibration_table
from mlaut.analysis.plots.canvas import BLUE, GREY, canvas, style
from mlaut.analysis.plots.look import PLAIN, Look
from mlaut.errors import AnalysisError
from mlaut.records import Block

_MOST_ROWS = 3000  # dots of residuals


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
