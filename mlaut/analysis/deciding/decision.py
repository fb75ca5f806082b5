"""`Decision`: what a study decides, in words that need no statistics, and one row a strategy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from mlaut.analysis.aggregates.best import RankProbabilities, probability_of_best
from mlaut.analysis.common.display import Shown
from mlaut.analysis.common.letters import letter_groups
from mlaut.analysis.common.result_types import Pairwise
from mlaut.analysis.deciding import words
from mlaut.analysis.deciding.advice import advice
from mlaut.analysis.deciding.margins import margins
from mlaut.analysis.deciding.prospects import datasets_to_decide
from mlaut.analysis.deciding.terms import TESTS, Chosen, chosen_now, default_test, fewest_datasets
from mlaut.analysis.deciding.verdicts import (
    BEST,
    OPEN,
    UNDECIDED,
    Compared,
    leading,
    shown_better,
    shown_equal,
    verdicts_against,
    verdicts_of_best,
)
from mlaut.analysis.racing.race import parse_question
from mlaut.analysis.results.results import Results
from mlaut.analysis.results.sources import mean_seconds
from mlaut.errors import AnalysisError
from mlaut.records import Analysis

__all__ = ["Check", "Decision", "decide_study", "primary_test"]

_CHECKED = ("signed rank", "sign", "t", "Nemenyi")  # trinomial is nearly the sign test
_BY_SIGNS = ("trinomial", "sign", "Nemenyi")  # tests that need no scale that datasets share


@dataclass(frozen=True)
class Check:
    """The question asked in another way.

    Attributes
    ----------
    how : str
        The other test, treatment or metric.
    also, without : tuple of str
        Strategies that the answer has more, and those that it lacks: of those that no other is
        shown to beat, or for a control of those that are shown to differ from it.
    leads : bool
        Whether the strategy that leads the decision is in the answer.
    control : bool, default False
        Whether the question is which strategies differ from a control.
    """

    how: str
    also: tuple[str, ...]
    without: tuple[str, ...]
    leads: bool
    control: bool = False

    @property
    def same(self) -> bool:
        """Whether the answer has the same strategies."""
        return not self.also and not self.without

    def words(self) -> str:
        """Return how the answer differs."""
        also, without = "may be the best too", f"{words.be(self.without)} shown to be worse"
        if self.control:
            also = f"{words.be(self.also)} shown to differ too"
            without = f"{words.be(self.without)} not shown to differ"
        parts = ((self.also, also), (self.without, without))
        found = [f"{words.listed(names)} {verb}" for names, verb in parts if names]
        return ", and ".join(found) or "the same"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Decision(Shown):
    """Decision of a study, by an analysis that was chosen beforehand.

    Attributes
    ----------
    chosen : Chosen
        The analysis, when it was chosen, and what was changed later.
    metric : str
    frame : DataFrame
        One row a strategy, the best average rank first: ``average rank``; the mean of the metric
        in its own direction (not for errors in the units of each target); where there is a
        leader, ``won``, ``lost`` and ``difference`` or ``ratio`` against it (`margins`);
        ``P(best)``, ``groups`` and ``verdict`` (not with too few datasets); ``training seconds``,
        where known;
        ``failures``, the number of datasets on which a cell failed; and ``datasets``, the number
        with a result. In ``groups``, strategies that share a letter are not shown to differ.
    leader : str
        Strategy that leads: the best average rank of those that no other is shown to beat; or the
        control. Empty where nothing is decided.
    n, least : int
        Number of datasets, and number that a decision needs.
    n_pairs, n_shown : int
        Number of pairs that the question is about, and of those that are shown to differ.
    time_shares : mapping of str to float
        Training time of each other strategy divided by the leader's, on datasets on which both
        have a time; empty if none is known.
    cost : str
        Sentence on what a quicker strategy loses; empty if no times are known.
    checks : tuple of Check
        The question asked by other tests, treatments of missing cells and metrics.
    needed : mapping of str to float
        For each undecided strategy, the number of datasets that would show the observed
        difference from the leader with probability 0.8.
    chances : RankProbabilities or None
        Probabilities of the ranks.
    gaps : tuple of str
        Phrases on what was left out or filled in for cells without a result.
    scenario : str
    """

    chosen: Chosen
    metric: str
    frame: pd.DataFrame
    leader: str
    n: int
    least: int
    n_pairs: int = 0
    n_shown: int = 0
    time_shares: Mapping[str, float] = field(default_factory=dict)
    cost: str = ""
    checks: tuple[Check, ...] = ()
    needed: Mapping[str, float]
    chances: RankProbabilities | None = None
    gaps: tuple[str, ...] = ()
    scenario: str = "(c)"

    @property
    def decided(self) -> bool:
        """Whether there are enough datasets to decide."""
        return self.n >= self.least

    def named(self, verdict: str) -> tuple[str, ...]:
        """Return the strategies with a verdict, the best average rank first."""
        if "verdict" not in self.frame:
            return ()
        return tuple(map(str, self.frame.index[self.frame["verdict"] == verdict]))

    @property
    def best(self) -> tuple[str, ...]:
        """Strategies that no other is shown to beat, the leader first."""
        return (*self.named(BEST), *self.named(OPEN))

    def title(self) -> str:  # noqa: D102 - inherited
        return f"Decision by {self.metric} on {self.n} datasets, scenario {self.scenario}"

    def to_frame(self) -> pd.DataFrame:
        """Return one row a strategy, unrounded."""
        return self.frame.copy()

    def advice(self) -> str:
        """Return in one sentence what to use, what may be as good, and what to avoid."""
        return advice(self)

    def answer(self) -> str:
        """Return the answer in one sentence, or why there is none."""
        return words.answer(self)

    def headline(self) -> tuple[str, ...]:
        """Return advice, the answer, P(best), what failures hide, the cost, gaps, and changes."""
        gaps = f"Not every cell has a result: {'; '.join(self.gaps)}." if self.gaps else ""
        changes = [f"The analysis was {change}." for change in self.chosen.changes]
        hidden = words.without_failures(self)
        answer = (self.advice(), self.answer(), words.chance(self))
        found = (*answer, *hidden, self.cost, gaps, *changes)
        return tuple(sentence for sentence in found if sentence)

    def certainty(self) -> tuple[str, ...]:
        """Return how sure the answer is, what would decide more, and when it was chosen how."""
        found = (words.agreement(self), words.prospects(self), words.terms(self))
        return tuple(sentence for sentence in found if sentence)

    def sentence(self) -> str:
        """Return everything as one text."""
        return " ".join((*self.headline(), *self.certainty()))

    def checks_frame(self) -> pd.DataFrame:
        """Return one row for each way in which the question was asked."""
        rows = [(one.how, one.words()) for one in self.checks]
        return pd.DataFrame(rows, columns=["asked by", "answer"]).set_index("asked by")

    def notes_text(self) -> tuple[str, ...]:
        """Return how to read the table."""
        return words.notes(self)


def decide_study(
    compared: Compared,
    chosen: Chosen | None = None,
    *,
    scored: Results | None = None,
    others: Mapping[str, Pairwise] | None = None,
) -> Decision:
    """Decide the question of an analysis from a comparison; the same input has the same answer.

    Parameters
    ----------
    compared : Comparison
        What `mlaut.compare` returns.
    chosen : Chosen, optional
        The analysis; default one with default terms, chosen now.
    scored : Results, optional
        The results before missing cells were treated, which know the failures of each strategy.
    others : mapping of str to Pairwise, optional
        The primary test under other treatments and metrics, by the words for how.

    Returns
    -------
    Decision

    Raises
    ------
    AnalysisError
        The control is not among the strategies, or the test is not among those of the comparison.

    Notes
    -----
    A strategy is clearly worse if the primary test, corrected by Holm's method for all pairs, shows
    another to be better. With probability ``1 - alpha`` no such claim is false, so the best
    strategy is not among them.
    """
    results = compared.results
    chosen = _resolved(chosen or chosen_now(), results)
    analysis, names = chosen.analysis, list(results.strategies)
    _, place = parse_question(analysis.question, names)
    control = None if place is None else names[place]
    ranks = compared.ranks.frame["average_rank"].reindex(names).to_numpy()
    order = list(map(str, compared.ranks.frame.index))
    least = fewest_datasets(len(names), analysis)
    enough = len(results.datasets) >= least
    frame = _table(compared, scored or results)
    leader, better, chances = "", None, None
    if enough:
        better = shown_better(primary_test(compared, chosen), names, analysis.alpha, control)
        at = place if place is not None else leading(better, ranks)
        leader = "" if at is None else names[at]
        equal = _equal(compared, analysis, leader)
        verdicts = (
            verdicts_of_best(better, ranks, equal)
            if place is None
            else verdicts_against(better, place, equal)
        )
        chances = probability_of_best(results)
        frame = _with_verdicts(frame, compared, chosen, chances, pd.Series(verdicts, names))
    made = Decision(
        chosen=chosen,
        metric=results.metric.name,
        frame=frame.loc[order],
        leader=leader,
        n=len(results.datasets),
        least=least,
        n_pairs=len(names) - 1 if control else len(names) * (len(names) - 1) // 2,
        n_shown=0 if better is None else int(better.sum()),
        needed={},
        chances=chances,
        gaps=results.gaps,
    )
    if not leader:
        return made
    undecided = made.named(OPEN if control is None else UNDECIDED)
    times = (scored or results).select(strategies=names, datasets=results.datasets)
    made = replace(made, frame=_with_margins(made.frame, times, leader))
    made = replace(made, time_shares=_time_shares(times, leader))
    return replace(
        made,
        cost=words.cost(made, results.metric),
        checks=_checks(made, compared, better, others or {}),
        needed=datasets_to_decide(results, leader, undecided, analysis),
    )


def _resolved(chosen: Chosen, results: Results) -> Chosen:
    """Return the analysis with the metric of the results, and with a test that suits it."""
    analysis, metric = chosen.analysis, results.metric
    test = analysis.test or default_test(metric)
    if analysis.rope and metric.incomparable:
        raise AnalysisError(
            f"rope is in units of the metric, and {metric.name} has another unit on each dataset"
        )
    return replace(chosen, analysis=replace(analysis, metric=metric.name, test=test))


def primary_test(compared: Compared, chosen: Chosen) -> Pairwise:
    """Return the primary test of a comparison."""
    analysis = chosen.analysis
    every, key = {**compared.pairs, **compared.bayesian}, TESTS[analysis.test]
    if key not in every:
        known = ", ".join(repr(word) for word, name in TESTS.items() if name in every)
        raise AnalysisError(
            f"the test {analysis.test!r} cannot be used here "
            f"({compared.results.incomparable or 'it was not computed'}): choose one of {known}"
        )
    if key in compared.bayesian and analysis.rope != compared.rope:
        raise AnalysisError(
            f"the {key} test was computed with rope = {compared.rope:g} and not "
            f"{analysis.rope:g}: compare with that rope"
        )
    return every[key]


def _equal(compared: Compared, analysis: Analysis, leader: str) -> np.ndarray:
    """Return which strategies are practically equal to the leader; none without a region."""
    if not analysis.rope or not leader:
        return np.zeros(len(compared.results.strategies), dtype=bool)
    return shown_equal(compared.results, leader, analysis.rope, analysis.alpha)


# ------------------------------------------------------------------------ table


def _table(compared: Compared, scored: Results) -> pd.DataFrame:
    """Return the columns that need no test."""
    results = compared.results
    table = compared.ranks.frame[["average_rank"]].rename(columns={"average_rank": "average rank"})
    if "(c)" in compared.estimates:
        mean = compared.estimates["(c)"].frame["value"]
        table[f"mean {results.metric.name}"] = mean.reindex(table.index)
    known = scored.select(strategies=results.strategies)
    seconds = training_seconds(known)
    if seconds is not None:
        table["training seconds"] = seconds.mean().reindex(table.index)
    failed, done = _failures(known)
    table["failures"] = failed.reindex(table.index)
    table["datasets"] = done.reindex(table.index)
    return table.rename_axis("strategy")


def training_seconds(results: Results) -> pd.DataFrame | None:
    """Return the mean seconds of a done cell to tune and fit, by dataset and strategy."""
    if results.seconds is None:
        return None
    seconds = mean_seconds(results.seconds, ~np.isnan(results.cells))[..., :2].sum(axis=-1)
    return pd.DataFrame(seconds, list(results.datasets), list(results.strategies))


def _time_shares(results: Results, leader: str) -> dict[str, float]:
    """Return the training time of each other strategy divided by the leader's, where known."""
    seconds = training_seconds(results)
    if seconds is None:
        return {}
    both = seconds.notna() & seconds[[leader]].notna().to_numpy()
    own = both.mul(seconds[leader].fillna(0.0), axis=0).sum()
    shares = (seconds.where(both).sum() / own.where(own > 0)).drop(leader).dropna()
    return {str(name): float(share) for name, share in shares.items()}


