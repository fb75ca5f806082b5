"""The multi-comparison matrix as a figure."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from mlaut.analysis.common.arguments import checked, positions
from mlaut.analysis.common.display import number, p_text
from mlaut.analysis.common.result_types import Pairwise
from mlaut.analysis.plots.canvas import BLUE, FONT, ORANGE, Size, canvas, text_width
from mlaut.analysis.plots.look import PLAIN, Look
from mlaut.analysis.plots.pair_plots import label_matrix
from mlaut.errors import AnalysisError

_WIDTH, _HEIGHT = 0.95, 0.56  # inches: three lines of 7.5 points fit
_TEXT = 7.5  # points
_MOST = 20  # columns or rows: a figure of 20 inches is the largest that a screen shows


@checked
def multi_comparison_matrix(
    pairs: Pairwise,
    *,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    alpha: float = 0.05,
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
        row (its loss is smaller by this number), or for losses in different units its share of
        datasets minus one half; then wins, ties and losses of the row; then p. Blue: the row is
        better; orange: it is worse; the strongest colour is the largest advantage in the figure.

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
    longest = text_width(look.labels([*down, *across]))
    size = max(_WIDTH * len(across) + longest + 0.5, 4.5), _HEIGHT * len(down) + longest + 0.9
    figure, axes = canvas(ax, figsize, size)
    axes.imshow(_colours(advantage[at]), aspect="auto", interpolation="none")
    _write(axes, pairs, advantage, at, alpha)
    legend = f"{effect}\nwins / ties / losses of the row; bold: p at most {alpha:g}"
    label_matrix(axes, down, across, legend, look, FONT)
    return figure


def _advantages(pairs: Pairwise) -> tuple[str, np.ndarray]:
    """Return the advantage of the row, in words and as a table, shape (K, K)."""
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
