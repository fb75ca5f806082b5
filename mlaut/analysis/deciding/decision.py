"""`Decision`: the decision of a study in plain words, with one row for each strategy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from mlaut.analysis.common.display import Shown
from mlaut.analysis.common.letters import letter_groups
from mlaut.analysis.common.result_types import Pairwise
from mlaut.analysis.common.tests import FLIPPED, TESTS
from mlaut.analysis.deciding import certainty, words
from mlaut.analysis.deciding.margins import by_source, gaps, margins
from mlaut.analysis.deciding.outlook import outlook
from mlaut.analysis.deciding.reasons import headline_reasons, losses, reasons
from mlaut.analysis.deciding.relatives import related_hint, related_names
from mlaut.analysis.deciding.terms import Chosen, chosen_now, default_test, fewest_datasets
from mlaut.analysis.deciding.verdict_table import RELATED, Check, VerdictTable
from mlaut.analysis.deciding.verdicts import (
    AVOID,
    EQUAL,
    LIKELY,
    OPEN,
    UNDECIDED,
    USE,
    YARDSTICK,
    Compared,
    copies_in,
    leading,
    rank_sets,
    shown_better,
    shown_equal,
    verdicts_against,
    worse_by,
    yardsticks,
)
from mlaut.analysis.methods.aggregates.best import RankProbabilities, probability_of_best
from mlaut.analysis.methods.frequentist.ranks import (
    joint_of_results,
    joint_sign_test,
    joint_signed_rank_test,
)
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.racing.course import control_of
from mlaut.analysis.results.missing import with_means
from mlaut.analysis.results.results import Results
from mlaut.analysis.results.study_results import mean_seconds
from mlaut.analysis.sources.cost import cost_bounds
from mlaut.analysis.sources.smallest import smallest_flip
from mlaut.errors import AnalysisError
from mlaut.records import NOT_RUN, Analysis

_ASKED = ("Was it planned?", "Do other analyses agree?", "Would more data settle it?")
_CHECKED = ("signed rank", "sign", "t", "Nemenyi")  # trinomial is nearly the sign test
_BY_SIGNS = ("trinomial", "sign", "Nemenyi")  # tests that need no scale that datasets share
_MOST_LETTERED = 12  # strategies; of more, letters of groups would be too many to read
_LAST = (
    *("won", "tied", "lost", "difference", "difference low", "difference high", "p", "ratio"),
    *("reason", "training seconds"),
    *("failures", "datasets", "P(best)", "groups", "ranks"),
)
_OWN = ("training seconds", "failures", "datasets")  # columns that copies do not share
_FEW_VALUES = 3  # scores of a dataset, below which two datasets have the same by chance
_CHANCE = 0.1  # probability to be the best, above which no joint test rules a strategy out
_HARDLY = 0.005  # below it a strategy is not kept by a test of few datasets, which shows little
LIKELIEST = 0.5  # probability to be the best, as printed, above which one strategy is advised


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Decision(VerdictTable, Shown):
    """Decision of a study, by an analysis that was chosen beforehand.

    Its attributes are those of `VerdictTable`.
    """

    def title(self) -> str:  # noqa: D102 - inherited
        return f"Decision by {self.metric} on {words.datasets(self)}, scenario {self.scenario}"

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each strategy, unrounded."""
        return self.frame.copy()

    def answer(self) -> str:
        """Return one sentence: what to use, what may be best, and what to avoid."""
        return words.answer(self)

    def headline(self) -> tuple[str, ...]:
        """Return the answer, a hint, reasons, costs, the yardstick, a trade-off, and gaps."""
        gaps = [f"{gap[:1].upper()}{gap[1:]}." for gap in self.gaps]
        texts = (words.cost(self), words.yardstick(self), words.trade_off(self), " ".join(gaps))
        return tuple(filter(None, (self.answer(), self.hint, *headline_reasons(self), *texts)))

    def cards(self) -> tuple[tuple[str, str], ...]:
        """Return the questions on how sure the answer is, each with its answer."""
        lines = (certainty.planned, certainty.agreement, certainty.prospects)
        asked = zip(_ASKED, lines, strict=True)
        return tuple((question, text) for question, line in asked if (text := line(self)))

    def certainty(self) -> tuple[str, ...]:
        """Return the answers of `cards`: the plan, other analyses, and more datasets."""
        return tuple(text for _, text in self.cards())

    def details(self) -> tuple[str, ...]:
        """Return the text below the first screen: the terms of the decision."""
        return (words.terms(self),)

    def sentence(self) -> str:
        """Return everything as one text."""
        return " ".join((*self.headline(), *self.certainty()))

    def checks_frame(self) -> pd.DataFrame:
        """Return one row for each check, which asks the question in another way."""
        rows = [(check.how, certainty.differs(check)) for check in self.checks]
        return pd.DataFrame(rows, columns=["asked by", "answer"]).set_index("asked by")

    def notes_text(self) -> tuple[str, ...]:
        """Return notes on how to read the table."""
        return words.notes(self)

    def reading(self) -> str:
        """Return a few sentences on how to read the columns of the first screen."""
        return words.reading(self)


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
        Result of `mlaut.compare`.
    chosen : Chosen, optional
        The analysis; default one with default terms, chosen now.
    scored : Results, optional
        The results before missing cells were treated; they have the failures of each strategy.
    others : mapping of str to Pairwise, optional
        The primary test under other treatments and metrics, by a phrase that names each of them.

    Returns
    -------
    Decision

    Raises
    ------
    AnalysisError
        The control is not among the strategies, or the test is not among those of the comparison.

    Notes
    -----
    The strategies that may be the best are those for which the joint test of all pairs, by flips of
    signs, does not show that some other is better, but for those whose probability to be the best
    is below 0.005; and those for which it is above 0.1. A given best strategy is among them with
    probability ``1 - alpha``. The leader is the one of them with the best average rank; of equal
    ranks, with the best mean.

    Another strategy is to be avoided if the primary test shows another to be better (with
    probability ``1 - alpha`` no such claim is false) and at least half of the other tests do; else
    it is probably worse. It is undecided instead if the mean difference has the other sign or is
    within ``rope``. A baseline (by its name, `YARDSTICKS`) that would be avoided is a yardstick.
    """
    case = _Case.of(compared, chosen or chosen_now(), scored)
    if case.control is None and compared.apart is not None:
        decision = decide_study(compared.apart, chosen, scored=scored, others=others)
        return _with_copies(decision, case)
    draft = _counted(case)
    if not draft.decided:
        return _seen_from(draft, case, draft.first)
    evidence = _Evidence.of(case, draft.frame)
    draft = _with_evidence(draft, case, evidence)
    if not draft.leader:
        return _seen_from(draft, case, draft.first)
    tests = _other_tests(case)
    draft = _judged(_seen_from(draft, case, [draft.leader]), case, evidence, tests)
    draft = replace(draft, checks=checks(draft, case.names, {**tests, **(others or {})}))
    return _with_prospects(draft, case, evidence)


@dataclass(frozen=True, eq=False)
class _Case:
    """A case to decide: a comparison, the analysis, and the results with their failures."""

    compared: Compared
    results: Results
    known: Results
    chosen: Chosen

    @classmethod
    def of(cls, compared: Compared, chosen: Chosen, scored: Results | None) -> Self:
        results = compared.results
        known = (scored or results).select(strategies=results.strategies, datasets=results.datasets)
        return cls(compared, results, known, resolved(chosen, results))

    @property
    def names(self) -> list[str]:
        return list(self.results.strategies)

    @property
    def control(self) -> str | None:
        place = control_of(self.chosen.analysis.question, self.names)
        return None if place is None else self.names[place]

    def means(self) -> pd.Series:
        """Return the mean loss of each strategy, NaN where it has no meaning."""
        if "(c)" not in self.compared.estimates:
            return pd.Series(np.nan, self.names)
        value = self.compared.estimates["(c)"].frame["value"].reindex(self.names)
        return -value if self.results.metric.greater_is_better else value


@dataclass(frozen=True, eq=False)
class _Evidence:
    """Evidence of the tests: which strategies are better, and which may be the best.

    ``better`` has shape (K, K), ``top`` shape (K,); ``leaders`` are equal in rank and mean.
    """

    primary: Pairwise
    better: np.ndarray
    top: np.ndarray
    chances: RankProbabilities
    leaders: tuple[str, ...]

    @classmethod
    def of(cls, case: _Case, frame: pd.DataFrame) -> Self:
        names, analysis = case.names, case.chosen.analysis
        primary = primary_test(case.compared, case.chosen)
        better = shown_better(primary, names, analysis.alpha, case.control)
        chances = probability_of_best(case.results)
        top = _top(case.results, analysis, better, chances.frame["P(best)"][names].to_numpy())
        leaders = [case.control] if case.control else []
        if case.control is None and top.any():
            ranks = frame["average rank"][names].to_numpy()
            at = leading(np.where(top, ranks, np.inf), case.means().to_numpy(), names)
            leaders = [names[place] for place in at]
        return cls(primary, better, top, chances, tuple(leaders))


def _counted(case: _Case) -> Decision:
    """Return the decision with what needs no test: ranks, means, times and failures."""
    results, analysis = case.results, case.chosen.analysis
    frame, k = _table(case.compared, case.known).assign(verdict=UNDECIDED), len(case.names)
    related = results.clusters is not None
    means = case.means()[frame.index].map("{:.9g}".format).astype(float)  # not by rounding noise
    frame = frame.iloc[np.lexsort((frame.index, means, frame["average rank"].round(9)))]
    ranks = frame["average rank"][case.names].to_numpy()
    first = leading(ranks, case.means().to_numpy(), case.names)
    by_unit = results.by_source(paired_losses(results).ranks)
    return Decision(
        chosen=case.chosen,
        scorer=results.metric,
        frame=in_order(frame),
        leader="",
        first=tuple(case.names[at] for at in first),
        n_first=int((by_unit[:, first[0]] <= by_unit.min(axis=1)).sum()),
        n=len(results.datasets),
        n_sources=results.n_sources if related else 0,
        least=fewest_datasets(k, analysis, related),
        n_pairs=k - 1 if case.control else k * (k - 1) // 2,
        gaps=results.gaps,
        hint=_hint(results),
    )


def _with_evidence(draft: Decision, case: _Case, evidence: _Evidence) -> Decision:
    """Return the decision with its leader, the probabilities, and the groups of the tests."""
    frame = with_groups(draft.frame, evidence.primary, case.chosen.analysis.alpha)
    return replace(
        draft,
        frame=in_order(frame.assign(**{"P(best)": evidence.chances.frame["P(best)"]})),
        leader=evidence.leaders[0] if evidence.leaders else "",
        first=evidence.leaders or draft.first,
        n_shown=int(evidence.better.sum()),
        chances=evidence.chances,
    )


def _seen_from(draft: Decision, case: _Case, first: Sequence[str]) -> Decision:
    """Return the decision with wins and differences against the first strategy, if it is one."""
    if len(first) != 1:
        return draft
    return replace(draft, frame=in_order(draft.frame.join(margins(case.known, first[0]))))


def _judged(
    draft: Decision, case: _Case, evidence: _Evidence, tests: Mapping[str, Pairwise]
) -> Decision:
    """Return the decision with a verdict on each strategy, and the reasons that it needs."""
    against = _against(draft, case, evidence, tests)
    place = case.names.index(draft.leader)
    if case.control:
        verdicts = verdicts_against(evidence.better, place)
        verdicts[~against.clear & (np.arange(len(verdicts)) != place)] = UNDECIDED
    else:
        known = [evidence.top, against.clear, against.mixed]
        verdicts = np.select(known, np.array([OPEN, AVOID, UNDECIDED], dtype=object), LIKELY)
    terms = case.chosen.analysis
    if terms.rope:
        verdicts[shown_equal(case.results, draft.leader, terms.rope, terms.alpha)] = EQUAL
    frame = draft.frame.assign(verdict=_settled(draft, pd.Series(verdicts, case.names)))
    gap = gaps(case.known, draft.leader)
    gap = by_source(case.known, gap.map(np.log) if "ratio" in frame else gap)
    by_mean = _by_mean(gap, terms.alpha)
    draft = replace(draft, frame=frame, by_mean=by_mean)
    why = reasons(draft, against.texts(draft, case), gap)
    return replace(draft, frame=in_order(frame.assign(reason=why)))


def _with_prospects(draft: Decision, case: _Case, evidence: _Evidence) -> Decision:
    """Return the decision with costs, times, and what would change it or settle more."""
    alpha, leader = case.chosen.analysis.alpha, draft.leader
    near = [*draft.best[1:]] or [*draft.named(LIKELY), *draft.named(UNDECIDED)]
    apart = {leader, *near[:1], *draft.named(YARDSTICK)}
    others = [name for name in draft.frame.index if name not in apart]
    bounds = _bounds(case.results, alpha, evidence.better)
    return replace(
        draft,
        time_shares=time_shares(case.known, leader),
        bounds=bounds if {*draft.best} <= bounds.keys() else {},  # the best may be one without
        **_smallest_change(draft, case.results),
        outlook=outlook(case.results, leader, near, alpha, others),
    )


def _with_copies(draft: Decision, case: _Case) -> Decision:
    """Return the decision with a row for each copy of a strategy, which was left out of it."""
    groups = copies_in(paired_losses(case.results).snapped, case.names)
    draft = replace(draft, copies=tuple(tuple(sorted(group)) for group in groups))
    rows = [(row, name) for row in draft.frame.index for name in draft.copies_of(row)]
    frame = draft.frame.loc[[row for row, _ in rows]].set_axis([name for _, name in rows])
    frame["verdict"] = yardsticks(frame["verdict"])
    if "won" in frame:  # the first has no counts against itself, and its copies tie with it
        first = draft.first[0]
        alike = [name for name in draft.copies_of(first) if name != first]
        counts = margins(case.results, first).loc[alike]
        frame.loc[alike, counts.columns] = counts
    own = _table(case.compared, case.known)
    frame = frame.assign(**{key: own[key] for key in _OWN if key in own}).rename_axis("strategy")
    chances = draft.chances and probability_of_best(case.results)
    if chances:
        frame["P(best)"] = chances.frame["P(best)"]
    shares = time_shares(case.known, draft.leader) if draft.leader else {}
    found = replace(draft, frame=frame, chances=chances, time_shares=shares)
    return replace(found, gaps=case.results.gaps)


def resolved(chosen: Chosen, results: Results) -> Chosen:
    """Return the analysis with the metric of the results, and with a test that suits it."""
    analysis, metric = chosen.analysis, results.metric
    test = analysis.test or default_test(metric)
    if analysis.rope and metric.incomparable and len(results.datasets) > 1:
        raise AnalysisError(
            f"rope is in units of the metric, and {metric.name} has another unit on each dataset"
        )
    if results.clusters is not None and test == "trinomial":
        test = "sign"
    rope = results.region(analysis.rope)
    return replace(chosen, analysis=replace(analysis, metric=metric.name, test=test, rope=rope))


def primary_test(compared: Compared, chosen: Chosen) -> Pairwise:
    """Return the primary test of a comparison."""
    analysis = chosen.analysis
    every, key = {**compared.pairs, **compared.bayesian}, analysis.test
    if key not in every:
        known = ", ".join(repr(test) for test in TESTS if test in every)
        raise AnalysisError(
            f"the test {analysis.test!r} cannot be used here "
            f"({compared.results.incomparable or 'it was not computed'}): choose one of {known}"
        )
    if key in compared.bayesian and analysis.rope != compared.results.region(compared.rope):
        raise AnalysisError(
            f"the {key} test was computed with rope = {compared.rope:g} and not "
            f"{analysis.rope:g}: compare with that rope"
        )
    return every[key]


def _top(
    results: Results, analysis: Analysis, better: np.ndarray, chances: np.ndarray
) -> np.ndarray:
    """Return which strategies may be the best."""
    unbeaten: np.ndarray = ~np.any(better, axis=0)
    if analysis.test not in FLIPPED:
        return unbeaten
    joint = joint_of_results(results, signs=FLIPPED[analysis.test])
    possible = joint.top(analysis.alpha) & (chances >= _HARDLY)
    top: np.ndarray = (possible | (chances > _CHANCE)) & unbeaten
    return top if top.any() else unbeaten


def _bounds(results: Results, alpha: float, better: np.ndarray) -> dict[str, float]:
    """Return the upper bound of the cost of choosing each strategy, if means are comparable."""
    valued = with_means(results)
    if valued is None or len(valued.strategies) < 2:
        return {}
    places = [results.strategies.index(name) for name in valued.strategies]
    beaten = np.asarray(better.any(axis=0))[places]
    rows = valued.by_source(paired_losses(valued).snapped)
    bounds = cost_bounds(rows, 1 - alpha, rivals=None if beaten.all() else ~beaten)
    return dict(zip(valued.strategies, bounds.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class _Against:
    """Doubts of the claim of the primary test on each strategy, as arrays of shape (K,).

    ``claimed``: the primary test shows it to be worse, or to differ from the control;
    ``confirmed``: at least half of the other tests do; ``related``: so does the test that takes
    datasets with related names as one source; ``mixed``: the mean does not.
    """

    claimed: np.ndarray
    confirmed: np.ndarray
    related: np.ndarray
    mixed: np.ndarray

    @property
    def clear(self) -> np.ndarray:
        return self.claimed & self.confirmed & self.related & ~self.mixed

    def texts(self, draft: Decision, case: _Case) -> pd.Series:
        """Return a sentence on each strategy whose claim is not clear, else an empty text."""
        worse = f"differs from {case.control}" if case.control else f"is worse than {draft.leader}"
        main = f"by the main test ({TESTS[case.chosen.analysis.test].words})"
        told = [
            (self.mixed, f"{worse} on many datasets, but not on average."),
            (~self.confirmed, f"{worse} {main}, but not by most others."),
            (~self.related, f"{worse} {main}, but not where datasets with related names are one."),
        ]
        texts = np.select([self.claimed & which for which, _ in told], [x for _, x in told], "")
        names = case.names
        given = [f"{name} {text}" if text else "" for name, text in zip(names, texts, strict=True)]
        return pd.Series(given, names)[draft.frame.index]


def _against(
    draft: Decision, case: _Case, evidence: _Evidence, tests: Mapping[str, Pairwise]
) -> _Against:
    """Return what other tests and the mean say of the claims of the primary test."""
    names, analysis, control = case.names, case.chosen.analysis, case.control
    every = {"": evidence.primary, **tests}
    each = {how: worse_by(pairs, names, analysis.alpha, control) for how, pairs in every.items()}
    claimed = each.pop("")
    size = losses(draft)[names].to_numpy()
    if control is not None:
        size = np.where(evidence.better[:, names.index(control)], -size, size)
    failures = draft.frame["failures"][names].to_numpy()  # they are a size of their own
    with np.errstate(invalid="ignore"):  # NaN where the size is not known
        mixed = (size <= analysis.rope) & (failures == 0)
    confirmed = 2 * sum(each.values(), np.zeros(len(names))) >= len(each)
    return _Against(claimed, confirmed, each.get(RELATED, np.ones_like(claimed)), mixed)


def _settled(draft: Decision, verdicts: pd.Series) -> pd.Series:
    """Return the verdicts with those of the leader and of baselines."""
    if draft.control:
        return verdicts
    alone = not (verdicts.drop(draft.leader) == OPEN).any()
    likely = round(draft.frame["P(best)"][draft.leader], 2) > LIKELIEST and len(draft.first) == 1
    verdicts[draft.leader] = USE if alone or likely else OPEN
    return yardsticks(verdicts)


def _by_mean(gap: pd.DataFrame, alpha: float) -> tuple[str, ...]:
    """Return the strategies whose mean gap to the leader is not 0, by t-tests (Bonferroni).

    That one is worse is claimed by other tests; these say whether a size may be told.
    """
    from scipy.special import stdtrit

    n = gap.notna().sum()
    with np.errstate(divide="ignore", invalid="ignore"):  # one row, or equal gaps
        t = (gap.mean() / (gap.std(ddof=1) / np.sqrt(n))).abs()
        shown = t >= stdtrit(n - 1, 1 - alpha / 2 / (len(n) - 1))
    return tuple(map(str, gap.columns[shown]))


# ------------------------------------------------------------------------ table


def _table(compared: Compared, known: Results) -> pd.DataFrame:
    """Return the columns of the table that need no test."""
    results = compared.results
    table = compared.ranks.frame[["average_rank"]].rename(columns={"average_rank": "average rank"})
    if "(c)" in compared.estimates:
        mean = compared.estimates["(c)"].frame["value"]
        table[f"mean {results.metric.name}"] = mean.reindex(table.index)
    return with_cells(table, known)


def with_cells(table: pd.DataFrame, known: Results) -> pd.DataFrame:
    """Return the table with times, and the numbers of datasets with a failure and a result."""
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


def time_shares(results: Results, leader: str) -> dict[str, float]:
    """Return the training time of each other strategy divided by the leader's, if it is known."""
    seconds = training_seconds(results)
    if seconds is None:
        return {}
    both = seconds.notna() & seconds[[leader]].notna().to_numpy()
    own = both.mul(seconds[leader].fillna(0.0), axis=0).sum()
    shares = (seconds.where(both).sum() / own.where(own > 0)).drop(leader).dropna()
    return {str(name): float(share) for name, share in shares.items()}


