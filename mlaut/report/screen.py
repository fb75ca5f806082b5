"""The first screen of a report: one record, which page, notebook, terminal and Markdown show."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis import Decision
from mlaut.analysis.common.display import number
from mlaut.analysis.deciding.margins import margins, own_scores
from mlaut.analysis.deciding.strips import MOST_DOTS, MOST_NAMED, Strips
from mlaut.analysis.deciding.verdict_table import VerdictTable
from mlaut.analysis.deciding.verdicts import OPEN, USE, VERDICTS
from mlaut.analysis.deciding.words import listed
from mlaut.analysis.results.results import Results
from mlaut.markup import counted
from mlaut.report.records import Section
from mlaut.report.shown import COST, ShownTable, decision_groups, decision_table, in_words_of

_PART = re.compile(r"; (?![^(]*\))")  # between the parts of an answer, not within brackets
_SENTENCE = re.compile(r"(?<=\.) (?=[A-Z])")
_IN_TABLE = re.compile(  # what a row of the table, the legend or a card says as well
    r"Choosing costs at most|.* interval \[[^]]*\]\.$|.* there (?:they|it) counts? as last|"
    r".* failed on \d+ of \d+ datasets; on the|.* for reference only, not a candidate|"
    r".* by the main test .*, but not by most others\.$"
).match
_COUNTS = re.compile(r"\b([Ww])in/tie/loss")  # the header of a page has other words
_SCENARIO = re.compile(r",? \(?scenario \([abc]\)\)?")
_ASIDE = re.compile(r" \((?=[^()]{40})([^()]+)\)\.$")  # a long bracket at the end of a headline
RACED_OUT = "raced out"
_HEIGHT, _HALF = 30, 7.0  # of a strip, and of its band
_TALL = 60.0  # half of a line of the axis, which a row of several lines of text cuts
_LONG = 24  # letters of a name beside an axis
_GOLDEN = 0.618034  # multiples of it spread evenly, whatever their number


@dataclass(frozen=True)
class Row:
    """Row of the table: a strategy, its numbers and its strip."""

    name: str
    verdict: str
    texts: tuple[str, ...]
    strip: str  # an <svg> element; empty without one
    edges: tuple[list[str], list[str]]  # lines of text
    words: str  # the strip for those who do not see it
    letters: tuple[tuple[str, float, int], ...]  # dots with a letter: share of the axis, lane
    wins: tuple[int, ...]  # won, tied, lost, failed; all 0 for the first

    @property
    def kind(self) -> str:
        """Verdict as a class of the style."""
        return self.verdict.replace(" ", "-")


@dataclass(frozen=True)
class Group:
    """Rows with one verdict; of many strategies, poor ones are folded."""

    title: str
    folded: bool
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Screen:
    """First screen of a decision.

    Attributes
    ----------
    answer, more, notes : str, tuple of str, tuple of str
        The headline, the rest of the answer, and sentences that explain it.
    headers : tuple of (str, str)
        Headers of the columns of numbers, and a longer name of each.
    groups : tuple of Group
    axis : tuple of (float, str)
        Labels of the axis: places as shares, and texts.
    sides : tuple of str
        What stands at the left and the right of the axis.
    room : tuple of int
        Letters of the longest text at the left and the right edge of a row.
    first, who : str
        The strategy against which the others are counted, empty if there is none; a short name.
    longest : int
        Letters of the longest name.
    words : tuple of (str, str)
        Verdicts of the table, each with its meaning.
    reading : tuple of str
        How to read the numbers and the strips.
    cards : tuple of (str, str)
        Questions on how sure the answer is, each with its answer.
    say : callable
        Function that says "strategy" as the table of the results does (`in_words_of`).
    """

    answer: str
    more: tuple[str, ...]
    notes: tuple[str, ...]
    headers: tuple[tuple[str, str], ...]
    groups: tuple[Group, ...]
    axis: tuple[tuple[float, str], ...]
    sides: tuple[str, str]
    room: tuple[int, int]
    first: str
    who: str
    longest: int
    words: tuple[tuple[str, str], ...]
    reading: tuple[str, ...]
    cards: tuple[tuple[str, str], ...]
    say: Callable[[str], str]


def screen_of(section: Section) -> Screen:
    """Return the first screen of a section with a decision."""
    decision, results = section.decision, section.results
    assert decision is not None
    strips = Strips.of(decision, results)
    table = decision_table(decision, costs=True)
    table = table if decision.sets is not None else _with_scores(table, results)
    kept = [at for at, one in enumerate(table.columns) if one.key not in _DRAWN]
    cells = {labels[0]: tuple(row[at].shown for at in kept) for labels, row in table.rows}
    first = decision.first[0] if "won" in decision.frame else ""
    rows = _rows(decision, strips, cells)
    answer, *more = answer_parts(decision)
    known, reading = _legend(decision)
    told = [f"Costs at most: {x.title}." for x in table.columns if x.key == COST]
    if "(chance to be the best" in answer and decision.sets is None:
        told.append("Chance to be the best: to have the best average rank over such datasets.")
    return Screen(
        answer=answer,
        more=tuple(more),
        notes=tuple(filter(None, map(_not_in_table, decision.headline()[1:]))),
        headers=tuple((table.columns[at].header, table.columns[at].title) for at in kept),
        groups=tuple(
            Group(title, folded, tuple(rows[name] for name in names))
            for title, names, folded in decision_groups(decision)
        ),
        axis=tuple(strips.ticks),
        sides=strips.sides(),
        room=_room(rows.values()),
        first=first,
        who=first if len(first) <= _LONG else "the first",
        longest=max(map(len, cells)),
        words=known,
        reading=(_picture(strips), *reading, *told),
        cards=decision.cards(),
        say=in_words_of(results),
    )


def race_screen(section: Section) -> Screen | None:
    """Return the first screen of a race for the best; None without one, or if it has no best."""
    race, scored = section.race, section.scored
    if race is None or not race.terms.of_best or not race.left:
        return None
    first = str(scored.losses[list(race.left)].mean().idxmin())
    left = [first, *(name for name in race.left if name != first)]
    known, frame = race.to_frame(), margins(scored, first)
    alone = USE if race.answered and len(race.left) == 1 else OPEN
    frame["verdict"] = [alone if name in race.left else RACED_OUT for name in frame.index]
    has = scored.losses.notna().sum()
    lack = (known["datasets"] - has).clip(lower=0).astype(int)
    frame = frame.assign(failures=lack, ran=has + lack, **{"average rank": np.nan})
    frame = frame.sort_values(["verdict", "ran"], key=_race_order, kind="stable")
    frame = frame.loc[[first, *frame.index.drop(first)]]
    terms: Any = {"chosen": section.chosen, "scorer": scored.metric, "n": len(race.datasets)}
    table = VerdictTable(frame=frame, leader=first, first=(first,), least=1, **terms)
    strips = Strips.of(table, scored)
    size = next((x for x in ("difference", "ratio") if x in frame), "")
    shown = ShownTable.of(frame[["ran"]])
    shown = shown.joined(frame[[size]]) if size in frame else shown
    cells = {labels[0]: tuple(x.shown for x in row) for labels, row in shown.rows}
    rows = _rows(table, strips, cells)
    best, sure = listed(left), number(1 - race.terms.alpha)
    equal = ", and they are practically equal" * race.answered or ": the race has not told which"
    verb = "is the best" if len(race.left) == 1 else f"may be best{equal}"
    ahead = f"{first} is ahead on average." * (len(left) > 1)
    words = {
        OPEN: "still in the race",
        RACED_OUT: "shown to be worse than another, and run no more",
    }
    cost = race.cost_sentence()
    asked = {
        "How sure is it?": f"With probability {sure} a best strategy is never raced out, however "
        "often one looks.",
        "What did it cost?": f"{cost[:1].upper()}{cost[1:]}." if cost else "",
        "Where are the ranks?": "Strategies leave because of their results, so ranks and the usual "
        "tests would not be valid; mlaut run --complete runs what was left out.",
    }
    return Screen(
        answer=f"On datasets like these, {best} {verb}.",
        more=tuple(filter(None, (ahead, f"{counted(len(known) - len(left), 'other')} raced out."))),
        notes=(),
        headers=(("datasets", "on how many datasets it ran"), (size, ""))[: len(shown.columns)],
        groups=(Group("", False, tuple(rows.values())),),
        axis=tuple(strips.ticks),
        sides=strips.sides(),
        room=_room(rows.values()),
        first=first,
        who=first if len(first) <= _LONG else "the first",
        longest=max(map(len, rows)),
        words=tuple((word, text) for word, text in words.items() if word in set(frame["verdict"])),
        reading=(_picture(strips), "Each row is of the datasets on which it ran."),
        cards=tuple((question, text) for question, text in asked.items() if text),
        say=str,
    )


def _race_order(values: pd.Series) -> pd.Series:
    return values == RACED_OUT if values.name == "verdict" else -values


def _room(rows: Iterable[Row]) -> tuple[int, int]:
    """Return the letters of the longest text at the left and at the right edge."""
    sides = zip(*(row.edges for row in rows), strict=True)
    left, right = (max((len(x) for lines in side for x in lines), default=0) for side in sides)
    return left, right


def _not_in_table(text: str) -> str:
    """Return what a sentence says that no column of the table does."""
    _, so, rest = text.partition(". So ")
    return _SCENARIO.sub("", text) if not _IN_TABLE(text) else f"So {rest}" if so else ""


_DRAWN = ("verdict", "won", "failures")  # columns that a page draws in its own way


def answer_parts(decision: Decision) -> list[str]:
    """Return the answer as sentences, of which the first is the headline."""
    answer = decision.answer()
    if not decision.decided or not decision.leader:
        first, *rest = _SENTENCE.split(answer)
        if aside := _ASIDE.search(first):
            first, rest = f"{first[: aside.start()]}.", [f"{_sentence(aside[1])}.", *rest]
        return [first, *rest]
    parts = [part.rstrip(".") for part in _PART.split(answer)]
    return [f"{_sentence(x) if x.startswith('avoid ') else x}." for x in parts]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _legend(decision: Decision) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Return the verdicts with their meanings, and the other sentences on the table."""
    known, rest = [], []
    for sentence in _SENTENCE.split(decision.reading()):
        word, _, meaning = sentence.partition(": ")
        if word.lower() in VERDICTS:
            known.append((word.lower(), meaning.rstrip(".")))
        else:
            rest.append(_COUNTS.sub(r"\1on / tied / lost", sentence))
    return tuple(known), tuple(rest)


