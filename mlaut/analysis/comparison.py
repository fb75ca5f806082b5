"""Comparison of all strategies in one object: estimates, tests and probabilities of all pairs."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis.bayes.dirichlet import DRAWS
from mlaut.analysis.bayes.sign_tests import (
    EQUIVALENT,
    bayesian_sign_test,
    bayesian_signed_rank_test,
)
from mlaut.analysis.common.arguments import checked, one_of
from mlaut.analysis.common.display import Shown, latex_of_groups, number, p_text
from mlaut.analysis.common.letters import letter_groups
from mlaut.analysis.common.numerics import RELATIVE_NOISE
from mlaut.analysis.common.result_types import Pairwise, ResultTable, TestResult
from mlaut.analysis.deciding.decision import Decision, decide_study
from mlaut.analysis.deciding.terms import Chosen, chosen_now
from mlaut.analysis.estimates.intervals import mean_estimates
from mlaut.analysis.frequentist.paired_tests import (
    leading_test,
    sign_test,
    t_test,
    trinomial_test,
    wilcoxon_test,
)
from mlaut.analysis.frequentist.portmanteau import aligned_ranks_test, friedman_test, quade_test
from mlaut.analysis.frequentist.ranks import (
    average_ranks,
    bonferroni_dunn_test,
    critical_difference,
    nemenyi_test,
    pair_groups,
)
from mlaut.analysis.lacoste.pair_probabilities import BETTER, poisson_binomial_test
from mlaut.analysis.pairwise.corrections import adjust_pairs
from mlaut.analysis.pairwise.runner import PairFunction
from mlaut.analysis.results.given import results_of
from mlaut.analysis.results.missing import treat_missing, with_means
from mlaut.analysis.results.results import Results
from mlaut.analysis.scores.base import MLautScore
from mlaut.errors import AnalysisError

__all__ = ["PAIR_TESTS", "Comparison", "compare", "pairs_by_test"]

# the tests of pairs of a comparison, in the order of its tables; a new test is one entry more
PAIR_TESTS: dict[str, PairFunction] = {
    "t": t_test,
    "Wilcoxon": wilcoxon_test,
    "sign": sign_test,
    "trinomial": trinomial_test,
    "Nemenyi": nemenyi_test,
    "Bayesian sign": bayesian_sign_test,
    "Bayesian signed rank": bayesian_signed_rank_test,
    "Poisson binomial": poisson_binomial_test,
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Comparison(Shown):
    """Comparison of all strategies on one table of losses.

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
        point losses are known. They are means of all strategies, or of the strategies without
        missing cells where such cells rank last. Empty where means over datasets are meaningless.
    ranks : ResultTable
        Average ranks.
    portmanteau : mapping of str to TestResult
        Tests of all strategies at once: ``"Friedman F"``, ``"Friedman chi2"``, ``"Quade"``,
        ``"aligned ranks"``.
    pairs : mapping of str to Pairwise
        Tests of pairs: ``"t"``, ``"Wilcoxon"``, ``"sign"``, ``"trinomial"``, with corrected
        p-values (uncorrected in ``"p (unadjusted)"``), and ``"Nemenyi"``. ``"t"`` compares the
        strategies that have estimates.
    bayesian : mapping of str to Pairwise
        Tests with probabilities in place of p-values: ``"Bayesian sign"``, ``"Bayesian signed
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
    leading: str
    control: ResultTable | None = None
    rope: float = 0.0
    chosen: Chosen | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on how to read the numbers; each note once, with the names of its tables."""
        tables = self.tables()
        about: dict[str, list[str]] = {}
        for name, table in tables.items():
            for note in table.notes_text():
                about.setdefault(note, []).append(name)
        named = (
            note if len(names) == len(tables) else f"{', '.join(names)}: {note}"
            for note, names in about.items()
        )
        return (*self._notes_on_means(), *self._contradictions(), *named)

    def _contradictions(self) -> Iterator[str]:
        """Yield a note on pairs of which two tests say the opposite, and on a test of all."""
        said: dict[tuple[str, str], list[str]] = {}
        for test, pairs in {**self.pairs, **self.bayesian}.items():
            for i, j in np.argwhere(pairs.wins(self.alpha)).tolist():
                said.setdefault((pairs.strategies[i], pairs.strategies[j]), []).append(test)
        opposite = [one for one in said if one[0] < one[1] and one[::-1] in said]
        for first, second in opposite[:_MOST_OPPOSITE]:
            better, worse = said[first, second], said[second, first]
            yield (
                f"{first} is better than {second} by {', '.join(better)}, and worse by "
                f"{', '.join(worse)}: one wins more often, the other by more; the test that was "
                "chosen beforehand decides"
            )
        if len(opposite) > _MOST_OPPOSITE:
            yield f"tests say the opposite of {len(opposite)} pairs in all"
        differ = int(self.leading_pairs.differ(self.alpha).sum()) // 2
        if differ and (self.portmanteau["Friedman F"].p_value or 1.0) > self.alpha:
            yield (
                f"Friedman's test shows no difference and the {_TESTS[self.leading]} {differ}: the "
                "former compares the ranks of all strategies, the latter one pair at a time"
            )

    def _notes_on_means(self) -> tuple[str, ...]:
        """Return why means and t-tests are left out, and which tests still depend on the scales."""
        why = self.results.incomparable
        if self.results.metric.incomparable and why:
            return (
                f"means over datasets do not compare ({why}), so there is no mean and no t-test; "
                f"{_ORDERED} compare differences of several datasets: a dataset with a large unit "
                "weighs most there, and nothing in ranks and signs",
            )
        if why:
            n = len(self.mean_strategies)
            if n < 2:
                few = "only one strategy has" if n else "no strategy has"
                left_out = "so there is no t-test, nor a mean of the others"
                return (f"{few} all its cells, {left_out}: {why}",)
            return (f"means and t-tests are of the {n} strategies without missing cells: {why}",)
        return tuple(self._ruled_means())

    def _ruled_means(self) -> Iterator[str]:
        """Yield a note for each mean that one dataset dominates.

        Only a metric without a bound on its worse side can have such a mean.
        """
        if np.isfinite(self.results.metric.loss_bounds[1]):
            return
        metric, scores = self.results.metric.name, self.results.scores
        for name in self.results.strategies:
            size = self.results.losses[name].abs()
            if len(size) >= _ENOUGH_TO_RULE and size.max() > size.sum() / 2:
                at = str(size.idxmax())
                yield (
                    f"the mean of {name} rests on {at} ({metric} {number(scores.loc[at, name])}), "
                    "which weighs more than all other datasets together: take ranks"
                )

    @property
    def mean_strategies(self) -> tuple[str, ...]:
        """Strategies that have a mean over datasets, in the order of the results."""
        return tuple(self.estimates["(c)"].frame.index) if "(c)" in self.estimates else ()

    @property
    def leading_pairs(self) -> Pairwise:
        """Result of the leading test, with corrected p-values."""
        return self.pairs[self.leading]

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Groups of strategies of which no two differ by the leading test, by average rank."""
        return pair_groups(self.leading_pairs, list(self.ranks.frame.index), alpha=self.alpha)

    def title(self) -> str:  # noqa: D102 - inherited
        return f"Comparison of {self.results.title()}, scenario (c)"

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each pair; columns are pairs of a test and one of its numbers."""
        every = {**self.pairs, **self.bayesian}
        index = self.pairs["Nemenyi"].to_frame().index
        frames = {name: pairs.to_frame().reindex(index) for name, pairs in every.items()}
        return pd.concat(frames, axis=1)

    def decision(self, **terms: Any) -> Decision:
        """Return what is decided: the best, what is not shown to be worse, what is clearly worse.

        Parameters
        ----------
        **terms
            Terms of the analysis in place of those that the study has stored, or of the default
            ones: ``question``, ``test``, ``alpha``, ``rope``, ``least`` (`mlaut.records.Analysis`).
            The decision names each change.

        Examples
        --------
        >>> table = pd.DataFrame({"A": [0.9] * 8, "B": [0.7, 0.6, 0.8, 0.5] * 2})
        >>> decision = compare(table, metric="accuracy").decision()
        >>> decision.answer()
        'A is better than B on these 8 datasets.'
        >>> decision.frame["verdict"].to_dict()
        {'A': 'best', 'B': 'clearly worse'}
        """
        if self.chosen is not None:
            return decide_study(self, self.chosen.read_with(**terms))
        return decide_study(self, chosen_now(**{"alpha": self.alpha, "rope": self.rope, **terms}))

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
        frame = self.in_own_direction(test).to_frame()
        table = frame.reindex(columns=[name + end for end in _ENDS.values()])
        table.columns = pd.Index(_ENDS)
        return table.reindex(self.pairs["Nemenyi"].to_frame().index)

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
        turned = {"statistic": -pairs.statistics}
        for name in of_losses:
            value, low, high = (pairs.table(name + end) for end in _ENDS.values())
            turned |= {name: -value, f"{name} low": -high, f"{name} high": -low}
        return replace(pairs, tables={**pairs.tables, **turned}, metric=metric.name)

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

    def to_latex(self) -> str:
        """Return the table of `grouped` in LaTeX, the best mean and the best rank in bold."""
        n, frame = len(self.results.datasets), self.grouped()
        test = f"{self.leading_pairs.name}, level {self.alpha:g}, {n} datasets, scenario (c)"
        best = {"mean": self.results.metric.greater_is_better, "average rank": False}
        return latex_of_groups(frame, test, {key: up for key, up in best.items() if key in frame})

    def probabilities(self) -> pd.DataFrame:
        """Return for each pair and Bayesian test the probability that the first is better.

        Where the tests have a region of practical equivalence, further columns have the probability
        that the two are equivalent. One row for each pair.
        """
        columns = {}
        for name, pairs in self.bayesian.items():
            frame = pairs.to_frame()
            for key, label in _FIRST.items():
                if key in frame and frame[key].any():
                    columns[f"{label} {name}"] = frame[key]
        return pd.DataFrame(columns)

    def tables(self) -> dict[str, Shown]:
        """Return all tables and tests by name, in the order of display."""
        parts: dict[str, Shown] = {f"estimates {s}": table for s, table in self.estimates.items()}
        parts |= {"ranks": self.ranks, **self.portmanteau, **self.pairs, **self.bayesian}
        return parts | ({"control": self.control} if self.control is not None else {})

    def sentences(self) -> tuple[str, ...]:
        """Return the findings, one sentence each."""
        return (*self._headline(), self._on_ranks(), *self._on_pairs())

    def sentence(self) -> str:
        """Return all findings as one text."""
        return " ".join(self.sentences())

    def _headline(self) -> list[str]:
        """Return which strategy is best by the mean, or by ranks where not all have a mean."""
        gaps = "; ".join(self.results.gaps)
        over = f"Over {len(self.results.datasets)} datasets" + (f" ({gaps})" if gaps else "")
        if not self.results.incomparable:
            return [f"{over} {self._best_mean()}, scenario (c)."]
        rank = self.ranks.frame
        best = _first_of(rank["average_rank"])
        led = _led_by(best, len(rank), "best average rank", rank.rename(columns=_AS_VALUE))
        sentences = [f"{over} {led}, scenario (c)."]
        if self.results.metric.incomparable:
            sentences.append(f"Means over datasets do not compare ({self.results.incomparable}).")
        if len(self.mean_strategies) > 1:
            of = f"Of the {len(self.mean_strategies)} strategies without missing cells"
            sentences.append(f"{of} {self._best_mean()}, scenario (c).")
        return sentences

    def _best_mean(self) -> str:
        """Return which strategies have the best mean; a difference of rounding noise is a tie."""
        frame, metric = self.estimates["(c)"].frame, self.results.metric
        worse = -frame["value"] if metric.greater_is_better else frame["value"]
        places = [self.results.strategies.index(name) for name in frame.index]
        noise = RELATIVE_NOISE * self.results.noise_scale[:, places].mean(axis=0)
        at = int(worse.argmin())
        tied = (worse - worse.iloc[at]).to_numpy() <= np.maximum(noise, noise[at])
        word = "highest" if metric.greater_is_better else "lowest"
        best = [str(name) for name in frame.index[tied]]
        return _led_by(best, len(frame), f"{word} mean {metric.name}", frame)

    def _on_ranks(self) -> str:
        friedman = self.portmanteau["Friedman F"]
        p = friedman.p_value or 1.0
        if p > self.alpha:
            return f"Friedman's test does not show that average ranks differ ({p_text(p)})."
        rank = self.ranks.frame["average_rank"]
        best = _first_of(rank)
        are = "is" if len(best) == 1 else "are"
        return (
            f"Average ranks differ (Friedman, {p_text(p)}): {_listed(best)} {are} best with "
            f"{number(rank.iloc[0])}, {self._beside(best)} by the {_TESTS[self.leading]}."
        )

    def _beside(self, best: Sequence[str]) -> str:
        """Return the words for how the leading test compares the others with those of best rank."""
        names, pairs = list(self.ranks.frame.index), self.leading_pairs
        rows = [pairs.strategies.index(name) for name in best]
        columns = list(pairs.strategies)
        differ = pd.DataFrame(pairs.differ(self.alpha)[rows], columns=columns)
        better = pd.DataFrame(pairs.wins(self.alpha)[:, rows].T, columns=columns)
        others = [name for name in names if name not in best]
        alike = ", ".join(name for name in others if not differ[name].all())
        ahead = [name for name in others if better[name].any()]
        if ahead:
            but = f"but {_listed(ahead)} {'is' if len(ahead) == 1 else 'are'} better"
            return f"{but}, and not shown to differ from {alike}" if alike else but
        if alike:
            return f"not shown to differ from {alike}"
        return f"and {'differs' if len(best) == 1 else 'differ'} from all others"

    def _on_pairs(self) -> list[str]:
        counts = []
        for name in dict.fromkeys([*_COUNTED, self.leading]):
            if name not in self.pairs:
                continue
            frame = self.pairs[name].to_frame()
            n_different = int((frame["p_value"] <= self.alpha).sum())
            counts.append(f"{n_different} of {len(frame)} pairs by the {_TESTS[name]}")
        return [
            f"At level {self.alpha:g} after the {self.correction} correction "
            f"these differ: {', '.join(counts)}.",
        ]  # probabilities are not counted here: they are not corrected for the number of pairs

    def _repr_html_(self) -> str:
        findings = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in self.sentences())
        parts = [*self.estimates.values(), self.ranks, *([self.control] if self.control else [])]
        return findings + "".join(part._repr_html_() for part in parts) + super()._repr_html_()


# Effect sizes that are differences of losses: they change their sign with the metric's direction.
_OF_LOSSES = (
    "mean difference",
    "Cohen's d (paired)",
    "rank-biserial correlation",
    "Hodges-Lehmann shift",
)
_ENDS = {"value": "", "low": " low", "high": " high"}
_AS_VALUE = {"average_rank": "value"}
_ORDERED = "the signed rank tests, Quade's test and the test of aligned ranks"
_ENOUGH_TO_RULE = 5  # datasets: with fewer, one often outweighs all others together
_RANK_NOISE = 1e-9  # average ranks are multiples of 1 / (2 N), so a smaller gap is rounding
_FIRST = {BETTER: "P(first better)", EQUIVALENT: "P(equivalent)"}
_TESTS = {
    "t": "paired t-test",
    "Wilcoxon": "signed rank test",
    "sign": "sign test",
    "trinomial": "trinomial test",
    "Nemenyi": "Nemenyi test",
}
_MOST_OPPOSITE = 3  # pairs of which a note names the tests; all are in the table of pairs
_COUNTED = ("t", "Wilcoxon", "trinomial")  # tests whose pairs a sentence counts


def _p_cell(p: float) -> str:
    return "-" if np.isnan(p) else p_text(p)[2:].removeprefix("= ")


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _first_of(ranks: pd.Series) -> list[str]:
    """Return all strategies that share the best average rank."""
    return [str(name) for name in ranks.index[ranks - ranks.min() <= _RANK_NOISE]]


def _led_by(best: Sequence[str], n: int, what: str, frame: pd.DataFrame) -> str:
    """Return the words for the best of ``n`` strategies, with the interval if they share one.

    ``frame`` has one row for each strategy, with value, low and high.
    """
    numbers = [number(frame.loc[best[0], "value"])]
    intervals = {f"[{number(frame.loc[b, 'low'])}, {number(frame.loc[b, 'high'])}]" for b in best}
    numbers += intervals if len(intervals) == 1 else []
    if len(best) == 1:
        return f"{best[0]} has the {what}, {' '.join(numbers)}"
    if len(best) == n:
        return f"{_listed(best)} have the same {what.partition(' ')[2]}, {' '.join(numbers)}"
    return f"{_listed(best)} share the {what}, {' '.join(numbers)}"


@checked
def compare(
    results: Results | pd.DataFrame,
    *,
    metric: str | MLautScore = "",
    greater_is_better: bool | None = None,
    alpha: float = 0.05,
    correction: str = "holm",
    test: str = "",
    control: str | None = None,
    missing: str = "raise",
    confidence: float = 0.95,
    rope: float = 0.0,
    n_samples: int = DRAWS,
    seed: int = 0,
    zeros: str = "wilcox",
    method: str = "auto",
) -> Comparison:
    """Compare all strategies by estimates, tests of all strategies and of pairs, and probabilities.

    Parameters
    ----------
    results : Results or DataFrame
        The results to compare, or a table of scores with a column for each strategy and a row for
        each dataset (`Results.from_table`). A table needs ``metric``.
    metric : str or MLautScore, optional
        Metric of the table's scores, for example ``"accuracy"``, or any other name together with
        ``greater_is_better``. `Results` already have their metric.
    greater_is_better : bool, optional
        Direction of a metric that is not known by its name.
    alpha : float, default 0.05
        Level of the critical differences, of the groups and of the sentences.
    correction : str, default "holm"
        Correction of the p-values for the number of pairs; see `mlaut.analysis.adjust`.
    test : {"t", "Wilcoxon", "sign", "trinomial", "Nemenyi"}, optional
        The leading test, which decides the groups and which strategies differ from the best.
        Default the signed rank test, or the trinomial test for losses in different units: their
        result for a pair does not depend on the other strategies; that of Nemenyi's test does.
    control : str, optional
        Strategy that all others are also compared with, by the Bonferroni-Dunn test.
    missing : str, default "raise"
        Treatment of missing cells; see `mlaut.analysis.treat_missing`.
    confidence : float, default 0.95
        Confidence of all intervals.
    rope : float, default 0
        Half width of the region of practical equivalence of the Bayesian tests, in units of the
        metric.
    n_samples : int, default 5000
        Number of draws of the Bayesian signed rank test; with 0 the test is not computed. Its
        result states the Monte Carlo error.
    seed : int, default 0
        Seed of these draws.
    zeros, method : str
        Arguments of `mlaut.analysis.wilcoxon_test`.

    Returns
    -------
    Comparison
        It is displayed as tables in a notebook; ``sentences()`` returns the findings. Means over
        datasets can be meaningless (``results.incomparable``): a metric in the unit of each target,
        or metrics that differ between datasets. Then the mean and the t-test are left out, with a
        note, and the findings begin with ranks. Where missing cells rank last, means and t-tests
        cover the strategies without missing cells only.

    Examples
    --------
    >>> table = pd.DataFrame({"A": [0.1, 0.2, 0.3, 0.2], "B": [0.2, 0.4, 0.35, 0.3]})
    >>> found = compare(table, metric="loss", greater_is_better=False)
    >>> print(found.sentences()[0])
    Over 4 datasets A has the lowest mean loss, 0.2 [0.07008, 0.3299], scenario (c).
    >>> found = compare(1 - table, metric="accuracy")
    >>> print(found.sentences()[0].partition(" [")[0])
    Over 4 datasets A has the highest mean accuracy, 0.8
    >>> equal = Results.from_table(table.assign(B=table["A"]), greater_is_better=False)
    >>> print(compare(equal).sentences()[0])
    Over 4 datasets A and B have the same mean loss, 0.2 [0.07008, 0.3299], scenario (c).
    """
    results = treat_missing(results_of(results, metric, greater_is_better), missing)
    table = average_ranks(results, confidence=confidence)
    cd = critical_difference(len(results.strategies), len(results.datasets), alpha=alpha)
    valued = with_means(results)
    options: dict[str, Any] = {"alpha": alpha, "confidence": confidence, "rope": rope}
    options |= {"n_samples": n_samples, "seed": seed, "zeros": zeros, "method": method}
    pairs = _pairs(results, valued, options)
    adjusted = {
        name: _corrected(name, one, correction)
        for name, one in pairs.items()
        if "p_value" in one.tables
    }
    friedman = {
        f"Friedman {name}": friedman_test(results, statistic=name, confidence=confidence)
        for name in ("F", "chi2")
    }
    against = (
        None
        if control is None
        else bonferroni_dunn_test(results, control, alpha=alpha, confidence=confidence)
    )
    return Comparison(
        results=results,
        alpha=alpha,
        correction=correction,
        estimates={} if valued is None else _estimates(valued, confidence),
        ranks=table,
        portmanteau=friedman
        | {"Quade": quade_test(results), "aligned ranks": aligned_ranks_test(results)},
        pairs=adjusted,
        bayesian={name: one for name, one in pairs.items() if "p_value" not in one.tables},
        critical_difference=cd,
        leading=_leading(test, results, adjusted),
        control=against,
        rope=rope,
    )


def _pairs(
    results: Results, valued: Results | None, options: Mapping[str, Any]
) -> dict[str, Pairwise]:
    """Return the results of `PAIR_TESTS`, each with those of the options that it has."""
    found = {}
    for name, function in PAIR_TESTS.items():
        own = {key: x for key, x in options.items() if key in signature(function).parameters}
        on = valued if function.test.of_means else results
        if on is None or len(on.strategies) < 2 or own.get("n_samples") == 0:
            continue
        if function.test.applies(on):
            found[name] = function(on, **own)
    return found


def _leading(test: str, results: Results, pairs: Mapping[str, Pairwise]) -> str:
    """Return the name of the leading test: ``test``, or the one that suits the losses."""
    if not test:
        default = leading_test(results)
        return next(name for name, function in PAIR_TESTS.items() if function is default)
    whole = [name for name, one in pairs.items() if one.strategies == results.strategies]
    if test == "t" and test not in whole:
        raise AnalysisError(
            "the t-test cannot lead, since not every strategy has a mean over datasets "
            f"({results.incomparable}): choose one of {', '.join(whole)}"
        )
    return one_of("test", test, whole)


def pairs_by_test(name: str, results: Results, correction: str) -> Pairwise:
    """Return one of `PAIR_TESTS` by its name, corrected as `compare` does."""
    return _corrected(name, PAIR_TESTS[name](results), correction)


def _corrected(name: str, pairs: Pairwise, correction: str) -> Pairwise:
    known = PAIR_TESTS[name].test.simultaneous or "p_value" not in pairs.tables
    return pairs if known else adjust_pairs(pairs, correction)


def _have_errors(results: Results) -> bool:
    """Return whether every cell has losses of single test points and none was filled in."""
    return results.variances is not None and bool(results.standard_errors.notna().all(axis=None))


def _estimates(results: Results, confidence: float) -> dict[str, ResultTable]:
    how: dict[str, Any] = {"confidence": confidence, "as_scores": True}
    estimates = {"(c)": mean_estimates(results, **how)}
    if _have_errors(results):
        estimates["(a)"] = mean_estimates(results, scenario="(a)", **how)
    return estimates