def _failures(scored: Results) -> tuple[pd.Series, pd.Series]:
    """Return for each strategy the numbers of datasets with a failure and with a result."""
    none = np.isnan(scored.cells) & scored.expected[:, None]
    if scored.imputed is not None:
        none = none | scored.imputed
    waiting = np.zeros_like(none)
    for at, reason in scored.reasons.items():
        waiting[at] = reason in NOT_RUN
    names = list(scored.strategies)
    failed = (none & ~waiting).any(axis=(2, 3)).sum(axis=0)
    return pd.Series(failed, names), pd.Series((~none.any(axis=(2, 3))).sum(axis=0), names)


def with_groups(frame: pd.DataFrame, primary: Pairwise, alpha: float) -> pd.DataFrame:
    """Return the table with the letters of groups, or with sets of ranks."""
    better = shown_better(primary, list(frame.index), alpha)
    if len(frame) > _MOST_LETTERED:
        return frame.assign(ranks=[f"{low} to {high}" for low, high in rank_sets(better).T])
    return frame.assign(groups=letter_groups(~(better | better.T)))


def in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with its columns in order."""
    last = [name for name in _LAST if name in frame]
    first = [name for name in frame if name not in ("verdict", *last)]
    return frame[["verdict", *first, *last]]


# ----------------------------------------------------------------------- checks


def checks(
    draft: Decision, names: Sequence[str], others: Mapping[str, Pairwise]
) -> tuple[Check, ...]:
    """Return the answers to the question by other tests, treatments and metrics."""
    alpha, control = draft.chosen.analysis.alpha, draft.leader if draft.control else None
    claims = (AVOID, USE) if control else (AVOID, LIKELY, YARDSTICK)
    claimed = {name for verdict in claims for name in draft.named(verdict)}
    found = []
    for how, pairs in others.items():
        if draft.leader not in pairs.strategies:
            continue
        worse = {*np.array(names)[worse_by(pairs, names, alpha, control)].tolist()}
        lacking = (claimed & {*pairs.strategies}) - worse
        more = set() if control else {*draft.best} & worse
        also, without = ([n for n in draft.frame.index if n in group] for group in (lacking, more))
        leads = control is not None or draft.leader not in worse
        found.append(Check(how, tuple(also), tuple(without), leads, control is not None))
    return tuple(found)


def _other_tests(case: _Case) -> dict[str, Pairwise]:
    """Return the other tests of all strategies, by a phrase for each."""
    results, analysis, compared = case.results, case.chosen.analysis, case.compared
    every = {
        TESTS[test].words: compared.pairs[test]
        for test in (_BY_SIGNS if results.metric.incomparable else _CHECKED)
        if test != analysis.test and test in compared.pairs
    }
    if results.clusters is None and (sources := related_names(results.datasets)):
        test = joint_sign_test if results.metric.incomparable else joint_signed_rank_test
        every[RELATED] = test(results.with_clusters(sources))
    if results.clusters is not None and analysis.test != "t":
        test = joint_sign_test if analysis.test == "sign" else joint_signed_rank_test
        for unit in ("source", "dataset"):
            every[f"counting each {unit} once"] = test(results, weights=unit)
    # a t-test may be of those strategies alone that have means
    return {how: pairs for how, pairs in every.items() if pairs.strategies == results.strategies}


def _hint(results: Results) -> str:
    """Return a sentence on datasets that may be related, although no source says so."""
    same_scores = copies_in(paired_losses(results).snapped.T, results.datasets)
    of = dict(zip(results.datasets, results.source.tolist(), strict=True))
    apart = np.diff(np.sort(results.losses.to_numpy(), axis=1), axis=1) > 0
    varied = dict(zip(results.datasets, apart.sum(axis=1) + 1 >= _FEW_VALUES, strict=True))
    alike = [group for group in same_scores if varied[group[0]]]
    copied, alike = (
        [group for group in groups if len({of[name] for name in group}) > 1]
        for groups in (results.duplicates, alike)
    )
    named = "" if results.clusters is not None else related_hint(results.datasets)
    return words.same_rows(copied, "are the same table:") or words.same_rows(alike) or named


def _smallest_change(draft: Decision, results: Results) -> dict[str, Any]:
    """Return the fewest datasets or sources without which another has the best average rank."""
    ranks = results.by_source(paired_losses(results).ranks)
    at = results.strategies.index(draft.leader)
    if draft.chosen.analysis.question.startswith("control") or ranks.sum(axis=0).argmin() != at:
        return {}
    rows, then = smallest_flip(ranks)
    units = results.datasets if results.clusters is None else sorted(set(results.clusters))
    without = tuple(units[row] for row in rows)
    return {"without": without, "then": results.strategies[then]} if rows else {}