def _with_scores(table: ShownTable, results: Results) -> ShownTable:
    """Return the table with a column of scores for each dataset, if there are so few."""
    if len(results.datasets) > MOST_NAMED:
        return table
    scores = own_scores(results).T
    letters = [f"{letter} {name}" for letter, name in zip("abc", scores, strict=False)]
    return table.joined(scores.set_axis(letters, axis=1))


def _rows(
    decision: VerdictTable, strips: Strips, cells: Mapping[str, tuple[str, ...]]
) -> dict[str, Row]:
    """Return the row of each strategy, which has the texts of its cells."""
    counts = decision.frame.reindex(columns=["won", "tied", "lost", "failures"])
    wins = counts.fillna(0).astype(int).T.to_dict("list")
    lanes = {dataset: lane for lane, dataset in enumerate(strips.dots.index)}
    rows, shares = {}, strips.across(strips.dots[list(cells)])
    for name, texts in cells.items():
        places = shares[name]
        inside = places[(places >= 0) & (places <= 1)]
        named = inside.items() if strips.named and name != strips.reference else ()
        left, right = (text.split("; ") if text else [] for text in strips.edges(name))
        rows[name] = Row(
            name=name,
            verdict=str(decision.frame["verdict"][name]),
            texts=texts,
            strip=_svg(strips, name, places.to_numpy(), inside.to_numpy()),
            edges=(left, right),
            words=strips.words(name),
            letters=tuple(("abc"[lanes[x]], round(float(p), 4), lanes[x]) for x, p in named),
            wins=tuple(wins[name]),
        )
    return rows


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
        if (band := strips.band(name)) is not None:
            low, high = (min(max(end, 0.0), 1.0) for end in band)
            parts.append(_band(low, high, _HALF, "band"))
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


def _picture(strips: Strips) -> str:
    """Return how to read the strips; of many dots, a page draws those outside a thin band."""
    text, band = strips.reading("upright line"), "band: the middle half of the datasets"
    thin = f"{band}; thin band: the middle nine tenths; dots: the others"
    return text.replace(band, thin) if len(strips.dots) > MOST_DOTS else text
