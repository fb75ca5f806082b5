"""Scale on which losses of different datasets compare: ranks."""

import numpy as np
import pandas as pd

from mlaut.analysis.common.numerics import rank_losses
from mlaut.analysis.results.results import Results


def ranks_of(results: Results) -> pd.DataFrame:
    """Return the ranks of the strategies that have a loss on each dataset, by dataset."""
    losses = results.losses
    ranks = rank_losses(losses.to_numpy(), results.noise_scale)
    return pd.DataFrame(ranks, losses.index, losses.columns)


def ranks_by_fold(results: Results) -> np.ndarray:
    """Return the ranks of the strategies on each fold of each dataset, shape (N, R * F, K)."""
    shape = (len(results.datasets), len(results.strategies), -1)
    size = np.maximum(np.abs(results.cells), np.abs(results.cell_losses))
    losses, size = (np.moveaxis(x.reshape(shape), 1, 2) for x in (results.cell_losses, size))
    rows = (-1, len(results.strategies))
    return rank_losses(losses.reshape(rows), size.reshape(rows)).reshape(losses.shape)
