"""A decision in words that need no statistics: names, sizes, and the answer."""

from collections.abc import Sequence

import numpy as np

from mlaut.analysis.common.display import number
from mlaut.analysis.common.tests import TESTS
from mlaut.analysis.deciding.verdict_table import MOST_CHOSEN, NOTICED, OFTEN, VerdictTable
from mlaut.analysis.deciding.verdicts import (
    AVOID,
    EQUAL,
    LIKELY,
    OPEN,
    UNDECIDED,
    USE,
    VERDICTS,
    YARDSTICK,
)

_QUESTIONS = {"best": "which strategy is the best", "all pairs": "which strategies differ"}
_MOST_NAMED = 12  # names in a sentence; the table has all
_FAR = 100.0  # times the median size, from which the largest is that of a failure somewhere
_SAY_SO = "say so with clusters=, since the claims take them as independent"
_MOST_GROUPS = 2  # groups of datasets in a hint
_QUICKER = 0.5  # share of the time below which one strategy counts as quicker: times vary
_FIRST = 3  # names of those that may be the best, where there is no single choice
_NOT_YET = "Do not choose by these results"


def listed(names: Sequence[str], most: int = _MOST_NAMED) -> str:
    """Return names as a part of a sentence.

    Examples
    --------
    >>> listed(["A", "B", "C"]), listed(["A", "B", "C"], most=2)
    ('A, B and C', 'A, B and 1 more')
    """
    more = len(names) - most
    shown = [*names[:most], f"{more} more"] if more > 0 else list(names)
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def answer(found: VerdictTable) -> str:
    """Return the verdicts in one sentence: what to use, what may be best, what to avoid.

    It says no more than is known, so that a poor strategy or a copy of one changes nothing. Where
    other analyses contradict it, it begins with "If you must choose now".
    """
    if not found.decided:
        n, what = (found.n_sources or found.n), unit(found, found.n_sources or found.n)
        have = f"there are {n} {what}" if n > 1 else f"there is {n} {what}"
        return (
            f"{_NOT_YET}: {have}, and at least {found.least} are needed for "
            f"{len(found.frame)} strategies. If you must choose now, choose by cost or speed."
        )
    if not found.leader:
        return f"{_NOT_YET}: each strategy is shown to be worse than another."
    parts = [_choice(found)]
    if equal := found.named(EQUAL):
        rope = f"within {number(found.chosen.analysis.rope)} of {found.metric}"
        same = listed(_described(found, equal), MOST_CHOSEN)
        parts.append(f"{same} {be(equal)} practically as good ({rope})")
    if (near := _described(found, found.named(OPEN))) and found.named(USE):
        parts.append(f"{listed(near)} {OPEN}")
    for verdict in (UNDECIDED, LIKELY):
        if names := found.named(verdict):
            few = listed(names) if len(names) <= MOST_CHOSEN else str(len(names))
            parts.append(f"{few} {be(names)} {verdict}")
    if worse := found.named(AVOID):
        size = "".join(f" ({size})" for size in [sizes(found, worse)] if size)
        few = listed(worse) if len(worse) <= MOST_CHOSEN else f"the other {len(worse)}"
        parts.append(f"avoid {few}{size}")
    pairs = f"{found.n_shown} of {found.n_pairs} pairs are shown to differ."
    all_pairs = found.chosen.analysis.question == "all pairs"
    return f"{'; '.join(parts)}." + (f" {pairs}" if all_pairs else "")


def _choice(found: VerdictTable) -> str:
    """Return the start of the answer: which strategy to use, or that there is no single choice."""
    use, where = _described(found, found.named(USE)), "On datasets like these"
    if found.control:
        if not use:
            none = "no other strategy is shown to be clearly better"
            return f"Nothing here speaks against {found.leader}: {none}"
        one = "one of " if len(use) > 1 else ""
        use = [f"{one}{listed(use, MOST_CHOSEN)} in place of {found.leader}"]
    if not use:
        of = len(found.frame) - len(found.named(YARDSTICK))
        some = f"{len(found.best)} of {of}" if len(found.best) < of else f"All {of}"
        best = f"first by rank: {listed(found.best[:_FIRST])}"
        return f"{some} strategies {OPEN}: take any of them, by cost or speed ({best})"
    return f"{where if found.firm else 'If you must choose now'}, use {listed(use)}"


