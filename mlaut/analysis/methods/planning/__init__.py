"""Planning of studies: number of datasets, power and smallest difference that a study detects."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "design": (
            "datasets_needed_for_ranks",
            "pilot_design",
            "resolution",
        ),
        "power": ("dataset_sd", "power_of_test", "smallest_difference"),
    },
)
