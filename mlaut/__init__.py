"""MLaut: compare machine learning strategies over many datasets, and say how sure one can be.

All public names are here; they are imported when they are first used, so that ``import mlaut``
loads neither scikit-learn nor matplotlib nor keras.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "Data": "mlaut.data",
    "FilesIO": "mlaut.files_io",
    "Orchestrator": "mlaut.experiments",
    "AnalyseResults": "mlaut.analysis",
    "Results": "mlaut.analysis",
    "compare": "mlaut.analysis",
    "instantiate_default_estimators": "mlaut.estimators",
    "Generic_Estimator": "mlaut.estimators",
    "MlautEstimator": "mlaut.estimators",
    "properties": "mlaut.estimators",
    "MlautError": "mlaut.errors",
}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    """Import a public name at its first use (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module 'mlaut' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
