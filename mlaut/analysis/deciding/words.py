"""A decision in words that need no statistics: names, sizes, and the answer."""

from collections.abc import Mapping, Sequence

import numpy as np

from mlaut.analysis.common.display import number
from mlaut.analysis.common.tests import FLIPPED, TESTS
from mlaut.analysis.deciding import verdicts as verdict
from mlaut.analysis.deciding.verdict_table import MOST_CHOSEN, NOTICED, OFTEN, VerdictTable

_QUESTIONS = {"best": "which strategy is the best", "all pairs": "which strategies differ"}
MOST_NAMED = 12  # names in a sentence; the table has all
_FAR = 100.0  # times the median size, from which the largest is that of a failure somewhere
SAY_SO = "say so with clusters, since the claims take them as independent"
_MOST_GROUPS = 2  # groups of datasets in a hint
_QUICKER = 0.5  # share of the time below which one strategy counts as quicker: times vary
NOW = "If you must choose now"
_TWO_LINES = 200  # characters of an answer, as far as names allow
_FORMS = ((MOST_CHOSEN, True), (2, True), (1, True), (1, False))  # names, and sizes, the best first


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


def answer(table: VerdictTable, letters: int = _TWO_LINES) -> str:
    """Return what to do, by one rule: which to use, which may be as good at what cost, and others.

    The answer does not change if a poor strategy or a copy of a strategy is added. If the leader
    is in doubt, it begins with "If you must choose now". Fewer names keep it within ``letters``.
    """
    if not table.decided:
        return _too_few(table, letters)
    if not table.leader:
        none = "No choice is safe: each strategy is shown to be worse than another."
        return f"{none} {advice(table)}."
    texts = [_answer(table, most, sized) for most, sized in _FORMS]
    return next((text for text in texts if len(text) <= letters), texts[-1])


def _answer(table: VerdictTable, most: int, sized: bool) -> str:
    """Return the answer with so many names in each part, and with sizes or without."""

    def few(names: Sequence[str], rest: str = "{}") -> str:
        return listed(names) if len(names) <= most else rest.format(len(names))

    parts = [_choice(table, most)]
    if equal := _described(table, table.named(verdict.EQUAL)):
        rope = f"within {number(table.chosen.analysis.rope)} of {table.metric}"
        parts.append(f"{listed(equal, most)} {be(equal)} practically as good ({rope})")
    near = [name for name in table.named(verdict.OPEN) if name not in table.ahead]
    if near:
        most_cost = max(table.bounds.get(name, 0.0) for name in near)
        which = "it" if len(near) == 1 else "one of them"
        cost = f": choosing {which} costs at most {_range(most_cost)} of {table.metric}"
        others = few(_described(table, near), "{} others")
        parts.append(f"{others} {verdict.OPEN}{cost * (sized and most_cost > 0)}")
    doubted = [(word, names) for word in verdict.DOUBTED if (names := table.named(word))]
    parts += [f"{few(names)} {be(names)} {word}" for word, names in doubted]
    if failing := table.named(verdict.FAILS):
        on = f"{'up to ' * (len(failing) > 1)}{table.frame['failures'][[*failing]].max()}"
        on += f" of {table.n} datasets"
        parts.append(f"avoid {few(failing, '{} others')} for failures on {on}")
    if worse := table.named(verdict.AVOID):
        parts.append(f"avoid {few(worse, 'the other {}')}{_how_worse(table, worse) * sized}")
    pairs = f"{table.n_shown} of {table.n_pairs} pairs are shown to differ."
    all_pairs = table.chosen.analysis.question == "all pairs"
    return f"{'; '.join(parts)}." + (f" {pairs}" if all_pairs else "")


def _too_few(table: VerdictTable, letters: int) -> str:
    """Return who is first where there are too few datasets, and what cannot be concluded."""
    n = table.n_sources or table.n
    few = f"Too few {unit(table)} to be sure ({n}, and it takes {table.least})"
    if len(table.first) > 1:
        return f"{few}: {listed(table.first)} are first together. {advice(table)}."
    name = table.first[0]
    others = table.frame.drop(index=name)
    every = "both" if n == 2 else f"all {n}"
    where = f"by average rank, and on {table.n_first} of {n} {unit(table)}"
    where = f"on {every} {unit(table)}" if table.n_first == n else where
    size, rest = sizes(table, list(map(str, others.index))), "the others"
    rest = str(others.index[0]) if len(others) == 1 else rest
    if size and (ahead := _ahead(table)):
        size += f"; {listed(ahead, MOST_CHOSEN)} {be(ahead)} ahead on average"
    sized, other = f" ({rest}: {size})" * bool(size), " Other datasets may have another order."
    texts = [
        f"{few}: {name} is first {where}{told}.{order} {advice(table)}."
        for told, order in ((sized, other), (sized, ""), ("", other))
    ]
    return next((text for text in texts if len(text) <= letters), texts[-1])


