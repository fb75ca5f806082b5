"""Figure, axes, sizes, colours and fonts of all plots, and ends of axes despite far values.

The functions of this folder return a figure and do not show it. Colour is never the only
difference. Values beyond the ends of an axis are stated as numbers at its edges.
"""

import io
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, Locator, LogLocator, NullFormatter

from mlaut.analysis.common.arguments import Size
from mlaut.analysis.common.display import number
from mlaut.analysis.plots.look import PALETTE
from mlaut.errors import AnalysisError

BLUE, ORANGE, GREEN, *_ = PALETTE
GREY = "#666666"
FONT = 9  # points

GAP = 4.0  # points between a place and a text beside it
_ROW = 0.24  # inches for each line of text of FONT
_FEW = 40  # rows; with more, rows and their text become smaller, so that the figure fits a screen
_SMALLEST = 6.5  # points; smaller text cannot be read in print
_PLOT = 4.5  # inches; the least width of a plot beside its names
# The lengths 7 (of the palette), 11 and 4 are coprime: the styles of lines repeat after 308.
_LINES = ("-", "--", "-.", ":")
_MARKS = ("o", "s", "D", "^", "v", "P", "X", "<", ">", "p", "h")


class NotebookFigure(Figure):
    """Figure that a notebook shows when it is the last value of a notebook cell."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        FigureCanvasAgg(self)

    def draw(self, renderer: RendererBase) -> None:
        """Draw names literally, so that a ``$`` does not start a formula."""
        for text in self.findobj(Text):
            text.set_parse_math(False)
        with rc_context({"text.parse_math": False}):
            super().draw(renderer)

    def _repr_png_(self) -> bytes:
        target = io.BytesIO()
        self.savefig(target, format="png", dpi=110)
        return target.getvalue()


def canvas(
    ax: Axes | None,
    figsize: Size | None,
    size: Size,
    *,
    names: Iterable[str] = (),
    layout: str | None = "constrained",
) -> tuple[Figure, Axes]:
    """Return the figure and the axes to draw in.

    Parameters
    ----------
    ax : Axes or None
        Axes of the caller. None makes a new figure.
    figsize : (float, float) or None
        Width and height of a new figure, in inches.
    size : (float, float)
        Width and height for ``figsize=None``. The width grows with the longest of ``names``.
    names : iterable of str
        Texts beside the plot.
    layout : str, optional
        Layout of a new figure.

    Raises
    ------
    AnalysisError
        Both ``ax`` and ``figsize`` are given.
    """
    if ax is not None:
        if figsize is not None:
            raise AnalysisError("figsize is for a new figure, and ax already has one: leave it out")
        figure = ax.get_figure(root=True)
        assert figure is not None
        return figure, ax
    if figsize is None:
        figsize = max(size[0], _PLOT + text_width(names)), size[1]
    figure = NotebookFigure(figsize=figsize, layout=layout)
    return figure, figure.add_subplot()


def style(
    axes: Axes, x: str = "", y: str = "", *, grid: str | None = "both", left: bool = True
) -> None:
    """Set the labels of the axes, the grid, the fonts, and the lines around a plot."""
    axes.set_xlabel(x, fontsize=FONT)
    axes.set_ylabel(y, fontsize=FONT)
    if grid is not None:
        axes.grid(axis=grid, color="#DDDDDD", linewidth=0.6)  # type: ignore[arg-type]
        axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines["left"].set_visible(left)
    axes.tick_params(axis="x", labelsize=FONT)
    axes.tick_params(axis="y", left=left)


def log_scale(axes: Axes, ratio: float) -> None:
    """Set a logarithmic axis with plain numbers as labels, and call it so in its label.

    It labels 1, 2 and 5 times each power of ten, or only the powers if the range is wide.
    """
    axes.set_xscale("log")
    if label := axes.get_xlabel():
        axes.set_xlabel(f"{label} (logarithmic axis)")
    label_plainly(axes, LogLocator(subs=(1, 2, 5) if ratio < 500 else (1,)))


def label_plainly(axes: Axes, places: Locator) -> None:
    """Label some places of the horizontal axis by plain numbers, and no others."""
    axes.xaxis.set_major_locator(places)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def write_beside(axes: Axes, text: str, place: tuple[float, float], side: str, **how: Any) -> None:
    """Write a text on the ``left`` or ``right`` side of a place, centred on its height."""
    left = side == "left"
    how |= {"ha": "right" if left else "left", "va": "center", "textcoords": "offset points"}
    axes.annotate(text, place, xytext=(-GAP if left else GAP, 0), **how)


def row_size(n_rows: int) -> tuple[float, float]:
    """Return the height of a row in inches, and its font in points, for a column of names."""
    font = max(_SMALLEST, FONT * min(1.0, (_FEW / max(n_rows, 1)) ** 0.5))
    return _ROW * font / FONT, font


def text_width(texts: Iterable[str], font: float = FONT) -> float:
    """Return the width of the widest text, in inches; 0 without a text."""
    figure = NotebookFigure(dpi=100)
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    drawn = [figure.text(0, 0, text, fontsize=font, parse_math=False) for text in texts]
    return max((text.get_window_extent(renderer).width for text in drawn), default=0.0) / 100


_LISTED = 2  # values that are listed one by one; of more, their number and the farthest are told
_DIGITS = 2  # of these numbers


def write_edges(axes: Axes, place: float, texts: tuple[str, str], **how: Any) -> None:
    """Write the texts of `beyond` at the edges of the row at a height."""
    how["xycoords"] = axes.get_yaxis_transform()
    for end, side, text in zip((0.0, 1.0), ("left", "right"), texts, strict=True):
        if text:
            write_beside(axes, text, (end, place), side, **how)


def beyond(dots: pd.Series, ends: tuple[float, float]) -> tuple[str, str]:
    """Return the texts at the left and the right edge of a row: its dots beyond the axis.

    Parameters
    ----------
    dots : Series
        Values of the row.
    ends : (float, float)
        Ends of the axis.

    Returns
    -------
    tuple of str
        Up to two values, or the number of dots and the farthest one. If the median is beyond the
        axis too, it comes first. A text is empty if no dot is beyond its edge.

    Examples
    --------
    >>> beyond(pd.Series([-2.0, 0.5, 0.6, 1.2, 6.4]), (0.0, 1.0))
    ('-2 ◂', '▸ 1.2, 6.4')
    >>> beyond(pd.Series([0.5, 3.0, 4.0, 5.0]), (0.0, 1.0))
    ('', '▸ median 3.5; 3 dots to 5')
    """
    x = np.sort(dots.dropna().to_numpy())
    texts, median = [], np.median(x) if len(x) else np.nan
    for end, sign in zip(ends, (-1, 1), strict=True):
        far = x[sign * x > sign * end][::sign]  # the nearest first
        values = [number(float(value), _DIGITS) for value in (median, *far)]
        many = f"{len(far)} dots to {values[-1]}"
        listed = ", ".join(values[1:]) if len(far) <= _LISTED else many
        texts.append(f"median {values[0]}; {listed}" if sign * median > sign * end else listed)
    left, right = texts
    return left and f"{left} ◂", right and f"▸ {right}"


def line_style(place: int) -> dict[str, Any]:
    """Return colour, marker and line style of a line by its place; 300 lines have 300 styles."""
    return {
        "color": PALETTE[place % len(PALETTE)],
        "marker": _MARKS[place % len(_MARKS)],
        "linestyle": _LINES[place % len(_LINES)],
    }


def line_axes(
    ax: Axes | None, figsize: Size | None, size: Size, x: str, y: str
) -> tuple[Figure, Axes]:
    """Return figure and axes for lines, with the labels ``x`` and ``y``."""
    figure, axes = canvas(ax, figsize, size)
    style(axes, x, y)
    axes.tick_params(axis="y", labelsize=FONT)
    return figure, axes


def legend_below(axes: Axes, columns: int) -> None:
    """Put the legend below the axes, where it covers no line."""
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.12),
        ncols=columns,
        fontsize=FONT,
        frameon=False,
        handlelength=3.5,
    )
