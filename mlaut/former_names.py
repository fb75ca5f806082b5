"""Names of MLaut 0.1 and 0.2 that this version has not, each with what to write today."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["FORMER", "former_arguments"]

F = TypeVar("F", bound=Callable[..., Any])

_NETWORK = "mlaut.estimators.keras_network, or the strategies that 'mlaut strategies keras' lists"

FORMER = {
    "AnalyzeResults": "mlaut.AnalyseResults",
    "Deep_NN_Classifier": _NETWORK,
    "Deep_NN_Regressor": _NETWORK,
    "Deep_NN": _NETWORK,
    "MLaut_estimator": "mlaut.MlautEstimator",
    "MlautClassifier": "mlaut.Generic_Estimator(estimator, name=...)",
    "MlautRegressor": "mlaut.Generic_Estimator(estimator, name=...)",
    "TabClassifStrategy": "mlaut.Generic_Estimator(estimator, name=...)",
    "TabRegrStrategy": "mlaut.Generic_Estimator(estimator, name=...)",
    "RAMDataset": "mlaut.Study.add_datasets(frame, name=..., target=...)",
    "HDDDataset": "mlaut.Study.add_datasets(frame, name=..., target=...)",
    "TabClassifTask": "mlaut.Study.add_datasets(frame, name=..., target=...)",
    "TabRegrTask": "mlaut.Study.add_datasets(frame, name=..., target=...)",
    "HDDResults": "mlaut.Study; mlaut.analysis.read_sktime reads a folder of HDDResults",
    "RAMResults": "mlaut.Study",
    "Evaluator": "mlaut.compare, and the functions of mlaut.analysis",
    "Losses": "mlaut.Results",
    "DiskOperations": "mlaut.FilesIO",
    "Files_IO": "mlaut.FilesIO",
}
"""Public names of earlier versions, each with today's."""


def former_arguments(**today: str) -> Callable[[F], F]:
    """Return a decorator that answers arguments of earlier versions with what to write today.

    Parameters
    ----------
    **today : str
        By name of the former argument: what to write instead.

    Examples
    --------
    >>> @former_arguments(size="write 'length'")
    ... def measure(length):
    ...     return length
    >>> measure(size=3)
    Traceback (most recent call last):
    ...
    TypeError: measure: 'size' is an argument of an earlier version: write 'length'
    """

    def decorated(function: F) -> F:
        @functools.wraps(function)
        def answering(*args: Any, **kwargs: Any) -> Any:
            for name in today.keys() & kwargs.keys():
                raise TypeError(
                    f"{function.__name__}: {name!r} is an argument of an earlier version: "
                    f"{today[name]}"
                )
            return function(*args, **kwargs)

        return answering  # type: ignore[return-value]

    return decorated
