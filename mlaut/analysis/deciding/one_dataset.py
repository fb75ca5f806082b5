"""The numbers of one dataset: differences of its strategies with errors, tests, and probabilities.

The split decides the method. Folds, random splits and folds of groups train the strategies again:
scenario (b), by the corrected resampled t-test. Repeats on the same rows (seeds, runs), which are
about these rows only, are compared by the paired t-test or Welch's. A hold-out tests fitted models:
scenario (a), by McNemar's test for losses of 0 and 1, by DeLong's for AUC, and else by a t-test of
its rows.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from mlaut.analysis.common.display import SMALLEST_P
from mlaut.analysis.common.numerics import RELATIVE_NOISE, snap
from mlaut.analysis.common.result_types import Pairwise, ResultTable
from mlaut.analysis.estimates.bootstrap import draws_of_dataset
from mlaut.analysis.estimates.error_intervals import (
    FEWEST_OF_CLASS,
    METHODS,
    corrected_error,
    error_intervals,
    interval_of,
    sample_of,
)
from mlaut.analysis.estimates.intervals import Interval, freedom_of_sum, mean_ends, turned
from mlaut.analysis.methods.bayes.sign_tests import EQUIVALENT
from mlaut.analysis.methods.cross_validation.fold_tests import fold_differences
from mlaut.analysis.methods.cross_validation.repeated_cv import (
    cv_p_values,
    fold_table,
    train_ratio_of,
)
from mlaut.analysis.methods.cross_validation.statistics import CV_TESTS
from mlaut.analysis.methods.frequentist.mcnemar import mcnemar_test
from mlaut.analysis.methods.lacoste.pair_probabilities import lacoste_probabilities
from mlaut.analysis.pairwise.corrections import adjust_pairs
from mlaut.analysis.pairwise.pairs import Pairs
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError, some_of
from mlaut.helpers.markup import beside
from mlaut.records import Block

FOLDS, MCNEMAR, DELONG, ROWS, DRAWN = "corrected t", "McNemar", "DeLong", "rows", "bootstrap"
PAIRED, WELCH = "repeats", "Welch"
FIVE_BY_TWO, REGION = "5x2cv F", "region"
LACOSTE = "Lacoste"
# splits (repeats, folds) for which a further test was measured to hold its level
_CALIBRATED = {(5, 2): FIVE_BY_TWO, (1, 10): "k-fold", (10, 10): "use all data"}
JOINT, _HOLM = "joint", "holm"
_TOLD = 3  # strategies without a result somewhere, each with its reasons
_DRAWS = 20_000  # of the errors of all strategies together
ALONE = "there is one score of each strategy, so nothing tells how much of a difference is chance"
_FEW = "a class has {n} test rows, and a test needs {least}; test more rows"
_NOT_YET = Interval(*[np.full(0, np.nan)] * 4)
_TIME = "{problem}; so the order of the means is all that it shows"
NULLS = {
    PAIRED: "the expected difference over further repeats on these rows is 0",
    WELCH: "the expected difference over further runs on these rows is 0",
    "(b)": "the expected difference, re-trained on this dataset, is 0",
    "(a)": "the fitted models are equally good on this source",
}


class MainTest(NamedTuple):
    """Test that suits a split.

    Attributes
    ----------
    words, plain : str
        Its name in a sentence, and in plain words.
    cited : str
        Its name in a paragraph on methods, with the keys of its sources in braces.
    source : str
    """

    words: str
    plain: str
    cited: str
    source: str


MAIN_TESTS = {name: MainTest(**about) for name, about in beside(__file__).items()}


@dataclass(frozen=True, kw_only=True, eq=False)
class OneDataset:
    """Numbers of the strategies of one dataset.

    Attributes
    ----------
    results : Results
        Complete results on the dataset.
    scheme, kind : str
        The split, and its `Split.kind`; without a kind for scores of others.
    losses, errors : ndarray, shape (K,)
        Losses of the strategies, and their standard errors by the main test.
    gaps : Interval of ndarray, shape (P,)
        Differences of the losses of each pair, the first minus the second.
    ends : Interval of ndarray, shape (K,)
        Intervals of the scores, in the metric's own direction.
    notes : tuple of str, length K
        Notes on these intervals.
    scenario : str
    test : str
        Key in `MAIN_TESTS`; empty if none is valid.
    problem : str
        Why no test is valid; empty if one is.
    estimand : str
        What the intervals are of, in words.
    df, own_df : float or ndarray, shape (P,) and (K,)
        Degrees of freedom of the standard errors of the differences, and of the losses.
    n_rows, n_sets, n_repeats : int
        Numbers of tested rows, of test sets, and of repeats.
    ratio : float
        Ratio of test to training rows; NaN for a hold-out.
    """

    results: Results
    scheme: str
    losses: np.ndarray
    errors: np.ndarray
    gaps: Interval
    ends: Interval = _NOT_YET
    notes: tuple[str, ...] = ()
    scenario: str = "(b)"
    test: str = ""
    problem: str = ""
    estimand: str = ""
    kind: str = ""
    df: float | np.ndarray = np.nan
    own_df: float | np.ndarray = np.nan
    n_rows: int = 0
    n_sets: int = 1
    n_repeats: int = 1
    ratio: float = np.nan

    @property
    def of_runs(self) -> bool:
        """Whether strategies were repeated on the same rows, so that only these are spoken of."""
        return self.test in (PAIRED, WELCH)

    @property
    def repeated(self) -> np.ndarray:
        """Scores of the test sets, or of the repeats, shape (K, J); NaN where there is none."""
        results = self.results
        if results.runs is None:
            return results.cells[0][:, results.expected[0]]
        return results.runs[0][..., ~np.isnan(results.runs[0]).all(axis=0)]

    @property
    def joint(self) -> bool:
        """Whether draws of all pairs together hold the level: with enough test sets for them."""
        enough = self.n_sets > max(len(self.losses), 9)
        return self.test not in (MCNEMAR, PAIRED, WELCH) and (enough or self.scenario == "(a)")

    @property
    def ranks(self) -> pd.Series:
        """Order of the mean losses, 1 for the best; equal ones share the first place of both."""
        ranks = pd.Series(self.losses, list(self.results.strategies)).round(12)
        return ranks.rank(method="min")

    @property
    def pairs(self) -> Pairs:
        """All pairs of the strategies."""
        return Pairs.of(self.results.strategies)

    @classmethod
    def of(cls, results: Results, confidence: float = 0.95) -> "OneDataset":
        """Return the numbers of the only dataset of complete results.

        Raises
        ------
        MissingCellsError
            Cells are missing.
        AnalysisError
            There are fewer than two strategies.
        """
        results.complete(strategies=2)
        block = None if results.load_block is None else results.load_block(results.datasets[0])
        if block is None:
            return _of_scores(results, confidence)._with_ends(confidence)
        return _of_block(results, block, confidence)._with_ends(confidence)

    def tested(
        self, test: str, errors: np.ndarray, gaps: Interval, df: Any, own_df: Any = None
    ) -> Self:
        """Return the numbers with errors by a test; differences of rounding noise are 0."""
        pairs, losses = self.pairs, np.abs(self.losses)
        size = np.maximum(losses[pairs.first], losses[pairs.second])
        same = (snap(gaps.value, size) == 0) & (gaps.standard_error <= RELATIVE_NOISE * size)
        gaps = Interval(*(np.where(same, 0.0, part) for part in gaps))
        own_df = df if own_df is None else own_df
        return replace(self, test=test, errors=errors, gaps=gaps, df=df, own_df=own_df)

    def _with_ends(self, confidence: float) -> Self:
        """Return the numbers with the intervals of `error_intervals`, or of the main test."""
        results, none = self.results, np.isnan(self.errors)
        value = turned(Interval(*[self.losses] * 4), results, True).value
        if results.load_block is not None and self.test != DRAWN:
            table = error_intervals(results, confidence=confidence, as_scores=True)
            frame = table.frame.droplevel("dataset")
            own, error, low, high = (frame[name].to_numpy() for name in Interval._fields)
            ends = Interval(value, error, np.fmin(low, own), np.fmax(high, own))
            ends = Interval(value, *(np.where(np.isnan(low), np.nan, x) for x in ends[1:]))
            estimand = next((x for x in table.notes if x.partition(" (")[0] in METHODS), "")
            return replace(self, ends=ends, notes=tuple(frame["note"]), estimand=estimand)
        worth = 1 / (1 / self.n_sets + np.nan_to_num(self.ratio))
        df, bounds = self.own_df, results.metric.loss_bounds
        of_mean = mean_ends(self.losses, self.errors, "bounded", df, confidence, bounds, worth)
        low, high = (np.where(none, np.nan, end) for end in of_mean)
        unknown = f"no interval: {self.problem or 'the scores do not say how they vary'}"
        ends = turned(Interval(self.losses, self.errors, low, high), results, True)
        return replace(self, ends=ends, notes=tuple(unknown if x else "" for x in none))

    def chances(self) -> pd.Series:
        """Return the probability that each strategy is the best, by the posterior of the losses.

        It is Student's distribution with the errors of all pairs, as in the Bayesian correlated
        t-test (Corani & Benavoli 2015), for all strategies together. Copies share a probability.
        From few repeats on the same rows it would be too high, and is NaN.
        """
        names = list(self.results.strategies)
        if self.problem or self.of_runs:
            return pd.Series(np.nan, names)
        drawn = self._drawn + self.losses
        least = drawn.min(axis=1, keepdims=True)
        size = max(float(np.abs(self.losses).max()), float(self.errors.max()))
        best = drawn - least <= RELATIVE_NOISE * size
        share = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
        return pd.Series(share, names)

    @cached_property
    def _drawn(self) -> np.ndarray:
        """Draws of the errors of all losses together, which are Student's: shape (draws, K)."""
        names, square = np.array(self.results.strategies), np.square(self.errors)
        variances = np.square(self.gaps.standard_error)
        of_pairs = np.nan_to_num(self.pairs.square(variances, variances).to_numpy())
        order = np.argsort(names)  # a draw belongs to a name, whatever the order of the columns
        together = ((square[:, None] + square - of_pairs) / 2)[np.ix_(order, order)]
        values, vectors = np.linalg.eigh(together)
        root = vectors * np.sqrt(np.clip(values, 0, None))
        rng = np.random.default_rng(0)
        drawn = rng.standard_normal((_DRAWS, len(names))) @ root.T
        if np.isfinite(self.df):
            drawn *= np.sqrt(self.df / rng.chisquare(self.df, (_DRAWS, 1)))
        same = (of_pairs == 0).argmax(axis=1)  # copies have one error, to the last digit
        return np.asarray(drawn[:, np.argsort(order)][:, same])

    def _jointly(self, single: Pairwise) -> np.ndarray:
        """Return p-values for all pairs together, by the step-down maximum of all statistics."""
        first, second = self.pairs.first, self.pairs.second
        t, alone = (single.table(x).to_numpy()[first, second] for x in ("statistic", "p_value"))
        t, error = np.abs(np.nan_to_num(t, nan=0.0)), self.gaps.standard_error
        drawn = np.abs(self._drawn[:, first] - self._drawn[:, second])
        drawn = drawn / np.where(error > 0, error, np.inf)
        order = np.argsort(t)  # each is compared with those that are not larger
        largest = np.maximum.accumulate(drawn[:, order], axis=1)
        p = (1 + (largest >= t[order]).sum(axis=0)) / (1 + len(drawn))
        p = np.maximum.accumulate(np.maximum(p, alone[order])[::-1])[::-1]
        return np.minimum(p, 1.0)[np.argsort(order)]

    def tests(self, correction: str, rope: float) -> dict[str, Pairwise]:
        """Return the tests of pairs, the main one first; empty if none is valid.

        With the correction ``"joint"`` the p-values of the main test are of all pairs together,
        and those of others, of McNemar's test and of few test sets have Holm's correction.
        """
        if self.problem:
            return {}
        single, each = self._main(), _HOLM if correction == JOINT else correction
        main = adjust_pairs(single, each)
        if correction == JOINT and self.joint:
            p, name = self._jointly(single), f"{single.name}, all pairs jointly"
            main = replace(
                main, name=name, tables={**main.tables, "p_value": self.pairs.square(p, p)}
            )
        found = {self.test: main}
        known = _CALIBRATED.get(self.results.expected[0].shape)
        if known and self.test == FOLDS:
            (own,) = fold_differences(self.results)
            name, row = f"{known} test", CV_TESTS[known]
            name = f"calibrated {name}" if row.calibrated else name
            other = self._pairwise(name, row.source, cv_p_values(own.differences, known))
            found[known] = adjust_pairs(other, each)
        return found | {REGION: self._region(rope)} | self._lacoste()

    def _main(self) -> Pairwise:
        from scipy.special import stdtr

        error = self.gaps.standard_error
        t = np.abs(self.gaps.value) / np.where(error > 0, error, 1.0)
        t = np.where((error == 0) & (self.gaps.value != 0), np.inf, t)
        p, words = 2 * stdtr(self.df, -t), MAIN_TESTS[self.test]
        if self.test == MCNEMAR:
            of_rows = mcnemar_test(self.results, self.results.datasets[0])
            p = of_rows.p_values.to_numpy()[self.pairs.first, self.pairs.second]
        return self._pairwise(words.words.removeprefix("the ").capitalize(), words.source, p)

    def _pairwise(self, name: str, source: str, p: np.ndarray) -> Pairwise:
        square, gaps = self.pairs.square, self.gaps
        p = np.clip(p, SMALLEST_P, 1.0)
        error = np.where(gaps.standard_error > 0, gaps.standard_error, np.nan)
        tables = {
            "statistic": square(gaps.value / error, -gaps.value / error),
            "p_value": square(p, p),
            "better": square(-np.sign(gaps.value), np.sign(gaps.value)),
            "mean difference": square(gaps.value, -gaps.value),
            "mean difference low": square(gaps.low, -gaps.high),
            "mean difference high": square(gaps.high, -gaps.low),
        }
        effects = {"mean difference": MAIN_TESTS[self.test].words}
        null = NULLS.get(self.test) or NULLS[self.scenario]
        return self._compared(name, source, tables, null, effects=effects, statistic_name="t")

    def _compared(
        self, name: str, source: str, tables: dict[str, pd.DataFrame], null: str, **about: Any
    ) -> Pairwise:
        scenario = about.pop("scenario", self.scenario)
        by_rows, df = scenario == "(a)", np.atleast_1d(self.df)
        return Pairwise(
            name=name,
            source=source,
            tables=tables,
            null=null,
            strategies=self.results.strategies,
            metric=self.results.metric.loss_name,
            scenario=scenario,
            df=float(df[0]) if len(df) == 1 else tuple(df.tolist()),
            n=self.n_rows if by_rows else self.n_sets,
            unit="test rows" if by_rows else "repeats" if self.of_runs else "test sets",
            **about,
        )

    def _region(self, rope: float) -> Pairwise:
        """Return the probabilities of the posterior: better, within the region, worse."""
        from scipy.special import stdtr

        value, error = self.gaps.value, self.gaps.standard_error
        scale = np.where(error > 0, error, 1e-300)
        first, second = (stdtr(self.df, (sign * value - rope) / scale) for sign in (-1, 1))
        equal = np.clip(1 - first - second, 0.0, 1.0)
        if not rope:
            first, equal, second = first + equal / 2, 0 * equal, second + equal / 2
        square, folds = self.pairs.square, self.scenario == "(b)"
        name = "Bayesian correlated t-test" if folds else "posterior of the means"
        tables = {"P(row better)": square(first, second), EQUIVALENT: square(equal, equal)}
        null = f"none is tested: is one better by more than {rope:g}?"
        return self._compared(name, "Corani & Benavoli 2015", tables, null)

    def _lacoste(self) -> dict[str, Pairwise]:
        """Return the probability of Lacoste et al. that the first model is better, if it is known.

        It is that of the tested models: it does not count that strategies are trained again.
        """
        if (p := lacoste_probabilities(self.results)) is None:
            return {}
        labels, source = list(self.results.strategies), "Lacoste et al. 2012, Theorem 4.1"
        tables = {"P(row better)": pd.DataFrame(p, labels, labels)}
        null = "none is tested: which fitted model is better on this source?"
        name = "Probability of the better model"
        return {LACOSTE: self._compared(name, source, tables, null, scenario="(a)")}

    def table(self) -> ResultTable:
        """Return the scores of the strategies with their intervals."""
        frame = pd.DataFrame(self.ends._asdict(), list(self.results.strategies))
        told = (*self.results.notes_text(), self.estimand, *self.notes)
        return ResultTable(
            name=f"Scores on {self.results.datasets[0]}",
            frame=frame.assign(note=self.notes).rename_axis("strategy"),
            source="docs/intervals.md",
            metric=self.results.metric.name,
            scenario=self.scenario,
            notes=tuple(dict.fromkeys(filter(None, told))),
        )


