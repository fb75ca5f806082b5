"""A ridge regression that is judged on datasets that it has not seen, for many responses at once.

All steps are products of matrices, so that a thousand permutations cost little more than one.
"""

from __future__ import annotations

import numpy as np

__all__ = ["left_out_predictions"]

# Penalties per row, in variances of a property: from nearly none to one that leaves no slope.
_PENALTIES = np.array([0.01, 0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 20.0, np.inf])


def left_out_predictions(
    x: np.ndarray, y: np.ndarray, folds: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return predictions for each row by a model of the rows of the other folds.

    Parameters
    ----------
    x : ndarray, shape (n, m)
        Properties.
    y : ndarray, shape (n, c)
        Responses; each has a model of its own.
    folds : ndarray of int, shape (n,)
        Fold of each row.

    Returns
    -------
    predicted : ndarray, shape (n, c)
        By ridge regression, whose penalty is chosen within the other folds, by their leave-one-out
        error. The largest penalty is infinite: the model then predicts the mean.
    mean : ndarray, shape (n, c)
        The mean of the other folds.
    """
    predicted, mean = np.empty_like(y), np.empty_like(y)
    for fold in np.unique(folds):
        out = folds == fold
        centre, average = x[~out].mean(axis=0), y[~out].mean(axis=0)
        mean[out] = average
        predicted[out] = average + _slopes(x[~out] - centre, y[~out] - average, x[out] - centre)
    return predicted, mean


def _slopes(x: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Return what the chosen slopes add to the mean of centred rows ``x`` for the rows ``new``."""
    u, s, vt = np.linalg.svd(x, full_matrices=False)
    kept = s > 1e-9 * s.max(initial=0.0)  # properties that are combinations of others
    u, s, vt = u[:, kept], s[kept], vt[kept]
    shares = s**2 / (s**2 + len(x) * _PENALTIES[:, None])
    coordinates, squares = u.T @ y, y**2
    best = np.full(y.shape[1], np.inf)
    chosen = np.zeros(coordinates.shape)
    for share in shares:
        leverage = np.minimum(1 / len(x) + u**2 @ share, 1 - 1e-9)
        weight = (1 - leverage) ** -2  # of a residual, which makes it that of a row left out
        fitted = share[:, None] * coordinates
        weighted = u.T * weight
        # the sum of weight * (y - u @ fitted)**2, without an array of the size of y
        error = weight @ squares + (fitted * ((weighted @ u) @ fitted - 2 * (weighted @ y))).sum(
            axis=0
        )
        better = error < best
        best = np.where(better, error, best)
        chosen[:, better] = fitted[:, better]
    return ((new @ vt.T) / s) @ chosen
