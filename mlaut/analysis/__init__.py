"""Statistics of a study, or of any table of losses: estimates, tests, effect sizes, figures.

Names are imported when they are first used, so that ``import mlaut.analysis`` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_NAMES = {
    "result_types": ("Estimate", "Pairwise", "ResultTable", "TestResult"),
    "results": ("Results",),
    "scores": (
        "LossAbsolute",
        "LossBrier",
        "LossLog",
        "LossMisclassification",
        "LossQuantile",
        "LossRMSE",
        "LossSquared",
        "MLautScore",
        "ScoreAUC",
        "ScoreAccuracy",
        "ScoreBalancedAccuracy",
        "ScoreF1",
        "ScoreMCC",
        "ScorePrecision",
        "ScoreR2",
        "ScoreSensitivity",
        "ScoreSpecificity",
        "metric",
        "metric_names",
    ),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Import a public name at its first use (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module 'mlaut.analysis' has no attribute {name!r}")
    value = getattr(import_module(f"mlaut.analysis.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
