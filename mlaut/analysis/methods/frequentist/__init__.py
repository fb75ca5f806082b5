"""Frequentist tests over datasets, and on the test points of one dataset."""

from mlaut.helpers.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
