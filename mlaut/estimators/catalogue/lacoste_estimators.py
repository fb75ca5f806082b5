r"""Parts of the four strategies that Lacoste et al. (2012) compare.

Source: A. Lacoste, F. Laviolette, M. Marchand: *Bayesian Comparison of Machine Learning Algorithms
on Single and Multiple Datasets*, AISTATS 2012, supplementary material 9.2. Their grids are in
`mlaut.estimators.catalogue.catalogue`. The Gaussian kernel is equation (6) of the paper,

.. math:: k(x, x') = \exp\left(-\frac{r}{2 \hat\sigma^2} \lVert x - x' \rVert^2\right),

with the width r from the grid and :math:`\hat\sigma` the 10th percentile of the distances between
training rows. `UnitDistance` divides the table by :math:`\sqrt 2 \hat\sigma`, so that r is the
``gamma`` of scikit-learn. Features are scaled only for the network, as in the appendix.
"""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.spatial.distance import pdist
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin, OneToOneFeatureMixin, TransformerMixin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

PAIRS_AT_ONCE = 2**21  # distances in memory at a time: 16 MiB
SMALLEST_WEIGHT = np.finfo(float).tiny


@dataclass(kw_only=True, eq=False, repr=False)
class UnitDistance(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Divide a table by :math:`\sqrt 2` times a low percentile of the distances in it.

    Parameters
    ----------
    percentile : float, default 10
        Percentile of the distances between all pairs of training rows. If it is 0, because many
        rows are equal, the percentile of the positive distances is used. If all rows are equal,
        the table is not divided.
    max_rows : int, default 2000
        Largest number of rows to measure; of a larger table, a random choice is measured.
    random_state : int, RandomState or None, default None
        Seed of the choice of rows.

    Attributes
    ----------
    distance_ : float
        The percentile of the distances.

    Examples
    --------
    >>> UnitDistance().fit([[0.0], [3.0]]).distance_
    3.0
    """

    percentile: float = 10
    max_rows: int = 2000
    random_state: Any = None

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Measure the distances between rows: shape (n_rows, n_features)."""
        rows = validate_data(self, X, dtype=np.float64)
        if len(rows) > self.max_rows:
            chosen = check_random_state(self.random_state).permutation(len(rows))
            rows = rows[np.sort(chosen[: self.max_rows])]
        distances = pdist(rows)
        self.distance_ = self._percentile(distances) or self._percentile(distances[distances > 0])
        return self

    def _percentile(self, distances: np.ndarray) -> float:
        return float(np.percentile(distances, self.percentile)) if distances.size else 0.0

    def transform(self, X: Any) -> np.ndarray:
        """Return the rows divided by the scale."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        return rows / (math.sqrt(2) * self.distance_) if self.distance_ else rows

    def describe(self) -> dict[str, str]:
        """Return a description of the transformation in words."""
        return {
            "scale": f"divided by sqrt(2) times the {self.percentile}th percentile of the "
            "distances between training rows"
        }


class ParzenWindow(ClassifierMixin, BaseEstimator):
    """Classifier by the sum of Gaussian kernels on the training rows of each class.

    Sums are compared on a log scale, so that a narrow window becomes the nearest neighbour.

    Parameters
    ----------
    gamma : float, default 1.0
        Width parameter of the kernel, ``exp(-gamma * squared distance)``.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)

    Examples
    --------
    >>> ParzenWindow(gamma=1e9).fit([[0.0], [0.0], [1.0]], ["a", "a", "b"]).predict([[0.6], [0.4]])
    array(['b', 'a'], dtype='<U1')
    """

    def __init__(self, gamma: float = 1.0) -> None:
        self.gamma = gamma

    def fit(self, X: Any, y: Any) -> Self:
        """Store rows of shape (n_rows, n_features) and labels of shape (n_rows,)."""
        self.rows_, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, self.positions_ = np.unique(y, return_inverse=True)
        return self

    def _log_sums(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        sums = np.empty((len(rows), len(self.classes_)))
        for batch in gen_batches(len(rows), max(1, PAIRS_AT_ONCE // len(self.rows_))):
            powers = -self.gamma * euclidean_distances(rows[batch], self.rows_, squared=True)
            for k in range(len(self.classes_)):
                sums[batch, k] = logsumexp(powers[:, self.positions_ == k], axis=1)
        return sums

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class with the largest sum; the first class wins ties."""
        sums = self._log_sums(X)
        return self.classes_[sums.argmax(axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of each class in the sum of all kernels: shape (n_rows, n_classes)."""
        sums = self._log_sums(X)
        return np.exp(sums - logsumexp(sums, axis=1, keepdims=True))


class UniformStump(ClassifierMixin, BaseEstimator):
    """Decision stump: one cut of one feature, at one of equally spaced thresholds.

    The cut minimises the weighted Gini impurity. Boosting fits thousands of stumps on the same few
    rows. Therefore clean tables are not checked again, and all cuts are compared at once.

    Parameters
    ----------
    n_stumps : int, default 10
        Number of thresholds per feature, between its smallest and largest training value.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
    feature_ : int
        Feature of the cut; the first of equally good cuts is used.
    threshold_ : int
        Number of thresholds of that feature that a row must pass to be on the upper side; 0 if no
        cut is possible.

    Examples
    --------
    >>> stump = UniformStump(n_stumps=1).fit([[0.0], [4.0], [10.0]], [0, 1, 1])
    >>> stump.predict([[4.9], [5.1]]).tolist()
    [0, 1]
    """

    def __init__(self, n_stumps: int = 10) -> None:
        self.n_stumps = n_stumps

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the cut for rows (n_rows, n_features), labels and weights (n_rows,)."""
        rows, y = self._clean_rows_and_labels(X, y)
        weight = np.ones(len(rows)) if sample_weight is None else np.asarray(sample_weight, float)
        if weight.shape != y.shape:
            raise ValueError(f"sample_weight has shape {weight.shape}, the labels have {y.shape}")
        if not weight.sum() > 0:
            raise ValueError("the weights of the rows add up to zero")
        self.classes_, positions = np.unique(y, return_inverse=True)
        self.least_ = rows.min(axis=0)
        span = rows.max(axis=0) - self.least_
        self.step_ = np.where(span > 0, span, 1.0) / (self.n_stumps + 1)
        passed = self._passed(rows, slice(None))
        of_class = np.arange(len(self.classes_))[:, None] == positions
        below = _sums_below(passed, [*(of_class * weight), np.ones(len(rows))], self.n_stumps)
        self._choose(below[:-1], below[-1], (of_class * weight).sum(axis=1), len(rows))
        return self

    def _choose(self, below: np.ndarray, counts: np.ndarray, whole: np.ndarray, n: int) -> None:
        """Store the best cut that has rows on both sides, and the class shares on each side."""
        above = whole[:, None, None] - below
        with np.errstate(divide="ignore", invalid="ignore"):
            purity = sum((part**2).sum(axis=0) / part.sum(axis=0) for part in (below, above))
        purity = np.where((counts > 0) & (counts < n), np.nan_to_num(purity), -1.0)
        self.feature_, cut = divmod(int(purity.argmax()), purity.shape[1])
        sides = np.array([whole, whole])
        self.threshold_ = 0
        if purity[self.feature_, cut] >= 0:
            sides = np.array([part[:, self.feature_, cut] for part in (below, above)])
            self.threshold_ = cut + 1
        self.shares_ = sides / np.maximum(sides.sum(axis=1, keepdims=True), SMALLEST_WEIGHT)

    def _passed(self, rows: np.ndarray, feature: Any) -> np.ndarray:
        """Return the number of thresholds that each value has reached."""
        steps = (rows[:, feature] - self.least_[feature]) / self.step_[feature]
        return np.clip(steps, 0, self.n_stumps).astype(np.intp)

    def _clean_rows_and_labels(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        if _is_clean(X) and _are_labels(y, len(X)):
            self.n_features_in_ = X.shape[1]
            return X, y
        rows, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        return rows, y

    def _sides(self, X: Any) -> np.ndarray:
        """Return 1 for rows on the upper side and 0 for others."""
        check_is_fitted(self)
        if not (_is_clean(X) and X.shape[1] == self.n_features_in_):
            X = validate_data(self, X, dtype=np.float64, reset=False)
        return (self._passed(X, self.feature_) >= max(self.threshold_, 1)).astype(np.intp)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the majority class of each row's side of the cut."""
        sides = self._sides(X)
        return self.classes_[self.shares_.argmax(axis=1)][sides]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the weighted shares of the classes on the row's side of the cut."""
        sides = self._sides(X)
        return self.shares_[sides]


def _sums_below(passed: np.ndarray, weights: list[np.ndarray], n_stumps: int) -> np.ndarray:
    """Return the summed weights below each threshold: shape (n_weights, n_features, n_stumps)."""
    n_features = passed.shape[1]
    place = (passed + np.arange(n_features) * (n_stumps + 1)).ravel()
    size = n_features * (n_stumps + 1)
    sums = [np.bincount(place, np.repeat(weight, n_features), size) for weight in weights]
    return np.reshape(sums, (-1, n_features, n_stumps + 1)).cumsum(axis=2)[:, :, :-1]


def _is_clean(X: Any) -> bool:
    """Return whether `validate_data` would return the rows unchanged."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and X.size > 0
        and bool(np.isfinite(X.sum()))
    )


def _are_labels(y: Any, n_rows: int) -> bool:
    """Return whether labels are an array of whole numbers or texts."""
    if type(y) is not np.ndarray or y.shape != (n_rows,):
        return False
    return y.dtype.kind in "iuU" or (y.dtype.kind == "O" and isinstance(y[0], str))
