"""`Decision`: the decision of a study in plain words, with one row for each strategy."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis.common.display import Shown
from mlaut.analysis.common.letters import letter_groups
from mlaut.analysis.common.result_types import Pairwise
from mlaut.analysis.common.tests import TESTS
from mlaut.analysis.deciding import certainty, words
from mlaut.analysis.deciding.margins import gaps, margins
from mlaut.analysis.deciding.outlook import outlook
from mlaut.analysis.deciding.reasons import headline_reasons, losses, reasons
from mlaut.analysis.deciding.terms import Chosen, chosen_now, default_test, fewest_datasets
from mlaut.analysis.deciding.verdict_table import MOST_CHOSEN, Check, VerdictTable
from mlaut.analysis.deciding.verdicts import (
    AVOID,
    LIKELY,
    OPEN,
    UNDECIDED,
    USE,
    YARDSTICK,
    YARDSTICKS,
    Compared,
    copies_in,
    leading,
    rank_sets,
    shown_better,
    shown_equal,
    verdicts_against,
    verdicts_of_best,
)
from mlaut.analysis.methods.aggregates.best import probability_of_best
from mlaut.analysis.methods.frequentist.ranks import (
    joint_of_results,
    joint_sign_test,
    joint_signed_rank_test,
)
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.racing.course import control_of
from mlaut.analysis.results.missing import with_means
from mlaut.analysis.results.results import Results
from mlaut.analysis.results.sources import mean_seconds
from mlaut.analysis.sources.cost import cost_bounds
from mlaut.analysis.sources.flips import FLIPS
from mlaut.analysis.sources.smallest import smallest_flip
from mlaut.errors import AnalysisError
from mlaut.records import NOT_RUN, Analysis

_CHECKED = ("signed rank", "sign", "t", "Nemenyi")  # trinomial is nearly the sign test
_BY_SIGNS = ("trinomial", "sign", "Nemenyi")  # tests that need no scale that datasets share
_FLIPPED = {"signed rank": False, "sign": True, "trinomial": True}  # whether flips are of signs
_MOST_LETTERED = 12  # strategies; of more, letters of groups would be too many to read
_LAST = (
    *("won", "tied", "lost", "difference", "ratio", "reason", "training seconds"),
    *("failures", "datasets", "P(best)", "groups", "ranks"),
)
_FEW_VALUES = 3  # scores of a dataset, below which two datasets have the same by chance
_FEWER = 1 << 11  # flips of datasets, which are compared with the level alone


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
        """Return the answer, a hint, reasons, the yardstick, a trade-off, and gaps."""
        gaps = [f"{gap[:1].upper()}{gap[1:]}." for gap in self.gaps]
        texts = (words.yardstick(self), words.trade_off(self), " ".join(gaps))
        return tuple(filter(None, (self.answer(), self.hint, *headline_reasons(self), *texts)))

    def certainty(self) -> tuple[str, ...]:
        """Return three lines: the plan, other analyses, and what more datasets would settle."""
        lines = (certainty.planned, certainty.agreement, certainty.prospects)
        return tuple(filter(None, (line(self) for line in lines)))

    def details(self) -> tuple[str, ...]:
        """Return the texts below the first screen: the terms, and the cost of choosing."""
        return tuple(filter(None, (words.terms(self), words.cost(self))))

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
    A strategy is to be avoided if the primary test, corrected by Holm's method for all pairs, shows
    another to be better. With probability ``1 - alpha`` no such claim is false, so the best
    strategy is not among them. The strategy is undecided instead if most other tests do not show
    this, or if the mean difference has the other sign or is within ``rope``. Else it is probably
    worse if another test, treatment or metric does not show this, and half of these checks or more
    doubt some strategy in this way. A baseline (by its name, `YARDSTICKS`) that would be avoided is
    a yardstick.

    The strategies that may be the best are those for which a joint test by flips of signs does not
    show that some other is better. A given best strategy is among them with probability
    ``1 - alpha``. If they are more than four, none is advised.
    """
    results = compared.results
    chosen = _resolved(chosen or chosen_now(), results)
    analysis, names = chosen.analysis, list(results.strategies)
    place = control_of(analysis.question, names)
    control = None if place is None else names[place]
    related = results.clusters is not None
    known = (scored or results).select(strategies=names, datasets=results.datasets)
    draft = Decision(
        chosen=chosen,
        scorer=results.metric,
        frame=_in_order(_table(compared, known).assign(verdict=UNDECIDED)),
        leader="",
        n=len(results.datasets),
        n_sources=results.n_sources if related else 0,
        least=fewest_datasets(len(names), analysis, related),
        n_pairs=len(names) - 1 if control else len(names) * (len(names) - 1) // 2,
        gaps=results.gaps,
        hint=_hint(results),
    )
    if not draft.decided:
        return draft
    primary = primary_test(compared, chosen)
    better = shown_better(primary, names, analysis.alpha, control)
    ranks, top = draft.frame["average rank"][names].to_numpy(), _top(results, analysis, better)
    at = place if place is not None else leading(top, ranks)
    leader = "" if at is None else names[at]
    equal = _equal(compared, analysis, leader)
    verdicts = (
        verdicts_of_best(better, top, ranks, equal)
        if place is None
        else verdicts_against(better, place, equal)
    )
    chances = probability_of_best(results)
    frame = _with_groups(draft.frame, primary, analysis.alpha)
    frame["verdict"], frame["P(best)"] = pd.Series(verdicts, names), chances.frame["P(best)"]
    draft = replace(
        draft,
        frame=_in_order(frame),
        leader=leader,
        n_shown=int(better.sum()),
        copies=copies_in(paired_losses(results).snapped, names),
        chances=chances,
    )
    if not leader:
        return draft
    tests = _other_tests(chosen, compared)
    draft = replace(draft, frame=frame.join(margins(known, leader)))
    unclear = _unclear(draft, tests)
    draft = replace(draft, frame=draft.frame.assign(verdict=_settled(draft, unclear)))
    checks = _checks(draft, compared, {**tests, **(others or {})})
    doubts = [check.also for check in checks if check.also]
    named = sum(doubts, ()) if 2 * len(doubts) >= len(checks) else ()
    doubted = draft.frame.index.isin(named) & (draft.frame["verdict"] == AVOID)
    draft.frame.loc[doubted, "verdict"] = LIKELY
    given = draft.frame.assign(reason=reasons(draft, unclear, gaps(known, leader)))
    draft = replace(draft, frame=_in_order(given))
    row = better[names.index(leader)] | better[:, names.index(leader)]
    undecided = [name for name in draft.named(UNDECIDED) if not row[names.index(name)]]
    undecided = [x for x in draft.best if x not in draft.copies_of(leader)] or undecided
    return replace(
        draft,
        time_shares=_time_shares(known, leader),
        bounds=_bounds(results, analysis.alpha, better),
        **_smallest_change(draft, results),
        checks=checks,
        outlook=outlook(results, leader, undecided, analysis.alpha),
    )


