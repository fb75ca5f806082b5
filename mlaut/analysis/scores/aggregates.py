"""Metrics of a whole test set (MLaut 2019, section 2.5.2 and Table 2), for scenario (c) only."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from mlaut.analysis.scores.base import IN_TARGET_UNITS, MLautScore
from mlaut.errors import AnalysisError
from mlaut.records import CLASSIFICATION, REGRESSION, Block

__all__ = [
    "LossRMSE",
    "ScoreAUC",
    "ScoreBalancedAccuracy",
    "ScoreF1",
    "ScoreMCC",
    "ScorePrecision",
    "ScoreR2",
    "ScoreSensitivity",
    "ScoreSpecificity",
]


class _ConfusionScore(MLautScore):
    """Score that depends on the confusion table alone."""

    task = CLASSIFICATION
    greater_is_better = True
    bounds = (0.0, 1.0)
    encoded = True

    def calculate(self, truth: np.ndarray, predictions: np.ndarray) -> float:
        """Score one test set of class positions."""
        classes = range(int(max(np.max(truth), np.max(predictions), 1)) + 1)
        return float(self.cells(np.asarray(truth), np.asarray(predictions)[None], classes)[0])

    def cells(self, truth: np.ndarray, outputs: np.ndarray, classes: Sequence[Any]) -> np.ndarray:
        """Score one test set for many strategies by their confusion tables."""
        return self.from_table(_confusion(truth, outputs, len(classes)), classes)

    def from_table(
        self,
        table: np.ndarray,
        classes: Sequence[Any],  # noqa: ARG002 - some scores ask which class is positive
    ) -> np.ndarray:
        """Score confusion tables of shape (S, C, C), true class by predicted class."""
        return self.from_counts(_Counts.of(table))

    def from_counts(self, counts: _Counts) -> np.ndarray:
        """Score the counts of the classes, shape (S, C); the scores have shape (S,)."""
        raise NotImplementedError


class _Counts(NamedTuple):
    """Counts of each class: right predictions, truths and predictions, each of shape (S, C)."""

    hits: np.ndarray
    true: np.ndarray
    predicted: np.ndarray
    total: np.ndarray

    @classmethod
    def of(cls, table: np.ndarray) -> _Counts:
        """Return the counts of confusion tables of shape (S, C, C)."""
        hits = np.diagonal(table, axis1=1, axis2=2)
        return cls(hits, table.sum(axis=2), table.sum(axis=1), table.sum(axis=(1, 2))[:, None])


def _confusion(truth: np.ndarray, outputs: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the confusion table (true, predicted) of each strategy: shape (S, C, C)."""
    code = truth * n_classes + outputs + np.arange(len(outputs))[:, None] * n_classes**2
    counts = np.bincount(code.ravel(), minlength=len(outputs) * n_classes**2)
    return counts.reshape(len(outputs), n_classes, n_classes).astype(float)


class _OneClassScore(_ConfusionScore):
    """Ratio of counts of one class against the rest.

    Parameters
    ----------
    positive : label, optional
        The positive class. Default: the last of the sorted classes (1 of 0 and 1).
    average : {"binary", "macro"}, default "binary"
        ``"binary"`` is for datasets with two classes. ``"macro"`` is for any number of classes: it
        takes each class in turn as positive and returns the mean over the classes that occur in the
        truth or the predictions of the test set.
    zero_division : float, default 0.0
        The value of 0/0. With NaN the cell counts as missing, and the caller chooses its treatment.
    """

    undefined = "0/0, and zero_division is NaN"

    def __init__(
        self, *, positive: Any = None, average: str = "binary", zero_division: float = 0.0
    ) -> None:
        if average not in ("binary", "macro"):
            raise AnalysisError(f"average {average!r} is not known; one of 'binary', 'macro'")
        self.positive, self.macro, self.zero_division = positive, average == "macro", zero_division
        if self.macro:
            self.name = f"{self.name}_macro"

    def check(self, block: Block) -> None:
        """Raise `AnalysisError` for a dataset without two classes or without the positive class.

        The macro average is defined for every dataset.
        """
        if self.macro:
            return
        if len(block.classes) != 2:
            raise AnalysisError(
                f"{self.name} is for two classes, and dataset {block.dataset!r} has "
                f"{len(block.classes)}: choose the datasets, or metric '{self.name}_macro' (in "
                f"Python also {type(self).__name__}(average='macro')), a mean over all classes"
            )
        if self.positive is not None and self.positive not in block.classes:
            raise AnalysisError(
                f"{self.name}: dataset {block.dataset!r} has no class {self.positive!r}, "
                f"only {block.classes[0]!r} and {block.classes[1]!r}"
            )

    def from_table(self, table: np.ndarray, classes: Sequence[Any]) -> np.ndarray:
        """Return the ratio for the positive class, or its mean over classes."""
        counts = _Counts.of(table)
        above, below = self.ratio(counts)
        value = np.full(above.shape, self.zero_division, dtype=float)
        np.divide(above, below, out=value, where=below > 0)
        if not self.macro:
            return value[:, -1 if self.positive is None else list(classes).index(self.positive)]
        occurs = counts.true + counts.predicted > 0
        return np.where(occurs, value, 0).sum(axis=1) / occurs.sum(axis=1)

    def ratio(self, counts: _Counts) -> tuple[np.ndarray, np.ndarray]:
        """Return numerator and denominator with each class as positive: shape (S, C) each."""
        raise NotImplementedError


class ScoreSensitivity(_OneClassScore):
    """Share of the positive points that are predicted positive, also called recall.

    Examples
    --------
    >>> ScoreSensitivity().calculate(np.array([0, 1, 1, 1]), np.array([0, 1, 1, 0]))
    0.6666666666666666
    """

    name = "sensitivity"

    def ratio(self, counts: _Counts) -> tuple[np.ndarray, np.ndarray]:
        """Return its numerator and denominator."""
        return counts.hits, counts.true


