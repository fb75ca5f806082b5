"""Datasets: collections, loaders, and the splits of their rows."""

from mlaut.helpers.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
