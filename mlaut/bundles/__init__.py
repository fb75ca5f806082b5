"""Bundles: studies that can be published as plain files, verified, extended and merged."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
