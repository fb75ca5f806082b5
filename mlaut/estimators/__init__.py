"""Strategies: estimators with their metadata, preprocessing and tuning grids.

Names are imported when they are first used, so that listing strategies imports no scikit-learn.
"""

from mlaut.helpers.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, rooms=("catalogue.listed",))