def _resolved(chosen: Chosen, results: Results) -> Chosen:
    """Return the analysis with the metric of the results, and with a test that suits it."""
    analysis, metric = chosen.analysis, results.metric
    test = analysis.test or default_test(metric)
    if analysis.rope and metric.incomparable:
        raise AnalysisError(
            f"rope is in units of the metric, and {metric.name} has another unit on each dataset"
        )
    if results.clusters is not None and test == "trinomial":
        test = "sign"
    return replace(chosen, analysis=replace(analysis, metric=metric.name, test=test))


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
    if key in compared.bayesian and analysis.rope != compared.rope:
        raise AnalysisError(
            f"the {key} test was computed with rope = {compared.rope:g} and not "
            f"{analysis.rope:g}: compare with that rope"
        )
    return every[key]


def _top(results: Results, analysis: Analysis, better: np.ndarray) -> np.ndarray:
    """Return which strategies may be the best."""
    unbeaten: np.ndarray = ~np.any(better, axis=0)
    if analysis.test not in _FLIPPED:
        return unbeaten
    most = _FEWER if results.clusters is None else FLIPS
    joint = joint_of_results(results, "learned", _FLIPPED[analysis.test], 0, most)
    top: np.ndarray = joint.top(analysis.alpha) & unbeaten
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


def _unclear(draft: Decision, tests: Mapping[str, Pairwise]) -> pd.Series:
    """Return why the result of the primary test on a strategy is not clear, or an empty text."""
    frame, analysis = draft.frame, draft.chosen.analysis
    names, control = list(frame.index), _control(analysis, draft.leader)
    better = [shown_better(pairs, names, analysis.alpha, control) for pairs in tests.values()]
    kept = [_kept(shown, names, control) for shown in better]
    against = pd.Series([sum((name in one) == (control is None) for one in kept) for name in names])
    size = losses(draft)
    size = size.where(frame["verdict"] != USE, -size)
    # failures are a size of their own
    small = (size <= analysis.rope) & (frame["failures"] == 0)
    differs = f"differs from {control}" if control else "is worse than another strategy"
    lone = f"{differs} by the main test ({TESTS[analysis.test].words}), but not by most others."
    texts = np.where(small, f"{differs} on many datasets, but not on average.", "")
    texts = np.where(2 * against > len(kept), lone, texts)
    shown = frame["verdict"].isin([AVOID, USE]) & (frame.index != draft.leader)
    sentences = [f"{name} {text}" if text else "" for name, text in zip(names, texts, strict=True)]
    return pd.Series(np.where(shown, sentences, ""), names)


