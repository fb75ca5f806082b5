"""MLaut: compare machine learning strategies over many datasets, and say how sure one can be.

All public names are here; they are imported when they are first used, so that ``import mlaut``
loads neither scikit-learn nor matplotlib nor keras.
"""

from mlaut.lazy import attach

__version__ = "1.0.0.dev0"

_HOME = {
    "AnalyseResults": "mlaut.analysis",
    "Data": "mlaut.data",
    "FilesIO": "mlaut.files_io",
    "Generic_Estimator": "mlaut.estimators",
    "MlautError": "mlaut.errors",
    "MlautEstimator": "mlaut.estimators",
    "Orchestrator": "mlaut.experiments",
    "Results": "mlaut.analysis",
    "Study": "mlaut.study",
    "compare": "mlaut.analysis",
    "instantiate_default_estimators": "mlaut.estimators",
    "properties": "mlaut.estimators",
    "run_study": "mlaut.experiments",
    "study_status": "mlaut.experiments",
}

__all__ = ["__version__", *_HOME]
__getattr__, __dir__ = attach(__name__, _HOME)
