"""Strategies: estimators with their metadata, preprocessing and tuning grids.

Names are imported when they are first used, so that listing strategies imports no scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "REGISTRY": "registry",
    "Registry": "registry",
    "Spec": "registry",
    "instantiate_default_estimators": "registry",
    "DataShape": "metadata",
    "Properties": "metadata",
    "properties": "metadata",
    "SizeLimit": "sizes",
    "MlautEstimator": "mlaut_estimator",
    "Generic_Estimator": "generic_estimator",
    "as_strategies": "strategies",
    "KerasClassifier": "keras_estimator",
    "KerasRegressor": "keras_estimator",
    "keras_network": "nn_estimators",
    "Preprocessor": "preprocessing",
    "GridSearch": "tuning",
    "TuningFolds": "tuning",
    "TuningRecord": "tuning",
    "TuningWarning": "tuning",
    "IncompleteSearchWarning": "sharing",
    "search_limits": "sharing",
    "tuning_record": "tuning",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    """Import a public name at its first use (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module 'mlaut.estimators' has no attribute {name!r}")
    value = getattr(import_module(f"mlaut.estimators.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
