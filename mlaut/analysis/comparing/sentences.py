"""The findings of a comparison in words, and notes on how to read its numbers."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from mlaut.analysis.common.display import number, p_text
from mlaut.analysis.common.numerics import RELATIVE_NOISE
from mlaut.analysis.common.tests import TESTS
from mlaut.analysis.comparing.numbers import Numbers
from mlaut.analysis.deciding.verdicts import copies_in
from mlaut.analysis.deciding.words import be, listed
from mlaut.markup import counted

_AS_VALUE = {"average_rank": "value"}
_ORDERED = "the signed rank tests and Quade's test"
_ENOUGH_TO_RULE = 5  # datasets: with fewer, one often outweighs all others together
_RANK_NOISE = 1e-9  # average ranks are multiples of 1 / (2 N), so a smaller gap is rounding
_MOST_OPPOSITE = 3  # pairs of which a note names the tests; all are in the table of pairs
_COUNTED = ("t", "signed rank", "trinomial")  # tests whose pairs a sentence counts


def findings(found: Numbers) -> tuple[str, ...]:
    """Return the findings, one sentence each."""
    return (*_headline(found), _on_ranks(found), *_on_pairs(found))


def notes(found: Numbers) -> tuple[str, ...]:
    """Return notes on means and contradictions, and each note of a table once, with its names."""
    tables = found.tables()
    about: dict[str, list[str]] = {}
    for name, table in tables.items():
        for note in table.notes_text():
            about.setdefault(note, []).append(name)
    named = (
        note if len(names) == len(tables) else f"{', '.join(names)}: {note}"
        for note, names in about.items()
    )
    return (*_equal(found), *_notes_on_means(found), *_contradictions(found), *named)


def _contradictions(found: Numbers) -> Iterator[str]:
    """Yield a note on pairs of which two tests say the opposite, and on a test of all."""
    said: dict[tuple[str, str], list[str]] = {}
    for test, pairs in {**found.pairs, **found.bayesian}.items():
        for i, j in np.argwhere(pairs.wins(found.alpha)).tolist():
            said.setdefault((pairs.strategies[i], pairs.strategies[j]), []).append(test)
    opposite = [one for one in said if one[0] < one[1] and one[::-1] in said]
    for first, second in opposite[:_MOST_OPPOSITE]:
        better, worse = said[first, second], said[second, first]
        yield (
            f"{first} is better than {second} by {', '.join(better)}, and worse by "
            f"{', '.join(worse)}: one wins more often, the other by more; the test that was "
            "chosen beforehand decides"
        )
    if len(opposite) > _MOST_OPPOSITE:
        yield f"tests say the opposite of {len(opposite)} pairs in all"
    differ = int(found.leading_pairs.differ(found.alpha).sum()) // 2
    friedman = found.portmanteau.get("Friedman F")
    if differ and friedman and (friedman.p_value or 1.0) > found.alpha:
        yield (
            f"Friedman's test shows no difference and {TESTS[found.leading].words} {differ}: the "
            "former compares the ranks of all strategies, the latter one pair at a time"
        )


def _notes_on_means(found: Numbers) -> tuple[str, ...]:
    """Return why means and t-tests are left out, and which tests still depend on the scales."""
    why = found.results.incomparable
    if found.results.metric.incomparable and why:
        if found.results.metric.mixed:
            return (f"{why}: only the signs of differences compare, so tests are of signs",)
        return (
            f"means over datasets do not compare ({why}), so there is no mean and no t-test; "
            f"{_ORDERED} compare differences of several datasets: a dataset with a large unit "
            "weighs most there, and nothing in ranks and signs",
        )
    if why:
        n = len(found.mean_strategies)
        if n < 2:
            few = "only one strategy has" if n else "no strategy has"
            left_out = "so there is no t-test, nor a mean of the others"
            return (f"{few} all its cells, {left_out}: {why}",)
        return (f"means and t-tests are of the {n} strategies without missing cells: {why}",)
    return tuple(_ruled_means(found))


def _ruled_means(found: Numbers) -> Iterator[str]:
    """Yield a note for each mean that one dataset dominates.

    Only a metric without a bound on its worse side can have such a mean.
    """
    if np.isfinite(found.results.metric.loss_bounds[1]):
        return
    metric, scores = found.results.metric.name, found.results.scores
    for name in found.results.strategies:
        size = found.results.losses[name].abs()
        if len(size) >= _ENOUGH_TO_RULE and size.max() > size.sum() / 2:
            at = str(size.idxmax())
            yield (
                f"the mean of {name} rests on {at} ({metric} {number(scores.loc[at, name])}), "
                "which weighs more than all other datasets together: take ranks"
            )


def _headline(found: Numbers) -> list[str]:
    """Return which strategy is best by the mean, or by ranks where not all have a mean."""
    gaps = "; ".join(found.results.gaps)
    over = f"Over {counted(len(found.results.datasets), 'dataset')}"
    over += f" of {found.results.n_sources} sources" if found.results.clusters else ""
    over += f" ({gaps})" if gaps else ""
    if not found.results.incomparable:
        return [f"{over} {_best_mean(found)}, scenario (c)."]
    rank = found.ranks.frame
    best = _first_of(rank["average_rank"])
    led = _led_by(best, len(rank), "best average rank", rank.rename(columns=_AS_VALUE))
    sentences = [f"{over} {led}, scenario (c)."]
    if found.results.metric.incomparable:
        sentences.append(f"Means over datasets do not compare ({found.results.incomparable}).")
    if len(found.mean_strategies) > 1:
        of = f"Of the {len(found.mean_strategies)} strategies without missing cells"
        sentences.append(f"{of} {_best_mean(found)}, scenario (c).")
    return sentences


def _equal(found: Numbers) -> Iterator[str]:
    """Yield a note on each group of strategies whose losses are the same on every dataset."""
    for names in copies_in(found.results.losses.to_numpy(), found.results.strategies):
        yield f"{listed(names)} are equal to the last digit on each dataset"


def _best_mean(found: Numbers) -> str:
    """Return which strategies have the best mean; a difference of rounding noise is a tie."""
    frame, metric = found.estimates["(c)"].frame, found.results.metric
    worse = -frame["value"] if metric.greater_is_better else frame["value"]
    places = [found.results.strategies.index(name) for name in frame.index]
    noise = RELATIVE_NOISE * found.results.noise_scale[:, places].mean(axis=0)
    at = int(worse.argmin())
    tied = (worse - worse.iloc[at]).to_numpy() <= np.maximum(noise, noise[at])
    word = "highest" if metric.greater_is_better else "lowest"
    best = [str(name) for name in frame.index[tied]]
    return _led_by(best, len(frame), f"{word} mean {metric.name}", frame)


def _on_ranks(found: Numbers) -> str:
    friedman = found.portmanteau.get("Friedman F")
    rank = found.ranks.frame["average_rank"]
    if friedman is None:
        start = f"Average ranks, each of {found.results.n_sources} sources once"
    else:
        p = friedman.p_value or 1.0
        if p > found.alpha:
            return f"Friedman's test does not show that average ranks differ ({p_text(p)})."
        start = f"Average ranks differ (Friedman, {p_text(p)})"
    best = _first_of(rank)
    return (
        f"{start}: {listed(best)} {be(best)} best with "
        f"{number(rank.iloc[0])}, {_beside(found, best)} by {TESTS[found.leading].words}."
    )


def _beside(found: Numbers, best: Sequence[str]) -> str:
    """Return the words for how the leading test compares the others with those of best rank."""
    names, pairs = list(found.ranks.frame.index), found.leading_pairs
    rows = [pairs.strategies.index(name) for name in best]
    columns = list(pairs.strategies)
    differ = pd.DataFrame(pairs.differ(found.alpha)[rows], columns=columns)
    better = pd.DataFrame(pairs.wins(found.alpha)[:, rows].T, columns=columns)
    others = [name for name in names if name not in best]
    alike = listed([name for name in others if not differ[name].all()])
    ahead = [name for name in others if better[name].any()]
    if ahead:
        but = f"but {listed(ahead)} {be(ahead)} better"
        return f"{but}, and not shown to differ from {alike}" if alike else but
    if alike:
        return f"not shown to differ from {alike}"
    return f"and {'differs' if len(best) == 1 else 'differ'} from all others"


def _on_pairs(found: Numbers) -> list[str]:
    counts = []
    kept = ("trinomial",) if found.results.metric.incomparable else _COUNTED  # only signs compare
    for name in dict.fromkeys([*kept, found.leading]):
        if name not in found.pairs:
            continue
        frame = found.pairs[name].to_frame()
        n_different = int((frame["p_value"] <= found.alpha).sum())
        counts.append(f"{n_different} of {len(frame)} pairs by {TESTS[name].words}")
    jointly = found.results.clusters is not None
    how = "of all claims together" if jointly else f"after the {found.correction} correction"
    return [
        f"At level {found.alpha:g} {how} these differ: {', '.join(counts)}."
    ]  # probabilities are not counted here: they are not corrected for the number of pairs


def _first_of(ranks: pd.Series) -> list[str]:
    """Return all strategies that share the best average rank."""
    return [str(name) for name in ranks.index[ranks - ranks.min() <= _RANK_NOISE]]


def _led_by(best: Sequence[str], n: int, what: str, frame: pd.DataFrame) -> str:
    """Return the words for the best of ``n`` strategies, with the interval if they share one.

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
