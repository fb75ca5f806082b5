"""Places of strategies among published ones, on all of their datasets or on few."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "few_datasets": ("Placing", "choose_datasets"),
        "published_places": ("beside_published", "place", "reproduction"),
    },
)
