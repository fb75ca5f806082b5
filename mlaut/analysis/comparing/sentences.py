"""The findings of a comparison in words, and notes on how to read its numbers."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from mlaut.analysis.common.display import number, p_text
from mlaut.analysis.common.numerics import RELATIVE_NOISE
from mlaut.analysis.common.tests import TESTS
from mlaut.analysis.deciding.numbers import Numbers
from mlaut.analysis.deciding.verdicts import copies_in
from mlaut.analysis.deciding.words import be, listed
from mlaut.helpers.markup import counted

_AS_VALUE = {"average_rank": "value"}
_ORDERED = "the signed rank tests and Quade's test"
_ENOUGH_TO_RULE = 5  # datasets: with fewer, one often outweighs all others together
_RANK_NOISE = 1e-9  # average ranks are multiples of 1 / (2 N), so a smaller gap is rounding
_MOST_OPPOSITE = 3  # pairs of which a note names the tests; all are in the table of pairs
_COUNTED = ("t", "signed rank", "trinomial")  # tests whose pairs a sentence counts


def findings(stats: Numbers) -> tuple[str, ...]:
    """Return the findings, one sentence each."""
    return (*_headline(stats), _on_ranks(stats), *_on_pairs(stats))


def notes(stats: Numbers) -> tuple[str, ...]:
    """Return notes on means and contradictions, and the notes of tables with the tables' names."""
    tables = stats.tables()
    about: dict[str, list[str]] = {}
    for name, table in tables.items():
        for note in table.notes_text():
            about.setdefault(note, []).append(name)
    named = (
        note if len(names) == len(tables) else f"{', '.join(names)}: {note}"
        for note, names in about.items()
    )
    return (*_equal(stats), *_notes_on_means(stats), *_contradictions(stats), *named)


def _contradictions(stats: Numbers) -> Iterator[str]:
    """Yield a note on pairs for which two tests contradict each other, and on tests of all."""
    claims: dict[tuple[str, str], list[str]] = {}
    for test, pairs in stats.tests.items():
        for i, j in np.argwhere(pairs.wins(stats.alpha)).tolist():
            claims.setdefault((pairs.strategies[i], pairs.strategies[j]), []).append(test)
    opposite = [pair for pair in claims if pair[0] < pair[1] and pair[::-1] in claims]
    for first, second in opposite[:_MOST_OPPOSITE]:
        better, worse = claims[first, second], claims[second, first]
        yield (
            f"{first} is better than {second} by {', '.join(better)}, and worse by "
            f"{', '.join(worse)}: one wins more often, the other by more; the test that was "
            "chosen beforehand decides"
        )
    if len(opposite) > _MOST_OPPOSITE:
        yield f"tests say the opposite of {len(opposite)} pairs in all"
    differ = int(stats.leading_pairs.differ(stats.alpha).sum()) // 2
    friedman = stats.portmanteau.get("Friedman F")
    if differ and friedman and (friedman.p_value or 1.0) > stats.alpha:
        yield (
            f"Friedman's test shows no difference and {TESTS[stats.leading].words} {differ}: the "
            "former compares the ranks of all strategies, the latter one pair at a time"
        )


def _notes_on_means(stats: Numbers) -> tuple[str, ...]:
    """Return notes: why means and t-tests are left out, and which tests depend on the scales."""
    why = stats.results.incomparable
    if stats.results.metric.incomparable and why:
        if stats.results.metric.mixed:
            return (f"{why}: only the signs of differences compare, so tests are of signs",)
        return (
            f"means over datasets do not compare ({why}), so there is no mean and no t-test; "
            f"{_ORDERED} compare differences of several datasets: a dataset with a large unit "
            "weighs most there, and nothing in ranks and signs",
        )
    if why:
        n = len(stats.mean_strategies)
        if n < 2:
            few = "only one strategy has" if n else "no strategy has"
            left_out = "so there is no t-test, nor a mean of the others"
            return (f"{few} all its cells, {left_out}: {why}",)
        return (f"means and t-tests are of the {n} strategies without missing cells: {why}",)
    return tuple(_ruled_means(stats))


def _ruled_means(stats: Numbers) -> Iterator[str]:
    """Yield a note for each mean that one dataset dominates.

    Only a metric without a bound on its worse side can have such a mean.
    """
    if np.isfinite(stats.results.metric.loss_bounds[1]):
        return
    metric, scores = stats.results.metric.name, stats.results.scores
    for name in stats.results.strategies:
        size = stats.results.losses[name].abs()
        if len(size) >= _ENOUGH_TO_RULE and size.max() > size.sum() / 2:
            at = str(size.idxmax())
            yield (
                f"the mean of {name} rests on {at} ({metric} {number(scores.loc[at, name])}), "
                "which weighs more than all other datasets together: take ranks"
            )


def _headline(stats: Numbers) -> list[str]:
    """Return sentences on the best strategy by the mean, or by ranks if not all have a mean."""
    gaps = "; ".join(stats.results.gaps)
    over = f"Over {counted(len(stats.results.datasets), 'dataset')}"
    over += f" of {stats.results.n_sources} sources" if stats.results.clusters else ""
    over += f" ({gaps})" if gaps else ""
    if not stats.results.incomparable:
        return [f"{over} {_best_mean(stats)}, scenario (c)."]
    rank = stats.ranks.frame
    best = _first_of(rank["average_rank"])
    led = _led_by(best, len(rank), "best average rank", rank.rename(columns=_AS_VALUE))
    sentences = [f"{over} {led}, scenario (c)."]
    if stats.results.metric.incomparable:
        sentences.append(f"Means over datasets do not compare ({stats.results.incomparable}).")
    if len(stats.mean_strategies) > 1:
        of = f"Of the {len(stats.mean_strategies)} strategies without missing cells"
        sentences.append(f"{of} {_best_mean(stats)}, scenario (c).")
    return sentences


