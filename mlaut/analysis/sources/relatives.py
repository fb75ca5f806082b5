"""Datasets whose names look related, although no source says so."""

import re
from collections.abc import Mapping, Sequence

_MARKED = re.compile(r"([^/]+)/|(.*?[^\W\d]{2}.*?)[\s_.:-]")  # solar/H, heart-va
_NUMBERED = re.compile(r"(.*[^\W\d]{2})\d+$|(.*[a-z])[A-Z]$")  # ecg1, CricketX
_PLAIN = {"data", "dataset", "ds", "fold", "id", "no", "nr", "openml", "problem", "set", "table"}
_PLAIN |= {"task", "test", "uci", "pmlb", "statlog"}  # collections and numbers, and no source
_SHARE = 0.1  # of the datasets: fewer relatives hardly matter
FEW = "too few to be sure"  # ends a hint
_SHOWN = 3  # names in a hint


def related_names(names: Sequence[str]) -> Mapping[str, str]:
    """Return a source for each dataset if their names look related, else an empty mapping.

    Names look related that have the same beginning before a mark, or before a number or a capital
    letter at their end. A beginning that most of them share is no sign: datasets are numbered so.

    Examples
    --------
    >>> sources = related_names(["ecg1", "ecg2", "CricketX", "CricketY", "iris"])
    >>> sources["ecg1"] == sources["ecg2"] != sources["iris"]
    True
    >>> related_names(["data1", "data2", "data3"])
    {}
    """
    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(_stem(name), []).append(name)
    several = {
        stem: family
        for stem, family in families.items()
        if 1 < len(family) <= len(names) / 2 and stem.lower() not in _PLAIN
    }
    n = sum(map(len, several.values()))
    if n < 3 or n < _SHARE * len(names):
        return {}
    of = {name: f"{stem} ..." for stem, family in several.items() for name in family}
    return {name: of.get(name, name) for name in names}


def _stem(name: str) -> str:
    match = _MARKED.match(name) or _NUMBERED.match(name)
    return name if match is None else next(filter(None, match.groups()))


def related_hint(names: Sequence[str], least: int = 0) -> str:
    """Return a hint on datasets whose names look related; empty if none do.

    It tells where related ones, as one each, would be fewer than the ``least`` that can decide.

    Examples
    --------
    >>> related_hint(["solar/H", "solar/D", "solar/W", "m4/D", "m4/W", "m4/Y"])
    "6 of 6 datasets may be related, by their names ('solar/H', 'solar/D', 'solar/W', ...)"
    """
    sources = related_names(names)
    members = [name for name, source in sources.items() if name != source]
    if not members:
        return ""
    some = sorted(members, key=lambda name: sources[name] != sources[members[0]])
    shown = ", ".join(map(repr, some[:_SHOWN])) + ", ..." * (len(some) > _SHOWN)
    hint = f"{len(members)} of {len(names)} datasets may be related, by their names ({shown})"
    n = len({*sources.values()})
    return hint + f"; if related ones count as one, there are {n}, {FEW}" * (n < least)
