"""Properties of datasets: what they are like."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {"properties": ("dataset_properties",)},
)
