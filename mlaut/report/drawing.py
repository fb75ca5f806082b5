"""Figures of a report as SVG, each with its text alternative."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sized
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from mlaut.analysis import (
    Comparison,
    Decision,
    Look,
    Pairwise,
    box_plot,
    critical_difference_diagram,
    decision_plot,
    multi_comparison,
    performance_profile,
    profile_plot,
)
from mlaut.analysis.common.display import SCENARIOS, number
from mlaut.analysis.deciding.strips import Strips
from mlaut.analysis.estimates.behind import calibration_table
from mlaut.analysis.plots import multi_comparison_matrix
from mlaut.analysis.plots.decision_plot import MARKS
from mlaut.analysis.plots.one_plots import calibration_plot, residual_plot
from mlaut.analysis.plots.pair_plots import forest_plot, pairwise_matrix, pareto_front, time_plot
from mlaut.analysis.plots.rank_plots import best_first
from mlaut.errors import some_of
from mlaut.former_names import of_plugin
from mlaut.markup import counted, printable
from mlaut.report.records import Section
from mlaut.report.tables import BUDGETS, CONFUSION, WHERE, leader_of

if TYPE_CHECKING:  # `mlaut.analysis.plots` must load matplotlib first
    from matplotlib.figure import Figure

MOST_ROWS = 15  # strategies of the first figure, which must fit the first screen
_MOST_DRAWN = 30  # strategies of the other figures; the explorer of the page draws all of them
_BEST = Look(top=_MOST_DRAWN)
_MOST_DOTS = 500  # dots of datasets in a figure; more are stored as pixels, which take less room
_DPI = 144  # of these pixels: twice those of a screen
_STYLE: dict[Any, Any] = {  # names are drawn literally: a dollar sign starts no formula
    "text.parse_math": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "mlaut",
    "pdf.fonttype": 42,  # journals refuse the fonts of type 3
}
_ABOUT = {
    "svg": ("Creator", "Date", "Format", "Type"),
    "pdf": ("Creator", "Producer", "CreationDate"),
}  # what a file would tell about the time and the program
_PLACES = re.compile(r'\b(?:d|x|y)="[^"]*"|translate\([^)]*\)')
_LONG = re.compile(r"(?<=\.\d\d)\d+")  # a hundredth of a point is not seen
_MOST_LISTED = 12  # values in a text alternative; it then has the number of the others


@dataclass(frozen=True)
class Picture:
    """Figure of a page, with its texts.

    Attributes
    ----------
    heading : str
    after : str
        Name of the table that it follows; empty for the figure of the first screen.
    svg : str
        An ``<svg>`` element. Its ids are unique in the page.
    caption : str
    alternative : str
        Description of the figure for readers who cannot see it.
    """

    heading: str
    after: str
    svg: str
    caption: str
    alternative: str


def pictures(section: Section, prefix: str) -> dict[str, Picture]:
    """Draw the figures that a section has data for.

    Parameters
    ----------
    section : Section
    prefix : str
        Prefix of the ids in the SVG, so that the ids of two sections in one page differ.

    Returns
    -------
    dict of str to Picture
        Pictures by their names in `FIGURES`.
    """
    with _own_style():
        return {
            name: Picture(*FIGURES[name][1:], _element(_svg(figure), f"{prefix}-{name}-"), *texts)
            for name, (figure, *texts) in figures(section, page=True).items()
        }


_Made = tuple["Figure", str, str]
_DRAWN: WeakKeyDictionary[Section, dict[str, _Made | None]] = WeakKeyDictionary()
_SVGS: WeakKeyDictionary[Figure, str] = WeakKeyDictionary()


def figures(section: Section, *, page: bool = False) -> dict[str, _Made]:
    """Return figure, caption and alternative of each name in `FIGURES` that there is data for.

    A ``page`` draws the figure of the decision by itself.
    """
    names = [name for name, (*_, after) in FIGURES.items() if after or not page]
    drawn = _DRAWN.setdefault(section, {})
    with _own_style():
        drawn |= {name: FIGURES[name][0](section) for name in names if name not in drawn}
    return {name: parts for name in names if (parts := drawn[name]) is not None}


def file_of(figure: Figure, form: str) -> bytes:
    """Return the bytes of a figure as ``svg`` or ``pdf``: always the same, no control signs."""
    paper = '<rect width="100%" height="100%" fill="#fff"/><g '
    return (
        _svg(figure).replace("<g ", paper, 1).encode() if form == "svg" else _written(figure, form)
    )


def _svg(figure: Figure) -> str:
    """Return a figure as SVG without a background; it is drawn once, for a page and a folder."""
    if figure not in _SVGS:  # names stand in its comments
        _SVGS[figure] = printable(_written(figure, "svg").decode())
    return _SVGS[figure]


def _written(figure: Figure, form: str) -> bytes:
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.lines import Line2D

    if (layout := figure.get_layout_engine()) is not None:
        FigureCanvasSVG(figure)
        figure.dpi = 72  # points, the unit of both forms
        layout.execute(figure)
        figure.set_layout_engine(None)  # with one, savefig draws all of a figure to lay it out
    dots = [line for line in figure.findobj(Line2D) if line.get_marker() == "."]
    if sum(np.size(line.get_xdata()) for line in dots) > _MOST_DOTS:
        for line in dots:
            line.set_rasterized(True)
    target, about = io.BytesIO(), dict.fromkeys(_ABOUT[form])
    with _own_style(), _plain_fonts() if form == "pdf" else nullcontext():
        figure.savefig(target, format=form, transparent=form == "svg", metadata=about, dpi=_DPI)
    return target.getvalue()


@contextmanager
def _plain_fonts() -> Iterator[None]:
    """Embed fonts without their tables for typesetting, to read which takes half of the time."""
    from fontTools.subset import Options

    before = getattr(Options, "_drop_tables_default", [])  # private: without it, nothing changes
    Options._drop_tables_default = [*before, "GDEF", "GPOS", "GSUB"]
    try:
        yield
    finally:
        Options._drop_tables_default = before


def _own_style() -> AbstractContextManager[None]:
    """Return matplotlib's defaults with `_STYLE`: no setting of a user changes a report."""
    from matplotlib import style

    return style.context(["default", _STYLE])


