"""Intervals of the error of one learner on one dataset, by five published methods and our own.

Each method states what it estimates (its estimand). Schulz-Kuempel et al. (2024) compare methods.
`mlaut.error_interval` fits a learner and calls a method; `error_intervals` takes a study.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import Share, one_of
from mlaut.analysis.common.display import number
from mlaut.analysis.common.numerics import RELATIVE_NOISE, student_quantile, wilson
from mlaut.analysis.common.result_types import Estimate, ResultTable
from mlaut.analysis.estimates.intervals import Interval, mean_ends, turned
from mlaut.analysis.results.given import of_results, takes_sources
from mlaut.analysis.results.results import Results
from mlaut.analysis.scores.base import MLautScore
from mlaut.analysis.scores.metric_names import metric as find_metric
from mlaut.analysis.scores.metrics import over_targets
from mlaut.errors import AnalysisError
from mlaut.helpers.markup import beside, counted
from mlaut.records import CLASSIFICATION, REGRESSION, UNUSED, Block, Split

# Factors of the variance of "CV Wald, inflated". They were chosen on 34 tables and confirmed on
# others: see docs/intervals.md.
ONE_REPEAT, SEVERAL_REPEATS = 1.45, (1.1, 1.5)
# Stratified test sets have the same shares of the classes, so the error of a learner near the base
# rate varies too little between them. From this share of equal predictions on, a result says so.
NEARLY_CONSTANT = 0.95
FEWEST_OF_CLASS, FEW_OF_CLASS = 3, 10  # test rows of a class: without an interval, with a note
HEAVY, HEAVY_SHARE = 5, 0.05  # most test rows, and share, that make up half of a heavy loss
_LIGHTER = {CLASSIFICATION: "brier", REGRESSION: "mae"}
_ABOUT = beside(__file__)
_NOTES: dict[str, str] = _ABOUT["notes"]


@dataclass(frozen=True, eq=False)
class Sample:
    """Losses of learners on the test sets of one dataset.

    Attributes
    ----------
    split : Split
        R repeats of F folds, including the repeats that only intervals use.
    cells : ndarray of float, shape (..., R, F)
        Loss of each test set; NaN where there is none.
    points : ndarray of float, shape (..., R, n_rows), or None
        Loss of each test point, NaN where a row is not tested; None for a metric that is no mean.
    bounds : (float, float), default no bounds
        Range of the losses.
    zero_one : bool, default False
        Whether each point loss is 0 or 1.
    classes : ndarray of int, shape (n_rows,), or None
        Class of each row, for a metric whose variance is that of each class apart (DeLong); else
        None.
    weights : ndarray of float, shape (n_rows,), or None
        Weights that are within ``points``.
    least : float, default 0
        Smallest variance of the values of rows: for differences of losses of 0 and 1, as if one row
        differed, since learners that agree on some rows do not on all.
    several : bool, default False
        Whether the losses are means over several targets.
    """

    split: Split
    cells: np.ndarray
    points: np.ndarray | None = None
    bounds: tuple[float, float] = (-np.inf, np.inf)
    zero_one: bool = False
    classes: np.ndarray | None = None
    weights: np.ndarray | None = None
    least: float = 0.0
    several: bool = False

    @classmethod
    def of_points(cls, points: np.ndarray, split: Split, **about: Any) -> Self:
        """Return the sample of point losses, whose means are the losses of the test sets."""
        sets = split.folds[:, None] == np.arange(split.n_folds)[:, None]  # (R, F, n)
        with np.errstate(invalid="ignore"):
            sums = np.where(sets, points[..., None, :], 0.0).sum(axis=-1)
            return cls(split, sums / sets.sum(axis=-1), points, **about)

    @property
    def of_pairs(self) -> Self:
        """The sample of the losses of all pairs of its K learners, first minus second: (P, ...)."""
        first, second = np.triu_indices(len(self.cells), 1)
        points = None if self.points is None else self.points[first] - self.points[second]
        span = self.bounds[1] - self.bounds[0]
        cells = self.cells[first] - self.cells[second]
        least = 1 / max(int((self.split.folds >= 0).any(axis=0).sum()), 1) if self.zero_one else 0.0
        about: dict[str, Any] = {"bounds": (-span, span), "zero_one": False, "least": least}
        return replace(self, cells=cells, points=points, **about)

    @property
    def fewest(self) -> int:
        """Number of tested rows of the smallest class; a large number without `classes`."""
        tested = np.asarray((self.split.folds >= 0).any(axis=0))
        if self.classes is None:
            return len(tested) + FEW_OF_CLASS
        return int(np.unique(self.classes[tested], return_counts=True)[1].min())

    def df(self, method: "Method") -> float:
        """Degrees of freedom of the standard errors of a method; infinite for a normal one."""
        if method.compute is _corrected_t:
            return float((self.n_test > 0).sum() - 1)
        if method.compute is not _hold_out:
            return np.inf
        return (self.fewest if self.classes is not None else self._worth) - 1.0

    @property
    def _worth(self) -> float:
        """Number of rows of the first repeat; with weights, of rows of one weight."""
        tested = self.split.folds[0] >= 0
        if self.weights is None:
            return float(tested.sum())
        return float(self.weights[tested].sum() ** 2 / np.square(self.weights[tested]).sum())

    @property
    def n_test(self) -> np.ndarray:
        """Number of test rows of each test set of the main repeats: shape (n_main, F)."""
        return np.array(self.split.test_sizes)[: self.split.n_main]

    @property
    def n_train(self) -> np.ndarray:
        """Number of training rows of each test set of the main repeats: shape (n_main, F)."""
        used = (self.split.folds[: self.split.n_main] != UNUSED).sum(axis=1)
        return used[:, None] - self.n_test

    def ends(
        self, value: np.ndarray, error: np.ndarray, df: float, level: float, n: float
    ) -> Interval:
        """Return Student's (or for infinite ``df`` the normal) interval within the bounds."""
        ends = mean_ends(value, error, "bounded", df, level, self.bounds, n)
        return Interval(value, error, *ends)


