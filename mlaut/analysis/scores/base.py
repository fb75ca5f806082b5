"""Base class of metrics, which have a direction, a range and a task and score cells of a block."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mlaut.errors import AnalysisError
from mlaut.records import CLASSIFICATION, REGRESSION, Block, Status, not_distributions

IN_TARGET_UNITS = "it is in the unit of each dataset's target"

# Endings of the names of metrics that are in the unit of the target, or in a power of it.
_OF_TARGET = ("rmse", "mse", "mae", "absoluteerror", "squarederror", "maxerror", "poissondeviance")
# Errors that are divided by a quantity in the same unit have no unit: relative, scaled, percent.
_UNITLESS = re.compile(r"relative|percent|scaled|normali[sz]ed|log|(nr|rr|n)mse$|(n|r)mae$")

_OF_SEVERAL = {
    CLASSIFICATION: "hamming, misclassification (of all labels of a row), f1_micro, f1_macro, "
    "f1_samples or label_ranking",
    REGRESSION: "mse, mae, rmse or r2",
}
_OF_ONE = {CLASSIFICATION: "accuracy", REGRESSION: "r2"}

NOT_PROBABILITIES = "not in [0, 1] with the sum 1"


@dataclass(frozen=True, eq=False)
class CellScores:
    """Scores, losses and variances of the cells of one dataset.

    Attributes
    ----------
    cells, losses : ndarray, shape (S, R, F)
        Scores, and their loss form; NaN where a cell has no score.
    variances : ndarray, shape (S, R, F)
        Variances of the point losses within a test set (divisor M - 1); NaN for an aggregate.
    reasons : dict of (strategy, repeat, fold) positions to str
        Reason of each score that is NaN.
    """

    cells: np.ndarray
    losses: np.ndarray
    variances: np.ndarray
    reasons: dict[tuple[int, int, int], str]


class MLautScore:
    """Base class of all metrics; a new metric sets some attributes and defines one method.

    Define ``points`` for a metric that is an average over test points: then scenario (a) has a
    standard error. Define ``calculate`` for an aggregate, which scores a whole test set at once;
    one of probabilities begins with ``check_probabilities``.

    Attributes
    ----------
    name : str
    task : str or None
        ``"Classification"``, ``"Regression"``, or None for both.
    greater_is_better : bool
        Direction of the metric; there is no default.
    bounds : (float, float)
        Range of the metric.
    uses : str, default "labels"
        The form of predictions that the metric takes: ``"labels"`` or ``"probabilities"``.
    encoded : bool, default False
        Whether the metric takes classes as positions in the sorted classes, not as labels.
    zero_one : bool, default False
        Whether every point loss is 0 or 1, so that Wilson's interval and the Beta posterior apply.
    undefined : str
        Reason why the value of a test set can be NaN.
    incomparable : str, default ""
        Reason why a mean over datasets is meaningless, for example because each value is in the
        unit of its target; empty where the mean has a meaning. R2 has no unit, so it has means,
        although one dataset with a very low R2 can dominate them.
    takes_weights : bool, default False
        Whether ``cells`` of an aggregate takes the weights of test points.
    pooled : bool, default False
        Whether ``influence`` is that of all test sets of a repeat together. A ratio or a root of a
        test set of a few rows is biased, and that of all of them is not.
    targets : {"one", "several", "any"}, default "one"
        Whether the metric is for datasets with one target or with several, which are further
        dimensions of its arguments. An average over test points is that over targets, too.
    variants : mapping of str to dict
        Arguments of the metrics that have its name with an ending, by the ending.

    Examples
    --------
    >>> class ScoreClose(MLautScore):
    ...     name, task, greater_is_better, bounds = "close", "Regression", True, (0, 1)
    ...
    ...     def points(self, truth, predictions):
    ...         return np.abs(predictions - truth) <= 0.1 * np.abs(truth)
    >>> score = ScoreClose()
    >>> score.calculate(np.array([10.0, 20.0]), np.array([10.5, 30.0])), score.average
    (0.5, True)
    >>> score.loss(0.5), score.loss_name
    (0.5, '1 - close')
    """

    name: str = ""
    task: str | None = None
    greater_is_better: bool
    bounds: tuple[float, float] = (-np.inf, np.inf)
    uses: str = "labels"
    encoded: bool = False
    zero_one: bool = False
    undefined: str = "the metric is not defined for this test set"
    incomparable: str = ""
    takes_weights: bool = False
    pooled: bool = False
    targets: str = "one"
    variants: ClassVar[Mapping[str, dict[str, Any]]] = {"": {}}

    def points(self, truth: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        """Score each test point.

        Parameters
        ----------
        truth : ndarray, shape (n,), or (n, k) of several targets
        predictions : ndarray, shape (..., n), or (..., n, C) for probabilities and several targets

        Returns
        -------
        ndarray, shape (..., n); of several targets also (..., n, k)
        """
        raise NotImplementedError

    def calculate(self, truth: np.ndarray, predictions: np.ndarray) -> float:
        """Score one test set: ``truth`` (n,) and ``predictions`` (n,), or (n, C)."""
        self.check_probabilities(predictions)
        return float(np.mean(self.points(truth, predictions)))

    def influence(self, truth: np.ndarray, outputs: np.ndarray) -> np.ndarray:
        """Return one value for each test point, so that their mean is the score: shape (S, n).

        Aggregates with a delta method define it. The standard error of the mean of these values is
        that of the score. ``truth`` has shape (n,); ``outputs`` has (S, n), or (S, n, C) for
        probabilities.
        """
        raise NotImplementedError

    @property
    def has_influence(self) -> bool:
        """Return whether the metric has a delta method of its own: it defines `influence`."""
        return type(self).influence is not MLautScore.influence

    @property
    def average(self) -> bool:
        """Return whether the metric is a mean over test points, with a standard error in (a).

        What the most derived class defines counts: ``calculate`` on top of inherited ``points`` is
        an aggregate.
        """
        own = next(c for c in type(self).__mro__ if {"points", "calculate"} & vars(c).keys())
        return own is not MLautScore and "points" in vars(own)

    @property
    def mixed(self) -> bool:
        """Return whether each dataset has its own metric, so that only signs are comparable."""
        return self.incomparable not in ("", IN_TARGET_UNITS)

    @property
    def weighted(self) -> bool:
        """Return whether the metric can weigh test points: averages can, and some aggregates."""
        return self.average or self.takes_weights

    @property
    def loss_name(self) -> str:
        """Name of the loss form."""
        if not self.greater_is_better:
            return self.name
        if self.name.startswith("neg_"):
            return self.name[len("neg_") :]
        upper = self.bounds[1]
        return f"{upper:g} - {self.name}" if np.isfinite(upper) and upper else f"-{self.name}"

    @property
    def loss_bounds(self) -> tuple[float, float]:
        """Range of the loss form."""
        low, high = (float(self.loss(bound)) for bound in self.bounds)
        return min(low, high), max(low, high)

    @property
    def span(self) -> float:
        """Largest possible absolute difference of two losses; infinite for an unbounded range."""
        low, high = self.loss_bounds
        return high - low

    def loss(self, scores: Any) -> Any:
        """Return scores as losses, of which lower is better.

        A loss is returned unchanged. A score becomes its distance from the upper end of its range,
        so that a perfect score has the loss 0, or its negative where the range has no upper end.
        """
        if not self.greater_is_better:
            return scores
        upper = self.bounds[1]
        return upper - scores if np.isfinite(upper) else -scores

    def check_targets(self, dataset: str, task: str, several: bool) -> None:
        """Raise `AnalysisError` if the metric is not for the number of targets of a dataset."""
        if self.task in (None, task) and self.targets not in ("any", ["one", "several"][several]):
            others = _OF_SEVERAL[task] if several else _OF_ONE[task]
            has = f"{'several' if several else 'one'} target{'s' * several}"
            raise AnalysisError(
                f"{self.name} is for {self.targets} target{'s' * (not several)}, and dataset "
                f"{dataset!r} has {has}: choose {others}"
            )

    def points_of_rows(self, truth: np.ndarray, outputs: np.ndarray) -> np.ndarray:
        """Return the points of the rows, each the mean over several targets: shape (..., n)."""
        points = np.asarray(self.points(truth, outputs), dtype=float)
        return points.mean(axis=-1) if truth.ndim > 1 and points.ndim == outputs.ndim else points

    def check_classes(self, dataset: str, classes: Sequence[Any]) -> None:
        """Raise `AnalysisError` if the metric is not defined for a dataset with these classes."""

    def check_probabilities(self, predictions: np.ndarray) -> None:
        """Raise `AnalysisError` if the metric needs probabilities and gets other numbers."""
        if self.uses != "probabilities":
            return
        given = np.asarray(predictions)
        masked = np.ma.is_masked(predictions)
        if given.ndim != 2 or given.dtype.kind not in "biuf" or masked:
            what = "masked values" if masked else f"{given.dtype} of shape {given.shape}"
            raise AnalysisError(f"{self.name} needs probabilities of shape (n, C), not {what}")
        wrong = not_distributions(given)
        if wrong.any():
            row = ", ".join(f"{p:.4g}" for p in given[wrong][0][:5])
            raise AnalysisError(
                f"{self.name} needs probabilities: {int(wrong.sum())} of {len(given)} rows are not "
                f"in [0, 1] with the sum 1, the first: [{row}]"
            )

    def evaluate(self, block: Block) -> CellScores:
        """Score every cell of a block.

        A cell is NaN if the metric needs probabilities and the cell has none, or wrong ones.
        """
        if self.task is not None and block.task != self.task:
            raise AnalysisError(
                f"{self.name} is for {self.task}, and dataset {block.dataset!r} is "
                f"{block.task}: choose the datasets, or another metric"
            )
        self.check_targets(block.dataset, block.task, bool(block.targets))
        self.check_classes(block.dataset, block.classes)
        if block.weights is not None and not self.weighted:
            raise AnalysisError(
                f"{self.name} takes no weights, and dataset {block.dataset!r} has weights: choose "
                "another metric, or the dataset with the role ignore for its weights"
            )
        truth, outputs = self.inputs(block)
        scored = np.full((3, *block.status.shape), np.nan)
        usable, wrong = block.done.copy(), np.zeros_like(block.done)
        for repeat in range(block.split.n_repeats):
            for fold in range(block.split.n_folds):
                rows = block.split.folds[repeat] == fold
                given = outputs[:, repeat][:, rows]
                if self.uses == "probabilities":
                    usable[:, repeat, fold] &= ~np.isnan(given).any(axis=(1, 2))
                    flat = given.reshape(-1, given.shape[-1])
                    rows_of_all = not_distributions(flat, several=bool(block.targets))
                    bad = rows_of_all.reshape(given.shape[:2]).any(axis=1)
                    wrong[:, repeat, fold] = usable[:, repeat, fold] & bad
                    usable[:, repeat, fold] &= ~bad
                who = np.flatnonzero(usable[:, repeat, fold])
                if len(who) and rows.any():
                    weights = None if block.weights is None else block.weights[rows]
                    of_fold = self._score_test_set(truth[rows], given[who], block.classes, weights)
                    scored[:, who, repeat, fold] = of_fold
        scored[:, ~np.isfinite(scored[0])] = np.nan
        reasons = self._reasons(block, scored[0], usable, wrong)
        return CellScores(scored[0], scored[1], scored[2], reasons)

    def _score_test_set(
        self,
        truth: np.ndarray,
        outputs: np.ndarray,
        classes: Sequence[Any],
        weights: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return scores, losses and variances of point losses, shape (S,) each.

        Weighted point losses have no variances: the intervals of scenario (a) count points.
        """
        none = np.full(len(outputs), np.nan)
        if weights is not None and not weights.sum() > 0:
            return none, none, none
        # a strategy that diverged predicts infinite numbers; its cell is then listed as missing
        with np.errstate(over="ignore", invalid="ignore"):
            if not self.average:
                given = () if weights is None else (weights,)
                scores = self.cells(truth, outputs, classes, *given)
                return scores, self.loss(scores), none
            points = self.points_of_rows(truth, outputs)
            if weights is not None:
                mean = np.average(points, axis=-1, weights=weights)
                return mean, np.average(self.loss(points), axis=-1, weights=weights), none
            variances = points.var(axis=-1, ddof=1) if points.shape[-1] > 1 else none
            # the mean of the losses, since 1 - mean(right) is not quite mean(wrong)
            return points.mean(axis=-1), self.loss(points).mean(axis=-1), variances

    def cells(
        self,
        truth: np.ndarray,
        outputs: np.ndarray,
        classes: Sequence[Any],  # noqa: ARG002 - for subclasses
        weights: np.ndarray | None = None,  # noqa: ARG002 - for subclasses that are `weighted`
    ) -> np.ndarray:
        """Score one test set for many strategies.

        Parameters
        ----------
        truth : ndarray, shape (m,)
        outputs : ndarray, shape (S, m), or (S, m, C) for probabilities
        classes : sequence
            The dataset's sorted class labels.
        weights : ndarray, shape (m,), optional
            Weights of the test points, for a metric that is `weighted`.

        Returns
        -------
        ndarray, shape (S,)
        """
        return np.array([self.calculate(truth, output) for output in outputs], dtype=float)

    def point_losses(self, block: Block) -> np.ndarray:
        """Return the loss of each test point: shape (S, R, n_rows), NaN where a row has none.

        Raises
        ------
        AnalysisError
            The metric is an aggregate.
        """
        if not self.average:
            raise AnalysisError(
                f"{self.name} is an aggregate of a test set, not an average over its points; "
                "choose a metric that is an average, for example 'misclassification' or 'mse'"
            )
        if block.weights is not None:
            raise AnalysisError(
                f"dataset {block.dataset!r} has weights, and methods that use the losses of single "
                "test points count each point once: choose a method of scenario (b) or (c)"
            )
        truth, outputs = self.inputs(block)
        points = np.asarray(self.loss(self.points_of_rows(truth, outputs)), dtype=float)
        tested = np.zeros(points.shape, dtype=bool)
        for fold in range(block.split.n_folds):
            tested |= block.done[:, :, fold, None] & (block.split.folds == fold)
        if self.uses == "probabilities":
            flat = outputs.reshape(-1, outputs.shape[-1])
            bad = not_distributions(flat, several=bool(block.targets))
            tested &= ~bad.reshape(tested.shape)
        return np.where(tested, points, np.nan)

    def inputs(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Return truth and predictions in the form that ``points`` and ``calculate`` take."""
        truth, predictions = block.truth, block.predictions
        if block.task == CLASSIFICATION and not self.encoded and not block.targets:
            labels = labels_array(block.classes)
            truth, predictions = labels[truth], labels[np.maximum(predictions, 0)]
        if self.uses == "labels":
            return truth, predictions
        if block.probabilities is None:
            raise AnalysisError(
                f"{self.name} needs probabilities, and dataset {block.dataset!r} has none stored"
            )
        return truth, block.probabilities

    def _reasons(
        self, block: Block, values: np.ndarray, usable: np.ndarray, wrong: np.ndarray
    ) -> dict[tuple[int, int, int], str]:
        reasons = {}
        for s, r, f in np.argwhere(np.isnan(values)).tolist():
            status = Status(int(block.status[s, r, f]))
            if status != Status.DONE:
                reasons[s, r, f] = status.word
            elif not usable[s, r, f]:
                reasons[s, r, f] = NOT_PROBABILITIES if wrong[s, r, f] else "no probabilities"
            else:
                reasons[s, r, f] = self.undefined
        return reasons

    def __repr__(self) -> str:
        kind = "average" if self.average else "aggregate"
        direction = "greater is better" if self.greater_is_better else "less is better"
        low, high = self.bounds
        return f"<{self.name}: {self.task or 'any task'}, {kind}, {direction}, {low:g} to {high:g}>"


def labels_array(classes: Sequence[Any]) -> np.ndarray:
    """Return the class labels as an array that keeps their type."""
    same_type = len({type(label) for label in classes}) <= 1
    return np.array(classes) if same_type else np.array(classes, dtype=object)


def in_target_units(name: str) -> bool:
    """Return whether a metric of this name is in the unit of the target, or in a power of it.

    Parameters
    ----------
    name : str
        Name of a metric in scikit-learn, sktime or the AutoML benchmark.

    Examples
    --------
    >>> [in_target_units(name) for name in ("rmse", "neg_mean_absolute_error", "MeanSquaredError")]
    [True, True, True]
    >>> [in_target_units(name) for name in ("mape", "nrmse", "Relative_absolute_error", "accuracy")]
    [False, False, False, False]
    """
    word = re.sub(r"[^a-z0-9]", "", name.lower())
    return word.endswith(_OF_TARGET) and not _UNITLESS.search(word.removeprefix("neg"))
