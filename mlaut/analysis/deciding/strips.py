"""Strips of a decision: how far each strategy is from the leader on each dataset, right is better.

Nothing here draws: pages, notebooks and figures place the same dots, marks and numbers.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis.common.display import number
from mlaut.analysis.deciding.margins import gaps, own_scores
from mlaut.analysis.deciding.verdict_table import VerdictTable
from mlaut.analysis.deciding.verdicts import AVOID, BASELINE
from mlaut.analysis.methods.frequentist.ranks import rank_table
from mlaut.analysis.results.results import Results
from mlaut.helpers.markup import counted

FEWEST_FOR_BANDS = 8  # dots; fewer are seen one by one, and quartiles would lie between them
MOST_DOTS = 60  # of a row; of more, only those outside the middle nine tenths are drawn
MOST_NAMED = 3  # datasets whose dots have letters

MANY = 15  # strategies; of more, each verdict is a group

_MOST = 0.75  # share of the dots of a row that its reach holds
_REACH = 3.0  # times the typical reach: on a longer axis the middle half of a row is a speck
_MARGIN = 0.04  # share of the axis beyond its first and last dot
_DIGITS = 2  # of numbers beyond the axis
_APART = 0.11  # share of the axis between two labels
_QUARTILES = 0.25, 0.75
LONG = 24  # letters of a name beside the axis


@dataclass(frozen=True, eq=False)
class Strips:
    """Dots of strategies on one axis, on which right is better.

    Attributes
    ----------
    kind : str
        ``"difference"`` or ``"ratio"`` of the score to that of the ``reference``, ``"rank"`` on the
        dataset, or ``"score"``.
    dots : DataFrame
        Datasets in rows, strategies in columns, in these units; NaN is no dot.
    marks : Series
        The average of each strategy, as the table of the decision has it; NaN is no mark.
    reference : str
        Strategy at 0, or at the ratio 1; empty for ranks and scores.
    up : bool
        Whether greater values are better.
    ends : (float, float)
        Ends of the axis as places: the worst, and the best.
    metric : str
        Name of the score.
    intervals : DataFrame or None
        Ends of the interval of each mark, ``low`` and ``high``, for test sets of one dataset; None
        for datasets, whose rows have bands of quartiles.
    """

    kind: str
    dots: pd.DataFrame
    marks: pd.Series
    reference: str
    up: bool
    ends: tuple[float, float]
    metric: str = "score"
    intervals: pd.DataFrame | None = None

    @classmethod
    def of(cls, decision: VerdictTable, results: Results) -> "Strips":
        """Return the strips of a decision on these results."""
        frame, metric = decision.frame, results.metric
        if decision.sets is not None:
            return cls._of_sets(decision, decision.sets)
        kind = next((name for name in ("difference", "ratio") if name in frame), "")
        reference = decision.leader or decision.first[0]
        known = kind == "ratio" and bool(frame[kind].drop(reference).notna().all())
        if metric.incomparable and not known:
            kind, values, up, reference = "rank", rank_table(results), False, ""
            marks = frame["average rank"]
        elif kind:
            values, marks, up = gaps(results, reference), frame[kind], metric.greater_is_better
        else:
            kind, values, up, reference = "score", own_scores(results), metric.greater_is_better, ""
            marks = values.mean()
        values, marks = values[list(frame.index)], marks.reindex(frame.index).astype(float)
        bare = cls(kind, values, marks, reference, up, (0.0, 1.0), metric.name)
        far = (BASELINE, AVOID) if len(frame) > MANY else (BASELINE,)  # in a folded group
        others = frame.index[~frame["verdict"].isin(far) & (frame.index != reference)]
        return bare._fitted(values, others if len(others) else frame.index)

    @classmethod
    def _of_sets(cls, decision: VerdictTable, sets: pd.DataFrame) -> "Strips":
        """Return the strips of one dataset, whose dots are its test sets."""
        frame, names = decision.frame, list(decision.frame.index)
        reference = decision.leader if "difference" in frame else ""
        kind = "difference" if reference else "score"
        values = (sets.sub(sets[reference], axis=0) if reference else sets)[names]
        columns = ["difference", "difference low", "difference high"]
        known = frame[columns if reference else [f"mean {decision.metric}", "low", "high"]]
        known = known.set_axis(["mark", "low", "high"], axis=1).astype(float)
        up = decision.scorer.greater_is_better
        bare = cls(kind, values, known["mark"], reference, up, (0, 1), decision.metric)
        far = frame["verdict"].isin((BASELINE, AVOID)) | (frame.index == reference)
        others = list(frame.index[~far]) or [name for name in names if name != reference]
        seen = pd.concat([values, known.T], ignore_index=True)
        return replace(bare._fitted(seen, others), intervals=known[["low", "high"]])

    def _fitted(self, seen: pd.DataFrame, names: Iterable[str]) -> "Strips":
        """Return the strips with an axis that fits what is seen of these strategies."""
        places = self.place(seen)[list(names)]
        low, high = robust_ends(places, 0.0 if self.reference else None)
        near = self.place(self.marks)[places.columns].dropna()
        near = near[near.between(low - 2 * (high - low), high + 2 * (high - low))]
        low, high = min([low, *near]), max([high, *near])
        if self.reference:  # the line of the leader does not stand at an edge
            low, high = min(low, -0.1 * high), max(high, -0.1 * low)
        return replace(self, ends=(low, high))

    @property
    def named(self) -> bool:
        """Return whether dots have letters: those of few datasets."""
        return self.intervals is None and len(self.dots) <= MOST_NAMED

    def band(self, name: str) -> tuple[float, float] | None:
        """Return the ends of the band of a row, as shares of the axis; None without one."""
        if self.intervals is None:
            known = self.across(self.dots[name].to_numpy(dtype=float))
            known = known[known == known]
            low, high = np.quantile(known, _QUARTILES) if len(known) else (0.0, 0.0)
            return None if len(known) < FEWEST_FOR_BANDS else (low, high)
        ends = sorted(self.across(self.intervals.loc[name].to_numpy()).tolist())
        return None if np.isnan(ends).any() else (ends[0], ends[1])

    def place(self, values: Any) -> Any:
        """Return values as places on a line on which right is better."""
        sign = 1.0 if self.up else -1.0
        with np.errstate(divide="ignore", invalid="ignore"):
            return sign * (np.log(values) if self.kind == "ratio" else values)

    @property
    def zero(self) -> float:
        """Return the place of the reference."""
        return float(self.place(1.0 if self.kind == "ratio" else 0.0))

    def across(self, value: Any) -> Any:
        """Return places as shares of the axis, 0 at its left end and 1 at its right end."""
        low, high = self.ends
        return (self.place(value) - low) / (high - low)

    def text(self, value: float, digits: int = _DIGITS) -> str:
        """Return a value as people read it: with a sign, or with a sign of multiplication.

        Examples
        --------
        >>> nothing = pd.DataFrame()
        >>> of = lambda kind: Strips(kind, nothing, pd.Series(), "A", True, (0.0, 1.0))
        >>> of("difference").text(-0.034), of("ratio").text(5400.0), of("rank").text(2.5)
        ('\u22120.034', '5,400\u00d7', '2.5')
        """
        plain = float(f"{value:.{digits}g}")
        if self.kind == "ratio":
            return f"{f'{plain:,.10g}' if 1e-3 < plain < 1e9 else f'{plain:g}'}\u00d7"
        sign = "+" if self.kind == "difference" and plain > 0 else ""
        return f"{sign}{number(plain, digits)}".replace("-", "\u2212")

    def edges(self, name: str) -> tuple[str, str]:
        """Return what stands at the left and the right edge of a row: its dots beyond the axis."""
        own, mark, texts = self.dots[name].to_numpy(dtype=float), float(self.marks[name]), []
        shares, mark_at = self.across(own), float(self.across(mark))
        for end, sign in ((0.0, -1), (1.0, 1)):
            n = int((sign * shares > sign * end).sum())
            dots = counted(n, "dot") if n else ""
            mean = f"mean {self.text(mark)}" if sign * mark_at > sign * end else ""
            texts.append("; ".join(filter(None, (mean, dots))))
        left, right = texts
        return left and f"\u25c2 {left}", right and f"{right} \u25b8"

    @cached_property
    def ticks(self) -> list[tuple[float, str]]:
        """Return the places, as shares of the axis, and the texts of its labels."""
        chosen: dict[float, str] = {}
        for value in self._round_numbers():
            share = float(self.across(value))
            if 0.03 <= share <= 0.97 and all(abs(share - other) >= _APART for other in chosen):
                plain = number(value).replace("-", "\u2212")
                signed = f"+{plain}" if self.kind == "difference" and value > 0 else plain
                chosen[share] = f"{plain}\u00d7" if self.kind == "ratio" else signed
        return sorted(chosen.items())

    def _round_numbers(self) -> list[float]:
        """Return candidates for labels, the roundest first."""
        low, high = self.ends
        if self.kind == "ratio":
            powers = range(-9, 10)
            steps = [(1,), (2, 5), (1.5, 3), (1.2, 1.1, 4, 6, 8), (1.05, 1.02, 9.5, 9, 7, 1.3)]
            return [1.0, *(float(f"{x}e{p}") for own in steps for p in powers for x in own)]
        step = float(10 ** np.floor(np.log10(high - low)))
        some = [step / 5, step / 2, step, 2 * step, 5 * step]
        most = int(np.floor(1 / _APART / 1.3))
        step = next((s for s in some if (high - low) / s <= most), some[-1])
        step = max(step, 1.0 * (self.kind == "rank"))
        ends = sorted((low, high)) if self.up else sorted((-low, -high))
        from_to = np.arange(np.ceil(ends[0] / step), np.floor(ends[1] / step) + 1)
        values = [float(f"{place * step:.6g}") + 0.0 for place in from_to]
        return sorted(values, key=abs)

    def sides(self, who: str = "") -> tuple[str, str]:
        """Return the words at the ends of the axis; ``who`` is a name of the reference."""
        who = who or self.reference
        who = who if len(who) <= LONG else "the first"
        than = f" than {who}" if self.reference else ""
        if self.kind == "rank":
            return "\u2190 worse rank", "better rank \u2192"
        side = "lower" if self.up else "higher"
        return f"\u2190 worse: {side} {self.metric}{than}", "better \u2192"

    def reading(self) -> str:
        """Return a sentence on how to read the strips of a figure, which has no thin bands."""
        what = {
            "difference": f"its {self.metric} minus that of {self.reference}",
            "ratio": f"its {self.metric} divided by that of {self.reference}",
            "rank": "its rank, 1 is best",
            "score": f"its {self.metric}",
        }[self.kind]
        parts = [f"{mark}: {meaning}" for mark, meaning in self.key() if mark != "thin"]
        dots = r"^(dot|letter): a ([^;]*)"
        text = re.sub(dots, lambda x: f"A {x[1]} for each {x[2]}: {what}", "; ".join(parts))
        return f"{text[:1].upper()}{text[1:]}. Right is better."

    def key(self) -> list[tuple[str, str]]:
        """Return the kinds of marks beside a table, which says what the values are, and meanings.

        Of many dots those outside a thin line are drawn.
        """
        n, one = len(self.dots), self.intervals
        if one is not None:
            known = bool(one.notna().any(axis=None))
            parts = [("dot", "a test set")] * bool(n) + [("line", "the average")]
            parts += [("interval", f"the interval of the {self.kind}")] * known
            return parts + [("edge", "dots beyond the axis")] * self._beyond
        parts = [("letter" if self.named else "dot", "a dataset")]
        parts += [("line", "the average")] * (n > 1)
        parts += [("band", "the middle half of the datasets")] * (n >= FEWEST_FOR_BANDS)
        parts += [("thin", "the middle 90 %")] * (n > MOST_DOTS)
        return parts + [("edge", "dots beyond the axis")] * self._beyond

    @property
    def _beyond(self) -> bool:
        shares = self.across(self.dots.to_numpy(dtype=float))
        return bool(((shares < 0) | (shares > 1)).any())

    def words(self, name: str) -> str:
        """Return the strip of a strategy in words, for those who do not see it."""
        dots = self.dots[name].dropna()
        if name == self.reference or (dots.empty and self.intervals is None):
            return f"{name} is the line" if name == self.reference else f"{name}: no dot"
        parts = [f"mean {self.text(self.marks[name], 3)}"] if not np.isnan(self.marks[name]) else []
        if self.intervals is not None:
            low, high = (self.text(float(x), 3) for x in self.intervals.loc[name].to_numpy())
            parts.append(f"interval {low} to {high}")
        if len(dots) >= FEWEST_FOR_BANDS:
            low, high = (self.text(float(x), 3) for x in np.quantile(dots, _QUARTILES))
            parts.append(f"middle half {low} to {high}")
            parts.append(f"all {self.text(dots.min(), 3)} to {self.text(dots.max(), 3)}")
        elif self.intervals is None:
            parts += [f"{dataset} {self.text(value, 3)}" for dataset, value in dots.items()]
        what = {"difference": "minus", "ratio": "divided by"}.get(self.kind)
        return f"{name} {f'{what} {self.reference}' if what else self.kind}: {', '.join(parts)}"


def robust_ends(values: pd.DataFrame, centre: float | None = None) -> tuple[float, float]:
    """Return the ends of an axis, which do not depend on single far rows or dots.

    Parameters
    ----------
    values : DataFrame
        Each column has the dots of one row of the figure; NaN is no dot.
    centre : float, optional
        Value that the axis contains and from which distances count; default the median of the
        columns' medians.

    Returns
    -------
    tuple of float
        The farthest dots within five times the typical reach, with a margin. The reach of a column
        is the distance from the centre that holds three quarters of its dots; the typical reach is
        the median of the columns. If it is 0, all dots are within the ends.

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
