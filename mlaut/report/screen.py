"""The first screen of a report: one record, which page, notebook, terminal and Markdown show."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis import Decision
from mlaut.analysis.common.display import number
from mlaut.analysis.deciding.certainty import differs
from mlaut.analysis.deciding.margins import by_source, margins, own_scores
from mlaut.analysis.deciding.relatives import related_hint
from mlaut.analysis.deciding.strips import MOST_DOTS, MOST_NAMED, Strips
from mlaut.analysis.deciding.verdict_table import RELATED, VerdictTable
from mlaut.analysis.deciding.verdicts import OPEN, USE, VERDICTS
from mlaut.analysis.deciding.words import NOW, listed
from mlaut.analysis.deciding.words import answer as answer_of
from mlaut.analysis.results.results import Results
from mlaut.markup import counted
from mlaut.report.records import Section
from mlaut.report.shown import (
    TITLES,
    ShownCell,
    ShownTable,
    TableColumn,
    decision_groups,
    decision_table,
    in_words_of,
)

_PART = re.compile(r"; (?![^(]*\))")  # between the parts of an answer, not within brackets
_SENTENCE = re.compile(r"(?<=\.) (?=[A-Z])")
_IN_TABLE = re.compile(  # what a row of the table, the legend or a card says as well
    r"Choosing costs at most|.* interval \[[^]]*\]\.$|.* there (?:they|it) counts? as last|"
    r".* failed on \d+ of \d+ datasets; on the|.* for reference only, not a candidate|"
    r".* by the main test .*, but not by most others\.$"
).match
_FOLDS = re.compile(r"\w*kfold\(n_folds=(\d+)(?:, n_repeats=(\d+))?[^)]*\) \(\d+ test sets, ")
_COUNTS = re.compile(r"\b([Ww])in/tie/loss")  # the header of a page has other words
_SCENARIO = re.compile(r",? \(?scenario \([abc]\)\)?")
_ASIDE = re.compile(r" \((?=[^()]{40})([^()]+)\)\.$")  # a long bracket at the end of a headline
_TITLED = re.compile(r"Rank: |Win/tie/loss.*: of this row|Difference: |Seconds to ").match
RACED_OUT = "raced out"
_MOST_RELATED = 3  # names of strategies in a sentence on related datasets
_HEIGHT, _HALF = 30, 7.0  # of a strip, and of its band
_TALL = 60.0  # half of a line of the axis, which a row of several lines of text cuts
_LETTERS = 400  # of an answer, whose first sentence is the headline
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
    headers : tuple of (str, str)
        Headers of the columns of numbers, and a longer name of each.
    groups : tuple of Group
    strips : Strips
        The axis of the dots.
    first : str
        The strategy against which the others are counted, empty if there is none.
    words : tuple of (str, str)
        Words of the screen and marks of the strips, each with its meaning; verdicts come first.
    cards : tuple of (str, str)
        Questions on how sure the answer is, each with its answer.
    say : callable
        Function that says "strategy" as the table of the results does (`in_words_of`).
    """

    answer: str
    more: tuple[str, ...]
    mind: tuple[str, ...]
    notes: tuple[str, ...]
    headers: tuple[tuple[str, str], ...]
    groups: tuple[Group, ...]
    strips: Strips
    first: str
    words: tuple[tuple[str, str], ...]
    cards: tuple[tuple[str, str], ...]
    say: Callable[[str], str]

    @property
    def rows(self) -> list[Row]:
        """All rows."""
        return [row for group in self.groups for row in group.rows]

    @property
    def who(self) -> str:
        """A short name of the reference."""
        name = self.strips.reference or self.first
        return name if len(name) <= _LONG else "the first"

    def room(self, side: int) -> int:
        """Return the letters of the longest text at the left (0) or right edge (1) of a row."""
        return max((len(x) for row in self.rows for x in row.edges[side]), default=0)


