"""`Evidence`: who says what of each strategy; all verdicts, sets and sentences come from it."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pandas as pd

from mlaut.analysis.common.result_types import Pairwise
from mlaut.analysis.common.tests import TESTS
from mlaut.analysis.deciding.numbers import Numbers
from mlaut.analysis.deciding.terms import Chosen, control_of, default_test
from mlaut.analysis.deciding.verdict_table import RELATED, Way
from mlaut.analysis.deciding.verdicts import shown_better, worse_by
from mlaut.analysis.methods.aggregates.best import RankProbabilities, probability_of_best
from mlaut.analysis.methods.frequentist import ranks
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.results.results import Results
from mlaut.analysis.sources.relatives import related_names
from mlaut.errors import AnalysisError

_CHANCE = 0.1  # probability to be the best, above which no joint test rules a strategy out
# Below it, or this share of the mean chance of those that a test keeps, a strategy is not kept by
# few datasets, of which the test shows little.
_HARDLY, _OF_MEAN = 0.005, 0.05


@dataclass(frozen=True, eq=False)
class Case:
    """A case to decide: a comparison, the analysis, and the results with their failures."""

    compared: Numbers
    results: Results
    known: Results
    chosen: Chosen

    @classmethod
    def of(cls, compared: Numbers, chosen: Chosen, scored: Results | None) -> Self:
        """Return the case of a comparison, with the terms that suit its metric."""
        results = compared.results
        known = (scored or results).select(strategies=results.strategies, datasets=results.datasets)
        return cls(compared, results, known, resolved(chosen, results))

    @property
    def names(self) -> list[str]:
        """Names of the strategies."""
        return list(self.results.strategies)

    @property
    def control(self) -> str | None:
        """The control, if the question has one."""
        place = control_of(self.chosen.analysis.question, self.names)
        return None if place is None else self.names[place]

    def means(self) -> pd.Series:
        """Return the mean loss without rounding noise of each strategy, NaN if it has no mean."""
        if "(c)" not in self.compared.estimates:
            return pd.Series(np.nan, self.names)
        has = self.compared.estimates["(c)"].frame["value"].reindex(self.names).notna()
        losses = self.results.by_source(paired_losses(self.results).snapped)
        return pd.Series(losses.mean(axis=0), self.names).where(has)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Who says what of each strategy; datasets are the units, or sources where they are known.

    Attributes
    ----------
    primary : Pairwise
        The primary test.
    better : ndarray of bool, shape (K, K)
        Whether it shows the row to be better than the column.
    others : mapping of Way to Pairwise
        The other tests of all strategies.
    chances : RankProbabilities
    says : DataFrame of bool
        One row for each strategy. ``top``: it may be the best; ``claimed``: the primary test shows
        it to be worse, or to differ from the control; ``confirmed``: at least half of the other
        tests do; ``related``: so does the one that takes datasets with related names as one source.
    """

    primary: Pairwise
    better: np.ndarray
    others: dict[Way, Pairwise]
    chances: RankProbabilities
    says: pd.DataFrame

    @classmethod
    def of(cls, case: Case) -> Self:
        """Return the evidence on a case."""
        names, alpha = case.names, case.chosen.analysis.alpha
        primary = primary_test(case.compared, case.chosen)
        others, chances = _other_tests(case), probability_of_best(case.results)
        better = shown_better(primary, names, alpha, case.control)
        votes = {how: worse_by(pairs, names, alpha, case.control) for how, pairs in others.items()}
        says = {
            "top": _top(case, better, chances.frame["P(best)"][names].to_numpy()),
            "claimed": worse_by(primary, names, alpha, case.control),
            "confirmed": 2 * sum(votes.values(), np.zeros(len(names))) >= len(votes),
            "related": votes.get(RELATED, np.ones(len(names), dtype=bool)),
        }
        return cls(primary, better, others, chances, pd.DataFrame(says, names))


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


def primary_test(compared: Numbers, chosen: Chosen) -> Pairwise:
    """Return the primary test of a comparison."""
    analysis, every = chosen.analysis, compared.tests
    key = analysis.test
    if key not in every:
        known = ", ".join(repr(test) for test in TESTS if test in every)
        raise AnalysisError(
            f"the test {analysis.test!r} cannot be used here "
            f"({compared.results.incomparable or 'it was not computed'}): choose one of {known}"
        )
    if "p_value" not in every[key].tables and analysis.rope != compared.results.region(
        compared.rope
    ):
        raise AnalysisError(
            f"the {key} test was computed with rope = {compared.rope:g} and not "
            f"{analysis.rope:g}: compare with that rope"
        )
    return every[key]


def _top(case: Case, better: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """Return which strategies may be the best."""
    unbeaten: np.ndarray = ~np.any(better, axis=0)
    analysis, form = case.chosen.analysis, TESTS[case.chosen.analysis.test].joint
    if not form:
        return unbeaten
    joint = ranks.joint_of_results(case.results, signs=form == "signs")
    kept = joint.top(analysis.alpha)
    possible = kept & (chances >= min(_HARDLY, _OF_MEAN / kept.sum()))
    top: np.ndarray = (possible | (chances > _CHANCE)) & unbeaten
    return top if top.any() else unbeaten


def _other_tests(case: Case) -> dict[Way, Pairwise]:
    """Return the other tests of all strategies."""
    results, analysis, compared = case.results, case.chosen.analysis, case.compared
    scale = "no scale" if results.metric.incomparable else "scale"
    every = {
        Way(test.words): compared.tests[key]
        for key, test in TESTS.items()
        if scale in test.checks and key != analysis.test and key in compared.tests
    }
    known = results.clusters is not None
    by_signs = analysis.test == "sign" if known else bool(results.metric.incomparable)
    test = ranks.joint_sign_test if by_signs else ranks.joint_signed_rank_test
    if not known and (sources := related_names(results.datasets)):
        every[RELATED] = test(results.with_clusters(sources))
    if known and analysis.test != "t":
        for unit in ("source", "dataset"):
            every[Way(f"counting each {unit} once")] = test(results, weights=unit)
    # a t-test may be of those strategies alone that have means
    return {how: pairs for how, pairs in every.items() if pairs.strategies == results.strategies}
