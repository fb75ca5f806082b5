"""Descriptions of objects in plain JSON values, by which a study recognises its strategies."""

from collections.abc import Mapping
from typing import Any


def without_rooms(value: Any) -> Any:
    """Return an identity in which names of MLaut's classes and functions lack their subpackage.

    So a module may move within its package without a change of the strategies of stored studies.

    Examples
    --------
    >>> without_rooms({"class": "mlaut.estimators.strategy.wrappers.Balanced", "C": [1]})
    {'class': 'mlaut.estimators.Balanced', 'C': [1]}
    """
    if isinstance(value, str) and value.startswith("mlaut.") and value.count(".") > 2:
        first, package, *_, name = value.split(".")
        return f"{first}.{package}.{name}"
    if isinstance(value, Mapping):
        return {key: without_rooms(item) for key, item in value.items()}
    return [without_rooms(item) for item in value] if isinstance(value, list) else value
