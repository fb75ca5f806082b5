"""A decision in words that need no statistics: names, sizes, and the answer."""

from collections.abc import Sequence

import numpy as np

from mlaut.analysis.common.display import number
from mlaut.analysis.common.tests import TESTS
from mlaut.analysis.deciding import verdicts as verdict
from mlaut.analysis.deciding.verdict_table import MARK, MOST_CHOSEN, NOTICED, OFTEN, VerdictTable

_QUESTIONS = {"best": "which strategy is the best", "all pairs": "which strategies differ"}
MOST_NAMED = 12  # names in a sentence; the table has all
_FAR = 100.0  # times the median size, from which the largest is that of a failure somewhere
SAY_SO = "say so with clusters, which may change the choice: they count as independent"
_MOST_GROUPS = 2  # groups of datasets in a hint
_QUICKER = 0.5  # share of the time below which one strategy counts as quicker: times vary
MARKED = "this verdict depends on how missing results are treated"
PROVISIONAL = "until the first step of What next? is done, which may change the choice"
LETTERS = "strategies that share a letter are not shown to differ"
NOW = "If you must choose now"
TWO_LINES = 200  # characters of an answer, as far as names allow
# Names, whether costs and whether other sizes are told; the best form first.
_FORMS = (*((n, True, True) for n in (MOST_CHOSEN, 2, 1)), (1, True, False), (1, False, False))


