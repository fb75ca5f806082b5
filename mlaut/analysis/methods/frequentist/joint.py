"""Tests of all pairs of strategies by flips of whole sources, for datasets that are related."""

from functools import lru_cache

import numpy as np

from mlaut.analysis.pairwise.effects import Effect
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.pairwise.runner import PairStatistics, even, odd, pair_test, sizes_compare
from mlaut.analysis.results.given import takes_sources
from mlaut.analysis.results.results import Results
from mlaut.analysis.sources.flips import FEWEST, FLIPS, Joint, joint_test

_ROW = {
    "null": "the differences of a source are symmetric about 0, jointly",
    "source": "Rosner, Glynn and Lee 2006; Westfall and Young 1993",
    "unit": "sources",
    "alone": False,
    "simultaneous": True,
}


@lru_cache(maxsize=4)
def joint_of_results(
    results: Results,
    weights: str = "learned",
    signs: bool = False,
    seed: int = 0,
    most: int = FLIPS,
) -> Joint:
    """Return the joint test of all pairs of strategies, whose unit is the source.

    Parameters
    ----------
    results : Results
        Complete results; without known sources each dataset is one.
    weights : {"learned", "source", "dataset"}, default "learned"
        See `mlaut.analysis.sources.flips.joint_test`.
    signs : bool, default False
        Whether the signs of differences are compared in place of their signed ranks.
    seed : int, default 0
    most : int, default 8192
        Number of flips if all are more.
    """
    d = paired_losses(results).differences
    return joint_test(np.sign(d) if signs else d, results.source, weights, seed, most)


@pair_test(name="Joint signed rank test of sources", applies=sizes_compare, **_ROW)
@takes_sources
def joint_signed_rank_test(
    results: Results, *, weights: str = "learned", seed: int = 0
) -> PairStatistics:
    """Test for each pair whether the differences of all sources are symmetric about 0, jointly.

    Scenario (c). The signs of all differences of a source are flipped together, so datasets of one
    source may be related. The p-values account for all pairs.

    Parameters
    ----------
    results : Results
        Complete results; without known sources each dataset is one.
    weights : {"learned", "source", "dataset"}, default "learned"
        Weights of the sources: best for the correlation within sources that the data show; each
        source the same; or each dataset the same.
    seed : int, default 0
        Seed of the flips of more than 14 sources.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"A": [0.9, 0.8] * 6, "B": [0.7, 0.75] * 6})
    >>> results = Results.from_table(table, metric="accuracy")
    >>> results = results.with_clusters({str(i): str(i // 2) for i in range(12)})
    >>> joint_signed_rank_test(results, pair=("A", "B")).p_value
    0.03125
    """
    return _statistics(results, weights, False, seed)


@pair_test(name="Joint sign test of sources", **_ROW)
@takes_sources
def joint_sign_test(results: Results, *, weights: str = "learned", seed: int = 0) -> PairStatistics:
    """Test for each pair whether wins and losses of all sources are symmetric, jointly.

    The same as `joint_signed_rank_test`, with the signs of differences in place of signed ranks.

    Parameters
    ----------
    results, weights, seed
        As in `joint_signed_rank_test`.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"A": [0.9, 0.8] * 6, "B": [0.7, 0.75] * 6})
    >>> joint_sign_test(table, metric="accuracy", pair=("A", "B")).p_value
    0.00048828125
    """
    return _statistics(results, weights, True, seed)


def _statistics(results: Results, weights: str, signs: bool, seed: int) -> PairStatistics:
    joint = joint_of_results(results, weights, signs, seed, FLIPS)
    few = f"{results.n_sources} sources cannot show a difference by ranks: it takes {FEWEST}"
    return PairStatistics(
        tables={"statistic": odd(joint.statistic), "p (unadjusted)": even(joint.p)},
        effects={"signed ranks": Effect.point(joint.statistic)},
        p=lambda _: joint.adjusted,
        n=results.n_sources,
        notes=(few,) if results.n_sources < FEWEST else (),
    )