def _settled(draft: Decision, unclear: pd.Series) -> pd.Series:
    """Return the verdicts after contradictions, copies and baselines are considered."""
    verdicts = draft.frame["verdict"].where(unclear == "", UNDECIDED)
    if draft.control:
        return verdicts
    verdicts = verdicts.where(~verdicts.index.isin(draft.copies_of(draft.leader)), USE)
    best = verdicts.index[verdicts.isin([USE, OPEN])]
    if len({draft.copies_of(name) for name in best}) > MOST_CHOSEN:
        verdicts = verdicts.replace(USE, OPEN)
    baseline = [any(part in name.lower() for part in YARDSTICKS) for name in verdicts.index]
    return verdicts.where(~(np.array(baseline) & (verdicts == AVOID)), YARDSTICK)


def _control(analysis: Analysis, leader: str) -> str | None:
    return leader if analysis.question.startswith("control") else None


def _equal(compared: Compared, analysis: Analysis, leader: str) -> np.ndarray:
    """Return which strategies are practically equal to the leader; none without a region."""
    if not analysis.rope or not leader:
        return np.zeros(len(compared.results.strategies), dtype=bool)
    return shown_equal(compared.results, leader, analysis.rope, analysis.alpha)


# ------------------------------------------------------------------------ table


def _table(compared: Compared, known: Results) -> pd.DataFrame:
    """Return the columns of the table that need no test."""
    results = compared.results
    table = compared.ranks.frame[["average_rank"]].rename(columns={"average_rank": "average rank"})
    if "(c)" in compared.estimates:
        mean = compared.estimates["(c)"].frame["value"]
        table[f"mean {results.metric.name}"] = mean.reindex(table.index)
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


def _with_groups(frame: pd.DataFrame, primary: Pairwise, alpha: float) -> pd.DataFrame:
    """Return the table with the letters of groups, or with sets of ranks."""
    better = shown_better(primary, list(frame.index), alpha)
    if len(frame) > _MOST_LETTERED:
        return frame.assign(ranks=[f"{low} to {high}" for low, high in rank_sets(better).T])
    return frame.assign(groups=letter_groups(~(better | better.T)))


def _in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with its columns in order."""
    last = [name for name in _LAST if name in frame]
    first = [name for name in frame if name not in ("verdict", *last)]
    return frame[["verdict", *first, *last]]


# ----------------------------------------------------------------------- checks


def _checks(
    draft: Decision, compared: Compared, others: Mapping[str, Pairwise]
) -> tuple[Check, ...]:
    """Return the answers to the question by other tests, treatments and metrics."""
    analysis, names = draft.chosen.analysis, list(compared.results.strategies)
    control = _control(analysis, draft.leader)
    claimed = {*draft.named(AVOID), *(draft.named(USE) if control else draft.named(YARDSTICK))}
    checks = []
    for how, pairs in others.items():
        both = [name for name in names if name in pairs.strategies]
        if draft.leader not in both:
            continue
        kept = _kept(shown_better(pairs, both, analysis.alpha, control), both, control)
        lacking = claimed & set(both) - kept if control else claimed & kept
        more = set() if control else set(draft.best) & set(both) - kept
        also, without = ([n for n in draft.frame.index if n in group] for group in (lacking, more))
        leads = control is not None or draft.leader in kept
        checks.append(Check(how, tuple(also), tuple(without), leads, control is not None))
    return tuple(checks)


def _other_tests(chosen: Chosen, compared: Compared) -> dict[str, Pairwise]:
    """Return the other tests of all strategies, by a phrase for each."""
    results, analysis = compared.results, chosen.analysis
    every = {
        TESTS[test].words: compared.pairs[test]
        for test in (_BY_SIGNS if results.metric.incomparable else _CHECKED)
        if test != analysis.test and test in compared.pairs
    }
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
    named = "" if results.clusters is not None else words.related(results.datasets)
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


def _kept(better: np.ndarray, names: list[str], control: str | None) -> set[str]:
    """Return the strategies that are not shown to be worse, or that differ from the control."""
    at = None if control is None else names.index(control)
    kept = ~np.any(better, axis=0) if at is None else better[at] | better[:, at]
    return {name for name, ok in zip(names, kept, strict=True) if ok}
