"""What a decision advises, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from mlaut.analysis.deciding import words
from mlaut.analysis.deciding.verdict_table import VerdictTable
from mlaut.analysis.deciding.verdicts import BETTER, EQUAL, UNCLEAR, WORSE

_NOT_YET = "Do not choose by these results"


def advice(found: VerdictTable) -> str:
    """Return in one sentence what to use, or of which few to use one, and what to avoid.

    It says no more than is known of the strategies that may be the best, so that a poor strategy
    or a copy of one changes nothing. Only what is clearly worse is advised against.
    """
    if not found.decided:
        more = found.least - (found.n_sources or found.n)
        are = "are" if more > 1 else "is"
        return f"{_NOT_YET}: at least {more} more {words.unit(found, more)} {are} needed."
    if found.chosen.analysis.question.startswith("control"):
        return _against_control(found)
    if not found.leader:
        return f"{_NOT_YET}: each strategy is shown to be worse than another."
    parts = [_choice(found)]
    equal = found.named(EQUAL)
    if equal:
        named = words.listed(words.described(found, equal), words.MOST_CHOSEN)
        parts.append(f"{named} {words.be(equal)} practically as good{_quicker(found, equal)}")
    worse = found.named(WORSE)
    if worse and len(worse) + 1 < len(found.frame):
        many = f"the {len(worse)} that are clearly worse"
        parts.append(f"avoid {many if len(worse) > words.MOST_CHOSEN else words.listed(worse)}")
    return f"{'; '.join(parts)}."


def _choice(found: VerdictTable) -> str:
    """Return which strategies to choose from, by those alone that may be the best."""
    best = words.described(found, found.best)
    if len(best) > words.MOST_CHOSEN:
        return f"Undecided: {words.listed(best, words.MOST_CHOSEN)} may each be the best"
    one_of = "" if len(best) == 1 else "one of "
    quicker = _quicker(found, found.best[1:], len(best) > 1)
    return f"On datasets like these, use {one_of}{words.listed(best)}{quicker}"


def _quicker(found: VerdictTable, names: Sequence[str], several: bool = False) -> str:
    """Return the words on the quickest of some strategies, if it is much quicker."""
    shares = {name: found.time_shares[name] for name in names if name in found.time_shares}
    quickest = min(shares, key=shares.__getitem__, default="")
    if not quickest or shares[quickest] > words.QUICKER:
        return ""
    whose = f"{quickest} " if several or len(names) > 1 else ""
    return f", and {whose}takes {words.share_in_words(shares[quickest])} of the training time"


def _against_control(found: VerdictTable) -> str:
    better = found.named(BETTER) or found.named(UNCLEAR[BETTER])
    if better:
        listed = words.listed(words.described(found, better[:1]))
        return f"On datasets like these, use {listed} in place of {found.leader}."
    return f"Nothing here speaks against {found.leader}: no other strategy is shown to be better."
