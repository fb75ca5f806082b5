"""What a decision advises, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mlaut.analysis.deciding import words
from mlaut.analysis.deciding.verdicts import BETTER, EQUAL, WORSE

if TYPE_CHECKING:
    from mlaut.analysis.deciding.decision import Decision

__all__ = ["advice"]

_NOT_YET = "Do not choose by these results"
_MOST_NAMED = 4  # names in a part of the sentence; the answer that follows has more


def advice(found: Decision) -> str:
    """Return in one sentence what to use, what may be as good, and what to avoid.

    It says no more than the verdicts do: what is not shown to be worse "may be as good", and only
    what is shown to be worse is advised against.
    """
    if not found.decided:
        more = found.least - found.n
        return f"{_NOT_YET}: at least {more} more dataset{'s are' if more > 1 else ' is'} needed."
    if found.chosen.analysis.question.startswith("control"):
        return _against_control(found)
    if not found.leader:
        return f"{_NOT_YET}: each strategy is shown to be worse than another."
    if not found.named(WORSE) and not found.named(EQUAL):
        return _undecided(found)
    return _best(found)


def _undecided(found: Decision) -> str:
    name = min(found.needed, key=found.needed.__getitem__)
    if found.needed[name] > words.FAR:
        return f"{_NOT_YET}: the differences are too small to show."
    more = words.rough(words.datasets_in_all(found, name) - found.n)
    datasets = "1 more dataset" if more == 1 else f"about {more} more datasets"
    return f"{_NOT_YET}: {datasets} like these would tell {found.leader} from {name}."


def _best(found: Decision) -> str:
    parts = [f"On datasets like these, use {words.with_failures(found, [found.leader])[0]}"]
    near, _ = words.near_and_far(found)
    for names, how in ((found.named(EQUAL), "practically as good"), (near, "as good")):
        if names:
            be = words.be(names) if how.startswith("practically") else "may be"
            named = words.listed(words.with_failures(found, names), _MOST_NAMED)
            parts.append(f"{named} {be} {how}{_quicker(found, names)}")
    worse = found.named(WORSE)
    if worse and len(worse) + 1 < len(found.frame):
        many = f"the {len(worse)} that are clearly worse"
        parts.append(f"avoid {many if len(worse) > _MOST_NAMED else words.listed(worse)}")
    return f"{'; '.join(parts)}."


def _quicker(found: Decision, names: Sequence[str]) -> str:
    """Return the words on the quickest of some strategies, if it is much quicker."""
    shares = {name: found.time_shares[name] for name in names if name in found.time_shares}
    quickest = min(shares, key=shares.__getitem__, default="")
    if not quickest or shares[quickest] > words.QUICKER:
        return ""
    whose = "" if len(names) == 1 else f"{quickest} "
    return f", and {whose}takes {words.share_in_words(shares[quickest])} of the training time"


def _against_control(found: Decision) -> str:
    better = found.named(BETTER)
    if better:
        listed = words.listed(words.with_failures(found, better[:1]))
        return f"On datasets like these, use {listed} in place of {found.leader}."
    return f"Nothing here speaks against {found.leader}: no other strategy is shown to be better."
