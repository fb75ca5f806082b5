"""Metrics: scores and losses of predictions, and the catalogue of all metrics by name."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "metrics": (
            *("LossAbsolute", "LossBrier", "LossCost", "LossLog", "LossMisclassification"),
            *("LossQuantile", "LossRMSE", "LossSquared", "ScoreAUC", "ScoreAccuracy"),
            *("ScoreBalancedAccuracy", "ScoreF1", "ScoreMCC", "ScorePrecision", "ScoreR2"),
            *("ScoreSensitivity", "ScoreSpecificity"),
        ),
    },
)
