"""Ranges of parameters, and by these names the searches of the plug-in mlaut-sharing."""

from mlaut.helpers.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
