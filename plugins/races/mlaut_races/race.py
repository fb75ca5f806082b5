"""`race`: conclusions after each dataset of a study whose datasets are run in a drawn order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, groupby
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from mlaut.analysis import MLautScore, Pairwise, Results
from mlaut.errors import AnalysisError, MissingCellsError
from mlaut.plugins import (
    SMALLEST_P,
    TESTS,
    NotNegative,
    Seed,
    Share,
    Shown,
    adjust,
    checked,
    control_of,
    not_negative,
    number,
    one_of,
    positions,
)
from mlaut.records import NOT_RUN, Status
from mlaut_races.course import Course, RaceDecision, follow
from mlaut_races.evidence import KINDS, p_of
from mlaut_races.mean_interval import mean_interval
from mlaut_races.terms import RaceTerms

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mlaut.plugins import Screen
    from mlaut.report import Section

_LARGEST_LOG = 700.0  # exp overflows beyond 709
_GIVEN = (
    "the datasets are taken in the order that was given, not by lot: valid if no result and no "
    "property of the datasets chose the order"
)
_BOUNDS = {"best": "each of the best stays", "all best": "all of the best stay"}
_SOURCES = "a round is a source: its datasets are bet on together, so that each source counts once"
_LEFT = (
    "strategies that left have fewer datasets: ranks and tests of the full table are not valid for "
    "this race"
)


@checked
def drawn_order(datasets: Iterable[str], seed: Seed = 0) -> list[str]:
    """Return datasets in an order drawn by lot, which depends on their names and the seed alone.

    Examples
    --------
    >>> drawn_order(["wine", "iris", "glass"])
    ['wine', 'glass', 'iris']
    """
    names = sorted(datasets)
    return [names[i] for i in np.random.default_rng(seed).permutation(len(names))]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Race(Shown):
    """State of a race of strategies over datasets in order, after the datasets that were used.

    Attributes
    ----------
    strategies : tuple of str, length K
    datasets : tuple of str, length T
        Datasets that were used, in order.
    n_datasets : int
        Number of all datasets.
    n_sources : int
        Number of their sources, each of which is one round; 0 if no sources are known.
    terms : RaceTerms
    course : Course
        Evidence and decisions, with strategies as positions.
    losses : ndarray, shape (T, K)
        Losses of the datasets that were used; NaN is a cell without a loss.
    metric : str
    span : float
        Width of the range of the loss; infinite if it has no ends.
    notes : tuple of str
    cost : DataFrame or None
        Numbers of cells of a study by strategy: those that were run, those that the race left out,
        and those that are open. The seconds of the first are known; those of the second are
        forecast by the mean time of the cells of that strategy. None for results without a study.
    """

    strategies: tuple[str, ...]
    datasets: tuple[str, ...]
    n_datasets: int
    terms: RaceTerms
    course: Course
    losses: np.ndarray
    metric: str
    span: float
    notes: tuple[str, ...] = ()
    n_sources: int = 0
    cost: pd.DataFrame | None = None

    @classmethod
    def of(
        cls,
        *,
        datasets: tuple[str, ...],
        terms: RaceTerms,
        course: Course,
        losses: np.ndarray,
        drop: bool = True,
        notes: tuple[str, ...] = (),
        **about: Any,
    ) -> Self:
        """Return a race from its course over the first of all datasets."""
        used = len(course.against)
        null = f"null hypothesis of a pair: {KINDS[terms.kind].null}"
        return cls(
            datasets=datasets[:used],
            n_datasets=len(datasets),
            terms=terms,
            course=course,
            losses=losses[:used],
            notes=(*notes, null, *((_LEFT,) if drop else ())),
            **about,
        )

    @property
    def left(self) -> tuple[str, ...]:
        """Strategies that may still be the best, or have an undecided pair."""
        return tuple(name for name, ok in zip(self.strategies, self.course.left, strict=True) if ok)

    @property
    def answered(self) -> bool:
        """Return whether the question is answered."""
        return self.course.answered

    @property
    def share_of_cells(self) -> float:
        """Share of the cells of all strategies and datasets that the race runs."""
        return float(self.course.runs.sum() / (self.n_datasets * len(self.strategies)))

    @property
    def decisions(self) -> tuple[str, ...]:
        """Decisions in their order, one sentence each."""
        return tuple(self._words(decision) for decision in self.course.decisions)

    @property
    def departures(self) -> dict[str, tuple[int, str]]:
        """For each strategy that left the race, the number of its datasets and the reason."""
        gone: dict[str, tuple[int, str]] = {}
        if self.terms.of_best:
            for decision in self.course.decisions:
                if not decision.equal:
                    why = f"stopped: worse after {decision.after} datasets"
                    why += f" (evidence {_evidence(decision)})"
                    gone[self.strategies[decision.first]] = decision.after, why
            return gone
        for place in np.flatnonzero(~self.course.left).tolist():
            after = max(d.after for d in self.course.decisions if place in (d.first, d.second))
            gone[self.strategies[place]] = after, f"decided after {after} datasets"
        return gone

    @property
    def evidence(self) -> pd.DataFrame:
        """Evidence after each dataset against each strategy being as good as all others."""
        index = pd.Index(self.datasets, name="dataset")
        values = np.exp(np.minimum(self.course.against, _LARGEST_LOG))
        return pd.DataFrame(values, index=index, columns=list(self.strategies))

    @cached_property
    def pairs(self) -> Pairwise:
        """Return all pairs, each on the datasets on which both strategies were run.

        The table ``"p_value"`` has anytime-valid p-values for "no difference" after Holm's
        correction over both directions of all pairs. ``"q (e-BH)"`` has the e-values adjusted for
        the false discovery rate. They are valid for the present state of the race, but not for its
        largest evidence. ``"e (equal)"`` has the evidence for practical
        equality. If the range of the losses is known, there is the mean difference with its
        interval, which is valid at every look.
        """
        return _pairs(self)

    def title(self) -> str:  # noqa: D102 - inherited
        return f"Race for {self.terms.question!r} on {self.metric}, {self.terms.kind} evidence"

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each strategy: state, number of datasets run, largest evidence."""
        state = {name: "still in" if name in self.left else "decided" for name in self.strategies}
        for decision in self.course.decisions:
            name = self.strategies[decision.first]
            if self.terms.of_best and not decision.equal:
                state[name] = f"stopped: worse after {decision.after} datasets"
            elif self.terms.question.startswith("control"):
                other, text = self._of_control(decision)
                state[other] = text
        columns = {"state": list(state.values()), "datasets": self.course.runs}
        if self.terms.of_best:
            against = self.course.against.max(axis=0, initial=0.0)
            columns["evidence"] = np.exp(np.minimum(against, _LARGEST_LOG))
        return pd.DataFrame(columns, index=pd.Index(self.strategies, name="strategy"))

    def sentence(self) -> str:  # noqa: D102 - inherited
        n, of = len(self.datasets), self.n_datasets
        bound = _BOUNDS.get(self.terms.question, "no pair is wrongly decided")
        bound += f" with probability {number(1 - self.terms.alpha)}"
        level = f"at level {number(self.terms.alpha)} for all looks ({bound})"
        standing = f"{self._standing()}{self._end()}, scenario (c)."
        sources = f" of {self.n_sources} sources" if self.n_sources else ""
        given = " in the order that was given, not by lot" if _GIVEN in self.notes else ""
        return f"After {n} of {of} datasets{sources}{given}, {level}: {standing}"

    def _standing(self) -> str:
        if not self.terms.of_best:
            n_open = len(self.decided_pairs(False))
            return f"{len(self.decided_pairs(True))} pairs are decided, {n_open} are open"
        if not self.left:
            return "no strategy is as good as all others: better on most datasets goes in a circle"
        verb = "is the best" if len(self.left) == 1 else "may each be the best"
        return f"{', '.join(self.left)} {verb}"

    def _end(self) -> str:
        if not self.answered:
            return "; the question is open"
        if self.terms.of_best and len(self.left) > 1:
            return ", and they are practically equal"
        return ""

    def figure(self) -> tuple[Figure, str, str] | None:
        """Return the figure of a report with its caption and its text; None without a dataset."""
        from mlaut_races.drawing import race_plot

        if not self.datasets:
            return None
        caption = (
            "Evidence against each strategy after each dataset, or the number of undecided pairs. "
            "A strategy is stopped where its line reaches the dashed level; bold names are "
            "still in."
        )
        return race_plot(self), caption, f"{self.sentence()} {'; '.join(self.decisions)}."

    def screen(self, section: Section) -> Screen | None:
        """Return the first screen of a section of a report; None if the race has no best."""
        from mlaut_races.screen import race_screen

        return race_screen(self, section)

    def cost_sentence(self) -> str:
        """Return what the race has cost and saved so far; empty without a study."""
        if self.cost is None:
            return ""
        run, out, still, spent, saved = self.cost.sum()
        share = (
            f", which saved about {100 * saved / (spent + saved):.0f} % of the time"
            if saved
            else ""
        )
        open_cells = f"; {still:.0f} cells are open" if still else ""
        return (
            f"{run:.0f} cells were run in {number(spent)} s; {out:.0f} were left out{share}"
            f"{open_cells}"
        )

    def decided_pairs(self, decided: bool = True) -> list[tuple[str, str]]:
        """Return the pairs of the question that are decided, or those that are open."""
        worse = self.course.worse_p <= self.terms.alpha
        done = worse | worse.T | (self.course.equal_p <= self.terms.alpha)
        k, control = len(self.strategies), control_of(self.terms.question, self.strategies)
        kept = [pair for pair in combinations(range(k), 2) if control is None or control in pair]
        return [(self.strategies[i], self.strategies[j]) for i, j in kept if done[i, j] == decided]

    def _words(self, decision: RaceDecision) -> str:
        first, second = self.strategies[decision.first], self.strategies[decision.second]
        end = f"after {decision.after} datasets (evidence {_evidence(decision)})"
        if decision.equal:
            return f"{first} and {second} practically equal {end}"
        if self.terms.of_best:
            return f"{first} stopped: worse {end}, mostly by {second}"
        return f"{first} worse than {second} {end}"

    def _of_control(self, decision: RaceDecision) -> tuple[str, str]:
        """Return the strategy that was decided against the control, and its state."""
        control = self.terms.question.removeprefix("control:").strip()
        first, second = self.strategies[decision.first], self.strategies[decision.second]
        other = second if first == control else first
        word = "practically equal to" if decision.equal else "worse than"
        word = "better than" if other == second and not decision.equal else word
        return other, f"{word} {control} after {decision.after} datasets"


