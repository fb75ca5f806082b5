"""Tests and estimates from the folds of one dataset: scenario (b)."""

from mlaut.helpers.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
