"""Paired differences: tables of all pairs, effect sizes, corrections of p-values, decisions."""

from mlaut.helpers.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