def _scores(section: Section) -> _Made | None:
    scored = section.scored
    medians = scored.scores.median().dropna()
    if medians.empty or scored.incomparable or section.one is not None:
        return None
    order = medians.reindex(best_first(scored)).dropna()
    lack = ", those that lack datasets last" if scored.scores.isna().any(axis=None) else ""
    name = scored.metric.name
    over = f"over {counted(len(scored.datasets), 'dataset')}"
    alternative = f"Medians of {name} {over}, best first{lack}: {_list(order)}."
    caption = (
        f"{name} of each strategy: a dot a dataset, the box from quartile to quartile with the "
        f"median, whiskers to the last value within 1.5 box lengths.{_best(order)}"
    )
    return box_plot(scored, look=_BEST), caption, alternative


def _race(section: Section) -> _Made | None:
    return None if section.race is None else section.race.figure()


def _ranks(section: Section) -> _Made | None:
    tests = section.comparison
    if tests is None:
        return None
    ranks, pairs = tests.ranks.frame["average_rank"], tests.leading_pairs
    groups = "; ".join(map(", ".join, tests.groups)) or "no two"
    alternative = f"Average ranks, 1 is best: {_list(ranks)}. In one group: {groups}."
    caption = (
        "Average ranks over datasets (1 is best). A bar joins strategies of which no two differ "
        f"by the test of pairs ({pairs.name}, level {tests.alpha:g}), scenario (c).{_best(ranks)}"
    )
    drawn = critical_difference_diagram(tests.results, pairs=pairs, alpha=tests.alpha, look=_BEST)
    return drawn, caption, alternative


def _profile(section: Section) -> _Made | None:
    frame = section.tables.get("profile")
    if frame is None or len(frame) < 2:
        return None
    caption = (
        "Share of datasets on which the loss is at most a factor times the best one; the "
        "strategies with the largest mean share are named."
    )
    best = frame.iloc[0].sort_values(ascending=False, kind="stable")
    alternative = f"{caption} Share of datasets with the best loss: {_list(best)}."
    profile = performance_profile(section.results)
    drawn = frame.mean().nlargest(_MOST_DRAWN, keep="first").index
    profile = replace(profile, frame=profile.frame[[x for x in profile.frame if x in drawn]])
    return profile_plot(profile), f"{caption}{_best(best)}", alternative


