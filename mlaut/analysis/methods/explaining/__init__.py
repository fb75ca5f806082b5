"""What datasets are like: their properties and their difficulty."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "difficulty": ("dataset_difficulty",),
        "properties": ("dataset_properties",),
    },
)
