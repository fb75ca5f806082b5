"""ROC curves of tests on synthetic contexts, and the areas under them, as figures."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from contexts import Roc
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from mlaut.analysis import ResultTable
from mlaut.analysis.plots.canvas import (
    FONT,
    GREY,
    Size,
    label_plainly,
    legend_below,
    line_axes,
    line_style,
    log_scale,
)
from mlaut.errors import AnalysisError


def roc_plot(
    rocs: Mapping[str, Roc], *, ax: Axes | None = None, figsize: Size | None = None
) -> Figure:
    """Draw the ROC curves of tests on a synthetic context.

    Parameters
    ----------
    rocs : mapping of str to Roc
        ROCs by test, as `judge_on_context` returns them.
    ax, figsize : optional
        Axes of the caller, or width and height of a new figure in inches.

    Returns
    -------
    Figure
        Share of a test's right claims against the share of its wrong claims, for decreasing
        thresholds of confidence. A test whose confidence is uninformative follows the diagonal. The
        legend has the area under each curve.

    Notes
    -----
    Lacoste, Laviolette & Marchand (2012), section 6.3.

    Examples
    --------
    >>> from contexts import BIMODAL, judge_on_context
    >>> rocs = judge_on_context(BIMODAL, 14, tests=["sign", "signed rank"], n_repetitions=1000)
    >>> len(roc_plot(rocs).axes[0].lines)
    3
    """
    if not rocs:
        raise AnalysisError("there are no ROC curves to draw")
    figure, axes = line_axes(
        ax, figsize, (5.2, 5.4), "share of wrong claims", "share of right claims"
    )
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8)
    for place, (name, roc) in enumerate(rocs.items()):
        wrong, right = roc.curve()
        label = f"{name} (AUC {roc.auc:.3f})"
        drawn = line_style(place) | {"marker": ""}
        axes.plot(wrong, right, label=label, linewidth=1.8, **drawn)
    axes.set_xlim(-0.01, 1.01)
    axes.set_ylim(-0.01, 1.01)
    axes.set_aspect("equal")
    first = next(iter(rocs.values()))
    axes.set_title(f"context {first.context!r}, {first.n_repetitions} studies drawn", fontsize=FONT)
    legend_below(axes, 2 if max(map(len, rocs)) < 22 else 1)
    return figure


def auc_plot(table: ResultTable, *, ax: Axes | None = None, figsize: Size | None = None) -> Figure:
    """Draw the area under the ROC curve of tests by number of datasets, or of test points.

    Parameters
    ----------
    table : ResultTable
        Table that `auc_table` returns. Either the number of datasets or the number of test points
        has two or more values; the other has one.
    ax, figsize : optional
        Axes of the caller, or width and height of a new figure in inches.

    Returns
    -------
    Figure
        Lines with error bars of two Monte Carlo standard errors. At an area of 0.5, the confidence
        of a test does not depend on whether it is right.

    Raises
    ------
    AnalysisError
        Nothing varies in the table, or both numbers do.

    Notes
    -----
    Lacoste, Laviolette & Marchand (2012), Figures 3 to 5.

    Examples
    --------
    >>> from contexts import SINGLE, auc_table
    >>> figure = auc_plot(auc_table(SINGLE, [5, 11, 21], tests=["sign"], n_repetitions=500))
    >>> figure.axes[0].get_xlabel()
    'datasets (test points: of the context)'
    """
    frame, varied, other = _one_axis(table.frame)
    names = [str(name) for name in frame.columns if not str(name).startswith("error of ")]
    label = f"{varied} ({other})"
    figure, axes = line_axes(ax, figsize, (6.2, 4.6), label, "area under the ROC curve")
    at = frame.index.to_numpy(dtype=float)
    axes.axhline(0.5, color=GREY, linewidth=0.8)
    for place, name in enumerate(names):
        error = 2 * frame[f"error of {name}"]
        drawn = line_style(place)
        axes.errorbar(
            at, frame[name], error, label=name, markersize=5, linewidth=1.6, capsize=2, **drawn
        )
    if at.max() / at.min() > 20:  # on a linear axis the small numbers would overlap
        log_scale(axes, float(at.max() / at.min()))
    label_plainly(axes, FixedLocator(_spread(at).tolist()))
    axes.set_title(table.name, fontsize=FONT)
    legend_below(axes, min(len(names), 4))
    return figure


def _one_axis(frame: pd.DataFrame) -> tuple[pd.DataFrame, str, str]:
    """Return the table by its varying number, the name of that number, and a text on the other."""
    levels = {str(name): frame.index.unique(name) for name in frame.index.names}
    varied = [name for name, values in levels.items() if len(values) > 1]
    if len(varied) != 1:
        raise AnalysisError(
            f"{' and '.join(varied) or 'nothing'} varies in this table; a curve needs several "
            "numbers of datasets and one of test points, or the other way round"
        )
    other = next(name for name in levels if name != varied[0])
    return frame.droplevel(other), varied[0], f"{other}: {levels[other][0]}"


def _spread(at: np.ndarray) -> np.ndarray:
    """Return the values to label on the axis, far enough apart to be readable."""
    position = np.log(at) if at.max() / at.min() > 20 else at
    room = (position.max() - position.min()) / 14  # at most 15 labels
    kept = [0]
    for place in range(1, len(at)):
        if position[place] - position[kept[-1]] >= room:
            kept.append(place)
    return at[kept]
