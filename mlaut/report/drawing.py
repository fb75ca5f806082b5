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
)
from mlaut.analysis.common.display import SCENARIOS, number
from mlaut.analysis.deciding.strips import Strips
from mlaut.analysis.estimates.behind import calibration_table
from mlaut.analysis.plots.decision_plot import MARKS
from mlaut.analysis.plots.one_plots import calibration_plot, residual_plot
from mlaut.analysis.plots.pair_plots import forest_plot, pairwise_matrix, pareto_front, time_plot
from mlaut.analysis.plots.rank_plots import best_first
from mlaut.helpers.former_names import if_installed, of_plugin
from mlaut.helpers.markup import beside, counted, printable
from mlaut.report.records import Section
from mlaut.report.tables import leader_of

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
_Drawn = tuple["Figure", dict[str, str]] | None  # the figure, and the words that fill its texts
_TEXTS = beside(__file__)
_DRAWN: WeakKeyDictionary[Section, dict[str, _Made | None]] = WeakKeyDictionary()
_SVGS: WeakKeyDictionary[Figure, str] = WeakKeyDictionary()


def figures(section: Section, *, page: bool = False) -> dict[str, _Made]:
    """Return figure, caption and alternative of each name in `FIGURES` that there is data for.

    A ``page`` draws the figure of the decision by itself.
    """
    names = [name for name, (*_, after) in FIGURES.items() if after or not page]
    drawn = _DRAWN.setdefault(section, {})
    with _own_style():
        drawn |= {x: _told(x, FIGURES[x][0](section)) for x in names if x not in drawn}
    return {name: parts for name in names if (parts := drawn[name]) is not None}


def _told(name: str, drawn: _Drawn) -> _Made | None:
    """Return a figure with its caption and its alternative; None where there is no figure."""
    if drawn is None:
        return None
    figure, words = drawn
    text, caption, alternative = (_TEXTS[name][x] for x in ("text", "caption", "alternative"))
    words = words | {"text": text.format(**words)}
    words["caption"] = caption.format(**words)
    return figure, words["caption"], alternative.format(**words)


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


def _scores(section: Section) -> _Drawn:
    scored = section.scored
    medians = scored.scores.median().dropna()
    if medians.empty or scored.incomparable or section.one is not None:
        return None
    order = medians.reindex(best_first(scored)).dropna()
    lack = ", those that lack datasets last" if scored.scores.isna().any(axis=None) else ""
    words = {"metric": scored.metric.name, "n": counted(len(scored.datasets), "dataset")}
    words |= {"medians": _list(order), "lack": lack, "best": _best(order)}
    return box_plot(scored, look=_BEST), words


def _race(section: Section) -> _Drawn:
    if section.race is None:
        return None
    figure, caption, alternative = section.race.figure()
    return figure, {"about": caption, "told": alternative}


def _ranks(section: Section) -> _Drawn:
    tests = section.comparison
    if tests is None:
        return None
    ranks, pairs = tests.ranks.frame["average_rank"], tests.leading_pairs
    groups = "; ".join(map(", ".join, tests.groups)) or "no two"
    words = {"ranks": _list(ranks), "groups": groups, "best": _best(ranks)}
    words |= {"test": pairs.name, "level": f"{tests.alpha:g}"}
    return critical_difference_diagram(
        tests.results, pairs=pairs, alpha=tests.alpha, look=_BEST
    ), words


def _profile(section: Section) -> _Drawn:
    frame = section.tables.get("profile")
    if frame is None or len(frame) < 2:
        return None
    best = frame.iloc[0].sort_values(ascending=False, kind="stable")
    profile = of_plugin("performance_profile")(section.results)
    drawn = frame.mean().nlargest(_MOST_DRAWN, keep="first").index
    profile = replace(profile, frame=profile.frame[[x for x in profile.frame if x in drawn]])
    return of_plugin("profile_plot")(profile), {"shares": _list(best), "best": _best(best)}


def _duels(section: Section) -> _Drawn:
    tests, draw = section.comparison, if_installed("multi_comparison_matrix")
    if tests is None or len(tests.results.strategies) > MOST_ROWS or tests.results.clusters:
        return None
    if draw is None:
        return None
    order = list(tests.ranks.frame.index)
    pairs = multi_comparison(tests.results, zeros="wilcox")  # as in the table of duels
    return draw(pairs, rows=order, columns=order), {}


def _pairs(section: Section) -> _Drawn:
    tests = section.comparison
    if tests is None:
        return None
    pairs, order = tests.in_own_direction(tests.leading), list(tests.ranks.frame.index)
    words = {"test": pairs.name, "level": f"{tests.alpha:g}", "best": _best(order)}
    words |= {"effect": _effect_in_words(tests, pairs), "beaten": _beaten(tests, order)}
    return pairwise_matrix(pairs, alpha=tests.alpha, order=order, look=_BEST), words


