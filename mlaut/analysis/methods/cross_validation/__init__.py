"""Tests and estimates from the folds of one dataset: scenario (b)."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "calibration": ("Calibration", "calibrate", "rejection_rates", "replicability"),
        "statistics": ("CV_TESTS",),
        "fold_tests": ("cv_differences", "cv_test", "cv_test_datasets"),
        "repeated_cv": (
            *("cv_interval", "cv_p_values", "cv_statistic", "retrained_mean_estimates"),
        ),
    },
)
