"""Metrics: scores and losses of predictions, and the catalogue of all metrics by name."""

from mlaut.helpers.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