def listed(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """Return names as a part of a sentence.

    Examples
    --------
    >>> listed(["A", "B", "C"]), listed(["A", "B", "C"], most=2)
    ('A, B and C', 'A, B and 1 more')
    """
    more = len(names) - most
    shown = [*names[:most], f"{more} more"] if more > 0 else list(names)
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def said(table: VerdictTable, letters: int = TWO_LINES, others: bool = True) -> list[str]:
    """Return what to do, by one rule: which to use, which may be as good at what cost, and others.

    Which may be best does not change if a poor strategy or a copy of a strategy is added. If the
    leader is in doubt, it begins with "If you must choose now". Fewer names keep it within
    ``letters``. Without ``others`` it leaves to a table what is worse.
    """
    if not table.decided:
        return _too_few(table, letters)
    if not table.leader:
        none = "No choice is safe: each strategy is shown to be worse than another"
        return [none, advice(table)]
    pairs = f"{table.n_shown} of {table.n_pairs} pairs are shown to differ"
    pairs += ", one against one" * bool(table.named(verdict.LIKELY))  # ruled out by all together
    asked = [pairs] * (table.chosen.analysis.question == "all pairs")
    texts = [_best(table, n, x) + _worse(table, n, y) * others + asked for n, x, y in _FORMS]
    return next((text for text in texts if len(". ".join(text)) < letters), texts[-1])


def where(table: VerdictTable) -> str:
    """Return what the answer is about, which is provisional if one should do something before."""
    start = table.where
    return f"Provisional: {start[:1].lower()}{start[1:]}" if table.provisional else start


def some(names: Sequence[str], most: int, rest: str) -> str:
    """Return so many names as a part of a sentence, or the number of more, and what they are."""
    return listed(names) if len(names) <= most else f"{len(names)} {rest}"


def _best(table: VerdictTable, most: int, costs: bool) -> list[str]:
    """Return which to use, and which may be as good at what cost, with so many names."""
    parts, used = [_choice(table, most)], table.named(verdict.USE)
    near = [name for name in table.named(verdict.OPEN) if name not in table.ahead]
    most_cost = max(table.bounds.get(name, 0.0) for name in near) if near and costs else 0.0
    names = _described(table, near if used else [*table.first, *near])
    even = [name for name in near if verdict.is_baseline(name)] if len(names) > most else []
    also = f", even {listed(even)}" * bool(even)
    if near and not used:
        who = some(names, most, "strategies")
        parts.insert(0, f"No clear winner: {who} {verdict.OPEN}{also}")
    if equal := _described(table, table.named(verdict.EQUAL)):
        rope = f"within {number(table.chosen.analysis.rope)} of {table.metric}"
        parts.append(f"Practically as good ({rope}): {listed(equal, most)}")
    if near and used:
        rest, together = table.chance(near), " together" * (len(near) > 1)
        chance = f" (chance {probability(rest)}{together})" * (rest == rest)
        parts.append(
            f"{verdict.OPEN.capitalize()} too{chance}: {some(names, most, 'others')}{also}"
        )
    if most_cost:
        several = ("one of them", "another of these") if len(near) > 1 else ("it", "the other")
        cost = f"costs at most {_range(most_cost)} of mean {table.metric}"
        own = max(table.bounds.get(name, 0.0) for name in table.ahead)
        cost += f", {table.leader} at most {_range(own)}" * (own > most_cost)
        parts.append(f"Choosing {several[not used]} {cost}")
    return parts


def _worse(table: VerdictTable, most: int, sized: bool) -> list[str]:
    """Return which are worse, with so many names, and with sizes or without."""
    doubted = [(word, names) for word in verdict.DOUBTED if (names := table.named(word))]
    parts = [f"{word.capitalize()}: {some(names, most, 'others')}" for word, names in doubted]
    if failing := table.named(verdict.FAILS):
        on = f"{'up to ' * (len(failing) > 1)}{table.frame['failures'][[*failing]].max()}"
        on += f" of {table.n} datasets"
        parts.append(f"Avoid {some(failing, most, 'others')} for failures on {on}")
    if worse := table.named(verdict.AVOID):
        text = f"Avoid {some(worse, most, 'others')}{_how_worse(table, worse) * sized}"
        if table.fragile:
            which = f"of which {len(table.fragile)} " if len(worse) > 1 else "which "
            depend = "depends" if len(table.fragile) == 1 else "depend"
            text += f", {which}{depend} on how missing results are treated ({MARK})"
        parts.append(text)
    return parts


def _too_few(table: VerdictTable, letters: int) -> list[str]:
    """Return who is first where there are too few datasets, and what cannot be concluded."""
    n = table.n_sources or table.n
    few = f"Too few {unit(table)} to be sure ({n}, and at least {table.least} are needed)"
    start, end = f"{few}. {advice(table)}", "Other datasets may have another order"
    if len(table.first) > 1:
        return [start, f"{listed(table.first)} are first together", end]
    name, ahead = table.first[0], _ahead(table)  # `order` tells how far these are ahead
    every = "both" if n == 2 else f"all {n}"
    where = every if table.n_first == n else f"{table.n_first or 'none'} of {n}"
    first = f"It is first {'by average rank, and ' * (table.n_first < n)}on {where} {unit(table)}"
    others = [x for x in map(str, table.frame.index.drop(name)) if x not in ahead]
    rest = f"All others except {listed(ahead, MOST_CHOSEN)}" if ahead else "The others"
    size, alone = sizes(table, others), len(others) == 1 and not ahead
    rest = f"{others[0]} has" if alone else f"{rest} have"
    longer = [start, first, f"{rest} {size} on average", end]
    return longer if size and len(". ".join(longer)) < letters else [start, first, end]


def _ahead(table: VerdictTable) -> list[str]:
    """Return those with a better average than the first, of strategies that may be preferred.

    The best average comes first.
    """
    losses = table.losses[~table.frame["verdict"].isin(verdict.WORSE)]
    return list(map(str, losses[losses < 0].sort_values(kind="stable").index))


def order(table: VerdictTable) -> str:
    """Return what decides the order, where averages suggest another one; else an empty text."""
    if table.control or not (ahead := _ahead(table)):
        return ""
    name = ahead[0]
    counts = table.frame.loc[name, ["won", "tied", "lost", "failures"]].to_numpy(dtype=int)
    won, tied, lost, failed = counts
    how = f"By the average {table.size} {name} would be first ({sizes(table, [name])})"
    if table.last and failed and lost <= won:
        gaps = "its missing result counts" if failed == 1 else f"its {failed} missing results count"
        return f"{how}, but {gaps} as last place"
    but = f", but it is worse on {lost} of {won + tied + lost}" * bool(lost > won)
    return f"{how}{but}: the average rank among all decides, not the size of differences"


def advice(table: VerdictTable) -> str:
    """Return the advice to use what is first by rank, or one of several, if one must."""
    one_of = "one of " * (len(table.first) > 1)
    return f"{NOW}, use {one_of}{listed(table.first, MOST_CHOSEN)}"


def _choice(table: VerdictTable, most: int) -> str:
    """Return the start of the answer: which strategy to use, or to keep."""
    use = _described(table, table.named(verdict.USE) if table.control else table.first)
    if table.control and not use:
        none = "no other strategy is shown to be clearly better"
        return f"{table.where}, keep {table.leader}: {none}"
    one = "one of " * (len(use) > 1)
    when = where(table) if table.named(verdict.USE) and not table.doubt else NOW
    start = f"{when}, use {one}{listed(use, most)}"
    if table.control:
        return f"{start} in place of {table.leader}"
    chance = table.chance(table.ahead)
    unsure = {*table.best} != {*table.ahead} and chance == chance
    told = ["first together"] * (len(use) > 1)
    told += [f"chance to be the best {probability(chance)}"] * unsure
    return start + f" ({', '.join(told)})" * bool(told)


def _how_worse(table: VerdictTable, names: Sequence[str]) -> str:
    """Return how much worse strategies are, in brackets, if it is of one kind.

    A mean is told where a test shows it.
    """
    named = [name for name in names if name in table.by_mean]
    if named and len(named) < len(names):
        return ""  # the table has the numbers of each
    text = sizes(table, named) if named else "more often worse" * ("lost" in table.frame)
    return f" ({text})" * bool(text)


def sizes(table: VerdictTable, names: Sequence[str]) -> str:
    """Return the distances from the leader, where both have a result; empty if not known."""
    signed = table.distances[list(names)].dropna()
    if signed.empty:
        return ""
    values = signed.abs()
    low, high = values.min(), values.max()
    ends = f"at least {_range(low)}" if high > _FAR * values.median() else _range(low, high)
    if table.size == "ratio":
        return f"{ends} times the {table.metric} of {table.first[0]}"
    up = signed.sum() > 0 if signed.any() else not table.scorer.greater_is_better
    side = "above" if up else "below"
    return f"{table.metric} {ends} {side} {table.first[0]}"


def _range(*values: float) -> str:
    """Return numbers with two significant digits as a range; just above 1 with three.

    Examples
    --------
    >>> _range(0.0734, 581.0), _range(2.04, 2.01)
    ('0.073 to 580', '2')
    """
    texts = (f"{value:.3g}" if 1 < value < 1.1 else f"{value:.2g}" for value in values)
    return " to ".join(dict.fromkeys(f"{float(text):.10g}" for text in texts))


def _described(table: VerdictTable, names: Sequence[str]) -> list[str]:
    """Return names with their copies, and with failures that are a reason against a strategy.

    A copy of an earlier strategy is not named again. Tests take a failure as a loss just above the
    worst one, so a strategy that often fails must not look as good as one with results.
    """
    failures, texts = table.frame["failures"], dict[str, str]()
    for name in names:
        same = [copy for copy in table.copies_of(name) if copy != name]
        if not texts.keys() & same:
            texts[name] = name + (f" (= {listed(same)})" if same else "")
            if failures[name] >= OFTEN * table.n:
                texts[name] += f" (no result on {failures[name]} of {table.n} datasets)"
    return list(texts.values())


def unit(table: VerdictTable, n: int = 2) -> str:
    """Return the unit of the claims, "source" or "dataset", in the plural unless ``n`` is 1."""
    return ("source" if table.n_sources else "dataset") + "s" * (n != 1)


def be(names: Sequence[str]) -> str:
    """Return "is" or "are", for a sentence about these strategies."""
    return "is" if len(names) == 1 else "are"


def trade_off(table: VerdictTable) -> str:
    """Return a sentence on an alternative to the leader: its loss and its training time.

    The alternative is the first strategy, of those that are not to be avoided, that is much
    quicker; if there is none, the first that may be as good and is much slower. The sentence is
    empty if both times are too short to notice.
    """
    if table.control or not table.leader or "training seconds" not in table.frame:
        return ""
    seconds, shares = table.frame["training seconds"], table.time_shares
    others = [name for word in verdict.CONSIDERED for name in table.named(word)]
    known = [name for name in others if name in shares and name != table.leader]
    quicker = [name for name in known if shares[name] <= _QUICKER]
    doubted = table.named(verdict.UNDECIDED)
    slower = [name for name in known if shares[name] >= 1 / _QUICKER and name not in doubted]
    for name in (quicker or slower)[:1]:
        if max(seconds[name], seconds[table.leader]) < NOTICED:
            return ""
        share = shares[name]
        how = f"{_range(share)} times slower" if share > 1 else f"{_range(1 / share)} times faster"
        own, theirs = (f"{seconds[each]:.3g} s" for each in (name, table.leader))
        took = f"trains {how} ({own} against {theirs} a fit)"
        return f"Trade-off: {name} {_loss(table, name)}, and {took}."
    return ""


def _loss(table: VerdictTable, name: str) -> str:
    """Return a phrase on what a strategy loses against the leader, or on its average rank."""
    if np.isnan(change := table.distances[name]):
        own, theirs = (number(table.frame["average rank"][x], 3) for x in (name, table.leader))
        return f"has average rank {own} in place of {theirs}"
    if table.size == "ratio":
        return f"has {sizes(table, [name])}"
    if not change:
        return f"has the same mean {table.metric}"
    better = (change > 0) == table.scorer.greater_is_better
    how = f"{_range(abs(change))} {'better' if better else 'worse'}"
    return f"is {how} in mean {table.metric} here"


def same_rows(
    groups: Sequence[Sequence[str]],
    seen: str = "have the same scores by every strategy: if they are one table,",
) -> str:
    """Return a hint on datasets that are, or look like, copies of one table; empty if none do.

    Examples
    --------
    >>> same_rows([["wine", "wine2"]], "are the same table:")
    'wine and wine2 are the same table: say so with clusters, which may change the choice: \
they count as independent.'
    """
    named = "; ".join(map(listed, groups[:_MOST_GROUPS]))
    return f"{named} {seen} {SAY_SO}." if groups else ""


# ---------------------------------------------------------------------- below the first screen


def probability(p: float) -> str:
    """Return a probability as text with two decimals, since it is not known more exactly.

    Examples
    --------
    >>> probability(0.873), probability(0.0007), probability(0.9999)
    ('0.87', 'below 0.01', 'above 0.99')
    """
    return "below 0.01" if p < 0.01 else "above 0.99" if p > 0.99 else f"{p:.2f}"


def terms(table: VerdictTable) -> str:
    """Return a sentence on the question and the test of the analysis."""
    analysis = table.chosen.analysis
    question = _QUESTIONS.get(analysis.question, f"compared with {table.leader}")
    level = number(analysis.alpha)
    test = TESTS[analysis.test]
    joint = bool(test.joint) and not table.control
    claims = (
        "avoid one together, and for each that is ruled out as the best" if joint else "together"
    )
    sure = f"level {level} for all claims {'to ' * joint}{claims}"
    if test.bayesian:
        sure = f"of all claims at most {level} are expected to be false"
    rope = f", practically equal within {number(analysis.rope)}" if analysis.rope else ""
    flipped = " of all pairs jointly" * joint
    flipped += " by flips of whole sources" if table.n_sources and analysis.test != "t" else ""
    return (
        f"The question is {question}, by {table.metric}, with {test.words}"
        f"{flipped}, {sure}{rope}; cells without a result: {analysis.missing}; at least "
        f"{table.least} {unit(table)}."
    )


def meanings(table: VerdictTable) -> dict[str, str]:
    """Return the verdicts of a table, each with its meaning there."""
    known = dict(verdict.VERDICTS)
    if not table.decided:
        known[verdict.UNDECIDED] = "too few datasets to tell"
    elif not table.leader:
        known[verdict.UNDECIDED] = "each is shown to be worse than another"
    elif table.control:
        known[verdict.USE] = "clearly better than the control"
        known[verdict.UNDECIDED] = "not clearly shown to differ from the control"
        known[verdict.EQUAL] = "practically equal to the control"
        known[verdict.AVOID] = "shown to be worse than the control"
        known[verdict.BASELINE] = "the control, with which the others are compared"
    own = {word: text for word, text in known.items() if table.named(word)}
    own |= {MARK: MARKED} if table.fragile else {}
    return own | ({"provisional": PROVISIONAL} if table.provisional else {})


def notes(table: VerdictTable) -> tuple[str, ...]:
    """Return notes on how to read the columns that are below the first screen."""
    if not table.leader:
        return ()
    more = ", one against one; a test of all together says which are probably worse"
    groups = f"groups: {LETTERS}{more * bool(table.named(verdict.LIKELY))}"
    ranks = "ranks: the lowest and the highest place that each can have, if no claim is false"
    told = [ranks if "ranks" in table.frame else groups]
    if TESTS[table.chosen.analysis.test].bayesian:
        told.append(
            "the claims rest on probabilities, which do not bound the chance of a claim where no "
            "strategies differ (docs/measured-levels.md)"
        )
    return tuple(told)
