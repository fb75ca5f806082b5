"""A decision in words that need no statistics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlaut.analysis.common.display import number
from mlaut.analysis.common.numerics import RELATIVE_NOISE
from mlaut.analysis.common.tests import TESTS
from mlaut.analysis.deciding.verdict_table import Check, VerdictTable
from mlaut.analysis.deciding.verdicts import (
    BETTER,
    EQUAL,
    OPEN,
    UNCLEAR,
    UNDECIDED,
    UNLIKELY,
    WORSE,
)

_QUESTIONS = {"best": "which strategy is the best", "all pairs": "which strategies differ"}
_MOST_NAMED = 6  # names in a sentence; the table has all
MOST_CHOSEN = 4  # strategies of which one is advised; of more, none is
_MOST_WORSE = 4  # names of those that are clearly worse, which matter least
_MOST_OTHER = 2  # other answers in a sentence; a table has all
_SAY_SO = "say so with clusters=, since the claims take them as independent"
_MOST_HIDDEN = 3  # strategies of which a sentence says how they do where they ran
_WORTH = 0.2  # probability from which a forecast is said
_OFTEN = 0.1  # share of the datasets from which a sentence names the failures of a strategy
QUICKER = 0.5  # share of the leader's time below which a strategy counts as quicker: times vary
_SHARES = {
    1 / 2: "half",
    1 / 3: "a third",
    1 / 4: "a quarter",
    1 / 5: "a fifth",
    1 / 10: "a tenth",
    1 / 20: "a twentieth",
    1 / 50: "a fiftieth",
    1 / 100: "a hundredth",
    1 / 1000: "a thousandth",
}


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
    """Return the answer to the question in one sentence."""
    k = len(found.frame)
    on = f"on these {datasets(found)}"
    if not found.decided and found.n_sources:
        return (
            f"Too few sources to decide: the {found.n} datasets come from {found.n_sources}, and "
            f"at least {found.least} are needed: flips of fewer cannot show anything."
        )
    if not found.decided:
        return (
            f"Too few datasets to decide: there are {found.n}, and at least {found.least} are "
            f"needed for {k} strategies."
        )
    if found.chosen.analysis.question.startswith("control"):
        return _against(found, on)
    if not found.leader:
        return (
            f"No strategy is the best {on}: each of the {k} is shown to be worse than another, so "
            "they have no order."
        )
    return _best(found, k, on) + _pairs(found)


def _best(found: VerdictTable, k: int, on: str) -> str:
    leader, equal, others = found.leader, found.named(EQUAL), found.named(OPEN)
    unlikely, unclear, worse = map(found.named, (UNLIKELY, UNCLEAR[WORSE], WORSE))
    size = f", by {sizes(found, worse)}" if sizes(found, worse) else ""
    if len(worse) == k - 1:
        if k == 2:
            return f"{leader} is better than {worse[0]} {on}{size}."
        return f"{leader} is the best of {k} strategies {on}: the others are clearly worse{size}."
    start = _first(found, k, on)
    if len(others) == k - 1:
        return f"{start}, but no strategy is shown to be worse than another."
    parts = []
    if equal:
        rope = f"within {number(found.chosen.analysis.rope)} of {found.metric}"
        parts.append(f"{listed(equal)} {be(equal)} practically equal ({rope})")
    near = described(found, [name for name in others if name not in copies_of(found, leader)])
    if near:
        parts.append(f"{listed(near)} {be(near)} not shown to be worse")
    if unlikely:
        far, either = described(found, unlikely), " either" if near else ""
        but = f"unlikely to be the best, but not shown to be worse{either}"
        parts.append(f"{listed(far)} {be(far)} {but}")
    if unclear:
        parts.append(f"{listed(unclear)} {be(unclear)} worse {_but_not_clearly(found)}")
    if worse:
        rest = f"the other {len(worse)}" if len(worse) > _MOST_WORSE else listed(worse)
        parts.append(f"{rest} {be(worse)} clearly worse{size}")
    return f"{start}. {'; '.join(parts)}."


def _first(found: VerdictTable, k: int, on: str) -> str:
    """Return who has the best average rank; the leader need not be it, or may share it."""
    ranks, leader = found.frame["average rank"], found.leader
    equal = np.isclose(ranks, ranks[leader], rtol=RELATIVE_NOISE, atol=0.0)
    if (ranks[~equal] < ranks[leader]).any():
        return f"{leader} has the best average rank of those that no other is shown to beat {on}"
    tied = [leader, *(name for name in ranks.index[equal] if name != leader)]
    verb = "has" if len(tied) == 1 else "share"
    return f"{listed(tied)} {verb} the best average rank of {k} strategies {on}"


def sizes(found: VerdictTable, names: Sequence[str]) -> str:
    """Return how far strategies are from the leader; empty where it is not known."""
    frame = found.frame.loc[list(names)]
    frame = frame[frame["failures"] == 0]
    size = "ratio" if "ratio" in frame else "difference"
    values = frame.get(size, frame["won"] * np.nan).abs().dropna()
    if values.empty:
        return ""
    low, high = values.min(), values.max()
    if "ratio" in frame:
        ends = dict.fromkeys(number(value, 2) for value in (low, high))
        return f"{' to '.join(ends)} times the {found.metric} of {found.leader}"
    return in_points(found, low, high)


def in_points(found: VerdictTable, *values: float) -> str:
    """Return sizes of a difference of the metric, or the range from one to another."""
    points = found.scorer.bounds == (0, 1)
    ends = dict.fromkeys(number(100 * value if points else value, 2) for value in values)
    return f"{' to '.join(ends)} {'points ' if points else ''}of {found.metric}"


def described(found: VerdictTable, names: Sequence[str]) -> list[str]:
    """Return names with their copies, and with failures that are a reason against a strategy.

    A copy of a name before it is not named again. Tests see a failure as a result just above the
    worst, so a strategy that often fails may be "not shown to be worse", and must not look as good
    as one with results.
    """
    failures, texts = found.frame["failures"], dict[str, str]()
    for name in names:
        same = [one for one in copies_of(found, name) if one != name]
        if not texts.keys() & same:
            texts[name] = name + (f" (= {listed(same)})" if same else "")
            if failures[name] >= _OFTEN * found.n:
                texts[name] += f" (which failed on {failures[name]} of {found.n} datasets)"
    return list(texts.values())


def copies_of(found: VerdictTable, name: str) -> tuple[str, ...]:
    """Return the strategies with the same scores as one, itself among them."""
    return next((group for group in found.copies if name in group), (name,))


def _against(found: VerdictTable, on: str) -> str:
    verdicts = (BETTER, UNCLEAR[BETTER], WORSE, UNCLEAR[WORSE], EQUAL, UNDECIDED)
    named = {verdict: found.named(verdict) for verdict in verdicts}
    parts = [
        f"{listed(names)} {be(names)} {word}"
        + (f" {_but_not_clearly(found)}" if word in UNCLEAR.values() else "")
        for word, names in named.items()
        if names
    ]
    return f"Compared with {found.leader} {on}: {'; '.join(parts)}."


def _but_not_clearly(found: VerdictTable) -> str:
    return f"by {TESTS[found.chosen.analysis.test].words}, but not clearly"


def _pairs(found: VerdictTable) -> str:
    if found.chosen.analysis.question != "all pairs":
        return ""
    return f" {found.n_shown} of {found.n_pairs} pairs are shown to differ."


def datasets(found: VerdictTable) -> str:
    """Return the number of datasets, and of the sources from which they come."""
    return f"{found.n} datasets" + (f" of {found.n_sources} sources" if found.n_sources else "")


def unit(found: VerdictTable, n: int = 2) -> str:
    """Return the unit of the claims, which is counted."""
    return ("source" if found.n_sources else "dataset") + "s" * (n != 1)


def be(names: Sequence[str]) -> str:
    """Return the verb of a sentence about these strategies."""
    return "is" if len(names) == 1 else "are"


def chance(found: VerdictTable) -> str:
    """Return the probability of being the best; empty where nothing is decided."""
    if not found.leader or found.chosen.analysis.question.startswith("control"):
        return ""
    shares, leader = found.frame["P(best)"], found.leader
    p = {name: float(shares[[*copies_of(found, name)]].sum()) for name in shares.index}
    others = [name for name in p if name not in copies_of(found, leader)]
    likely = max(others, key=p.__getitem__, default="")
    second = f", {likely} with {probability(p[likely])}" if len(others) > 1 else ""
    top = len(described(found, found.best))
    guess = f" (a guess among the {top} that may be it: {1 / top:.2f})" if top > 1 else ""
    return (
        f"Over all {unit(found)} of this kind, {leader} has the best average rank with "
        f"probability {probability(p[leader])}{second}{guess}."
    )


def without_failures(found: VerdictTable) -> list[str]:
    """Return how strategies that may be the best, but failed, do where they ran.

    Those are named that failed often, or that are better than the leader where both ran.
    """
    if found.chosen.analysis.question.startswith("control"):
        return []
    frame = found.frame
    hidden = [
        name
        for name in found.named(OPEN)
        if frame["failures"][name] >= _OFTEN * found.n
        or (frame["failures"][name] > 0 and frame["won"][name] > frame["lost"][name])
    ]
    return [
        f"Where both have a result, {name} is better than {found.leader} on "
        f"{frame['won'][name]:.0f} datasets and worse on {frame['lost'][name]:.0f}; it failed on "
        f"{frame['failures'][name]}."
        for name in hidden[:_MOST_HIDDEN]
    ]


def probability(p: float) -> str:
    """Return a probability with two decimals, which is as exact as it is known.

    Examples
    --------
    >>> probability(0.873), probability(0.0007), probability(0.9999)
    ('0.87', 'below 0.01', 'above 0.99')
    """
    return "below 0.01" if p < 0.01 else "above 0.99" if p > 0.99 else f"{p:.2f}"


def cost(found: VerdictTable) -> list[str]:
    """Return what choosing costs, and what the nearest quicker strategy loses and saves."""
    if not found.leader or found.chosen.analysis.question.startswith("control"):
        return []
    shares, bounds = found.time_shares, found.bounds
    quicker = [name for name in found.frame.index if shares.get(name, np.inf) <= QUICKER][:1]
    likely = found.best if len(found.best) <= MOST_CHOSEN else found.best[:1]
    first = {copies_of(found, name): name for name in (*quicker, *reversed(likely))}
    named = [name for name in reversed(first.values()) if name in bounds]
    sentences = []
    if named and bounds[named[0]] > 0:
        most, *others = (in_points(found, bounds[name]).partition(" ") for name in named)
        text = f"choosing {named[0]} costs at most {''.join(most)} on average"
        rest = [f"{name} {more[0]}" for name, more in zip(named[1:], others, strict=True)]
        sure = probability(1 - found.chosen.analysis.alpha)
        sentences.append(f"With probability {sure}, {', '.join([text, *rest])}.")
    if quicker:
        name = quicker[0]  # the best rank of them
        save = f"takes {share_in_words(shares[name])} of the training time of {found.leader}"
        sentences.append(f"{name} {_loss(found, name)} and {save}.")
    elif shares:
        sentences.append(
            f"No other strategy takes half of the training time of {found.leader} or less."
        )
    return sentences


def _loss(found: VerdictTable, name: str) -> str:
    """Return how much of the metric a strategy loses against the leader, or its average rank."""
    mean, frame = f"mean {found.metric}", found.frame
    if mean not in frame or frame[mean].loc[[name, found.leader]].isna().any():
        ranks = frame["average rank"].map(lambda rank: number(rank, 3))
        return f"has average rank {ranks[name]} in place of {ranks[found.leader]}"
    own, theirs = (float(frame[mean].to_dict()[one]) for one in (name, found.leader))
    change = own - theirs
    if not change:
        return f"has the same mean {found.metric}"
    better = (change > 0) == found.scorer.greater_is_better
    return f"{'gains' if better else 'loses'} {in_points(found, abs(change))}"


def share_in_words(share: float) -> str:
    """Return the nearest simple fraction.

    Examples
    --------
    >>> share_in_words(0.23), share_in_words(0.0)
    ('about a quarter', 'less than a thousandth')
    """
    nearest = min(_SHARES, key=lambda one: abs(np.log(one / max(share, 1e-9))))
    return f"about {_SHARES[nearest]}" if share > min(_SHARES) / 2 else "less than a thousandth"


def agreement(found: VerdictTable) -> str:
    """Return in how many ways of asking the answer is the same, and what others would answer."""
    if not found.checks:
        return ""
    n, other = len(found.checks) + 1, [check for check in found.checks if not check.same]
    same = n - len(other)
    text = f"Asked in {n} ways, the answer is the same in {same if other else 'all'}"
    text = text if same > 1 else f"Asked in {n} ways, only this one gives this answer"
    if not found.chosen.analysis.question.startswith("control") and other:
        leads = 1 + sum(check.leads for check in found.checks)
        text += f", and {found.leader} is among the best in {'all' if leads == n else leads}"
    answers = [f"by {check.how}, {differs(check)}" for check in other[:_MOST_OTHER]]
    more = len(other) - len(answers)
    answers += [f"{more} more answer{'s differ' if more > 1 else ' differs'}"] if more else []
    return f"{text}." + (f" B{'; '.join(answers)[1:]}." if answers else "")


def smallest_change(found: VerdictTable) -> str:
    """Return without which few datasets or sources another strategy has the best average rank."""
    if not found.without:
        return ""
    few, n = len(found.without), found.n_sources or found.n
    named = f" ({listed(found.without)})" if few <= _MOST_NAMED else ""
    return f"Without {few} of {n} {unit(found)}{named}, {found.then} has the best average rank."


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
    seen: str = "have the same scores by every strategy: if they are one table",
) -> str:
    """Return a hint on datasets that are, or look like, copies of one table; empty without any.

    Examples
    --------
    >>> same_rows([["wine", "wine2"]], "are the same table")
    'wine and wine2 are the same table, say so with clusters=, since the claims take them as \
independent.'
    """
    named = "; ".join(map(listed, groups[:_MOST_OTHER]))
    return f"{named} {seen}, {_SAY_SO}." if groups else ""


def prospects(found: VerdictTable) -> str:
    """Return what more datasets would probably tell, and whether folds help more."""
    if not found.decided:
        more = found.least - (found.n_sources or found.n)
        units = unit(found, more)
        return f"With {more} more {units} a difference can be shown, if all agree on it."
    seen = found.outlook
    if seen is None:
        return ""
    n, pair, sentences = found.n_sources or found.n, f"{found.leader} and {seen.rival}", []
    if seen.chance >= _WORTH:
        sentences.append(
            f"With {n} more {unit(found)} like these, {pair} are told apart with probability "
            f"{probability(seen.chance)}."
        )
    if not np.isnan(seen.folds):
        share = f"{100 * seen.folds:.0f} %"
        help_more = "folds or repeats" if seen.folds > 1 / 2 else unit(found)
        sentences.append(
            f"Folds make {share} of the variance over datasets of the difference between {pair}: "
            f"more {help_more} would help most."
        )
    return " ".join(sentences)


def differs(check: Check) -> str:
    """Return how the answer of a check differs."""
    also, without = "may be the best too", f"{be(check.without)} shown to be worse"
    if check.control:
        also = f"{be(check.also)} shown to differ too"
        without = f"{be(check.without)} not shown to differ"
    parts = ((check.also, also), (check.without, without))
    texts = [f"{listed(names)} {verb}" for names, verb in parts if names]
    return ", and ".join(texts) or "the same"


def terms(found: VerdictTable) -> str:
    """Return the question, the test and when they were chosen."""
    analysis = found.chosen.analysis
    question = _QUESTIONS.get(analysis.question, f"compared with {found.leader}")
    level = number(analysis.alpha)
    sure = (
        f"of all claims at most {level} are expected to be false"
        if TESTS[analysis.test].bayesian
        else f"level {level} for all claims together"
    )
    rope = f", practically equal within {number(analysis.rope)}" if analysis.rope else ""
    since = ", and changed since" if found.chosen.changes else ""
    flipped = " by flips of whole sources" if found.n_sources and analysis.test != "t" else ""
    return (
        f"The analysis was {found.chosen.when}{since}: {question}, by {found.metric}, with "
        f"{TESTS[analysis.test].words}{flipped}, {sure}{rope}; cells without a result: "
        f"{analysis.missing}; at least {found.least} {unit(found)}."
    )


def notes(found: VerdictTable) -> tuple[str, ...]:
    """Return how to read the table of a decision."""
    if not found.decided:
        return ("with so few datasets the order of the rows is that of these datasets only",)
    bayesian = (
        "the claims rest on probabilities, which do not bound the chance of a claim where no "
        "strategies differ (docs/measured-levels.md)"
    )
    against = ("won", "lost", "ratio", "difference")
    sizes = ", ".join(name for name in against if name in found.frame)
    return (
        f"{sizes}: against {found.leader}, on datasets on which both have a result",
        "ranks: as often as no claim is false, all true ranks are within"
        if "ranks" in found.frame
        else "groups: strategies that share a letter are not shown to differ",
        "P(best): probability of the best average rank over all datasets of this kind; "
        f"{number(1 / len(found.frame), 2)} each if all were equal",
        *((bayesian,) if TESTS[found.chosen.analysis.test].bayesian else ()),
    )
