"""Properties of datasets, and how difficult they are."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "difficulty": ("dataset_difficulty",),
        "properties": ("dataset_properties",),
    },
)
