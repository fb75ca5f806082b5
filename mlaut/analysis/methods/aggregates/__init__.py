"""Aggregates over datasets whose scales differ, and the probability that a strategy is the best."""

from mlaut.helpers.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
