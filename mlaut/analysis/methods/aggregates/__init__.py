"""Aggregates over datasets whose scales differ, and the probability that a strategy is the best."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "best": ("RankProbabilities",),
        "growing": ("new_records",),
        "items": ("paired_items",),
        "rerun": ("same_results",),
        "runs": ("interquartile_means", "probability_of_improvement"),
        "scale_free": ("percent_of_best",),
        "skill": ("skill_table",),
        "stability": ("ranking_stability",),
    },
)