def _flat(values: np.ndarray) -> np.ndarray:
    return values.reshape(*values.shape[:-2], -1)


def _rows(sample: Sample) -> np.ndarray:
    if sample.points is None:
        raise AnalysisError(_NOTES["no_points"])
    return sample.points


def _hold_out(sample: Sample, confidence: float) -> Interval:
    tested = sample.split.folds[0] >= 0
    points = _rows(sample)[..., 0, tested]
    n = points.shape[-1]
    variance = np.maximum(points.var(axis=-1, ddof=min(1, n - 1)), sample.least)
    value, error = points.mean(axis=-1), np.sqrt(variance / n)
    if sample.classes is not None:
        return _by_class(sample, points, sample.classes[tested], confidence)
    if sample.zero_one:
        return Interval(value, error, *wilson(value, np.array(n), confidence))
    return sample.ends(value, error, sample._worth - 1, confidence, sample._worth)


def _by_class(
    sample: Sample, points: np.ndarray, classes: np.ndarray, confidence: float
) -> Interval:
    """Return the interval from the variance of each class, with the freedom of the smallest one.

    The variance is DeLong's; the ends are symmetric for the logit, so that they keep the range.
    """
    value, error = points.mean(axis=-1), _error_by_class(points, classes)
    low, width = sample.bounds[0], sample.bounds[1] - sample.bounds[0]
    share, fewest = (value - low) / width, sample.fewest
    spread = share * (1 - share)
    half = student_quantile(max(fewest - 1, 1), confidence)
    at_end = wilson(share, np.array(fewest), confidence)  # no row shows how far from the end it is
    inside = spread > 0
    step = half * error / width / np.where(inside, spread, 1.0)
    odds = np.log(np.where(inside, share, 0.5) / np.where(inside, 1 - share, 0.5))
    ends = (
        low + width * np.where(inside, 1 / (1 + np.exp(-(odds + sign * step))), end)
        for sign, end in zip((-1, 1), at_end, strict=True)
    )
    return Interval(value, error, *ends)


