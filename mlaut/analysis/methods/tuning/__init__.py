"""Analysis of the tuning that a study stored: traces of searches, and scores by budget."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
