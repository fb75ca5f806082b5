"""The metrics of MLaut (2019, section 2.5). To add one, write a class in this file under `named`.

`mlaut.analysis.metric`, the command line and reports then know it by its names.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from mlaut.analysis.common.numerics import ranked
from mlaut.analysis.scores.base import IN_TARGET_UNITS, MLautScore
from mlaut.costs import Costs
from mlaut.errors import AnalysisError
from mlaut.records import CLASSIFICATION, REGRESSION

OWN: dict[str, Callable[[], MLautScore]] = {}
"""Makers of MLaut's metrics by name."""

M = TypeVar("M", bound=type[MLautScore])


def named(name: str, *others: str) -> Callable[[M], M]:
    """Return a decorator that names a metric and adds it to `OWN` by all its names."""

    def register(score: M) -> M:
        score.name = name
        for ending, options in score.variants.items():
            OWN.update({word + ending: partial(score, **options) for word in (name, *others)})
        return score

    return register


# ---------------------------------- means over test points (Table 1), for scenarios (a) to (c)


def over_targets(
    score: Callable[[np.ndarray, np.ndarray], np.ndarray], truth: np.ndarray, outputs: np.ndarray
) -> np.ndarray:
    """Return the mean over targets of what a function returns of each; of one target that."""
    if truth.ndim == 1:
        return score(truth, outputs)
    each = [score(truth[:, k], outputs[..., k]) for k in range(truth.shape[1])]
    return np.asarray(np.mean(each, axis=0))


class _ZeroOne(MLautScore):
    task = CLASSIFICATION
    bounds = (0.0, 1.0)
    encoded = True
    zero_one = True
    targets = "any"


