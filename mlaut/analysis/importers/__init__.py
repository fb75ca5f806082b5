"""Readers of results and predictions that other programs stored."""

from mlaut.helpers.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
