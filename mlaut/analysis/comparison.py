"""Everything that is frequentist, for all pairs at once, in one object."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mlaut.analysis.bayesian import EQUIVALENT, bayesian_sign_test, bayesian_signed_rank_test
from mlaut.analysis.corrections import adjust_pairs
from mlaut.analysis.frequentist import sign_test, t_test, trinomial_test, wilcoxon_test
from mlaut.analysis.intervals import mean_estimates
from mlaut.analysis.missing import treat_missing
from mlaut.analysis.pair_probabilities import BETTER, poisson_binomial_test
from mlaut.analysis.portmanteau import aligned_ranks_test, friedman_test, quade_test
from mlaut.analysis.ranks import (
    average_ranks,
    bonferroni_dunn_test,
    critical_difference,
    nemenyi_test,
    rank_groups,
)
from mlaut.analysis.result_types import Pairwise, ResultTable, TestResult
from mlaut.analysis.results import Results
from mlaut.analysis.shown import Shown, number, p_text

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Comparison(Shown):
    """All results on one table of losses.

    Attributes
    ----------
    results : Results
        Complete: missing cells are treated.
    alpha : float
    correction : str
        Of the p-values of all pairs.
    estimates : mapping of str to ResultTable
        Mean losses by scenario: ``"(c)"``, and ``"(a)"`` where the point losses are known.
    ranks : ResultTable
    portmanteau : mapping of str to TestResult
        ``"Friedman F"``, ``"Friedman chi2"``, ``"Quade"``, ``"aligned ranks"``.
    pairs : mapping of str to Pairwise
        ``"t"``, ``"Wilcoxon"``, ``"sign"``, ``"trinomial"``, with corrected p-values (the raw ones
        in ``"p (unadjusted)"``), and ``"Nemenyi"``.
    bayesian : mapping of str to Pairwise
        Probabilities in place of p-values: ``"Bayesian sign"``, ``"Bayesian signed rank"``, and of
        a study with a metric of zeros and ones also ``"Poisson binomial"``.
    critical_difference : float
        Of average ranks, Nemenyi's.
    groups : tuple of tuple of str
        Strategies that Nemenyi's test does not tell apart, from the best on.
    control : ResultTable or None
        Bonferroni-Dunn against the control.
    """

    results: Results
    alpha: float
    correction: str
    estimates: Mapping[str, ResultTable]
    ranks: ResultTable
    portmanteau: Mapping[str, TestResult]
    pairs: Mapping[str, Pairwise]
    bayesian: Mapping[str, Pairwise]
    critical_difference: float
    groups: tuple[tuple[str, ...], ...]
    control: ResultTable | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be known to read the numbers, each note once, with the tables it is about."""
        tables = self.tables()
        about: dict[str, list[str]] = {}
        for name, table in tables.items():
            for note in table.notes_text():
                about.setdefault(note, []).append(name)
        return tuple(
            note if len(names) == len(tables) else f"{', '.join(names)}: {note}"
            for note, names in about.items()
        )

    def title(self) -> str:  # noqa: D102 - inherited
        return f"Comparison of {self.results.title()}, scenario (c)"

    def to_frame(self) -> pd.DataFrame:
        """Give one row a pair; columns are pairs of a test and its numbers."""
        every = {**self.pairs, **self.bayesian}
        return pd.concat({name: pairs.to_frame() for name, pairs in every.items()}, axis=1)

    def display_frame(self) -> pd.DataFrame:
        """Give what is shown: one row a pair, p-values, main effects, and probabilities."""
        columns: dict[str, pd.Series] = {}
        for name, pairs in self.pairs.items():
            frame = pairs.to_frame()
            columns[f"p {name}"] = frame["p_value"].map(lambda p: p_text(p)[2:].removeprefix("= "))
            effect = next(iter(pairs.effects))
            columns.setdefault(effect, frame[effect].map(number))
        return pd.concat([pd.DataFrame(columns), self.probabilities().map(number)], axis=1)

    def probabilities(self) -> pd.DataFrame:
        """Give one row a pair: for each Bayesian test the probability that the first is better.

        Where the tests have a region of practical equivalence, also that the two are equivalent.
        """
        columns = {}
        for name, pairs in self.bayesian.items():
            frame = pairs.to_frame()
            for key, told in _FIRST.items():
                if key in frame and frame[key].any():
                    columns[f"{told} {name}"] = frame[key]
        return pd.DataFrame(columns)

    def tables(self) -> dict[str, Shown]:
        """Give every part by name, in the order in which it is shown."""
        parts: dict[str, Shown] = {f"estimates {s}": table for s, table in self.estimates.items()}
        parts |= {"ranks": self.ranks, **self.portmanteau, **self.pairs, **self.bayesian}
        return parts | ({"control": self.control} if self.control is not None else {})

    def sentences(self) -> tuple[str, ...]:
        """Say what was found, a sentence a finding."""
        return (*self._on_average(), self._on_ranks(), *self._on_pairs())

    def sentence(self) -> str:
        """Say all that was found."""
        return " ".join(self.sentences())

    def _on_average(self) -> list[str]:
        mean = self.estimates["(c)"].frame
        best = str(mean["value"].idxmin())
        interval = f"[{number(mean.loc[best, 'low'])}, {number(mean.loc[best, 'high'])}]"
        loss = self.results.metric.loss_name
        found = f"{best} has the lowest mean {loss}, {number(mean.loc[best, 'value'])} {interval}"
        return [f"Over {len(self.results.datasets)} datasets {found}, scenario (c)."]

    def _on_ranks(self) -> str:
        friedman = self.portmanteau["Friedman F"]
        p = friedman.p_value or 1.0
        if p > self.alpha:
            return f"Friedman's test does not show that average ranks differ ({p_text(p)})."
        rank = self.ranks.frame["average_rank"]
        best = str(rank.index[0])
        alike = next((group for group in self.groups if group[0] == best), ())
        others = ", ".join(alike[1:])
        told = f"not told apart from {others}" if others else "told apart from all others"
        return (
            f"Average ranks differ (Friedman, {p_text(p)}): {best} is best with "
            f"{number(rank.iloc[0])}, {told} by Nemenyi's test."
        )

    def _on_pairs(self) -> list[str]:
        said = []
        for name in ("t", "Wilcoxon", "trinomial"):
            frame = self.pairs[name].to_frame()
            shown = int((frame["p_value"] <= self.alpha).sum())
            said.append(f"{shown} of {len(frame)} pairs by the {_TESTS[name]}")
        return [
            f"At level {self.alpha:g} after the {self.correction} correction "
            f"these differ: {', '.join(said)}.",
        ]  # no word on probabilities: for many pairs they are not corrected, as these are

    def _repr_html_(self) -> str:
        told = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in self.sentences())
        shown = [*self.estimates.values(), self.ranks, *([self.control] if self.control else [])]
        return told + "".join(part._repr_html_() for part in shown) + super()._repr_html_()


