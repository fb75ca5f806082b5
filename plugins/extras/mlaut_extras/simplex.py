"""Figure of the posterior of a Bayesian test: the simplex."""

from textwrap import fill

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from mlaut.errors import AnalysisError
from mlaut.plugins import BLUE, FONT, ORANGE, Pair, Size, canvas, checked, style

_LINE = 28  # characters of a name in one line below a triangle
# Corners of an equilateral triangle: first better, equivalent, second better.
_CORNERS = np.array([[0.0, 0.0], [0.5, np.sqrt(3) / 2], [1.0, 0.0]])
_DENSITY = LinearSegmentedColormap.from_list("density", ["#D6E6F2", BLUE, "#00263D"])


@checked
def simplex_plot(
    draws: ArrayLike,
    strategies: Pair = ("A", "B"),
    *,
    ax: Axes | None = None,
    figsize: Size | None = None,
) -> Figure:
    r"""Plot draws from the posterior of a Bayesian test with a region of practical equivalence.

    Parameters
    ----------
    draws : array_like of float, shape (n, 3)
        Shares of datasets on which the first strategy is better, both are equivalent, the second is
        better, from `sign_posterior` or `signed_rank_posterior`.
    strategies : pair of str
        Names of the two strategies.
    ax, figsize : optional
        Axes of the caller, or width and height of a new figure in inches.

    Returns
    -------
    Figure
        A triangle with one corner for each of the three shares. Lines divide it into regions in
        which one share is the largest; each corner shows the proportion of draws in its region.
        Without a region of equivalence (the middle share is 0 in all draws), the figure is a
        histogram of the first share.

    Raises
    ------
    AnalysisError
        The draws are not three shares that add up to 1.

    Notes
    -----
    Benavoli, Corani, Demsar & Zaffalon (2017), Figures 4 and 5.

    Examples
    --------
    >>> from mlaut.analysis.methods.bayes import signed_rank_posterior
    >>> draws = signed_rank_posterior([-0.3, -0.1, 0.2, -0.5], rope=0.05, n_samples=1000)
    >>> [text.get_text() for text in simplex_plot(draws, ["forest", "tree"]).axes[0].texts]
    ['forest better\nP = 0.89', 'equivalent\nP = 0.02', 'tree better\nP = 0.09']
    """
    x = np.asarray(draws, dtype=float)
    if x.ndim != 2 or x.shape[1] != 3 or len(x) == 0 or not np.allclose(x.sum(axis=1), 1):
        raise AnalysisError(
            f"draws of shape {x.shape} are not shares of three that add up to 1: see "
            "signed_rank_posterior"
        )
    first, second = strategies
    if not x[:, 1].any():
        return _share_histogram(x[:, 0], first, second, ax, figsize)
    largest = np.bincount(x.argmax(axis=1), minlength=3) / len(x)
    figure, axes = canvas(ax, figsize, (5.6, 5.2))
    points = x @ _CORNERS
    axes.hexbin(
        *points.T, gridsize=60, extent=(0, 1, 0, 1), cmap=_DENSITY, mincnt=1, bins="log", zorder=1
    )
    _draw_triangle(axes)
    labels = (fill(f"{first} better", _LINE), "equivalent", fill(f"{second} better", _LINE))
    places = (
        (-0.04, -0.05, "left", "top"),
        (0.5, 0.89, "center", "bottom"),
        (1.04, -0.05, "right", "top"),
    )
    for label, share, (across, up, ha, va) in zip(labels, largest, places, strict=True):
        axes.text(across, up, f"{label}\nP = {share:.2f}", ha=ha, va=va, fontsize=FONT)
    axes.set_xlim(-0.06, 1.06)
    axes.set_ylim(-0.28, 1.05)
    axes.set_aspect("equal")
    axes.set_axis_off()
    return figure


def _draw_triangle(axes: Axes) -> None:
    """Draw the triangle, and the lines between the regions of the largest share."""
    axes.plot(*_CORNERS[[0, 1, 2, 0]].T, color="black", linewidth=1)
    centre = _CORNERS.mean(axis=0)
    for side in (_CORNERS[[0, 1]], _CORNERS[[1, 2]], _CORNERS[[0, 2]]):
        axes.plot(*np.stack([centre, side.mean(axis=0)]).T, color=ORANGE, linewidth=1.4)


def _share_histogram(
    share: np.ndarray, first: str, second: str, ax: Axes | None, figsize: Size | None
) -> Figure:
    """Draw a histogram of the share of datasets on which the first strategy is better."""
    figure, axes = canvas(ax, figsize, (5.6, 3.6))
    axes.hist(share, bins=np.linspace(0, 1, 61).tolist(), density=True, color=BLUE, alpha=0.75)
    axes.axvline(0.5, color=ORANGE, linewidth=1.6)
    right = float((share > 0.5).mean() + (share == 0.5).mean() / 2)
    sides = (
        ("left", f"{fill(second, _LINE)} better\nP = {1 - right:.2f}"),
        ("right", f"{fill(first, _LINE)} better\nP = {right:.2f}"),
    )
    for side, text in sides:
        axes.set_title(text, loc=side, fontsize=FONT)  # type: ignore[arg-type]
    axes.set_xlim(0, 1)
    axes.set_yticks([])
    style(axes, fill(f"share of datasets on which {first} is better", 70), grid=None, left=False)
    return figure
