"""Certainty of a decision in three lines: its plan, other analyses, and more datasets."""

from collections import Counter
from collections.abc import Sequence

from mlaut.analysis.deciding.verdict_table import Check, VerdictTable
from mlaut.analysis.deciding.verdicts import AVOID, LIKELY, OPEN, UNDECIDED, USE
from mlaut.analysis.deciding.words import be, listed, unit

_MOST_OTHER = 3  # names of strategies on which other analyses differ; a table has all
_DOUBTS = ("does not show", "do not show")  # the main test may not show it, either
_FRAGILE = 0.1  # share of the datasets up to which a change of leader is easy
_SLIM = 0.1  # a smaller chance comes true within five points on each board, a larger one does not


def planned(table: VerdictTable) -> str:
    """Return a sentence on when the analysis was chosen and what was changed later."""
    chosen = table.chosen
    if chosen.usual(table.scorer):
        return "No plan was stored: the usual way to compare was used."
    changed = ", but changed" if chosen.changes else ""
    before = f"Planned{changed}" if chosen.planned else "Not planned"
    start = f"{before}: the way to compare was {chosen.when}"
    weaker = "" if chosen.planned else ", which makes the result less sure"
    return f"{'; then '.join([start, *chosen.changes])}{weaker}."


def agreement(table: VerdictTable) -> str:
    """Return how many other analyses agree, where others differ, and the smallest change."""
    n, differ = len(table.checks), [check for check in table.checks if not check.same]
    parts = []
    if n:
        every = "Both" if n == 2 else f"{'All ' * (n > 1)}{n}"
        same = f"{n - len(differ)} of {n}" if differ else every
        ways = f"{same} other way{'s' * (n > 1)} to compare agree{'s' * (n - len(differ) == 1)}"
        meanings = {USE: "what to use", OPEN: "what may be best", AVOID: "what to avoid"}
        what = listed([text for word, text in meanings.items() if table.named(word)])
        ways += f" on {what}" * (what != "" and len(differ) < n)
        others = _on_what(table, differ)
        if len(differ) == n:  # nothing agrees in all, so the first difference begins
            count, _, rest = others[0].partition(" ")
            only = "The other way" if n == 1 else f"{count} of {n} other ways"
            ways, others = f"{only} to compare {rest}", others[1:]
        parts.append("; ".join([ways, *others]) + ".")
    if table.without and len(table.first) == 1:
        few, of = len(table.without), table.n_sources or table.n
        if few <= max(1, _FRAGILE * of):
            left_out = f"{unit(table, few)} {listed(table.without)}"
            parts.append(f"First place is shaky: without {left_out}, {table.then} leads.")
        else:
            any_one = f"{unit(table, 1)} is"
            which = any_one if few == 2 else f"{few - 1} of {of} {unit(table)} are"
            parts.append(f"{table.leader} stays first whichever {which} left out.")
    return " ".join(parts)


def _on_what(table: VerdictTable, differ: Sequence[Check]) -> list[str]:
    """Return for each strategy on which other analyses differ how many of them do."""
    parts, verdict = [], "different" if table.control else "worse"
    for verbs, kept in ((("finds", "find"), "without"), (_DOUBTS, "also")):
        counts = Counter(name for check in differ for name in getattr(check, kept))
        for n in sorted({*counts.values()}, reverse=True):
            names = [name for name in map(str, table.frame.index) if counts[name] == n]
            claim = f"that {listed(names, _MOST_OTHER)} {be(names)} {verdict}"
            if len(names) > _MOST_OTHER and tuple(names) == table.named(LIKELY):
                claim = f"the {len(names)} '{LIKELY}'"
            parts.append(f"{n} {verbs[n > 1]} {claim}")
    return parts


def prospects(table: VerdictTable) -> str:
    """Return whether more datasets would settle hardly anything, and whether folds help more."""
    n, units = table.n_sources or table.n, unit(table)
    if not table.decided:
        more = table.least - n
        least = f"{more} more {unit(table, more)}"
        if table.agreed:
            return f"With {least} a difference can be shown, if all agree with these."
        return f"No strategy is first on all of these {units}: {least} may not be enough to tell."
    seen = table.outlook
    if seen is None:  # with the fewest datasets, one more could still change a verdict
        settled = not {*table.frame["verdict"]} & {OPEN, UNDECIDED, LIKELY}
        enough = table.leader and settled and n > table.least
        return f"More {units} are not needed for these verdicts." if enough else ""
    pair = f"to tell {table.leader} from {seen.rival}"
    slim = seen.chance < _SLIM
    told = [f"With {n} more {units} like these, the chance {pair} is below 10 %."] * slim
    if seen.folds > 1 / 2:
        told.append(f"More folds or repeats would help most {pair}.")
    elif seen.folds <= 1 / 2 and not slim:  # it may be unknown
        told.append(f"More {units} would help most {pair}.")
    return " ".join(told)


def differs(check: Check) -> str:
    """Return how the answer of a check differs."""
    worse = "differ" if check.control else "be worse"
    parts = ((check.also, f"not shown to {worse}"), (check.without, f"shown to {worse}"))
    texts = [f"{listed(names)} {be(names)} {verb}" for names, verb in parts if names]
    return ", and ".join(texts) or "the same"