def _ahead(table: VerdictTable) -> list[str]:
    """Return the strategies with a better average than the first by rank."""
    if "ratio" in table.frame:
        return list(table.frame.index[table.frame["ratio"] < 1])
    gap = table.frame.get("difference", table.frame["failures"] * np.nan)
    return list(gap.index[(gap if table.scorer.greater_is_better else -gap) > 0])


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
    doubt = [table.doubt] * bool(table.doubt and table.named(verdict.USE))
    when = table.where if table.named(verdict.USE) and not doubt else NOW
    start = f"{when}, use {one}{listed(use, most)}"
    if table.control:
        return " ".join([start, f"in place of {table.leader}", *(f"({text})" for text in doubt)])
    chance = float(table.frame.get("P(best)", table.frame["failures"])[list(table.ahead)].sum())
    alone = {*table.best} == {*table.ahead} or "P(best)" not in table.frame
    sure = [] if alone else [f"chance to be the best {probability(chance)}"]
    told = ", ".join(["first together"] * (len(use) > 1) + sure + doubt)
    return f"{start}{f' ({told})' * bool(told)}"


def _how_worse(table: VerdictTable, names: Sequence[str]) -> str:
    """Return how much worse strategies are, in brackets; a mean is told where a test shows it."""
    rest = [name for name in names if name not in table.by_mean]
    shown = [name for name in names if name not in rest]
    size = f"{listed(shown, MOST_CHOSEN)} " * bool(shown and rest) + sizes(table, shown)
    more = f"{listed(rest, MOST_CHOSEN)} " * bool(size) + "more often worse"
    parts = [size] * bool(size) + [more] * (bool(rest) and "lost" in table.frame)
    return f" ({'; '.join(parts)})" if parts else ""


def sizes(table: VerdictTable, names: Sequence[str]) -> str:
    """Return the distances from the leader, where both have a result; empty if not known."""
    frame = table.frame.loc[list(names)]
    size = "ratio" if "ratio" in frame else "difference"
    values = frame.get(size, frame["failures"] * np.nan).abs().dropna()
    if values.empty:
        return ""
    low, high = values.min(), values.max()
    ends = f"at least {_range(low)}" if high > _FAR * values.median() else _range(low, high)
    if "ratio" in frame:
        return f"{ends} times the {table.metric} of {table.first[0]}"
    side = "below" if table.scorer.greater_is_better else "above"
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
                texts[name] += f" (which failed on {failures[name]} of {table.n} datasets)"
    return list(texts.values())


def datasets(table: VerdictTable) -> str:
    """Return the number of datasets, and of the sources from which they come."""
    return f"{table.n} datasets" + (f" of {table.n_sources} sources" if table.n_sources else "")


def unit(table: VerdictTable, n: int = 2) -> str:
    """Return the unit of the claims, "source" or "dataset", in the plural unless ``n`` is 1."""
    return ("source" if table.n_sources else "dataset") + "s" * (n != 1)


def be(names: Sequence[str]) -> str:
    """Return "is" or "are", for a sentence about these strategies."""
    return "is" if len(names) == 1 else "are"


def yardstick(table: VerdictTable) -> str:
    """Return a sentence on the best baseline that is clearly worse; empty if there is none."""
    names = () if table.control else table.named(verdict.YARDSTICK)[:1]
    text = f" is for reference only, not a candidate{_how_worse(table, names)}."
    return "".join(f"{name}{text}" for name in names)


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
        times = f"{_range(share)} times as long"
        how = times if share > 1 else f"{_range(100 * share)} % of the time"
        own, theirs = (f"{seconds[each]:.2g} s" for each in (name, table.leader))
        took = f"takes {how} to train ({own} in place of {theirs} a fit)"
        return f"Trade-off: {name} {_loss(table, name)} and {took}."
    return ""