def _failures(scored: Results) -> tuple[pd.Series, pd.Series]:
    """Return on how many datasets each strategy failed, and has a result."""
    none = np.isnan(scored.cells) & scored.expected[:, None]
    if scored.imputed is not None:
        none = none | scored.imputed
    waiting = np.zeros_like(none)
    for at, reason in scored.reasons.items():
        waiting[at] = reason in words.NOT_RUN
    names = list(scored.strategies)
    failed = (none & ~waiting).any(axis=(2, 3)).sum(axis=0)
    return pd.Series(failed, names), pd.Series((~none.any(axis=(2, 3))).sum(axis=0), names)


def _with_verdicts(
    frame: pd.DataFrame,
    compared: Compared,
    chosen: Chosen,
    chances: RankProbabilities,
    verdicts: pd.Series,
) -> pd.DataFrame:
    """Return the table with P(best), letters and verdicts."""
    order = list(frame.index)
    differ = shown_better(primary_test(compared, chosen), order, chosen.analysis.alpha)
    table = frame.assign(groups=letter_groups(~(differ | differ.T)))
    table["verdict"] = verdicts.reindex(order)
    last = [name for name in ("training seconds", "failures", "datasets") if name in table]
    first = [name for name in table if name not in (*last, "groups", "verdict")]
    table["P(best)"] = chances.frame["P(best)"].reindex(order)
    return table[[*first, "P(best)", "groups", "verdict", *last]]