def _evidence(decision: RaceDecision) -> str:
    """Return the evidence of a decision as text, also where it is beyond all floating numbers."""
    log10 = decision.log_evidence / np.log(10)
    return f"1e{log10:.0f}" if log10 > 6 else number(float(np.exp(decision.log_evidence)), 3)


@checked
def race(
    results: Results,
    *,
    question: str = "best",
    kind: str = "sign",
    alpha: Share = 0.05,
    rope: NotNegative = 0.0,
    order: Sequence[str] | None = None,
    seed: Seed = 0,
    missing: str = "raise",
    drop: bool = True,
) -> Race:
    """Follow a race over datasets in order, with evidence that is valid whenever one stops.

    Scenario (c): the datasets are a sample of all those that the question is about. Their order is
    drawn by lot, so that it depends neither on results nor on properties of the datasets. If
    datasets have sources, the order of the sources is drawn, and each source is one round.

    Parameters
    ----------
    results : Results
        The loss of a dataset is the mean over its folds.
    question : str, default "best"
        ``"best"``, ``"all best"``, ``"control: NAME"`` or ``"all pairs"``; see `QUESTIONS`.
    kind : {"sign", "signed rank", "mean"}, default "sign"
        Meaning of "worse". ``"sign"``: the strategy is more often worse; a tie counts for neither.
        ``"signed rank"``: large differences count more, and the null hypothesis is stricter:
        whatever the size of the difference, the strategy is not more often worse. ``"mean"``: the
        expected loss is larger. This kind needs a metric with a known range, and has little power,
        since differences are small compared with the range.
    alpha : float, default 0.05
        Level: the largest probability that a given best strategy is ever dropped; for
        ``"all best"``, that any of them is ever dropped; for pairs, that any pair is ever decided
        wrongly (Holm). Claims of practical equality have a separate level of the same size.
    rope : float, default 0
        Half width of the region of practical equivalence. Strategies are practically equal if their
        losses differ by at most this on most datasets; for ``"mean"``, if the expected difference
        is smaller. With 0 there are no such claims.
    order : sequence of str, optional
        Datasets in the order in which they were run; default `drawn_order` with ``seed``. For a
        given order, sentence and notes state the assumption that neither results nor properties of
        the datasets influenced it. In a table that is sorted by size, for example, one did.
    seed : int, default 0
        Seed with which the order is drawn.
    missing : {"raise", "failures last"}, default "raise"
        Treatment of cells without a loss. With ``"failures last"`` a failure is worse than any
        loss, and two failures tie. A cell that was not run yet is no failure: the race stops
        before its dataset.
    drop : bool, default True
        Whether a strategy leaves the race as soon as the evidence allows it, and the race ends when
        the question is answered. With False, all strategies are followed over all datasets; the
        numbers are valid in both cases.

    Returns
    -------
    Race

    Raises
    ------
    AnalysisError
        The question or the kind is not known; ``order`` omits datasets or separates those of a
        source; or the kind is ``"mean"`` and the metric has no range.
    MissingCellsError
        A cell has no loss, and ``missing`` is ``"raise"``.

    Notes
    -----
    The evidence is a product of bets; Ville's inequality bounds the probability that it ever
    exceeds ``1 / alpha`` under the null hypothesis. The evidence against "as good as all others"
    has two halves: the mean of the evidence against each rival, and the evidence of the rival that
    led before each dataset.
    Sources: Ville 1939; Waudby-Smith & Ramdas 2024 (betting); Wang & Ramdas 2022 (e-BH);
    Arnold et al. 2026 (sequential model confidence sets).

    Examples
    --------
    >>> table = pd.DataFrame({"A": [0.1] * 12, "B": [0.2] * 12, "C": [0.3] * 12})
    >>> result = race(Results.from_table(table, greater_is_better=False))
    >>> import textwrap
    >>> print(textwrap.fill(result.sentence(), 80))
    After 8 of 12 datasets, at level 0.05 for all looks (each of the best stays with
    probability 0.95): A is the best, scenario (c).
    >>> result.decisions[0]
    'C stopped: worse after 7 datasets (evidence 26.9), mostly by A'
    """
    terms = RaceTerms(question=question, kind=kind, alpha=alpha, rope=rope)
    check_terms(terms, results.strategies, results.metric)
    drawn = _drawn(results, seed) if order is None else _whole(order, results)
    chosen, span = results.select(datasets=drawn), results.metric.span
    losses, scale = cell_losses(chosen, missing), np.nan_to_num(chosen.noise_scale)
    sources = chosen.clusters
    return Race.of(
        strategies=chosen.strategies,
        datasets=chosen.datasets,
        terms=terms,
        course=follow(losses, scale, terms, chosen.strategies, span, drop, sources),
        losses=losses,
        metric=chosen.metric.loss_name,
        span=span,
        drop=drop,
        n_sources=len(set(sources or ())),
        notes=(*chosen.notes_text(), *(_SOURCES,) * bool(sources), *(_GIVEN,) * bool(order)),
    )