def _loss(table: VerdictTable, name: str) -> str:
    """Return a phrase on what a strategy loses against the leader, or on its average rank."""
    frame = table.frame
    if "ratio" in frame and not np.isnan(frame["ratio"][name]):
        return f"has {sizes(table, [name]) or _range(frame['ratio'][name])}"
    change = frame["difference"][name] if "difference" in frame else np.nan
    if np.isnan(change):
        ranks = frame["average rank"].map(lambda rank: number(rank, 3))
        return f"has average rank {ranks[name]} in place of {ranks[table.leader]}"
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
    'wine and wine2 are the same table: say so with clusters, since the claims take them \
as independent.'
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


def cost(table: VerdictTable) -> str:
    """Return a sentence on the largest cost of choosing each strategy that may be the best."""
    names = [name for name in table.best[:MOST_CHOSEN] if name in table.bounds]
    if len(names) < 2 or not any(table.bounds[name] for name in names):
        return ""
    first, *others = (f"{name} {_range(table.bounds[name])}" for name in names)
    sure = probability(1 - table.chosen.analysis.alpha)
    costs = ", ".join([f"{first} of {table.metric}", *others])
    text = f"Choosing costs at most, on average and with probability {sure}: {costs}."
    least = min(names, key=table.bounds.__getitem__)
    if table.bounds[least] == 0 and least != names[0]:
        text += f" So {least} is ahead on average, and {names[0]} by rank."
    return text


def terms(table: VerdictTable) -> str:
    """Return a sentence on the question and the test of the analysis."""
    analysis = table.chosen.analysis
    question = _QUESTIONS.get(analysis.question, f"compared with {table.leader}")
    level = number(analysis.alpha)
    sure = (
        f"of all claims at most {level} are expected to be false"
        if TESTS[analysis.test].bayesian
        else f"level {level} for all claims together"
    )
    rope = f", practically equal within {number(analysis.rope)}" if analysis.rope else ""
    flipped = " of all pairs jointly" * (analysis.test in FLIPPED and not table.control)
    flipped += " by flips of whole sources" if table.n_sources and analysis.test != "t" else ""
    return (
        f"The question is {question}, by {table.metric}, with {TESTS[analysis.test].words}"
        f"{flipped}, {sure}{rope}; cells without a result: {analysis.missing}; at least "
        f"{table.least} {unit(table)}."
    )


def meanings(table: VerdictTable, known: Mapping[str, str]) -> list[str]:
    """Return what the verdicts of a table mean, and which direction of the metric is better."""
    named = [word for word in known if word != verdict.USE and table.named(word)]
    lower = [f"Lower {table.metric} is better."] * (not table.scorer.greater_is_better)
    return [*(f"{word.capitalize()}: {known[word]}." for word in named), *lower]


def reading(table: VerdictTable) -> str:
    """Return sentences on how to read the table of a decision: verdicts, order and numbers."""
    known = dict(verdict.VERDICTS)
    if not table.decided:
        known[verdict.UNDECIDED] = "too few datasets to tell"
    elif not table.leader:
        known[verdict.UNDECIDED] = "each is shown to be worse than another"
    elif table.control:
        known[verdict.UNDECIDED] = "not clearly shown to differ from the control"
        known[verdict.EQUAL] = "practically equal to the control"
    texts = [*meanings(table, known), "Rank: the average place on the datasets; 1 is best."]
    if "won" in table.frame:
        size = next((f" and {name}" for name in ("difference", "ratio") if name in table.frame), "")
        average = size and " (an average)"
        texts.append(f"Win/tie/loss{size}{average}: of this row against {table.first[0]}.")
        texts += ["A source is won if most of its datasets are."] * (table.n_sources > 0)
        both = f"Win/tie/loss{size} count only datasets on which both have a result."
        if table.chosen.analysis.missing == "failures last":
            both = f"A failure counts as last place in the rank; win/tie/loss{size} leave it out."
        texts += [both] * (not table.complete)
    texts += ["Seconds to tune and fit once, the mean over datasets."] * table.slow
    return " ".join(texts)


def notes(table: VerdictTable) -> tuple[str, ...]:
    """Return notes on how to read the columns that are below the first screen."""
    if not table.leader:
        return ()
    bayesian = (
        "the claims rest on probabilities, which do not bound the chance of a claim where no "
        "strategies differ (docs/measured-levels.md)"
    )
    return (
        f"P(best): probability of the best average rank over all {unit(table)} of this kind",
        "ranks: a true rank is within with the probability of the claims; 1 is where the verdict "
        "allows it"
        if "ranks" in table.frame
        else "groups: strategies that share a letter are not shown to differ",
        *((bayesian,) if TESTS[table.chosen.analysis.test].bayesian else ()),
    )
