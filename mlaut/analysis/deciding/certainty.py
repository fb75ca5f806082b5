"""Certainty of a decision: its plan, other analyses, and what to do next."""

from collections.abc import Sequence
from dataclasses import replace

from mlaut.analysis.deciding.verdict_table import MARK, RELATED, Check, Step, VerdictTable
from mlaut.analysis.deciding.verdicts import DOUBTED, FAILS, LIKELY, OPEN, UNDECIDED
from mlaut.analysis.deciding.words import MOST_NAMED, be, listed, some, unit
from mlaut.analysis.sources.relatives import FEW

NEXT = "What next?"
_MOST_STEPS = 3
_MOST_OTHER = 3  # names of strategies on which other analyses differ; a table has all
_OTHERS = _MOST_OTHER, "of the others"
_NAMED = 3  # datasets without which another leads
_FRAGILE = 0.1  # share of the datasets up to which a change of leader is easy
_SLIM = 0.1  # a smaller chance comes true within five points on each board, a larger one does not


def planned(table: VerdictTable) -> str:
    """Return a sentence on when the analysis was chosen; empty where nothing was analysed."""
    chosen = table.chosen
    if table.alone:
        return ""
    if chosen.usual(table.scorer):
        return (
            "No plan was stored before the results: the default test was used. Take the answer as "
            "a hint, to be confirmed on other data."
        )
    changed = ", but changed" if chosen.changes else ""
    before = f"Planned{changed}" if chosen.planned else "Not planned"
    weaker = "" if chosen.planned else ", which makes the result less sure"
    return f"{before}: the way to compare was {chosen.when}{weaker}."


def agreement(table: VerdictTable) -> str:
    """Return how many other analyses agree, where others differ, and the smallest change."""
    parts = [_agree(table)] if table.checks else []
    if table.without and len(table.first) == 1 and not _easy(table):
        few = len(table.without)
        which = f"any {unit(table, 1)} is" if few == 2 else f"any {few - 1} {unit(table)} are"
        parts.append(f"{table.leader} stays first if {which} left out.")
    return " ".join(parts)


def shaky(table: VerdictTable) -> str:
    """Return a phrase on the few datasets without which another leads; else an empty text."""
    if len(table.first) != 1 or not _easy(table) or table.doubt.startswith("Without "):
        return ""
    names, some = unit(table, len(table.without)), listed(table.without, _NAMED)
    many = len(table.without) > _NAMED
    names = f"{len(table.without)} {names} ({some})" if many else f"{names} {some}"
    return f"First place is shaky: without {names}, {table.then} leads"


def _easy(table: VerdictTable) -> bool:
    """Return whether few datasets left out change the leader."""
    return 0 < len(table.without) <= max(1, _FRAGILE * (table.n_sources or table.n))


def _agree(table: VerdictTable) -> str:
    """Return a sentence on the other analyses: what they say of the best, then of the others."""
    n, best = len(table.checks), len(table.best)
    others = "the other analysis" if n == 1 else f"{n} other analyses"
    found, unsure = (_names(table, kept) for kept in ("without", "also"))
    texts = []
    if found:
        k = sum(bool(check.without) for check in table.checks)
        shows = f"{k} of {others} show{'s' * (k == 1)}" if n > 1 else f"{others} shows"
        texts.append(f"{shows} {some(found, *_OTHERS)} to be worse")
    elif unsure and best:
        kept = f"the {best} that {OPEN}" if best > 1 else f"{table.leader} as the best"
        texts.append(f"{f'{others} keeps' if n == 1 else f'all {others} keep'} {kept}")
    if unsure:
        texts.append(_unconfirmed(table, unsure))
    texts = texts or [
        f"not {x.how.words} (see above)"  # where `missing` tells it
        if x.how.treats and x.than
        else f"{x.how.words}, {differs(x, table, _MOST_OTHER)}"
        for x in table.checks
        if x.than or x.faint
    ]
    if not texts:
        every = {1: f"{others} agrees", 2: "both other analyses agree"}
        return f"Yes: {every.get(n, f'all {others} agree')}."
    start = "No" if table.leader in found else "Partly"
    return f"{start}: {'; '.join(texts)}."


def _unconfirmed(table: VerdictTable, unsure: Sequence[str]) -> str:
    """Return how many of the other analyses confirm a verdict that some do not."""
    n, worse = len(table.checks), "different" if table.control else "worse"
    if n == 1 or len(unsure) > _MOST_OTHER:
        who = "it does" if n == 1 else "some do"
        return f"{who} not confirm {some(unsure, *_OTHERS)} as {worse}"
    kept = {name: sum(name not in check.also for check in table.checks) for name in unsure}
    told = [f"{name} by {k or 'none'} of {n}" for name, k in kept.items()]
    return f"shown to be {worse}: {listed(told)}"


def _names(table: VerdictTable, kept: str) -> list[str]:
    """Return the strategies on which a check differs."""
    differ = {name for check in table.checks for name in getattr(check, kept)}
    return [name for name in map(str, table.frame.index) if name in differ]


def next_steps(table: VerdictTable, outlook: Sequence[Step]) -> tuple[Step, ...]:
    """Return what to do, the most important first: one to three steps, unless more were warned."""
    steps = [*table.cautions]
    if table.hint or any(x.how == RELATED and table.leader in x.without for x in table.checks):
        steps.append(Step("Say which datasets have one source (clusters)."))
    steps += outlook
    if table.fragile:
        n = len(table.fragile)
        which = "1 verdict depends" if n == 1 else f"{n} verdicts depend"
        several = not outlook and len(table.best) > len(table.ahead)
        steps += [Step(f"Try those that {OPEN} on your own data.")] * several
        steps.append(Step("Fill in the missing results, if you can.", f"{which} on them ({MARK})."))
    return (*steps[: max(_MOST_STEPS, len(table.cautions))],) or (_last_step(table),)


