"""Reports on a study: its conclusions as tables and sentences computed from the same results."""

from mlaut.helpers.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
