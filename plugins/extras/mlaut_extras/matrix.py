"""The multi-comparison matrix of Ismail-Fawaz et al. (2023), drawn."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from mlaut.analysis import Look, Pairwise
from mlaut.errors import AnalysisError
from mlaut.plugins import (
    BLUE,
    FONT,
    ORANGE,
    PLAIN,
    Share,
    Size,
    canvas,
    checked,
    label_matrix,
    number,
    p_text,
    positions,
    text_width,
)

_WIDTH, _HEIGHT = 0.95, 0.56  # inches: three lines of 7.5 points fit
_TEXT = 7.5  # points
_MOST = 20  # columns or rows: a figure of 20 inches is the largest that a screen shows


@checked
def multi_comparison_matrix(
    pairs: Pairwise,
    *,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    alpha: Share = 0.05,
    ax: Axes | None = None,
    figsize: Size | None = None,
    look: Look = PLAIN,
) -> Figure:
    r"""Draw the multi-comparison matrix: advantage, wins / ties / losses and p of each pair.

    Parameters
    ----------
    pairs : Pairwise
        Result of `mlaut.analysis.multi_comparison`.
    rows, columns : sequence of str, optional
        Strategies to draw, in this order. Default: all, the best mean first.
    alpha : float, default 0.05
        Squares of pairs with p at or below this level have bold text.
    ax, figsize, look : optional
        Axes, inches, names and colours: see `mlaut.analysis.Look`.

    Returns
    -------
    Figure
        Each square compares the row against the column. The first line is the mean advantage of the
        row (its loss is smaller by this number); for losses in different units, it is the share of
        datasets on which the row is better, minus one half. The second line has wins, ties and
        losses of the row, the third p. The row is better in blue squares and worse in orange ones;
        the strongest colour is the largest advantage in the figure.

    Raises
    ------
    AnalysisError
        The result has no wins, ties and losses, a name is not known, or there are more than 20 rows
        or columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from mlaut.analysis import multi_comparison
    >>> table = pd.DataFrame({"A": [0.1, 0.2, 0.3, 0.2, 0.1], "B": [0.2, 0.4, 0.35, 0.3, 0.1]})
    >>> figure = multi_comparison_matrix(multi_comparison(table, metric="error"))
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['0.09\n4 / 1 / 0\np = 0.125', '-0.09\n0 / 1 / 4\np = 0.125']
    """
    effect, advantage = _advantages(pairs)
    order = [pairs.strategies[i] for i in np.argsort(-np.nansum(advantage, axis=1), kind="stable")]
    order = look.shown(order)
    down, across = (order if names is None else list(names) for names in (rows, columns))
    at = np.ix_(*(positions("strategy", names, pairs.strategies) for names in (down, across)))
    most = max(len(down), len(across))
    if most > _MOST:
        raise AnalysisError(
            f"{most} rows or columns of numbers cannot be read: name up to {_MOST} in rows= and "
            "columns= or with Look(top=...), or draw pairwise_matrix"
        )
    look = look.apart([*down, *across])
    longest = text_width(look.labels([*down, *across]))
    # slanted names end to the right of their columns
    ends = (text_width([text]) / 2 - _WIDTH * k for k, text in enumerate(look.labels(across[::-1])))
    beyond, width = max(0.0, *ends), _WIDTH * len(across) + longest + 0.5
    size = max(width, 4.5) + beyond, _HEIGHT * len(down) + longest + 0.9
    figure, axes = canvas(ax, figsize, size)
    layout = figure.get_layout_engine()
    if ax is None and isinstance(layout, ConstrainedLayoutEngine):
        layout.set(rect=(0, 0, 1 - beyond / size[0], 1))
    axes.imshow(_colours(advantage[at]), aspect="auto", interpolation="none")
    _write(axes, pairs, advantage, at, alpha)
    legend = f"{effect}\nwins / ties / losses of the row; bold: p at most {alpha:g}"
    label_matrix(axes, down, across, legend, look, FONT)
    return figure


def _advantages(pairs: Pairwise) -> tuple[str, np.ndarray]:
    """Return the name of the advantage of the row, and its table, shape (K, K)."""
    if not {"p_value", "ties", "losses"} <= set(pairs.tables) or not pairs.effects:
        raise AnalysisError(
            f"{pairs.name} has no wins, ties and losses with a p-value: draw "
            "multi_comparison(results)"
        )
    name = next(iter(pairs.effects))
    values = pairs.table(name).to_numpy()
    if name == "share better":
        return "share of datasets won by the row, minus 0.5", values - 0.5
    return f"mean {pairs.metric or 'loss'} of the column minus that of the row", 0.0 - values


def _colours(advantage: np.ndarray) -> np.ndarray:
    """Return the colours of squares; half of the full colour at most, so that black is readable."""
    picture = np.full((*advantage.shape, 3), 0.85)
    known = ~np.isnan(advantage)
    strength = np.abs(advantage[known]) / max(np.abs(advantage[known]).max(initial=0.0), 1e-300)
    full = np.where((advantage[known] > 0)[:, None], to_rgb(BLUE), to_rgb(ORANGE))
    picture[known] = 1 - 0.5 * strength[:, None] * (1 - full)
    return picture


def _write(
    axes: Axes, pairs: Pairwise, advantage: np.ndarray, at: tuple[np.ndarray, ...], alpha: float
) -> None:
    keys = ("statistic", "ties", "losses", "p_value")
    counts = [pairs.table(key).to_numpy()[at] for key in keys]
    shown = advantage[at]
    for row, column in np.argwhere(~np.isnan(shown)).tolist():
        *numbers, p = (table[row, column] for table in counts)
        lines = [number(shown[row, column], 3), " / ".join(map(number, numbers)), p_text(p)]
        axes.text(
            column,
            row,
            "\n".join(lines),
            ha="center",
            va="center",
            fontsize=_TEXT,
            fontweight="bold" if p <= alpha else "normal",
        )