def without_failed(results: Results) -> Results:
    """Return the results of the strategies that have a score on every test set of the dataset.

    Raises
    ------
    AnalysisError
        Fewer than two have one.
    """
    results.check_not_raced()
    results = _without_single(results)
    missing, n = results.missing, int(results.expected.sum())
    if not len(missing):
        return results
    counts = missing.groupby("strategy", sort=False)
    texts = [
        f"{name} is left out: no {results.metric.name} on {len(own)} of {n} test sets "
        f"({', '.join(sorted(set(own['reason'])))})"
        for name, own in counts
    ]
    more = len(texts) - _TOLD
    texts[_TOLD:] = [f"{more} more are left out: no {results.metric.name} somewhere"] * (more > 0)
    kept = [name for name in results.strategies if name not in counts.groups]
    if len(kept) < 2:
        raise AnalysisError(
            f"{'; '.join(texts[:2])}: fewer folds, or larger random test sets such as "
            "'repeated_holdout(1/3, 30)', lack no class"
        )
    gaps = (*results.gaps, *texts)
    return replace(results.select(strategies=kept), gaps=gaps, notes=(*results.notes, *texts))


def _without_single(results: Results) -> Results:
    """Return the results without strategies of a single run, if two or more have several."""
    if results.runs is None or results.runs.shape[3] > 1:
        return results
    n = (~np.isnan(results.runs[0, :, :, 0])).sum(axis=1)
    few = [name for name, count in zip(results.strategies, n, strict=True) if count == 1]
    if not few or (n > 1).sum() < 2:
        return results
    are, have = ("are", "each has") if len(few) > 1 else ("is", "it has")
    texts = [f"{some_of(few)} {are} left out: {have} one repeat, and a test needs two"]
    kept = [name for name in results.strategies if name not in few]
    return replace(results.select(strategies=kept), gaps=(*results.gaps, *texts))