class ScoreSpecificity(_OneClassScore):
    """Share of the negative points that are predicted negative."""

    name = "specificity"

    def ratio(self, counts: _Counts) -> tuple[np.ndarray, np.ndarray]:
        """Return its numerator and denominator."""
        return (
            counts.total - counts.true - counts.predicted + counts.hits,
            counts.total - counts.true,
        )


class ScorePrecision(_OneClassScore):
    """Share of the points predicted positive that are positive, also called PPV."""

    name = "precision"

    def ratio(self, counts: _Counts) -> tuple[np.ndarray, np.ndarray]:
        """Return its numerator and denominator."""
        return counts.hits, counts.predicted


class ScoreF1(_OneClassScore):
    """Harmonic mean of sensitivity and precision."""

    name = "f1"

    def ratio(self, counts: _Counts) -> tuple[np.ndarray, np.ndarray]:
        """Return its numerator and denominator."""
        return 2 * counts.hits, counts.true + counts.predicted


class ScoreBalancedAccuracy(_ConfusionScore):
    """Mean sensitivity over the classes that occur in the test set.

    Examples
    --------
    >>> ScoreBalancedAccuracy().calculate(np.array([0, 1, 1, 1]), np.array([0, 1, 1, 0]))
    0.8333333333333333
    """

    name = "balanced_accuracy"

    def from_counts(self, counts: _Counts) -> np.ndarray:
        """Return the mean sensitivity over the classes that occur in the truth."""
        recall = counts.hits / np.maximum(counts.true, 1)
        return recall.sum(axis=1) / (counts.true > 0).sum(axis=1)


class ScoreMCC(_ConfusionScore):
    """Matthews' correlation coefficient, for any number of classes; 0 where it is 0/0.

    Examples
    --------
    >>> ScoreMCC().calculate(np.array([0, 1, 1, 1]), np.array([0, 1, 1, 0]))
    0.5773502691896258
    """

    name = "mcc"
    bounds = (-1.0, 1.0)

    def from_counts(self, counts: _Counts) -> np.ndarray:
        """Return the correlation coefficients, shape (S,)."""
        hits, true, predicted, total = counts
        square = total[:, 0] ** 2
        above = hits.sum(axis=1) * total[:, 0] - (true * predicted).sum(axis=1)
        spread = (square - (true**2).sum(axis=1)) * (square - (predicted**2).sum(axis=1))
        return above / np.sqrt(np.where(spread > 0, spread, np.inf))


class ScoreAUC(MLautScore):
    """Area under the ROC curve from probabilities; ties count one half.

    For more than two classes it is the mean over all pairs of classes that occur in the test set
    (Hand and Till 2001); in each pair, each class is once the positive one.

    Examples
    --------
    >>> given = np.array([[0.9, 0.1], [0.6, 0.4], [0.65, 0.35], [0.2, 0.8]])
    >>> ScoreAUC().calculate(np.array([0, 0, 1, 1]), given)
    0.75
    """

    name = "roc_auc"
    task = CLASSIFICATION
    greater_is_better = True
    bounds = (0.0, 1.0)
    uses = "probabilities"
    encoded = True
    undefined = "the test set has one class only"

    def calculate(self, truth: np.ndarray, predictions: np.ndarray) -> float:
        """Score class positions (n,) against probabilities (n, C)."""
        self.check_probabilities(predictions)
        return float(self.cells(np.asarray(truth), np.asarray(predictions)[None], ())[0])

    def cells(
        self,
        truth: np.ndarray,
        outputs: np.ndarray,
        classes: Sequence[Any],  # noqa: ARG002 - the probabilities say how many
    ) -> np.ndarray:
        """Score one test set for many strategies."""
        present = np.unique(truth)
        if len(present) < 2:
            return np.full(len(outputs), np.nan)
        if outputs.shape[-1] == 2:
            return _auc(outputs[:, :, 1], truth == 1)
        areas = []
        for a, b in combinations(present, 2):
            both = (truth == a) | (truth == b)
            areas += [_auc(outputs[:, both, a], truth[both] == a)]
            areas += [_auc(outputs[:, both, b], truth[both] == b)]
        return np.mean(areas, axis=0)


def _auc(marks: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Return the share of (positive, negative) pairs in the right order, for marks (S, n)."""
    from scipy.stats import rankdata

    n, n_negative = positive.sum(), (~positive).sum()
    ranks = rankdata(marks, axis=1)[:, positive].sum(axis=1)
    return (ranks - n * (n + 1) / 2) / (n * n_negative)


class LossRMSE(MLautScore):
    """Square root of the mean squared difference of prediction and truth."""

    name = "rmse"
    task = REGRESSION
    greater_is_better = False
    bounds = (0.0, np.inf)
    undefined = "the loss is not finite"
    incomparable = IN_TARGET_UNITS

    def calculate(self, truth: np.ndarray, predictions: np.ndarray) -> float:
        """Score one test set."""
        return float(np.linalg.norm(predictions - truth) / np.sqrt(len(truth)))


class ScoreR2(MLautScore):
    """Share of the variance of the truth that is explained; undefined for a constant truth."""

    name = "r2"
    task = REGRESSION
    greater_is_better = True
    bounds = (-np.inf, 1.0)
    undefined = "the truth of the test set is constant"

    def calculate(self, truth: np.ndarray, predictions: np.ndarray) -> float:
        """Score one test set."""
        total = np.square(truth - np.mean(truth)).sum()
        return float(1 - np.square(truth - predictions).sum() / total) if total > 0 else np.nan
