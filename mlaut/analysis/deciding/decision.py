"""`Decision`: the decision of a study in plain words, with one row for each strategy."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis.common.display import Shown
from mlaut.analysis.common.letters import letter_groups
from mlaut.analysis.common.result_types import Pairwise
from mlaut.analysis.common.tests import TESTS
from mlaut.analysis.deciding import certainty, words
from mlaut.analysis.deciding import verdicts as verdict
from mlaut.analysis.deciding.evidence import Case, Evidence
from mlaut.analysis.deciding.margins import by_source, gaps, margins
from mlaut.analysis.deciding.numbers import Numbers
from mlaut.analysis.deciding.outlook import outlook
from mlaut.analysis.deciding.reasons import headline_reasons, reasons
from mlaut.analysis.deciding.terms import Chosen, chosen_now, fewest_datasets
from mlaut.analysis.deciding.verdict_table import Check, Step, VerdictTable, Way
from mlaut.analysis.methods.aggregates.best import probability_of_best
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.results.missing import COUNTED_LAST, with_means
from mlaut.analysis.results.results import Results
from mlaut.analysis.results.study_results import mean_seconds
from mlaut.analysis.sources.cost import cost_bounds
from mlaut.analysis.sources.relatives import related_hint
from mlaut.analysis.sources.smallest import smallest_flip
from mlaut.records import NOT_RUN

_ASKED = ("Was it planned?", "How was it tested?", "Do other analyses agree?")
_MOST_LETTERED = 12  # strategies; of more, letters of groups would be too many to read
_LAST = (
    *("won", "tied", "lost", "difference", "difference low", "difference high", "p", "ratio"),
    *("reason", "training seconds"),
    *("failures", "datasets", "P(best)", "groups", "ranks"),
)
_OWN = ("training seconds", "failures", "datasets")  # columns that copies do not share
_FEW_VALUES = 3  # scores of a dataset, below which two datasets have the same by chance
LIKELIEST = 0.5  # probability to be the best, as printed, above which one strategy is advised


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Decision(VerdictTable, Shown):
    """Decision of a study, by an analysis that was chosen beforehand.

    Its attributes are those of `VerdictTable`.
    """

    def title(self) -> str:  # noqa: D102 - inherited
        of = f" of {self.n_sources} sources" * bool(self.n_sources)
        return f"Decision by {self.metric} on {self.n} datasets{of}, scenario {self.scenario}"

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each strategy, unrounded."""
        return self.frame.copy()

    def said(self, letters: int = words.TWO_LINES, others: bool = True) -> list[str]:
        """Return the answer in sentences without full stops, the first of which is the headline."""
        return words.said(self, letters, others)

    def answer(self) -> str:
        """Return the answer as one text: what to use, what may be best, and what to avoid."""
        return f"{'. '.join(self.said())}."

    def caveats(self) -> tuple[str, ...]:
        """Return what weakens the answer, beside `steps`: doubts, what decides, and gaps."""
        changed = "The way to compare was {}; before, the choice may be another"
        # `certainty.missing` tells in one sentence what all cells that count as last do.
        gaps = (x for x in self.gaps if not (self.last and x.endswith(COUNTED_LAST)))
        texts = [self.doubt * bool(self.leader), certainty.shaky(self)]
        texts += [words.order(self), certainty.missing(self)]
        texts += map(changed.format, self.chosen.changes)
        texts += [self.hint, certainty.with_relatives(self.related, self)]
        texts += [re.sub("^no ", "No ", x) for x in gaps]  # others begin with names, or a number
        return tuple(f"{x.removesuffix('.')}." for x in texts if x)

    def remarks(self) -> tuple[str, ...]:
        """Return what else helps to choose: reasons, a trade-off, and each dataset for itself."""
        alone = (each.text for each in self.each)
        return tuple(filter(None, (*headline_reasons(self), words.trade_off(self), *alone)))

    def headline(self) -> tuple[str, ...]:
        """Return the answer, what weakens it, what else helps to choose, and what to do next."""
        next_ = certainty.numbered(self.steps())
        return (self.answer(), *self.caveats(), *self.remarks(), *next_)

    def steps(self) -> tuple[Step, ...]:
        """Return what to do next, and why, the most important first."""
        return certainty.next_steps(self, self._prospects())

    def cards(self) -> tuple[tuple[str, str], ...]:
        """Return the questions on how sure the answer is, each with its answer."""
        texts = (certainty.planned(self), self._method(), certainty.agreement(self))
        return tuple((asked, text) for asked, text in zip(_ASKED, texts, strict=True) if text)

    def _method(self) -> str:
        """Return how it was tested, where no usual way is a matter of course."""
        return ""

    def _prospects(self) -> list[Step]:
        """Return what more data would settle."""
        return certainty.prospects(self)

    def certainty(self) -> tuple[str, ...]:
        """Return the answers of `cards`: the plan, and other analyses."""
        return tuple(text for _, text in self.cards())

    def details(self) -> tuple[str, ...]:
        """Return the text below the first screen: the terms of the decision."""
        return (words.terms(self),)

    def sentence(self) -> str:
        """Return everything as one text."""
        return " ".join((*self.headline(), *self.certainty()))

    def checks_frame(self) -> pd.DataFrame:
        """Return one row for each check, which asks the question in another way."""
        rows = [(check.how.words, certainty.differs(check, self)) for check in self.checks]
        return pd.DataFrame(rows, columns=["asked by", "answer"]).set_index("asked by")

    def notes_text(self) -> tuple[str, ...]:
        """Return notes on how to read the table."""
        return words.notes(self)

    def meanings(self) -> dict[str, str]:
        """Return the verdicts of the table, each with its meaning here."""
        return words.meanings(self)