def check_terms(terms: RaceTerms, strategies: Sequence[str], metric: MLautScore) -> None:
    """Raise `AnalysisError` for terms that are not possible."""
    kind = KINDS[one_of("kind", terms.kind, KINDS)]
    one_of(f"the test of kind {terms.kind!r},", kind.test, TESTS)
    one_of("failures", terms.failures, ("last",))
    not_negative("rope", terms.rope)
    if kind.mean and not np.isfinite(metric.span):
        raise AnalysisError(
            f"bets on the mean need a metric with a known range, and {metric.name} has "
            "none: choose kind='sign' or 'signed rank'"
        )
    if metric.mixed and (terms.rope or terms.kind != "sign"):
        raise AnalysisError(f"only signs of {metric.name} compare: race by sign, without rope")
    if len(strategies) < 2:
        raise AnalysisError(f"a race needs two strategies, and there is {strategies[0]}")
    control_of(terms.question, strategies)


def _whole(order: Sequence[str], results: Results) -> list[str]:
    """Return the order; raise `AnalysisError` unless it has each dataset once."""
    positions("dataset", order, results.datasets)
    if sorted(order) != sorted(results.datasets):
        n, of = len(set(order)), len(results.datasets)
        raise AnalysisError(
            f"order names {n} of {of} datasets, or one of them twice: a race takes the datasets as "
            "they come, and leaves none out"
        )
    sources = results.select(datasets=list(order)).clusters or order
    if len([*groupby(sources)]) > results.n_sources:
        raise AnalysisError("order takes datasets of one source apart, and a source is a round")
    return list(order)