def _error_by_class(points: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the standard error of a mean of points whose numbers in the classes are fixed."""
    variance = np.zeros(points.shape[:-1])
    for k in np.unique(classes):
        own = points[..., classes == k]
        n = own.shape[-1]
        variance += n * own.var(axis=-1, ddof=1) if n > 1 else np.nan  # one row shows no variance
    return np.sqrt(variance) / points.shape[-1]


def corrected_error(
    cells: np.ndarray, ratio: float, of_sets: np.ndarray | float = 0.0
) -> tuple[np.ndarray, float]:
    """Return the standard error of the mean over J dependent test sets, and what they are worth.

    Parameters
    ----------
    cells : ndarray, shape (..., J)
        Loss of each test set.
    ratio : float
        Ratio of test to training rows (Nadeau & Bengio 2003).
    of_sets : ndarray, shape (...)
        Mean variance of the loss of one test set by its rows. The variance between test sets is
        taken to be no smaller, as stratified test sets are too alike.

    Returns
    -------
    error : ndarray, shape (...)
    worth : float
        Number of independent test sets with the same standard error.
    """
    worth = 1 / (1 / cells.shape[-1] + ratio)
    least, most = cells.min(axis=-1), cells.max(axis=-1)
    same = most - least <= RELATIVE_NOISE * np.maximum(np.abs(least), np.abs(most))
    between = np.where(same, 0.0, cells.var(axis=-1, ddof=1))
    return np.sqrt(np.maximum(between, of_sets) / worth), worth


def _corrected_t(sample: Sample, confidence: float) -> Interval:
    cells, n_test = _flat(sample.cells[..., : sample.split.n_main, :]), sample.n_test
    j, ratio = cells.shape[-1], float((n_test / sample.n_train).mean())
    error, worth = corrected_error(cells, ratio, _of_sets(sample))
    # where no test set has an error, as many points as the corrected number of test sets has
    return sample.ends(cells.mean(axis=-1), error, j - 1, confidence, n_test.sum() / j * worth)


def _of_sets(sample: Sample) -> np.ndarray | float:
    """Return the mean variance of the loss of a test set by its rows; 0 where it is not known."""
    if sample.points is None:
        return 0.0
    variances = []
    for repeat, fold in np.ndindex(sample.split.n_main, sample.split.n_folds):
        rows = sample.split.folds[repeat] == fold
        points = sample.points[..., repeat, rows]
        if sample.classes is not None:
            variances.append(_error_by_class(points, sample.classes[rows]) ** 2)
        elif rows.sum() > 1:
            variances.append(np.maximum(points.var(axis=-1, ddof=1), sample.least) / rows.sum())
    known = np.nan_to_num(np.array(variances))
    return known.mean(axis=0) if len(known) else 0.0


def _conservative_z(sample: Sample, confidence: float) -> Interval:
    main = sample.split.n_main
    value = sample.cells[..., :main, 0].mean(axis=-1)
    halves = sample.cells[..., main:, 0].reshape(*value.shape, -1, 2, main).mean(axis=-1)
    error = np.sqrt(np.square(halves[..., 0] - halves[..., 1]).mean(axis=-1) / 2)
    return sample.ends(value, error, np.inf, confidence, sample.split.n_rows / 2)


def _nested_cv(sample: Sample, confidence: float) -> Interval:
    points, folds, n = _rows(sample), sample.split.folds, sample.split.n_rows
    k = int(np.argmax(np.cumsum(sample.n_test) >= n)) + 1
    n_pairs = k * (k - 1) // 2
    inner, outer, differences, noise = [], [], [], []
    for repeat in range(sample.split.n_main // k):
        rows = slice(sample.split.n_main + repeat * n_pairs, None)
        tested = folds[rows][:n_pairs] >= 0
        pairs = points[..., rows, :][..., :n_pairs, :]
        inner.append(pairs[..., tested])
        for row in range(repeat * k, repeat * k + k):
            fold = folds[row] >= 0
            others = pairs[..., tested[:, fold].all(axis=1), :][..., ~fold]
            of_fold = points[..., row, fold]
            outer.append(of_fold.mean(axis=-1))
            differences.append(np.nanmean(others, axis=(-1, -2)) - outer[-1])
            noise.append(of_fold.var(axis=-1, ddof=1) / fold.sum())
    losses = np.concatenate(inner, axis=-1)
    value, spread = losses.mean(axis=-1), losses.std(axis=-1, ddof=1)
    squared = np.mean(np.square(differences), axis=0) - np.mean(noise, axis=0)
    usual = np.where(spread > 0, spread, 1.0) / np.sqrt(n * (k - 1) // k)
    inflation = np.clip(np.sqrt(np.maximum(squared, 0)) / usual, 1, np.sqrt(k))
    bias = (1 + ((k - 2) / k) ** 1.5) * (value - np.mean(outer, axis=0))
    value = np.clip(value - bias, *sample.bounds)
    return sample.ends(value, spread / np.sqrt(n) * inflation, np.inf, confidence, n)


def _cv_wald(sample: Sample, confidence: float) -> Interval:
    points = _rows(sample)[..., 0, :]
    n = points.shape[-1]
    error = points.std(axis=-1) / np.sqrt(n)
    return sample.ends(points.mean(axis=-1), error, np.inf, confidence, n)


def _inflated(sample: Sample, confidence: float) -> Interval:
    from scipy.special import stdtrit

    points, tested = _rows(sample), sample.split.folds >= 0
    tests, repeats = tested.sum(axis=0), len(tested)
    n = tests.sum() ** 2 / np.square(tests).sum()  # random splits test some rows more often
    value = points[..., tested].mean(axis=-1)
    away = points[..., tested] - value[..., None]
    variance = np.square(away).mean(axis=-1) * n / (n - 1)
    scale = np.sqrt(np.where(variance > 0, variance, 1.0))
    factor = np.full_like(variance, ONE_REPEAT)
    if repeats > 1 and (tests == repeats).all():  # the share of the variance from other splits
        of_rows = points.mean(axis=-2).var(axis=-1, ddof=1)
        share = np.clip((variance - of_rows) / scale**2 * repeats / (repeats - 1), 0, 1)
        factor = SEVERAL_REPEATS[0] + SEVERAL_REPEATS[1] * share
    if sample.zero_one:
        error = np.sqrt(variance * factor / n)
        return sample.ends(value, error, n - 1, confidence, n / ONE_REPEAT)
    factor = np.maximum(factor, ONE_REPEAT)
    skew = (away**3).mean(axis=-1) / scale**3
    half = stdtrit(n - 1, 0.5 + confidence / 2) * np.sqrt(factor / n)
    root = np.sqrt(variance)
    ends = (np.clip(value - root * _halls(t, skew, n), *sample.bounds) for t in (half, -half))
    return Interval(value, root * np.sqrt(factor / n), *ends)


def _halls(t: np.ndarray, skew: np.ndarray, n: float) -> np.ndarray:
    """Return the x of ``x + g x^2 / 3 + g^2 x^3 / 27 + g / 6n = t`` (Hall 1992), g the skewness."""
    g = np.where(np.abs(skew) > 1e-6, skew, 1.0)
    return np.where(g == skew, 3 / g * (np.cbrt(1 + g * (t - g / (6 * n))) - 1), t)


class Method(NamedTuple):
    """Method of the interval of one learner's error.

    Attributes
    ----------
    name : str
    compute : callable
        Function of a `Sample` and the confidence that returns an `Interval`.
    splits : sequence of str
        Kinds of splits (`Split.kind`) that it takes.
    estimand : str
        The quantity that the interval covers; ``{train}`` and ``{rows}`` stand for numbers of rows.
    source : str
    """

    name: str
    compute: Callable[[Sample, float], Interval]
    splits: Sequence[str]
    estimand: str
    source: str

    @property
    def of_test_sets(self) -> bool:
        """Whether the losses of whole test sets are enough, so that any metric can be used."""
        return self.compute in (_corrected_t, _conservative_z)


_CORRECTED = "corrected t"
_COMPUTE: dict[str, Callable[[Sample, float], Interval]] = {
    "hold-out": _hold_out,
    "inflated CV Wald": _inflated,
    _CORRECTED: _corrected_t,
    "conservative z": _conservative_z,
    "nested CV": _nested_cv,
    "CV Wald": _cv_wald,
}
METHODS = {
    name: Method(name, compute, **_ABOUT["methods"][name]) for name, compute in _COMPUTE.items()
}
"""Methods by name; the first that suits a kind of split is its default."""


def chosen_method(name: str | None, split: Split, by_points: bool) -> Method:
    """Return a method by name, or the default of a split; raise an error if it does not suit."""
    kind = split.kind
    suited = [method for method in METHODS.values() if kind in method.splits]
    if not suited:
        raise AnalysisError(
            f"no published interval is valid for {split.scheme or 'this split'}: its test sets "
            "depend on each other in time or by group"
        )
    usable = [method for method in suited if by_points or method.of_test_sets]
    method = (usable or suited)[0] if name is None else METHODS[one_of("method", name, METHODS)]
    if method not in suited:
        raise AnalysisError(
            f"{name!r} is for {' or '.join(method.splits)}, and the split is {split.scheme}: "
            f"choose {suited[0].name!r}"
        )
    if not by_points and not method.of_test_sets:
        raise AnalysisError(_NOTES["no_points"])
    return method


def metric_of_points(metric: MLautScore, split: Split, pairs: bool = False) -> MLautScore | None:
    """Return the metric whose values at test points are averaged; for the RMSE, this is the MSE.

    An aggregate with `influence` has such values, too (LeDell, Petersen & van der Laan 2015), but
    not for nested CV, which uses the means of parts of test sets. None if there are no values.
    Differences of two roots (``pairs``) have the values of the roots.
    """
    if metric.name == "rmse" and not pairs:
        return find_metric("mse")  # a function of a mean of points, so the delta method applies
    by_influence = metric.has_influence and split.kind != "nested_cv"
    return metric if metric.average or by_influence else None


def sample_of(metric: MLautScore, block: Block, pairs: bool = False) -> Sample:
    """Return the losses of the strategies of a block, or those whose differences are wanted."""
    split, several = block.split, bool(block.targets)  # no mean of roots is a root
    of_points = metric_of_points(metric, split, pairs or several)
    if of_points is None or (block.weights is not None and not of_points.average):
        return Sample(split, metric.evaluate(block).losses, bounds=metric.loss_bounds)
    metric.check_targets(block.dataset, block.task, several)
    if of_points.average and block.weights is None:
        about = {"bounds": of_points.loss_bounds, "zero_one": of_points.zero_one}
        return Sample.of_points(of_points.point_losses(block), split, **about)
    points = np.full(block.predictions.shape[:3], np.nan)
    truth, outputs = of_points.inputs(block)
    for repeat, fold in np.ndindex(split.n_repeats, split.n_folds):
        rows = split.folds[repeat] == fold
        if of_points.pooled:
            if fold:
                continue
            rows = split.folds[repeat] >= 0
        given = outputs[:, repeat][:, rows]
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            if block.weights is None:
                parts = over_targets(of_points.influence, truth[rows], given)
            else:
                parts = _weighted(of_points.points_of_rows(truth[rows], given), block.weights[rows])
        points[:, repeat, rows] = of_points.loss(parts)
    tested = np.array(split.test_sizes) > 0
    none = ~block.done.all(axis=(1, 2), where=tested)
    if not of_points.pooled:
        none |= (np.isnan(metric.evaluate(block).losses) & tested).any(axis=(1, 2))
    points[none] = np.nan
    bounds = of_points.loss_bounds
    by_class = block.truth if of_points.has_influence and not of_points.pooled else None
    about = {"bounds": bounds, "classes": by_class, "several": several}
    return Sample.of_points(points, split, weights=block.weights, **about)


def _weighted(points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return values whose mean is the weighted mean of points, and their spread its error."""
    mean = np.average(points, axis=-1, weights=weights)[..., None]
    away: np.ndarray = (points - mean) * (weights / weights.mean())
    return mean + away


def interval_of(
    metric: MLautScore, sample: Sample, method: str | None, confidence: float, pairs: bool = False
) -> tuple[Interval, Method]:
    """Return the intervals of a sample (`sample_of`) or of its pairs, and their method."""
    of_roots = metric.name == "rmse" and not pairs and not sample.several
    delta = (metric.has_influence and not of_roots) or sample.weights is not None
    if method is None and (pairs or delta) and sample.split.kind in METHODS[_CORRECTED].splits:
        # measured: it covers differences, where the others are too short; and in small folds the
        # delta method is too sure
        method = _CORRECTED
    chosen = chosen_method(method, sample.split, sample.points is not None)
    with np.errstate(invalid="ignore", divide="ignore"):
        ends = chosen.compute(sample, confidence)
        if sample.fewest < FEWEST_OF_CLASS:
            none = np.full_like(ends.value, np.nan)
            ends = Interval(ends.value, none, none, none)
        if sample.points is not None and of_roots:
            value, low, high = (np.sqrt(part) for part in (ends.value, ends.low, ends.high))
            error = np.where(value > 0, ends.standard_error / (2 * value), ends.standard_error)
            ends = Interval(value, error, low, high)
    return ends, chosen


def estimand(method: Method, split: Split) -> str:
    """Return what a method estimates on a split, in words."""
    train = int(np.median(Sample(split, np.empty(0)).n_train))
    usual = split.kind == "repeated hold-out"
    words = (METHODS[_CORRECTED] if usual else method).estimand
    return words.format(train=train, rows=split.n_rows)


def too_short(method: Method, metric: MLautScore, block: Block, sample: Sample) -> tuple[str, ...]:
    """Return for each strategy a warning of an interval that is too short, or an empty text."""
    labels = metric.uses == "labels" and sample.points is None
    stratified = bool(block.classes) and block.split.is_stratified and not block.targets
    given = block.predictions[:, block.split.folds >= 0]
    classes = range(len(block.classes) if method.of_test_sets and labels and stratified else 0)
    shares = np.max([(given == k).mean(axis=1) for k in classes] or [np.zeros(len(given))], axis=0)
    words = [_NOTES["too_short"].format(share=f"{number(100 * share)} %") for share in shares]
    return tuple(np.where(shares >= NEARLY_CONSTANT, words, "").tolist())


def notes_on(metric: MLautScore, sample: Sample, ends: Interval, short: Sequence[str]) -> list[str]:
    """Return for each estimate why it has no value or is too sure, or its text of `too_short`."""
    texts = np.array(short, dtype=object)
    if sample.fewest < FEW_OF_CLASS:
        text = _NOTES["too_few"] if sample.fewest < FEWEST_OF_CLASS else _NOTES["few"]
        texts[texts == ""] = text.format(least=FEWEST_OF_CLASS, n=sample.fewest)
    heavy = np.array(_heavy(sample, _LIGHTER.get(metric.task or "", "")), dtype=object)
    texts = np.where(texts == "", heavy, texts)
    single = (ends.standard_error == 0) & (ends.low == ends.high) & (texts == "")
    none = _NOTES["no_value"].format(why=metric.undefined)
    texts = np.where(single, _NOTES["single"], texts)
    return [str(x) for x in np.where(np.isnan(ends.value), none, texts)]


def _heavy(sample: Sample, other: str) -> list[str]:
    """Return a note on each learner of which a few rows make up half of the loss, else ""."""
    texts = [""] * len(sample.cells)
    ratios = sample.classes is not None or sample.weights is not None
    if sample.points is None or sample.zero_one or ratios or sample.bounds[0] != 0:
        return texts
    tested = sample.split.folds >= 0
    for place, points in enumerate(sample.points):
        rows = np.flatnonzero(tested.any(axis=0))
        means = np.where(tested, points, 0.0).sum(axis=0)[rows] / tested.sum(axis=0)[rows]
        sizes = np.sort(np.clip(means, 0, None))[::-1]
        few = 1 + int(np.count_nonzero(2 * sizes.cumsum() < sizes.sum()))
        if sizes.sum() > 0 and few <= min(HEAVY, HEAVY_SHARE * len(rows)):
            texts[place] = _NOTES["heavy"].format(few=few, n=len(rows), other=other)
    return texts


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ErrorInterval(Estimate):
    """Estimated error of one learner, or difference of two, with its interval and its meaning.

    Attributes
    ----------
    estimand : str
        What is estimated, in words.
    source : str
        Paper of the method.
    split : str
        Scheme of the split.
    fits : int
        Number of models that were fitted for the estimate, of each learner.
    """

    estimand: str
    source: str
    split: str
    fits: int

    def title(self) -> str:  # noqa: D102 - inherited
        return f"{self.name} ({self.method})"

    def __str__(self) -> str:
        return "\n".join((self.sentence(), *(f"Note: {note}" for note in self.notes)))

    def sentence(self) -> str:  # noqa: D102 - inherited
        how = f"{self.method} on {self.split}, {counted(self.fits, 'fit')}"
        return f"{self.words()}: {self.estimand} ({how})."


def error_of_block(
    metric: MLautScore, block: Block, *, method: str | None = None, confidence: float = 0.95
) -> ErrorInterval:
    """Return the error of a block's only strategy, or the difference of two (first - second).

    Parameters
    ----------
    metric : MLautScore
    block : Block
        One or two strategies with all cells done.
    method : str, optional
        Name in `METHODS`; default the method of the split, or ``"corrected t"`` for differences.
    confidence : float, default 0.95
    """
    pairs, name = len(block.strategies) == 2, metric.loss_name
    sample = sample_of(metric, block, pairs)
    if pairs:
        first, second = block.strategies
        name, sample = f"{name} of {first} minus that of {second}", sample.of_pairs
    ends, chosen = interval_of(metric, sample, method, confidence, pairs)
    warned = ("",) if pairs else too_short(chosen, metric, block, sample)
    notes = notes_on(metric, sample, ends, warned)
    value, error, low, high = (float(part[0]) for part in ends)
    return ErrorInterval(
        name=name,
        value=value,
        standard_error=error,
        low=low,
        high=high,
        confidence=confidence,
        method=chosen.name,
        scenario="(a)" if chosen.name == "hold-out" else "(b)",
        n=block.split.n_rows,
        unit="rows",
        notes=tuple(filter(None, notes)),
        estimand="the difference in " * (len(block.strategies) - 1) + estimand(chosen, block.split),
        source=chosen.source,
        split=block.split.scheme,
        fits=int((np.array(block.split.test_sizes) > 0).sum()),
    )


@of_results
@takes_sources
def error_intervals(
    results: Results,
    *,
    method: str | None = None,
    confidence: Share = 0.95,
    as_scores: bool = False,
) -> ResultTable:
    """Estimate the error of each learner on each dataset, by the method of the dataset's split.

    Parameters
    ----------
    results : Results
        Results of a study, whose predictions are known.
    method : str, optional
        Name in `METHODS`; default that of each split.
    confidence : float, default 0.95
        Confidence of the intervals.
    as_scores : bool, default False
        Whether to return scores as the metric defines them, in place of losses.

    Returns
    -------
    ResultTable
        One row for each dataset and strategy: value, standard_error, low, high, method, note. NaN
        where a cell is missing, or where no method is valid for the split. The note warns of an
        interval that is too short. The notes of the table state what the intervals cover.
    """
    if results.load_block is None:
        raise AnalysisError("these results come from a table: see mlaut.analysis.dataset_estimates")
    metric, frames = results.metric, {}
    notes: dict[str, None] = {}
    for dataset in results.datasets:
        block = results.load_block(dataset)
        block = block.whole or block
        rows = [block.strategies.index(name) for name in results.strategies]
        sample = sample_of(metric, block)
        points = None if sample.points is None else sample.points[rows]
        sample = replace(sample, cells=sample.cells[rows], points=points)
        try:
            ends, chosen = interval_of(metric, sample, method, confidence)
        except AnalysisError as error:
            notes[f"{dataset}: {error}"] = None
            ends, name, short = Interval(*np.full((4, len(rows)), np.nan)), "", ("",) * len(rows)
        else:
            name, warned = chosen.name, too_short(chosen, metric, block, sample)
            tested = np.array(block.split.test_sizes) > 0
            done = block.done[rows].all(axis=(1, 2), where=tested)
            told = notes_on(metric, sample, ends, [warned[row] for row in rows])
            short = tuple(np.where(done, told, "").tolist())
            if metric.name == "rmse" and points is not None and tested.sum() > 1:
                notes[_NOTES["root"]] = None
                short = tuple(text or _NOTES["root"] for text in short)
            notes[f"{name} ({chosen.source}): {estimand(chosen, block.split)}"] = None
        columns = turned(ends, results, as_scores)._asdict() | {"method": name, "note": short}
        frames[dataset] = pd.DataFrame(columns, index=pd.Index(results.strategies))
    return results.table(
        "Error of each learner on each dataset",
        pd.concat(frames, names=["dataset", "strategy"]),
        "Schulz-Kuempel et al. 2024",
        scenario="(b)",
        notes=notes,
        as_scores=as_scores,
    )