@named("accuracy", "subset_accuracy")
class ScoreAccuracy(_ZeroOne):
    """Share of test points whose class, or each of several labels, is predicted correctly.

    Examples
    --------
    >>> ScoreAccuracy().calculate(np.array([0, 1, 1, 1]), np.array([0, 1, 0, 1]))
    0.75
    """

    greater_is_better = True

    def points(self, truth: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        """Return 1 where the class is right, else 0."""
        right: np.ndarray = predictions == truth
        return np.asarray(right.all(axis=-1)) if truth.ndim > 1 else right


@named("misclassification", "mmce", "error", "subset_error")
class LossMisclassification(_ZeroOne):
    """Share of test points whose class is predicted wrongly: the mean misclassification error.

    Of several labels in a row, a row is wrong if any label is.
    """

    greater_is_better = False

    def points(self, truth: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        """Return 1 where the class is wrong, else 0."""
        wrong: np.ndarray = predictions != truth
        return np.asarray(wrong.any(axis=-1)) if truth.ndim > 1 else wrong


@named("hamming", "hamming_loss")
class LossHamming(_ZeroOne):
    """Share of the labels that are predicted wrongly, of all labels of all test points.

    Examples
    --------
    >>> LossHamming().calculate(np.array([[0, 1], [1, 1]]), np.array([[0, 1], [0, 1]]))
    0.25
    """

    greater_is_better = False
    zero_one = False

    def points(self, truth: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        """Return 1 where a label is wrong, else 0."""
        return predictions != truth


class _RegressionLoss(MLautScore):
    task = REGRESSION
    greater_is_better = False
    bounds = (0.0, np.inf)
    undefined = "the loss is not finite"
    incomparable = IN_TARGET_UNITS
    targets = "any"


@named("mse", "squared")
class LossSquared(_RegressionLoss):
    """Squared difference of prediction and truth; its mean is the MSE."""

    def points(self, truth: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        """Return the squared differences."""
        return np.square(predictions - truth)


@named("mae", "absolute")
class LossAbsolute(_RegressionLoss):
    """Absolute difference of prediction and truth; its mean is the MAE."""

    def points(self, truth: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        """Return the absolute differences."""
        return np.abs(predictions - truth)


@named("quantile", "pinball")
class LossQuantile(_RegressionLoss):
    """Quantile (pinball) loss: the best prediction is the ``quantile`` of the truth.

    A prediction that is too low by x costs ``quantile * x``; one that is too high by x costs
    ``(1 - quantile) * x``. The paper's Q-loss weighs over-prediction by its alpha: it is this loss
    with ``quantile = 1 - alpha``. ``metric("pinball(0.9)")`` has the quantile 0.9.

    Parameters
    ----------
    quantile : float in (0, 1), default 0.5
        Quantile that the predictions estimate.

    Examples
    --------
    >>> LossQuantile(0.75).points(np.array([10.0, 10.0]), np.array([6.0, 14.0]))
    array([3., 1.])
    """

    def __init__(self, quantile: float = 0.5) -> None:
        if not 0 < quantile < 1:
            raise AnalysisError(f"quantile {quantile} is not between 0 and 1")
        self.quantile = quantile
        self.name = f"pinball({quantile:g})"

    def points(self, truth: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        """Return the weighted absolute differences."""
        short = truth - predictions
        return np.where(short > 0, self.quantile * short, (self.quantile - 1) * short)


class _ProbabilityMetric(MLautScore):
    task = CLASSIFICATION
    uses = "probabilities"
    encoded = True


@named("log_loss")
class LossLog(_ProbabilityMetric):
    """Negative logarithm of the probability of the true class.

    Probabilities are stored as float32, so a probability below its epsilon, 1.2e-7, counts as
    1.2e-7, and no loss of a study is above 15.94. Other programs clip at other values or not at
    all, so the range of the metric has no upper end.

    Examples
    --------
    >>> LossLog().calculate(np.array([0, 1]), np.array([[0.5, 0.5], [0.0, 1.0]]))
    0.34657...
    """

    greater_is_better = False
    bounds = (0.0, np.inf)
    smallest: ClassVar[float] = float(np.finfo(np.float32).eps)

    def points(self, truth: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        """Return ``-log p`` of the true class of each point."""
        of_truth = predictions[..., np.arange(len(truth)), truth].astype(float)
        return -np.log(np.clip(of_truth, self.smallest, 1.0))


@named("brier")
class LossBrier(_ProbabilityMetric):
    """Half the squared distance of the probabilities from the true class, in [0, 1].

    For two classes this is the squared error of the probability of either class. For more classes
    it is half of Brier's sum, so that the range is the same for any number of classes.

    Examples
    --------
    >>> LossBrier().points(np.array([0, 1]), np.array([[0.5, 0.5], [1.0, 0.0]]))
    array([0.25, 1.  ])
    """

    greater_is_better = False
    bounds = (0.0, 1.0)

    def points(self, truth: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        """Return the halved squared distances."""
        target = np.eye(predictions.shape[-1])[truth]
        return 0.5 * np.square(predictions - target).sum(axis=-1)


# -------------------------------------- metrics of a whole test set (Table 2), for scenario (c)


class _Counts(NamedTuple):
    """Counts of each class: right predictions, truths and predictions, each of shape (S, C)."""

    hits: np.ndarray
    true: np.ndarray
    predicted: np.ndarray
    total: np.ndarray


def _count(
    truth: np.ndarray, outputs: np.ndarray, n_classes: int, weights: np.ndarray | None
) -> _Counts:
    """Return the counts of the confusion tables of S strategies, or the sums of weights."""
    code = truth * n_classes + outputs + np.arange(len(outputs))[:, None] * n_classes**2
    repeated = None if weights is None else np.tile(weights, len(outputs))
    counts = np.bincount(code.ravel(), repeated, minlength=len(outputs) * n_classes**2)
    table = counts.reshape(len(outputs), n_classes, n_classes).astype(float)
    hits = np.diagonal(table, axis1=1, axis2=2)
    return _Counts(hits, table.sum(axis=2), table.sum(axis=1), table.sum(axis=(1, 2))[:, None])


def _count_labels(truth: np.ndarray, outputs: np.ndarray, weights: np.ndarray | None) -> _Counts:
    """Return the counts of each label that a row has or has not."""
    each = np.ones(len(truth)) if weights is None else weights
    sums = [np.einsum("...nk,n->...k", of, each) for of in (truth * outputs, truth, outputs)]
    return _Counts(sums[0], sums[1][None], sums[2], np.full((len(outputs), 1), each.sum()))


class _ConfusionScore(MLautScore):
    """Score that depends on the confusion table alone; ``formula`` computes it from the counts."""

    task = CLASSIFICATION
    greater_is_better = True
    bounds = (0.0, 1.0)
    encoded = True
    takes_weights = True

    @staticmethod
    def formula(counts: _Counts, /) -> Any:
        """Return the scores, shape (S,)."""
        raise NotImplementedError

    def calculate(self, truth: np.ndarray, predictions: np.ndarray) -> float:
        """Score one test set of class positions, or of labels."""
        classes = range(int(max(np.max(truth), np.max(predictions), 1)) + 1)
        return float(self.cells(np.asarray(truth), np.asarray(predictions)[None], classes)[0])

    def cells(
        self,
        truth: np.ndarray,
        outputs: np.ndarray,
        classes: Sequence[Any],
        weights: np.ndarray | None = None,
    ) -> np.ndarray:
        """Score one test set for many strategies by their confusion tables."""
        if truth.ndim > 1:
            return self.of_labels(_count_labels(truth, outputs, weights))
        return self.value(_count(truth, outputs, len(classes), weights), classes)

    def value(self, counts: _Counts, _: Sequence[Any]) -> np.ndarray:
        """Return the scores of S strategies from their counts."""
        return self.formula(counts)

    def of_labels(self, counts: _Counts) -> np.ndarray:
        """Return the scores of S strategies from the counts of labels."""
        raise NotImplementedError


class _OneClassScore(_ConfusionScore):
    """Ratio of counts of one class against the rest: ``formula`` returns its two parts.

    Parameters
    ----------
    positive : label, optional
        The positive class. Default: the last of the sorted classes (1 of 0 and 1).
    average : {"binary", "macro"}, default "binary"
        ``"binary"`` is for datasets with two classes. ``"macro"`` is for any number of classes: it
        takes each class in turn as positive and returns the mean over the classes that occur in the
        truth or the predictions of the test set; of several labels in a row the mean over all.
    zero_division : float, default 0.0
        The value of 0/0. With NaN the cell counts as missing, and the caller chooses its treatment.
    """

    undefined = "0/0, and zero_division is NaN"
    variants: ClassVar = {"": {}, "_macro": {"average": "macro"}}

    def __init__(
        self, *, positive: Any = None, average: str = "binary", zero_division: float = 0.0
    ) -> None:
        if average not in ("binary", "macro"):
            raise AnalysisError(f"average {average!r} is not known; one of 'binary', 'macro'")
        self.positive, self.macro, self.zero_division = positive, average == "macro", zero_division
        self.targets = "any" if self.macro else "one"
        if self.macro:
            self.name = f"{self.name}_macro"

    def check_classes(self, dataset: str, classes: Sequence[Any]) -> None:
        """Raise `AnalysisError` for a dataset without two classes or without the positive class.

        The macro average is defined for every dataset.
        """
        if self.macro:
            return
        if len(classes) != 2:
            raise AnalysisError(
                f"{self.name} is for two classes, and dataset {dataset!r} has "
                f"{len(classes)}: choose the datasets, or metric '{self.name}_macro' (in "
                f"Python also {type(self).__name__}(average='macro')), a mean over all classes"
            )
        if self.positive is not None and self.positive not in classes:
            raise AnalysisError(
                f"{self.name}: dataset {dataset!r} has no class {self.positive!r}, "
                f"only {classes[0]!r} and {classes[1]!r}"
            )

    def value(self, counts: _Counts, classes: Sequence[Any]) -> np.ndarray:
        """Return the ratio for the positive class, or its mean over classes."""
        value = self._ratios(counts)
        if not self.macro:
            return value[:, -1 if self.positive is None else list(classes).index(self.positive)]
        occurs = counts.true + counts.predicted > 0
        return np.where(occurs, value, 0).sum(axis=1) / occurs.sum(axis=1)

    def of_labels(self, counts: _Counts) -> np.ndarray:
        """Return the mean over the labels, as scikit-learn does."""
        return self._ratios(counts).mean(axis=1)

    def _ratios(self, counts: _Counts) -> np.ndarray:
        above, below = np.broadcast_arrays(*self.formula(counts))
        value = np.full(above.shape, self.zero_division, dtype=float)
        np.divide(above, below, out=value, where=below > 0)
        return value


@named("recall", "sensitivity")
class ScoreSensitivity(_OneClassScore):
    """Share of the positive points that are predicted positive, also called sensitivity.

    Examples
    --------
    >>> ScoreSensitivity().calculate(np.array([0, 1, 1, 1]), np.array([0, 1, 1, 0]))
    0.6666666666666666
    """

    formula = staticmethod(lambda c: (c.hits, c.true))


@named("specificity")
class ScoreSpecificity(_OneClassScore):
    """Share of the negative points that are predicted negative."""

    formula = staticmethod(lambda c: (c.total - c.true - c.predicted + c.hits, c.total - c.true))


@named("precision")
class ScorePrecision(_OneClassScore):
    """Share of the points predicted positive that are positive, also called PPV."""

    formula = staticmethod(lambda c: (c.hits, c.predicted))


@named("f1")
class ScoreF1(_OneClassScore):
    """Harmonic mean of recall and precision."""

    formula = staticmethod(lambda c: (2 * c.hits, c.true + c.predicted))


@named("balanced_accuracy")
class ScoreBalancedAccuracy(_ConfusionScore):
    """Mean recall over the classes that occur in the test set.

    Examples
    --------
    >>> ScoreBalancedAccuracy().calculate(np.array([0, 1, 1, 1]), np.array([0, 1, 1, 0]))
    0.8333333333333333
    """

    formula = staticmethod(
        lambda c: (c.hits / np.where(c.true > 0, c.true, 1)).sum(axis=1) / (c.true > 0).sum(axis=1)
    )


@named("mcc", "matthews_corrcoef")
class ScoreMCC(_ConfusionScore):
    """Matthews' correlation coefficient, for any number of classes; 0 where it is 0/0.

    Examples
    --------
    >>> ScoreMCC().calculate(np.array([0, 1, 1, 1]), np.array([0, 1, 1, 0]))
    0.5773502691896258
    """

    bounds = (-1.0, 1.0)

    @staticmethod
    def formula(counts: _Counts) -> np.ndarray:
        """Return the correlation coefficients, shape (S,)."""
        hits, true, predicted, total = counts
        square = total[:, 0] ** 2
        above = hits.sum(axis=1) * total[:, 0] - (true * predicted).sum(axis=1)
        spread = (square - (true**2).sum(axis=1)) * (square - (predicted**2).sum(axis=1))
        return above / np.sqrt(np.where(spread > 0, spread, np.inf))


class _Area(_ProbabilityMetric):
    """Area under a curve that is computed from probabilities."""

    greater_is_better = True
    bounds = (0.0, 1.0)
    takes_weights = True

    def calculate(self, truth: np.ndarray, predictions: np.ndarray) -> float:
        """Score class positions (n,), or labels (n, k), against their probabilities."""
        if self.targets == "one":
            self.check_probabilities(predictions)
        return float(self.cells(np.asarray(truth), np.asarray(predictions)[None], ())[0])


@named("roc_auc", "auc")
class ScoreAUC(_Area):
    """Area under the ROC curve from probabilities; ties count one half.

    For more than two classes it is the mean over all pairs of classes that occur in the test set
    (Hand and Till 2001); in each pair, each class is once the positive one.

    Examples
    --------
    >>> given = np.array([[0.9, 0.1], [0.6, 0.4], [0.65, 0.35], [0.2, 0.8]])
    >>> ScoreAUC().calculate(np.array([0, 0, 1, 1]), given)
    0.75
    """

    undefined = "the test set has one class only"

    def cells(
        self, truth: np.ndarray, outputs: np.ndarray, _: Any, weights: np.ndarray | None = None
    ) -> np.ndarray:
        """Score one test set for many strategies."""
        if weights is not None:
            counted = weights > 0
            truth, outputs, weights = truth[counted], outputs[:, counted], weights[counted]
        areas = [
            _auc(outputs[:, rows, k], truth[rows] == k, None if weights is None else weights[rows])
            for rows, k in _duels(truth, outputs.shape[-1])
        ]
        return np.mean(areas, axis=0) if areas else np.full(len(outputs), np.nan)

    def influence(self, truth: np.ndarray, outputs: np.ndarray) -> np.ndarray:
        """Return values of test points whose mean is the score (DeLong et al. 1988)."""
        duels, n = _duels(truth, outputs.shape[-1]), len(truth)
        parts = np.full(outputs.shape[:2], 0.0 if duels else np.nan)
        for rows, k in duels:
            positive = truth[rows] == k
            right = _right(outputs[:, rows, k], positive)
            area = right[:, positive].mean(axis=1, keepdims=True)
            alike = np.where(positive, positive.sum(), (~positive).sum())
            parts += area / len(duels)
            parts[:, rows] += (right - area) * n / alike / len(duels)
        return parts


@named("pr_auc", "average_precision")
class ScoreAveragePrecision(_Area):
    """Area under the precision-recall curve as average precision: mean precision at each recall.

    For more than two classes it is the mean over the classes that occur in the test set.

    Examples
    --------
    >>> given = np.array([[0.9, 0.1], [0.6, 0.4], [0.65, 0.35], [0.2, 0.8]])
    >>> ScoreAveragePrecision().calculate(np.array([0, 0, 1, 1]), given)
    0.8333333333333333
    """

    undefined = "the test set has no point of the positive class"

    def cells(
        self, truth: np.ndarray, outputs: np.ndarray, _: Any, weights: np.ndarray | None = None
    ) -> np.ndarray:
        """Score one test set for many strategies."""
        from sklearn.metrics import average_precision_score

        counted = np.unique(truth if weights is None else truth[weights > 0])
        positive = counted[counted == 1] if outputs.shape[-1] == 2 else counted
        if not len(positive):
            return np.full(len(outputs), np.nan)
        areas = [
            [average_precision_score(truth == k, p[:, k], sample_weight=weights) for k in positive]
            for p in outputs
        ]
        return np.mean(areas, axis=1)


def _auc(marks: np.ndarray, positive: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return the share of (positive, negative) pairs in the right order, for marks (S, n)."""
    if weights is not None:
        from sklearn.metrics import roc_auc_score

        return np.array([roc_auc_score(positive, row, sample_weight=weights) for row in marks])
    n, n_negative = positive.sum(), (~positive).sum()
    ranks = ranked(marks.T)[positive].sum(axis=0)
    return (ranks - n * (n + 1) / 2) / (n * n_negative)


def _duels(truth: np.ndarray, n_classes: int) -> list[tuple[np.ndarray, int]]:
    """Return the rows and the positive class of each duel: two for each pair of classes."""
    pairs = list(combinations(np.unique(truth).tolist(), 2))
    if n_classes == 2:
        return [(np.ones(len(truth), dtype=bool), 1)] * len(pairs)
    return [((truth == pair[0]) | (truth == pair[1]), k) for pair in pairs for k in pair]


def _right(marks: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Return the share of the other class that each point is in the right order with: (S, n)."""
    right = np.empty(marks.shape)
    for own, sign in ((positive, 1), (~positive, -1)):
        among = ranked(sign * marks[:, own].T).T
        right[:, own] = (ranked(sign * marks.T)[own].T - among) / (~own).sum()
    return right


@named("label_ranking", "label_ranking_average_precision")
class ScoreLabelRanking(_Area):
    """Mean precision of the true labels of a row among those at least as probable.

    It is scikit-learn's ``label_ranking_average_precision_score`` of the stored probabilities.
    """

    targets = "several"

    def cells(
        self, truth: np.ndarray, outputs: np.ndarray, _: Any, weights: np.ndarray | None = None
    ) -> np.ndarray:
        """Score one test set for many strategies."""
        from sklearn.metrics import label_ranking_average_precision_score as score

        return np.array([score(truth, output, sample_weight=weights) for output in outputs])


class _RegressionAggregate(MLautScore):
    """Aggregate of a regression: ``calculate`` with optional weights, the mean over targets."""

    task = REGRESSION
    takes_weights = True
    targets = "any"

    def calculate(
        self, truth: np.ndarray, predictions: np.ndarray, weights: np.ndarray | None = None
    ) -> float:
        """Score one test set."""
        raise NotImplementedError

    def cells(
        self, truth: np.ndarray, outputs: np.ndarray, _: Any, weights: np.ndarray | None = None
    ) -> np.ndarray:
        """Score one test set for many strategies."""
        if truth.ndim > 1:
            return over_targets(lambda t, o: self.cells(t, o, _, weights), truth, outputs)
        return np.array([self.calculate(truth, output, weights) for output in outputs])


@named("rmse")
class LossRMSE(_RegressionAggregate, _RegressionLoss):
    """Square root of the mean squared difference of prediction and truth."""

    pooled = True

    def calculate(
        self, truth: np.ndarray, predictions: np.ndarray, weights: np.ndarray | None = None
    ) -> float:
        """Score one test set."""
        if weights is None:
            return float(np.linalg.norm(predictions - truth) / np.sqrt(len(truth)))
        return float(np.sqrt(np.average(np.square(predictions - truth), weights=weights)))

    def influence(self, truth: np.ndarray, outputs: np.ndarray) -> np.ndarray:
        """Return values of test points whose mean is the root (delta method)."""
        squares = np.square(outputs - truth)
        root = np.sqrt(squares.mean(axis=-1, keepdims=True))
        return root / 2 + squares / np.where(root > 0, 2 * root, 1.0)


@named("r2")
class ScoreR2(_RegressionAggregate):
    """Share of the variance of the truth that is explained; undefined for a constant truth."""

    greater_is_better = True
    bounds = (-np.inf, 1.0)
    undefined = "the truth of the test set is constant"
    pooled = True

    def calculate(
        self, truth: np.ndarray, predictions: np.ndarray, weights: np.ndarray | None = None
    ) -> float:
        """Score one test set."""
        each = 1.0 if weights is None else weights
        total = (each * np.square(truth - np.average(truth, weights=weights))).sum()
        error = (each * np.square(truth - predictions)).sum()
        return float(1 - error / total) if total > 0 else np.nan

    def influence(self, truth: np.ndarray, outputs: np.ndarray) -> np.ndarray:
        """Return values of test points whose mean is the score (delta method of a ratio)."""
        away = np.square(truth - truth.mean())
        total = away.mean() or np.nan
        squares = np.square(truth - outputs)
        ratio = squares.mean(axis=-1, keepdims=True) / total
        return 1 - ratio - (squares - ratio * away) / total


class LossCost(MLautScore):
    """Mean cost of the predictions, by a cost matrix (Elkan 2001).

    A test set without any class that the costs name has no value, so that a misspelt class is not
    counted as a cost of 1.

    Parameters
    ----------
    costs : mapping of (truth, predicted) to float, Costs, or str
        A right prediction costs 0 and a wrong one 1, unless the matrix says otherwise. In text:
        ``"bad>good=5, good>bad=1"``, where bad is true and good is predicted.

    Examples
    --------
    >>> from mlaut.analysis import metric
    >>> cost = metric("cost(bad>good=5)")
    >>> cost.calculate(np.array(["bad", "good"]), np.array(["good", "good"]))
    2.5
    """

    task = CLASSIFICATION
    greater_is_better = False
    undefined = "none of the classes that the costs name is in this test set"

    def __init__(self, costs: Costs | Mapping[tuple[Any, Any], float] | str) -> None:
        self.costs = Costs.of(costs)
        self.name = f"cost({self.costs})"
        self.bounds = (0.0, max(1.0, *(cost for *_, cost in self.costs.pairs)))

    def points(self, truth: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        """Return the cost of each prediction."""
        costs = self.costs.each(truth, predictions)
        named = self.costs.classes & set(np.asarray(truth).astype(str).tolist())
        return costs if named else np.full_like(costs, np.nan)
