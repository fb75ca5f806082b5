"""A decision in words that need no statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mlaut.analysis.common.display import number
from mlaut.analysis.common.numerics import RELATIVE_NOISE
from mlaut.analysis.deciding.verdicts import BETTER, EQUAL, OPEN, UNDECIDED, WORSE
from mlaut.records import NOT_PLANNED, Status

if TYPE_CHECKING:
    from mlaut.analysis.deciding.decision import Decision
    from mlaut.analysis.scores.base import MLautScore

__all__ = [
    "FAR",
    "NOT_RUN",
    "QUICKER",
    "TEST_NAMES",
    "agreement",
    "answer",
    "be",
    "chance",
    "cost",
    "datasets_in_all",
    "listed",
    "near_and_far",
    "notes",
    "probability",
    "prospects",
    "rough",
    "share_in_words",
    "terms",
    "with_failures",
    "without_failures",
]

NOT_RUN = (Status.MISSING.word, Status.RACED_OUT.word, NOT_PLANNED)
TEST_NAMES = {
    "signed rank": "the signed rank test",
    "sign": "the sign test",
    "trinomial": "the trinomial test",
    "t": "the paired t-test",
    "Nemenyi": "Nemenyi's test",
    "Bayesian sign": "the Bayesian sign test",
    "Bayesian signed rank": "the Bayesian signed rank test",
}

_QUESTIONS = {"best": "which strategy is the best", "all pairs": "which strategies differ"}
_MOST_NAMED = 6  # names in a sentence; the table has all
_MOST_WORSE = 4  # names of those that are clearly worse, which matter least
_MOST_OTHER = 2  # other answers in a sentence; a table has all
_MOST_FORESEEN = 3  # strategies in the sentence on more datasets
FAR = 1000  # datasets; a larger forecast is hardly more than a guess
_OFTEN = 0.1  # share of the datasets from which a sentence names the failures of a strategy
_UNLIKELY = 0.05  # P(best) below which a strategy is hardly the best, even if no test shows it
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


def answer(found: Decision) -> str:
    """Return the answer to the question in one sentence."""
    k = len(found.frame)
    on = f"on these {found.n} datasets"
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


def _best(found: Decision, k: int, on: str) -> str:
    leader, equal, others = found.leader, found.named(EQUAL), found.named(OPEN)
    worse = found.named(WORSE)
    if not equal and not others:
        if k == 2:
            return f"{leader} is better than {worse[0]} {on}."
        return f"{leader} is the best of {k} strategies {on}: the others are clearly worse."
    start = _first(found, k, on)
    if not worse and not equal:
        return f"{start}, but no strategy is shown to be worse than another."
    parts = []
    if equal:
        rope = f"within {number(found.chosen.analysis.rope)} of {found.metric}"
        parts.append(f"{listed(equal)} {be(equal)} practically equal ({rope})")
    near, far = near_and_far(found)
    if near:
        parts.append(f"{listed(with_failures(found, near))} {be(near)} not shown to be worse")
    if far:
        named, either = listed(with_failures(found, far)), " either" if near else ""
        but = f"unlikely to be the best, but not shown to be worse{either}"
        parts.append(f"{named} {be(far)} {but}")
    if worse:
        rest = f"the other {len(worse)}" if len(worse) > _MOST_WORSE else listed(worse)
        parts.append(f"{rest} {be(worse)} clearly worse")
    return f"{start}. {'; '.join(parts)}."


def _first(found: Decision, k: int, on: str) -> str:
    """Return who has the best average rank; the leader need not be it, or may share it."""
    ranks, leader = found.frame["average rank"], found.leader
    equal = np.isclose(ranks, ranks[leader], rtol=RELATIVE_NOISE, atol=0.0)
    if (ranks[~equal] < ranks[leader]).any():
        return f"{leader} has the best average rank of those that no other is shown to beat {on}"
    tied = [leader, *(name for name in ranks.index[equal] if name != leader)]
    verb = "has" if len(tied) == 1 else "share"
    return f"{listed(tied)} {verb} the best average rank of {k} strategies {on}"


def near_and_far(found: Decision) -> tuple[list[str], list[str]]:
    """Return the strategies that may be the best, and those that hardly are; none is beaten."""
    likely = found.frame["P(best)"] >= _UNLIKELY
    others = found.named(OPEN)
    return [name for name in others if likely[name]], [name for name in others if not likely[name]]


def with_failures(found: Decision, names: Sequence[str]) -> list[str]:
    """Return names, with their failures where these are a reason against a strategy by themselves.

    Tests see a failure as a result just above the worst, so a strategy that often fails may be "not
    shown to be worse", and must not look as good as one with results.
    """
    failures = found.frame["failures"]
    return [
        f"{name} (which failed on {failures[name]} of {found.n} datasets)"
        if failures[name] >= _OFTEN * found.n
        else name
        for name in names
    ]


def _against(found: Decision, on: str) -> str:
    named = {verdict: found.named(verdict) for verdict in (BETTER, WORSE, EQUAL, UNDECIDED)}
    parts = [f"{listed(names)} {be(names)} {word}" for word, names in named.items() if names]
    return f"Compared with {found.leader} {on}: {'; '.join(parts)}."


def _pairs(found: Decision) -> str:
    if found.chosen.analysis.question != "all pairs":
        return ""
    return f" {found.n_shown} of {found.n_pairs} pairs are shown to differ."


def be(names: Sequence[str]) -> str:
    """Return the verb of a sentence about these strategies."""
    return "is" if len(names) == 1 else "are"


def chance(found: Decision) -> str:
    """Return the probability of being the best; empty where nothing is decided."""
    if not found.leader or found.chosen.analysis.question.startswith("control"):
        return ""
    p = found.frame["P(best)"].sort_values(ascending=False, kind="stable")
    p = p[[found.leader, *(name for name in p.index if name != found.leader)]]
    second = f", {p.index[1]} with {probability(p.iloc[1])}" if len(p) > 2 else ""
    return (
        f"Over all datasets of this kind, {found.leader} has the best average rank with "
        f"probability {probability(p.iloc[0])}{second}."
    )


def without_failures(found: Decision) -> list[str]:
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
        for name in hidden[:_MOST_FORESEEN]
    ]


def probability(p: float) -> str:
    """Return a probability with two decimals, which is as exact as it is known.

    Examples
    --------
    >>> probability(0.873), probability(0.0007), probability(0.9999)
    ('0.87', 'below 0.01', 'above 0.99')
    """
    return "below 0.01" if p < 0.01 else "above 0.99" if p > 0.99 else f"{p:.2f}"


def cost(found: Decision, metric: MLautScore) -> str:
    """Return what the nearest quicker strategy loses and saves; empty if no times are known."""
    if not found.time_shares or found.chosen.analysis.question.startswith("control"):
        return ""
    shares = found.time_shares
    quicker = [name for name in found.frame.index if shares.get(name, np.inf) <= QUICKER]
    if not quicker:
        return f"No other strategy takes half of the training time of {found.leader} or less."
    name = quicker[0]  # the best rank of them
    save = f"takes {share_in_words(shares[name])} of the training time of {found.leader}"
    return f"{name} {_loss(found, name, metric)} and {save}."


def _loss(found: Decision, name: str, metric: MLautScore) -> str:
    """Return how much of the metric a strategy loses against the leader, or its average rank."""
    mean, frame = f"mean {found.metric}", found.frame
    if mean not in frame or frame[mean].loc[[name, found.leader]].isna().any():
        ranks = frame["average rank"].map(lambda rank: number(rank, 3))
        return f"has average rank {ranks[name]} in place of {ranks[found.leader]}"
    own, theirs = (float(frame[mean].to_dict()[one]) for one in (name, found.leader))
    change = own - theirs
    if not change:
        return f"has the same mean {found.metric}"
    better = (change > 0) == metric.greater_is_better
    size, unit = (100 * abs(change), "points ") if metric.bounds == (0, 1) else (abs(change), "")
    return f"{'gains' if better else 'loses'} {number(size, 2)} {unit}of {found.metric}"


def share_in_words(share: float) -> str:
    """Return the nearest simple fraction.

    Examples
    --------
    >>> share_in_words(0.23), share_in_words(0.0)
    ('about a quarter', 'less than a thousandth')
    """
    nearest = min(_SHARES, key=lambda one: abs(np.log(one / max(share, 1e-9))))
    return f"about {_SHARES[nearest]}" if share > min(_SHARES) / 2 else "less than a thousandth"


def agreement(found: Decision) -> str:
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
    answers = [f"by {check.how}, {check.words()}" for check in other[:_MOST_OTHER]]
    more = len(other) - len(answers)
    answers += [f"{more} more answer{'s differ' if more > 1 else ' differs'}"] if more else []
    return f"{text}." + (f" B{'; '.join(answers)[1:]}." if answers else "")


def prospects(found: Decision) -> str:
    """Return how many datasets would decide what is open."""
    if not found.decided:
        more = found.least - found.n
        datasets = f"{more} more dataset{'s' * (more > 1)}"
        return f"With {datasets} a difference can be shown, if all agree on it."
    near = sorted(found.needed.items(), key=lambda item: item[1])[:_MOST_FORESEEN]
    near = [(name, n) for name, n in near if n <= FAR]
    if not found.needed:
        return ""
    if not near:
        return f"Differences as small as those seen would take more than {FAR} datasets to show."
    counts = [f"{datasets_in_all(found, name)} for {name}" for name, _ in near]
    rest = [name for name, n in found.needed.items() if n <= FAR and name not in dict(near)]
    counts += [f"more for {listed(rest, _MOST_FORESEEN)}"] if rest else []
    far = [name for name, n in found.needed.items() if n > FAR]
    counts += [f"more than {FAR} for {listed(far, _MOST_FORESEEN)}"] if far else []
    return (
        f"If more datasets are like these, a difference from {found.leader} is shown with about so "
        f"many datasets in all: {listed(counts)}. It takes the differences seen for the true ones, "
        "so the numbers are rough."
    )


def datasets_in_all(found: Decision, name: str) -> int:
    """Return the rough number of datasets that a difference needs, and more than there are."""
    return max(rough(found.needed[name]), found.n + 1)


def rough(value: float) -> int:
    """Return a number with two significant digits: more would feign exactness.

    Examples
    --------
    >>> rough(7.4), rough(182)
    (7, 180)
    """
    return int(float(f"{value:.2g}"))


def terms(found: Decision) -> str:
    """Return the question, the test and when they were chosen."""
    analysis = found.chosen.analysis
    question = _QUESTIONS.get(analysis.question, f"compared with {found.leader}")
    level = number(analysis.alpha)
    sure = (
        f"of all claims at most {level} are expected to be false"
        if analysis.test.startswith("Bayesian")
        else f"level {level} for all claims together"
    )
    rope = f", practically equal within {number(analysis.rope)}" if analysis.rope else ""
    return (
        f"The analysis was {found.chosen.when}: {question}, by {found.metric}, with "
        f"{TEST_NAMES[analysis.test]}, {sure}{rope}; cells without a result: {analysis.missing}; "
        f"at least {found.least} datasets."
    )


def notes(found: Decision) -> tuple[str, ...]:
    """Return how to read the table of a decision."""
    if not found.decided:
        return ("with so few datasets the order of the rows is that of these datasets only",)
    bayesian = (
        "the claims rest on probabilities, which do not bound the chance of a claim where no "
        "strategies differ (docs/measured-levels.md)"
    )
    sizes = "ratio" if "ratio" in found.frame else "difference"
    return (
        f"won, lost, {sizes}: against {found.leader}, on datasets on which both have a result",
        "groups: strategies that share a letter are not shown to differ",
        "P(best): probability of the best average rank over all datasets of this kind",
        *((bayesian,) if found.chosen.analysis.test.startswith("Bayesian") else ()),
    )