def _effect_in_words(tests: Comparison, pairs: Pairwise) -> str:
    """Return what the numbers of the matrix mean, and which sign is in favour of the row."""
    name = next(iter(pairs.effects))
    if name == "share better":
        return "share of datasets on which the row is better"
    side = "above" if tests.results.metric.greater_is_better else "below"
    return f"{name} of {pairs.metric}, {side} 0 where the row is better"


def _beaten(tests: Comparison, order: list[str]) -> str:
    """Return the number of other strategies that each strategy beats."""
    pairs = tests.leading_pairs
    wins = pd.Series(pairs.wins(tests.alpha).sum(axis=1), index=list(pairs.strategies))
    return _list(wins.loc[order])


def _intervals(section: Section) -> _Drawn:
    if not section.estimates:
        return None
    first = next(iter(section.estimates.values()))
    order = [name for name in section.tables["summary"].index if name in first.frame.index]
    scenarios = "; ".join(f"{s}: {SCENARIOS[s]}" for s in section.estimates)
    ends = {scenario: table.frame[["low", "high"]] for scenario, table in section.estimates.items()}
    widths = {scenario: number((x["high"] - x["low"]).mean()) for scenario, x in ends.items()}
    by_scenario = ", ".join(f"{width} in scenario {scenario}" for scenario, width in widths.items())
    words = {"metric": first.metric, "scenarios": scenarios, "best": _best(order)}
    figure = forest_plot(section.estimates, order=order, look=_BEST)
    return figure, words | {"widths": by_scenario}


def _times(section: Section) -> _Drawn:
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
    out = ", ".join(map(str, table.index[table[name].isna()]))
    drawn = timed[timed.index.isin([*timed.index[:_MOST_DRAWN], *front])]
    words = {"name": name, "front": ", ".join(front), "best": _best(timed)}
    words |= {"out": f" Without a {name}, and not shown: {out}." if out else ""}
    y, seconds = drawn[name], drawn["training seconds"]
    return time_plot(y, seconds, greater_is_better=up, score_name=name), words


def _decision(section: Section) -> _Drawn:
    decision = section.decision
    if decision is None:
        return None
    n_all, one = len(decision.frame), decision.sets is not None
    what = f"mean {decision.metric}" if one else "average rank"
    words = {
        "answer": decision.answer(),
        "what": _upper(what),
        "of_each": _list(decision.frame[what]),
    }
    words |= {"about": Strips.of(decision, section.results).reading(), "marks": _marks(decision)}
    words |= {"best": f" The best {MOST_ROWS} of {n_all}." * (n_all > MOST_ROWS)}
    return decision_plot(decision, section.results, top=MOST_ROWS), words


def _calibration(section: Section) -> _Drawn:
    found = leader_of(section)
    bins = None if found is None else calibration_table(*found)
    if found is None or bins is None:
        return None
    pairs = ", ".join(f"{number(p, 2)}: {number(s, 2)}" for p, s, _ in bins.to_numpy().tolist())
    return calibration_plot(*found), {"leader": found[1], "pairs": pairs}


def _residuals(section: Section) -> _Drawn:
    found = leader_of(section)
    if found is None or found[0].classes:
        return None
    return residual_plot(*found), {"leader": found[1]}


def _marks(decision: Decision) -> str:
    """Return what the marks in the figure of a decision mean."""
    shown = set(decision.frame["verdict"]) if decision.leader else set()
    legend = "; ".join(f"{words}: {name}" for name, (*_, words) in MARKS.items() if name in shown)
    return f" {_upper(legend)}." if legend else ""


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _budgets(section: Section) -> _Drawn:
    if section.budgets is None:
        return None
    ends = section.budgets.groupby(level=0, sort=False)["outer score"].last()
    words = {"metric": section.scored.metric.name, "ends": _list(ends), "best": _best(ends)}
    return of_plugin("budget_plot")(section.budgets, look=_BEST), words


_FIGURES: dict[str, Callable[[Section], _Drawn]] = {
    "decision": _decision,
    "calibration": _calibration,
    "residuals": _residuals,
    "race": _race,
    "budgets": _budgets,
    "times": _times,
    "scores": _scores,
    "ranks": _ranks,
    "profile": _profile,
    "pairs": _pairs,
    "duels": _duels,
    "intervals": _intervals,
}
FIGURES = {
    name: (draw, _TEXTS[name]["heading"], _TEXTS[name].get("after", ""))
    for name, draw in _FIGURES.items()
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
