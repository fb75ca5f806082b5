"""Planning of studies: number of datasets, power and smallest difference that a study detects."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "power": (
            *("dataset_sd", "datasets_needed_for_ranks", "pilot_design", "power_of_test"),
            *("resolution", "smallest_difference"),
        )
    },
)
