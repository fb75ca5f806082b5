"""Certainty of a decision in three lines: its plan, other analyses, and more datasets."""

from collections import Counter

from mlaut.analysis.deciding.verdict_table import Check, VerdictTable
from mlaut.analysis.deciding.verdicts import LIKELY, OPEN, UNDECIDED
from mlaut.analysis.deciding.words import MOST_NAMED, be, listed, unit

_MOST_OTHER = 3  # names of strategies on which other analyses differ; a table has all
_FRAGILE = 0.1  # share of the datasets up to which a change of leader is easy
_SLIM = 0.1  # a smaller chance comes true within five points on each board, a larger one does not


def planned(table: VerdictTable) -> str:
    """Return a sentence on when the analysis was chosen and what was changed later."""
    chosen = table.chosen
    if chosen.usual(table.scorer):
        return "No plan was stored: the usual test was used."
    changed = ", but changed" if chosen.changes else ""
    before = f"Planned{changed}" if chosen.planned else "Not planned"
    start = f"{before}: the way to compare was {chosen.when}"
    weaker = "" if chosen.planned else ", which makes the result less sure"
    return f"{'; then '.join([start, *chosen.changes])}{weaker}."


def agreement(table: VerdictTable) -> str:
    """Return how many other analyses agree, where others differ, and the smallest change."""
    parts = [_agree(table)] if table.checks else []
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


def _agree(table: VerdictTable) -> str:
    """Return a sentence on the other analyses: what they say of the best, then of the others."""
    n, differ = len(table.checks), "to differ" if table.control else ""
    found = _counted(table, "without", "finds", "find", differ or "worse")
    unsure = _counted(table, "also", "does not show", "do not show", differ or "to be worse")
    if found:
        start = f"Of {n} other analyses, {found}" if n > 1 else f"The other analysis {found}"
        return f"{'; '.join(filter(None, (start, unsure)))}."
    if unsure and n == 1:
        return f"The other analysis {unsure}."
    if unsure:
        best = "what to use" if not table.named(OPEN) else f"what {OPEN}"
        return f"None of {n} other analyses speaks against {best}; {unsure}."
    every = {1: "The other analysis agrees", 2: "Both other analyses agree"}
    return f"{every.get(n, f'All {n} other analyses agree')}."


def _counted(table: VerdictTable, kept: str, one: str, several: str, how: str) -> str:
    """Return how many checks differ on strategies, by a list of these; empty if none does."""
    n = len(table.checks)
    counts = Counter(name for check in table.checks for name in getattr(check, kept))
    names = [name for name in map(str, table.frame.index) if counts[name]]
    if not names:
        return ""
    of = sorted({counts[name] for name in names})
    times = " to ".join(map(str, dict.fromkeys((of[0], of[-1]))))
    who = listed(names) if len(names) <= _MOST_OTHER else f"{len(names)} of the others"
    return f"{f'{times} ' * (n > 1)}{several if of[-1] > 1 else one} {who} {how}"


def prospects(table: VerdictTable) -> str:
    """Return whether more datasets would settle hardly anything, and whether folds help more."""
    n, units = table.n_sources or table.n, unit(table)
    if not table.decided:
        more = table.least - n
        least = f"{more} more {unit(table, more)}"
        if table.agreed:
            return f"With {least} a difference can be shown, if all agree with these."
        return f"None is alone first on all of these {units}: {least} may not be enough to tell."
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


def differs(check: Check, most: int = MOST_NAMED) -> str:
    """Return how the answer of a check differs, with so many names."""
    worse = "differ" if check.control else "be worse"
    parts = ((check.also, f"not shown to {worse}"), (check.without, f"shown to {worse}"))
    texts = [f"{listed(names, most)} {be(names)} {verb}" for names, verb in parts if names]
    return ", and ".join(texts) or "the same"