def sizes(found: VerdictTable, names: Sequence[str]) -> str:
    """Return how far strategies are from the leader; empty where it is not known."""
    frame = found.frame.loc[list(names)]
    frame = frame[frame["failures"] < OFTEN * found.n]
    size = "ratio" if "ratio" in frame else "difference"
    values = frame.get(size, frame["failures"] * np.nan).abs().dropna()
    if values.empty:
        return ""
    low, high = values.min(), values.max()
    ends = f"at least {_range(low)}" if high > _FAR * values.median() else _range(low, high)
    if "ratio" in frame:
        return f"{ends} times the {found.metric} of {found.leader}"
    side = "below" if found.scorer.greater_is_better else "above"
    return f"{found.metric} {ends} {side} {found.leader}"


def _range(*values: float) -> str:
    """Return numbers with two significant digits as a range.

    Examples
    --------
    >>> _range(0.0734, 581.0), _range(2.04, 2.01)
    ('0.073 to 580', '2')
    """
    return " to ".join(dict.fromkeys(f"{float(f'{value:.2g}'):.10g}" for value in values))


def _described(found: VerdictTable, names: Sequence[str]) -> list[str]:
    """Return names with their copies, and with failures that are a reason against a strategy.

    A copy of a name before it is not named again. Tests see a failure as a result just above the
    worst, so a strategy that often fails must not look as good as one with results.
    """
    failures, texts = found.frame["failures"], dict[str, str]()
    for name in names:
        same = [one for one in found.copies_of(name) if one != name]
        if not texts.keys() & same:
            texts[name] = name + (f" (= {listed(same)})" if same else "")
            if failures[name] >= OFTEN * found.n:
                texts[name] += f" (which failed on {failures[name]} of {found.n} datasets)"
    return list(texts.values())


def datasets(found: VerdictTable) -> str:
    """Return the number of datasets, and of the sources from which they come."""
    return f"{found.n} datasets" + (f" of {found.n_sources} sources" if found.n_sources else "")


def unit(found: VerdictTable, n: int = 2) -> str:
    """Return the unit of the claims, which is counted."""
    return ("source" if found.n_sources else "dataset") + "s" * (n != 1)


def be(names: Sequence[str]) -> str:
    """Return the verb of a sentence about these strategies."""
    return "is" if len(names) == 1 else "are"


def yardstick(found: VerdictTable) -> str:
    """Return how far the best baseline is from the leader; empty where none is clearly worse."""
    names = () if found.control else found.named(YARDSTICK)[:1]
    size = sizes(found, names)
    return size and f"{names[0]} is for reference only, not a candidate ({size})."


def trade_off(found: VerdictTable) -> str:
    """Return what the alternative that one would consider loses, and how its time compares.

    It is the first that is much quicker, of those that are not to be avoided; or else the first
    that may be as good and is much slower. Empty where both times are too short to notice.
    """
    if found.control or not found.leader or "training seconds" not in found.frame:
        return ""
    seconds, shares = found.frame["training seconds"], found.time_shares
    others = [name for word in (EQUAL, OPEN, UNDECIDED) for name in found.named(word)]
    known = [name for name in others if name in shares and name != found.leader]
    quicker = [name for name in known if shares[name] <= _QUICKER]
    slower = [n for n in known if shares[n] >= 1 / _QUICKER and n not in found.named(UNDECIDED)]
    for name in (quicker or slower)[:1]:
        if max(seconds[name], seconds[found.leader]) < NOTICED:
            return ""
        share = shares[name]
        times = f"{_range(share)} times as long"
        how = times if share > 1 else f"{_range(100 * share)} % of the time"
        own, theirs = (f"{seconds[one]:.2g} s" for one in (name, found.leader))
        took = f"takes {how} to train ({own} in place of {theirs} a fit, tuning included)"
        return f"Trade-off: {name} {_loss(found, name)} and {took}."
    return ""


def _loss(found: VerdictTable, name: str) -> str:
    """Return how much of the metric a strategy loses against the leader, or its average rank."""
    frame = found.frame
    if "ratio" in frame and not np.isnan(frame["ratio"][name]):
        return f"has {sizes(found, [name]) or _range(frame['ratio'][name])}"
    change = frame["difference"][name] if "difference" in frame else np.nan
    if np.isnan(change):
        ranks = frame["average rank"].map(lambda rank: number(rank, 3))
        return f"has average rank {ranks[name]} in place of {ranks[found.leader]}"
    if not change:
        return f"has the same mean {found.metric}"
    better = (change > 0) == found.scorer.greater_is_better
    return f"is {_range(abs(change))} {'better' if better else 'worse'} in {found.metric}"


