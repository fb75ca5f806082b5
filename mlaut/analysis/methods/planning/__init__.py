"""Planning of studies: number of datasets, power and smallest difference that a study detects."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