def _equal(stats: Numbers) -> Iterator[str]:
    """Yield a note on each group of strategies whose losses are the same on every dataset."""
    for names in copies_in(stats.results.losses.to_numpy(), stats.results.strategies):
        yield f"{listed(names)} are equal to the last digit on each dataset"


def _best_mean(stats: Numbers) -> str:
    """Return a sentence on the strategies with the best mean; they tie within rounding noise."""
    frame, metric = stats.estimates["(c)"].frame, stats.results.metric
    worse = -frame["value"] if metric.greater_is_better else frame["value"]
    places = [stats.results.strategies.index(name) for name in frame.index]
    noise = RELATIVE_NOISE * stats.results.noise_scale[:, places].mean(axis=0)
    at = int(worse.argmin())
    tied = (worse - worse.iloc[at]).to_numpy() <= np.maximum(noise, noise[at])
    word = "highest" if metric.greater_is_better else "lowest"
    best = [str(name) for name in frame.index[tied]]
    return _led_by(best, len(frame), f"{word} mean {metric.name}", frame)


def _on_ranks(stats: Numbers) -> str:
    friedman = stats.portmanteau.get("Friedman F")
    rank = stats.ranks.frame["average_rank"]
    if friedman is None:
        start = f"Average ranks, each of {stats.results.n_sources} sources once"
    else:
        p = friedman.p_value or 1.0
        if p > stats.alpha:
            return f"Friedman's test does not show that average ranks differ ({p_text(p)})."
        start = f"Average ranks differ (Friedman, {p_text(p)})"
    best = _first_of(rank)
    beside = _beside(stats, best)
    copied = copies_in(stats.results.losses.to_numpy(), stats.results.strategies)
    among = f" among all {len(rank)}" * bool(copied)  # verdicts count copies as one
    more = ", one against one; verdicts rest on a test of all together, which can rule out more"
    test = TESTS[stats.leading]
    alone = more * (beside.startswith("not shown") and bool(test.joint))
    return (
        f"{start}: {listed(best)} {be(best)} best with "
        f"{number(rank.iloc[0])}{among}, {beside} by {test.words}{alone}."
    )


def _beside(stats: Numbers, best: Sequence[str]) -> str:
    """Return a phrase on how the leading test compares the others with those of best rank."""
    names, pairs = list(stats.ranks.frame.index), stats.leading_pairs
    rows = [pairs.strategies.index(name) for name in best]
    columns = list(pairs.strategies)
    differ = pd.DataFrame(pairs.differ(stats.alpha)[rows], columns=columns)
    better = pd.DataFrame(pairs.wins(stats.alpha)[:, rows].T, columns=columns)
    others = [name for name in names if name not in best]
    alike = listed([name for name in others if not differ[name].all()])
    ahead = [name for name in others if better[name].any()]
    if ahead:
        but = f"but {listed(ahead)} {be(ahead)} better"
        return f"{but}, and not shown to differ from {alike}" if alike else but
    if alike:
        return f"not shown to differ from {alike}"
    return f"and {'differs' if len(best) == 1 else 'differ'} from all others"


def _on_pairs(stats: Numbers) -> list[str]:
    counts = []
    kept = ("trinomial",) if stats.results.metric.incomparable else _COUNTED  # only signs compare
    for name in dict.fromkeys([*kept, stats.leading]):
        if name not in stats.pairs:
            continue
        pairs = stats.pairs[name]
        n_different = int(pairs.differ(stats.alpha).sum()) // 2
        counts.append(f"{n_different} of {len(pairs.labels)} pairs by {TESTS[name].words}")
    jointly = stats.results.clusters is not None or stats.correction == "joint"
    how = "of all claims together" if jointly else f"after the {stats.correction} correction"
    return [
        f"At level {stats.alpha:g} {how} these differ: {', '.join(counts)}."
    ]  # probabilities are not counted here: they are not corrected for the number of pairs


def _first_of(ranks: pd.Series) -> list[str]:
    """Return all strategies that share the best average rank."""
    return [str(name) for name in ranks.index[ranks - ranks.min() <= _RANK_NOISE]]


def _led_by(best: Sequence[str], n: int, what: str, frame: pd.DataFrame) -> str:
    """Return a phrase on the best of ``n`` strategies, with the interval if they share one.

    ``frame`` has one row for each strategy, with value, low and high.
    """
    numbers = [number(frame.loc[best[0], "value"])]
    intervals = {f"[{number(frame.loc[b, 'low'])}, {number(frame.loc[b, 'high'])}]" for b in best}
    numbers += intervals if len(intervals) == 1 else []
    if len(best) == 1:
        return f"{best[0]} has the {what}, {' '.join(numbers)}"
    if len(best) == n:
        return f"{listed(best)} have the same {what.partition(' ')[2]}, {' '.join(numbers)}"
    return f"{listed(best)} share the {what}, {' '.join(numbers)}"