def _bare(results: Results, losses: np.ndarray, **about: Any) -> OneDataset:
    """Return the losses, of which nothing tells how they vary."""
    pairs = Pairs.of(results.strategies)
    value = losses[pairs.first] - losses[pairs.second]
    gaps = Interval(value, *np.full((3, len(value)), np.nan))
    errors = np.full(len(losses), np.nan)
    return OneDataset(results=results, losses=losses, errors=errors, gaps=gaps, **about)


def _bounded(
    results: Results, value: np.ndarray, error: np.ndarray, df: Any, confidence: float, worth: Any
) -> Interval:
    """Return the intervals of differences, within the range of the metric."""
    span = results.metric.span
    ends = mean_ends(value, error, "bounded", df, confidence, (-span, span), worth)
    return Interval(value, error, *ends)


def _of_scores(results: Results, confidence: float) -> OneDataset:
    """Return the numbers from scores of folds, whose predictions are not known."""
    cells = fold_table(results.cell_losses[0], results, 0)
    known, (folds, repeats) = train_ratio_of(results, 0), cells.shape[-2:]
    if folds < 2 and known is None and (repeats > 1 or results.runs is not None):
        return _of_repeats(results, confidence)
    n_rows = 0 if results.n_test is None else int(results.n_test[0].sum() / repeats)
    scheme, n = f"{repeats} x {folds} folds", folds * repeats
    bare = _bare(results, cells.mean(axis=(1, 2)), scheme=scheme, n_rows=n_rows)
    if n < 2:
        return replace(bare, problem=ALONE)
    ratio = 1 / (folds - 1) if known is None else known
    flat, pairs = cells.reshape(len(cells), n), bare.pairs
    errors, worth = corrected_error(flat, ratio)
    apart = flat[pairs.first] - flat[pairs.second]
    value, error = apart.mean(axis=1), corrected_error(apart, ratio)[0]
    gaps = _bounded(results, value, error, n - 1, confidence, worth)
    tested = bare.tested(FOLDS, errors, gaps, n - 1)
    return replace(tested, n_sets=n, n_repeats=repeats, ratio=ratio)