_FIRST = {BETTER: "P(first better)", EQUIVALENT: "P(equivalent)"}
_TESTS = {
    "t": "paired t-test",
    "Wilcoxon": "signed rank test",
    "trinomial": "trinomial test",
}


def compare(
    results: Results,
    *,
    alpha: float = 0.05,
    correction: str = "holm",
    control: str | None = None,
    missing: str = "raise",
    confidence: float = 0.95,
    rope: float = 0.0,
    n_samples: int = 5000,
    seed: int = 0,
    **wilcoxon: Any,
) -> Comparison:
    """Compare all strategies by estimates, tests of all and of all pairs, and probabilities.

    Parameters
    ----------
    results : Results
    alpha : float, default 0.05
        Level of Nemenyi's groups and of the sentences.
    correction : str, default "holm"
        Of the p-values of all pairs; see `mlaut.analysis.adjust`.
    control : str, optional
        Compare all others with this one too (Bonferroni-Dunn).
    missing : str, default "raise"
        Treatment of missing cells; see `mlaut.analysis.treat_missing`.
    confidence : float, default 0.95
        Of all intervals.
    rope : float, default 0
        Half width of the region of practical equivalence of the Bayesian tests, in units of the
        metric.
    n_samples : int, default 5000
        Draws of the Bayesian signed rank test; 0 leaves it out. It says its Monte Carlo error.
    seed : int, default 0
        Of these draws.
    **wilcoxon
        ``zeros`` and ``method`` of `mlaut.analysis.wilcoxon_test`.

    Returns
    -------
    Comparison
        It shows itself as tables in a notebook; ``sentences()`` says what was found.

    Examples
    --------
    >>> table = pd.DataFrame({"A": [0.1, 0.2, 0.3, 0.2], "B": [0.2, 0.4, 0.35, 0.3]})
    >>> found = compare(Results.from_table(table, greater_is_better=False))
    >>> print(found.sentences()[0])
    Over 4 datasets A has the lowest mean loss, 0.2 [0.07008, 0.3299], scenario (c).
    """
    results = treat_missing(results, missing)
    table = average_ranks(results, confidence=confidence)
    cd = critical_difference(len(results.strategies), len(results.datasets), alpha=alpha)
    raw = {
        "t": t_test(results, confidence=confidence),
        "Wilcoxon": wilcoxon_test(results, confidence=confidence, **wilcoxon),
        "sign": sign_test(results, confidence=confidence),
        "trinomial": trinomial_test(results, confidence=confidence),
    }
    pairs = {name: adjust_pairs(one, correction) for name, one in raw.items()}
    friedman = {
        f"Friedman {name}": friedman_test(results, statistic=name, confidence=confidence)
        for name in ("F", "chi2")
    }
    against = (
        None if control is None else bonferroni_dunn_test(results, control, confidence=confidence)
    )
    return Comparison(
        results=results,
        alpha=alpha,
        correction=correction,
        estimates=_estimates(results, confidence),
        ranks=table,
        portmanteau=friedman
        | {"Quade": quade_test(results), "aligned ranks": aligned_ranks_test(results)},
        pairs=pairs | {"Nemenyi": nemenyi_test(results, confidence=confidence)},
        bayesian=_bayesian(results, rope, n_samples, seed),
        critical_difference=cd,
        groups=rank_groups(table.frame["average_rank"], cd),
        control=against,
    )


def _bayesian(results: Results, rope: float, n_samples: int, seed: int) -> dict[str, Pairwise]:
    found = {"Bayesian sign": bayesian_sign_test(results, rope=rope)}
    if n_samples:
        found["Bayesian signed rank"] = bayesian_signed_rank_test(
            results, rope=rope, n_samples=n_samples, seed=seed
        )
    if results.load_block is not None and results.metric.zero_one and _have_errors(results):
        found["Poisson binomial"] = poisson_binomial_test(results)
    return found


def _have_errors(results: Results) -> bool:
    """Whether every cell has losses of single test points behind it, and none was filled in."""
    return results.variances is not None and bool(results.standard_errors.notna().all(axis=None))


def _estimates(results: Results, confidence: float) -> dict[str, ResultTable]:
    estimates = {"(c)": mean_estimates(results, confidence=confidence)}
    if _have_errors(results):
        estimates["(a)"] = mean_estimates(results, scenario="(a)", confidence=confidence)
    return estimates