def related(names: Sequence[str]) -> str:
    """Return a hint if names of datasets look as if several came from one source.

    Examples
    --------
    >>> related(["solar/H", "solar/D", "solar/W", "m4/D", "m4/W", "m4/Y"])
    "By their names the 6 datasets look like 2 sources (before '/'): if those of one source are \
related, say so with clusters=, since the claims take them as independent."
    """
    for mark in "/_":
        sources = {name.partition(mark)[0] for name in names}
        marked = sum(mark in name for name in names)
        if marked * 2 > len(names) and 1 < len(sources) <= len(names) / 2:
            return (
                f"By their names the {len(names)} datasets look like {len(sources)} sources "
                f"(before {mark!r}): if those of one source are related, {_SAY_SO}."
            )
    return ""


def same_rows(
    groups: Sequence[Sequence[str]],
    seen: str = "have the same scores by every strategy: if they are one table,",
) -> str:
    """Return a hint on datasets that are, or look like, copies of one table; empty without any.

    Examples
    --------
    >>> same_rows([["wine", "wine2"]], "are the same table:")
    'wine and wine2 are the same table: say so with clusters=, since the claims take them as \
independent.'
    """
    named = "; ".join(map(listed, groups[:_MOST_GROUPS]))
    return f"{named} {seen} {_SAY_SO}." if groups else ""


# ---------------------------------------------------------------------- below the first screen


def probability(p: float) -> str:
    """Return a probability with two decimals, which is as exact as it is known.

    Examples
    --------
    >>> probability(0.873), probability(0.0007), probability(0.9999)
    ('0.87', 'below 0.01', 'above 0.99')
    """
    return "below 0.01" if p < 0.01 else "above 0.99" if p > 0.99 else f"{p:.2f}"


def cost(found: VerdictTable) -> str:
    """Return how much choosing each of the strategies that may be the best costs at most."""
    likely = [name for name in found.best[:MOST_CHOSEN] if found.bounds.get(name, 0) > 0]
    if not likely:
        return ""
    texts = [f"{name} {_range(found.bounds[name])} of {found.metric}" for name in likely]
    sure = probability(1 - found.chosen.analysis.alpha)
    return f"Choosing costs at most, on average and with probability {sure}: {', '.join(texts)}."


def terms(found: VerdictTable) -> str:
    """Return the question and the test."""
    analysis = found.chosen.analysis
    question = _QUESTIONS.get(analysis.question, f"compared with {found.leader}")
    level = number(analysis.alpha)
    sure = (
        f"of all claims at most {level} are expected to be false"
        if TESTS[analysis.test].bayesian
        else f"level {level} for all claims together"
    )
    rope = f", practically equal within {number(analysis.rope)}" if analysis.rope else ""
    flipped = " by flips of whole sources" if found.n_sources and analysis.test != "t" else ""
    return (
        f"The question is {question}, by {found.metric}, with {TESTS[analysis.test].words}"
        f"{flipped}, {sure}{rope}; cells without a result: {analysis.missing}; at least "
        f"{found.least} {unit(found)}."
    )


def reading(found: VerdictTable) -> str:
    """Return how to read the table of a decision: its verdicts, its order, its numbers."""
    meanings, metric = dict(VERDICTS), found.metric
    if not found.decided:
        meanings[UNDECIDED] = "too few datasets to tell"
    elif found.control:
        meanings[UNDECIDED] = "not clearly shown to differ from the control"
    words = [word for word in VERDICTS if word != USE and found.named(word)]
    texts = [f"{word.capitalize()}: {meanings[word]}." for word in words]
    texts.append("Rank: the average place on the datasets; 1 is best.")
    texts += [f"{metric} is an error: lower is better."] * (not found.scorer.greater_is_better)
    if "won" in found.frame:
        size = next((f" and {name}" for name in ("difference", "ratio") if name in found.frame), "")
        average = size and " (an average)"
        texts.append(f"Win/tie/loss{size}{average}: of this row against {found.leader}.")
        known = f"Win/tie/loss{size} count only datasets on which both have a result."
        if found.chosen.analysis.missing == "failures last":
            known = f"A failure counts as last place in the rank; win/tie/loss{size} leave it out."
        texts += [known] * (not found.complete)
    texts += ["Seconds to tune and fit once, the mean over datasets."] * found.slow
    return " ".join(texts)


def notes(found: VerdictTable) -> tuple[str, ...]:
    """Return how to read the columns that stand below the first screen."""
    if not found.leader:
        return ()
    bayesian = (
        "the claims rest on probabilities, which do not bound the chance of a claim where no "
        "strategies differ (docs/measured-levels.md)"
    )
    return (
        f"P(best): probability of the best average rank over all {unit(found)} of this kind",
        "ranks: as often as no claim is false, all true ranks are within"
        if "ranks" in found.frame
        else "groups: strategies that share a letter are not shown to differ",
        *((bayesian,) if TESTS[found.chosen.analysis.test].bayesian else ()),
    )
