"""The decision on one dataset in plain words: the same verdicts, from the folds or rows of a table.

It is about the strategies on new rows of the same source, not about other datasets.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from mlaut.analysis.common.display import SCENARIOS, number
from mlaut.analysis.common.letters import letter_groups
from mlaut.analysis.common.result_types import Pairwise
from mlaut.analysis.deciding import certainty, words
from mlaut.analysis.deciding.decision import Decision, training_seconds
from mlaut.analysis.deciding.one_dataset import (
    JOINT,
    LACOSTE,
    MAIN_TESTS,
    MCNEMAR,
    REGION,
    OneDataset,
)
from mlaut.analysis.deciding.terms import Chosen, default_test
from mlaut.analysis.deciding.verdict_table import MOST_CHOSEN, Check
from mlaut.analysis.deciding.verdicts import (
    AVOID,
    EQUAL,
    OPEN,
    UNDECIDED,
    USE,
    VERDICTS,
    YARDSTICK,
    YARDSTICKS,
    copies_in,
    shown_better,
    verdicts_against,
)
from mlaut.analysis.methods.bayes.sign_tests import EQUIVALENT
from mlaut.analysis.racing.course import control_of
from mlaut.analysis.results.results import Results
from mlaut.records import NOT_RUN

_LIKELIEST = 0.5  # as in a decision on many datasets
_TOLD = 3  # differences of the headline, of strategies that may be the best
_FAR = 10  # times the rows, above which a forecast says only that they are many
_FOLDS = 10  # of groups, above which more add little
_POWER = 0.84  # normal quantile of a power of 0.8
_MEANINGS = {
    UNDECIDED: "nothing is shown on it",
    OPEN: "not shown to be worse than another",
    AVOID: "shown to be worse than another, all pairs together",
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OneDecision(Decision):
    """Decision on one dataset. It has the attributes of `VerdictTable`, and these.

    Attributes
    ----------
    one : OneDataset
        The numbers.
    correction : str
        Correction of the p-values for the number of pairs.
    rivals : tuple of str
        Strategies that may be as good as the leader, the nearest first.
    """

    one: OneDataset
    correction: str
    rivals: tuple[str, ...] = ()

    @property
    def corrected_by(self) -> str:
        """How p-values are corrected for the number of pairs, in words."""
        if self.control or (self.correction == JOINT and self.one.test == MCNEMAR):
            return "Holm's"
        return {JOINT: "jointly", "holm": "Holm's"}.get(self.correction, f"the {self.correction}")

    @property
    def dataset(self) -> str:
        """Name of the dataset."""
        return self.one.results.datasets[0]

    @property
    def decided(self) -> bool:
        """Return whether a test is valid for the split."""
        return not self.one.problem

    @property
    def firm(self) -> bool:
        """Return whether the advice needs no "If you must choose now"."""
        return self.decided

    def title(self) -> str:  # noqa: D102 - inherited
        return f"Decision by {self.metric} on {self.dataset}, scenario {self.scenario}"

    def display_frame(self) -> pd.DataFrame:
        """Return the displayed table, without columns that say nothing here."""
        plain = [
            "average rank",
            "datasets",
            "reason",
            *["failures"] * (not self.frame["failures"].any()),
        ]
        return self.frame.drop(columns=plain).dropna(axis="columns", how="all").map(number)

    def answer(self) -> str:  # noqa: D102 - inherited
        first = words.listed(self.first, MOST_CHOSEN)
        if not self.decided:
            use = f"use {'one of ' * (len(self.first) > 1)}{first}"
            return (
                f"Nothing can be shown on {self.dataset}: {self.one.problem}. "
                f"If you must choose now, {use}."
            )
        parts = [self._choice(first)]
        near = [name for name in self.named(OPEN) if name not in self.first]
        for names, verb in ((self.named(EQUAL), "practically as good"), (near, OPEN)):
            if names:
                few = names if len(names) <= MOST_CHOSEN else (f"{len(names)} others",)
                verb = verb if verb == OPEN else f"{words.be(names)} {verb}"
                parts.append(f"{words.listed(few)} {verb}")
        if worse := self.named(AVOID):
            rest = words.listed(worse) if len(worse) <= MOST_CHOSEN else f"the other {len(worse)}"
            size = self._sizes(worse)
            parts.append(f"avoid {rest}" + (f" ({size})" if size else ""))
        return f"{'; '.join(parts)}."

    def _choice(self, first: str) -> str:
        where = f"On rows like those of {self.dataset}"
        if self.control:
            if use := self.named(USE):
                return f"{where}, use {words.listed(use)} in place of {self.leader}"
            return f"{where}, no other strategy is shown to be better than {self.leader}"
        chance = self.frame["P(best)"][list(self.first)].sum()
        others = {*self.named(OPEN)} - {*self.first}
        sure = f" (chance to be the best {words.probability(float(chance))})" if others else ""
        if self.named(USE):
            return f"{where}, use {words.listed(self.named(USE))}{sure}"
        together = "are first together" if len(self.first) > 1 else "leads"
        return f"{where}, {first} {together}{sure}"

    def _sizes(self, names: tuple[str, ...]) -> str:
        if not names or "difference" not in self.frame:
            return ""
        sizes = self.frame["difference"][list(names)].abs().dropna()
        side = "below" if self.scorer.greater_is_better else "above"
        ends = dict.fromkeys(number(size, 2) for size in (sizes.min(), sizes.max()))
        return f"{self.metric} {' to '.join(ends)} {side} {self.first[0]}" if len(sizes) else ""

    def headline(self) -> tuple[str, ...]:  # noqa: D102 - inherited
        gaps = [f"{gap[:1].upper()}{gap[1:]}." for gap in self.gaps]
        texts = (*self._gaps_of_rivals(), self._yardstick(), words.trade_off(self), *gaps)
        return tuple(filter(None, (self.answer(), *texts, self._about())))

    def _gaps_of_rivals(self) -> list[str]:
        """Return a sentence with the difference and its interval for each of the nearest rivals."""
        if not self.decided:
            return []
        name = self.first[0]
        low, high = self.frame.loc[name, ["low", "high"]]
        ends = f", {_percent(self)} interval [{number(low, 3)}, {number(high, 3)}]"
        own = number(self.frame.loc[name, f"mean {self.metric}"], 3)
        texts = [f"{name}: {self.metric} {own}{ends if low == low else ''}."]
        near = [*self.rivals, *self.named(AVOID), *self.named(USE)]
        near = [name for name in dict.fromkeys(near) if name not in self.first]
        up = self.scorer.greater_is_better
        for name in near[: _TOLD if self.rivals else 1]:
            value, low, high = map(float, self.frame.loc[name, _GAP].to_numpy())
            if np.isnan(low):
                continue
            ends = f"[{number(low, 2)}, {number(high, 2)}]"
            better = "better" if (value > 0) == up else "worse"
            gap = f"{number(value, 2)} of {self.metric} ({better})"
            texts.append(f"{name} minus {self.first[0]}: {gap}, {_percent(self)} interval {ends}.")
        return texts

    def _yardstick(self) -> str:
        names = () if self.control else self.named(YARDSTICK)[:1]
        size = self._sizes(names)
        return f"{names[0]} is for reference only, not a candidate ({size})." if size else ""

    def _about(self) -> str:
        """Return what the verdicts are about, and what cannot be concluded."""
        what = {
            "(b)": "these learners, trained again on such rows",
            "(a)": "these fitted models, on new rows",
        }[self.scenario]
        return (
            f"This is about {what} (scenario {self.scenario}); other datasets may have another "
            "order, and one dataset says nothing on them."
        )

    @property
    def sets(self) -> pd.DataFrame:
        """Scores of the test sets, strategies in columns; no row for a single test set."""
        results = self.one.results
        scores = results.cells[0][:, results.expected[0]].T
        table = pd.DataFrame(scores, columns=list(results.strategies))
        return table if len(table) > 1 else table.iloc[:0]

    def cards(self) -> tuple[tuple[str, str], ...]:
        """Return the questions on how sure the answer is, each with its answer."""
        lines = (certainty.planned(self), self._method(), self._agreement(), self._prospects())
        return tuple((asked, text) for asked, text in zip(_ASKED, lines, strict=True) if text)

    def certainty(self) -> tuple[str, ...]:  # noqa: D102 - inherited
        return tuple(text for _, text in self.cards())

    def _method(self) -> str:
        if not self.decided:
            return ""
        n = f"{self.n_pairs} pair{'s' * (self.n_pairs > 1)}"
        by = self.corrected_by
        how = f"all {n} jointly" if by == "jointly" else f"with {by} correction for {n}"
        corrected = f", {how}" if self.n_pairs > 1 else ""
        sets = f"{self.one.n_sets} test sets" if self.scenario == "(b)" else "one test set"
        rows = f"{self.one.n_rows:,} rows" if self.one.n_rows else "taken as cross-validation"
        return (
            f"Tested by {MAIN_TESTS[self.one.test].words} on {self.one.scheme} ({sets}, "
            f"{rows}){corrected}: with probability "
            f"{number(1 - self.chosen.analysis.alpha)} nothing here is wrongly called worse."
        )

    def _agreement(self) -> str:
        differ = [f"{check.how}: {certainty.differs(check)}" for check in self.checks]
        differ = [text for text, check in zip(differ, self.checks, strict=True) if not check.same]
        if not self.checks:
            return ""
        return f"Asked otherwise, {'; '.join(differ)}." if differ else "Asked otherwise: the same."

    def _prospects(self) -> str:
        """Return what would settle the nearest open pair: more repeats, or more rows."""
        if not self.decided or not self.rivals or self.control:
            return "" if self.decided else self._way_out()
        rival, rows = self.rivals[0], self.one.n_rows
        pair = f"{self.first[0]} from {rival}"
        z, gap, (many_sets, as_it_is) = self._needed(rival)
        if not gap:
            return f"{rival} has the same mean {self.metric} as {self.first[0]}."
        grouped, again = "group" in self.one.scheme, self.scenario == "(b)"
        scheme = "'group_kfold(10)'" if grouped else "'repeated_kfold(10, 10)'"
        if again and z * many_sets <= gap and (not grouped or self.one.n_sets < _FOLDS):
            which = "folds" if grouped else "repeats of the split"
            return f"More {which}, such as {scheme}, may tell {pair}."
        times = (z * as_it_is / gap) ** 2
        start = f"More {'folds' if grouped else 'repeats'} alone would hardly tell {pair}: it takes"
        start = start if again else f"To tell {pair} takes"
        if times > _FAR or not math.isfinite(times):
            return f"{start} more than {_FAR} times the rows."
        if not rows:
            return f"{start} about {max(times, 1):.2g} times the rows (a rough forecast)."
        many = f"about {float(f'{max(times, 1) * rows:.1g}'):,.0f} rows like these"
        return f"{start} {many} in place of {rows:,} (a rough forecast)."

    def _needed(self, rival: str) -> tuple[float, float, tuple[float, float]]:
        """Return a quantile, the difference, and its errors after many repeats and as it is."""
        from scipy.special import ndtri

        one, names = self.one, list(self.one.results.strategies)
        ends = sorted((names.index(self.first[0]), names.index(rival)))
        pairs = list(zip(one.pairs.first.tolist(), one.pairs.second.tolist(), strict=True))
        at = pairs.index((ends[0], ends[1]))
        gap, error = abs(float(one.gaps.value[at])), float(one.gaps.standard_error[at])
        z = float(-ndtri(self.chosen.analysis.alpha / 2 / self.n_pairs)) + _POWER
        shared = one.ratio / (1 / one.n_sets + one.ratio) if one.ratio == one.ratio else 1.0
        return z, gap, (error * math.sqrt(shared), error)

    def _way_out(self) -> str:
        if "time" in self.one.scheme:
            return "Later rows, tested when they are known, would decide."
        return "Folds would decide: split with 'kfold(10)', or better 'repeated_kfold(10, 10)'."

    def details(self) -> tuple[str, ...]:  # noqa: D102 - inherited
        rope = self.chosen.analysis.rope
        region = f" Practically equal: within {number(rope)} of {self.metric}." if rope else ""
        about = self.one.estimand and f" The intervals: {self.one.estimand}."
        return (f"Scenario {self.scenario}: {SCENARIOS[self.scenario]}.{about}{region}",)

    def notes_text(self) -> tuple[str, ...]:  # noqa: D102 - inherited
        noted = zip(self.one.results.strategies, self.one.notes, strict=True)
        told: dict[str, list[str]] = {}
        for name, note in noted:
            told.setdefault(note, []).append(name)
        shared = "P(best): probability of the best expected score on this source"
        letters = "groups: strategies that share a letter are not shown to differ"
        own = [f"{words.listed(names)}: {note}" for note, names in told.items() if note]
        return (*((shared, letters) if self.decided else ()), *own)

    def reading(self) -> str:  # noqa: D102 - inherited
        meanings = {**VERDICTS, **_MEANINGS}
        named = [word for word in VERDICTS if word != USE and self.named(word)]
        texts = [f"{word.capitalize()}: {meanings[word]}." for word in named]
        texts += [f"{self.metric} is an error: lower is better."] * (
            not self.scorer.greater_is_better
        )
        if "difference" in self.frame:
            texts.append(f"Difference: of this row minus {self.first[0]}.")
        so = ", each for itself; verdicts hold for all pairs together" if self.decided else ""
        known = "low" in self.frame and self.frame["low"].notna().any()
        texts += [f"In brackets: {_percent(self)} intervals{so}."] * bool(known)
        texts += ["Seconds to tune and fit once, the mean over folds."] * self.slow
        return " ".join(texts)


_ASKED = (
    *("Was it planned?", "How was it tested?"),
    *("Do other ways to compare agree?", "Would more data settle it?"),
)
_GAP = ["difference", "difference low", "difference high"]


def _percent(decision: OneDecision) -> str:
    return f"{number(100 * (1 - decision.chosen.analysis.alpha))} %"


def decide_one(
    one: OneDataset,
    tests: Mapping[str, Pairwise],
    chosen: Chosen,
    *,
    correction: str = JOINT,
    scored: Results | None = None,
) -> OneDecision:
    """Decide the question of an analysis on one dataset.

    Parameters
    ----------
    one : OneDataset
    tests : mapping of str to Pairwise
        Its tests of pairs (`OneDataset.tests`), the main one first.
    chosen : Chosen
        The analysis. Its test is one of several datasets, and is not used.
    correction : str, default "joint"
        Correction of ``tests``.
    scored : Results, optional
        The results before missing cells were treated.

    Notes
    -----
    A strategy is to be avoided if the main test shows another to be better, after the correction
    for all pairs: with probability ``1 - alpha`` no such claim is false. The others may be the
    best; the leader has the best mean of them. It is to be used if no other may be the best, or if
    its probability to be the best is above one half, as printed.
    """
    results = one.results
    names, metric, given = list(results.strategies), results.metric, chosen.analysis
    analysis = replace(
        given,
        metric=metric.name,
        test=given.test or default_test(metric),
        rope=results.region(given.rope),
    )
    chosen = replace(chosen, analysis=analysis)
    place = control_of(analysis.question, names)
    frame = _frame(one, scored or results)
    draft = OneDecision(
        chosen=chosen,
        scorer=metric,
        frame=frame,
        leader="",
        first=tuple(frame.index[frame["average rank"] == frame["average rank"].min()]),
        n=1,
        least=1,
        n_pairs=len(names) - 1 if place is not None else len(names) * (len(names) - 1) // 2,
        gaps=results.gaps,
        scenario=one.scenario,
        one=one,
        correction=correction,
        copies=copies_in(one.losses[None], names),
    )
    if one.problem:
        return draft
    control = None if place is None else names[place]
    better = shown_better(next(iter(tests.values())), names, analysis.alpha, control)
    top = np.asarray(~better.any(axis=0))
    alone = frame["average rank"][names].where(top, np.inf)
    first = list(alone.index[alone == alone.min()]) if control is None else [control]
    chances = one.chances()
    verdicts = pd.Series(np.where(top, OPEN, AVOID), names, dtype=object)
    if control is not None:
        verdicts[:] = verdicts_against(better, names.index(control))
    else:
        baseline = np.array([any(part in name.lower() for part in YARDSTICKS) for name in names])
        verdicts[baseline & ~top] = YARDSTICK
        likely = round(chances[first].sum(), 2) > _LIKELIEST
        verdicts[first] = USE if top.sum() == len(first) or likely else OPEN
    if analysis.rope and REGION in tests:
        equal = _equal(tests[REGION], first[0], analysis.alpha)
        verdicts[equal.drop(first, errors="ignore")[lambda chosen: chosen].index] = EQUAL
    at = names.index(first[0])
    groups = pd.Series(
        letter_groups(~(better | better.T)[np.ix_(*[_places(names, frame)] * 2)]), frame.index
    )
    frame = frame.assign(verdict=verdicts, groups=groups, **{"P(best)": chances})
    frame = frame.join(_gaps_from(tests, one, at)) if len(names) > 1 else frame
    open_ = [name for name in frame.index if verdicts[name] in (OPEN, EQUAL) and name not in first]
    draft = replace(
        draft,
        frame=_ordered(frame),
        leader=first[0],
        first=tuple(first),
        n_shown=int(better.sum()),
        rivals=tuple(open_),
        time_shares=_time_shares(frame, first[0]),
    )
    return replace(draft, checks=_checks(draft, tests, names))


def _places(names: list[str], frame: pd.DataFrame) -> list[int]:
    return [names.index(str(name)) for name in frame.index]


def _frame(one: OneDataset, scored: Results) -> pd.DataFrame:
    """Return the columns of the table that need no test, the best mean first."""
    names, metric = list(one.results.strategies), one.results.metric
    known = scored.select(strategies=names, datasets=one.results.datasets)
    losses = pd.Series(one.losses, names).round(12)
    frame = pd.DataFrame({"verdict": UNDECIDED, "average rank": losses.rank(method="min")})
    frame[f"mean {metric.name}"] = one.ends.value
    frame["low"], frame["high"] = one.ends.low, one.ends.high
    seconds = training_seconds(known)
    if seconds is not None:
        frame["training seconds"] = seconds.mean()
    lacking = np.isnan(known.cells[0]) & known.expected[0]
    for at, reason in known.reasons.items():
        lacking[at[1:]] &= reason not in NOT_RUN
    frame["failures"] = lacking.any(axis=(1, 2)).astype(int)
    frame["datasets"] = 1 - frame["failures"]
    frame["reason"] = ""
    return frame.sort_values("average rank", kind="stable").rename_axis("strategy")


def _gaps_from(tests: Mapping[str, Pairwise], one: OneDataset, leader: int) -> pd.DataFrame:
    """Return the difference of each score from the leader's, its interval, and p."""
    main, up = next(iter(tests.values())), one.results.metric.greater_is_better
    parts = (main.table(f"mean difference{end}").iloc[:, leader] for end in ("", " low", " high"))
    value, low, high = parts
    columns = (-value, -high, -low) if up else (value, low, high)
    table = pd.concat(columns, axis=1, keys=_GAP)
    return table.assign(p=main.p_values.iloc[:, leader])