def _duels(section: Section) -> _Made | None:
    tests = section.comparison
    if tests is None or len(tests.results.strategies) > MOST_ROWS or tests.results.clusters:
        return None
    caption = (
        "Multi-comparison matrix, scenario (c): by how much the row is better, its wins, ties and "
        "losses, and p without a correction, so that strategies that are added change nothing."
    )
    order = list(tests.ranks.frame.index)
    pairs = multi_comparison(tests.results, zeros="wilcox")  # as in the table of duels
    drawn = multi_comparison_matrix(pairs, rows=order, columns=order)
    return drawn, caption, f"{caption} Every number is in the table of wins, ties and losses."


def _pairs(section: Section) -> _Made | None:
    tests = section.comparison
    if tests is None:
        return None
    pairs = tests.in_own_direction(tests.leading)
    order = list(tests.ranks.frame.index)
    caption = (
        f"{pairs.name}, scenario (c): row against column, by average rank. Blue, pointing up: the "
        f"row is better at level {tests.alpha:g}; orange, pointing down: worse; pale: not shown. "
        f"Numbers: {_effect_in_words(tests, pairs)}; p.{_best(order)}"
    )
    figure = pairwise_matrix(pairs, alpha=tests.alpha, order=order, look=_BEST)
    return figure, caption, _beaten(tests, order)


def _effect_in_words(tests: Comparison, pairs: Pairwise) -> str:
    """Return what the numbers of the matrix mean, and which sign is in favour of the row."""
    name = next(iter(pairs.effects))
    if name == "share better":
        return "share of datasets on which the row is better"
    side = "above" if tests.results.metric.greater_is_better else "below"
    return f"{name} of {pairs.metric}, {side} 0 where the row is better"


def _beaten(tests: Comparison, order: list[str]) -> str:
    """Return a sentence with the number of other strategies that each strategy beats."""
    pairs = tests.leading_pairs
    count = pd.Series(pairs.wins(tests.alpha).sum(axis=1), index=list(pairs.strategies)).loc[order]
    return (
        f"Number of other strategies that each beats at level {tests.alpha:g}: {_list(count)}. "
        "Every number is in the table of pairs."
    )


def _intervals(section: Section) -> _Made | None:
    if not section.estimates:
        return None
    first = next(iter(section.estimates.values()))
    order = [name for name in section.tables["summary"].index if name in first.frame.index]
    scenarios = "; ".join(f"{s}: {SCENARIOS[s]}" for s in section.estimates)
    caption = f"Mean {first.metric} with 95 % intervals by scenario ({scenarios}).{_best(order)}"
    ends = {scenario: table.frame[["low", "high"]] for scenario, table in section.estimates.items()}
    widths = {scenario: number((x["high"] - x["low"]).mean()) for scenario, x in ends.items()}
    by_scenario = ", ".join(f"{width} in scenario {scenario}" for scenario, width in widths.items())
    alternative = f"{caption} Mean width of the intervals: {by_scenario}. All are in the table."
    return forest_plot(section.estimates, order=order, look=_BEST), caption, alternative


def _times(section: Section) -> _Made | None:
    table = section.tables["summary"]
    name = f"mean {section.results.metric.name}"
    up = section.results.metric.greater_is_better
    if name not in table and "average rank" not in table:
        return None
    if name not in table:
        name, up = "average rank", False
    timed = table[[name, "training seconds"]].dropna()
    timed = timed[timed["training seconds"] > 0]
    if timed.empty:
        return None
    front = pareto_front(timed[name], timed["training seconds"], greater_is_better=up)
    without = table.index[table[name].isna()]
    out = f" Without a {name}, and not shown: {some_of(without)}." if len(without) else ""
    drawn = timed[timed.index.isin([*timed.index[:_MOST_DRAWN], *front])]
    caption = (
        f"{name} against mean seconds to tune and fit. In bold, those that no other strategy beats "
        f"in both.{out}{_best(timed)}"
    )
    y, seconds = drawn[name], drawn["training seconds"]
    figure = time_plot(y, seconds, greater_is_better=up, score_name=name)
    return figure, caption, f"{caption} From the quickest on: {', '.join(front)}."


