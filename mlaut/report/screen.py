"""The first screen of a report: one record, which page, notebook, terminal and Markdown show."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlaut.analysis.common.tests import TESTS
from mlaut.analysis.deciding.margins import own_scores
from mlaut.analysis.deciding.strips import LONG, MOST_DOTS, MOST_NAMED, Strips
from mlaut.analysis.deciding.verdict_table import MARK, Step, VerdictTable
from mlaut.analysis.deciding.verdicts import LIKELY, OPEN, is_baseline
from mlaut.analysis.results.results import Results
from mlaut.report.records import Section
from mlaut.report.shown import (
    ShownTable,
    TableColumn,
    decision_groups,
    decision_table,
    in_words_of,
    legend,
)

_HEIGHT, _HALF = 30, 7.0  # of a strip, and of its band
_TALL = 60.0  # half of a line of the axis, which a row of several lines of text cuts
_CLOSE = 0.03  # share of the axis between letters that would touch
_LETTERS = 400  # of an answer, whose first sentence is the headline
_GOLDEN = 0.618034  # multiples of it spread evenly, whatever their number


@dataclass(frozen=True)
class Row:
    """Row of the table: a strategy, its numbers and its strip."""

    name: str
    verdict: str
    mark: str  # of a verdict that depends on how missing results are treated
    why: str  # a sentence where the numbers seem to contradict the verdict, else empty
    texts: tuple[tuple[str, bool], ...]  # and whether each is the best score on a dataset
    strip: str  # an <svg> element; empty without one
    edges: tuple[list[str], list[str]]  # lines of text
    words: str  # the strip for those who do not see it
    letters: tuple[tuple[str, float, int], ...]  # dots with a letter: share of the axis, lane
    wins: tuple[int, ...]  # won, tied, lost, failed; all 0 for the first
    yardstick: bool  # whether it is a baseline by its name, which the eye may pass

    @property
    def kind(self) -> str:
        """Verdict as a class of the style."""
        return self.verdict.replace(" ", "-")


@dataclass(frozen=True)
class Group:
    """Rows; of many strategies those with one verdict, and poor ones are folded."""

    title: str  # its verdict and how many have it; empty for a group of all
    folded: bool
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Screen:
    """First screen of a decision.

    Attributes
    ----------
    answer, more : str, tuple of str
        The headline, and the rest of the answer.
    mind, notes : tuple of str
        What weakens the answer, with a title, and sentences that explain it.
    steps : tuple of Step
        What to do next.
    columns : tuple of TableColumn
        Columns of numbers.
    groups : tuple of Group
    strips : Strips
        The axis of the dots.
    first : str
        The strategy against which the others are counted, empty if there is none.
    verdicts, words, marks : tuple of (str, str)
        The verdicts; other words of the screen; kinds of marks of the strips (`Strips.key`); each
        with its meaning.
    alone : tuple of (str, str, str, str)
        What each of few datasets shows for itself: its name, what to use, what may be best too and
        what to avoid.
    cards : tuple of (str, str)
        Questions on how sure the answer is, each with its answer.
    say : callable
        Function that says "strategy" as the table of the results does (`in_words_of`).
    """

    answer: str
    more: tuple[str, ...]
    mind: tuple[str, ...]
    notes: tuple[str, ...]
    steps: tuple[Step, ...]
    columns: tuple[TableColumn, ...]
    groups: tuple[Group, ...]
    strips: Strips
    first: str
    verdicts: tuple[tuple[str, str], ...]
    words: tuple[tuple[str, str], ...]
    marks: tuple[tuple[str, str], ...]
    cards: tuple[tuple[str, str], ...]
    say: Callable[[str], str]
    alone: tuple[tuple[str, str, str, str], ...] = ()

    @property
    def rows(self) -> list[Row]:
        """All rows."""
        return [row for group in self.groups for row in group.rows]

    @property
    def who(self) -> str:
        """A short name of the reference."""
        name = self.strips.reference or self.first
        return name if len(name) <= LONG else "the first"

    def room(self, side: int) -> int:
        """Return the letters of the longest text at the left (0) or right edge (1) of a row."""
        return max((len(x) for row in self.rows for x in row.edges[side]), default=0)


def screen_of(section: Section) -> Screen:
    """Return the first screen of a section with a decision."""
    decision, results = section.decision, section.results
    assert decision is not None
    answer, *more = decision.said(_LETTERS, others=False)
    doubted = bool(decision.leader and decision.doubt)
    return Screen(
        answer=f"{answer}.",
        more=tuple(f"{x}." for x in more),
        mind=("Why the doubt" if doubted else "Bear in mind", *decision.caveats()),
        notes=decision.remarks()[: -len(decision.each) or None],
        alone=tuple(each.cells for each in decision.each),
        steps=decision.steps(),
        cards=decision.cards(),
        say=in_words_of(results),
        **screen_table(decision, results, decision.meanings()),
    )


def screen_table(
    decision: VerdictTable, results: Results, verdicts: Mapping[str, str]
) -> dict[str, Any]:
    """Return the parts of a screen that its table has: columns, rows, strips and legend."""
    strips, table = Strips.of(decision, results), decision_table(decision, strips=True)
    told, words = legend(table, verdicts)
    name, side = decision.metric, "higher" if decision.scorer.greater_is_better else "lower"
    told += [(x, f"{full}; {side} is better") for x, full in _SPELLED.items() if x == name]
    told += [x for x in words if x[0] == "chance" and len(verdicts) > 1]
    words = [x for x in words if x not in told]
    test = TESTS[decision.chosen.analysis.test]
    together = " of all pairs together" * (bool(test.joint) and not decision.control)
    ruled = f"{test.words}{together}"
    ranked = decision.sets is None and "average rank" in decision.frame  # of a race nothing is
    told_of = ranked and {OPEN, LIKELY} & {*decision.frame["verdict"]}
    words += [("main test", f"it rules out as the best: {ruled}")] * bool(told_of)  # else a card
    words += [("other analyses", _ANALYSES)] * bool(decision.checks)
    n = len(table.columns)
    table = table if decision.sets is not None else _with_scores(table, results)
    kept = [at for at, one in enumerate(table.columns) if one.key not in _DRAWN]
    scores = np.array([[cell.value for cell in row[n:]] for _, row in table.rows], dtype=float)
    best = scores == (
        scores.max(axis=0) if decision.scorer.greater_is_better else scores.min(axis=0)
    )
    cells = {
        labels[0]: tuple((row[at].shown, at >= n and bool(best[place, at - n])) for at in kept)
        for place, (labels, row) in enumerate(table.rows)
    }
    rows = _rows(decision, strips, cells)
    return {
        "columns": tuple(table.columns[at] for at in kept),
        "groups": tuple(
            Group(title, folded, tuple(rows[name] for name in names))
            for title, names, folded in decision_groups(decision)
        ),
        "strips": strips,
        "first": decision.first[0] if "won" in decision.frame else "",
        "verdicts": tuple(told),
        "words": tuple(words),
        "marks": (*strips.key(), *_bars(decision)),
    }


def _bars(decision: VerdictTable) -> list[tuple[str, str]]:
    """Return the shades of the bars of wins, which a table of ranks or of many datasets has."""
    if "won" not in decision.frame:
        return []
    missing = [("failed", "missing")] * bool((decision.frame["failures"] > 0).any())
    return [("won", "won"), ("tied", "tied"), ("lost", "lost"), *missing]


_ANALYSES = "other tests, metrics and treatments of missing results: see How it was decided"
_SPELLED = {
    "mae": "mean absolute error",
    "mcc": "Matthews correlation coefficient, 1 is perfect",
    "mse": "mean squared error",
    "rmse": "root mean squared error",
    "roc_auc": "area under the ROC curve",
    "pr_auc": "area under the curve of precision and recall",
}
_DRAWN = ("verdict", "won", "failures")  # columns that a page draws in its own way


def _with_scores(table: ShownTable, results: Results) -> ShownTable:
    """Return the table with a column of scores for each dataset, if there are so few."""
    if len(results.datasets) > MOST_NAMED:
        return table
    scores = own_scores(results).T
    metric = results.metric.name
    letters = [f"{metric} on {name} ({x})" for x, name in zip("ABC", scores, strict=False)]
    return table.joined(scores.set_axis(letters, axis=1))


def _rows(
    decision: VerdictTable, strips: Strips, cells: Mapping[str, tuple[tuple[str, bool], ...]]
) -> dict[str, Row]:
    """Return the row of each strategy, which has the texts of its cells."""
    counts = decision.frame.reindex(columns=["won", "tied", "lost", "failures"])
    wins = counts.fillna(0).astype(int).T.to_dict("list")
    letters = dict(zip(strips.dots.index, "ABC", strict=False))
    fragile = {*decision.fragile}
    why = decision.frame.get("reason", counts["won"].map(lambda _: ""))
    rows, shares = {}, strips.across(strips.dots[list(cells)])
    for name, texts in cells.items():
        places = shares[name]
        inside = places[(places >= 0) & (places <= 1)]
        named = inside.sort_values() if strips.named and name != strips.reference else inside[:0]
        lanes = _lanes(named.to_numpy())
        left, right = (text.split("; ") if text else [] for text in strips.edges(name))
        rows[name] = Row(
            name=name,
            verdict="" if decision.alone else str(decision.frame["verdict"][name]),
            mark=MARK * (name in fragile),
            why=why[name],
            texts=texts,
            strip=_svg(strips, name, places.to_numpy(), inside.to_numpy()),
            edges=(left, right),
            words=strips.words(name),
            letters=tuple(
                (letters[x], round(float(p), 4), lane)
                for (x, p), lane in zip(named.items(), lanes, strict=True)
            ),
            wins=tuple(wins[name]),
            yardstick=is_baseline(name),
        )
    return rows


def _lanes(places: np.ndarray) -> list[int]:
    """Return the line of each letter, of which 0 is the middle: close ones stand above another."""
    lanes: list[int] = []
    for at, place in enumerate(places):
        near = lanes[-1:] if at and place - places[at - 1] < _CLOSE else []
        lanes.append({0: 1, 1: -1, -1: 0}[near[0]] if near else 0)
    return lanes


def _svg(strips: Strips, name: str, places: np.ndarray, inside: np.ndarray) -> str:
    """Return the lines, band, dots and mark of a row, without texts, which it would stretch."""
    middle, parts = _HEIGHT / 2, []

    def line(share: float, half: float, kind: str) -> str:
        return f'<path class="{kind}" d="M{1000 * share:.1f} {middle - half:g}v{2 * half:g}"/>'

    parts += [line(share, _TALL, "tick") for share, _ in strips.ticks]
    at = float(strips.across(1.0 if strips.kind == "ratio" else 0.0))
    parts += [line(at, _TALL, "zero")] * bool(strips.reference)
    if name == strips.reference:
        parts.append(f'<path class="lead" d="M{1000 * at:.1f} {middle:g}h0"/>')
    else:
        known, drawn = places[places == places], inside
        if (band := strips.band(name)) is not None and band[0] < 1 and band[1] > 0:
            low, high = (min(max(end, 0.0), 1.0) for end in band)
            if strips.intervals is None:
                parts.append(_band(low, high, _HALF, "band"))
            else:
                ends = f"M{1000 * low:.1f} {middle:g}H{1000 * high:.1f}"
                parts += [f'<path class="cap" d="{ends}"/>']
                parts += [line(end, 5, "cap") for end in band if 0 <= end <= 1]
        if len(known) > MOST_DOTS:
            low, high = np.quantile(known, [0.05, 0.95]).clip(0, 1)
            parts.append(_band(low, high, 1.0, "band"))
            drawn = inside[(inside < low) | (inside > high)]
        if not strips.named and len(drawn):
            spread = 0.0 if len(known) > MOST_DOTS else 8.0
            dots = "".join(
                f"M{1000 * x:.0f} {middle + spread * ((at * _GOLDEN) % 1 - 0.5):.1f}h0"
                for at, x in enumerate(sorted(drawn))
            )
            parts.append(f'<path class="dots" d="{dots}"/>')
        mark = float(strips.across(strips.marks[name]))
        if 0 <= mark <= 1 and (len(known) > 1 or strips.intervals is not None):
            parts.append(line(mark, _HALF + 2, "mid"))
    shape = f'viewBox="0 0 1000 {_HEIGHT}" preserveAspectRatio="none"'
    return f'<svg {shape} aria-hidden="true">{"".join(parts)}</svg>'


def _band(low: float, high: float, half: float, kind: str) -> str:
    start, size = 1000 * low, max(1000 * (high - low), 2.0)
    top = _HEIGHT / 2 - half
    place = f'x="{start:.1f}" y="{top:g}" width="{size:.1f}" height="{2 * half:g}"'
    return f'<rect class="{kind}" {place}/>'
