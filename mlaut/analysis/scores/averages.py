"""Metrics that are averages over test points (MLaut 2019, section 2.5.1 and Table 1)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mlaut.analysis.scores.base import IN_TARGET_UNITS, MLautScore
from mlaut.errors import AnalysisError
from mlaut.records import CLASSIFICATION, REGRESSION

__all__ = [
    "LossAbsolute",
    "LossBrier",
    "LossLog",
    "LossMisclassification",
    "LossQuantile",
    "LossSquared",
    "ScoreAccuracy",
]


class ScoreAccuracy(MLautScore):
    """Share of test points whose class is predicted correctly.

    Examples
    --------
    >>> ScoreAccuracy().calculate(np.array([0, 1, 1, 1]), np.array([0, 1, 0, 1]))
    0.75
    """

    name = "accuracy"
    task = CLASSIFICATION
    greater_is_better = True
    bounds = (0.0, 1.0)
    encoded = True
    zero_one = True

    def points(self, truth: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        """Return 1 where the class is right, else 0."""
        return predictions == truth


class LossMisclassification(MLautScore):
    """Share of test points whose class is predicted wrongly: the mean misclassification error."""

    name = "misclassification"
    task = CLASSIFICATION
    greater_is_better = False
    bounds = (0.0, 1.0)
    encoded = True
    zero_one = True

    def points(self, truth: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        """Return 1 where the class is wrong, else 0."""
        return predictions != truth


class _RegressionLoss(MLautScore):
    task = REGRESSION
    greater_is_better = False
    bounds = (0.0, np.inf)
    undefined = "the loss is not finite"
    incomparable = IN_TARGET_UNITS


class LossSquared(_RegressionLoss):
    """Squared difference of prediction and truth; its mean is the MSE."""

    name = "squared"

    def points(self, truth: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        """Return the squared differences."""
        return np.square(predictions - truth)


class LossAbsolute(_RegressionLoss):
    """Absolute difference of prediction and truth; its mean is the MAE."""

    name = "absolute"

    def points(self, truth: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        """Return the absolute differences."""
        return np.abs(predictions - truth)


class LossQuantile(_RegressionLoss):
    """Quantile (pinball) loss: the best prediction is the ``quantile`` of the truth.

    A prediction that is too low by x costs ``quantile * x``; one that is too high by x costs
    ``(1 - quantile) * x``. The paper's Q-loss weighs over-prediction by its alpha: it is this loss
    with ``quantile = 1 - alpha``.

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
        self.name = f"quantile {quantile:g}"

    def points(self, truth: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        """Return the weighted absolute differences."""
        short = truth - predictions
        return np.where(short > 0, self.quantile * short, (self.quantile - 1) * short)


class LossLog(MLautScore):
    """Negative logarithm of the probability of the true class.

    Probabilities are stored as float32, so a probability below its epsilon, 1.2e-7, counts as
    1.2e-7, and no loss of a study is above 15.94. Other programs clip at other values or not at
    all, so the range of the metric has no upper end.

    Examples
    --------
    >>> LossLog().calculate(np.array([0, 1]), np.array([[0.5, 0.5], [0.0, 1.0]]))
    0.34657...
    """

    name = "log_loss"
    task = CLASSIFICATION
    greater_is_better = False
    smallest: ClassVar[float] = float(np.finfo(np.float32).eps)
    bounds = (0.0, np.inf)
    uses = "probabilities"
    encoded = True

    def points(self, truth: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        """Return ``-log p`` of the true class of each point."""
        of_truth = predictions[..., np.arange(len(truth)), truth].astype(float)
        return -np.log(np.clip(of_truth, self.smallest, 1.0))


class LossBrier(MLautScore):
    """Half the squared distance of the probabilities from the true class, in [0, 1].

    For two classes this is the squared error of the probability of either class. For more classes
    it is half of Brier's sum, so that the range is the same for any number of classes.

    Examples
    --------
    >>> LossBrier().points(np.array([0, 1]), np.array([[0.5, 0.5], [1.0, 0.0]]))
    array([0.25, 1.  ])
    """

    name = "brier"
    task = CLASSIFICATION
    greater_is_better = False
    bounds = (0.0, 1.0)
    uses = "probabilities"
    encoded = True

    def points(self, truth: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        """Return the halved squared distances."""
        target = np.eye(predictions.shape[-1])[truth]
        return 0.5 * np.square(predictions - target).sum(axis=-1)
