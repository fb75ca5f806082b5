"""Figure with a line for each strategy: the performance profile.

The lines differ in colour, line style and marker.
"""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mlaut.analysis.common.arguments import Size, checked
from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.plots.canvas import FONT, GREY, canvas, log_scale, style
from mlaut.analysis.plots.look import PALETTE, PLAIN, Look
from mlaut.errors import AnalysisError

_MOST_NAMED = 9  # strategies whose lines can be told apart; the others are grey

# The lengths 7 (of the palette), 11 and 4 are coprime: the styles repeat after 308.
_LINES = ("-", "--", "-.", ":")
_MARKS = ("o", "s", "D", "^", "v", "P", "X", "<", ">", "p", "h")


def _style(place: int) -> dict[str, Any]:
    """Return colour, marker and line style of a line by its place; 300 lines have 300 styles."""
    return {
        "color": PALETTE[place % len(PALETTE)],
        "marker": _MARKS[place % len(_MARKS)],
        "linestyle": _LINES[place % len(_LINES)],
    }


def _axes(ax: Axes | None, figsize: Size | None, size: Size, x: str, y: str) -> tuple[Figure, Axes]:
    """Return figure and axes with the labels ``x`` and ``y``."""
    figure, axes = canvas(ax, figsize, size)
    style(axes, x, y)
    axes.tick_params(axis="y", labelsize=FONT)
    return figure, axes


def _legend(axes: Axes, columns: int) -> None:
    """Put the legend below the axes, where it covers no line."""
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.12),
        ncols=columns,
        fontsize=FONT,
        frameon=False,
        handlelength=3.5,
    )


@checked
def profile_plot(
    table: ResultTable, *, ax: Axes | None = None, figsize: Size | None = None, look: Look = PLAIN
) -> Figure:
    """Draw the share of datasets within each factor of the best loss.

    Parameters
    ----------
    table : ResultTable
        Table that `performance_profile` returns.
    ax, figsize, look : optional
        Axes, inches, names and colours: see `mlaut.analysis.Look`.

    Returns
    -------
    Figure
        A step line for each strategy. The nine with the largest mean share are named, the largest
        first; the others are grey.

    Raises
    ------
    AnalysisError
        The table is no profile.

    Examples
    --------
    >>> from mlaut.analysis import performance_profile
    >>> scores = pd.DataFrame({"A": [1.0, 4.0], "B": [2.0, 1.0]})
    >>> table = performance_profile(scores, metric="loss", greater_is_better=False)
    >>> [line.get_label() for line in profile_plot(table).axes[0].lines]
    ['B', 'A']
    """
    shares = table.frame
    if shares.index.name != "factor":
        raise AnalysisError(f"{table.name} is no profile: see performance_profile")
    order = list(shares.mean().sort_values(ascending=False, kind="stable").index)
    chosen = look.shown(order)[: look.top or _MOST_NAMED]
    look = look.apart(chosen)
    columns = 2 if max(map(len, look.labels(chosen))) < 22 else 1
    height = 4.0 + 0.2 * -(-len(chosen) // columns)  # inches; the legend must not squeeze the plot
    label = "loss at most this factor times the best"
    figure, axes = _axes(ax, figsize, (5.6, height), label, "share of datasets")
    for place, name in enumerate(chosen):
        drawn = _style(place) | {"marker": "", "zorder": 3 - place / len(order)}
        drawn["color"] = look.colour(name, drawn["color"])
        axes.step(shares.index, shares[name], where="post", label=look.label(name), **drawn)
    colours = pd.Series({name: look.colour(name, GREY) for name in order[len(chosen) :]}, dtype=str)
    for colour, of_colour in colours.groupby(colours):
        gap = np.full((1, len(of_colour)), np.nan)  # between the lines of one colour
        y = np.concatenate([shares[of_colour.index], gap]).ravel(order="F")
        x = np.tile([*shares.index, np.nan], len(of_colour))
        axes.step(x, y, where="post", label="_", color=colour, linewidth=0.6)
    log_scale(axes, float(shares.index.max() / shares.index.min()))
    axes.set_ylim(-0.01, 1.01)
    _legend(axes, columns)
    look.finish(axes, order if look.top is None else chosen, "")
    return figure