def _time_shares(frame: pd.DataFrame, leader: str) -> dict[str, float]:
    if "training seconds" not in frame or not frame["training seconds"][leader] > 0:
        return {}
    shares = (frame["training seconds"] / frame["training seconds"][leader]).drop(leader).dropna()
    return {str(name): float(share) for name, share in shares.items()}


def _equal(region: Pairwise, leader: str, alpha: float) -> pd.Series:
    """Return which strategies are practically equal: at most alpha of them falsely, in all."""
    p = region.table(EQUIVALENT)[leader].drop(leader).sort_values(ascending=False, kind="stable")
    return (1 - p).cumsum() <= alpha


def _checks(
    decision: OneDecision, tests: Mapping[str, Pairwise], names: list[str]
) -> tuple[Check, ...]:
    """Return what the other tests of the dataset say of the verdicts."""
    if decision.control:
        return ()
    alpha, checks = decision.chosen.analysis.alpha, []
    for key, pairs in list(tests.items())[1:]:
        if key == LACOSTE:  # of the tested models alone
            continue
        worse = np.asarray(shown_better(pairs, names, alpha).any(axis=0))
        shown = {name for name, claimed in zip(names, worse, strict=True) if claimed}
        also = [name for name in decision.frame.index if name in {*decision.named(AVOID)} - shown]
        more = {*decision.named(OPEN), *decision.named(USE)} & shown
        without = [name for name in decision.frame.index if name in more]
        how = f"by the {pairs.name.partition(',')[0]}"
        checks.append(Check(how, tuple(also), tuple(without), decision.leader not in shown))
    return tuple(checks)


def _ordered(frame: pd.DataFrame) -> pd.DataFrame:
    last = ["training seconds", "failures", "datasets", "P(best)", "groups", "reason"]
    kept = [name for name in frame if name not in last]
    return frame[[*kept, *(name for name in last if name in frame)]]