def _with_margins(frame: pd.DataFrame, scored: Results, leader: str) -> pd.DataFrame:
    """Return the table with the columns of `margins` before P(best)."""
    added = margins(scored, leader).reindex(frame.index)
    place = list(frame.columns).index("P(best)")
    return pd.concat([frame.iloc[:, :place], added, frame.iloc[:, place:]], axis=1)


# ----------------------------------------------------------------------- checks


def _checks(
    made: Decision,
    compared: Compared,
    better: np.ndarray | None,
    others: Mapping[str, Pairwise],
) -> tuple[Check, ...]:
    """Ask the question by the other tests of the comparison, and as ``others`` do."""
    assert better is not None
    analysis, names = made.chosen.analysis, list(compared.results.strategies)
    control = made.leader if analysis.question.startswith("control") else None
    tests = _BY_SIGNS if compared.results.metric.incomparable else _CHECKED
    every = {
        words.TEST_NAMES[test]: compared.pairs[TESTS[test]]
        for test in tests
        if test != analysis.test and TESTS[test] in compared.pairs
    }
    by_rank = list(made.frame.index)
    mine = _kept(better, names, control)
    found = []
    for how, pairs in {**every, **others}.items():
        both = [name for name in names if name in pairs.strategies]
        if made.leader not in both or (how in every and len(both) < len(names)):
            continue  # a t-test of the strategies that have means
        kept = _kept(shown_better(pairs, both, analysis.alpha, control), both, control)
        also = tuple(name for name in by_rank if name in kept - mine)
        without = tuple(name for name in by_rank if name in (mine & set(both)) - kept)
        leads = control is not None or made.leader in kept
        found.append(Check(how, also, without, leads, control is not None))
    return tuple(found)


def _kept(better: np.ndarray, names: list[str], control: str | None) -> set[str]:
    """Return the strategies that none is shown to beat; or that differ from the control."""
    at = None if control is None else names.index(control)
    kept = ~np.any(better, axis=0) if at is None else better[at] | better[:, at]
    return {name for name, ok in zip(names, kept, strict=True) if ok}
