"""Figure of scores against the budget of tuning."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mlaut.analysis.common.arguments import checked, shown
from mlaut.analysis.plots.canvas import FONT, Size, canvas, log_scale, style
from mlaut.analysis.plots.look import PALETTE, PLAIN, Look
from mlaut.errors import AnalysisError

_AXES = {
    "evaluations": "evaluations in tuning (candidates on all rows)",
    "candidates": "candidates in tuning",
    "seconds": "CPU seconds of tuning",
}
_NEEDED = ("evaluations", "seconds", "inner score", "outer score")


@checked
def budget_plot(
    budgets: pd.DataFrame,
    *,
    x: str = "evaluations",
    ax: Axes | None = None,
    figsize: Size | None = None,
    look: Look = PLAIN,
) -> Figure:
    """Draw the score of each strategy against the budget of its tuning.

    Parameters
    ----------
    budgets : DataFrame
        What `mlaut.analysis.score_against_budget` returned.
    x : {"evaluations", "candidates", "seconds"}, default "evaluations"
        Unit of the budget.
    ax, figsize, look : optional
        Axes, inches, names and colours: see `mlaut.analysis.Look`.

    Returns
    -------
    Figure
        One line for each strategy, of the outer score where it is known. A strategy of which only
        the whole search has an outer score has a dashed line of the inner score, which is biased
        upwards. The horizontal axis is logarithmic.

    Raises
    ------
    AnalysisError
        The table is another one, or ``x`` is no unit.

    Examples
    --------
    >>> index = pd.MultiIndex.from_product([["SVC"], [1, 2, 4]])
    >>> columns = ["evaluations", "seconds", "inner score", "outer score"]
    >>> rows = [[1, 0.1, 0.8, 0.7], [2, 0.2, 0.9, 0.8], [4, 0.4, 0.95, 0.8]]
    >>> figure = budget_plot(pd.DataFrame(rows, index, columns))
    >>> figure.axes[0].get_ylabel()
    'outer score'
    """
    if x not in _AXES:
        raise AnalysisError(f"x = {shown(x)} is no unit of a budget; use {', '.join(_AXES)}")
    if not isinstance(budgets, pd.DataFrame) or budgets.empty or {*_NEEDED} - {*budgets.columns}:
        raise AnalysisError("budgets: not what score_against_budget returned; pass its result")
    of_index = pd.Series(budgets.index.get_level_values(-1), index=budgets.index, dtype=float)
    used = of_index if x == "candidates" else budgets[x]
    names = list(dict.fromkeys(budgets.index.get_level_values(0)))
    drawn = look.shown(_best_first(budgets, names))
    figure, axes = canvas(ax, figsize, (7.5, 4.5), names=look.labels(drawn))
    kinds = set()
    for place, name in enumerate(drawn):
        rows = budgets.loc[[name]]
        outer = bool(rows["outer score"].iloc[:-1].notna().any()) or len(rows) == 1
        kind = "outer score" if outer else "inner score"
        kinds.add(kind)
        axes.plot(
            used.loc[[name]].to_numpy(dtype=float),
            rows[kind].to_numpy(dtype=float),
            "o-" if outer else "o--",
            color=look.colour(name, PALETTE[place % len(PALETTE)]),
            markersize=4,
            linewidth=1.4,
            label=look.label(name),
        )
    known = used[used > 0]
    style(axes, _AXES[x], " or ".join(sorted(kinds, reverse=True)))
    log_scale(axes, float(np.max(known) / np.min(known)) if len(known) else 1.0)
    look.finish(axes, drawn, "")
    axes.legend(fontsize=FONT, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return figure


def _best_first(table: pd.DataFrame, names: list[str]) -> list[str]:
    """Return the strategies in the order in which their lines end, the highest first."""
    last = table.groupby(level=0, sort=False).last()
    ends = last["outer score"].fillna(last["inner score"])
    return sorted(names, key=lambda name: -float(ends[name]))
