"""Comparison of strategies on one dataset, by the tests that suit its split."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import pandas as pd

from mlaut.analysis.common.arguments import one_of
from mlaut.analysis.common.display import SCENARIOS, number
from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.comparing.comparison import Comparison
from mlaut.analysis.comparing.methods import Methods, compared_by, methods_in, plain
from mlaut.analysis.deciding.one_dataset import (
    LACOSTE,
    MAIN_TESTS,
    REGION,
    OneDataset,
    without_failed,
)
from mlaut.analysis.deciding.one_decision import OneDecision, decide_one
from mlaut.analysis.deciding.terms import chosen_now
from mlaut.analysis.methods.bayes.sign_tests import EQUIVALENT
from mlaut.analysis.results.missing import treat_missing
from mlaut.analysis.results.results import Results
from mlaut.helpers.markup import printable


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OneComparison(Comparison):
    """Comparison of all strategies on one dataset, scenario (a) or (b), and not (c).

    Its attributes are those of `Comparison`; ``pairs`` has the main test first, which ``leading``
    names, and ``estimates`` has one scenario. ``one`` has the numbers behind them.
    """

    one: OneDataset

    def __repr__(self) -> str:
        return f"{printable(self.decision().answer())}\n\n{super().__repr__()}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(printable(self.decision().answer()))}</p>{super()._repr_html_()}"

    def title(self) -> str:  # noqa: D102 - inherited
        return f"Comparison of {self.results.title()}, scenario {self.one.scenario}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on how to read the numbers."""
        own = [*self.one.notes, *(note for pair in self.tests.values() for note in pair.notes)]
        return tuple(dict.fromkeys(filter(None, (*self.results.notes_text(), *own))))

    def decision(self, **terms: Any) -> OneDecision:
        """Return what is decided; see `Comparison.decision`."""
        own = {"alpha": self.alpha, "rope": self.rope}
        chosen = self.chosen.read_with(**terms) if self.chosen else chosen_now(**{**own, **terms})
        return decide_one(self.one, self.tests, chosen, correction=self.correction)

    def pair_frame(self) -> pd.DataFrame:
        """Return one row for each pair: the difference in the metric's own direction, p, and more.

        ``P(first better)`` is the posterior probability that the first is better, and ``P(first
        model better)`` that of Lacoste et al. (2012) for the tested models, where it is known.
        """
        if not self.pairs:
            return pd.DataFrame()
        table = self.effect(self.leading, "mean difference")
        frame = table.rename(columns={"value": self.effect_name("mean difference")})
        main, every = self.leading_pairs.to_frame(), self.tests
        frame["p"], frame["p (unadjusted)"] = main["p_value"], main["p (unadjusted)"]
        for key, pairs in every.items():
            if key not in (self.leading, REGION, LACOSTE):
                frame[f"p {pairs.name}"] = pairs.to_frame()["p_value"]
        region = every[REGION].to_frame()
        frame["P(first better)"] = region["P(row better)"]
        if self.rope:
            frame[EQUIVALENT] = region[EQUIVALENT]
        if LACOSTE in every:
            frame["P(first model better)"] = every[LACOSTE].to_frame()["P(row better)"]
        return frame.rename_axis(["strategy", "against"])

    def to_frame(self) -> pd.DataFrame:
        """Return `pair_frame`."""
        return self.pair_frame()

    def display_frame(self) -> pd.DataFrame:
        """Return `pair_frame`, rounded, as text."""
        return self.pair_frame().map(number)

    def show(self) -> None:
        """Print what is decided, or display it in a notebook; `pair_frame` has all pairs."""
        self.decision().show()

    def grouped(self) -> pd.DataFrame:
        """Return one row for each strategy, the best first: see `Comparison.grouped`."""
        frame = self.decision().frame
        names = {f"mean {self.results.metric.name}": "mean"}
        kept = ["mean", "low", "high", "average rank", "groups"]
        return frame.rename(columns=names).filter(kept)

    def sentences(self) -> tuple[str, ...]:
        """Return the findings, one sentence each."""
        decision = self.decision()
        return (*decision.headline(), *decision.certainty())

    def methods(self, **terms: Any) -> Methods:
        """Return the paragraph on methods for a paper, with its sources as BibTeX."""
        return methods_of_one(self.decision(**terms))


def methods_of_one(decision: OneDecision) -> Methods:
    """Return the paragraph on what a decision on one dataset used."""
    one = decision.one
    about = "; each has one score, so nothing is claimed."
    if not decision.alone:
        how, where = ("with", "more repeats on these rows") if one.of_runs else ("split by", "")
        about = (
            f", {how} {plain(one.scheme)}; the claims are of scenario {one.scenario}, "
            f"{where or SCENARIOS[one.scenario]}, and not about other datasets."
        )
    texts = [f"{compared_by(one.results, decision.dataset)}{about}"]
    if decision.decided:
        by = decision.corrected_by
        source = {"jointly": " (step-down {westfall1993})", "Holm's": " {holm1979}"}.get(by, "")
        how = "jointly" if by == "jointly" else f"with {by} correction"
        texts.append(
            f"Pairs were compared by {MAIN_TESTS[one.test].cited}, two-sided, {how}{source} for "
            f"{decision.n_pairs} pairs, at level {decision.chosen.analysis.alpha:g}."
        )
        posterior = "Probabilities to be the best are of Student's posterior {corani2015}."
        texts += [posterior] * ("P(best)" in decision.frame)
    return methods_in(texts)


def compare_one(
    results: Results,
    *,
    alpha: float,
    correction: str,
    test: str,
    rope: float,
    confidence: float,
    missing: str,
    named: Mapping[str, Any],
) -> OneComparison:
    """Compare the strategies on the only dataset; see `compare`.

    ``named`` has tests of several datasets by name: they are known, and not used here. Strategies
    with a missing cell are left out where failures are to be last, as one dataset has no rank for
    them.
    """
    last = missing in ("failures last", "drop strategies")
    results = without_failed(results) if last else treat_missing(results, missing)
    one = OneDataset.of(results, confidence)
    every = one.tests(correction, results.region(rope))
    if test and test not in named:
        one_of("test", test, every)
    frame = pd.DataFrame({"average_rank": one.ranks, "P(best)": one.chances()})
    return OneComparison(
        results=results,
        alpha=alpha,
        correction=correction,
        estimates={one.scenario: one.table()},
        ranks=ResultTable(
            name="Order of the means",
            frame=frame.sort_values("average_rank").rename_axis("strategy"),
            source="",
            metric=results.metric.loss_name,
            scenario=one.scenario,
            notes=(one.problem,) if one.problem else (),
        ),
        portmanteau={},
        tests=every,
        critical_difference=float("nan"),
        leading=one.test,
        rope=rope,
        confidence=confidence,
        one=one,
    )
