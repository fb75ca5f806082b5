"""No two statements of a decision contradict each other, on the first screen and in its folds."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from mlaut.analysis import compare
from mlaut.analysis.common.tests import TESTS
from mlaut.analysis.deciding.certainty import differs
from mlaut.analysis.deciding.verdicts import (
    AVOID,
    BASELINE,
    EQUAL,
    FAILS,
    LIKELY,
    OPEN,
    UNDECIDED,
    USE,
    VERDICTS,
    shown_better,
)

TABLES = 300
SOME = range(0, TABLES, 30)  # one of each kind, without long tests
RULED_OUT = (UNDECIDED, LIKELY, FAILS, AVOID, BASELINE)


def drawn(seed):
    """Return the decision on a random table, and its comparison."""
    rng = np.random.default_rng([44, seed])
    n, k = int(rng.integers(2, 31)), int(rng.choice([*range(2, 10), 14, 20]))
    spread = rng.choice([0, 0.01, 0.03, 0.06]) * np.sort(rng.random(k))
    noise = {
        "normal": rng.normal(0, 0.03, (n, k)),
        "heavy": rng.standard_t(2.2, (n, k)) * 0.02,
        "skewed": (rng.exponential(1, (n, k)) - 1) * 0.03,
    }[rng.choice(["normal", "heavy", "skewed"])]
    scores = (rng.uniform(0.6, 0.9, (n, 1)) - spread + noise).clip(0.01, 0.99)
    names = ["dummy" if rng.random() < 0.3 and not at else f"m{at}" for at in range(k)]
    frame = pd.DataFrame(scores.round(int(rng.choice([2, 4, 15]))), columns=names)
    if rng.random() < 0.2:
        frame["twin"] = frame.iloc[:, -1]
    frame.index = [f"{rng.choice(['ecg', 'x', 'yeast', 'w'])}{at}" for at in range(n)]
    sources = {name: name.rstrip("0123456789") + name[-1] for name in frame.index}
    how = {"metric": "accuracy", "rope": float(rng.choice([0, 0, 0.01]))}
    if rng.random() < 0.4:
        how["clusters"] = sources
    if rng.random() < 0.2:
        frame, how = 1 - frame, {**how, "metric": "error"}
    if rng.random() < 0.15:
        frame, how = 10 * (1.01 - frame), {**how, "metric": "rmse", "rope": 0.0}
    if rng.random() < 0.15:
        frame, how = (
            frame.mask(
                rng.random(frame.shape)
                < rng.choice([0.01, 0.05, 0.4], k if "twin" not in frame else k + 1)
            ),
            {**how, "missing": "failures last"},
        )
    found = compare(frame, n_samples=0, **how)
    return found.decision(), found


def contradictions(found, of):
    """Yield what two statements of a decision contradict each other in, by the printed texts."""
    frame, leader = found.frame, found.leader
    verdict, screen = frame["verdict"], found.headline()
    answer, sure = screen[0], " ".join((*found.certainty(), *(x.text for x in found.steps())))
    meanings = found.meanings()
    every = " ".join((*screen, sure))

    def says(condition, text):
        if condition:
            yield f"{text}: {answer} | {sure}"

    open_ = {OPEN, UNDECIDED, LIKELY}
    yield from says(
        "not needed" in sure and open_ & {*verdict.drop(leader)},
        "more is not needed, and a strategy is open",
    )
    for old in ("by cost or speed", "take any", "treat them as equal", "already disagree"):
        yield from says(old in every, f"it says '{old}'")
    yield from says("nan" in every.lower().split(), "a number is missing")
    yield from says(len(answer) > 200, "the answer is longer than two lines")
    yield from says(" on 0 of " in every, "a reason that is none")
    yield from says(
        "none is ruled out" in answer and {*RULED_OUT} & {*verdict}, "none is ruled out, and one is"
    )
    yield from says(
        "first on all" in answer and "none is first" in sure, "it is first on all, and none is"
    )
    if not found.decided:
        yield from says({*verdict} != {UNDECIDED}, "too few datasets, and a verdict")
        yield from says("avoid" in answer or "P(best)" in frame, "too few datasets, and a claim")
        return
    if not leader:
        yield from says(OPEN in {*verdict} or USE in {*verdict}, "no choice is safe, and one is")
        return
    yield from says(not re.search(r", (use|keep) ", answer), "it does not say what to do")
    chance = frame["P(best)"][list(found.copies_of(leader))].sum()
    alone = {*found.best} <= {*found.copies_of(leader)}
    one_half = alone or round(chance, 2) > 0.5
    yield from says(bool(found.named(USE)) != one_half, "use, and the chance is below one half")
    yield from says(
        answer.startswith("On datasets") == (_doubts(found) or not one_half),
        "the tone does not follow the evidence",
    )
    yield from says(
        answer.startswith("If you") and one_half and found.doubt[1:] not in every,
        "nothing says why one must",
    )
    cost = re.search(r"[Cc]hoosing .* costs at most ([\d.]+)", answer)
    yield from says(cost and alone, "a cost of choosing among one")
    if cost:
        each = [f"{found.bounds[name]:.2g}" for name in found.best[1:] if name in found.bounds]
        yield from says(cost[1] not in each, "the largest cost is none of those of the table")
    yield from says(re.match(r"0 |.* 0 of ", sure), "none agrees, and that is told as a number")
    differ = [x for x in found.checks if differs(x, found) != "the same"]
    all_agree = re.search(r"([Aa]ll|[Bb]oth|[Tt]he) .*other analys[ei]s agrees?\.", sure)
    yield from says(bool(all_agree) and bool(differ), "all agree, and one differs")
    yield from says(
        bool(all_agree) and "not by most others" in every, "all agree, and most others do not"
    )
    if found.outlook and "chance to tell" in sure:
        rival = found.outlook.rival
        yield from says(verdict[rival] in (AVOID, BASELINE), "to be told from one to avoid")
        yield from says(
            {*found.best} - {*found.copies_of(leader)} and verdict[rival] != OPEN,
            "to be told from one that is not the next",
        )
    failed = frame["failures"][leader]
    yield from says(failed and "close to a tie" in sure, "a tie with what failed")
    for name, reason in frame["reason"].items():
        won, lost = (frame[column].fillna(0).astype(int)[name] for column in ("won", "lost"))
        shown = lost and binomtest(won, won + lost).pvalue <= found.chosen.analysis.alpha / len(
            frame
        )
        yield from says("chance" in reason and shown, f"{reason} Though tests show it")
        better = "most of its gap" in reason and found.losses[name] < 0
        yield from says(better, f"the gap of {name}, which is better on average")
        least = 0.1 * found.n
        yield from says("chance" in reason and failed >= least, f"{reason} The leader failed")
    for word in (OPEN, UNDECIDED, LIKELY, FAILS, AVOID, BASELINE):
        told = meanings.get(word) == VERDICTS[word]
        yield from says(bool(found.named(word)) != told, f"the legend and the rows on '{word}'")
    yield from _of_ranks(found, says)
    yield from _by_evidence(found, of, says)


def _doubts(found):
    """Return whether a check or one dataset less speaks against the leader."""
    turned = len(found.without) == 1 and found.then not in found.best
    return turned or any(found.leader in check.without for check in found.checks)


def _of_ranks(found, says):
    """Yield sets of ranks that have another rank 1 than the verdicts."""
    if "ranks" in found.frame:
        for name, verdict, ranks in found.frame[["verdict", "ranks"]].itertuples():
            first = ranks.startswith("1 to ")
            yield from says(first and verdict in RULED_OUT, f"{name}: {verdict}, and {ranks}")
            yield from says(not first and verdict in (USE, OPEN), f"{name}: {verdict}, and {ranks}")
            alone = verdict == USE and len(found.best) == 1
            yield from says(alone and ranks != "1 to 1", f"{name} alone is best, and {ranks}")


def _by_evidence(found, of, says):
    """Yield verdicts that are not what their printed definition says."""
    apart = of if of.apart is None else of.apart
    names, frame = list(apart.results.strategies), found.frame
    analysis = found.chosen.analysis
    worse = shown_better(apart.pairs[analysis.test], names, analysis.alpha).any(axis=0)
    failed = frame["failures"] > 0
    others = [check for check in found.checks if check.how.words != TESTS[analysis.test].words]
    for name, claimed in zip(names, worse, strict=True):
        verdict, doubts = frame["verdict"][name], sum(name in check.also for check in others)
        yield from says(verdict == AVOID and not claimed, f"avoid {name}, which no test shows")
        yield from says(
            verdict == AVOID and 2 * doubts > len(others), f"avoid {name}, and most others doubt"
        )
        yield from says(verdict in (OPEN, USE) and claimed, f"{name} may be best, and is worse")
        reason = frame["reason"][name]
        mixed = "but not on average" in reason
        yield from says(
            mixed and verdict in (AVOID, LIKELY), f"{name} is {verdict}, and not worse on average"
        )
        yield from says(
            verdict == UNDECIDED and not mixed and name != found.leader,
            f"{name} is undecided without the reason that defines it",
        )
        won, lost = frame["won"][name], frame["lost"][name]
        beaten = won < lost and binomtest(int(won), int(won + lost)).pvalue <= analysis.alpha
        yield from says(
            (verdict == FAILS)
            != (failed[name] and not beaten and verdict in (AVOID, LIKELY, FAILS)),
            f"{name} is {verdict}, and its failures say something else",
        )
        yield from says(
            verdict == FAILS and f"{name} has no result on" not in reason,
            f"no row says that {name} fails",
        )
        yield from says(
            verdict == EQUAL and not analysis.rope, f"{name} is as good without a region"
        )


def wrong_in(seeds):
    """Return what contradicts itself in the decisions on random tables."""
    every = ((seed, *drawn(seed)) for seed in seeds)
    return [f"table {seed}: {x}" for seed, *one in every for x in contradictions(*one)]


def test_no_two_statements_of_a_few_tables_contradict_each_other():
    wrong = wrong_in(SOME)
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_no_two_statements_contradict_each_other():
    wrong = wrong_in({*range(TABLES)} - {*SOME})
    assert not wrong, "\n".join(wrong)
