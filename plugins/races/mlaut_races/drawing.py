"""Figure of a race: its evidence after each dataset."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mlaut.analysis import Look
from mlaut.errors import AnalysisError
from mlaut.plugins import (
    BLUE,
    FONT,
    GREY,
    ORANGE,
    PLAIN,
    Size,
    canvas,
    checked,
    name_points,
    row_size,
    style,
)
from mlaut_races.race import Race

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
        text = f"{n_others} strategies stopped after {gone.min():.0f} to {gone.max():.0f} datasets"
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
