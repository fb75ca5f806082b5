"""The methods of Lacoste, Laviolette and Marchand (2012)."""

from mlaut.helpers.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
