"""The decision on one dataset in plain words: the same verdicts, from the folds or rows of a table.

It is about the strategies on new rows of the same source, not about other datasets.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from mlaut.analysis.common.display import SCENARIOS, number
from mlaut.analysis.common.result_types import Pairwise
from mlaut.analysis.deciding import one_dataset as of_one
from mlaut.analysis.deciding import verdicts as verdict
from mlaut.analysis.deciding import words
from mlaut.analysis.deciding.decision import (
    LIKELIEST,
    Decision,
    checks,
    in_order,
    time_shares,
    with_cells,
    with_groups,
)
from mlaut.analysis.deciding.evidence import resolved
from mlaut.analysis.deciding.one_dataset import JOINT, MAIN_TESTS, OneDataset
from mlaut.analysis.deciding.terms import Chosen, control_of
from mlaut.analysis.deciding.verdict_table import MOST_CHOSEN, Alone, Step, Way
from mlaut.analysis.methods.bayes.sign_tests import EQUIVALENT
from mlaut.analysis.results.results import Results
from mlaut.records import scheme_in_words

_FOLDS = 10  # of groups, above which more add little
_POWER = 0.84  # normal quantile of a power of 0.8
_BOTH = (
    "p: how often chance alone makes such a difference; chance: how likely each is the best. A "
    "large p beside a large chance is no contradiction: more data may settle it"
)
_MEANINGS = {
    verdict.UNDECIDED: "nothing is shown on it",
    verdict.OPEN: "not shown to be worse than another, however small its chance",
    verdict.AVOID: "shown to be worse than another",
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
    """

    one: OneDataset
    correction: str

    @property
    def corrected_by(self) -> str:
        """How p-values are corrected for the number of pairs, in words."""
        if self.control or (self.correction == JOINT and not self.one.joint):
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
    def doubt(self) -> str:
        """Nothing speaks against the leader where anything is decided."""
        return ""

    def title(self) -> str:  # noqa: D102 - inherited
        return f"Decision by {self.metric} on {self.dataset}, scenario {self.scenario}"

    def display_frame(self) -> pd.DataFrame:
        """Return the displayed table, without columns that say nothing here."""
        plain = ["average rank", "datasets"] + ["failures"] * (not self.frame["failures"].any())
        plain += ["verdict"] * self.alone
        return self.frame.drop(columns=plain).dropna(axis="columns", how="all").map(number)

    @property
    def where(self) -> str:
        """Return what the answer is about."""
        return f"On {self.dataset}" if self.one.of_runs else f"For new data like {self.dataset}"

    def said(self, letters: int = words.TWO_LINES, others: bool = True) -> list[str]:  # noqa: D102
        if self.decided:
            return words.said(self, letters, others)
        nothing = f"Nothing can be shown on {self.dataset}: {self.one.problem}"
        return self._order() if self.alone else [nothing, words.advice(self)]

    @property
    def alone(self) -> bool:
        """Return whether there is one score of each strategy, which shows an order and no more."""
        return self.one.problem == of_one.ALONE

    def _order(self) -> list[str]:
        """Return who is first, and by how much before the second, of one score of each."""
        scores = self.frame[f"mean {self.metric}"]
        own, n = number(scores.iloc[0], 4), f"{len(scores)} strategies"
        text = f"On {self.dataset} {words.listed(self.first)} {words.be(self.first)} first"
        text += f"{' together' * (len(self.first) > 1)} of {n}, with {self.metric} {own}"
        if len(rest := scores.index[len(self.first) :]):
            gap = number(abs(scores.iloc[0] - scores[rest[0]]), 4)
            text += f", {gap} before {rest[0]}"
        return [text, f"There {of_one.ALONE.removeprefix('there ')}"]

    def remarks(self) -> tuple[str, ...]:  # noqa: D102 - inherited
        return (*super().remarks(), self._about())

    def _about(self) -> str:
        """Return what the verdicts are about, and what cannot be concluded."""
        if self.alone:
            return "Other runs, other rows and other datasets may have another order."
        if self.one.of_runs:
            return (
                "This holds for more repeats on the same rows, such as other seeds, not for other "
                "rows and other datasets."
            )
        what = {
            "(b)": "models trained on data of this kind",
            "(a)": "these fitted models on new data of this kind",
        }[self.scenario]
        return f"This holds for {what}, not for other datasets."

    @property
    def sets(self) -> pd.DataFrame:
        """Scores of the test sets, strategies in columns; no row for a single one, or for runs."""
        table = pd.DataFrame(self.one.repeated.T, columns=list(self.one.results.strategies))
        paired = len(table) > 1 and self.one.results.runs is None
        return table if paired else table.iloc[:0]

    def _method(self) -> str:
        if not self.decided:
            return ""
        n, alone = f"{self.n_pairs} pairs", self.correction == "none"
        together = f", each of {n} for itself" if alone else f", all {n} together"
        corrected = together * (self.n_pairs > 1)
        by = MAIN_TESTS[self.one.test].plain
        if self.one.of_runs:
            return (
                f"By {by} with {self.one.scheme}{corrected}: "
                f"with probability {number(1 - self.chosen.analysis.alpha)} no difference is "
                "claimed that more repeats would not confirm."
            )
        scheme = scheme_in_words(self.one.scheme)
        sets = f"{self.one.n_sets} test sets" if self.scenario == "(b)" else "one test set"
        sets = f"{sets}, " * (scheme == self.one.scheme)
        rows = f"{self.one.n_rows:,} rows" if self.one.n_rows else "taken as cross-validation"
        return (
            f"On {scheme} ({sets}{rows}), by {by}{corrected}. "
            f"The risk that {'a given one' if alone else 'any'} is wrongly called worse is at most "
            f"{number(100 * self.chosen.analysis.alpha)} %."
        )

    def _prospects(self) -> list[Step]:
        """Return whether more folds or repeats may settle the nearest open pair."""
        if not self.decided:
            return [Step(self._way_out())]
        near = self.frame.index[self.frame["verdict"].isin((verdict.OPEN, verdict.EQUAL))]
        rivals = [name for name in near if name not in self.first]
        if not rivals or self.control:
            return []
        from scipy.special import ndtri

        rival, one = rivals[0], self.one
        at = [{*both} for both in one.pairs.labels].index({self.first[0], rival})
        gap, error = abs(float(one.gaps.value[at])), float(one.gaps.standard_error[at])
        if not gap:
            return [Step(f"{rival} has the same mean {self.metric} as {self.first[0]}.")]
        if self.scenario == "(a)":
            return []
        pair = f"{self.first[0]} from {rival}"
        if one.of_runs:
            return [Step(f"More repeats may tell {pair}, on these rows.")]
        grouped = one.kind == "folds of groups"
        which = "folds" if grouped else "repeats of the split"
        least = error * math.sqrt(one.ratio / (1 / one.n_sets + one.ratio))  # after many repeats
        z = float(-ndtri(self.chosen.analysis.alpha / 2 / self.n_pairs)) + _POWER
        if z * least <= gap and (not grouped or one.n_sets < _FOLDS):
            scheme = "'group_kfold(10)'" if grouped else "'repeated_kfold(10, 10)'"
            return [Step(f"More {which}, such as {scheme}, may tell {pair}.")]
        rows = f"Collect more rows, which may tell {pair}."
        return [Step(rows, f"More {which} would hardly help.")]

    def _way_out(self) -> str:
        if self.alone:
            return (
                "Repeats with other seeds or folds would tell how much is chance, and more "
                "datasets whether the order holds elsewhere: give them as rows of the table."
            )
        if self.one.kind == "time series":
            return "Later rows, tested when they are known, would decide."
        return "Folds would decide: split with 'kfold(10)', or better 'repeated_kfold(10, 10)'."

    def details(self) -> tuple[str, ...]:  # noqa: D102 - inherited
        rope = self.chosen.analysis.rope
        region = f" Practically equal: within {number(rope)} of {self.metric}." if rope else ""
        if self.alone:
            return ()
        about = self.one.estimand and f" The intervals: {self.one.estimand}."
        about += f" Null hypothesis: {of_one.NULLS[self.one.test]}." if self.one.of_runs else ""
        by = self.corrected_by
        how = "for all pairs jointly" if by == "jointly" else f"with {by} correction"
        how = f", {how}" * (self.correction != "none")
        test = f" Test: {MAIN_TESTS[self.one.test].words}{how}." if self.decided else ""
        return (f"Scenario {self.scenario}: {SCENARIOS[self.scenario]}.{test}{about}{region}",)

    def notes_text(self) -> tuple[str, ...]:  # noqa: D102 - inherited
        every = pd.Series(self.one.results.strategies)
        noted = every.groupby(np.array(self.one.notes), sort=False)
        own = [f"{words.listed([*names])}: {note}" for note, names in noted if note]
        if not self.decided:
            return tuple(own)
        chance = [_BOTH] * ("P(best)" in self.frame)
        return (f"groups: {words.LETTERS}", *chance, *own)

    def meanings(self) -> dict[str, str]:  # noqa: D102 - inherited
        own = {} if self.control and self.decided else _MEANINGS
        told = {word: text for word, text in own.items() if self.named(word)}
        return {} if self.alone else words.meanings(self) | told


