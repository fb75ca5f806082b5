"""Ends of an axis that a few far values do not set, and texts at its edges that name those values.

Nothing leaves a figure silently: what lies outside of the axis stands beside it as a number.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from mlaut.analysis.common.display import number
from mlaut.analysis.plots.canvas import write_beside

_MOST = 0.75  # share of the dots of a row that its reach holds
_REACH = 5.0  # times the typical reach: on a longer axis the middle half of a row is a speck
_LISTED = 2  # values that are listed one by one; of more, their number and the farthest are told
_MARGIN = 0.04  # share of the axis beyond its first and last dot
_DIGITS = 2  # of these numbers


def robust_ends(values: pd.DataFrame, centre: float | None = None) -> tuple[float, float]:
    """Return the ends of an axis that neither a far row nor a far dot sets.

    Parameters
    ----------
    values : DataFrame
        Dots of each row of the figure in a column; NaN for none.
    centre : float, optional
        Value that the axis contains and from which distances count; default the median of the
        columns' medians.

    Returns
    -------
    tuple of float
        The farthest dots within five times the typical reach, with a margin. Three quarters of the
        dots of a column are within its reach of the centre; the median of the columns is typical.
        All dots if it is 0.

    Examples
    --------
    >>> near, far = [0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, 100.0]
    >>> ends = robust_ends(pd.DataFrame({"A": near, "B": near, "C": far, "D": [90.0] * 4}), 0.0)
    >>> [round(end, 2) for end in ends]
    [-0.12, 3.12]
    """
    middle = float(values.median().median()) if centre is None else centre
    distances = (values - middle).abs()
    reach = distances.quantile(_MOST).median()
    kept = values.where(distances <= (_REACH * reach or np.inf))
    dots = [middle, *kept.min(), *kept.max()]
    low, high = (np.nanmin(dots), np.nanmax(dots)) if not np.isnan(dots).all() else (0.0, 1.0)
    margin = _MARGIN * (high - low or 1.0)
    return float(low - margin), float(high + margin)


def write_edges(axes: Axes, place: float, texts: tuple[str, str], **how: Any) -> None:
    """Write the texts of `beyond` at the edges of the row at a height."""
    how["xycoords"] = axes.get_yaxis_transform()
    for end, side, text in zip((0.0, 1.0), ("left", "right"), texts, strict=True):
        write_beside(axes, text, (end, place), side, **how)


def beyond(
    dots: pd.Series, ends: tuple[float, float], shown: Callable[[float], float] = float
) -> tuple[str, str]:
    """Return the texts at the left and the right edge of a row: its dots beyond the axis.

    Parameters
    ----------
    dots : Series
        Values of the row.
    ends : (float, float)
        Ends of the axis.
    shown : callable, optional
        Returns a value as the axis shows it.

    Returns
    -------
    tuple of str
        Up to two values, or the number of the dots and the farthest one; before them the median if
        that is beyond the axis too. Empty where no dot is beyond it.

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
        values = [number(float(shown(one)), _DIGITS) for one in (median, *far)]
        many = f"{len(far)} dots to {values[-1]}"
        listed = ", ".join(values[1:]) if len(far) <= _LISTED else many
        texts.append(f"median {values[0]}; {listed}" if sign * median > sign * end else listed)
    left, right = texts
    return left and f"{left} ◂", right and f"▸ {right}"
