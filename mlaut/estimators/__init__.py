"""Strategies: estimators with their metadata, preprocessing and tuning grids.

Names are imported when they are first used, so that listing strategies imports no scikit-learn.
"""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "catalogue.registry": ("REGISTRY", "Registry", "instantiate_default_estimators"),
        "strategy.metadata": ("DataShape", "Properties", "properties"),
        "strategy.listed_strategy": ("Strategy",),
        "sizes": ("SizeLimit",),
        "strategy.mlaut_estimator": ("MlautEstimator",),
        "strategy.generic_estimator": ("Generic_Estimator",),
        "catalogue.strategies": ("as_strategies",),
        "strategy.wrappers": ("Balanced", "Calibrated", "Thresholded"),
        "libraries.early_stopping": ("EarlyStopping",),
        "libraries.library": ("LIBRARIES", "Library"),
        "networks.keras_estimator": ("KerasClassifier", "KerasRegressor"),
        "networks.nn_estimators": ("keras_network",),
        "libraries.arrays": ("Flatten",),
        "preparing.preprocessing": ("Preprocessor",),
        "searches.budgeted": ("BudgetedSearch",),
        "searches.tuning": (
            "GridSearch",
            "TuningFolds",
            "TuningRecord",
            "TuningWarning",
            "tuning_record",
        ),
        "mlaut.sharing": ("Floats", "IncompleteSearchWarning", "Integers", "search_limits"),
    },
    rooms=("catalogue.listed",),
)
