"""Figure of the probability of every rank of all strategies."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from mlaut.analysis.common.arguments import Size, checked
from mlaut.analysis.methods.aggregates.best import RankProbabilities
from mlaut.analysis.plots.canvas import BLUE, FONT, ORANGE, canvas, row_size
from mlaut.analysis.plots.look import PLAIN, Look

_SHARE = LinearSegmentedColormap.from_list("probability", ["#FFFFFF", BLUE, "#00263D"])


@checked
def rank_plot(
    chances: RankProbabilities,
    *,
    ax: Axes | None = None,
    figsize: Size | None = None,
    look: Look = PLAIN,
) -> Figure:
    """Draw the probability of each rank of each strategy, and the probability of being the best.

    Parameters
    ----------
    chances : RankProbabilities
        Result of `probability_of_best`.
    ax, figsize, look : optional
        Axes, inches, names and colours: see `mlaut.analysis.Look`.

    Returns
    -------
    Figure
        A row for each strategy, with the one that is most probably the best on top. A square for
        each rank is darker for a more probable rank. A dot is the expected rank, a line its
        interval. The probability of being the best is beside the row.

    Examples
    --------
    >>> import pandas as pd
    >>> from mlaut.analysis import probability_of_best
    >>> table = pd.DataFrame({"A": [0.9] * 8, "B": [0.7, 0.6, 0.8, 0.5] * 2})
    >>> figure = rank_plot(probability_of_best(table, metric="accuracy"))
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['P(best)', '1', '<.01']
    """
    names = look.shown(list(chances.frame.index))
    frame = chances.frame.loc[names]
    shares = chances.rank_probabilities.loc[names]
    row, font = row_size(len(names))
    look = look.apart(names)
    labels = look.labels(names)
    figure, axes = canvas(ax, figsize, (6.0, row * len(names) + 1.2), names=labels)
    full = (
        float(np.quantile(shares.to_numpy(), 0.99)) or 1.0
    )  # a few certain ranks must not pale all
    n = shares.shape[1]
    extent = (0.5, n + 0.5, len(names) - 0.5, -0.5)
    axes.imshow(
        shares, cmap=_SHARE, vmin=0, vmax=full, aspect="auto", interpolation="none", extent=extent
    )
    heights = np.arange(len(names))
    axes.hlines(heights, frame["low"], frame["high"], color=ORANGE, linewidth=1.2)
    axes.plot(frame["expected rank"], heights, "o", color=ORANGE, markersize=4)
    axes.text(1.01, 1.0, "P(best)", transform=axes.transAxes, fontsize=font, va="bottom")
    for height, share in zip(heights.tolist(), frame["P(best)"], strict=True):
        at = axes.get_yaxis_transform()
        axes.text(1.01, height, _share(share), transform=at, fontsize=font, va="center")
    axes.set_yticks(heights, labels, fontsize=font)
    axes.set_xlim(0.5, n + 0.5)
    axes.set_xlabel(f"rank by {chances.name} of {n} strategies", fontsize=FONT)
    axes.tick_params(axis="x", labelsize=FONT)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    look.finish(axes, names)
    return figure


def _share(value: float) -> str:
    if value < 0.005:  # also where no draw had it: the number of draws is finite
        return "<.01"
    return "1" if value >= 0.995 else f"{value:.2f}"[1:]