def _of_repeats(results: Results, confidence: float) -> OneDataset:
    """Return the numbers from repeats on the same rows: claims are about more repeats on these.

    Repeats of one number have the same seed or split and are paired. Those of `Results.runs` are
    not: their numbers say nothing, or strategies have different ones.
    """
    runs = None if results.runs is None else results.metric.loss(results.runs[0, :, :, 0])
    cells = fold_table(results.cell_losses[0], results, 0)[:, 0] if runs is None else runs
    own = [x[~np.isnan(x)] for x in cells]
    n = np.array([len(x) for x in own])
    sizes = str(n[0]) if len({*n}) == 1 else f"{n.min()} to {n.max()}"
    bare = _bare(
        results,
        np.nanmean(cells, axis=1),
        scheme=f"{sizes} repeats of each strategy",
        n_sets=int(n.min()),
        n_repeats=int(n.max()),
        ratio=0.0,
    )
    if n.min() < 2:
        few = f"{results.strategies[n.argmin()]} has one repeat, so nothing tells its chance"
        return replace(bare, problem=few)
    rounded = _step(np.concatenate(own)) ** 2 / 12  # the least variance of rounded numbers
    errors, freedom = np.array([corrected_error(x, 0.0, rounded)[0] for x in own]), n - 1.0
    first, second = bare.pairs.first, bare.pairs.second
    if runs is None:
        error, df = corrected_error(cells[first] - cells[second], 0.0, 2 * rounded)[0], freedom[:1]
    else:
        both, of_both = np.array([errors[first], errors[second]]), [freedom[first], freedom[second]]
        error, df = np.hypot(*both), freedom_of_sum(both, np.column_stack(of_both))
    worth = np.minimum(n[first], n[second])
    gaps = _bounded(results, bare.gaps.value, error, df, confidence, worth)
    return bare.tested(PAIRED if runs is None else WELCH, errors, gaps, df, freedom)