def _drawn(results: Results, seed: int) -> list[str]:
    """Return the datasets in an order in which their sources were drawn by lot."""
    of = results.clusters or results.datasets
    turns = map(drawn_order(set(of), seed).index, of)
    return [dataset for _, dataset in sorted(zip(turns, results.datasets, strict=True))]


def cell_losses(results: Results, missing: str) -> np.ndarray:
    """Return the losses: infinite for a failure, NaN for a cell that was not run.

    They are minus infinity where the size limit of a strategy was exceeded: such a dataset adds no
    evidence to the pairs of the strategy.
    """
    one_of("missing", missing, ("raise", "failures last"))
    losses = results.losses.to_numpy(copy=True)
    waiting, skipped = np.zeros((2, *losses.shape), dtype=bool)
    for (i, k, _, _), reason in results.reasons.items():
        waiting[i, k] |= reason in NOT_RUN
        skipped[i, k] |= reason == Status.SKIPPED.word
    failed = np.isnan(losses) & ~waiting
    if failed.any() and missing == "raise":
        i, k = np.argwhere(failed)[0]
        raise MissingCellsError(
            f"{int(failed.sum())} of {failed.size} losses are missing, the first of "
            f"{results.strategies[k]} on {results.datasets[i]}; missing='failures last' counts "
            "them as worse than any loss"
        )
    losses[failed], losses[skipped] = np.inf, -np.inf
    return losses