_GAP = ["difference", "difference low", "difference high"]


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
    results, names = one.results, list(one.results.strategies)
    known = (scored or results).select(strategies=names, datasets=results.datasets)
    draft = _draft(one, known, resolved(chosen, results), correction)
    if one.problem:
        return draft
    main, analysis = next(iter(tests.values())), draft.chosen.analysis
    place = control_of(analysis.question, names)
    control = None if place is None else names[place]
    better = verdict.shown_better(main, names, analysis.alpha, control)
    judged = _judged(draft, tests, better, control, known)
    fitted = [key for key in tests if key != of_one.LACOSTE][1:]  # that is of tested models alone
    fitted = fitted if analysis.rope or not one.of_runs else []  # its test with another name
    others = {Way(f"by the {tests[key].name.partition(',')[0]}"): tests[key] for key in fitted}
    return replace(judged, checks=checks(judged, names, others, better))


def _draft(one: OneDataset, known: Results, chosen: Chosen, correction: str) -> OneDecision:
    """Return the decision with what needs no test."""
    results, k = one.results, len(one.results.strategies)
    frame, sets = _frame(one, known), results.cell_losses[0].reshape(k, -1).T
    control = chosen.analysis.question.startswith("control")
    return OneDecision(
        chosen=chosen,
        scorer=results.metric,
        frame=in_order(frame),
        leader="",
        first=verdict.leading(frame["average rank"], frame["average rank"]),
        n=1,
        least=1,
        n_pairs=k - 1 if control else k * (k - 1) // 2,
        gaps=results.gaps,
        scenario=one.scenario,
        one=one,
        correction=correction,
        # on one test set, they may be copies by chance
        copies=verdict.copies_in(sets, results.strategies) if len(sets) > 1 else (),
        by_mean=results.strategies,
    )


