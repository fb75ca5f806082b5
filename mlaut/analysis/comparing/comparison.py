"""Comparison of all strategies in one object: estimates, tests and probabilities of all pairs."""

import html
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis.common.display import Shown, number, p_text
from mlaut.analysis.common.late import changed
from mlaut.analysis.common.result_types import Pairwise
from mlaut.analysis.comparing import paper, sentences
from mlaut.analysis.comparing.methods import Methods, methods_of
from mlaut.analysis.deciding.decision import Decision, decide_study
from mlaut.analysis.deciding.numbers import Numbers
from mlaut.analysis.deciding.terms import chosen_now
from mlaut.analysis.methods.bayes.sign_tests import EQUIVALENT
from mlaut.analysis.methods.frequentist.ranks import pair_groups
from mlaut.analysis.methods.lacoste.pair_probabilities import BETTER


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Comparison(Numbers, Shown):
    """Comparison of all strategies on one table of losses. It has the attributes of `Numbers`."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on how to read the numbers. Each note occurs once, with the names of its tables."""
        return sentences.notes(self)

    def notes_text(self) -> tuple[str, ...]:
        """Return the notes, behind the sentence on how a table was read."""
        return (*filter(None, [self.results.how_read]), *self.notes)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Groups of strategies, by average rank; in a group no two differ by the leading test."""
        return pair_groups(self.leading_pairs, list(self.ranks.frame.index), alpha=self.alpha)

    def title(self) -> str:  # noqa: D102 - inherited
        return f"Comparison of {self.results.title()}, scenario (c)"

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each pair; columns are pairs of a test and one of its numbers."""
        index = self.leading_pairs.labels
        frames = {name: pairs.to_frame().reindex(index) for name, pairs in self.tests.items()}
        return pd.concat(frames, axis=1)

    def decision(self, **terms: Any) -> Decision:
        """Return what is decided: what to use, what may be as good, and what to avoid.

        Parameters
        ----------
        **terms
            Terms of the analysis that replace the stored or default ones: ``question``, ``test``,
            ``alpha``, ``rope``, ``least`` (`mlaut.records.Analysis`). The decision names each
            change.

        Examples
        --------
        >>> from mlaut.analysis import compare
        >>> table = pd.DataFrame({"A": [0.9] * 8, "B": [0.7, 0.6, 0.8, 0.5] * 2})
        >>> decision = compare(table, metric="accuracy").decision()
        >>> decision.answer()
        'On datasets like these, use A. Avoid B (accuracy 0.25 below A).'
        >>> decision.frame["verdict"].to_dict()
        {'A': 'use', 'B': 'avoid'}
        """
        if self.chosen is not None:
            return decide_study(self, self.chosen.read_with(**terms))
        own = {"alpha": self.alpha, "rope": self.rope, "test": self.leading}
        return decide_study(self, chosen_now(**{**own, **terms}))

    def show(self) -> None:
        """Print what is decided, then the findings and the table; or display them in a notebook.

        With too few datasets, there are no findings to show.
        """
        decision = self.decision()
        decision.show()
        if decision.decided:
            super().show()

    def effect(self, test: str, name: str) -> pd.DataFrame:
        """Return an effect size of every pair, in the metric's own direction.

        Parameters
        ----------
        test : str
            A key of ``pairs``.
        name : str
            Name of an effect size of that test, for example ``"mean difference"``.

        Returns
        -------
        DataFrame
            One row for each pair: the effect of the first strategy against the second, and the ends
            of its interval (``low``, ``high``). The first is better if a difference of accuracies
            is above 0, or a difference of losses below 0. NaN for pairs that the test leaves out.
        """
        return pd.DataFrame({key: self.number(test, name + end) for key, end in _ENDS.items()})

    def number(self, test: str, name: str) -> pd.Series:
        """Return one table of a test, for every pair, as `effect` does; no other is computed."""
        pairs = self.in_own_direction(test)
        upper = np.triu_indices(len(pairs.strategies), 1)
        values = pairs.tables[name].to_numpy()[upper] if name in pairs.tables else np.nan
        return pd.Series(values, pairs.labels, dtype=float).reindex(self.leading_pairs.labels)

    def in_own_direction(self, test: str) -> Pairwise:
        """Return a test of pairs with differences of the metric in place of differences of losses.

        Parameters
        ----------
        test : str
            A key of ``pairs``.
        """
        pairs, metric = self.pairs[test], self.results.metric
        of_losses = [name for name in pairs.effects if name in _OF_LOSSES]
        if not metric.greater_is_better or not of_losses:
            return pairs
        turned: dict[str, Any] = {"statistic": -pairs.statistics}
        for name in of_losses:
            for end, other in (("", ""), (" low", " high"), (" high", " low")):
                turned[name + end] = lambda key=name + other: -pairs.table(key)
        return replace(pairs, tables=changed(pairs.tables, **turned), metric=metric.name)

    def effect_name(self, name: str) -> str:
        """Return the name of an effect size; differences also name their metric."""
        return f"{name} of {self.results.metric.name}" if name in _OF_LOSSES else name

    def display_frame(self) -> pd.DataFrame:
        """Return the displayed table: p-values, main effects and probabilities of each pair."""
        columns: dict[str, pd.Series] = {}
        every = self.to_frame()
        for name, pairs in self.pairs.items():
            columns[f"p {name}"] = every[name]["p_value"].map(_p_cell)
            effect = next(iter(pairs.effects))
            value = self.effect(name, effect)["value"].map(number)
            columns.setdefault(self.effect_name(effect), value)
        return pd.concat([pd.DataFrame(columns), self.probabilities().map(number)], axis=1)

    def to_latex(self) -> str:
        """Return the table of `grouped` in LaTeX: `paper_table` without a caption of one's own."""
        return self.paper_table()

    def paper_table(self, caption: str = "", *, label: str = "tab:comparison") -> str:
        r"""Return the table of `grouped` as papers print it: a float with a caption, in LaTeX.

        Parameters
        ----------
        caption : str
            First part of the caption. The second part is added: it states the number of datasets,
            the test, its correction and level, and the meaning of the letters and failures.
        label : str, default "tab:comparison"

        Returns
        -------
        str
            The table; it needs ``booktabs`` and ``[T1]{fontenc}``. The best mean and the best
            average rank are bold, for all strategies that share them.

        Examples
        --------
        >>> from mlaut.analysis import compare
        >>> table = pd.DataFrame({"A": [0.9] * 8, "B": [0.7, 0.6, 0.8, 0.5] * 2})
        >>> print(compare(table, metric="accuracy").paper_table().split("\n")[7])
        A & \textbf{0.9} & [0.9, 0.9] & \textbf{1} & a \\
        """
        return paper.paper_table(self, caption, label)

    def methods(self, **terms: Any) -> Methods:
        """Return the paragraph on methods for a paper, with its sources as BibTeX.

        Parameters
        ----------
        **terms
            Terms of the analysis, as for `decision`.

        Examples
        --------
        >>> from mlaut.analysis import compare
        >>> table = pd.DataFrame({"A": [0.9] * 8, "B": [0.7, 0.6, 0.8, 0.5] * 2})
        >>> methods = compare(table, metric="accuracy").methods()
        >>> print(str(methods).split(". ")[1].partition(" with ")[0])
        Strategies were compared in pairs by Wilcoxon's signed rank test (Wilcoxon 1945)
        >>> methods.keys
        ('wilcoxon1945', 'westfall1993', 'neal2000', 'kazakov2019')
        """
        return methods_of(self, self.decision(**terms))

    def probabilities(self) -> pd.DataFrame:
        """Return for each pair and Bayesian test the probability that the first is better.

        There is one row for each pair. If the tests have a region of practical equivalence, further
        columns have the probability that the two are equivalent.
        """
        columns = {}
        for name, pairs in self.bayesian.items():
            frame = pairs.to_frame()
            for key, label in _FIRST.items():
                if key in frame and frame[key].any():
                    columns[f"{label} {name}"] = frame[key]
        return pd.DataFrame(columns)

    def sentences(self) -> tuple[str, ...]:
        """Return the findings, one sentence each."""
        return sentences.findings(self)

    def sentence(self) -> str:
        """Return all findings as one text."""
        return " ".join(self.sentences())

    def _repr_html_(self) -> str:
        findings = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in self.sentences())
        parts = [*self.estimates.values(), self.ranks, *([self.control] if self.control else [])]
        return findings + "".join(part._repr_html_() for part in parts) + super()._repr_html_()


# Effect sizes that are differences of losses: they change their sign with the metric's direction.
_OF_LOSSES = (
    *("mean difference", "Cohen's d (paired)", "rank-biserial correlation"),
    "Hodges-Lehmann shift",
)
_ENDS = {"value": "", "low": " low", "high": " high"}
_FIRST = {BETTER: "P(first better)", EQUIVALENT: "P(equivalent)"}


def _p_cell(p: float) -> str:
    return "-" if np.isnan(p) else p_text(p)[2:].removeprefix("= ")