def screen_of(section: Section) -> Screen:
    """Return the first screen of a section with a decision."""
    decision, results = section.decision, section.results
    assert decision is not None
    strips = Strips.of(decision, results)
    table = decision_table(decision, costs=True)
    table = table if decision.sets is not None else _with_scores(table, results)
    kept = [at for at, one in enumerate(table.columns) if one.key not in _DRAWN]
    columns = [table.columns[at] for at in kept]
    means = by_source(section.scored, own_scores(section.scored)).mean().to_dict()
    cells = {
        labels[0]: tuple(_text(row[at], table.columns[at], means[labels[0]]) for at in kept)
        for labels, row in table.rows
    }
    first = decision.first[0] if "won" in decision.frame else ""
    rows = _rows(decision, strips, cells)
    answer, *more = answer_parts(decision)
    gaps = [f"{_sentence(gap)}." for gap in decision.gaps]
    doubt = decision.doubt if decision.leader else ""
    label = "Why the doubt" if doubt else "Bear in mind"
    doubts = [f"{_sentence(doubt)}."] * bool(doubt)
    last = "The order is by rank, in which a failure counts as last place."
    orders = [last] * ("A failure counts as last place" in decision.reading())
    changes = [f"The way to compare was {change}." for change in decision.chosen.changes]
    hint, _, each = decision.hint.partition("Each for itself: ")
    told = [f"Each dataset for itself: {each}"] * bool(each)
    told += [x for x in decision.headline()[1:] if x not in (decision.hint, " ".join(gaps))]
    return Screen(
        answer=answer,
        more=tuple(more),
        mind=(label, *doubts, *orders, *changes, *_related(hint.strip(), decision), *_untold(gaps)),
        notes=tuple(_untold(told)),
        headers=tuple((column.header, column.title) for column in columns),
        groups=tuple(
            Group(title, folded, tuple(rows[name] for name in names))
            for title, names, folded in decision_groups(decision)
        ),
        strips=strips,
        first=first,
        words=tuple(_legend(decision, columns, strips, rows)),
        cards=tuple(
            (asked, _FOLDS.sub(_in_folds, text.partition("; then ")[0]))
            for asked, text in decision.cards()
        ),
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
    name = scored.metric.name
    frame[name] = own_scores(scored).mean() if "difference" in frame else np.nan
    sizes = [x for x in ("ratio", name, "difference") if x in frame and frame[x].notna().any()]
    shown = ShownTable.of(frame[["ran"]]).joined(frame[sizes])
    fewer = set(frame.index[has.reindex(frame.index) < has.max()])
    cells = {
        labels[0]: tuple(
            f"({x.shown})" if key == name and labels[0] in fewer else x.shown
            for key, x in zip(("datasets", *sizes), row, strict=True)
        )
        for labels, row in shown.rows
    }
    rows = _rows(table, strips, cells)
    best, sure = listed(left), number(1 - race.terms.alpha)
    equal = ", and they are practically equal" * race.answered or ": the race has not told which"
    verb = "is the best" if len(race.left) == 1 else f"may be best{equal}"
    ahead = f"{NOW}, use {first}: it is ahead on average." * (len(left) > 1)
    words = {
        OPEN: "still in the race",
        RACED_OUT: "shown to be worse than another, and run no more",
    }
    titles = {x: text.format(metric=name, first=first, sure=sure) for x, text in TITLES.items()}
    headers = tuple((x, titles.get(x, "the average")) for x in ("datasets", *sizes))
    cost = race.cost_sentence()
    asked = {
        "How sure is it?": f"With probability {sure} a best strategy is never raced out, however "
        "often one looks.",
        "What did it cost?": f"{cost}.".replace("cells", "trainings") * bool(cost),
        "Why are there no ranks?": "Strategies leave because of their results, so ranks and the "
        "usual tests would not be valid: mlaut run --complete runs what was left out.",
    }
    out = counted(len(known) - len(left), "other")
    return Screen(
        answer=f"On datasets like these, {best} {verb}.",
        more=tuple(
            filter(None, (ahead, f"{out} raced out: shown to be worse, and run no further."))
        ),
        mind=("Bear in mind", *_related(related_hint(race.datasets))),
        notes=(),
        headers=headers,
        groups=(Group("", False, tuple(rows.values())),),
        strips=strips,
        first=first,
        words=(
            *((word, text) for word, text in words.items() if word in set(frame["verdict"])),
            *headers,
            *[(f"({name})", "the average of the fewer datasets on which it was run")] * bool(fewer),
            *_counts_and_strips(strips, first),
        ),
        cards=tuple((question, text) for question, text in asked.items() if text),
        say=str,
    )


def _race_order(values: pd.Series) -> pd.Series:
    return values == RACED_OUT if values.name == "verdict" else -values


def _text(cell: ShownCell, column: TableColumn, mean: float) -> str:
    """Return a cell as text; an unknown mean is that without failed datasets, in brackets."""
    if not column.key.startswith("mean ") or cell.value == cell.value or mean != mean:
        return cell.shown
    return f"({column.text(mean)})".replace("-", "\u2212")


def _related(hint: str, decision: Decision | None = None) -> list[str]:
    """Return a hint on related datasets, with what follows if they are of one source."""
    looks, _, asks = hint.partition(": if they are, ")
    checks = () if decision is None else decision.checks
    found = [differs(check, _MOST_RELATED) for check in checks if check.how == RELATED]
    then = "".join(found).replace("the same", "the answer is the same")
    then = (
        f"With relatives counted once, {then}"
        if found
        else "If they are, this shows less than it seems"
    )
    return [f"{looks}. {then}. {asks.partition('. ')[2]}".strip() if asks else hint] * bool(hint)


def _untold(texts: Iterable[str]) -> list[str]:
    """Return what sentences say that no column of the table does."""
    parts = ((text, text.partition(". So ")[2]) for text in texts)
    kept = (f"So {so}" * bool(so) if _IN_TABLE(x) else _SCENARIO.sub("", x) for x, so in parts)
    return list(filter(None, kept))


_DRAWN = ("verdict", "won", "failures")  # columns that a page draws in its own way


def answer_parts(decision: Decision) -> list[str]:
    """Return the answer as sentences, of which the first is the headline."""
    answer = decision.answer()
    if decision.leader or decision.sets is None:
        answer = answer_of(decision, _LETTERS)
    if decision.leader and (doubt := decision.doubt):  # which stands apart
        answer = answer.replace(f", {doubt}", "").replace(f" ({doubt})", "")
    if not decision.decided or not decision.leader:
        first, *rest = _SENTENCE.split(answer)
        if aside := _ASIDE.search(first):
            first, rest = f"{first[: aside.start()]}.", [f"{_sentence(aside[1])}.", *rest]
        return [first, *rest]
    parts = [part.rstrip(".") for part in _PART.split(answer)]
    return [f"{_sentence(x) if x.startswith('avoid ') else x}." for x in parts]


def _in_folds(scheme: re.Match[str]) -> str:
    return f"{scheme[1]} folds{f' {scheme[2]} times' * bool(scheme[2])} ("


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _legend(
    decision: Decision, columns: Iterable[TableColumn], strips: Strips, rows: Mapping[str, Row]
) -> Iterator[tuple[str, str]]:
    """Yield the words of the screen with their meanings, the verdicts first."""
    sentences = [x.rstrip(".") for x in _SENTENCE.split(decision.reading())]
    pairs = [(word, meaning) for word, _, meaning in (x.partition(": ") for x in sentences)]
    verdicts = [(word.lower(), meaning) for word, meaning in pairs if word.lower() in VERDICTS]
    used = [(USE, VERDICTS[USE])] * (USE in set(decision.frame["verdict"]))
    yield from (*used, *verdicts) if len({*decision.frame["verdict"]}) > 1 else ()
    yield from ((column.header, column.title) for column in columns if column.title)
    partly = next((x for row in rows.values() for x in row.texts if x.startswith("(")), "")
    yield from [(partly, "the average without the datasets on which it failed")] * bool(partly)
    yield from _counts_and_strips(strips, decision.first[0] if "won" in decision.frame else "")
    if decision.sets is None and "(chance to be the best" in decision.answer():
        yield "chance to be the best", "to have the best average rank over such datasets"
    for sentence, (word, meaning) in zip(sentences, pairs, strict=True):
        if word.lower() not in VERDICTS and not _TITLED(sentence):
            text = _COUNTS.sub(r"\1on / tied / lost", meaning or word)
            yield (word if meaning else ""), text


def _counts_and_strips(strips: Strips, first: str) -> Iterator[tuple[str, str]]:
    if first:
        yield "won / tied / lost", f"datasets on which it is better, equal and worse than {first}"
    yield from strips.legend("upright line")


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
            verdict="" if decision.alone else str(decision.frame["verdict"][name]),
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