def numbered(steps: Sequence[Step]) -> list[str]:
    """Return steps as lines: one after its question, or several with their numbers below it."""
    if len(steps) == 1:
        return [f"{NEXT} {steps[0].text}"]
    return [NEXT, *(f"{n}. {step.text}" for n, step in enumerate(steps, 1))]


def _last_step(table: VerdictTable) -> Step:
    """Return what to do where nothing has to be mended."""
    if len(table.best) > len(table.ahead):
        return Step(f"To tell the {len(table.best)} that {OPEN} apart, add {unit(table)}.")
    if table.control and (unsure := table.named(UNDECIDED)):
        return Step(f"To tell {some(unsure, *_OTHERS)} from {table.leader}, add {unit(table)}.")
    others = unit(table) if table.sets is None else "data"
    kind = f"For {others} of another kind, compare on some of that kind."
    return Step("Nothing has to be mended.", kind)


def prospects(table: VerdictTable) -> list[Step]:
    """Return whether more datasets would settle hardly anything, and whether folds help more."""
    n, units = table.n_sources or table.n, unit(table)
    if not table.decided:
        more = table.least - n
        few = f"{more} more {unit(table, more)}"
        if (table.frame["average rank"] == 1).any():  # one is the best on every dataset
            then = "Then a difference can be shown, if all agree with these."
            return [Step(f"Add {few}.", then)]
        why = "No single one is first on all of these."
        return [Step(f"Add at least {few}, and perhaps more.", why)]
    seen = table.outlook
    if seen is None:  # with the fewest datasets, one more could still change a verdict
        settled = not {*table.frame["verdict"]} & {OPEN, UNDECIDED, LIKELY}
        enough = table.leader and settled and n > table.least
        return [Step(f"More {units} are not needed for these verdicts.")] * bool(enough)
    both = f"{table.leader} and {seen.rival}"
    slim = seen.chance < _SLIM
    failed = table.frame["failures"][[table.leader, seen.rival]].any()
    chance = f"{n} more {units} like these, the chance to tell"
    step = Step(f"More {units} would hardly help.", f"With {chance} {both} apart is below 10 %.")
    if table.leader in table.named(OPEN):  # of one to use, the chance to be the best is large
        tie = f"{both} are close to a tie: with {chance} them apart is below 10 %."
        n_best = len(table.best)
        who = listed(table.best) if n_best <= _MOST_OTHER else f"the {n_best} that {OPEN}"
        step = Step(f"Try {who} on your own data.", step.why if failed else tie)
    told = [step] * slim
    by_folds = seen.folds > 1 / 2
    if by_folds or (seen.folds <= 1 / 2 and not slim):  # it may be unknown
        told += [Step(f"To tell {both} apart, add {'folds or repeats' if by_folds else units}.")]
    return told


def missing(table: VerdictTable) -> str:
    """Return how missing results count, and what another treatment of them changes."""
    n = int(table.frame["failures"].sum())
    start = "1 result is missing: it" if n == 1 else f"{n} results are missing: each"
    told = [_treated(table, check) for check in table.checks if check.how.treats]
    return ". ".join([f"{start} counts as last place"] * table.last + told)


def _treated(table: VerdictTable, check: Check) -> str:
    """Return what another treatment of missing results says of the choice, and of others."""
    how, leader = f"{check.how.words[:1].upper()}{check.how.words[1:]}", table.leader
    if differs(check, table) == "the same":
        return f"{how}, the {'other ' * bool(table.named(FAILS))}verdicts are the same"
    kept = "is shown to be worse" if leader in check.without else "may still be best"
    names = [x for x in table.fragile if x in (*check.also, *check.than)]
    many = f"{len(names)} of those to avoid ({MARK}) are not confirmed"
    few = f"{listed(names)} ({MARK}) {be(names)} not shown to be worse than {leader}"
    but = f", but {few if len(names) <= _MOST_OTHER else many}"
    return f"{how}, {leader} {kept}{but * bool(names)}"


def differs(check: Check, table: VerdictTable, most: int = MOST_NAMED) -> str:
    """Return how the answer of a check differs, with so many names."""
    worse = "differ" if table.control else "be worse"
    parts = (
        (check.also, f"not shown to {worse}"),
        (check.without, f"shown to {worse}"),
        (check.than, f"not shown to be worse than {table.leader}"),
        (check.faint, f"not shown to {worse} (too few datasets)"),
    )
    texts = [f"{listed(names, most)} {be(names)} {verb}" for names, verb in parts if names]
    return ", and ".join(texts) or "the same"


def with_relatives(hint: str, table: VerdictTable | None = None) -> str:
    """Return a hint on related names, with what follows for a decision if related ones are one.

    Strategies whose verdicts say already that other tests doubt them are left out of it.
    """
    if not hint:
        return ""
    check = next((x for x in table.checks if x.how == RELATED), None) if table else None
    if hint.endswith(FEW):
        return f"{hint}."
    if not (table and check):
        return f"{hint}. If they are, the evidence is weaker."
    doubted = [name for word in DOUBTED for name in table.named(word)]
    firm = replace(check, also=tuple(name for name in check.also if name not in doubted))
    if (found := differs(firm, table, _NAMED)) == "the same":
        return f"{hint}; if related ones count as one, the choice is the same."
    return f"{hint}. If related ones count as one dataset, {found}."