def _decision(section: Section) -> _Made | None:
    decision = section.decision
    if decision is None:
        return None
    figure = decision_plot(decision, section.results, top=MOST_ROWS)
    n_all, one = len(decision.frame), decision.sets is not None
    best = f" The best {MOST_ROWS} of {n_all}." * (n_all > MOST_ROWS)
    what = f"mean {decision.metric}" if one else "average rank"
    alternative = f"{decision.answer()} {_upper(what)}s: {_list(decision.frame[what])}."
    about = Strips.of(decision, section.results).reading()
    return figure, f"{about}{_marks(decision)}{best}", alternative


def _calibration(section: Section) -> _Made | None:
    found = leader_of(section)
    bins = None if found is None else calibration_table(*found)
    if found is None or bins is None:
        return None
    text = (
        f"How often the positive class came, against the probability that {found[1]} predicted: a "
        "dot a tenth of the test rows, with its 95 % interval; on the diagonal, they are right."
    )
    pairs = ", ".join(f"{number(p, 2)}: {number(s, 2)}" for p, s, _ in bins.to_numpy().tolist())
    return calibration_plot(*found), text, f"{text} Predicted and seen: {pairs}."


def _residuals(section: Section) -> _Made | None:
    found = leader_of(section)
    if found is None or found[0].classes:
        return None
    text = f"Prediction of {found[1]} minus truth, a dot a test row of the first repeat."
    return residual_plot(*found), text, f"{text} Means by part are in the table."


def _marks(decision: Decision) -> str:
    """Return what the marks in the figure of a decision mean."""
    shown = set(decision.frame["verdict"]) if decision.leader else set()
    legend = "; ".join(f"{words}: {name}" for name, (*_, words) in MARKS.items() if name in shown)
    return f" {_upper(legend)}." if legend else ""


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _budgets(section: Section) -> _Made | None:
    if section.budgets is None:
        return None
    ends = section.budgets.groupby(level=0, sort=False)["outer score"].last()
    caption = (
        f"Mean {section.scored.metric.name} on the test rows against the evaluations of tuning, "
        "for the choice after 1, 2, 4, ... candidates; dashed: the inner score, where no other is "
        f"known.{_best(ends)}"
    )
    alternative = f"{caption} At the end: {_list(ends)}."
    return of_plugin("budget_plot")(section.budgets, look=_BEST), caption, alternative


FIGURES: dict[str, tuple[Callable[[Section], _Made | None], str, str]] = {
    "decision": (_decision, "Decision", ""),
    "calibration": (_calibration, "Are its probabilities right", CONFUSION),
    "residuals": (_residuals, "Residuals of the leader", WHERE),
    "race": (_race, "Evidence over datasets", "race"),
    "budgets": (_budgets, "Score against the budget of tuning", BUDGETS),
    "times": (_times, "Scores against training time", "summary"),
    "scores": (_scores, "Distribution of scores", "summary"),
    "ranks": (_ranks, "Which of the ranks differ", "portmanteau tests"),
    "profile": (_profile, "How often each is close to the best", "standing"),
    "pairs": (_pairs, "All pairs", "pairs"),
    "duels": (_duels, "Pairs that do not depend on the others", "duels"),
    "intervals": (_intervals, "How sure each average is", "intervals"),
}
"""Figures by name: how each is drawn, its heading, and the table that it follows on the page."""


def _best(drawn: Sized) -> str:
    """Return the words for a figure that has the best strategies only."""
    return f" The best {_MOST_DRAWN} of {len(drawn)}." if len(drawn) > _MOST_DRAWN else ""


def _list(values: pd.Series) -> str:
    listed = [f"{name} {number(value)}" for name, value in values.iloc[:_MOST_LISTED].items()]
    more = len(values) - _MOST_LISTED
    return ", ".join(listed) + (f" and {more} more" if more > 0 else "")


def _element(svg: str, prefix: str) -> str:
    """Return the ``<svg>`` element of a figure, with a prefix before all ids."""
    text = _PLACES.sub(lambda places: _LONG.sub("", places[0]), svg[svg.index("<svg") :])
    # The figure is at most as wide as the page and at least 0.7 times its size, which is still
    # readable; on a narrower page its box scrolls.
    text = re.sub(r'width="([\d.]+pt)"', r'style="min-width: calc(0.7 * \1)" \g<0>', text, count=1)
    return re.sub(r'(\bid="|xlink:href="#|url\(#)', rf"\g<1>{prefix}", text)
