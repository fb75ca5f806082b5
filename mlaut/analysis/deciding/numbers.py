"""The numbers of a comparison, from which its verdicts and its words are made."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mlaut.analysis.common.display import Shown
from mlaut.analysis.common.letters import letter_groups
from mlaut.analysis.common.result_types import Pairwise, ResultTable, TestResult
from mlaut.analysis.deciding.terms import Chosen
from mlaut.analysis.results.results import Results


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Numbers:
    """Numbers of a comparison of all strategies on one table of losses.

    Attributes
    ----------
    results : Results
        The compared results, in which missing cells are treated.
    alpha : float
        Level of the tests.
    correction : str
        Correction of the p-values for the number of pairs.
    estimates : mapping of str to ResultTable
        Means of the metric, in its own direction, by scenario: ``"(c)"``, and ``"(a)"`` where the
        point losses are known. They cover all strategies or, if missing cells rank last, the
        strategies without missing cells. Empty where means over datasets are meaningless.
    ranks : ResultTable
        Average ranks.
    portmanteau : mapping of str to TestResult
        Tests of all strategies at once: ``"Friedman F"``, ``"Friedman chi2"``, ``"Quade"``.
    tests : mapping of str to Pairwise
        All tests of pairs, those of ``pairs`` before those of ``bayesian``.
    pairs : mapping of str to Pairwise
        Those with p-values: ``"t"``, ``"signed rank"``, ``"sign"``, ``"trinomial"``, with corrected
        p-values (uncorrected in ``"p (unadjusted)"``), ``"Nemenyi"``, and ``"Conover"`` and
        ``"Siegel"`` with Holm's correction, the last two by scikit-posthocs. ``"t"`` compares
        the strategies that have estimates.
    bayesian : mapping of str to Pairwise
        Those with probabilities in place of p-values: ``"Bayesian sign"``, ``"Bayesian signed
        rank"``, and ``"Poisson binomial"`` for a study whose metric has point losses of 0 and 1.
    critical_difference : float
        Nemenyi's critical difference of average ranks.
    leading : str
        Key in ``pairs`` of the test to read first, which decides the groups.
    control : ResultTable or None
        Bonferroni-Dunn test of all other strategies against the control.
    rope : float
        Half width of the region of practical equivalence of the Bayesian tests.
    chosen : Chosen or None
        The analysis that the study has stored; None for results without one.
    confidence : float
        Confidence of the intervals.
    apart : Numbers or None
        The same comparison without the copies of strategies, by which a decision is made; None if
        no two strategies are equal on every dataset.
    """

    results: Results
    alpha: float
    correction: str
    estimates: Mapping[str, ResultTable]
    ranks: ResultTable
    portmanteau: Mapping[str, TestResult]
    tests: Mapping[str, Pairwise]
    critical_difference: float
    leading: str
    control: ResultTable | None = None
    rope: float = 0.0
    chosen: Chosen | None = None
    confidence: float = 0.95
    apart: "Numbers | None" = None

    @property
    def pairs(self) -> dict[str, Pairwise]:
        """Tests of pairs with p-values."""
        return {name: pairs for name, pairs in self.tests.items() if "p_value" in pairs.tables}

    @property
    def bayesian(self) -> dict[str, Pairwise]:
        """Tests of pairs with probabilities in place of p-values."""
        return {name: pairs for name, pairs in self.tests.items() if name not in self.pairs}

    @property
    def mean_strategies(self) -> tuple[str, ...]:
        """Strategies that have a mean over datasets, in the order of the results."""
        return tuple(self.estimates["(c)"].frame.index) if "(c)" in self.estimates else ()

    @property
    def leading_pairs(self) -> Pairwise:
        """Result of the leading test, with corrected p-values."""
        return self.tests[self.leading]

    def grouped(self) -> pd.DataFrame:
        """Return one row for each strategy, by rank: the table that a paper prints.

        Returns
        -------
        DataFrame
            Mean of the metric with the ends of its interval (``mean``, ``low``, ``high``; NaN for
            strategies without a mean), ``average rank``, ``failures`` (datasets on which missing
            cells were filled or count as last; absent if there are none), and ``groups``: two
            strategies differ by the leading test, after the correction, if they share no letter.
        """
        means = self.estimates["(c)"].frame if self.estimates else pd.DataFrame()
        order = self.ranks.frame.index
        ends = {"mean": "value", "low": "low", "high": "high"}
        columns = {name: means[key].reindex(order) for name, key in ends.items() if key in means}
        at = [self.results.strategies.index(name) for name in order]
        letters = letter_groups(~self.leading_pairs.differ(self.alpha)[np.ix_(at, at)])
        columns["average rank"] = self.ranks.frame["average_rank"]
        if self.results.imputed is not None:
            filled = self.results.imputed.any(axis=(2, 3)).sum(axis=0)
            columns["failures"] = pd.Series(filled, list(self.results.strategies)).loc[order]
        return pd.DataFrame(columns | {"groups": letters}, index=order)

    def tables(self) -> dict[str, Shown]:
        """Return all tables and tests by name, in the order of display."""
        parts: dict[str, Shown] = {f"estimates {s}": table for s, table in self.estimates.items()}
        parts |= {"ranks": self.ranks, **self.portmanteau, **self.tests}
        return parts | ({"control": self.control} if self.control is not None else {})
