"""Bootstrap intervals over datasets for scenario (c), and over test points for scenario (a)."""

import numpy as np

from mlaut.analysis.results.results import Results
from mlaut.analysis.scores.base import MLautScore
from mlaut.errors import AnalysisError
from mlaut.records import Block

# One less than a round number, so that the ends of the usual intervals are draws (Davison and
# Hinkley 1997, section 4.2.5). A draw over test points costs more than one over datasets.
DRAWS_OF_DATASETS = 9999
DRAWS_OF_POINTS = 999

Interval = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def bootstrap_means(results: Results, scenario: str, confidence: float, seed: int) -> Interval:
    """Return value, standard error, low and high of the mean loss of each strategy.

    Scenario (c) has the bias-corrected and accelerated interval over datasets. Scenario (a) has the
    percentile interval over test points, drawn within each dataset.
    """
    results = results.in_order
    losses = results.losses.to_numpy()
    if scenario == "(c)":
        return _bca(losses, confidence, seed)
    draws = np.mean([draws_of_dataset(results, i, seed) for i in range(len(losses))], axis=0)
    return (losses.mean(axis=0), *_percentiles(draws, confidence))


def bootstrap_datasets(results: Results, confidence: float, seed: int) -> Interval:
    """Return value, standard error, low and high by dataset and strategy: shape (N, K) each."""
    named = results.in_order
    of = {
        name: _percentiles(draws_of_dataset(named, i, seed), confidence)
        for i, name in enumerate(named.datasets)
    }
    parts = zip(*(of[name] for name in results.datasets), strict=True)
    error, low, high = (np.array(part) for part in parts)
    return results.losses.to_numpy(), error, low, high


def _percentiles(draws: np.ndarray, confidence: float) -> tuple[np.ndarray, ...]:
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
    return draws.std(axis=0, ddof=1), low, high


def _bca(values: np.ndarray, confidence: float, seed: int) -> Interval:
    """Compute the bias-corrected and accelerated bootstrap of column means (Efron 1987)."""
    from scipy.special import ndtr, ndtri

    n = len(values)
    mean = values.mean(axis=0)
    rows = np.random.default_rng(seed).integers(0, n, (DRAWS_OF_DATASETS, n))
    draws = np.sort(values[rows].mean(axis=1), axis=0)
    below = ((draws < mean).sum(axis=0) + 0.5 * (draws == mean).sum(axis=0)) / len(draws)
    bias = ndtri(np.clip(below, 1 / len(draws), 1 - 1 / len(draws)))
    centred = values - mean
    squares = np.square(centred).sum(axis=0)
    skew = (centred**3).sum(axis=0) / (6 * np.where(squares > 0, squares, 1) ** 1.5)
    ends = []
    for level in ((1 - confidence) / 2, (1 + confidence) / 2):
        z = bias + ndtri(level)
        share = ndtr(bias + z / (1 - skew * z))
        at = np.clip(np.floor(share * len(draws)).astype(int), 0, len(draws) - 1)
        ends.append(np.take_along_axis(draws, at[None], axis=0)[0])
    return mean, draws.std(axis=0, ddof=1), ends[0], ends[1]


def draws_of_dataset(results: Results, i: int, seed: int) -> np.ndarray:
    """Draw the test points of one dataset with replacement; return losses of shape (draws, K)."""
    if results.load_block is None:
        raise AnalysisError(
            "the bootstrap of scenario (a) draws test points, and these results come from a table: "
            "choose another method"
        )
    block = results.load_block(results.datasets[i])
    if block.weights is not None:
        raise AnalysisError(
            f"dataset {block.dataset!r} has weights, and the bootstrap of scenario (a) draws each "
            "test point with the same probability: choose a method of scenario (b) or (c)"
        )
    chosen = [block.strategies.index(name) for name in results.strategies]
    rng = np.random.default_rng([seed, i])
    if results.metric.average:
        return _draws_of_average(results.metric.point_losses(block)[chosen], block, rng)
    return _draws_of_aggregate(results.metric, block, chosen, rng)


def _draws_of_average(points: np.ndarray, block: Block, rng: np.random.Generator) -> np.ndarray:
    """Return the mean losses of draws: each tested row is weighted by how often it is drawn."""
    tested = (block.split.folds >= 0).any(axis=0)
    n = int(tested.sum())
    weights = rng.multinomial(n, np.full(n, 1 / n), size=DRAWS_OF_POINTS).astype(float)
    means = []
    for r, folds in enumerate(block.split.folds[:, tested]):
        for fold in range(block.split.n_folds):
            rows = folds == fold
            weight = weights[:, rows]
            total = np.maximum(weight.sum(axis=1, keepdims=True), 1)
            means.append(weight @ points[:, r, tested][:, rows].T / total)
    return np.mean(means, axis=0)


def _draws_of_aggregate(
    metric: MLautScore, block: Block, chosen: list[int], rng: np.random.Generator
) -> np.ndarray:
    """Return the losses of draws: the test sets are scored again with the drawn rows."""
    truth, outputs = metric.inputs(block)
    outputs, tested = outputs[chosen], np.flatnonzero((block.split.folds >= 0).any(axis=0))
    draws: list[np.ndarray] = []
    for _ in range(20 * DRAWS_OF_POINTS):
        losses = _scored(metric, truth, outputs, rng.choice(tested, len(tested)), block)
        # a draw for which the metric is undefined, such as one with a single class, is not used
        draws += [losses] if np.isfinite(losses).all() else []
        if len(draws) == DRAWS_OF_POINTS:
            return np.array(draws)
    raise AnalysisError(
        f"{metric.name} is not defined on most draws of the test points of {block.dataset!r}"
    )


def _scored(
    metric: MLautScore, truth: np.ndarray, outputs: np.ndarray, drawn: np.ndarray, block: Block
) -> np.ndarray:
    """Return the mean loss over test sets, each made of its drawn rows."""
    losses = []
    for r, folds in enumerate(block.split.folds[:, drawn]):
        for fold in range(block.split.n_folds):
            rows = drawn[folds == fold]
            if len(rows) == 0:
                return np.full(len(outputs), np.nan)
            losses.append(
                metric.loss(metric.cells(truth[rows], outputs[:, r, rows], block.classes))
            )
    return np.mean(losses, axis=0)