def _step(values: np.ndarray) -> float:
    """Return one unit of the last digit of numbers, 0 if they have more than nine."""
    near = (10.0**-d for d in range(10) if np.allclose(values, np.round(values, d), 0, 1e-12))
    return next(near, 0.0)


def _of_block(results: Results, block: Block, confidence: float) -> OneDataset:
    """Return the numbers from the predictions of a study."""
    metric, split = results.metric, block.split
    every = sample_of(metric, block, pairs=True)
    rows = [block.strategies.index(name) for name in results.strategies]
    points = None if every.points is None else every.points[rows]
    sample = replace(every, cells=every.cells[rows], points=points)
    filled, hold_out = np.array(split.test_sizes) > 0, split.kind == "hold-out"
    folds = filled.sum() > 1 and not hold_out
    bare = _bare(
        results,
        np.nanmean(np.where(filled, sample.cells, np.nan), axis=(1, 2)),
        scheme=split.scheme,
        kind=split.kind,
        scenario="(a)" if hold_out else "(b)",
        n_rows=int((split.folds >= 0).any(axis=0).sum()),
        n_sets=int(filled.sum()),
        n_repeats=split.n_repeats,
        ratio=float((sample.n_test / sample.n_train)[filled].mean()) if folds else np.nan,
    )
    if hold_out and points is None:
        return _drawn(bare, block, confidence)
    try:
        gaps, method = interval_of(metric, sample.of_pairs, None, confidence, pairs=True)
    except AnalysisError as error:
        return replace(bare, problem=_TIME.format(problem=error))
    if sample.fewest < FEWEST_OF_CLASS:
        return replace(bare, problem=_FEW.format(n=sample.fewest, least=FEWEST_OF_CLASS))
    errors = interval_of(metric, sample, method.name, confidence, pairs=True)[0].standard_error
    of_rows = MCNEMAR if sample.zero_one else DELONG if sample.classes is not None else ROWS
    return bare.tested(of_rows if hold_out else FOLDS, errors, gaps, sample.df(method))


def _drawn(bare: OneDataset, block: Block, confidence: float) -> OneDataset:
    """Return the numbers of an aggregate on one test set, from draws of its rows."""
    if block.weights is not None:
        return replace(bare, problem="its rows have weights; use folds")
    counts = np.unique(block.truth[block.split.folds[0] >= 0], return_counts=True)[1]
    one_class = block.classes and not block.targets
    fewest = int(counts.min()) if one_class else len(block.truth)
    if fewest < FEWEST_OF_CLASS:
        return replace(bare, problem=_FEW.format(n=fewest, least=FEWEST_OF_CLASS))
    draws, pairs = draws_of_dataset(bare.results, 0, 0), bare.pairs
    error = np.nanstd(draws[:, pairs.first] - draws[:, pairs.second], axis=0, ddof=1)
    gaps = _bounded(bare.results, bare.gaps.value, error, fewest - 1, confidence, fewest)
    return bare.tested(DRAWN, np.nanstd(draws, axis=0, ddof=1), gaps, fewest - 1)
