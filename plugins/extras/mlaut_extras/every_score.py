"""Figure of every score: strategies and datasets that are alike stand side by side."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from mlaut.analysis import Look, Results, rank_table
from mlaut.plugins import (
    BLUE,
    FONT,
    ORANGE,
    PLAIN,
    Size,
    canvas,
    checked,
    ranks_of,
    row_size,
    text_width,
)

_MOST_NAMED = 60  # datasets; with more, their names would be too small to read
_BETTER_WORSE = LinearSegmentedColormap.from_list(
    "better or worse", [ORANGE, "#FFFFFF", BLUE]
).with_extremes(bad="#999999")
_FULL = 0.95  # quantile of the distances that has the full colour: a few far ones must not pale all
_SQUARE = 0.22  # inches of a square, where names are beside it
_SIDE = 9.0  # inches of all squares across, at most


@checked
def heat_map(
    results: Results, *, ax: Axes | None = None, figsize: Size | None = None, look: Look = PLAIN
) -> Figure:
    """Draw the distance of each strategy from the median on each dataset, in clustered order.

    Parameters
    ----------
    results : Results
        Missing values are grey.
    ax, figsize, look : optional
        Axes, inches, names and colours: see `mlaut.analysis.Look`.

    Returns
    -------
    Figure
        A row for each strategy and a column for each dataset. A blue score is better than the
        median of the strategies on that dataset, an orange one is worse. Losses in different units
        are compared by ranks. Rows and columns have the order of a hierarchical clustering (average
        distance between correlated profiles, leaves ordered optimally). So strategies that are good
        on the same datasets are neighbours, whatever their average. With ``Look(top=...)`` the
        strategies with the best average rank are drawn.

    Notes
    -----
    The optimal order of leaves is that of Bar-Joseph, Gifford & Jaakkola (2001).

    Examples
    --------
    >>> table = pd.DataFrame({"A": [0.9, 0.8, 0.5], "B": [0.7, 0.9, 0.6], "C": [0.9, 0.7, 0.4]})
    >>> figure = heat_map(Results.from_table(table, metric="accuracy"))
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['B', 'A', 'C']
    """
    values, label = _distances(results)
    names = look.shown(list(ranks_of(results).mean().sort_values(kind="stable").index))
    shown = values[names]
    across, down = _clustered(shown.to_numpy()), _clustered(shown.to_numpy().T)
    if shown.iloc[:, down[0]].mean() < shown.iloc[:, down[-1]].mean():
        down = down[::-1]  # the same tree, with the better end on top
    shown = shown.iloc[across, down].T
    far = shown.abs().to_numpy()
    far = far[~np.isnan(far)]
    full = (float(np.quantile(far, _FULL)) if len(far) else 0.0) or 1.0
    look = look.apart(shown.index)
    labels, datasets = look.labels(shown.index), [str(name) for name in shown.columns]
    named = len(datasets) <= _MOST_NAMED
    row, font = row_size(len(labels))
    width = min(_SQUARE * len(datasets), _SIDE) + text_width(labels, font) + 1.4
    height = row * len(labels) + (text_width(datasets, font) if named else 0.2) + 0.8
    figure, axes = canvas(ax, figsize, (max(width, 4.5), max(height, 2.4)), names=labels)
    picture = axes.imshow(
        shown, cmap=_BETTER_WORSE, vmin=-full, vmax=full, aspect="auto", interpolation="none"
    )
    axes.set_yticks(range(len(labels)), labels, fontsize=font)
    if named:
        axes.set_xticks(range(len(datasets)), datasets, rotation=90, fontsize=min(font, 8.0))
    else:
        axes.set_xticks([])
        axes.set_xlabel(f"{len(datasets)} datasets", fontsize=FONT)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    bar = figure.colorbar(picture, ax=axes, fraction=0.04, pad=0.02, extend="both")
    bar.set_label(label, fontsize=FONT)
    bar.ax.tick_params(labelsize=FONT)
    look.finish(axes, list(shown.index))
    return figure


def _distances(results: Results) -> tuple[pd.DataFrame, str]:
    """Return the distances from the median on each dataset (above 0 is better), and their name."""
    if results.incomparable:
        ranks = rank_table(results)
        return -ranks.sub(ranks.median(axis=1), axis=0), "ranks above the median"
    losses, name = results.losses, results.metric.name
    side = "above" if results.metric.greater_is_better else "below"
    words = f"{name} {side} the median"
    return -losses.sub(losses.median(axis=1), axis=0), words


def _clustered(profiles: np.ndarray) -> np.ndarray:
    """Return the order of rows in which similar rows are neighbours."""
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import pdist

    if len(profiles) < 3:
        return np.arange(len(profiles))
    filled = np.nan_to_num(profiles)
    centred = filled - filled.mean(axis=1, keepdims=True)
    size = np.linalg.norm(centred, axis=1, keepdims=True)
    unit = np.divide(centred, size, out=np.zeros_like(centred), where=size > 0)
    distances = pdist(unit)  # sqrt(2 - 2 r): a distance also where a row is constant
    tree = linkage(distances, "average")
    return leaves_list(optimal_leaf_ordering(tree, distances))
