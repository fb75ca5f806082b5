"""Run studies: plan cells, run them in worker processes or on a cluster, store their outcomes."""

from mlaut.helpers.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
