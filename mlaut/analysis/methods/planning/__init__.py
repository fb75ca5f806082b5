"""Planning of studies: number of datasets, power and smallest difference that a study detects."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "design": (
            "ContextDesign",
            "datasets_needed_for_ranks",
            "datasets_needed_in_context",
            "pilot_design",
            "resolution",
        ),
        "power": ("dataset_sd", "power_of_test", "smallest_difference"),
    },
)