# ------------------------------------------------------------------------ pairs


def _pairs(ended: Race) -> Pairwise:
    course, names = ended.course, list(ended.strategies)
    k = len(names)
    off = ~np.eye(k, dtype=bool)
    both = np.maximum(p_of(course.worse_sup), SMALLEST_P)
    holm, q = np.ones((2, k, k))
    holm[off] = adjust(both[off], "holm")
    q[off] = adjust(np.maximum(p_of(course.worse), SMALLEST_P)[off], "benjamini-hochberg")
    tables = {
        "statistic": np.maximum(course.worse, course.worse.T),
        "p_value": np.minimum(holm, holm.T),
        "p (unadjusted)": np.minimum(2 * np.minimum(both, both.T), 1.0),
        "q (e-BH)": np.minimum(q, q.T),
        "better": np.sign(course.worse.T - course.worse),
        "datasets": np.minimum(course.runs[:, None], course.runs).astype(float),
    }
    if ended.terms.rope:
        tables["e (equal)"] = np.exp(np.minimum(course.equal_sup, _LARGEST_LOG))
    effects = {}
    if np.isfinite(ended.span) and not ended.n_sources:  # the interval is one of single datasets
        effects["mean difference"] = "bets, valid at every look"
        value, low, high = mean_interval(ended.losses, course.runs, ended.span, 0.95)
        tables |= {"mean difference": value, "mean difference low": low}
        tables["mean difference high"] = high
    tables = {key: np.where(off, table, np.nan) for key, table in tables.items()}
    return Pairwise(
        name=f"Anytime-valid {ended.terms.kind} test, Holm correction",
        strategies=ended.strategies,
        tables={key: pd.DataFrame(table, names, names) for key, table in tables.items()},
        null=KINDS[ended.terms.kind].null,
        source=KINDS[ended.terms.kind].source,
        metric=ended.metric,
        statistic_name="log e",
        effects=effects,
        n=len(ended.datasets),
        notes=ended.notes,
    )
