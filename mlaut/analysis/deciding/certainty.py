"""How sure a decision is, in three lines: its plan, other analyses, and what would settle it."""

from collections.abc import Sequence

import numpy as np

from mlaut.analysis.deciding.verdict_table import Check, VerdictTable
from mlaut.analysis.deciding.words import be, listed, unit

_MOST_OTHER = 3  # names of strategies on which other analyses differ; a table has all
_WORTH = 0.2  # probability from which a forecast is a reason to go on
_FRAGILE = 0.1  # share of the datasets up to which a change of leader is easy


def planned(found: VerdictTable) -> str:
    """Return when the analysis was chosen, and what was changed since."""
    chosen = found.chosen
    changed = ", but changed" if chosen.changes else ""
    before = f"Planned{changed}" if chosen.planned else "Not planned"
    start = f"{before}: the way to compare was {chosen.when}"
    weaker = "" if chosen.planned else "; an earlier plan is surer"
    return f"{'; then '.join([start, *chosen.changes])}{weaker}."


def agreement(found: VerdictTable) -> str:
    """Return how many other analyses agree, on what they differ, and the smallest change."""
    n, differ = len(found.checks), [check for check in found.checks if not check.same]
    parts = []
    if n:
        same = f"{n - len(differ)} of {n}" if differ else f"{'All ' * (n > 1)}{n}"
        ways = f"{same} other way{'s' * (n > 1)} to compare agree{'s' * (n - len(differ) == 1)}"
        parts.append("; ".join([ways, *_on_what(found, differ)]) + ".")
    if found.without:
        few, of = len(found.without), found.n_sources or found.n
        which = f"{few} of {of} {unit(found)}"
        if few <= max(1, _FRAGILE * of):
            parts.append(
                f"Leaving out {which} ({listed(found.without)}) is enough for {found.then} to lead."
            )
        else:
            which = f"{few - 1} of {of} {unit(found)} are left out"
            parts.append(f"{found.leader} stays first whichever {which}.")
    return " ".join(parts)


def _on_what(found: VerdictTable, differ: Sequence[Check]) -> list[str]:
    """Return on which strategies other analyses differ, each with the number of analyses."""
    parts, to = [], "to differ" if found.control else "to be worse"
    for verbs, kept in ((("shows", "show"), "without"), (("does not show", "do not show"), "also")):
        having = [getattr(check, kept) for check in differ if getattr(check, kept)]
        names = [n for n in found.frame.index if any(n in one for one in having)]
        if names:
            verb = verbs[len(having) > 1]
            parts.append(f"{len(having)} {verb} {listed(names, _MOST_OTHER)} {to}")
    return parts


def prospects(found: VerdictTable) -> str:
    """Return what more datasets would probably settle, and whether folds help more."""
    n, units = found.n_sources or found.n, unit(found)
    if not found.decided:
        more = found.least - n
        least = f"{more} more {unit(found, more)}"
        if found.agreed:
            return f"With {least} a difference can be shown, if all agree with these."
        return f"These {units} already disagree: even {least} may not be enough to tell."
    seen = found.outlook
    if seen is None:
        return f"More {units} are not needed for these verdicts." if found.leader else ""
    first, second = found.leader, seen.rival
    if seen.chance < _WORTH:
        return f"Even {n} more {units} like these would probably not tell {first} from {second}."
    pair = ", the likeliest open pair," * (len(found.frame) > 2)
    text = (
        f"{n} more {units} like these would tell {first} from {second}{pair} with a chance of "
        f"{100 * seen.chance:.0f}%."
    )
    if not np.isnan(seen.folds):
        helps = "folds or repeats" if seen.folds > 1 / 2 else units
        text += f" More {helps} would help most."
    return text


def differs(check: Check) -> str:
    """Return how the answer of a check differs."""
    worse = "differ" if check.control else "be worse"
    parts = ((check.also, f"not shown to {worse}"), (check.without, f"shown to {worse}"))
    texts = [f"{listed(names)} {be(names)} {verb}" for names, verb in parts if names]
    return ", and ".join(texts) or "the same"
