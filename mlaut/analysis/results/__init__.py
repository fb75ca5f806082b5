"""Scores of strategies on datasets: the class `Results`, its sources, and missing cells."""

from mlaut.helpers.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
