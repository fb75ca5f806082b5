"""Figures of posteriors: the simplex of a Bayesian test, and the probabilities of each dataset."""

from collections.abc import Sequence
from textwrap import fill

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import blended_transform_factory
from numpy.typing import ArrayLike

from mlaut.analysis.common.arguments import checked, position
from mlaut.analysis.common.display import number
from mlaut.analysis.methods.lacoste.pair_probabilities import PairProbabilities
from mlaut.analysis.methods.lacoste.poisson_binomial import (
    poisson_binomial_pmf,
    poisson_binomial_probability,
)
from mlaut.analysis.plots.canvas import (
    BLUE,
    FONT,
    GREY,
    ORANGE,
    NotebookFigure,
    Size,
    canvas,
    style,
    text_width,
)
from mlaut.errors import AnalysisError

_ROW = 0.2  # inches for each line of text
_MOST_NAMED = 60  # datasets; with more, their names are left out
_LINE = 28  # characters of a name in one line below a triangle
# Corners of an equilateral triangle: first better, equivalent, second better.
_CORNERS = np.array([[0.0, 0.0], [0.5, np.sqrt(3) / 2], [1.0, 0.0]])
_DENSITY = LinearSegmentedColormap.from_list("density", ["#D6E6F2", BLUE, "#00263D"])


@checked
def simplex_plot(
    draws: ArrayLike,
    strategies: Sequence[str] = ("A", "B"),
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
        Without a region of equivalence (the middle share is 0 in all draws), a histogram of the
        first share.

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
    outline = _CORNERS[[0, 1, 2, 0]]
    axes.plot(*outline.T, color="black", linewidth=1)
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
    label = fill(f"share of datasets on which {first} is better", 70)
    style(axes, label, grid=None, left=False)
    return figure


@checked
def dataset_plot(
    probabilities: PairProbabilities,
    first: str,
    second: str,
    *,
    ax: Sequence[Axes] | None = None,
    figsize: Size | None = None,
) -> Figure:
    r"""Draw the probabilities of two models on each dataset, and the Poisson binomial test of them.

    Parameters
    ----------
    probabilities : PairProbabilities
        Probabilities from `probabilities_by_dataset`: Theorem 4.1, or the Bayesian bootstrap.
    first, second : str
        Names of the two strategies.
    ax, figsize : optional
        Two axes for the parts, or width and height of a new figure in inches.

    Returns
    -------
    Figure
        On the left, the probability on each dataset that the first model is better, the largest on
        top; up to 60 datasets are named. On the right, the distribution of the number of datasets
        on which the first model is better. The title on the right has the result of the test.

    Raises
    ------
    AnalysisError
        A strategy is not known, or both are the same.

    Notes
    -----
    Lacoste, Laviolette & Marchand (2012), sections 4 and 5.

    Examples
    --------
    >>> from mlaut.analysis.methods.lacoste import probabilities_by_dataset
    >>> losses = {f"d{i}": [[0, 0, 1, 0], [1, 0, i % 2, 1]] for i in range(9)}
    >>> figure = dataset_plot(probabilities_by_dataset(losses, ["A", "B"]), "A", "B")
    >>> figure.axes[1].get_title()
    'Poisson binomial test\nP(the first is better) = 0.89'
    """
    names = probabilities.strategies
    row, column = (position("strategy", name, names) for name in (first, second))
    if row == column:
        raise AnalysisError(f"a strategy is not compared with itself: {first!r}")
    p = probabilities.better[row, column]
    named = len(p) <= _MOST_NAMED
    height = 1.4 + (_ROW * len(p) if named else 5.0)
    width = 8.5 + max(0.0, text_width(probabilities.datasets if named else ()) - 1.5)
    if ax is None:
        figure: Figure = NotebookFigure(
            figsize=figsize or (width, max(height, 3.2)), layout="constrained"
        )
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    else:
        (figure, left), (_, right) = (canvas(one, figsize, (0, 0)) for one in ax)
    _draw_datasets(left, p, probabilities.datasets, named)
    title = fill(f"{first} against {second}", 50)
    left.set_title(f"{title}\n{probabilities.method}", fontsize=FONT)
    _draw_count(right, p)
    right.set_title(
        f"Poisson binomial test\nP(the first is better) = {_probability_text(p)}", fontsize=FONT
    )
    style(right, "datasets on which the first is better", grid=None, left=False)
    return figure


def _probability_text(p: np.ndarray) -> str:
    """Return the probability that the first is better, as text; close to 1 it is ``1 - x``."""
    better, worse = (float(x) for x in poisson_binomial_probability(p))
    return f"1 − {number(worse, 2)}" if worse < 0.005 else number(better, 2)  # noqa: RUF001


def _draw_datasets(axes: Axes, p: np.ndarray, datasets: Sequence[str], named: bool) -> None:
    order = np.argsort(p, kind="stable")
    heights = np.arange(len(p))
    value = p[order]
    for side, colour, mark in ((value >= 0.5, BLUE, "o"), (value < 0.5, ORANGE, "s")):
        axes.hlines(heights[side], 0.5, value[side], color=colour, linewidth=1.2, alpha=0.6)
        axes.plot(value[side], heights[side], mark, color=colour, markersize=5 if named else 3)
    axes.axvline(0.5, color=GREY, linewidth=1)
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.8, len(p) - 0.2)
    if named:
        axes.set_yticks(heights, [datasets[i] for i in order], fontsize=FONT)
    else:
        axes.set_yticks([])
    count = "" if named else f"{len(p)} datasets"
    style(axes, "P(the first is better) on each dataset", count, grid="x", left=False)


def _draw_count(axes: Axes, p: np.ndarray) -> None:
    mass, count = poisson_binomial_pmf(p), np.arange(len(p) + 1)
    seen = mass > 1e-4 * mass.max()  # lower bars would be invisible
    low, high = count[seen].min(), count[seen].max()
    colours = np.where(count > len(p) / 2, BLUE, ORANGE)
    colours = np.where(count == len(p) / 2, GREY, colours)
    axes.bar(count[seen], mass[seen], color=colours[seen].tolist(), width=0.8)
    axes.axvline(len(p) / 2, color=GREY, linewidth=1)
    low, high = min(low, len(p) / 2), max(high, len(p) / 2)
    axes.set_xlim(max(low - 1, -0.6), min(high + 1, len(p) + 0.6))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_yticks([])
    half = blended_transform_factory(axes.transData, axes.transAxes)
    axes.text(len(p) / 2, 1.0, " half", transform=half, fontsize=FONT, va="top", color=GREY)
