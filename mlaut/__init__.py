"""MLaut: compare machine learning strategies over many datasets, and say how sure one can be.

All public names are here; they are imported when they are first used, so that ``import mlaut``
loads neither scikit-learn nor matplotlib nor keras.
"""

from mlaut.helpers.lazy import attach

__version__ = "1.0.0rc1"

__getattr__, __dir__, _names = attach(__name__)
__all__ = ["__version__", *_names]
