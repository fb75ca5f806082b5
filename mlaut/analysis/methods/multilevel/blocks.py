"""Summaries of the folds of each dataset for the model: means of strategies, and their noise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mlaut.analysis.common.numerics import RELATIVE_NOISE
from mlaut.analysis.methods.cross_validation.retrained_estimates import train_ratio_of
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError


class Blocks(NamedTuple):
    """Sufficient statistics of N datasets and K strategies.

    Attributes
    ----------
    means : ndarray, shape (N, K)
        Mean over the folds, after removing what all strategies of a fold have in common; NaN where
        a strategy has no fold.
    counts : ndarray, shape (N, K)
        Number of folds that compare the strategy with others.
    squares, df : ndarray, shape (N,)
        Sum of squares that strategies and folds do not explain, and its degrees of freedom.
    ratio : ndarray, shape (N,)
        Ratio of test to training rows: the variance that the means of folds share, because folds
        share training rows, in units of the variance of a fold (Nadeau & Bengio 2003).
    """

    means: np.ndarray
    counts: np.ndarray
    squares: np.ndarray
    df: np.ndarray
    ratio: np.ndarray


def blocks_of(results: Results, values: np.ndarray) -> Blocks:
    """Return the statistics of values, shape (N, K, folds of all repeats), NaN where missing."""
    rows = []
    for place, dataset in enumerate(results.datasets):
        n_folds = int(results.expected[place].any(axis=0).sum())
        ratio = train_ratio_of(results, place)
        if ratio is None:  # k folds train on k - 1 others; of one fold nothing is known
            ratio = 1 / (n_folds - 1) if n_folds > 1 else 0.0
        rows.append((*_of_one(values[place], dataset, results.strategies), ratio))
    return Blocks(*(np.array(column) for column in zip(*rows, strict=True)))


def _of_one(
    values: np.ndarray, dataset: str, strategies: tuple[str, ...]
) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Return means, counts, sum of squares and degrees of freedom of values, shape (K, folds)."""
    known = ~np.isnan(values)
    shared = known.sum(axis=0) > 1  # a strategy that is alone on a fold is not compared
    known, values = known[:, shared], values[:, shared]
    there = np.flatnonzero(known.any(axis=1))
    known, values = known[there], np.where(known[there], values[there], 0.0)
    means, counts = np.full((2, len(strategies)), np.nan)
    counts[:] = 0
    if not len(there):
        return means, counts, 0.0, 0.0
    weights = known / known.sum(axis=0)
    centred = np.where(known, values - (weights * values).sum(axis=0), 0)
    if known.all():
        effects, used = centred.mean(axis=1), np.full(len(there), float(known.shape[1]))
    else:  # least squares for strategies and folds, of which some cells are missing
        information = np.diag(known.sum(axis=1)) - weights @ known.T
        if np.linalg.matrix_rank(information) < len(there) - 1:
            names = ", ".join(strategies[i] for i in there[:5])
            raise AnalysisError(
                f"dataset {dataset!r}: too many cells are missing: not all of its strategies "
                f"({names}) can be compared, directly or through others, on folds they share; "
                "leave the dataset out"
            )
        effects = np.linalg.pinv(information, hermitian=True) @ centred.sum(axis=1)
        used = np.diag(information) * len(there) / (len(there) - 1)
    rest = np.where(known, values - effects[:, None], 0)
    rest = np.where(known, rest - (weights * rest).sum(axis=0), 0)
    noise = RELATIVE_NOISE * np.abs(values).max()
    effects, rest = (np.where(np.abs(x) > noise, x, 0.0) for x in (effects, rest))
    means[there], counts[there] = effects, used
    return means, counts, float((rest**2).sum()), float(known.sum() - sum(known.shape) + 1)