def _judged(
    draft: OneDecision,
    tests: Mapping[str, Pairwise],
    better: np.ndarray,
    control: str | None,
    known: Results,
) -> OneDecision:
    """Return the decision with its leader, a verdict on each strategy, and the numbers behind."""
    one, analysis, main = draft.one, draft.chosen.analysis, next(iter(tests.values()))
    names, chances = list(one.results.strategies), one.chances()
    top = np.asarray(~better.any(axis=0))
    ranks = draft.frame["average rank"][names].where(top, np.inf)
    first = verdict.leading(ranks, ranks) if control is None else (control,)
    if control is not None:
        verdicts = pd.Series(verdict.verdicts_against(better, names.index(control)), names)
    else:
        found = pd.Series(np.where(top, verdict.OPEN, verdict.AVOID), names, dtype=object)
        verdicts = verdict.baselines(found)
        use = top.sum() == len(first) or round(chances[[*first]].sum(), 2) > LIKELIEST
        verdicts[[*first]] = verdict.USE if use else verdict.OPEN
    if analysis.rope and of_one.REGION in tests:
        p = tests[of_one.REGION].table(EQUIVALENT)[first[0]][names]
        others = p.where(~p.index.isin(first)).to_numpy()
        verdicts[verdict.surest(others, analysis.alpha)] = verdict.EQUAL
    frame = with_groups(draft.frame, main, analysis.alpha).assign(verdict=verdicts)
    frame = frame if one.of_runs else frame.assign(**{"P(best)": chances})
    frame = frame.join(_gaps_from(main, one, names.index(first[0])))
    return replace(
        draft,
        frame=in_order(frame),
        leader=first[0],
        first=first,
        n_shown=int(better.sum()),
        time_shares=time_shares(known, first[0]),
    )


def shown_alone(name: str, one: Decision | str) -> Alone:
    """Return what one of few datasets shows for itself; a text says why nothing could be tested."""
    if isinstance(one, str) or not one.decided:
        return Alone(f"{name} alone decides nothing.", (name, "", "", ""))
    text = one.answer().removeprefix(f"{one.where}, ")
    chance = one.chance(one.ahead)
    use = words.listed(one.first) + f" (chance {words.probability(chance)})" * (chance == chance)
    near = [x for x in one.best if x not in one.ahead]
    even = [x for x in near if verdict.is_baseline(x)]
    open_ = words.listed([x for x in near if x not in even], MOST_CHOSEN)
    if even:
        open_ += f"; even {words.listed(even)}: too few or too noisy test sets"
    worse = (*one.named(verdict.AVOID), *one.named(verdict.BASELINE))
    avoid = words.listed(worse, MOST_CHOSEN)
    cells = (name, use, open_.removeprefix("; "), avoid)
    return Alone(f"For data like {name}: {text[:1].lower()}{text[1:]}", cells)


def _frame(one: OneDataset, known: Results) -> pd.DataFrame:
    """Return the columns of the table that need no test, the best mean first."""
    frame = pd.DataFrame({"verdict": verdict.UNDECIDED, "average rank": one.ranks})
    frame[f"mean {one.results.metric.name}"] = one.ends.value
    frame["low"], frame["high"] = one.ends.low, one.ends.high
    if one.problem == of_one.ALONE:
        frame["difference"] = one.ends.value - one.ends.value[one.losses.argmin()]
    if one.of_runs:
        frame["spread"] = np.nanstd(one.repeated, axis=1, ddof=1)
    return with_cells(frame, known).sort_values(["average rank", "strategy"])


def _gaps_from(main: Pairwise, one: OneDataset, leader: int) -> pd.DataFrame:
    """Return the difference of each score from the leader's, its interval, and p."""
    ends = [main.table(f"mean difference{x}").iloc[:, leader] for x in ("", " low", " high")]
    columns = [-ends[0], -ends[2], -ends[1]] if one.results.metric.greater_is_better else ends
    table = pd.concat(columns, axis=1, keys=_GAP)
    return table.assign(p=main.p_values.iloc[:, leader])
