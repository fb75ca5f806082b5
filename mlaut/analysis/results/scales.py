"""Scale on which losses of different datasets compare: ranks."""

import pandas as pd

from mlaut.analysis.common.numerics import rank_losses
from mlaut.analysis.results.results import Results


def ranks_of(results: Results) -> pd.DataFrame:
    """Return the ranks of the strategies that have a loss on each dataset, by dataset."""
    losses = results.losses
    ranks = rank_losses(losses.to_numpy(), results.noise_scale)
    return pd.DataFrame(ranks, losses.index, losses.columns)