def decide_study(
    compared: Numbers,
    chosen: Chosen | None = None,
    *,
    scored: Results | None = None,
    others: Mapping[Way, Pairwise] | None = None,
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
    others : mapping of Way to Pairwise, optional
        The primary test under other treatments and metrics.

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
    is below 0.005 (0.05 / K, of K > 10); and those for which it is above 0.1. A given best strategy
    is among them with probability ``1 - alpha``. The leader is the one of them with the best
    average rank; of equal ranks, with the best mean.

    Another strategy is to be avoided if the primary test shows another to be better (with
    probability ``1 - alpha`` no such claim is false) and at least half of the other tests do; else
    it is probably worse. It is undecided instead if the mean difference has the other sign or is
    within ``rope``. A baseline (by its name, `BASELINES`) that would be avoided is a baseline.
    """
    case = Case.of(compared, chosen or chosen_now(), scored)
    if case.control is None and compared.apart is not None:
        decision = decide_study(compared.apart, chosen, scored=scored, others=others)
        return _with_copies(decision, case)
    counted = _counted(case)
    if not counted.decided:
        return _seen_from(counted, case)
    evidence = Evidence.of(case)
    led = _seen_from(_led(counted, case, evidence), case)
    if not led.leader:
        return led
    judged = _judged(led, case, evidence)
    every = {**evidence.others, **(others or {})}
    checked = replace(judged, checks=checks(judged, case.names, every, evidence.better))
    return _with_prospects(checked, case, evidence)


def _counted(case: Case) -> Decision:
    """Return the decision with what needs no test: ranks, means, times and failures."""
    results, k = case.results, len(case.names)
    frame = _table(case.compared, case.known).assign(verdict=verdict.UNDECIDED)
    related = results.clusters is not None
    means = case.means()[frame.index].map("{:.9g}".format).astype(float)  # not by rounding noise
    frame = frame.iloc[np.lexsort((frame.index, means, frame["average rank"].round(9)))]
    first = verdict.leading(frame["average rank"], case.means())
    least = fewest_datasets(k, case.chosen.analysis, True)  # sources
    by_unit = results.by_source(paired_losses(results).ranks)
    ahead = by_unit[:, case.names.index(first[0])] <= by_unit.min(axis=1)
    return Decision(
        chosen=case.chosen,
        scorer=results.metric,
        frame=in_order(frame),
        leader="",
        first=first,
        n_first=int(ahead.sum()),
        n=len(results.datasets),
        n_sources=results.n_sources if related else 0,
        least=fewest_datasets(k, case.chosen.analysis, related),
        n_pairs=k - 1 if case.control else k * (k - 1) // 2,
        gaps=results.gaps,
        hint=_hint(results),
        related="" if related else related_hint(results.datasets, least),
    )


def _led(counted: Decision, case: Case, evidence: Evidence) -> Decision:
    """Return the decision with its leader, the probabilities, and the groups of the tests."""
    top = evidence.says["top"]
    ranks = counted.frame["average rank"].where(top, np.inf)
    leaders = (case.control,) if case.control else verdict.leading(ranks, case.means())
    sets = None if case.control else top
    frame = with_groups(counted.frame, evidence.primary, case.chosen.analysis.alpha, sets)
    return replace(
        counted,
        frame=in_order(frame.assign(**{"P(best)": evidence.chances.frame["P(best)"]})),
        leader=leaders[0] if leaders else "",
        first=leaders or counted.first,
        n_shown=int(evidence.better.sum()),
        chances=evidence.chances,
    )


def _seen_from(draft: Decision, case: Case) -> Decision:
    """Return the decision with wins and differences against its leader, or the only first one."""
    if not draft.leader and len(draft.first) > 1:
        return draft
    seen = margins(case.known, draft.leader or draft.first[0])
    return replace(draft, frame=in_order(draft.frame.join(seen)))


def _judged(seen: Decision, case: Case, evidence: Evidence) -> Decision:
    """Return the decision with a verdict on each strategy, and the reasons that it needs."""
    says, terms = evidence.says, case.chosen.analysis
    size, failed = seen.losses[case.names], seen.frame["failures"][case.names] > 0
    if case.control:
        size = size.where(~evidence.better[:, case.names.index(case.control)], -size)
    mixed = (size <= terms.rope) & ~failed  # failures are a size of their own
    clear = says["claimed"] & says["confirmed"] & says["related"] & ~mixed
    if case.control:
        verdicts = verdict.verdicts_against(evidence.better, case.names.index(case.control))
        verdicts[~clear & (verdicts != verdict.BASELINE)] = verdict.UNDECIDED
    else:
        words_ = np.array([verdict.OPEN, verdict.AVOID, verdict.UNDECIDED], dtype=object)
        verdicts = np.select([says["top"], clear, mixed], words_, verdict.LIKELY)
    only = failed & ~_worse_elsewhere(seen, terms.alpha)[case.names]
    verdicts[np.isin(verdicts, (verdict.AVOID, verdict.LIKELY)) & only] = verdict.FAILS
    if terms.rope:
        equal = verdict.shown_equal(case.results, seen.leader, terms.rope, terms.alpha)
        verdicts[equal & (size.abs() <= terms.rope)] = verdict.EQUAL  # also on average
    frame = seen.frame.assign(verdict=_settled(seen, pd.Series(verdicts, case.names)))
    gap = gaps(case.known, seen.leader)
    gap = by_source(case.known, gap.map(np.log) if seen.size == "ratio" else gap)
    judged = replace(seen, frame=frame, by_mean=_by_mean(gap, terms.alpha))
    why = reasons(judged, _unclear(case, evidence, seen.leader, mixed), gap)
    return replace(judged, frame=in_order(frame.assign(reason=why)))


def _unclear(case: Case, evidence: Evidence, leader: str, mixed: pd.Series) -> pd.Series:
    """Return a sentence on each strategy whose claim is not clear, else an empty text."""
    says, worse = evidence.says, f"{'differs from' if case.control else 'is worse than'} {leader}"
    main = f"by {TESTS[case.chosen.analysis.test].words}"
    claimed, out = says["claimed"], ~says["top"] & (case.control is None)
    alone = f"is ruled out as the best among all, though no pair shows it to be worse {main}."
    told = {
        f"{worse} on many datasets, but not on average.": claimed & mixed,
        f"{worse} {main}, but not by most others.": claimed & ~says["confirmed"],
        f"{worse} {main}, but not where datasets with related names are one.": claimed
        & ~says["related"],
        alone: out & ~claimed,
    }
    texts = pd.Series(np.select([*told.values()], [*told], ""), case.names)
    return texts.where(texts == "", texts.index + " " + texts)


def _with_prospects(draft: Decision, case: Case, evidence: Evidence) -> Decision:
    """Return the decision with costs, times, and what would change it or settle more."""
    alpha, leader = case.chosen.analysis.alpha, draft.leader
    near = [*draft.best[1:]] or [*draft.named(verdict.LIKELY), *draft.named(verdict.UNDECIDED)]
    apart = {leader, *near[:1], *draft.named(verdict.BASELINE)}
    others = [name for name in draft.frame.index if name not in apart]
    bounds = _bounds(case.results, alpha, evidence.better)
    return replace(
        draft,
        time_shares=time_shares(case.known, leader),
        bounds=bounds if {*draft.best} <= bounds.keys() else {},  # the best may be one without
        **_smallest_change(draft, case.results),
        outlook=outlook(case.results, leader, near, alpha, others),
    )


def _with_copies(draft: Decision, case: Case) -> Decision:
    """Return the decision with a row for each copy of a strategy, which was left out of it."""
    groups = verdict.copies_in(paired_losses(case.results).snapped, case.names)
    draft = replace(draft, copies=tuple(tuple(sorted(group)) for group in groups))
    rows = [(row, name) for row in draft.frame.index for name in draft.copies_of(row)]
    frame = draft.frame.loc[[row for row, _ in rows]].set_axis([name for _, name in rows])
    frame["verdict"] = verdict.baselines(frame["verdict"])
    if "won" in frame:  # the first has no counts against itself, and its copies tie with it
        first = draft.first[0]
        alike = [name for name in draft.copies_of(first) if name != first]
        counts = margins(case.results, first).loc[alike]
        frame.loc[alike, counts.columns] = counts
    if "reason" in frame:  # it names the first of them
        frame.loc[[name for row, name in rows if name != row], "reason"] = ""
    own = _table(case.compared, case.known)
    frame = frame.assign(**{key: own[key] for key in _OWN if key in own}).rename_axis("strategy")
    chances = draft.chances and probability_of_best(case.results)
    if chances:
        frame["P(best)"] = chances.frame["P(best)"]
    told: dict[str, Any] = {"frame": frame, "chances": chances, "gaps": case.results.gaps}
    told["time_shares"] = time_shares(case.known, draft.leader) if draft.leader else {}
    told["bounds"] = {name: draft.bounds[row] for row, name in rows if row in draft.bounds}
    return replace(draft, **told)


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


def _worse_elsewhere(seen: Decision, alpha: float) -> pd.Series:
    """Return which a sign test shows to be worse than the leader where both have a result."""
    from scipy.special import bdtr

    won, lost = (seen.frame[name].fillna(0).astype(int) for name in ("won", "lost"))
    return (won < lost) & (2 * bdtr(won, won + lost, 0.5) <= alpha)


def _settled(draft: Decision, verdicts: pd.Series) -> pd.Series:
    """Return the verdicts with those of the leader and of baselines."""
    if draft.control:
        return verdicts
    alone = not (verdicts.drop(draft.leader) == verdict.OPEN).any()
    likely = round(draft.frame["P(best)"][draft.leader], 2) > LIKELIEST and len(draft.first) == 1
    verdicts[draft.leader] = verdict.USE if alone or likely else verdict.OPEN
    return verdict.baselines(verdicts)


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


def _table(compared: Numbers, known: Results) -> pd.DataFrame:
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
    none = np.isnan(known.cells) & known.expected[:, None]
    if known.imputed is not None:
        none = none | known.imputed
    failed = none.copy()
    for at, reason in known.reasons.items():
        failed[at] &= reason not in NOT_RUN
    failures, lacking = (x.any(axis=(2, 3)).sum(axis=0) for x in (failed, none))
    counts = {"failures": failures, "datasets": len(none) - lacking}
    return table.join(pd.DataFrame(counts, list(known.strategies))).rename_axis("strategy")


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


def with_groups(
    frame: pd.DataFrame, primary: Pairwise, alpha: float, top: pd.Series | None = None
) -> pd.DataFrame:
    """Return the table with the letters of groups, or with sets of ranks, 1 in those of the top."""
    better = verdict.shown_better(primary, list(frame.index), alpha)
    if len(frame) > _MOST_LETTERED:
        sets = verdict.rank_sets(better, None if top is None else top[frame.index].to_numpy())
        return frame.assign(ranks=[f"{low} to {high}" for low, high in sets.T])
    return frame.assign(groups=letter_groups(~(better | better.T)))


def in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with its columns in order."""
    last = [name for name in _LAST if name in frame]
    first = [name for name in frame if name not in ("verdict", *last)]
    return frame[["verdict", *first, *last]]


# ----------------------------------------------------------------------- checks


def checks(
    draft: Decision, names: Sequence[str], others: Mapping[Way, Pairwise], better: np.ndarray
) -> tuple[Check, ...]:
    """Return the answers by other tests, treatments and metrics to what ``better`` answers."""
    alpha, control = draft.chosen.analysis.alpha, draft.leader if draft.control else None
    claims = (verdict.AVOID, verdict.USE) if control else verdict.WORSE
    claimed = {name for word in claims for name in draft.named(word)}
    found, every, at = [], np.array(names), list(names).index(draft.leader)
    for how, pairs in others.items():
        if draft.leader not in pairs.strategies:
            continue
        worse = {*every[verdict.worse_by(pairs, names, alpha, control)].tolist()}
        lacking = (claimed & {*pairs.strategies}) - worse
        beaten, faint = set[str](), set[str]()
        if how.treats:
            lost = better[at] & ~verdict.shown_better(pairs, names, alpha)[at]
            beaten = set() if control else {*every[lost].tolist()} & worse
            faint = _faint(draft, names, pairs.n, better) & (lacking | beaten)
        groups = (lacking - faint, {*draft.best} & worse, beaten - faint, faint)
        told = (tuple(n for n in draft.frame.index if n in group) for group in groups)
        found.append(Check(how, *told))
    return tuple(found)


def _faint(draft: Decision, names: Sequence[str], n: int, better: np.ndarray) -> set[str]:
    """Return the strategies of which n datasets (or sources) show less for their number alone.

    These are all, if n is below what a decision needs; else those that are shown to be worse than
    another by fewer datasets than there are, of which both have a result on each.
    """
    if n < draft.least:
        return {*names}
    whole = (draft.frame["datasets"][[*names]] == draft.n).to_numpy()
    apart = better | better.T if draft.control else better
    by_whole = whole & (apart & whole[:, None]).any(axis=0) & (n < (draft.n_sources or draft.n))
    return {*np.array(names)[by_whole].tolist()}


def _hint(results: Results) -> str:
    """Return a sentence on datasets that may be related, although no source says so."""
    same_scores = verdict.copies_in(paired_losses(results).snapped.T, results.datasets)
    of = dict(zip(results.datasets, results.source.tolist(), strict=True))
    varied = results.losses.nunique(axis=1) >= _FEW_VALUES
    alike = [group for group in same_scores if varied[group[0]]]
    copied, alike = (
        [group for group in groups if len({of[name] for name in group}) > 1]
        for groups in (results.duplicates, alike)
    )
    return words.same_rows(copied, "are the same table:") or words.same_rows(alike)


def _smallest_change(draft: Decision, results: Results) -> dict[str, Any]:
    """Return the fewest datasets or sources without which another has the best average rank."""
    ranks = results.by_source(paired_losses(results).ranks)
    at = results.strategies.index(draft.leader)
    if draft.control or ranks.sum(axis=0).argmin() != at:
        return {}
    rows, then = smallest_flip(ranks)
    units = results.datasets if results.clusters is None else sorted(set(results.clusters))
    without = tuple(units[row] for row in rows)
    return {"without": without, "then": results.strategies[then]} if rows else {}
