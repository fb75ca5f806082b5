"""Values of strategies on each dataset that can be averaged over datasets: lower is better."""

import numpy as np

from mlaut.analysis.common.arguments import position
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

AGGREGATES = {
    "rank": "average rank",
    "loss": "mean loss",
    "normalised": "mean normalised loss",
    "improvability": "mean improvability",
    "wins": "share of datasets won",
}


def values_of(results: Results, aggregate: str, baseline: str | None = None) -> np.ndarray:
    """Return the value of each strategy on each dataset, whose mean is the aggregate.

    Parameters
    ----------
    results : Results
        Complete results of two datasets and two strategies or more.
    aggregate : str
        A key of `AGGREGATES`.

        - ``"rank"``: rank within the dataset.
        - ``"loss"``: the loss; not for metrics whose means over datasets are meaningless.
        - ``"normalised"``: 0 for the smallest loss, 1 for the median of the losses, linear between
          them, and 1 above the median. With a ``baseline``, its loss replaces the median.
        - ``"improvability"``: the share of the loss that the best strategy avoids.
        - ``"wins"``: minus one for the best strategy, shared between equally good ones, else 0.
    baseline : str, optional
        A strategy, for ``"normalised"``.

    Returns
    -------
    ndarray of float, shape (N, K)
        Lower is better. Losses that differ only by rounding noise have equal values.

    Raises
    ------
    AnalysisError
        The aggregate is not known or not defined for these losses.
    """
    prepared = paired_losses(results)
    if aggregate not in AGGREGATES:
        known = ", ".join(map(repr, AGGREGATES))
        raise AnalysisError(f"aggregate {aggregate!r} is not known; one of {known}")
    if baseline is not None and aggregate != "normalised":
        raise AnalysisError(f"a baseline is for aggregate='normalised', not for {aggregate!r}")
    if aggregate == "rank":
        return prepared.ranks
    losses = prepared.snapped
    if aggregate == "loss":
        if results.incomparable:
            raise AnalysisError(
                f"means of losses do not compare ({results.incomparable}): choose "
                "aggregate='rank' or 'normalised'"
            )
        return losses
    if aggregate == "normalised":
        at = None if baseline is None else position("strategy", baseline, results.strategies)
        return _normalised(losses, np.median(losses, axis=1) if at is None else losses[:, at])
    if aggregate == "improvability":
        return improvability(losses, results)
    best = losses == losses.min(axis=1, keepdims=True)
    return -1.0 * best / best.sum(axis=1, keepdims=True)


def _normalised(losses: np.ndarray, worst: np.ndarray) -> np.ndarray:
    """Return losses on a scale from 0 for the best to 1 for ``worst``, shape (N,), and above.

    Where ``worst`` is the best loss itself, every larger loss is 1.
    """
    best = losses.min(axis=1)
    half = losses / 2 - best[:, None] / 2  # halved, since a difference of huge losses overflows
    span = (worst / 2 - best / 2)[:, None]
    shares = np.divide(half, span, out=np.ones_like(half), where=half < span)
    return np.where(half == 0, 0.0, shares)


def improvability(losses: np.ndarray, results: Results) -> np.ndarray:
    """Return the share of each loss that the best strategy avoids; 0 where the loss is 0."""
    if (losses < 0).any():
        raise AnalysisError(
            f"improvability is a share of the loss, and {results.metric.loss_name} has losses "
            "below 0: choose aggregate='rank' or 'normalised'"
        )
    best = losses.min(axis=1, keepdims=True)
    return 1 - np.divide(best, losses, out=np.ones_like(losses), where=losses > 0)
