"""Tuning as a study stored it: the traces of its searches, and scores by budget."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "budgets": ("results_at_budget",),
    },
)
