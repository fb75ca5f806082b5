"""Bayesian tests with a region of practical equivalence."""

from mlaut.helpers.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
