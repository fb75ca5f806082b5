"""Aggregates over datasets whose scales differ, and the probability that a strategy is the best."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "best": ("RankProbabilities",),
        "growing": ("new_records",),
        "items": ("paired_items",),
        "rerun": ("same_results",),
        "runs": ("interquartile_means",),
        "skill": ("skill_table",),
        "stability": ("ranking_stability",),
    },
)
