"""The performance profile, and its figure: a line for each strategy."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mlaut.analysis import Look, Results, ResultTable
from mlaut.errors import AnalysisError
from mlaut.plugins import (
    GREY,
    PLAIN,
    Size,
    checked,
    legend_below,
    line_axes,
    line_style,
    log_scale,
    of_results,
    paired_losses,
)

_MOST_NAMED = 9  # strategies whose lines can be told apart; the others are grey


@of_results
def performance_profile(results: Results) -> ResultTable:
    """Compute on which share of datasets each strategy is within a factor of the best loss.

    Scenario (c), without intervals.

    Parameters
    ----------
    results : Results or DataFrame
        Results with losses of 0 or more.

    Returns
    -------
    ResultTable
        One row for each factor at which a share changes, from 1 up, and one column for each
        strategy: the share of datasets on which its loss is at most this factor times the best.
        Where the best loss is 0 and another is not, no factor is enough.

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        A loss is below 0, or there are fewer than two datasets or strategies.

    Notes
    -----
    The shares depend on all strategies through the best loss: a profile compares each strategy with
    the best one, not two strategies with each other. Source: Dolan & More 2002.

    Examples
    --------
    >>> table = pd.DataFrame({"A": [1.0, 4.0], "B": [2.0, 1.0]})
    >>> performance_profile(table, metric="loss", greater_is_better=False).frame
    strategy    A    B
    factor
    1.0       0.5  0.5
    2.0       0.5  1.0
    4.0       1.0  1.0
    """
    losses = paired_losses(results).snapped
    if (losses < 0).any():
        raise AnalysisError(
            f"a factor of the best needs losses of 0 or more, and {results.metric.loss_name} has "
            "others: see scale_free_table"
        )
    best = losses.min(axis=1, keepdims=True)
    factor = np.where(losses == best, 1.0, np.inf)
    with np.errstate(over="ignore"):  # a factor beyond the largest number is infinite
        np.divide(losses, best, out=factor, where=(best > 0) & (losses > best))
    steps = np.unique(factor[np.isfinite(factor)])
    ordered = np.sort(factor, axis=0)
    shares = [np.searchsorted(column, steps, side="right") / len(ordered) for column in ordered.T]
    frame = pd.DataFrame(
        np.stack(shares, axis=1),
        index=pd.Index(steps, name="factor"),
        columns=pd.Index(results.strategies, name="strategy"),
    )
    return results.table("Performance profile", frame, "Dolan & More 2002")


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
    figure, axes = line_axes(ax, figsize, (5.6, height), label, "share of datasets")
    for place, name in enumerate(chosen):
        drawn = line_style(place) | {"marker": "", "zorder": 3 - place / len(order)}
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
    legend_below(axes, columns)
    look.finish(axes, order if look.top is None else chosen, "")
    return figure
