"""MLaut: compare machine learning strategies over many datasets, and say how sure one can be.

All public names are here; they are imported when they are first used, so that ``import mlaut``
loads neither scikit-learn nor matplotlib nor keras.
"""

from mlaut.lazy import attach

__version__ = "1.0.0rc1"

__getattr__, __dir__, _names = attach(
    __name__,
    {
        "mlaut.analysis": ("AnalyseResults", "Results", "compare"),
        "mlaut.data": ("Data",),
        "mlaut.files_io": ("FilesIO", "Files_IO"),
        "mlaut.estimators": (
            "Generic_Estimator",
            "MlautEstimator",
            "instantiate_default_estimators",
            "properties",
        ),
        "mlaut.errors": ("MlautError",),
        "mlaut.experiments": ("Orchestrator", "run_study"),
        "mlaut.intervals": ("compare_learners", "error_difference", "error_interval"),
        "mlaut.study": ("Study",),
    },
)
__all__ = ["__version__", *_names]
